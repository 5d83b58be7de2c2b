//! `fabric check --running --counterexample`: scenarios of the counterexamples, each run in the simulator.

use crate::failure::Failure;
use crate::hand_over::{OutputFolder, finish};
use crate::interrupt;
use crate::output::{Style, styled};
use fabric::Fabric;
use fabric::files::write_node_link;
use lab::{Run, Way};
use record::files::NewFiles;
use record::summary::Summary;
use running::reproduce::{Counterexample, Counterexamples, TOPOLOGY_FILE};
use serde_json::{Value, json};

use std::collections::BTreeSet;
use std::path::Path;
use units::Time;

/// Outcome for one scenario.
pub struct Simulated {
    /// `deadlock`, `starvation` or `load`.
    kind: &'static str,
    /// Whether the simulation has the expected outcome; `None` if there is no outcome.
    reproduced: Option<bool>,
    /// The scenario and its outcome, or the reason.
    text: String,
    /// The simulation was interrupted.
    pub interrupted: bool,
}

impl Simulated {
    fn without_outcome(kind: &'static str, text: String, interrupted: bool) -> Simulated {
        Simulated { kind, reproduced: None, text, interrupted }
    }

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

/// Returns the description of the output folder.
pub fn place(folder: &Path, force: bool) -> OutputFolder<'_> {
    OutputFolder { folder, kind: "fabric check --counterexample", whole: true, force }
}

/// Writes all scenarios into the folder `new`, which replace those of an earlier check, and simulates each.
///
/// # Errors
/// A folder that cannot be written.
pub fn simulate(
    fabric: &Fabric,
    found: Counterexamples,
    place: &OutputFolder<'_>,
    new: NewFiles<'_>,
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
        add(found.maps_file.to_owned(), &found.maps)?;
        notes.push(format!("run: tidegate run {}", file(kind)));
        notes.extend(found.notes.iter().map(|note| format!("{kind}: {note}")));
    }
    notes.push("thresholds and buffers are not those of the switches; no finding depends on them".to_owned());
    finish(place, new, names.iter().map(|name| ("", name.as_str())), &notes)?;
    interrupt::listen();
    for (kind, found) in &scenarios {
        let path = place.folder.join(file(kind));
        let run = Run::read(&path, &[], None, interrupt::stop())?;
        let summary = run.produce(None, &mut model::Unwatched, Way::default(), interrupt::stop())?.summary;
        let there = path.display();
        if summary.partial {
            simulated.push(Simulated::without_outcome(kind, format!("{there}: interrupted in the simulation"), true));
            continue;
        }
        let (reproduced, text) = outcome(kind, found, &summary);
        let text = format!("{there}: simulated: {text}");
        simulated.push(Simulated { kind, reproduced: Some(reproduced), text, interrupted: false });
    }
    Ok(simulated)
}

/// Compares a simulation with the expectation.
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
            None => (false, "no deadlock".to_owned()),
        },
        (_, Some(starved)) => {
            let place = found.ports.first().map(|(node, port)| format!("{node} port {port} class {} ", starved.class));
            let here = |detail: &str| place.is_some_and(|place| detail.contains(&place));
            match stall {
                Some(stall) if here(&stall.detail) => (true, format!("{} starves", starved.queue)),
                Some(stall) => (false, format!("another queue than {}: {}", starved.queue, stall.detail)),
                None => (false, format!("{} does not starve", starved.queue)),
            }
        }
        _ => {
            let flows = text::numbers::counted(found.flows as u64, "flow");
            match (cycle, stall) {
                (Some((at, _)), _) => (false, format!("{flows} on random paths: a cycle closes at {at}")),
                (None, Some(stall)) => (false, format!("{flows} on random paths: {}", stall.detail)),
                (None, None) => (true, format!("{flows} on random paths: no deadlock")),
            }
        }
    }
}
