//! One simulation, from the lowered scenario to its summary, in one call or step by step.

use crate::error::LabError;
use crate::recorder::Recorder;
use crate::stop::{IncompleteFolder, StopFlag};
use fabric::NodeId;
use model::parameters::Setup;
use model::{Agent, AgentScope, CapturedFrame, Clock, QueueSample, Ranks, Simulation, TransferCounts, Watcher};
use record::control::ControlSample;
use record::flows::FlowRecord;
use record::folder::ResultFolder;
use record::histogram::Histogram;
use record::summary::{ScenarioIdentity, Summary};
use record::timing::{RankTiming, Timing};
use record::trace::TraceRow;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use units::Time;

/// The result of a run, and its execution time and memory on this machine.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    /// The summary, equal on every machine.
    pub summary: Summary,
    /// Execution time and memory on this machine.
    pub timing: Timing,
    /// The folder of the result files, if any.
    pub folder: Option<PathBuf>,
}

/// Options that do not affect the result.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    /// Other runs share the process, so that its CPU time is not that of this run.
    pub shared: bool,
    /// A stopped run leaves no files.
    pub whole_only: bool,
}

/// Returns the identity of a run in its summary.
pub(crate) fn identity(name: &str, hash: &str, seed: u64) -> ScenarioIdentity {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    ScenarioIdentity { name: name.to_owned(), hash: hash.to_owned(), seed, version }
}

/// Data of a run in addition to its setup.
pub(crate) struct RunContext {
    /// Whether the run fails unless it deadlocks.
    pub expect_deadlock: bool,
    /// Identity of the scenario.
    pub identity: ScenarioIdentity,
    /// Labels of its traffic entries, if any.
    pub labels: Vec<String>,
    /// Warnings of the scenario.
    pub warnings: Vec<String>,
    /// Name of the scenario in errors.
    pub path: PathBuf,
}

/// A run in progress. One call and several steps give equal results. Its files appear only after [`ActiveRun::finish`].
pub struct ActiveRun {
    simulation: Simulation,
    files: Option<(ResultFolder, Recorder)>,
    _unfinished: Option<IncompleteFolder>,
    about: RunContext,
    started: Instant,
    /// Time for reading the scenario and building the network, which is excluded from the speed of the engine.
    before: Timing,
    threads: u32,
}

impl ActiveRun {
    /// Builds the network of `setup` at time zero; `stop` ends the construction early. During the run, its folder is
    /// registered as `unfinished`. With `ranks`, this process simulates a part of the network.
    ///
    /// # Errors
    /// [`LabError::Model`] if the network cannot be built.
    pub(crate) fn new(
        setup: Setup,
        about: RunContext,
        files: Option<(ResultFolder, Recorder)>,
        unfinished: Option<IncompleteFolder>,
        stop: &StopFlag,
        ranks: Option<Arc<dyn Ranks>>,
    ) -> Result<ActiveRun, LabError> {
        let threads = u32::try_from(setup.threads).unwrap_or(u32::MAX);
        #[expect(clippy::disallowed_methods, reason = "for timing.json, the one file that depends on the machine")]
        let started = Instant::now();
        let building = stop.block_signals();
        let rank = ranks.as_ref().map_or(0, |ranks| ranks.rank());
        let built = match ranks {
            None => Simulation::new(setup),
            Some(ranks) => Simulation::of_rank(setup, ranks),
        };
        let refused = |error| match rank {
            0 => LabError::Model { path: about.path.clone(), error },
            // Every rank builds the whole network and has the same error: only rank 0 reports it.
            _ => LabError::OtherRank { rank: 0 },
        };
        let mut simulation = built.map_err(refused)?;
        drop(building);
        simulation.set_stop_flag(stop.flag());
        let before = Timing::measure(started.elapsed(), threads);
        Ok(ActiveRun { simulation, files, _unfinished: unfinished, about, started, before, threads })
    }

