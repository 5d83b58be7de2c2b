//! One result folder, as the page draws it.

use crate::completions::{Completions, Flows, Shares, SlowdownBox, completions};
use crate::controls::{Panel, controls};
use crate::curves::Curve;
use crate::error::ReportError;
use crate::replay::{Replay, read_replay, traced_flows};
use crate::series::{Names, PausedPort, happenings, pauses, queues, throughput, utilisation};
use record::RecordError;
use record::folder::{SUMMARY_FILE, is_result, read_verified};
use record::manifest::{MANIFEST_FILE, Manifest, Standing};
use record::summary::Summary;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What the page shows of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// What figures call it.
    pub label: String,
    /// The folder it came from.
    pub folder: String,
    /// The scenario, with all that was changed on the command line.
    pub scenario: String,
    /// All of `summary.json`.
    pub summary: Summary,
    /// What is wrong with the folder, a sentence each: what could be read is shown all the same.
    pub damage: Vec<String>,
    /// Completion times in us: share of flows, in percent.
    pub fct: Option<Shares>,
    /// Slowdowns: share of flows, in percent.
    pub slowdown: Option<Shares>,
    /// Slowdowns by size.
    pub boxes: Vec<SlowdownBox>,
    /// What traffic entries are called, by their place in the scenario.
    pub labels: BTreeMap<u64, String>,
    /// The flows that the replay lists.
    pub flows: Flows,
    /// Gbps over us, by traffic entry and recorded flow.
    pub throughput: Vec<Curve>,
    /// What congestion controls held: a figure for each thing that one had.
    pub controls: Vec<Panel>,
    /// KB over us: the longest queues.
    pub queues: Vec<Curve>,
    /// How many queues were recorded.
    pub queues_recorded: usize,
    /// Percent of the link's rate over us: the busiest ports.
    pub utilisation: Vec<Curve>,
    /// Stopped ports, the longest in sum first.
    pub pauses: Vec<PausedPort>,
    /// How many pauses stand behind them, those that are not drawn included.
    pub pauses_recorded: usize,
    /// How many traced frames were marked, dropped and so on in each of the stretches of `happenings_every_us`.
    pub happenings: Vec<Curve>,
    /// The length of these stretches, in us.
    pub happenings_every_us: f64,
    /// The fabric over time; none where the run did not record its ports. The page has it in another form.
    #[serde(skip)]
    pub replay: Option<Replay>,
}

/// What was read, or nothing and a sentence more about what is wrong.
fn rest<T: Default>(damage: &mut Vec<String>, what: &str, read: Result<T, RecordError>) -> T {
    read.unwrap_or_else(|error| {
        damage.push(format!("{what} left out: {error}"));
        T::default()
    })
}

/// Reads the result in `folder`; `label` is what figures call it. Of one that is damaged, such as a copy by halves,
/// what can be read is in the [`Run`], and what is wrong in [`Run::damage`].
///
/// # Errors
/// [`ReportError::NotAResult`], [`ReportError::OtherVersion`], and a summary that cannot be read.
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
    let (happenings, happenings_every_us) =
        rest(&mut damage, "what happened to traced frames is", happenings(folder, end));
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

/// What is missing of a result, and what is not as it was written.
fn damaged_files(folder: &Path) -> Vec<String> {
    let Ok(Some(manifest)) = Manifest::read(folder) else {
        return vec![format!("{MANIFEST_FILE} is missing or damaged: nothing tells whether the other files are whole")];
    };
    let names = manifest.names();
    let wrong = names.iter().filter_map(|name| match manifest.standing(folder, name) {
        Ok(Standing::Free) => Some(format!("{name} is missing")),
        Ok(Standing::Ours) => None,
        _ => Some(format!("{name} is not as it was written")),
    });
    wrong.collect()
}

/// The version alone, of a summary that has other keys than ours.
fn version_of(folder: &Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(SUMMARY_FILE)).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(value["scenario"]["version"].as_str()?.to_owned())
}
