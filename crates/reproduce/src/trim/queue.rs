//! Maximum recirculation queue at the start of an incast, its causes, and the recirculation rate that each switch type
//! needs.

use super::bench::{Changes, START, Switch, inside, join, max_waiting, pairs, range, unlost};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::trial::Trial;
use text::{Layout, table};

/// Maximum recirculation queue in the paper, in packets.
const LONGEST: f64 = 250.0;

fn longest(trial: &Trial, senders: u64, changes: &[(&'static str, String)]) -> Result<f64, Failure> {
    let result = trial.run(START, &join(&[vec![pairs(senders, 16)], changes.to_vec()]))?;
    let (failed, lost) = unlost(&result.summary);
    Ok(if failed + lost > 0 { f64::INFINITY } else { max_waiting(&result.summary) })
}

/// Runs the experiment `trim/maxdod`.
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
        "  what it depends on: 64 senders, each setting with phases within a frame's time and several seeds: least and \
         most\n",
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
    trial.check(
        Check::new(name, "packets", large, Relation::Above, small, 0.0)
            .consistency()
            .note("the other side is measured"),
    );
    wrap(trial)?;
    let unsignalled: Changes = [("switch.overload.pessimistic", "0s"), ("switch.overload.half", "0s")]
        .map(|(key, value)| (key, value.to_owned()))
        .to_vec();
    let name = "negative control: no response to signals: longest queue";
    trial.check(
        Check::new(name, "packets", longest(trial, 64, &unsignalled)?, Relation::AtLeast, 10_000.0, 0.0).consistency(),
    );
    Ok(())
}

/// Checks the 32-bit clock of `switch.p4` across a wrap, 10 us after the start of a lone sender: as listed, its port is
/// pessimistic for 6 us and half for 18 us without a signal.
fn wrap(trial: &mut Trial) -> Result<(), Failure> {
    let trims = |trial: &Trial, timestamp: &str, clock: u32| -> Result<f64, Failure> {
        let own = [("switch.overload.timestamp", timestamp.to_owned()), ("switch.overload.clock", clock.to_string())];
        let result = trial.run(START, &join(&[Switch::SwitchP4.changes(), vec![pairs(1, 1)], own.to_vec()]))?;
        Ok(inside(&result.summary).ingress_trims as f64)
    };
    let before = u32::MAX - 10_000;
    for (timestamp, clock, relation, what) in [
        ("as-listed", before, Relation::Above, "as listed, the clock wraps"),
        ("as-listed", 1_000_000, Relation::Equal, "as listed, the clock does not wrap"),
        ("wrapping", before, Relation::Equal, "by differences, the clock wraps"),
    ] {
        let name = format!("switch.p4, a lone sender, {what}: frames trimmed");
        trial.check(Check::exact(name, "frames", trims(trial, timestamp, clock)?, relation, 0.0).consistency());
    }
    Ok(())
}

/// Tested recirculation rates, as fractions of the line rate (numerator, denominator). Without feedback, the load that
/// is offered to the recirculation ports is 12 times the line rate plus the share of headers (figure 2).
const PARTS: [(u64, u64); 15] = [
    (1, 2),
    (3, 5),
    (7, 10),
    (4, 5),
    (9, 10),
    (1, 1),
    (5, 4),
    (3, 2),
    (2, 1),
    (3, 1),
    (4, 1),
    (6, 1),
    (8, 1),
    (12, 1),
    (14, 1),
];

/// Number of pipelines of the compared switches, each with its own recirculation port.
const PIPELINES: u64 = 4;

/// Returns the overrides for 64 senders to 16 receivers at `gbps`, with random start offsets.
fn start_at(gbps: u64) -> Changes {
    vec![
        pairs(64, 16),
        ("fabric.link.rate", format!("{gbps}Gbps")),
        // The transfer takes the time of 1000 packets at 100 Gbps.
        ("traffic.0.size", format!("{}B", 15_000 * gbps)),
        // Random start offsets within a frame time, because hosts are not synchronised.
        ("traffic.0.jitter", format!("{}ps", 12_160_000 / gbps)),
    ]
}

/// Returns the maximum recirculation queue in packets with 64 senders and 16 receivers, if the recirculation rate is
/// the fraction `part` of the line rate.
fn at_speed(
    trial: &Trial,
    switch: Switch,
    gbps: u64,
    (numerator, denominator): (u64, u64),
    pipelines: u64,
) -> Result<f64, Failure> {
    let rate = gbps * 1000 * numerator / denominator;
    let changes = vec![
        ("switch.overload.recirculation_rate", format!("{rate}Mbps")),
        ("switch.overload.pipelines", pipelines.to_string()),
        ("switch.overload.ports_per_pipeline", (64 / pipelines).to_string()),
    ];
    let result = trial.run(START, &join(&[switch.changes(), start_at(gbps), changes]))?;
    Ok(inside(&result.summary).max_waiting as f64)
}

/// Returns two values. The first is the smallest fraction of the line rate in `parts` such that with this and all
/// larger fractions the recirculation queue does not exceed the paper's maximum: then a recirculation port with a
/// buffer of this size drops no packet. The second is the maximum queue if the recirculation rate equals the line rate.
fn needs(trial: &Trial, switch: Switch, gbps: u64, parts: &[(u64, u64)]) -> Result<(f64, f64), Failure> {
    let mut least = f64::INFINITY;
    let mut with_a_line = None;
    for &part in parts.iter().rev() {
        let longest = at_speed(trial, switch, gbps, part, PIPELINES)?;
        if part == (1, 1) {
            with_a_line = Some(longest);
        }
        if longest > LONGEST {
            break;
        }
        least = part.0 as f64 / part.1 as f64;
    }
    match with_a_line {
        Some(longest) => Ok((least, longest)),
        None => Ok((least, at_speed(trial, switch, gbps, (1, 1), PIPELINES)?)),
    }
}

/// Shows the results of a shared-buffer switch that trims frames which it does not admit, as SONiC switches do. It
/// needs buffer instead of recirculation. Two settings of the queue threshold are shown.
fn shared_buffer(trial: &mut Trial, speeds: &[u64]) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for &gbps in speeds {
        // Queue threshold: static, ten packets; dynamic, 1/8 of the free buffer as in docs/mechanisms/trim.md.
        for egress in ["15KB", "1/8"] {
            let switch = format!(
                "{{ buffer = \"64MB\", egress_threshold = \"{egress}\", overload = {{ kind = \"trim\", \
                 size = \"128B\", header_class = 6, header_full = \"drop\" }} }}"
            );
            let result = trial.run(START, &join(&[vec![("switch", switch)], start_at(gbps)]))?;
            let (failed, lost) = unlost(&result.summary);
            let wait_us = result.summary.delay_ns.map_or(f64::NAN, |delay| delay.max / 1e3);
            rows.push(vec![
                format!("{gbps} Gbps, {egress}"),
                inside(&result.summary).recirculated.to_string(),
                result.summary.event_counts.trims.to_string(),
                format!("{:.1}", result.buffer_peak_bytes as f64 / 1e3),
                format!("{wait_us:.1}"),
            ]);
            let name =
                format!("{gbps} Gbps, shared buffer that trims, a queue of {egress}: frames lost, checks failed");
            trial.check(Check::exact(name, "", (failed + lost) as f64, Relation::Equal, 0.0).consistency());
        }
    }
    trial.show("  a shared buffer that trims (SONiC), by what a queue may hold: nothing is recirculated\n");
    let header = ["", "recirculated", "trims", "buffer at most, KB", "longest delay, us"];
    trial.show(&table(&header, &rows, 1, Layout::Fixed, 2));
    Ok(())
}