    /// Returns the simulation.
    pub fn simulation(&mut self) -> &mut Simulation {
        &mut self.simulation
    }

    /// Creates agents that set the rates of their flows ([`Simulation::create_agents`]).
    ///
    /// # Errors
    /// [`LabError::Model`] if the rate of no flow can be set.
    pub fn create_agents(&mut self, steers: AgentScope) -> Result<Vec<Agent>, LabError> {
        let path = self.about.path.clone();
        self.simulation.create_agents(steers).map_err(|error| LabError::Model { path, error })
    }

    /// Continues to the end of the run, or until `watcher` or the stop flag ends it.
    pub fn run(&mut self, watcher: &mut dyn Watcher) {
        self.simulation.run(&mut with_files(watcher, &mut self.files));
    }

    /// Continues to `until` or to the end of the run. Returns whether `until` or the end was reached.
    pub fn run_until(&mut self, until: Time, watcher: &mut dyn Watcher) -> bool {
        self.simulation.run_until(until, &mut with_files(watcher, &mut self.files))
    }

    /// Summarises the run. Its files appear in its folder atomically. The results hash in the summary covers the files;
    /// without files, it covers the summary.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self, watcher: &mut dyn Watcher, options: RunOptions) -> Result<FinishedRun, LabError> {
        let ActiveRun { mut simulation, mut files, _unfinished, about, started, before, threads } = self;
        let mut timing = Timing::measure(started.elapsed(), threads);
        timing.max_threads = u32::try_from(simulation.sharing().threads).unwrap_or(u32::MAX);
        timing.shared_work = simulation.parallel_share();
        timing.ranks = of_ranks(&simulation, &timing);
        let outcome = simulation.finish(&mut with_files(watcher, &mut files), about.expect_deadlock);
        let mut summary = Summary::of(about.identity, outcome, &about.labels);
        let whole = timing.cpu_s;
        timing.cpu_s = whole.zip(before.cpu_s).map(|(after, before)| after - before);
        timing = timing.with_rates(summary.packet_hops, summary.events);
        timing.cpu_s = whole;
        summary.warnings.splice(0..0, about.warnings);
        if options.shared {
            (timing.cpu_s, timing.packet_hops_per_cpu_s, timing.events_per_cpu_s) = (None, None, None);
        }
        let folder = match files {
            None => None,
            Some((folder, recorder)) => {
                recorder.close()?;
                Some(folder)
            }
        };
        let location = match folder {
            Some(folder) if !(options.whole_only && summary.partial) => Some(folder.finish(&mut summary, &timing)?),
            _ => {
                summary.results_hash = summary_hash(&summary);
                None
            }
        };
        Ok(FinishedRun { summary, timing, folder: location })
    }
}

/// Returns the costs of all ranks on the first rank. Call it before the summary, whose messages would otherwise be
/// counted.
fn of_ranks(simulation: &Simulation, timing: &Timing) -> Vec<RankTiming> {
    if simulation.cut().is_none() {
        return Vec::new();
    }
    let TransferCounts { barriers, batches, bytes, messages } = simulation.transfer_counts();
    let cpu_ms = (timing.cpu_s.unwrap_or(0.0) * 1e3) as u64;
    let own = vec![timing.max_rss_bytes.unwrap_or(0), cpu_ms, barriers, batches, bytes, messages];
    let named = |it: Vec<u64>| RankTiming {
        max_rss_bytes: it[0],
        cpu_s: it[1] as f64 / 1e3,
        barriers: it[2],
        batches: it[3],
        batch_bytes: it[4],
        messages: it[5],
    };
    simulation.gather_numbers(own).into_iter().map(named).collect()
}

/// Returns a list of `watcher` and the writer of the files.
fn with_files<'a>(watcher: &'a mut dyn Watcher, files: &'a mut Option<(ResultFolder, Recorder)>) -> WatcherList<'a> {
    let mut watchers: Vec<&'a mut dyn Watcher> = vec![watcher];
    watchers.extend(files.as_mut().map(|(_, recorder)| recorder as &mut dyn Watcher));
    WatcherList(watchers)
}

