//! Clocks with offset and drift, as pure functions of the exact time.

use crate::Time;

const BILLION: i128 = 1_000_000_000;

/// Largest drift of a clock, in parts per billion: 10 %, far above any oscillator.
pub const MAX_DRIFT_PPB: u32 = 100_000_000;

/// Clock of a host or switch. At the true time t it reads t + offset + drift * t.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeClock {
    /// Reading of the clock at the true time 0.
    pub offset: Time,
    /// Drift in parts per billion, negative for a slow clock. Its magnitude is at most [`MAX_DRIFT_PPB`].
    pub drift_ppb: i32,
}

impl NodeClock {
    /// Returns the reading at the true time `at`. [`Time::MAX`] ("never") is returned unchanged.
    #[cold] // most clocks are exact: keep the 128-bit division off the hot path
    #[inline(never)]
    pub fn local(&self, at: Time) -> Time {
        if at == Time::MAX {
            return at;
        }
        let at_ps = i128::from(at.as_ps());
        clamp(at_ps + i128::from(self.offset.as_ps()) + (at_ps * i128::from(self.drift_ppb)).div_euclid(BILLION))
    }

    /// Returns the first true time at which the clock reads at least `local`. [`Time::MAX`] ("never") is returned
    /// unchanged.
    #[cold] // like `local`
    #[inline(never)]
    pub fn global(&self, local: Time) -> Time {
        if local == Time::MAX {
            return local;
        }
        // With p = 10^9 + drift, the reading at t is offset + floor(t p / 10^9). Solve for the least t whose reading is
        // at least `local`.
        let since_ps = i128::from(local.as_ps()) - i128::from(self.offset.as_ps());
        let pace = BILLION + i128::from(self.drift_ppb);
        clamp((since_ps * BILLION + pace - 1).div_euclid(pace))
    }
}

/// Returns the reading of `clock` at the true time `at`; `None` is an exact clock.
#[inline]
pub fn local(clock: Option<&NodeClock>, at: Time) -> Time {
    clock.map_or(at, |clock| clock.local(at))
}

/// Returns the first true time at which `clock` reads at least `at`; `None` is an exact clock.
#[inline]
pub fn global(clock: Option<&NodeClock>, at: Time) -> Time {
    clock.map_or(at, |clock| clock.global(at))
}

/// Clamps to the range of times below [`Time::MAX`], which means "never".
fn clamp(ps: i128) -> Time {
    Time::from_ps(u64::try_from(ps.max(0)).unwrap_or(u64::MAX - 1).min(u64::MAX - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn a_clock_fifty_ppm_fast_gains_fifty_microseconds_a_second() {
        let clock = NodeClock { offset: Time::from_ms(3), drift_ppb: 50_000 };
        assert_eq!(clock.local(Time::ZERO), Time::from_ms(3));
        assert_eq!(clock.local(Time::from_s(1)), Time::from_ms(1003) + Time::from_us(50));
        let slow = NodeClock { drift_ppb: -50_000, ..clock };
        assert_eq!(slow.local(Time::from_s(1)), Time::from_ms(1003) - Time::from_us(50));
    }

    /// `global(reading)` is the first true time with this reading, for random clocks and times.
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
}
