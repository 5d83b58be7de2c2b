//! Section V, without transport protocol: drop rates, table I, figures 1, 7 and 8.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::registry::{Choice, PABO_EXAMPLE, PABO_TREE};
use crate::trial::{Trial, TrialResult, finish, simulation};
use fabric::{Fabric, NodeId};
use model::{QueueSample, Watcher};
use record::bounces::BounceSummary;
use text::{Layout, table as columns};
use units::Time;

/// The source does not specify the propagation delay of links.
pub const DROP_CHOICES: &[Choice] =
    &[Choice { source: &PABO_TREE, key: "fabric.link.delay", alternatives: &["0.01us", "0.5us"] }];

/// The source does not specify the return path; in a tree both rules select the same path.
pub const TABLE_CHOICES: &[Choice] = &[
    Choice { source: &PABO_TREE, key: "switch.overload.return", alternatives: &["source-lookup"] },
    Choice { source: &PABO_TREE, key: "fabric.link.delay", alternatives: &["0.01us", "0.5us"] },
];

/// Degrees of congestion: name, and packets per burst.
pub const SEVERITIES: [(&str, u64); 3] = [("mild", 500), ("moderate", 1500), ("severe", 2500)];
/// Number of frames per burst. The paper's generator sends one packet more than stated.
const FRAMES: &str = "traffic.0.frames_per_burst";
const BURSTS: u64 = 5;
/// Capacity of each of the two queues of a port, in packets.
const ROOM: u64 = 500;

/// Returns the overrides for bursts of `packets` packets with `seed`.
pub fn severity(packets: u64, seed: u64) -> Vec<(&'static str, String)> {
    vec![(FRAMES, (packets + 1).to_string()), ("seed", seed.to_string())]
}

/// Returns the overrides for drop-tail switches without PABO, in which each port has the same total buffer in a single
/// queue.
pub fn without_pabo(packets: u64) -> Vec<(&'static str, String)> {
    let mut changes = severity(packets, 1);
    changes.push(("switch.overload", "\"drop\"".to_owned()));
    changes.push(("switch.queue", "\"1000 packets\"".to_owned()));
    changes
}

pub fn bounces(result: &TrialResult) -> BounceSummary {
    result.summary.bounces.clone().unwrap_or_default()
}

/// Returns the number of bounces at the switch `node`.
fn at(bounces: &BounceSummary, node: &str) -> u64 {
    bounces.switches.iter().find(|switch| switch.node == node).map_or(0, |switch| switch.bounces)
}

pub fn lost(result: &TrialResult) -> u64 {
    result.summary.packets.dropped_total()
}

pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { f64::NAN } else { 100.0 * part as f64 / whole as f64 }
}

/// Runs the experiment `pabo/drop`.
pub fn drop_rates(trial: &mut Trial) -> Result<(), Failure> {
    for ((severity_name, packets), paper) in SEVERITIES.into_iter().zip([0.13, 44.46, 53.34]) {
        let result = trial.run(&PABO_TREE, &without_pabo(packets))?;
        let injected = result.summary.packets.injected;
        // Three flows share a link with the rate of one flow, so that two thirds of each burst must be queued.
        let expected = BURSTS * (2 * (packets + 1)).saturating_sub(2 * ROOM);
        let name = |what: &str| format!("{severity_name}, without PABO: {what}");
        trial.check(
            Check::exact(name("frames lost"), "frames", lost(&result) as f64, Relation::Equal, expected as f64)
                .consistency(),
        );
        let rate = percent(lost(&result), injected);
        // Tolerance: half a unit of the second decimal place, because the paper prints two decimal places.
        trial.check(Check::new(name("drop rate at S7"), "%", rate, Relation::Equal, paper, 0.005));
        let none = result.summary.bounces.is_none();
        trial.check(
            Check::exact(name("runs in which a frame bounced"), "runs", f64::from(!none), Relation::Equal, 0.0)
                .consistency(),
        );
        let with = trial.run(&PABO_TREE, &severity(packets, 1))?;
        let name = format!("{severity_name}, with PABO: frames lost");
        trial.check(Check::exact(name, "frames", lost(&with) as f64, Relation::Equal, 0.0));
    }
    Ok(())
}

