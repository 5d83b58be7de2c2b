//! Whether a flow that was told to slow down does.

use units::Time;

/// An entry of the XOFF table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// What it may send, in bits a second on the wire.
    pub rate_bps: u64,
    /// Until then, unless it is told otherwise.
    pub until: Time,
    /// What arrives from here on is judged.
    from: Time,
    /// Wire bytes since then.
    bytes: u64,
}

impl Stop {
    /// Stopped at `now`; what was on its way has arrived `grace` later.
    pub fn new(now: Time, rate_bps: u64, expiry: Time, grace: Time) -> Stop {
        Stop { rate_bps, until: now.saturating_add(expiry), from: now.saturating_add(grace), bytes: 0 }
    }

    pub fn is_live(&self, now: Time) -> bool {
        now < self.until
    }

    /// Whether another `bytes` are within what the rate allows since the grace ended, with `slack_bytes` more: a token
    /// bucket of that depth whose credit is not capped, for an XOFF does not last. A sender that obeys is never late
    /// with what it may send, only with its frames: those wait, after they were paced, in queues that others share.
    pub fn conforms(&mut self, now: Time, bytes: u64, slack_bytes: u64) -> bool {
        if now < self.from {
            return true;
        }
        let bits = u128::from(self.rate_bps) * u128::from((now - self.from).as_ps()) / 1_000_000_000_000;
        let conforms = u128::from(self.bytes + bytes) <= bits / 8 + u128::from(slack_bytes);
        self.bytes += if conforms { bytes } else { 0 };
        conforms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_excess_over_the_rate_is_what_does_not_conform() {
        // 10 Mbps: 1250 bytes a millisecond. Two frames of slack.
        let mut stop = Stop::new(Time::ZERO, 10_000_000, Time::from_ms(100), Time::from_ms(1));
        assert!((0..50).all(|_| stop.conforms(Time::from_us(900), 1250, 2500)), "the grace");
        let mut passed = 0;
        for tenth in 10..=990u64 {
            passed += u64::from(stop.conforms(Time::from_us(100 * tenth), 1250, 2500));
        }
        // 98 ms at the rate, and the slack.
        assert_eq!(passed, 98 + 2);
        assert!(stop.is_live(Time::from_us(99_999)) && !stop.is_live(Time::from_ms(100)));
    }

    #[test]
    fn who_is_blocked_has_the_slack_and_no_more() {
        let mut stop = Stop::new(Time::ZERO, 0, Time::from_ms(5), Time::ZERO);
        let passed = (0..100u64).filter(|&at| stop.conforms(Time::from_us(at), 1500, 3000)).count();
        assert_eq!(passed, 2);
    }
}
