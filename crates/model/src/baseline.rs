//! What a flow's completion is measured against: the same flow alone on its path.

use crate::host::FlowEnd;
use crate::network::Network;
use crate::numbering::source_port;
use crate::parameters::Spread;
use fabric::routing::{PathId, flow_hash};
use fabric::{lone_flow_time, spread_flow_time};
use protocols::transport::TransportParameters;
use rustc_hash::FxHashMap;
use stats::flows::FlowRecord;
use traffic::Load;
use units::{PREAMBLE_BYTES, Rate, Time};

/// Links of a path: rate and delay.
type Costs = Vec<(Rate, Time)>;

/// Computes baselines; equal ones once.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    /// The few kinds of path that a regular fabric has, found by their costs.
    paths: Vec<Costs>,
    kinds: FxHashMap<(u32, u32), u32>,
}

impl Baseline {
    pub fn record(&mut self, network: &Network, end: &FlowEnd) -> FlowRecord {
        let planned = if end.is_drawn() { None } else { network.traffic.flows.get(end.flow as usize) };
        let path = planned.and_then(|flow| flow.path);
        let costs = match path {
            Some(path) => {
                let links = network.paths.links(&network.fabric, network.fabric.host_node(end.src), PathId(path));
                network.fabric.link_costs(&links)
            }
            None => self.shortest(network, end),
        };
        let frames = Frames::of(network, end.traffic, planned.map(|flow| &flow.load), end.size_bytes);
        // A flow without end is never complete, and has no baseline.
        let endless = end.size_bytes == traffic::ENDLESS;
        let costs = if endless { Costs::new() } else { costs };
        let alone = if costs.is_empty() {
            Time::ZERO
        } else {
            let is_spread = network.spread != Spread::FlowHash && path.is_none();
            let time = if is_spread { spread_flow_time } else { lone_flow_time };
            time(&costs, frames.full, frames.full_bytes, frames.last_bytes)
        };
        FlowRecord {
            flow: network.numbering.of(end.src, end.flow),
            traffic: u32::from(end.traffic),
            src_host: end.src,
            dst_host: end.dst,
            src_port: source_port(network.numbering.of(end.src, network.traffic.connections.of(end.flow))),
            dst_port: end.dst_port,
            class: end.class,
            size_bytes: end.size_bytes,
            start_ps: end.start.as_ps(),
            delivered_ps: end.delivered.map(Time::as_ps),
            acked_ps: end.acked.map(Time::as_ps),
            awaits_ack: end.open && end.delivered.is_some() && !network.is_datagram(end.flow, end.traffic),
            retransmitted_bytes: end.retransmitted_bytes,
            timeouts: end.timeouts,
            alone_ps: alone.as_ps(),
            fct_txt_standalone_ns: standalone_ns(&costs, end.size_bytes, &frames),
        }
    }

    /// The costs of a shortest path; all shortest paths of a pair cost the same in a regular fabric, and
    /// where they do not, that of the flow's hash is taken.
    fn shortest(&mut self, network: &Network, end: &FlowEnd) -> Costs {
        let entropy = flow_hash(end.src, end.dst, network.traffic.connections.of(end.flow));
        let key = (network.forwarding.row(end.src), network.forwarding.row(end.dst));
        let regular = network.fabric.ports(network.fabric.host_node(end.src)).len() == 1;
        if let Some(&kind) = self.kinds.get(&key).filter(|_| regular) {
            return self.paths[kind as usize].clone();
        }
        let links = network.forwarding.lone_path(&network.fabric, end.src, end.dst, entropy).unwrap_or_default();
        let costs = network.fabric.link_costs(&links);
        // Memory stays bounded: a regular fabric has a handful of kinds.
        if regular && self.kinds.len() < 1 << 20 {
            let known = self.paths.iter().position(|path| *path == costs);
            let kind = known.unwrap_or_else(|| {
                self.paths.push(costs.clone());
                self.paths.len() - 1
            });
            self.kinds.insert(key, kind as u32);
        }
        costs
    }
}

/// The frames of a flow without losses.
pub(crate) struct Frames {
    pub full: u64,
    pub full_bytes: u64,
    pub last_bytes: u64,
    header_bytes: u64,
}

impl Frames {
    pub fn of(network: &Network, traffic: u8, load: Option<&Load>, size_bytes: u64) -> Frames {
        let (payload, header, padded) = match load {
            Some(Load::Datagrams(source)) => (u64::from(source.frame_bytes.max(64)) - 46, 46, true),
            _ => {
                let transport = network.transport(traffic);
                let header = u64::from(transport.header_bytes());
                let (payload, padded) = match transport {
                    TransportParameters::Datagram(parameters) => {
                        (u64::from(parameters.frame_bytes).saturating_sub(header), false)
                    }
                    TransportParameters::Tcp(parameters) => (u64::from(parameters.mss_bytes), false),
                    TransportParameters::Roce(parameters) => (u64::from(parameters.payload_bytes), false),
                    TransportParameters::Ndp(parameters) => (u64::from(parameters.payload_bytes), false),
                    TransportParameters::Custom(transport) => (u64::from(transport.payload_bytes()), false),
                };
                (payload, header, padded)
            }
        };
        let payload = payload.max(1);
        let frame = |payload: u64| (payload + header).max(64);
        let (full, last) = (size_bytes / payload, size_bytes % payload);
        let last_bytes = match last {
            0 => 0,
            _ if padded => frame(payload),
            last => frame(last),
        };
        Frames { full, full_bytes: frame(payload), last_bytes, header_bytes: header }
    }
}

/// The standalone time of `fct.txt`: base round trip (both ways' delays, and one full frame's
/// serialisation per link, with preamble) plus all bytes at the bottleneck's rate.
fn standalone_ns(costs: &[(Rate, Time)], size_bytes: u64, frames: &Frames) -> u64 {
    let Some(bottleneck) = costs.iter().map(|link| link.0).min() else { return 0 };
    let delays: Time = costs.iter().map(|link| link.1 * 2).sum();
    let serialisation: Time = costs.iter().map(|link| link.0.serialise(frames.full_bytes + PREAMBLE_BYTES)).sum();
    let count = frames.full + u64::from(frames.last_bytes > 0);
    let total = size_bytes.saturating_add(count.saturating_mul(frames.header_bytes));
    (delays + serialisation).saturating_add(bottleneck.serialise(total)).as_ps() / 1000
}
