//! Shortest-path trees towards every switch or server.
//!
//! In the tree of a destination, the parent of each node is one of its neighbours that are closer to the destination.
//! The turns of all paths of a tree are recorded without enumerating the paths: for each node, the set of distances
//! from the node to the senders below it is propagated towards the root. The cost of a turn is independent of the
//! number of paths that make it.

mod batch;

use super::expand::finish;
use super::path::Visitor;
use crate::graph::TaggedGraph;
use crate::ports::{Ports, put};
use fabric::tags::ones;
use fabric::{Fabric, NodeId};
use units::random::{purpose, split_mix};

/// Roots of the trees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TreeRoots {
    /// One tree per switch with servers: the paths to all servers of a switch are equal up to the switch.
    Switches,
    /// One tree per server. With a seed, the choice among shortest paths differs between servers; without a seed, the
    /// trees of all servers of a switch are equal.
    Servers,
}

const NONE: u32 = u32::MAX;
const FAR: u16 = u16::MAX;

/// A hop from one forwarding node to another.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// Slot of the node to which the step leads.
    pub peer: u32,
    /// Egress port, as a port number of the fabric.
    pub port: u32,
    /// Start of the row of the ingress port at the other end, in a [`PortBitmaps`](crate::ports::PortBitmaps).
    row: u32,
    /// Index of the egress port within its node.
    local: u16,
}

/// Breadth-first trees over the forwarding nodes, built one at a time in reused buffers. Nodes are identified by
/// *slot*, a compact index that keeps the arrays of a search small enough for the L1 cache.
pub(crate) struct Tree<'p, 'f> {
    pub ports: &'p Ports<'f>,
    /// Node of each slot.
    pub nodes: Vec<u32>,
    /// Slot (compact index) of each node; `NONE` for hosts that do not forward.
    pub slots: Vec<u32>,
    steps: Vec<Step>,
    steps_of: Vec<u32>,
    /// Distance in links from each slot to the root.
    pub distance: Vec<u16>,
    /// Slots, sorted by distance from the root.
    pub order: Vec<u32>,
    /// Per slot: its selected step towards the root.
    up: Vec<u32>,
    unreached: Vec<u32>,
    pub edge_visits: u64,
}

impl<'p, 'f> Tree<'p, 'f> {
    pub fn new(ports: &'p Ports<'f>) -> Tree<'p, 'f> {
        let fabric = ports.fabric;
        let mut slots = vec![NONE; fabric.nodes().len()];
        let nodes: Vec<u32> =
            fabric.node_ids().filter(|&node| fabric.node(node).forwards()).map(|node| node.0).collect();
        for (slot, &node) in nodes.iter().enumerate() {
            slots[node as usize] = slot as u32;
        }
        let (mut steps, mut steps_of) = (Vec::new(), vec![0]);
        for &node in &nodes {
            for port in ports.of(NodeId(node)) {
                let peer = slots[ports.node[ports.peer[port as usize] as usize] as usize];
                if peer != NONE {
                    let (row, local) = (ports.far[port as usize].row, ports.local(port) as u16);
                    steps.push(Step { peer, port, row, local });
                }
            }
            steps_of.push(steps.len() as u32);
        }
        let count = nodes.len();
        Tree {
            ports,
            nodes,
            slots,
            steps,
            steps_of,
            distance: vec![FAR; count],
            order: Vec::with_capacity(count),
            up: vec![NONE; count],
            unreached: Vec::with_capacity(count),
            edge_visits: 0,
        }
    }

    /// Returns the steps from a slot to its neighbours, by port.
    pub fn steps(&self, slot: u32) -> &[Step] {
        &self.steps[self.steps_of[slot as usize] as usize..self.steps_of[slot as usize + 1] as usize]
    }

    /// Returns the step from a slot to its parent in the tree; `None` at the root.
    pub fn step_up(&self, slot: u32) -> Option<Step> {
        let up = self.up[slot as usize];
        (up != NONE).then(|| self.steps[up as usize])
    }

    /// Returns whether the slot can reach the root.
    pub fn reaches(&self, slot: u32) -> bool {
        self.distance[slot as usize] != FAR
    }

