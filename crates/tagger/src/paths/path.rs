//! A path, and whoever looks at one after another.

use fabric::{Fabric, NodeId, PortIndex};
use std::ops::ControlFlow;

/// One path from host to host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path<'a> {
    /// The host that sends.
    pub source: NodeId,
    /// The egress port at each node, the sender's first. The last leads to the destination host.
    pub out_ports: &'a [PortIndex],
}

impl Path<'_> {
    /// The nodes of the path, both hosts included.
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

/// Shows paths one by one; [`ControlFlow::Break`] ends it.
pub type Visitor<'v> = dyn FnMut(Path<'_>) -> ControlFlow<()> + 'v;
