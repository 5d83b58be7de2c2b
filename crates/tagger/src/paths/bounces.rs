//! Up-down paths in a Clos with a limited number of bounces. A hop within a tier is also a bounce.

use super::error::PathError;
use super::expand::{SwitchPath, destinations, record, show};
use super::path::Visitor;
use super::trees::{Senders, Step, Tree};
use crate::graph::TaggedGraph;
use crate::ports::{LinkDirection, Ports, has, put};
use fabric::{Fabric, NodeId};
use std::collections::VecDeque;

/// Maximum number of switches for which paths are enumerated. In larger fabrics turns are recorded by hop number and
/// number of bounces, so paths that visit a switch twice also become lossless.
const MOST_SWITCHES_ONE_BY_ONE: usize = 24;

struct BouncePathSearch<'t, 'p, 'f> {
    tree: &'t Tree<'p, 'f>,
    exits: Vec<Vec<u32>>,
    source: u32,
    on_path: Vec<bool>,
    out: Vec<u32>,
}

fn direction(tree: &Tree, slot: u32, step: &Step) -> LinkDirection {
    let node = |slot: u32| NodeId(tree.nodes[slot as usize]);
    LinkDirection::between(tree.ports.fabric, node(slot), node(step.peer))
}

/// Returns the links between forwarding nodes of the same tier.
fn links_across(fabric: &Fabric) -> impl Iterator<Item = &fabric::Link> {
    fabric
        .links()
        .iter()
        .filter(|link| LinkDirection::between(fabric, link.a.node, link.b.node) == LinkDirection::Across)
}

/// Returns whether every link between forwarding nodes connects different tiers.
pub(crate) fn tiers_differ(fabric: &Fabric) -> bool {
    links_across(fabric).next().is_none()
}

/// Returns an error if links within tiers leave a host without a path of at most `bounces` bounces to another host. If
/// there are no such links, the tiers are assumed to be those of a Clos and are not checked.
pub(crate) fn check_reach(fabric: &Fabric, bounces: u8) -> Result<(), PathError> {
    let Some(link) = links_across(fabric).next() else { return Ok(()) };
    let host_at = |node: NodeId| {
        let mut near = fabric.ports(node).iter().map(|port| port.peer);
        near.find(|&peer| !fabric.node(peer).forwards()).or(fabric.host_index(node).map(|_| node))
    };
    let states: Vec<(NodeId, NodeId)> = (fabric.node_ids().filter(|&node| fabric.node(node).forwards()))
        .filter_map(|node| host_at(node).map(|host| (node, host)))
        .collect();
    // Minimum number of bounces with which each node is reached, separately for arrival from below and from above.
    let mut fewest = vec![[u16::MAX; 2]; fabric.nodes().len()];
    for &(from, sender) in &states {
        fewest.fill([u16::MAX; 2]);
        fewest[from.index()][0] = 0;
        let mut open = VecDeque::from([(from, false)]);
        while let Some((at, descending)) = open.pop_front() {
            let used = fewest[at.index()][usize::from(descending)];
            for port in fabric.ports(at).iter().filter(|port| fabric.node(port.peer).forwards()) {
                let direction = LinkDirection::between(fabric, at, port.peer);
                let bounced = used + u16::from(direction.bounces(descending));
                let known = &mut fewest[port.peer.index()][usize::from(direction == LinkDirection::Down)];
                if bounced <= u16::from(bounces) && bounced < *known {
                    *known = bounced;
                    // 0-1 breadth-first search: hops without a bounce are pushed to the front, so most states are
                    // expanded only once.
                    let next = (port.peer, direction == LinkDirection::Down);
                    if bounced == used { open.push_front(next) } else { open.push_back(next) }
                }
            }
        }
        if let Some((_, receiver)) = states.iter().find(|(to, _)| fewest[to.index()] == [u16::MAX; 2]) {
            let [a, b] = [link.a.node, link.b.node].map(|node| fabric.name(node).to_owned());
            let [from, to] = [sender, *receiver].map(|node| fabric.name(node).to_owned());
            let tier = fabric.node(link.a.node).tier;
            return Err(PathError::NoTiers { a, b, tier, from, to, bounces });
        }
    }
    Ok(())
}

