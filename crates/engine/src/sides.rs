//! Two sides of a network, where every wire leads from one to the other, and how far each has run.
//!
//! Nodes of one side influence each other only by way of the other side. So the sides run in turn, each as far as the
//! other one's next events allow, and that is two lookaheads from where it stood:
//!
//! ```text
//!   time        0       1       2       3       4       5   lookaheads
//!   one side    |--------->|------------------>|------->
//!   the other   |----------------->|------------------>|
//! ```
//!
//! A node runs half as often as where all of them meet after each lookahead, and finds twice as much to do. Trees,
//! leaves and spines, fat-trees, and hosts around a switch have two sides. Where nodes of a circle are odd in number
//! there are none, and all nodes run together, one lookahead at a time.

use crate::mail::{Slot, Wire};
use units::Time;

/// No window is longer than this from the first event of the nodes that run in it, so that a time within it fits 40
/// bits.
pub(crate) const LONGEST_WINDOW: Time = Time::from_s(1);

/// Nothing counts as more: a window ends two of them after its first event at the latest.
pub(crate) const LONGEST_LOOKAHEAD: Time = Time::from_ms(500);

/// To fewer nodes than this, turns of two sides cost more than they save.
const LEAST_IN_TURN: usize = 17;

/// In larger networks turns gained nothing on one thread and cost time on two: docs/performance.md, "Sides in turn".
const MOST_IN_TURN: usize = 512;

/// The side of each of `count` nodes, 0 or 1, if every one of these wires, from node to node, leads from side to side.
/// Nodes that no wires join stand on side 0.
fn two_sides(count: usize, wires: impl Iterator<Item = (u32, u32)>) -> Option<Vec<u8>> {
    let mut groups = Groups { parents: (0..count as u32).collect(), odd: vec![0; count] };
    let (mut wires, mut any) = (wires, false);
    let apart = wires.all(|(from, to)| {
        any = true;
        groups.stand_apart(from, to)
    });
    (apart && any).then(|| (0..count as u32).map(|node| groups.find(node).1).collect())
}

/// Nodes that wires join, each with its side against that of its group's first.
struct Groups {
    parents: Vec<u32>,
    /// Against that of the parent.
    odd: Vec<u8>,
}

impl Groups {
    /// The first of the node's group, and which side the node stands on against that.
    fn find(&mut self, node: u32) -> (u32, u8) {
        let (mut first, mut odd) = (node, 0);
        while self.parents[first as usize] != first {
            odd ^= self.odd[first as usize];
            first = self.parents[first as usize];
        }
        // All on the way come nearer for the next time.
        let (mut at, mut left) = (node, odd);
        while at != first {
            let parent = std::mem::replace(&mut self.parents[at as usize], first);
            left ^= std::mem::replace(&mut self.odd[at as usize], left);
            at = parent;
        }
        (first, odd)
    }

    /// Puts two nodes on different sides; false if they stand on the same.
    fn stand_apart(&mut self, one: u32, other: u32) -> bool {
        let ((first, odd), (second, other_odd)) = (self.find(one), self.find(other));
        if first == second {
            return odd != other_odd;
        }
        self.parents[second as usize] = first;
        self.odd[second as usize] = odd ^ other_odd ^ 1;
        true
    }
}

/// Tells these nodes, which have these wires, on which side each stands, if they have two, and how they take turns.
pub(crate) fn take_sides(slots: &mut [Slot], wires: &[Wire]) -> Turns {
    let wires_of = |(from, slot): (u32, &Slot)| {
        wires[slot.wires.0 as usize..slot.wires.1 as usize].iter().map(move |wire| (from, wire.slot))
    };
    if !(LEAST_IN_TURN..=MOST_IN_TURN).contains(&slots.len()) {
        return Turns::TOGETHER;
    }
    let Some(sides) = two_sides(slots.len(), (0..).zip(&*slots).flat_map(wires_of)) else { return Turns::TOGETHER };
    let mut least = [LONGEST_LOOKAHEAD; 2];
    for (slot, side) in slots.iter_mut().zip(sides) {
        slot.side = side;
        least[usize::from(side)] = least[usize::from(side)].min(slot.lookahead);
    }
    Turns::between(least)
}

