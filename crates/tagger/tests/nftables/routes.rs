//! Routes of packets: all up-down paths, and routes around each pair of failed links.

use fabric::{Fabric, NodeId, NodeKind, PortIndex};
use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;
use tagger::paths::{ExpectedPaths, PathSource};

/// A sender, and the egress port at each node of the route, starting with the sender.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    pub source: NodeId,
    pub out_ports: Vec<PortIndex>,
}

impl Route {
    /// Returns switch, ingress port and egress port of each hop.
    pub fn hops(&self, fabric: &Fabric) -> Vec<(NodeId, PortIndex, PortIndex)> {
        let mut at = self.source;
        let mut hops = Vec::new();
        for pair in self.out_ports.windows(2) {
            let port = fabric.ports(at)[usize::from(pair[0])];
            hops.push((port.peer, port.peer_port, pair[1]));
            at = port.peer;
        }
        hops
    }

    /// Returns whether a table by (ingress port, destination) can represent the route.
    pub fn suits_router(&self, fabric: &Fabric) -> bool {
        let mut known = BTreeSet::new();
        self.hops(fabric).iter().all(|&(node, ingress, _)| known.insert((node, ingress)))
    }

    /// Returns whether a table by destination, as in a bridge, can represent the route.
    pub fn suits_bridge(&self, fabric: &Fabric) -> bool {
        let mut known = BTreeSet::new();
        self.hops(fabric).iter().all(|&(node, ..)| known.insert(node))
    }
}

/// Returns the up-down paths with at most one bounce.
pub fn listed(fabric: &Fabric) -> Vec<Route> {
    let mut all = Vec::new();
    let paths = ExpectedPaths::from(PathSource::UpDown { bounces: 1 });
    let mut add = |path: tagger::paths::Path<'_>| {
        all.push(Route { source: path.source, out_ports: path.out_ports.to_vec() });
        ControlFlow::Continue(())
    };
    paths.visit(fabric, &mut add).expect("paths");
    all
}

/// Returns two routes for each pair of failed links between switches. The first route follows a shortest path of the
/// fabric without failures up to the switch before the first failed link, and from there a shortest path over the
/// remaining links (local rerouting). The second route is a shortest path over the remaining links (converged routing).
pub fn around_two_failures(fabric: &Fabric) -> Vec<Route> {
    let is_switch = |node: NodeId| fabric.node(node).kind == NodeKind::Switch;
    let between: Vec<usize> = (0..fabric.links().len())
        .filter(|&link| is_switch(fabric.links()[link].a.node) && is_switch(fabric.links()[link].b.node))
        .collect();
    let mut found = BTreeSet::new();
    for (at, &first) in between.iter().enumerate() {
        for &second in &between[at + 1..] {
            for &to in fabric.hosts() {
                let (before, after) = (distances(fabric, to, &[]), distances(fabric, to, &[first, second]));
                for &source in fabric.hosts().iter().filter(|&&source| source != to) {
                    for choice in 0..2 {
                        let detour = walk(fabric, source, to, &before, &after, &[first, second], choice);
                        let anew = walk(fabric, source, to, &after, &after, &[first, second], choice);
                        found.extend([detour, anew].into_iter().flatten());
                    }
                }
            }
        }
    }
    found.into_iter().collect()
}

/// Returns the distance in hops of each node to `to`, without the links `without`.
fn distances(fabric: &Fabric, to: NodeId, without: &[usize]) -> Vec<Option<u32>> {
    let mut steps = vec![None; fabric.nodes().len()];
    let mut queue = VecDeque::from([(to, 0)]);
    steps[to.index()] = Some(0);
    while let Some((node, far)) = queue.pop_front() {
        for port in fabric.ports(node).iter().filter(|port| !without.contains(&port.link.index())) {
            if steps[port.peer.index()].is_none() && (node == to || fabric.node(node).forwards()) {
                steps[port.peer.index()] = Some(far + 1);
                queue.push_back((port.peer, far + 1));
            }
        }
    }
    steps
}

/// Follows a shortest path by the distances `before` until the next link has failed, then by the distances `after`. Of
/// several next hops, it takes the first or the last.
fn walk(
    fabric: &Fabric,
    source: NodeId,
    to: NodeId,
    before: &[Option<u32>],
    after: &[Option<u32>],
    failed: &[usize],
    choice: usize,
) -> Option<Route> {
    let (mut at, mut steps, mut out_ports) = (source, before, Vec::new());
    while at != to {
        let closer = |steps: &[Option<u32>], closed: &[usize]| {
            let here = steps[at.index()]?;
            let ports = fabric.ports(at).iter().zip(0..).filter(|(port, _)| {
                !closed.contains(&port.link.index()) && steps[port.peer.index()].is_some_and(|there| there + 1 == here)
            });
            let ports: Vec<PortIndex> = ports.map(|(_, number)| number).collect();
            if choice == 0 { ports.first().copied() } else { ports.last().copied() }
        };
        let mut out = closer(steps, &[])?;
        if failed.contains(&fabric.ports(at)[usize::from(out)].link.index()) {
            steps = after;
            out = closer(steps, failed)?;
        }
        out_ports.push(out);
        at = fabric.ports(at)[usize::from(out)].peer;
    }
    Some(Route { source, out_ports })
}
