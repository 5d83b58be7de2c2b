//! Worst cases as text, JSON and scenario.

use super::{Control, WorstCase};
use crate::Problem;
use serde_json::{Value, json};
use text::numbers::counted;
use text::{Layout, table};
use units::{Bytes, Time};

impl Control {
    /// Name of the control, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Control::Strict => "strict",
            Control::Preemption => "preemption",
            Control::IdealPreemption => "ideal-preemption",
        }
    }
}

/// Returns the worst cases as text.
pub fn shown(problem: &Problem, found: &[WorstCase]) -> String {
    let row = |case: &WorstCase| {
        let spec = &problem.streams[case.stream];
        let mut cells = vec![spec.name.clone(), spec.period.to_string(), Bytes(spec.frame_bytes).to_string()];
        cells.extend(
            [case.least, case.bound, case.delay, case.jitter_bound(), case.jitter].map(|time| time.to_string()),
        );
        let word = match (case.exact, case.jitter_exact) {
            (true, true) => "exact",
            (true, false) => "exact delay",
            (false, _) => "bound",
        };
        cells.push(word.to_owned());
        cells
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    let heading =
        ["stream", "period", "frame", "least", "delay up to", "witness", "jitter up to", "witness", "worst case"];
    let mut text = table(&heading, &rows, 1, Layout::Fixed, 0);
    for case in found.iter().filter(|case| case.may_be_late(problem)) {
        let spec = &problem.streams[case.stream];
        let (name, deadline) = (&spec.name, spec.deadline.unwrap_or(Time::ZERO));
        let proof = if case.delay > deadline { "its witness is late" } else { "its bound exceeds it" };
        text.push_str(&format!("deadline of {name}, {deadline}: {proof}\n"));
    }
    for case in found.iter().filter(|case| !case.settled) {
        let name = &problem.streams[case.stream].name;
        text.push_str(&format!("witness of {name}: frames arrive simultaneously, and their order is not determined\n"));
    }
    let exact = found.iter().filter(|case| case.exact).count();
    text.push_str(&format!("{exact} of {} have an exact worst case", counted(found.len() as u64, "stream")));
    text.push_str(if exact < found.len() {
        "; of the others the worst case is between witness and bound\n"
    } else {
        "\n"
    });
    text
}

/// Returns the worst cases as JSON; times are in picoseconds.
pub fn value(problem: &Problem, found: &[WorstCase], control: Control) -> Value {
    let one = |case: &WorstCase| {
        let phases = problem.streams.iter().zip(&case.witness);
        let phases: serde_json::Map<String, Value> =
            phases.map(|(spec, phase)| (spec.name.clone(), json!(phase.as_ps()))).collect();
        json!({
            "name": problem.streams[case.stream].name,
            "least_delay_ps": case.least.as_ps(),
            "delay_bound_ps": case.bound.as_ps(),
            "jitter_bound_ps": case.jitter_bound().as_ps(),
            "delay_exact": case.exact,
            "jitter_exact": case.jitter_exact,
            "deadline_ps": problem.streams[case.stream].deadline.map(Time::as_ps),
            "within_deadline": !case.may_be_late(problem),
            "witness": {
                "delay_ps": case.delay.as_ps(),
                "jitter_ps": case.jitter.as_ps(),
                "phases_ps": phases,
                "order_determined": case.settled,
                "replayed_ps": case.replayed.as_ps(),
            },
        })
    };
    json!({ "control": control.name(), "streams": found.iter().map(one).collect::<Vec<_>>() })
}

/// Returns the scenario that simulates the witness of `case`. `ends` has source and destination of each stream,
/// `fabric` the file of the fabric.
pub fn scenario(
    problem: &Problem,
    classes: &[u8],
    ends: &[(String, String)],
    case: &WorstCase,
    control: Control,
    fabric: &str,
) -> String {
    let spec = &problem.streams[case.stream];
    let quoted = |text: &str| json!(text).to_string();
    let highest = classes.iter().copied().max().unwrap_or(0);
    let mut text = format!(
        "# Phases at which a frame of {} is delayed by {}: written by tidegate schedule worst-case.\n\
         name = {}\nduration = \"{}ps\"\n\n[fabric]\nkind = \"file\"\nfile = {}\n\n[measure]\njitter = true\n",
        spec.name,
        case.delay,
        quoted(&format!("worst case of {}", spec.name)),
        (case.replayed + case.bound).as_ps(),
        quoted(fabric),
    );
    let fragments = match control {
        Control::Strict => None,
        Control::Preemption => Some("standard"),
        Control::IdealPreemption => Some("ideal"),
    };
    if let Some(fragments) = fragments.filter(|_| classes.iter().any(|&class| class < highest)) {
        text.push_str(&format!("\n[switch]\npreemption = {{ express = [{highest}], fragments = \"{fragments}\" }}\n"));
    }
    for (((spec, &class), (from, to)), phase) in problem.streams.iter().zip(classes).zip(ends).zip(&case.witness) {
        let phase: Time = *phase;
        text.push_str(&format!(
            "\n[[traffic]]\nkind = \"pairs\"\nlabel = {}\npairs = [[{}, {}]]\nprocess = \"periodic\"\n\
             period = \"{}ps\"\nphase = \"{}ps\"\nframe = \"{}B\"\nclass = {class}\n",
            quoted(&spec.name),
            quoted(from),
            quoted(to),
            spec.period.as_ps(),
            phase.as_ps(),
            spec.frame_bytes,
        ));
    }
    text
}
