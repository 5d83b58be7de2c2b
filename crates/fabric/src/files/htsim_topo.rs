//! `.topo` files of htsim: parameters of a two- or three-tier tree.
//!
//! ```text
//! Nodes 32                      hosts
//! Tiers 2
//! Podsize 32                    hosts below one group of aggregation switches
//! Tier 0                        top-of-rack switches; 1: aggregation (with 2 tiers the top); 2: core
//! Downlink_speed_Gbps 100
//! Radix_Down 8                  downward ports, ...
//! Radix_Up 2                    ... and upward ports
//! Downlink_Latency_ns 1000
//! Switch_Latency_ns 0           split evenly between the links of each path through the switch
//! Bundle 1                      parallel links of each pair below this tier
//! ```
//!
//! Hosts are `H0`, `H1` ..., switches `tor0` ..., `agg0` ..., `core0` ..., numbered from 0 as in htsim. A top-of-rack
//! switch is connected to every aggregation switch of its pod. With n aggregation switches per pod, aggregation switch
//! i is connected to the core switches i, i + n, i + 2n ..., as in a fat-tree.

use super::error::FileError;
use super::plain::fail_line as fail;
use super::text::{lines, shown};
use crate::{Fabric, FabricBuilder, LinkSpec, NodeId};
use units::{Rate, Time};

#[derive(Clone, Copy, Debug, Default)]
struct Tier {
    line: usize,
    speed_gbps: u64,
    radix_down: u64,
    radix_up: u64,
    link_latency_ns: u64,
    switch_latency_ns: u64,
    bundle: u64,
}

/// Maximum number of hosts or ports; a larger number is assumed to be a typing error.
const MOST: u64 = 1 << 20;

/// Returns `true` if a line may be the first line of a `.topo` file.
pub(crate) fn is_first(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("Nodes") && words.next().is_some_and(|word| word.parse::<u64>().is_ok())
}

/// Reads a tree.
///
/// # Errors
/// [`FileError::Line`] with the line that has an invalid key or number or leaves ports unmatched; [`FileError::Fabric`]
/// if it is not a network.
pub fn read_htsim_topo(content: &str) -> Result<Fabric, FileError> {
    let (mut nodes, mut tiers_count, mut pod_size) = (0, 0, 0);
    let mut tiers: [Option<Tier>; 3] = [None; 3];
    let mut current: Option<usize> = None;
    let mut last = 1;
    for (line, text) in lines(content).filter(|(_, text)| !text.trim_start().starts_with('#')) {
        last = line;
        let mut words = text.split_whitespace();
        let (Some(key), Some(word)) = (words.next(), words.next()) else {
            return fail(line, format!("`{}` needs a number behind it", shown(text.trim())));
        };
        let number = word.parse::<u64>().ok().filter(|&number| number <= MOST * 1000);
        let Some(number) = number else { return fail(line, format!("`{}` is no number", shown(word))) };
        match key.to_ascii_lowercase().as_str() {
            "nodes" => nodes = number,
            "tiers" if !(2..=3).contains(&number) => return fail(line, "there are 2 or 3 tiers"),
            "tiers" => tiers_count = number as usize,
            "podsize" => pod_size = number,
            "tier" => {
                let index = number as usize;
                if index >= tiers_count {
                    return fail(line, format!("tier {number} of {tiers_count}: tiers count from 0, after `Tiers`"));
                }
                tiers[index] = Some(Tier { line, bundle: 1, ..Tier::default() });
                current = Some(index);
            }
            other => {
                let Some(tier) = current.and_then(|at| tiers[at].as_mut()) else {
                    return fail(line, format!("`{}` is before any `Tier`", shown(key)));
                };
                match other {
                    "downlink_speed_gbps" => tier.speed_gbps = number,
                    "radix_down" => tier.radix_down = number,
                    "radix_up" => tier.radix_up = number,
                    "downlink_latency_ns" => tier.link_latency_ns = number,
                    "switch_latency_ns" => tier.switch_latency_ns = number,
                    "bundle" => tier.bundle = number,
                    // `oversubscribed` is determined by the radixes, so it is ignored.
                    "oversubscribed" => {}
                    _ => {
                        let known = "Downlink_speed_Gbps, Radix_Down, Radix_Up, Downlink_Latency_ns, \
                                     Switch_Latency_ns, Oversubscribed or Bundle";
                        return fail(line, format!("`{}` is no key: expected {known}", shown(key)));
                    }
                }
            }
        }
    }
    if nodes == 0 || tiers_count == 0 {
        return fail(last, "`Nodes` and `Tiers` must say how large the tree is");
    }
    let mut all = Vec::new();
    for (index, tier) in tiers.iter().take(tiers_count).enumerate() {
        let Some(tier) = tier else { return fail(last, format!("`Tier {index}` is missing")) };
        for (what, number) in [
            ("Downlink_speed_Gbps", tier.speed_gbps),
            ("Radix_Down", tier.radix_down),
            ("Downlink_Latency_ns", tier.link_latency_ns),
            ("Bundle", tier.bundle),
            ("Radix_Up", if index + 1 < tiers_count { tier.radix_up } else { 1 }),
        ] {
            if number == 0 || number > MOST {
                return fail(tier.line, format!("tier {index} needs a {what} of 1 to {MOST}"));
            }
        }
        all.push(*tier);
    }
    build(nodes, if pod_size == 0 { nodes } else { pod_size }, &all)
}

