//! Messages on links.

use engine::Message;
use protocols::frame::Frame;
use units::Time;

/// A frame on a link, or a notification between hosts, as an engine message.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub(crate) struct OnWire(pub Frame);

impl Message for OnWire {
    #[inline]
    fn at(&self) -> Time {
        self.0.at
    }
}
