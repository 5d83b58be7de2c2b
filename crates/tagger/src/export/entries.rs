//! Rules gathered into entries that match sets of ports.

use super::marks::Marks;
use super::view::SwitchView;
use crate::rules::Tag;
use fabric::PortIndex;
use std::collections::BTreeMap;

/// Rules with one tag and one result: every ingress port of the one set with every egress port of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The arriving tag.
    pub tag: Tag,
    /// Ingress ports, ascending.
    pub ingress: Vec<PortIndex>,
    /// Egress ports, ascending.
    pub egress: Vec<PortIndex>,
    /// The tag that packets leave with, as a host sees it where the ports lead to hosts.
    pub shown: Tag,
}

/// The rules of a switch as entries: first ingress ports joined where tag, egress port and result agree, then
/// egress ports where the rest does (Tagger, section 7: port bitmaps). No packet matches two of them.
pub fn entries(view: &SwitchView, marks: &Marks) -> Vec<Entry> {
    let shown = |(tag, ingress, egress, _)| Some((tag, ingress, egress, view.shown_tag(marks, tag, ingress, egress)?));
    gather(view.rules().filter_map(shown))
}

/// Rules as (tag, ingress port, egress port, result), ascending, gathered into entries.
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
