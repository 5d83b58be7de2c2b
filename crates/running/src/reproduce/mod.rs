//! Scenarios of the simulator that reproduce a counterexample of the check.
//!
//! ```text
//!   cycle, starved queue -> walks: paths of frames from host to host through each wait
//!                        -> maps: account, queue and class of these frames at each hop, in eight classes
//!                        -> scenario: paths, traffic, and the reaction that is expected
//! ```
//!
//! The simulated frames are those of the counterexample only. Thresholds, headroom and buffers are chosen: no proof
//! rests on them.

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
use walks::{best, random};

/// A scenario with its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The scenario, as TOML. It names the files `maps_file` and [`TOPOLOGY_FILE`].
    pub scenario: String,
    /// Name of the file of QoS maps.
    pub maps_file: &'static str,
    /// Its text.
    pub maps: String,
    /// Egress ports that the simulation must find blocked, by name of node and number of port: the whole cycle of a
    /// deadlock, or the port at which a queue starves.
    pub ports: Vec<(String, u16)>,
}

/// Name of the topology's file, as node-link JSON ([`fabric::files::write_node_link`]).
pub const TOPOLOGY_FILE: &str = "topology.json";

/// A counterexample, or the reason why the simulator cannot express it.
pub type Reproduced = Result<Counterexample, String>;

/// Counterexamples of a configuration.
#[derive(Clone, Debug, Default)]
pub struct Counterexamples {
    /// The cycle of [`crate::Report::cycle`]; `None` without a cycle.
    pub deadlock: Option<Reproduced>,
    /// A lossless account that a queue of strict priority starves; `None` if there is none.
    pub starvation: Option<Reproduced>,
}

/// Returns scenarios for the cycle and the first starved account that [`crate::judge`] finds with these options.
///
/// # Errors
/// Like [`crate::judge`].
pub fn counterexamples(
    fabric: &Fabric,
    configs: &[SwitchConfig],
    queues: QueueBinding,
    paths: PathSet,
) -> Result<Counterexamples, Vec<Fault>> {
    let device = Device::new(fabric, configs, queues)?;
    let reached = follow(&device, paths);
    let (found, _) = deadlock::search(&device, &reached);
    let deadlock = (!found.waits.is_empty()).then(|| cycle(&device, paths, &found.waits));
    Ok(Counterexamples { deadlock, starvation: starvation(&device, paths, &reached) })
}

/// Returns a scenario with many flows on random paths of the set, as many as `flows` if their frames have at most eight
/// marks. A configuration without a cycle must not deadlock under it.
///
/// # Errors
/// Like [`crate::judge`].
pub fn load(
    fabric: &Fabric,
    configs: &[SwitchConfig],
    queues: QueueBinding,
    paths: PathSet,
    (flows, seed): (usize, u64),
) -> Result<Reproduced, Vec<Fault>> {
    let device = Device::new(fabric, configs, queues)?;
    let mut kept: Vec<Flow> = Vec::new();
    for walk in random(&device, paths, 4 * flows, seed) {
        if kept.len() == flows {
            break;
        }
        kept.push(Flow { walk, rate: None });
        if lower(&device, &kept, None).is_err() {
            kept.pop();
        }
    }
    let lowered = match lower(&device, &kept, None) {
        Ok(lowered) => lowered,
        Err(why) => return Ok(Err(why)),
    };
    let slow = kept.first().map(|flow| flow.walk.sink(&device));
    Ok(Ok(scenario::deadlock(&device, &kept, &lowered, slow, Vec::new())))
}

