//! One port's attachment to its link: how long frames take, and which of them the link loses.

use crate::link_kinds::LinkKind;
use check::conservation::Cause;
use protocols::frame::Frame;
use std::ops::Deref;
use std::sync::Arc;
use units::Time;
use units::random::Stream;

/// A port's end of a link.
#[derive(Clone, Debug)]
pub(crate) struct Attachment {
    kind: Arc<LinkKind>,
    /// When the link failed last; [`Time::MAX`] if it never did.
    failed_at: Time,
    /// Whether arrivals need a second look: the link can lose frames.
    pub fragile: bool,
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
        let fragile = fails || kind.loss > 0.0 || kind.log_byte_survival < 0.0;
        Attachment { kind: Arc::clone(kind), failed_at: Time::MAX, fragile, down: false }
    }

    pub fn fail(&mut self, now: Time) {
        self.down = true;
        self.failed_at = now;
    }

    pub fn repair(&mut self) {
        self.down = false;
    }

    /// What the link did to a frame that arrives now, if it did not carry it: a link that fails loses the
    /// frames on it; otherwise loss and bit errors strike at random.
    #[cold]
    pub fn verdict(&self, frame: &Frame, random: &mut Stream) -> Option<Cause> {
        let sent = frame.at.saturating_sub(self.flight(frame.size_bytes));
        if self.down || (self.failed_at != Time::MAX && self.failed_at >= sent) {
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
