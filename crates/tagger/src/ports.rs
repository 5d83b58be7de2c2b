//! Where the ports of a fabric lie in flat arrays, and bitmaps over them.

use fabric::{Fabric, NodeId};
use std::cmp::Ordering;

/// The flat view of a fabric that everything here works on. A port is known by its number among all ports
/// ([`Fabric::port_number`]); as an *ingress* port it is a vertex of the tagged graph.
pub(crate) struct Ports<'f> {
    pub fabric: &'f Fabric,
    /// The node of each port.
    pub node: Vec<u32>,
    /// The port at the other end of each port's link.
    pub peer: Vec<u32>,
    /// Per port, what lies at the other end of its link, for searches that look at nothing else.
    pub far: Vec<Far>,
    /// First port of each node, and one past the last of the last node.
    pub first: Vec<u32>,
    /// Where the bitmap of each port's row begins in a [`Plane`].
    row: Vec<u32>,
    /// Where the bitmap over a node's own ports begins, in an array with one such bitmap a node.
    pub set: Vec<u32>,
    /// Words of a bitmap over the ports of each node.
    words: Vec<u32>,
    /// Per node, in a [`NodeSets`]-shaped array: ports that lead to a node that forwards.
    pub onward: Vec<u64>,
    /// Whether the node of a port forwards.
    forwards: Vec<bool>,
    row_words: usize,
    set_words: usize,
}

/// The ingress port at the other end of a link: everything that a search asks about it, in half a cache line.
#[derive(Clone, Copy, Default)]
pub(crate) struct Far {
    /// Its number among all ports.
    pub port: u32,
    /// Where the bitmap over its node's ports begins in a [`Plane`], for its own turns.
    pub row: u32,
    /// Where that bitmap begins in an array with one such bitmap a node.
    pub set: u32,
    /// First port of its node.
    pub first: u32,
    /// Its index within its node.
    pub local: u16,
    /// Words of the bitmaps.
    pub words: u16,
}

/// Where a link leads, seen from one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// To a higher tier.
    Up,
    /// To the same tier, as between two leaves that back each other up.
    Across,
    /// To a lower tier, or to a host that forwards nothing.
    Down,
}

impl Way {
    /// Of a link from one node to another.
    pub fn between(fabric: &Fabric, from: NodeId, to: NodeId) -> Way {
        let (from, to) = (fabric.node(from), fabric.node(to));
        match from.tier.cmp(&to.tier) {
            _ if !to.forwards() => Way::Down,
            _ if !from.forwards() => Way::Up,
            Ordering::Less => Way::Up,
            Ordering::Equal => Way::Across,
            Ordering::Greater => Way::Down,
        }
    }

    /// Whether a packet that came down (`descending`) or not bounces if it goes this way: Tagger's turn from down to
    /// up, or a hop inside a tier, after which it may climb again.
    pub fn bounces(self, descending: bool) -> bool {
        self == Way::Across || (self == Way::Up && descending)
    }
}

