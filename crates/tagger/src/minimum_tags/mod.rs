//! Search for fewer tags than Algorithm 2 of the Tagger paper finds.
//!
//! Algorithm 2 merges ports hop by hop; once a hop needs a new tag, no later hop can use the old tag. More generally,
//! one can choose for each tag a set of turns (ingress port, egress port of the same node) that keep the tag. These
//! turns must be free of cycles; all other turns increase the tag. Several such choices are tried, in any fabric:
//!
//! * Turns that go up or down the tiers keep the tag, a bounce increases it (optimal for a Clos).
//! * The same with breadth-first ranks from some switch instead of tiers, as in up*/down* routing.
//! * Every turn that closes no cycle with the turns added before keeps the tag.
//! * Algorithm 2, also with other visiting orders of the ports.
//!
//! The result with the fewest tags is used. In a small fabric an exact search follows ([`exact`]): it finds rules with
//! one tag fewer, or proves that no such rules exist.

mod exact;

use crate::graph::TaggedGraph;
use crate::merge::{TooManyTags, merge, topological_order};
use crate::order::Scratch;
use crate::paths::ExpectedPaths;
use crate::resolve::Rewriting;
use crate::rules::Tag;
use exact::{Paths, SearchResult};
use fabric::NodeId;
use units::random::{Stream, purpose};

/// Maximum number of edges of the tagged graph with one tag per hop up to which all of these choices are tried; in
/// larger graphs only choices with a low run time are tried.
const SMALL_EDGES: u64 = 200_000;

/// Rules with the fewest tags found, and the proved lower bound on the number of tags.
pub(crate) struct Fewest<'p, 'f> {
    pub rewriting: Rewriting<'p, 'f>,
    pub lower_bound: Tag,
}

/// Returns the rules of Algorithm 2.
pub(crate) fn merged<'p, 'f>(
    graph: &TaggedGraph<'p, 'f>,
    visiting: &[u32],
    scratch: &mut Scratch,
) -> Result<Rewriting<'p, 'f>, TooManyTags> {
    Rewriting::from_merged(graph, merge(graph, visiting, scratch)?, scratch)
}

/// Returns 1 if the turns of all paths together form no cycle, so that one tag suffices; otherwise 2.
pub(crate) fn lower_bound(graph: &TaggedGraph) -> Tag {
    let ports = graph.ports;
    let order = topological_order(ports, &ports.visiting_order(), |port, words| {
        words.clear();
        words.resize(ports.row(port).len(), 0);
        for plane in &graph.hops {
            words.iter_mut().zip(&plane[ports.row(port)]).for_each(|(all, word)| *all |= word);
        }
        let onward = &ports.onward[ports.set(ports.node[port as usize])];
        words.iter_mut().zip(onward).for_each(|(all, onward)| *all &= onward);
    });
    if order.is_some() { 1 } else { 2 }
}

/// Returns the rules with the fewest tags found.
pub(crate) fn fewest<'p, 'f>(
    graph: &TaggedGraph<'p, 'f>,
    paths: &ExpectedPaths,
    scratch: &mut Scratch,
) -> Result<Fewest<'p, 'f>, TooManyTags> {
    let ports = graph.ports;
    let visiting = ports.visiting_order();
    let mut best = BestRules { rewriting: merged(graph, &visiting, scratch)?, lower_bound: lower_bound(graph) };
    for rank in ranks(graph) {
        if best.is_optimal() {
            break;
        }
        // A turn that arrives from above and leaves upwards (a bounce) increases the tag.
        let keeps = |port: u32, out: usize| {
            let at = ports.node[port as usize] as usize;
            let height = |port: u32| rank[ports.node[ports.peer[port as usize] as usize] as usize];
            !(height(port) > rank[at] && height(ports.first[at] + out as u32) > rank[at])
        };
        best.follow(graph, scratch, &keeps);
    }
    if graph.edges() <= SMALL_EDGES {
        if !best.is_optimal() {
            best.follow(graph, scratch, &|_, _| true);
        }
        best.other_orders(graph, visiting, scratch);
        if !best.is_optimal()
            && let Some(paths) = Paths::collect(ports, paths)
        {
            best.search(&paths, graph, scratch);
        }
    }
    Ok(Fewest { rewriting: best.rewriting, lower_bound: best.lower_bound })
}

