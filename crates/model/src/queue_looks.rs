//! Lengths of the output queues of switches at equal steps of time, where they are measured.

use crate::simulation::Simulation;
use fabric::NodeId;
use stats::histogram::Histogram;
use stats::summary::{Lengths, PortLengths, QueueLengths};
use std::collections::BTreeMap;
use units::Time;

/// What the looks have found since the warm-up.
#[derive(Clone, Debug)]
pub(crate) struct QueueLooks {
    pub every: Time,
    looks: u64,
    /// Of ports where something ever waited; a look that found nothing is not in here.
    ports: BTreeMap<(NodeId, u16), Histogram>,
}

impl QueueLooks {
    pub fn new(every: Time) -> QueueLooks {
        QueueLooks { every, looks: 0, ports: BTreeMap::new() }
    }

    /// Forgets what was found.
    pub fn reset(&mut self) {
        (self.looks, self.ports) = (0, BTreeMap::new());
    }
}

impl Simulation {
    /// Looks at every queue.
    pub(crate) fn look_at_queues(&mut self) {
        let Some(mut looks) = self.queue_looks.take() else { return };
        looks.looks += 1;
        for switch in self.switches() {
            for port in 0..switch.core.egress.len() {
                let waiting: u64 = switch
                    .core
                    .buffer
                    .queues_of(port as u16)
                    .map(|at| u64::from(switch.core.buffer.queues[at].bytes))
                    .sum();
                if waiting > 0 {
                    looks.ports.entry((switch.node(), port as u16)).or_default().record(waiting);
                }
            }
        }
        self.queue_looks = Some(looks);
    }

    /// What the looks have found so far.
    pub(crate) fn queue_lengths(&self) -> Option<QueueLengths> {
        let QueueLooks { every, looks, ports: own } = self.queue_looks.as_ref()?;
        let fabric = &self.network.fabric;
        let count = self.switches().map(|switch| switch.core.egress.len() as u64).sum::<u64>();
        let own: Vec<((u32, u16), Histogram)> =
            own.iter().map(|(&(node, port), found)| ((node.0, port), found.clone())).collect();
        let (mut ports, mut found) = (0, BTreeMap::new());
        for (count, own) in self.parts((count, own)) {
            ports += count;
            found.extend(own.into_iter().map(|((node, port), found)| ((NodeId(node), port), found)));
        }
        let mut all = Histogram::new();
        found.values().for_each(|port| all.merge(port));
        let named = |(&(node, port), found): (&(NodeId, u16), &Histogram)| PortLengths {
            node: fabric.name(node).to_owned(),
            port: u32::from(port),
            peer: fabric.name(fabric.ports(node)[usize::from(port)].peer).to_owned(),
            lengths: Lengths::of(found, *looks),
        };
        // All ports were looked at as often: the greatest sum is the greatest mean. Of equal ones the first.
        let longest = found.iter().reduce(|most, port| if port.1.sum() > most.1.sum() { port } else { most });
        let (every_ps, all) = (every.as_ps(), Lengths::of(&all, looks * ports));
        Some(QueueLengths { every_ps, looks: *looks, ports, all, longest: longest.map(named) })
    }
}
