//! A run of one experiment: runs scenarios, and collects checks and output.

use super::check::{Check, Kind};
use super::parameters::Parameters;
use super::registry::{self, Choice, Source};
use crate::digest;
use crate::failure::Failure;
use fabric::NodeId;
use lab::LabError;
use model::Outcome;
use model::parameters::Setup;
use model::{QueueSample, Simulation, Watcher};
use record::flows::FlowRecord;
use record::histogram::Histogram;
use scenario::{Lowered, Scenario};
use std::collections::BTreeSet;
use std::path::Path;
use units::Time;

/// Input and results of an experiment.
#[derive(Debug)]
pub struct Trial {
    /// If set, long runs are shortened.
    pub quick: bool,
    choice: Option<(&'static Choice, &'static str)>,
    parameters: Parameters,
    /// Checks in the order of the output.
    pub checks: Vec<Check>,
    /// Tables and plots for the text output.
    pub shown: String,
    /// Descriptions of the shortened parts.
    pub shortened: Vec<String>,
    /// Plots: file name and SVG.
    pub plots: Vec<(String, String)>,
}

impl Trial {
    /// Creates a trial, optionally with an alternative value of one unspecified parameter.
    pub fn new(quick: bool, choice: Option<(&'static Choice, &'static str)>) -> Trial {
        Trial {
            quick,
            choice,
            parameters: Parameters::Unchanged,
            checks: Vec::new(),
            shown: String::new(),
            shortened: Vec::new(),
            plots: Vec::new(),
        }
    }

    /// Creates a trial that collects the numeric parameters of its scenarios, or changes one of them.
    pub(crate) fn with_parameters(quick: bool, parameters: Parameters) -> Trial {
        Trial { parameters, ..Trial::new(quick, None) }
    }

    /// Returns the handling of numeric parameters, with the parameters collected so far or the number of changes.
    pub(crate) const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns `full`, or `short` in a quick run. In a quick run the parameter is also recorded in
    /// [`shortened`](Trial::shortened).
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

    /// Adds a check.
    pub fn check(&mut self, check: Check) {
        self.checks.push(check);
    }

    /// Adds a check that a quick run measures but does not judge. With an alternative value of an unspecified parameter
    /// the check is always judged, because that is the purpose of alternatives.
    pub fn check_in_full(&mut self, check: Check) {
        if self.quick && self.choice.is_none() {
            self.check(check.unjudged("quick run"));
        } else {
            self.check(check);
        }
    }

    /// Returns `true` if no two claims have the same name.
    pub(crate) fn has_unique_claims(&self) -> bool {
        let mut names = BTreeSet::new();
        self.checks.iter().filter(|check| check.kind == Kind::Claim).all(|check| names.insert(&check.name))
    }

    /// Adds text to the output.
    pub fn show(&mut self, text: &str) {
        self.shown.push_str(text);
    }

    /// Returns the setup of `source` with the overrides `changes`.
    ///
    /// # Errors
    /// If the scenario is invalid.
    pub fn setup(&self, source: &Source, changes: &[(&str, String)]) -> Result<Setup, Failure> {
        let mut overrides: Vec<(String, String)> = Vec::new();
        if let Some((choice, value)) = self.choice.filter(|(choice, _)| choice.source.name == source.name) {
            overrides.push((choice.key.to_owned(), value.to_owned()));
        }
        overrides.extend(changes.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        let lower = |overrides: &[(String, String)]| -> Result<(Scenario, Lowered), Failure> {
            let (text, load) = (source.text, Box::new(registry::load));
            let scenario = Scenario::parse_with(text, source.name, Path::new(""), overrides, None, load);
            let lowered = scenario.and_then(|scenario| scenario.lower().map(|lowered| (scenario, lowered)));
            lowered.map_err(|errors| LabError::Scenario { errors, path: source.name.into() }.into())
        };
        let (scenario, lowered) = lower(&overrides)?;
        match self.parameters.change(&scenario, &lowered) {
            None => Ok(lowered.setup),
            Some(change) => {
                overrides.push(change);
                Ok(lower(&overrides)?.1.setup)
            }
        }
    }

    /// Runs `source` with the overrides `changes`.
    ///
    /// # Errors
    /// If the scenario is invalid.
    pub fn run(&self, source: &Source, changes: &[(&str, String)]) -> Result<TrialResult, Failure> {
        let setup = self.setup(source, changes)?;
        TrialResult::of(setup, source)
    }
}

/// Results of one run.
#[derive(Debug, Default)]
pub struct TrialResult {
    /// Summary of the run.
    pub summary: Outcome,
    /// Flow records at the end of the run.
    pub flows: Vec<FlowRecord>,
    /// Pause and resume events at the paused ports: time, node, port, and `true` for pause.
    pub pauses: Vec<(Time, NodeId, u16, bool)>,
    /// Payload bytes delivered per traffic entry within the measurement interval.
    pub goodput_bytes: Vec<u64>,
    /// Queue samples: node, port, bytes.
    pub queues: Vec<(NodeId, u16, u64)>,
    /// End-to-end frame delays within the measurement interval, in ps.
    pub delays: Histogram,
    /// Number of MAC control frames sent.
    pub control_frames: u64,
    /// Maximum buffer occupancy over all switches, in bytes.
    pub buffer_peak_bytes: u64,
    warm_up: Time,
    duration: Time,
}

impl Watcher for TrialResult {
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

impl TrialResult {
    /// Runs `setup`. Error messages name `source`.
    ///
    /// # Errors
    /// If the setup does not describe a valid network.
    pub fn of(setup: Setup, source: &Source) -> Result<TrialResult, Failure> {
        let mut result = TrialResult { warm_up: setup.warm_up, duration: setup.duration, ..TrialResult::default() };
        let mut simulation = simulation(setup, source)?;
        simulation.run(&mut result);
        result.summary = finish(&mut simulation, &mut result);
        result.pauses.sort_unstable();
        result.control_frames = simulation.counters(simulation.now()).control_sent;
        result.buffer_peak_bytes = simulation.buffer_peak_bytes();
        Ok(result)
    }

    /// Returns the goodput of a traffic entry in bit/s, over the measurement interval.
    pub fn goodput(&self, entry: usize) -> f64 {
        let bytes = self.goodput_bytes.get(entry).copied().unwrap_or(0);
        bytes as f64 * 8.0 / (self.duration - self.warm_up).as_secs_f64()
    }

    /// Returns the total goodput of all traffic entries, in bit/s.
    pub fn total_goodput(&self) -> f64 {
        (0..self.goodput_bytes.len()).map(|entry| self.goodput(entry)).sum()
    }

    /// Returns the number of frames dropped by full queues, lossless queues included.
    pub fn overflowed(&self) -> u64 {
        let count = |cause: &str| self.summary.packets.dropped.get(cause).copied().unwrap_or(0);
        count("queue full") + count("lossless queue full")
    }

    /// Returns the number of failed invariant checks of the run.
    pub fn failed_checks(&self) -> u64 {
        self.summary.checks.iter().filter(|check| !check.pass).count() as u64
    }
}

/// Builds the network of `setup`.
///
/// # Errors
/// If the setup does not describe a valid network.
pub fn simulation(setup: Setup, source: &Source) -> Result<Simulation, Failure> {
    Simulation::new(setup).map_err(|error| LabError::Model { path: source.name.into(), error }.into())
}

/// Ends a simulation and returns its outcome.
pub fn finish(simulation: &mut Simulation, watcher: &mut impl Watcher) -> Outcome {
    let outcome = simulation.finish(watcher, false);
    digest::add(&outcome);
    outcome
}
