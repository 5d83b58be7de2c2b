//! Summary of the watchdogs of all switches.

use crate::account::Counters;
use crate::simulation::Simulation;
use crate::switch::Switch;
use check::conservation::Cause;
use stats::storms::{PauseStorms, PortPauseStorms};
use stats::summary::MAX_LOSS_PLACES;
use units::Time;

impl Simulation {
    /// Returns the pause storms that watchdogs detected, or `None` without watchdogs.
    pub(crate) fn pause_storms(&self, counters: &Counters, now: Time) -> Option<PauseStorms> {
        self.network.switch.flow_control.pause()?.watchdog?;
        let fabric = &self.network.fabric;
        let storms_of = |switch: &Switch| {
            let mut ports = Vec::new();
            for (port, state) in switch.core.egress.states.iter().enumerate() {
                let peer = fabric.ports(switch.node())[port].peer;
                ports.extend(state.watchdog.storms().map(|(class, storms)| PortPauseStorms {
                    node: fabric.name(switch.node()).to_owned(),
                    port: port as u32,
                    peer: fabric.name(peer).to_owned(),
                    class,
                    storms: storms.begun,
                    restored: storms.restored,
                    storm_ps: storms.time(now).as_ps(),
                }));
            }
            (!ports.is_empty()).then_some(ports)
        };
        let mut ports: Vec<PortPauseStorms> = self.map_switches(storms_of).flat_map(|(_, ports)| ports).collect();
        let storms = ports.iter().map(|at| at.storms).sum();
        let restored = ports.iter().map(|at| at.restored).sum();
        let total_ps = ports.iter().map(|at| at.storm_ps).sum();
        // The sort is stable: ports with equal storm times stay in order of nodes, ports and classes.
        ports.sort_by_key(|at| std::cmp::Reverse(at.storm_ps));
        ports.truncate(MAX_LOSS_PLACES);
        let dropped_packets = counters.packets.dropped_by(Cause::PauseStorm).frames;
        Some(PauseStorms { storms, restored, dropped_packets, total_ps, ports })
    }
}