    /// Computes the distances of all slots from a root. Large BFS frontiers are expanded bottom-up
    /// (direction-optimising BFS): each unreached slot scans its neighbours and usually finds a reached neighbour
    /// early.
    pub fn grow(&mut self, root: u32) {
        self.distance.fill(FAR);
        self.order.clear();
        self.unreached.clear();
        self.order.push(root);
        self.distance[root as usize] = 0;
        let (mut from, mut level) = (0, 0u16);
        while from < self.order.len() && self.order.len() < self.nodes.len() && level < FAR - 1 {
            let to = self.order.len();
            level += 1;
            if (to - from) * 16 < self.nodes.len() - to {
                for at in from..to {
                    self.expand(self.order[at], level);
                }
            } else {
                self.ask_unreached(level);
            }
            from = to;
        }
    }

    fn expand(&mut self, slot: u32, level: u16) {
        let range = self.steps_of[slot as usize] as usize..self.steps_of[slot as usize + 1] as usize;
        self.edge_visits += range.len() as u64;
        for step in &self.steps[range] {
            let distance = &mut self.distance[step.peer as usize];
            if *distance == FAR {
                *distance = level;
                self.order.push(step.peer);
            }
        }
    }

    fn ask_unreached(&mut self, level: u16) {
        let mut unreached = std::mem::take(&mut self.unreached);
        if unreached.is_empty() {
            unreached.extend((0..self.nodes.len() as u32).filter(|&slot| !self.reaches(slot)));
        }
        unreached.retain(|&slot| {
            if self.reaches(slot) {
                return false;
            }
            let steps = self.steps(slot);
            let found = steps.iter().position(|step| self.distance[step.peer as usize] == level - 1);
            self.edge_visits += found.map_or(steps.len(), |at| at + 1) as u64;
            if found.is_some() {
                self.distance[slot as usize] = level;
                self.order.push(slot);
            }
            found.is_none()
        });
        self.unreached = unreached;
    }

    /// Selects a parent for every slot: the first neighbour that is closer to the root, starting at a port determined
    /// by the seed.
    pub fn choose(&mut self, seed: Option<u64>) {
        self.up[self.order[0] as usize] = NONE;
        for &slot in &self.order[1..] {
            let (from, to) = (self.steps_of[slot as usize], self.steps_of[slot as usize + 1]);
            let closer = self.distance[slot as usize] - 1;
            let begin = seed.map_or(from, |seed| {
                let mut state = seed ^ (u64::from(slot) << 32);
                from + (((split_mix(&mut state) >> 32) * u64::from(to - from)) >> 32) as u32
            });
            let closer = |&at: &u32| self.distance[self.steps[at as usize].peer as usize] == closer;
            let parent = (begin..to).find(closer).or_else(|| (from..begin).find(closer)).unwrap_or(NONE);
            self.edge_visits +=
                u64::from(if parent >= begin { parent - begin } else { to - begin + parent - from }) + 1;
            self.up[slot as usize] = parent;
        }
    }
}

/// Returns, for each tree, its root (a slot) and the ports by which packets leave the root towards hosts.
fn roots(tree: &Tree, kind: TreeRoots) -> Vec<(u32, Vec<u32>)> {
    let (ports, fabric) = (tree.ports, tree.ports.fabric);
    let mut all = Vec::new();
    match kind {
        TreeRoots::Switches => {
            for (slot, &node) in tree.nodes.iter().enumerate() {
                let exits: Vec<u32> = ports.of(NodeId(node)).filter(|&port| ports.faces_host(port)).collect();
                if !exits.is_empty() || fabric.host_index(NodeId(node)).is_some() {
                    all.push((slot as u32, exits));
                }
            }
        }
        TreeRoots::Servers => {
            for &host in fabric.hosts() {
                if fabric.node(host).forwards() {
                    all.push((tree.slots[host.index()], Vec::new()));
                } else {
                    // Paths to a server with several links use its first link.
                    let exit = ports.peer[ports.first[host.index()] as usize];
                    all.push((tree.slots[ports.node[exit as usize] as usize], vec![exit]));
                }
            }
        }
    }
    all
}

/// Returns the seed of the choices in tree number `tree`.
fn seed_of(seed: Option<u64>, tree: usize) -> Option<u64> {
    seed.map(|seed| {
        let mut state = seed ^ purpose("tagger trees").rotate_left(17) ^ (tree as u64);
        split_mix(&mut state)
    })
}

