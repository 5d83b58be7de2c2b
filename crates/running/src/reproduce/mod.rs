//! Scenarios of the simulator that reproduce a counterexample of the check.
//!
//! ```text
//!   cycle, starved queue -> walks: paths of frames from host to host through each wait
//!                        -> maps: account, queue and class of these frames at each hop, in eight classes
//!                        -> scenario: paths, traffic, and the reaction that is expected
//! ```
//!
//! Only frames of the counterexample are simulated. Thresholds, headroom and buffers are chosen freely, because no
//! proof depends on them.

mod maps;
mod scenario;
mod walks;

use crate::device::{Device, Port};
use crate::error::Fault;
use crate::judge::deadlock;
use crate::options::{PathSet, QueueBinding};
use crate::paths::{ReachableWaits, Wait, follow};
use crate::read::SwitchConfig;
use fabric::Fabric;
use maps::{Flow, lower};
use std::collections::{BTreeMap, BTreeSet};
use walks::{best, by_source, random};

/// A scenario with its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The scenario, as TOML. It names the files `maps_file` and [`TOPOLOGY_FILE`].
    pub scenario: String,
    /// For a deadlock: a scenario of the same cycle with other thresholds, which may deadlock if `scenario` does not.
    pub alternative: Option<String>,
    /// Name of the file of QoS maps.
    pub maps_file: &'static str,
    /// Text of the file `maps_file`.
    pub maps: String,
    /// Classes, accounts and queues of the simulation, with the DSCPs, priority groups and queues of the configuration.
    pub notes: Vec<String>,
    /// Egress ports that the simulation must find blocked, by name of node and number of port (index in
    /// [`Fabric::ports`], from 0): all ports of the cycle of a deadlock, or the port with the starved queue; empty for
    /// a load.
    pub ports: Vec<(String, u16)>,
    /// The queue that starves; `None` for a deadlock and a load.
    pub starved: Option<StarvedQueue>,
    /// Number of flows, above 0.
    pub flows: usize,
}

/// A queue that starves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StarvedQueue {
    /// Class of the queue in the simulation, 0 to 7.
    pub class: u8,
    /// Name of the queue, such as `queue 2 of t1-1 Ethernet4`.
    pub queue: String,
}

/// Name of the topology's file, as node-link JSON ([`fabric::files::write_node_link`]).
pub const TOPOLOGY_FILE: &str = "topology.json";

/// A counterexample, or the reason why the simulator cannot express it.
pub type Reproduced = Result<Counterexample, String>;

/// Counterexamples of a configuration.
#[derive(Clone, Debug, Default)]
pub struct Counterexamples {
    /// The cycle of [`crate::Report::cycle`]; `None` if there is no cycle.
    pub deadlock: Option<Reproduced>,
    /// A lossless account that a strict-priority queue starves; `None` if there is none.
    pub starvation: Option<Reproduced>,
    /// [`LOAD_FLOWS`] flows on random paths of the set (fewer if the simulator cannot represent more), which must not
    /// deadlock; `None` if there is a cycle.
    pub load: Option<Reproduced>,
}

/// Maximum number of flows of a load.
pub const LOAD_FLOWS: usize = 24;

/// Returns scenarios for the cycle and a starved account that [`crate::judge`] finds with these options, and a load if
/// there is no cycle. `seed` selects the paths of the load.
///
/// # Errors
/// Like [`crate::judge`].
pub fn counterexamples(
    fabric: &Fabric,
    configs: &[SwitchConfig],
    queues: QueueBinding,
    paths: PathSet,
    seed: u64,
) -> Result<Counterexamples, Vec<Fault>> {
    let device = Device::new(fabric, configs, queues)?;
    let reached = follow(&device, paths);
    let (found, _) = deadlock::search(&device, &reached);
    let deadlock = (!found.waits.is_empty()).then(|| cycle(&device, paths, &found.waits));
    let load = deadlock.is_none().then(|| load(&device, paths, seed));
    Ok(Counterexamples { deadlock, starvation: starvation(&device, paths, &reached), load })
}

