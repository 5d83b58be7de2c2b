//! Input of the check "stall" at the end of a run: blocked and paused queues, and the accounts that pause them.

use crate::deadlock::{dependency_inputs, paused_queues, pauses_whole_ports};
use crate::egress::{Head, PortState, block};
use crate::holds::HeldFlows;
use crate::network::Network;
use crate::node::SimulatedNode;
use crate::parameters::{Buffer, FlowControl, QueueLimit};
use crate::simulation::Simulation;
use crate::switch::Switch;
use check::stall::{BlockCause, BlockedQueue, Stalls};
use check::{AccountId, QueueId};
use fabric::{NodeId, NodeKind};
use protocols::frame::MIN_FRAME_BYTES;
use protocols::scheduler::ClassScheduler;
use units::{Time, WIRE_OVERHEAD_BYTES};

/// Finds all queues that are blocked or paused at `now`. All ranks return equal results.
pub(crate) fn find(simulation: &Simulation, now: Time) -> Stalls {
    let may_lock = simulation.network.switch.flow_control.can_deadlock();
    let mut own: Vec<BlockedQueue> =
        simulation.switches().flat_map(|switch| blocked(simulation, switch, now)).collect();
    own.extend(futile_holds(simulation, now));
    own.extend(ended_holds(simulation, now));
    own.extend(starved_hosts(simulation, now));
    let all: Vec<BlockedQueue> = simulation.all_gather(own).into_iter().flatten().collect();
    let mut own = Vec::new();
    if may_lock {
        let indices = 0..simulation.engine.len() as u32;
        own.extend(paused_queues(simulation, indices, now));
        own.extend(stopped_hosts(simulation, now));
        // Blocked queues are the roots of a stall, so they do not also count as paused.
        own.retain(|stopped| all.iter().all(|root| root.queue != stopped.0));
    }
    let stopped = simulation.all_gather(own.len() as u64).into_iter().sum();
    let here = |root: &&BlockedQueue| simulation.machine(NodeId(root.queue.node)).is_some();
    own.extend(all.iter().filter(here).map(|root| (root.queue, root.since, root.account())));
    let (paused, accounts) = dependency_inputs(simulation, own);
    Stalls::find(stopped, &paused, accounts, all)
}

/// Returns the blocked queues of `switch`.
fn blocked(simulation: &Simulation, switch: &Switch, now: Time) -> Vec<BlockedQueue> {
    let network = &simulation.network;
    let egress = &switch.core.egress;
    let mut found = Vec::new();
    for (port, cell) in (0u16..).zip(&egress.cells) {
        let Some(peer) = network.fabric.ports(switch.node()).get(usize::from(port)) else { continue };
        if cell.block_reasons & block::DOWN != 0 {
            continue;
        }
        let state = egress.state(port);
        for (slot, &class) in network.classes.iter().enumerate() {
            let queue = switch.queue(usize::from(port), slot);
            let Some(frame) = queue.front() else { continue };
            let id = QueueId { node: switch.node().0, port, class };
            let bytes = u64::from(queue.bytes);
            let stormed = state.watchdog.stormed() >> class & 1 == 1;
            if let Some(since) = state.blocked_since(now, class).filter(|_| !stormed) {
                if has_endless_storm(simulation, peer.peer, since, now) {
                    found.push(BlockedQueue { since, queue: id, bytes, cause: BlockCause::PausingHost });
                }
                continue;
            }
            // Classes whose frames a watchdog drops are not blocked.
            if egress.dropped_classes(port) >> class & 1 == 1 {
                continue;
            }
            let changed = queue.area.last_change();
            let most = longest_wait(simulation, switch, port, class);
            if now.saturating_sub(changed) <= most || !holds_lossless(simulation, switch, port, slot) {
                continue;
            }
            let (since, open) = egress.blocked_since(now, port, (class, Head::of(frame)), changed);
            let highest = network.classes.iter().all(|&other| other <= class);
            let cause = match state.scheduler() {
                _ if since == Time::MAX => BlockCause::Gate,
                ClassScheduler::Strict if !highest => BlockCause::StrictPriority,
                _ => BlockCause::Unknown,
            };
            if cause == BlockCause::Gate || open > most {
                // The first frame may have waited since before the last change of the queue length, so evaluate from
                // time zero.
                let since = egress.blocked_since(now, port, (class, Head::of(frame)), Time::ZERO).0;
                let since = if since == Time::MAX { frame.at } else { since };
                found.push(BlockedQueue { since, queue: id, bytes, cause });
            }
        }
    }
    found
}

