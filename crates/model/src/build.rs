//! Builds the nodes of a [`Setup`] on the engine.

use crate::all_delays::AllDelays;
use crate::host::FlowSchedule;
use crate::link_kinds::LinkKinds;
use crate::network::{HostInput, Measurement, Network, RoutingInput, SwitchInput};
use crate::node::SimulatedNode;
use crate::numbering::Numbering;
use crate::parameters::{
    Buffer, CLASSES, FlowControl, MAX_BUFFER_BYTES, Overload, QueueLimit, Setup, Spread, SwitchOverride,
};
use crate::routes::RouteTables;
use crate::switch::Switch;
use crate::telemetry::Telemetry;
use crate::trace::selection::Selection;
use crate::wiring::Wiring;
use engine::ranks::{RankPartition, divide_ranks};
use fabric::{Fabric, NodeId, NodeKind};
use protocols::florax::HostPair;
use protocols::transport::TransportParameters;
use protocols::trim::HeaderDestination;
use std::collections::BTreeMap;
use std::sync::Arc;
use traffic::{JOIN, Load, Start};
use units::{Bytes, Time};

/// Reason why a setup cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The headroom of lossless accounts exceeds the buffer.
    #[error(
        "switch {switch} has a buffer of {buffer}, but the headroom of its lossless accounts alone takes \
         {headroom}: use a larger buffer, fewer lossless classes or shorter links, or set the headroom explicitly"
    )]
    BufferBelowHeadroom {
        /// Name of the switch.
        switch: String,
        /// Size of its buffer.
        buffer: Bytes,
        /// Total headroom of its accounts.
        headroom: Bytes,
    },
    /// The limit of a queue exceeds the range of its counter.
    #[error(
        "switch {switch} allows {room} per queue, more than the maximum of {}: use a smaller limit",
        Bytes(MAX_BUFFER_BYTES)
    )]
    BufferTooLarge {
        /// Name of the switch.
        switch: String,
        /// Limit of the queue.
        room: Bytes,
    },
    /// Agents were requested, but no flow has an external rate.
    #[error("agents need flows with an external rate: write transport = \"external\" for the hosts or a traffic entry")]
    NoAgents,
    /// An agent per flow was requested, but flows are drawn during the run.
    #[error("the flows of traffic.{entry} are generated during the run: use one agent per sending host, not per flow")]
    DrawnFlows {
        /// Traffic entry of these flows.
        entry: u8,
    },
    /// Agents were requested in a run of several ranks.
    #[error("agents need a single process, not several ranks")]
    AgentsOverRanks,
    /// Nodes and links do not form a valid network.
    #[error(transparent)]
    Engine(#[from] engine::EngineError),
}

/// Nodes of one rank, and the wires of all ranks.
pub(crate) struct BuiltNetwork {
    pub network: Arc<Network>,
    /// Nodes of this rank.
    pub machines: Vec<SimulatedNode>,
    /// Wires and engine index of all nodes.
    pub wiring: Wiring,
    /// Output index of each node, by engine index.
    pub output_index: Vec<u32>,
    /// Ranges of engine indices of the ranks.
    pub borders: RankPartition,
}

