//! Receivers that drive their senders share the link by which packets come: each port has one clock for all that its
//! flows ask for.

use super::flows::with_ctx;
use super::Host;
use super::timers::Event;
use crate::network::Network;
use crate::node::OnWire;
use engine::Window;
use fabric::NodeId;
use fabric::routing::{PathId, flow_hash};
use protocols::endpoint::{Ctx, Receiver};
use protocols::ndp::PullPacer;
use units::{PREAMBLE_BYTES, Rate, Time, WIRE_OVERHEAD_BYTES};

/// The pull queue of one port.
#[derive(Debug)]
pub(super) struct Pulls {
    pacer: PullPacer,
    /// Time of its entry among the host's timers.
    armed: Time,
}

/// A pull queue for each port of `node`, where receivers pull.
pub(super) fn queues(network: &Network, node: NodeId) -> Vec<Pulls> {
    let transport = &network.host.transport;
    if transport.receiver_driven().is_none() {
        return Vec::new();
    }
    let ports = network.fabric.ports(node).iter();
    let packet = |rate: Rate| rate.serialise(full_bytes(network) + WIRE_OVERHEAD_BYTES);
    let pacer = |peer: &fabric::PortPeer| PullPacer::new(packet(network.fabric.link(peer.link).rate));
    ports.map(|peer| Pulls { pacer: pacer(peer), armed: Time::MAX }).collect()
}

fn full_bytes(network: &Network) -> u64 {
    let transport = &network.host.transport;
    u64::from(transport.payload_bytes()) + u64::from(transport.header_bytes())
}

/// What a full packet of a flow takes to its destination, and what asks for the next one back, behind the packet's
/// acknowledgement; zero where senders do not want to know.
#[cold]
pub(super) fn round_trip(network: &Network, flow: &traffic::Flow, src: u32, number: u32) -> Time {
    let Some(control_bytes) = network.host.transport.receiver_driven() else { return Time::ZERO };
    let fabric = &network.fabric;
    let links = match flow.path {
        Some(path) => network.paths.links(fabric, fabric.host_node(src), PathId(path)),
        None => {
            let entropy = flow_hash(src, flow.dst, number);
            network.forwarding.lone_path(fabric, src, flow.dst, entropy).unwrap_or_default()
        }
    };
    let arrives = |rate: Rate, bytes: u64| rate.serialise(bytes + PREAMBLE_BYTES);
    let control_bytes = u64::from(control_bytes);
    let mut slowest = Time::ZERO;
    let mut all = Time::ZERO;
    for (rate, delay) in fabric.link_costs(&links) {
        slowest = slowest.max(rate.serialise(control_bytes + WIRE_OVERHEAD_BYTES));
        all += arrives(rate, full_bytes(network)) + arrives(rate, control_bytes) + delay * 2;
    }
    all + slowest
}

impl Host {
    /// Something arrived for the flow in `slot` of those that come: sends what the receiver answers, which may ask for more
    /// where the port's turn is due.
    pub(super) fn answer_and_pull(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        if self.network.host.transport.asks_with_acks() && !self.replies.is_empty() {
            self.ask_along(now, slot);
        }
        if !self.replies.is_empty() {
            self.send_replies(now, self.reply_to(slot), window);
        }
        self.after_receiver(now, slot, window);
    }

    /// Lets the answer that is about to leave ask for more, if it is its flow's turn.
    fn ask_along(&mut self, now: Time, slot: u32) {
        let incoming = &mut self.receivers.flows[slot as usize];
        let port = usize::from(incoming.port);
        if incoming.receiver.wants() == 0 || !self.pulls[port].pacer.is_turn_of(now, slot) {
            return;
        }
        if std::mem::take(&mut incoming.in_round) {
            _ = self.pulls[port].pacer.turn(now);
        }
        let receiver = &mut incoming.receiver;
        let packets = with_ctx!(self, now, |ctx| receiver.pull(ctx));
        self.pulls[port].pacer.asked(now, packets);
    }

    /// Something arrived for the flow in `slot` of those that come: it may want to ask for more.
    fn after_receiver(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        if self.pulls.is_empty() {
            return; // headers come to hosts of other transports, too
        }
        let incoming = &mut self.receivers.flows[slot as usize];
        let port = incoming.port;
        if !incoming.in_round && incoming.receiver.wants() > 0 {
            incoming.in_round = true;
            self.pulls[usize::from(port)].pacer.enter(slot);
        }
        self.pull(now, port, window);
    }

    /// Gives the flows of a port the turns that are due.
    pub(super) fn pull(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        let index = usize::from(port);
        while let Some(slot) = self.pulls[index].pacer.turn(now) {
            let incoming = &mut self.receivers.flows[slot as usize];
            incoming.in_round = false;
            if !incoming.active {
                continue; // complete since it entered the round
            }
            let receiver = &mut incoming.receiver;
            let (packets, wants) = with_ctx!(self, now, |ctx| (receiver.pull(ctx), receiver.wants()));
            let pulls = &mut self.pulls[index];
            if packets > 0 {
                pulls.pacer.asked(now, packets);
            }
            if wants > 0 {
                pulls.pacer.enter(slot);
                self.receivers.flows[slot as usize].in_round = true;
            }
            if packets > 0 {
                self.send_replies(now, self.reply_to(slot), window);
            }
        }
        let pulls = &mut self.pulls[index];
        let next = pulls.pacer.next_turn();
        if next < pulls.armed {
            pulls.armed = next;
            self.schedule(next, Event::Pull(port));
        }
    }

    pub(super) fn on_pull_turn(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        let pulls = &mut self.pulls[usize::from(port)];
        if pulls.armed == now {
            pulls.armed = Time::MAX;
        }
        self.pull(now, port, window);
    }
}
