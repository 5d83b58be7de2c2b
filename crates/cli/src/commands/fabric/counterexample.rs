//! `fabric check --running --counterexample`: scenarios of the counterexamples, each run in the simulator.

use crate::failure::Failure;
use crate::hand_over::{OutputFolder, write_folder};
use crate::interrupt;
use crate::output::{Style, styled};
use fabric::Fabric;
use fabric::files::write_node_link;
use lab::{Run, Way};
use running::reproduce::{Counterexamples, TOPOLOGY_FILE};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use units::Time;

/// Outcome for one counterexample.
pub struct Simulated {
    /// `deadlock` or `starvation`.
    kind: &'static str,
    /// Whether the simulation has the expected outcome; `None` if the simulator cannot express the counterexample.
    reproduced: Option<bool>,
    /// The scenario and its outcome, or the reason.
    text: String,
}

impl Simulated {
    /// Returns the line of the text output.
    pub fn line(&self) -> String {
        let (word, style) = match self.reproduced {
            Some(true) => ("ok  ", Style::Good),
            Some(false) => ("FAIL", Style::Bad),
            None => ("none", Style::Caution),
        };
        format!("  {}  {}\n", styled(word, style), self.text)
    }

    /// Returns the object of the JSON output.
    pub fn json(&self) -> Value {
        json!({ "kind": self.kind, "reproduced": self.reproduced, "text": self.text })
    }
}

/// Writes the scenarios of all counterexamples into `folder` and simulates each.
///
/// # Errors
/// A folder that cannot be written; an interrupted simulation.
pub fn simulate(
    fabric: &Fabric,
    found: Counterexamples,
    folder: &Path,
    force: bool,
) -> Result<Vec<Simulated>, Failure> {
    let Counterexamples { deadlock, starvation } = found;
    let all = [("deadlock", deadlock), ("starvation", starvation)];
    let named = |kind: &str| format!("{kind}.toml");
    let there = |kind: &str| folder.join(named(kind)).display().to_string();
    let (mut simulated, mut scenarios) = (Vec::new(), Vec::new());
    for (kind, found) in all {
        match found {
            Some(Ok(found)) => scenarios.push((kind, found)),
            Some(Err(why)) => {
                let text = format!("the {kind} is not simulated: {why}");
                simulated.push(Simulated { kind, reproduced: None, text });
            }
            None => {}
        }
    }
    if scenarios.is_empty() {
        return Ok(simulated);
    }
    let topology = write_node_link(fabric);
    let mut files = vec![("", TOPOLOGY_FILE.to_owned(), topology.as_str())];
    for (kind, found) in &scenarios {
        files.push(("", named(kind), &found.scenario));
        files.push(("", found.maps_file.to_owned(), &found.maps));
    }
    let files: Vec<(&str, &str, &str)> = files.iter().map(|(of, name, text)| (*of, name.as_str(), *text)).collect();
    let notes = scenarios.iter().map(|(kind, _)| format!("run: tidegate run {}", named(kind)));
    let notes: Vec<String> = notes
        .chain(["thresholds and buffers are not those of the switches; no finding depends on them".to_owned()])
        .collect();
    let place = OutputFolder { folder, kind: "fabric check --counterexample", whole: true, force };
    write_folder(place, &files, &notes)?;
    for (kind, found) in &scenarios {
        let run = Run::read(&folder.join(named(kind)), &[], None, interrupt::stop())?;
        let summary = run.produce(None, &mut model::Unwatched, Way::default(), interrupt::stop())?.summary;
        if summary.partial {
            return Err(Failure::input("interrupted during the simulation of a counterexample", "run it again"));
        }
        let expected: BTreeSet<(String, u32)> =
            found.ports.iter().map(|(node, port)| (node.clone(), u32::from(*port))).collect();
        let (reproduced, text) = if *kind == "deadlock" {
            match summary.deadlock {
                Some(deadlock) => {
                    let cycle: BTreeSet<(String, u32)> =
                        deadlock.cycle.iter().map(|edge| (edge.node.clone(), edge.port)).collect();
                    let at = Time::from_ps(deadlock.closed_ps);
                    let which = if cycle == expected { "this" } else { "another" };
                    (cycle == expected, format!("{}: simulated: {which} cycle closes at {at}", there(kind)))
                }
                None => (false, format!("{}: simulated: no deadlock", there(kind))),
            }
        } else {
            let stall = summary.checks.iter().find(|check| check.name == "stall" && !check.pass);
            match stall {
                Some(stall) => (true, format!("{}: simulated: {}", there(kind), stall.detail)),
                None => (false, format!("{}: simulated: no queue starves", there(kind))),
            }
        };
        simulated.push(Simulated { kind, reproduced: Some(reproduced), text });
    }
    Ok(simulated)
}
