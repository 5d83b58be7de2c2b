//! Messages on links.

use engine::{Message, Window};
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

/// Copies `frame`, which arrives at `at`, onto the wire of `port`. Returns the copy.
#[inline(always)] // hot: runs once per packet-hop
pub(crate) fn put_on_wire<'a>(frame: &Frame, port: u16, at: Time, window: &'a mut Window<'_, OnWire>) -> &'a mut Frame {
    let OnWire(slot) = window.send_slot(port, at);
    *slot = *frame;
    slot.at = at;
    slot
}
