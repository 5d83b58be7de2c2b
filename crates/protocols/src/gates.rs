//! Transmission gates of a port (IEEE 802.1Qbv; 802.1Q-2022, 8.6.8.4): a gate control list, which repeats, of the
//! classes that may send.
//!
//! ```text
//!   class 7   ####..............####..............        # open, . closed
//!   others    ....##############....##############        a frame that would not end before its gate closes waits
//!             |--- one cycle ---|
//! ```
//!
//! All times of a [`GateList`] are local times of the node's clock.

use crate::describe::Default::{Absent, Required};
use crate::describe::{Family, Mechanism, Parameter, Syntax};
use crate::hold::HeldGates;
use crate::port::{Hooks, PortMechanism, PortSpec};
use std::sync::Arc;
use units::Time;
use units::clock::{NodeClock, global, local};

/// Number of traffic classes of a port.
const CLASSES: usize = 8;

/// Maximum duration of a gate cycle: 11 days, so that sums of cycles fit a [`Time`].
pub const MAX_CYCLE: Time = Time::from_s(1_000_000);

/// Node of the ports that a table is for.
pub(crate) const NODE: Parameter = Parameter {
    key: "node",
    syntax: Syntax::other("a switch or a host", "\"S1\""),
    default: Required,
    meaning: "the switch or host of the ports",
    source: "802.1Q-2022, 8.6.8.4",
};

/// Neighbours that the ports of the node lead to.
pub(crate) const TO: Parameter = Parameter {
    key: "to",
    syntax: Syntax::other("a list of neighbours", "[\"S2\"]"),
    default: Absent("every port of the node"),
    meaning: "only the ports to these neighbours",
    source: "802.1Q-2022, 8.6.8.4",
};

/// Description of the mechanism and its parameters.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "gates",
    family: Family::Gates,
    title: "a port sends a class only while its gate is open",
    source: "IEEE 802.1Qbv (802.1Q-2022, 8.6.8.4)",
    parameters: &[
        Parameter {
            key: "schedule",
            syntax: Syntax::other("a file", "\"slots.json\""),
            default: Absent("the `states` of the entry"),
            meaning: "a file that `tidegate schedule --to json` wrote: the gates of all its ports",
            source: "802.1Q-2022, 8.6.8.4",
        },
        NODE,
        TO,
        Parameter {
            key: "states",
            syntax: Syntax::other(
                "tables of `open`, `time` and `operation`",
                "[{ open = [7], time = \"100us\" }, { open = [0], time = \"400us\" }]",
            ),
            default: Required,
            meaning: "open gates and duration of each state, repeated in order. The first state starts at zero of the \
                      node's clock. `operation`, at ports with preemption: set-gate-states, set-and-hold-mac or \
                      set-and-release-mac; the default is hold for a state that opens no gate of a preemptable class, \
                      otherwise release",
            source: "802.1Q-2022, 8.6.8.4",
        },
    ],
};

/// Error in a gate control list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateListError {
    /// The list is empty.
    #[error("a list of gates has at least one state")]
    Empty,
    /// A state has a duration of zero.
    #[error("state {at} of the gates has no duration")]
    NoTime {
        /// Index of the state.
        at: usize,
    },
    /// The gate cycle is longer than [`MAX_CYCLE`].
    #[error("the cycle of the gates is longer than 11 days")]
    TooLong,
}

/// Gate operation at the start of a state, for a port with preemption (802.1Q-2022, Table 8-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateOperation {
    /// Sets the gates only; the MAC stays held or released.
    SetGateStates,
    /// Sets the gates, and requests the hold earlier, so that no preemptable frame is on the wire at the start of the
    /// state.
    SetAndHoldMac,
    /// Sets the gates, and releases the MAC for preemptable frames.
    SetAndReleaseMac,
}

impl GateOperation {
    /// Returns the default operation of a state with these `open` gates: `SetAndHoldMac` if all open classes are
    /// `express`, else `SetAndReleaseMac`. Both arguments are bitmasks of classes.
    pub fn by_default(open: u8, express: u8) -> GateOperation {
        if open & !express == 0 { GateOperation::SetAndHoldMac } else { GateOperation::SetAndReleaseMac }
    }
}

/// A state (entry) of a gate control list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateState {
    /// Bitmask of the classes with open gates.
    pub open: u8,
    /// Duration of the state.
    pub time: Time,
    /// Operation at the start of the state; `None` for [`GateOperation::by_default`].
    pub operation: Option<GateOperation>,
}

