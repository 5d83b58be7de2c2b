//! Tagger at a switch, in three steps (Hu et al., CoNEXT 2017, section 7).
//!
//! ```text
//!   1. the ingress account of the tag that the frame came with   (PFC of that class stops the neighbour)
//!   2. (tag, ingress port, egress port) -> new tag               (right after the route is known)
//!   3. the egress queue of the new tag                           (PFC of the new class from the next switch stops it)
//! ```

use super::Switch;
use crate::node::OnWire;
use check::conservation::Cause;
use engine::Window;
use protocols::frame::Frame;

impl Switch {
    /// The class in whose queue a frame waits that comes by `in_port` in `in_class` and leaves by `egress`, and the
    /// class with which it leaves.
    pub(super) fn rewritten(&self, in_port: u16, egress: u16, in_class: u8) -> (u8, u8) {
        let Some(tags) = &self.network.tags else { return (in_class, in_class) };
        let class = tags.new_class(self.node, in_class, in_port, egress);
        (if tags.by_new_tag() { class } else { in_class }, class)
    }

    /// Routes a frame, gives it its new tag and sends it on.
    #[inline(never)]
    pub(super) fn forward_tagged(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let Some(egress) = self.route(frame, in_port) else {
            return self.lose(in_port, frame, Cause::NoRoute);
        };
        let in_class = frame.class;
        let (queue_class, class) = self.rewritten(in_port, egress, in_class);
        self.forward_as(egress, in_port, (in_class, queue_class), &Frame { class, ..*frame }, window);
    }
}
