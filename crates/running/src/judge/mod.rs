//! What is unsafe in the configuration of all switches together.

mod blame;
mod deadlock;
mod headroom;
mod links;
mod ports;
mod waits;
mod watchdog;

use crate::device::Device;
use crate::error::{Fault, Finding, FindingKind};
use crate::paths::{Reached, follow};
use crate::read::SwitchConfig;
pub use deadlock::PausedLink;
use fabric::{Fabric, NodeKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use text::numbers::{counted, counted_as};
use units::{Rate, Time};

/// At which port an ASIC looks the queue of a traffic class up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueBinding {
    /// The map of the port that the frame leaves by.
    Egress,
    /// The map of the port that it came by.
    Ingress,
}

/// The paths that frames may take. Tunnels between the ToRs of a pair always follow shortest paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathSet {
    /// All shortest paths without failures.
    Shortest,
    /// Up the tiers and down again, with so many turns from down to up, or hops inside a tier.
    Bounces(u8),
    /// Any, but not back by the port that the frame came by.
    Any,
}

impl fmt::Display for PathSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathSet::Shortest => f.write_str("all shortest paths without failures"),
            PathSet::Bounces(bounces) => {
                write!(f, "all paths up and down the tiers with at most {}", counted((*bounces).into(), "bounce"))
            }
            PathSet::Any => f.write_str("any path that does not return by the port that it came by"),
        }
    }
}

/// A cable and what it is used for: what headroom depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Of the slower end.
    pub rate: Rate,
    /// One way, at 5 ns a metre of the longer length that its ends state.
    pub delay: Time,
    /// The larger MTU of the ends, in bytes.
    pub mtu: u64,
    /// Lossless priorities of the port.
    pub priorities: u8,
}

/// How to judge.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// Where the queue of a class is looked up.
    pub binding: QueueBinding,
    /// What frames may do.
    pub paths: PathSet,
    /// The headroom that a lossless account needs, in bytes.
    pub headroom: &'o dyn Fn(&Conditions) -> u64,
}

/// How much was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Switches with a file.
    pub switches: u64,
    /// Their ports with a cable.
    pub ports: u64,
    /// Ports that have a row in `PORT` and no cable: not judged.
    pub unconnected: u64,
    /// Lossless accounts that frames come to.
    pub accounts: u64,
    /// Pairs of accounts of which the first waits for the second.
    pub dependencies: u64,
    /// Pairs of account and queue in which its frames wait.
    pub waits: u64,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// What is unsafe, by file, key and kind.
    pub findings: Vec<Finding>,
    /// A shortest cycle of lossless accounts, each waiting for the next and the last for the first; empty without one.
    pub cycle: Vec<PausedLink>,
    /// What the verdict rests on.
    pub assumptions: Vec<String>,
    /// How much was looked at.
    pub counts: Counts,
    /// Tables that are not read, and how many files have them.
    pub unread: BTreeMap<String, u64>,
}

impl Report {
    /// Whether nothing is unsafe.
    pub fn safe(&self) -> bool {
        self.findings.is_empty()
    }
    /// Whether accounts can wait for each other in a cycle.
    pub fn can_deadlock(&self) -> bool {
        !self.cycle.is_empty()
    }
}

/// Findings as they turn up: the first of each kind, file and key, and how many more there are.
#[derive(Default)]
struct Findings(BTreeMap<(String, String, FindingKind), (Finding, u64)>);

impl Findings {
    fn add(&mut self, finding: Finding) {
        let at = (finding.file.clone(), finding.key.clone(), finding.kind);
        self.0.entry(at).and_modify(|(_, more)| *more += 1).or_insert((finding, 0));
    }

    fn finish(self) -> Vec<Finding> {
        let told = |(mut finding, more): (Finding, u64)| {
            if more > 0 {
                finding.why += &format!(" (and {more} more)");
            }
            finding
        };
        self.0.into_values().map(told).collect()
    }
}

/// Makes a finding.
fn finding(kind: FindingKind, config: &SwitchConfig, key: String, why: String, instead: String) -> Finding {
    Finding { kind, file: config.file.clone(), key, why, instead }
}

