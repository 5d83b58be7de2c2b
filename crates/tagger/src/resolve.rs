//! Rules from the tags of vertices: conflict resolution, and additional rules for paths that a resolved conflict leaves
//! without rules.
//!
//! After merging, one (tag, ingress port, egress port) of a switch can have several new tags, because ports of several
//! hops share a tag. The smallest new tag is used: a tag that is smaller than planned can be increased later, but a tag
//! never decreases, and rules for a larger tag may be missing downstream. Then every path is followed from its first
//! tag through the rules. A hop without a rule gets a rule that keeps the tag if that closes no cycle; otherwise the
//! rule assigns the next tag. As a result, every expected path is lossless.

use crate::graph::TaggedGraph;
use crate::merge::{Merged, TooManyTags};
use crate::order::{AcyclicGraph, Scratch, Work};
use crate::ports::{PortBitmaps, Ports, has, put};
use crate::rules::{MAX_TAG, Tag};
use fabric::tags::ones;

/// Rules with exactly one new tag for every (tag, ingress port, egress port) that expected paths use.
pub(crate) struct Rewriting<'p, 'f> {
    pub ports: &'p Ports<'f>,
    /// `changes[x - 1]`: the new tags y of the rules for tag x, ascending, each with the turns of these rules.
    pub changes: Vec<Vec<(Tag, PortBitmaps)>>,
    /// `known[x - 1]`: the turns that have a rule for tag x.
    pub known: Vec<PortBitmaps>,
    /// `kept[x - 1]`: the turns between forwarding nodes that keep tag x.
    pub kept: Vec<AcyclicGraph<'p, 'f>>,
    pub counts: Resolution,
    pub work: Work,
}

/// Number of conflicts and of the rules that were added to resolve them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Resolution {
    /// Number of (tag, ingress port, egress port) with several new tags after merging.
    pub conflicts: u64,
    /// Rules added for paths that had no rule after the conflicts were resolved.
    pub rules_added: u64,
    /// Added rules that increase the tag.
    pub rules_lifting: u64,
}

impl<'p, 'f> Rewriting<'p, 'f> {
    /// Creates an empty rule set.
    pub fn empty(ports: &'p Ports<'f>) -> Rewriting<'p, 'f> {
        Rewriting {
            ports,
            changes: Vec::new(),
            known: Vec::new(),
            kept: Vec::new(),
            counts: Resolution::default(),
            work: Work::default(),
        }
    }

    /// Returns rules that increase the tag at every hop, including the last hop to a host (Table 3 of the Tagger
    /// paper).
    pub fn one_per_hop(graph: &TaggedGraph<'p, 'f>) -> Result<Rewriting<'p, 'f>, TooManyTags> {
        let mut rewriting = Rewriting::empty(graph.ports);
        if graph.hops.len() >= usize::from(MAX_TAG) {
            return Err(TooManyTags);
        }
        for (tag, plane) in (1..).zip(&graph.hops) {
            rewriting.reserve(tag);
            rewriting.changes[usize::from(tag) - 1].push((tag + 1, plane.clone()));
            rewriting.known[usize::from(tag) - 1].clone_from(plane);
        }
        Ok(rewriting)
    }

