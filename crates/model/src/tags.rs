//! Tagger's rules as switches and relaying hosts look them up.

use crate::parameters::CLASSES;
use fabric::tags::{LOSSY_TAG, Lookup, SwitchRules, Tag};
use fabric::{Fabric, NodeId, PortIndex};

/// Tagger in the switches (Hu et al., CoNEXT 2017): the class of a frame is its tag, the lossy tag is class 0.
/// A frame whose class is no lossless tag keeps it.
#[derive(Clone, Debug)]
pub struct TagRules {
    lookup: Lookup,
    /// A bit each.
    lossless: u8,
    by_new_tag: bool,
}

/// Why rules cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TagError {
    /// Frames have eight classes, and 0 is the lossy one.
    #[error("tag {tag} has no class: a simulated frame has classes 0 to 7, and 0 is the lossy one")]
    TagWithoutClass {
        /// The tag.
        tag: u8,
    },
}

impl TagRules {
    /// Switches that rewrite these lossless tags by these rules. With `by_new_tag` a frame waits in the egress queue of
    /// the tag that it leaves with, as it must; without, in that of the tag it came with, where the pause of its new
    /// class does not reach it.
    ///
    /// # Errors
    /// A tag above 7.
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

    /// The lossless tags, a bit each.
    pub fn lossless(&self) -> u8 {
        self.lossless
    }

    /// Whether a frame waits by the tag that it leaves with.
    pub(crate) fn by_new_tag(&self) -> bool {
        self.by_new_tag
    }

    /// Every class that a rewritten frame may have.
    pub(crate) fn classes(&self) -> impl Iterator<Item = u8> + '_ {
        (0..CLASSES as u8).filter(|&class| class == LOSSY_TAG || self.lossless & (1 << class) != 0)
    }

    /// The class with which a frame leaves.
    #[inline]
    pub(crate) fn new_class(&self, node: NodeId, class: u8, in_port: PortIndex, out_port: PortIndex) -> u8 {
        if self.lossless & (1 << class) == 0 {
            return class;
        }
        self.lookup.new_tag(node, class, in_port, out_port).unwrap_or(LOSSY_TAG)
    }
}
