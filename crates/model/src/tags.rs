//! Classes of frames at switches: Tagger's rules, or QoS maps of switches.

use crate::parameters::CLASSES;
use fabric::tags::{LOSSY_TAG, Lookup, QosMaps, SwitchRules, Tag};
use fabric::{Fabric, NodeId, PortIndex};

/// Changes of a frame's class at switches.
///
/// With Tagger's rules (Hu et al., CoNEXT 2017) the class of a frame is its tag, and class 0 is the lossy tag. A frame
/// without a lossless tag keeps its class. With QoS maps, the ingress account, the egress queue and the class on the
/// next link come from separate tables.
#[derive(Clone, Debug)]
pub struct TagRules {
    table: Table,
    /// Bitmask of lossless tags, or of the classes of lossless accounts.
    lossless: u8,
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one per network, and each frame reads it")]
enum Table {
    Rules { lookup: Lookup, by_new_tag: bool },
    Maps(QosMaps),
}

/// Reason why rules cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TagError {
    /// Tags must be classes 0 to 7, and the lossy tag is 0.
    #[error("tag {tag} has no class: a simulated frame has classes 0 to 7, and 0 is the lossy one")]
    TagWithoutClass {
        /// Invalid tag.
        tag: u8,
    },
}

impl TagRules {
    /// Creates the tables of these lossless tags and rules. With `by_new_tag` a frame uses the egress queue of its new
    /// tag, as correct operation requires. Without it, the frame uses the queue of its old tag, which is not paused by
    /// PFC of the new class.
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
        let lookup = Lookup::new(fabric, lossless_tags, switches);
        Ok(TagRules { table: Table::Rules { lookup, by_new_tag }, lossless })
    }

    /// Creates rules from QoS maps.
    pub fn of_maps(maps: QosMaps) -> TagRules {
        TagRules { lossless: maps.lossless(), table: Table::Maps(maps) }
    }

    /// Returns the bitmask of lossless tags.
    pub fn lossless(&self) -> u8 {
        self.lossless
    }

    /// Returns all classes that a frame, an egress queue or an ingress account may have.
    pub(crate) fn classes(&self) -> impl Iterator<Item = u8> + '_ {
        let rules = matches!(self.table, Table::Rules { .. });
        (0..CLASSES as u8).filter(move |&class| !rules || class == LOSSY_TAG || self.lossless & (1 << class) != 0)
    }

    /// Returns the class of a frame on the next link.
    #[inline]
    pub(crate) fn new_class(&self, node: NodeId, class: u8, in_port: PortIndex, out_port: PortIndex) -> u8 {
        self.treatment(node, class, in_port, out_port).2
    }

    /// Returns the class of the ingress account of a frame, the class of its egress queue, and its class on the next
    /// link.
    #[inline]
    pub(crate) fn treatment(&self, node: NodeId, class: u8, in_port: PortIndex, out_port: PortIndex) -> (u8, u8, u8) {
        match &self.table {
            Table::Maps(maps) => maps.treatment(node, class, in_port, out_port),
            Table::Rules { .. } if self.lossless & (1 << class) == 0 => (class, class, class),
            Table::Rules { lookup, by_new_tag } => {
                let new = lookup.new_tag(node, class, in_port, out_port).unwrap_or(LOSSY_TAG);
                (class, if *by_new_tag { new } else { class }, new)
            }
        }
    }

    /// Returns the bitmask of the classes whose queues at this port stop when the neighbour's ingress account `class`
    /// sends a PFC frame.
    pub(crate) fn stops(&self, port: usize, class: u8) -> u8 {
        match &self.table {
            Table::Rules { .. } => 1 << class,
            Table::Maps(maps) => maps.stops(port, class),
        }
    }

    /// Returns the class of the neighbour's ingress account whose PFC frames pause the queue of `class` at this port.
    pub(crate) fn stopped_by(&self, port: usize, class: u8) -> u8 {
        match &self.table {
            Table::Rules { .. } => class,
            Table::Maps(maps) => maps.stopped_by(port, class).unwrap_or(class),
        }
    }
}
