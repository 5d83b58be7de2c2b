//! What the trimming experiments share: senders and receivers, kinds of switches, and what a run tells of headers.

use crate::failure::Failure;
use crate::registry::{Source, TRIM_START};
use crate::trial::{Trial, simulation};
use model::Outcome;
use model::Watcher;
use model::parameters::{RecordParameters, Setup, TraceParameters};
use record::pipelines::PipelineSummary;
use record::trace::{PacketKind, TraceEvent, TraceRow};
use units::Time;

/// Changes of a scenario.
pub type Changes = Vec<(&'static str, String)>;

/// A kind of switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Output queued: cuts what finds no room, where it finds none.
    Ideal,
    /// Mirror on drop.
    Mod,
    /// Meters deaf to signals, deflect on drop.
    Dod,
    /// Three meters and signals.
    Tofino,
    /// Two meters and a stamp.
    SwitchP4,
    /// A look at the queue at ingress.
    Tofino2,
}

impl Switch {
    /// As tables name it.
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

    /// What makes it of the scenario's switch.
    pub fn changes(self) -> Changes {
        let model = match self {
            Switch::Ideal => {
                let trim = "{ kind = \"trim\", size = \"64B\", header_class = 6, header_queue = \"4MB\", \
                            header_full = \"drop\" }";
                return vec![("switch.overload", trim.to_owned())];
            }
            Switch::Mod => "mod",
            Switch::Dod => "dod",
            Switch::Tofino => "tofino",
            Switch::SwitchP4 => "switch-p4",
            Switch::Tofino2 => "tofino2",
        };
        vec![("switch.overload.model", model.to_owned())]
    }
}

/// TCP with segments of `mss` over switches that drop at 200 packets; the least and the first timeout.
pub fn tail_drop(mss: &str, least_timeout: &str, first_timeout: &str) -> Changes {
    let timeouts = format!("min_rto = \"{least_timeout}\", initial_rto = \"{first_timeout}\"");
    vec![
        ("host.transport", format!("{{ kind = \"tcp\", mss = \"{mss}\", {timeouts} }}")),
        ("switch.overload", "drop".to_owned()),
        ("switch.queue", "200 packets".to_owned()),
    ]
}

/// `senders` senders, sender i to receiver i mod `receivers`; receivers are the hosts behind 64.
pub fn pairs(senders: u64, receivers: u64) -> (&'static str, String) {
    let pairs: Vec<String> = (0..senders).map(|sender| format!("[{sender}, {}]", 64 + sender % receivers)).collect();
    ("traffic.0.pairs", format!("[{}]", pairs.join(", ")))
}

/// What a run told of headers and of the switch's inside.
#[derive(Debug, Default)]
pub struct Seen {
    /// The summary.
    pub summary: Outcome,
    /// When each header reached its receiver, ascending, in us.
    pub headers_us: Vec<f64>,
    /// How long each took from its making, ascending, in us.
    pub delays_us: Vec<f64>,
    /// Whole frames and headers as they arrived: when (us), flow, offset in the flow, and by what it was cut.
    pub arrivals: Vec<Arrival>,
    /// Signals: when (us), about which port.
    pub signals: Vec<(f64, u16)>,
    /// By packet: when it was made, and how it was cut.
    packets: std::collections::HashMap<u64, (Time, Cut)>,
}

/// By what a frame lost its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Not at all.
    Whole,
    /// At ingress.
    Ingress,
    /// After a full queue.
    Deflected,
}

/// A frame at its receiver.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When, in us.
    pub at_us: f64,
    /// Its flow.
    pub flow: u64,
    /// Its offset in the flow.
    pub seq: u64,
    /// What it lost, and where.
    pub cut: Cut,
    /// How long it took from its making, in us.
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

    /// Runs `source` with these changes and looks at the frames of `flows`, or, if there are none, at all.
    ///
    /// # Errors
    /// If the scenario is wrong.
    pub fn of(trial: &Trial, source: &Source, changes: &[(&str, String)], flows: &[u64]) -> Result<Seen, Failure> {
        Seen::of_setup(trial.setup(source, changes)?, source, flows)
    }

    /// As [`Seen::of`], of a setup.
    ///
    /// # Errors
    /// If the setup makes no network.
    pub fn of_setup(mut setup: Setup, source: &Source, flows: &[u64]) -> Result<Seen, Failure> {
        let trace = TraceParameters { flows: flows.to_vec(), ..TraceParameters::everything() };
        setup.record = RecordParameters { trace: Some(trace), ..setup.record };
        let mut simulation = simulation(setup, source)?;
        let mut seen = Seen::default();
        simulation.run(&mut seen);
        seen.summary = simulation.finish(&mut seen, false);
        seen.headers_us.sort_by(f64::total_cmp);
        seen.delays_us.sort_by(f64::total_cmp);
        Ok(seen)
    }

    /// What happened inside the switch; nothing where it has no inside.
    pub fn inside(&self) -> PipelineSummary {
        inside(&self.summary)
    }
}

/// What happened inside the switch of this run.
pub fn inside(summary: &Outcome) -> PipelineSummary {
    summary.pipelines.clone().unwrap_or_default()
}

/// The value below which this share of the ascending `values` lies.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let last = values.len().saturating_sub(1);
    values.get((last as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
}

/// The longest recirculation queue of a run, in packets.
pub fn most_waiting(summary: &Outcome) -> f64 {
    inside(summary).most_waiting as f64
}

/// Checks that every run must pass: its own, and no frame lost.
pub fn unlost(summary: &Outcome) -> (u64, u64) {
    let failed = summary.checks.iter().filter(|check| !check.pass).count() as u64;
    (failed, summary.packets.dropped_total())
}

/// Changes one after the other.
pub fn join(parts: &[Changes]) -> Changes {
    parts.concat()
}

/// The mean.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { f64::NAN } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Least and greatest.
pub fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &value| (least.min(value), most.max(value)))
}

/// The scenario of open-loop starts.
pub static START: &Source = &TRIM_START;
