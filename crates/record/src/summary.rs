//! `summary.json`: aggregated results of a run.
//!
//! Keys are in the order of these fields, maps are sorted, and floats are written as the shortest text that parses to
//! an equal number, so that equal runs give equal bytes. All values that depend on the machine are in
//! [`crate::timing`].

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::RecordError;
use crate::flows::FlowSummary;
pub use crate::identity::ScenarioIdentity;
use stats::bounces::BounceSummary;
use stats::collectives::CollectiveSummary;
use stats::jitter::JitterSummary;
use stats::pipelines::PipelineSummary;
use stats::requests::RequestSummary;
use stats::storms::PauseStorms;
pub use stats::summary::*;
use stats::trims::TrimSummary;

/// Content of `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Identity of the run.
    pub scenario: ScenarioIdentity,
    /// Whether the run was interrupted: all values then cover the time up to `simulated_ps`.
    pub partial: bool,
    /// Measurement interval; the accounts of packets and bytes cover the whole run.
    pub window: Window,
    /// Simulated time, in ps.
    pub simulated_ps: u64,
    /// Number of executed events.
    pub events: u64,
    /// Number of transmissions of packets over links.
    pub packet_hops: u64,
    /// Number of packets by fate.
    pub packets: PacketAccount,
    /// Losses by node and cause, in descending order; at most [`MAX_LOSS_PLACES`] entries.
    pub losses: Vec<NodeLosses>,
    /// Losses of lossless classes, by cause; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lossless_losses: Vec<LosslessLoss>,
    /// Counts of network events that concern packets.
    #[serde(alias = "happened")]
    pub event_counts: EventCounts,
    /// Number of bytes by fate.
    pub bytes: ByteAccount,
    /// Flows, their FCTs and slowdowns.
    pub flows: FlowSummary,
    /// Requests and their replies, by traffic entry; left out without request-reply traffic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestSummary>,
    /// Collectives, by traffic entry; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collectives: Vec<CollectiveSummary>,
    /// Goodput: payload that was delivered in the measurement interval, without duplicates.
    pub goodput: Goodput,
    /// One-way delay of packets between hosts, in ns; null if none was delivered.
    pub delay_ns: Option<Distribution>,
    /// Delay variation (jitter) by traffic entry; left out if it is not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jitter: Vec<JitterSummary>,
    /// Reordering of data frames; left out if it is not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reordering: Option<Reordering>,
    /// Occupancy of switch queues; left out if it is not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "utilisation")]
    pub queue_utilisation: Option<Utilisation>,
    /// Lengths of switch queues; left out if they are not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_lengths: Option<QueueLengths>,
    /// Pauses, summed over all ports and classes.
    pub pauses: PauseSummary,
    /// Pause storms that watchdogs detected; left out without watchdogs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_storms: Option<PauseStorms>,
    /// Counters of output backpressure (FLORAX and related kinds); left out for other kinds of flow control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backpressure: Option<Backpressure>,
    /// Utilisation of links.
    pub links: LinkSummary,
    /// The detected deadlock, or null.
    pub deadlock: Option<Deadlock>,
    /// Bounced and detoured frames; null without such an overload action.
    #[serde(alias = "turns")]
    pub bounces: Option<BounceSummary>,
    /// Counters of modelled switch pipelines; null if no pipelines are modelled.
    pub pipelines: Option<PipelineSummary>,
    /// Frames that switches trimmed; left out without trimming.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trims: Option<TrimSummary>,
    /// Counters of port mechanisms, by kind and name; left out if there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mechanisms: BTreeMap<String, BTreeMap<String, u64>>,
    /// Results of the checks.
    pub checks: Vec<Check>,
    /// Warnings about the validity of the results.
    pub warnings: Vec<String>,
    /// SHA-256 over all results, see [`crate::results_hash::results_hash`]; set by
    /// [`crate::folder::ResultFolder::finish`].
    pub results_hash: String,
}

impl Summary {
    /// Makes the summary of a run with an empty hash. `labels` are the names of traffic entries; empty if they are not
    /// informative.
    pub fn of(scenario: ScenarioIdentity, outcome: Outcome, labels: &[String]) -> Summary {
        let Outcome {
            partial,
            window,
            simulated_ps,
            events,
            packet_hops,
            packets,
            losses,
            lossless_losses,
            event_counts,
            bytes,
            mut flows,
            requests,
            collectives,
            goodput,
            delay_ns,
            jitter,
            reordering,
            queue_utilisation,
            queue_lengths,
            pauses,
            pause_storms,
            backpressure,
            links,
            deadlock,
            bounces,
            pipelines,
            trims,
            mechanisms,
            checks,
            warnings,
        } = outcome;
        flows.label(labels, &goodput);
        let results_hash = String::new();
        Summary {
            scenario,
            partial,
            window,
            simulated_ps,
            events,
            packet_hops,
            packets,
            losses,
            lossless_losses,
            event_counts,
            bytes,
            flows,
            requests,
            collectives,
            goodput,
            delay_ns,
            jitter,
            reordering,
            queue_utilisation,
            queue_lengths,
            pauses,
            pause_storms,
            backpressure,
            links,
            deadlock,
            bounces,
            pipelines,
            trims,
            mechanisms,
            checks,
            warnings,
            results_hash,
        }
    }

    /// Returns the text of `summary.json`.
    pub fn to_json(&self) -> String {
        pretty(self)
    }

    /// Returns `true` if every check passed.
    pub fn passes(&self) -> bool {
        self.checks.iter().all(|check| check.pass)
    }

    /// Reads a `summary.json`.
    ///
    /// # Errors
    /// [`RecordError::Unreadable`], [`RecordError::Json`] with the line.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        // Read as bytes: invalid UTF-8 is then reported as invalid JSON, not as a failed read.
        let bytes = std::fs::read(path).map_err(RecordError::unreadable(path))?;
        serde_json::from_slice(&bytes).map_err(|source| RecordError::Json { path: path.to_owned(), source })
    }
}

