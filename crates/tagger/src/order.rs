//! Acyclic graph over ingress ports: an edge is added only if it closes no cycle (incremental cycle detection).
//!
//! The graph maintains a topological order. An edge that follows the order needs no search. An edge against the order
//! needs a bidirectional search, restricted to the vertices between its two endpoints in the order:
//!
//! * If the searches reach a common vertex, the edge would close a cycle and is rejected.
//! * If one search is exhausted, there is no cycle. The vertices found by this search are moved past the other endpoint
//!   of the edge, which repairs the order. An accepted edge costs about twice the cheaper of the two searches.
//!
//! The order is a linked list with 64-bit labels, so that a move writes only the labels of moved vertices. The searches
//! process 64 edges at a time: one mask operation removes the ports of a switch that have been reached before, so a
//! search expands no port twice.
//!
//! The forward search first expands the reached vertex with the lowest label, the backward search the one with the
//! highest label: in the order, the vertex farthest from the start of the other search. This finds a cycle after
//! expanding a seventh of the vertices that breadth-first expansion (in order of discovery) needs.
//!
//! Most edges that a search examines lead to vertices outside the label range of the search and are skipped. Labels are
//! stored twice, so that each search reads the labels that it compares from contiguous memory: by ingress port for the
//! backward search (ports of one switch have edges to one port of the next switch), by egress port for the forward
//! search.

use crate::ports::{PortBitmaps, Ports, RemoteIngress, put};
use fabric::tags::ones;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NONE: u32 = u32::MAX;

/// Acyclic set of turns (edges) between ingress ports (vertices).
pub(crate) struct AcyclicGraph<'p, 'f> {
    ports: &'p Ports<'f>,
    /// Per vertex: the egress ports of its edges.
    out: PortBitmaps,
    /// Per egress port: the ingress ports of its node that have an edge through it.
    into: PortBitmaps,
    /// Per vertex: its label, which determines its position in the order.
    label: Vec<u64>,
    /// Per egress port: the label of the vertex at the other end of its link.
    label_ahead: Vec<u64>,
    next: Vec<u32>,
    previous: Vec<u32>,
    first: u32,
    count: u64,
}

/// Cost of the searches, as counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// Number of searches for cycles: for insertions against the topological order, and for `would_close_cycle`.
    pub searches: u64,
    /// Vertices that searches expanded.
    pub vertices_visited: u64,
    /// Edges that searches followed individually (edges removed by a mask are not counted).
    pub edge_visits: u64,
    /// Vertices moved within the order.
    pub moves: u64,
    /// Insertions rejected because they would close a cycle.
    pub refused: u64,
}

impl Work {
    pub(crate) fn add(&mut self, other: Work) {
        self.searches += other.searches;
        self.vertices_visited += other.vertices_visited;
        self.edge_visits += other.edge_visits;
        self.moves += other.moves;
        self.refused += other.refused;
    }

    /// Returns the difference to the earlier counters `before`.
    pub(crate) fn since(self, before: Work) -> Work {
        Work {
            searches: self.searches - before.searches,
            vertices_visited: self.vertices_visited - before.vertices_visited,
            edge_visits: self.edge_visits - before.edge_visits,
            moves: self.moves - before.moves,
            refused: self.refused - before.refused,
        }
    }
}

/// Search state of up to 64 ports of a node, as bitmaps.
#[derive(Clone, Copy, Default)]
struct PortMarks {
    /// Ingress ports that the forward search has reached.
    ahead: u64,
    /// Egress ports that the forward search has followed.
    left: u64,
    /// Ingress ports that the backward search has reached.
    behind: u64,
    /// Egress ports that lead to a port in `behind`.
    wanted: u64,
}

/// Ingress port that the backward search has reached.
#[derive(Clone, Copy)]
struct BackwardPort {
    port: u32,
    /// Start of the bitmaps of the port's node, and their number of words.
    set: u32,
    words: u16,
    /// Egress port (of the upstream node) that leads to this port.
    feed: RemoteIngress,
}

