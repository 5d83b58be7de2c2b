//! What the deadlock detector is told: paused queues, and the accounts that pause them.

use crate::egress::hold;
use crate::node::Machine;
use crate::parameters::FlowControl;
use crate::simulation::Simulation;
use crate::switch::Switch;
use check::deadlock::{Account, Deadlock, PausedQueue, deadlock};
use check::{AccountId, QueueId};
use fabric::NodeId;
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// A queue that is stopped and holds something.
struct Stopped {
    queue: QueueId,
    paused_since: Time,
    paused_by: AccountId,
}

/// Looks for a deadlock at `now`.
pub(crate) fn find(simulation: &Simulation, now: Time) -> Option<Deadlock> {
    let mut stopped = stopped_queues(simulation, now);
    keep_those_that_may_be_stuck(&mut stopped);
    if stopped.is_empty() {
        return None;
    }
    let network = &simulation.network;
    let by_port = stops_whole_ports(simulation);
    let mut queues = Vec::new();
    // Bytes of each account in these queues: only they can hold a deadlock together.
    let mut waiting: BTreeMap<AccountId, BTreeMap<QueueId, u64>> = BTreeMap::new();
    for Stopped { queue: id, paused_since, paused_by } in stopped {
        let Machine::Switch(switch) = simulation.machine(NodeId(id.node)) else { continue };
        let slot = usize::from(simulation.network.class_slot[usize::from(id.class)]);
        let queue = switch.queue(usize::from(id.port), slot);
        queues.push(PausedQueue { queue: id, paused_by, paused_since, bytes: u64::from(queue.bytes) });
        for frame in switch.frames(usize::from(id.port), slot) {
            let class = if by_port { 0 } else { frame.in_class };
            let holder = AccountId { node: id.node, port: frame.in_port, class };
            *waiting.entry(holder).or_default().entry(id).or_default() += u64::from(frame.size_bytes);
        }
    }
    let accounts: Vec<Account> = waiting
        .into_iter()
        .filter_map(|(id, waiting)| match simulation.machine(NodeId(id.node)) {
            Machine::Switch(switch) => {
                let xon_bytes = match network.switch.flow_control {
                    FlowControl::Credit(_) => lets_go_on_at_bytes(simulation, switch, id),
                    _ => switch.core.resumes_at_bytes(id.port, id.class),
                };
                Some(Account { id, xon_bytes, waiting: waiting.into_iter().collect() })
            }
            Machine::Host(_) | Machine::Quiet(..) => None,
        })
        .collect();
    deadlock(&queues, &accounts)
}

/// Under credits: down to how many bytes an account must fall for the frame that waits for it to leave.
fn lets_go_on_at_bytes(simulation: &Simulation, switch: &Switch, account: AccountId) -> u64 {
    let network = &simulation.network;
    let upstream = network.fabric.ports(switch.node())[usize::from(account.port)];
    let slot = usize::from(network.class_slot[usize::from(account.class)]);
    let waits = match simulation.machine(upstream.peer) {
        Machine::Switch(peer) => {
            peer.frames(usize::from(upstream.peer_port), slot).next().map(|frame| frame.size_bytes)
        }
        Machine::Host(_) | Machine::Quiet(..) => None,
    };
    switch.room_bytes(account.port, account.class).saturating_sub(waits.unwrap_or(network.host.mtu_bytes).into())
}

fn stops_whole_ports(simulation: &Simulation) -> bool {
    matches!(simulation.network.switch.flow_control, FlowControl::Pause(_))
}

fn stopped_queues(simulation: &Simulation, now: Time) -> Vec<Stopped> {
    let network = &simulation.network;
    let by_port = stops_whole_ports(simulation);
    let mut stopped = Vec::new();
    for &index in &simulation.stopped {
        let Machine::Switch(switch) = simulation.engine.node(index as usize) else { continue };
        for (port, cell) in switch.core.egress.cells.iter().enumerate() {
            if cell.waiting == 0 || cell.holds & (hold::PAUSE | hold::CREDIT) == 0 {
                continue;
            }
            for (slot, &class) in network.classes.iter().enumerate() {
                let Some(paused_since) = switch.core.egress.rules[port].blocked_since(now, class) else { continue };
                if switch.queue(port, slot).is_empty() {
                    continue;
                }
                let queue = QueueId { node: switch.node().0, port: port as u16, class };
                let peer = network.fabric.ports(switch.node())[port];
                let class = if by_port { 0 } else { class };
                let paused_by = AccountId { node: peer.peer.0, port: peer.peer_port, class };
                stopped.push(Stopped { queue, paused_since, paused_by });
            }
        }
    }
    stopped
}

/// Drops queues from which no cycle of switches can be reached along stopped queues. Congestion without a
/// deadlock is a tree, of which nothing is left: the frames in its queues need not be looked at.
fn keep_those_that_may_be_stuck(stopped: &mut Vec<Stopped>) {
    loop {
        let sources: BTreeSet<u32> = stopped.iter().map(|stopped| stopped.queue.node).collect();
        let before = stopped.len();
        stopped.retain(|stopped| sources.contains(&stopped.paused_by.node));
        if stopped.len() == before {
            return;
        }
    }
}
