//! A flow that is held: what an upstream switch or host does about an XOFF.

use units::Time;

/// One XOFF in force, from its arrival to its XON or expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    rate_bps: u64,
    since: Time,
    until: Time,
    /// At a rate: nothing before this.
    next: Time,
}

impl Hold {
    /// An XOFF is heard: no more than `rate_bps` on the wire, 0 for nothing, for `expiry`.
    pub fn new(now: Time, rate_bps: u64, expiry: Time) -> Hold {
        Hold { rate_bps, since: now, until: now.saturating_add(expiry), next: now }
    }

    /// Another XOFF for the same flow takes the place of the one before.
    pub fn on_request(&mut self, now: Time, rate_bps: u64, expiry: Time) {
        (self.rate_bps, self.until, self.next) = (rate_bps, now.saturating_add(expiry), self.next.max(now));
    }

    /// Since when it is held.
    pub fn since(&self) -> Time {
        self.since
    }

    /// When it ends by itself.
    pub fn until(&self) -> Time {
        self.until
    }

    /// What may be sent meanwhile, in bits a second.
    pub fn rate_bps(&self) -> u64 {
        self.rate_bps
    }

    /// Whether a frame may go now.
    pub fn may_send(&self, now: Time) -> bool {
        now >= self.until || (self.rate_bps > 0 && now >= self.next)
    }

    /// A frame of `bytes` on the wire goes.
    pub fn sent(&mut self, now: Time, bytes: u64) {
        if self.rate_bps > 0 {
            let span = u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(self.rate_bps);
            let span = Time::from_ps(u64::try_from(span).unwrap_or(u64::MAX));
            self.next = self.next.max(now).saturating_add(span);
        }
    }

    /// When to ask again whether a frame that waits may go, if nothing more is heard.
    pub fn ask_again_at(&self) -> Time {
        if self.rate_bps > 0 { self.next.min(self.until) } else { self.until }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What goes over any span is what the rate allows, and a frame.
    #[test]
    fn a_hold_paces() {
        // 10 Mbps: 1250 bytes a millisecond.
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
    fn blocked_until_it_expires_however_often_it_is_told() {
        let mut hold = Hold::new(Time::ZERO, 0, Time::from_ms(5));
        assert!(!hold.may_send(Time::from_us(4_999)) && hold.may_send(Time::from_ms(5)));
        hold.on_request(Time::from_ms(3), 0, Time::from_ms(5));
        assert!(!hold.may_send(Time::from_ms(7)) && hold.may_send(Time::from_ms(8)));
        assert_eq!((hold.since(), hold.ask_again_at()), (Time::ZERO, Time::from_ms(8)));
        // A rate in place of nothing: from now on, and not from when it was blocked.
        hold.on_request(Time::from_ms(4), 1_000_000, Time::from_ms(5));
        assert_eq!(hold.ask_again_at(), Time::from_ms(4));
    }
}
