//! Attachment of a port to its link: transmission times, and losses on the link.

use crate::link_kinds::LinkKind;
use check::conservation::Cause;
use protocols::frame::Frame;
use std::ops::Deref;
use std::sync::Arc;
use units::Time;
use units::random::Stream;

/// The endpoint of a link at a port.
#[derive(Clone, Debug)]
pub(crate) struct Attachment {
    kind: Arc<LinkKind>,
    /// Time of the last failure; [`Time::MAX`] without one.
    failed_at: Time,
    /// Whether the link can lose frames, so that arrivals need a check.
    pub can_lose: bool,
    pub down: bool,
}

impl Deref for Attachment {
    type Target = LinkKind;
    fn deref(&self) -> &LinkKind {
        &self.kind
    }
}

impl Attachment {
    pub fn new(kind: &Arc<LinkKind>, fails: bool) -> Self {
        let can_lose = fails || kind.loss > 0.0 || kind.control_loss > 0.0 || kind.log_byte_survival < 0.0;
        Attachment { kind: Arc::clone(kind), failed_at: Time::MAX, can_lose, down: false }
    }

    pub fn fail(&mut self, now: Time) {
        self.down = true;
        self.failed_at = now;
    }

    pub fn repair(&mut self) {
        self.down = false;
    }

    /// Returns the loss cause of a frame that arrives now, if the link lost it. A failure loses all frames in flight;
    /// otherwise loss and bit errors are random.
    #[cold]
    pub fn verdict(&self, frame: &Frame, random: &mut Stream) -> Option<Cause> {
        // `frame.at` is the arrival time. A failure at or after the start of the transmission loses the frame.
        let sent = frame.at.saturating_sub(self.latency(frame.size_bytes));
        if self.down || (self.failed_at != Time::MAX && self.failed_at >= sent) {
            return Some(Cause::LinkDown);
        }
        if self.loss > 0.0 && random.unit() < self.loss {
            return Some(Cause::LinkLoss);
        }
        if self.control_loss > 0.0 && frame.is_mac_control() && random.unit() < self.control_loss {
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
