//! Summary of output backpressure over all switches.

use crate::account::Counters;
use crate::holds::HeldFlows;
use crate::simulation::Simulation;
use crate::switch::Switch;
use protocols::florax::{BackpressureStatistics, FLOW_BYTES};
use protocols::frame::MIN_FRAME_BYTES;
use stats::summary::{Backpressure, MAX_LOSS_PLACES, OutputXoffs};
use units::{Time, WIRE_OVERHEAD_BYTES};

impl Simulation {
    /// Returns the held flows of each node of this rank.
    pub(crate) fn holds(&self) -> impl Iterator<Item = &HeldFlows> {
        let of_switches =
            self.switches().filter_map(|switch| switch.backpressure.as_ref()).map(|backpressure| &backpressure.held);
        let of_hosts = self.hosts().filter_map(|host| host.flow_blocks.as_ref()).map(|holds| &holds.held);
        of_switches.chain(of_hosts)
    }

    /// Returns the counters of all output ports: maxima of the flow-table sizes, sums of the others.
    pub(crate) fn backpressure_totals(&self, now: Time) -> BackpressureStatistics {
        let mut own = BackpressureStatistics::default();
        let backpressure = self.switches().filter_map(|switch| switch.backpressure.as_ref());
        for (one, _) in backpressure.flat_map(|backpressure| backpressure.statistics(now)) {
            add(&mut own, &one);
        }
        let mut total = BackpressureStatistics::default();
        self.gather(own).iter().for_each(|part| add(&mut total, part));
        total
    }

    pub(crate) fn backpressure(&self, counters: &Counters, now: Time) -> Option<Backpressure> {
        self.network.switch.flow_control.backpressure()?;
        let totals = self.backpressure_totals(now);
        let fabric = &self.network.fabric;
        let outputs_of = |switch: &Switch| -> Option<Vec<OutputXoffs>> {
            let used = switch.backpressure.as_ref()?.statistics(now).enumerate().filter(|(_, one)| one.0.xoffs > 0);
            let named = |(port, (statistics, _)): (usize, (BackpressureStatistics, u64))| {
                let peer = fabric.name(fabric.ports(switch.node())[port].peer).to_owned();
                let (node, port) = (fabric.name(switch.node()).to_owned(), port as u32);
                OutputXoffs { node, port, peer, xoffs: statistics.xoffs }
            };
            Some(used.map(named).collect())
        };
        let mut outputs: Vec<OutputXoffs> = self.map_switches(outputs_of).flat_map(|(_, outputs)| outputs).collect();
        // The sort is stable: ties stay in order of nodes and ports.
        outputs.sort_by_key(|output| std::cmp::Reverse(output.xoffs));
        outputs.truncate(MAX_LOSS_PLACES);
        Some(Backpressure {
            xoffs: totals.xoffs,
            changes: totals.changes,
            xons: totals.xons,
            expiries: totals.expiries,
            control_packets: counters.control_sent,
            control_bytes: counters.control_sent * (u64::from(MIN_FRAME_BYTES) + WIRE_OVERHEAD_BYTES),
            max_table_flows: totals.flows_max,
            table_bytes: totals.flows_max * FLOW_BYTES as u64,
            max_stopped_flows: totals.max_stopped_flows,
            untracked_packets: totals.untracked,
            outputs,
        })
    }
}

/// Adds the counters of `one` to `total`: maxima of the flow-table sizes, sums of the others.
fn add(total: &mut BackpressureStatistics, one: &BackpressureStatistics) {
    total.xoffs += one.xoffs;
    total.changes += one.changes;
    total.xons += one.xons;
    total.expiries += one.expiries;
    total.untracked += one.untracked;
    total.flows_max = total.flows_max.max(one.flows_max);
    total.max_stopped_flows = total.max_stopped_flows.max(one.max_stopped_flows);
}
