//! Leaf-spine and three-tier folded Clos fabrics.

use super::parts::{TierLinks, add_hosts, add_switches, affordable, within};
use crate::{Fabric, FabricBuilder, FabricError};

/// Generates a leaf-spine fabric: every leaf (`L1`..) is linked to every spine (`S1`..) by `links_per_pair` parallel
/// links and has `hosts_per_leaf` hosts. The oversubscription is the rate of a leaf's hosts over that of its uplinks:
/// `hosts_per_leaf * host_rate / (spines * links_per_pair * uplink_rate)`. Ports of a leaf: hosts first, then the
/// spines in order. Leaf-spine links have the properties `links.edge`.
///
/// # Errors
/// If a count is zero or the fabric is too large.
pub fn leaf_spine(
    leaves: u32,
    spines: u32,
    hosts_per_leaf: u32,
    links_per_pair: u32,
    links: TierLinks,
) -> Result<Fabric, FabricError> {
    const KIND: &str = "leaf-spine";
    within(KIND, "leaves", leaves, 1..=60_000)?;
    within(KIND, "spines", spines, 1..=60_000)?;
    within(KIND, "hosts_per_leaf", hosts_per_leaf, 1..=60_000)?;
    within(KIND, "links_per_pair", links_per_pair, 1..=1_000)?;
    affordable("links", &[leaves.into(), spines.into(), links_per_pair.into()])?;
    affordable("nodes", &[leaves.into(), hosts_per_leaf.into()])?;
    let mut builder = FabricBuilder::new(KIND);
    let hosts = add_hosts(&mut builder, leaves * hosts_per_leaf);
    let leaf = add_switches(&mut builder, "L", 1, leaves, 1);
    let spine = add_switches(&mut builder, "S", 1, spines, 2);
    for (index, &host) in hosts.iter().enumerate() {
        builder.connect(host, leaf[index / hosts_per_leaf as usize], links.host);
    }
    for &lower in &leaf {
        for &upper in &spine {
            for _ in 0..links_per_pair {
                builder.connect(lower, upper, links.edge);
            }
        }
    }
    builder.build()
}

/// Generates a three-tier folded Clos: `pods` pods of `tors_per_pod` ToRs (`T1`..) and `leaves_per_pod` leaves
/// (`L1`..), fully meshed inside the pod; every leaf is linked to each of the `spines` spines (`S1`..); each ToR has
/// `hosts_per_tor` hosts. Tagger's Fig. 2 is `clos(2, 2, 2, 2, 4, ..)`. Ports: downlinks first, then uplinks, each in
/// numerical order.
///
/// # Errors
/// If a count is zero or the fabric is too large.
pub fn clos(
    pods: u32,
    tors_per_pod: u32,
    leaves_per_pod: u32,
    spines: u32,
    hosts_per_tor: u32,
    links: TierLinks,
) -> Result<Fabric, FabricError> {
    const KIND: &str = "clos";
    for (name, count) in [
        ("pods", pods),
        ("tors_per_pod", tors_per_pod),
        ("leaves_per_pod", leaves_per_pod),
        ("spines", spines),
        ("hosts_per_tor", hosts_per_tor),
    ] {
        within(KIND, name, count, 1..=20_000)?;
    }
    affordable("nodes", &[pods.into(), tors_per_pod.into(), hosts_per_tor.into()])?;
    affordable("links", &[pods.into(), tors_per_pod.into(), leaves_per_pod.into()])?;
    affordable("links", &[pods.into(), leaves_per_pod.into(), spines.into()])?;
    let mut builder = FabricBuilder::new(KIND);
    let hosts = add_hosts(&mut builder, pods * tors_per_pod * hosts_per_tor);
    let spine = add_switches(&mut builder, "S", 1, spines, 3);
    let leaf = add_switches(&mut builder, "L", 1, pods * leaves_per_pod, 2);
    let tor = add_switches(&mut builder, "T", 1, pods * tors_per_pod, 1);
    for (index, &host) in hosts.iter().enumerate() {
        builder.connect(host, tor[index / hosts_per_tor as usize], links.host);
    }
    let leaves_of = |pod: usize| &leaf[pod * leaves_per_pod as usize..(pod + 1) * leaves_per_pod as usize];
    for (index, &lower) in tor.iter().enumerate() {
        for &upper in leaves_of(index / tors_per_pod as usize) {
            builder.connect(lower, upper, links.edge);
        }
    }
    for &lower in &leaf {
        for &upper in &spine {
            builder.connect(lower, upper, links.core);
        }
    }
    builder.build()
}
