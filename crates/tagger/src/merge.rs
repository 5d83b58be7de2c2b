//! Algorithm 2: greedy merging of the tags of Algorithm 1.
//!
//! Hop by hop, each ingress port gets the current tag, unless that would close a cycle among the ports with this tag;
//! then it gets the next tag. If any port of a hop got the next tag, that tag becomes the current tag after the hop.
//! Ports are visited in the order of switch name and port number, which reproduces Table 4.
//!
//! About half of the ports of a late hop are rejected, and finding their cycles takes most of the run time. A port that
//! would close a cycle now will also close one later, because edges are only added. Therefore the next ports are tested
//! in advance on all threads; the ports that this test does not reject are then inserted in order.
//!
//! After a cycle, the paper removes "the edges of a port", which also removes the edges with which the port was
//! accepted on an earlier hop. In this implementation a rejected port leaves the graph unchanged.

use crate::graph::TaggedGraph;
use crate::order::{AcyclicGraph, Scratch, Work};
use crate::ports::{PortBitmaps, Ports, put};
use crate::rules::{MAX_TAG, Tag};
use crate::threads::on_threads;
use fabric::tags::ones;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fraction of a hop's ports that are tested in advance, as a divisor. After each edge that is added later, a port that
/// passed the test is more likely to close a cycle when it is inserted.
const IN_ADVANCE: usize = 512;
/// Number of ports that a thread takes from the work list at a time.
const AT_A_TIME: usize = 16;

/// Tag of every vertex of the tagged graph with one tag per hop.
pub(crate) struct Merged<'p, 'f> {
    /// `tag_of[t - 1][port]`: the tag of packets that arrive at ingress port `port` on hop t; 0 if none do.
    pub tag_of: Vec<Vec<Tag>>,
    /// Per tag (from 1), the turns that do not change the tag.
    pub kept: Vec<AcyclicGraph<'p, 'f>>,
    pub work: Work,
}

/// Error: more tags needed than available.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooManyTags;

/// Merges the tags of a graph, visiting ports in the order `visiting`.
pub(crate) fn merge<'p, 'f>(
    graph: &TaggedGraph<'p, 'f>,
    visiting: &[u32],
    scratch: &mut Scratch,
) -> Result<Merged<'p, 'f>, TooManyTags> {
    let ports = graph.ports;
    let descending = || visiting.iter().rev().copied();
    let mut merged = Merged { tag_of: Vec::new(), kept: Vec::new(), work: Work::default() };
    let before = scratch.work;
    if graph.hops.is_empty() {
        return Ok(merged);
    }
    let mut first = vec![0; ports.len()];
    graph.entries().for_each(|port| first[port as usize] = 1);
    merged.tag_of.push(first);
    merged.kept.push(AcyclicGraph::new(ports, descending()));
    let mut tag: Tag = 1;
    for hop in 2..=graph.hops.len() + 1 {
        let arrivals = Arrivals::new(graph, hop, &merged.tag_of[hop - 2], tag);
        if !arrivals.any {
            break;
        }
        let sandbox = merged.kept.last_mut().expect("one a tag");
        let mut tags = vec![0; ports.len()];
        let mut refused = false;
        if let Some(order) = arrivals.acyclic_with(sandbox, visiting) {
            // All edges of the hop together close no cycle, so no subset of them closes one.
            for &port in visiting.iter().filter(|&&port| arrivals.happens(port)) {
                sandbox.put(port, arrivals.tails(port));
                tags[port as usize] = tag;
            }
            sandbox.reorder(order);
        } else {
            arrivals.suggest_order(sandbox, visiting);
            let coming: Vec<u32> = visiting.iter().copied().filter(|&port| arrivals.happens(port)).collect();
            for next in coming.chunks(coming.len().div_ceil(IN_ADVANCE).max(AT_A_TIME)) {
                let hopeless = arrivals.hopeless(sandbox, next, graph.threads, scratch);
                for (&port, hopeless) in next.iter().zip(hopeless) {
                    let joins = !hopeless && sandbox.insert(scratch, port, arrivals.tails(port));
                    refused |= !joins;
                    tags[port as usize] = if joins { tag } else { tag + 1 };
                }
            }
        }
        merged.tag_of.push(tags);
        if refused {
            tag += 1;
            if tag > MAX_TAG {
                return Err(TooManyTags);
            }
            merged.kept.push(AcyclicGraph::new(ports, descending()));
        }
    }
    merged.work = scratch.work.since(before);
    Ok(merged)
}

/// Ingress ports that paths reach on one hop.
struct Arrivals<'p, 'f> {
    ports: &'p Ports<'f>,
    /// Ports that some path reaches.
    reached: Vec<bool>,
    /// For each previous ingress port with the current tag, the egress ports that its paths use.
    out: PortBitmaps,
    /// For each egress port, the previous ingress ports with the current tag from which paths use it.
    into: PortBitmaps,
    any: bool,
}