/// Returns a scenario of flows on random paths. A path is skipped if the simulator cannot represent its frames in
/// addition to those of the paths already selected.
fn load(device: &Device<'_>, paths: PathSet, seed: u64) -> Reproduced {
    let mut kept: Vec<Flow> = Vec::new();
    for walk in random(device, paths, 4 * LOAD_FLOWS, seed) {
        if kept.len() == LOAD_FLOWS {
            break;
        }
        kept.push(Flow { walk, rate: None });
        if lower(device, &kept, None).is_err() {
            kept.pop();
        }
    }
    if kept.is_empty() {
        return Err("no path between two hosts can be expressed".to_owned());
    }
    let lowered = lower(device, &kept, None)?;
    Ok(scenario::pausing(device, &kept, &lowered, None, Vec::new()))
}

/// Returns a scenario for a cycle of accounts: for each account, frames that wait for the next account.
fn cycle(device: &Device<'_>, paths: PathSet, waits: &[Wait]) -> Reproduced {
    let found = best(device, paths, waits);
    let mut flows = Vec::new();
    for (wait, walk) in waits.iter().zip(found) {
        let walk = walk.ok_or_else(|| format!("no path was found by which frames {}", at(device, wait)))?;
        flows.push(Flow { walk, rate: None });
    }
    // A host that sends PAUSE fills the account whose frames wait for the host; this must be the account that pauses
    // the queue.
    for (position, wait) in waits.iter().enumerate() {
        let next = &waits[(position + 1) % waits.len()];
        if wait.next.is_none_or(|arrival| arrival.group != next.group) {
            return Err(format!(
                "frames that {} arrive in another priority group than {}, which stops that queue: the scenario would \
                 have to fill both groups (not supported)",
                at(device, wait),
                next.group
            ));
        }
    }
    let lowered = lower(device, &flows, None)?;
    let ports: Vec<(String, u16)> = waits.iter().map(|wait| end(device, wait.egress)).collect();
    let uniform = scenario::pausing(device, &flows, &lowered, None, ports.clone());
    let found = scenario::pausing(device, &flows, &lowered, Some(storm(device, waits, &flows)), ports);
    Ok(Counterexample { alternative: Some(uniform.scenario), ..found })
}

/// Selects the flow whose receiver sends PAUSE. A flow k whose receiver is attached to the switch of account k + 1 is
/// preferred; among several, one whose switch has no other account of the cycle. The pause then fills account k + 1
/// first, and each other account is filled by its own flow.
fn storm(device: &Device<'_>, waits: &[Wait], flows: &[Flow]) -> scenario::Storm {
    let switch = |wait: &Wait| device.owner(wait.ingress);
    let next = |flow: usize| &waits[(flow + 1) % waits.len()];
    let suits = |flow: &usize| {
        let is_last = flows[*flow].walk.0.last().is_some_and(|step| step.state.ingress == next(*flow).ingress);
        let accounts = waits.iter().filter(|wait| switch(wait) == switch(next(*flow))).count();
        (is_last, std::cmp::Reverse(accounts), std::cmp::Reverse(*flow))
    };
    let flow = (0..flows.len()).max_by_key(suits).unwrap_or(0);
    scenario::Storm { flow, switch: switch(next(flow)) }
}

fn end(device: &Device<'_>, number: u32) -> (String, u16) {
    device.port(number).map_or_else(Default::default, |port| (device.fabric.name(port.node).to_owned(), port.index))
}

/// Text such as `waits in queue 3 of tor-a Ethernet0`.
fn at(device: &Device<'_>, wait: &Wait) -> String {
    let (name, port) = device.end(wait.egress);
    format!("wait in queue {} of {} {}", wait.queue, fabric::visible(name), fabric::visible(&port))
}

/// Frames of a lossless account in a queue that other queues starve.
struct Starved<'r> {
    wait: &'r Wait,
    /// Bitmask of the queues of the port that starve it.
    above: u32,
}

/// Maximum number of starved queues for which a scenario is tried.
const MOST_TRIED: usize = 16;