    /// Returns the rules for merged tags after conflict resolution, completed so that every path that starts with tag 1
    /// is lossless.
    pub fn from_merged(
        graph: &TaggedGraph<'p, 'f>,
        merged: Merged<'p, 'f>,
        scratch: &mut Scratch,
    ) -> Result<Rewriting<'p, 'f>, TooManyTags> {
        let ports = graph.ports;
        let mut rewriting = Rewriting::empty(ports);
        rewriting.kept = merged.kept;
        rewriting.work = merged.work;
        let (nowhere, mut given) = (Vec::new(), Vec::<(Tag, u64)>::new());
        for (index, tags) in merged.tag_of.iter().enumerate().take(graph.hops.len()) {
            let after = merged.tag_of.get(index + 1).unwrap_or(&nowhere);
            for (port, &tag) in tags.iter().enumerate().filter(|&(_, &tag)| tag != 0) {
                let port = port as u32;
                let first = ports.first[ports.node[port as usize] as usize] as usize;
                let onward = &ports.onward[ports.set(ports.node[port as usize])];
                for (at, (&turns, &onward)) in graph.hops[index][ports.row(port)].iter().zip(onward).enumerate() {
                    // On the hop to a host the tag does not change: hosts do not forward, so no cyclic buffer
                    // dependency includes them.
                    given.push((tag, turns & !onward));
                    for out in ones(&[turns & onward]) {
                        let new_tag = after[ports.peer[first + at * 64 + out] as usize];
                        match given.iter_mut().find(|(given, _)| *given == new_tag) {
                            Some((_, outs)) => *outs |= 1 << out,
                            None => given.push((new_tag, 1 << out)),
                        }
                    }
                    for (new_tag, outs) in given.drain(..).filter(|&(_, outs)| outs != 0) {
                        rewriting.set_word(port, tag, (at, outs), new_tag);
                    }
                }
            }
        }
        rewriting.keep_smallest();
        rewriting.follow_paths(graph, 1, scratch)?;
        Ok(rewriting)
    }

    /// Returns the highest tag that a rule matches or sets.
    pub fn highest_tag(&self) -> Tag {
        let given = self.changes.iter().flatten().map(|change| change.0).max().unwrap_or(0);
        given.max(self.changes.len() as Tag)
    }

    /// Returns the highest tag that a rule matches: the number of lossless queues that switches need.
    pub fn highest_matched(&self) -> Tag {
        self.changes.iter().rposition(|changes| !changes.is_empty()).map_or(0, |at| at as Tag + 1)
    }

    fn reserve(&mut self, tag: Tag) {
        while self.changes.len() < usize::from(tag) {
            self.changes.push(Vec::new());
            self.known.push(self.ports.plane());
        }
    }

    fn reserve_kept(&mut self, tag: Tag) {
        while self.kept.len() < usize::from(tag) {
            let order = (0..self.ports.len() as u32).filter(|&port| self.ports.forwards(port));
            self.kept.push(AcyclicGraph::new(self.ports, order));
        }
    }

    /// Adds a rule, even if there are rules with other new tags for the same tag and ports.
    pub fn set(&mut self, port: u32, tag: Tag, out: usize, new_tag: Tag) {
        self.set_word(port, tag, (out / 64, 1 << (out % 64)), new_tag);
    }

    /// Like [`set`](Self::set), for the egress ports `outs` in word `at` of the bitmap.
    fn set_word(&mut self, port: u32, tag: Tag, (at, outs): (usize, u64), new_tag: Tag) {
        self.reserve(tag);
        let changes = &mut self.changes[usize::from(tag) - 1];
        let change = match changes.binary_search_by_key(&new_tag, |change| change.0) {
            Ok(change) => change,
            Err(change) => {
                changes.insert(change, (new_tag, self.ports.plane()));
                change
            }
        };
        let word = self.ports.row(port).start + at;
        changes[change].1[word] |= outs;
        self.known[usize::from(tag) - 1][word] |= outs;
    }

    /// For each turn, keeps only the smallest new tag.
    fn keep_smallest(&mut self) {
        for changes in &mut self.changes {
            let mut taken = self.ports.plane();
            let mut conflicting = self.ports.plane();
            for (_, plane) in changes.iter_mut() {
                for ((word, taken), conflicting) in plane.iter_mut().zip(&mut taken).zip(&mut conflicting) {
                    *conflicting |= *word & *taken;
                    *word &= !*taken;
                    *taken |= *word;
                }
            }
            self.counts.conflicts += conflicting.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            changes.retain(|(_, plane)| plane.iter().any(|&word| word != 0));
        }
    }

    /// Follows every path through the rules, for all paths at once hop by hop, and adds missing rules.
    ///
    /// Paths that reach the same port on the same hop are merged, so a path composed of the first part of one path and
    /// the last part of another also becomes lossless.
    pub fn follow_paths(
        &mut self,
        graph: &TaggedGraph<'p, 'f>,
        first_tag: Tag,
        scratch: &mut Scratch,
    ) -> Result<(), TooManyTags> {
        self.follow_paths_if(graph, first_tag, scratch, &|_, _| true)
    }

