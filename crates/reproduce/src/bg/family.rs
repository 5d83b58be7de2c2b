//! Comparison of flow control mechanisms in two scenarios: head-of-line blocking (figure 1.3) and an incast.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::{Choice, INCAST, SPREADING, Source};
use crate::trial::{Trial, TrialResult};
use text::{Layout, table};

/// The source does not specify thresholds: alternatives for the buffer size and the rate of the links between switches.
pub const CHOICES: &[Choice] = &[
    Choice { source: &SPREADING, key: "switch.buffer", alternatives: &["2MB", "16MB"] },
    Choice { source: &INCAST, key: "fabric.link.edge.rate", alternatives: &["80Gbps", "400Gbps"] },
];

/// Claim of the source about the victim flow, which is checked in both scenarios in addition to zero loss and full
/// utilisation of the congested port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// No expectation: negative control without flow control.
    Control,
    /// Pauses stop all flows on a shared link, including the victim flow, which does not cross the congested port.
    Blocks,
    /// The victim flow is not paused, because pauses distinguish destinations.
    Spares,
}

/// Flow control mechanism: the scenario key to override and its value.
struct Kind {
    name: &'static str,
    key: &'static str,
    value: &'static str,
    claim: Claim,
}

const fn kind(name: &'static str, value: &'static str, claim: Claim) -> Kind {
    Kind { name, key: "switch.flow_control", value, claim }
}

/// Creates an output-driven flow control. It requires a buffer per port, so the whole `switch` table is replaced.
const fn by_output(name: &'static str, value: &'static str, claim: Claim) -> Kind {
    Kind { name, key: "switch", value, claim }
}

/// Thresholds are those of fig1.2.toml if the mechanism has thresholds: XOFF at 100 KB, XON 3 KB below XOFF. A per-port
/// buffer is a tenth of the switch's 4 MB, because the largest switch of the scenarios has nine ports. A pause time of
/// 330 us is close to the maximum at 100 Gbps. Ports react within 3840 bit times as in fig1.2.toml, faster than the
/// standard requires.
const KINDS: [Kind; 7] = [
    kind("none", "\"none\"", Claim::Control),
    kind("PAUSE", "{ kind = \"pause\", xoff = \"100KB\", reaction = \"3840 bit times\" }", Claim::Blocks),
    by_output(
        "pause-at-output",
        "{ queue = \"400KB\", flow_control = { kind = \"pause-at-output\", upper = 0.25, lower = 0.2425, \
         expiry = \"330us\", reaction = \"3840 bit times\" } }",
        Claim::Blocks,
    ),
    kind("PFC", "{ kind = \"pfc\", priorities = [3], xoff = \"100KB\", reaction = \"3840 bit times\" }", Claim::Blocks),
    kind("CBFC", "{ kind = \"cbfc\", priorities = [3] }", Claim::Blocks),
    by_output(
        "destination",
        "{ queue = \"400KB\", flow_control = { kind = \"destination\", upper = 0.25, lower = 0.2425 } }",
        Claim::Spares,
    ),
    by_output(
        "FLORAX",
        "{ queue = \"400KB\", flow_control = { kind = \"florax\", upper = 0.25, lower = 0.2425 } }",
        Claim::Spares,
    ),
];
const MEASURED: &str = "the other side is measured";

/// Results of one flow control mechanism in one scenario.
struct Line {
    kind: &'static Kind,
    /// Goodput in Gbps by traffic entry; the last entry is the victim flow.
    goodput: Vec<f64>,
    result: TrialResult,
}

impl Line {
    fn bystander(&self) -> f64 {
        self.goodput.last().copied().unwrap_or(0.0)
    }
    /// Returns the goodput of the traffic entries that share the congested port.
    fn sharing(&self) -> &[f64] {
        &self.goodput[..self.goodput.len() - 1]
    }
    /// Returns Jain's index (sum x)^2 / (n sum x^2) over the traffic entries that share the congested port.
    fn jain(&self) -> f64 {
        let (sum, squares) = self.sharing().iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        if squares > 0.0 { sum * sum / (self.sharing().len() as f64 * squares) } else { 0.0 }
    }
}

