//! Flat arrays over the ports of a fabric, and bitmaps over them.

use fabric::{Fabric, NodeId};
use std::cmp::Ordering;

/// Flat view of a fabric, used by all algorithms of this crate. A port is identified by its number among all ports of
/// the fabric ([`Fabric::port_number`]); as an *ingress* port it is a vertex of the tagged graph.
pub(crate) struct Ports<'f> {
    pub fabric: &'f Fabric,
    /// Node of each port.
    pub node: Vec<u32>,
    /// Port at the other end of each port's link.
    pub peer: Vec<u32>,
    /// Per port: the ingress port at the other end of its link, with the data that searches need.
    pub far: Vec<RemoteIngress>,
    /// First port of each node, followed by the total number of ports.
    pub first: Vec<u32>,
    /// Start of each port's row in a [`PortBitmaps`], in words.
    row: Vec<u32>,
    /// Start of each node's bitmap in an array with one bitmap per node, in words.
    pub set: Vec<u32>,
    /// Number of words of a bitmap over the ports of each node.
    words: Vec<u32>,
    /// Per node: bitmap of the ports that lead to a forwarding node, in an array like [`Ports::node_sets`].
    pub onward: Vec<u64>,
    /// Per node: whether it forwards.
    forwards: Vec<bool>,
    row_words: usize,
    set_words: usize,
}

/// Ingress port at the other end of a link, with all data that a search needs, in half a cache line.
#[derive(Clone, Copy, Default)]
pub(crate) struct RemoteIngress {
    /// Port number in the fabric.
    pub port: u32,
    /// Start of the port's row of turns in a [`PortBitmaps`], in words.
    pub row: u32,
    /// Start of the bitmap of the port's node in an array with one bitmap per node, in words.
    pub set: u32,
    /// First port of the port's node.
    pub first: u32,
    /// Port index within its node.
    pub local: u16,
    /// Number of words of a bitmap over the ports of the node.
    pub words: u16,
}

/// Direction of a link, as seen from the sending node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LinkDirection {
    /// To a higher tier.
    Up,
    /// To the same tier, for example between the two leaves of a redundant pair.
    Across,
    /// To a lower tier, or to a host that does not forward.
    Down,
}

impl LinkDirection {
    /// Returns the direction of a link from one node to another.
    pub fn between(fabric: &Fabric, from: NodeId, to: NodeId) -> LinkDirection {
        let (from, to) = (fabric.node(from), fabric.node(to));
        match from.tier.cmp(&to.tier) {
            _ if !to.forwards() => LinkDirection::Down,
            _ if !from.forwards() => LinkDirection::Up,
            Ordering::Less => LinkDirection::Up,
            Ordering::Equal => LinkDirection::Across,
            Ordering::Greater => LinkDirection::Down,
        }
    }

    /// Returns whether a packet bounces on this hop. A bounce is a turn from down (`descending`) to up, or a hop within
    /// a tier, after which the packet may go up again.
    pub fn bounces(self, descending: bool) -> bool {
        self == LinkDirection::Across || (self == LinkDirection::Up && descending)
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

    /// Returns the [`RemoteIngress`] record of `port` itself.
    #[inline]
    pub fn here(&self, port: u32) -> RemoteIngress {
        let node = self.node[port as usize] as usize;
        let (first, set) = (self.first[node], self.set[node]);
        let (local, words) = ((port - first) as u16, self.words[node] as u16);
        RemoteIngress { port, row: self.row[port as usize], set, first, local, words }
    }

    /// Returns the total number of ports.
    pub fn len(&self) -> usize {
        self.node.len()
    }

    /// Returns whether packets that arrive at this port can be forwarded (its node is a switch or relays).
    #[inline]
    pub fn forwards(&self, port: u32) -> bool {
        self.forwards[self.node[port as usize] as usize]
    }

    /// Returns the port's index within its node.
    #[inline]
    pub fn local(&self, port: u32) -> usize {
        (port - self.first[self.node[port as usize] as usize]) as usize
    }

    /// Returns the index range of this port's row (a bitmap over the ports of its node) in a [`PortBitmaps`].
    #[inline]
    pub fn row(&self, port: u32) -> std::ops::Range<usize> {
        let start = self.row[port as usize] as usize;
        start..start + self.words[self.node[port as usize] as usize] as usize
    }

    /// Returns the index range of a node's bitmap in an array with one bitmap per node.
    #[inline]
    pub fn set(&self, node: u32) -> std::ops::Range<usize> {
        let start = self.set[node as usize] as usize;
        start..start + self.words[node as usize] as usize
    }

    /// Returns the ingress port that a packet reaches if it leaves the node of `port` by egress port `out`.
    #[inline]
    pub fn next(&self, port: u32, out: usize) -> u32 {
        self.peer[self.first[self.node[port as usize] as usize] as usize + out]
    }

    /// Returns an empty [`PortBitmaps`].
    pub fn plane(&self) -> PortBitmaps {
        vec![0; self.row_words]
    }

    /// Returns an array with one empty bitmap per node.
    pub fn node_sets(&self) -> Vec<u64> {
        vec![0; self.set_words]
    }

    /// Returns the ports of a node, as port numbers of the fabric.
    pub fn of(&self, node: NodeId) -> std::ops::Range<u32> {
        self.first[node.index()]..self.first[node.index() + 1]
    }

    /// Returns whether the port leads to a host that does not forward.
    #[inline]
    pub fn faces_host(&self, port: u32) -> bool {
        !self.forwards(self.peer[port as usize])
    }

    /// Returns the vertices in the order in which the greedy algorithms visit them: by switch name, then port number.
    pub fn visiting_order(&self) -> Vec<u32> {
        let mut nodes: Vec<NodeId> = self.fabric.node_ids().filter(|node| self.forwards[node.index()]).collect();
        nodes.sort_unstable_by(|&a, &b| self.fabric.name(a).cmp(self.fabric.name(b)));
        nodes.into_iter().flat_map(|node| self.of(node)).collect()
    }
}

/// Per port, a bitmap over the ports of its own node: a set of (ingress port, egress port) pairs. If the row is that of
/// an egress port, the bitmap has the ingress ports with a turn to it.
pub(crate) type PortBitmaps = Vec<u64>;

/// Returns whether a bit of a bitmap is set.
#[inline]
pub(crate) fn has(words: &[u64], bit: usize) -> bool {
    words[bit / 64] >> (bit % 64) & 1 == 1
}

/// Sets a bit of a bitmap.
#[inline]
pub(crate) fn put(words: &mut [u64], bit: usize) {
    words[bit / 64] |= 1 << (bit % 64);
}
