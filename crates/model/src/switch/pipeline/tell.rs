//! What is told of a switch's inside: in its trace, and in the summary.

use super::{PipelineCounts, Pipelines};
use crate::simulation::Simulation;
use crate::switch::Switch;
use protocols::frame::{Frame, Kind};
use record::pipelines::{PipelineSummary, PipelineTold, PortMode, SwitchInside};
use record::trace::{Load, TraceEvent};
use units::Time;

impl Switch {
    /// The frame that is being handled went inside: where it goes from there is noted when it does.
    pub(super) fn note_inside(&mut self) {
        if let Some(tracer) = &mut self.tracer {
            tracer.told = true;
        }
    }

    /// A frame that was inside is about to be handled.
    pub(super) fn begin_note(&mut self) {
        if let Some(tracer) = &mut self.tracer {
            (tracer.lost, tracer.turned, tracer.told) = (None, None, false);
        }
    }

    /// The meters of `pipeline`, or its look at the queue, are about to trim `frame`, which goes to `egress`.
    pub(super) fn note_metered(&mut self, egress: u16, pipeline: u16, in_port: u16, frame: &Frame) {
        let Some(tracer) = &mut self.tracer else { return };
        if tracer.wants(frame.at, frame, Some(in_port), Some(egress)) {
            tracer.note(frame.at, frame, TraceEvent::Metered { port: egress, pipeline });
        }
    }

    /// `frame`, which found no room at `egress`, has just joined the recirculation port of `pipeline`.
    pub(super) fn note_deflected(&mut self, egress: u16, pipeline: u16, in_port: u16, frame: &Frame) {
        let (Some(tracer), Some(inside)) = (&mut self.tracer, &self.inside) else { return };
        tracer.told = true;
        if tracer.wants(frame.at, frame, Some(in_port), Some(egress)) {
            let line = &inside.pipelines[usize::from(pipeline)];
            let waiting = Load { frames: line.waiting.len() as u64, bytes: line.waiting_bytes };
            let mirrored = frame.kind == Kind::Trimmed;
            tracer.note(frame.at, frame, TraceEvent::Deflected { port: egress, pipeline, waiting, mirrored });
        }
    }

    /// A signal about `egress` from `pipeline` took effect.
    pub(super) fn note_signal(&mut self, now: Time, pipeline: u16, egress: u16) {
        if let Some(tracer) = &mut self.tracer {
            tracer.note_port(now, TraceEvent::Signalled { port: egress, pipeline });
        }
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
        let fabric = &self.network.fabric;
        let mut switches = Vec::new();
        for switch in self.switches() {
            let inside = switch.inside.as_deref()?;
            let peer = |port: usize| fabric.name(fabric.ports(switch.node)[port].peer).to_owned();
            switches.push(SwitchInside {
                node: fabric.name(switch.node).to_owned(),
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
