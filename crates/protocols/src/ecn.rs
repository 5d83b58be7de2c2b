//! ECN marking by the instantaneous queue length: DCTCP's step function, or DCQCN's linear ramp (RED without
//! averaging).

use crate::describe::Mechanism;
use crate::frame::Frame;
use crate::parameters::parameters;
use crate::port::{Hooks, PortMechanism, PortSpec, PortView};
use crate::settings::require;
use units::random::Stream;
use units::{Bytes, Rate};

parameters! {
    /// Parameters of ECN marking. No frame is marked at queue lengths up to `k_min_bytes`, each frame above
    /// `k_max_bytes`; in between, the marking probability rises linearly to `p_max`. Equal thresholds yield DCTCP's
    /// step function.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct EcnParameters: Marking "ecn" {
        title: "ECN by the length of the egress queue";
        source: "RFC 3168; DCTCP (SIGCOMM 2010); DCQCN (SIGCOMM 2015)";
        /// Queue length above which marking starts, in bytes.
        k_min_bytes: u64 = "k_min" bytes, required,
            "queue length up to which no frame is marked: the bytes ahead of the frame, or behind it with `at` = \
             dequeue",
            "required: depends on rate and round trip";
        /// Queue length above which each frame is marked, in bytes, at least `k_min_bytes`; `None`: equal to
        /// `k_min_bytes`.
        k_max_bytes: Option<u64> = "k_max" bytes, absent "k_min: a step",
            "a frame with more than this is marked; at least k_min",
            "DCTCP, section 3.1; DCQCN, figure 5";
        /// Marking probability just below `k_max_bytes`, 0 to 1.
        p_max: f64 = "p_max" share, default "1",
            "probability just below k_max, rising linearly from 0 at k_min",
            "DCQCN, figure 5";
        /// Port rate to which the thresholds apply. The thresholds of other ports are scaled in proportion to their
        /// rates. `None`: all ports have the same thresholds.
        of_rate: Option<Rate> = "rate" rate, absent "any: all ports have the same thresholds",
            "port rate of the thresholds; ports of other rates scale them in proportion",
            "choice of this project; in proportion: thresholds by rate in simulators of the HPCC family";
        /// Event at which the queue length is sampled.
        at: MarkEvent = "at" word["enqueue" = MarkEvent::Enqueue, "dequeue" = MarkEvent::Dequeue], default "enqueue",
            "instant of the decision: enqueue, by the bytes ahead of the frame; dequeue, by the bytes behind it",
            "RED (Floyd and Jacobson, 1993); dequeue: simulators of the HPCC family";
    }
    check(parameters) {
        let (k_min, k_max) = (parameters.k_min_bytes, parameters.k_max_bytes);
        let wanted = || format!("at least `k_min` = {}: marking is certain above k_max", Bytes(k_min));
        [require(k_max.is_none_or(|k_max| k_max >= k_min), "k_max", wanted())]
    }
}

/// Event at which a switch decides whether to mark a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkEvent {
    /// Enqueue, by the bytes ahead of the frame.
    Enqueue,
    /// Start of transmission, by the bytes that remain in the queue.
    Dequeue,
}

/// ECN marking at one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ecn {
    marker: Marker,
    at: MarkEvent,
}

impl PortMechanism for Ecn {
    type Parameters = EcnParameters;
    const MECHANISM: &'static Mechanism = &MECHANISM;
    /// `None`: marking uses the random stream of the switch, like the frame losses on its links.
    const RANDOM: Option<&'static str> = None;

    fn marks_frames(_: &EcnParameters) -> bool {
        true
    }

    fn new(parameters: &EcnParameters, port: &PortSpec) -> Ecn {
        let EcnParameters { k_min_bytes, k_max_bytes, p_max, of_rate, at } = *parameters;
        let marker = Marker::new(k_min_bytes, k_max_bytes.unwrap_or(k_min_bytes), p_max);
        Ecn { marker: of_rate.map_or(marker, |of| marker.in_proportion(of, port.rate)), at }
    }

    fn hooks(&self) -> Hooks {
        match self.at {
            MarkEvent::Enqueue => Hooks::ENQUEUE,
            MarkEvent::Dequeue => Hooks::DEQUEUE,
        }
    }

    fn enqueue_from_bytes(&self) -> u64 {
        self.marker.k_min_bytes.saturating_add(1)
    }

    #[inline(always)] // saves a call per frame that is queued above k_min
    fn enqueue(&mut self, port: &impl PortView, _: &Frame, random: &mut Stream) -> bool {
        self.marker.marks(port.queue_bytes(), random)
    }

    fn dequeue(&mut self, port: &impl PortView, frame: &Frame, random: &mut Stream) -> bool {
        frame.can_be_marked() && self.marker.marks(port.queue_bytes(), random)
    }
}

/// Thresholds and maximum probability of ECN marking; the probability is in units of 2^-64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    k_min_bytes: u64,
    k_max_bytes: u64,
    p_max: u64,
}

