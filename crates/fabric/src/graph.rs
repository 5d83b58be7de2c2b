//! The graph of a fabric: nodes, links and ports in dense arrays.

use crate::decision::{Decision, Subject};
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;
use units::{Rate, Time};

/// Host or switch of one [`Fabric`]: index into [`Fabric::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct NodeId(pub u32);

/// Link of one [`Fabric`]: index into [`Fabric::links`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct LinkId(pub u32);

/// Port of one node, numbered from 0 in the order of connection.
pub type PortIndex = u16;

impl NodeId {
    /// Returns the index into [`Fabric::nodes`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
impl LinkId {
    /// Returns the index into [`Fabric::links`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Kind of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// Source and sink of traffic.
    Host,
    /// Forwards frames.
    Switch,
}

/// A host or a switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Name, unique within the fabric.
    pub name: String,
    /// Host or switch.
    pub kind: NodeKind,
    /// Tier: 0 for a host, 1 for an edge (ToR) switch, 2 for aggregation, 3 for core.
    pub tier: u8,
    /// Set for a host that forwards frames of other hosts, as a BCube server does; always `false` for a switch.
    pub relay: bool,
}

impl Node {
    /// Returns `true` if the node forwards frames of other nodes: a switch, or a host that relays.
    #[inline]
    pub fn forwards(&self) -> bool {
        self.relay || self.kind == NodeKind::Switch
    }
}

/// End of a link: a port of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct End {
    /// The node.
    pub node: NodeId,
    /// Port of that node.
    pub port: PortIndex,
}

/// Properties of a link, equal in both directions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkSpec {
    /// Rate of each direction.
    pub rate: Rate,
    /// Propagation delay, above zero.
    pub delay: Time,
    /// Probability 0..=1 that a frame is lost, independent of the frame's length.
    pub loss: f64,
    /// Probability 0..=1 that a bit is flipped, which corrupts its frame.
    pub bit_error_rate: f64,
}

impl LinkSpec {
    /// Creates a link without loss.
    pub const fn new(rate: Rate, delay: Time) -> Self {
        LinkSpec { rate, delay, loss: 0.0, bit_error_rate: 0.0 }
    }
}

/// Full-duplex link between two ports. It dereferences to its [`LinkSpec`].
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// First end, as passed to `connect`.
    pub a: End,
    /// Second end.
    pub b: End,
    /// Properties, shared by links because a fabric has few different kinds of links.
    pub(crate) spec: Arc<LinkSpec>,
}

impl Link {
    /// Returns the properties without the ends.
    pub fn spec(&self) -> LinkSpec {
        *self.spec
    }
}

impl Deref for Link {
    type Target = LinkSpec;
    #[inline]
    fn deref(&self) -> &LinkSpec {
        &self.spec
    }
}

/// Far end of a port's link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortPeer {
    /// Link at this port.
    pub link: LinkId,
    /// Node at the other end.
    pub peer: NodeId,
    /// Port at the other end.
    pub peer_port: PortIndex,
}

/// Value for "no host" in the dense index.
pub(crate) const NO_HOST: u32 = u32::MAX;

/// Hosts and switches with the links between them. Created by [`crate::FabricBuilder`], a generator or a file reader.
/// Nodes and connections are immutable.
#[derive(Clone, Debug)]
pub struct Fabric {
    pub(crate) kind: String,
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: Vec<Link>,
    pub(crate) hosts: Vec<NodeId>,
    /// Dense host index by node, or [`NO_HOST`].
    pub(crate) host_index: Vec<u32>,
    /// Ports of node n: `ports[port_base[n]..port_base[n + 1]]`.
    pub(crate) port_base: Vec<u32>,
    pub(crate) ports: Vec<PortPeer>,
    /// Nodes sorted by name for binary search: 4 bytes per node, compared with about 40 bytes in a hash map.
    pub(crate) by_name: Vec<NodeId>,
    /// Name of each port in the file ("Ethernet4", "e1-1"), by [`Fabric::port_number`]; "" for a port without a name.
    /// Empty if no port has a name.
    pub(crate) port_names: Vec<Box<str>>,
    /// Reason that each node is a host or a switch; empty if the fabric was not read from a file.
    pub(crate) reasons: Vec<Cow<'static, str>>,
    /// Decisions of the file's reader.
    pub(crate) decisions: Vec<Decision>,
    /// See [`Fabric::numbers_nodes`].
    pub(crate) numbers_nodes: bool,
}

impl Fabric {
    /// Returns `true` if accompanying files identify hosts by node number, as the files of HPCC's simulator do. If all
    /// hosts precede all switches, node number and host index are equal.
    pub fn numbers_nodes(&self) -> bool {
        self.numbers_nodes
    }