/// Shares in %, one per seed. The check compares their mean with the paper's share; its note has the share that
/// deviates most.
struct Shares(Vec<f64>);

impl Shares {
    fn check(&self, name: String, paper: f64, tolerance: f64) -> Check {
        let mean = self.0.iter().sum::<f64>() / self.0.len() as f64;
        let distance = |share: &f64| (share - paper).abs();
        let worst = self.0.iter().copied().max_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(f64::NAN);
        let count = self.0.len();
        let note = format!(
            "the furthest of {count} seeds, whose mean is {mean:.2}; {tolerance} points are allowed, as seeds differ \
             by 0.1"
        );
        Check::new(name, "%", worst, Relation::Equal, paper, tolerance).note(note)
    }
}

fn seeds(trial: &mut Trial) -> u64 {
    trial.shorten("seeds", 5, 2)
}

/// Runs the experiment `pabo/table1`.
pub fn table(trial: &mut Trial) -> Result<(), Failure> {
    let papers: [&[f64]; 3] = [&[43.45, 56.55], &[14.73, 85.27], &[8.82, 84.14, 7.04]];
    let seeds = seeds(trial);
    for ((name, packets), paper) in SEVERITIES.into_iter().zip(papers) {
        let mut runs = Vec::new();
        for seed in 1..=seeds {
            runs.push(trial.run(&PABO_TREE, &severity(packets, seed))?);
        }
        for (distance, &paper) in paper.iter().enumerate() {
            let share = |result: &TrialResult| {
                let bounces = bounces(result);
                percent(bounces.by_max_distance.get(distance).copied().unwrap_or(0), bounces.delivered)
            };
            let shares = Shares(runs.iter().map(share).collect());
            trial.check(shares.check(format!("{name}: share at distance {distance}"), paper, 0.3));
        }
        let beyond = |result: &TrialResult| bounces(result).by_max_distance.iter().skip(paper.len()).sum::<u64>();
        let beyond: u64 = runs.iter().map(beyond).sum();
        let check = Check::exact(
            format!("{name}: frames at a greater distance"),
            "frames",
            beyond as f64,
            Relation::Equal,
            0.0,
        );
        trial.check(check);
        let all: u64 = runs.iter().map(lost).sum();
        let check = Check::exact(format!("{name}: frames lost"), "frames", all as f64, Relation::Equal, 0.0);
        trial.check(check.consistency());
        let failed: u64 = runs.iter().map(TrialResult::failed_checks).sum();
        let what = format!("{name}: checks of the runs themselves that fail");
        trial.check(Check::exact(what, "checks", failed as f64, Relation::Equal, 0.0).consistency());
    }
    // Negative control for the bounce probability: if switches bounce only at full queues, the shares differ from table
    // I.
    let mut changes = severity(500, 1);
    changes.push(("switch.overload.theta", "1".to_owned()));
    let full_only = bounces(&trial.run(&PABO_TREE, &changes)?);
    let share = percent(full_only.by_max_distance.get(1).copied().unwrap_or(0), full_only.delivered);
    let name = "negative control: mild, bouncing only when the queue is full: share at distance 1";
    let note = "off the table by more than its tolerance";
    trial.check(Check::new(name, "%", share, Relation::Below, 56.55, 0.3).consistency().note(note));
    Ok(())
}

