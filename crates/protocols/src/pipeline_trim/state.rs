//! Expiry of congestion signals, and the resulting mode of an egress port.

use units::Time;

/// Share of an egress port's line rate that an ingress pipeline passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The full line rate: no other pipeline is assumed to send to the port.
    Optimistic,
    /// Half the line rate.
    Half,
    /// The pipeline's share of the line rate.
    Pessimistic,
}

/// The two expiry times of a port's state (packet trimming, section 5: `t0_reg`, `t1_reg`), and the total time in
/// each mode.
///
/// ```text
///   signal ----- T0 -----> .                 pessimistic while now <= t0
///   signal ----------------- T1 -----------> half while now <= t1
///                                            optimistic after it; every signal restarts both
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalState {
    /// Start and end of the current pessimistic interval, and end of the half mode that follows it; all zero before
    /// the first signal.
    since: Time,
    t0: Time,
    t1: Time,
    signals: u64,
    /// Total time in each mode, without the current pessimistic interval and the half mode after it.
    pessimistic: Time,
    half: Time,
}

impl SignalState {
    /// Handles a congestion signal: the mode is pessimistic until `pessimistic` after `now`, and then, if
    /// `until_optimistic` is longer, half until `until_optimistic` after `now`. No effect if both durations are zero.
    pub fn signal(&mut self, now: Time, pessimistic: Time, until_optimistic: Time) {
        if pessimistic == Time::ZERO && until_optimistic == Time::ZERO {
            return;
        }
        if self.signals == 0 || now > self.t0 {
            (self.pessimistic, self.half) = self.times(now);
            self.since = now;
        }
        self.signals += 1;
        self.t0 = now.saturating_add(pessimistic);
        self.t1 = now.saturating_add(until_optimistic).max(self.t0);
    }

    /// Returns the mode at `now`; at the exact time of an expiry it has not changed yet.
    #[inline]
    pub fn mode(&self, now: Time) -> Mode {
        if self.signals == 0 || now > self.t1 {
            Mode::Optimistic
        } else if now > self.t0 {
            Mode::Half
        } else {
            Mode::Pessimistic
        }
    }

    /// Returns the number of congestion signals received.
    pub fn signals(&self) -> u64 {
        self.signals
    }

    /// Returns the total times in pessimistic mode and in half mode, up to `now`.
    pub fn times(&self, now: Time) -> (Time, Time) {
        if self.signals == 0 {
            return (Time::ZERO, Time::ZERO);
        }
        let pessimistic = self.t0.min(now).saturating_sub(self.since);
        let half = self.t1.min(now).saturating_sub(self.t0);
        (self.pessimistic + pessimistic, self.half + half)
    }
}

/// Comparison of the current clock with the 32-bit timestamp register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Wrap {
    /// Compares the difference modulo 2^32, which is correct if the clock wraps.
    #[default]
    Handled,
    /// Compares sums, as in the paper's listing. If a sum wraps, the signal has no effect. After every wrap of the
    /// clock, all ports are pessimistic until T0 and half until T1.
    AsListed,
}

/// State of a port in `switch.p4` (packet trimming, section 5): the low 32 bits of a 1 ns clock at the last
/// congestion signal; 0 if there was none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StampState {
    last: u32,
}

impl StampState {
    /// Handles a congestion signal at the clock value `clock`.
    pub fn signal(&mut self, clock: u32) {
        // Since 0 means no signal, a signal at clock value 0 is stored as one nanosecond earlier.
        self.last = if clock == 0 { u32::MAX } else { clock };
    }