/// Returns the maximum legitimate waiting time of the head of a queue without a pause: the serialisation delay of the
/// maximum backlog of the port in minimum-size frames, plus one scheduler round of all other classes.
fn longest_wait(simulation: &Simulation, switch: &Switch, port: u16, class: u8) -> Time {
    let network = &simulation.network;
    let queues = switch.core.buffer.queues_of(port).count() as u64;
    let state = switch.core.egress.state(port);
    let round_bytes = state.scheduler().longest_round_bytes(class, u64::from(network.host.mtu_bytes));
    smallest_frames_time(state, held_bytes(network, switch.node(), queues).saturating_add(round_bytes))
}

/// Returns the maximum backlog of a port with `queues` queues, in bytes.
fn held_bytes(network: &Network, switch: NodeId, queues: u64) -> u64 {
    match network.switch_of(switch).buffer {
        Buffer::Shared { bytes, .. } => bytes,
        Buffer::PerQueue { limit: QueueLimit::Bytes(most) } => most.saturating_mul(queues),
        Buffer::PerQueue { limit: QueueLimit::Packets(most) } => {
            (u64::from(most) * u64::from(network.host.mtu_bytes)).saturating_mul(queues)
        }
    }
}

/// Returns the serialisation delay of `bytes` in frames of the minimum size.
fn smallest_frames_time(state: &PortState, bytes: u64) -> Time {
    let least = u64::from(MIN_FRAME_BYTES);
    let wire_bytes = u128::from(bytes) * u128::from(least + WIRE_OVERHEAD_BYTES);
    state.link.rate.serialise(u64::try_from(wire_bytes / u128::from(least)).unwrap_or(u64::MAX))
}

/// Returns lossless classes of this rank's hosts whose next frame has been eligible for longer than the port needs to
/// send the maximum backlog of its switch plus one scheduler round per waiting frame or flow.
fn starved_hosts(simulation: &Simulation, now: Time) -> Vec<BlockedQueue> {
    let network = &simulation.network;
    let lossless = network.switch.flow_control.lossless();
    let mtu_bytes = u64::from(network.host.mtu_bytes);
    let mut found = Vec::new();
    for host in simulation.hosts() {
        for (port, peer) in (0u16..).zip(network.fabric.ports(host.identity.node)) {
            let cell = host.egress.cell(port);
            let state = host.egress.state(port);
            let waiting = cell.waiting & lossless;
            if waiting == 0 || cell.block_reasons & block::DOWN != 0 {
                continue;
            }
            let switch_bytes = match network.fabric.node(peer.peer).kind {
                NodeKind::Switch => held_bytes(network, peer.peer, network.classes.len() as u64),
                NodeKind::Host => 0,
            };
            let head = host.head_of(port);
            for &class in network.classes.iter().filter(|class| waiting >> **class & 1 == 1) {
                let Some(head) = head(class).filter(|_| state.blocked_since(now, class).is_none()) else { continue };
                let turn_bytes = mtu_bytes + state.scheduler().longest_round_bytes(class, mtu_bytes);
                let most_bytes = switch_bytes.saturating_add(host.backlog(port).saturating_mul(turn_bytes));
                let (since, open) = host.egress.blocked_since(now, port, (class, head), Time::ZERO);
                if since != Time::MAX && open > smallest_frames_time(state, most_bytes) {
                    let queue = QueueId { node: host.identity.node.0, port, class };
                    let highest = cell.waiting >> class == 1;
                    let cause = match state.scheduler() {
                        ClassScheduler::Strict if !highest => BlockCause::StrictPriority,
                        _ => BlockCause::Unknown,
                    };
                    found.push(BlockedQueue { since, queue, bytes: 0, cause });
                }
            }
        }
    }
    found
}

