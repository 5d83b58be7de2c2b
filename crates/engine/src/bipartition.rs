//! Alternate windows for the two sides of a bipartite network, and the time that each side has reached.
//!
//! Nodes of one side influence each other only through the other side. So the sides run alternately, each up to the
//! earliest effect of the other side's next events. In a busy network this is two lookaheads:
//!
//! ```text
//!   time        0       1       2       3       4       5   lookaheads
//!   one side    |--------->|------------------>|------->
//!   the other   |----------------->|------------------>|
//! ```
//!
//! Compared with common windows of one lookahead, a node runs half as often and handles twice as many events per run.
//! Trees, leaf-spine networks, fat-trees and hosts around a switch are bipartite. With an odd cycle the graph is not,
//! and all nodes run together, one lookahead per window.

use crate::mail::{Slot, Wire};
use units::Time;

/// Maximum length of a window, from the first event of its nodes, so that a time within the window fits 40 bits.
pub(crate) const MAX_WINDOW: Time = Time::from_s(1);

/// Upper bound of a lookahead: a window ends at most two lookaheads after its first event.
pub(crate) const MAX_LOOKAHEAD: Time = Time::from_ms(500);

/// With fewer nodes than this, alternate windows cost more than they save.
const MIN_NODES: usize = 17;

/// With more nodes, alternate windows gained nothing on one thread and were slower on two: docs/performance.md,
/// "Sides in turn".
const MAX_NODES: usize = 512;

/// Returns the side (0 or 1) of each of `count` nodes if the graph of `wires`, pairs of nodes, is bipartite. Nodes
/// without wires are on side 0. Returns `None` without any wire.
fn bipartition_of(count: usize, wires: impl Iterator<Item = (u32, u32)>) -> Option<Vec<u8>> {
    let mut groups = UnionFind { parents: (0..count as u32).collect(), parity: vec![0; count] };
    let (mut wires, mut any) = (wires, false);
    let apart = wires.all(|(from, to)| {
        any = true;
        groups.separate(from, to)
    });
    (apart && any).then(|| (0..count as u32).map(|node| groups.find(node).1).collect())
}

/// Union-find over nodes, with the parity (relative side) of each node to its parent.
struct UnionFind {
    parents: Vec<u32>,
    /// Side relative to the parent: 1 if opposite.
    parity: Vec<u8>,
}

impl UnionFind {
    /// Returns the root of the node's group, and the node's side relative to it.
    fn find(&mut self, node: u32) -> (u32, u8) {
        let (mut first, mut odd) = (node, 0);
        while self.parents[first as usize] != first {
            odd ^= self.parity[first as usize];
            first = self.parents[first as usize];
        }
        // Path compression.
        let (mut at, mut left) = (node, odd);
        while at != first {
            let parent = std::mem::replace(&mut self.parents[at as usize], first);
            left ^= std::mem::replace(&mut self.parity[at as usize], left);
            at = parent;
        }
        (first, odd)
    }

    /// Puts two nodes on opposite sides. Returns false if earlier calls have put them on the same side.
    fn separate(&mut self, one: u32, other: u32) -> bool {
        let ((first, odd), (second, other_odd)) = (self.find(one), self.find(other));
        if first == second {
            return odd != other_odd;
        }
        self.parents[second as usize] = first;
        self.parity[second as usize] = odd ^ other_odd ^ 1;
        true
    }
}

/// Assigns each node its side, if the network is bipartite and of suitable size, and returns the schedule of the sides.
pub(crate) fn bipartite_schedule(slots: &mut [Slot], wires: &[Wire]) -> SideSchedule {
    let wires_of = |(from, slot): (u32, &Slot)| {
        wires[slot.wires.0 as usize..slot.wires.1 as usize].iter().map(move |wire| (from, wire.slot))
    };
    if !(MIN_NODES..=MAX_NODES).contains(&slots.len()) {
        return SideSchedule::ONE_SIDE;
    }
    let Some(sides) = bipartition_of(slots.len(), (0..).zip(&*slots).flat_map(wires_of)) else {
        return SideSchedule::ONE_SIDE;
    };
    let mut least = [MAX_LOOKAHEAD; 2];
    for (slot, side) in slots.iter_mut().zip(sides) {
        slot.side = side;
        least[usize::from(side)] = least[usize::from(side)].min(slot.lookahead);
    }
    SideSchedule::two_sides(least)
}

/// Next events of the nodes of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NextEvents {
    /// Time of the first event of these nodes.
    pub(crate) first: Time,
    /// Earliest time at which an event of these nodes can have an effect at another node.
    pub(crate) earliest_effect: Time,
}