/// Bitmaps and queues of a search, shared by all graphs of a run.
pub(crate) struct Scratch {
    /// Search state by word of each node's port bitmap.
    marks: Vec<PortMarks>,
    forward: Vec<RemoteIngress>,
    backward: Vec<BackwardPort>,
    /// Reached vertices that are not expanded yet: label, and index in `forward` or `backward`.
    lowest: BinaryHeap<(Reverse<u64>, u32)>,
    highest: BinaryHeap<(u64, u32)>,
    /// Total cost of all searches.
    pub work: Work,
}

impl Scratch {
    pub fn new(ports: &Ports) -> Scratch {
        let marks = vec![PortMarks::default(); ports.node_sets().len()];
        let (lowest, highest) = (BinaryHeap::new(), BinaryHeap::new());
        Scratch { marks, forward: Vec::new(), backward: Vec::new(), lowest, highest, work: Work::default() }
    }

    fn clear(&mut self) {
        let mut clear =
            |set: u32, words: u16| self.marks[set as usize..][..usize::from(words)].fill(PortMarks::default());
        self.forward.iter().for_each(|reached| clear(reached.set, reached.words));
        for reached in &self.backward {
            clear(reached.set, reached.words);
            clear(reached.feed.set, reached.feed.words);
        }
        self.forward.clear();
        self.backward.clear();
        self.lowest.clear();
        self.highest.clear();
    }
}

enum SearchEnd {
    Cycle,
    /// The forward search is exhausted: `forward` holds all vertices below the highest tail that are reachable from the
    /// head of the new edges.
    ForwardDone,
    /// The backward search is exhausted: `backward` holds all vertices above the head from which a tail is reachable.
    BackwardDone,
}

impl<'p, 'f> AcyclicGraph<'p, 'f> {
    /// Creates a graph without edges. `order` lists every port that may get edges exactly once.
    pub fn new(ports: &'p Ports<'f>, order: impl IntoIterator<Item = u32>) -> AcyclicGraph<'p, 'f> {
        let count = ports.len();
        let mut graph = AcyclicGraph {
            ports,
            out: ports.plane(),
            into: ports.plane(),
            label: vec![0; count],
            label_ahead: vec![0; count],
            next: vec![NONE; count],
            previous: vec![NONE; count],
            first: NONE,
            count: 0,
        };
        graph.reorder(order);
        graph
    }

    /// Replaces the order of the vertices; `order` must be topological for the current edges.
    pub fn reorder(&mut self, order: impl IntoIterator<Item = u32>) {
        let mut last = NONE;
        self.first = NONE;
        self.count = 0;
        for vertex in order {
            self.previous[vertex as usize] = last;
            self.next[vertex as usize] = NONE;
            match last {
                NONE => self.first = vertex,
                last => self.next[last as usize] = vertex,
            }
            last = vertex;
            self.count += 1;
        }
        self.relabel();
    }

    fn relabel(&mut self) {
        let step = u64::MAX / (self.count + 1);
        let (mut at, mut label) = (self.first, 0);
        while at != NONE {
            label += step;
            self.set_label(at, label);
            at = self.next[at as usize];
        }
    }

    fn set_label(&mut self, vertex: u32, label: u64) {
        // The two copies of a label must always be equal.
        self.label[vertex as usize] = label;
        self.label_ahead[self.ports.peer[vertex as usize] as usize] = label;
    }

    /// Returns the egress ports of a vertex's edges.
    #[inline]
    pub fn out(&self, vertex: u32) -> &[u64] {
        &self.out[self.ports.row(vertex)]
    }

    /// Adds edges to `head` from the ingress ports `tails` (a bitmap) of the upstream node. If the edges would close a
    /// cycle, returns false and leaves the graph unchanged. Edges may already exist.
    pub fn insert(&mut self, scratch: &mut Scratch, head: u32, tails: &[u64]) -> bool {
        let highest = self.highest_above(head, tails);
        if highest != NONE && !self.reorder_for_edge(scratch, head, tails, highest) {
            scratch.work.refused += 1;
            return false;
        }
        self.put(head, tails);
        true
    }

