//! Tofino 2, which reads the length of the egress queue at ingress: the estimate of section 3.

use super::bench::{Changes, START, Switch, inside, join, pairs, range, unlost};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::trial::Trial;
use text::{Layout, table};

/// Returns the changes for a switch with eight pipelines of eight ports.
fn eight() -> Changes {
    let ports = [("switch.overload.pipelines", "8"), ("switch.overload.ports_per_pipeline", "8")];
    join(&[Switch::Tofino2.changes(), ports.map(|(key, value)| (key, value.to_owned())).to_vec()])
}

/// Largest number of deflected frames, and longest recirculation queue, of each seed.
fn deflected(trial: &mut Trial, receivers: u64, jitter: &str, seeds: u64) -> Result<Vec<(f64, f64)>, Failure> {
    let mut found = Vec::new();
    for seed in 1..=seeds {
        let own = vec![pairs(64, receivers), ("traffic.0.jitter", jitter.to_owned()), ("seed", seed.to_string())];
        let result = trial.run(START, &join(&[eight(), own, vec![("duration", "3ms".to_owned())]]))?;
        let (failed, lost) = unlost(&result.summary);
        let name = format!("64 to {receivers}, jitter {jitter}, seed {seed}: checks of the run failed, frames lost");
        trial.check(Check::exact(name, "", (failed + lost) as f64, Relation::Equal, 0.0).consistency());
        let pipelines = inside(&result.summary);
        found.push((pipelines.recirculated as f64, pipelines.max_waiting as f64));
    }
    Ok(found)
}

/// Runs the experiment `trim/tofino2`.
pub fn tofino2(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = trial.shorten("seeds", 5, 2);
    let mut rows = Vec::new();
    for (receivers, jitter, phases) in [
        (1, "0s", "synchronised senders"),
        (1, "121ns", "senders with random phases"),
        (16, "121ns", "senders with random phases"),
    ] {
        // Runs of synchronised senders do not depend on the seed.
        let found = deflected(trial, receivers, jitter, if jitter == "0s" { 1 } else { seeds })?;
        let deflected: Vec<f64> = found.iter().map(|seed| seed.0).collect();
        let queues: Vec<f64> = found.iter().map(|seed| seed.1).collect();
        let ((least_deflected, most_deflected), (least, most)) = (range(&deflected), range(&queues));
        let label = format!("64 to {receivers}, {phases}");
        let span = |least: f64, most: f64| format!("{least:.0} to {most:.0}");
        rows.push(vec![label.clone(), span(least_deflected, most_deflected), span(least, most)]);
        let name = format!("{label}: longest recirculation queue of any seed");
        let check = Check::new(name, "packets", most, Relation::Equal, 4.0, 1.0);
        trial.check(check.note("\"about 4 packets each\"; 1: the packet that is being sent"));
        if receivers == 1 {
            let name = format!("{label}: frames deflected, of any seed");
            trial.check(Check::exact(name, "frames", most_deflected, Relation::AtMost, 32.0));
        }
    }
    trial.show("  eight pipelines of eight ports, over seeds\n");
    trial.show(&table(&["", "frames deflected", "longest queue"], &rows, 1, Layout::Fixed, 2));
    let of_stages = |trial: &Trial, stages: u32| -> Result<f64, Failure> {
        let own = vec![pairs(64, 1), ("switch.overload.stages", stages.to_string())];
        Ok(inside(&trial.run(START, &join(&[eight(), own]))?.summary).recirculated as f64)
    };
    let name = "negative control: 64 to 1, synchronised senders, eight stages after the read: frames deflected";
    trial.check(Check::exact(name, "frames", of_stages(trial, 8)?, Relation::Above, 32.0).consistency());
    let name = "64 to 1, synchronised senders, without stages after the read: frames deflected";
    trial.check(Check::exact(name, "frames", of_stages(trial, 0)?, Relation::Below, 32.0).consistency());
    Ok(())
}
