//! Class schedulers of a port: strict priority, weighted round robin, deficit round robin.

use crate::describe::{Family, Mechanism};

/// Description of strict priority scheduling.
pub const STRICT: Mechanism = Mechanism {
    kind: "strict",
    family: Family::Scheduler,
    title: "strict priority: the highest eligible class sends first",
    source: "IEEE 802.1Q-2022, 8.6.8.1",
    parameters: &[],
};

/// Weighted round robin.
pub mod wrr {
    crate::parameters::parameters! {
        /// Parameters of weighted round robin.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct WrrParameters: Scheduler "wrr" {
            title: "weighted round robin: a number of frames per class";
            source: "weighted round robin";
            /// Frames per round, by class.
            weights: [u16; 8] = "weights" weights, required,
                "frames per class and round: eight numbers, or a table of class and number; classes missing in the \
                 table have 1",
                "required: the weights are the operator's choice";
        }
    }
}

/// Deficit round robin.
pub mod drr {
    crate::parameters::parameters! {
        /// Parameters of deficit round robin.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct DrrParameters: Scheduler "drr" {
            title: "deficit round robin: a number of bytes per class";
            source: "Shreedhar and Varghese, 1996";
            /// Bytes per round, by class, each at least 1.
            quantum_bytes: [u32; 8] = "quanta" quanta, required,
                "bytes per class and round: eight sizes, or a table of class and size; classes missing in the table \
                 have 1518B",
                "required: the weights are the operator's choice";
        }
    }
}

/// Class scheduler of one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassScheduler {
    /// Strict priority: highest class first (IEEE 802.1Q clause 8.6.8.1).
    Strict,
    /// Weighted or deficit round robin. Boxed, because most ports of a large fabric use strict priority.
    RoundRobin(Box<RoundRobin>),
}

/// Round robin with a credit per class, in frames (WRR) or bytes (DRR). A class may overdraw its credit by one frame,
/// which reduces its credit in the next round, so that the scheduler needs no frame lengths in advance (surplus round
/// robin; otherwise as in the deficit round robin of Shreedhar and Varghese, 1996).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundRobin {
    /// Credit that each class gains per round: its weight or quantum, at least 1.
    gain: [u32; 8],
    /// Remaining credit of each class.
    credit: [i64; 8],
    /// Class in service.
    current: u8,
    /// Whether a frame costs its length in bytes (DRR) or 1 (WRR).
    bytes: bool,
}

impl ClassScheduler {
    /// Creates a weighted round robin scheduler: `weights[class]` frames per round, at least 1.
    pub fn wrr(weights: [u16; 8]) -> ClassScheduler {
        Self::rounds(weights.map(|weight| u32::from(weight.max(1))), false)
    }

    /// Creates a deficit round robin scheduler: `quantum_bytes[class]` bytes per round, at least 1.
    pub fn drr(quantum_bytes: [u32; 8]) -> ClassScheduler {
        Self::rounds(quantum_bytes.map(|quantum| quantum.max(1)), true)
    }

    fn rounds(gain: [u32; 8], bytes: bool) -> ClassScheduler {
        ClassScheduler::RoundRobin(Box::new(RoundRobin { gain, credit: [0; 8], current: 0, bytes }))
    }

    /// Selects the class to serve among those of the bitmask `ready`; `None` if it is empty.
    #[inline]
    pub fn pick(&mut self, ready: u8) -> Option<u8> {
        if ready == 0 {
            return None;
        }
        match self {
            ClassScheduler::Strict => Some(ready.ilog2() as u8),
            ClassScheduler::RoundRobin(rounds) => Some(rounds.pick(ready)),
        }
    }

    /// Returns the maximum number of bytes that other classes can send while a frame of `class` waits, if frames have
    /// at most `frame_bytes`. Returns 0 for strict priority, which has no such limit.
    pub fn longest_round_bytes(&self, class: u8, frame_bytes: u64) -> u64 {
        let ClassScheduler::RoundRobin(rounds) = self else { return 0 };
        let all: u64 = rounds.gain.iter().copied().map(u64::from).sum();
        if !rounds.bytes {
            return all * frame_bytes;
        }
        // A class that has overdrawn its credit by a frame may need several rounds until its credit is positive
        // again.
        let rounds_of = frame_bytes.div_ceil(rounds.gain[usize::from(class & 7)].into()) + 1;
        (all + 8 * frame_bytes) * rounds_of
    }

    /// Charges `class` for a frame of `frame_bytes` wire bytes.
    #[inline]
    pub fn charge(&mut self, class: u8, frame_bytes: u64) {
        if let ClassScheduler::RoundRobin(rounds) = self {
            rounds.credit[usize::from(class)] -= if rounds.bytes { frame_bytes as i64 } else { 1 };
        }
    }
}

