//! Construction of a [`Fabric`] node by node and link by link.

use crate::decision::Decision;
use crate::graph::NO_HOST;
use crate::names::{check_name, visible};
use crate::tiers::SwitchGraph;
use crate::{End, Fabric, FabricError, Link, LinkId, LinkSpec, Node, NodeId, NodeKind, PortPeer};
use std::borrow::Cow;
use std::sync::Arc;

/// Maximum number of nodes, and half the maximum number of links, of a fabric. The limit is far above a 65,536-host
/// fat-tree (70,656 nodes, 196,608 links). Because of it, a wrong number in a file or scenario causes an error instead
/// of exhausting memory.
pub(crate) const MAX_ELEMENTS: u64 = 1 << 22;

/// Number of most recent link kinds that are compared with a new link, to share equal kinds.
const MOST_KINDS: usize = 16;

/// Collects nodes and links. The ports of a node are numbered from 0 in the order of its [`connect`](Self::connect)
/// calls.
#[derive(Clone, Debug)]
pub struct FabricBuilder {
    kind: String,
    nodes: Vec<Node>,
    links: Vec<Link>,
    /// Kinds of links, deduplicated among the most recent ones.
    kinds: Vec<Arc<LinkSpec>>,
    degrees: Vec<u32>,
    /// Port names of link ends, if the file states any.
    port_names: Vec<(End, String)>,
    /// Reason for the kind (host or switch) of each node, if the reader states one.
    reasons: Vec<Cow<'static, str>>,
    decisions: Vec<Decision>,
    numbers_nodes: bool,
    /// First error, returned by `build`, so that construction needs no `?` on every line.
    mistake: Option<FabricError>,
}

impl FabricBuilder {
    /// Declares that accompanying files (flows, completion times) identify hosts by node number, counting hosts and
    /// switches.
    pub fn number_nodes(&mut self) {
        self.numbers_nodes = true;
    }

    /// Creates an empty fabric of this kind ("fat-tree", "file" ...).
    pub fn new(kind: impl Into<String>) -> Self {
        FabricBuilder {
            kind: kind.into(),
            nodes: Vec::new(),
            links: Vec::new(),
            kinds: Vec::new(),
            degrees: Vec::new(),
            port_names: Vec::new(),
            reasons: Vec::new(),
            decisions: Vec::new(),
            numbers_nodes: false,
            mistake: None,
        }
    }

    /// Adds a host; its host index is the number of hosts added before it.
    pub fn add_host(&mut self, name: impl Into<String>) -> NodeId {
        self.add(Node { name: name.into(), kind: NodeKind::Host, tier: 0, relay: false })
    }

    /// Adds a host that also forwards frames of other hosts (BCube server).
    pub fn add_relay_host(&mut self, name: impl Into<String>) -> NodeId {
        self.add(Node { name: name.into(), kind: NodeKind::Host, tier: 0, relay: true })
    }

    /// Adds a switch with a tier: 1 edge, 2 aggregation, 3 core.
    pub fn add_switch(&mut self, name: impl Into<String>, tier: u8) -> NodeId {
        self.add(Node { name: name.into(), kind: NodeKind::Switch, tier, relay: false })
    }

