//! Comparison of the optimised Algorithm 2 with a literal implementation of the paper's listing, which uses sets and
//! searches for cycles at each vertex.

use super::random::{irregular, sources};
use crate::graph::TaggedGraph;
use crate::merge::merge;
use crate::order::Scratch;
use crate::paths::{ExpectedPaths, PathSource, entry};
use crate::ports::Ports;
use crate::rules::Tag;
use fabric::generate::jellyfish;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// An ingress port and its tag (hop number) in Algorithm 1.
type Vertex = (u32, usize);

/// Returns the vertices by hop, each with its predecessors on the previous hop.
fn listed(ports: &Ports, paths: &ExpectedPaths) -> Vec<BTreeMap<u32, BTreeSet<u32>>> {
    let mut hops: Vec<BTreeMap<u32, BTreeSet<u32>>> = Vec::new();
    let visited = paths.visit(ports.fabric, &mut |path| {
        let (mut at, mut before) = (entry(ports, path), None);
        for (hop, &out) in path.out_ports[1..].iter().enumerate() {
            if hops.len() <= hop + 1 {
                hops.resize(hop + 2, BTreeMap::new());
            }
            hops[hop].entry(at).or_default().extend(before);
            (before, at) = (Some(at), ports.next(at, out.into()));
        }
        if ports.forwards(at) {
            hops[path.out_ports.len() - 1].entry(at).or_default().extend(before);
        }
        ControlFlow::Continue(())
    });
    visited.unwrap();
    hops
}

fn acyclic(edges: &BTreeSet<(u32, u32)>) -> bool {
    let mut edges = edges.clone();
    loop {
        let heads: BTreeSet<u32> = edges.iter().map(|edge| edge.1).collect();
        let before = edges.len();
        edges.retain(|edge| heads.contains(&edge.0));
        if edges.len() == before {
            return edges.is_empty();
        }
    }
}

/// Returns the tag of each vertex, following the paper's listing line by line.
fn literal(ports: &Ports, hops: &[BTreeMap<u32, BTreeSet<u32>>]) -> BTreeMap<Vertex, Tag> {
    let mut tags: BTreeMap<Vertex, Tag> = BTreeMap::new();
    let mut sandbox: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut tag: Tag = 1;
    for (hop, vertices) in (1..).zip(hops) {
        let mut lifted = false;
        for port in ports.visiting_order() {
            let Some(before) = vertices.get(&port) else { continue };
            let same = before.iter().filter(|&&from| tags[&(from, hop - 1)] == tag);
            let mut with = sandbox.clone();
            with.extend(same.map(|&from| (from, port)));
            if acyclic(&with) {
                sandbox = with;
                tags.insert((port, hop), tag);
            } else {
                lifted = true;
                tags.insert((port, hop), tag + 1);
            }
        }
        if lifted {
            tag += 1;
            sandbox.clear();
        }
    }
    tags
}

fn agree(fabric: &fabric::Fabric, paths: &ExpectedPaths) -> Result<(), TestCaseError> {
    let ports = Ports::new(fabric);
    let expected = literal(&ports, &listed(&ports, paths));
    let mut graph = TaggedGraph::new(&ports);
    paths.record(fabric, &mut graph).unwrap();
    graph.trim();
    let merged = merge(&graph, &ports.visiting_order(), &mut Scratch::new(&ports)).unwrap();
    let mut found = BTreeMap::new();
    for (hop, tags) in (1..).zip(&merged.tag_of) {
        let used = tags.iter().enumerate().filter(|(_, tag)| **tag != 0);
        found.extend(used.map(|(port, &tag)| ((port as u32, hop), tag)));
    }
    prop_assert_eq!(found, expected);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_fast_merge_is_the_papers(seed: u64, switches in 2u32..12, more in 0u32..16, paths in sources()) {
        agree(&irregular(seed, switches, more), &paths)?;
    }

    #[test]
    fn on_dense_graphs_too(seed: u64, count in 20u32..200) {
        let fabric = jellyfish(14, 5, 1, seed, super::golden::LINK, super::golden::LINK).unwrap();
        let random = PathSource::Random { count, max_switches: 8, seed };
        agree(&fabric, &ExpectedPaths { sources: vec![PathSource::AllShortest { limit: None }, random] })?;
    }
}
