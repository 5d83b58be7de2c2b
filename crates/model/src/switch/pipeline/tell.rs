//! What is told of a switch's inside: in its trace, and in the summary.

use super::{PipelineCounts, Pipelines};
use crate::simulation::Simulation;
use crate::switch::core::Core;
use crate::switch::outcome::Crossing;
use protocols::frame::Frame;
use record::pipelines::{PipelineSummary, PipelineTold, PortMode, SwitchInside};
use record::trace::TraceEvent;
use units::Time;

impl Core {
    /// The meters of `pipeline`, or its look at the queue, are about to trim `frame`.
    pub(super) fn note_metered(&mut self, crossing: Crossing, pipeline: u16, frame: &Frame) {
        self.note(crossing, frame, TraceEvent::Metered { port: crossing.egress, pipeline });
    }
}

impl Pipelines {
    fn told(&self) -> impl Iterator<Item = PipelineTold> {
        self.pipelines.iter().enumerate().map(|(pipeline, line)| {
            let PipelineCounts { ingress_trims, recirculated, recirculated_bytes, .. } = line.told;
            PipelineTold {
                pipeline: pipeline as u32,
                ingress_trims,
                recirculated,
                recirculated_bytes,
                most_waiting: line.told.most_waiting,
                most_waiting_at_ps: line.told.most_waiting_at.as_ps(),
                first_recirculated_ps: line.told.first.map(Time::as_ps),
                signals_heard: line.told.notified,
            }
        })
    }

    /// Of the ports that a signal was about: the mean over the pipelines.
    fn modes(&self, now: Time, peer: impl Fn(usize) -> String) -> Vec<PortMode> {
        let count = self.pipelines.len();
        let mut modes = Vec::new();
        for port in 0..self.ports {
            let states = (0..count).map(|pipeline| self.governors[pipeline * self.ports + port].signals());
            let (mut signals, mut pessimistic, mut half) = (0, 0, 0);
            for state in states {
                let times = state.times(now);
                signals += state.signals();
                (pessimistic, half) = (pessimistic + times.0.as_ps(), half + times.1.as_ps());
            }
            let share = |ps: u64| {
                let whole = now.as_ps() as f64 * count as f64;
                if whole > 0.0 { ps as f64 / whole } else { 0.0 }
            };
            if signals > 0 {
                let (pessimistic_share, half_share) = (share(pessimistic), share(half));
                modes.push(PortMode { port: port as u32, peer: peer(port), signals, pessimistic_share, half_share });
            }
        }
        modes
    }
}

impl Simulation {
    /// What `summary.json` says of the inside of switches; `None` where they have none.
    pub(crate) fn insides(&self, now: Time) -> Option<PipelineSummary> {
        self.network.switch.overload.inside()?;
        let fabric = &self.network.fabric;
        let mut switches = Vec::new();
        for switch in self.switches() {
            let Some(inside) = switch.inside() else { continue };
            let peer = |port: usize| fabric.name(fabric.ports(switch.node())[port].peer).to_owned();
            switches.push(SwitchInside {
                node: fabric.name(switch.node()).to_owned(),
                pipelines: inside.told().collect(),
                ports: inside.modes(now, peer),
            });
        }
        let all = || switches.iter().flat_map(|switch| &switch.pipelines);
        let ingress_trims = all().map(|told| told.ingress_trims).sum();
        let recirculated = all().map(|told| told.recirculated).sum();
        let most_waiting = all().map(|told| told.most_waiting).max().unwrap_or(0);
        switches.retain(|switch| switch.pipelines.iter().any(|told| told.ingress_trims + told.recirculated > 0));
        Some(PipelineSummary { ingress_trims, recirculated, most_waiting, switches })
    }
}
