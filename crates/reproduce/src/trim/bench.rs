//! Common parts of the trimming experiments: senders and receivers, switch types, and the trimmed headers of a run.

use crate::failure::Failure;
use crate::registry::{Source, TRIM_START};
use crate::trial::{Trial, finish, simulation};
use model::Outcome;
use model::Watcher;
use model::parameters::{RecordParameters, Setup, TraceParameters};
use record::pipelines::PipelineSummary;
use record::trace::{PacketKind, TraceEvent, TraceRow};
use units::Time;

/// Scenario overrides.
pub type Changes = Vec<(&'static str, String)>;

/// Switch type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Output-queued switch that trims frames which a full queue does not admit.
    Ideal,
    /// Mirror on drop.
    Mod,
    /// Deflect on drop, with trim meters that ignore congestion signals.
    Dod,
    /// Three trim meters, and congestion signals.
    Tofino,
    /// Two meters and a timestamp.
    SwitchP4,
    /// The queue length is visible at ingress.
    Tofino2,
}

impl Switch {
    /// Returns the name used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Switch::Ideal => "Ideal",
            Switch::Mod => "MoD",
            Switch::Dod => "DoD only",
            Switch::Tofino => "Tofino",
            Switch::SwitchP4 => "switch.p4",
            Switch::Tofino2 => "Tofino 2",
        }
    }

    /// Returns the scenario overrides for this switch type, with the header queues of the scenarios.
    pub fn changes(self) -> Changes {
        self.changes_with(None)
    }

    /// Returns the scenario overrides for this switch type, with these header queues; `None` for those of the
    /// scenarios.
    pub fn changes_with(self, header_queue: Option<HeaderQueue>) -> Changes {
        let model = match self {
            Switch::Ideal => {
                let HeaderQueue { limit, full } = header_queue.unwrap_or(HeaderQueue::LARGE);
                let trim = format!(
                    "{{ kind = \"trim\", size = \"64B\", header_class = 6, header_queue = \"{limit}\", \
                     header_full = \"{full}\" }}"
                );
                return vec![("switch.overload", trim)];
            }
            Switch::Mod => "mod",
            Switch::Dod => "dod",
            Switch::Tofino => "tofino",
            Switch::SwitchP4 => "switch-p4",
            Switch::Tofino2 => "tofino2",
        };
        let own = vec![("switch.overload.model", model.to_owned())];
        let header_queue = header_queue.map(|HeaderQueue { limit, full }| {
            vec![("switch.overload.header_queue", limit.to_owned()), ("switch.overload.header_full", full.to_owned())]
        });
        join(&[own, header_queue.unwrap_or_default()])
    }
}

/// Limit of the header queues, and the action for a header that exceeds it.
#[derive(Clone, Copy, Debug)]
pub struct HeaderQueue {
    pub limit: &'static str,
    pub full: &'static str,
}

impl HeaderQueue {
    /// That of the scenarios: no header is lost.
    pub const LARGE: HeaderQueue = HeaderQueue { limit: "4MB", full: "drop" };
    /// That of the queue of htsim, with which the paper was simulated: twice the data queue (here 10 packets of
    /// 1500 B), and headers that exceed it return to their sender, as in NDP.
    pub const HTSIM: HeaderQueue = HeaderQueue { limit: "30KB", full: "return" };
}

/// Returns the overrides for TCP with segments of `mss` over drop-tail switches with queues of 200 packets.
/// `least_timeout` and `first_timeout` are TCP's minimum and initial RTO.
pub fn tail_drop(mss: &str, least_timeout: &str, first_timeout: &str) -> Changes {
    let timeouts = format!("min_rto = \"{least_timeout}\", initial_rto = \"{first_timeout}\"");
    vec![
        ("host.transport", format!("{{ kind = \"tcp\", mss = \"{mss}\", {timeouts} }}")),
        ("switch.overload", "drop".to_owned()),
        ("switch.queue", "200 packets".to_owned()),
    ]
}

/// Returns the sender-receiver pairs: sender i sends to receiver i mod `receivers`. Receivers are the hosts from number
/// 64 on.
pub fn pairs(senders: u64, receivers: u64) -> (&'static str, String) {
    let pairs: Vec<String> = (0..senders).map(|sender| format!("[{sender}, {}]", 64 + sender % receivers)).collect();
    ("traffic.0.pairs", format!("[{}]", pairs.join(", ")))
}

/// Trimmed headers, congestion signals and summary of a run.
#[derive(Debug, Default)]
pub struct Seen {
    /// Summary of the run.
    pub summary: Outcome,
    /// Arrival times of trimmed headers at receivers, ascending, in us.
    pub headers_us: Vec<f64>,
    /// Delays of trimmed headers since the creation of their frames, ascending, in us.
    pub delays_us: Vec<f64>,
    /// Arrivals of complete frames and of trimmed headers at receivers.
    pub arrivals: Vec<Arrival>,
    /// Congestion signals: time in us, and port.
    pub signals: Vec<(f64, u16)>,
    /// Creation time and point of trimming of each packet in flight.
    packets: std::collections::HashMap<u64, (Time, Cut)>,
}

