//! Dependency graph of queues, with edges stored as sets of ports.
//!
//! A vertex is a lossless ingress queue: an ingress port and a *slot*, the index of its tag among the lossless tags
//! (always 0 in a check without tags). An edge from one queue to another means that frames leave the first queue for
//! the second: the first cannot drain while the second is paused.
//!
//! The successors of a vertex are, per slot, a set of egress ports of its node, stored as a bitmap of a few words. The
//! visited set has the same layout: a vertex is represented by the bit of the egress port at the other endpoint of its
//! link. So a search takes time proportional to vertices and words, not to edges: a fabric of 10,000 switches with 64
//! ports has 2 million vertices and up to 60 million edges.

use fabric::{Fabric, NodeId};

/// Ports of a fabric, in the layout that the searches need. A port is identified by its port number
/// ([`Fabric::port_number`]).
#[derive(Clone, Debug)]
pub(crate) struct Ports {
    /// Node of each port.
    node: Vec<u32>,
    /// Peer of each port, in the port numbering of the whole fabric.
    peer: Vec<u32>,
    /// Number of each node's first port in the port numbering of the whole fabric.
    base: Vec<u32>,
    /// Index of the first word of each node's set of ports; `words[n + 1] - words[n]` is the number of words.
    words: Vec<u32>,
    /// Per word: bits of the ports that lead to a forwarding node.
    onward: Vec<u64>,
}

impl Ports {
    pub fn new(fabric: &Fabric) -> Ports {
        let count = fabric.port_count();
        let mut ports = Ports {
            node: Vec::with_capacity(count),
            peer: Vec::with_capacity(count),
            base: vec![0],
            words: vec![0],
            onward: Vec::new(),
        };
        for node in fabric.node_ids() {
            let here = fabric.ports(node);
            let first = ports.onward.len();
            ports.onward.resize(first + here.len().div_ceil(64), 0);
            for (port, peer) in here.iter().enumerate() {
                ports.node.push(node.0);
                ports.peer.push(fabric.port_number(peer.peer, peer.peer_port) as u32);
                if fabric.node(peer.peer).forwards() {
                    ports.onward[first + port / 64] |= 1 << (port % 64);
                }
            }
            ports.base.push(ports.node.len() as u32);
            ports.words.push(ports.onward.len() as u32);
        }
        ports
    }

    /// Number of ports.
    pub fn len(&self) -> usize {
        self.node.len()
    }
    /// Returns the node of a port.
    #[inline]
    pub fn node(&self, port: u32) -> NodeId {
        NodeId(self.node[port as usize])
    }
    /// Returns the peer port.
    #[inline]
    pub fn peer(&self, port: u32) -> u32 {
        self.peer[port as usize]
    }
    /// Returns the port number of the first port of a node.
    #[inline]
    pub fn base(&self, node: NodeId) -> u32 {
        self.base[node.index()]
    }
    /// Number of ports of a node.
    #[inline]
    pub fn count(&self, node: NodeId) -> u32 {
        self.base[node.index() + 1] - self.base[node.index()]
    }
    /// Number of words that a set of ports of this node takes.
    #[inline]
    pub fn width(&self, node: NodeId) -> usize {
        (self.words[node.index() + 1] - self.words[node.index()]) as usize
    }
    /// Returns the set of ports of a node that lead to a forwarding node.
    #[inline]
    fn onward(&self, node: NodeId) -> &[u64] {
        &self.onward[self.words[node.index()] as usize..self.words[node.index() + 1] as usize]
    }
}

/// Set of egress ports by which frames of one queue leave in the same slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Slot after the hop.
    pub slot: u16,
    /// Index of the first word of the set in [`Graph::words`].
    at: u32,
}

/// Graph of slots and transitions; see the [module](self) documentation.
#[derive(Debug)]
pub(crate) struct Graph {
    pub ports: Ports,
    pub slots: usize,
    /// Entries of vertex v: `entries[starts[v]..starts[v + 1]]`.
    starts: Vec<u32>,
    entries: Vec<Entry>,
    words: Vec<u64>,
}

/// Result of a search.
#[derive(Debug)]
pub(crate) struct Walked {
    /// Number of vertices reachable from the roots, including the roots.
    pub vertices: u64,
    /// Number of edges from these vertices.
    pub edges: u64,
    /// Vertices of a cycle in order, if there is one.
    pub cycle: Option<Vec<u32>>,
}