/// Builds the nodes that rank `rank` of `ranks` ranks simulates.
pub(crate) fn build(setup: Setup, (rank, ranks): (usize, usize)) -> Result<BuiltNetwork, ModelError> {
    let Setup {
        fabric,
        forwarding,
        paths,
        spread,
        failures,
        reroute,
        switch,
        overrides,
        overload_rule,
        pause_rule,
        without_flow_control,
        timing,
        committed_rates,
        host,
        mut traffic,
        mut static_routes,
        tags,
        ..
    } = setup;
    let planned = traffic.flows.iter().map(|flow| flow.traffic);
    let entries = planned.chain(traffic.arrivals.iter().map(|arrivals| arrivals.traffic)).max();
    let traffic_entries = entries.map_or(0, usize::from) + 1;
    let transport = |entry: usize| host.transports.get(&(entry as u8)).unwrap_or(&host.transport).clone();
    let transports: Box<[TransportParameters]> = (0..traffic_entries).map(transport).collect();
    let mut in_use = [false; CLASSES];
    for flow in &traffic.flows {
        in_use[usize::from(flow.class) % CLASSES] = true;
    }
    for arrivals in &traffic.arrivals {
        in_use[usize::from(arrivals.class) % CLASSES] = true;
    }
    if let Some(class) = host.reply_class {
        in_use[usize::from(class) % CLASSES] = true;
    }
    if let Overload::Trim { trim, .. } = switch.overload
        && trim.scheme != HeaderDestination::SameQueue
    {
        in_use[usize::from(trim.header_class) % CLASSES] = true;
    }
    let markings = std::iter::once(&switch.marking).chain(overrides.iter().filter_map(|it| it.marking.as_ref()));
    for class in markings.flat_map(|marking| (0..8).filter(|class| marking.own_classes() & 1 << class != 0)) {
        in_use[class] = true;
    }
    for class in (0..CLASSES as u8).filter(|class| transports.iter().any(|it| it.classes() & 1 << class != 0)) {
        in_use[usize::from(class)] = true;
    }
    for class in timing.cycles.values().flat_map(|cycles| (0..8).filter(|class| cycles.mask() & 1 << class != 0)) {
        in_use[class] = true;
    }
    for tag in tags.iter().flat_map(|tags| tags.classes()) {
        in_use[usize::from(tag) % CLASSES] = true;
    }
    static_routes.sort_by_key(|route| route.node);
    let classes: Vec<u8> = (0..CLASSES as u8).filter(|&class| in_use[usize::from(class)]).collect();
    // Arrays by class slot must not be empty, even without traffic.
    let classes = if classes.is_empty() { vec![0] } else { classes };
    let mut class_slot = [0; CLASSES];
    for (slot, &class) in classes.iter().enumerate() {
        class_slot[usize::from(class)] = slot as u8;
    }
    let mut jitter = vec![setup.record.jitter; traffic_entries].into_boxed_slice();
    for flow in &traffic.flows {
        if let Load::Datagrams(source) = &flow.load
            && source.follows_clock()
        {
            jitter[usize::from(flow.traffic)] = true;
        }
    }
    let least_delay = fabric.links().iter().map(|link| link.delay).min().unwrap_or(Time::from_us(1));
    let arrivals = std::mem::take(&mut traffic.arrivals);
    let numbering = Numbering { planned: traffic.flows.len() as u64, hosts: fabric.hosts().len() as u64 };
    let measurement = Measurement {
        in_order: spread == Spread::FlowHash
            && failures.is_empty()
            && static_routes.is_empty()
            && timing.cycles.is_empty()
            && !transports.iter().any(TransportParameters::chooses_paths)
            && overload_rule.is_none()
            && matches!(switch.overload, Overload::Drop | Overload::Trim { .. }),
        selection: Selection::new(&setup.record, numbering, &traffic.connections).map(Arc::new),
        numbering,
        record_pauses: setup.record.pauses,
        reordering: setup.record.reordering,
        utilisation: setup.record.utilisation,
        queue_lengths: setup.record.queue_lengths_every.is_some(),
        jitter,
        delays: AllDelays::new(fabric.hosts().len()),
    };
    let switches = SwitchInput {
        committed_rates: committed_rates
            .iter()
            .map(|it| (HostPair { src: it.from, dst: it.to }, it.rate.as_bps()))
            .collect(),
        switch_overrides: SwitchOverride::resolve(&overrides, &switch),
        port_overrides: SwitchOverride::resolve_ports(&overrides, &switch),
        overload_rule,
        pause_rule,
        without_flow_control,
    };
    let network = Arc::new(Network {
        links: LinkKinds::new(fabric.links(), setup.control_loss),
        timing,
        telemetry: transports.iter().any(TransportParameters::collects).then(|| Telemetry::new(fabric.hosts().len())),
        seed: setup.seed,
        routing: RoutingInput { forwarding, paths, static_routes, tags, spread, reroute },
        switches,
        switch,
        measurement,
        hosts: HostInput {
            notification_delay: setup.notification_delay.unwrap_or(least_delay).max(Time::from_ps(1)),
            clocks: host.clocks.of_hosts(fabric.hosts().len(), setup.seed),
            transports,
        },
        host,
        fabric,
        traffic,
        class_slot,
        classes,
    });
    check_buffers(&network)?;

    let fabric = &network.fabric;
    let order = locality_order(fabric, true);
    let output_index = output_order(fabric, &order);
    let wiring = Wiring::new(&network, order);
    let firsts = if ranks == 1 { vec![0, wiring.order().len() as u32] } else { divide_ranks(&wiring, ranks)? };
    let borders = RankPartition::new(&wiring, firsts);
    let own = borders.nodes_of(rank);
    let mut changes: BTreeMap<NodeId, Vec<(Time, u16, bool)>> = BTreeMap::new();
    for failure in &failures {
        let link = fabric.link(failure.link);
        for end in [link.a, link.b] {
            let changes = changes.entry(end.node).or_default();
            changes.push((failure.down_at, end.port, true));
            changes.extend(failure.up_at.map(|up| (up, end.port, false)));
        }
    }

    let mut is_own = vec![false; fabric.hosts().len()];
    for host in own.clone().filter_map(|index| fabric.host_index(wiring.order()[index as usize])) {
        is_own[host as usize] = true;
    }
    let mut schedules = plan_starts(&network, arrivals, |host| is_own[host as usize]);
    let mut known_routes = RouteTables::default();
    let machines = own
        .map(|index| {
            let node = wiring.order()[index as usize];
            let changes = changes.remove(&node).unwrap_or_default();
            match fabric.host_index(node) {
                Some(host) if fabric.node(node).kind == NodeKind::Host => {
                    let mut schedule =
                        schedules[host as usize].take().map_or_else(FlowSchedule::default, |schedule| *schedule);
                    schedule.notified_hosts.extend(wiring.notified_from(index));
                    let mut machine = SimulatedNode::host(node, &network, schedule);
                    if !changes.is_empty() {
                        machine.activate();
                    }
                    if let SimulatedNode::Host(host) = &mut machine {
                        for (at, port, fails) in changes {
                            host.schedule_change(at, port, fails);
                        }
                    }
                    machine
                }
                _ => {
                    let mut switch = Switch::new(node, &network, changes);
                    known_routes.share(&mut switch.core.routing.routes);
                    SimulatedNode::Switch(Box::new(switch))
                }
            }
        })
        .collect();
    Ok(BuiltNetwork { network, machines, wiring, output_index, borders })
}

