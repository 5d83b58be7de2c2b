//! Routes set by hand.

use super::Switch;
use fabric::routing::select;
use protocols::frame::{Frame, flags};

impl Switch {
    /// The port that somebody pinned this frame to.
    #[cold]
    pub(super) fn pinned(&self, frame: &Frame) -> Option<u16> {
        if frame.flags & flags::EXPLICIT_PATH != 0 {
            return None;
        }
        let in_force = self.network.pins_of(self.node).iter().find(|pin| {
            pin.to == frame.dst
                && pin.from.is_none_or(|from| from == frame.src)
                && pin.at <= frame.at
                && pin.until.is_none_or(|until| frame.at < until)
        })?;
        let port = match in_force.ports[..] {
            [] => return None,
            [only] => only,
            ref ports => ports[select(frame.entropy, self.salt, ports.len())],
        };
        (!self.dead.contains(port)).then_some(port)
    }
}
