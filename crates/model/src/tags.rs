//! Tagger's rules, for lookup at switches and relaying hosts.

use crate::parameters::CLASSES;
use fabric::tags::{LOSSY_TAG, Lookup, SwitchRules, Tag};
use fabric::{Fabric, NodeId, PortIndex};

/// Tagger at switches (Hu et al., CoNEXT 2017): the class of a frame is its tag, and class 0 is the lossy tag. A frame
/// without a lossless tag keeps its class.
#[derive(Clone, Debug)]
pub struct TagRules {
    lookup: Lookup,
    /// Bitmask of lossless tags.
    lossless: u8,
    by_new_tag: bool,
}

/// Reason why rules cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TagError {
    /// Tags must be classes 0 to 7, with 0 for the lossy one.
    #[error("tag {tag} has no class: a simulated frame has classes 0 to 7, and 0 is the lossy one")]
    TagWithoutClass {
        /// Invalid tag.
        tag: u8,
    },
}

impl TagRules {
    /// Creates the tables of these lossless tags and rules. With `by_new_tag` a frame uses the egress queue of its new
    /// tag, as correct operation requires. Without it, the frame uses the queue of its old tag, which pauses of its new
    /// class do not stop.
    ///
    /// # Errors
    /// Fails for a tag above 7.
    pub fn new(
        fabric: &Fabric,
        lossless_tags: &[Tag],
        switches: &[SwitchRules],
        by_new_tag: bool,
    ) -> Result<TagRules, TagError> {
        let mut lossless = 0;
        for &tag in lossless_tags {
            if usize::from(tag) >= CLASSES {
                return Err(TagError::TagWithoutClass { tag });
            }
            lossless |= 1 << tag;
        }
        Ok(TagRules { lookup: Lookup::new(fabric, lossless_tags, switches), lossless, by_new_tag })
    }

    /// Returns the bitmask of lossless tags.
    pub fn lossless(&self) -> u8 {
        self.lossless
    }

    /// Returns whether the egress queue is that of the new tag.
    pub(crate) fn by_new_tag(&self) -> bool {
        self.by_new_tag
    }

    /// Returns all classes that a rewritten frame may have.
    pub(crate) fn classes(&self) -> impl Iterator<Item = u8> + '_ {
        (0..CLASSES as u8).filter(|&class| class == LOSSY_TAG || self.lossless & (1 << class) != 0)
    }

    /// Returns the class with which a frame leaves.
    #[inline]
    pub(crate) fn new_class(&self, node: NodeId, class: u8, in_port: PortIndex, out_port: PortIndex) -> u8 {
        if self.lossless & (1 << class) == 0 {
            return class;
        }
        self.lookup.new_tag(node, class, in_port, out_port).unwrap_or(LOSSY_TAG)
    }
}