fn check_buffers(network: &Network) -> Result<(), ModelError> {
    let fabric = &network.fabric;
    let slots = if matches!(network.switch.flow_control, FlowControl::Pause(_)) { 1 } else { network.classes.len() };
    for switch in fabric.switches() {
        let buffer = network.switch_of(switch).buffer;
        let room = match buffer {
            Buffer::Shared { bytes, .. } | Buffer::PerQueue { limit: QueueLimit::Bytes(bytes) } => bytes,
            Buffer::PerQueue { limit: QueueLimit::Packets(most) } => {
                u64::from(most) * u64::from(network.host.mtu_bytes)
            }
        };
        if room > MAX_BUFFER_BYTES {
            let switch = fabric.name(switch).to_owned();
            return Err(ModelError::BufferTooLarge { switch, room: Bytes(room) });
        }
        let Buffer::Shared { bytes, .. } = buffer else { continue };
        let links = fabric.ports(switch).iter().map(|peer| fabric.link(peer.link));
        let headroom: u64 = links
            .map(|link| (0..slots).map(|slot| network.headroom(switch, link.rate, link.delay, slot)).sum::<u64>())
            .sum();
        if headroom >= bytes {
            let switch = fabric.name(switch).to_owned();
            return Err(ModelError::BufferBelowHeadroom { switch, buffer: Bytes(bytes), headroom: Bytes(headroom) });
        }
    }
    Ok(())
}

/// Returns the flow schedule of each host for which `own` returns true: planned starts, random arrivals and pending
/// dependencies. `None` for hosts without flows.
fn plan_starts(
    network: &Network,
    arrivals: Vec<traffic::Arrivals>,
    own: impl Fn(u32) -> bool,
) -> Vec<Option<Box<FlowSchedule>>> {
    let mut all: Vec<Option<Box<FlowSchedule>>> = network.fabric.hosts().iter().map(|_| None).collect();
    let mut of = |host: u32, note: &mut dyn FnMut(&mut FlowSchedule)| {
        if own(host) {
            note(all[host as usize].get_or_insert_default());
        }
    };
    for (number, flow) in (0..).zip(&network.traffic.flows) {
        of(flow.src, &mut |schedule| match flow.start {
            Start::At(at) => schedule.planned.push((at, number)),
            // Without dependencies, the delay counts from time zero.
            Start::After { waits_for: 0, delay } => schedule.planned.push((delay, number)),
            Start::After { waits_for, .. } => _ = schedule.missing_notifications.insert(number, waits_for),
        });
    }
    for (number, join) in (0..).zip(&network.traffic.joins) {
        of(join.host, &mut |schedule| _ = schedule.missing_notifications.insert(JOIN | number, join.waits_for));
    }
    for source in arrivals {
        let mut source = Some(source);
        let host = source.as_ref().map_or(0, |source| source.src);
        of(host, &mut |schedule| schedule.arrivals.extend(source.take().map(|source| (source, None))));
    }
    for schedule in all.iter_mut().flatten() {
        schedule.planned.sort_unstable();
    }
    all
}

