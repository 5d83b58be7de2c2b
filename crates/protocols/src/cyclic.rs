//! Cyclic queuing and forwarding (IEEE 802.1Qch; 802.1Q-2022, annex T): in each time cycle, a switch sends the frames
//! that it received in the previous one.
//!
//! ```text
//!   cycle      |    0    |    1    |    2    |    3    |
//!   received   |  even   |  odd    |  even   |  odd    |   even: queue of the first class, odd: of the second
//!   sent       |  odd    |  even   |  odd    |  even   |   the queue with an open gate
//! ```
//!
//! A frame that crosses h switches arrives at its destination in the h-th cycle after the one in which the first switch
//! received it, independent of other traffic: its delay is between h - 1 and h + 1 cycle durations. All times are local
//! times of the node's clock; cycle 0 begins at local time zero.

use crate::describe::Default::Absent;
use crate::describe::{Mechanism, Parameter, Syntax};
use crate::frame::Frame;
use crate::gates::{self, GateList, GateListError, GateOperation, GateState, MAX_CYCLE};
use crate::parameters::parameters;
use crate::port::{Counter, Hooks, PortMechanism, PortSpec, PortView};
use crate::settings::require;
use units::Time;
use units::random::Stream;

const NODE: Parameter = Parameter {
    syntax: Syntax::other("a switch", "\"S1\""),
    default: Absent("every switch"),
    meaning: "the switch of the ports",
    source: TO.source,
    ..gates::NODE
};
const TO: Parameter = Parameter { source: "802.1Q-2022, annex T", ..gates::TO };

parameters! {
    /// Parameters of cyclic queuing.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CyclicParameters: Cyclic "cyclic" {
        title: "frames received in one cycle are sent in the next";
        source: "IEEE 802.1Qch (802.1Q-2022, annex T)";
        /// Duration of a cycle.
        cycle: Time = "cycle" time, required,
            "length of a cycle: at least the frames that a port receives in one, plus one longest frame of a lower \
             class",
            "802.1Q-2022, T.5";
        /// Classes of the queues for frames received in even and in odd cycles.
        classes: [u8; 2] = "classes" class_pair, required,
            "a pair of classes. Frames of both wait in the queue of the first if received in an even cycle, of the \
             second if in an odd one; their class does not change",
            "802.1Q-2022, T.3";
        /// Time before the end of a cycle in which no frame of the classes is on the wire; `None`: the delay of the
        /// port's link.
        guard: Option<Time> = "guard" time, absent "the delay of the port's link",
            "time before the end of a cycle at which both gates close, so that frames arrive in the cycle in which \
             they are sent",
            "802.1Q-2022, T.5 (dead time)";
    }
    also [NODE, TO]
    check(parameters) {
        [require(parameters.cycle > Time::ZERO, "cycle", "a time above zero, like \"10us\"")]
    }
}

/// Error in the parameters of cyclic queuing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CyclicError {
    /// The guard band is not shorter than the time cycle.
    #[error("the guard {guard} is not shorter than the cycle {cycle}")]
    NoTime {
        /// Duration of the time cycle.
        cycle: Time,
        /// Duration of the guard band.
        guard: Time,
    },
    /// Both queues have the same class.
    #[error("both classes are {0}: write two different classes")]
    SameClass(u8),
    /// A class is above 7.
    #[error("{0} is not a class: classes are 0 to 7")]
    NoSuchClass(u8),
    /// The gate control list of these cycles is invalid.
    #[error(transparent)]
    Gates(#[from] GateListError),
}

/// Time cycles of one port, with the classes of its two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycles {
    cycle: Time,
    /// Classes of the queues for frames received in even and in odd cycles.
    classes: [u8; 2],
    guard: Time,
}

impl Cycles {
    /// Creates cycles of duration `cycle`. In the last part of each cycle, of duration `guard`, no frame of the
    /// `classes` is on the wire.
    ///
    /// # Errors
    /// If the guard is not shorter than the cycle, the classes are equal or above 7, or the cycle exceeds half of
    /// [`MAX_CYCLE`].
    pub fn new(cycle: Time, classes: [u8; 2], guard: Time) -> Result<Cycles, CyclicError> {
        if let Some(&class) = classes.iter().find(|&&class| class > 7) {
            return Err(CyclicError::NoSuchClass(class));
        }
        if classes[0] == classes[1] {
            return Err(CyclicError::SameClass(classes[0]));
        }
        if guard >= cycle {
            return Err(CyclicError::NoTime { cycle, guard });
        }
        if cycle > Time::from_ps(MAX_CYCLE.as_ps() / 2) {
            return Err(GateListError::TooLong.into());
        }
        Ok(Cycles { cycle, classes, guard })
    }

    /// Duration of a time cycle.
    pub fn cycle(&self) -> Time {
        self.cycle
    }

    /// Part of each cycle in which frames of the two classes may be on the wire.
    pub fn usable(&self) -> Time {
        self.cycle - self.guard
    }

    /// Bitmask of the classes of the two queues.
    pub fn mask(&self) -> u8 {
        1 << self.classes[0] | 1 << self.classes[1]
    }

    /// Number of the time cycle that contains `at`, from 0.
    pub fn number(&self, at: Time) -> u64 {
        at.as_ps() / self.cycle.as_ps()
    }

    /// Class of the queue in which frames received at `at` are enqueued.
    pub fn class_at(&self, at: Time) -> u8 {
        self.classes[(self.number(at) % 2) as usize]
    }

    /// Whether a frame received at `came` and sent at `leaves` misses its cycle, the one after its reception.
    pub fn misses(&self, came: Time, leaves: Time) -> bool {
        self.number(leaves) != self.number(came) + 1
    }

