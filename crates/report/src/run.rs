//! Reads one result folder as the data of a page.

use crate::completions::{CdfSet, Completions, Flows, SlowdownBox, completions};
use crate::controls::{Panel, controls};
use crate::curves::Curve;
use crate::error::ReportError;
use crate::replay::{Replay, read_replay, traced_flows};
use crate::series::{Names, PausedPort, happenings, pauses, queues, throughput, utilisation};
use record::RecordError;
use record::folder::{SUMMARY_FILE, is_result, read_verified};
use record::manifest::{MANIFEST_FILE, Manifest, PathState};
use record::summary::Summary;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Data of a run on the page.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Name of the run in figures.
    pub label: String,
    /// Folder of the run.
    pub folder: String,
    /// The scenario, with all overrides of the command line.
    pub scenario: String,
    /// Content of `summary.json`.
    pub summary: Summary,
    /// One sentence per missing, modified or unreadable file; the page shows the readable data.
    pub damage: Vec<String>,
    /// CDFs of FCT in us, in percent of flows.
    pub fct: Option<CdfSet>,
    /// CDFs of slowdown, in percent of flows.
    pub slowdown: Option<CdfSet>,
    /// Slowdowns by flow size.
    pub boxes: Vec<SlowdownBox>,
    /// Labels of traffic entries, by their index in the scenario.
    pub labels: BTreeMap<u64, String>,
    /// The flow list of the page.
    pub flows: Flows,
    /// Throughput in Gbps over time in us, by traffic entry and recorded flow.
    pub throughput: Vec<Curve>,
    /// Congestion control state: one figure per recorded quantity.
    pub controls: Vec<Panel>,
    /// The longest queues: length in KB over time in us.
    pub queues: Vec<Curve>,
    /// Total number of recorded queues.
    pub queues_recorded: usize,
    /// Utilisation of the busiest ports in percent over time in us.
    pub utilisation: Vec<Curve>,
    /// Pauses of each paused port, in descending order of total pause time.
    pub pauses: Vec<PausedPort>,
    /// Total number of recorded pauses, including those that are not drawn.
    pub pauses_recorded: usize,
    /// Number of traced frames with each kind of event, per interval of `happenings_every_us`.
    pub happenings: Vec<Curve>,
    /// Length of the intervals of `happenings`, in us.
    pub happenings_every_us: f64,
    /// The fabric over time; `None` if the run did not record its ports. Not serialised here: the page contains the
    /// replay in a packed encoding.
    #[serde(skip)]
    pub replay: Option<Replay>,
}

/// Returns the data that was read. After an error, returns the default value and adds a sentence to `damage`.
fn rest<T: Default>(damage: &mut Vec<String>, what: &str, read: Result<T, RecordError>) -> T {
    read.unwrap_or_else(|error| {
        damage.push(format!("{what} omitted: {error}"));
        T::default()
    })
}

/// Reads the result in `folder`; `label` is the run's name in figures. If the result is damaged (an incomplete copy,
/// for example), the [`Run`] has the readable data, and [`Run::damage`] describes the damage.
///
/// # Errors
/// [`ReportError::NotAResult`], [`ReportError::OtherVersion`], or the error of reading the summary.
pub fn read_run(folder: &Path, label: &str) -> Result<Run, ReportError> {
    if !is_result(folder) {
        return Err(ReportError::NotAResult { path: folder.to_owned() });
    }
    let known = Summary::read(&folder.join(SUMMARY_FILE)).map(|summary| summary.scenario.version);
    let version = known.or_else(|error| version_of(folder).ok_or(error))?;
    if version != env!("CARGO_PKG_VERSION") {
        return Err(ReportError::OtherVersion { path: folder.to_owned(), version });
    }
    let mut damage = Vec::new();
    let summary = read_verified(folder).or_else(|error| {
        damage = damaged_files(folder);
        if damage.is_empty() {
            damage.push(error.to_string());
        }
        Summary::read(&folder.join(SUMMARY_FILE))
    })?;
    let end = summary.simulated_ps;
    let names = rest(&mut damage, "names of nodes are", Names::read(folder));
    let scenario = std::fs::read_to_string(folder.join("scenario.toml")).unwrap_or_default();
    let replay = rest(&mut damage, "the replay is", read_replay(folder, end));
    let controls = rest(&mut damage, "congestion controls are", controls(folder));
    let first = traced_flows(replay.as_ref())
        .chain(controls.iter().flat_map(|panel| panel.curves.iter().filter_map(|curve| curve.flow)))
        .collect();
    let window = summary.window;
    let measured = |at: u64| at >= window.start_ps && (at < window.end_ps || window.end_ps >= end);
    let read = completions(folder, label, measured, &first);
    let Completions { fct, slowdown, boxes, flows, labels } = rest(&mut damage, "completion times are", read);
    let (queues, queues_recorded) = rest(&mut damage, "queues are", queues(folder, &names, end));
    let (pauses, pauses_recorded) = pauses(folder, &names, end);
    let throughput = rest(&mut damage, "throughput is", throughput(folder, &labels, end));
    let utilisation = rest(&mut damage, "utilisation is", utilisation(folder, &names, end));
    let (happenings, happenings_every_us) = rest(&mut damage, "events of traced frames are", happenings(folder, end));
    Ok(Run {
        label: label.to_owned(),
        folder: folder.display().to_string(),
        scenario,
        summary,
        damage,
        fct,
        slowdown,
        boxes,
        labels,
        flows,
        throughput,
        controls,
        queues,
        queues_recorded,
        utilisation,
        pauses,
        pauses_recorded,
        happenings,
        happenings_every_us,
        replay,
    })
}

/// Returns a sentence for each missing or modified file of a result.
fn damaged_files(folder: &Path) -> Vec<String> {
    let Ok(Some(manifest)) = Manifest::read(folder) else {
        return vec![format!("{MANIFEST_FILE} is missing or damaged: the other files cannot be verified")];
    };
    let names = manifest.names();
    let wrong = names.iter().filter_map(|name| match manifest.standing(folder, name) {
        Ok(PathState::Free) => Some(format!("{name} is missing")),
        Ok(PathState::Ours) => None,
        _ => Some(format!("{name} was modified")),
    });
    wrong.collect()
}

/// Returns the version in a summary, even if this version of tidegate cannot read its other keys.
fn version_of(folder: &Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(SUMMARY_FILE)).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(value["scenario"]["version"].as_str()?.to_owned())
}
