//! Summary statistics of a fabric.

use crate::{Fabric, NodeId, NodeKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Maximum number of edges (switches with hosts, or hosts with several links) from which searches start. If there are
/// more edges, diameter and path counts are computed from a sample, and the summary states so.
const MAX_SOURCES: usize = 256;

/// Summary of a fabric; `Display` prints it as text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Kind of the fabric.
    pub kind: String,
    /// Number of hosts.
    pub hosts: usize,
    /// Number of hosts that forward frames of other hosts.
    pub relays: usize,
    /// Number of switches.
    pub switches: usize,
    /// Number of links.
    pub links: usize,
    /// Summary of each tier, from the hosts up.
    pub tiers: Vec<TierSummary>,
    /// Links by tiers, rate and delay.
    pub link_groups: Vec<LinkGroup>,
    /// Maximum number of links on a shortest path between two hosts.
    pub diameter_links: usize,
    /// Shortest paths between the edges of two hosts, by length.
    pub shortest_paths: Vec<PathCount>,
    /// Number of edges (switches with hosts, or hosts with several links) from which searches started. If it is less
    /// than `edges`, diameter and path counts are computed from an evenly spaced sample.
    pub searched: usize,
    /// Total number of edges.
    pub edges: usize,
}

/// Nodes of one tier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TierSummary {
    /// 0: hosts, 1: edge switches, and so on.
    pub tier: u8,
    /// Number of nodes.
    pub nodes: usize,
    /// Minimum and maximum number of ports of a node.
    pub ports: (usize, usize),
    /// Total rate of links to lower tiers, in bit/s.
    pub down_bps: u64,
    /// Total rate of links to higher tiers, in bit/s.
    pub up_bps: u64,
    /// `down_bps / up_bps`; above 1, the nodes below can together send at a higher rate than the uplinks have. `None`
    /// for the hosts and the top tier.
    pub oversubscription: Option<f64>,
}

/// Number of links with equal properties.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkGroup {
    /// Lower and higher tier.
    pub tiers: (u8, u8),
    /// Number of links.
    pub links: usize,
    /// Rate, as text with unit.
    pub rate: String,
    /// Propagation delay, as text with unit.
    pub delay: String,
    /// Frame loss probability.
    pub loss: f64,
    /// Bit error rate.
    pub bit_error_rate: f64,
}

/// Number of shortest paths between edges, by path length.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathCount {
    /// Number of links from host to host.
    pub links: usize,
    /// Ordered pairs of edges at this distance, among those searched.
    pub pairs: u64,
    /// Minimum number of shortest paths of a pair.
    pub paths_min: u64,
    /// Maximum number of shortest paths of a pair.
    pub paths_max: u64,
}

/// Returns the edge of a host (its switch, or the host itself if it has several links or relays), and the number of
/// access links between them.
fn edge_of(fabric: &Fabric, host: NodeId) -> (NodeId, usize) {
    match fabric.ports(host) {
        [only] if fabric.node(only.peer).forwards() && !fabric.node(host).relay => (only.peer, 1),
        _ => (host, 0),
    }
}

/// Computes the summary, in at most a few seconds for 65,536 hosts.
pub fn summary(fabric: &Fabric) -> Summary {
    let mut tiers: BTreeMap<u8, TierSummary> = BTreeMap::new();
    for node in fabric.node_ids() {
        let (tier, ports) = (fabric.node(node).tier, fabric.ports(node).len());
        let entry = tiers.entry(tier).or_insert_with(|| TierSummary {
            tier,
            nodes: 0,
            ports: (ports, ports),
            down_bps: 0,
            up_bps: 0,
            oversubscription: None,
        });
        entry.nodes += 1;
        entry.ports = (entry.ports.0.min(ports), entry.ports.1.max(ports));
    }
    // Keys contain the bit patterns of the probabilities, which have the same order as the values because no value is
    // negative.
    let mut groups: BTreeMap<_, usize> = BTreeMap::new();
    for link in fabric.links() {
        let (a, b) = (fabric.node(link.a.node).tier, fabric.node(link.b.node).tier);
        let (low, high) = (a.min(b), a.max(b));
        let key = (low, high, link.rate, link.delay, link.loss.to_bits(), link.bit_error_rate.to_bits());
        *groups.entry(key).or_default() += 1;
        if low != high {
            let add = |sum: &mut u64| *sum = sum.saturating_add(link.rate.as_bps());
            tiers.entry(low).and_modify(|tier| add(&mut tier.up_bps));
            tiers.entry(high).and_modify(|tier| add(&mut tier.down_bps));
        }
    }
    for tier in tiers.values_mut().filter(|tier| tier.down_bps > 0 && tier.up_bps > 0) {
        tier.oversubscription = Some(tier.down_bps as f64 / tier.up_bps as f64);
    }
    let link_groups = groups.into_iter().map(|((low, high, rate, delay, loss, errors), links)| LinkGroup {
        tiers: (low, high),
        links,
        rate: rate.to_string(),
        delay: delay.to_string(),
        loss: f64::from_bits(loss),
        bit_error_rate: f64::from_bits(errors),
    });
    let paths = Paths::count(fabric);
    Summary {
        kind: fabric.kind().to_owned(),
        hosts: fabric.hosts().len(),
        relays: fabric.nodes().iter().filter(|node| node.relay).count(),
        switches: fabric.switches().count(),
        links: fabric.links().len(),
        tiers: tiers.into_values().collect(),
        link_groups: link_groups.collect(),
        diameter_links: paths.diameter,
        shortest_paths: paths.by_length.into_values().collect(),
        searched: paths.searched,
        edges: paths.edges,
    }
}

