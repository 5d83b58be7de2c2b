//! Graph for route computation: nodes that choose among ports, and rows of destinations.

use crate::{Fabric, LinkId, NodeId, PortIndex};

/// Value for "not a router" and "no such switch".
pub(crate) const NONE: u32 = u32::MAX;

/// Live link of a router to another router.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// Slot of the other router.
    pub peer: u32,
    /// Port at this router.
    pub port: u16,
}

/// Routers (all nodes that make routing decisions) with the links among them. Hosts with a single link to a switch make
/// no decisions and are omitted, which reduces the time of a search in a fat-tree to a tenth.
#[derive(Clone, Debug)]
pub(crate) struct RouterGraph {
    pub routers: Vec<NodeId>,
    /// Slot per node, or [`NONE`].
    pub slot: Vec<u32>,
    base: Vec<u32>,
    edges: Vec<Edge>,
    /// Whether frames may pass through the node of each slot.
    pub forwards: Vec<bool>,
}

/// Failed links as a lookup table by link; empty if no link failed.
#[derive(Clone, Debug)]
pub(crate) struct FailedLinks(Vec<bool>);

impl FailedLinks {
    pub fn new(fabric: &Fabric, links: &[LinkId]) -> FailedLinks {
        if links.is_empty() {
            return FailedLinks(Vec::new());
        }
        let mut out = vec![false; fabric.links().len()];
        links.iter().for_each(|link| out[link.index()] = true);
        FailedLinks(out)
    }
    pub fn contains(&self, link: LinkId) -> bool {
        self.0.get(link.index()).copied().unwrap_or(false)
    }
}

/// Returns the switch (or relay), its port and the link of a host with exactly one link. Routes to the host end at that
/// switch. `None` for other hosts.
fn hangs_on(fabric: &Fabric, host: NodeId) -> Option<(NodeId, u16, LinkId)> {
    match fabric.ports(host) {
        [only] if fabric.node(only.peer).forwards() && !fabric.node(host).relay => {
            Some((only.peer, only.peer_port, only.link))
        }
        _ => None,
    }
}

impl RouterGraph {
    pub fn new(fabric: &Fabric, dead: &FailedLinks) -> RouterGraph {
        let mut routers = Vec::new();
        let mut slot = vec![NONE; fabric.nodes().len()];
        for node in fabric.node_ids() {
            if fabric.node(node).forwards() || hangs_on(fabric, node).is_none() {
                slot[node.index()] = routers.len() as u32;
                routers.push(node);
            }
        }
        let mut base = vec![0];
        let mut edges = Vec::new();
        for &node in &routers {
            for (port, peer) in fabric.ports(node).iter().enumerate() {
                if slot[peer.peer.index()] != NONE && !dead.contains(peer.link) {
                    edges.push(Edge { peer: slot[peer.peer.index()], port: port as u16 });
                }
            }
            base.push(edges.len() as u32);
        }
        let forwards = routers.iter().map(|&node| fabric.node(node).forwards()).collect();
        RouterGraph { routers, slot, base, edges, forwards }
    }

    pub fn len(&self) -> usize {
        self.routers.len()
    }
    /// Returns the live links of a slot, by ascending port.
    #[inline]
    pub fn edges(&self, slot: u32) -> &[Edge] {
        &self.edges[self.base[slot as usize] as usize..self.base[slot as usize + 1] as usize]
    }
}

/// Attachment of a host. Both fields are read together, for every frame at every switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Row of the host in the table of destinations.
    pub row: u32,
    /// Port by which the row's switch delivers to the host; 0 if no switch delivers the row.
    pub port: PortIndex,
}

/// Rows of destinations: each host has a row; hosts on one switch may share a row.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// Attachment of each host.
    pub attach: Vec<Attachment>,
    /// Per row: switch that delivers to its hosts' ports; [`NONE`] if the table also has the port of the last hop.
    pub row_switch: Vec<u32>,
    /// Last node of the routes of each row: a switch or a host.
    pub target: Vec<NodeId>,
}

impl Rows {
    /// Creates one row per switch with single-homed hosts, and one row per other host. A host whose only link is dead
    /// gets its own row without routes.
    pub fn aggregated(fabric: &Fabric, dead: &FailedLinks) -> Rows {
        let mut rows = Rows { attach: vec![], row_switch: vec![], target: vec![] };
        let mut row_of_switch = vec![NONE; fabric.nodes().len()];
        for &host in fabric.hosts() {
            let next_row = rows.target.len() as u32;
            match hangs_on(fabric, host).filter(|(_, _, link)| !dead.contains(*link)) {
                Some((switch, port, _)) => {
                    let row = &mut row_of_switch[switch.index()];
                    if *row == NONE {
                        *row = next_row;
                        rows.row_switch.push(switch.0);
                        rows.target.push(switch);
                    }
                    rows.attach.push(Attachment { row: *row, port });
                }
                None => {
                    rows.attach.push(Attachment { row: next_row, port: 0 });
                    rows.row_switch.push(NONE);
                    rows.target.push(host);
                }
            }
        }
        rows
    }

    pub fn len(&self) -> usize {
        self.target.len()
    }
}
