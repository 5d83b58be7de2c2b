//! One port's attachment to its link: how long frames take, and which of them the link loses.

use check::conservation::Cause;
use protocols::frame::Frame;
use units::random::Stream;
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// A port's end of a link.
#[derive(Clone, Debug)]
pub(crate) struct Attachment {
    pub rate: Rate,
    /// Picoseconds a byte, or 0 where the rate does not divide 8 Tbps.
    ps_per_byte: u64,
    pub delay: Time,
    loss: f64,
    /// ln(1 - bit error rate) * 8, at most 0.
    log_byte_survival: f64,
    /// Whether arrivals need a second look: the link can lose frames.
    pub fragile: bool,
    pub down: bool,
    /// When the link failed last.
    failed_at: Option<Time>,
}

impl Attachment {
    pub fn new(link: &fabric::Link, fails: bool) -> Self {
        let bps = link.rate.as_bps();
        let per_byte = 8_000_000_000_000u64;
        Attachment {
            rate: link.rate,
            ps_per_byte: if per_byte.is_multiple_of(bps) { per_byte / bps } else { 0 },
            delay: link.delay,
            loss: link.loss,
            log_byte_survival: 8.0 * libm::log1p(-link.bit_error_rate),
            fragile: fails || link.loss > 0.0 || link.bit_error_rate > 0.0,
            down: false,
            failed_at: None,
        }
    }

    /// How long a frame of `size_bytes` occupies the wire, preamble and gap included.
    #[inline]
    pub fn serialise(&self, size_bytes: u16) -> Time {
        let bytes = u64::from(size_bytes) + WIRE_OVERHEAD_BYTES;
        if self.ps_per_byte != 0 { Time::from_ps(bytes * self.ps_per_byte) } else { self.rate.serialise(bytes) }
    }

    /// Picoseconds a byte, or 0 where they are no whole number.
    pub fn per_byte_ps(&self) -> u64 {
        self.ps_per_byte
    }

    /// No frame sent at `t` arrives before `t` plus this.
    pub fn lookahead(&self) -> Time {
        self.delay + self.serialise(protocols::frame::MIN_FRAME_BYTES)
    }

    pub fn fail(&mut self, now: Time) {
        self.down = true;
        self.failed_at = Some(now);
    }

    pub fn repair(&mut self) {
        self.down = false;
    }

    /// What the link did to a frame that arrives now, if it did not carry it: a link that fails loses the
    /// frames on it; otherwise loss and bit errors strike at random.
    #[cold]
    pub fn verdict(&self, frame: &Frame, random: &mut Stream) -> Option<Cause> {
        let sent = frame.at.saturating_sub(self.delay + self.serialise(frame.size_bytes));
        if self.down || self.failed_at.is_some_and(|failed| failed >= sent) {
            return Some(Cause::LinkDown);
        }
        if self.loss > 0.0 && random.unit() < self.loss {
            return Some(Cause::LinkLoss);
        }
        if self.log_byte_survival < 0.0 {
            let damaged = -libm::expm1(self.log_byte_survival * f64::from(frame.size_bytes));
            if random.unit() < damaged {
                return Some(Cause::BitError);
            }
        }
        None
    }
}
