//! Fat-trees of identical switches, and F10's AB fat-tree.

use super::parts::{TierLinks, add_hosts, add_switches, within};
use crate::{Fabric, FabricBuilder, FabricError, NodeId};

/// Generates the fat-tree of k-port switches (Al-Fares et al., 2008): k pods of k/2 edge and k/2 aggregation switches,
/// k²/4 cores, k³/4 hosts. `k` is even, 2..=128.
///
/// Names and ports generalise PABO's Fig. 10 (k = 4): pod p (from 0) has edge switches `S(kp+1)`.., followed by its
/// aggregation switches. Core switches are `C1`.., hosts `H1`.. in the order of edge switches. An edge switch has its
/// hosts on ports 0..k/2 and aggregation switch a on port k/2 + a. Aggregation switch a has edge switch e on port e and
/// core switch `C(a*k/2 + c + 1)` on port k/2 + c. A core switch has pod p on port p.
///
/// # Errors
/// If `k` is odd or outside 2..=128.
pub fn fat_tree(k: u32, links: TierLinks) -> Result<Fabric, FabricError> {
    fat_tree_oversubscribed(k, k / 2, links)
}

/// Generates a [`fat_tree`] with `hosts_per_edge` hosts on each edge switch instead of k/2. If all links have the same
/// rate, the oversubscription is `hosts_per_edge / (k/2)`.
///
/// # Errors
/// If `k` is odd or outside 2..=128, or `hosts_per_edge` outside 1..=512.
pub fn fat_tree_oversubscribed(k: u32, hosts_per_edge: u32, links: TierLinks) -> Result<Fabric, FabricError> {
    build("fat-tree", k, hosts_per_edge, links, |half, _, agg, c| agg * half + c)
}

/// Generates F10's AB fat-tree (Liu et al., NSDI 2013): like [`fat_tree`], but the pods alternate between two wirings
/// to the k/2 x k/2 core switches. In even pods (A) aggregation switch a is linked to row a, in odd pods (B) to column
/// a. If the link from a core switch down to a pod fails, another core switch reaches the pod through a different
/// aggregation switch.
///
/// # Errors
/// If `k` is odd or outside 2..=128.
pub fn f10(k: u32, links: TierLinks) -> Result<Fabric, FabricError> {
    let core = |half, pod: u32, agg, c| if pod.is_multiple_of(2) { agg * half + c } else { c * half + agg };
    build("f10", k, k / 2, links, core)
}

fn build(
    generator: &'static str,
    k: u32,
    hosts_per_edge: u32,
    links: TierLinks,
    core_of: impl Fn(u32, u32, u32, u32) -> u32,
) -> Result<Fabric, FabricError> {
    if !k.is_multiple_of(2) || !(2..=128).contains(&k) {
        let expected = "it must be even, between 2 and 128".to_owned();
        return Err(FabricError::Parameter { generator, parameter: "k", value: k.into(), expected });
    }
    within(generator, "hosts_per_edge", hosts_per_edge, 1..=512)?;
    let half = k / 2;
    let mut builder = FabricBuilder::new(generator);
    let hosts = add_hosts(&mut builder, k * half * hosts_per_edge);
    let pods: Vec<(Vec<NodeId>, Vec<NodeId>)> = (0..k)
        .map(|pod| {
            let edges = add_switches(&mut builder, "S", k * pod + 1, half, 1);
            (edges, add_switches(&mut builder, "S", k * pod + half + 1, half, 2))
        })
        .collect();
    let cores = add_switches(&mut builder, "C", 1, half * half, 3);
    // This order determines the port numbers: hosts before uplinks, edge switches before core switches.
    let mut waiting = hosts.iter();
    for (edges, _) in &pods {
        for &edge in edges {
            for &host in waiting.by_ref().take(hosts_per_edge as usize) {
                builder.connect(host, edge, links.host);
            }
        }
    }
    for (edges, aggs) in &pods {
        for &edge in edges {
            for &agg in aggs {
                builder.connect(edge, agg, links.edge);
            }
        }
    }
    for (pod, (_, aggs)) in pods.iter().enumerate() {
        for (a, &agg) in aggs.iter().enumerate() {
            for c in 0..half {
                let core = cores[core_of(half, pod as u32, a as u32, c) as usize];
                builder.connect(agg, core, links.core);
            }
        }
    }
    builder.build()
}