    /// Returns whether these edges would close a cycle. A result of `true` remains valid, because edges are never
    /// removed.
    pub fn would_close_cycle(&self, scratch: &mut Scratch, head: u32, tails: &[u64]) -> bool {
        let highest = self.highest_above(head, tails);
        if highest == NONE {
            return false;
        }
        let outcome = self.search(scratch, head, tails, self.label[highest as usize]);
        scratch.clear();
        matches!(outcome, SearchEnd::Cycle)
    }

    /// Returns the tail with the highest label if that is not below the label of the head, otherwise `NONE`.
    fn highest_above(&self, head: u32, tails: &[u64]) -> u32 {
        let ports = self.ports;
        let first = ports.first[ports.node[ports.peer[head as usize] as usize] as usize];
        let limit = self.label[head as usize];
        let above = ones(tails).map(|bit| first + bit as u32).filter(|&tail| self.label[tail as usize] >= limit);
        above.max_by_key(|&tail| self.label[tail as usize]).unwrap_or(NONE)
    }

    /// Adds edges that close no cycle. The caller ensures that the order remains topological.
    pub fn put(&mut self, head: u32, tails: &[u64]) {
        let ports = self.ports;
        let feed = ports.peer[head as usize];
        let first = ports.first[ports.node[feed as usize] as usize];
        let out = ports.local(feed);
        for (word, tails) in self.into[ports.row(feed)].iter_mut().zip(tails) {
            *word |= tails;
        }
        for bit in ones(tails) {
            put(&mut self.out[ports.row(first + bit as u32)], out);
        }
    }

    /// Repairs the order for edges from `tails` to `head`. Returns false if the edges would close a cycle.
    fn reorder_for_edge(&mut self, scratch: &mut Scratch, head: u32, tails: &[u64], highest: u32) -> bool {
        let outcome = self.search(scratch, head, tails, self.label[highest as usize]);
        let mut moved: Vec<u32> = match outcome {
            SearchEnd::Cycle => Vec::new(),
            SearchEnd::ForwardDone => scratch.forward.iter().map(|reached| reached.port).collect(),
            SearchEnd::BackwardDone => scratch.backward.iter().map(|reached| reached.port).collect(),
        };
        scratch.clear();
        scratch.work.moves += moved.len() as u64;
        // Moved vertices keep their relative order, so edges among them still follow the order.
        moved.sort_unstable_by_key(|&vertex| self.label[vertex as usize]);
        match outcome {
            SearchEnd::Cycle => return false,
            SearchEnd::ForwardDone => self.move_after(&moved, highest),
            SearchEnd::BackwardDone => self.move_before(&moved, head),
        }
        true
    }

    fn search(&self, scratch: &mut Scratch, head: u32, tails: &[u64], upper: u64) -> SearchEnd {
        scratch.work.searches += 1;
        let ports = self.ports;
        let lower = self.label[head as usize];
        let feeder = ports.far[head as usize];
        for bit in ones(tails) {
            let tail = feeder.first + bit as u32;
            if tail == head {
                return SearchEnd::Cycle;
            }
            let label = self.label[tail as usize];
            if label > lower {
                self.reach_backward(scratch, feeder, bit, label);
            }
        }
        if self.reach_forward(scratch, ports.here(head), lower) {
            return SearchEnd::Cycle;
        }
        // The search with the lower cost so far is continued, so the total cost is about twice that of the cheaper
        // search.
        let (mut cost_forward, mut cost_backward) = (0u64, 0u64);
        loop {
            let Some(&(_, forward)) = scratch.lowest.peek() else { break SearchEnd::ForwardDone };
            let Some(&(_, backward)) = scratch.highest.peek() else { break SearchEnd::BackwardDone };
            scratch.work.vertices_visited += 1;
            let before = scratch.work.edge_visits;
            let met = if cost_forward <= cost_backward {
                scratch.lowest.pop();
                let met = self.expand_forward(scratch, scratch.forward[forward as usize], upper);
                cost_forward += scratch.work.edge_visits - before + 1;
                met
            } else {
                scratch.highest.pop();
                let met = self.expand_backward(scratch, scratch.backward[backward as usize].feed, lower);
                cost_backward += scratch.work.edge_visits - before + 1;
                met
            };
            if met {
                break SearchEnd::Cycle;
            }
        }
    }