/// Returns the hash of a summary without files, which equals [`record::results_hash`] of a result without other files.
pub(crate) fn summary_hash(summary: &Summary) -> String {
    let mut bare = summary.clone();
    bare.results_hash.clear();
    let (name, text) = (record::folder::SUMMARY_FILE, bare.to_json());
    let mut hasher = Sha256::new();
    for part in [name.as_bytes(), text.as_bytes()] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Several watchers of one run. Each of them can end the run.
pub struct WatcherList<'a>(pub Vec<&'a mut dyn Watcher>);

impl Watcher for WatcherList<'_> {
    fn flow(&mut self, flow: &FlowRecord) {
        self.0.iter_mut().for_each(|watcher| watcher.flow(flow));
    }
    fn queue(&mut self, sample: QueueSample) {
        self.0.iter_mut().for_each(|watcher| watcher.queue(sample));
    }
    fn link(&mut self, at: Time, node: NodeId, port: u16, bytes: u64, share: f64) {
        self.0.iter_mut().for_each(|watcher| watcher.link(at, node, port, bytes, share));
    }
    fn throughput(&mut self, at: Time, traffic: u8, bytes: u64) {
        self.0.iter_mut().for_each(|watcher| watcher.throughput(at, traffic, bytes));
    }
    fn control(&mut self, sample: &ControlSample) {
        self.0.iter_mut().for_each(|watcher| watcher.control(sample));
    }
    fn pause(&mut self, at: Time, node: NodeId, port: u16, classes: u8, pause: bool) {
        self.0.iter_mut().for_each(|watcher| watcher.pause(at, node, port, classes, pause));
    }
    fn trace(&mut self, row: &TraceRow) {
        self.0.iter_mut().for_each(|watcher| watcher.trace(row));
    }
    fn captured(&mut self, frame: &CapturedFrame) {
        self.0.iter_mut().for_each(|watcher| watcher.captured(frame));
    }
    fn reordering(&mut self, displacement: i64, frames: u64, of: u64) {
        self.0.iter_mut().for_each(|watcher| watcher.reordering(displacement, frames, of));
    }
    fn started(&mut self, clock: &Arc<Clock>) {
        self.0.iter_mut().for_each(|watcher| watcher.started(clock));
    }
    fn should_abort(&self) -> bool {
        self.0.iter().any(|watcher| watcher.should_abort())
    }
    fn delays(&mut self, delays: &Histogram) {
        self.0.iter_mut().for_each(|watcher| watcher.delays(delays));
    }
    fn progress(&mut self, now: Time, hops: u64) -> bool {
        // Call all watchers, even if one of them has ended the run.
        let mut on = true;
        for watcher in &mut self.0 {
            on &= watcher.progress(now, hops);
        }
        on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_without_files_is_that_of_a_folder_with_a_summary_alone() {
        let folder = std::env::temp_dir().join(format!("tidegate-summary-hash-{}", std::process::id()));
        let result = ResultFolder::create(&folder).unwrap();
        let mut summary = Summary { events: 7, ..Summary::default() };
        summary.scenario = identity("a \"quoted\" name", "00", 3);
        result.finish(&mut summary, &Timing::default()).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(summary.results_hash, summary_hash(&summary));
    }

    #[test]
    fn one_watcher_can_end_the_run_and_all_are_notified() {
        struct Counts(u32, bool);
        impl Watcher for Counts {
            fn progress(&mut self, _: Time, _: u64) -> bool {
                self.0 += 1;
                self.1
            }
        }
        let (mut first, mut second) = (Counts(0, false), Counts(0, true));
        assert!(!WatcherList(vec![&mut first, &mut second]).progress(Time::ZERO, 0));
        assert!(WatcherList(vec![&mut second]).progress(Time::ZERO, 0));
        assert_eq!((first.0, second.0), (1, 2));
    }
}