/// A gate control list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateList {
    states: Vec<GateState>,
    cycle: Time,
    /// Bitmask of the classes whose gates are never closed.
    always: u8,
    /// Intervals of each class with an open gate, ascending and disjoint, in [0, cycle). An interval that continues
    /// in the next cycle has an end beyond the cycle; its part in the next cycle is also listed as the first
    /// interval.
    open: [Vec<(Time, Time)>; CLASSES],
}

impl GateList {
    /// Creates a list with default operations from the states: bitmasks of open gates, with durations.
    ///
    /// # Errors
    /// If there are no states, a state has no duration, or the cycle exceeds [`MAX_CYCLE`].
    pub fn new(states: &[(u8, Time)]) -> Result<GateList, GateListError> {
        let states = states.iter().map(|&(open, time)| GateState { open, time, operation: None });
        GateList::with_operations(&states.collect::<Vec<_>>())
    }

    /// Creates a list from its states.
    ///
    /// # Errors
    /// Like [`GateList::new`].
    pub fn with_operations(states: &[GateState]) -> Result<GateList, GateListError> {
        if states.is_empty() {
            return Err(GateListError::Empty);
        }
        let mut open: [Vec<(Time, Time)>; CLASSES] = Default::default();
        let mut cycle = Time::ZERO;
        for (at, state) in states.iter().enumerate() {
            if state.time == Time::ZERO {
                return Err(GateListError::NoTime { at });
            }
            let (from, to) = (cycle, cycle.saturating_add(state.time));
            if to > MAX_CYCLE {
                return Err(GateListError::TooLong);
            }
            for (_, spans) in open.iter_mut().enumerate().filter(|(class, _)| state.open & 1 << class != 0) {
                // Consecutive states in which the gate is open form one interval.
                match spans.last_mut().filter(|last| last.1 == from) {
                    Some(last) => last.1 = to,
                    None => spans.push((from, to)),
                }
            }
            cycle = to;
        }
        let mut always = 0;
        for (class, spans) in open.iter_mut().enumerate() {
            match spans[..] {
                [(Time::ZERO, to)] if to == cycle => always |= 1 << class,
                // The gate stays open from the end of the cycle into the next cycle: `open_for` must return the total
                // time.
                [(Time::ZERO, first), .., (_, ref mut last)] if *last == cycle => *last = cycle + first,
                _ => {}
            }
        }
        Ok(GateList { states: states.to_vec(), cycle, always, open })
    }

    /// States of the list, in order.
    pub fn states(&self) -> &[GateState] {
        &self.states
    }

    /// Duration of the gate cycle.
    pub fn cycle(&self) -> Time {
        self.cycle
    }

    /// Time for which the gate of `class` stays open from `at` on: zero if it is closed, [`Time::MAX`] if it never
    /// closes.
    pub fn open_for(&self, at: Time, class: u8) -> Time {
        if self.always & 1 << class != 0 {
            return Time::MAX;
        }
        let (spans, phase) = (&self.open[usize::from(class)], at % self.cycle);
        let next = spans.partition_point(|&(from, _)| from <= phase);
        if next == 0 { Time::ZERO } else { spans[next - 1].1.saturating_sub(phase) }
    }

    /// Earliest time, not before `at`, from which the gate of `class` stays open for at least `span`, which must be
    /// above zero; [`Time::MAX`] if there is none.
    pub fn opens_for(&self, at: Time, class: u8, span: Time) -> Time {
        if self.open_for(at, class) >= span {
            return at;
        }
        let (spans, phase) = (&self.open[usize::from(class)], at % self.cycle);
        let fits = |&&(from, to): &&(Time, Time)| to - from >= span;
        let next = spans.partition_point(|&(from, _)| from <= phase);
        if let Some(&(from, _)) = spans[next..].iter().find(fits) {
            return at + (from - phase);
        }
        spans[..next].iter().find(fits).map_or(Time::MAX, |&(from, _)| at + (self.cycle - phase) + from)
    }

    /// Earliest time after `at` at which the gate of `class` opens, or a cycle starts with it open; [`Time::MAX`] if
    /// it never opens.
    pub fn next_opening(&self, at: Time, class: u8) -> Time {
        let (spans, phase) = (&self.open[usize::from(class)], at % self.cycle);
        match (spans.get(spans.partition_point(|&(from, _)| from <= phase)), spans.first()) {
            (Some(&(from, _)), _) => at + (from - phase),
            (None, Some(&(from, _))) => at + (self.cycle - phase) + from,
            (None, None) => Time::MAX,
        }
    }

