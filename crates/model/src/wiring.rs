//! The wires of all nodes, as the engine asks for them: of a rank's part it keeps some, of the others none, so they are
//! told one by one and never stand anywhere in full.

use crate::link_time::frames_last;
use crate::network::Network;
use engine::{WireSpec, Wires};
use fabric::{Fabric, NodeId};
use std::collections::BTreeSet;
use std::sync::Arc;
use traffic::When;
use units::Time;

/// Between two moments at which a run can be stopped, no node handles many more frames than this: some tenths of a
/// second.
const MOST_IN_A_WINDOW: u64 = 1 << 19;

/// Links, and behind them what notifies other hosts.
pub(crate) struct Wiring {
    network: Arc<Network>,
    /// Nodes by place, and places by node.
    order: Vec<NodeId>,
    position: Vec<u32>,
    notify: Vec<Notifies>,
}

/// A wire from a host to another, for notifications.
struct Notifies {
    /// Place of the first.
    place: u32,
    to: u32,
    /// Port of the first.
    egress: u16,
    wire: WireSpec,
}

impl Wiring {
    /// Of nodes that stand in this order.
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

    /// Nodes by place.
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// The hosts that the one at this place notifies, ascending, with the egress port of the wire to each.
    pub fn notified_from(&self, place: u32) -> impl Iterator<Item = (u32, u16)> {
        self.notifies(place).iter().map(|it| (it.to, it.egress))
    }

    fn notifies(&self, place: u32) -> &[Notifies] {
        let first = self.notify.partition_point(|it| it.place < place);
        let count = self.notify[first..].partition_point(|it| it.place == place);
        &self.notify[first..first + count]
    }

    /// The place of each node.
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
        // A window is as long as links allow, but no node shall be busy in it for seconds: nobody could stop it.
        let longest = longest_window(fabric, node);
        let preemption = network.preemption_at(node);
        for peer in fabric.ports(node) {
            let link = fabric.link(peer.link);
            let least = match preemption {
                // A frame goes to the link only when nothing can interrupt it any more.
                Some(preemption) => preemption.lookahead(link.rate, link.delay),
                None => network.links.of(link).lookahead(),
            };
            tell(WireSpec { node: position[peer.peer.index()], port: peer.peer_port, lookahead: least.min(longest) });
        }
        self.notifies(place).iter().for_each(|it| tell(it.wire));
    }
}

/// The time in which a node can receive and send [`MOST_IN_A_WINDOW`] frames, and no less than a picosecond.
fn longest_window(fabric: &Fabric, node: NodeId) -> Time {
    let rates = fabric.ports(node).iter().map(|peer| 2 * u128::from(fabric.link(peer.link).rate.as_bps()));
    frames_last(MOST_IN_A_WINDOW, rates.sum()).max(Time::from_ps(1))
}

/// Which host must tell which other that one of its flows may start.
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