impl Graph {
    /// Creates a graph without vertices. Vertices are added in ascending order: [`push`](Self::push) adds edges to the
    /// current vertex, and [`close`](Self::close) finishes it.
    pub fn new(ports: Ports, slots: usize) -> Graph {
        Graph { ports, slots, starts: vec![0], entries: Vec::new(), words: Vec::new() }
    }

    /// Returns a graph with the same ports and slots, but without vertices and edges.
    pub fn without_edges(&self) -> Graph {
        Graph::new(self.ports.clone(), self.slots)
    }

    /// Adds edges to the current vertex: its frames leave by the egress ports of `set` in slot `slot`.
    pub fn push(&mut self, slot: u16, set: &[u64]) {
        self.entries.push(Entry { slot, at: self.words.len() as u32 });
        self.words.extend_from_slice(set);
    }

    /// Finishes the current vertex.
    pub fn close(&mut self) {
        self.starts.push(self.entries.len() as u32);
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the vertex of a port and a slot.
    #[inline]
    pub fn vertex(&self, port: u32, slot: u16) -> u32 {
        port * self.slots as u32 + u32::from(slot)
    }
    /// Returns the ingress port of a vertex.
    #[inline]
    pub fn port(&self, vertex: u32) -> u32 {
        vertex / self.slots as u32
    }
    /// Returns the slot of a vertex.
    #[inline]
    pub fn slot(&self, vertex: u32) -> u16 {
        (vertex % self.slots as u32) as u16
    }

    /// Returns the slot of a frame of `vertex` after it leaves by egress port `out` of its node; `None` if it becomes
    /// lossy.
    pub fn onward_slot(&self, vertex: u32, out: u16) -> Option<u16> {
        let has = |entry: &&Entry| self.words[entry.at as usize + usize::from(out / 64)] >> (out % 64) & 1 == 1;
        self.entries(vertex).iter().find(has).map(|entry| entry.slot)
    }

    /// Returns the slots in which frames of `vertex` can leave losslessly, each with its set of egress ports.
    pub fn leaving(&self, vertex: u32) -> impl Iterator<Item = (u16, &[u64])> {
        let width = self.ports.width(self.ports.node(self.port(vertex)));
        self.entries(vertex).iter().map(move |entry| (entry.slot, &self.words[entry.at as usize..][..width]))
    }

    #[inline]
    fn entries(&self, vertex: u32) -> &[Entry] {
        &self.entries[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }

    /// Calls `each` with every successor of a vertex.
    pub fn successors(&self, vertex: u32, mut each: impl FnMut(u32)) {
        let node = self.ports.node(self.port(vertex));
        let (base, onward) = (self.ports.base(node), self.ports.onward(node));
        for entry in self.entries(vertex) {
            for (index, mask) in onward.iter().enumerate() {
                let mut bits = self.words[entry.at as usize + index] & mask;
                while bits != 0 {
                    let out = base + index as u32 * 64 + bits.trailing_zeros();
                    bits &= bits - 1;
                    each(self.vertex(self.ports.peer(out), entry.slot));
                }
            }
        }
    }

    /// Whether frames of a vertex can leave losslessly by any port, including ports to hosts.
    pub fn is_used(&self, vertex: u32) -> bool {
        !self.entries(vertex).is_empty()
    }

    /// Flags the vertices reachable from `roots`, including the roots.
    pub fn reached(&self, roots: impl Iterator<Item = u32>) -> Vec<bool> {
        let mut reached = vec![false; self.len()];
        let mut stack: Vec<u32> = Vec::new();
        for root in roots {
            if !std::mem::replace(&mut reached[root as usize], true) {
                stack.push(root);
            }
            while let Some(vertex) = stack.pop() {
                self.successors(vertex, |next| {
                    if !std::mem::replace(&mut reached[next as usize], true) {
                        stack.push(next);
                    }
                });
            }
        }
        reached
    }

    /// Depth-first search from `roots`: counts the reached vertices and stops at the first cycle.
    pub fn walk(&self, roots: impl Iterator<Item = u32>) -> Walked {
        let mut seen = Marks::new(self);
        let mut open = Marks::new(self);
        let mut walked = Walked { vertices: 0, edges: 0, cycle: None };
        let mut stack: Vec<u32> = Vec::new();
        for root in roots {
            if seen.contains(self, root) {
                continue;
            }
            seen.set(self, root);
            open.set(self, root);
            stack.push(root);
            walked.vertices += 1;
            walked.edges += self.out_degree(root);
            // Vertices on the stack are open. An edge to an open vertex closes a cycle.
            while let Some(&vertex) = stack.last() {
                match self.step(vertex, &seen, &open) {
                    Step::Closes(back) => {
                        let from = stack.iter().position(|&at| at == back).unwrap_or(0);
                        walked.cycle = Some(stack[from..].to_vec());
                        return walked;
                    }
                    Step::To(next) => {
                        seen.set(self, next);
                        open.set(self, next);
                        stack.push(next);
                        walked.vertices += 1;
                        walked.edges += self.out_degree(next);
                    }
                    Step::Done => {
                        open.clear(self, vertex);
                        stack.pop();
                    }
                }
            }
        }
        walked
    }

    /// Number of edges that leave a vertex.
    pub fn out_degree(&self, vertex: u32) -> u64 {
        let onward = self.ports.onward(self.ports.node(self.port(vertex)));
        let of = |entry: &Entry| -> u64 {
            let words = &self.words[entry.at as usize..entry.at as usize + onward.len()];
            words.iter().zip(onward).map(|(word, mask)| u64::from((word & mask).count_ones())).sum()
        };
        self.entries(vertex).iter().map(of).sum()
    }

    fn step(&self, vertex: u32, seen: &Marks, open: &Marks) -> Step {
        let node = self.ports.node(self.port(vertex));
        let (base, onward) = (self.ports.base(node), self.ports.onward(node));
        let mut next = None;
        for entry in self.entries(vertex) {
            let (seen, open) = (seen.of(self, node, entry.slot), open.of(self, node, entry.slot));
            for (index, mask) in onward.iter().enumerate() {
                let bits = self.words[entry.at as usize + index] & mask;
                let target = |bits: u64| {
                    let out = base + index as u32 * 64 + bits.trailing_zeros();
                    self.vertex(self.ports.peer(out), entry.slot)
                };
                if bits & open[index] != 0 {
                    return Step::Closes(target(bits & open[index]));
                }
                if next.is_none() && bits & !seen[index] != 0 {
                    next = Some(target(bits & !seen[index]));
                }
            }
        }
        next.map_or(Step::Done, Step::To)
    }
}

enum Step {
    /// An edge back to a vertex on the current path.
    Closes(u32),
    To(u32),
    Done,
}

/// A set of vertices. Each vertex is stored as the bit of the egress port at the other endpoint of its link, so that
/// the successors of a vertex share one or few words.
struct Marks(Vec<u64>);

impl Marks {
    fn new(graph: &Graph) -> Marks {
        Marks(vec![0; graph.ports.onward.len() * graph.slots])
    }

    fn start(graph: &Graph, node: NodeId, slot: u16) -> usize {
        graph.ports.words[node.index()] as usize * graph.slots + usize::from(slot) * graph.ports.width(node)
    }

    /// Returns, for the egress ports of a node and one slot, the bits of the vertices in the set.
    #[inline]
    fn of(&self, graph: &Graph, node: NodeId, slot: u16) -> &[u64] {
        let start = Self::start(graph, node, slot);
        &self.0[start..start + graph.ports.width(node)]
    }

    #[inline]
    fn word_and_bit(graph: &Graph, vertex: u32) -> (usize, u64) {
        let upstream = graph.ports.peer(graph.port(vertex));
        let node = graph.ports.node(upstream);
        let port = upstream - graph.ports.base(node);
        (Self::start(graph, node, graph.slot(vertex)) + (port / 64) as usize, 1 << (port % 64))
    }

    fn contains(&self, graph: &Graph, vertex: u32) -> bool {
        let (word, bit) = Self::word_and_bit(graph, vertex);
        self.0[word] & bit != 0
    }
    fn set(&mut self, graph: &Graph, vertex: u32) {
        let (word, bit) = Self::word_and_bit(graph, vertex);
        self.0[word] |= bit;
    }
    fn clear(&mut self, graph: &Graph, vertex: u32) {
        let (word, bit) = Self::word_and_bit(graph, vertex);
        self.0[word] &= !bit;
    }
}