    /// Total time between `from` and `to` in which the gate of `class` is open.
    pub fn open_between(&self, from: Time, to: Time, class: u8) -> Time {
        if self.always & 1 << class != 0 {
            return to.saturating_sub(from);
        }
        let spans = &self.open[usize::from(class)];
        // An interval that continues in the next cycle is clipped at the end of the cycle, because its part in the
        // next cycle is also listed as the first interval.
        let until = |phase: Time| -> u64 {
            spans.iter().map(|&(opens, shuts)| shuts.min(self.cycle).min(phase).saturating_sub(opens).as_ps()).sum()
        };
        let whole = until(self.cycle);
        let since_zero = |at: Time| (at.as_ps() / self.cycle.as_ps()) * whole + until(at % self.cycle);
        Time::from_ps(since_zero(to).saturating_sub(since_zero(from)))
    }

    /// Longest time for which the gate of `class` stays open; zero if it never opens.
    pub fn longest(&self, class: u8) -> Time {
        if self.always & 1 << class != 0 {
            return Time::MAX;
        }
        self.open[usize::from(class)].iter().map(|&(from, to)| to - from).max().unwrap_or(Time::ZERO)
    }
}

/// Transmission gates of one port.
///
/// A frame starts only if it ends, inter-frame gap included, before its gate closes: the guard band of 802.1Q-2022,
/// 8.6.8.4. At a port with preemption, states of the list can hold preemptable frames; a preemptable frame that does
/// not fit may start if the hold will interrupt it before its gate closes.
#[derive(Clone, Debug)]
pub struct PortGates(Box<Gates>);

#[derive(Clone, Debug)]
struct Gates {
    list: Arc<GateList>,
    /// Clock of the node; `None` for a clock without error.
    clock: Option<NodeClock>,
    /// Gates with the holds of the MAC, if the list has states that hold preemptable frames.
    held: Option<HeldGates>,
}

impl Gates {
    /// Returns the duration of `busy` on the node's clock. A drifting clock rounds to whole picoseconds, so that the
    /// difference may be 2 ps too long; it is reduced by 2 ps, so that a frame that exactly fits its time slot also
    /// fits with such a clock.
    fn span(&self, now: Time, busy: Time) -> Time {
        match &self.clock {
            None => busy,
            Some(clock) => (clock.local(now + busy) - clock.local(now)).saturating_sub(Time::from_ps(2)),
        }
    }

    /// Returns whether a frame of `class` that occupies the wire for `busy` may start at `now`.
    fn allows(&self, now: Time, class: u8, busy: Time) -> bool {
        let (at, busy) = (local(self.clock.as_ref(), now), self.span(now, busy));
        if let Some(held) = &self.held {
            return held.lets_pass(at, class, busy);
        }
        let open = self.list.open_for(at, class);
        open > Time::ZERO && open >= busy
    }

    /// Returns the earliest start of a frame that may not start at `now`.
    fn opens_at(&self, now: Time, class: u8, busy: Time) -> Time {
        let clock = self.clock.as_ref();
        // On a drifting clock, the first picosecond at or after the opening may have a local time that is 1 ps too
        // late.
        let slack = if clock.is_some() { Time::from_ps(1) } else { Time::ZERO };
        let (at, span) = (local(clock, now), self.span(now, busy));
        let opens = match &self.held {
            Some(held) => held.opens_at(at, class, span, slack),
            None => self.list.opens_for(at, class, span + slack),
        };
        global(clock, opens).max(now + Time::from_ps(1))
    }
}

impl PortMechanism for PortGates {
    type Parameters = Arc<GateList>;
    const MECHANISM: &'static Mechanism = &MECHANISM;

    fn new(list: &Arc<GateList>, port: &PortSpec) -> PortGates {
        let held = port.preemption.and_then(|preemption| {
            let advance = preemption.hold_advance(port.rate);
            // A drifting clock rounds to whole picoseconds, so that a local interval may appear 2 ps longer than it
            // is.
            let advance = port.clock.map_or(advance, |it| it.local(advance) - it.local(Time::ZERO) + Time::from_ps(2));
            HeldGates::new(list, preemption.express, advance)
        });
        PortGates(Box::new(Gates { list: Arc::clone(list), clock: port.clock, held }))
    }

    fn hooks(&self) -> Hooks {
        Hooks::BLOCK
    }

    fn starts_at(&self, from: Time, class: u8, busy: Time) -> Time {
        if self.0.allows(from, class, busy) { from } else { self.0.opens_at(from, class, busy) }
    }

    fn resumes_at(&self, from: Time, class: u8, busy: Time) -> Time {
        self.starts_at(from, class, busy)
    }

    fn holds_at(&self, now: Time) -> Time {
        let Gates { clock, held, .. } = &*self.0;
        let clock = clock.as_ref();
        held.as_ref().map_or(Time::MAX, |held| global(clock, held.holds_at(local(clock, now))).max(now))
    }