/// Merges the trees of a root that differ only in the last hop. Without a seed these are the trees of all servers of
/// the root, because every node selects its lowest port for all of them.
fn joined(mut roots: Vec<(u32, Vec<u32>)>) -> Vec<(u32, Vec<u32>)> {
    roots.sort_by_key(|&(root, _)| root);
    roots.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            first.1.append(&mut next.1);
        }
        same
    });
    roots
}

/// Computes all trees (consecutive trees with the same root only once). Calls `show` for each tree with the ports by
/// which packets leave the root, until `show` returns false.
fn for_each_tree<'p, 'f>(
    ports: &'p Ports<'f>,
    seed: Option<u64>,
    roots_of: impl FnOnce(&Tree) -> Vec<(u32, Vec<u32>)>,
    mut show: impl FnMut(&mut Tree<'p, 'f>, &[u32]) -> bool,
) -> u64 {
    let mut tree = Tree::new(ports);
    let mut grown = NONE;
    for (index, (root, exits)) in roots_of(&tree).into_iter().enumerate() {
        let again = root == grown;
        if !again {
            tree.grow(root);
            grown = root;
        }
        if !again || seed.is_some() {
            tree.choose(seed_of(seed, index));
        }
        if !show(&mut tree, &exits) {
            break;
        }
    }
    tree.edge_visits
}

/// Records the turns of all paths of all trees.
pub(crate) fn record(graph: &mut TaggedGraph, kind: TreeRoots, seed: Option<u64>) {
    let ports = graph.ports;
    let mut senders = Senders::new(ports);
    let mut climb = Climb::new(ports, &senders);
    if seed.is_none() {
        let roots = joined(roots(&Tree::new(ports), kind));
        for part in batch::record(ports, &climb, &roots, graph.threads) {
            graph.unite(&part.graph);
            climb.taken.iter_mut().zip(&part.climb.taken).for_each(|(all, own)| *all |= own);
        }
        roots.iter().flat_map(|(_, exits)| exits).for_each(|&exit| senders.take(ports, exit));
    } else {
        graph.edge_visits += for_each_tree(
            ports,
            seed,
            |tree| roots(tree, kind),
            |tree, exits| {
                climb.record(graph, tree, exits);
                exits.iter().for_each(|&exit| senders.take(ports, exit));
                true
            },
        );
    }
    climb.taken.iter().enumerate().filter(|(_, taken)| **taken).for_each(|(port, _)| senders.take(ports, port as u32));
    senders.finish(graph);
}

/// Entry ports of hosts, and the egress ports of the first turn of their packets.
pub(crate) struct Senders {
    /// Per node: a bitmap of its ports that lead to hosts.
    entries: Vec<u64>,
    /// Per node: a bitmap of the egress ports used by packets of the node's own hosts.
    taken: Vec<u64>,
}

impl Senders {
    pub fn new(ports: &Ports) -> Senders {
        let mut senders = Senders { entries: ports.node_sets(), taken: ports.node_sets() };
        for port in (0..ports.len() as u32).filter(|&port| ports.forwards(port) && ports.faces_host(port)) {
            put(&mut senders.entries[ports.set(ports.node[port as usize])], ports.local(port));
        }
        senders
    }

    /// Returns whether hosts that do not forward are attached to a node.
    pub fn at(&self, ports: &Ports, node: u32) -> bool {
        self.entries[ports.set(node)].iter().any(|&word| word != 0)
    }

    /// Records that packets of the hosts of a node leave the node by `port`.
    pub fn take(&mut self, ports: &Ports, port: u32) {
        put(&mut self.taken[ports.set(ports.node[port as usize])], ports.local(port));
    }

    /// Records the turns (ingress port and egress port) of the first hop. Packets from each host leave its switch by
    /// the ports that packets of any host of this switch take, except the port to the host itself.
    pub fn finish(&self, graph: &mut TaggedGraph) {
        let ports = graph.ports;
        graph.reserve_hops(1);
        for node in 0..ports.fabric.nodes().len() as u32 {
            let first = ports.first[node as usize];
            for bit in ones(&self.entries[ports.set(node)]) {
                let row = ports.row(first + bit as u32);
                for (index, &word) in self.taken[ports.set(node)].iter().enumerate() {
                    let own = if bit / 64 == index { 1 << (bit % 64) } else { 0 };
                    graph.hops[0][row.start + index] |= word & !own;
                }
            }
        }
    }
}