    /// Returns the mode at `clock`, and deletes a signal older than `t1_ns`. If a port receives no packet for 2^32 ns
    /// (4.3 s), an old signal may appear new, because the register has only 32 bits.
    pub fn mode(&mut self, clock: u32, t0_ns: u32, t1_ns: u32, wrap: Wrap) -> Mode {
        let (past_t0, past_t1) = match wrap {
            Wrap::Handled if self.last == 0 => return Mode::Optimistic,
            Wrap::Handled => {
                let elapsed = clock.wrapping_sub(self.last);
                (elapsed > t0_ns, elapsed > t1_ns)
            }
            Wrap::AsListed => (clock > self.last.wrapping_add(t0_ns), clock > self.last.wrapping_add(t1_ns)),
        };
        if past_t1 {
            self.last = 0;
            Mode::Optimistic
        } else if past_t0 {
            Mode::Half
        } else {
            Mode::Pessimistic
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const T0: Time = Time::from_us(6);
    const T1: Time = Time::from_us(24);

    #[test]
    fn a_signal_lasts_6_us_pessimistic_and_18_us_half() {
        let mut state = SignalState::default();
        assert_eq!(state.mode(Time::ZERO), Mode::Optimistic, "before any signal, at time zero too");
        state.signal(Time::from_us(10), T0, T1);
        for (at, mode) in [
            (Time::from_us(10), Mode::Pessimistic),
            (Time::from_us(16), Mode::Pessimistic),
            (Time::from_us(16) + Time::from_ps(1), Mode::Half),
            (Time::from_us(34), Mode::Half),
            (Time::from_us(34) + Time::from_ps(1), Mode::Optimistic),
        ] {
            assert_eq!(state.mode(at), mode, "at {at}");
        }
        assert_eq!(state.times(Time::from_us(12)), (Time::from_us(2), Time::ZERO));
        assert_eq!(state.times(Time::from_us(100)), (T0, Time::from_us(18)));
    }

    #[test]
    fn no_response_is_no_signal() {
        let mut state = SignalState::default();
        state.signal(Time::from_us(1), Time::ZERO, Time::ZERO);
        assert_eq!((state.mode(Time::from_us(1)), state.signals()), (Mode::Optimistic, 0));
    }

    /// Random signals: the mode depends only on the time since the last signal, and the total time in each mode
    /// equals the count over every nanosecond.
    #[test]
    fn agrees_with_a_sample_at_every_nanosecond() {
        for seed in 0..30 {
            let mut stream = Stream::new(seed, 0, 0);
            let (t0, t1) = (stream.below(40), 40 + stream.below(60));
            let (mut state, mut last) = (SignalState::default(), None);
            let (mut pessimistic, mut half) = (0u64, 0u64);
            for now in 0..5_000u64 {
                // The interval from the previous nanosecond to the current one.
                if let Some(last) = last {
                    let age = now - last;
                    pessimistic += u64::from(age >= 1 && age <= t0);
                    half += u64::from(age > t0 && age <= t1);
                }
                if stream.below(50) == 0 {
                    state.signal(Time::from_ns(now), Time::from_ns(t0), Time::from_ns(t1));
                    last = Some(now);
                }
                let expected = match last.map(|last| now - last) {
                    Some(age) if age <= t0 => Mode::Pessimistic,
                    Some(age) if age <= t1 => Mode::Half,
                    _ => Mode::Optimistic,
                };
                assert_eq!(state.mode(Time::from_ns(now)), expected, "seed {seed} at {now}");
                let times = (Time::from_ns(pessimistic), Time::from_ns(half));
                assert_eq!(state.times(Time::from_ns(now)), times, "seed {seed} at {now}");
            }
        }
    }

    /// [`SignalState`] and [`StampState`] have equal modes as long as the clock does not wrap.
    #[test]
    fn a_stamp_of_32_bits_equals_two_registers() {
        let mut stream = Stream::new(7, 0, 0);
        let (mut long, mut short, mut now) = (SignalState::default(), StampState::default(), 1u64);
        for _ in 0..100_000 {
            now += stream.below(4_000);
            if stream.below(6) == 0 {
                long.signal(Time::from_ns(now), T0, T1);
                short.signal(now as u32);
            }
            assert_eq!(long.mode(Time::from_ns(now)), short.mode(now as u32, 6_000, 24_000, Wrap::Handled), "{now}");
        }
        assert!(now < 1 << 32);
    }

    #[test]
    fn a_wrap_of_the_clock_changes_nothing_where_it_is_handled() {
        for start in [0u64, 1, (1 << 32) - 30_000, (1 << 32) - 10_000, (1 << 32) - 3_000, (1 << 32) - 1] {
            let modes: Vec<Mode> = (0..30)
                .map(|us| {
                    let mut state = StampState::default();
                    state.signal(start as u32);
                    state.mode((start + us * 1_000) as u32, 6_000, 24_000, Wrap::Handled)
                })
                .collect();
            let count = |mode| modes.iter().filter(|&&other| other == mode).count();
            let counts = (count(Mode::Pessimistic), count(Mode::Half), count(Mode::Optimistic));
            // A signal at clock value 0 is stored as one nanosecond earlier, so that both expiries are one nanosecond
            // earlier than for other start values, and the samples at whole microseconds differ.
            assert_eq!(counts, if start == 0 { (6, 18, 6) } else { (7, 18, 5) }, "start {start}");
        }
    }

    /// The paper's listing if the clock wraps: a signal just before the wrap has no effect, and just after the wrap a
    /// port without a signal is in pessimistic mode (a quarter), then in half mode.
    #[test]
    fn the_listing_fails_around_a_wrap() {
        let before = u32::MAX - 2_000;
        let mut listed = StampState::default();
        listed.signal(before);
        assert_eq!(listed.mode(before + 100, 6_000, 24_000, Wrap::AsListed), Mode::Optimistic);
        let mut handled = StampState::default();
        handled.signal(before);
        assert_eq!(handled.mode(before + 100, 6_000, 24_000, Wrap::Handled), Mode::Pessimistic);

        let quiet = |clock, wrap| StampState::default().mode(clock, 6_000, 24_000, wrap);
        assert_eq!(quiet(5_000, Wrap::AsListed), Mode::Pessimistic);
        assert_eq!(quiet(20_000, Wrap::AsListed), Mode::Half);
        assert_eq!(quiet(24_001, Wrap::AsListed), Mode::Optimistic);
        assert_eq!(quiet(5_000, Wrap::Handled), Mode::Optimistic);
    }
}