/// Returns all nodes in an order that places neighbours close to each other, so that few links cross threads. The
/// position of a node is the mean position of its neighbours one tier below. Nodes with equal neighbours, such as the
/// core switches of a fat-tree, would all have a position in the middle, so that some threads would have only core
/// switches. `spread` distributes such nodes evenly over the range of positions of their neighbours.
fn locality_order(fabric: &Fabric, spread: bool) -> Vec<NodeId> {
    let mut position = vec![0.0f64; fabric.nodes().len()];
    let mut nodes: Vec<NodeId> = fabric.node_ids().collect();
    nodes.sort_by_key(|&node| (fabric.node(node).tier, node));
    // Tier 0 (hosts) is in order of node numbers.
    let mut first = 0;
    for tier in nodes.chunk_by(|&a, &b| fabric.node(a).tier == fabric.node(b).tier) {
        let mut alike: Vec<(f64, NodeId, f64, f64)> = Vec::with_capacity(tier.len());
        for (index, &node) in (first..).zip(tier) {
            let below = fabric.ports(node).iter().filter(|port| fabric.node(port.peer).tier < fabric.node(node).tier);
            let below: Vec<f64> = below.map(|port| position[port.peer.index()]).collect();
            let mean = if below.is_empty() { index as f64 } else { below.iter().sum::<f64>() / below.len() as f64 };
            let (low, high) = below.iter().fold((mean, mean), |(low, high), &at| (low.min(at), high.max(at)));
            alike.push((mean, node, low, high));
        }
        first += tier.len();
        alike.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let groups = alike.chunk_by(|a, b| a.0 == b.0);
        let count = groups.clone().count() as f64;
        for (number, group) in groups.enumerate() {
            // Groups that are spread over the same range get different offsets, so that their nodes interleave.
            let offset = (number as f64 + 0.5) / count;
            for (index, &(mean, node, low, high)) in group.iter().enumerate() {
                let share = (index as f64 + offset) / group.len() as f64;
                position[node.index()] = if spread && group.len() > 1 { low + share * (high - low) } else { mean };
            }
        }
    }
    nodes.sort_by(|&a, &b| position[a.index()].total_cmp(&position[b.index()]).then(a.cmp(&b)));
    nodes
}

/// Returns the output index of each node, by engine index. The order is that without `spread`, so that results do not
/// depend on the placement of nodes on threads.
fn output_order(fabric: &Fabric, order: &[NodeId]) -> Vec<u32> {
    let mut rank = vec![0; order.len()];
    for (index, node) in (0..).zip(locality_order(fabric, false)) {
        rank[node.index()] = index;
    }
    order.iter().map(|node| rank[node.index()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::LinkSpec;
    use fabric::generate::{TierLinks, fat_tree};
    use units::Rate;

    /// Core switches are spread evenly over a fat-tree's pods, and not grouped in the middle.
    #[test]
    fn pods_share_the_core_out() {
        const K: usize = 8;
        let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)));
        let fabric = fat_tree(K as u32, links).unwrap();
        for shared_out in [true, false] {
            let order = locality_order(&fabric, shared_out);
            let is_core = |node: &&NodeId| {
                let kind = fabric.node(**node).kind;
                kind != NodeKind::Host && fabric.ports(**node).iter().all(|port| fabric.node(port.peer).tier == 2)
            };
            assert_eq!(order.iter().filter(is_core).count(), K * K / 4);
            // Largest number of core switches in any eighth of the order. An even spread gives two.
            let found = order.chunks(order.len() / K).map(|part| part.iter().filter(is_core).count()).max().unwrap();
            assert!(if shared_out { found <= 3 } else { found >= K * K / 8 }, "{shared_out}: {found}");
        }
    }

    /// A rank stores only the flow starts of its own hosts: `own` selects every third host, and the others have no
    /// schedule.
    #[test]
    fn starts_are_those_of_own_hosts() {
        let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)));
        let hosts: Vec<u32> = (0..16).collect();
        let mut plan = traffic::PlanBuilder::new();
        let pairs = traffic::Pairs { pattern: traffic::Pattern::Permutation, workload: traffic::Workload::Endless };
        traffic::pairs(&pairs, &hosts, &traffic::Entry::new(1, 0), &mut plan).unwrap();
        let setup = Setup::new(fat_tree(4, links).unwrap(), plan.build(16).unwrap()).unwrap();
        let network = build(setup, (0, 1)).unwrap().network;
        let schedule = plan_starts(&network, Vec::new(), |host| host % 3 == 0);
        let planned: Vec<usize> = schedule.iter().map(|it| it.as_ref().map_or(0, |it| it.planned.len())).collect();
        assert_eq!(planned, hosts.iter().map(|host| usize::from(host % 3 == 0)).collect::<Vec<_>>());
    }
}
