//! Exact search for rules with a given number of tags, or a proof that no such rules exist.
//!
//! Each (tag, turn) is a decision: the new tag that the turn assigns. Initially all turns keep the tag. If the turns
//! that keep some tag form a cycle, each edge of the cycle is used by a path. The cycle remains as long as all
//! decisions along these paths are unchanged, so at least one of them must assign a higher tag. The search branches
//! over these decisions and, in each branch, fixes the decisions of earlier branches, so it visits no combination
//! twice. The search is exhaustive: if it ends without rules, there are none.

use crate::paths::{ExpectedPaths, entry};
use crate::ports::Ports;
use crate::rules::Tag;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Maximum number of paths between hosts; the search is not run for fabrics with more.
const MOST_PATHS: usize = 1 << 20;
/// Maximum number of distinct path prefixes between switches.
const MOST_PLACES: usize = 1 << 14;
/// Maximum number of prefixes and edges that one search visits (work limit).
const MOST_WORK: u64 = 12_000_000;

const ROOT: u32 = u32::MAX;

/// A prefix of paths: its last ingress port, and the turn that leads to that port.
struct PathPrefix {
    before: u32,
    turn: u32,
    port: u32,
}

/// All paths of a small fabric, as a tree of prefixes.
pub(super) struct Paths {
    prefixes: Vec<PathPrefix>,
    /// Distinct turns between switches: (ingress port, egress port of its node).
    turns: Vec<(u32, usize)>,
    /// Turns to hosts, as (prefix, egress port).
    exits: BTreeSet<(u32, usize)>,
    /// Groups of entry ports with the same set of paths, by the entry port that represents the group.
    alike: BTreeMap<u32, Vec<u32>>,
    ports: usize,
}

pub(super) enum SearchResult {
    /// Per turn: the new tag for each tag (index 0 is tag 1).
    Found(Vec<Vec<Tag>>),
    Impossible,
    /// The work limit was reached.
    Unknown,
}