    /// Adds a vertex to the forward search. Returns true if the vertex has an edge to a vertex of the backward search.
    #[inline]
    fn reach_forward(&self, scratch: &mut Scratch, vertex: RemoteIngress, label: u64) -> bool {
        scratch.lowest.push((Reverse(label), scratch.forward.len() as u32));
        scratch.forward.push(vertex);
        let marks = &mut scratch.marks[vertex.set as usize..][..usize::from(vertex.words)];
        marks[usize::from(vertex.local / 64)].ahead |= 1 << (vertex.local % 64);
        let out = &self.out[vertex.row as usize..][..marks.len()];
        out.iter().zip(marks).any(|(out, marks)| out & marks.wanted != 0)
    }

    /// Adds port `bit` of the node of `beside` to the backward search. Returns true if a vertex of the forward search
    /// has an edge to it.
    #[inline]
    fn reach_backward(&self, scratch: &mut Scratch, beside: RemoteIngress, bit: usize, label: u64) -> bool {
        let RemoteIngress { first, set, words, .. } = beside;
        let port = first + bit as u32;
        let feed = self.ports.far[port as usize];
        scratch.highest.push((label, scratch.backward.len() as u32));
        scratch.backward.push(BackwardPort { port, set, words, feed });
        scratch.marks[set as usize + bit / 64].behind |= 1 << (bit % 64);
        if feed.words == 0 {
            return false;
        }
        let marks = &mut scratch.marks[feed.set as usize..][..usize::from(feed.words)];
        marks[usize::from(feed.local / 64)].wanted |= 1 << (feed.local % 64);
        let into = &self.into[feed.row as usize..][..marks.len()];
        into.iter().zip(marks).any(|(into, marks)| into & marks.ahead != 0)
    }

    #[inline]
    fn expand_forward(&self, scratch: &mut Scratch, vertex: RemoteIngress, upper: u64) -> bool {
        for index in 0..u32::from(vertex.words) {
            let out = self.out[(vertex.row + index) as usize];
            let marks = &mut scratch.marks[(vertex.set + index) as usize];
            if out & marks.wanted != 0 {
                return true;
            }
            // Egress ports that the search has already followed from another port of this node lead to no new vertex.
            let fresh = out & !marks.left;
            marks.left |= fresh;
            scratch.work.edge_visits += u64::from(fresh.count_ones());
            let first = (vertex.first + index * 64) as usize;
            let mut below = select(fresh, &self.label_ahead[first..], |label| label < upper);
            while below != 0 {
                let leaving = first + below.trailing_zeros() as usize;
                below &= below - 1;
                if self.reach_forward(scratch, self.ports.far[leaving], self.label_ahead[leaving]) {
                    return true;
                }
            }
        }
        false
    }

    /// Follows the edges into a vertex backwards; `feed` is the egress port that leads to the vertex.
    #[inline]
    fn expand_backward(&self, scratch: &mut Scratch, feed: RemoteIngress, lower: u64) -> bool {
        for index in 0..u32::from(feed.words) {
            let into = self.into[(feed.row + index) as usize];
            let marks = &scratch.marks[(feed.set + index) as usize];
            if into & marks.ahead != 0 {
                return true;
            }
            let fresh = into & !marks.behind;
            scratch.work.edge_visits += u64::from(fresh.count_ones());
            let from = index * 64;
            let mut above = select(fresh, &self.label[(feed.first + from) as usize..], |label| label > lower);
            while above != 0 {
                let bit = from + above.trailing_zeros();
                above &= above - 1;
                let label = self.label[(feed.first + bit) as usize];
                if self.reach_backward(scratch, feed, bit as usize, label) {
                    return true;
                }
            }
        }
        false
    }