    fn open_between(&self, from: Time, to: Time, class: u8) -> Time {
        let clock = self.0.clock.as_ref();
        self.0.list.open_between(local(clock, from), local(clock, to), class)
    }

    fn available_between(&self, from: Time, to: Time, class: u8) -> Time {
        let clock = self.0.clock.as_ref();
        match &self.0.held {
            Some(held) => held.available_between(local(clock, from), local(clock, to), class),
            None => self.open_between(from, to, class),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const fn ns(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    #[test]
    fn a_gate_opens_again_and_again() {
        let list = GateList::new(&[(0x80, ns(10)), (0x7f, ns(30))]).unwrap();
        assert_eq!(list.cycle(), ns(40));
        assert_eq!((list.open_for(ns(83), 7), list.open_for(ns(83), 0)), (ns(7), Time::ZERO));
        assert_eq!((list.open_for(ns(90), 7), list.open_for(ns(90), 0)), (Time::ZERO, ns(30)));
        assert_eq!(list.opens_for(ns(83), 7, ns(7)), ns(83));
        assert_eq!(list.opens_for(ns(83), 7, ns(8)), ns(120));
        assert_eq!(list.opens_for(ns(83), 7, ns(11)), Time::MAX);
        assert_eq!((list.longest(7), list.longest(3)), (ns(10), ns(30)));
    }

    /// The gate of class 0 is open at the end of a cycle and at the start of the next one: it stays open in between.
    #[test]
    fn a_gate_stays_open_over_the_end_of_a_cycle() {
        let list = GateList::new(&[(1, ns(10)), (2, ns(20)), (5, ns(10))]).unwrap();
        assert_eq!((list.open_for(ns(35), 0), list.open_for(ns(35), 2)), (ns(15), ns(5)));
        assert_eq!(list.opens_for(ns(11), 0, ns(20)), ns(30));
        assert_eq!(list.longest(0), ns(20));
        let always = GateList::new(&[(3, ns(10)), (1, ns(20))]).unwrap();
        assert_eq!((always.open_for(ns(9), 0), always.longest(0)), (Time::MAX, Time::MAX));
        assert_eq!((always.open_for(ns(9), 5), always.opens_for(ns(9), 5, ns(1))), (Time::ZERO, Time::MAX));
    }

    #[test]
    fn lists_that_are_none_are_refused() {
        assert_eq!(GateList::new(&[]), Err(GateListError::Empty));
        assert_eq!(GateList::new(&[(1, ns(1)), (2, ns(0))]), Err(GateListError::NoTime { at: 1 }));
        assert_eq!(GateList::new(&[(1, MAX_CYCLE), (2, ns(1))]), Err(GateListError::TooLong));
    }

    /// For random lists, compares all queries with the definition of the list at every nanosecond.
    #[test]
    fn gates_are_open_when_their_states_say_so() {
        let mut random = Stream::new(5, 0, 0);
        for _ in 0..300 {
            let mut states = Vec::new();
            for _ in 0..1 + random.below(6) {
                let gates = random.below(256) as u8;
                states.push((gates, ns(1 + random.below(9))));
            }
            let list = GateList::new(&states).unwrap();
            let each: Vec<u8> =
                states.iter().flat_map(|&(gates, span)| vec![gates; (span.as_ps() / 1000) as usize]).collect();
            let cycle = each.len();
            let is_open = |at: usize, class: u8| each[at % cycle] & 1 << class != 0;
            for class in 0..8 {
                let at = random.below(4 * cycle as u64) as usize;
                let span = 1 + random.below(12) as usize;
                let lasts = (0..2 * cycle).take_while(|&after| is_open(at + after, class)).count();
                let expected = if lasts == 2 * cycle { Time::MAX } else { ns(lasts as u64) };
                assert_eq!(list.open_for(ns(at as u64), class), expected, "{states:?} {at} {class}");
                let fits = |from: usize| (from..from + span).all(|at| is_open(at, class));
                let first = (at..at + 2 * cycle).find(|&from| fits(from));
                let expected = first.map_or(Time::MAX, |from| ns(from as u64));
                assert_eq!(list.opens_for(ns(at as u64), class, ns(span as u64)), expected, "{states:?} {at} {span}");
                let open = (at..at + span).filter(|&at| is_open(at, class)).count() as u64;
                let (from, to) = (ns(at as u64), ns((at + span) as u64));
                assert_eq!(list.open_between(from, to, class), ns(open), "{states:?} {at} {span}");
            }
        }
    }
}
