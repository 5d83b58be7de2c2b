//! One simulation, from what was lowered to its summary, in one go or step by step; whoever wants to see it watches.

use crate::error::LabError;
use crate::recorder::Recorder;
use crate::stop::{Stop, Unfinished};
use fabric::NodeId;
use model::parameters::Setup;
use model::{Agent, CapturedFrame, Clock, Letters, QueueSample, Ranks, Simulation, Steers, Watcher};
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

/// What a run leaves: facts, and what they cost this machine.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The same on every machine.
    pub summary: Summary,
    /// This machine's.
    pub timing: Timing,
    /// Where its files are, if it left any.
    pub folder: Option<PathBuf>,
}

/// What a result does not depend on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    /// Other runs share the process: its CPU time says nothing about this one.
    pub shared: bool,
    /// A run that was stopped leaves no files.
    pub whole_only: bool,
}

/// Who a run is, as its summary will say.
pub(crate) fn identity(name: &str, hash: &str, seed: u64) -> ScenarioIdentity {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    ScenarioIdentity { name: name.to_owned(), hash: hash.to_owned(), seed, version }
}

/// What a run needs besides its setup.
pub(crate) struct About {
    /// Whether it fails unless it deadlocks.
    pub expect_deadlock: bool,
    /// Who it is.
    pub identity: ScenarioIdentity,
    /// What results call the entries of its traffic, where that says something.
    pub labels: Vec<String>,
    /// What the scenario warned of.
    pub warnings: Vec<String>,
    /// Names the scenario in errors.
    pub path: PathBuf,
}

/// A run that has begun: made in one go or step by step, which changes nothing about it. Its files appear with
/// [`Begun::finish`]; without, they never do.
pub struct Begun {
    simulation: Simulation,
    files: Option<(ResultFolder, Recorder)>,
    _unfinished: Option<Unfinished>,
    about: About,
    started: Instant,
    /// Reading and building are not what the speed of the engine is about.
    before: Timing,
    threads: u32,
}

impl Begun {
    /// The network of `setup` at time zero, which ends early if somebody sets `stop`. While it lasts, its folder is
    /// `unfinished`. With `ranks` it is one of several that make it together.
    ///
    /// # Errors
    /// [`LabError::Model`] if the setup makes no network.
    pub(crate) fn new(
        setup: Setup,
        about: About,
        files: Option<(ResultFolder, Recorder)>,
        unfinished: Option<Unfinished>,
        stop: &Stop,
        ranks: Option<Arc<dyn Ranks>>,
    ) -> Result<Begun, LabError> {
        let threads = u32::try_from(setup.threads).unwrap_or(u32::MAX);
        #[expect(clippy::disallowed_methods, reason = "for timing.json, the one file that depends on the machine")]
        let started = Instant::now();
        let building = stop.deaf();
        let rank = ranks.as_ref().map_or(0, |ranks| ranks.rank());
        let built = match ranks {
            None => Simulation::new(setup),
            Some(ranks) => Simulation::of_rank(setup, ranks),
        };
        let refused = |error| match rank {
            0 => LabError::Model { path: about.path.clone(), error },
            // All build the same network, and one says what is wrong with it.
            _ => LabError::OtherRank { rank: 0 },
        };
        let mut simulation = built.map_err(refused)?;
        drop(building);
        simulation.heed(stop.flag());
        let before = Timing::measure(started.elapsed(), threads);
        Ok(Begun { simulation, files, _unfinished: unfinished, about, started, before, threads })
    }

    /// What runs.
    pub fn simulation(&mut self) -> &mut Simulation {
        &mut self.simulation
    }

    /// Hands the rates of its flows to agents ([`Simulation::take_agents`]).
    ///
    /// # Errors
    /// [`LabError::Model`] where there is nothing for them to set.
    pub fn take_agents(&mut self, steers: Steers) -> Result<Vec<Agent>, LabError> {
        let path = self.about.path.clone();
        self.simulation.take_agents(steers).map_err(|error| LabError::Model { path, error })
    }

    /// Goes on to the end of the run, or until `watcher` or the stop that it was given wants one.
    pub fn run(&mut self, watcher: &mut dyn Watcher) {
        self.simulation.run(&mut with_files(watcher, &mut self.files));
    }

    /// Goes on to `until` or to the end of the run: whether it got there.
    pub fn run_until(&mut self, until: Time, watcher: &mut dyn Watcher) -> bool {
        self.simulation.run_until(until, &mut with_files(watcher, &mut self.files))
    }

