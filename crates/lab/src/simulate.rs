//! One simulation, from what was lowered to its summary; whoever wants to see it watches.

use crate::error::LabError;
use crate::stop::Stop;
use fabric::NodeId;
use model::parameters::Setup;
use model::{CapturedFrame, Clock, QueueSample, Simulation, Watcher};
use record::control::ControlSample;
use record::flows::FlowRecord;
use record::histogram::Histogram;
use record::summary::{ScenarioIdentity, Summary};
use record::timing::Timing;
use record::trace::TraceRow;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
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

/// Who a run is, as its summary will say.
pub(crate) fn identity(name: &str, hash: &str, seed: u64) -> ScenarioIdentity {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    ScenarioIdentity { name: name.to_owned(), hash: hash.to_owned(), seed, version }
}

/// Runs `setup` to its end or until the watcher or `stop` ends it. `path` names the scenario in errors.
///
/// # Errors
/// [`LabError::Model`] if the setup makes no network.
pub(crate) fn simulate(
    setup: Setup,
    expect_deadlock: bool,
    identity: ScenarioIdentity,
    path: &Path,
    watcher: &mut dyn Watcher,
    stop: &Stop,
) -> Result<Finished, LabError> {
    let threads = u32::try_from(setup.threads).unwrap_or(u32::MAX);
    #[expect(clippy::disallowed_methods, reason = "for timing.json, the one file that depends on the machine")]
    let started = Instant::now();
    let building = stop.deaf();
    let built = Simulation::new(setup);
    let mut simulation = built.map_err(|error| LabError::Model { path: path.to_owned(), error })?;
    drop(building);
    simulation.heed(stop.flag());
    // Reading and building are not what the speed of the engine is about.
    let before = Timing::measure(started.elapsed(), threads);
    simulation.run(watcher);
    let mut timing = Timing::measure(started.elapsed(), threads);
    timing.most_threads = u32::try_from(simulation.sharing().threads).unwrap_or(u32::MAX);
    timing.shared_work = simulation.shared_share();
    let summary = Summary::of(identity, simulation.finish(watcher, expect_deadlock));
    let whole = timing.cpu_s;
    timing.cpu_s = whole.zip(before.cpu_s).map(|(after, before)| after - before);
    timing = timing.with_rates(summary.packet_hops, summary.events);
    timing.cpu_s = whole;
    Ok(Finished { summary, timing, folder: None })
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
    use record::folder::ResultFolder;

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
