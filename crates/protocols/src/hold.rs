//! Gates of a port with preemption, and the times at which its MAC holds preemptable frames (IEEE 802.1Q-2022,
//! 8.6.8.4 and Table 8-7; 802.3-2022, clause 99).
//!
//! ```text
//!   gates   preemptable                          express                   preemptable
//!   MAC     released          |<- holdAdvance ->|held                     |released
//!   wire    ## first fragment ##################|  express frames         |## rest ##
//!                              cut, at the latest
//! ```
//!
//! From a hold request to the release, no preemptable frame starts or continues. The request precedes the hold
//! operation by holdAdvance, so that the wire is idle at the hold operation. releaseAdvance is zero: preemptable
//! frames continue at the release.

use crate::gates::{GateList, GateOperation};
use crate::preemption::PreemptionParameters;
use units::{Rate, Time};

/// Gates of a port with preemption, combined with the holds of its MAC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldGates {
    /// Gate control list in which the gates of preemptable classes are closed while the MAC is held.
    available: GateList,
    /// Release times as a gate control list of class 0, whose gate is open while the MAC is released.
    released: GateList,
    /// Bitmask of express classes.
    express: u8,
    hold_advance: Time,
}

impl HeldGates {
    /// Returns `None` if no state of `list` holds preemptable frames. `hold_advance` is a duration on the clock of
    /// the list; see [`PreemptionParameters::hold_advance`].
    pub fn new(list: &GateList, express: u8, hold_advance: Time) -> Option<HeldGates> {
        let held = held(list, express);
        if express == u8::MAX || !held.contains(&true) {
            return None;
        }
        let states = || list.states().iter().zip(&held);
        let available = states().map(|(it, &held)| (if held { it.open & express } else { it.open }, it.time));
        let released = states().map(|(it, &held)| (u8::from(!held), it.time));
        Some(HeldGates {
            available: GateList::new(&available.collect::<Vec<_>>()).ok()?,
            released: GateList::new(&released.collect::<Vec<_>>()).ok()?,
            express,
            hold_advance,
        })
    }

    /// Like [`HeldGates::new`], with the holdAdvance of a link of `rate` and a clock without error.
    pub fn at_rate(list: &GateList, preemption: PreemptionParameters, rate: Rate) -> Option<HeldGates> {
        HeldGates::new(list, preemption.express, preemption.hold_advance(rate))
    }

    /// Whether a frame of `class` that occupies the wire for `busy` may start or continue at `at`.
    ///
    /// A frame must end before its gate closes (802.1Q-2022, 8.6.8.4), or be preemptable and be interrupted by a hold
    /// before its gate closes.
    pub fn lets_pass(&self, at: Time, class: u8, busy: Time) -> bool {
        self.lets_pass_before(at, class, busy, self.hold_advance)
    }

    /// Like [`lets_pass`](Self::lets_pass), with `advance` instead of holdAdvance: a preemptable frame may start only
    /// if the next hold operation is more than `advance` away.
    fn lets_pass_before(&self, at: Time, class: u8, busy: Time, advance: Time) -> bool {
        let open = self.available.open_for(at, class);
        if self.is_express(class) {
            return open > Time::ZERO && open >= busy;
        }
        let released = self.released.open_for(at, 0);
        open > Time::ZERO && released > advance && (open >= busy || open == released)
    }

    /// Earliest time, not before `at`, at which the frame may start, even if the actual start is `slack` later;
    /// [`Time::MAX`] if there is none.
    pub fn opens_at(&self, at: Time, class: u8, busy: Time, slack: Time) -> Time {
        if self.is_express(class) {
            return self.available.opens_for(at, class, busy + slack);
        }
        // A frame that may start at some time of an open interval may also start at the beginning of the interval, so
        // that only beginnings need to be checked.
        let (mut next, last) = (at, at.saturating_add(self.available.cycle()));
        while next <= last {
            if self.lets_pass_before(next, class, busy + slack, self.hold_advance + slack) {
                return next;
            }
            next = self.available.next_opening(next, class);
        }
        Time::MAX
    }

    /// Time of the next hold request; `at` if a hold is already requested at that time.
    pub fn holds_at(&self, at: Time) -> Time {
        at.saturating_add(self.released.open_for(at, 0).saturating_sub(self.hold_advance))
    }

    /// Total time between `from` and `to` in which frames of `class` were available: gate open and, if preemptable, MAC
    /// released.
    pub fn available_between(&self, from: Time, to: Time, class: u8) -> Time {
        self.available.open_between(from, to, class)
    }

    /// Longest time for which frames of `class` are available without interruption.
    pub fn longest(&self, class: u8) -> Time {
        self.available.longest(class)
    }

    /// Time from a hold request to the hold operation (holdAdvance).
    pub fn hold_advance(&self) -> Time {
        self.hold_advance
    }

    /// Whether `class` is express, so that its frames are never held.
    pub fn is_express(&self, class: u8) -> bool {
        self.express & 1 << class != 0
    }
}