/// Sets of distances that are propagated from the leaves to the root of a tree, and the state needed to record its
/// turns.
#[derive(Clone)]
struct Climb {
    /// Per slot: `sends` is true if hosts that do not forward are attached to it, `relays` is true if it is itself a
    /// relaying host.
    sends: Vec<bool>,
    relays: Vec<bool>,
    /// Per port: whether packets of the node's own hosts use it.
    taken: Vec<bool>,
    /// Per slot, in as many words as the depth of the tree needs: bit d is set if some packets that entered the fabric
    /// below the slot make their turn at it on hop d + 1.
    below: Vec<u64>,
}

impl Climb {
    fn new(ports: &Ports, senders: &Senders) -> Climb {
        let fabric = ports.fabric;
        let nodes = || fabric.node_ids().filter(|&node| fabric.node(node).forwards());
        Climb {
            sends: nodes().map(|node| senders.at(ports, node.0)).collect(),
            relays: nodes().map(|node| fabric.host_index(node).is_some()).collect(),
            taken: vec![false; ports.len()],
            below: Vec::new(),
        }
    }

    /// Records the turns of one tree.
    fn record(&mut self, graph: &mut TaggedGraph, tree: &Tree, exits: &[u32]) {
        let depth = tree.order.last().map_or(0, |&slot| usize::from(tree.distance[slot as usize]));
        let words = (depth + 2).div_ceil(64);
        graph.reserve_hops(depth + 2);
        self.below.clear();
        self.below.resize(tree.nodes.len() * words, 0);
        let mut recorded = 0;
        for &slot in tree.order.iter().rev() {
            let Some(step) = tree.step_up(slot) else { continue };
            if self.sends[slot as usize] {
                self.below[slot as usize * words] |= 1;
                self.taken[step.port as usize] = true;
            }
            let row = step.row as usize;
            let out = tree.step_up(step.peer).map(|up| usize::from(up.local));
            // Packets sent by a relaying host make their first turn at the next node.
            let mut carried = u64::from(self.relays[slot as usize]);
            for word in 0..words {
                let here = self.below[slot as usize * words + word];
                // A sender one hop farther away makes its turn at this slot one hop later, so the set is shifted by one
                // bit.
                let mut hops = here << 1 | carried;
                carried = here >> 63;
                self.below[step.peer as usize * words + word] |= hops;
                recorded += u64::from(hops.count_ones());
                while hops != 0 {
                    let plane = &mut graph.hops[word * 64 + hops.trailing_zeros() as usize];
                    hops &= hops - 1;
                    match out {
                        Some(out) => plane[row + out / 64] |= 1 << (out % 64),
                        None => exits.iter().for_each(|&exit| put(&mut plane[row..], tree.ports.local(exit))),
                    }
                }
            }
        }
        graph.recorded += recorded;
    }
}

/// Enumerates every path of every tree.
pub(crate) fn visit(fabric: &Fabric, kind: TreeRoots, seed: Option<u64>, visitor: &mut Visitor) {
    let ports = Ports::new(fabric);
    let mut out_ports = Vec::new();
    for_each_tree(
        &ports,
        seed,
        |tree| roots(tree, kind),
        |tree, exits| {
            for &source in fabric.hosts() {
                for number in ports.of(source) {
                    if !visit_from(tree, exits, source, number, &mut out_ports, visitor) {
                        return false;
                    }
                }
            }
            true
        },
    );
}

/// Visits the paths of one tree that start with a given link of a host. Returns false if the visitor stops.
fn visit_from(
    tree: &Tree,
    exits: &[u32],
    source: NodeId,
    number: u32,
    out_ports: &mut Vec<u16>,
    visitor: &mut Visitor,
) -> bool {
    let ports = tree.ports;
    let own = tree.slots[source.index()];
    // A relaying host sends only along the tree; any other host sends on each of its links.
    if own != NONE && tree.step_up(own).is_none_or(|step| step.port != number) {
        return true;
    }
    out_ports.clear();
    out_ports.push(ports.local(number) as u16);
    let mut at = tree.slots[ports.node[ports.peer[number as usize] as usize] as usize];
    if at == NONE || !tree.reaches(at) {
        return true;
    }
    while let Some(step) = tree.step_up(at) {
        out_ports.push(ports.local(step.port) as u16);
        at = step.peer;
    }
    finish(ports, source, exits, out_ports, visitor)
}