/// Runs the experiment `pabo/fig7a`.
pub fn per_switch(trial: &mut Trial) -> Result<(), Failure> {
    let names: Vec<String> = (1..=7).map(|number| format!("S{number}")).collect();
    let mut rows = Vec::new();
    let bouncing: [&[usize]; 3] = [&[7], &[4, 5, 6, 7], &[1, 2, 3, 4, 5, 6, 7]];
    for ((name, packets), bouncing) in SEVERITIES.into_iter().zip(bouncing) {
        let result = trial.run(&PABO_TREE, &severity(packets, 1))?;
        let bounces = bounces(&result);
        let counts: Vec<u64> = names.iter().map(|node| at(&bounces, node)).collect();
        rows.push([vec![name.to_owned()], counts.iter().map(u64::to_string).collect()].concat());
        for (number, &count) in (1..).zip(&counts) {
            let relation = if bouncing.contains(&number) { Relation::Above } else { Relation::Equal };
            trial.check(Check::exact(format!("{name}: bounces at S{number}"), "bounces", count as f64, relation, 0.0));
        }
        let lost = lost(&result) as f64;
        trial.check(Check::exact(format!("{name}: frames lost"), "frames", lost, Relation::Equal, 0.0).consistency());
        let without = trial.run(&PABO_TREE, &without_pabo(packets))?;
        let bounces = without.summary.event_counts.bounces as f64;
        let what = format!("negative control: {name}: bounces without PABO");
        trial.check(Check::exact(what, "bounces", bounces, Relation::Equal, 0.0).consistency());
    }
    trial.show("  bounces by switch\n");
    let head: Vec<&str> = std::iter::once("").chain(names.iter().map(String::as_str)).collect();
    trial.show(&columns(&head, &rows, 1, Layout::Fixed, 2));
    Ok(())
}

/// Runs the experiment `pabo/fig7b`.
pub fn total_hops(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = seeds(trial);
    let within = |bounces: &BounceSummary, hops: usize| {
        percent(bounces.by_total_hops.iter().take(hops + 1).sum(), bounces.delivered)
    };
    let mut shown: Vec<BounceSummary> = Vec::new();
    for ((name, packets), (hops, paper)) in
        SEVERITIES.into_iter().zip([(5, Some(100.0)), (11, None), (11, Some(86.64))])
    {
        let mut shares = Vec::new();
        for seed in 1..=seeds {
            let bounces = bounces(&trial.run(&PABO_TREE, &severity(packets, seed))?);
            shares.push(within(&bounces, hops));
            if seed == 1 {
                shown.push(bounces);
            }
        }
        if let Some(paper) = paper {
            trial.check(Shares(shares).check(format!("{name}: frames of at most {hops} hops"), paper, 0.3));
        }
    }
    trial.show("  share of frames, in %, that crossed at most so many switches\n");
    let row = |hops: usize| (hops.to_string(), shown.iter().map(|bounces| within(bounces, hops)).collect());
    let rows: Vec<(String, Vec<f64>)> = (3..=25).step_by(2).map(row).collect();
    trial.show(&bars("hops", &["mild", "moderate", "severe"], 100.0, &rows));
    let without = trial.run(&PABO_TREE, &{
        let mut changes = severity(2500, 1);
        // Negative control: with queues that hold all packets, no packet bounces.
        changes.push(("switch.queue", "\"100000 packets\"".to_owned()));
        changes
    })?;
    let name = "negative control: severe, room for everything: frames of more than 3 hops";
    let longer = bounces(&without).by_total_hops.iter().skip(4).sum::<u64>();
    trial.check(Check::exact(name, "frames", longer as f64, Relation::Equal, 0.0).consistency());
    Ok(())
}

/// Samples of all queues, and bytes sent by each sampled port.
#[derive(Default)]
struct SampleSeries {
    queues: Vec<QueueSample>,
    links: Vec<(NodeId, u16, u64)>,
}

impl Watcher for SampleSeries {
    fn queue(&mut self, sample: QueueSample) {
        self.queues.push(sample);
    }
    fn link(&mut self, _at: Time, node: NodeId, port: u16, bytes: u64, _share: f64) {
        self.links.push((node, port, bytes));
    }
}

