//! Trace and summary of the pipeline model.

use super::{PipelineCounts, Pipelines};
use crate::switch::core::Core;
use crate::switch::outcome::Crossing;
use protocols::frame::Frame;
use stats::pipelines::{PipelineStatistics, PortMode};
use stats::trace::TraceEvent;
use units::Time;

impl Core {
    /// Traces the decision of `pipeline` to trim `frame`, because of its meters or of the depth of the egress queue.
    pub(super) fn note_metered(&mut self, crossing: Crossing, pipeline: u16, frame: &Frame) {
        self.note(crossing, frame, TraceEvent::Metered { port: crossing.egress, pipeline });
    }
}

impl Pipelines {
    pub(crate) fn pipeline_stats(&self) -> impl Iterator<Item = PipelineStatistics> {
        self.pipelines.iter().enumerate().map(|(pipeline, line)| {
            let PipelineCounts { ingress_trims, recirculated, recirculated_bytes, .. } = line.counts;
            PipelineStatistics {
                pipeline: pipeline as u32,
                ingress_trims,
                recirculated,
                recirculated_bytes,
                max_waiting: line.counts.max_waiting,
                max_waiting_at_ps: line.counts.most_waiting_at.as_ps(),
                first_recirculated_ps: line.counts.first.map(Time::as_ps),
                signals_received: line.counts.notified,
            }
        })
    }

    /// Returns, for each port with congestion signals, the share of time in the pessimistic and in the half mode,
    /// averaged over the pipelines.
    pub(crate) fn modes(&self, now: Time, peer: impl Fn(usize) -> String) -> Vec<PortMode> {
        let count = self.pipelines.len();
        let mut modes = Vec::new();
        for port in 0..self.ports {
            let states = (0..count).map(|pipeline| self.trim_meters[pipeline * self.ports + port].signals());
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