    /// Like [`follow_paths`](Self::follow_paths), but an added rule may keep the tag only if `may_keep` returns true
    /// for its turn (ingress port, egress port of the same node).
    pub fn follow_paths_if(
        &mut self,
        graph: &TaggedGraph<'p, 'f>,
        first_tag: Tag,
        scratch: &mut Scratch,
        may_keep: &dyn Fn(u32, usize) -> bool,
    ) -> Result<(), TooManyTags> {
        let mut now = vec![0u64; self.ports.len()];
        graph.entries().for_each(|port| now[port as usize] = 1 << first_tag);
        for hop in 1..=graph.hops.len() {
            let mut next = vec![0u64; self.ports.len()];
            for port in 0..self.ports.len() as u32 {
                let mut tags = now[port as usize];
                while tags != 0 {
                    let tag = tags.trailing_zeros() as Tag;
                    tags &= tags - 1;
                    self.follow(&graph.hops[hop - 1], port, tag, &mut next, scratch, may_keep)?;
                }
            }
            now = next;
        }
        Ok(())
    }

    fn follow(
        &mut self,
        plane: &PortBitmaps,
        port: u32,
        tag: Tag,
        next: &mut [u64],
        scratch: &mut Scratch,
        may_keep: &dyn Fn(u32, usize) -> bool,
    ) -> Result<(), TooManyTags> {
        self.reserve(tag);
        let ports = self.ports;
        let row = ports.row(port);
        let turns = &plane[row.clone()];
        let known = &self.known[usize::from(tag) - 1][row.clone()];
        if turns.iter().zip(known).any(|(turns, known)| turns & !known != 0) {
            for out in ones(turns) {
                if !has(&self.known[usize::from(tag) - 1][row.clone()], out) {
                    let keep = may_keep(port, out);
                    self.add_missing(port, tag, out, keep, scratch)?;
                }
            }
        }
        let onward = &ports.onward[ports.set(ports.node[port as usize])];
        let first = ports.first[ports.node[port as usize] as usize] as usize;
        for (new_tag, plane) in &self.changes[usize::from(tag) - 1] {
            for (index, word) in plane[row.clone()].iter().enumerate() {
                let mut rest = word & turns[index] & onward[index];
                while rest != 0 {
                    let out = index * 64 + rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    next[ports.peer[first + out] as usize] |= 1 << new_tag;
                }
            }
        }
        Ok(())
    }

    fn add_missing(
        &mut self,
        port: u32,
        tag: Tag,
        out: usize,
        keep: bool,
        scratch: &mut Scratch,
    ) -> Result<(), TooManyTags> {
        let ports = self.ports;
        let next = ports.next(port, out);
        let mut new_tag = tag;
        self.counts.rules_added += 1;
        if ports.forwards(next) && !(keep && self.keep(port, tag, next, scratch)) {
            new_tag += 1;
            self.counts.rules_lifting += 1;
        }
        if new_tag > MAX_TAG {
            return Err(TooManyTags);
        }
        self.set(port, tag, out, new_tag);
        Ok(())
    }

    /// Lets the turn to the ingress port `next` keep its tag, unless that closes a cycle. Returns whether the turn
    /// keeps its tag.
    fn keep(&mut self, port: u32, tag: Tag, next: u32, scratch: &mut Scratch) -> bool {
        let ports = self.ports;
        self.reserve_kept(tag);
        let mut tail = vec![0; ports.row(port).len()];
        put(&mut tail, ports.local(port));
        let before = scratch.work;
        let keeps = self.kept[usize::from(tag) - 1].insert(scratch, next, &tail);
        self.work.add(scratch.work.since(before));
        keeps
    }

    /// Adds a rule if it closes no cycle and does not exist yet.
    pub fn learn(&mut self, port: u32, tag: Tag, out: usize, new_tag: Tag, scratch: &mut Scratch) {
        let next = self.ports.next(port, out);
        if new_tag == tag && self.ports.forwards(next) {
            let keeps = self.keep(port, tag, next, scratch);
            debug_assert!(keeps, "the caller has looked for cycles");
        }
        self.set(port, tag, out, new_tag);
    }
}
