//! Migration from deployed rules to new rules, without an intermediate state that could deadlock.
//!
//! During an update each switch has old or new rules, and the queues contain packets tagged by both. Therefore the
//! union of the two rule sets must be free of cycles: all edges (ingress port, tag) -> (next ingress port, new tag)
//! that either table allows. If the union is free of cycles, rules are first added, then changed, then removed, in any
//! order of switches, and no path that is expected in both tables becomes lossy. Otherwise every cycle contains a rule
//! that is only in the old table and whose edge lies within a strongly connected component. These rules are removed
//! first, and the new rules are added after the packets that used the removed rules have left the queues.

use super::cycles::Graph;
use crate::rules::{LOSSY_TAG, Rule, RuleTable, Tag};
use fabric::{Fabric, PortIndex};
use std::collections::BTreeMap;

/// Match key of a packet: tag, ingress port, egress port.
pub type Match = (Tag, PortIndex, PortIndex);

/// Rule for a single pair of ports: its match key, and the new tag.
pub type Single = (Tag, PortIndex, PortIndex, Tag);

/// Rule with a changed new tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Match key.
    pub matches: Match,
    /// New tag in the old table.
    pub from: Tag,
    /// New tag in the new table.
    pub to: Tag,
}

/// Whether a switch exists in the old fabric, the new fabric or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// In both fabrics.
    Kept,
    /// Only in the new fabric.
    New,
    /// Only in the old fabric.
    Gone,
}

/// Rule changes at one switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchDiff {
    /// Name of the switch.
    pub name: String,
    /// Fabrics that contain the switch.
    pub presence: Presence,
    /// Rules to remove before all other changes, because they would close a cycle with the new rules. A rule that is
    /// also in `changed` is added again with its changed new tag.
    pub first: Vec<Single>,
    /// Rules only in the new table.
    pub added: Vec<Single>,
    /// Rules in both tables, with different new tags.
    pub changed: Vec<Change>,
    /// Rules only in the old table.
    pub removed: Vec<Single>,
    /// Number of rules that are identical in both tables, excluding rules for ports with a changed peer.
    pub unchanged: usize,
    /// Ports with a changed peer: (port, old peer, new peer). Rules for these ports are removed first and added last.
    pub recabled: Vec<(PortIndex, String, String)>,
}

impl SwitchDiff {
    /// Returns whether nothing changes at this switch.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty() && self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// Changes from one table to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// All switches of both fabrics, by name.
    pub switches: Vec<SwitchDiff>,
    /// True if the new table alone contains a cycle or a rule that decreases a tag: it must not be deployed.
    pub new_is_unsafe: bool,
}

impl Diff {
    /// Returns whether some rules must be removed, and the queues drained, before new rules are added.
    pub fn needs_a_pause(&self) -> bool {
        self.switches.iter().any(|switch| !switch.first.is_empty())
    }
    /// Returns whether the tables are equal.
    pub fn is_empty(&self) -> bool {
        self.switches.iter().all(SwitchDiff::is_empty)
    }
}

/// A table with its fabric.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// Rule table of the fabric.
    pub table: &'a RuleTable,
}

/// Compares two tables. Switches are matched by name, ports by number.
pub fn diff(old: Side, new: Side) -> Diff {
    let (olds, news) = (by_name(old), by_name(new));
    let mut names: Vec<&str> = olds.keys().chain(news.keys()).copied().collect();
    names.sort_unstable();
    names.dedup();
    let compare = |&name: &&str| {
        let none: &[Rule] = &[];
        let presence = match (olds.contains_key(name), news.contains_key(name)) {
            (true, false) => Presence::Gone,
            (false, true) => Presence::New,
            _ => Presence::Kept,
        };
        let before = single(olds.get(name).unwrap_or(&none));
        let after = single(news.get(name).unwrap_or(&none));
        let recabled = if presence == Presence::Kept { recabled(old.fabric, new.fabric, name) } else { Vec::new() };
        one(name, presence, &before, &after, recabled)
    };
    let mut found = Diff { switches: names.iter().map(compare).collect(), new_is_unsafe: false };
    order(&mut found, old, new);
    found
}

fn by_name(side: Side<'_>) -> BTreeMap<&str, &[Rule]> {
    let none: &[Rule] = &[];
    let mut found: BTreeMap<&str, &[Rule]> =
        side.fabric.switches().map(|node| (side.fabric.name(node), none)).collect();
    found.extend(side.table.switches().iter().map(|one| (side.fabric.name(one.node), one.rules.as_slice())));
    found
}

fn single(rules: &[Rule]) -> BTreeMap<Match, Tag> {
    let mut found = BTreeMap::new();
    for rule in rules.iter().filter(|rule| rule.new_tag != LOSSY_TAG) {
        for in_port in rule.in_ports.iter() {
            found.extend(rule.out_ports.iter().map(|out_port| ((rule.tag, in_port, out_port), rule.new_tag)));
        }
    }
    found
}

fn recabled(old: &Fabric, new: &Fabric, name: &str) -> Vec<(PortIndex, String, String)> {
    let (Some(before), Some(after)) = (old.find(name), new.find(name)) else { return Vec::new() };
    let pairs = old.ports(before).iter().zip(new.ports(after)).enumerate();
    let moved = pairs.filter_map(|(port, (before, after))| {
        let (was, is) = (old.name(before.peer), new.name(after.peer));
        (was != is).then(|| (port as PortIndex, was.to_owned(), is.to_owned()))
    });
    moved.collect()
}

