//! The longest recirculation queue while senders start, what it depends on, and which recirculation each switch needs.

use super::bench::{Changes, START, Switch, inside, join, most_waiting, pairs, range, unlost};
use crate::failure::Failure;
use crate::reproduce::check::{Check, Relation};
use crate::reproduce::plot::bars;
use crate::reproduce::trial::Trial;

/// The paper's longest, in packets.
const LONGEST: f64 = 250.0;

fn longest(trial: &Trial, senders: u64, changes: &[(&'static str, String)]) -> Result<f64, Failure> {
    let told = trial.run(START, &join(&[vec![pairs(senders, 16)], changes.to_vec()]))?;
    let (failed, lost) = unlost(&told.summary);
    Ok(if failed + lost > 0 { f64::INFINITY } else { most_waiting(&told.summary) })
}

/// Runs `trim/maxdod`.
///
/// # Errors
/// If the scenario is wrong.
pub fn longest_queue(trial: &mut Trial) -> Result<(), Failure> {
    let step = trial.shorten("numbers of senders", 64, 8);
    let senders: Vec<u64> =
        (1..=64).filter(|count| (count * step).is_multiple_of(64) || matches!(count, 17 | 18)).collect();
    trial.show("  longest recirculation queue while senders start, packets\n");
    let mut rows = Vec::new();
    for &count in &senders {
        let (tofino, two) = (longest(trial, count, &[])?, longest(trial, count, &Switch::SwitchP4.changes())?);
        rows.push((format!("{count} senders"), vec![tofino, two]));
    }
    trial.show(&bars("", &["Tofino", "switch.p4"], LONGEST, &rows));
    for (at, name) in ["Tofino", "switch.p4"].into_iter().enumerate() {
        let most = rows.iter().map(|row| row.1[at]).fold(0.0, f64::max);
        let name = format!("{name}: longest recirculation queue of any number of senders");
        trial.check(Check::new(name, "packets", most, Relation::AtMost, LONGEST, 0.0));
    }
    trial.show(
        "  what it depends on: 64 senders, each setting with phases within a frame's time and several seeds: least and most\n",
    );
    let mut rows = Vec::new();
    let vary: [(&'static str, &[&'static str]); 4] = [
        ("traffic.0.jitter", &["0s", "121ns", "1us", "10us"]),
        ("switch.overload.meter_burst", &["1520B", "12160B", "24320B", "97280B"]),
        ("switch.overload.signal_delay", &["0s", "1us", "2us", "4us"]),
        ("switch.queue", &["8 packets", "12 packets", "20 packets"]),
    ];
    let seeds = trial.shorten("seeds", 5, 1);
    let mut all = Vec::new();
    for (key, values) in vary {
        for value in values {
            let mut found = Vec::new();
            for seed in 1..=seeds {
                let mut changes: Changes = vec![("traffic.0.jitter", "121ns".to_owned()), (key, (*value).to_owned())];
                if key == "traffic.0.jitter" {
                    changes.remove(0);
                }
                changes.push(("seed", seed.to_string()));
                found.push(longest(trial, 64, &changes)?);
            }
            let (least, most) = range(&found);
            let key = key.rsplit('.').next().unwrap_or(key);
            rows.push((format!("{key} {value}"), vec![least, most]));
            all.push((key, *value, most));
        }
    }
    trial.show(&bars("", &["least", "most"], 1000.0, &rows));
    let of =
        |key: &str, value: &str| all.iter().find(|one| one.0 == key && one.1 == value).map_or(f64::NAN, |one| one.2);
    let name = "a larger burst lets more through before meters bite: 64 frames, above 8 frames";
    let (large, small) = (of("meter_burst", "97280B"), of("meter_burst", "12160B"));
    trial.check(Check::new(name, "packets", large, Relation::Above, small, 0.0).note("the other side is measured"));
    let deaf: Changes = [("switch.overload.pessimistic", "0s"), ("switch.overload.half", "0s")]
        .map(|(key, value)| (key, value.to_owned()))
        .to_vec();
    let name = "negative control: no response to signals: longest queue";
    trial.check(Check::new(name, "packets", longest(trial, 64, &deaf)?, Relation::AtLeast, 10_000.0, 0.0));
    Ok(())
}

/// Recirculation that is tried, in parts of the line: numerator, denominator.
const PARTS: [(u64, u64); 10] = [(1, 2), (3, 5), (7, 10), (4, 5), (9, 10), (1, 1), (5, 4), (3, 2), (2, 1), (4, 1)];

/// The longest queue, in packets, of 64 senders into 16 receivers at `gbps`, with this part of the line to recirculate.
fn at_speed(
    trial: &Trial,
    switch: Switch,
    gbps: u64,
    (numerator, denominator): (u64, u64),
    pipelines: u64,
) -> Result<f64, Failure> {
    let rate = gbps * 1000 * numerator / denominator;
    let changes = vec![
        ("fabric.link.rate", format!("{gbps}Gbps")),
        // As long as 1000 packets at 100 Gbps.
        ("traffic.0.size", format!("{}B", 15_000 * gbps)),
        // Phases within a frame's time: hosts are not in step.
        ("traffic.0.jitter", format!("{}ps", 12_160_000 / gbps)),
        ("switch.overload.recirculation_rate", format!("{rate}Mbps")),
        ("switch.overload.pipelines", pipelines.to_string()),
        ("switch.overload.ports_per_pipeline", (64 / pipelines).to_string()),
    ];
    let told = trial.run(START, &join(&[switch.changes(), vec![pairs(64, 16)], changes]))?;
    Ok(inside(&told.summary).most_waiting as f64)
}

/// Runs `trim/speeds`: what the paper does not ask.
///
/// # Errors
/// If the scenario is wrong.
pub fn speeds(trial: &mut Trial) -> Result<(), Failure> {
    const SWITCHES: [Switch; 5] = [Switch::Mod, Switch::Tofino, Switch::SwitchP4, Switch::Tofino2, Switch::Dod];
    let names = SWITCHES.map(Switch::name);
    let speeds: &[u64] = if trial.quick { &[100] } else { &[100, 400, 800] };
    let parts: &[(u64, u64)] = if trial.quick { &[(7, 10), (1, 1), (4, 1)] } else { &PARTS };
    if trial.quick {
        trial.shortened.push("speeds: 100 Gbps instead of 100, 400 and 800; three rates of recirculation".to_owned());
    }
    trial.show(
        "  64 to 16, recirculation at the rate of the line: longest queue before a recirculation port, packets\n",
    );
    let (mut queues, mut needs) = (Vec::new(), Vec::new());
    for &gbps in speeds {
        let (mut queue, mut need) = (Vec::new(), Vec::new());
        for switch in SWITCHES {
            let mut least = f64::INFINITY;
            for &part in parts.iter().rev() {
                let longest = at_speed(trial, switch, gbps, part, 4)?;
                if part == (1, 1) {
                    queue.push(longest);
                }
                if longest > LONGEST {
                    break;
                }
                least = part.0 as f64 / part.1 as f64;
            }
            if queue.len() == need.len() {
                queue.push(at_speed(trial, switch, gbps, (1, 1), 4)?);
            }
            need.push(least);
        }
        queues.push((format!("{gbps} Gbps"), queue));
        needs.push((format!("{gbps} Gbps"), need));
    }
    trial.show(&bars("", &names, 12_000.0, &queues));
    trial.show(
        "  the least recirculation with at most 250 packets waiting, in parts of the line; inf: not even four times\n",
    );
    trial.show(&bars("", &names, 4.0, &needs));
    trial.show("  Tofino by number of pipelines: longest queue at 100 Gbps, packets\n");
    let mut rows = Vec::new();
    for pipelines in if trial.quick { &[4, 8][..] } else { &[2, 4, 8, 16] } {
        let pipelines = *pipelines;
        rows.push((pipelines.to_string(), vec![at_speed(trial, Switch::Tofino, 100, (1, 1), pipelines)?]));
    }
    trial.show(&bars("pipelines", &["Tofino"], 1_000.0, &rows));
    let of = |rows: &[(String, Vec<f64>)], switch: Switch| {
        let at = SWITCHES.iter().position(|&other| other == switch).unwrap_or(0);
        rows.first().map_or(f64::NAN, |row| row.1[at])
    };
    let name = "100 Gbps, mirror-on-drop: needs less to recirculate than Tofino";
    let note = "the other side is measured";
    let (mirror, tofino) = (of(&needs, Switch::Mod), of(&needs, Switch::Tofino));
    trial.check(Check::new(name, "of the line", mirror, Relation::Below, tofino, 0.0).note(note));
    let name = "negative control: 100 Gbps, deflection only: longest queue";
    trial.check(Check::new(name, "packets", of(&queues, Switch::Dod), Relation::AtLeast, 10_000.0, 0.0));
    Ok(())
}
