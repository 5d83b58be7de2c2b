//! Recursive halving and recursive doubling; the number of ranks is a power of two.

use super::schedule::{Ready, Schedule, share};

/// Returns the total bytes of the aligned group of `width` parts that contains the part of `rank`.
fn around(parts: &[u64], rank: u32, width: u32) -> u64 {
    let first = (rank / width * width) as usize;
    parts[first..first + width as usize].iter().sum()
}

/// Appends a reduce-scatter: in each step, a rank sends its partner the half of its data that the partner continues
/// to reduce, and the distance to the partner is halved. Rank h ends with part h. Returns the messages that complete
/// the part of each rank.
pub(super) fn reduce_scatter(to: &mut Schedule, ranks: u32, bytes: u64) -> Ready {
    let parts = share(bytes, ranks as usize);
    let mut arrived: Ready = vec![Vec::new(); ranks as usize];
    let mut distance = ranks / 2;
    while distance >= 1 {
        exchange(to, &mut arrived, distance, |partner| around(&parts, partner, distance));
        distance /= 2;
    }
    arrived
}

/// Appends an all-gather: in each step, a rank sends its partner all parts that it has, and the distance to the
/// partner is doubled.
pub(super) fn all_gather(to: &mut Schedule, ranks: u32, bytes: u64, mut arrived: Ready) {
    let parts = share(bytes, ranks as usize);
    let mut distance = 1;
    while distance < ranks {
        exchange(to, &mut arrived, distance, |partner| around(&parts, partner ^ distance, distance));
        distance *= 2;
    }
}

/// Appends one step: every rank sends `bytes_to` bytes to its partner, after all messages of earlier steps have
/// arrived.
fn exchange(to: &mut Schedule, arrived: &mut Ready, distance: u32, bytes_to: impl Fn(u32) -> u64) {
    let before = arrived.clone();
    for rank in 0..arrived.len() as u32 {
        let partner = rank ^ distance;
        let sent = to.send(rank, partner, bytes_to(partner), &before[rank as usize]);
        arrived[partner as usize].push(sent);
    }
}