fn one(
    name: &str,
    presence: Presence,
    before: &BTreeMap<Match, Tag>,
    after: &BTreeMap<Match, Tag>,
    recabled: Vec<(PortIndex, String, String)>,
) -> SwitchDiff {
    let mut found = SwitchDiff {
        name: name.to_owned(),
        presence,
        first: Vec::new(),
        added: Vec::new(),
        changed: Vec::new(),
        removed: Vec::new(),
        unchanged: 0,
        recabled,
    };
    // A port with a changed peer leads to another ingress port, so its rules are different rules (removed and added).
    let moved_ports = found.recabled.clone();
    let moved = |matches: &Match| found_recabled(&moved_ports, matches);
    let gone = before.iter().filter(|(matches, _)| moved(matches) || !after.contains_key(matches));
    let removed = gone.map(|(&(tag, in_port, out_port), &to)| (tag, in_port, out_port, to)).collect();
    let known = |matches: &Match| before.get(matches).filter(|_| !moved(matches));
    for (&matches, &to) in after {
        match known(&matches) {
            None => found.added.push((matches.0, matches.1, matches.2, to)),
            Some(&from) if from != to => found.changed.push(Change { matches, from, to }),
            Some(_) => found.unchanged += 1,
        }
    }
    found.removed = removed;
    found
}

fn found_recabled(recabled: &[(PortIndex, String, String)], &(_, in_port, out_port): &Match) -> bool {
    recabled.iter().any(|&(port, ..)| port == in_port || port == out_port)
}

/// Vertex numbers of (switch, port, tag) over both fabrics, by switch name.
struct Vertices<'a> {
    first: BTreeMap<&'a str, u32>,
    tags: u32,
    count: usize,
}

impl<'a> Vertices<'a> {
    fn new(sides: [Side<'a>; 2]) -> Vertices<'a> {
        let mut ports: BTreeMap<&str, usize> = BTreeMap::new();
        let mut tags = 0;
        for side in sides {
            for node in side.fabric.node_ids().filter(|&node| side.fabric.node(node).forwards()) {
                let most = ports.entry(side.fabric.name(node)).or_default();
                *most = (*most).max(side.fabric.ports(node).len());
            }
            tags = tags.max(side.table.lossless_tags.last().map_or(1, |&tag| u32::from(tag) + 1));
        }
        let mut count = 0;
        let first = ports.into_iter().map(|(name, ports)| {
            let first = count as u32;
            count += ports * tags as usize;
            (name, first)
        });
        let first = first.collect();
        Vertices { first, tags, count }
    }

    /// Returns the edge of a rule, from ingress vertex to next ingress vertex; `None` if the egress port leads to a
    /// host.
    fn edge(&self, fabric: &Fabric, switch: &str, (tag, in_port, out_port, to): Single) -> Option<(u32, u32)> {
        let node = fabric.find(switch)?;
        let peer = fabric.ports(node).get(usize::from(out_port))?;
        let at = |name: &str, port: PortIndex, tag: Tag| {
            Some(self.first.get(name)? + u32::from(port) * self.tags + u32::from(tag))
        };
        let head = at(fabric.name(peer.peer), peer.peer_port, to).filter(|_| fabric.node(peer.peer).forwards())?;
        Some((at(switch, in_port, tag)?, head))
    }
}

/// Determines the rules that must be removed before any rule is added.
fn order(found: &mut Diff, old: Side, new: Side) {
    let vertices = Vertices::new([old, new]);
    let edges_of = |side: Side| {
        let mut edges = Vec::new();
        for (name, rules) in by_name(side) {
            let all = single(rules).into_iter().map(|((tag, i, o), to)| (tag, i, o, to));
            edges.extend(all.filter_map(|rule| vertices.edge(side.fabric, name, rule)));
        }
        edges
    };
    let mut edges = edges_of(new);
    let components = Graph::new(vertices.count, &edges).components();
    // Computed before the old edges are added, because it depends on the new table alone.
    found.new_is_unsafe = edges.iter().any(|&edge| Graph::on_cycle(&components, edge))
        || new
            .table
            .switches()
            .iter()
            .flat_map(|switch| &switch.rules)
            .any(|rule| rule.new_tag != LOSSY_TAG && rule.new_tag < rule.tag);
    edges.extend(edges_of(old));
    let components = Graph::new(vertices.count, &edges).components();
    for switch in &mut found.switches {
        let moved: Vec<PortIndex> = switch.recabled.iter().map(|&(port, ..)| port).collect();
        let replaced = switch.changed.iter().map(|change| {
            let (tag, in_port, out_port) = change.matches;
            (tag, in_port, out_port, change.from)
        });
        let olds = switch.removed.iter().copied().chain(replaced);
        // An old rule can close a cycle only if its edge lies within a strongly connected component of the union.
        let closes = |&rule: &Single| {
            let edge = vertices.edge(old.fabric, &switch.name, rule);
            edge.is_some_and(|edge| Graph::on_cycle(&components, edge))
                || moved.contains(&rule.1)
                || moved.contains(&rule.2)
        };
        let mut first: Vec<Single> = olds.filter(closes).collect();
        first.sort_unstable();
        switch.removed.retain(|rule| first.binary_search(rule).is_err());
        switch.first = first;
    }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