impl RoundRobin {
    /// Selects the class to serve among those of the non-empty bitmask `ready`.
    fn pick(&mut self, ready: u8) -> u8 {
        let RoundRobin { gain, credit, current, .. } = self;
        if ready & (1 << *current) != 0 && credit[usize::from(*current)] > 0 {
            return *current;
        }
        // The loop ends: each round adds at least 1 to the credit of every ready class, and a negative credit is at
        // most one frame.
        loop {
            *current = (*current + 1) % 8;
            let class = usize::from(*current);
            if ready & (1 << class) == 0 {
                // A class without frames keeps its negative credit, but loses its positive credit.
                credit[class] = credit[class].min(0);
                continue;
            }
            credit[class] = credit[class].min(0) + i64::from(gain[class]);
            if credit[class] > 0 {
                return *current;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// Serves `frames` frames of random lengths, with the classes in `ready` always backlogged. Returns bytes and
    /// frames per class.
    fn serve(scheduler: &mut ClassScheduler, ready: u8, frames: u32) -> ([u64; 8], [u64; 8]) {
        let mut stream = Stream::new(5, 0, 0);
        let (mut bytes, mut count) = ([0; 8], [0; 8]);
        for _ in 0..frames {
            let class = scheduler.pick(ready).unwrap();
            let size = 64 + stream.below(1455) + u64::from(class) * 10;
            scheduler.charge(class, size);
            bytes[class as usize] += size;
            count[class as usize] += 1;
        }
        (bytes, count)
    }

    // [STRICT1]
    #[test]
    fn strict_serves_the_highest() {
        assert_eq!(ClassScheduler::Strict.pick(0b0010_0110), Some(5));
        assert_eq!(ClassScheduler::Strict.pick(0), None);
    }

    #[test]
    fn wrr_divides_frames_by_weight() {
        let mut scheduler = ClassScheduler::wrr([1, 2, 3, 1, 1, 1, 1, 4]);
        let (_, count) = serve(&mut scheduler, 0b1000_0111, 10_000);
        assert_eq!([count[0], count[1], count[2], count[7]], [1000, 2000, 3000, 4000]);
    }

    /// Serves `count` frames of `frame_bytes`, with the classes in `ready` always backlogged. Returns their classes
    /// in order.
    fn order(scheduler: &mut ClassScheduler, ready: u8, count: usize, frame_bytes: u64) -> Vec<u8> {
        let mut serve = || {
            let class = scheduler.pick(ready).unwrap();
            scheduler.charge(class, frame_bytes);
            class
        };
        (0..count).map(|_| serve()).collect()
    }

    // [WRR1] [WRR2] [WRR3] [WRR4] [WRR5] [WRR8]
    #[test]
    fn weighted_turns_by_hand() {
        let mut scheduler = ClassScheduler::wrr([2, 1, 1, 3, 1, 1, 1, 1]);
        assert_eq!(scheduler.pick(0), None);
        // Initially class 0 is in service without credit, so that the first round starts with class 1.
        assert_eq!(order(&mut scheduler, 0b1001, 8, 84), [3, 3, 3, 0, 0, 3, 3, 3]);
        assert_eq!(order(&mut scheduler, 0b1001, 1, 84), [0]);
        // Class 0 has credit for one more frame. It is skipped because it is not ready, and loses this credit when it
        // is skipped.
        assert_eq!(order(&mut scheduler, 0b1000, 4, 84), [3, 3, 3, 3]);
        assert_eq!(order(&mut scheduler, 0b1001, 5, 84), [3, 3, 0, 0, 3]);
        // An empty bitmask has no effect: class 3 stays in service.
        assert_eq!(scheduler.pick(0), None);
        assert_eq!(order(&mut scheduler, 0b1001, 3, 84), [3, 3, 0]);
    }

    // [DRR1] [DRR2]
    #[test]
    fn deficits_by_hand() {
        // Frames of 620 bytes. Credits of classes 0 and 1 before each frame: 0, 500; 1000, -120; 380, -120; -240,
        // 380; 760, -240; 140, -240; -480, 260.
        let mut scheduler = ClassScheduler::drr([1000, 500, 1, 1, 1, 1, 1, 1]);
        assert_eq!(order(&mut scheduler, 0b11, 7, 620), [1, 0, 0, 1, 0, 0, 1]);
    }

    #[test]
    fn drr_divides_bytes_by_quantum() {
        let mut scheduler = ClassScheduler::drr([1500, 3000, 100, 1500, 1500, 1500, 1500, 1500]);
        let (bytes, _) = serve(&mut scheduler, 0b0000_0111, 300_000);
        let share = |class: usize| bytes[class] as f64 / bytes[0] as f64;
        assert!((share(1) - 2.0).abs() < 0.01, "{bytes:?}");
        assert!((share(2) - 100.0 / 1500.0).abs() < 0.002, "{bytes:?}");
    }

    #[test]
    fn an_idle_class_saves_nothing_up() {
        let mut scheduler = ClassScheduler::wrr([1; 8]);
        serve(&mut scheduler, 0b01, 1000);
        let (_, count) = serve(&mut scheduler, 0b11, 100);
        assert_eq!([count[0], count[1]], [50, 50]);
    }
}
