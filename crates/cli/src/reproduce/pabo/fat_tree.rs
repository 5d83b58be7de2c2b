//! Section VI: TCP on a fat-tree, with PABO and with Reno over drop-tail queues.

use super::hop_by_hop::{lost, percent, turns};
use crate::failure::Failure;
use crate::reproduce::check::{Check, Relation};
use crate::reproduce::registry::{Choice, PABO_FAT_TREE, PABO_MANY, Source};
use crate::reproduce::trial::{Told, Trial};
use std::collections::BTreeMap;
use text::{Layout, table as columns};

/// What section VI leaves open.
pub const CHOICES: &[Choice] = &[
    Choice { source: &PABO_FAT_TREE, key: "switch.overload.utilisation", alternatives: &["sub-queue"] },
    Choice { source: &PABO_FAT_TREE, key: "host.transport.initial_window", alternatives: &["536B"] },
    Choice { source: &PABO_FAT_TREE, key: "traffic.0.session", alternatives: &["false"] },
    Choice { source: &PABO_FAT_TREE, key: "fabric.link.delay", alternatives: &["0.5us"] },
];

/// The same for many to many.
pub const MANY_CHOICES: &[Choice] = &[
    Choice { source: &PABO_MANY, key: "switch.overload.utilisation", alternatives: &["sub-queue"] },
    Choice { source: &PABO_MANY, key: "host.transport.initial_window", alternatives: &["536B"] },
];

pub(super) const MEASURED: &str = "the source only compares: the other side is measured";

/// A scenario of section VI, with the paper's numbers.
pub(super) struct Case {
    pub name: &'static str,
    source: &'static Source,
    servers: &'static [u32],
    /// Bounced packets, in %.
    share: f64,
    /// Drop rate of Reno, in %.
    reno: f64,
    /// Switches that bounce.
    sites: &'static [&'static str],
}

pub(super) const CASES: [Case; 5] = [
    Case { name: "3 to 1", source: &PABO_FAT_TREE, servers: &[1, 5, 13], share: 49.83, reno: 0.33, sites: &["C1"] },
    Case {
        name: "6 to 1",
        source: &PABO_FAT_TREE,
        servers: &[1, 5, 13, 3, 7, 15],
        share: 46.76,
        reno: 0.51,
        sites: &["C1", "C4", "S11", "S9"],
    },
    Case {
        name: "9 to 1",
        source: &PABO_FAT_TREE,
        servers: &[1, 5, 13, 3, 7, 15, 2, 8, 14],
        share: 43.29,
        reno: 0.45,
        sites: &["C1", "C4", "S11", "S9"],
    },
    Case {
        name: "12 to 1",
        source: &PABO_FAT_TREE,
        servers: &[1, 2, 3, 4, 5, 6, 7, 8, 13, 14, 15, 11],
        share: 42.32,
        reno: 0.52,
        sites: &["C1", "C4", "S11", "S12", "S9"],
    },
    Case { name: "m to m", source: &PABO_MANY, servers: &[], share: 61.63, reno: 0.54, sites: &["C1", "C2", "S11"] },
];