/// Returns `a / b` if it is an integer, otherwise an error that names `what`.
fn share(a: u64, b: u64, tier: &Tier, what: &str) -> Result<u64, FileError> {
    if b == 0 || !a.is_multiple_of(b) {
        return fail(tier.line, format!("{what}: {a} does not divide by {b}"));
    }
    Ok(a / b)
}

fn build(nodes: u64, pod_size: u64, tiers: &[Tier]) -> Result<Fabric, FileError> {
    let (tor, agg) = (&tiers[0], &tiers[1]);
    if nodes > MOST {
        return fail(tor.line, format!("more than {MOST} hosts"));
    }
    let tors = share(nodes, tor.radix_down, tor, "hosts over hosts a rack")?;
    let pods = if tiers.len() == 2 { 1 } else { share(nodes, pod_size, tor, "hosts over hosts a pod")? };
    let tors_per_pod = share(tors, pods, tor, "racks over pods")?;
    // Every ToR is linked to every aggregation switch of its pod by a bundle of links.
    let aggs_per_pod = share(tor.radix_up, agg.bundle, agg, "uplinks of a rack over the bundle")?;
    if tors_per_pod * agg.bundle != agg.radix_down {
        let needed = tors_per_pod * agg.bundle;
        return fail(agg.line, format!("Radix_Down {}: {needed} links come up from the racks", agg.radix_down));
    }
    let aggs = aggs_per_pod * pods;
    let links = nodes + tors.saturating_mul(tor.radix_up) + aggs.saturating_mul(agg.radix_up);
    if links > MOST * 8 {
        return fail(tor.line, format!("{links} links: a fabric has at most {}", MOST * 8));
    }
    let mut builder = FabricBuilder::new("file");
    let hosts: Vec<NodeId> = (0..nodes).map(|i| builder.add_host(format!("H{i}"))).collect();
    let tor_nodes: Vec<NodeId> = (0..tors).map(|i| builder.add_switch(format!("tor{i}"), 1)).collect();
    let agg_nodes: Vec<NodeId> = (0..aggs).map(|i| builder.add_switch(format!("agg{i}"), 2)).collect();
    let spec = |below: &Tier, above: Option<&Tier>| {
        let halves = below.switch_latency_ns * 500 + above.map_or(0, |tier| tier.switch_latency_ns * 500);
        let down = above.unwrap_or(below);
        LinkSpec::new(Rate::from_gbps(down.speed_gbps), Time::from_ns(down.link_latency_ns) + Time::from_ps(halves))
    };
    hosts.iter().for_each(|&host| builder.because(host, "one of `Nodes`"));
    tor_nodes.iter().chain(&agg_nodes).for_each(|&node| builder.because(node, "made of a `Tier`"));
    for (index, &host) in hosts.iter().enumerate() {
        builder.connect(host, tor_nodes[index / tor.radix_down as usize], spec(tor, None));
    }
    for (index, &tor_node) in tor_nodes.iter().enumerate() {
        let pod = index as u64 / tors_per_pod;
        for agg_node in &agg_nodes[(pod * aggs_per_pod) as usize..((pod + 1) * aggs_per_pod) as usize] {
            (0..agg.bundle).for_each(|_| {
                builder.connect(tor_node, *agg_node, spec(tor, Some(agg)));
            });
        }
    }
    if let Some(core) = tiers.get(2) {
        let ups = share(agg.radix_up, core.bundle, core, "uplinks of an aggregation switch over the bundle")?;
        let cores = aggs_per_pod * ups;
        if pods * core.bundle != core.radix_down {
            let needed = pods * core.bundle;
            return fail(core.line, format!("Radix_Down {}: {needed} links come up from the pods", core.radix_down));
        }
        let core_nodes: Vec<NodeId> = (0..cores).map(|i| builder.add_switch(format!("core{i}"), 3)).collect();
        core_nodes.iter().for_each(|&node| builder.because(node, "made of a `Tier`"));
        for (index, &agg_node) in agg_nodes.iter().enumerate() {
            let position = index as u64 % aggs_per_pod;
            for up in 0..ups {
                let core_node = core_nodes[(up * aggs_per_pod + position) as usize];
                (0..core.bundle).for_each(|_| {
                    builder.connect(agg_node, core_node, spec(agg, Some(core)));
                });
            }
        }
    }
    let fabric = builder.build()?;
    fabric.check()?;
    Ok(fabric)
}