/// Runs `source` with a flow control mechanism, with or without the traffic entries that share the congested port.
fn line(trial: &Trial, source: &Source, kind: &'static Kind, entries: usize, congested: bool) -> Result<Line, Failure> {
    let mut changes = vec![(kind.key, kind.value.to_owned())];
    let sizes: Vec<String> = (0..entries - 1).map(|entry| format!("traffic.{entry}.size")).collect();
    if !congested {
        // With 1 byte each, these flows complete before the measurement interval begins.
        changes.extend(sizes.iter().map(|key| (key.as_str(), "1B".to_owned())));
    }
    let result = trial.run(source, &changes)?;
    let goodput = (0..entries).map(|entry| result.goodput(entry) / 1e9).collect();
    Ok(Line { kind, goodput, result })
}

/// Runs the experiment `bg/family`.
pub fn family(trial: &mut Trial) -> Result<(), Failure> {
    for (name, source, entries) in [("figure 1.3", &SPREADING, 3), ("incast", &INCAST, 8)] {
        let alone = line(trial, source, &KINDS[0], entries, false)?.bystander();
        let lines: Vec<Line> =
            KINDS.iter().map(|kind| line(trial, source, kind, entries, true)).collect::<Result<_, _>>()?;
        let seconds = lines[0].result.summary.simulated_ps as f64 / 1e12;
        let rows: Vec<Vec<String>> = lines
            .iter()
            .map(|line| {
                let result = &line.result;
                vec![
                    line.kind.name.to_owned(),
                    format!("{:.2}", line.bystander()),
                    format!("{:.2}", line.sharing().iter().sum::<f64>()),
                    format!("{:.3}", line.jain()),
                    result.overflowed().to_string(),
                    format!("{:.0}", result.control_frames as f64 / seconds),
                    format!("{:.0}", result.control_frames as f64 * 64.0 / seconds / 1000.0),
                    format!("{:.1}", result.buffer_peak_bytes as f64 / 1000.0),
                ]
            })
            .collect();
        trial.show(&format!("  {name}: goodput in Gbps (the bystander alone: {alone:.2})\n"));
        let header =
            ["", "bystander", "congested", "Jain", "frames lost", "control frames/s", "control kB/s", "buffer kB"];
        trial.show(&table(&header, &rows, 1, Layout::Fixed, 2));
        let capacity = 10.0 * 1000.0 / 1082.0;
        for line in &lines[1..] {
            let kind = line.kind.name;
            let lost = line.result.overflowed() as f64;
            let at = |what: &str| format!("{name}: {kind}: {what}");
            trial.check(Check::exact(at("frames lost to full queues"), "frames", lost, Relation::Equal, 0.0));
            let sum = line.sharing().iter().sum();
            let tolerance = 0.02 * capacity;
            trial.check(
                Check::new(at("the congested port is full"), "Gbps", sum, Relation::Equal, capacity, tolerance)
                    .consistency(),
            );
            let ours = line.bystander();
            trial.check(
                match line.kind.claim {
                    Claim::Control | Claim::Blocks => {
                        let name = at("the bystander, whose path is free, loses more than a tenth");
                        Check::new(name, "Gbps", ours, Relation::Below, 0.9 * alone, 0.0)
                    }
                    Claim::Spares => {
                        let name = at("the bystander, whose destination is another, keeps its rate");
                        Check::new(name, "Gbps", ours, Relation::Equal, alone, 0.01 * alone)
                    }
                }
                .note(MEASURED),
            );
        }
        let none = &lines[0];
        let control = |what: &str| format!("{name}: negative control: without flow control {what}");
        let lost = none.result.overflowed() as f64;
        trial.check(Check::exact(control("frames are lost"), "frames", lost, Relation::Above, 0.0).consistency());
        let name = control("the bystander keeps its rate");
        trial.check(
            Check::new(name, "Gbps", none.bystander(), Relation::Equal, alone, 0.01 * alone)
                .consistency()
                .note(MEASURED),
        );
    }
    Ok(())
}