/// A scenario for a cycle of accounts: frames of each account that wait for the next.
fn cycle(device: &Device<'_>, paths: PathSet, waits: &[Wait]) -> Reproduced {
    let found = best(device, paths, waits);
    let mut flows = Vec::new();
    for (wait, walk) in waits.iter().zip(found) {
        let walk = walk.ok_or_else(|| format!("no frames from a host to another {}", at(device, wait)))?;
        flows.push(Flow { walk, rate: None });
    }
    // A slow host fills the accounts along the paths of its frames, and no others.
    for (position, wait) in waits.iter().enumerate() {
        let next = &waits[(position + 1) % waits.len()];
        if wait.next.is_none_or(|arrival| arrival.group != next.group) {
            return Err(format!(
                "frames that {} arrive in another priority group than {}, which stops that queue and which other \
                 frames fill: no scenario is known that fills both",
                at(device, wait),
                next.group
            ));
        }
    }
    let lowered = lower(device, &flows, None)?;
    let slow = flows.first().map(|flow| flow.walk.sink(device));
    let ports = waits.iter().map(|wait| end(device, wait.egress)).collect();
    Ok(scenario::deadlock(device, &flows, &lowered, slow, ports))
}

fn end(device: &Device<'_>, number: u32) -> (String, u16) {
    device.port(number).map_or_else(Default::default, |port| (device.fabric.name(port.node).to_owned(), port.index))
}

/// Text such as `waits in queue 3 of tor-a Ethernet0`.
fn at(device: &Device<'_>, wait: &Wait) -> String {
    let (name, port) = device.end(wait.egress);
    format!("wait in queue {} of {} {}", wait.queue, fabric::visible(name), fabric::visible(&port))
}

/// Queues that starve a lossless account at a port.
struct Starved<'r> {
    wait: &'r Wait,
    /// Bitmask.
    above: u32,
}

/// A scenario for the first starved account that the simulator can express; without one, the reason for the first.
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
    // Ports of hosts come first: all their frames arrive by other ports.
    candidates.sort_by_key(|starved| device.peer(starved.wait.egress).is_some());
    for starved in candidates.iter().take(16) {
        match starve(device, paths, reached, starved) {
            Ok(found) => return Some(Ok(found)),
            Err(why) => drop(first.get_or_insert(why)),
        }
    }
    let without = |wait: &Wait| format!("frames {}, which has no scheduler to simulate", at(device, wait));
    first.or_else(|| unscheduled.map(without)).map(Err)
}

fn starve(device: &Device<'_>, paths: PathSet, reached: &ReachableWaits, starved: &Starved<'_>) -> Reproduced {
    let Starved { wait, above } = starved;
    let Some(egress) = device.port(wait.egress) else { return Err("no such port".to_owned()) };
    let victim = best(device, paths, &[**wait]).into_iter().next().flatten();
    let victim = victim.ok_or_else(|| format!("no frames from a host to another {}", at(device, wait)))?;
    let source = victim.source(device);
    let link = rate_of(device, wait.egress);
    // Frames that fill the port pass no link twice, and share none with the starved ones before.
    let shared: BTreeSet<u32> = victim.0.iter().map(|step| step.wait.egress).filter(|at| *at != wait.egress).collect();
    let mut flows = vec![Flow { walk: victim, rate: Some(link / 20) }];
    let mut busy = BTreeSet::from([source]);
    let mut sum = 0u64;
    for queue in (0..32u8).filter(|queue| above >> queue & 1 == 1) {
        // Bits per second that this queue sends: its limit, or all.
        let wanted = egress.limits.get(&queue).map_or(link, |limit| limit.saturating_mul(8)).min(link);
        let mut left = wanted;
        let waits: Vec<Wait> =
            reached.waits.iter().filter(|it| (it.egress, it.queue) == (wait.egress, queue)).copied().collect();
        for walk in best(device, paths, &waits).into_iter().flatten() {
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
            "hosts of its paths fill {} of the {} bit/s of the port at which frames {}",
            sum,
            link,
            at(device, wait)
        ));
    }
    let lowered = lower(device, &flows, Some(wait.egress))?;
    Ok(scenario::starvation(device, &flows, &lowered, wait.egress))
}

/// Rate of the link at a port, in bits per second.
fn rate_of(device: &Device<'_>, number: u32) -> u64 {
    let Some(Port { node, index, .. }) = device.port(number) else { return 0 };
    let link = device.fabric.ports(*node)[usize::from(*index)].link;
    device.fabric.links()[link.index()].rate.as_bps()
}
