//! Two-level tables: downwards by the destination's subnet (prefix), upwards by its position at its edge switch
//! (suffix), so that all frames to a host pass through one core switch (Al-Fares et al., 2008; PABO's fat-tree, Fig.
//! 10).
//!
//! Let `i` be the position of the destination among the hosts of its edge switch, `z` the position of a switch among
//! its siblings (edge switches below one aggregation switch, or aggregation switches above one edge switch), and `u`
//! its number of upward ports. The switch sends upwards by its upward port number `(i + z) mod u`, counted in ascending
//! order. For k = 4 that is the paper's rule: the left switches of a pod use port `a` for an address ending in `a` (2
//! or 3), the right switches port `5 - a`.

use super::distances::{Search, UNREACHABLE};
use super::error::RoutingError;
use super::net::{Attachment, NONE, RouterGraph, Rows};
use super::table::{Table, TableBuilder};
use super::up_down::{Order, search_down};
use crate::{Fabric, NodeId};

/// Upward ports of one switch.
struct Climb {
    /// Per upward port, ascending: number of the list with only this port. If there is no upward port: number of the
    /// empty list.
    lists: Vec<u32>,
    position: usize,
}

impl Climb {
    fn new(fabric: &Fabric, net: &RouterGraph, order: &Order, slot: u32, table: &mut TableBuilder) -> Climb {
        let upward = net.edges(slot).iter().filter(|edge| order.above(edge.peer, slot));
        let mut lists: Vec<u32> = upward.map(|edge| table.list(&[edge.port])).collect();
        if lists.is_empty() {
            lists.push(table.list(&[]));
        }
        Climb { lists, position: position(fabric, net.routers[slot as usize]) }
    }

    fn list(&self, suffix: usize) -> u32 {
        self.lists[(suffix + self.position) % self.lists.len()]
    }
}

/// Returns the distinct neighbours of `node` whose tier is `wanted`, by node number.
fn neighbours(fabric: &Fabric, node: NodeId, wanted: impl Fn(u8) -> bool) -> Vec<NodeId> {
    let mut found: Vec<NodeId> =
        fabric.ports(node).iter().map(|port| port.peer).filter(|&peer| wanted(fabric.node(peer).tier)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the position of `node` among its siblings: of an edge switch among the edge switches below its first upper
/// neighbour, of another switch among the switches above its first lower neighbour. Failed links are included, so that
/// a failure does not renumber switches.
fn position(fabric: &Fabric, node: NodeId) -> usize {
    let tier = fabric.node(node).tier;
    let siblings = if tier == 1 {
        let above = neighbours(fabric, node, |other| other > tier);
        above.first().map(|&upper| neighbours(fabric, upper, |other| other == tier))
    } else {
        let below = neighbours(fabric, node, |other| other < tier);
        below.first().map(|&lower| neighbours(fabric, lower, |other| other == tier))
    };
    siblings.and_then(|siblings| siblings.iter().position(|&sibling| sibling == node)).unwrap_or(0)
}

/// Returns one row per host, for which the table also has the port of the last hop.
fn host_rows(fabric: &Fabric) -> Rows {
    let hosts = fabric.hosts().len();
    Rows {
        attach: (0..hosts as u32).map(|row| Attachment { row, port: 0 }).collect(),
        row_switch: vec![NONE; hosts],
        target: fabric.hosts().to_vec(),
    }
}

pub(crate) fn build(fabric: &Fabric, net: &RouterGraph, shared: &Rows) -> Result<(Table, Rows), RoutingError> {
    let reason = |reason: String| Err(RoutingError::NotTwoLevel { reason });
    for &host in fabric.hosts() {
        let [only] = fabric.ports(host) else {
            return reason(format!("host `{}` has {} links, not 1", fabric.name(host), fabric.ports(host).len()));
        };
        if fabric.node(only.peer).tier != 1 {
            return reason(format!("host `{}` is not on an edge switch (tier 1)", fabric.name(host)));
        }
    }
    let level = |link: &&crate::Link| fabric.node(link.a.node).tier == fabric.node(link.b.node).tier;
    if let Some(flat) = fabric.links().iter().find(level) {
        let (a, b) = (fabric.name(flat.a.node), fabric.name(flat.b.node));
        return reason(format!("`{a}` and `{b}` are linked but on the same tier"));
    }
    let order = Order::by_tier(fabric, net);
    let rows = host_rows(fabric);
    let mut table = TableBuilder::new(net.len(), rows.len())?;
    let climbs: Vec<Climb> =
        (0..net.len() as u32).map(|slot| Climb::new(fabric, net, &order, slot, &mut table)).collect();
    let mut hosts_of_row: Vec<Vec<u32>> = vec![Vec::new(); shared.len()];
    for (host, &Attachment { row, .. }) in shared.attach.iter().enumerate() {
        hosts_of_row[row as usize].push(host as u32);
    }
    let mut down = Search::new(net);
    let mut lists_down = vec![None; net.len()];
    for (row, &edge) in shared.target.iter().enumerate() {
        let target = net.slot[edge.index()];
        if target == NONE {
            continue; // The host's only link is dead.
        }
        search_down(&mut down, net, &order, target);
        for (slot, list) in (0..).zip(&mut lists_down) {
            let leads_down = slot != target && down.links[slot as usize] != UNREACHABLE;
            *list = leads_down.then(|| table.list(&ports_down(net, &order, &down, slot)));
        }
        for &host in &hosts_of_row[row] {
            let suffix = suffix(fabric, edge, host);
            for ((slot, climb), list) in (0..).zip(&climbs).zip(&lists_down) {
                table.put(slot, list.unwrap_or_else(|| climb.list(suffix)));
            }
            table.set(target, &[shared.attach[host as usize].port]);
            table.end_row(host as usize)?;
        }
    }
    Ok((table.finish(net), rows))
}

/// Returns the position of a host among all hosts of its edge switch, including those with a dead link.
fn suffix(fabric: &Fabric, edge: NodeId, host: u32) -> usize {
    let hosts = fabric.ports(edge).iter().filter_map(|port| fabric.host_index(port.peer));
    hosts.take_while(|&other| other != host).count()
}

/// Returns the ports of a slot that lead down towards the target of the completed search `down`.
fn ports_down(net: &RouterGraph, order: &Order, down: &Search, slot: u32) -> Vec<u16> {
    let nearer = down.links[slot as usize] - 1;
    let edges = net.edges(slot).iter();
    let lower = edges.filter(|e| !order.above(e.peer, slot) && down.links[e.peer as usize] == nearer);
    lower.map(|edge| edge.port).collect()
}
