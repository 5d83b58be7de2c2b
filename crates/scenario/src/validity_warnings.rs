//! Warns of combinations of valid settings that give misleading results.

use crate::parts::Parts;
use crate::section::Context;
use crate::traffic_lower::host_rate;
use fabric::Fabric;
use model::parameters::{Overload, Spread};
use protocols::datagram::ArrivalProcess;
use protocols::transport::TransportParameters;
use std::collections::BTreeMap;
use traffic::{Flow, Load, Plan, Process, Start};
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// Minimum number of frames of a source for the warning: with so many frames, the phases of constant-rate sources
/// determine their loss rates.
const MANY_FRAMES: u64 = 100;

/// Emits all warnings of this module.
pub(crate) fn warn(context: &Context<'_>, parts: &Parts, fabric: &Fabric, plan: &Plan) {
    let sends = plan.flows.iter().any(|flow| flow.load == Load::Transport) || !plan.arrivals.is_empty();
    let (transports, overload) = (parts.transports(), &parts.switch.overload);
    let trims = matches!(overload, Overload::Trim { .. });
    if let (true, false, Some((key, ..))) = (sends, trims, transports.iter().find(|(_, kind, _)| *kind == "ndp")) {
        let message = "NDP's receivers detect losses by trimmed headers, but no switch trims: each loss waits for a \
                       timeout. Write switch.overload = \"trim\"";
        context.warn(key, message);
    }
    let sprayed = match parts.routing.spread {
        Spread::FlowHash => None,
        Spread::PerPacket => Some("packet"),
        Spread::PerPath => Some("path"),
        Spread::PerEntropy { .. } => Some("entropy"),
    };
    let goes_back =
        |transport: &TransportParameters| matches!(transport, TransportParameters::Roce(roce) if !roce.is_selective());
    let in_order = transports.iter().find(|(.., transport)| goes_back(transport)).filter(|_| sends);
    if let (Some(spread), Some((_, kind, _)), true) = (sprayed, in_order, has_equal_cost_paths(fabric)) {
        let message = format!(
            "{kind} treats out-of-order packets as losses and retransmits all following packets (go-back-N): with \
             routing.spread = \"{spread}\" many packets are sent twice. Write \"flow\", or use a transport that \
             tolerates reordering"
        );
        context.warn("routing.spread", message);
    }
    if let (Some(spread), true, true) =
        (sprayed, transports.iter().any(|(_, kind, _)| *kind == "hpcc"), sends && has_equal_cost_paths(fabric))
    {
        let message = format!(
            "hpcc evaluates telemetry of several paths as that of one: with routing.spread = \"{spread}\" a single \
             flow sends far below its share. Write \"flow\""
        );
        context.warn("routing.spread", message);
    }
    let lossy = |flow: &Flow| parts.switch.flow_control.lossless() >> flow.class & 1 == 0;
    if matches!(overload, Overload::Drop | Overload::Trim { .. })
        && let Some((host, count)) = locked(parts, fabric, plan, lossy)
    {
        let message = format!(
            "{count} constant sources of one period overload the link to {host} with fixed phases, which determine for \
             the whole run which sources lose their packets. Add jitter and compare several seeds, or write process = \
             \"poisson\""
        );
        context.warn("traffic", message);
    }
}

/// Returns `true` if the fabric has equal-cost paths: some switch has at least two ports towards switches of its own or
/// a higher tier.
fn has_equal_cost_paths(fabric: &Fabric) -> bool {
    fabric.switches().any(|node| {
        let tier = fabric.node(node).tier;
        let onward =
            |port: &&fabric::PortPeer| fabric.node(port.peer).forwards() && fabric.node(port.peer).tier >= tier;
        fabric.ports(node).iter().filter(onward).count() > 1
    })
}

/// Timing of a constant-rate source: its phase (start plus delay of the host link, modulo the period), its period, and
/// its rate on the wire.
struct Source {
    phase_ps: u64,
    period_ps: u64,
    bps: u64,
}

/// Returns the first host whose link is overloaded by constant-rate sources with equal periods and different phases,
/// and the number of such sources that send to this host.
fn locked(parts: &Parts, fabric: &Fabric, plan: &Plan, lossy: impl Fn(&Flow) -> bool) -> Option<(String, usize)> {
    let mut by_host: BTreeMap<u32, Vec<Source>> = BTreeMap::new();
    for flow in plan.flows.iter().filter(|flow| lossy(flow)) {
        by_host.entry(flow.dst).or_default().extend(constant(parts, fabric, flow));
    }
    for (host, sources) in by_host {
        let bps: u64 = sources.iter().fold(0, |sum, source| sum.saturating_add(source.bps));
        let period_ps = sources.first().map_or(0, |source| source.period_ps);
        let alike: Vec<&Source> = sources.iter().filter(|source| source.period_ps == period_ps).collect();
        let in_step = alike.iter().all(|source| source.phase_ps == alike[0].phase_ps);
        if bps > host_rate(fabric, host).as_bps() && alike.len() > 1 && !in_step {
            return Some((fabric.name(fabric.host_node(host)).to_owned(), alike.len()));
        }
    }
    None
}

/// Returns `flow` as a source with constant inter-frame times, a fixed start and many frames; otherwise `None`.
fn constant(parts: &Parts, fabric: &Fabric, flow: &Flow) -> Option<Source> {
    let Start::At(start) = flow.start else { return None };
    if parts.traffic.get(usize::from(flow.traffic)).is_some_and(|entry| entry.jitter > Time::ZERO) {
        return None;
    }
    let line = host_rate(fabric, flow.src);
    let (period, frame_bytes) = match (&flow.load, parts.transport_of(flow.traffic)) {
        (Load::Datagrams(source), _) => {
            let Process::Constant { rate } = source.process else { return None };
            (spacing(rate.min(line), source.frame_bytes), source.frame_bytes)
        }
        (Load::Transport, TransportParameters::Datagram(own)) if own.arrival == ArrivalProcess::Constant => {
            let rate = own.rate.unwrap_or(line).min(line);
            (own.gap.unwrap_or_else(|| spacing(rate, own.frame_bytes)), own.frame_bytes)
        }
        _ => return None,
    };
    let period_ps = period.as_ps().max(1);
    let most = parts.top.duration.saturating_sub(start).as_ps() / period_ps;
    if most.min(flow.size_bytes / u64::from(frame_bytes.max(1))) < MANY_FRAMES {
        return None;
    }
    let delay =
        fabric.ports(fabric.host_node(flow.src)).first().map_or(Time::ZERO, |port| fabric.link(port.link).delay);
    let bits_ps = (u128::from(frame_bytes) + u128::from(WIRE_OVERHEAD_BYTES)) * 8_000_000_000_000;
    Some(Source {
        phase_ps: start.saturating_add(delay).as_ps() % period_ps,
        period_ps,
        bps: u64::try_from(bits_ps / u128::from(period_ps)).unwrap_or(u64::MAX),
    })
}

fn spacing(rate: Rate, frame_bytes: u16) -> Time {
    rate.serialise(u64::from(frame_bytes) + WIRE_OVERHEAD_BYTES)
}
