//! Recursive halving and doubling among a power of two of hosts.

use super::schedule::{Ready, Schedule, share};

/// The bytes of the `width` parts among which `rank`'s is, where parts are grouped by `width`.
fn around(parts: &[u64], rank: u32, width: u32) -> u64 {
    let first = (rank / width * width) as usize;
    parts[first..first + width as usize].iter().sum()
}

/// In each step a rank gives its partner, half as far away as in the step before, the half of what it still has that
/// the partner goes on with. Rank h ends with part h; says when.
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

/// In each step a rank gives its partner, twice as far away as in the step before, all that it has.
pub(super) fn all_gather(to: &mut Schedule, ranks: u32, bytes: u64, mut arrived: Ready) {
    let parts = share(bytes, ranks as usize);
    let mut distance = 1;
    while distance < ranks {
        exchange(to, &mut arrived, distance, |partner| around(&parts, partner ^ distance, distance));
        distance *= 2;
    }
}

/// Everybody sends `bytes_to` its partner after all that has arrived.
fn exchange(to: &mut Schedule, arrived: &mut Ready, distance: u32, bytes_to: impl Fn(u32) -> u64) {
    let before = arrived.clone();
    for rank in 0..arrived.len() as u32 {
        let partner = rank ^ distance;
        let sent = to.send(rank, partner, bytes_to(partner), &before[rank as usize]);
        arrived[partner as usize].push(sent);
    }
}
