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

use crate::port_set::ones;
use crate::ports::{Plane, Ports, has, put};

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
}

/// Marks and queues of a search, used again by every graph of a run.
pub(crate) struct Scratch {
    /// Per node, its ingress ports that the forward search has reached.
    ahead: Vec<u64>,
    /// Per node, its egress ports that the forward search has followed.
    left: Vec<u64>,
    /// Per node, its ingress ports that the backward search has reached.
    behind: Vec<u64>,
    forward: Vec<u32>,
    backward: Vec<u32>,
}

impl Scratch {
    pub fn new(ports: &Ports) -> Scratch {
        Scratch {
            ahead: ports.node_sets(),
            left: ports.node_sets(),
            behind: ports.node_sets(),
            forward: Vec::new(),
            backward: Vec::new(),
        }
    }

    fn clear(&mut self, ports: &Ports) {
        for &vertex in &self.forward {
            let node = ports.node[vertex as usize];
            self.ahead[ports.set(node)].fill(0);
            self.left[ports.set(node)].fill(0);
        }
        for &vertex in &self.backward {
            self.behind[ports.set(ports.node[vertex as usize])].fill(0);
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
                let mut moved = std::mem::take(&mut scratch.forward);
                moved.sort_unstable_by_key(|&vertex| self.label[vertex as usize]);
                self.move_after(&moved, highest);
                scratch.forward = moved;
            }
            Outcome::BackwardDone => {
                let mut moved = std::mem::take(&mut scratch.backward);
                moved.sort_unstable_by_key(|&vertex| self.label[vertex as usize]);
                self.move_before(&moved, head);
                scratch.backward = moved;
            }
        }
        scratch.clear(self.ports);
        !matches!(outcome, Outcome::Cycle)
    }

    fn search(&mut self, scratch: &mut Scratch, head: u32, tails: &[u64], upper: u64) -> Outcome {
        let ports = self.ports;
        let lower = self.label[head as usize];
        let feeder = ports.node[ports.peer[head as usize] as usize];
        put(&mut scratch.ahead[ports.set(ports.node[head as usize])], ports.local(head));
        scratch.forward.push(head);
        for bit in ones(tails) {
            let tail = ports.first[feeder as usize] + bit as u32;
            if tail == head {
                return Outcome::Cycle;
            }
            if self.label[tail as usize] > lower {
                put(&mut scratch.behind[ports.set(feeder)], bit);
                scratch.backward.push(tail);
            }
        }
        let (mut forward, mut backward) = (0, 0);
        let (mut cost_forward, mut cost_backward) = (0u64, 0u64);
        loop {
            let Some(&vertex) = scratch.forward.get(forward) else { break Outcome::ForwardDone };
            let Some(&other) = scratch.backward.get(backward) else { break Outcome::BackwardDone };
            let met = if cost_forward <= cost_backward {
                forward += 1;
                let (met, cost) = self.expand_forward(scratch, vertex, upper);
                cost_forward += cost + 1;
                self.work.edge_visits += cost;
                met
            } else {
                backward += 1;
                let (met, cost) = self.expand_backward(scratch, other, lower);
                cost_backward += cost + 1;
                self.work.edge_visits += cost;
                met
            };
            self.work.vertices_visited += 1;
            if met {
                break Outcome::Cycle;
            }
        }
    }

    #[inline]
    fn expand_forward(&self, scratch: &mut Scratch, vertex: u32, upper: u64) -> (bool, u64) {
        let ports = self.ports;
        let node = ports.node[vertex as usize];
        let (first, row, set) = (ports.first[node as usize], ports.row(vertex), ports.set[node as usize] as usize);
        let mut cost = 0;
        for (index, word) in row.enumerate() {
            let mut fresh = self.out[word] & !scratch.left[set + index];
            scratch.left[set + index] |= fresh;
            cost += u64::from(fresh.count_ones());
            while fresh != 0 {
                let target = ports.peer[first as usize + index * 64 + fresh.trailing_zeros() as usize];
                fresh &= fresh - 1;
                let (there, local) = (ports.set(ports.node[target as usize]), ports.local(target));
                if has(&scratch.behind[there.clone()], local) {
                    return (true, cost);
                }
                if self.label[target as usize] < upper {
                    put(&mut scratch.ahead[there], local);
                    scratch.forward.push(target);
                }
            }
        }
        (false, cost)
    }

    #[inline]
    fn expand_backward(&self, scratch: &mut Scratch, vertex: u32, lower: u64) -> (bool, u64) {
        let ports = self.ports;
        let feed = ports.peer[vertex as usize];
        let node = ports.node[feed as usize];
        if !ports.forwards(feed) {
            return (false, 0);
        }
        let (first, row, set) = (ports.first[node as usize], ports.row(feed), ports.set[node as usize] as usize);
        let mut cost = 0;
        for (index, word) in row.enumerate() {
            if self.into[word] & scratch.ahead[set + index] != 0 {
                return (true, cost + 1);
            }
            let mut fresh = self.into[word] & !scratch.behind[set + index];
            cost += u64::from(fresh.count_ones());
            while fresh != 0 {
                let bit = index * 64 + fresh.trailing_zeros() as usize;
                fresh &= fresh - 1;
                let source = first + bit as u32;
                if self.label[source as usize] > lower {
                    put(&mut scratch.behind[set..], bit);
                    scratch.backward.push(source);
                }
            }
        }
        (false, cost)
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

    /// Puts vertices between two neighbours of the list, either of which may be its end.
    fn link(&mut self, moved: &[u32], before: u32, after: u32) {
        self.work.moves += moved.len() as u64;
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
        for (index, &vertex) in moved.iter().enumerate() {
            self.label[vertex as usize] = low + step * (index as u64 + 1);
        }
    }
}