/// Returns whether a queue contains a frame of a lossless class or of a lossless ingress account.
fn holds_lossless(simulation: &Simulation, switch: &Switch, port: u16, slot: usize) -> bool {
    let lossless = simulation.network.switch.flow_control.lossless();
    let own = simulation.network.flow_control_of(switch.node()).lossless();
    let is_lossless = |classes: u8, class: u8| classes >> (class & 7) & 1 == 1;
    switch
        .frames(usize::from(port), slot)
        .any(|frame| is_lossless(lossless, frame.class) || is_lossless(own, frame.in_class))
}

/// Returns whether the host `peer`, which pauses a port since `since`, has an endless pause storm at `now` that the
/// watchdog, if any, should have detected.
fn has_endless_storm(simulation: &Simulation, peer: NodeId, since: Time, now: Time) -> bool {
    let network = &simulation.network;
    let storms = network.host.pause_storm.filter(|storm| storm.node == peer);
    let goes_on = storms.is_some_and(|storm| storm.until.is_none_or(|until| until > now));
    let watchdog = network.switch.flow_control.pause().and_then(|pause| pause.watchdog);
    goes_on && watchdog.is_none_or(|watchdog| now.saturating_sub(since) > watchdog.detection_time * 2)
}

/// Returns the paused ports of this rank's hosts that have a backlog.
fn stopped_hosts(simulation: &Simulation, now: Time) -> Vec<(QueueId, Time, AccountId)> {
    let network = &simulation.network;
    let by_port = pauses_whole_ports(simulation);
    let mut stopped = Vec::new();
    for index in 0..simulation.engine.len() {
        let SimulatedNode::Host(host) = simulation.engine.node(index) else { continue };
        let (egress, node) = (&host.egress, host.identity.node);
        for (port, peer) in (0u16..).zip(network.fabric.ports(node)) {
            let cell = egress.cell(port);
            if cell.waiting == 0 || cell.block_reasons & (block::PAUSE | block::CREDIT) == 0 {
                continue;
            }
            for &class in network.classes.iter().filter(|class| cell.waiting >> **class & 1 == 1) {
                let Some(since) = egress.state(port).blocked_since(now, class) else { continue };
                let queue = QueueId { node: node.0, port, class };
                let class = if by_port { 0 } else { network.stopped_by(node, port, class) };
                let account = AccountId { node: peer.peer.0, port: peer.peer_port, class };
                stopped.push((queue, since, account));
            }
        }
    }
    stopped
}

/// Under flow control per flow or destination: returns flows of this rank that wait although their hold has expired, or
/// although the hold has lasted longer than the expiry time and the switch that sent the XOFF is empty.
fn ended_holds(simulation: &Simulation, now: Time) -> Vec<BlockedQueue> {
    let network = &simulation.network;
    let Some(parameters) = network.switch.flow_control.backpressure() else { return Vec::new() };
    let held = |node: NodeId, held: &HeldFlows| -> Vec<(BlockedQueue, bool)> {
        let waits = held.with_frames().map(|(port, since, until, frame)| {
            let (queue, bytes) = (QueueId { node: node.0, port, class: frame.class }, u64::from(frame.size_bytes));
            let since = since.max(frame.at);
            (BlockedQueue { since, queue, bytes, cause: BlockCause::EndedHold }, until < now)
        });
        waits.filter(|(it, expired)| *expired || now.saturating_sub(it.since) > parameters.expiry).collect()
    };
    let switches = simulation.switches();
    let of_switches = switches.filter_map(|switch| Some(held(switch.node(), &switch.backpressure.as_ref()?.held)));
    let of_hosts = simulation.hosts().filter_map(|host| Some(held(host.identity.node, host.held()?)));
    let mut found: Vec<(BlockedQueue, bool)> = of_switches.chain(of_hosts).flatten().collect();
    found.sort_unstable_by_key(|(it, _)| (it.queue, it.since));
    let peers = found.iter().map(|(it, _)| {
        let peer = network.fabric.ports(NodeId(it.queue.node))[usize::from(it.queue.port)];
        (peer.peer.0, peer.peer_port)
    });
    let empty = simulation.query_nodes(peers.collect(), |machine, _: &u16| match machine {
        SimulatedNode::Switch(switch) => {
            let held = switch.backpressure.as_ref().map(|backpressure| &backpressure.held);
            switch.core.buffer.occupancy.used == 0 && held.is_none_or(|held| held.frames().next().is_none())
        }
        _ => false,
    });
    let without_reason =
        |((it, expired), empty): ((BlockedQueue, bool), Option<bool>)| (expired || empty == Some(true)).then_some(it);
    found.into_iter().zip(empty).filter_map(without_reason).collect()
}

