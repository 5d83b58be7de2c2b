//! Rules merged into entries that match sets of ports.

use super::marks::Marks;
use super::view::SwitchView;
use crate::rules::Tag;
use fabric::PortIndex;
use std::collections::BTreeMap;

/// Set of rules with equal tag and equal result: one rule per pair of an ingress port and an egress port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Tag at arrival.
    pub tag: Tag,
    /// Ingress ports, ascending.
    pub ingress: Vec<PortIndex>,
    /// Egress ports, ascending.
    pub egress: Vec<PortIndex>,
    /// Tag at departure; towards hosts, the tag that the host receives.
    pub shown: Tag,
}

/// Returns the rules of a switch as disjoint entries: ingress ports are merged first, if tag, egress port and result
/// are equal, then egress ports (Tagger, section 7: port bitmaps).
pub fn entries(view: &SwitchView, marks: &Marks) -> Vec<Entry> {
    let shown = |(tag, ingress, egress, _)| Some((tag, ingress, egress, view.shown_tag(marks, tag, ingress, egress)?));
    gather(view.rules().filter_map(shown))
}

/// Merges rules, given in ascending order as (tag, ingress port, egress port, result), into entries.
pub fn gather(rules: impl IntoIterator<Item = (Tag, PortIndex, PortIndex, Tag)>) -> Vec<Entry> {
    let mut by_ingress: BTreeMap<(Tag, PortIndex, Tag), Vec<PortIndex>> = BTreeMap::new();
    for (tag, ingress, egress, shown) in rules {
        by_ingress.entry((tag, egress, shown)).or_default().push(ingress);
    }
    let mut joint: BTreeMap<(Tag, Vec<PortIndex>, Tag), Vec<PortIndex>> = BTreeMap::new();
    for ((tag, egress, shown), ingress) in by_ingress {
        joint.entry((tag, ingress, shown)).or_default().push(egress);
    }
    joint.into_iter().map(|((tag, ingress, shown), egress)| Entry { tag, ingress, egress, shown }).collect()
}
