//! Wires of all nodes, generated on demand: the engine stores few of them, and the full list never exists in memory.

use crate::link_time::min_frames_time;
use crate::network::Network;
use engine::{WireSpec, Wires};
use fabric::{Fabric, NodeId};
use std::collections::BTreeSet;
use std::sync::Arc;
use traffic::FlowEvent;
use units::Time;

/// Maximum number of frames that a node handles between two points at which a run can be stopped. It bounds the
/// reaction time of a stop to some tenths of a second.
const MAX_FRAMES_PER_WINDOW: u64 = 1 << 19;

/// Links, and wires for notifications between hosts.
pub(crate) struct Wiring {
    network: Arc<Network>,
    /// Nodes by engine index, and engine index by node.
    order: Vec<NodeId>,
    engine_index: Vec<u32>,
    notify: Vec<NotificationWire>,
}

/// A wire between two hosts, for notifications.
struct NotificationWire {
    /// Engine index of the source.
    from: u32,
    to: u32,
    /// Egress port at the source.
    egress: u16,
    wire: WireSpec,
}

impl Wiring {
    /// Creates the wires of all nodes. `order` lists the nodes by engine index.
    pub fn new(network: &Arc<Network>, order: Vec<NodeId>) -> Wiring {
        let fabric = &network.fabric;
        let mut engine_index = vec![0u32; order.len()];
        for (index, node) in (0..).zip(&order) {
            engine_index[node.index()] = index;
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
            let lookahead = network.hosts.notification_delay.min(longest_window(fabric, sender));
            let (node, port) = (engine_index[receiver.index()], next(&mut ingress[to as usize]));
            let (from, egress) = (engine_index[sender.index()], next(&mut egress[from as usize]));
            NotificationWire { from, to, egress, wire: WireSpec { node, port, lookahead } }
        };
        let mut notify: Vec<NotificationWire> = pairs.into_iter().map(of_pair).collect();
        notify.sort_by_key(|it| (it.from, it.egress));
        Wiring { network: Arc::clone(network), order, engine_index, notify }
    }

    /// Returns the nodes by engine index.
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// Returns the hosts that the host with this engine index notifies, ascending, and the egress port of each wire.
    pub fn notified_from(&self, index: u32) -> impl Iterator<Item = (u32, u16)> {
        self.notification_wires(index).iter().map(|it| (it.to, it.egress))
    }

    fn notification_wires(&self, index: u32) -> &[NotificationWire] {
        let first = self.notify.partition_point(|it| it.from < index);
        let count = self.notify[first..].partition_point(|it| it.from == index);
        &self.notify[first..first + count]
    }

    /// Returns the engine index of each node.
    pub fn into_engine_index(self) -> Vec<u32> {
        self.engine_index
    }
}

impl Wires for Wiring {
    fn nodes(&self) -> usize {
        self.order.len()
    }

    fn count(&self, index: u32) -> usize {
        self.network.fabric.ports(self.order[index as usize]).len() + self.notification_wires(index).len()
    }

    fn for_each(&self, index: u32, mut visit: impl FnMut(WireSpec)) {
        let Wiring { network, order, engine_index, .. } = self;
        let (fabric, node) = (&network.fabric, order[index as usize]);
        // Limit the lookahead of long links, so that a node cannot delay a stop of the run by seconds.
        let longest = longest_window(fabric, node);
        let preemption = network.preemption_at(node);
        for peer in fabric.ports(node) {
            let link = fabric.link(peer.link);
            let least = match preemption {
                // A preemptable frame is passed to the link only when it can no longer be preempted, so the lookahead
                // is shorter.
                Some(preemption) => preemption.lookahead(link.rate, link.delay),
                None => network.links.of(link).lookahead(),
            };
            visit(WireSpec {
                node: engine_index[peer.peer.index()],
                port: peer.peer_port,
                lookahead: least.min(longest),
            });
        }
        self.notification_wires(index).iter().for_each(|it| visit(it.wire));
    }
}

/// Returns the time in which a node can receive and send [`MAX_FRAMES_PER_WINDOW`] frames, at least 1 ps.
fn longest_window(fabric: &Fabric, node: NodeId) -> Time {
    let rates = fabric.ports(node).iter().map(|peer| 2 * u128::from(fabric.link(peer.link).rate.as_bps()));
    min_frames_time(MAX_FRAMES_PER_WINDOW, rates.sum()).max(Time::from_ps(1))
}

/// Returns the pairs of hosts of which the first notifies the second about the start of a flow.
fn notification_pairs(network: &Network) -> BTreeSet<(u32, u32)> {
    let flows = &network.traffic.flows;
    let mut pairs = BTreeSet::new();
    for (number, flow) in flows.iter().enumerate() {
        for notification in network.traffic.notifications.of(number as u32) {
            let from = if notification.when == FlowEvent::Sent { flow.src } else { flow.dst };
            let to = network.host_of(notification.target);
            if from != to {
                pairs.insert((from, to));
            }
        }
    }
    pairs
}
