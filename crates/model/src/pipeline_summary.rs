//! Summary of the pipelines of switches.

use crate::simulation::Simulation;
use crate::switch::Switch;
use stats::pipelines::{PipelineSummary, SwitchPipelines};
use units::Time;

impl Simulation {
    /// Returns the pipelines' entry of `summary.json`, or `None` if they are not modelled.
    pub(crate) fn pipeline_summary(&self, now: Time) -> Option<PipelineSummary> {
        self.network.switch.overload.pipelines()?;
        let fabric = &self.network.fabric;
        let summary_of = |switch: &Switch| {
            let pipes = switch.pipelines()?;
            let peer = |port: usize| fabric.name(fabric.ports(switch.node())[port].peer).to_owned();
            Some(SwitchPipelines {
                node: fabric.name(switch.node()).to_owned(),
                pipelines: pipes.pipeline_stats().collect(),
                ports: pipes.modes(now, peer),
            })
        };
        let mut switches: Vec<SwitchPipelines> = self.map_switches(summary_of).map(|(_, pipes)| pipes).collect();
        let all = || switches.iter().flat_map(|switch| &switch.pipelines);
        let ingress_trims = all().map(|summary_of| summary_of.ingress_trims).sum();
        let recirculated = all().map(|summary_of| summary_of.recirculated).sum();
        let max_waiting = all().map(|summary_of| summary_of.max_waiting).max().unwrap_or(0);
        switches.retain(|switch| {
            switch.pipelines.iter().any(|summary_of| summary_of.ingress_trims + summary_of.recirculated > 0)
        });
        Some(PipelineSummary { ingress_trims, recirculated, max_waiting, switches })
    }
}
