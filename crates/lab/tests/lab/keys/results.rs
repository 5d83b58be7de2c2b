//! Executes a scenario, and hashes its results without the copy of the scenario's values.

use super::{Set, files};
use lab::{FinishedRun, Override, Run, RunOptions, StopFlag};
use model::{CapturedFrame, QueueSample, Watcher};
use record::control::ControlSample;
use record::flows::FlowRecord;
use record::histogram::Histogram;
use record::summary::{ScenarioIdentity, Summary};
use record::trace::TraceRow;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Time;

pub struct Results {
    pub fingerprint: u64,
    /// Effective values by key.
    pub values: BTreeMap<String, String>,
    /// Warnings of the scenario.
    pub warnings: Vec<String>,
}

#[derive(Default)]
struct Seen(DefaultHasher);

impl Seen {
    fn add(&mut self, what: &str, value: impl Debug) {
        format!("{what} {value:?}").hash(&mut self.0);
    }
}

impl Watcher for Seen {
    fn flow(&mut self, flow: &FlowRecord) {
        self.add("flow", flow);
    }
    fn queue(&mut self, sample: QueueSample) {
        self.add("queue", sample);
    }
    fn link(&mut self, at: Time, node: fabric::NodeId, port: u16, bytes: u64, share: f64) {
        self.add("link", (at, node, port, bytes, share));
    }
    fn throughput(&mut self, at: Time, traffic: u8, bytes: u64) {
        self.add("throughput", (at, traffic, bytes));
    }
    fn control(&mut self, sample: &ControlSample) {
        self.add("control", sample);
    }
    fn pause(&mut self, at: Time, node: fabric::NodeId, port: u16, classes: u8, pause: bool) {
        self.add("pause", (at, node, port, classes, pause));
    }
    fn trace(&mut self, row: &TraceRow) {
        self.add("trace", row);
    }
    fn captured(&mut self, frame: &CapturedFrame) {
        self.add("captured", frame);
    }
    fn reordering(&mut self, displacement: i64, frames: u64, of: u64) {
        self.add("reordering", (displacement, frames, of));
    }
    fn delays(&mut self, delays: &Histogram) {
        self.add("delays", delays);
    }
}

/// A folder for the files of one run.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Scratch(std::env::temp_dir().join(format!("tidegate-keys-{}-{number}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Replaces `{files}` by the directory of the files that scenarios of this test read.
fn with_files(text: &str) -> String {
    text.replace("{files}", &files::FOLDER)
        .replace("{examples}", concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"))
}

/// Runs `text` with the overrides `set`. Files are written only if the scenario records anything, and then only their
/// names are hashed: the records themselves are hashed as they reach the watcher.
pub fn run(text: &str, set: &Set) -> Result<Results, String> {
    let text = with_files(text);
    let over = |(key, value): &(String, String)| Override { key: key.clone(), value: with_files(value) };
    let set: Vec<Override> = set.iter().map(over).collect();
    let shown = |error: &dyn std::fmt::Display| error.to_string().replace('\n', " ");
    let run = Run::parse(&text, "key.toml", &set, None, &StopFlag::default()).map_err(|error| shown(&error))?;
    let values = run.lowered.explain.iter().map(|entry| (entry.key.clone(), entry.value.clone())).collect();
    let warnings = run.lowered.warnings.iter().map(|warning| format!("{}: {}", warning.key, warning.message)).collect();
    let (mut seen, scratch) = (Seen::default(), text.contains("[record]").then(Scratch::new));
    let folder = scratch.as_ref().map(|scratch| lab::folder(&scratch.0)).transpose().map_err(|error| shown(&error))?;
    let begun = run.begin(folder, &StopFlag::default()).map_err(|error| shown(&error));
    let mut begun = begun?;
    begun.run(&mut seen);
    let FinishedRun { summary, .. } = begun.finish(&mut seen, RunOptions::default()).map_err(|error| shown(&error))?;
    seen.add("summary", text_of(summary));
    if let Some(scratch) = &scratch {
        let mut names: Vec<_> =
            std::fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        seen.add("files", names);
    }
    Ok(Results { fingerprint: seen.0.finish(), values, warnings })
}

/// Returns the summary without scenario identity, warnings and execution costs.
fn text_of(mut summary: Summary) -> String {
    summary.scenario = ScenarioIdentity::default();
    (summary.results_hash, summary.warnings, summary.events) = Default::default();
    // The details of a check contain parameters; only the verdict of the check is a result.
    summary.checks.iter_mut().for_each(|check| check.detail.clear());
    summary.to_json()
}
