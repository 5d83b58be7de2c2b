//! Paths from host to host according to the forwarding tables.

use super::error::RoutingError;
use super::forwarding::Forwarding;
use super::hash::select;
use crate::{Fabric, LinkId, NodeId, PortIndex, SpreadHop};
use units::{Rate, Time};

/// One step of a path: a node and its egress port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hop {
    /// Node.
    pub node: NodeId,
    /// Egress port.
    pub port: PortIndex,
}

impl Forwarding {
    /// Returns the path of a frame with this entropy from host `src` to host `dst` (host indices): all nodes except the
    /// last, the source first, each with the egress port that [`select`] chooses with the node's [`salt`](Self::salt).
    /// Empty if `src` equals `dst`.
    ///
    /// # Errors
    /// [`RoutingError::Unreachable`] if an ECMP group is empty, [`RoutingError::Loop`] if the tables contain a loop
    /// (possible after [`set_ports`](Forwarding::set_ports)).
    pub fn path(&self, fabric: &Fabric, src: u32, dst: u32, entropy: u32) -> Result<Vec<Hop>, RoutingError> {
        let (start, end) = (fabric.host_node(src), fabric.host_node(dst));
        let names = || (fabric.name(start).to_owned(), fabric.name(end).to_owned());
        let mut hops = Vec::new();
        let mut at = start;
        let mut ingress = None;
        while at != end {
            let group = match ingress {
                None => self.lookup(at, dst),
                Some(port) => self.lookup_from(at, dst, port),
            };
            if group.is_empty() || (ingress.is_some() && !fabric.node(at).forwards()) {
                let (from, to) = names();
                return Err(RoutingError::Unreachable { from, to });
            }
            // A loop-free path passes each node at most once in each phase (up, down).
            if hops.len() > 2 * fabric.nodes().len() {
                let (from, to) = names();
                return Err(RoutingError::Loop { from, to, hops: hops.len(), at: fabric.name(at).to_owned() });
            }
            let port = group[select(entropy, self.salt(at), group.len())];
            hops.push(Hop { node: at, port });
            let peer = fabric.ports(at)[usize::from(port)];
            (at, ingress) = (peer.peer, Some(peer.peer_port));
        }
        Ok(hops)
    }

    /// Returns the links of [`path`](Self::path), in order.
    ///
    /// # Errors
    /// Like [`path`](Self::path).
    pub fn lone_path(&self, fabric: &Fabric, src: u32, dst: u32, entropy: u32) -> Result<Vec<LinkId>, RoutingError> {
        let hops = self.path(fabric, src, dst, entropy)?;
        Ok(hops.iter().map(|hop| fabric.ports(hop.node)[usize::from(hop.port)].link).collect())
    }

    /// Returns the links that frames from `src` to `dst` may take at each hop if each frame chooses its path
    /// independently; `None` if the paths differ in length or there is no path.
    pub fn spread_hops(&self, fabric: &Fabric, src: u32, dst: u32) -> Option<Vec<SpreadHop>> {
        let target = fabric.host_node(dst);
        let mut at = vec![(fabric.host_node(src), PortIndex::MAX)];
        let mut hops = Vec::new();
        while at.iter().any(|&(node, _)| node != target) {
            // A loop-free path passes each node at most once.
            if at.iter().any(|&(node, _)| node == target) || hops.len() > fabric.nodes().len() {
                return None;
            }
            let (mut next, mut links) = (Vec::new(), Vec::new());
            for &(node, ingress) in &at {
                for &port in self.lookup_from(node, dst, ingress).iter().filter(|&&port| port != ingress) {
                    let peer = fabric.ports(node)[usize::from(port)];
                    links.push((node, port, peer.link));
                    next.push((peer.peer, peer.peer_port));
                }
            }
            if links.is_empty() {
                return None;
            }
            // The links of a node that is reached through several ingress ports count once.
            links.sort_unstable_by_key(|&(node, port, _)| (node, port));
            links.dedup();
            next.sort_unstable();
            next.dedup();
            hops.push(SpreadHop::new(
                links.iter().map(|&(.., link)| (fabric.link(link).rate, fabric.link(link).delay)),
            ));
            at = next;
        }
        Some(hops)
    }
}

impl Fabric {
    /// Returns rate and delay of each link of a path, for [`crate::lone_flow_time`].
    pub fn link_costs(&self, path: &[LinkId]) -> Vec<(Rate, Time)> {
        path.iter().map(|&link| (self.link(link).rate, self.link(link).delay)).collect()
    }
}