/// Judges the configuration of all switches of a fabric.
///
/// # Errors
/// A switch without a file, a file without a switch, a port with a cable and no maps; a host that forwards.
pub fn judge(fabric: &Fabric, configs: &[SwitchConfig], options: &Options<'_>) -> Result<Report, Vec<Fault>> {
    let device = Device::new(fabric, configs, options.binding)?;
    let reached = follow(&device, options.paths);
    let mut findings = Findings::default();
    configs.iter().flat_map(|config| config.unknown.clone()).for_each(|unknown| findings.add(unknown));
    configs.iter().for_each(|config| watchdog::judge(config, &device, &mut findings));
    let votes = blame::Votes::new(configs);
    ports::judge(&device, &votes, &mut findings);
    links::judge(&device, &mut findings);
    headroom::judge(&device, options.headroom, &mut findings);
    waits::judge(&device, &reached, &votes, &mut findings);
    let found = deadlock::judge(&device, &reached, options.paths, &mut findings);
    let counts = Counts {
        switches: configs.len() as u64,
        ports: device.ports().count() as u64,
        unconnected: configs.iter().map(|config| config.ports.len() as u64).sum::<u64>()
            - device.ports().count() as u64,
        accounts: found.accounts,
        dependencies: found.dependencies,
        waits: reached.waits.len() as u64,
    };
    let mut unread: BTreeMap<String, u64> = BTreeMap::new();
    for table in configs.iter().flat_map(|config| &config.unread) {
        *unread.entry(table.clone()).or_default() += 1;
    }
    let assumptions = assumptions(&device, &reached, options, &counts);
    Ok(Report { findings: findings.finish(), cycle: found.cycle, assumptions, counts, unread })
}

/// What the verdict rests on.
fn assumptions(device: &Device<'_>, reached: &Reached, options: &Options<'_>, counts: &Counts) -> Vec<String> {
    let binding = match options.binding {
        QueueBinding::Egress => "egress",
        QueueBinding::Ingress => "ingress",
    };
    let tunnels = match device.detours.len() {
        0 => String::new(),
        _ => ", and the tunnels between the ToRs of a pair by shortest paths".to_owned(),
    };
    let mut list = vec![
        format!("frames take {}{tunnels}", options.paths),
        format!("the ASIC takes TC_TO_QUEUE_MAP from the {binding} port"),
        "an account pauses before its headroom is used, and a PAUSE stops its queues in time".to_owned(),
        "hosts take in what arrives: none pauses its switch for ever".to_owned(),
        "switches run what these files say".to_owned(),
    ];
    let reserved = device.reserved();
    if reached.reserved_at > 0 {
        let dscps: Vec<String> = reserved.iter().map(u8::to_string).collect();
        list.push(format!("hosts do not send DSCP {}, which tunnels between ToRs use", dscps.join(" and ")));
    }
    let computed = device.ports().map(|(_, port)| ports::computed(device, port)).sum::<u64>();
    if computed > 0 {
        let groups = counted(computed, "priority group");
        list.push(format!("the headroom of {groups} is computed by the switch (profile NULL)"));
    }
    let is_down = |(_, port): &(u32, &crate::device::Port)| !device.config(port).ports[&port.name].up;
    let down = device.ports().filter(is_down).count() as u64;
    if down > 0 {
        list.push(format!("{} that admin_status has down carry traffic", counted(down, "connected port")));
    }
    if counts.unconnected > 0 {
        list.push(format!(
            "{} are not judged",
            counted_as(counts.unconnected, "port without a neighbour", "ports without a neighbour")
        ));
    }
    let switches = device.fabric.nodes().iter().filter(|node| node.kind == NodeKind::Switch);
    if matches!(options.paths, PathSet::Bounces(_)) {
        let tiers: Vec<String> = {
            let mut tiers: Vec<u8> = switches.map(|switch| switch.tier).collect();
            tiers.sort_unstable();
            tiers.dedup();
            tiers.iter().map(u8::to_string).collect()
        };
        list.push(format!("switches are in tiers {}", tiers.join(", ")));
    }
    list
}