/// Runs the experiment `trim/speeds`, which has no counterpart in the paper.
pub fn speeds(trial: &mut Trial) -> Result<(), Failure> {
    const SWITCHES: [Switch; 5] = [Switch::Mod, Switch::Tofino, Switch::SwitchP4, Switch::Tofino2, Switch::Dod];
    let names = SWITCHES.map(Switch::name);
    let speeds: &[u64] = if trial.quick { &[100] } else { &[100, 400, 800] };
    let parts: &[(u64, u64)] = if trial.quick { &[(7, 10), (1, 1), (4, 1)] } else { &PARTS };
    if trial.quick {
        trial.shortened.push("speeds: 100 Gbps instead of 100, 400 and 800; three rates of recirculation".to_owned());
    }
    let (mut queues, mut least, mut gbps_rows) = (Vec::new(), Vec::new(), Vec::new());
    for &gbps in speeds {
        let found: Vec<(f64, f64)> =
            SWITCHES.iter().map(|&switch| needs(trial, switch, gbps, parts)).collect::<Result<_, Failure>>()?;
        let name = format!("{gbps} Gbps");
        queues.push((name.clone(), found.iter().map(|one| one.1).collect::<Vec<f64>>()));
        least.push((name.clone(), found.iter().map(|one| one.0).collect::<Vec<f64>>()));
        let in_gbps = |part: f64| format!("{:.0}", part * gbps as f64);
        let row = std::iter::once(name).chain(found.iter().map(|one| in_gbps(one.0)));
        gbps_rows.push(row.chain(std::iter::once("0".to_owned())).collect::<Vec<String>>());
    }
    trial.show(
        "  64 to 16, recirculation at the rate of the line: longest queue before a recirculation port, packets\n",
    );
    trial.show(&bars("", &names, 12_000.0, &queues));
    trial.show(
        "  the least recirculation with at most 250 packets waiting, in parts of the line; inf: more than was tried\n",
    );
    trial.show(&bars("", &names, 4.0, &least));
    trial.show("  the same, in Gbps a pipeline of sixteen ports: with room for 250 packets none is lost\n");
    let header: Vec<&str> = std::iter::once("").chain(names).chain(std::iter::once("shared buffer")).collect();
    trial.show(&table(&header, &gbps_rows, 1, Layout::Fixed, 2));
    shared_buffer(trial, speeds)?;
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
    let (mirror, tofino) = (of(&least, Switch::Mod), of(&least, Switch::Tofino));
    // A quick run tests only three rates, which do not distinguish the two switch types.
    trial.check_in_full(Check::new(name, "of the line", mirror, Relation::Below, tofino, 0.0).note(note));
    let name = "negative control: 100 Gbps, deflection only: longest queue";
    trial.check(Check::new(name, "packets", of(&queues, Switch::Dod), Relation::AtLeast, 10_000.0, 0.0).consistency());
    Ok(())
}