impl<'p, 'f> Arrivals<'p, 'f> {
    fn new(graph: &TaggedGraph<'p, 'f>, hop: usize, before: &[Tag], tag: Tag) -> Arrivals<'p, 'f> {
        let ports = graph.ports;
        let mut arrivals =
            Arrivals { ports, reached: vec![false; ports.len()], out: ports.plane(), into: ports.plane(), any: false };
        for (port, &came) in before.iter().enumerate().filter(|&(_, &came)| came != 0) {
            let port = port as u32;
            let (local, first) = (ports.local(port), ports.first[ports.node[port as usize] as usize]);
            for out in graph.onward(hop - 1, port) {
                let leaving = first + out as u32;
                arrivals.any = true;
                arrivals.reached[ports.peer[leaving as usize] as usize] = true;
                if came == tag {
                    put(&mut arrivals.out[ports.row(port)], out);
                    put(&mut arrivals.into[ports.row(leaving)], local);
                }
            }
        }
        arrivals
    }

    fn happens(&self, port: u32) -> bool {
        self.reached[port as usize]
    }

    /// Returns the ingress ports of the upstream node from which paths with the current tag lead to `port`.
    fn tails(&self, port: u32) -> &[u64] {
        &self.into[self.ports.row(self.ports.peer[port as usize])]
    }

    /// Returns, for each port of `next`, whether it would close a cycle with the current edges of the sandbox.
    fn hopeless(&self, sandbox: &AcyclicGraph, next: &[u32], threads: usize, scratch: &mut Scratch) -> Vec<bool> {
        let parts: Vec<&[u32]> = next.chunks(AT_A_TIME).collect();
        let taken = AtomicUsize::new(0);
        let found = on_threads(threads.min(parts.len()), || {
            let (mut own, mut found) = (Scratch::new(self.ports), Vec::new());
            loop {
                let at = taken.fetch_add(1, Ordering::Relaxed);
                let Some(part) = parts.get(at) else { break (own.work, found) };
                let closes = |&port: &u32| sandbox.would_close_cycle(&mut own, port, self.tails(port));
                found.push((at, part.iter().map(closes).collect::<Vec<bool>>()));
            }
        });
        let mut hopeless = vec![false; next.len()];
        for (work, found) in found {
            scratch.work.add(work);
            for (at, part) in found {
                hopeless[at * AT_A_TIME..][..part.len()].copy_from_slice(&part);
            }
        }
        scratch.work.refused += hopeless.iter().filter(|&&hopeless| hopeless).count() as u64;
        hopeless
    }

    /// Returns a topological order of the sandbox plus all edges of this hop, or `None` if they contain a cycle.
    fn acyclic_with(&self, sandbox: &AcyclicGraph, visiting: &[u32]) -> Option<Vec<u32>> {
        topological_order(self.ports, visiting, |port, words| {
            words.clear();
            words.extend(sandbox.out(port).iter().zip(&self.out[self.ports.row(port)]).map(|(a, b)| a | b));
        })
    }

    /// Sets the initial order of an empty sandbox: the visiting order or its reverse, whichever more edges of this hop
    /// follow.
    fn suggest_order(&self, sandbox: &mut AcyclicGraph, visiting: &[u32]) {
        let mut rank = vec![0u32; self.ports.len()];
        for (index, &port) in visiting.iter().enumerate() {
            rank[port as usize] = index as u32;
        }
        let mut balance = 0i64;
        for &port in visiting {
            if sandbox.out(port).iter().any(|&word| word != 0) {
                return;
            }
            for out in ones(&self.out[self.ports.row(port)]) {
                let ascends = rank[self.ports.next(port, out) as usize] > rank[port as usize];
                balance += if ascends { 1 } else { -1 };
            }
        }
        if balance > 0 {
            sandbox.reorder(visiting.iter().copied());
        }
    }
}

/// Returns a topological order of `vertices`, or `None` if there is a cycle. `edges` writes the edges of a vertex into
/// a bitmap of egress ports.
pub(crate) fn topological_order(
    ports: &Ports,
    vertices: &[u32],
    mut edges: impl FnMut(u32, &mut Vec<u64>),
) -> Option<Vec<u32>> {
    let mut waiting = vec![0u32; ports.len()];
    let mut words = Vec::new();
    for &port in vertices {
        edges(port, &mut words);
        ones(&words).for_each(|out| waiting[ports.next(port, out) as usize] += 1);
    }
    let mut order: Vec<u32> = vertices.iter().copied().filter(|&port| waiting[port as usize] == 0).collect();
    let mut done = 0;
    while let Some(&port) = order.get(done) {
        done += 1;
        edges(port, &mut words);
        for out in ones(&words) {
            let next = ports.next(port, out);
            waiting[next as usize] -= 1;
            if waiting[next as usize] == 0 {
                order.push(next);
            }
        }
    }
    (order.len() == vertices.len()).then_some(order)
}