struct Paths {
    diameter: usize,
    by_length: BTreeMap<usize, PathCount>,
    searched: usize,
    edges: usize,
}

impl Paths {
    fn count(fabric: &Fabric) -> Paths {
        // Number of access links and of hosts, per edge.
        let mut edges: BTreeMap<NodeId, (usize, usize)> = BTreeMap::new();
        for &host in fabric.hosts() {
            let (edge, access) = edge_of(fabric, host);
            edges.entry(edge).or_insert((access, 0)).1 += 1;
        }
        let list: Vec<(NodeId, usize)> = edges.iter().map(|(&edge, &(access, _))| (edge, access)).collect();
        let shared = edges.values().any(|&(access, hosts)| access == 1 && hosts > 1);
        let searched = list.len().min(MAX_SOURCES);
        let mut paths =
            Paths { diameter: if shared { 2 } else { 0 }, by_length: BTreeMap::new(), searched, edges: list.len() };
        let mut links = vec![u32::MAX; fabric.nodes().len()];
        let mut path_counts = vec![0u64; fabric.nodes().len()];
        for sample in 0..searched {
            let (source, access) = list[sample * list.len() / searched];
            count_from(fabric, source, &mut links, &mut path_counts);
            for &(edge, other_access) in list.iter().filter(|(edge, _)| *edge != source) {
                if links[edge.index()] == u32::MAX {
                    continue;
                }
                let length = links[edge.index()] as usize + access + other_access;
                let count = path_counts[edge.index()];
                paths.diameter = paths.diameter.max(length);
                let entry = paths.by_length.entry(length).or_insert(PathCount {
                    links: length,
                    pairs: 0,
                    paths_min: count,
                    paths_max: count,
                });
                entry.pairs += 1;
                entry.paths_min = entry.paths_min.min(count);
                entry.paths_max = entry.paths_max.max(count);
            }
        }
        paths
    }
}

/// Computes the distance to every node and the number of shortest paths to it; parallel links count separately.
fn count_from(fabric: &Fabric, source: NodeId, links: &mut [u32], path_counts: &mut [u64]) {
    links.fill(u32::MAX);
    path_counts.fill(0);
    (links[source.index()], path_counts[source.index()]) = (0, 1);
    let mut queue = vec![source];
    let mut head = 0;
    while let Some(&at) = queue.get(head) {
        head += 1;
        if at != source && !fabric.node(at).forwards() {
            continue;
        }
        for port in fabric.ports(at) {
            let peer = port.peer.index();
            if links[peer] == u32::MAX {
                links[peer] = links[at.index()] + 1;
                queue.push(port.peer);
            }
            if links[peer] == links[at.index()] + 1 {
                path_counts[peer] = path_counts[peer].saturating_add(path_counts[at.index()]);
            }
        }
    }
}