impl Marker {
    /// Creates a marker that never marks at queue lengths up to `k_min_bytes`, always above `k_max_bytes` (at least
    /// `k_min_bytes`), and in between with a probability that rises linearly to `p_max` (0 to 1).
    pub fn new(k_min_bytes: u64, k_max_bytes: u64, p_max: f64) -> Marker {
        // A probability of 1 is 2^64 in these units; the conversion saturates to 2^64 - 1.
        let p_max = (p_max.clamp(0.0, 1.0) * 18_446_744_073_709_551_616.0) as u64;
        Marker { k_min_bytes, k_max_bytes: k_max_bytes.max(k_min_bytes), p_max }
    }

    /// Scales the thresholds from a port of rate `of` to one of rate `to`.
    pub fn in_proportion(self, of: Rate, to: Rate) -> Marker {
        let scaled = |bytes: u64| {
            let scaled = u128::from(bytes) * u128::from(to.as_bps()) / u128::from(of.as_bps());
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        Marker { k_min_bytes: scaled(self.k_min_bytes), k_max_bytes: scaled(self.k_max_bytes), ..self }
    }

    /// Whether to mark a frame at a queue length of `queue_bytes`: the length before its enqueue, or after its
    /// dequeue.
    #[inline]
    pub fn marks(&self, queue_bytes: u64, random: &mut Stream) -> bool {
        if queue_bytes <= self.k_min_bytes {
            return false;
        }
        queue_bytes > self.k_max_bytes || self.is_drawn_by(random.next_u64(), queue_bytes)
    }

    /// Whether the uniformly distributed `number` selects the frame for marking: if it is below the probability
    /// `p_max * above / range`, rounded down. The equivalent condition `(number + 1) * range <= p_max * above` avoids
    /// a 128-bit division.
    #[inline]
    fn is_drawn_by(&self, number: u64, queue_bytes: u64) -> bool {
        let above = u128::from(queue_bytes - self.k_min_bytes);
        let range = u128::from(self.k_max_bytes - self.k_min_bytes).max(1);
        (u128::from(number) + 1) * range <= u128::from(self.p_max) * above
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(marker: &Marker, queue_bytes: u64) -> f64 {
        let mut stream = Stream::new(1, 2, 3);
        (0..100_000).filter(|_| marker.marks(queue_bytes, &mut stream)).count() as f64 / 1e5
    }

    // [ECN5]
    #[test]
    fn thresholds_follow_the_rate_and_probability_does_not() {
        let gbps = Rate::from_gbps;
        let of_100 = Marker::new(400_000, 1_600_000, 0.2);
        assert_eq!(of_100.in_proportion(gbps(100), gbps(400)), Marker::new(1_600_000, 6_400_000, 0.2));
        assert_eq!(of_100.in_proportion(gbps(100), gbps(25)), Marker::new(100_000, 400_000, 0.2));
        assert_eq!(of_100.in_proportion(gbps(100), gbps(100)), of_100);
        let widest = Marker::new(u64::MAX, u64::MAX, 0.2).in_proportion(gbps(1), gbps(400));
        assert_eq!(widest, Marker::new(u64::MAX, u64::MAX, 0.2));
    }

    /// Compares [`Marker::is_drawn_by`] with the probability computed by division and rounded down: a random number
    /// below it marks the frame, an equal or larger number does not.
    // [ECN4]
    #[test]
    fn numbers_below_the_probability_mark() {
        let mut random = Stream::new(7, 0, 0);
        for _ in 0..100_000 {
            let (k_min, bits) = (random.below(1 << 40), random.below(40));
            let range = 1 + random.below(2 << bits);
            let p_max = if random.below(4) == 0 { 1.0 } else { random.below(1_000) as f64 / 1_000.0 };
            let marker = Marker::new(k_min, k_min + range, p_max);
            let above = 1 + random.below(range);
            let probability = u128::from(marker.p_max) * u128::from(above) / u128::from(range);
            for number in [probability as u64, (probability as u64).saturating_sub(1), random.next_u64(), 0, u64::MAX] {
                let marks = u128::from(number) < probability;
                assert_eq!(marker.is_drawn_by(number, k_min + above), marks, "{number} of {marker:?} and {above}");
            }
        }
    }

    #[test]
    fn the_widest_ramp_does_not_overflow() {
        let widest = Marker::new(0, u64::MAX, 1.0);
        assert!(widest.is_drawn_by(u64::MAX - 2, u64::MAX));
        assert!(!widest.is_drawn_by(u64::MAX, u64::MAX));
        assert!(!widest.is_drawn_by(u64::MAX, 1));
        assert!(!widest.is_drawn_by(1, 1) && widest.is_drawn_by(0, 2));
    }

    // [ECN3]
    #[test]
    fn the_ramp_is_linear_and_the_step_sharp() {
        let ramp = Marker::new(100, 400, 0.2);
        assert_eq!(share(&ramp, 100), 0.0);
        assert!((share(&ramp, 250) - 0.1).abs() < 0.005);
        assert!((share(&ramp, 400) - 0.2).abs() < 0.005);
        assert_eq!(share(&ramp, 401), 1.0);
        let step = Marker::new(300, 300, 1.0);
        assert_eq!(share(&step, 300), 0.0);
        assert_eq!(share(&step, 301), 1.0);
    }
}