impl<'f> Ports<'f> {
    pub fn new(fabric: &'f Fabric) -> Ports<'f> {
        let (nodes, count) = (fabric.nodes().len(), fabric.port_count());
        let mut ports = Ports {
            fabric,
            node: Vec::with_capacity(count),
            peer: Vec::with_capacity(count),
            far: Vec::new(),
            first: Vec::with_capacity(nodes + 1),
            row: Vec::with_capacity(count),
            set: Vec::with_capacity(nodes),
            words: Vec::with_capacity(nodes),
            onward: Vec::new(),
            forwards: fabric.nodes().iter().map(|node| node.forwards()).collect(),
            row_words: 0,
            set_words: 0,
        };
        for node in fabric.node_ids() {
            let own = fabric.ports(node);
            // A host that does not forward makes no turns, so it has no bitmaps.
            let forwards = ports.forwards[node.index()];
            let words = if forwards { own.len().div_ceil(64) } else { 0 };
            ports.first.push(ports.node.len() as u32);
            ports.words.push(words as u32);
            ports.set.push(ports.set_words as u32);
            ports.set_words += words;
            ports.onward.resize(ports.set_words, 0);
            for (index, port) in own.iter().enumerate() {
                ports.node.push(node.0);
                ports.peer.push(fabric.port_number(port.peer, port.peer_port) as u32);
                ports.row.push(ports.row_words as u32);
                ports.row_words += words;
                if forwards && ports.forwards[port.peer.index()] {
                    ports.onward[ports.set[node.index()] as usize + index / 64] |= 1 << (index % 64);
                }
            }
        }
        ports.first.push(ports.node.len() as u32);
        ports.far = ports.peer.iter().map(|&port| ports.here(port)).collect();
        ports
    }

    /// What a search asks about a port.
    #[inline]
    pub fn here(&self, port: u32) -> Far {
        let node = self.node[port as usize] as usize;
        let (first, set) = (self.first[node], self.set[node]);
        let (local, words) = ((port - first) as u16, self.words[node] as u16);
        Far { port, row: self.row[port as usize], set, first, local, words }
    }

    /// The number of ports of all nodes.
    pub fn len(&self) -> usize {
        self.node.len()
    }

    /// Whether packets that arrive at this port can go on.
    #[inline]
    pub fn forwards(&self, port: u32) -> bool {
        self.forwards[self.node[port as usize] as usize]
    }

    /// The port's index within its node.
    #[inline]
    pub fn local(&self, port: u32) -> usize {
        (port - self.first[self.node[port as usize] as usize]) as usize
    }

    /// The range of a bitmap over the ports of this port's node, in a [`Plane`].
    #[inline]
    pub fn row(&self, port: u32) -> std::ops::Range<usize> {
        let start = self.row[port as usize] as usize;
        start..start + self.words[self.node[port as usize] as usize] as usize
    }

    /// The range of a bitmap over the ports of a node, in an array with one bitmap a node.
    #[inline]
    pub fn set(&self, node: u32) -> std::ops::Range<usize> {
        let start = self.set[node as usize] as usize;
        start..start + self.words[node as usize] as usize
    }

    /// The ingress port that a packet reaches if it leaves the node of `port` by its port `out`.
    #[inline]
    pub fn next(&self, port: u32, out: usize) -> u32 {
        self.peer[self.first[self.node[port as usize] as usize] as usize + out]
    }

    /// An empty plane.
    pub fn plane(&self) -> Plane {
        vec![0; self.row_words]
    }

    /// One empty bitmap a node.
    pub fn node_sets(&self) -> Vec<u64> {
        vec![0; self.set_words]
    }

    /// The ports of a node, as numbers among all.
    pub fn of(&self, node: NodeId) -> std::ops::Range<u32> {
        self.first[node.index()]..self.first[node.index() + 1]
    }

    /// Whether a host that does not forward is at the other end.
    #[inline]
    pub fn faces_host(&self, port: u32) -> bool {
        !self.forwards(self.peer[port as usize])
    }

    /// The vertices in the order in which greedy algorithms visit them: by name of the switch, then port.
    pub fn visiting_order(&self) -> Vec<u32> {
        let mut nodes: Vec<NodeId> = self.fabric.node_ids().filter(|node| self.forwards[node.index()]).collect();
        nodes.sort_unstable_by(|&a, &b| self.fabric.name(a).cmp(self.fabric.name(b)));
        nodes.into_iter().flat_map(|node| self.of(node)).collect()
    }
}

/// A bitmap over the ports of its own node for every port: a set of (ingress port, egress port) pairs, or,
/// read by egress port, of the ingress ports that feed it.
pub(crate) type Plane = Vec<u64>;

/// Whether a bit of a bitmap is set.
#[inline]
pub(crate) fn has(words: &[u64], bit: usize) -> bool {
    words[bit / 64] >> (bit % 64) & 1 == 1
}

/// Sets a bit of a bitmap.
#[inline]
pub(crate) fn put(words: &mut [u64], bit: usize) {
    words[bit / 64] |= 1 << (bit % 64);
}
