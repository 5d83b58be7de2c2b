//! What the switches are told: tables of rules, and the file they are kept in.
//!
//! [`RuleTable`] holds per switch the rules with their port sets, as they are written to files and into
//! TCAMs; [`Lookup`] is the same table unfolded for one look-up per packet.

mod file;
#[cfg(test)]
mod tests;

pub use fabric::tags::{LOSSY_TAG, Lookup, Rule, SwitchRules, Tag};
pub use file::{RuleFileError, fabric_hash};

use fabric::{Fabric, NodeId};

/// The highest tag: one less than a DSCP can say, the lossy one is the other.
pub const MAX_TAG: Tag = 62;
/// How many lossless tags a switch can carry at most: each has a PFC priority of its own, there are eight (802.1Qbb),
/// and one of them is for what is lossy.
pub const MAX_LOSSLESS_PRIORITIES: usize = 7;

/// A kind of lossless traffic that an application asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// The tag its packets enter the fabric with.
    pub first_tag: Tag,
}

/// Where rules come from, for whoever reads them later.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GeneratedBy {
    /// "one-per-hop", "merge", "clos", "fewest" ...
    pub algorithm: String,
    /// The expected lossless paths, in words.
    pub paths: String,
}

/// Rules for a whole fabric. What no rule matches becomes lossy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleTable {
    /// Where it comes from.
    pub generated_by: GeneratedBy,
    /// The tags whose packets must not be lost, ascending.
    pub lossless_tags: Vec<Tag>,
    /// Who starts with which tag.
    pub classes: Vec<Class>,
    /// Sorted by name of the node.
    switches: Vec<SwitchRules>,
}

impl RuleTable {
    /// A table of these rules, put into the canonical order. Nodes without rules may be left out.
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

    /// The table unfolded for one look-up per packet.
    pub fn lookup(&self, fabric: &Fabric) -> Lookup {
        Lookup::new(fabric, &self.lossless_tags, &self.switches)
    }

    /// The switches with rules, by name.
    pub fn switches(&self) -> &[SwitchRules] {
        &self.switches
    }

    /// The rules of one node; none if it has none.
    pub fn rules_of(&self, node: NodeId) -> &[Rule] {
        self.switches.iter().find(|switch| switch.node == node).map_or(&[], |switch| &switch.rules)
    }

    /// The number of rules of all switches.
    pub fn len(&self) -> usize {
        self.switches.iter().map(|switch| switch.rules.len()).sum()
    }

    /// Whether no switch has a rule: everything is lossy.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
