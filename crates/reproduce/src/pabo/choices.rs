//! `pabo/choices`: every figure of the paper with four sets of values for the unspecified parameters; within a set, all
//! figures use the same values.
//!
//! ```text
//!           utilisation  return path    initial window  out-of-order bytes  requests
//!   code    sub-queue    source-lookup  1 segment       take the window     together   the authors' simulator; default
//!   plain   sub-queue    source-lookup  1 segment       do not              together   with the window of RFC 9293
//!   fuller  fuller       arrival-port   2 to 4          do not              together   one value per port, section III
//!   apart   like fuller; requests of different servers start up to 200 us apart
//! ```

use super::bounces::{listed, other_sites};
use super::fat_tree::{CASES, Case, Measured, completion_ms, delay_us, deviation_us, displaced, furthest, mean, sites};
use super::hop_by_hop::{SEVERITIES, bounces, lost, percent, severity};
use super::order::point;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::PABO_TREE;
use crate::trial::Trial;
use text::{Layout, table};

/// One set of values for all unspecified parameters.
struct Set {
    name: &'static str,
    utilisation: &'static str,
    way_back: &'static str,
    initial_window: &'static str,
    takes_window: bool,
    jitter: Option<&'static str>,
}

const CODE: Set = Set {
    name: "code",
    utilisation: "sub-queue",
    way_back: "source-lookup",
    initial_window: "536B",
    takes_window: true,
    jitter: None,
};

const FULLER: Set = Set {
    name: "fuller",
    utilisation: "fuller",
    way_back: "arrival-port",
    initial_window: "rfc5681",
    takes_window: false,
    jitter: None,
};

const SETS: [Set; 4] = [
    CODE,
    Set { name: "plain", takes_window: false, ..CODE },
    FULLER,
    Set { name: "apart", jitter: Some("200us"), ..FULLER },
];

impl Set {
    fn switch(&self) -> Vec<(&'static str, String)> {
        vec![
            ("switch.overload.utilisation", self.utilisation.to_owned()),
            ("switch.overload.return", self.way_back.to_owned()),
        ]
    }

    fn tree(&self) -> Vec<(&'static str, String)> {
        let jitter = self.jitter.map(|jitter| ("traffic.0.jitter", jitter.to_owned()));
        let transport = [
            ("host.transport.initial_window", self.initial_window.to_owned()),
            ("host.transport.out_of_order_takes_window", self.takes_window.to_string()),
        ];
        self.switch().into_iter().chain(transport).chain(jitter).collect()
    }

    fn fat_tree(&self, case: &Case) -> Vec<(&'static str, String)> {
        let second = self.jitter.filter(|_| case.is_many()).map(|jitter| ("traffic.1.jitter", jitter.to_owned()));
        self.tree().into_iter().chain(second).collect()
    }
}

/// Rows of the table: quantity, value in the paper, and measured value for each set.
#[derive(Default)]
struct Rows(Vec<Vec<String>>);

impl Rows {
    fn add(&mut self, what: &str, paper: &str, ours: String) {
        match self.0.iter_mut().find(|row| row[0] == what) {
            Some(row) => row.push(ours),
            None => self.0.push(vec![what.to_owned(), paper.to_owned(), ours]),
        }
    }
}

/// Adds the rows of section V: table I.
fn hop_by_hop(trial: &Trial, set: &Set, rows: &mut Rows, dropped: &mut u64) -> Result<(), Failure> {
    for ((name, packets), paper) in SEVERITIES.into_iter().zip(["43.45, 56.55", "14.73, 85.27", "8.82, 84.14, 7.04"]) {
        let changes: Vec<_> = severity(packets, 1).into_iter().chain(set.switch()).collect();
        let result = trial.run(&PABO_TREE, &changes)?;
        *dropped += lost(&result);
        let bounces = bounces(&result);
        let shares: Vec<String> = (bounces.by_max_distance.iter())
            .map(|&count| format!("{:.2}", percent(count, bounces.delivered)))
            .collect();
        rows.add(&format!("table I, {name}: % at distance 0, 1, ..."), paper, shares.join(", "));
    }
    Ok(())
}