impl SampleSeries {
    /// Returns the samples (time and number of frames) of one of the two queues at the port from `node` to `peer`: the
    /// queue for bounced packets or the queue for normal packets.
    fn of(&self, fabric: &Fabric, node: &str, peer: &str, bounced: bool) -> Vec<(Time, u64)> {
        let found = fabric.find(node).zip(fabric.find(peer));
        let Some((node, port)) = found.and_then(|(node, peer)| Some((node, fabric.port_towards(node, peer)?))) else {
            return Vec::new();
        };
        let wanted = |sample: &&QueueSample| sample.node == node && sample.port == port && sample.bounced == bounced;
        self.queues.iter().filter(wanted).map(|sample| (sample.at, sample.frames)).collect()
    }

    /// Returns the number of bytes that `node` sent to `peer`.
    fn sent(&self, fabric: &Fabric, node: &str, peer: &str) -> u64 {
        let found = fabric.find(node).zip(fabric.find(peer));
        let port = found.and_then(|(node, peer)| Some((node, fabric.port_towards(node, peer)?)));
        self.links.iter().filter(|link| Some((link.0, link.1)) == port).map(|link| link.2).sum()
    }
}

/// Runs the experiment `pabo/fig8`.
pub fn peaks(trial: &mut Trial) -> Result<(), Failure> {
    const EVERY_US: u64 = 20;
    let mut changes = severity(500, 1);
    changes.push(("record.queues", format!("{{ every = \"{EVERY_US}us\" }}")));
    let setup = trial.setup(&PABO_TREE, &changes)?;
    let fabric = setup.fabric.clone();
    let mut samples = SampleSeries::default();
    let mut simulation = simulation(setup, &PABO_TREE)?;
    simulation.run(&mut samples);
    let summary = finish(&mut simulation, &mut samples);
    let ports = [("S4", "S7"), ("S5", "S7"), ("S6", "S7"), ("S7", "H4")];
    let pair = |(node, peer): (&str, &str)| [false, true].map(|bounced| samples.of(&fabric, node, peer, bounced));
    let pairs = ports.map(pair);
    let [normal, bounce] = &pairs[3];

    // A peak is a series of samples with frames in the queue at the port of S7. Two peaks are at least 1 ms apart.
    let busy: Vec<Time> = normal.iter().map(|sample| sample.0).collect();
    let gap = Time::from_us(EVERY_US) * 50;
    let starts = busy.windows(2).filter(|pair| pair[1] - pair[0] > gap).count() + usize::from(!busy.is_empty());
    trial.check(Check::exact("peaks of S7 in the run", "peaks", starts as f64, Relation::Equal, 5.0));
    let end = Time::from_ms(200);
    let us = |at: Option<Time>| at.map_or(f64::NAN, |at| at.as_ps() as f64 / 1e6);
    let first =
        |samples: &[(Time, u64)], least: u64| samples.iter().find(|sample| sample.1 >= least).map(|sample| sample.0);
    let last = |samples: &[(Time, u64)]| samples.iter().rfind(|sample| sample.0 < end).map(|sample| sample.0);
    let crossed = us(first(normal, ROOM * 8 / 10));
    let order = "the order of events in the first peak: the other side is measured";
    for (at, name) in [(0, "S4"), (1, "S5"), (2, "S6"), (3, "S7")] {
        let used = us(first(&pairs[at][1], 1));
        let what = format!("the bounce queue of {name} is used only after S7's normal queue is at 0.8");
        trial.check(Check::exact(what, "us", used, Relation::AtLeast, crossed).note(order));
    }
    let drained = us(last(normal));
    for (at, name) in [(0, "S4"), (1, "S5"), (2, "S6")] {
        let emptied = us(pairs[at].iter().filter_map(|samples| last(samples)).max());
        let what = format!("{name} is empty before S7");
        trial.check(Check::exact(what, "us", emptied, Relation::Below, drained).note(order));
    }
    let what = "S7's bounce queue is empty before its normal queue";
    trial.check(Check::exact(what, "us", us(last(bounce)), Relation::Below, drained).note(order));
    let most = samples.queues.iter().map(|sample| sample.frames).max().unwrap_or(0);
    let what = "the most that any queue held at a sample";
    trial.check(Check::exact(what, "frames", most as f64, Relation::AtMost, ROOM as f64).consistency());
    let dropped = summary.packets.dropped_total() as f64;
    trial.check(Check::exact("frames lost", "frames", dropped, Relation::Equal, 0.0).consistency());

    trial.show("  mean utilisation of normal and bounce queue over the first peak\n");
    let mean = |samples: &[Vec<(Time, u64)>; 2], at: Time| {
        let held =
            |samples: &Vec<(Time, u64)>| samples.iter().find(|sample| sample.0 == at).map_or(0, |sample| sample.1);
        samples.iter().map(held).sum::<u64>() as f64 / (2 * ROOM) as f64
    };
    let row = |step: u64| {
        let at = Time::from_ms(step);
        (format!("{step} ms"), pairs.iter().map(|samples| mean(samples, at)).collect())
    };
    let rows: Vec<(String, Vec<f64>)> = (1..=20).map(row).collect();
    trial.show(&bars("", &["S4", "S5", "S6", "S7"], 0.5, &rows));

    let mut without = without_pabo(500);
    without.push(("record.queues", format!("{{ every = \"{EVERY_US}us\" }}")));
    let result = trial.run(&PABO_TREE, &without)?;
    let s7 = fabric.find("S7");
    let below: u64 =
        result.queues.iter().filter(|sample| Some(sample.0) != s7).map(|sample| sample.2).max().unwrap_or(0);
    let name = "negative control: without PABO no queue but S7's holds more than a frame";
    trial.check(Check::exact(name, "bytes", below as f64, Relation::AtMost, 1518.0).consistency());
    Ok(())
}