    /// Sums it up as it is now. Where it has a folder, its files appear there, whole or not at all. The summary's hash
    /// is that of the files, or of itself where there are none.
    ///
    /// # Errors
    /// A disk that fails.
    pub fn finish(self, watcher: &mut dyn Watcher, way: Way) -> Result<Finished, LabError> {
        let Begun { mut simulation, mut files, _unfinished, about, started, before, threads } = self;
        let mut timing = Timing::measure(started.elapsed(), threads);
        timing.most_threads = u32::try_from(simulation.sharing().threads).unwrap_or(u32::MAX);
        timing.shared_work = simulation.shared_share();
        timing.ranks = of_ranks(&simulation, &timing);
        let outcome = simulation.finish(&mut with_files(watcher, &mut files), about.expect_deadlock);
        let mut summary = Summary::of(about.identity, outcome, &about.labels);
        let whole = timing.cpu_s;
        timing.cpu_s = whole.zip(before.cpu_s).map(|(after, before)| after - before);
        timing = timing.with_rates(summary.packet_hops, summary.events);
        timing.cpu_s = whole;
        summary.warnings.splice(0..0, about.warnings);
        if way.shared {
            (timing.cpu_s, timing.packet_hops_per_cpu_s, timing.events_per_cpu_s) = (None, None, None);
        }
        let folder = match files {
            None => None,
            Some((folder, recorder)) => {
                recorder.close()?;
                Some(folder)
            }
        };
        let place = match folder {
            Some(folder) if !(way.whole_only && summary.partial) => Some(folder.finish(&mut summary, &timing)?),
            _ => {
                summary.results_hash = summary_hash(&summary);
                None
            }
        };
        Ok(Finished { summary, timing, folder: place })
    }
}

/// What each rank cost its machine, where there are several: at the first, and before it sums up.
fn of_ranks(simulation: &Simulation, timing: &Timing) -> Vec<RankTiming> {
    if simulation.cut().is_none() {
        return Vec::new();
    }
    let Letters { meetings, letters, bytes, messages } = simulation.letters();
    let cpu_ms = (timing.cpu_s.unwrap_or(0.0) * 1e3) as u64;
    let own = vec![timing.max_rss_bytes.unwrap_or(0), cpu_ms, meetings, letters, bytes, messages];
    let named = |it: Vec<u64>| RankTiming {
        max_rss_bytes: it[0],
        cpu_s: it[1] as f64 / 1e3,
        meetings: it[2],
        letters: it[3],
        letter_bytes: it[4],
        messages: it[5],
    };
    simulation.numbers_of_ranks(own).into_iter().map(named).collect()
}

/// `watcher`, and who writes the files.
fn with_files<'a>(watcher: &'a mut dyn Watcher, files: &'a mut Option<(ResultFolder, Recorder)>) -> All<'a> {
    let mut watchers: Vec<&'a mut dyn Watcher> = vec![watcher];
    watchers.extend(files.as_mut().map(|(_, recorder)| recorder as &mut dyn Watcher));
    All(watchers)
}

/// The hash of a summary without files: what [`record::results_hash`] gives for a result that has no others.
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

/// Several watchers of one run; it goes on while all want it to.
pub struct All<'a>(pub Vec<&'a mut dyn Watcher>);

impl Watcher for All<'_> {
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
    fn begins(&mut self, clock: &Arc<Clock>) {
        self.0.iter_mut().for_each(|watcher| watcher.begins(clock));
    }
    fn has_failed(&self) -> bool {
        self.0.iter().any(|watcher| watcher.has_failed())
    }
    fn delays(&mut self, delays: &Histogram) {
        self.0.iter_mut().for_each(|watcher| watcher.delays(delays));
    }
    fn progress(&mut self, now: Time, hops: u64) -> bool {
        // Every one is told, also behind one that wants an end.
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
    fn one_watcher_that_wants_an_end_is_enough_and_all_hear_of_it() {
        struct Counts(u32, bool);
        impl Watcher for Counts {
            fn progress(&mut self, _: Time, _: u64) -> bool {
                self.0 += 1;
                self.1
            }
        }
        let (mut first, mut second) = (Counts(0, false), Counts(0, true));
        assert!(!All(vec![&mut first, &mut second]).progress(Time::ZERO, 0));
        assert!(All(vec![&mut second]).progress(Time::ZERO, 0));
        assert_eq!((first.0, second.0), (1, 2));
    }
}
