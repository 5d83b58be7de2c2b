//! Policing of a flow that has received an XOFF: frames above the permitted rate do not conform.

use units::Time;

/// An entry of the XOFF table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct XoffEntry {
    /// Permitted rate, in bits per second on the wire.
    pub rate_bps: u64,
    /// Expiry of the XOFF.
    pub until: Time,
    /// Start of policing: frames that arrive earlier always conform.
    from: Time,
    /// Wire bytes of conforming frames since `from`.
    bytes: u64,
}

impl XoffEntry {
    /// Creates the entry of a flow whose XOFF is sent at `now`. Frames that the upstream neighbour sent before the
    /// XOFF took effect arrive within `grace`.
    pub fn new(now: Time, rate_bps: u64, expiry: Time, grace: Time) -> XoffEntry {
        XoffEntry { rate_bps, until: now.saturating_add(expiry), from: now.saturating_add(grace), bytes: 0 }
    }

    pub fn is_live(&self, now: Time) -> bool {
        now < self.until
    }

    /// Returns whether a frame of `bytes` wire bytes conforms: the total since `from` must not exceed the permitted
    /// rate times the time since `from`, plus `slack_bytes`. This is a token bucket of depth `slack_bytes`, but
    /// unused credit is not capped, because an XOFF is short: senders pace their frames, but shared queues may delay
    /// frames and release them in a burst.
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
        // Permitted rate 10 Mbps: 1250 bytes per millisecond. The slack is two frames of 1250 bytes, the grace period
        // 1 ms.
        let mut stop = XoffEntry::new(Time::ZERO, 10_000_000, Time::from_ms(100), Time::from_ms(1));
        assert!((0..50).all(|_| stop.conforms(Time::from_us(900), 1250, 2500)), "the grace");
        let mut passed = 0;
        for tenth in 10..=990u64 {
            passed += u64::from(stop.conforms(Time::from_us(100 * tenth), 1250, 2500));
        }
        // A frame of 1250 bytes every 100 us (100 Mbps) from 1 ms to 99 ms: 98 frames conform to 10 Mbps, and two
        // more by the slack.
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
