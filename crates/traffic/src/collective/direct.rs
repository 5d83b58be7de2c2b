//! Direct exchange between all pairs of ranks.

use super::schedule::{Ready, Schedule, share};
use crate::operation::Operation;

/// Appends an all-to-all, a reduce-scatter or an all-gather as one exchange, or an all-reduce as two exchanges.
pub(super) fn schedule(to: &mut Schedule, operation: Operation, ranks: u32, window: u32, bytes: u64) {
    let parts = share(bytes, ranks as usize);
    let nothing: Ready = vec![Vec::new(); ranks as usize];
    let of_receiver = |_: u32, receiver: u32| parts[receiver as usize];
    let of_sender = |sender: u32, _: u32| parts[sender as usize];
    match operation {
        Operation::AllGather => _ = exchange(to, ranks, window, of_sender, &nothing),
        Operation::AllReduce => {
            let summed = exchange(to, ranks, window, of_receiver, &nothing);
            exchange(to, ranks, window, of_sender, &summed);
        }
        _ => _ = exchange(to, ranks, window, of_receiver, &nothing),
    }
}

/// Appends an exchange: in round r, rank h sends to rank h + r, after its message of round `r - window` has been
/// sent. Its first `window` messages wait for the messages `ready[h]`. Ranks do not wait for each other. Returns the
/// messages that arrive at each rank.
fn exchange(to: &mut Schedule, ranks: u32, window: u32, bytes: impl Fn(u32, u32) -> u64, ready: &Ready) -> Ready {
    let first = to.messages.len() as u32;
    let mut arrived: Ready = vec![Vec::new(); ranks as usize];
    for round in 1..ranks {
        for from in 0..ranks {
            let receiver = (from + round) % ranks;
            let bytes = bytes(from, receiver);
            let sent = match round.checked_sub(window + 1) {
                None => to.send(from, receiver, bytes, &ready[from as usize]),
                Some(before) => to.send_next(receiver, bytes, first + before * ranks + from),
            };
            arrived[receiver as usize].push(sent);
        }
    }
    arrived
}
