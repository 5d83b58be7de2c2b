//! Reaction of an upstream switch or host to an XOFF: the rate limit of the flow.

use units::Time;

/// One XOFF in force, from its arrival to its XON or expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    rate_bps: u64,
    since: Time,
    until: Time,
    /// Earliest start of the next frame at the permitted rate.
    next: Time,
}

impl Hold {
    /// Creates the rate limit of a flow: `rate_bps` on the wire (0 pauses the flow), from `now` for `expiry`.
    pub fn new(now: Time, rate_bps: u64, expiry: Time) -> Hold {
        Hold { rate_bps, since: now, until: now.saturating_add(expiry), next: now }
    }

    /// Handles another XOFF for the same flow, which replaces the previous one.
    pub fn on_request(&mut self, now: Time, rate_bps: u64, expiry: Time) {
        (self.rate_bps, self.until, self.next) = (rate_bps, now.saturating_add(expiry), self.next.max(now));
    }

    /// Returns the arrival time of the first XOFF.
    pub fn since(&self) -> Time {
        self.since
    }

    /// Returns the time at which the last XOFF expires.
    pub fn until(&self) -> Time {
        self.until
    }

    /// Returns the permitted rate, in bits per second on the wire.
    pub fn rate_bps(&self) -> u64 {
        self.rate_bps
    }

    /// Returns whether a frame of the flow may start now.
    pub fn may_send(&self, now: Time) -> bool {
        now >= self.until || (self.rate_bps > 0 && now >= self.next)
    }

    /// Records the start of a frame of the flow with `bytes` wire bytes.
    pub fn sent(&mut self, now: Time, bytes: u64) {
        if self.rate_bps > 0 {
            let span = u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(self.rate_bps);
            let span = Time::from_ps(u64::try_from(span).unwrap_or(u64::MAX));
            self.next = self.next.max(now).saturating_add(span);
        }
    }

    /// Returns the time at which [`Hold::may_send`] becomes true if it is false now, and no XOFF arrives before.
    pub fn ask_again_at(&self) -> Time {
        if self.rate_bps > 0 { self.next.min(self.until) } else { self.until }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow limited to 10 Mbps sends one frame of 1250 bytes per millisecond until the XOFF expires after 50 ms.
    #[test]
    fn a_hold_paces() {
        // A frame of 1250 bytes is offered every 100 us; one per millisecond may be sent (10 Mbps).
        let mut hold = Hold::new(Time::ZERO, 10_000_000, Time::from_ms(50));
        let mut sent = Vec::new();
        for tenth in 0..500u64 {
            let now = Time::from_us(100 * tenth);
            if hold.may_send(now) {
                hold.sent(now, 1250);
                sent.push(tenth);
            }
        }
        assert_eq!(sent, (0..50).map(|ms| 10 * ms).collect::<Vec<_>>());
        assert_eq!(hold.ask_again_at(), Time::from_ms(50));
        assert!((0..3).all(|_| hold.may_send(Time::from_ms(50))), "over");
    }

    #[test]
    fn blocked_until_expiry_after_any_number_of_pauses() {
        let mut hold = Hold::new(Time::ZERO, 0, Time::from_ms(5));
        assert!(!hold.may_send(Time::from_us(4_999)) && hold.may_send(Time::from_ms(5)));
        hold.on_request(Time::from_ms(3), 0, Time::from_ms(5));
        assert!(!hold.may_send(Time::from_ms(7)) && hold.may_send(Time::from_ms(8)));
        assert_eq!((hold.since(), hold.ask_again_at()), (Time::ZERO, Time::from_ms(8)));
        // The XOFF with a rate replaces the pause when it arrives, at 4 ms; the time before does not count as credit.
        hold.on_request(Time::from_ms(4), 1_000_000, Time::from_ms(5));
        assert_eq!(hold.ask_again_at(), Time::from_ms(4));
    }
}
