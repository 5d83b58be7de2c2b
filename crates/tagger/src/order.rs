//! A graph over ingress ports that stays acyclic: edges enter only if they close no cycle.
//!
//! It keeps a topological order up to date. An edge along the order needs no search. An edge against it
//! needs one, from both of its ends at a time and only through vertices between them in the order:
//!
//! * they meet: the edge would close a cycle, and is refused;
//! * one side runs out first: there is no cycle, and moving what that side saw past the other end mends the
//!   order. So an accepted edge costs about twice its cheaper side.
//!
//! The order is a list with 64-bit labels, so that a move touches nothing but what moves. The searches look at
//! edges 64 at a time: what a switch's other ports have already reached is masked away in one step, so
//! that in one search no port is looked at twice.

use crate::ports::{Far, Plane, Ports, put};
use fabric::tags::ones;

const NONE: u32 = u32::MAX;

/// An acyclic set of turns between ingress ports.
pub(crate) struct AcyclicGraph<'p, 'f> {
    ports: &'p Ports<'f>,
    /// Per vertex: the egress ports of its edges.
    out: Plane,
    /// Per egress port: the ingress ports of the same node with an edge through it.
    into: Plane,
    label: Vec<u64>,
    next: Vec<u32>,
    previous: Vec<u32>,
    first: u32,
    count: u64,
    pub work: Work,
}

/// What the searches cost, in things counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// Insertions that went against the order and needed a search.
    pub searches: u64,
    /// Vertices that searches expanded.
    pub vertices_visited: u64,
    /// Edges that searches followed one by one (those masked away in groups are not among them).
    pub edge_visits: u64,
    /// Vertices moved in the order.
    pub moves: u64,
    /// Insertions refused because they would close a cycle.
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

    /// What was added since an earlier count.
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

/// Marks and queues of a search, used again by every graph of a run.
pub(crate) struct Scratch {
    /// Per node, its ingress ports that the forward search has reached.
    ahead: Vec<u64>,
    /// Per node, its egress ports that the forward search has followed.
    left: Vec<u64>,
    /// Per node, its ingress ports that the backward search has reached.
    behind: Vec<u64>,
    /// Per node, its egress ports that lead to one of those.
    wanted: Vec<u64>,
    forward: Vec<Far>,
    backward: Vec<Far>,
}

impl Scratch {
    pub fn new(ports: &Ports) -> Scratch {
        Scratch {
            ahead: ports.node_sets(),
            left: ports.node_sets(),
            behind: ports.node_sets(),
            wanted: ports.node_sets(),
            forward: Vec::new(),
            backward: Vec::new(),
        }
    }

    fn clear(&mut self, ports: &Ports) {
        for vertex in &self.forward {
            let set = vertex.set as usize..vertex.set as usize + usize::from(vertex.words);
            self.ahead[set.clone()].fill(0);
            self.left[set].fill(0);
        }
        for vertex in &self.backward {
            let set = vertex.set as usize..vertex.set as usize + usize::from(vertex.words);
            self.behind[set].fill(0);
            let feed = ports.far[vertex.port as usize];
            self.wanted[feed.set as usize..feed.set as usize + usize::from(feed.words)].fill(0);
        }
        self.forward.clear();
        self.backward.clear();
    }
}

enum Outcome {
    Cycle,
    /// Everything that the new edges' head reaches below their highest tail is in `forward`.
    ForwardDone,
    /// Everything that reaches a tail above the head is in `backward`.
    BackwardDone,
}

impl<'p, 'f> AcyclicGraph<'p, 'f> {
    /// No edges; `order` lists every port that may get some, once.
    pub fn new(ports: &'p Ports<'f>, order: impl IntoIterator<Item = u32>) -> AcyclicGraph<'p, 'f> {
        let count = ports.len();
        let mut graph = AcyclicGraph {
            ports,
            out: ports.plane(),
            into: ports.plane(),
            label: vec![0; count],
            next: vec![NONE; count],
            previous: vec![NONE; count],
            first: NONE,
            count: 0,
            work: Work::default(),
        };
        graph.reorder(order);
        graph
    }

