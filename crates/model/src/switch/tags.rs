//! Tagger at a switch, in three steps (Hu et al., CoNEXT 2017, section 7).
//!
//! ```text
//!   1. the ingress account of the tag that the frame came with   (PFC of that class stops the neighbour)
//!   2. (tag, ingress port, egress port) -> new tag               (right after the route is known)
//!   3. the egress queue of the new tag                           (PFC of the new class from the next switch stops it)
//! ```

use super::core::Core;

impl Core {
    /// The class in whose queue a frame waits that comes by `in_port` in `in_class` and leaves by `egress`, and the
    /// class with which it leaves.
    pub(super) fn rewritten(&self, in_port: u16, egress: u16, in_class: u8) -> (u8, u8) {
        let Some(tags) = &self.network.tags else { return (in_class, in_class) };
        let class = tags.new_class(self.node, in_class, in_port, egress);
        (if tags.by_new_tag() { class } else { in_class }, class)
    }
}