    /// Gate control list of the port: frames of the second class are sent in even cycles, those of the first class in
    /// odd ones, neither in the guard band; every other class may send at any time. No entry holds preemptable
    /// frames, since an interrupted frame would miss its cycle.
    ///
    /// # Errors
    /// None for cycles made by [`Cycles::new`].
    pub fn gates(&self) -> Result<GateList, GateListError> {
        let others = !self.mask();
        let state = |open, time| GateState { open, time, operation: Some(GateOperation::SetGateStates) };
        let mut states = Vec::with_capacity(4);
        for class in [self.classes[1], self.classes[0]] {
            states.push(state(others | 1 << class, self.usable()));
            if self.guard > Time::ZERO {
                states.push(state(others, self.guard));
            }
        }
        GateList::with_operations(&states)
    }
}

/// Cyclic queuing at one port: a frame waits in the queue of the cycle in which it was received. The gates of the
/// port determine when it is sent.
#[derive(Clone, Copy, Debug)]
pub struct CyclicQueues {
    cycles: Cycles,
    /// Number of frames sent in both classes, and number of these frames that missed their cycle.
    counts: [u64; 2],
}

impl PortMechanism for CyclicQueues {
    type Parameters = Cycles;
    const MECHANISM: &'static Mechanism = &MECHANISM;
    const COUNTERS: &'static [Counter] = &[
        Counter { name: "frames", meaning: "frames of cyclic classes that left" },
        Counter { name: "missed", meaning: "of these, frames that missed the cycle after their arrival" },
    ];

    fn new(cycles: &Cycles, _: &PortSpec) -> CyclicQueues {
        CyclicQueues { cycles: *cycles, counts: [0; 2] }
    }

    fn hooks(&self) -> Hooks {
        Hooks::SELECT.with(Hooks::DEQUEUE)
    }

    fn own_classes(cycles: &Cycles) -> u8 {
        cycles.mask()
    }

    fn select(&self, port: &impl PortView, class: u8) -> u8 {
        let is_cyclic = self.cycles.mask() & 1 << class != 0;
        if is_cyclic { self.cycles.class_at(port.local(port.now())) } else { class }
    }

    fn dequeue(&mut self, port: &impl PortView, frame: &Frame, _: &mut Stream) -> bool {
        if self.cycles.mask() & 1 << frame.class != 0 {
            self.counts[0] += 1;
            self.counts[1] += u64::from(self.cycles.misses(port.local(frame.at), port.local(port.now())));
        }
        false
    }

    fn counts(&self) -> &[u64] {
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    #[test]
    fn what_comes_in_a_cycle_leaves_in_the_next() {
        let cycles = Cycles::new(us(10), [6, 7], us(1)).unwrap();
        let gates = cycles.gates().unwrap();
        assert_eq!((cycles.usable(), cycles.mask(), gates.cycle()), (us(9), 0xc0, us(20)));
        // Cycles of 10 us with a guard band of 1 us: in cycle 0 received frames are queued in class 6, and class 7
        // may send until 9 us; in cycle 1 the classes are exchanged.
        assert_eq!((cycles.class_at(us(3)), cycles.class_at(us(13)), cycles.class_at(us(23))), (6, 7, 6));
        assert_eq!((gates.open_for(us(0), 7), gates.open_for(us(0), 6)), (us(9), Time::ZERO));
        assert_eq!((gates.open_for(us(10), 7), gates.open_for(us(10), 6)), (Time::ZERO, us(9)));
        assert_eq!((gates.open_for(us(9), 6), gates.open_for(us(19), 7)), (Time::ZERO, Time::ZERO));
        assert_eq!(gates.open_for(us(5), 0), Time::MAX);
        assert!(!cycles.misses(us(3), us(10)) && !cycles.misses(us(9), us(19)));
        assert!(cycles.misses(us(3), us(20)) && cycles.misses(us(3), us(5)));
    }

    #[test]
    fn cycles_that_are_none_are_refused() {
        let error = |cycle, classes, guard| Cycles::new(cycle, classes, guard).unwrap_err();
        assert_eq!(error(us(10), [6, 6], us(1)), CyclicError::SameClass(6));
        assert_eq!(error(us(10), [6, 8], us(1)), CyclicError::NoSuchClass(8));
        assert_eq!(error(us(10), [6, 7], us(10)), CyclicError::NoTime { cycle: us(10), guard: us(10) });
        assert_eq!(error(Time::ZERO, [6, 7], Time::ZERO), CyclicError::NoTime { cycle: Time::ZERO, guard: Time::ZERO });
        assert_eq!(error(MAX_CYCLE, [6, 7], us(1)), CyclicError::Gates(GateListError::TooLong));
    }

    /// A frame sent at the first time at which its gate is open for long enough never misses its cycle, and leaves
    /// before the guard band. No queue receives and sends in the same cycle.
    #[test]
    fn queues_are_filled_and_emptied_in_turn() {
        let mut random = Stream::new(7, 0, 0);
        for _ in 0..500 {
            let cycle = Time::from_ns(2 + random.below(1000));
            let guard = Time::from_ps(random.below(cycle.as_ps()));
            let cycles = Cycles::new(cycle, [3, 1], guard).unwrap();
            let gates = cycles.gates().unwrap();
            let came = Time::from_ps(random.below(1 << 30));
            let class = cycles.class_at(came);
            assert_eq!(gates.open_for(came, class), Time::ZERO, "{cycles:?} {came:?}");
            let span = Time::from_ps(1 + random.below(cycles.usable().as_ps()));
            let leaves = gates.opens_for(came, class, span);
            assert!(!cycles.misses(came, leaves), "{cycles:?} {came:?}");
            assert!(leaves + span + guard <= cycle * (cycles.number(came) + 2), "{cycles:?} {came:?}");
        }
    }
}
