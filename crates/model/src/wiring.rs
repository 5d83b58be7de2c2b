//! Wires of all nodes, generated on demand: the engine stores few of them, and the full list never exists in memory.

use crate::link_time::frames_last;
use crate::network::Network;
use engine::{WireSpec, Wires};
use fabric::{Fabric, NodeId};
use std::collections::BTreeSet;
use std::sync::Arc;
use traffic::When;
use units::Time;

/// Limit of the frames that a node handles between two points at which a run can be stopped: some tenths of a second.
const MOST_IN_A_WINDOW: u64 = 1 << 19;

/// Links, and wires for notifications between hosts.
pub(crate) struct Wiring {
    network: Arc<Network>,
    /// Nodes by engine index, and engine index by node.
    order: Vec<NodeId>,
    position: Vec<u32>,
    notify: Vec<Notifies>,
}

/// A wire between two hosts, for notifications.
struct Notifies {
    /// Engine index of the source.
    place: u32,
    to: u32,
    /// Egress port at the source.
    egress: u16,
    wire: WireSpec,
}

impl Wiring {
    /// Creates the wires of nodes in this order.
    pub fn new(network: &Arc<Network>, order: Vec<NodeId>) -> Wiring {
        let fabric = &network.fabric;
        let mut position = vec![0u32; order.len()];
        for (place, node) in (0..).zip(&order) {
            position[node.index()] = place;
        }
        let mut egress: Vec<u16> = Vec::new();
        let mut ingress: Vec<u16> = Vec::new();
        let pairs = notification_pairs(network);
        if !pairs.is_empty() {
            egress = fabric.hosts().iter().map(|&node| fabric.ports(node).len() as u16).collect();
            ingress.clone_from(&egress);
        }
        let next = |port: &mut u16| std::mem::replace(port, *port + 1);
        let of_pair = |(from, to): (u32, u32)| {
            let (sender, receiver) = (fabric.host_node(from), fabric.host_node(to));
            let lookahead = network.notification_delay.min(longest_window(fabric, sender));
            let (node, port) = (position[receiver.index()], next(&mut ingress[to as usize]));
            let (place, egress) = (position[sender.index()], next(&mut egress[from as usize]));
            Notifies { place, to, egress, wire: WireSpec { node, port, lookahead } }
        };
        let mut notify: Vec<Notifies> = pairs.into_iter().map(of_pair).collect();
        notify.sort_by_key(|it| (it.place, it.egress));
        Wiring { network: Arc::clone(network), order, position, notify }
    }

    /// Returns the nodes by engine index.
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// Returns the hosts that the host at `place` notifies, ascending, and the egress port of each wire.
    pub fn notified_from(&self, place: u32) -> impl Iterator<Item = (u32, u16)> {
        self.notifies(place).iter().map(|it| (it.to, it.egress))
    }

    fn notifies(&self, place: u32) -> &[Notifies] {
        let first = self.notify.partition_point(|it| it.place < place);
        let count = self.notify[first..].partition_point(|it| it.place == place);
        &self.notify[first..first + count]
    }

    /// Returns the engine index of each node.
    pub fn into_positions(self) -> Vec<u32> {
        self.position
    }
}

impl Wires for Wiring {
    fn nodes(&self) -> usize {
        self.order.len()
    }

    fn count(&self, place: u32) -> usize {
        self.network.fabric.ports(self.order[place as usize]).len() + self.notifies(place).len()
    }

    fn each(&self, place: u32, mut tell: impl FnMut(WireSpec)) {
        let Wiring { network, order, position, .. } = self;
        let (fabric, node) = (&network.fabric, order[place as usize]);
        // Limit the lookahead of long links, so that a node cannot delay a stop of the run by seconds.
        let longest = longest_window(fabric, node);
        let preemption = network.preemption_at(node);
        for peer in fabric.ports(node) {
            let link = fabric.link(peer.link);
            let least = match preemption {
                // An interruptible frame is held back until it can no longer be preempted.
                Some(preemption) => preemption.lookahead(link.rate, link.delay),
                None => network.links.of(link).lookahead(),
            };
            tell(WireSpec { node: position[peer.peer.index()], port: peer.peer_port, lookahead: least.min(longest) });
        }
        self.notifies(place).iter().for_each(|it| tell(it.wire));
    }
}

/// Returns the time in which a node can receive and send [`MOST_IN_A_WINDOW`] frames, at least 1 ps.
fn longest_window(fabric: &Fabric, node: NodeId) -> Time {
    let rates = fabric.ports(node).iter().map(|peer| 2 * u128::from(fabric.link(peer.link).rate.as_bps()));
    frames_last(MOST_IN_A_WINDOW, rates.sum()).max(Time::from_ps(1))
}

/// Returns the pairs of hosts of which the first notifies the second about the start of a flow.
fn notification_pairs(network: &Network) -> BTreeSet<(u32, u32)> {
    let flows = &network.traffic.flows;
    let mut pairs = BTreeSet::new();
    for (number, flow) in flows.iter().enumerate() {
        for notification in network.traffic.notifications.of(number as u32) {
            let from = if notification.when == When::Sent { flow.src } else { flow.dst };
            let to = network.host_of(notification.target);
            if from != to {
                pairs.insert((from, to));
            }
        }
    }
    pairs
}
