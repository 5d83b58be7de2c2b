//! Section VI: TCP in a fat-tree, with PABO and with Reno over drop-tail queues. Cases, and statistics of their runs.

use super::hop_by_hop::{bounces, lost, percent};
use crate::failure::Failure;
use crate::registry::{Choice, PABO_FAT_TREE, PABO_MANY, Source};
use crate::trial::{Trial, TrialResult};
use std::collections::BTreeMap;

/// Parameters of section VI that the publication does not specify, with alternative values.
pub const CHOICES: &[Choice] = &[
    Choice { source: &PABO_FAT_TREE, key: "switch.overload.utilisation", alternatives: &["fuller"] },
    Choice { source: &PABO_FAT_TREE, key: "switch.overload.return", alternatives: &["arrival-port"] },
    Choice { source: &PABO_FAT_TREE, key: "host.transport.initial_window", alternatives: &["rfc5681"] },
    Choice { source: &PABO_FAT_TREE, key: "host.transport.out_of_order_takes_window", alternatives: &["false"] },
    Choice { source: &PABO_FAT_TREE, key: "host.transport.mss", alternatives: &["524B"] },
    Choice { source: &PABO_FAT_TREE, key: "traffic.0.persistent_connection", alternatives: &["false"] },
    Choice { source: &PABO_FAT_TREE, key: "traffic.0.jitter", alternatives: &["200us", "1ms"] },
    Choice { source: &PABO_FAT_TREE, key: "fabric.link.delay", alternatives: &["0.5us"] },
];

/// Like [`CHOICES`], for many-to-many traffic, in which both rules for the return path select the same path.
pub const MANY_CHOICES: &[Choice] = &[
    Choice { source: &PABO_MANY, key: "switch.overload.utilisation", alternatives: &["fuller"] },
    Choice { source: &PABO_MANY, key: "host.transport.initial_window", alternatives: &["rfc5681"] },
    Choice { source: &PABO_MANY, key: "host.transport.out_of_order_takes_window", alternatives: &["false"] },
    Choice { source: &PABO_MANY, key: "host.transport.mss", alternatives: &["524B"] },
    Choice { source: &PABO_MANY, key: "fabric.link.delay", alternatives: &["0.5us"] },
];

pub(super) const MEASURED: &str = "the source only compares: the other side is measured";

/// Returns the number of seeds per case. Runs of Reno do not depend on the seed unless the requests start at random
/// times.
pub(super) fn seeds(trial: &mut Trial) -> u64 {
    trial.shorten("seeds", 5, 3)
}

/// A scenario of section VI, with the results that the paper reports for it.
pub(super) struct Case {
    pub name: &'static str,
    source: &'static Source,
    servers: &'static [u32],
    /// Share of bounced packets in table II, in %.
    pub share: f64,
    /// Drop rate of Reno in the paper, in %.
    pub reno: f64,
    /// Switches that bounce packets according to the paper.
    pub sites: &'static [&'static str],
    /// Switches that drop packets under Reno according to the paper, with their shares of the drops in %.
    pub drops: &'static [(&'static str, f64)],
}

pub(super) const CASES: [Case; 5] = [
    Case {
        name: "3 to 1",
        source: &PABO_FAT_TREE,
        servers: &[1, 5, 13],
        share: 49.83,
        reno: 0.33,
        sites: &["C1"],
        drops: &[("C1", 100.0)],
    },
    Case {
        name: "6 to 1",
        source: &PABO_FAT_TREE,
        servers: &[1, 5, 13, 3, 7, 15],
        share: 46.76,
        reno: 0.51,
        sites: &["C1", "C4", "S11", "S9"],
        drops: &[("S9", 100.0)],
    },
    Case {
        name: "9 to 1",
        source: &PABO_FAT_TREE,
        servers: &[1, 5, 13, 3, 7, 15, 2, 8, 14],
        share: 43.29,
        reno: 0.45,
        sites: &["C1", "C4", "S11", "S9"],
        drops: &[("S9", 100.0)],
    },
    Case {
        name: "12 to 1",
        source: &PABO_FAT_TREE,
        servers: &[1, 2, 3, 4, 5, 6, 7, 8, 13, 14, 15, 11],
        share: 42.32,
        reno: 0.52,
        sites: &["C1", "C4", "S11", "S12", "S9"],
        drops: &[("C1", 32.6), ("S9", 67.4)],
    },
    Case {
        name: "m to m",
        source: &PABO_MANY,
        servers: &[],
        share: 61.63,
        reno: 0.54,
        sites: &["C1", "C2", "S11"],
        drops: &[("S11", 100.0)],
    },
];

/// Only H1 replies to H9, so there is no congestion.
pub(super) const ALONE: Case =
    Case { name: "1 to 1", source: &PABO_FAT_TREE, servers: &[1], share: 0.0, reno: 0.0, sites: &[], drops: &[] };

