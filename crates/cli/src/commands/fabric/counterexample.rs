//! `fabric check --running --counterexample`: writes the counterexamples as scenarios, and runs each in the simulator.

use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Style, styled};
use crate::output_folder::{OutputFolder, finish};
use crate::progress::waiting;
use fabric::Fabric;
use fabric::files::write_node_link;
use lab::{Run, RunOptions};
use record::files::NewFiles;
use record::summary::Summary;
use running::reproduce::{Counterexample, Counterexamples, TOPOLOGY_FILE};
use serde_json::{Value, json};

use std::collections::BTreeSet;
use std::path::Path;
use units::Time;

/// Variant of the deadlock scenario in which all switches have the same thresholds.
const ALTERNATIVE_FILE: &str = "deadlock-uniform.toml";

/// Result of simulating one counterexample.
pub struct Simulated {
    /// Kind of the scenario: `deadlock`, `starvation` or `load`.
    kind: &'static str,
    /// Whether the simulation has the expected outcome; `None` if the counterexample was not simulated to its end.
    reproduced: Option<bool>,
    /// Whether the outcome contradicts the verdict of the check.
    contradicts: bool,
    /// The scenario and its outcome, or the reason why there is no outcome.
    text: String,
    /// Whether the simulation was interrupted.
    pub interrupted: bool,
}

impl Simulated {
    fn without_outcome(kind: &'static str, text: String, interrupted: bool) -> Simulated {
        Simulated { kind, reproduced: None, contradicts: false, text, interrupted }
    }

    /// Returns the result as a line of the text output.
    pub fn line(&self) -> String {
        let (word, style) = match self.reproduced {
            _ if self.contradicts => ("FAIL", Style::Bad),
            Some(true) => ("ok  ", Style::Good),
            _ => ("none", Style::Caution),
        };
        format!("  {}  {}\n", styled(word, style), self.text)
    }

    /// Returns the result as an object of the JSON output.
    pub fn json(&self) -> Value {
        json!({ "kind": self.kind, "reproduced": self.reproduced, "text": self.text })
    }
}

/// Returns the output folder for the scenarios; files of an earlier check in it are removed.
pub fn output_folder(folder: &Path, force: bool) -> OutputFolder<'_> {
    OutputFolder { folder, kind: "fabric check --counterexample", whole: true, force }
}

/// Writes the scenarios of all counterexamples as the files `new`, which replace those of an earlier check, and
/// simulates each scenario. Shows a progress line if `visible`.
///
/// # Errors
/// If the folder cannot be written.
pub fn simulate(
    fabric: &Fabric,
    found: Counterexamples,
    location: &OutputFolder<'_>,
    new: NewFiles<'_>,
    visible: bool,
) -> Result<Vec<Simulated>, Failure> {
    let Counterexamples { deadlock, starvation, load } = found;
    let file = |kind: &str| format!("{kind}.toml");
    let (mut simulated, mut scenarios) = (Vec::new(), Vec::new());
    for (kind, found) in [("deadlock", deadlock), ("starvation", starvation), ("load", load)] {
        match found {
            Some(Ok(found)) => scenarios.push((kind, found)),
            Some(Err(why)) => {
                simulated.push(Simulated::without_outcome(kind, format!("the {kind} is not simulated: {why}"), false));
            }
            None => {}
        }
    }
    let mut names = Vec::new();
    let mut add = |name: String, text: &str| {
        names.push(name.clone());
        new.add(&name, text.as_bytes()).map_err(Failure::of_output)
    };
    if !scenarios.is_empty() {
        add(TOPOLOGY_FILE.to_owned(), &write_node_link(fabric))?;
    }
    let mut notes: Vec<String> = simulated.iter().map(|one| one.text.clone()).collect();
    for (kind, found) in &scenarios {
        add(file(kind), &found.scenario)?;
        if let Some(alternative) = &found.alternative {
            add(ALTERNATIVE_FILE.to_owned(), alternative)?;
        }
        add(found.maps_file.to_owned(), &found.maps)?;
        notes.push(format!(
            "run: tidegate run {} --out RESULT --set 'record.trace={{}}', then: tidegate why RESULT --pauses",
            file(kind)
        ));
        if found.alternative.is_some() {
            notes.push(format!("{ALTERNATIVE_FILE} has the same thresholds at all switches"));
        }
        if !found.ports.is_empty() {
            let ports: Vec<String> = found.ports.iter().map(|(node, port)| format!("{node} port {port}")).collect();
            notes.push(format!("{kind}: the blocked egress ports are {}", ports.join(", ")));
        }
        if found.starved.is_some() {
            notes.push(format!("{}: the check \"stall\" fails and the exit code is 1, as intended", file(kind)));
        }
        notes.extend(found.notes.iter().map(|note| format!("{kind}: {note}")));
    }
    let chosen = "thresholds and buffers are not those of the switches, and all ports but a starved one serve their \
                  queues by weighted round robin; no finding depends on them";
    notes.push(chosen.to_owned());
    finish(location, new, names.iter().map(|name| ("", name.as_str())), &notes)?;
    interrupt::listen();
    for (kind, found) in &scenarios {
        let mut files = vec![file(kind)];
        files.extend(found.alternative.is_some().then(|| ALTERNATIVE_FILE.to_owned()));
        let mut last = None;
        for name in files {
            let bar = waiting("simulating a counterexample", visible);
            let path = location.folder.join(name);
            let run = Run::read(&path, &[], None, interrupt::stop())?;
            let summary = run.produce(None, &mut model::NullWatcher, RunOptions::default(), interrupt::stop())?.summary;
            bar.finish_and_clear();
            let there = path.display();
            if summary.partial {
                let text = format!("{there}: interrupted in the simulation");
                last = Some(Simulated::without_outcome(kind, text, true));
                break;
            }
            let (reproduced, text) = outcome(kind, found, &summary);
            let text = format!("{there}: simulated: {text}");
            let contradicts = *kind == "load" && !reproduced;
            last = Some(Simulated { kind, reproduced: Some(reproduced), contradicts, text, interrupted: false });
            if reproduced {
                break;
            }
        }
        simulated.extend(last);
    }
    Ok(simulated)
}

