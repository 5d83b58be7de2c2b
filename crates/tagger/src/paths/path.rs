//! A path, and the visitor of paths.

use fabric::{Fabric, NodeId, PortIndex};
use std::ops::ControlFlow;

/// One path from host to host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path<'a> {
    /// Sending host.
    pub source: NodeId,
    /// Egress port at each node, starting with the sender. The last port leads to the destination host.
    pub out_ports: &'a [PortIndex],
}

impl Path<'_> {
    /// Returns the nodes of the path, both hosts included.
    pub fn nodes(&self, fabric: &Fabric) -> Vec<NodeId> {
        let mut nodes = vec![self.source];
        let mut at = self.source;
        for &out in self.out_ports {
            at = fabric.ports(at)[usize::from(out)].peer;
            nodes.push(at);
        }
        nodes
    }
}

/// Callback that receives paths one by one; [`ControlFlow::Break`] ends the enumeration.
pub type Visitor<'v> = dyn FnMut(Path<'_>) -> ControlFlow<()> + 'v;
