//! Tagger at a switch, in three steps (Hu et al., CoNEXT 2017, section 7). QoS maps have a table for each step.
//!
//! ```text
//!   1. the ingress account of the arriving tag                  (PFC of that class stops the upstream neighbour)
//!   2. (tag, ingress port, egress port) -> new tag              (directly after routing)
//!   3. the egress queue of the new tag                          (stopped by PFC of the new class from the next switch)
//! ```

use super::core::Core;

impl Core {
    /// Returns the account and the queue of a frame that arrived by `in_port` in `class` and leaves by `egress`, and
    /// its class on the next link.
    pub(super) fn rewritten(&self, in_port: u16, egress: u16, class: u8) -> (u8, u8, u8) {
        let Some(tags) = &self.network.routing.tags else { return (class, class, class) };
        tags.treatment(self.node(), class, in_port, egress)
    }
}