impl BouncePathSearch<'_, '_, '_> {
    /// Visits all continuations of a path that has reached `at`; `descending` is set if the last hop went down.
    fn extend(&mut self, at: u32, descending: bool, bounces: u8, each: &mut dyn FnMut(&SwitchPath) -> bool) -> bool {
        let tree = self.tree;
        if !self.exits[at as usize].is_empty() {
            let path = SwitchPath { source: self.source, out: &self.out, exits: &self.exits[at as usize] };
            if !each(&path) {
                return false;
            }
        }
        self.on_path[at as usize] = true;
        let mut go_on = true;
        for step in tree.steps(at) {
            let direction = direction(tree, at, step);
            let bounce = direction.bounces(descending);
            if self.on_path[step.peer as usize] || (bounce && bounces == 0) {
                continue;
            }
            self.out.push(step.port);
            go_on = self.extend(step.peer, direction == LinkDirection::Down, bounces - u8::from(bounce), each);
            self.out.pop();
            if !go_on {
                break;
            }
        }
        self.on_path[at as usize] = false;
        go_on
    }
}

fn for_each(ports: &Ports, bounces: u8, each: &mut dyn FnMut(&SwitchPath) -> bool) -> Result<(), PathError> {
    check_reach(ports.fabric, bounces)?;
    let tree = Tree::new(ports);
    let ends = destinations(&tree);
    let mut exits = vec![Vec::new(); tree.nodes.len()];
    for (slot, ports) in &ends {
        exits[*slot as usize] = ports.clone();
    }
    let on_path = vec![false; tree.nodes.len()];
    let mut search = BouncePathSearch { tree: &tree, exits, source: 0, on_path, out: Vec::new() };
    for (from, _) in &ends {
        search.source = tree.nodes[*from as usize];
        if !search.extend(*from, false, bounces, each) {
            break;
        }
    }
    Ok(())
}

/// Visits every path.
pub(crate) fn visit(fabric: &Fabric, bounces: u8, visitor: &mut Visitor) -> Result<(), PathError> {
    let ports = Ports::new(fabric);
    let mut out_ports = Vec::new();
    for_each(&ports, bounces, &mut |path| show(&ports, path, &mut out_ports, visitor))
}

/// Records the turns of every path; in large fabrics without enumerating the paths.
pub(crate) fn record_turns(graph: &mut TaggedGraph, bounces: u8) -> Result<(), PathError> {
    let mut senders = Senders::new(graph.ports);
    if graph.ports.fabric.switches().count() <= MOST_SWITCHES_ONE_BY_ONE {
        for_each(graph.ports, bounces, &mut |path| {
            record(graph, &mut senders, path);
            true
        })?;
    } else {
        check_reach(graph.ports.fabric, bounces)?;
        by_height(graph, &mut senders, bounces);
    }
    senders.finish(graph);
    Ok(())
}

/// Records turns by hop and number of bounces. Starts from the set of ingress ports at which packets enter the fabric
/// and computes the reachable ingress ports hop by hop.
fn by_height(graph: &mut TaggedGraph, senders: &mut Senders, bounces: u8) {
    let ports = graph.ports;
    let fabric = ports.fabric;
    let node = |port: u32| NodeId(ports.node[port as usize]);
    // Direction of the link at a port.
    let direction = |port: u32| LinkDirection::between(fabric, node(port), node(ports.peer[port as usize]));
    let levels = usize::from(bounces) + 1;
    let mut now = vec![vec![0u64; ports.len().div_ceil(64)]; levels];
    for node in fabric.node_ids() {
        if !senders.at(ports, node.0) {
            continue;
        }
        for out in ports.of(node) {
            senders.take(ports, out);
            if !ports.faces_host(out) {
                put(&mut now[0], ports.peer[out as usize] as usize);
            }
        }
    }
    let mut hop = 1;
    while now.iter().flatten().any(|&word| word != 0) {
        graph.reserve_hops(hop + 1);
        let mut next = vec![vec![0u64; ports.len().div_ceil(64)]; levels];
        for at in 0..ports.len() as u32 {
            for used in (0..levels).filter(|&used| has(&now[used], at as usize)) {
                let descending = direction(at) == LinkDirection::Up;
                for out in ports.of(NodeId(ports.node[at as usize])).filter(|&out| out != at) {
                    let peer = ports.peer[out as usize];
                    let used = used + usize::from(direction(out).bounces(descending));
                    if used < levels {
                        put(&mut graph.hops[hop][ports.row(at)], ports.local(out));
                        if ports.forwards(peer) {
                            put(&mut next[used], peer as usize);
                        }
                    }
                }
            }
        }
        (now, hop) = (next, hop + 1);
    }
}
