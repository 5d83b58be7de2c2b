//! Tables of tag rules, and the rule file.
//!
//! [`RuleTable`] has the rules of each switch with port sets, as in rule files and TCAMs. [`Lookup`] is the expanded
//! table for one lookup per packet.

mod file;
#[cfg(test)]
mod tests;

pub use fabric::tags::{LOSSY_TAG, Lookup, Rule, SwitchRules, Tag};
pub use file::{RuleFileError, fabric_hash};

use fabric::{Fabric, NodeId};

/// Highest tag: one less than the highest DSCP (63), which leaves a DSCP for lossy packets.
pub const MAX_TAG: Tag = 62;
/// Maximum number of lossless tags of a switch: each needs its own PFC priority. There are eight priorities (802.1Qbb),
/// and one of them is for lossy packets.
pub const MAX_LOSSLESS_PRIORITIES: usize = 7;

/// A class of lossless traffic that applications can request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// Name.
    pub name: String,
    /// Tag of its packets when they enter the fabric.
    pub first_tag: Tag,
}

/// Provenance of the rules, for human readers of the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GeneratedBy {
    /// "one-per-hop", "merge", "clos", "fewest" ...
    pub algorithm: String,
    /// Description of the expected lossless paths.
    pub paths: String,
}

/// Rules of all switches of a fabric. Packets that match no rule become lossy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleTable {
    /// Provenance of the rules.
    pub generated_by: GeneratedBy,
    /// Tags of lossless packets, ascending.
    pub lossless_tags: Vec<Tag>,
    /// Classes with their first tags.
    pub classes: Vec<Class>,
    /// Rules by node, sorted by the name of the node.
    switches: Vec<SwitchRules>,
}

impl RuleTable {
    /// Creates a table of these rules in canonical order. Nodes without rules may be omitted.
    pub fn new(
        fabric: &Fabric,
        generated_by: GeneratedBy,
        lossless_tags: Vec<Tag>,
        classes: Vec<Class>,
        mut switches: Vec<SwitchRules>,
    ) -> RuleTable {
        switches.iter_mut().for_each(|switch| switch.rules.sort_unstable());
        switches.sort_by(|a, b| fabric.name(a.node).cmp(fabric.name(b.node)));
        RuleTable { generated_by, lossless_tags, classes, switches }
    }

    /// Returns the expanded table for one lookup per packet.
    pub fn lookup(&self, fabric: &Fabric) -> Lookup {
        Lookup::new(fabric, &self.lossless_tags, &self.switches)
    }

    /// Returns the switches with rules, by name.
    pub fn switches(&self) -> &[SwitchRules] {
        &self.switches
    }

    /// Returns the rules of one node, empty if it has none.
    pub fn rules_of(&self, node: NodeId) -> &[Rule] {
        self.switches.iter().find(|switch| switch.node == node).map_or(&[], |switch| &switch.rules)
    }

    /// Returns the number of rules of all switches.
    pub fn len(&self) -> usize {
        self.switches.iter().map(|switch| switch.rules.len()).sum()
    }

    /// Returns whether no switch has a rule, so that all packets are lossy.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
