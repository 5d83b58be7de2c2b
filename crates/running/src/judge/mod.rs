//! Safety of the configuration of all switches together.

pub(crate) mod accepted;
mod buffers;
mod candidates;
mod change;
mod cycle;
pub(crate) mod deadlock;
mod dynamic;
mod entries;
mod findings;
mod headroom;
mod links;
mod lists;
mod mtu;
mod outliers;
mod ports;
mod profiles;
mod remedies;
mod waits;
mod watchdog;

use crate::device::Device;
use crate::error::{ALL_FILES, Fault, Finding, TOPOLOGY};
use crate::options::{Options, PathSet, QueueBinding};
use crate::paths::{ReachableWaits, follow};
use crate::read::{SwitchConfig, after_unknown_keys};
pub use deadlock::PausedLink;
pub use dynamic::ComputedHeadroom;
use dynamic::Models;
use fabric::{Fabric, NodeKind};
use findings::Findings;
use serde::Serialize;
use std::collections::BTreeMap;
use text::numbers::{counted, counted_as};

/// Size of the checked configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Number of switches with a file.
    pub switches: u64,
    /// Number of connected ports of these switches.
    pub ports: u64,
    /// Number of ports that have a row in `PORT` and no cable: not judged.
    pub unconnected: u64,
    /// Number of lossless accounts that frames enter.
    pub accounts: u64,
    /// Number of pairs of accounts in which the first waits for the second.
    pub dependencies: u64,
    /// Number of distinct combinations of account, queue, class, DSCP and arrival at the next switch.
    pub waits: u64,
}

/// Result of the check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Findings: unknown keys first, then ordered by file, key and kind.
    pub findings: Vec<Finding>,
    /// Values that differ from those of most switches of the role, which may be right.
    pub hints: Vec<Finding>,
    /// Shortest cycle of the wait-for graph: each lossless account waits for the next, and the last waits for the
    /// first. Empty if the graph is acyclic.
    pub cycle: Vec<PausedLink>,
    /// Assumptions of the verdict.
    pub assumptions: Vec<String>,
    /// Size of the checked configuration.
    pub counts: Counts,
    /// Tables that are not read, with the number of files that have them.
    pub unread: BTreeMap<String, u64>,
    /// Headroom that switches compute themselves (dynamic buffer model).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub computed: Vec<ComputedHeadroom>,
    /// Number of trials after which the search for the causes of findings stopped at its limit; `None` if every
    /// candidate was tried, or if every finding has a cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_limit: Option<u64>,
}

impl Report {
    /// Returns whether there is no finding.
    pub fn safe(&self) -> bool {
        self.findings.is_empty()
    }
    /// Returns whether accounts can wait for each other in a cycle.
    pub fn can_deadlock(&self) -> bool {
        !self.cycle.is_empty()
    }
}

/// Judges the configuration of all switches of a fabric.
///
/// # Errors
/// A switch without a file, a file without a switch, a connected port without maps, a host that forwards. Also if there
/// is no finding and frames enter no lossless account, since "safe" would then be vacuous; a queue of
/// [`Options::accepted_strict`] that starves nothing; a missing input of the
/// dynamic buffer model of a switch whose ASIC is known.
pub fn judge(fabric: &Fabric, configs: &[SwitchConfig], options: &Options<'_>) -> Result<Report, Vec<Fault>> {
    let judged = collect(fabric, configs, options).map_err(|faults| after_unknown_keys(configs, faults))?;
    let Judged { device, models, reached, findings, found, computed } = judged;
    let most_trials = remedies::most_trials(reached.waits.len() as u64);
    let causes = remedies::search(fabric, configs, options, &findings.0, most_trials);
    let search_limit = causes.limit;
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
    let findings = findings.finish(&causes);
    if counts.accounts == 0 && findings.is_empty() {
        return Err(vec![nothing_judged(&device, &reached)]);
    }
    let hints = outliers::hints(&device, &findings);
    let starving = waits::starving(&device, &reached);
    let accepted = accepted::assumptions(&device, options.accepted_strict, &starving).map_err(|fault| vec![fault])?;
    let mut assumptions = assumptions(&device, &reached, options, &counts);
    assumptions.extend(accepted);
    assumptions.extend(models.assumptions());
    assumptions.extend(dynamic::unjudged(&device, &models));
    Ok(Report { findings, hints, cycle: found.cycle, assumptions, counts, unread, computed, search_limit })
}

/// Findings before the search for their causes, with the data from which they are derived.
struct Judged<'a> {
    device: Device<'a>,
    models: Models<'a>,
    reached: ReachableWaits,
    findings: Findings,
    found: deadlock::Found,
    computed: Vec<ComputedHeadroom>,
}

