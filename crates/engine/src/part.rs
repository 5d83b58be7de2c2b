//! A partition of the nodes, run by one thread. With one thread, the partition contains all nodes.

use crate::bipartition::{MAX_WINDOW, NextEvents, SideSchedule};
use crate::mail::{PartNodes, Slot, Window, Wire};
use crate::node::Node;
use crate::timers::Timers;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Time;

/// Number of timers per node above which outdated timers are removed.
const MAX_TIMERS_PER_NODE: usize = 2;

/// Pools of at most this many nodes are scanned in every window without eviction.
const MIN_EVICTED_POOL: usize = 16;

/// Windows of a side between evictions of idle nodes from its pools.
const EVICTION_PERIOD: u8 = 8;

/// Up to this many nodes, most of the state is still in the L2 cache from the last window, and a prefetch costs more
/// than it saves.
const CACHED_NODES: usize = 256;

/// Distance of the prefetch in nodes: one per level of indirection.
const PREFETCH_DISTANCE: usize = 3;

/// State of a partition that persists between windows, in addition to its [`crate::mail::PartMail`]. Nodes are
/// numbered from the first node of the partition.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) timers: Timers,
    /// Scratch list of the nodes that run in this window.
    ready: Vec<u32>,
    /// Windows since idle nodes were last evicted from the pools, per side.
    windows_since_eviction: [u8; 2],
    /// Nodes that ran since the last [`crate::Engine::take_active`].
    pub(crate) active: Vec<u32>,
    /// Number of node runs.
    pub(crate) runs: u64,
}

impl Part {
    /// Removes outdated timers if there are many; `slots` are the slots of this partition. Otherwise outdated timers
    /// would remain until their time, which may be far in the future.
    pub(crate) fn remove_outdated_timers(&mut self, slots: &[Slot]) {
        if self.timers.len() > MAX_TIMERS_PER_NODE * slots.len() {
            self.timers.keep(|at, index| slots[index as usize].timer == at);
        }
    }
}

/// A partition with its nodes and their mailboxes, while a thread runs it.
pub(crate) struct View<'a, N: Node> {
    pub(crate) nodes: &'a mut [N],
    /// Wires of all nodes.
    pub(crate) wires: &'a [Wire],
    /// The lookahead of all nodes, if all of them have the same.
    pub(crate) lookahead: Option<Time>,
    pub(crate) window: Window<'a, N::Message>,
    pub(crate) part: &'a mut Part,
}

