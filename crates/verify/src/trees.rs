//! Requires every path of a tree towards one switch to be lossless.

use crate::error::PathFault;
use crate::graph::Ports;
use crate::paths::Hop;
use crate::proof::{LOST, Verifier, host_ports};
use fabric::{Fabric, NodeId, NodeKind, PortIndex};

/// Maximum number of lossless tags whose slots fit into the bits of a word. With more tags, each path of a tree is
/// followed separately.
const BITS: usize = LOST.trailing_zeros() as usize;

/// State of a traversal of a tree from its leaves to its root, reused for the next tree.
#[derive(Debug, Default)]
pub(crate) struct Leaves {
    /// All forwarding nodes. Hosts that do not forward, which are many, are not a part of trees.
    forwarders: Vec<NodeId>,
    /// Switches that have hosts.
    sources: Vec<NodeId>,
    /// Number of nodes of the tree, without the root.
    nodes: usize,
    /// Per node: number of its child nodes that are not processed yet.
    waiting: Vec<u32>,
    open: Vec<NodeId>,
    /// Per node: slots in which frames leave it, as bits.
    slots: Vec<u64>,
    /// Per node of the tree: number of its port towards the root.
    egress: Vec<u32>,
    /// Per node: whether it is a host. A host in a tree forwards.
    relays: Vec<bool>,
}

impl Verifier<'_> {
    /// Requires the path from every switch with hosts to the hosts of `target` to be lossless for every class.
    /// `towards` has the port of each node towards the target; `None` for nodes outside the tree. Common parts of paths
    /// are checked once, so that the cost is the number of nodes, not the sum of path lengths.
    ///
    /// # Errors
    /// [`PathFault`] if the ports do not form a tree towards `target`.
    pub fn expect_tree(&mut self, target: NodeId, towards: &[Option<PortIndex>]) -> Result<(), PathFault> {
        self.expect_tree_to(target, None, towards)
    }

    /// Like [`Verifier::expect_tree`], but only for the hosts at the ports `exits` of the target; `None` means all its
    /// hosts.
    pub(crate) fn expect_tree_to(
        &mut self,
        target: NodeId,
        exits: Option<&[PortIndex]>,
        towards: &[Option<PortIndex>],
    ) -> Result<(), PathFault> {
        self.expected = true;
        let mut leaves = std::mem::take(&mut self.leaves);
        let mut lossless = Ok(self.table.tags.len() <= BITS);
        for class in 0..self.table.classes.len() {
            let so_far = lossless?;
            lossless =
                self.lossless_tree((target, exits), towards, class, &mut leaves).map(|lossless| lossless && so_far);
            if lossless.is_err() {
                break;
            }
        }
        self.leaves = leaves;
        let lossless = lossless?;
        let fabric = self.fabric;
        let is_source = |node: &&NodeId| **node != target && towards[node.index()].is_some();
        if lossless {
            self.counts.paths += self.leaves.sources.iter().filter(is_source).count() as u64;
            return Ok(());
        }
        // The tree has a lossy path or too many tags: check each path separately, which also reports lossy paths.
        let sources: Vec<NodeId> = self.leaves.sources.iter().filter(is_source).copied().collect();
        for source in sources {
            let mut hops = hops_of(fabric, source, target, towards);
            let Some(exits) = exits else {
                self.expect_path(None, &hops, target)?;
                continue;
            };
            for &port in exits {
                hops.push(Hop { node: target, port });
                self.expect_path(None, &hops, fabric.ports(target)[usize::from(port)].peer)?;
                hops.pop();
            }
        }
        Ok(())
    }

    /// Whether all paths of the tree are lossless for `class`. With more than [`BITS`] lossless tags, only the shape of
    /// the tree is checked.
    fn lossless_tree(
        &mut self,
        (target, exits): (NodeId, Option<&[PortIndex]>),
        towards: &[Option<PortIndex>],
        class: usize,
        leaves: &mut Leaves,
    ) -> Result<bool, PathFault> {
        let fabric = self.fabric;
        let few = self.table.tags.len() <= BITS;
        let graph = &self.table.graph;
        leaves.begin(fabric, &graph.ports, target, towards)?;
        let (mut lossless, mut left) = (true, 0);
        let mut arriving = Vec::new();
        while let Some(node) = leaves.open.pop() {
            left += 1;
            let egress = leaves.egress[node.index()];
            let port = (egress - graph.ports.base(node)) as PortIndex;
            let mut slots = leaves.slots[node.index()];
            if few && !leaves.relays[node.index()] {
                slots |= self.edge.entrance_bits(fabric, &self.table, Hop { node, port }, egress, class);
                lossless &= slots & LOST == 0;
                slots &= !LOST;
            }
            let ingress = graph.ports.peer(egress);
            let next = graph.ports.node(ingress);
            if next == target {
                arriving.push((ingress, slots));
                slots = 0;
            }
            while slots != 0 {
                let vertex = graph.vertex(ingress, slots.trailing_zeros() as u16);
                slots &= slots - 1;
                let out = leaves.egress[next.index()] - graph.ports.base(next);
                match graph.onward_slot(vertex, out as PortIndex) {
                    Some(slot) => leaves.slots[next.index()] |= 1 << slot,
                    None => lossless = false,
                }
            }
            let waiting = &mut leaves.waiting[next.index()];
            *waiting -= 1;
            if *waiting == 0 && next != target {
                leaves.open.push(next);
            }
        }
        for (ingress, mut slots) in arriving {
            while slots != 0 {
                let vertex = self.table.graph.vertex(ingress, slots.trailing_zeros() as u16);
                slots &= slots - 1;
                lossless &= match exits {
                    None => self.delivers(vertex, target)?,
                    Some(exits) => exits.iter().all(|&exit| self.table.graph.onward_slot(vertex, exit).is_some()),
                };
            }
        }
        // Nodes with unprocessed children are on a forwarding loop, or on a path that starts at a loop.
        if left < leaves.nodes {
            let circle = (0..towards.len()).find(|&at| leaves.waiting[at] > 0 && at != target.index()).unwrap_or(0);
            return Err(PathFault::Loop { node: fabric.name(NodeId(circle as u32)).to_owned() });
        }
        Ok(lossless)
    }
}