/// Lists the failed checks of a simulation. A load (flows on random paths) without a deadlock may still lose frames of
/// lossless classes.
fn failed_checks(summary: &Summary) -> String {
    let failed = summary.checks.iter().filter(|check| !check.pass);
    failed.map(|check| format!("; its check {} fails: {}", check.name, check.detail)).collect()
}

/// Compares a simulation with the expected outcome. Returns whether they agree, and a description of the outcome.
fn outcome(kind: &str, found: &Counterexample, summary: &Summary) -> (bool, String) {
    let cycle = summary.deadlock.as_ref().map(|deadlock| {
        let at = Time::from_ps(deadlock.closed_ps);
        let ports: BTreeSet<(&str, u32)> = deadlock.cycle.iter().map(|edge| (edge.node.as_str(), edge.port)).collect();
        (at, ports)
    });
    let stall = summary.checks.iter().find(|check| check.name == "stall" && !check.pass);
    let expected: BTreeSet<(&str, u32)> =
        found.ports.iter().map(|(node, port)| (node.as_str(), u32::from(*port))).collect();
    match (kind, &found.starved) {
        ("deadlock", _) => match cycle {
            Some((at, ports)) if ports == expected => (true, format!("this cycle closes at {at}")),
            Some((at, _)) => (false, format!("another cycle closes at {at}")),
            None => (false, "no deadlock with these flows and thresholds".to_owned()),
        },
        (_, Some(starved)) => {
            // The detail of the check "stall" lists the blocked queues first, then the queues that wait for them.
            let blocked = |detail: &str| detail.split("stopped by these").next().unwrap_or_default().to_owned();
            let location =
                found.ports.first().map(|(node, port)| format!("{node} port {port} class {} ", starved.class));
            let here = |detail: &str| {
                let blocked = blocked(detail);
                location.is_some_and(|location| {
                    [": ", "; "].iter().any(|before| blocked.contains(&format!("{before}{location}")))
                })
            };
            match stall {
                Some(stall) if here(&stall.detail) => (true, format!("{} starves", starved.queue)),
                Some(stall) => (false, format!("another queue than {}: {}", starved.queue, stall.detail)),
                None => (false, format!("{} does not starve with these flows", starved.queue)),
            }
        }
        _ => {
            let flows = text::numbers::counted(found.flows as u64, "flow");
            match (cycle, stall) {
                (Some((at, _)), _) => (false, format!("{flows} on random paths: a cycle closes at {at}")),
                (None, Some(stall)) => (false, format!("{flows} on random paths: {}", stall.detail)),
                (None, None) => (true, format!("{flows} on random paths: no deadlock{}", failed_checks(summary))),
            }
        }
    }
}