/// Returns rankings of the nodes to try: tiers, if they differ at the two ends of every link, and distances from some
/// switches.
fn ranks(graph: &TaggedGraph) -> Vec<Vec<u32>> {
    let fabric = graph.ports.fabric;
    let mut ranks = Vec::new();
    if crate::paths::tiers_differ(fabric) {
        ranks.push(fabric.nodes().iter().map(|node| u32::from(node.tier)).collect());
    }
    let mut roots: Vec<NodeId> = fabric.node_ids().filter(|&node| fabric.node(node).forwards()).collect();
    roots.sort_by_key(|&node| (std::cmp::Reverse(fabric.ports(node).len()), node));
    let few = if graph.edges() <= SMALL_EDGES { 16 } else { 1 };
    ranks.extend(roots.into_iter().take(few).map(|root| {
        let count = fabric.nodes().len() as u32;
        let mut rank = vec![0; count as usize];
        let mut order = vec![root];
        rank[root.index()] = count;
        let mut done = 0;
        while let Some(&node) = order.get(done) {
            done += 1;
            for port in fabric.ports(node) {
                if rank[port.peer.index()] == 0 {
                    rank[port.peer.index()] = count - order.len() as u32;
                    order.push(port.peer);
                }
            }
        }
        rank
    }));
    ranks
}

struct BestRules<'p, 'f> {
    rewriting: Rewriting<'p, 'f>,
    lower_bound: Tag,
}

impl<'p, 'f> BestRules<'p, 'f> {
    fn tags(&self) -> Tag {
        self.rewriting.highest_tag()
    }

    fn is_optimal(&self) -> bool {
        self.tags() <= self.lower_bound
    }

    /// Replaces the current rules if `other` needs fewer tags.
    fn replace_if_fewer_tags(&mut self, other: Rewriting<'p, 'f>) {
        if other.highest_tag() < self.tags() {
            self.rewriting = other;
        }
    }

    fn follow(&mut self, graph: &TaggedGraph<'p, 'f>, scratch: &mut Scratch, keeps: &dyn Fn(u32, usize) -> bool) {
        let mut rewriting = Rewriting::empty(graph.ports);
        if rewriting.follow_paths_if(graph, 1, scratch, keeps).is_ok() {
            self.replace_if_fewer_tags(rewriting);
        }
    }

    /// Tries Algorithm 2 with the ports visited in reverse order and in a few random orders.
    fn other_orders(&mut self, graph: &TaggedGraph<'p, 'f>, mut visiting: Vec<u32>, scratch: &mut Scratch) {
        let mut stream = Stream::new(0, 0, purpose("tagger visiting orders"));
        visiting.reverse();
        for _ in 0..8 {
            if self.is_optimal() {
                return;
            }
            if let Ok(rewriting) = merged(graph, &visiting, scratch) {
                self.replace_if_fewer_tags(rewriting);
            }
            stream.shuffle(&mut visiting);
        }
    }

    /// Runs the exact search with an increasing number of tags, starting at the lower bound, until rules are found.
    fn search(&mut self, paths: &Paths, graph: &TaggedGraph<'p, 'f>, scratch: &mut Scratch) {
        let mut proved = true;
        for tags in self.lower_bound..self.tags() {
            match paths.search(tags) {
                SearchResult::Found(rules) => {
                    let mut rewriting = Rewriting::empty(graph.ports);
                    for (port, tag, out, new_tag) in paths.rules(&rules) {
                        rewriting.learn(port, tag, out, new_tag, scratch);
                    }
                    // The tree of paths omits the turns between two hosts of one switch, because they close no cycle.
                    // `follow_paths` adds the rules of these turns.
                    if rewriting.follow_paths(graph, 1, scratch).is_ok() {
                        self.replace_if_fewer_tags(rewriting);
                    }
                    return;
                }
                SearchResult::Impossible if proved => self.lower_bound = tags + 1,
                SearchResult::Impossible | SearchResult::Unknown => proved = false,
            }
        }
    }
}