pub(crate) fn pretty<T: Serialize>(value: &T) -> String {
    // Serialisation fails only for maps whose keys are not text, or if the writer fails; neither can happen for these
    // structs.
    let mut text = serde_json::to_string_pretty(value).expect("plain structs always serialise");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::Scratch;
    use crate::flows::{LabelledSummary, TrafficSummary};
    use crate::folder::ResultFolder;
    use crate::histogram::Histogram;
    use crate::results_hash::results_hash;
    use crate::timing::Timing;

    fn keys(value: &serde_json::Value, path: &str) -> Vec<String> {
        let object = value.pointer(path).and_then(|value| value.as_object()).unwrap();
        object.keys().cloned().collect()
    }

    #[test]
    fn holds_every_key_that_readers_rely_on() {
        let value: serde_json::Value = serde_json::from_str(&Summary::default().to_json()).unwrap();
        let expect = |path: &str, names: &[&str]| {
            let found = keys(&value, path);
            for name in names {
                assert!(found.iter().any(|key| key == name), "{path}/{name} is missing from {found:?}");
            }
        };
        expect("/scenario", &["name", "hash", "seed", "version"]);
        expect("", &["partial", "window", "simulated_ps", "events", "packet_hops", "delay_ns", "goodput"]);
        expect("", &["pauses", "links", "deadlock", "checks", "warnings", "results_hash", "bytes", "flows"]);
        expect("/packets", &["injected", "created_in_network", "delivered_whole", "delivered_trimmed"]);
        expect("/packets", &["returned_to_source", "consumed", "dropped", "in_flight", "closed"]);
        expect("/event_counts", &["bounces", "marks", "trims", "detours", "retransmissions"]);
        expect("/flows", &["started", "completed", "fct_ns", "slowdown"]);
        expect("/pauses", &["count", "resumes", "total_ps", "max_ps"]);
        assert!(value["deadlock"].is_null());
    }

    #[test]
    fn survives_a_round_trip_and_prints_keys_in_order() {
        let mut histogram = Histogram::new();
        [1_500u64, 2_000, 100_000].iter().for_each(|&ps| histogram.record(ps));
        let mut summary = Summary { delay_ns: Distribution::from_ps(&histogram), ..Summary::default() };
        summary.packets.dropped.insert("tail".into(), 2);
        summary.packets.dropped.insert("link_failed".into(), 1);
        summary.deadlock = Some(Deadlock {
            closed_ps: 5,
            cycle: vec![DeadlockEdge { node: "leaf1".into(), port: 2, class: 3, peer: "spine1".into() }],
        });
        let text = summary.to_json();
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
        let at = |key: &str| text.find(key).unwrap_or_else(|| panic!("{key} is missing"));
        assert!(at("\"scenario\"") < at("\"partial\"") && at("\"packets\"") < at("\"event_counts\""));
        assert!(at("\"link_failed\"") < at("\"tail\""));
        assert!(at("\"results_hash\"") > at("\"warnings\""));
        let delay = summary.delay_ns.unwrap();
        assert_eq!((delay.min, delay.max, delay.mean), (1.5, 100.0, 34.5));
    }

    #[test]
    fn labels_stand_beside_the_other_numbers_of_their_entry_or_not_at_all() {
        let labelled_summary = LabelledSummary { label: "web".into(), timeouts: 3, ..LabelledSummary::default() };
        let entry = TrafficSummary { started: 2, labelled: Some(labelled_summary), ..TrafficSummary::default() };
        let of = |entry: &TrafficSummary| {
            let mut summary = Summary::default();
            summary.flows.by_traffic = vec![entry.clone()];
            let text = summary.to_json();
            assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
            serde_json::from_str::<serde_json::Value>(&text).unwrap()["flows"]["by_traffic"][0].clone()
        };
        let value = of(&entry);
        assert_eq!((&value["label"], &value["started"], &value["timeouts"]), (&"web".into(), &2.into(), &3.into()));
        let value = of(&TrafficSummary { labelled: None, ..entry });
        assert!(value["started"] == 2 && value.get("label").is_none() && value.get("timeouts").is_none());
    }

    #[test]
    fn a_finished_folder_verifies_against_its_own_hash() {
        let scratch = Scratch::new("finish");
        let run = |name: &str, wall_s: f64| {
            let target = scratch.0.join(name);
            let folder = ResultFolder::create(&target).unwrap();
            folder.write("flows.txt", b"flows").unwrap();
            let mut summary = Summary { events: 7, ..Summary::default() };
            let timing = Timing { wall_s, ..Timing::default() };
            folder.finish(&mut summary, &timing).unwrap();
            assert_eq!(results_hash(&target).unwrap(), summary.results_hash);
            assert_eq!(Summary::read(&target.join("summary.json")).unwrap(), summary);
            summary.results_hash
        };
        assert_eq!(run("a", 1.0), run("b", 2.0), "timing does not count");
    }

    #[test]
    fn a_broken_summary_names_file_and_line() {
        let scratch = Scratch::new("summary-broken");
        let path = scratch.0.join("summary.json");
        std::fs::write(&path, "{\n  \"scenario\": 3\n}").unwrap();
        let error = Summary::read(&path).unwrap_err().to_string();
        assert!(error.contains("summary.json: ") && error.contains("line 2"), "{error}");
        std::fs::write(&path, b"{\n  \"\xff\": 3\n}").unwrap();
        let error = Summary::read(&path).unwrap_err();
        assert!(matches!(error, RecordError::Json { .. }) && !error.is_machine_failure(), "{error}");
    }
}
