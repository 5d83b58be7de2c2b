//! Rings within groups, and rings across them.

use super::ring;
use super::schedule::{Ready, Schedule, share};
use crate::operation::Operation;

/// Within each group everybody reduces one part of the data; those that have the same place in their groups reduce or
/// exchange that part; within each group all parts are handed around. A reduce-scatter ends before that, and an
/// all-gather has no first step. `ranks` is a multiple of `group`.
pub(super) fn schedule(to: &mut Schedule, operation: Operation, ranks: u32, group: u32, bytes: u64) {
    let parts = share(bytes, group as usize);
    let groups: Vec<Vec<u32>> = (0..ranks / group).map(|at| (at * group..(at + 1) * group).collect()).collect();
    let mut ready: Ready = vec![Vec::new(); ranks as usize];
    if operation != Operation::AllGather {
        within(to, &groups, &mut ready, |to, members, own| ring::reduce_scatter(to, members, &parts, own));
    }
    let places: Vec<Vec<u32>> = (0..group).map(|place| (place..ranks).step_by(group as usize).collect()).collect();
    within(to, &places, &mut ready, |to, members, own| {
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

/// Lets each of `circles` do something among themselves when what they have is ready, and notes when that is done.
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