/// Overridden scenario keys.
pub(super) type Changes = [(&'static str, String)];

impl Case {
    pub fn run(&self, trial: &Trial, seed: u64, changes: &Changes) -> Result<TrialResult, Failure> {
        let mut all = vec![("seed", seed.to_string())];
        if !self.servers.is_empty() {
            let names: Vec<String> = self.servers.iter().map(|host| format!("\"H{host}\"")).collect();
            all.push(("traffic.0.servers", format!("[{}]", names.join(", "))));
        }
        all.extend(changes.iter().cloned());
        trial.run(self.source, &all)
    }

    /// Runs each seed with PABO, and with TCP Reno over drop-tail switches that have the same total buffer in one
    /// queue.
    pub fn measure(&self, trial: &Trial, seeds: u64, changes: &Changes) -> Result<Measured, Failure> {
        let mut found = Measured::default();
        let reno: Vec<_> = changes.iter().cloned().chain(reno()).collect();
        for seed in 1..=seeds {
            found.with.push(self.run(trial, seed, changes)?);
            found.without.push(self.run(trial, seed, &reno)?);
        }
        Ok(found)
    }

    /// Returns `true` for the case with two clients. In this case, both traffic entries need a `jitter` that spreads
    /// the requests.
    pub fn is_many(&self) -> bool {
        self.servers.is_empty()
    }
}

fn reno() -> [(&'static str, String); 4] {
    [
        ("switch.overload", "\"drop\""),
        ("switch.queue", "\"200 packets\""),
        ("host.transport.retransmissions", "true"),
        ("host.transport.congestion_control", "\"reno\""),
    ]
    .map(|(key, value)| (key, value.to_owned()))
}

/// Simulation runs of a case, one per seed.
#[derive(Default)]
pub(super) struct Measured {
    pub with: Vec<TrialResult>,
    pub without: Vec<TrialResult>,
}

/// Returns the mean of the statistic `of` over the runs.
pub(super) fn mean(runs: &[TrialResult], of: impl Fn(&TrialResult) -> f64) -> f64 {
    runs.iter().map(of).sum::<f64>() / runs.len() as f64
}

/// Returns the mean share of each switch in %, without switches whose share is 0.
fn shares_by_switch(runs: &[TrialResult], of: impl Fn(&TrialResult) -> Vec<(String, u64)>) -> BTreeMap<String, f64> {
    let mut shares = BTreeMap::new();
    for result in runs {
        let counts = of(result);
        let all: u64 = counts.iter().map(|count| count.1).sum();
        for (node, count) in counts.into_iter().filter(|count| count.1 > 0) {
            *shares.entry(node).or_insert(0.0) += percent(count, all) / runs.len() as f64;
        }
    }
    shares
}

/// Returns the share of each switch in the bounces, in %.
pub(super) fn sites(runs: &[TrialResult]) -> BTreeMap<String, f64> {
    let counts = |result: &TrialResult| {
        bounces(result).switches.into_iter().map(|switch| (switch.node, switch.bounces)).collect()
    };
    shares_by_switch(runs, counts)
}

impl Measured {
    /// Returns the mean share of bounced packets, in %.
    pub fn share(&self) -> f64 {
        mean(&self.with, |result| 100.0 * bounces(result).bounced_share)
    }

    /// Returns the minimum and maximum over the runs of the share of bounced packets ([`Measured::share`]).
    pub fn share_range(&self) -> (f64, f64) {
        let shares = self.with.iter().map(|result| 100.0 * bounces(result).bounced_share);
        shares.fold((f64::MAX, 0.0), |(least, most), share| (least.min(share), most.max(share)))
    }

    /// Returns the share of packets that were bounced by more than one hop, in %.
    pub fn far(&self) -> f64 {
        let far = |result: &TrialResult| {
            let bounces = bounces(result);
            percent(bounces.by_max_distance.iter().skip(2).sum(), bounces.delivered)
        };
        mean(&self.with, far)
    }

    /// Returns the mean number of bounces per run.
    pub fn bounces(&self) -> f64 {
        mean(&self.with, |result| bounces(result).switches.iter().map(|switch| switch.bounces).sum::<u64>() as f64)
    }

    /// Returns the share of each switch in the packets that Reno's switches drop, in %.
    pub fn drops(&self) -> BTreeMap<String, f64> {
        let counts = |result: &TrialResult| {
            let losses = result.summary.losses.iter();
            losses.map(|loss| (loss.node.clone(), loss.packets)).collect()
        };
        shares_by_switch(&self.without, counts)
    }

    /// Returns the drop rate of Reno in %, relative to the number of delivered data segments of requests and replies.
    pub fn drop_rate(&self) -> f64 {
        mean(&self.without, |result| percent(lost(result), result.summary.packets.delivered_whole))
    }

    /// Returns the number of frames lost with PABO.
    pub fn lost(&self) -> u64 {
        self.with.iter().map(lost).sum()
    }

    /// Returns the number of requests and replies that do not complete with PABO.
    pub fn open(&self) -> u64 {
        self.with.iter().map(|result| result.summary.flows.started - result.summary.flows.completed).sum()
    }
}

/// Returns the share of packets that arrive out of order, in %.
pub(super) fn displaced(result: &TrialResult) -> f64 {
    let found = result.summary.reordering.unwrap_or_default();
    percent(found.displaced, found.packets)
}

/// Returns the maximum displacement of an out-of-order packet, in packets.
pub(super) fn furthest(result: &TrialResult) -> f64 {
    let found = result.summary.reordering.unwrap_or_default();
    found.earliest_packets.max(found.latest_packets) as f64
}

/// Returns the mean time from the start of a request to the last byte of its reply, in ms. It is twice the mean FCT
/// because there are as many requests as replies.
pub(super) fn completion_ms(result: &TrialResult) -> f64 {
    let times: Vec<u64> = result.flows.iter().filter_map(record::flows::FlowRecord::fct_ps).collect();
    2.0 * times.iter().sum::<u64>() as f64 / times.len().max(1) as f64 / 1e9
}

/// Returns the mean end-to-end delay of packets, in us.
pub(super) fn delay_us(result: &TrialResult) -> f64 {
    result.delays.mean().unwrap_or(f64::NAN) / 1e6
}

/// Returns the standard deviation of the end-to-end delay of packets, in us.
pub(super) fn deviation_us(result: &TrialResult) -> f64 {
    result.delays.standard_deviation().unwrap_or(f64::NAN) / 1e6
}