/// What the nodes of a side have before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ahead {
    /// Their first event.
    pub(crate) first: Time,
    /// When it, or a later one, can reach another node: no sooner than this.
    pub(crate) reaches: Time,
}

impl Ahead {
    /// Nothing.
    pub(crate) const NONE: Ahead = Ahead { first: Time::MAX, reaches: Time::MAX };

    /// There is an event at `at`, too, of a node with this lookahead.
    #[inline]
    pub(crate) fn note(&mut self, at: Time, lookahead: Time) {
        self.first = self.first.min(at);
        self.reaches = self.reaches.min(at.saturating_add(lookahead));
    }

    /// With what `other` has.
    pub(crate) fn and(self, other: Ahead) -> Ahead {
        Ahead { first: self.first.min(other.first), reaches: self.reaches.min(other.reaches) }
    }
}

/// How far each side has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turns {
    /// Up to these instants; [`Time::MAX`] of a side that has no nodes, as there is but one.
    until: [Time; 2],
    /// What leaves a side and reaches the other is back no sooner than so much later: the least lookahead of the other
    /// one. 0 where there is but one side, whose nodes reach each other at once.
    back: [Time; 2],
}

impl Turns {
    /// Of one side.
    pub(crate) const TOGETHER: Turns = Turns { until: [Time::ZERO, Time::MAX], back: [Time::ZERO; 2] };

    /// Of two sides with these least lookaheads.
    pub(crate) fn between(least: [Time; 2]) -> Turns {
        Turns { until: [Time::ZERO; 2], back: [least[1], least[0]] }
    }

    /// Whether there is but one side.
    #[inline]
    pub(crate) fn together(&self) -> bool {
        self.back[0] == Time::ZERO
    }

    /// Which side runs next: the one that is behind.
    #[inline]
    pub(crate) fn side(&self) -> usize {
        usize::from(self.until[0] > self.until[1])
    }

