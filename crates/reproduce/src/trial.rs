//! One experiment under way: runs scenarios, collects checks and what is to be shown.

use super::check::Check;
use super::registry::{self, Choice, Source};
use crate::failure::Failure;
use fabric::NodeId;
use lab::LabError;
use model::Outcome;
use model::parameters::Setup;
use model::{QueueSample, Simulation, Watcher};
use record::flows::FlowRecord;
use record::histogram::Histogram;
use scenario::Scenario;
use std::path::Path;
use units::Time;

/// What an experiment is given, and what it leaves.
#[derive(Debug)]
pub struct Trial {
    /// Whether to shorten what is long.
    pub quick: bool,
    choice: Option<(&'static Choice, &'static str)>,
    /// The claims, in order.
    pub checks: Vec<Check>,
    /// Tables and plots for people.
    pub shown: String,
    /// What was shortened.
    pub shortened: Vec<String>,
    /// Pictures: their name, and SVG.
    pub plots: Vec<(String, String)>,
}

impl Trial {
    /// A trial under an alternative to one of our choices, or under our choices.
    pub fn new(quick: bool, choice: Option<(&'static Choice, &'static str)>) -> Trial {
        Trial { quick, choice, checks: Vec::new(), shown: String::new(), shortened: Vec::new(), plots: Vec::new() }
    }

    /// `full`, or with `--quick` `short`, and says so.
    pub fn shorten(&mut self, what: &str, full: u64, short: u64) -> u64 {
        if self.quick {
            let shortened = format!("{what}: {short} instead of {full}");
            if !self.shortened.contains(&shortened) {
                self.shortened.push(shortened);
            }
            short
        } else {
            full
        }
    }

    /// Adds a claim.
    pub fn check(&mut self, check: Check) {
        self.checks.push(check);
    }

    /// Adds a claim that only the full run judges; with `--quick` it is told as it came out, and not judged.
    /// Under an alternative to a choice it is always judged, for that is what alternatives are run for.
    pub fn check_in_full(&mut self, check: Check) {
        if self.quick && self.choice.is_none() {
            self.check(check.unjudged("quick run"));
        } else {
            self.check(check);
        }
    }

    /// Adds something to show.
    pub fn show(&mut self, text: &str) {
        self.shown.push_str(text);
    }

    /// What `source` describes with these keys changed.
    ///
    /// # Errors
    /// If the scenario is wrong.
    pub fn setup(&self, source: &Source, changes: &[(&str, String)]) -> Result<Setup, Failure> {
        let mut overrides: Vec<(String, String)> = Vec::new();
        if let Some((choice, value)) = self.choice.filter(|(choice, _)| choice.source.name == source.name) {
            overrides.push((choice.key.to_owned(), value.to_owned()));
        }
        overrides.extend(changes.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        let scenario =
            Scenario::parse_with(source.text, source.name, Path::new(""), &overrides, None, Box::new(registry::load));
        let lowered = scenario.and_then(|scenario| scenario.lower());
        let path = Path::new(source.name);
        lowered
            .map(|lowered| lowered.setup)
            .map_err(|errors| LabError::Scenario { errors, path: path.to_owned() }.into())
    }

    /// Runs `source` with these keys changed.
    ///
    /// # Errors
    /// If the scenario is wrong.
    pub fn run(&self, source: &Source, changes: &[(&str, String)]) -> Result<Told, Failure> {
        let setup = self.setup(source, changes)?;
        Told::of(setup, source)
    }
}

/// Everything that a run told.
#[derive(Debug, Default)]
pub struct Told {
    /// Its summary.
    pub summary: Outcome,
    /// Its flows as they ended.
    pub flows: Vec<FlowRecord>,
    /// When, who, by which port, whether to stop: every pause and resume that was heard.
    pub pauses: Vec<(Time, NodeId, u16, bool)>,
    /// Payload bytes by traffic entry within the measured window.
    pub goodput_bytes: Vec<u64>,
    /// Looks at queues: node, port and bytes.
    pub queues: Vec<(NodeId, u16, u64)>,
    /// Delays of frames from host to host within the measured window, in ps.
    pub delays: Histogram,
    /// MAC control frames sent.
    pub control_frames: u64,
    /// The most that the buffer of a switch held.
    pub buffer_peak_bytes: u64,
    warm_up: Time,
    duration: Time,
}

impl Watcher for Told {
    fn delays(&mut self, delays: &Histogram) {
        self.delays = delays.clone();
    }
    fn flow(&mut self, flow: &FlowRecord) {
        self.flows.push(flow.clone());
    }
    fn pause(&mut self, at: Time, node: NodeId, port: u16, _classes: u8, pause: bool) {
        self.pauses.push((at, node, port, pause));
    }
    fn throughput(&mut self, at: Time, traffic: u8, bytes: u64) {
        if at <= self.warm_up {
            return;
        }
        let entry = usize::from(traffic);
        if self.goodput_bytes.len() <= entry {
            self.goodput_bytes.resize(entry + 1, 0);
        }
        self.goodput_bytes[entry] += bytes;
    }
    fn queue(&mut self, sample: QueueSample) {
        self.queues.push((sample.node, sample.port, sample.bytes));
    }
}

impl Told {
    /// Runs `setup`; `source` is for errors.
    ///
    /// # Errors
    /// If the setup makes no network.
    pub fn of(setup: Setup, source: &Source) -> Result<Told, Failure> {
        let mut told = Told { warm_up: setup.warm_up, duration: setup.duration, ..Told::default() };
        let mut simulation = simulation(setup, source)?;
        simulation.run(&mut told);
        told.summary = simulation.finish(&mut told, false);
        told.pauses.sort_unstable();
        told.control_frames = simulation.ledger(simulation.now()).control_sent;
        told.buffer_peak_bytes = simulation.buffer_peak_bytes();
        Ok(told)
    }

    /// Payload delivered for this traffic entry, in bit/s of the measured window.
    pub fn goodput(&self, entry: usize) -> f64 {
        let bytes = self.goodput_bytes.get(entry).copied().unwrap_or(0);
        bytes as f64 * 8.0 / (self.duration - self.warm_up).as_secs_f64()
    }

    /// As [`Told::goodput`], over all entries.
    pub fn total_goodput(&self) -> f64 {
        (0..self.goodput_bytes.len()).map(|entry| self.goodput(entry)).sum()
    }

    /// Frames dropped for want of room, lossless ones included.
    pub fn overflowed(&self) -> u64 {
        let count = |cause: &str| self.summary.packets.dropped.get(cause).copied().unwrap_or(0);
        count("queue full") + count("lossless queue full")
    }

    /// How many of the run's own checks failed.
    pub fn failed_checks(&self) -> u64 {
        self.summary.checks.iter().filter(|check| !check.pass).count() as u64
    }
}

/// The network of `setup`.
///
/// # Errors
/// If it makes none.
pub fn simulation(setup: Setup, source: &Source) -> Result<Simulation, Failure> {
    Simulation::new(setup).map_err(|error| LabError::Model { path: source.name.into(), error }.into())
}
