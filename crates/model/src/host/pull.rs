//! Pull queues of receiver-driven transports: one pacer for each port, because all flows that arrive by a port share
//! its link.

use crate::network::Network;
use fabric::NodeId;
use fabric::routing::{PathId, flow_hash};
use protocols::ndp::PullPacer;
use protocols::transport::TransportParameters;
use units::{PREAMBLE_BYTES, Rate, Time, WIRE_OVERHEAD_BYTES};

/// The pull queue of one port.
#[derive(Debug)]
pub(super) struct Pulls {
    pub pacer: PullPacer,
    /// Time of the earliest entry of this pull queue in the host's timers.
    pub armed: Time,
}

/// Creates a pull queue for each port of `node`; empty without a receiver-driven transport.
pub(super) fn queues(network: &Network, node: NodeId) -> Vec<Pulls> {
    let Some(transport) = network.receiver_driven() else { return Vec::new() };
    let ports = network.fabric.ports(node).iter();
    let packet = |rate: Rate| rate.serialise(full_bytes(transport) + WIRE_OVERHEAD_BYTES);
    let pacer = |peer: &fabric::PortPeer| PullPacer::new(packet(network.fabric.link(peer.link).rate));
    ports.map(|peer| Pulls { pacer: pacer(peer), armed: Time::MAX }).collect()
}

fn full_bytes(transport: &TransportParameters) -> u64 {
    u64::from(transport.payload_bytes()) + u64::from(transport.header_bytes())
}

/// Returns the idle RTT of a flow: a full packet to the destination and a control packet back, which waits for one
/// frame of its own length at the slowest link. Zero if the transport does not need the RTT.
#[cold]
pub(super) fn round_trip(network: &Network, flow: &traffic::Flow, src: u32, number: u32) -> Time {
    let transport = network.transport(flow.traffic);
    let Some(control_bytes) = transport.wants_round_trip() else { return Time::ZERO };
    let fabric = &network.fabric;
    let links = match flow.path {
        Some(path) => network.routing.paths.links(fabric, fabric.host_node(src), PathId(path)),
        None => {
            let entropy = flow_hash(src, flow.dst, network.traffic.connections.of(number));
            network.routing.forwarding.lone_path(fabric, src, flow.dst, entropy).unwrap_or_default()
        }
    };
    let arrives = |rate: Rate, bytes: u64| rate.serialise(bytes + PREAMBLE_BYTES);
    let control_bytes = u64::from(control_bytes);
    let mut slowest = Time::ZERO;
    let mut all = Time::ZERO;
    for (rate, delay) in fabric.link_costs(&links) {
        slowest = slowest.max(rate.serialise(control_bytes + WIRE_OVERHEAD_BYTES));
        all += arrives(rate, full_bytes(transport)) + arrives(rate, control_bytes) + delay * 2;
    }
    all + slowest
}
