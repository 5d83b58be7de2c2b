//! Trees and stars of switches.

use super::parts::{TierLinks, add_hosts, add_switches, affordable, within};
use crate::{Fabric, FabricBuilder, FabricError, NodeId};

/// Generates a tree: the root has `arity[0]` switches below it, each of them has `arity[1]` switches below it, and so
/// on. Each switch of the lowest level has `hosts_per_leaf` hosts, the root has `root_hosts`. Switches are named `S1`..
/// from the lowest level to the root, hosts `H1`.. in the order of the leaves, hosts of the root last. Ports: hosts and
/// lower switches first, then the uplink; the root's own hosts last. `links.edge` connects the two lowest levels of
/// switches, `links.core` all higher levels.
///
/// PABO's Fig. 4 is `tree(&[3, 1], 1, 1, ..)`: H1-S1-S4-S7, H2-S2-S5-S7, H3-S3-S6-S7, S7-H4.
///
/// # Errors
/// If a level has no switch, or there are more than 8 levels, fewer than 2 hosts, or too many nodes.
pub fn tree(arity: &[u32], hosts_per_leaf: u32, root_hosts: u32, links: TierLinks) -> Result<Fabric, FabricError> {
    build("tree", arity, hosts_per_leaf, root_hosts, links)
}

/// Generates a hub with `arms` switches linked to it, each with `hosts_per_arm` hosts, and `hub_hosts` hosts on the
/// hub: a [`tree`] of one level. The arm switches are `S1`.., the hub is the last switch; links between arm and hub
/// have the properties `links.edge`.
///
/// # Errors
/// If there is no arm, fewer than 2 hosts, or too many nodes.
pub fn star(arms: u32, hosts_per_arm: u32, hub_hosts: u32, links: TierLinks) -> Result<Fabric, FabricError> {
    build("star", &[arms], hosts_per_arm, hub_hosts, links)
}

fn build(
    generator: &'static str,
    arity: &[u32],
    hosts_per_leaf: u32,
    root_hosts: u32,
    links: TierLinks,
) -> Result<Fabric, FabricError> {
    within(generator, "levels", arity.len() as u32, 1..=8)?;
    let mut leaves = 1u64;
    for &children in arity {
        within(generator, "arity", children, 1..=60_000)?;
        affordable("nodes", &[leaves, children.into()])?;
        leaves *= u64::from(children);
    }
    within(generator, "root_hosts", root_hosts, 0..=5_000)?;
    within(generator, "hosts_per_leaf", hosts_per_leaf, 0..=60_000)?;
    affordable("nodes", &[leaves, hosts_per_leaf.into()])?;
    let leaf_hosts = leaves as u32 * hosts_per_leaf;
    within(generator, "hosts", leaf_hosts + root_hosts, 2..=u32::MAX)?;

    let mut builder = FabricBuilder::new(generator);
    let hosts = add_hosts(&mut builder, leaf_hosts + root_hosts);
    // Levels of switches from the leaves to the root.
    let mut levels: Vec<Vec<NodeId>> = Vec::new();
    let mut first = 1;
    for level in (0..=arity.len()).rev() {
        let count: u32 = arity[..level].iter().product();
        let tier = (arity.len() - level + 1) as u8;
        levels.push(add_switches(&mut builder, "S", first, count, tier));
        first += count;
    }
    for (index, &host) in hosts[..leaf_hosts as usize].iter().enumerate() {
        builder.connect(host, levels[0][index / hosts_per_leaf as usize], links.host);
    }
    for (height, pair) in levels.windows(2).enumerate() {
        let children = pair[0].len() / pair[1].len();
        for (index, &lower) in pair[0].iter().enumerate() {
            builder.connect(lower, pair[1][index / children], if height == 0 { links.edge } else { links.core });
        }
    }
    let root = levels[arity.len()][0];
    for &host in &hosts[leaf_hosts as usize..] {
        builder.connect(host, root, links.host);
    }
    builder.build()
}
