//! A part of the nodes, which one thread runs: all of them where there is one thread.

use crate::mail::{Post, Slot, Window, Wire};
use crate::node::Node;
use crate::sides::{Ahead, LONGEST_WINDOW, Turns};
use crate::timers::Timers;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Time;

/// More entries than this for each node are not kept among the timers.
const MOST_TIMERS: usize = 2;

/// Up to this many nodes are looked at in every window.
const SMALL_POOL: usize = 16;

/// What so many nodes touch in a window is mostly in the second-level cache still from the last one: to ask for it
/// costs more than it saves.
const CACHED: usize = 256;

/// How many turns ahead a node's state is asked for: one per level of indirection.
const PREFETCH_TURNS: usize = 3;

/// What is kept of a part from one window to the next, beside its [`crate::mail::Desk`]. Nodes are numbered from the
/// part's first.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) timers: Timers,
    /// Scratch: the nodes that run in this window, and those that leave the pool.
    ready: Vec<u32>,
    leaving: Vec<u32>,
    /// Nodes that ran since somebody asked.
    pub(crate) active: Vec<u32>,
    /// Times a node ran.
    pub(crate) runs: u64,
}

impl Part {
    /// Forgets outdated timers, if there are many, of a part with these nodes: they would lie there until their time
    /// comes, and that may be far away.
    pub(crate) fn forget_timers(&mut self, slots: &[Slot]) {
        if self.timers.len() > MOST_TIMERS * slots.len() {
            self.timers.keep(|at, index| slots[index as usize].timer == at);
        }
    }
}

/// A part with its nodes and their mailboxes, while a thread runs it.
pub(crate) struct View<'a, N: Node> {
    pub(crate) nodes: &'a mut [N],
    /// Of all nodes.
    pub(crate) wires: &'a [Wire],
    pub(crate) window: Window<'a, N::Message>,
    pub(crate) part: &'a mut Part,
}

