//! Figures 1 and 2, and a source that ignores pauses: two senders share one congested port.

use super::series::{DESTINATION, SIMPLE, Series};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::{Choice, FLORAX_FIG1, FLORAX_FIG2, FLORAX_NONCONF, Source};
use crate::trial::Trial;
use text::{Layout, table};
use units::Time;

const FLOW_CONTROL: &str = "switch.flow_control";
const WARM_UP: Time = Time::from_ms(100);
const MEASURED: &str = "the paper only compares: the other side is what was offered or measured";

macro_rules! choices {
    ($source:ident $(, $own:expr)*) => {
        &[
            $($own,)*
            Choice { source: &$source, key: "switch.queue", alternatives: &["\"50 packets\"", "\"200 packets\""] },
            Choice { source: &$source, key: "switch.flow_control.upper", alternatives: &["0.3", "0.7"] },
            Choice { source: &$source, key: "switch.flow_control.lower", alternatives: &["0.1", "0.4"] },
            Choice { source: &$source, key: "switch.flow_control.max_upper", alternatives: &["0.6", "0.9"] },
            Choice { source: &$source, key: "switch.flow_control.raise", alternatives: &["0", "0.3"] },
            Choice { source: &$source, key: "switch.flow_control.expiry", alternatives: &["5ms", "15ms", "100ms"] },
            Choice { source: &$source, key: "switch.flow_control.burst_gap", alternatives: &["2ms", "50ms"] },
            Choice { source: &$source, key: "switch.flow_control.grace", alternatives: &["0s", "1ms"] },
        ]
    };
}

/// Parameters of figure 1 that the publication does not specify, with alternative values.
pub const FIG1_CHOICES: &[Choice] =
    choices!(FLORAX_FIG1, Choice { source: &FLORAX_FIG1, key: "fabric.file", alternatives: &["fig1-fast.json"] });
/// Parameters of figure 2 that the publication does not specify, with alternative values.
pub const FIG2_CHOICES: &[Choice] = choices!(FLORAX_FIG2);
/// Parameters of the experiment with a nonconforming source that the publication does not specify, with alternative
/// values.
pub const NONCONF_CHOICES: &[Choice] = choices!(FLORAX_NONCONF);

/// Returns the payload rate for a wire rate in these scenarios: 1472 of 1538 wire bytes are payload.
fn payload(mbps: f64) -> f64 {
    mbps * 1472.0 / 1538.0
}

/// Runs `source` with each of `variants` (name, overrides), and shows the payload rate of each traffic entry.
fn under(
    trial: &mut Trial,
    source: &Source,
    entries: &[&str],
    variants: &[(&str, &[(&str, &str)])],
) -> Result<Vec<Series>, Failure> {
    let (mut runs, mut rows) = (Vec::new(), Vec::new());
    for (name, changes) in variants {
        let changes: Vec<(&str, String)> = changes.iter().map(|&(key, value)| (key, value.to_owned())).collect();
        let run = Series::run(trial, source, &changes)?;
        let mut row = vec![(*name).to_owned()];
        row.extend((0..entries.len()).map(|entry| format!("{:.1}", run.mbps_after(entry, WARM_UP))));
        let pressure = run.pressure();
        row.extend([run.lost(), pressure.xoffs, pressure.xons, pressure.control_bytes].map(|count| count.to_string()));
        rows.push(row);
        runs.push(run);
    }
    let mut heads = vec!["flow control"];
    heads.extend(entries);
    heads.extend(["lost", "XOFFs", "XONs", "control bytes"]);
    trial.show("  payload in Mbps after 100 ms; frames lost, and calls of the whole run\n");
    trial.show(&table(&heads, &rows, 1, Layout::Fixed, 2));
    Ok(runs)
}

/// Runs the experiment `florax/fig1`.
pub fn fig1(trial: &mut Trial) -> Result<(), Failure> {
    let entries = ["S1 to D1", "S2 to D1", "S2 to D2"];
    let simple = [(FLOW_CONTROL, SIMPLE.1)];
    let destination = [(FLOW_CONTROL, DESTINATION.1)];
    let none = [(FLOW_CONTROL, "\"none\"")];
    let variants: [(&str, &[(&str, &str)]); 4] =
        [("per flow", &[]), ("destination", &destination), ("simple", &simple), ("none", &none)];
    let runs = under(trial, &FLORAX_FIG1, &entries, &variants)?;
    let get = |run: usize, entry| runs[run].mbps_after(entry, WARM_UP);
    let (modest, apart) = (payload(10.0), payload(50.0));
    let equal = |name: &str, ours: f64, offered: f64| {
        Check::new(name, "Mbps", ours, Relation::Equal, offered, 0.05 * offered).note(MEASURED)
    };
    let below = |name: &str, ours: f64, offered: f64| {
        Check::new(name, "Mbps", ours, Relation::Below, 0.9 * offered, 0.0).note(MEASURED)
    };
    trial.check(equal("per flow: S2 to D2 is not touched", get(0, 2), apart));
    trial.check(equal("per flow: S2 to D1 is not touched", get(0, 1), modest));
    trial.check(equal("by destination: S2 to D2 is not touched", get(1, 2), apart));
    trial.check(below("by destination: S2 to D1 is degraded", get(1, 1), modest));
    trial.check(below("simple: S2 to D2 is stopped for S1 to D1", get(2, 2), apart));
    trial.check(below("simple: S2 to D1 is stopped for S1 to D1", get(2, 1), modest));
    for (run, (name, _)) in variants.iter().enumerate().take(3) {
        let lost = runs[run].lost() as f64;
        trial.check(Check::exact(format!("{name}: frames lost"), "frames", lost, Relation::Equal, 0.0).consistency());
    }
    let lost = runs[3].lost() as f64;
    trial.check(
        Check::exact("negative control: frames lost without flow control", "frames", lost, Relation::Above, 0.0)
            .consistency(),
    );
    Ok(())
}

