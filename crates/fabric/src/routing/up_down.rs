//! Up-down (valley-free) routing: a frame that arrived from a higher node is only sent down, so that no cyclic buffer
//! dependency can form. It works in any connected fabric: by tier if the switches have tiers, otherwise by the levels
//! of a breadth-first tree (Autonet's up*/down*; nodes of equal level are ordered by node number).

use super::distances::{Search, UNREACHABLE};
use super::error::RoutingError;
use super::net::{NONE, RouterGraph, Rows};
use super::table::{Table, TableBuilder};
use crate::{Fabric, NodeId, NodeKind};

/// Second table of up-down routing, for frames that arrived from a higher node.
#[derive(Clone, Debug)]
pub(crate) struct Descending {
    pub table: Table,
    /// Whether the port leads to a higher node, by port number in the fabric ([`Fabric::port_number`]).
    pub upward: Vec<bool>,
}

/// Strict order of routers: one endpoint of every live link is above the other.
pub(crate) struct Order {
    key: Vec<u64>,
    /// Slots from highest to lowest.
    pub from_top: Vec<u32>,
}

impl Order {
    /// Creates the order: by tier if no root is given, the switches have several tiers (or there is only one switch),
    /// and no host relays; otherwise by distance from the root (default: the first switch).
    pub fn new(fabric: &Fabric, net: &RouterGraph, root: Option<NodeId>) -> Result<Order, RoutingError> {
        let mut tiers: Vec<u8> = fabric.switches().map(|switch| fabric.node(switch).tier).collect();
        let switches = tiers.len();
        tiers.sort_unstable();
        tiers.dedup();
        let tiered = !fabric.has_relays() && (tiers.len() > 1 || switches == 1);
        let heights: Vec<u64> = if root.is_none() && tiered {
            net.routers.iter().map(|&node| u64::from(fabric.node(node).tier)).collect()
        } else {
            tree_heights(fabric, net, root)?
        };
        Ok(Order::of(&heights))
    }

    /// Creates the order by tier, whatever the tiers are.
    pub fn by_tier(fabric: &Fabric, net: &RouterGraph) -> Order {
        Order::of(&net.routers.iter().map(|&node| u64::from(fabric.node(node).tier)).collect::<Vec<_>>())
    }

    fn of(heights: &[u64]) -> Order {
        let key: Vec<u64> =
            heights.iter().enumerate().map(|(slot, height)| height << 32 | u64::from(NONE - slot as u32)).collect();
        let mut from_top: Vec<u32> = (0..key.len() as u32).collect();
        from_top.sort_unstable_by_key(|&slot| std::cmp::Reverse(key[slot as usize]));
        Order { key, from_top }
    }

    /// Returns `true` if `a` is above `b`.
    #[inline]
    pub fn above(&self, a: u32, b: u32) -> bool {
        self.key[a as usize] > self.key[b as usize]
    }
}

fn tree_heights(fabric: &Fabric, net: &RouterGraph, root: Option<NodeId>) -> Result<Vec<u64>, RoutingError> {
    if let Some(node) = root.filter(|&node| !fabric.node(node).forwards()) {
        return Err(RoutingError::BadRoot { node: fabric.name(node).to_owned() });
    }
    let mut search = Search::new(net);
    let mut heights = vec![0; net.len()];
    // Each connected component gets its own tree, so that routes exist inside each part of a fabric that failures
    // partitioned.
    let first_switch = (0..net.len() as u32).find(|&s| fabric.node(net.routers[s as usize]).kind == NodeKind::Switch);
    let root = root.map(|node| net.slot[node.index()]).or(first_switch);
    for start in root.into_iter().chain(0..net.len() as u32) {
        if heights[start as usize] != 0 || !net.forwards[start as usize] {
            continue;
        }
        search.run(net, start, |_, _| true);
        for (slot, &links) in search.links.iter().enumerate() {
            if links != UNREACHABLE && net.forwards[slot] {
                heights[slot] = 1 + u64::from(UNREACHABLE - links);
            }
        }
    }
    Ok(heights)
}

/// Searches the shortest downward paths to a target.
pub(crate) fn search_down(search: &mut Search, net: &RouterGraph, order: &Order, target: u32) {
    search.run(net, target, |from, to| order.above(to, from));
}

pub(crate) fn build(
    fabric: &Fabric,
    net: &RouterGraph,
    rows: &Rows,
    order: &Order,
) -> Result<(Table, Descending), RoutingError> {
    let mut climbing = TableBuilder::new(net.len(), rows.len())?;
    let mut descending = TableBuilder::new(net.len(), rows.len())?;
    let mut down = Search::new(net);
    let mut any = vec![UNREACHABLE; net.len()];
    let mut ports = Vec::new();
    for (row, target) in rows.target.iter().enumerate() {
        let target = net.slot[target.index()];
        search_down(&mut down, net, order, target);
        // From the highest slot down, so that `any` is final for every higher neighbour.
        for &slot in &order.from_top {
            let usable = |peer: u32| peer == target || net.forwards[peer as usize];
            let step = |peer: u32| {
                let links = if order.above(peer, slot) { any[peer as usize] } else { down.links[peer as usize] };
                if usable(peer) { links.saturating_add(1) } else { UNREACHABLE }
            };
            let edges = net.edges(slot);
            let best = edges.iter().map(|edge| step(edge.peer)).min().unwrap_or(UNREACHABLE);
            ports.clear();
            ports.extend(edges.iter().filter(|edge| step(edge.peer) == best).map(|edge| edge.port));
            any[slot as usize] = if slot == target { 0 } else { best };
            if slot == target || best == UNREACHABLE {
                continue;
            }
            climbing.set(slot, &ports);
            // Frames from higher nodes use only shortest paths that consist of downward links.
            let links = down.links[slot as usize];
            ports.clear();
            ports.extend(
                edges
                    .iter()
                    .filter(|e| links != UNREACHABLE && usable(e.peer) && !order.above(e.peer, slot))
                    .filter(|edge| down.links[edge.peer as usize].saturating_add(1) == links)
                    .map(|edge| edge.port),
            );
            descending.set(slot, &ports);
        }
        climbing.end_row(row)?;
        descending.end_row(row)?;
    }
    let descending = Descending { table: descending.finish(net), upward: upward_ports(fabric, net, order) };
    Ok((climbing.finish(net), descending))
}

/// Returns, by port number in the fabric, whether the port leads to a higher router.
fn upward_ports(fabric: &Fabric, net: &RouterGraph, order: &Order) -> Vec<bool> {
    let mut upward = vec![false; fabric.port_count()];
    for (slot, &node) in net.routers.iter().enumerate() {
        for edge in net.edges(slot as u32) {
            upward[fabric.port_number(node, edge.port)] = order.above(edge.peer, slot as u32);
        }
    }
    upward
}