/// Point at which a frame was trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Not trimmed (complete frame).
    Whole,
    /// Trimmed at ingress.
    Ingress,
    /// Trimmed after deflection from a full queue.
    Deflected,
}

/// Arrival of a frame at its receiver.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Arrival time, in us.
    pub at_us: f64,
    /// Flow number.
    pub flow: u64,
    /// Byte offset in the flow.
    pub seq: u64,
    /// Point of trimming.
    pub cut: Cut,
    /// End-to-end delay since the creation of the frame, in us.
    pub took_us: f64,
}

impl Watcher for Seen {
    fn trace(&mut self, row: &TraceRow) {
        let us = |at: Time| at.as_ps() as f64 * 1e-6;
        if let TraceEvent::Signalled { port, .. } = row.event {
            self.signals.push((us(row.at), port));
        }
        let Some(packet) = row.packet.filter(|packet| packet.kind == PacketKind::Data) else { return };
        match row.event {
            TraceEvent::Created { since } => {
                self.packets.insert(packet.number, (since, Cut::Whole));
            }
            TraceEvent::Metered { .. } => self.cut(packet.number, Cut::Ingress),
            TraceEvent::Deflected { .. } => self.cut(packet.number, Cut::Deflected),
            TraceEvent::Trimmed { .. } => {
                if let Some((_, cut @ Cut::Whole)) = self.packets.get_mut(&packet.number) {
                    *cut = Cut::Deflected;
                }
            }
            TraceEvent::Delivered => {
                let (made, cut) = self.packets.remove(&packet.number).unwrap_or((row.at, Cut::Whole));
                let (at_us, flow, seq) = (us(row.at), packet.flow, packet.seq);
                self.arrivals.push(Arrival { at_us, flow, seq, cut, took_us: us(row.at - made) });
                if cut != Cut::Whole {
                    self.headers_us.push(at_us);
                    self.delays_us.push(us(row.at - made));
                }
            }
            _ => {}
        }
    }
}

impl Seen {
    fn cut(&mut self, packet: u64, by: Cut) {
        if let Some((_, cut)) = self.packets.get_mut(&packet) {
            *cut = by;
        }
    }

    /// Runs `source` with the overrides `changes`. Traces the frames of `flows`; if `flows` is empty, traces the frames
    /// of all flows.
    pub fn of(trial: &Trial, source: &Source, changes: &[(&str, String)], flows: &[u64]) -> Result<Seen, Failure> {
        Seen::of_setup(trial.setup(source, changes)?, source, flows)
    }

    /// Runs `setup` like [`Seen::of`].
    pub fn of_setup(mut setup: Setup, source: &Source, flows: &[u64]) -> Result<Seen, Failure> {
        let trace = TraceParameters { flows: flows.to_vec(), ..TraceParameters::everything() };
        setup.record = RecordParameters { trace: Some(trace), ..setup.record };
        let mut simulation = simulation(setup, source)?;
        let mut seen = Seen::default();
        simulation.run(&mut seen);
        seen.summary = finish(&mut simulation, &mut seen);
        seen.headers_us.sort_by(f64::total_cmp);
        seen.delays_us.sort_by(f64::total_cmp);
        Ok(seen)
    }

    /// Returns the pipeline counters; empty for switches without pipelines.
    pub fn inside(&self) -> PipelineSummary {
        inside(&self.summary)
    }
}

/// Returns the pipeline counters of this run; empty for switches without pipelines.
pub fn inside(summary: &Outcome) -> PipelineSummary {
    summary.pipelines.clone().unwrap_or_default()
}

/// Returns the `share` quantile of the ascending `values`.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let last = values.len().saturating_sub(1);
    values.get((last as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
}

/// Returns the maximum length of the recirculation queues of a run, in packets.
pub fn max_waiting(summary: &Outcome) -> f64 {
    inside(summary).max_waiting as f64
}

/// Returns the number of failed invariant checks and the number of lost frames. Both must be 0 in every run.
pub fn unlost(summary: &Outcome) -> (u64, u64) {
    let failed = summary.checks.iter().filter(|check| !check.pass).count() as u64;
    (failed, summary.packets.dropped_total())
}

/// Concatenates overrides.
pub fn join(parts: &[Changes]) -> Changes {
    parts.concat()
}

/// Returns the mean; NaN for no values.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { f64::NAN } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Returns the minimum and maximum.
pub fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &value| (least.min(value), most.max(value)))
}

/// Scenario in which senders start without feedback (open loop).
pub static START: &Source = &TRIM_START;