impl Case {
    pub fn run(&self, trial: &Trial, seed: u64, changes: &[(&'static str, String)]) -> Result<Told, Failure> {
        let mut all = vec![("seed", seed.to_string())];
        if !self.servers.is_empty() {
            let names: Vec<String> = self.servers.iter().map(|host| format!("\"H{host}\"")).collect();
            all.push(("traffic.0.servers", format!("[{}]", names.join(", "))));
        }
        all.extend(changes.iter().cloned());
        trial.run(self.source, &all)
    }

    pub fn with(&self, trial: &Trial, seed: u64) -> Result<Told, Failure> {
        self.run(trial, seed, &[])
    }

    /// Ordinary switches with as much room in one queue, and TCP Reno.
    pub fn without(&self, trial: &Trial) -> Result<Told, Failure> {
        self.run(trial, 1, &reno())
    }
}

/// H1 alone replies to H9: nothing is congested.
pub(super) const ALONE: Case =
    Case { name: "1 to 1", source: &PABO_FAT_TREE, servers: &[1], share: 0.0, reno: 0.0, sites: &[] };

fn reno() -> Vec<(&'static str, String)> {
    [
        ("switch.overload", "\"drop\""),
        ("switch.queue", "\"200 packets\""),
        ("host.transport.retransmissions", "true"),
        ("host.transport.congestion_control", "\"reno\""),
    ]
    .map(|(key, value)| (key, value.to_owned()))
    .to_vec()
}

/// Turns by switch, in %.
fn sites(told: &Told) -> BTreeMap<String, f64> {
    let turns = turns(told);
    let all: u64 = turns.switches.iter().map(|switch| switch.turns).sum();
    let some = turns.switches.into_iter().filter(|switch| switch.turns > 0);
    some.map(|switch| (switch.node, percent(switch.turns, all))).collect()
}

fn listed(sites: &BTreeMap<String, f64>) -> String {
    let parts: Vec<String> = sites.iter().map(|(node, share)| format!("{node} {share:.1}")).collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

/// Data segments of all replies and requests.
fn drop_rate(told: &Told) -> f64 {
    percent(lost(told), told.summary.packets.delivered_whole)
}

/// Share of bounced packets by seed, the sites of the first, and checks that hold for every case.
fn shares(trial: &mut Trial, case: &Case) -> Result<(f64, Vec<BTreeMap<String, f64>>), Failure> {
    let seeds = trial.shorten("seeds", 5, 3);
    let (mut share, mut found, mut losses, mut open) = (0.0, Vec::new(), 0, 0);
    for seed in 1..=seeds {
        let told = case.with(trial, seed)?;
        share += 100.0 * turns(&told).turned_share / seeds as f64;
        losses += lost(&told);
        open += told.summary.flows.started - told.summary.flows.completed;
        found.push(sites(&told));
    }
    let name = |what: &str| format!("{}: {what}", case.name);
    trial.check(Check::exact(name("frames lost with PABO"), "frames", losses as f64, Relation::Equal, 0.0));
    trial.check(Check::exact(name("requests or replies that never end"), "flows", open as f64, Relation::Equal, 0.0));
    Ok((share, found))
}

fn share_check(case: &Case, share: f64) -> Check {
    Check::new(format!("{}: bounced packets", case.name), "%", share, Relation::Equal, case.share, 5.0)
        .note("mean over seeds")
}

/// Seeds in which exactly the paper's switches bounce.
fn exact_sites(case: &Case, found: &[BTreeMap<String, f64>]) -> Check {
    let exact = found.iter().filter(|sites| sites.keys().map(String::as_str).eq(case.sites.iter().copied())).count();
    let name = format!("{}: seeds in which {} bounce and no other switch", case.name, case.sites.join(", "));
    Check::exact(name, "seeds", exact as f64, Relation::Equal, found.len() as f64)
}

/// Runs `pabo/fig11`, with table II.
///
/// # Errors
/// If the scenario is wrong.
pub fn many_to_one(trial: &mut Trial) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for case in &CASES[..4] {
        let (share, found) = shares(trial, case)?;
        let reno = case.without(trial)?;
        rows.push(vec![
            case.name.to_owned(),
            format!("{:.2}", case.share),
            format!("{share:.2}"),
            format!("{:.2}", case.reno),
            format!("{:.2}", drop_rate(&reno)),
            listed(&found[0]),
        ]);
        if case.sites.len() == 1 {
            trial.check(exact_sites(case, &found));
            trial.check(share_check(case, share));
        } else {
            let most = |sites: &&BTreeMap<String, f64>| {
                sites.iter().max_by(|a, b| a.1.total_cmp(b.1)).is_some_and(|(node, _)| node == "S9")
            };
            let first = found.iter().filter(most).count() as f64;
            let name = format!("{}: seeds in which S9 bounces most", case.name);
            trial.check(Check::exact(name, "seeds", first, Relation::Equal, found.len() as f64));
            let note = "red: the bounced share does not fall with more servers here; see experiments/pabo/README.md";
            trial.check_in_full(share_check(case, share).note(note));
        }
        let name = format!("{}: drop rate of Reno without PABO", case.name);
        let note = "per data frame; queues of 200, MSS 536, slow start again after a second of silence";
        trial.check(Check::new(name, "%", drop_rate(&reno), Relation::Equal, case.reno, 0.1).note(note));
    }
    trial.show("  bounced packets and Reno's drop rate in %, the paper's and ours; which share of bounces is where\n");
    let header = ["", "bounced: paper", "ours", "Reno: paper", "ours", "sites with seed 1"];
    trial.show(&columns(&header, &rows, 1, Layout::Fixed, 2));
    let without = CASES[0].run(trial, 1, &[("switch.overload", "\"drop\"".to_owned())])?;
    let name = "negative control: frames lost when switches of 3 to 1 drop instead";
    trial.check(Check::exact(name, "frames", lost(&without) as f64, Relation::Above, 0.0));
    Ok(())
}

/// Runs `pabo/m2m`.
///
/// # Errors
/// If the scenario is wrong.
pub fn many_to_many(trial: &mut Trial) -> Result<(), Failure> {
    let case = &CASES[4];
    let (share, found) = shares(trial, case)?;
    trial.check(share_check(case, share));
    trial.check(exact_sites(case, &found));
    trial.show("  which share of bounces is where, in %, by seed (paper: C1 18.35, C2 18.77, S11 62.88)\n");
    for sites in &found {
        trial.show(&format!("    {}\n", listed(sites)));
    }
    for (node, paper) in [("C1", 18.35), ("C2", 18.77), ("S11", 62.88)] {
        let mean = found.iter().filter_map(|sites| sites.get(node)).sum::<f64>() / found.len() as f64;
        let check = Check::new(format!("m to m: bounces at {node}"), "%", mean, Relation::Equal, paper, 5.0);
        trial.check(check.note("mean over seeds"));
    }
    let reno = case.without(trial)?;
    let name = "m to m: drop rate of Reno without PABO";
    trial.check(Check::new(name, "%", drop_rate(&reno), Relation::Equal, case.reno, 0.1));
    let without = case.run(trial, 1, &[("switch.overload", "\"drop\"".to_owned())])?;
    let name = "negative control: frames lost when switches of m to m drop instead";
    trial.check(Check::exact(name, "frames", lost(&without) as f64, Relation::Above, 0.0));
    Ok(())
}

/// Runs `pabo/fig12`.
///
/// # Errors
/// If the scenario is wrong.
pub fn displacement(trial: &mut Trial) -> Result<(), Failure> {
    let (with, without) = (CASES[3].with(trial, 1)?, CASES[3].without(trial)?);
    let found = |told: &Told| told.summary.reordering.unwrap_or_default();
    let (with, without) = (found(&with), found(&without));
    let most = |found: &record::summary::Reordering| found.earliest_packets.max(found.latest_packets) as f64;
    let share = |found: &record::summary::Reordering| percent(found.displaced, found.packets);
    let name = "largest displacement with PABO";
    trial.check(Check::new(name, "packets", most(&with), Relation::Equal, 95.0, 5.0));
    let name = "out of turn without PABO, against with it";
    let check = Check::new(name, "%", share(&without), Relation::Below, share(&with) / 5.0, 0.0);
    trial.check(check.note("\"much smaller\": below a fifth of what is measured with PABO"));
    let name = "largest displacement without PABO, against with it";
    trial.check(Check::new(name, "packets", most(&without), Relation::AtMost, most(&with), 0.0).note(MEASURED));
    let check = Check::new("out of turn with PABO", "%", share(&with), Relation::Equal, 50.0, 5.0);
    let alone = found(&ALONE.with(trial, 1)?);
    let name = "negative control: packets out of turn with PABO and one server";
    trial.check(Check::exact(name, "packets", alone.displaced as f64, Relation::Equal, 0.0));
    trial.check_in_full(check.note("red: more packets bounce here than in the paper; see experiments/pabo/README.md"));
    Ok(())
}
