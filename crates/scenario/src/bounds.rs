//! Warnings before the run: load above the link rate, a window below the bandwidth-delay product, a retransmission
//! timeout below the RTT.

use crate::parts::Parts;
use crate::section::Context;
use crate::traffic_lower::host_rate;
use fabric::routing::Forwarding;
use fabric::{Fabric, NodeId};
use protocols::transport::TransportParameters;
use std::collections::{BTreeMap, BTreeSet};
use traffic::{ENDLESS, Flow, Load, Plan, Start};
use units::{Bytes, Rate, Time, WIRE_OVERHEAD_BYTES};

/// Maximum number of pairs of a switch and a destination edge switch. With more pairs, the load of links is not
/// computed. 2 million pairs take some tens of milliseconds.
const MOST_STEPS: usize = 2_000_000;
/// Maximum number of flows that a warning examines.
const MOST_FLOWS: usize = 10_000;
/// Load above which a link counts as overloaded: 100 %, plus a tolerance for rounding and for the sampling error of
/// finite samples.
const TOLERANCE: f64 = 1.005;

/// Inputs of all warnings of this module.
pub(crate) struct Bounds<'a> {
    pub context: &'a Context<'a>,
    pub parts: &'a Parts,
    pub fabric: &'a Fabric,
    pub forwarding: &'a Forwarding,
    pub plan: &'a Plan,
    /// Largest frame in bytes.
    pub mtu_bytes: u16,
}

/// Offered load of one traffic entry, by edge switch of the source and of the destination.
#[derive(Default)]
struct Drawn {
    /// Load in bit/s that the hosts of each edge switch together offer to each destination host.
    from: BTreeMap<NodeId, f64>,
    /// Destination hosts, by index.
    hosts: BTreeSet<u32>,
    /// Number of destination hosts attached to each edge switch.
    to: BTreeMap<NodeId, usize>,
}

