//! Clocks of hosts and switches, with offset and drift. The simulation itself uses exact time.

use protocols::endpoint::{Offer, Segment};
use protocols::frame::Frame;
use std::collections::BTreeMap;
use units::Time;
use units::random::{Stream, purpose};

const BILLION: i128 = 1_000_000_000;

/// Largest drift of a clock, in parts per billion: 10 %, far above any oscillator.
pub const MAX_DRIFT_PPB: u32 = 100_000_000;

/// Clock of a host or switch. At true time t it reads t + offset + drift * t.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeClock {
    /// Reading at the start of the run.
    pub offset: Time,
    /// Drift in parts per billion, negative for a slow clock. Its magnitude is at most [`MAX_DRIFT_PPB`].
    pub drift_ppb: i32,
}

impl NodeClock {
    /// Returns the reading at the true time `at`. [`Time::MAX`] stays [`Time::MAX`].
    #[cold] // most clocks are exact: keep the 128-bit division off the hot path
    #[inline(never)]
    pub fn local(&self, at: Time) -> Time {
        if at == Time::MAX {
            return at;
        }
        let at_ps = i128::from(at.as_ps());
        clamp(at_ps + i128::from(self.offset.as_ps()) + (at_ps * i128::from(self.drift_ppb)).div_euclid(BILLION))
    }

    /// Returns the first true time at which the clock reads at least `local`. [`Time::MAX`] stays [`Time::MAX`].
    #[cold] // like `local`
    #[inline(never)]
    pub fn global(&self, local: Time) -> Time {
        if local == Time::MAX {
            return local;
        }
        // With p = 10^9 + drift, the reading is offset + floor(t p / 10^9). Solve for the least t that reaches `local`.
        let since_ps = i128::from(local.as_ps()) - i128::from(self.offset.as_ps());
        let pace = BILLION + i128::from(self.drift_ppb);
        clamp((since_ps * BILLION + pace - 1).div_euclid(pace))
    }
}

/// Returns the reading of `clock` at `at`. `None` is exact.
#[inline]
pub(crate) fn local(clock: Option<&NodeClock>, at: Time) -> Time {
    clock.map_or(at, |clock| clock.local(at))
}

/// Returns the first true time at which `clock` reads `at`. `None` is exact.
#[inline]
pub(crate) fn global(clock: Option<&NodeClock>, at: Time) -> Time {
    clock.map_or(at, |clock| clock.global(at))
}

/// Returns a frame with its arrival time on this clock. `copy` holds the frame if the clock is not exact.
#[inline]
pub(crate) fn as_seen<'f>(clock: Option<&NodeClock>, frame: &'f Frame, copy: &'f mut Option<Frame>) -> &'f Frame {
    match clock {
        None => frame,
        Some(clock) => copy.insert(Frame { at: clock.local(frame.at), ..*frame }),
    }
}

/// Converts an offer from `clock` to true time. Time stamps in the frame stay on `clock`.
#[cold]
pub(crate) fn in_true_time(clock: &NodeClock, offer: Offer) -> Offer {
    match offer {
        Offer::At(at) => Offer::At(clock.global(at)),
        Offer::Send(segment) if segment.next > Time::ZERO => {
            // A `next` of zero means that the sender must be polled, so it is not a time to convert.
            Offer::Send(Segment { next: clock.global(segment.next), ..segment })
        }
        other => other,
    }
}

/// Converts to a time below [`Time::MAX`], which means never.
fn clamp(ps: i128) -> Time {
    Time::from_ps(u64::try_from(ps.max(0)).unwrap_or(u64::MAX - 1).min(u64::MAX - 1))
}

/// Clocks of all hosts, or of all switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeClocks {
    /// Bounds of random clocks, drawn per node from the run's seed: offset from zero to the bound, drift up to the
    /// bound in both directions. `None` for exact clocks.
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
    fn a_clock_fifty_ppm_fast_gains_fifty_microseconds_a_second() {
        let clock = NodeClock { offset: Time::from_ms(3), drift_ppb: 50_000 };
        assert_eq!(clock.local(Time::ZERO), Time::from_ms(3));
        assert_eq!(clock.local(Time::from_s(1)), Time::from_ms(1003) + Time::from_us(50));
        let slow = NodeClock { drift_ppb: -50_000, ..clock };
        assert_eq!(slow.local(Time::from_s(1)), Time::from_ms(1003) - Time::from_us(50));
    }

    /// `global` returns the first true time of a reading, over random clocks and times.
    #[test]
    fn a_reading_has_a_first_true_time() {
        let mut random = Stream::new(1, 0, 0);
        let ps_below = |random: &mut Stream, bits: u64| {
            let most = 1 << (1 + random.below(bits));
            random.below(most)
        };
        for _ in 0..20_000 {
            let most = u64::from(MAX_DRIFT_PPB);
            let clock = NodeClock {
                offset: Time::from_ps(ps_below(&mut random, 50)),
                drift_ppb: (random.below(2 * most + 1) as i64 - most as i64) as i32,
            };
            let local = Time::from_ps(ps_below(&mut random, 60));
            let at = clock.global(local);
            assert!(clock.local(at) >= local, "{clock:?} {local:?}");
            assert!(at == Time::ZERO || clock.local(at - Time::from_ps(1)) < local, "{clock:?} {local:?}");
            assert!(clock.global(clock.local(at)) <= at);
        }
        assert_eq!(NodeClock::default().local(Time::MAX), Time::MAX);
        assert_eq!(NodeClock { offset: Time::from_s(1), drift_ppb: -5 }.global(Time::MAX), Time::MAX);
        let exact = NodeClock::default();
        assert!(
            [0, 1, u64::MAX / 2].map(Time::from_ps).iter().all(|&at| exact.local(at) == at && exact.global(at) == at)
        );
    }

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