    /// How far all nodes have run.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.until[self.side()]
    }

    /// How far any node has run.
    pub(crate) fn latest(&self) -> Time {
        if self.together() { self.until[0] } else { self.until[1 - self.side()] }
    }

    /// How far a side could run now.
    #[inline]
    fn end_of(&self, side: usize, ahead: &[Ahead; 2]) -> Time {
        // What the other one does reaches it, and what it does itself comes back from there.
        ahead[1 - side].reaches.min(ahead[side].reaches.saturating_add(self.back[side]))
    }

    /// How far either side could run now.
    #[inline]
    pub(crate) fn farthest(&self, ahead: &[Ahead; 2]) -> Time {
        if self.together() { ahead[0].reaches } else { self.end_of(0, ahead).max(self.end_of(1, ahead)) }
    }

    /// Lets sides, where there are two, pass that have nothing to do, up to `stop`. How far the one whose turn it is
    /// then can run.
    #[inline]
    pub(crate) fn pass(&mut self, ahead: &[Ahead; 2], stop: Time) -> Time {
        if self.together() {
            return ahead[0].reaches.min(stop);
        }
        loop {
            let side = self.side();
            let end = self.end_of(side, ahead).min(stop);
            if ahead[side].first < end || self.now() >= stop {
                return end;
            }
            self.run(end);
        }
    }

    /// The side whose turn it was has run up to `end`.
    #[inline]
    pub(crate) fn run(&mut self, end: Time) {
        let side = self.side();
        // So what a side sends is always for the one whose turn is next.
        debug_assert!(self.together() || end >= self.until[1 - side], "sides run in turn");
        self.until[side] = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[test]
    fn circles_of_odd_length_have_no_sides() {
        for count in 2..40u32 {
            let circle = || (0..count).map(|node| (node, (node + 1) % count));
            let sides = two_sides(count as usize, circle());
            assert_eq!(sides.is_some(), count % 2 == 0, "{count}");
            if let Some(sides) = sides {
                assert!(circle().all(|(from, to)| sides[from as usize] != sides[to as usize]));
            }
        }
        assert_eq!(two_sides(3, std::iter::empty()), None, "without wires there is nothing to wait for");
    }

    /// Wires between random sides are found to lead from side to side, in any order; one within a side is found, too,
    /// where the others join its ends.
    #[test]
    fn sides_are_found_where_they_are() {
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
            let found = two_sides(count, wires.iter().copied());
            assert_eq!(found.is_some(), !wires.is_empty());
            let Some(found) = found else { continue };
            assert!(wires.iter().all(|&(from, to)| found[from as usize] != found[to as usize]));
            let Some((one, other)) = (0..20).find_map(|_| some(true)) else { continue };
            let joined = joined(count, &wires)[one as usize] == joined(count, &wires)[other as usize];
            wires.push((one, other));
            assert_eq!(two_sides(count, wires.iter().copied()).is_none(), joined);
            within += u32::from(joined);
        }
        assert!(within > 50 || cfg!(miri), "{within}");
    }

    /// Which nodes wires join, one number each, found by trying again until nothing changes.
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
    fn sides_run_in_turn_two_lookaheads_at_a_time() {
        let (least, stop) = ([ns(2), ns(5)], ns(40));
        let mut turns = Turns::between(least);
        // Every node always has something to do.
        let (mut ahead, mut ran) = ([0, 1].map(|side| Ahead { first: ns(0), reaches: least[side] }), Vec::new());
        loop {
            let end = turns.pass(&ahead, stop);
            if turns.now() == stop {
                break;
            }
            let side = turns.side();
            ran.push((side, end));
            turns.run(end);
            ahead[side] = Ahead { first: end, reaches: end + least[side] };
        }
        let expected = [5, 7, 12, 14, 19, 21, 26, 28, 33, 35, 40, 40];
        assert_eq!(ran, (0..).map(|turn| turn % 2).zip(expected.map(ns)).collect::<Vec<_>>());
    }

    #[test]
    fn a_side_without_events_lets_the_other_run() {
        let mut turns = Turns::between([ns(2), ns(5)]);
        let far = Ahead { first: ns(1_000), reaches: ns(1_002) };
        // Only what comes back holds it up: an event of its own at 1,000.
        assert_eq!(turns.pass(&[far, Ahead::NONE], ns(9_000)), ns(1_007));
        assert_eq!((turns.side(), turns.now()), (0, ns(0)));
        // Of the other side: the first passes, up to where that could reach it, and the other runs.
        let other = Ahead { first: ns(1_000), reaches: ns(1_005) };
        assert_eq!(turns.pass(&[Ahead::NONE, other], ns(9_000)), ns(1_007));
        assert_eq!((turns.side(), turns.until), (1, [ns(1_005), ns(0)]));
        assert_eq!(turns.pass(&[Ahead::NONE; 2], ns(9_000)), ns(9_000));
        assert_eq!(turns.until, [ns(9_000); 2]);
    }

    #[test]
    fn one_side_runs_a_lookahead_at_a_time() {
        let mut turns = Turns::TOGETHER;
        for step in 1..4 {
            let ahead = [Ahead { first: ns(2 * step - 2), reaches: ns(2 * step) }, Ahead::NONE];
            assert_eq!(turns.pass(&ahead, ns(100)), ns(2 * step));
            turns.run(ns(2 * step));
            assert_eq!((turns.side(), turns.now()), (0, ns(2 * step)));
        }
        assert_eq!(turns.pass(&[Ahead::NONE; 2], ns(100)), ns(100), "where nothing happens, nobody runs up to there");
    }
}