impl<N: Node> View<'_, N> {
    /// What each side of this part has before it, as far as it can run next; moves every node with an event by then
    /// from the timers into its pool. Where there is but one side, its first event does not matter and is left out.
    #[inline(always)] // once a window
    pub(crate) fn ahead(&mut self, turns: &Turns) -> [Ahead; 2] {
        let firsts = if turns.together() { [Time::MAX; 2] } else { [0, 1].map(|side| self.first(side)) };
        let Post { slots, pools, .. } = &mut self.window.post;
        let reaches = |index: &u32| {
            let slot = pooled(slots, *index);
            slot.next.saturating_add(slot.lookahead)
        };
        let mut ahead = [0, 1].map(|side| {
            let reaches = pools[side].iter().map(reaches).fold(Time::MAX, Time::min);
            Ahead { first: firsts[side], reaches }
        });
        while let Some((at, index)) = self.part.timers.pop_before(turns.farthest(&ahead)) {
            let slot = &mut slots[index as usize];
            if slot.timer != at {
                continue; // outdated: an earlier one took its place
            }
            slot.timer = Time::MAX;
            if slot.pooled {
                continue;
            }
            if slot.next > at {
                // Its event was put off since.
                set_timer(slot, &mut self.part.timers, index);
                continue;
            }
            slot.pooled = true;
            let side = usize::from(slot.side & 1);
            pools[side].push(index);
            ahead[side].note(at, slot.lookahead);
        }
        ahead
    }

    /// The first event of the nodes in a side's pool.
    #[inline]
    pub(crate) fn first(&self, side: usize) -> Time {
        let Post { slots, pools, .. } = &self.window.post;
        pools[side].iter().map(|&index| pooled(slots, index).next).fold(Time::MAX, Time::min)
    }

    /// Lists the nodes of a side's pool that have an event in [base, end), and moves to the timers those without one
    /// soon. Of many, those with one port come last: mostly they do the same, and others something else.
    #[inline(never)] // a loop of its own, with all registers for itself
    fn list_ready(&mut self, side: usize, base: Time, end: Time) {
        let Part { timers, ready, leaving, .. } = &mut *self.part;
        let Post { slots, pools, .. } = &mut self.window.post;
        let pool = &mut pools[side];
        ready.clear();
        ready.reserve(pool.len());
        let (to_ready, mut count) = (ready.as_mut_ptr(), 0);
        if pool.len() <= SMALL_POOL {
            // All stay.
            for &index in &*pool {
                // SAFETY: there is room for every node of the pool, and each is counted once at most.
                unsafe { to_ready.add(count).write(index) };
                count += usize::from(pooled(slots, index).next < end);
            }
        } else {
            // A node that is due within a few more windows stays in the pool: looking at it again is cheaper
            // than a round through the timers.
            let near = end.saturating_add((end - base).min(LONGEST_WINDOW) * 4);
            leaving.clear();
            leaving.reserve(pool.len());
            let (to_leaving, to_pool) = (leaving.as_mut_ptr(), pool.as_mut_ptr());
            // Nodes with one port go to the end of the room that there is for ready ones.
            let room = pool.len();
            let (mut last, mut stay, mut leave) = (room, 0, 0);
            // Which of these a node is cannot be predicted, and so is no branch.
            for place in 0..room {
                // SAFETY: as above, of both; no more are counted at both ends of `ready` than were looked at. Of the
                // pool, what is written lies no further than what was read.
                unsafe {
                    let index = to_pool.add(place).read();
                    let &Slot { next, ports, .. } = pooled(slots, index);
                    to_ready.add(count).write(index);
                    to_ready.add(last - 1).write(index);
                    to_leaving.add(leave).write(index);
                    to_pool.add(stay).write(index);
                    let (runs, at_end) = (usize::from(next < end), usize::from(ports <= 1));
                    count += runs & !at_end;
                    last -= runs & at_end;
                    leave += usize::from(next >= near);
                    stay += usize::from(next < near);
                }
            }
            pool.truncate(stay);
            let ends = room - last;
            // SAFETY: as many have been written.
            unsafe {
                leaving.set_len(leave);
                to_ready.add(count).copy_from(to_ready.add(last), ends);
            }
            count += ends;
            for &index in &*leaving {
                let slot = &mut slots[index as usize];
                slot.pooled = false;
                set_timer(slot, timers, index);
            }
        }
        // SAFETY: as many have been written.
        unsafe { ready.set_len(count) };
    }

    /// Runs every node of the side whose turn it is that has an event before `end`. False if `stop` was set before all
    /// of them had run.
    pub(crate) fn run(&mut self, turns: &Turns, end: Time, stop: &AtomicBool) -> bool {
        self.list_ready(turns.side(), turns.now(), end);
        let View { nodes, wires: all_wires, window, part } = self;
        let Part { ready, active, runs, .. } = &mut **part;
        let wires_of = |slot: &Slot| &all_wires[slot.wires.0 as usize..slot.wires.1 as usize];
        let fetches = ready.len() > CACHED;
        if fetches {
            // In order of memory, which the processor then fetches ahead.
            ready.sort_unstable();
        }
        *runs += ready.len() as u64;
        window.set_end(end);
        for (turn, &index) in ready.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                *runs -= (ready.len() - turn) as u64;
                return false;
            }
            if fetches {
                for turns in 1..=PREFETCH_TURNS {
                    if let Some(&soon) = ready.get(turn + turns) {
                        let wires = wires_of(&window.post.slots[soon as usize]);
                        window.prefetch(soon as usize, wires, turns);
                        nodes[soon as usize].prefetch(turns);
                    }
                }
            }
            let index = index as usize;
            let slot = &mut window.post.slots[index];
            // The node's events start no earlier than this: a base for short keys.
            let first = slot.next.min(end);
            slot.next = Time::MAX;
            if !slot.active {
                slot.active = true;
                active.push(index as u32);
            }
            let wires = wires_of(slot);
            let left = window.open(index, wires, first);
            let own = nodes[index].run(window);
            debug_assert!(window.taken_all(), "a node left arrivals behind");
            debug_assert!(own >= end, "a node left an event behind");
            let next = own.min(left);
            let slot = &mut window.post.slots[index];
            slot.next = slot.next.min(next);
        }
        true
    }
}

/// Sees to it that node `index`, which leaves the pool, comes back no later than its next event. An event that has been
/// put off since the timer was set, such as a sender's time-out at each acknowledgement, needs no other one.
#[inline]
fn set_timer(slot: &mut Slot, timers: &mut Timers, index: u32) {
    if slot.next < slot.timer {
        slot.timer = slot.next;
        timers.push(slot.next, index);
    }
}

/// The slot of a node in the pool.
#[inline(always)] // several times a window
fn pooled(slots: &[Slot], index: u32) -> &Slot {
    debug_assert!((index as usize) < slots.len());
    // SAFETY: a pool is filled with numbers of slots of its part, and cleared when the nodes are divided anew.
    unsafe { slots.get_unchecked(index as usize) }
}