impl NextEvents {
    /// No events.
    pub(crate) const NONE: NextEvents = NextEvents { first: Time::MAX, earliest_effect: Time::MAX };

    /// Adds an event at `at` of a node with this lookahead.
    #[inline]
    pub(crate) fn add(&mut self, at: Time, lookahead: Time) {
        self.first = self.first.min(at);
        self.earliest_effect = self.earliest_effect.min(at.saturating_add(lookahead));
    }

    /// Returns the next events of the nodes of both operands.
    pub(crate) fn merge(self, other: NextEvents) -> NextEvents {
        NextEvents {
            first: self.first.min(other.first),
            earliest_effect: self.earliest_effect.min(other.earliest_effect),
        }
    }
}

/// Simulated time that each side has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SideSchedule {
    /// Time before which all events of each side have run; [`Time::MAX`] for the second side if there is only one.
    reached: [Time; 2],
    /// Least lookahead of the other side, by side: the minimum time until an effect on the other side can return. 0
    /// with one side, because its nodes reach each other directly.
    return_delay: [Time; 2],
}

impl SideSchedule {
    /// The schedule of one side.
    pub(crate) const ONE_SIDE: SideSchedule =
        SideSchedule { reached: [Time::ZERO, Time::MAX], return_delay: [Time::ZERO; 2] };

    /// Creates the schedule of two sides with these least lookaheads.
    pub(crate) fn two_sides(least: [Time; 2]) -> SideSchedule {
        SideSchedule { reached: [Time::ZERO; 2], return_delay: [least[1], least[0]] }
    }

    /// Returns whether there is only one side.
    #[inline]
    pub(crate) fn has_one_side(&self) -> bool {
        self.return_delay[0] == Time::ZERO
    }

    /// Returns the side that runs next: the side that has reached the earlier time.
    #[inline]
    pub(crate) fn side(&self) -> usize {
        usize::from(self.reached[0] > self.reached[1])
    }

