//! Conformance of a flow to the rate of its XOFF.

use units::Time;

/// An entry of the XOFF table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct XoffEntry {
    /// Permitted rate, in bits per second on the wire.
    pub rate_bps: u64,
    /// Expiry.
    pub until: Time,
    /// Frames that arrive from here on are policed.
    from: Time,
    /// Time from which arriving frames are policed.
    bytes: u64,
}

impl XoffEntry {
    /// Creates the entry of a flow that gets an XOFF at `now`; frames that were in flight have arrived `grace` later.
    pub fn new(now: Time, rate_bps: u64, expiry: Time, grace: Time) -> XoffEntry {
        XoffEntry { rate_bps, until: now.saturating_add(expiry), from: now.saturating_add(grace), bytes: 0 }
    }

    pub fn is_live(&self, now: Time) -> bool {
        now < self.until
    }

    /// Returns whether another `bytes` conform to the rate since `from`, plus `slack_bytes`. It is a token bucket of
    /// that depth without a cap on credit, since an XOFF is short: a sender paces its frames, but shared queues may
    /// delay them and release them in a burst.
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
        // 10 Mbps: 1250 bytes per millisecond. Two frames of slack.
        let mut stop = XoffEntry::new(Time::ZERO, 10_000_000, Time::from_ms(100), Time::from_ms(1));
        assert!((0..50).all(|_| stop.conforms(Time::from_us(900), 1250, 2500)), "the grace");
        let mut passed = 0;
        for tenth in 10..=990u64 {
            passed += u64::from(stop.conforms(Time::from_us(100 * tenth), 1250, 2500));
        }
        // 98 ms at the rate, plus the slack.
        assert_eq!(passed, 98 + 2);
        assert!(stop.is_live(Time::from_us(99_999)) && !stop.is_live(Time::from_ms(100)));
    }

    #[test]
    fn who_is_blocked_has_the_slack_and_no_more() {
        let mut stop = XoffEntry::new(Time::ZERO, 0, Time::from_ms(5), Time::ZERO);
        let passed = (0..100u64).filter(|&at| stop.conforms(Time::from_us(at), 1500, 3000)).count();
        assert_eq!(passed, 2);
    }
}