/// Under backpressure by destination or by output: returns queues and flows of this rank that have been paused for
/// longer than the pausing output port needs to send its maximum backlog, while that port queues frames of hosts that
/// ignore pauses.
fn futile_holds(simulation: &Simulation, now: Time) -> Vec<BlockedQueue> {
    let network = &simulation.network;
    let control = &network.switch.flow_control;
    let ignores =
        |host: u32| !network.host.obeys_pause || network.host.stopping.ignore_pause.binary_search(&host).is_ok();
    let anybody = !network.host.obeys_pause || !network.host.stopping.ignore_pause.is_empty();
    // Does not apply under FLORAX, which separates flows and drops frames above the permitted rate.
    let by_output = matches!(control, FlowControl::PauseAtOutput(..));
    if !anybody || !(by_output || matches!(control, FlowControl::Destination(_))) {
        return Vec::new();
    }
    let mut stopped: Vec<BlockedQueue> = Vec::new();
    let mut note = |node: NodeId, port: u16, class: u8, since: Time, bytes: u64| {
        let queue = QueueId { node: node.0, port, class };
        stopped.push(BlockedQueue { since, queue, bytes, cause: BlockCause::NonconformingHost });
    };
    if by_output {
        for (queue, since, _) in paused_queues(simulation, 0..simulation.engine.len() as u32, now) {
            note(NodeId(queue.node), queue.port, queue.class, since, 0);
        }
        for (queue, since, _) in stopped_hosts(simulation, now) {
            note(NodeId(queue.node), queue.port, queue.class, since, 0);
        }
    } else {
        for switch in simulation.switches() {
            let held = switch.backpressure.iter().flat_map(|backpressure| backpressure.held.stopped());
            for (port, _, since, frame) in held {
                if let Some(frame) = frame {
                    note(switch.node(), port, frame.class, since.max(frame.at), u64::from(frame.size_bytes));
                }
            }
        }
        for host in simulation.hosts() {
            for (port, since, class) in host.held_flows() {
                note(host.identity.node, port, class, since, 0);
            }
        }
    }
    // Count each port once.
    stopped.sort_unstable_by_key(|it| (it.queue, it.since));
    stopped.dedup_by_key(|it| (it.queue.node, it.queue.port));
    let questions = stopped.iter().map(|it| {
        let peer = network.fabric.ports(NodeId(it.queue.node))[usize::from(it.queue.port)];
        (peer.peer.0, peer.peer_port)
    });
    let answers = simulation.query_nodes(questions.collect(), |machine, &in_port: &u16| {
        let SimulatedNode::Switch(switch) = machine else { return None };
        let backpressure = switch.backpressure.as_ref()?;
        let is_full = |egress: &u16| {
            backpressure.stops(*egress, in_port, now)
                && switch
                    .core
                    .buffer
                    .queues_of(*egress)
                    .any(|index| switch.core.buffer.queues.frames(index).any(|frame| ignores(frame.src)))
        };
        (0..switch.core.egress.len() as u16)
            .filter(is_full)
            .map(|egress| longest_wait(simulation, switch, egress, 0))
            .max()
    });
    let lasted = |(it, most): (BlockedQueue, Option<Option<Time>>)| {
        most.flatten().filter(|&most| now.saturating_sub(it.since) > most).map(|_| it)
    };
    stopped.into_iter().zip(answers).filter_map(lasted).collect()
}
