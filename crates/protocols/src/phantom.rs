//! Phantom queues (HULL): a counter per port that simulates the queue of a slightly slower link. Frames are
//! ECN-marked before the link is fully utilised and before a queue forms, at the cost of some bandwidth.

use crate::describe::Mechanism;
use crate::frame::Frame;
use crate::parameters::parameters;
use crate::port::{Hooks, PortMechanism, PortSpec, PortView};
use crate::settings::require;
use units::random::Stream;
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

parameters! {
    /// Parameters of phantom queues.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PhantomParameters: Marking "phantom" {
        title: "ECN by a phantom queue: the queue of a slower link";
        source: "Alizadeh et al., Less is More: Trading a little Bandwidth for Ultra-Low Latency in the Data Center, \
            NSDI 2012 (HULL)";
        /// Drain rate as a share of the link rate, above 0, below 1.
        drain: f64 = "drain" share, default "0.95",
            "the share of the link's rate at which the phantom queue drains (gamma), above 0, below 1",
            "HULL, sec. 3.1 and 5";
        /// ECN marking threshold in bytes.
        threshold_bytes: u64 = "threshold" bytes, required,
            "a frame is marked at the start of its transmission if the phantom queue including it exceeds this, in \
             bytes on the wire with preamble and gap (20 B per frame); at least 1 B",
            "required: depends on rate, round trip and the bursts of senders (HULL, sec. 3.1)";
    }
    check(parameters) {
        let partial = parameters.drain > 0.0 && parameters.drain < 1.0;
        [
            require(partial, "drain", "a share above 0 and below 1, such as 0.95"),
            require(parameters.threshold_bytes > 0, "threshold", "at least 1B: otherwise every frame would be marked"),
        ]
    }
}

impl PhantomParameters {
    /// Returns the drain rate of the phantom queue of a link.
    fn drain_rate(&self, link: Rate) -> Rate {
        // One correctly rounded multiplication, so that results are equal on every machine.
        Rate::from_bps((link.as_bps() as f64 * self.drain) as u64).unwrap_or(Rate::MIN)
    }
}

/// Phantom queue of one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhantomQueue {
    rate: Rate,
    threshold: Time,
    /// Time at which the phantom queue would be empty without further frames. The queue length is stored as drain
    /// time, so that updates need no rounding to bytes.
    empty_at: Time,
}

impl PhantomQueue {
    /// Creates the empty phantom queue of a port with the link rate `link`.
    pub fn new(parameters: &PhantomParameters, link: Rate) -> PhantomQueue {
        let rate = parameters.drain_rate(link);
        PhantomQueue { rate, threshold: rate.serialise(parameters.threshold_bytes), empty_at: Time::ZERO }
    }

    /// Adds a frame of `wire_bytes` whose transmission starts at `now`. Returns true if the phantom queue exceeds the
    /// threshold, so that the frame must be marked if it is ECN-capable.
    pub fn pass(&mut self, now: Time, wire_bytes: u64) -> bool {
        self.empty_at = self.empty_at.max(now).saturating_add(self.rate.serialise(wire_bytes));
        self.empty_at - now > self.threshold
    }

    /// Returns the length of the phantom queue in bytes at `now`.
    pub fn bytes(&self, now: Time) -> u64 {
        self.rate.bytes_in(self.empty_at.saturating_sub(now))
    }
}

impl PortMechanism for PhantomQueue {
    type Parameters = PhantomParameters;
    const MECHANISM: &'static Mechanism = &MECHANISM;

    fn marks_frames(_: &PhantomParameters) -> bool {
        true
    }

    fn new(parameters: &PhantomParameters, port: &PortSpec) -> PhantomQueue {
        PhantomQueue::new(parameters, port.rate)
    }

    fn hooks(&self) -> Hooks {
        Hooks::TRANSMIT
    }

    /// Adds every frame to the phantom queue. Returns whether to mark the frame: it is ECN-capable and the threshold
    /// is exceeded.
    fn transmit(&mut self, port: &impl PortView, frame: &Frame, _: &mut Stream) -> bool {
        let wire_bytes = u64::from(frame.size_bytes) + WIRE_OVERHEAD_BYTES;
        self.pass(port.now(), wire_bytes) && frame.can_be_marked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    fn queue(drain: f64, threshold_bytes: u64) -> PhantomQueue {
        PhantomQueue::new(&PhantomParameters { drain, threshold_bytes }, Rate::from_gbps(10))
    }

    /// Frames of 1000 bytes back to back at 10 Gbps, 800 ns each: 950 bytes drain per frame, so that the phantom
    /// queue grows by 50 bytes per frame. It exceeds the threshold of 3010 bytes from frame n = 41 on: 1000 + 50 n >
    /// 3010.
    #[test]
    fn at_line_rate_it_grows_by_what_is_given_up() {
        let mut phantom = queue(0.95, 3010);
        let marks: Vec<bool> = (0..100).map(|n| phantom.pass(Time::from_ns(800 * n), 1000)).collect();
        let first = marks.iter().position(|&mark| mark);
        assert_eq!(first, Some(41));
        assert!(marks[41..].iter().all(|&mark| mark));
        let held = phantom.bytes(Time::from_ns(800 * 99));
        assert!((5949..=5950).contains(&held), "1000 + 99 x 50: {held}");
    }

    /// At arrival rates up to its drain rate, the phantom queue contains at most one frame.
    #[test]
    fn up_to_its_rate_it_marks_nothing() {
        let mut phantom = queue(0.5, 1000);
        assert!((0..1000).all(|n| !phantom.pass(Time::from_ns(1600 * n), 1000)));
        assert!(phantom.pass(Time::from_ns(1600 * 1000 - 1), 1000), "a nanosecond early");
        assert_eq!(phantom.bytes(Time::from_ms(10)), 0);
    }

    /// For random arrivals, compares the phantom queue with a fluid model in whole bits.
    #[test]
    fn it_is_a_queue_of_a_slower_link() {
        let mut random = Stream::new(4, 0, 0);
        let mut phantom = queue(0.8, 10_000);
        // The drain rate of 8 Gbps is 8 bits per nanosecond.
        let (mut now_ns, mut bits) = (0u64, 0u64);
        for _ in 0..10_000 {
            let gap_ns = random.below(2000);
            now_ns += gap_ns;
            bits = bits.saturating_sub(8 * gap_ns);
            let wire_bytes = 84 + random.below(1455);
            bits += 8 * wire_bytes;
            assert_eq!(phantom.pass(Time::from_ns(now_ns), wire_bytes), bits > 80_000);
            assert_eq!(phantom.bytes(Time::from_ns(now_ns)), bits / 8);
        }
    }
}
