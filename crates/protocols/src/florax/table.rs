//! State of a flow at an output port: its entries in FLORAX's flow table and XOFF table.

use super::conform::XoffEntry;
use crate::frame::ANY_SOURCE;
use units::Time;

/// A flow: all frames between two hosts, given by their indices. [`ANY_SOURCE`] is a wildcard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPair {
    /// Host index of the source.
    pub src: u32,
    /// Host index of the destination.
    pub dst: u32,
}

impl HostPair {
    /// Returns the pair that covers all frames to `dst`.
    pub const fn to(dst: u32) -> HostPair {
        HostPair { src: ANY_SOURCE, dst }
    }

    /// The pair that covers all frames.
    pub const ALL: HostPair = HostPair { src: ANY_SOURCE, dst: ANY_SOURCE };

    /// Returns whether frames from `src` to `dst` are covered by this pair.
    pub fn covers(self, src: u32, dst: u32) -> bool {
        (self.src == ANY_SOURCE || self.src == src) && (self.dst == ANY_SOURCE || self.dst == dst)
    }
}

/// Memory per entry of a flow table, in bytes: FLORAX's cost per active flow.
pub const FLOW_BYTES: usize = size_of::<HostPair>() + size_of::<Flow>();

/// State of one flow at one output port.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// Start of the current burst (SB in the paper).
    burst_start: Time,
    /// Wire bytes of the current burst (TB in the paper).
    burst_bytes: u64,
    /// Arrival time of the last frame.
    last: Time,
    /// Serialisation delay of the last frame at the output: minimum interval for the rate estimate.
    least: Time,
    /// Input ports used during the current burst, to which requests are sent.
    pub ports: Vec<u16>,
    /// Entry in the XOFF table.
    pub stop: Option<XoffEntry>,
}

impl Flow {
    pub fn new(now: Time) -> Flow {
        Flow { burst_start: now, burst_bytes: 0, last: now, least: Time::ZERO, ports: Vec::new(), stop: None }
    }

    /// Counts a frame of `bytes` wire bytes from the input `port`; `span` is its serialisation delay at the output,
    /// `gap` the idle timeout. Returns whether `port` is a new input port of the flow.
    pub fn count(&mut self, now: Time, port: u16, bytes: u64, span: Time, gap: Time) -> bool {
        if now.saturating_sub(self.last) > gap {
            (self.burst_start, self.burst_bytes) = (now, 0);
            if self.stop.is_none() {
                self.ports.clear();
            }
        }
        self.burst_bytes += bytes;
        (self.last, self.least) = (now, span);
        // Checks the first port separately, because almost all flows use one input port.
        let new = self.ports.first() != Some(&port) && !self.ports.contains(&port);
        if new {
            self.ports.push(port);
        }
        new
    }

    /// Returns whether the flow is active: its last frame arrived at most `gap` (the idle timeout) before `now`.
    pub fn is_active(&self, now: Time, gap: Time) -> bool {
        now.saturating_sub(self.last) <= gap
    }

    /// Returns the rate estimate in bits per second: ER = TB / (CT - SB), the bytes of the burst over the time since
    /// its start, which counts as at least the serialisation delay of the last frame.
    pub fn rate_bps(&self, now: Time) -> u64 {
        let span = now.saturating_sub(self.burst_start).max(self.least).max(Time::from_ps(1));
        let bits = u128::from(self.burst_bytes) * 8 * 1_000_000_000_000;
        u64::try_from(bits / u128::from(span.as_ps())).unwrap_or(u64::MAX)
    }

    /// Returns the time at which the pause of the flow expires; `None` if the flow is not paused, including flows
    /// that are limited to a rate above 0.
    pub fn blocked_until(&self, now: Time) -> Option<Time> {
        self.stop.filter(|stop| stop.is_live(now) && stop.rate_bps == 0).map(|stop| stop.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: Time = Time::from_ms(10);

    #[test]
    fn a_rate_is_that_of_the_burst() {
        let (mut flow, span) = (Flow::new(Time::ZERO), Time::from_us(120));
        // One frame of 1500 bytes every 240 us (50 Mbps) from 0 to 24 ms: 101 frames.
        for frame in 0..=100u64 {
            flow.count(Time::from_us(240 * frame), 3, 1500, span, GAP);
        }
        assert_eq!(flow.rate_bps(Time::from_us(24_000)), 101 * 1500 * 8 * 1_000_000 / 24_000);
        // Before the idle timeout of 10 ms has passed, the interval of the rate estimate includes the time since the
        // last frame.
        assert_eq!(flow.rate_bps(Time::from_us(33_600)), 101 * 1500 * 8 * 1_000_000 / 33_600);
        assert!(flow.is_active(Time::from_ms(34), GAP) && !flow.is_active(Time::from_us(34_001), GAP));
        // After the idle timeout, the first frame starts a new burst. Its rate estimate is the line rate: 1500 bytes
        // in 120 us.
        flow.count(Time::from_ms(40), 3, 1500, span, GAP);
        assert_eq!(flow.rate_bps(Time::from_ms(40)), 100_000_000);
    }

    #[test]
    fn it_remembers_by_which_ports_a_burst_came() {
        let mut flow = Flow::new(Time::ZERO);
        let mut count = |us: u64, port| flow.count(Time::from_us(us), port, 64, Time::from_us(1), GAP);
        assert_eq!([count(0, 1), count(1, 2), count(2, 1)], [true, true, false]);
        assert!(count(20_000, 2), "a new burst starts from nothing");
        assert_eq!(flow.ports, [2]);
    }

    #[test]
    fn wild_cards_cover() {
        let pair = HostPair { src: 1, dst: 2 };
        assert!(pair.covers(1, 2) && !pair.covers(3, 2) && !pair.covers(1, 3));
        assert!(HostPair::to(2).covers(7, 2) && !HostPair::to(2).covers(7, 1) && HostPair::ALL.covers(7, 1));
    }
}