/// Runs the experiment `pabo/fig1`.
pub fn example(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = seeds(trial);
    // The switches S1, S2, S3 and S4 of figure 1 are S4, S1, S2 and S3 of the chain topology.
    let mut least = [u64::MAX; 4];
    let (mut lost, mut missing) = (0, 0);
    for seed in 1..=seeds {
        let changes = [("seed", seed.to_string()), ("record.links", "{ every = \"1ms\" }".to_owned())];
        let setup = trial.setup(&PABO_EXAMPLE, &changes)?;
        let fabric = setup.fabric.clone();
        let mut samples = SampleSeries::default();
        let mut simulation = simulation(setup, &PABO_EXAMPLE)?;
        simulation.run(&mut samples);
        let summary = finish(&mut simulation, &mut samples);
        let bounces = summary.bounces.clone().unwrap_or_default();
        let counts = [
            at(&bounces, "S3"),
            samples.sent(&fabric, "S3", "S4"),
            samples.sent(&fabric, "S3", "S2"),
            samples.sent(&fabric, "S2", "S1"),
        ];
        least.iter_mut().zip(counts).for_each(|(least, count)| *least = count.min(*least));
        lost += summary.packets.dropped_total();
        missing += summary.packets.injected - summary.packets.delivered_whole;
    }
    let note = format!("the least of {seeds} seeds; nothing else travels in this direction");
    let names = ["bounces at S4", "sent back from S4 to S1", "sent back from S4 to S3", "sent back from S3 to S2"];
    for (name, (count, unit)) in names.into_iter().zip(least.into_iter().zip(["bounces", "bytes", "bytes", "bytes"])) {
        trial.check(Check::exact(name, unit, count as f64, Relation::Above, 0.0).note(note.clone()));
    }
    trial.check(Check::exact("frames lost", "frames", lost as f64, Relation::Equal, 0.0).consistency());
    trial.check(
        Check::exact("frames that did not arrive", "frames", missing as f64, Relation::Equal, 0.0).consistency(),
    );
    let without = trial.run(
        &PABO_EXAMPLE,
        &[("switch.overload", "\"drop\"".to_owned()), ("switch.queue", "\"4 packets\"".to_owned())],
    )?;
    let count = without.summary.packets.dropped_total() as f64;
    trial.check(
        Check::exact("negative control: frames lost without PABO", "frames", count, Relation::Above, 0.0).consistency(),
    );
    Ok(())
}
