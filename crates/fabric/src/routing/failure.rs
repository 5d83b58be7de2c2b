//! Link failures and local rerouting.

use super::distances::UNREACHABLE;
use super::forwarding::Forwarding;
use crate::{Fabric, LinkId, NodeId, PortIndex};
use units::Time;

/// Temporary or permanent failure of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The link that fails.
    pub link: LinkId,
    /// Time of the failure; frames on the link are lost.
    pub down_at: Time,
    /// Time of the repair; `None`: never.
    pub up_at: Option<Time>,
}

/// A set of ports of one node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FailedPorts {
    words: Vec<u64>,
}

impl FailedPorts {
    /// Creates an empty set.
    pub fn new() -> FailedPorts {
        FailedPorts::default()
    }
    /// Adds a port.
    pub fn insert(&mut self, port: PortIndex) {
        let word = usize::from(port / 64);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (port % 64);
    }
    /// Removes a port.
    pub fn remove(&mut self, port: PortIndex) {
        if let Some(word) = self.words.get_mut(usize::from(port / 64)) {
            *word &= !(1 << (port % 64));
        }
    }
    /// Returns `true` if a port is in the set.
    #[inline]
    pub fn contains(&self, port: PortIndex) -> bool {
        self.words.get(usize::from(port / 64)).is_some_and(|word| word >> (port % 64) & 1 == 1)
    }
    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }
}

impl FromIterator<PortIndex> for FailedPorts {
    fn from_iter<I: IntoIterator<Item = PortIndex>>(ports: I) -> FailedPorts {
        let mut set = FailedPorts::new();
        ports.into_iter().for_each(|port| set.insert(port));
        set
    }
}

impl Forwarding {
    /// Returns the ports for a local reroute: the ports by which `node` may send a frame for `host` if all ports of its
    /// ECMP group are dead. They are the live ports with the minimum distance to the destination, ascending; a
    /// neighbour must forward, and the distances are those at the time these routes were computed. A host that does not
    /// relay is included only as the destination. The result is empty if no such port exists, also at the switch of a
    /// host whose only link is dead. The caller caches the result per (node, row): it changes only with `dead_ports`.
    pub fn fallback(&self, fabric: &Fabric, node: NodeId, host: u32, dead_ports: &FailedPorts) -> Vec<PortIndex> {
        let row = self.distances().rows().attach[host as usize].row;
        let target = self.distances().rows().target[row as usize];
        if target == node {
            let port = self.distances().rows().attach[host as usize].port;
            let delivers = self.distances().rows().row_switch[row as usize] == node.0;
            return if delivers && !dead_ports.contains(port) { vec![port] } else { Vec::new() };
        }
        let mut nearest = UNREACHABLE;
        let mut ports = Vec::new();
        for (port, peer) in fabric.ports(node).iter().enumerate() {
            let port = port as PortIndex;
            if dead_ports.contains(port) || !(fabric.node(peer.peer).forwards() || peer.peer == target) {
                continue;
            }
            let links = self.distance(fabric, peer.peer, host).unwrap_or(UNREACHABLE);
            if links < nearest {
                nearest = links;
                ports.clear();
            }
            if links == nearest && links != UNREACHABLE {
                ports.push(port);
            }
        }
        ports
    }
}