impl<N: Node> View<'_, N> {
    /// Returns the next events of each side of this partition, up to the farthest end of the next window. Moves every
    /// node with an event before this end from the timers into its pool.
    #[inline(always)] // hot: runs once per window
    pub(crate) fn next_events(&mut self, schedule: &SideSchedule) -> [NextEvents; 2] {
        let PartNodes { slots, pools, .. } = &mut self.window.nodes;
        let scan = |pools: &[Vec<u32>]| match self.lookahead {
            Some(lookahead) => {
                let first = first_of(slots, pools);
                NextEvents { first, earliest_effect: first.saturating_add(lookahead) }
            }
            None => next_events_of(slots, pools),
        };
        let other = if schedule.has_one_side() { NextEvents::NONE } else { scan(&pools[2..]) };
        let mut next_events = [scan(&pools[..2]), other];
        while let Some((at, index)) = self.part.timers.pop_before(schedule.farthest_end(&next_events)) {
            let slot = &mut slots[index as usize];
            if slot.timer != at {
                continue; // outdated: an earlier timer replaced it
            }
            slot.timer = Time::MAX;
            if slot.in_pool {
                continue;
            }
            if slot.next > at {
                // The node's event was postponed after this timer was set: set a new timer.
                set_timer(slot, &mut self.part.timers, index);
                continue;
            }
            slot.in_pool = true;
            pools[slot.pool()].push(index);
            next_events[usize::from(slot.side & 1)].add(at, slot.lookahead);
        }
        next_events
    }

    /// Returns the first event of the nodes in a side's pools.
    #[inline]
    pub(crate) fn first(&self, side: usize) -> Time {
        let PartNodes { slots, pools, .. } = &self.window.nodes;
        first_of(slots, &pools[2 * side..2 * side + 2])
    }

    /// Lists the nodes of a side with an event in [base, end); nodes with one port come last.
    #[inline(never)] // so that the loop has all registers available
    fn list_ready(&mut self, side: usize, base: Time, end: Time) {
        let Part { ready, .. } = &mut *self.part;
        let PartNodes { slots, pools, .. } = &mut self.window.nodes;
        let pools = &pools[2 * side..2 * side + 2];
        let most = pools[0].len() + pools[1].len();
        ready.clear();
        ready.reserve(most);
        let (to_ready, mut count) = (ready.as_mut_ptr(), 0);
        for pool in pools {
            for &index in pool {
                // The comparison is unpredictable, so the loop always writes and counts without a branch.
                // SAFETY: there is room for every node of both pools, and each is counted at most once.
                unsafe { to_ready.add(count).write(index) };
                count += usize::from(slot_in_pool(slots, index).next < end);
            }
        }
        // SAFETY: `count` entries were written.
        unsafe { ready.set_len(count) };
        if most > MIN_EVICTED_POOL {
            self.part.windows_since_eviction[side] += 1;
            if self.part.windows_since_eviction[side] == EVICTION_PERIOD {
                self.part.windows_since_eviction[side] = 0;
                // A node with an event in the next few windows remains in the pool, because scanning it is cheaper
                // than a timer.
                self.evict_idle(side, end.saturating_add((end - base).min(MAX_WINDOW) * 4));
            }
        }
    }

    /// Moves to the timers the nodes of a side's pools that have no event before `near`.
    #[inline(never)]
    fn evict_idle(&mut self, side: usize, near: Time) {
        let PartNodes { slots, pools, .. } = &mut self.window.nodes;
        for pool in &mut pools[2 * side..2 * side + 2] {
            pool.retain(|&index| {
                let slot = &mut slots[index as usize];
                slot.in_pool = slot.next < near;
                if !slot.in_pool {
                    set_timer(slot, &mut self.part.timers, index);
                }
                slot.in_pool
            });
        }
    }

    /// Runs every node with an event before `end` on the side that runs next. Returns false if `stop` was set before
    /// all of these nodes had run.
    pub(crate) fn run(&mut self, schedule: &SideSchedule, end: Time, stop: &AtomicBool) -> bool {
        self.list_ready(schedule.side(), schedule.now(), end);
        let View { nodes, wires: all_wires, window, part, .. } = self;
        let Part { ready, active, runs, .. } = &mut **part;
        let wires_of = |slot: &Slot| &all_wires[slot.wires.0 as usize..slot.wires.1 as usize];
        let fetches = ready.len() > CACHED_NODES;
        if fetches {
            // Sorted by index, which is the order in memory, so that the hardware prefetcher helps.
            ready.sort_unstable();
        }
        *runs += ready.len() as u64;
        window.set_end(end);
        let nodes = &mut **nodes;
        assert!(nodes.len() == window.nodes.slots.len(), "a slot for every node");
        for (position, &index) in ready.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                *runs -= (ready.len() - position) as u64;
                return false;
            }
            if fetches {
                for distance in 1..=PREFETCH_DISTANCE {
                    if let Some(&soon) = ready.get(position + distance) {
                        let wires = wires_of(&window.nodes.slots[soon as usize]);
                        window.prefetch(soon as usize, wires, distance);
                        nodes[soon as usize].prefetch(distance);
                    }
                }
            }
            let index = index as usize;
            let slot = &mut window.nodes.slots[index];
            // A lower bound of the times of the node's events. Keys contain times relative to it, so they are short.
            let first = slot.next.min(end);
            slot.next = Time::MAX;
            if !slot.active {
                slot.active = true;
                active.push(index as u32);
            }
            let wires = wires_of(slot);
            // SAFETY: the slot exists, as it was indexed above, and there is a node for every slot.
            let (left, node) = unsafe { (window.open(index, wires, first), nodes.get_unchecked_mut(index)) };
            let own = node.run(window);
            debug_assert!(window.all_taken(), "a node left arrivals behind");
            debug_assert!(own >= end, "a node left an event behind");
            let next = own.min(left);
            // SAFETY: as above.
            let slot = unsafe { window.nodes.slots.get_unchecked_mut(index) };
            slot.next = slot.next.min(next);
        }
        true
    }
}

/// Ensures that node `index`, which leaves the pool, returns no later than its next event. After an event is
/// postponed, such as a retransmit timer at each acknowledgement, the earlier timer remains and no new one is needed.
#[inline]
fn set_timer(slot: &mut Slot, timers: &mut Timers, index: u32) {
    if slot.next < slot.timer {
        slot.timer = slot.next;
        timers.push(slot.next, index);
    }
}

/// Returns the first event of the nodes in these pools.
#[inline]
fn first_of(slots: &[Slot], pools: &[Vec<u32>]) -> Time {
    let mut first = Time::MAX;
    for pool in pools {
        for &index in pool {
            first = first.min(slot_in_pool(slots, index).next);
        }
    }
    first
}

/// Returns the next events of the nodes in these pools.
#[inline(never)] // rarely called: only if lookaheads differ
fn next_events_of(slots: &[Slot], pools: &[Vec<u32>]) -> NextEvents {
    let mut next_events = NextEvents::NONE;
    for pool in pools {
        for &index in pool {
            let slot = slot_in_pool(slots, index);
            next_events.add(slot.next, slot.lookahead);
        }
    }
    next_events
}

/// Returns the slot of a node in a pool.
#[inline(always)] // hot: runs several times per window
fn slot_in_pool(slots: &[Slot], index: u32) -> &Slot {
    debug_assert!((index as usize) < slots.len());
    // SAFETY: a pool contains slot numbers of its partition only, and is rebuilt when the nodes are divided anew.
    unsafe { slots.get_unchecked(index as usize) }
}
