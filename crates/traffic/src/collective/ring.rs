//! Ring algorithms, and chains.

use super::schedule::{Ready, Schedule, share};

/// Reduces `parts` around the ring of `ranks`: position h ends with part h. In step s, position h sends part h - s -
/// 1, which it has received from the previous position and to which it adds its own data, available when the messages
/// `ready[h]` have arrived. Returns the messages that complete the part of each position.
pub(super) fn reduce_scatter(to: &mut Schedule, ranks: &[u32], parts: &[u64], ready: &Ready) -> Ready {
    let count = ranks.len();
    let mut latest: Vec<Option<u32>> = vec![None; count];
    for step in 0..count - 1 {
        let before = latest.clone();
        for at in 0..count {
            let part = (at + 2 * count - step - 1) % count;
            let mut after = ready[at].clone();
            after.extend(before[at]);
            let next = (at + 1) % count;
            latest[next] = Some(to.send(ranks[at], ranks[next], parts[part], &after));
        }
    }
    let complete = |(at, own): (usize, &Vec<u32>)| own.iter().copied().chain(latest[at]).collect();
    ready.iter().enumerate().map(complete).collect()
}

/// Gathers `parts` around the ring of `ranks`: in step s, position h sends part h - s. Its own part is available when
/// the messages `ready[h]` have arrived. Returns the messages that complete the data of each position.
pub(super) fn all_gather(to: &mut Schedule, ranks: &[u32], parts: &[u64], ready: &Ready) -> Ready {
    let count = ranks.len();
    let mut arrived = ready.clone();
    let mut latest: Vec<Option<u32>> = vec![None; count];
    for step in 0..count - 1 {
        let before = latest.clone();
        for at in 0..count {
            let part = (at + count - step) % count;
            let next = (at + 1) % count;
            let sent = match before[at] {
                None => to.send(ranks[at], ranks[next], parts[part], &ready[at]),
                Some(from_left) => to.send(ranks[at], ranks[next], parts[part], &[from_left]),
            };
            latest[next] = Some(sent);
            arrived[next].push(sent);
        }
    }
    arrived
}

/// Reduces the parts of `bytes` around the ring, then gathers them: `2 (n - 1)` steps with the minimum load per link.
pub(super) fn all_reduce(to: &mut Schedule, ranks: &[u32], bytes: u64, ready: &Ready) -> Ready {
    let parts = share(bytes, ranks.len());
    let summed = reduce_scatter(to, ranks, &parts, ready);
    all_gather(to, ranks, &parts, &summed)
}

/// Forwards `bytes` along the chain of ranks that starts at `first`.
pub(super) fn chain(to: &mut Schedule, ranks: u32, first: u32, bytes: u64) {
    let mut arrived = None;
    for hop in 0..ranks - 1 {
        let (from, next) = ((first + hop) % ranks, (first + hop + 1) % ranks);
        arrived = Some(to.send(from, next, bytes, arrived.as_slice()));
    }
}
