//! The graph: nodes, links and ports in dense arrays.

use crate::decision::{Decision, Subject};
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;
use units::{Rate, Time};

/// A host or switch of one [`Fabric`]: its index in [`Fabric::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct NodeId(pub u32);

/// A link of one [`Fabric`]: its index in [`Fabric::links`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct LinkId(pub u32);

/// A port of one node, counted from 0 in the order in which its links were connected.
pub type PortIndex = u16;

impl NodeId {
    /// The index into [`Fabric::nodes`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
impl LinkId {
    /// The index into [`Fabric::links`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// A source and sink of traffic.
    Host,
    /// Forwards frames.
    Switch,
}

/// A host or a switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Unique within the fabric.
    pub name: String,
    /// Host or switch.
    pub kind: NodeKind,
    /// Height: 0 for a host, 1 for an edge (ToR) switch, 2 for aggregation, 3 for core.
    pub tier: u8,
    /// A host that forwards the traffic of others, as a BCube server does; always false for a switch.
    pub relay: bool,
}

impl Node {
    /// Whether frames may pass through: a switch, or a host that relays.
    #[inline]
    pub fn forwards(&self) -> bool {
        self.relay || self.kind == NodeKind::Switch
    }
}

/// Where a link ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct End {
    /// The node.
    pub node: NodeId,
    /// The port of that node.
    pub port: PortIndex,
}

/// What a link is made of; the same in both directions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkSpec {
    /// Rate of each direction.
    pub rate: Rate,
    /// Propagation delay, above zero.
    pub delay: Time,
    /// Probability 0..=1 that a frame is lost, whatever its length.
    pub loss: f64,
    /// Probability 0..=1 that a bit is flipped, which costs the frame it is in.
    pub bit_error_rate: f64,
}

impl LinkSpec {
    /// A link that loses nothing.
    pub const fn new(rate: Rate, delay: Time) -> Self {
        LinkSpec { rate, delay, loss: 0.0, bit_error_rate: 0.0 }
    }
}

/// A full-duplex link between two ports. What it is made of, such as its `rate`, is read as if it were its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// The end that was named first.
    pub a: End,
    /// The other end.
    pub b: End,
    /// A fabric has a handful of kinds of links: each is kept once.
    pub(crate) spec: Arc<LinkSpec>,
}

impl Link {
    /// The properties without the ends.
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

/// What a port is connected to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortPeer {
    /// The link in this port.
    pub link: LinkId,
    /// The node at the other end.
    pub peer: NodeId,
    /// The port at the other end.
    pub peer_port: PortIndex,
}

/// "No host", in the dense index.
pub(crate) const NO_HOST: u32 = u32::MAX;

/// Hosts and switches with the links between them. Made by [`crate::FabricBuilder`], a generator or a
/// file; its shape never changes afterwards.
#[derive(Clone, Debug)]
pub struct Fabric {
    pub(crate) kind: String,
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: Vec<Link>,
    pub(crate) hosts: Vec<NodeId>,
    /// Dense host index per node, or [`NO_HOST`].
    pub(crate) host_index: Vec<u32>,
    /// Ports of node n: `ports[port_base[n]..port_base[n + 1]]`.
    pub(crate) port_base: Vec<u32>,
    pub(crate) ports: Vec<PortPeer>,
    /// All nodes sorted by name: 4 bytes a node where a hash map would take 40.
    pub(crate) by_name: Vec<NodeId>,
    /// What its file calls each port ("Ethernet4", "e1-1"), by [`Fabric::port_number`], "" where it does not;
    /// empty if it names none.
    pub(crate) port_names: Vec<Box<str>>,
    /// Why each node is a host or a switch; empty if no file had to be read for it.
    pub(crate) reasons: Vec<Cow<'static, str>>,
    /// Of the reader of its file.
    pub(crate) decisions: Vec<Decision>,
    /// See [`Fabric::numbers_nodes`].
    pub(crate) numbers_nodes: bool,
}

impl Fabric {
    /// Whether files beside its own call hosts by the number of their node, as those of HPCC's simulator do. Where
    /// hosts stand before all switches that is their number among the hosts, too.
    pub fn numbers_nodes(&self) -> bool {
        self.numbers_nodes
    }

