//! Explicit (source-routed) paths, stored as the egress port of each hop.

use super::error::RoutingError;
use crate::{Fabric, LinkId, NodeId, PortIndex};

/// Index of a path in a [`PathTable`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PathId(pub u32);

/// Paths given node by node, stored as egress ports.
#[derive(Clone, Debug, Default)]
pub struct PathTable {
    ports: Vec<PortIndex>,
    starts: Vec<u32>,
}

impl PathTable {
    /// Creates an empty table.
    pub fn new() -> PathTable {
        PathTable { ports: Vec::new(), starts: vec![0] }
    }

    /// Adds a path from its first node (usually a host) to its last. Of parallel links, it uses the one with the lowest
    /// port. A path may repeat nodes, to model routing loops.
    ///
    /// # Errors
    /// If the path has fewer than two nodes, has consecutive nodes without a link, or passes through a host that does
    /// not relay. The error has the position in the path.
    pub fn push(&mut self, fabric: &Fabric, nodes: &[NodeId]) -> Result<PathId, RoutingError> {
        if nodes.len() < 2 {
            return Err(RoutingError::PathTooShort { nodes: nodes.len() });
        }
        let inner = nodes.iter().enumerate().skip(1).take(nodes.len() - 2);
        for (index, &node) in inner {
            if !fabric.node(node).forwards() {
                return Err(RoutingError::HostDoesNotForward {
                    position: index + 1,
                    host: fabric.name(node).to_owned(),
                });
            }
        }
        let mut ports = Vec::with_capacity(nodes.len() - 1);
        for (index, step) in nodes.windows(2).enumerate() {
            ports.push(fabric.port_towards(step[0], step[1]).ok_or_else(|| RoutingError::NoLink {
                position: index + 1,
                from: fabric.name(step[0]).to_owned(),
                to: fabric.name(step[1]).to_owned(),
            })?);
        }
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let id = PathId(self.starts.len() as u32 - 1);
        self.ports.extend(ports);
        self.starts.push(self.ports.len() as u32);
        Ok(id)
    }

    /// Like [`push`](Self::push), with the names of the nodes.
    ///
    /// # Errors
    /// Errors of [`push`](Self::push), and [`RoutingError::UnknownName`].
    pub fn push_names<S: AsRef<str>>(&mut self, fabric: &Fabric, names: &[S]) -> Result<PathId, RoutingError> {
        let mut nodes = Vec::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            let name = name.as_ref();
            nodes.push(
                fabric
                    .find(name)
                    .ok_or_else(|| RoutingError::UnknownName { position: index + 1, name: name.to_owned() })?,
            );
        }
        self.push(fabric, &nodes)
    }

    /// Returns the egress port of a hop; hop 0 is the path's first node. `None` after the last hop.
    #[inline]
    pub fn port(&self, path: PathId, hop: u32) -> Option<PortIndex> {
        self.ports(path).get(hop as usize).copied()
    }

    /// Returns the egress ports of a path, one per link.
    #[inline]
    pub fn ports(&self, path: PathId) -> &[PortIndex] {
        &self.ports[self.starts[path.0 as usize] as usize..self.starts[path.0 as usize + 1] as usize]
    }

    /// Returns the number of paths.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
    /// Returns `true` if the table is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the links of a path that starts at `from`.
    pub fn links(&self, fabric: &Fabric, from: NodeId, path: PathId) -> Vec<LinkId> {
        let mut at = from;
        let step = |&port: &PortIndex| {
            let peer = fabric.ports(at)[usize::from(port)];
            at = peer.peer;
            peer.link
        };
        self.ports(path).iter().map(step).collect()
    }
}
