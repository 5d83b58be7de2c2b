//! Summary of the pipelines of switches.

use crate::simulation::Simulation;
use crate::switch::Switch;
use stats::pipelines::{PipelineSummary, SwitchInside};
use units::Time;

impl Simulation {
    /// Returns the pipelines' entry of `summary.json`, or `None` if they are not modelled.
    pub(crate) fn insides(&self, now: Time) -> Option<PipelineSummary> {
        self.network.switch.overload.inside()?;
        let fabric = &self.network.fabric;
        let told = |switch: &Switch| {
            let inside = switch.inside()?;
            let peer = |port: usize| fabric.name(fabric.ports(switch.node())[port].peer).to_owned();
            Some(SwitchInside {
                node: fabric.name(switch.node()).to_owned(),
                pipelines: inside.told().collect(),
                ports: inside.modes(now, peer),
            })
        };
        let mut switches: Vec<SwitchInside> = self.of_switches(told).map(|(_, inside)| inside).collect();
        let all = || switches.iter().flat_map(|switch| &switch.pipelines);
        let ingress_trims = all().map(|told| told.ingress_trims).sum();
        let recirculated = all().map(|told| told.recirculated).sum();
        let most_waiting = all().map(|told| told.most_waiting).max().unwrap_or(0);
        switches.retain(|switch| switch.pipelines.iter().any(|told| told.ingress_trims + told.recirculated > 0));
        Some(PipelineSummary { ingress_trims, recirculated, most_waiting, switches })
    }
}