/// Returns whether the MAC is held in each state of `list`. SetGateStates keeps the hold or release of the previous
/// state; the state before the first one is the last one of the cycle.
fn held(list: &GateList, express: u8) -> Vec<bool> {
    let states = list.states();
    let operation = |at: usize| states[at].operation.unwrap_or(GateOperation::by_default(states[at].open, express));
    let holds = |at: usize| match operation(at) {
        GateOperation::SetGateStates => None,
        GateOperation::SetAndHoldMac => Some(true),
        GateOperation::SetAndReleaseMac => Some(false),
    };
    let mut held = (0..states.len()).rev().find_map(holds).unwrap_or(false);
    (0..states.len())
        .map(|at| {
            held = holds(at).unwrap_or(held);
            held
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::GateState;
    use units::random::Stream;

    const fn ns(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    #[test]
    fn a_state_that_opens_express_gates_alone_holds() {
        let list = GateList::new(&[(0x01, ns(200)), (0x80, ns(100)), (0x00, ns(10)), (0x81, ns(10))]).unwrap();
        assert_eq!(held(&list, 0x80), [false, true, true, false]);
        assert_eq!(HeldGates::new(&list, 0xff, ns(11)), None);
        assert_eq!(HeldGates::new(&GateList::new(&[(1, ns(9)), (2, ns(9))]).unwrap(), 0x80, ns(1)), None);
        let gates = HeldGates::new(&list, 0x80, ns(11)).unwrap();
        // The MAC is held from 200 ns, with a holdAdvance of 11 ns. A frame of 120 ns may start until 188 ns, since
        // the hold will interrupt it; from the hold request at 189 ns no preemptable frame starts.
        let passes = |at: u64| gates.lets_pass(ns(at), 0, ns(120));
        assert!(passes(0) && passes(188) && !passes(189) && !passes(300));
        assert_eq!(
            (gates.holds_at(ns(100)), gates.holds_at(ns(190)), gates.holds_at(ns(311))),
            (ns(189), ns(190), ns(320 + 189))
        );
        assert_eq!(gates.opens_at(ns(189), 0, ns(120), Time::ZERO), ns(310));
    }

    /// Table 8-7: SetGateStates keeps the hold or release of the previous operation, also across the end of a cycle.
    #[test]
    fn set_gate_states_keeps_a_hold() {
        use GateOperation::*;
        let list = |operations: [Option<GateOperation>; 4]| {
            let state = |operation| GateState { open: 1, time: ns(10), operation };
            GateList::with_operations(&operations.map(state)).unwrap()
        };
        let set = Some(SetGateStates);
        assert_eq!(held(&list([set, Some(SetAndHoldMac), set, None]), 0x80), [false, true, true, false]);
        assert_eq!(held(&list([set, Some(SetAndReleaseMac), Some(SetAndHoldMac), set]), 2), [true, false, true, true]);
        assert_eq!(held(&list([set; 4]), 0xfe), [false; 4]);
    }

    /// For random lists, operations and express classes, compares all queries with the definition at every
    /// nanosecond.
    #[test]
    fn preemptable_frames_pass_as_operations_say() {
        let mut random = Stream::new(6, 0, 0);
        let mut seen = [0, 0];
        for _ in 0..400 {
            let states: Vec<GateState> = (0..1 + random.below(6))
                .map(|_| {
                    use GateOperation::*;
                    let any = [None, None, Some(SetGateStates), Some(SetAndHoldMac), Some(SetAndReleaseMac)];
                    let operation = any[random.below(5) as usize];
                    GateState { open: random.below(256) as u8, time: ns(1 + random.below(9)), operation }
                })
                .collect();
            let (express, advance) = (random.below(255) as u8, random.below(6));
            let list = GateList::with_operations(&states).unwrap();
            let Some(gates) = HeldGates::new(&list, express, ns(advance)) else { continue };
            let mut hold = false;
            let mut each: Vec<(u8, bool)> = Vec::new();
            // Two passes over the states, so that a hold at the end of the cycle is in force at its beginning.
            for state in states.iter().chain(&states) {
                match state.operation {
                    Some(GateOperation::SetGateStates) => {}
                    Some(GateOperation::SetAndHoldMac) => hold = true,
                    Some(GateOperation::SetAndReleaseMac) => hold = false,
                    None => hold = state.open & !express == 0,
                }
                each.extend((0..state.time.as_ps() / 1000).map(|_| (state.open, hold)));
            }
            let each = &each[each.len() / 2..];
            let cycle = each.len() as u64;
            let is_held = |at: u64| each[(at % cycle) as usize].1;
            let is_open = |at: u64, class: u8| each[(at % cycle) as usize].0 >> class & 1 == 1;
            let is_requested = |at: u64| (at..=at + advance).any(is_held);
            let passes = |at: u64, class: u8, busy: u64| {
                if express >> class & 1 == 1 {
                    return (at..at + busy).all(|at| is_open(at, class));
                }
                // A preemptable frame occupies the wire until its end or the next hold, whichever is earlier.
                let until = (at..at + busy).find(|&at| is_held(at)).unwrap_or(at + busy);
                !is_requested(at) && (at..until).all(|at| is_open(at, class))
            };
            for class in 0..8 {
                let (at, busy) = (random.below(4 * cycle), 1 + random.below(14));
                let context = format!("{states:?} {express:x} {advance} {class} {at} {busy}");
                assert_eq!(gates.lets_pass(ns(at), class, ns(busy)), passes(at, class, busy), "{context}");
                let first = (at..at + 2 * cycle).find(|&at| passes(at, class, busy)).map_or(Time::MAX, ns);
                assert_eq!(gates.opens_at(ns(at), class, ns(busy), Time::ZERO), first, "{context}");
                let held_at = (at..).find(|&at| is_requested(at)).unwrap();
                assert_eq!(gates.holds_at(ns(at)), ns(held_at), "{context}");
                let open = |&at: &u64| is_open(at, class) && (express >> class & 1 == 1 || !is_held(at));
                let span = (at..at + busy).filter(open).count() as u64;
                assert_eq!(gates.available_between(ns(at), ns(at + busy), class), ns(span), "{context}");
                seen[usize::from(first < Time::MAX)] += 1;
            }
        }
        assert!(seen[0] > 300 && seen[1] > 300, "{seen:?}");
    }
}