impl Bounds<'_> {
    /// Emits all warnings of this module.
    pub fn warn(&self) {
        self.warn_of_duration();
        self.warn_of_load();
        self.warn_of_windows();
        self.warn_of_timers();
    }

    /// Warns if the run ends before any flow could complete even at the lower of its two access link rates: then no FCT
    /// is measured.
    fn warn_of_duration(&self) {
        let flows = &self.plan.flows;
        let all_can_end = flows.iter().all(|flow| flow.load == Load::Transport) && self.plan.arrivals.is_empty();
        if !all_can_end || flows.len() > MOST_FLOWS {
            return;
        }
        let earliest_completion = |flow: &Flow| {
            let start = if let Start::At(at) = flow.start { at } else { Time::ZERO };
            let rate = host_rate(self.fabric, flow.src).min(host_rate(self.fabric, flow.dst));
            start.saturating_add(rate.serialise(flow.size_bytes))
        };
        let duration = self.parts.top.duration;
        if let Some(first) = flows
            .iter()
            .filter(|flow| flow.size_bytes != ENDLESS)
            .map(earliest_completion)
            .min()
            .filter(|&first| first >= duration)
        {
            let message = format!(
                "no flow can complete: the earliest completion at the rate of its hosts' links is {first:.1}, and the \
                 run ends at {duration}"
            );
            self.context.warn("duration", message);
        }
    }

    /// Warns if random arrivals of flows overload links between switches. Fixed transfers and datagram sources are not
    /// counted, because scenarios use them to cause transient congestion on purpose.
    fn warn_of_load(&self) {
        let fabric = self.fabric;
        let mut entries = BTreeMap::<u8, Drawn>::new();
        let edge = |host: u32| Some(fabric.ports(fabric.host_node(host)).first()?.peer);
        for arrivals in &self.plan.arrivals {
            let drawn = entries.entry(arrivals.traffic).or_default();
            let destinations = arrivals.destinations();
            if drawn.to.is_empty() {
                drawn.hosts = destinations.iter().copied().collect();
                destinations.iter().filter_map(|&host| edge(host)).for_each(|at| *drawn.to.entry(at).or_default() += 1);
            }
            let others = destinations.len() - usize::from(drawn.hosts.contains(&arrivals.src));
            if let (Some(at), 1..) = (edge(arrivals.src), others) {
                let bps = arrivals.mean_bytes() * 8e12 / arrivals.mean_gap().as_ps().max(1) as f64;
                *drawn.from.entry(at).or_default() += bps / others as f64;
            }
        }
        // Hosts of one edge switch have equal routes: one host represents all of them as destination.
        let mut groups = BTreeMap::<NodeId, u32>::new();
        for host in 0..fabric.hosts().len() as u32 {
            if let Some(at) = edge(host) {
                groups.entry(at).or_insert(host);
            }
        }
        let routers: Vec<NodeId> = fabric.node_ids().filter(|&node| fabric.node(node).forwards()).collect();
        if entries.is_empty() || groups.len() * routers.len() > MOST_STEPS {
            return;
        }
        // Load in bit/s, by switch and egress port.
        let mut loads = BTreeMap::<(NodeId, u16), f64>::new();
        for (&group, &host) in &groups {
            let mut at = BTreeMap::<NodeId, f64>::new();
            for drawn in entries.values() {
                let Some(&count) = drawn.to.get(&group) else { continue };
                for (&from, bps) in drawn.from.iter().filter(|(from, _)| **from != group) {
                    *at.entry(from).or_default() += bps * count as f64;
                }
            }
            let distance = |node: NodeId| self.forwarding.distance(fabric, node, host).unwrap_or(u16::MAX);
            let mut order: Vec<(u16, NodeId)> = routers.iter().map(|&node| (distance(node), node)).collect();
            // Visit switches by descending distance from the destination, so that the load of a switch is complete
            // before it is split over its ports.
            order.sort_unstable_by_key(|&(distance, node)| (std::cmp::Reverse(distance), node));
            for (_, node) in order.into_iter().filter(|(_, node)| *node != group) {
                let (Some(bps), ports) = (at.remove(&node), self.forwarding.lookup(node, host)) else { continue };
                for &port in ports {
                    let share = bps / ports.len() as f64;
                    *loads.entry((node, port)).or_default() += share;
                    *at.entry(fabric.ports(node)[usize::from(port)].peer).or_default() += share;
                }
            }
        }
        self.warn_of_tiers(&loads, entries.keys().copied());
    }

    /// Warns if a link between switches has a load above [`TOLERANCE`]. The warning names the pair of tiers with the
    /// busiest link, and this link.
    fn warn_of_tiers(&self, loads: &BTreeMap<(NodeId, u16), f64>, mut entries: impl Iterator<Item = u8>) {
        let fabric = self.fabric;
        // Key: tier of the sending and of the receiving switch. Value: total load and total rate of all links between
        // these tiers in bit/s, and the link with the highest utilisation.
        let mut tiers = BTreeMap::<(u8, u8), (f64, f64, (f64, NodeId, NodeId))>::new();
        for node in fabric.node_ids().filter(|&node| fabric.node(node).forwards()) {
            for (port, peer) in (0..).zip(fabric.ports(node)).filter(|(_, peer)| fabric.node(peer.peer).forwards()) {
                let rate = fabric.link(peer.link).rate.as_bps() as f64;
                let bps = loads.get(&(node, port)).copied().unwrap_or(0.0);
                let key = (fabric.node(node).tier, fabric.node(peer.peer).tier);
                let known = tiers.entry(key).or_insert((0.0, 0.0, (0.0, node, peer.peer)));
                (known.0, known.1) = (known.0 + bps, known.1 + rate);
                if bps / rate > known.2.0 {
                    known.2 = (bps / rate, node, peer.peer);
                }
            }
        }
        let worst = tiers.iter().reduce(|worst, next| if next.1.2.0 > worst.1.2.0 { next } else { worst });
        let Some((&(from, to), &(load, rate, (busiest, a, b)))) = worst.filter(|worst| worst.1.2.0 > TOLERANCE) else {
            return;
        };
        let percent = |share: f64| (share * 100.0).round();
        let message = format!(
            "the expected load is {} % of the links from tier {from} to tier {to}, and {} % of the busiest, `{}` to \
             `{}`: the backlog grows as long as flows arrive. Divide the load by {:.2} or more",
            percent(load / rate),
            percent(busiest),
            fabric.name(a),
            fabric.name(b),
            busiest,
        );
        let key = match (entries.next(), entries.next()) {
            (Some(only), None) => format!("traffic.{only}.load"),
            _ => "traffic".to_owned(),
        };
        self.context.warn(&key, message);
    }

    /// Warns of windows below the bandwidth-delay product of the path: then the window limits the rate of the flow, not
    /// the congestion control.
    fn warn_of_windows(&self) {
        let flows = || self.plan.flows.iter().filter(|flow| flow.load == Load::Transport);
        let (mut of_src, mut of_dst) = (BTreeMap::<u32, u64>::new(), BTreeMap::<u32, u64>::new());
        for flow in flows() {
            *of_src.entry(flow.src).or_default() += 1;
            *of_dst.entry(flow.dst).or_default() += 1;
        }
        // The flow with the largest needed window per transport key: window, needed window (bandwidth-delay product
        // divided by the number of flows on the access link), both in bytes, path, flow.
        let mut short = BTreeMap::<String, (u64, u64, Path, &Flow)>::new();
        for flow in flows().take(MOST_FLOWS) {
            let TransportParameters::Tcp(tcp) = self.parts.transport_of(flow.traffic) else { continue };
            let window_bytes = tcp.advertised_window_bytes;
            if flow.size_bytes <= window_bytes {
                continue;
            }
            let Some(path) = self.path(flow.src, flow.dst) else { continue };
            // Flows with a common source or destination share its access link: each needs only its share of the
            // product.
            let sharing = of_src[&flow.src].max(of_dst[&flow.dst]);
            let holds = path.holds_bytes() / sharing;
            if window_bytes < holds {
                let key = format!("{}.advertised_window", self.transport_key(flow.traffic));
                let worst = short.entry(key).or_insert((window_bytes, holds, path, flow));
                if holds > worst.1 {
                    *worst = (window_bytes, holds, path, flow);
                }
            }
        }
        for (key, (window_bytes, holds, path, flow)) in short {
            let carries = window_bytes as f64 * 8e12 / path.round_trip.as_ps().max(1) as f64;
            let name = |host: u32| self.fabric.name(self.fabric.host_node(host));
            let message = format!(
                "a window of {} carries {:.1} Gbps over the idle round trip of {:.1} from `{}` to `{}`, whose links \
                 carry {}: the window limits the rate of a flow, not the congestion control. Write advertised_window = \
                 \"{}\" or more",
                Bytes(window_bytes),
                carries / 1e9,
                path.round_trip,
                name(flow.src),
                name(flow.dst),
                path.rate,
                Bytes(holds.next_multiple_of(1000)),
            );
            self.context.warn(&key, message);
        }
    }

    /// Warns of retransmission timeouts below the RTT of an idle path: each expiry retransmits data that is not lost.
    fn warn_of_timers(&self) {
        let flows = self.plan.flows.iter().filter(|flow| flow.load == Load::Transport).take(MOST_FLOWS);
        let of_flows = flows.map(|flow| (flow.traffic, flow.src, flow.dst));
        let first =
            |arrivals: &traffic::Arrivals| arrivals.destinations().iter().copied().find(|&to| to != arrivals.src);
        let of_arrivals = self.plan.arrivals.iter().take(MOST_FLOWS);
        let of_arrivals = of_arrivals.filter_map(|one| Some((one.traffic, one.src, first(one)?)));
        // The worst path per timeout key: timeout, longest RTT, source and destination.
        let mut short = BTreeMap::<String, (Time, Time, u32, u32)>::new();
        for (traffic, src, dst) in of_flows.chain(of_arrivals) {
            let TransportParameters::Roce(roce) = self.parts.transport_of(traffic) else { continue };
            let (name, timer) = match (roce.is_selective(), roce.timeout) {
                (true, _) => ("rto_low", roce.rto_low),
                (false, Some(timeout)) => ("timeout", timeout),
                (false, None) => continue,
            };
            let Some(path) = self.path(src, dst).filter(|path| timer < path.round_trip) else { continue };
            let key = format!("{}.{name}", self.transport_key(traffic));
            let worst = short.entry(key).or_insert((timer, path.round_trip, src, dst));
            if path.round_trip > worst.1 {
                *worst = (timer, path.round_trip, src, dst);
            }
        }
        for (key, (timer, round_trip, src, dst)) in short {
            let name = |host: u32| self.fabric.name(self.fabric.host_node(host));
            let message = format!(
                "{timer} is less than the idle round trip of {round_trip:.1} from `{}` to `{}`: packets are \
                 retransmitted before they can be acknowledged. Write more than the round trip under load, such as \
                 {:.0}",
                name(src),
                name(dst),
                round_trip * 4,
            );
            self.context.warn(&key, message);
        }
    }

    fn transport_key(&self, entry: u8) -> String {
        let own = self.parts.traffic.get(usize::from(entry)).is_some_and(|entry| entry.transport.is_some());
        if own { format!("traffic.{entry}.transport") } else { "host.transport".to_owned() }
    }

    /// Returns the properties of the first of the equal-cost paths in an idle fabric; `None` if there is no path.
    fn path(&self, src: u32, dst: u32) -> Option<Path> {
        let fabric = self.fabric;
        let (mut node, end) = (fabric.host_node(src), fabric.host_node(dst));
        let mut path = Path { rate: host_rate(fabric, src), round_trip: Time::ZERO };
        for _ in 0..fabric.nodes().len() {
            if node == end {
                return Some(path);
            }
            let port = *self.forwarding.lookup(node, dst).first()?;
            let peer = &fabric.ports(node)[usize::from(port)];
            let link = fabric.link(peer.link);
            let frame = link.rate.serialise(u64::from(self.mtu_bytes) + WIRE_OVERHEAD_BYTES);
            path.round_trip = path.round_trip.saturating_add(link.delay * 2).saturating_add(frame);
            path.rate = path.rate.min(link.rate);
            node = peer.peer;
        }
        None
    }
}

/// Bottleneck rate and RTT of a path in an idle fabric.
#[derive(Clone, Copy)]
struct Path {
    /// Rate of the slowest link.
    rate: Rate,
    /// RTT: propagation in both directions plus the serialisation of one full frame per link. The serialisation of
    /// acknowledgements is neglected.
    round_trip: Time,
}

impl Path {
    /// Returns the bandwidth-delay product in bytes.
    fn holds_bytes(&self) -> u64 {
        let bits = u128::from(self.rate.as_bps()) * u128::from(self.round_trip.as_ps()) / 1_000_000_000_000;
        u64::try_from(bits / 8).unwrap_or(u64::MAX)
    }
}