impl Leaves {
    pub fn new(fabric: &Fabric) -> Leaves {
        Leaves {
            forwarders: fabric.node_ids().filter(|&node| fabric.node(node).forwards()).collect(),
            sources: fabric.switches().filter(|&node| host_ports(fabric, node).next().is_some()).collect(),
            waiting: vec![0; fabric.nodes().len()],
            slots: vec![0; fabric.nodes().len()],
            egress: vec![0; fabric.nodes().len()],
            relays: fabric.nodes().iter().map(|node| node.kind == NodeKind::Host).collect(),
            ..Leaves::default()
        }
    }

    fn begin(
        &mut self,
        fabric: &Fabric,
        ports: &Ports,
        target: NodeId,
        towards: &[Option<PortIndex>],
    ) -> Result<(), PathFault> {
        for node in &self.forwarders {
            (self.waiting[node.index()], self.slots[node.index()]) = (0, 0);
        }
        self.open.clear();
        self.nodes = 0;
        let name = |node| fabric.name(node).to_owned();
        let in_tree = |node: NodeId| towards[node.index()].filter(|_| node != target);
        for &node in &self.forwarders {
            let Some(port) = in_tree(node) else { continue };
            if u32::from(port) >= ports.count(node) {
                let ports = ports.count(node) as usize;
                return Err(PathFault::UnknownPort { node: name(node), port: port.to_string(), ports });
            }
            let egress = ports.base(node) + u32::from(port);
            let next = ports.node(ports.peer(egress));
            if next != target && towards[next.index()].is_none() {
                return Err(PathFault::NoLink { from: name(next), to: name(target) });
            }
            if self.relays[next.index()] && !fabric.node(next).forwards() {
                return Err(PathFault::HostDoesNotForward { host: name(next) });
            }
            self.egress[node.index()] = egress;
            self.waiting[next.index()] += 1;
            self.nodes += 1;
        }
        let leaves = self.forwarders.iter().filter(|&&node| in_tree(node).is_some() && self.waiting[node.index()] == 0);
        self.open.extend(leaves);
        Ok(())
    }
}

/// Returns the hops of the path from `source` to `target` in a loop-free tree.
fn hops_of(fabric: &Fabric, source: NodeId, target: NodeId, towards: &[Option<PortIndex>]) -> Vec<Hop> {
    let (mut hops, mut at) = (Vec::new(), source);
    while let Some(port) = towards[at.index()].filter(|_| at != target) {
        hops.push(Hop { node: at, port });
        at = fabric.ports(at)[usize::from(port)].peer;
    }
    hops
}
