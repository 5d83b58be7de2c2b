//! Clocks of hosts and switches, with offset and drift. The simulation itself uses exact time.

use protocols::endpoint::{Offer, Segment};
use protocols::frame::Frame;
use std::collections::BTreeMap;
use units::Time;
use units::random::{Stream, purpose};

pub use units::clock::{MAX_DRIFT_PPB, NodeClock};
pub(crate) use units::clock::{global, local};

/// Returns `frame` with its arrival time converted to the local time of `clock`. `copy` stores the converted frame if
/// the clock is not exact.
#[inline]
pub(crate) fn as_seen<'f>(clock: Option<&NodeClock>, frame: &'f Frame, copy: &'f mut Option<Frame>) -> &'f Frame {
    match clock {
        None => frame,
        Some(clock) => copy.insert(Frame { at: clock.local(frame.at), ..*frame }),
    }
}

/// Converts the times of an offer from the local time of `clock` to simulation time. Time stamps in the frame remain in
/// local time.
#[cold]
pub(crate) fn in_true_time(clock: &NodeClock, offer: Offer) -> Offer {
    match offer {
        Offer::At(at) => Offer::At(clock.global(at)),
        Offer::Send(segment) if segment.next > Time::ZERO => {
            // A `next` of zero means that the sender must be polled. It is not a time, so it must not be converted.
            Offer::Send(Segment { next: clock.global(segment.next), ..segment })
        }
        other => other,
    }
}

/// Clocks of all hosts, or of all switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeClocks {
    /// Bounds of random clocks, drawn per node from the seed of the run: the offset is between zero and its bound, the
    /// absolute value of the drift at most its bound. `None` for exact clocks.
    pub drawn: Option<NodeClock>,
    /// Explicit clocks, which replace random ones: hosts by host index, switches by node number.
    pub stated: BTreeMap<u32, NodeClock>,
}

impl NodeClocks {
    /// Returns the clock of each of `hosts` hosts, or `None` if all are exact.
    pub(crate) fn of_hosts(&self, hosts: usize, seed: u64) -> Option<Box<[NodeClock]>> {
        let clocks: Box<[NodeClock]> = (0..hosts as u32).map(|host| self.of(host, seed, purpose("clock"))).collect();
        clocks.iter().any(|clock| *clock != NodeClock::default()).then_some(clocks)
    }

    /// Returns the clock of a switch, or `None` if it is exact.
    pub(crate) fn of_switch(&self, node: u32, seed: u64) -> Option<NodeClock> {
        Some(self.of(node, seed, purpose("switch clock"))).filter(|clock| *clock != NodeClock::default())
    }

    fn of(&self, number: u32, seed: u64, purpose: u64) -> NodeClock {
        if let Some(stated) = self.stated.get(&number) {
            return *stated;
        }
        let Some(bounds) = self.drawn else { return NodeClock::default() };
        let mut random = Stream::new(seed, u64::from(number), purpose);
        let drift = i64::from(bounds.drift_ppb.unsigned_abs());
        NodeClock {
            offset: Time::from_ps(random.below(bounds.offset.as_ps().saturating_add(1))),
            drift_ppb: (random.below(2 * drift as u64 + 1) as i64 - drift) as i32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_drawn_within_their_bounds_and_stated_ones_are_kept() {
        let bounds = NodeClock { offset: Time::from_us(10), drift_ppb: 100_000 };
        let stated = NodeClock { offset: Time::from_s(1), drift_ppb: -7 };
        let clocks = NodeClocks { drawn: Some(bounds), stated: [(3, stated)].into() };
        let drawn = clocks.of_hosts(1000, 5).unwrap();
        assert_eq!(drawn[3], stated);
        let others = || drawn.iter().enumerate().filter(|(host, _)| *host != 3).map(|(_, clock)| clock);
        assert!(others().all(|clock| clock.offset <= bounds.offset && clock.drift_ppb.abs() <= 100_000));
        assert!(others().any(|clock| clock.drift_ppb < -90_000) && others().any(|clock| clock.drift_ppb > 90_000));
        assert!(others().any(|clock| clock.offset > Time::from_us(9)));
        assert_ne!(Some(&drawn), clocks.of_hosts(1000, 6).as_ref());
        assert_eq!(NodeClocks::default().of_hosts(1000, 5), None);
    }
}