/// Adds the rows of section IV: the entropies of figures 5 and 6 with lambda = 50.
fn order(trial: &Trial, set: &Set, rows: &mut Rows, dropped: &mut u64) -> Result<(), Failure> {
    let mut entropies = Vec::new();
    for theta in [0.05, 0.35, 0.65, 0.95] {
        let point = point(trial, theta, 50.0, &set.tree())?;
        entropies.push(format!("{:.2}", point.entropy));
        *dropped += point.lost;
    }
    let what = "figure 5: entropy at theta = 0.05, 0.35, 0.65, 0.95";
    rows.add(what, "falls", entropies.join(", "));
    Ok(())
}

fn end_to_end(case: &Case, found: &Measured, rows: &mut Rows) {
    let name = |what: &str| format!("{}: {what}", case.name);
    rows.add(&name("% bounced"), &format!("{:.2}", case.share), format!("{:.2}", found.share()));
    rows.add(&name("% further than one hop"), "0", format!("{:.2}", found.far()));
    let sites = sites(&found.with);
    let exact = if other_sites(case, &sites) == 0 { "as the paper" } else { "others" };
    rows.add(&name("sites"), &case.sites.join(", "), format!("{exact}: {}", listed(&sites)));
    rows.add(&name("% lost by Reno"), &format!("{:.2}", case.reno), format!("{:.2}", found.drop_rate()));
    let drops: Vec<String> = case.drops.iter().map(|(node, share)| format!("{node} {share:.1}")).collect();
    rows.add(&name("where, in %"), &drops.join(", "), listed(&found.drops()));
    if case.name == "12 to 1" {
        let both = |of: fn(&crate::trial::TrialResult) -> f64, digits: usize| {
            format!("{:.digits$}, {:.digits$}", mean(&found.with, of), mean(&found.without, of))
        };
        rows.add("figure 12: % out of turn, with PABO and without", "50, far fewer", both(displaced, 1));
        rows.add("figure 12: furthest packet, with PABO and without", "95, 76", both(furthest, 0));
    }
    let (with, without) = (mean(&found.with, delay_us), mean(&found.without, delay_us));
    let deviation = mean(&found.with, deviation_us);
    let ours = format!("+{:.0} %, {deviation:.0} us", 100.0 * (with / without - 1.0));
    rows.add(&name("delay above Reno's, and its deviation"), "slightly, rising", ours);
    let ours = format!("{:.0}, {:.0}", mean(&found.with, completion_ms), mean(&found.without, completion_ms));
    rows.add(&name("completion in ms, PABO and Reno"), "PABO far sooner", ours);
}

/// Runs the experiment `pabo/choices`.
pub fn choices(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = trial.shorten("seeds", 5, 1);
    let (mut rows, mut dropped, mut open) = (Rows::default(), 0, 0);
    for set in &SETS {
        hop_by_hop(trial, set, &mut rows, &mut dropped)?;
        order(trial, set, &mut rows, &mut dropped)?;
        for case in &CASES {
            let found = case.measure(trial, seeds, &set.fat_tree(case))?;
            end_to_end(case, &found, &mut rows);
            dropped += found.lost();
            open += found.open();
        }
    }
    let header: Vec<&str> = ["", "paper"].into_iter().chain(SETS.iter().map(|set| set.name)).collect();
    trial.show("  every figure under four sets of open choices\n");
    trial.show(&table(&header, &rows.0, header.len(), Layout::Fixed, 2));
    let name = "frames lost with PABO under any set";
    trial.check(Check::exact(name, "frames", dropped as f64, Relation::Equal, 0.0));
    let name = "requests or replies that never end under any set";
    trial.check(Check::exact(name, "flows", open as f64, Relation::Equal, 0.0).consistency());
    Ok(())
}