    /// Returns the kind of the fabric: "fat-tree", "file" ...
    pub fn kind(&self) -> &str {
        &self.kind
    }
    /// Returns all nodes, by [`NodeId`].
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
    /// Returns all links, by [`LinkId`].
    pub fn links(&self) -> &[Link] {
        &self.links
    }
    /// Returns a node.
    #[inline]
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.index()]
    }
    /// Returns a link.
    #[inline]
    pub fn link(&self, link: LinkId) -> &Link {
        &self.links[link.index()]
    }
    /// Returns the name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].name
    }
    /// Returns the reason that the file's reader classified this node as host or switch: "kind linux", "named like a
    /// host". `None` for generated fabrics.
    pub fn reason(&self, node: NodeId) -> Option<&str> {
        let reason = self.reasons.get(node.index())?;
        (!reason.is_empty()).then_some(reason)
    }
    /// Returns the decisions of the file's reader about unstated properties; empty for a generated fabric.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }
    /// Returns `true` if some rate or delay is assumed because neither the file nor the user states it.
    pub fn assumes_links(&self) -> bool {
        self.decisions.iter().any(|decision| decision.subject == Subject::AssumedLinks)
    }

    /// Returns whether two switches share a server port (dual ToR), so that frames may take a tunnel between them.
    pub fn has_shared_ports(&self) -> bool {
        self.decisions.iter().any(|decision| decision.subject == Subject::SharedPorts)
    }
    /// Returns all node ids in order.
    pub fn node_ids(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }
    /// Returns all switches, in order of creation.
    pub fn switches(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.node_ids().filter(|&node| self.node(node).kind == NodeKind::Switch)
    }
    /// Returns the ports of a node, by [`PortIndex`].
    #[inline]
    pub fn ports(&self, node: NodeId) -> &[PortPeer] {
        let (from, to) = (self.port_base[node.index()], self.port_base[node.index() + 1]);
        &self.ports[from as usize..to as usize]
    }
    /// Returns the number of this port among all ports of the fabric, which are counted node by node from node 0.
    #[inline]
    pub fn port_number(&self, node: NodeId, port: PortIndex) -> usize {
        self.port_base[node.index()] as usize + usize::from(port)
    }
    /// Returns the name of this port in the file ("Ethernet4", "e1-1"); `None` if the port has no name.
    pub fn port_name(&self, node: NodeId, port: PortIndex) -> Option<&str> {
        let name = self.port_names.get(self.port_number(node, port))?;
        (!name.is_empty()).then_some(name)
    }
    /// Returns the port of `node` with this name.
    pub fn port_named(&self, node: NodeId, name: &str) -> Option<PortIndex> {
        if self.port_names.is_empty() {
            return None;
        }
        (0..self.ports(node).len() as PortIndex).find(|&port| self.port_name(node, port) == Some(name))
    }
    /// Returns the number of ports of all nodes: twice the number of links.
    pub fn port_count(&self) -> usize {
        self.ports.len()
    }
    /// Returns the hosts in order of creation; the position is the host index.
    pub fn hosts(&self) -> &[NodeId] {
        &self.hosts
    }
    /// Returns the dense index of a host, `None` for a switch.
    #[inline]
    pub fn host_index(&self, node: NodeId) -> Option<u32> {
        let index = self.host_index[node.index()];
        (index != NO_HOST).then_some(index)
    }
    /// Returns the node of the host with this dense index.
    ///
    /// # Panics
    /// If `host` is not below the number of hosts.
    #[inline]
    pub fn host_node(&self, host: u32) -> NodeId {
        self.hosts[host as usize]
    }
    /// Returns the node with this name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        let at = self.by_name.binary_search_by(|&node| self.name(node).cmp(name)).ok()?;
        Some(self.by_name[at])
    }
    /// Returns the link between two nodes; of parallel links, the one at the lowest port of `a`.
    pub fn link_between(&self, a: NodeId, b: NodeId) -> Option<LinkId> {
        self.ports(a).iter().find(|port| port.peer == b).map(|port| port.link)
    }
    /// Returns the lowest port of `from` that is linked to `to`.
    pub fn port_towards(&self, from: NodeId, to: NodeId) -> Option<PortIndex> {
        self.ports(from).iter().position(|port| port.peer == to).map(|port| port as PortIndex)
    }
    /// Replaces the properties of a link; its ends are unchanged. [`Fabric::check`] validates the values.
    pub fn set_link(&mut self, link: LinkId, spec: LinkSpec) {
        self.links[link.index()].spec = Arc::new(spec);
    }
}