    /// Adds a node.
    pub fn add(&mut self, node: Node) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        if self.nodes.len() as u64 >= MAX_ELEMENTS {
            self.fail(FabricError::TooLarge { what: "nodes", limit: MAX_ELEMENTS });
            return id;
        }
        self.nodes.push(node);
        self.degrees.push(0);
        id
    }

    /// Connects the next free ports of two nodes. Errors (a node of another fabric, more than 65,535 ports) are
    /// returned by [`build`](Self::build).
    pub fn connect(&mut self, a: NodeId, b: NodeId, spec: LinkSpec) -> LinkId {
        let id = LinkId(self.links.len() as u32);
        if self.links.len() as u64 >= 2 * MAX_ELEMENTS {
            self.fail(FabricError::TooLarge { what: "links", limit: 2 * MAX_ELEMENTS });
            return id;
        }
        let a = self.plug(a, id);
        let b = self.plug(b, id);
        if let (Some(a), Some(b)) = (a, b) {
            let known = self.kinds.iter().rev().take(MOST_KINDS).find(|known| ***known == spec);
            let spec = known.cloned().unwrap_or_else(|| {
                self.kinds.push(Arc::new(spec));
                Arc::clone(&self.kinds[self.kinds.len() - 1])
            });
            self.links.push(Link { a, b, spec });
        }
        id
    }

    /// Sets the names that the file gives to the ports at the two ends of a link; an empty string means no name.
    /// Duplicate port names at a node are reported by [`build`](Self::build).
    pub fn name_ports(&mut self, link: LinkId, a: &str, b: &str) {
        if let Some(link) = self.links.get(link.0 as usize) {
            let ends = [(link.a, a), (link.b, b)].into_iter().filter(|(_, name)| !name.is_empty());
            self.port_names.extend(ends.map(|(end, name)| (end, name.to_owned())));
        }
    }

    fn plug(&mut self, node: NodeId, link: LinkId) -> Option<End> {
        let Some(degree) = self.degrees.get_mut(node.index()) else {
            self.fail(FabricError::UnknownNode { node: node.0, link: link.0 });
            return None;
        };
        let Ok(port) = u16::try_from(*degree) else {
            let name = self.nodes[node.index()].name.clone();
            self.fail(FabricError::TooManyPorts { node: name });
            return None;
        };
        *degree += 1;
        Some(End { node, port })
    }

    fn fail(&mut self, mistake: FabricError) {
        self.mistake.get_or_insert(mistake);
    }

    /// Derives the tier of every switch from the links, for files without tiers.
    pub(crate) fn infer_tiers(&mut self) {
        let is_switch = self.nodes.iter().map(|node| node.kind == NodeKind::Switch).collect();
        let links: Vec<(u32, u32)> = self.links.iter().map(|link| (link.a.node.0, link.b.node.0)).collect();
        let (tiers, _) = SwitchGraph::of(is_switch, &links).by_links();
        for (node, tier) in self.nodes.iter_mut().zip(tiers).filter(|(node, _)| node.kind == NodeKind::Switch) {
            node.tier = tier;
        }
    }

    /// Sets the decisions of a file's reader.
    pub(crate) fn decide(&mut self, decisions: Vec<Decision>) {
        self.decisions = decisions;
    }

    /// Sets the reason that a node is a host or a switch ([`Fabric::reason`]); a later call overrides an earlier one.
    pub(crate) fn because(&mut self, node: NodeId, reason: impl Into<Cow<'static, str>>) {
        if self.reasons.len() <= node.index() {
            self.reasons.resize(node.index() + 1, Cow::Borrowed(""));
        }
        self.reasons[node.index()] = reason.into();
    }

    /// Checks that all names can be displayed and written unchanged.
    fn check_names(&self) -> Result<(), FabricError> {
        for node in &self.nodes {
            let of = || format!("node `{}`", visible(&node.name));
            check_name(&node.name).map_err(|fault| FabricError::Name { of: of(), fault })?;
        }
        for (end, name) in &self.port_names {
            let of = || format!("port `{}` of `{}`", visible(name), self.nodes[end.node.index()].name);
            check_name(name).map_err(|fault| FabricError::Name { of: of(), fault })?;
        }
        Ok(())
    }

    /// Builds the fabric.
    ///
    /// # Errors
    /// If a name is duplicate or invalid ([`check_name`]), a link names a node that does not exist, a node has more
    /// than 65,535 ports, or the fabric has more than 4,194,304 nodes or 8,388,608 links. [`Fabric::check`] validates
    /// the fabric as a network.
    pub fn build(mut self) -> Result<Fabric, FabricError> {
        if let Some(mistake) = self.mistake {
            return Err(mistake);
        }
        // All switches forward, so the `relay` flag is significant only for hosts.
        self.nodes.iter_mut().for_each(|node| node.relay &= node.kind == NodeKind::Host);
        self.check_names()?;
        let mut port_base = Vec::with_capacity(self.nodes.len() + 1);
        let mut total = 0;
        for degree in &self.degrees {
            port_base.push(total);
            total += degree;
        }
        port_base.push(total);
        let vacant = PortPeer { link: LinkId(0), peer: NodeId(0), peer_port: 0 };
        let mut ports = vec![vacant; total as usize];
        for (index, link) in self.links.iter().enumerate() {
            let id = LinkId(index as u32);
            for (here, there) in [(link.a, link.b), (link.b, link.a)] {
                let at = port_base[here.node.index()] as usize + usize::from(here.port);
                ports[at] = PortPeer { link: id, peer: there.node, peer_port: there.port };
            }
        }
        let mut hosts = Vec::new();
        let mut host_index = vec![NO_HOST; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            if node.kind == NodeKind::Host {
                host_index[index] = hosts.len() as u32;
                hosts.push(NodeId(index as u32));
            }
        }
        let mut by_name: Vec<NodeId> = (0..self.nodes.len() as u32).map(NodeId).collect();
        let name = |node: &NodeId| self.nodes[node.index()].name.as_str();
        by_name.sort_unstable_by(|a, b| name(a).cmp(name(b)));
        if let Some(twice) = by_name.windows(2).find(|pair| name(&pair[0]) == name(&pair[1])) {
            return Err(FabricError::DuplicateName { name: name(&twice[0]).to_owned() });
        }
        let mut named: Vec<&(End, String)> = self.port_names.iter().collect();
        named.sort_unstable_by_key(|(end, name)| (end.node, name));
        if let Some([(end, name), _]) =
            named.windows(2).map(|pair| [pair[0], pair[1]]).find(|[a, b]| (a.0.node, &a.1) == (b.0.node, &b.1))
        {
            let node = self.nodes[end.node.index()].name.clone();
            return Err(FabricError::PortTwice { node, port: name.clone() });
        }
        let mut port_names = Vec::new();
        if !self.port_names.is_empty() {
            port_names.resize(total as usize, Box::default());
            for (end, name) in self.port_names {
                port_names[port_base[end.node.index()] as usize + usize::from(end.port)] = name.into_boxed_str();
            }
        }
        let FabricBuilder { kind, mut nodes, mut links, reasons, decisions, numbers_nodes, .. } = self;
        nodes.shrink_to_fit();
        links.shrink_to_fit();
        Ok(Fabric {
            kind,
            nodes,
            links,
            hosts,
            host_index,
            port_base,
            ports,
            by_name,
            port_names,
            reasons,
            decisions,
            numbers_nodes,
        })
    }
}