    fn unlink(&mut self, vertex: u32) {
        let (before, after) = (self.previous[vertex as usize], self.next[vertex as usize]);
        match before {
            NONE => self.first = after,
            before => self.next[before as usize] = after,
        }
        if after != NONE {
            self.previous[after as usize] = before;
        }
    }

    fn move_after(&mut self, moved: &[u32], anchor: u32) {
        moved.iter().for_each(|&vertex| self.unlink(vertex));
        self.link(moved, anchor, self.next[anchor as usize]);
    }

    fn move_before(&mut self, moved: &[u32], anchor: u32) {
        moved.iter().for_each(|&vertex| self.unlink(vertex));
        self.link(moved, self.previous[anchor as usize], anchor);
    }

    /// Inserts vertices between `before` and `after` in the list. `NONE` as `before` is the start of the list, as
    /// `after` its end.
    fn link(&mut self, moved: &[u32], before: u32, after: u32) {
        let mut last = before;
        for &vertex in moved {
            self.previous[vertex as usize] = last;
            match last {
                NONE => self.first = vertex,
                last => self.next[last as usize] = vertex,
            }
            last = vertex;
        }
        self.next[last as usize] = after;
        if after != NONE {
            self.previous[after as usize] = last;
        }
        let low = if before == NONE { 0 } else { self.label[before as usize] };
        let high = if after == NONE { u64::MAX } else { self.label[after as usize] };
        let step = (high - low) / (moved.len() as u64 + 1);
        if step == 0 {
            self.relabel();
            return;
        }
        for (&vertex, number) in moved.iter().zip(1..) {
            self.set_label(vertex, low + step * number);
        }
    }
}

/// Returns the bits of a word whose labels satisfy the predicate. The loop is branch-free because few labels satisfy
/// it, so the branches would be mispredicted.
#[inline]
fn select(mut bits: u64, labels: &[u64], is_selected: impl Fn(u64) -> bool) -> u64 {
    let mut selected = 0;
    while bits != 0 {
        let bit = bits.trailing_zeros();
        bits &= bits - 1;
        selected |= u64::from(is_selected(labels[bit as usize])) << bit;
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::{PathSource, TreeRoots};
    use crate::{Request, generate};
    use fabric::LinkSpec;
    use fabric::generate::jellyfish;
    use units::random::Stream;
    use units::{Rate, Time};

    #[test]
    fn what_is_refused_is_what_would_close_a_cycle() {
        let link = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
        let fabric = jellyfish(30, 5, 1, 1, link, link).unwrap();
        let ports = Ports::new(&fabric);
        let vertices = || (0..ports.len() as u32).filter(|&port| ports.forwards(port));
        let (mut graph, mut scratch) = (AcyclicGraph::new(&ports, vertices()), Scratch::new(&ports));
        let mut heads: Vec<u32> = vertices().filter(|&port| !ports.faces_host(port)).collect();
        let mut stream = Stream::new(1, 0, 0);
        stream.shuffle(&mut heads);
        let mut joined = 0;
        for &head in &heads {
            let tails = [stream.below(1 << 6) & !(1 << ports.local(ports.peer[head as usize]))];
            let closes = graph.would_close_cycle(&mut scratch, head, &tails);
            assert_eq!(graph.insert(&mut scratch, head, &tails), !closes, "into port {head} from {tails:?}");
            joined += usize::from(!closes);
        }
        assert!((20..=heads.len() - 10).contains(&joined), "{joined} of {} join", heads.len());
    }

    #[test]
    fn cycles_are_found_with_few_looks() {
        let link = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
        let fabric = jellyfish(500, 12, 8, 1, link, link).unwrap();
        let trees = PathSource::Trees { roots: TreeRoots::Switches, seed: None };
        let work = generate(&fabric, &Request::new(trees)).unwrap().report.merging;
        // Breadth-first expansion visits 12.5 vertices per search.
        assert!(work.vertices_visited < 9 * work.searches, "{work:?}");
    }
}
