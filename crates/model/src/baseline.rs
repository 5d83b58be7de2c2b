//! Baseline of flow completion times: the flow completion time in an otherwise idle network.

use crate::host::FlowEnd;
use crate::network::Network;
use crate::numbering::source_port;
use crate::parameters::Spread;
use fabric::routing::{PathId, flow_hash};
use fabric::{SpreadHop, lone_flow_time, lone_frames_time, spread_flow_time, spread_frames_time};
use protocols::datagram::HEADER_BYTES;
use protocols::transport::TransportParameters;
use rustc_hash::FxHashMap;
use stats::flows::FlowRecord;
use traffic::{FrameLengths, LengthDistribution, Load};
use units::{PREAMBLE_BYTES, Rate, Time};

/// Rate and one-way delay of each link of a path.
type Costs = Vec<(Rate, Time)>;

/// Computes baselines, and caches the links of paths by pair of hosts.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    /// Distinct paths, as sequences of link rates and delays. A regular fabric has few.
    paths: Vec<Costs>,
    kinds: FxHashMap<(u32, u32), u32>,
    /// Like `paths`, for flows whose frames are spread over several paths.
    spreads: Vec<Vec<SpreadHop>>,
    spread_kinds: FxHashMap<(u32, u32), u32>,
}

/// Maximum number of cached host pairs. It bounds the memory.
const MAX_PAIRS: usize = 1 << 20;

impl Baseline {
    pub fn record(&mut self, network: &Network, end: &FlowEnd) -> FlowRecord {
        let planned = if end.is_drawn() { None } else { network.traffic.flows.get(end.flow as usize) };
        let path = planned.and_then(|flow| flow.path);
        let costs = match path {
            Some(path) => {
                let links =
                    network.routing.paths.links(&network.fabric, network.fabric.host_node(end.src), PathId(path));
                network.fabric.link_costs(&links)
            }
            None => self.shortest(network, end),
        };
        let load = planned.map(|flow| &flow.load);
        let frames = Frames::of(network, end.traffic, load, end.size_bytes);
        // An endless flow never completes, so it has no baseline.
        let endless = end.size_bytes == traffic::ENDLESS;
        let costs = if endless { Costs::new() } else { costs };
        let is_spread = network.routing.spread != Spread::FlowHash && path.is_none();
        let drawn = match load {
            Some(Load::Datagrams(source)) if source.lengths != LengthDistribution::Equal => {
                Some(drawn_lengths(FrameLengths::new(**source, network.seed, end.flow), end.size_bytes))
            }
            _ => None,
        };
        let Frames { full, full_bytes, last_bytes, .. } = frames;
        let alone = if costs.is_empty() {
            Time::ZERO
        } else if is_spread {
            let hops = self.hops(network, end, &costs);
            match drawn {
                Some(lengths) => spread_frames_time(hops, lengths),
                None => spread_flow_time(hops, full, full_bytes, last_bytes),
            }
        } else {
            match drawn {
                Some(lengths) => lone_frames_time(&costs, lengths),
                None => lone_flow_time(&costs, full, full_bytes, last_bytes),
            }
        };
        FlowRecord {
            flow: network.measurement.numbering.of(end.src, end.flow),
            traffic: u32::from(end.traffic),
            src_host: end.src,
            dst_host: end.dst,
            src_port: source_port(network.measurement.numbering.of(end.src, network.traffic.connections.of(end.flow))),
            dst_port: end.dst_port,
            class: end.class,
            size_bytes: end.size_bytes,
            start_ps: end.start.as_ps(),
            delivered_ps: end.delivered.map(Time::as_ps),
            acked_ps: end.acked.map(Time::as_ps),
            awaits_ack: end.open && end.delivered.is_some() && !network.is_datagram(end.flow, end.traffic),
            retransmitted_bytes: end.retransmitted_bytes,
            timeouts: end.timeouts,
            baseline_fct_ps: alone.as_ps(),
            fct_txt_standalone_ns: standalone_ns(&costs, end.size_bytes, &frames),
        }
    }

