//! Two-level tables: downwards by the destination's subnet (prefix), upwards by its position under its
//! edge switch (suffix), so that each host is always reached over the same core (Al-Fares et al., 2008;
//! PABO's fat-tree, Fig. 10; TARGETS 1.3).
//!
//! With `i` the position of the destination among the hosts of its edge switch, `z` the position of a
//! switch among its siblings (edges under the same aggregation switch; aggregation switches over the same
//! edge) and `u` its number of upward ports, it sends upwards by its upward port number `(i + z) mod u`,
//! by ascending port. For k = 4 that is the paper's rule: the left switches of a pod use port `a` for an
//! address ending in `a` (2 or 3), the right ones port `5 - a`.

use super::distances::{Distances, Search, UNREACHABLE};
use super::net::{NONE, Net, Rows};
use super::table::{Table, TableBuilder};
use super::up_down::{Order, search_down};
use super::{RoutingError, shortest};
use crate::{Fabric, NodeId};

/// Upward ports and position of each switch.
struct Climb {
    upward: Vec<Vec<u16>>,
    position: Vec<u32>,
}

/// The distinct nodes on the ports of `node` that `wanted` accepts, by node number.
fn neighbours(fabric: &Fabric, node: NodeId, wanted: impl Fn(u8) -> bool) -> Vec<NodeId> {
    let mut found: Vec<NodeId> =
        fabric.ports(node).iter().map(|port| port.peer).filter(|&peer| wanted(fabric.node(peer).tier)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Where `node` stands among its siblings: edge switches under their first upper neighbour, others over
/// their first lower neighbour. Uses all links, healthy or not, so that a failure renumbers nobody.
fn position(fabric: &Fabric, node: NodeId) -> u32 {
    let tier = fabric.node(node).tier;
    let siblings = if tier == 1 {
        let above = neighbours(fabric, node, |other| other > tier);
        above.first().map(|&upper| neighbours(fabric, upper, |other| other == tier))
    } else {
        let below = neighbours(fabric, node, |other| other < tier);
        below.first().map(|&lower| neighbours(fabric, lower, |other| other == tier))
    };
    siblings.and_then(|siblings| siblings.iter().position(|&sibling| sibling == node)).unwrap_or(0) as u32
}

/// Rows: one per host, delivered by the table down to the last port.
fn host_rows(fabric: &Fabric) -> Rows {
    let hosts = fabric.hosts().len();
    Rows {
        attach: (0..hosts as u32).collect(),
        row_switch: vec![NONE; hosts],
        target: fabric.hosts().to_vec(),
        local_port: vec![0; hosts],
    }
}

pub(crate) fn build(fabric: &Fabric, net: &Net, shared: &Rows) -> Result<(Table, Rows, Distances), RoutingError> {
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
        return reason(format!("`{a}` and `{b}` are linked but stand on the same tier"));
    }
    let order = Order::by_tier(fabric, net);
    let climb = Climb {
        upward: (0..net.len() as u32)
            .map(|slot| net.edges(slot).iter().filter(|e| order.above(e.peer, slot)).map(|e| e.port).collect())
            .collect(),
        position: net.routers.iter().map(|&node| position(fabric, node)).collect(),
    };
    let (_, distances) = shortest::build(net, shared)?;
    let rows = host_rows(fabric);
    let mut table = TableBuilder::new(net.len(), rows.len())?;
    let mut down = Search::new(net);
    let mut ports = Vec::new();
    let mut hosts_of_row: Vec<Vec<u32>> = vec![Vec::new(); shared.len()];
    for (host, &row) in shared.attach.iter().enumerate() {
        hosts_of_row[row as usize].push(host as u32);
    }
    for (row, target) in shared.target.iter().enumerate() {
        let target_slot = net.slot[target.index()];
        if target_slot == NONE {
            continue; // Its only link is out.
        }
        search_down(&mut down, net, &order, target_slot);
        // Position under the edge switch counts all its hosts, also those whose link is out.
        let all: Vec<NodeId> =
            fabric.ports(*target).iter().map(|p| p.peer).filter(|&p| fabric.host_index(p).is_some()).collect();
        for &host in &hosts_of_row[row] {
            let node = fabric.host_node(host);
            let suffix = all.iter().position(|&other| other == node).unwrap_or(0) as u32;
            for slot in 0..net.len() as u32 {
                let links = down.links[slot as usize];
                ports.clear();
                if slot == target_slot {
                    ports.push(shared.local_port[host as usize]);
                } else if links != UNREACHABLE {
                    ports.extend(
                        net.edges(slot)
                            .iter()
                            .filter(|e| !order.above(e.peer, slot) && down.links[e.peer as usize] == links - 1)
                            .map(|e| e.port),
                    );
                } else if let upward @ [_, ..] = climb.upward[slot as usize].as_slice() {
                    ports.push(upward[(suffix + climb.position[slot as usize]) as usize % upward.len()]);
                }
                table.set(slot, host as usize, &ports)?;
            }
        }
    }
    Ok((table.finish(net), rows, distances))
}