impl Paths {
    /// Collects all paths; `None` if there are too many.
    pub fn collect(ports: &Ports, paths: &ExpectedPaths) -> Option<Paths> {
        let mut by_entry: BTreeMap<u32, BTreeSet<Vec<u16>>> = BTreeMap::new();
        let (mut count, mut size) = (0, 0);
        let visited = paths.visit(ports.fabric, &mut |path| {
            count += 1;
            if by_entry.entry(entry(ports, path)).or_default().insert(path.out_ports[1..].to_vec()) {
                size += path.out_ports.len();
            }
            if count > MOST_PATHS || size > 64 * MOST_PLACES {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if visited.is_err() || count > MOST_PATHS || size > 64 * MOST_PLACES {
            return None;
        }
        // One entry port represents all entry ports of a switch with the same paths.
        let mut groups: BTreeMap<(u32, BTreeSet<Vec<u16>>), Vec<u32>> = BTreeMap::new();
        for (port, outs) in by_entry {
            // Turns to hosts are ignored because they close no cycle; otherwise the entries would differ, because each
            // entry lacks the path back to its own host.
            let inner = |out: &&Vec<u16>| ports.forwards(ports.next(port, usize::from(out[0])));
            let key = outs.iter().filter(inner).cloned().collect();
            groups.entry((ports.node[port as usize], key)).or_default().push(port);
        }
        let mut tree = Paths {
            prefixes: Vec::new(),
            turns: Vec::new(),
            exits: BTreeSet::new(),
            alike: BTreeMap::new(),
            ports: ports.len(),
        };
        let mut known: BTreeMap<(u32, u32, u16), u32> = BTreeMap::new();
        let mut turns: BTreeMap<(u32, usize), u32> = BTreeMap::new();
        for ((_, outs), members) in groups {
            let first = members[0];
            tree.prefixes.push(PathPrefix { before: ROOT, turn: 0, port: first });
            let root = tree.prefixes.len() as u32 - 1;
            for path in outs {
                let mut at = root;
                for out in path {
                    let port = tree.prefixes[at as usize].port;
                    let next = ports.next(port, out.into());
                    if !ports.forwards(next) {
                        tree.exits.insert((at, out.into()));
                        continue;
                    }
                    at = *known.entry((at, port, out)).or_insert_with(|| {
                        let fresh = turns.len() as u32;
                        let turn = *turns.entry((port, out.into())).or_insert(fresh);
                        tree.prefixes.push(PathPrefix { before: at, turn, port: next });
                        tree.prefixes.len() as u32 - 1
                    });
                }
            }
            tree.alike.insert(first, members);
        }
        tree.turns = vec![(0, 0); turns.len()];
        turns.into_iter().for_each(|(turn, index)| tree.turns[index as usize] = turn);
        (tree.prefixes.len() <= MOST_PLACES).then_some(tree)
    }

    /// Searches for rules with at most `tags` tags.
    pub fn search(&self, tags: Tag) -> SearchResult {
        let keep: Vec<Tag> = (1..=tags).collect();
        let mut search = TagSearch {
            paths: self,
            tags,
            gives: vec![keep; self.turns.len()],
            fixed: vec![vec![false; tags.into()]; self.turns.len()],
            tag_of: vec![0; self.prefixes.len()],
            work: 0,
        };
        match search.settle() {
            Some(true) => SearchResult::Found(search.gives),
            Some(false) => SearchResult::Impossible,
            None => SearchResult::Unknown,
        }
    }

    /// Returns the rules that the paths use, as (ingress port, tag, egress port, new tag).
    pub fn rules(&self, gives: &[Vec<Tag>]) -> BTreeSet<(u32, Tag, usize, Tag)> {
        let mut tag_of: Vec<Tag> = Vec::with_capacity(self.prefixes.len());
        let mut rules = BTreeSet::new();
        let mut add = |port: u32, tag, out, new_tag| {
            for &member in self.alike.get(&port).map_or(std::slice::from_ref(&port), Vec::as_slice) {
                rules.insert((member, tag, out, new_tag));
            }
        };
        for prefix in &self.prefixes {
            if prefix.before == ROOT {
                tag_of.push(1);
                continue;
            }
            let tag = tag_of[prefix.before as usize];
            let (port, out) = self.turns[prefix.turn as usize];
            let new_tag = gives[prefix.turn as usize][usize::from(tag) - 1];
            tag_of.push(new_tag);
            add(port, tag, out, new_tag);
        }
        for &(prefix, out) in &self.exits {
            let tag = tag_of[prefix as usize];
            add(self.prefixes[prefix as usize].port, tag, out, tag);
        }
        rules
    }
}

struct TagSearch<'a> {
    paths: &'a Paths,
    tags: Tag,
    gives: Vec<Vec<Tag>>,
    fixed: Vec<Vec<bool>>,
    tag_of: Vec<Tag>,
    work: u64,
}

impl TagSearch<'_> {
    /// Returns whether the open decisions can be made so that no cycle remains; `None` if the work limit is reached.
    fn settle(&mut self) -> Option<bool> {
        self.assign();
        let Some((tag, cycle)) = self.shortest_cycle() else { return Some(true) };
        if self.work > MOST_WORK {
            return None;
        }
        // Without a higher tag, the cycle cannot be removed: with two tags, every turn must keep tag 2.
        if self.tags == 2 && tag == 2 || self.tags == 1 {
            return Some(false);
        }
        let decisions = self.decisions(&cycle);
        let mut held = Vec::new();
        let mut outcome = Some(false);
        for (turn, tag) in decisions {
            let at = usize::from(tag) - 1;
            if self.fixed[turn][at] || self.gives[turn][at] == self.tags {
                continue;
            }
            self.gives[turn][at] += 1;
            outcome = self.settle();
            if outcome != Some(false) {
                break;
            }
            self.gives[turn][at] -= 1;
            // All combinations with the increased tag are refuted, so later branches fix this decision to its old
            // value.
            self.fixed[turn][at] = true;
            held.push((turn, at));
        }
        if outcome != Some(true) {
            held.into_iter().for_each(|(turn, at)| self.fixed[turn][at] = false);
        }
        outcome
    }

    fn assign(&mut self) {
        self.work += self.paths.prefixes.len() as u64;
        for (index, prefix) in self.paths.prefixes.iter().enumerate() {
            self.tag_of[index] = match prefix.before {
                ROOT => 1,
                before => self.gives[prefix.turn as usize][usize::from(self.tag_of[before as usize]) - 1],
            };
        }
    }

    /// Returns the decisions along the paths that use the edges of a cycle (given as prefixes); the decisions of the
    /// edges themselves come first.
    fn decisions(&self, cycle: &[u32]) -> Vec<(usize, Tag)> {
        let mut all = Vec::new();
        let mut walk: Vec<u32> = cycle.to_vec();
        while !walk.is_empty() {
            let mut before = Vec::new();
            for &at in &walk {
                let prefix = &self.paths.prefixes[at as usize];
                if prefix.before != ROOT {
                    let decision = (prefix.turn as usize, self.tag_of[prefix.before as usize]);
                    if !all.contains(&decision) {
                        all.push(decision);
                    }
                    before.push(prefix.before);
                }
            }
            walk = before;
        }
        all
    }

    /// Returns the lowest tag that has a cycle, and a shortest cycle of the turns that keep this tag, as prefixes whose
    /// last turn is an edge of the cycle.
    fn shortest_cycle(&mut self) -> Option<(Tag, Vec<u32>)> {
        let ports = self.paths.ports;
        for tag in 1..=self.tags {
            // One prefix per edge is sufficient to represent the edge.
            let mut edges: BTreeMap<(u32, u32), u32> = BTreeMap::new();
            for (index, prefix) in self.paths.prefixes.iter().enumerate() {
                if prefix.before != ROOT && self.tag_of[index] == tag && self.tag_of[prefix.before as usize] == tag {
                    edges
                        .entry((self.paths.prefixes[prefix.before as usize].port, prefix.port))
                        .or_insert(index as u32);
                }
            }
            self.work += edges.len() as u64;
            let mut best: Option<Vec<u32>> = None;
            let mut came: Vec<(u32, u32)> = vec![(ROOT, ROOT); ports];
            let mut last = ROOT;
            for &(start, _) in edges.keys() {
                if start == last || best.as_ref().is_some_and(|cycle| cycle.len() == 2) {
                    continue;
                }
                last = start;
                let cycle = self.cycle_through(&edges, start, &mut came);
                if let Some(cycle) = cycle
                    && best.as_ref().is_none_or(|best| cycle.len() < best.len())
                {
                    best = Some(cycle);
                }
            }
            if let Some(cycle) = best {
                return Some((tag, cycle));
            }
        }
        None
    }

    /// Returns the shortest cycle through a port, found by breadth-first search; `came` is cleared after use.
    fn cycle_through(
        &mut self,
        edges: &BTreeMap<(u32, u32), u32>,
        start: u32,
        came: &mut [(u32, u32)],
    ) -> Option<Vec<u32>> {
        let mut queue = vec![start];
        let mut done = 0;
        let mut found = None;
        'search: while let Some(&at) = queue.get(done) {
            done += 1;
            for (&(_, to), &prefix) in edges.range((at, 0)..=(at, u32::MAX)) {
                self.work += 1;
                if to == start {
                    let mut cycle = vec![prefix];
                    let mut back = at;
                    while back != start {
                        let (from, prefix) = came[back as usize];
                        cycle.push(prefix);
                        back = from;
                    }
                    found = Some(cycle);
                    break 'search;
                }
                if came[to as usize].0 == ROOT {
                    came[to as usize] = (at, prefix);
                    queue.push(to);
                }
            }
        }
        queue.iter().for_each(|&port| came[port as usize] = (ROOT, ROOT));
        found
    }
}