    /// What it is: "fat-tree", "file" ...
    pub fn kind(&self) -> &str {
        &self.kind
    }
    /// All nodes, by [`NodeId`].
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
    /// All links, by [`LinkId`].
    pub fn links(&self) -> &[Link] {
        &self.links
    }
    /// One node.
    #[inline]
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.index()]
    }
    /// One link.
    #[inline]
    pub fn link(&self, link: LinkId) -> &Link {
        &self.links[link.index()]
    }
    /// The name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].name
    }
    /// Why its file's reader took this node for a host or a switch: "kind linux", "named like a host". `None` where
    /// a formula made it.
    pub fn reason(&self, node: NodeId) -> Option<&str> {
        let reason = self.reasons.get(node.index())?;
        (!reason.is_empty()).then_some(reason)
    }
    /// Decisions of the file's reader about unstated properties; empty for a generated fabric.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }
    /// Whether some rate or delay is assumed, since neither the file nor the user states it.
    pub fn assumes_links(&self) -> bool {
        self.decisions.iter().any(|decision| decision.subject == Subject::AssumedLinks)
    }
    /// All node ids in order.
    pub fn node_ids(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }
    /// All switches, in order of creation.
    pub fn switches(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.node_ids().filter(|&node| self.node(node).kind == NodeKind::Switch)
    }
    /// The ports of a node, by [`PortIndex`].
    #[inline]
    pub fn ports(&self, node: NodeId) -> &[PortPeer] {
        let (from, to) = (self.port_base[node.index()], self.port_base[node.index() + 1]);
        &self.ports[from as usize..to as usize]
    }
    /// The number of this port among all ports of the fabric: ports of node 0 first.
    #[inline]
    pub fn port_number(&self, node: NodeId, port: PortIndex) -> usize {
        self.port_base[node.index()] as usize + usize::from(port)
    }
    /// What the fabric's file calls this port: "Ethernet4", "e1-1". `None` where it has only a number.
    pub fn port_name(&self, node: NodeId, port: PortIndex) -> Option<&str> {
        let name = self.port_names.get(self.port_number(node, port))?;
        (!name.is_empty()).then_some(name)
    }
    /// The port of `node` with this name.
    pub fn port_named(&self, node: NodeId, name: &str) -> Option<PortIndex> {
        if self.port_names.is_empty() {
            return None;
        }
        (0..self.ports(node).len() as PortIndex).find(|&port| self.port_name(node, port) == Some(name))
    }
    /// The number of ports of all nodes: twice the number of links.
    pub fn port_count(&self) -> usize {
        self.ports.len()
    }
    /// The hosts in order of creation: the position is the host index.
    pub fn hosts(&self) -> &[NodeId] {
        &self.hosts
    }
    /// The dense index of a host, `None` for a switch.
    #[inline]
    pub fn host_index(&self, node: NodeId) -> Option<u32> {
        let index = self.host_index[node.index()];
        (index != NO_HOST).then_some(index)
    }
    /// The node of the host with this dense index.
    ///
    /// # Panics
    /// If there are not so many hosts.
    #[inline]
    pub fn host_node(&self, host: u32) -> NodeId {
        self.hosts[host as usize]
    }
    /// The node with this name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        let at = self.by_name.binary_search_by(|&node| self.name(node).cmp(name)).ok()?;
        Some(self.by_name[at])
    }
    /// The first link (by port of `a`) between two nodes.
    pub fn link_between(&self, a: NodeId, b: NodeId) -> Option<LinkId> {
        self.ports(a).iter().find(|port| port.peer == b).map(|port| port.link)
    }
    /// The lowest port of `from` that leads to `to`.
    pub fn port_towards(&self, from: NodeId, to: NodeId) -> Option<PortIndex> {
        self.ports(from).iter().position(|port| port.peer == to).map(|port| port as PortIndex)
    }
    /// Gives a link other properties; its ends stay. [`Fabric::check`] judges the values.
    pub fn set_link(&mut self, link: LinkId, spec: LinkSpec) {
        self.links[link.index()].spec = Arc::new(spec);
    }
}
