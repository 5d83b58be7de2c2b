//! What the deadlock detector is told: paused queues, and the accounts that pause them.

use crate::node::Machine;
use crate::simulation::Simulation;
use check::deadlock::{Account, Deadlock, PausedQueue, deadlock};
use check::{AccountId, QueueId};
use std::collections::BTreeMap;
use units::Time;

/// Looks for a deadlock at `now`.
pub(crate) fn find(simulation: &Simulation, now: Time) -> Option<Deadlock> {
    let network = &simulation.network;
    let fabric = &network.fabric;
    let mut queues = Vec::new();
    // Bytes of each account in paused queues; only those can hold a deadlock together.
    let mut waiting: BTreeMap<AccountId, BTreeMap<QueueId, u64>> = BTreeMap::new();
    let by_port = matches!(network.switch.flow_control, crate::parameters::FlowControl::Pause(_));
    let account = |node: u32, port: u16, class: u8| AccountId { node, port, class: if by_port { 0 } else { class } };
    for switch in simulation.switches() {
        for (port, state) in switch.ports.iter().enumerate() {
            if state.waiting == 0 {
                continue;
            }
            for (slot, &class) in network.classes.iter().enumerate() {
                let queue = switch.queue(port, slot);
                let pause = &switch.details[port].pause;
                let Some(paused_since) = pause.stopped_since_at(now, class) else { continue };
                if queue.is_empty() {
                    continue;
                }
                let id = QueueId { node: switch.node.0, port: port as u16, class };
                let peer = fabric.ports(switch.node)[port];
                let paused_by = account(peer.peer.0, peer.peer_port, class);
                queues.push(PausedQueue { queue: id, paused_by, paused_since, bytes: u64::from(queue.bytes) });
                for frame in queue.frames() {
                    let holder = account(switch.node.0, frame.in_port, frame.in_class);
                    *waiting.entry(holder).or_default().entry(id).or_default() += u64::from(frame.size_bytes);
                }
            }
        }
    }
    if queues.len() < 2 {
        return None;
    }
    let accounts: Vec<Account> = waiting
        .into_iter()
        .filter_map(|(id, waiting)| match simulation.machine(fabric::NodeId(id.node)) {
            Machine::Switch(switch) => {
                let xon_bytes = switch.resumes_at_bytes(id.port, id.class);
                Some(Account { id, xon_bytes, waiting: waiting.into_iter().collect() })
            }
            Machine::Host(_) => None,
        })
        .collect();
    deadlock(&queues, &accounts)
}