/// Formats a count with thousands separators.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn tier_name(tier: u8, kind: NodeKind) -> String {
    match (tier, kind) {
        (0, NodeKind::Host) => "hosts".to_owned(),
        (1, _) => "edge".to_owned(),
        (2, _) => "aggregation".to_owned(),
        (3, _) => "core".to_owned(),
        _ => format!("tier {tier}"),
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relays = if self.relays > 0 { format!(" ({} relay)", grouped(self.relays)) } else { String::new() };
        let (hosts, switches, links) = (grouped(self.hosts), grouped(self.switches), grouped(self.links));
        writeln!(f, "{}: {hosts} hosts{relays}, {switches} switches, {links} links\n", self.kind)?;
        writeln!(f, "{:<12} {:>8} {:>9} {:>16}", "tier", "nodes", "ports", "oversubscription")?;
        for tier in &self.tiers {
            let kind = if tier.tier == 0 { NodeKind::Host } else { NodeKind::Switch };
            let ports = match tier.ports {
                (low, high) if low == high => low.to_string(),
                (low, high) => format!("{low}-{high}"),
            };
            let ratio = tier.oversubscription.map_or("-".to_owned(), |ratio| format!("{ratio:.2}:1"));
            writeln!(f, "{:<12} {:>8} {ports:>9} {ratio:>16}", tier_name(tier.tier, kind), grouped(tier.nodes))?;
        }
        writeln!(f, "\n{:<12} {:>8} {:>9} {:>16}  loss", "links", "count", "rate", "delay")?;
        for group in &self.link_groups {
            let between = format!("{} - {}", group.tiers.0, group.tiers.1);
            let loss = match (group.loss, group.bit_error_rate) {
                (0.0, 0.0) => "-".to_owned(),
                (loss, 0.0) => format!("{loss} of frames"),
                (0.0, errors) => format!("{errors} of bits"),
                (loss, errors) => format!("{loss} of frames, {errors} of bits"),
            };
            let count = grouped(group.links);
            writeln!(f, "{between:<12} {count:>8} {:>9} {:>16}  {loss}", group.rate, group.delay)?;
        }
        write!(f, "\ndiameter {} links", self.diameter_links)?;
        if self.searched < self.edges {
            write!(f, " (searched from {} of {} edges)", grouped(self.searched), grouped(self.edges))?;
        }
        writeln!(f)?;
        for path in &self.shortest_paths {
            let count = match (path.paths_min, path.paths_max) {
                (low, high) if low == high => low.to_string(),
                (low, high) => format!("{low} to {high}"),
            };
            let plural = if path.paths_max == 1 { "path" } else { "paths" };
            writeln!(
                f,
                "{count} shortest {plural} of {} links between {} pairs of edges",
                path.links,
                grouped(path.pairs as usize)
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkSpec;
    use crate::generate::*;
    use units::{Rate, Time};

    const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));

    #[test]
    fn a_fat_tree_has_quarter_k_squared_paths_between_pods() {
        for k in [4usize, 6, 8] {
            let facts = summary(&fat_tree(k as u32, TierLinks::uniform(LINK)).unwrap());
            assert_eq!((facts.diameter_links, facts.searched), (6, facts.edges));
            let edges = k * k / 2;
            let expected = [(4, edges * (k / 2 - 1), k / 2), (6, edges * (edges - k / 2), k * k / 4)];
            let found: Vec<_> =
                facts.shortest_paths.iter().map(|p| (p.links, p.pairs as usize, p.paths_min as usize)).collect();
            assert_eq!(found, expected);
            assert!(facts.shortest_paths.iter().all(|path| path.paths_min == path.paths_max));
            let ratios: Vec<_> = facts.tiers.iter().map(|tier| tier.oversubscription).collect();
            assert_eq!(ratios, [None, Some(1.0), Some(1.0), None]);
        }
        let facts = summary(&fat_tree_oversubscribed(8, 8, TierLinks::uniform(LINK)).unwrap());
        assert_eq!(facts.tiers[1].oversubscription, Some(2.0));
    }

    #[test]
    fn other_diameters() {
        let links = |fabric: Fabric| summary(&fabric).diameter_links;
        assert_eq!(links(single_switch(4, LINK).unwrap()), 2);
        assert_eq!(links(dumbbell(1, 1, LINK, LINK).unwrap()), 3);
        assert_eq!(links(ring(6, 1, LINK, LINK).unwrap()), 5);
        assert_eq!(links(bcube(4, 2, LINK).unwrap()), 6);
    }

    #[test]
    fn reads_as_a_table() {
        let text = summary(&leaf_spine(4, 2, 8, 2, TierLinks::uniform(LINK)).unwrap()).to_string();
        let expected = "\
leaf-spine: 32 hosts, 6 switches, 48 links

tier            nodes     ports oversubscription
hosts              32         1                -
edge                4        12           2.00:1
aggregation         2         8                -

links           count      rate            delay  loss
0 - 1              32   100Gbps            500ns  -
1 - 2              16   100Gbps            500ns  -

diameter 4 links
8 shortest paths of 4 links between 12 pairs of edges
";
        assert_eq!(text, expected);
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
