//! Rings within groups, and rings across groups.

use super::ring;
use super::schedule::{Ready, Schedule, share};
use crate::operation::Operation;

/// Appends three steps: (1) each group reduces its data to one part per member; (2) the members with equal index in
/// their groups reduce or exchange this part; (3) each group gathers all parts. A reduce-scatter has no third step,
/// an all-gather no first step. `ranks` is a multiple of `group`.
pub(super) fn schedule(to: &mut Schedule, operation: Operation, ranks: u32, group: u32, bytes: u64) {
    let parts = share(bytes, group as usize);
    let groups: Vec<Vec<u32>> = (0..ranks / group).map(|at| (at * group..(at + 1) * group).collect()).collect();
    let mut ready: Ready = vec![Vec::new(); ranks as usize];
    if operation != Operation::AllGather {
        within(to, &groups, &mut ready, |to, members, own| ring::reduce_scatter(to, members, &parts, own));
    }
    let positions: Vec<Vec<u32>> =
        (0..group).map(|position| (position..ranks).step_by(group as usize).collect()).collect();
    within(to, &positions, &mut ready, |to, members, own| {
        let part = parts[(members[0] % group) as usize];
        match operation {
            Operation::AllReduce => ring::all_reduce(to, members, part, own),
            Operation::AllGather => ring::all_gather(to, members, &share(part, members.len()), own),
            _ => ring::reduce_scatter(to, members, &share(part, members.len()), own),
        }
    });
    if operation != Operation::ReduceScatter {
        within(to, &groups, &mut ready, |to, members, own| ring::all_gather(to, members, &parts, own));
    }
}

/// Calls `act` for each ring with the messages `ready` that its members wait for, and stores the messages that
/// complete the data of its members.
fn within(
    to: &mut Schedule,
    circles: &[Vec<u32>],
    ready: &mut Ready,
    mut act: impl FnMut(&mut Schedule, &[u32], &Ready) -> Ready,
) {
    for members in circles {
        let own: Ready = members.iter().map(|member| std::mem::take(&mut ready[*member as usize])).collect();
        for (member, done) in members.iter().zip(act(to, members, &own)) {
            ready[*member as usize] = done;
        }
    }
}