/// Returns a scenario for the first starved account that the simulator can represent; if it can represent none, the
/// reason for the first account.
fn starvation(device: &Device<'_>, paths: PathSet, reached: &ReachableWaits) -> Option<Reproduced> {
    let mut fed: BTreeMap<u32, u32> = BTreeMap::new();
    reached.waits.iter().for_each(|wait| *fed.entry(wait.egress).or_default() |= 1 << wait.queue);
    let mut seen = BTreeSet::new();
    let (mut candidates, mut unscheduled) = (Vec::new(), None);
    for wait in &reached.waits {
        let (Some(ingress), Some(egress)) = (device.port(wait.ingress), device.port(wait.egress)) else { continue };
        if ingress.lossless >> wait.group & 1 == 0 || !seen.insert((wait.egress, wait.queue)) {
            continue;
        }
        let above = egress.starves(wait.queue, fed[&wait.egress]);
        if above != 0 {
            candidates.push(Starved { wait, above });
        } else if egress.scheduled >> wait.queue & 1 == 0 {
            unscheduled.get_or_insert(wait);
        }
    }
    let mut first = None;
    // Host ports are tried first, because all frames in their queues arrive by other ports.
    candidates.sort_by_key(|starved| device.peer(starved.wait.egress).is_some());
    for starved in candidates.iter().take(MOST_TRIED) {
        match starve(device, paths, reached, starved) {
            Ok(found) => return Some(Ok(found)),
            Err(why) => drop(first.get_or_insert(why)),
        }
    }
    if let Some(more) = candidates.len().checked_sub(MOST_TRIED).filter(|more| *more > 0)
        && let Some(why) = &mut first
    {
        *why += &format!("; {more} more starved queues were not tried");
    }
    let without = |wait: &Wait| format!("frames {}, which has no scheduler to simulate", at(device, wait));
    first.or_else(|| unscheduled.map(without)).map(Err)
}

fn starve(device: &Device<'_>, paths: PathSet, reached: &ReachableWaits, starved: &Starved<'_>) -> Reproduced {
    let Starved { wait, above } = starved;
    let Some(egress) = device.port(wait.egress) else { return Err("no such port".to_owned()) };
    let victim = best(device, paths, &[**wait]).into_iter().next().flatten();
    let victim = victim.ok_or_else(|| format!("no path was found by which frames {}", at(device, wait)))?;
    let source = victim.source(device);
    let link = rate_of(device, wait.egress);
    // Frames that fill the port use each link at most once, and share no link with the starved flow upstream of the
    // port.
    let shared: BTreeSet<u32> = victim.0.iter().map(|step| step.wait.egress).filter(|at| *at != wait.egress).collect();
    let mut flows = vec![Flow { walk: victim, rate: Some(link / 20) }];
    let mut busy = BTreeSet::from([source]);
    let mut sum = 0u64;
    for queue in (0..32u8).filter(|queue| above >> queue & 1 == 1) {
        // Rate of this queue in bits per second: its rate limit, at most the link rate.
        let wanted = egress.limits.get(&queue).map_or(link, |limit| limit.saturating_mul(8)).min(link);
        let mut left = wanted;
        let waits: Vec<Wait> =
            reached.waits.iter().filter(|it| (it.egress, it.queue) == (wait.egress, queue)).copied().collect();
        for walk in by_source(device, paths, &waits) {
            let from = walk.source(device);
            let links: BTreeSet<u32> = walk.0.iter().map(|step| step.wait.egress).collect();
            let is_free = links.len() == walk.0.len() && links.is_disjoint(&shared);
            if left == 0 || !is_free || !busy.insert(from) {
                continue;
            }
            let rate = left.min(walk.source_rate(device));
            (left, sum) = (left - rate, sum + rate);
            flows.push(Flow { walk, rate: Some(rate) });
        }
        if left == 0 && sum >= link {
            break;
        }
    }
    if sum < link {
        return Err(format!(
            "the paths that were tried fill {:.1} of the {:.1} Gbps of the port at which frames {}",
            sum as f64 / 1e9,
            link as f64 / 1e9,
            at(device, wait)
        ));
    }
    let lowered = lower(device, &flows, Some(wait.egress))?;
    Ok(scenario::starvation(device, &flows, &lowered, wait))
}

/// Rate of the link at a port, in bits per second.
fn rate_of(device: &Device<'_>, number: u32) -> u64 {
    let Some(Port { node, index, .. }) = device.port(number) else { return 0 };
    let link = device.fabric.ports(*node)[usize::from(*index)].link;
    device.fabric.links()[link.index()].rate.as_bps()
}