fn collect<'a>(
    fabric: &'a Fabric,
    configs: &'a [SwitchConfig],
    options: &Options<'a>,
) -> Result<Judged<'a>, Vec<Fault>> {
    let device = Device::new(fabric, configs, options.binding)?;
    let models = Models::new(&device, configs, options.asic)?;
    let reached = follow(&device, options.paths);
    let mut findings = Findings::default();
    configs.iter().flat_map(|config| config.findings.clone()).for_each(|finding| findings.add(finding));
    configs.iter().for_each(|config| watchdog::judge(config, &device, &mut findings));
    let without_groups = ports::without_lossless_groups(&device);
    ports::judge(&device, &without_groups, &mut findings);
    links::judge(&device, &mut findings);
    mtu::judge(&device, &reached, &mut findings);
    let computed = headroom::judge(&device, options.headroom, &models, &mut findings);
    profiles::judge(&device, &mut findings);
    headroom::judge_pools(&device, &mut findings);
    buffers::judge(&device, &reached, &mut findings);
    waits::judge(&device, &reached, &without_groups, options.accepted_strict, &mut findings);
    let found = deadlock::judge(&device, &reached, options.paths, &mut findings);
    Ok(Judged { device, models, reached, findings, found, computed })
}

/// Returns a fault with the reason why no frame enters a lossless account.
fn nothing_judged(device: &Device<'_>, reached: &ReachableWaits) -> Fault {
    let hosts = device.ports().filter(|(number, _)| device.peer(*number).is_none()).count() as u64;
    let servers = "DEVICE_NEIGHBOR with the server at each port that leads to one";
    let (file, key, message, help) = if hosts == 0 {
        (TOPOLOGY, "DEVICE_NEIGHBOR", "no port leads to a host: no frames enter".to_owned(), servers)
    } else if reached.waits.is_empty() {
        let hosts = counted(hosts, "port");
        (TOPOLOGY, "DEVICE_NEIGHBOR", format!("{hosts} to hosts, and no host sends to another"), servers)
    } else {
        let help = "pfc_enable, and in BUFFER_PG a profile with xoff, for the priorities that are to be lossless";
        (ALL_FILES, "PORT_QOS_MAP", "frames of hosts come to no lossless account".to_owned(), help)
    };
    let message = format!("not judged: {message}");
    Fault { file: file.to_owned(), key: key.to_owned(), message, help: help.to_owned() }
}

/// Returns the assumptions of the verdict.
fn assumptions(device: &Device<'_>, reached: &ReachableWaits, options: &Options<'_>, counts: &Counts) -> Vec<String> {
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
        "hosts receive all frames: none pauses its switch for ever".to_owned(),
        "switches run the configuration of these files".to_owned(),
    ];
    let reserved = device.reserved();
    if reached.reserved_at > 0 {
        let dscps: Vec<String> = reserved.iter().map(u8::to_string).collect();
        list.push(format!("hosts do not send DSCP {}, which tunnels between ToRs use", dscps.join(" and ")));
    }
    let unnamed: Vec<&str> = device.ports().flat_map(|(_, port)| ports::unnamed(device, port)).collect();
    if let Some(profile) = unnamed.iter().min() {
        let queues = counted(unnamed.len() as u64, "queue");
        let profile = fabric::visible(profile);
        list.push(format!("lossless: {queues} with a profile named neither lossless nor lossy, such as {profile}"));
    }
    list.extend(mtu::assumption(device));
    list.extend(headroom::shared(device));
    list.extend(buffers::assumptions(device));
    list.extend(profiles::assumptions(device));
    list.extend(waits::limited(device, reached));
    list.extend(waits::limited_ports(device));
    let is_down = |(_, port): &(u32, &crate::device::Port)| !device.config(port).ports[&port.name].up;
    let down: Vec<_> = device.ports().filter(is_down).map(|(_, port)| port).collect();
    if let Some(first) = down.first() {
        let carry = if down.len() == 1 { "carries" } else { "carry" };
        let ports = counted(down.len() as u64, "connected port");
        let first = format!("{} {}", device.config(first).file, first.name);
        list.push(format!("{ports} that admin_status has down {carry} traffic, {first}"));
    }
    let one_sided = || device.configs().flat_map(|config| config.one_sided.iter().map(move |key| (&config.file, key)));
    if let Some((file, key)) = one_sided().next() {
        let cables = counted(one_sided().count() as u64, "cable");
        list.push(format!("{cables} with an entry in DEVICE_NEIGHBOR at one end only: {file} {key}"));
    }
    if counts.unconnected > 0 {
        let are = if counts.unconnected == 1 { "is" } else { "are" };
        let ports = counted_as(counts.unconnected, "port without a neighbour", "ports without a neighbour");
        let is_connected =
            |config: &SwitchConfig, name: &String| device.ports_of(config).any(|port| port.name == *name);
        let first = device.configs().find_map(|config| {
            let port = config.ports.keys().find(|name| !is_connected(config, name))?;
            Some(format!(", {} {}", config.file, fabric::visible(port)))
        });
        list.push(format!("{ports} {are} not judged{}", first.unwrap_or_default()));
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