    /// Returns the time that all nodes have reached.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.reached[self.side()]
    }

    /// Returns the latest time that any node has reached.
    pub(crate) fn latest(&self) -> Time {
        if self.has_one_side() { self.reached[0] } else { self.reached[1 - self.side()] }
    }

    /// Returns the time up to which a side could run now.
    #[inline]
    fn end_of(&self, side: usize, next_events: &[NextEvents; 2]) -> Time {
        // Two limits: effects of the other side's events, and effects of own events that return through the other
        // side.
        next_events[1 - side]
            .earliest_effect
            .min(next_events[side].earliest_effect.saturating_add(self.return_delay[side]))
    }

    /// Returns the latest time up to which either side could run now.
    #[inline]
    pub(crate) fn farthest_end(&self, next_events: &[NextEvents; 2]) -> Time {
        if self.has_one_side() {
            next_events[0].earliest_effect
        } else {
            self.end_of(0, next_events).max(self.end_of(1, next_events))
        }
    }

    /// Advances sides that have no events, up to `stop`. Returns the time up to which the next side can run.
    #[inline]
    pub(crate) fn skip_idle(&mut self, next_events: &[NextEvents; 2], stop: Time) -> Time {
        if self.has_one_side() {
            return next_events[0].earliest_effect.min(stop);
        }
        loop {
            let side = self.side();
            let end = self.end_of(side, next_events).min(stop);
            if next_events[side].first < end || self.now() >= stop {
                return end;
            }
            self.advance(end);
        }
    }

    /// Records that the side that runs next has run up to `end`.
    #[inline]
    pub(crate) fn advance(&mut self, end: Time) {
        let side = self.side();
        // `end` is at or after the time of the other side, so the other side runs next, and every message of this
        // side is for it.
        debug_assert!(self.has_one_side() || end >= self.reached[1 - side], "sides alternate");
        self.reached[side] = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[test]
    fn odd_cycles_are_not_bipartite() {
        for count in 2..40u32 {
            let cycle = || (0..count).map(|node| (node, (node + 1) % count));
            let sides = bipartition_of(count as usize, cycle());
            assert_eq!(sides.is_some(), count % 2 == 0, "{count}");
            if let Some(sides) = sides {
                assert!(cycle().all(|(from, to)| sides[from as usize] != sides[to as usize]));
            }
        }
        assert_eq!(bipartition_of(3, std::iter::empty()), None, "without wires there is nothing to wait for");
    }

    /// Bipartite graphs over random sides are recognised with wires in any order. One added wire between two nodes of
    /// the same side makes the graph not bipartite if other wires connect its two nodes.
    #[test]
    fn bipartitions_are_found() {
        let mut random = Stream::new(3, 0, 0);
        let mut within = 0;
        for _ in 0..if cfg!(miri) { 5 } else { 300 } {
            let count = 2 + random.below(30) as usize;
            let real: Vec<u8> = (0..count).map(|_| random.below(2) as u8).collect();
            let mut some = |same: bool| {
                let pair = (random.below(count as u64) as u32, random.below(count as u64) as u32);
                (pair.0 != pair.1 && (real[pair.0 as usize] == real[pair.1 as usize]) == same).then_some(pair)
            };
            let mut wires: Vec<_> = (0..60).filter_map(|_| some(false)).collect();
            let found = bipartition_of(count, wires.iter().copied());
            assert_eq!(found.is_some(), !wires.is_empty());
            let Some(found) = found else { continue };
            assert!(wires.iter().all(|&(from, to)| found[from as usize] != found[to as usize]));
            let Some((one, other)) = (0..20).find_map(|_| some(true)) else { continue };
            let joined = joined(count, &wires)[one as usize] == joined(count, &wires)[other as usize];
            wires.push((one, other));
            assert_eq!(bipartition_of(count, wires.iter().copied()).is_none(), joined);
            within += u32::from(joined);
        }
        assert!(within > 50 || cfg!(miri), "{within}");
    }

    /// Returns the connected component of each node, by repeated relaxation.
    fn joined(count: usize, wires: &[(u32, u32)]) -> Vec<u32> {
        let mut groups: Vec<u32> = (0..count as u32).collect();
        loop {
            let before = groups.clone();
            for &(from, to) in wires {
                let least = groups[from as usize].min(groups[to as usize]);
                (groups[from as usize], groups[to as usize]) = (least, least);
            }
            if groups == before {
                return groups;
            }
        }
    }

    fn ns(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    #[test]
    fn sides_alternate_two_lookaheads_at_a_time() {
        let (least, stop) = ([ns(2), ns(5)], ns(40));
        let mut schedule = SideSchedule::two_sides(least);
        // The next event of each side is always at the time that the side has reached.
        let (mut next_events, mut ran) =
            ([0, 1].map(|side| NextEvents { first: ns(0), earliest_effect: least[side] }), Vec::new());
        loop {
            let end = schedule.skip_idle(&next_events, stop);
            if schedule.now() == stop {
                break;
            }
            let side = schedule.side();
            ran.push((side, end));
            schedule.advance(end);
            next_events[side] = NextEvents { first: end, earliest_effect: end + least[side] };
        }
        let expected = [5, 7, 12, 14, 19, 21, 26, 28, 33, 35, 40, 40];
        assert_eq!(ran, (0..).map(|window| window % 2).zip(expected.map(ns)).collect::<Vec<_>>());
    }

    #[test]
    fn a_side_without_events_lets_the_other_run() {
        let mut schedule = SideSchedule::two_sides([ns(2), ns(5)]);
        let far = NextEvents { first: ns(1_000), earliest_effect: ns(1_002) };
        // The other side has no events. The only limit is the effect of the own event, which reaches the other side
        // at 1,002 ns and can return 5 ns later.
        assert_eq!(schedule.skip_idle(&[far, NextEvents::NONE], ns(9_000)), ns(1_007));
        assert_eq!((schedule.side(), schedule.now()), (0, ns(0)));
        // Only the other side has an event: the first side advances to the effect of this event, 1,005 ns, without
        // running. The other side runs to 1,005 ns plus the return delay of 2 ns.
        let other = NextEvents { first: ns(1_000), earliest_effect: ns(1_005) };
        assert_eq!(schedule.skip_idle(&[NextEvents::NONE, other], ns(9_000)), ns(1_007));
        assert_eq!((schedule.side(), schedule.reached), (1, [ns(1_005), ns(0)]));
        assert_eq!(schedule.skip_idle(&[NextEvents::NONE; 2], ns(9_000)), ns(9_000));
        assert_eq!(schedule.reached, [ns(9_000); 2]);
    }

    #[test]
    fn one_side_runs_a_lookahead_at_a_time() {
        let mut schedule = SideSchedule::ONE_SIDE;
        for step in 1..4 {
            let next_events = [NextEvents { first: ns(2 * step - 2), earliest_effect: ns(2 * step) }, NextEvents::NONE];
            assert_eq!(schedule.skip_idle(&next_events, ns(100)), ns(2 * step));
            schedule.advance(ns(2 * step));
            assert_eq!((schedule.side(), schedule.now()), (0, ns(2 * step)));
        }
        assert_eq!(schedule.skip_idle(&[NextEvents::NONE; 2], ns(100)), ns(100), "without events no side runs");
    }
}