    /// Gives the vertices this order, which must agree with the edges there are.
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
            self.label[at as usize] = label;
            at = self.next[at as usize];
        }
    }

    /// The egress ports of a vertex's edges.
    #[inline]
    pub fn out(&self, vertex: u32) -> &[u64] {
        &self.out[self.ports.row(vertex)]
    }

    /// Adds edges into `head` from ingress ports `tails` (a bitmap) of the node that feeds it, unless they
    /// would close a cycle. Edges that are there already do no harm.
    pub fn insert(&mut self, scratch: &mut Scratch, head: u32, tails: &[u64]) -> bool {
        let ports = self.ports;
        let feed = ports.peer[head as usize];
        let first = ports.first[ports.node[feed as usize] as usize];
        let limit = self.label[head as usize];
        // The highest tail that comes after the head, if any does.
        let mut highest = NONE;
        for tail in ones(tails).map(|bit| first + bit as u32) {
            let label = self.label[tail as usize];
            if label >= limit && (highest == NONE || label > self.label[highest as usize]) {
                highest = tail;
            }
        }
        if highest != NONE && !self.make_way(scratch, head, tails, highest) {
            self.work.refused += 1;
            return false;
        }
        self.put(head, tails);
        true
    }

    /// Adds edges that are known to close no cycle; the caller sees to the order.
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

    /// Mends the order for edges from `tails` to `head`; false if they would close a cycle.
    fn make_way(&mut self, scratch: &mut Scratch, head: u32, tails: &[u64], highest: u32) -> bool {
        self.work.searches += 1;
        let outcome = self.search(scratch, head, tails, self.label[highest as usize]);
        match outcome {
            Outcome::Cycle => {}
            Outcome::ForwardDone => {
                scratch.forward.sort_unstable_by_key(|vertex| self.label[vertex.port as usize]);
                self.move_after(&scratch.forward, highest);
            }
            Outcome::BackwardDone => {
                scratch.backward.sort_unstable_by_key(|vertex| self.label[vertex.port as usize]);
                self.move_before(&scratch.backward, head);
            }
        }
        scratch.clear(self.ports);
        !matches!(outcome, Outcome::Cycle)
    }

    fn search(&mut self, scratch: &mut Scratch, head: u32, tails: &[u64], upper: u64) -> Outcome {
        let ports = self.ports;
        let lower = self.label[head as usize];
        let feeder = ports.far[head as usize];
        for bit in ones(tails) {
            let tail = feeder.first + bit as u32;
            if tail == head {
                return Outcome::Cycle;
            }
            if self.label[tail as usize] > lower {
                self.reach_backward(scratch, Far { port: tail, local: bit as u16, ..feeder });
            }
        }
        if self.reach_forward(scratch, ports.here(head)) {
            return Outcome::Cycle;
        }
        let (mut forward, mut backward) = (0, 0);
        let (mut cost_forward, mut cost_backward) = (0u64, 0u64);
        loop {
            let Some(&vertex) = scratch.forward.get(forward) else { break Outcome::ForwardDone };
            let Some(&other) = scratch.backward.get(backward) else { break Outcome::BackwardDone };
            self.work.vertices_visited += 1;
            let before = self.work.edge_visits;
            let met = if cost_forward <= cost_backward {
                forward += 1;
                let met = self.expand_forward(scratch, vertex, upper);
                cost_forward += self.work.edge_visits - before + 1;
                met
            } else {
                backward += 1;
                let met = self.expand_backward(scratch, other, lower);
                cost_backward += self.work.edge_visits - before + 1;
                met
            };
            if met {
                break Outcome::Cycle;
            }
        }
    }

    /// Takes a vertex into the forward search; true if an edge of it leads to what the backward search has.
    #[inline]
    fn reach_forward(&self, scratch: &mut Scratch, vertex: Far) -> bool {
        let (row, set) = (vertex.row as usize, vertex.set as usize);
        put(&mut scratch.ahead[set..], usize::from(vertex.local));
        scratch.forward.push(vertex);
        (0..usize::from(vertex.words)).any(|index| self.out[row + index] & scratch.wanted[set + index] != 0)
    }

    /// Takes a vertex into the backward search; true if an edge comes to it from what the forward search has.
    #[inline]
    fn reach_backward(&self, scratch: &mut Scratch, vertex: Far) -> bool {
        put(&mut scratch.behind[vertex.set as usize..], usize::from(vertex.local));
        scratch.backward.push(vertex);
        let feed = self.ports.far[vertex.port as usize];
        let (row, set) = (feed.row as usize, feed.set as usize);
        if feed.words == 0 {
            return false;
        }
        put(&mut scratch.wanted[set..], usize::from(feed.local));
        (0..usize::from(feed.words)).any(|index| self.into[row + index] & scratch.ahead[set + index] != 0)
    }

    #[inline]
    fn expand_forward(&mut self, scratch: &mut Scratch, vertex: Far, upper: u64) -> bool {
        let ports = self.ports;
        let (row, set) = (vertex.row as usize, vertex.set as usize);
        for index in 0..usize::from(vertex.words) {
            // What other ports of this node have followed already leads nowhere new.
            let mut fresh = self.out[row + index] & !scratch.left[set + index];
            if self.out[row + index] & scratch.wanted[set + index] != 0 {
                return true;
            }
            scratch.left[set + index] |= fresh;
            self.work.edge_visits += u64::from(fresh.count_ones());
            while fresh != 0 {
                let out = vertex.first as usize + index * 64 + fresh.trailing_zeros() as usize;
                fresh &= fresh - 1;
                let target = ports.far[out];
                if self.label[target.port as usize] < upper && self.reach_forward(scratch, target) {
                    return true;
                }
            }
        }
        false
    }

    #[inline]
    fn expand_backward(&mut self, scratch: &mut Scratch, vertex: Far, lower: u64) -> bool {
        let feed = self.ports.far[vertex.port as usize];
        let (row, set) = (feed.row as usize, feed.set as usize);
        for index in 0..usize::from(feed.words) {
            let into = self.into[row + index];
            if into & scratch.ahead[set + index] != 0 {
                return true;
            }
            let mut fresh = into & !scratch.behind[set + index];
            self.work.edge_visits += u64::from(fresh.count_ones());
            while fresh != 0 {
                let bit = index * 64 + fresh.trailing_zeros() as usize;
                fresh &= fresh - 1;
                let port = feed.first + bit as u32;
                // Every ingress port of a node has a bitmap of its own, of the same length.
                let source = Far { port, row: self.ports.row_start(port), local: bit as u16, ..feed };
                if self.label[port as usize] > lower && self.reach_backward(scratch, source) {
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

    fn move_after(&mut self, moved: &[Far], anchor: u32) {
        moved.iter().for_each(|vertex| self.unlink(vertex.port));
        self.link(moved, anchor, self.next[anchor as usize]);
    }

    fn move_before(&mut self, moved: &[Far], anchor: u32) {
        moved.iter().for_each(|vertex| self.unlink(vertex.port));
        self.link(moved, self.previous[anchor as usize], anchor);
    }

    /// Puts vertices between two neighbours of the list, either of which may be its end.
    fn link(&mut self, moved: &[Far], before: u32, after: u32) {
        self.work.moves += moved.len() as u64;
        let mut last = before;
        for vertex in moved.iter().map(|vertex| vertex.port) {
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
        for (index, vertex) in moved.iter().enumerate() {
            self.label[vertex.port as usize] = low + step * (index as u64 + 1);
        }
    }
}