    /// Returns the links of a shortest path. If the source host has one port, all shortest paths of the pair are
    /// assumed to have equal links, so the first result is cached. Otherwise the hash of the flow selects the path.
    fn shortest(&mut self, network: &Network, end: &FlowEnd) -> Costs {
        let entropy = flow_hash(end.src, end.dst, network.traffic.connections.of(end.flow));
        let key = (network.routing.forwarding.row(end.src), network.routing.forwarding.row(end.dst));
        let regular = network.fabric.ports(network.fabric.host_node(end.src)).len() == 1;
        if let Some(&kind) = self.kinds.get(&key).filter(|_| regular) {
            return self.paths[kind as usize].clone();
        }
        let links =
            network.routing.forwarding.lone_path(&network.fabric, end.src, end.dst, entropy).unwrap_or_default();
        let costs = network.fabric.link_costs(&links);
        // A regular fabric has few distinct paths, so a linear search suffices.
        if regular && self.kinds.len() < MAX_PAIRS {
            let known = self.paths.iter().position(|path| *path == costs);
            let kind = known.unwrap_or_else(|| {
                self.paths.push(costs.clone());
                self.paths.len() - 1
            });
            self.kinds.insert(key, kind as u32);
        }
        costs
    }

    /// Returns the parallel links of each hop of a flow whose frames are spread over several paths. `path` is one of
    /// these paths.
    fn hops(&mut self, network: &Network, end: &FlowEnd, path: &Costs) -> &[SpreadHop] {
        // The key is per host, since hosts of one switch may have different links.
        let key = (end.src, end.dst);
        let kind = self.spread_kinds.get(&key).copied().unwrap_or_else(|| {
            let found = network.routing.forwarding.spread_hops(&network.fabric, end.src, end.dst);
            let hops = found.unwrap_or_else(|| between_unlimited(path));
            let known = self.spreads.iter().position(|known| *known == hops);
            let kind = known.unwrap_or_else(|| {
                self.spreads.push(hops);
                self.spreads.len() - 1
            }) as u32;
            if self.spread_kinds.len() < MAX_PAIRS {
                self.spread_kinds.insert(key, kind);
            }
            kind
        });
        &self.spreads[kind as usize]
    }
}

/// Returns the hops of a flow that is spread over paths of different lengths: hops between the first and the last
/// link get unlimited capacity, so only these two links can queue frames.
fn between_unlimited(path: &[(Rate, Time)]) -> Vec<SpreadHop> {
    let ends = [0, path.len() - 1];
    let hop = |(at, &link)| if ends.contains(&at) { SpreadHop::single(link) } else { SpreadHop::unlimited(link) };
    path.iter().enumerate().map(hop).collect()
}

/// Returns the frame lengths of a flow with `payload_bytes`, by repeating its random draws.
fn drawn_lengths(mut lengths: FrameLengths, payload_bytes: u64) -> impl Iterator<Item = u64> {
    let header_bytes = HEADER_BYTES;
    let mut left = payload_bytes;
    std::iter::from_fn(move || {
        (left > 0).then(|| {
            let bytes = lengths.draw();
            left = left.saturating_sub(bytes.saturating_sub(header_bytes).max(1).into());
            u64::from(bytes)
        })
    })
}

/// Frames of a flow if no frame is lost: count and lengths in bytes.
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

/// Returns the standalone time of `fct.txt` in nanoseconds: base round trip (delays of both directions, plus one full
/// frame's serialisation per link, with preamble) plus all bytes at the bottleneck's rate.
fn standalone_ns(costs: &[(Rate, Time)], size_bytes: u64, frames: &Frames) -> u64 {
    let Some(bottleneck) = costs.iter().map(|link| link.0).min() else { return 0 };
    let delays: Time = costs.iter().map(|link| link.1 * 2).sum();
    let serialisation: Time = costs.iter().map(|link| link.0.serialise(frames.full_bytes + PREAMBLE_BYTES)).sum();
    let count = frames.full + u64::from(frames.last_bytes > 0);
    let total = size_bytes.saturating_add(count.saturating_mul(frames.header_bytes));
    (delays + serialisation).saturating_add(bottleneck.serialise(total)).as_ps() / 1000
}
