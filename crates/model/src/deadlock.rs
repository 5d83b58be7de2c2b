//! Input of the deadlock detector and of the check "stall": paused queues, and the accounts that pause them.

use crate::egress::block;
use crate::node::SimulatedNode;
use crate::parameters::FlowControl;
use crate::simulation::Simulation;
use check::deadlock::{Account, Deadlock, PausedQueue, deadlock};
use check::{AccountId, QueueId};
use fabric::NodeId;
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// A paused, non-empty queue, the start of its pause, and the account that pauses it.
pub(crate) type PausedBy = (QueueId, Time, AccountId);

/// Searches for a deadlock at `now`. All ranks return equal results.
pub(crate) fn find(simulation: &Simulation, now: Time) -> Option<Deadlock> {
    let (queues, accounts) = dependency_inputs(
        simulation,
        paused_queues(simulation, simulation.collection.paused_switches.iter().copied(), now),
    );
    deadlock(&queues, &accounts)
}

/// Returns, at all ranks, the queues that may be part of a cyclic buffer dependency, and the accounts of their bytes.
/// `own` are the paused queues of this rank.
pub(crate) fn dependency_inputs(simulation: &Simulation, own: Vec<PausedBy>) -> (Vec<PausedQueue>, Vec<Account>) {
    let mut stopped: Vec<PausedBy> = simulation.all_gather(own).into_iter().flatten().collect();
    prune_acyclic(&mut stopped);
    // All ranks have the same list at this point, so either all ranks return or all make the collective calls below.
    if stopped.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let network = &simulation.network;
    let by_port = pauses_whole_ports(simulation);
    let mut queues = Vec::new();
    // Only the bytes of accounts in these paused queues can sustain a deadlock.
    let mut waiting: BTreeMap<AccountId, BTreeMap<QueueId, u64>> = BTreeMap::new();
    for (id, paused_since, paused_by) in stopped {
        let switch = match simulation.machine(NodeId(id.node)) {
            Some(SimulatedNode::Switch(switch)) => switch,
            // Hosts have no accounts, so their backlog pauses no other node.
            Some(SimulatedNode::Host(_)) => {
                queues.push(PausedQueue { queue: id, paused_by, paused_since, bytes: 1 });
                continue;
            }
            Some(SimulatedNode::Dormant(..)) | None => continue,
        };
        let slot = usize::from(simulation.network.class_slot[usize::from(id.class)]);
        let queue = switch.queue(usize::from(id.port), slot);
        queues.push(PausedQueue { queue: id, paused_by, paused_since, bytes: u64::from(queue.bytes) });
        for frame in switch.frames(usize::from(id.port), slot) {
            let class = if by_port { 0 } else { frame.in_class };
            let holder = AccountId { node: id.node, port: frame.in_port, class };
            *waiting.entry(holder).or_default().entry(id).or_default() += u64::from(frame.size_bytes);
        }
    }
    let mut fronts = match network.switch.flow_control {
        FlowControl::Credit(_) => waiting_upstream(simulation, waiting.keys()).into_iter(),
        _ => Vec::new().into_iter(),
    };
    let accounts: Vec<Account> = waiting
        .into_iter()
        .filter_map(|(id, waiting)| match simulation.machine(NodeId(id.node)) {
            Some(SimulatedNode::Switch(switch)) => {
                let xon_bytes = match network.switch.flow_control {
                    // Occupancy at or below which the credits cover the frame that waits upstream.
                    FlowControl::Credit(_) => {
                        let waits = fronts.next().flatten().unwrap_or(network.host.mtu_bytes);
                        switch.room_bytes(id.port, id.class).saturating_sub(waits.into())
                    }
                    _ => switch.core.resumes_at_bytes(id.port, id.class),
                };
                Some(Account { id, xon_bytes, waiting: waiting.into_iter().collect() })
            }
            Some(SimulatedNode::Host(_) | SimulatedNode::Dormant(..)) | None => None,
        })
        .collect();
    let (mut all_queues, mut all_accounts) = (Vec::new(), Vec::new());
    for (queues, accounts) in simulation.all_gather((queues, accounts)) {
        all_queues.extend(queues);
        all_accounts.extend(accounts);
    }
    (all_queues, all_accounts)
}

/// For credit-based flow control: returns the size in bytes of the first frame that waits upstream for each account, if
/// any.
fn waiting_upstream<'a>(simulation: &Simulation, accounts: impl Iterator<Item = &'a AccountId>) -> Vec<Option<u16>> {
    let network = &simulation.network;
    let question = |account: &AccountId| {
        let upstream = network.fabric.ports(NodeId(account.node))[usize::from(account.port)];
        (upstream.peer.0, (upstream.peer_port, network.class_slot[usize::from(account.class)]))
    };
    let answers =
        simulation.query_nodes(accounts.map(question).collect(), |machine, &(port, slot): &(u16, u8)| match machine {
            SimulatedNode::Switch(peer) => {
                peer.frames(usize::from(port), usize::from(slot)).next().map(|frame| frame.size_bytes)
            }
            SimulatedNode::Host(_) | SimulatedNode::Dormant(..) => None,
        });
    answers.into_iter().map(Option::flatten).collect()
}

/// Returns whether a pause applies to all classes of a port.
pub(crate) fn pauses_whole_ports(simulation: &Simulation) -> bool {
    matches!(simulation.network.switch.flow_control, FlowControl::Pause(_))
}

/// Returns the paused queues of the switches with these engine indices.
pub(crate) fn paused_queues(simulation: &Simulation, indices: impl Iterator<Item = u32>, now: Time) -> Vec<PausedBy> {
    let network = &simulation.network;
    let by_port = pauses_whole_ports(simulation);
    let mut stopped = Vec::new();
    for index in indices {
        let SimulatedNode::Switch(switch) = simulation.engine.node(index as usize) else { continue };
        for (port, cell) in switch.core.egress.cells.iter().enumerate() {
            if cell.waiting == 0 || cell.block_reasons & (block::PAUSE | block::CREDIT) == 0 {
                continue;
            }
            for (slot, &class) in network.classes.iter().enumerate() {
                let Some(paused_since) = switch.core.egress.states[port].blocked_since(now, class) else { continue };
                if switch.queue(port, slot).is_empty() {
                    continue;
                }
                let queue = QueueId { node: switch.node().0, port: port as u16, class };
                let peer = network.fabric.ports(switch.node())[port];
                let class = if by_port { 0 } else { network.stopped_by(switch.node(), port as u16, class) };
                let paused_by = AccountId { node: peer.peer.0, port: peer.peer_port, class };
                stopped.push((queue, paused_since, paused_by));
            }
        }
    }
    stopped
}

/// Removes the paused queues from which the pauses do not lead to a cycle of nodes. The pauses of congestion without a
/// deadlock form a tree, which is removed completely, so its frames are never scanned.
fn prune_acyclic(stopped: &mut Vec<PausedBy>) {
    loop {
        let sources: BTreeSet<u32> = stopped.iter().map(|stopped| stopped.0.node).collect();
        let before = stopped.len();
        stopped.retain(|stopped| sources.contains(&stopped.2.node));
        if stopped.len() == before {
            return;
        }
    }
}