/// Runs the experiment `florax/fig2`.
pub fn fig2(trial: &mut Trial) -> Result<(), Failure> {
    let traced = ("record.trace", "{ ports = [\"A:D\"] }");
    let variants: [(&str, &[(&str, &str)]); 2] =
        [("with agreements", &[traced]), ("without", &[("committed_rate", "[]"), traced])];
    let runs = under(trial, &FLORAX_FIG2, &["S1", "S2"], &variants)?;
    let get = |run: usize, entry| runs[run].mbps_after(entry, WARM_UP);
    let setup = trial.setup(&FLORAX_FIG2, &[])?;
    let node = |name: &str| setup.fabric.find(name).map(|node| node.0);
    // Rate of the flow of `source` in Mbps at the first backpressure decision; `None` if this decision does not pause
    // the flow.
    let first = |run: usize, source: &str| {
        let at = runs[run].xoffs.first().map(|xoff| xoff.0);
        let result = runs[run].xoffs.iter().filter(|xoff| Some(xoff.0) == at && xoff.1 == node(source));
        result.map(|xoff| xoff.2 as f64 / 1e6).next()
    };
    let chosen = |name: &str, run, source| {
        let count = f64::from(u8::from(first(run, source).is_some()));
        Check::exact(name, "XOFFs", count, Relation::Equal, 1.0)
    };
    let spared = |name: &str, run, source| {
        let count = f64::from(u8::from(first(run, source).is_some()));
        Check::exact(name, "XOFFs", count, Relation::Equal, 0.0)
    };
    trial.check(chosen("without agreements S1, which sends more, is chosen first", 1, "S1"));
    trial.check(spared("without agreements S2 is not", 1, "S2"));
    trial.check(chosen("with agreements S2, which sends more than was agreed, is chosen first", 0, "S2"));
    trial.check(spared("with agreements S1, which conforms, is not", 0, "S1"));
    let share = "max-min share of 110 Mbps at the rates that were sent; its tolerance: 5 % for what is estimated";
    let rate = |name: &str, run, source, fair: f64| {
        let result = first(run, source).unwrap_or(f64::NAN);
        Check::new(name, "Mbps", result, Relation::Equal, fair, 0.05 * fair).note(share)
    };
    trial.check(rate("without agreements S1 is notified", 1, "S1", 80.0));
    trial.check(rate("with agreements S2 is notified", 0, "S2", 20.0));
    let name = "S1 gets more with its agreement than without";
    trial.check(Check::new(name, "Mbps", get(0, 0), Relation::Above, get(1, 0), 0.0).note(MEASURED));
    let name = "S2 gets less with its agreement than without";
    trial.check(Check::new(name, "Mbps", get(0, 1), Relation::Below, get(1, 1), 0.0).note(MEASURED));
    let lost = runs[0].lost() + runs[1].lost();
    trial.check(Check::exact("frames lost", "frames", lost as f64, Relation::Equal, 0.0).consistency());
    Ok(())
}

/// Runs the experiment `florax/nonconf`.
pub fn nonconf(trial: &mut Trial) -> Result<(), Failure> {
    let simple = [(FLOW_CONTROL, SIMPLE.1)];
    let obedient = [("host.ignore_pause", "[]")];
    let variants: [(&str, &[(&str, &str)]); 3] =
        [("per flow", &[]), ("simple", &simple), ("per flow, S1 obeys", &obedient)];
    let runs = under(trial, &FLORAX_NONCONF, &["S1", "S2"], &variants)?;
    let get = |run: usize, entry| runs[run].mbps_after(entry, WARM_UP);
    let modest = payload(10.0);
    let name = "per flow: S2, which obeys, keeps its 10 Mbps";
    trial.check(Check::new(name, "Mbps", get(0, 1), Relation::Equal, modest, 0.05 * modest));
    let name = "per flow: S1 has what is left of 100 Mbps";
    trial.check(Check::new(name, "Mbps", get(0, 0), Relation::Equal, payload(90.0), 0.05 * payload(90.0)));
    let excess = runs[0].lost_by("nonconforming") as f64;
    trial.check(Check::exact("per flow: frames of its excess lost", "frames", excess, Relation::Above, 0.0));
    let full = (runs[0].lost() - runs[0].lost_by("nonconforming")) as f64;
    trial.check(Check::exact("per flow: frames lost to full buffers", "frames", full, Relation::Equal, 0.0));
    let name = "simple: S2 loses throughput to a source that does not stop";
    trial.check(Check::new(name, "Mbps", get(1, 1), Relation::Below, 0.9 * modest, 0.0).note(MEASURED));
    let lost = runs[2].lost() as f64;
    trial.check(
        Check::exact("negative control: frames lost if S1 obeys", "frames", lost, Relation::Equal, 0.0).consistency(),
    );
    Ok(())
}
