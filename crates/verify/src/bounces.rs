//! Requires every path up and down the tiers, with a bounded number of bounces, to be lossless.

use crate::error::PathFault;
use crate::paths::Hop;
use crate::proof::{Verifier, host_ports};
use fabric::{Fabric, NodeId, NodeKind, PortIndex};

/// Maximum number of switches for which each path is followed separately. In larger fabrics the search follows states
/// (queue, number of bounces so far), which includes paths that visit a switch twice.
const MOST_SWITCHES_BY_PATH: usize = 24;

/// Depth-first enumeration of the paths between two switches with hosts.
struct Climb {
    hops: Vec<Hop>,
    visited: Vec<bool>,
}

/// Whether a frame can reach a host from an ingress port after a number of bounces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reachability {
    Unknown,
    /// A host can be reached with the remaining bounces.
    Yes,
    No,
}

/// Memoised search for the states (ingress port, number of bounces) from which a host is reachable.
struct TierReachability<'f> {
    fabric: &'f Fabric,
    /// Maximum number of bounces, plus one.
    levels: usize,
    /// Reachability of a host, by port number of the ingress port and number of bounces so far.
    ends: Vec<Reachability>,
}

/// Returns the tier of `to` minus the tier of `from`; hosts have tier -1.
fn rise(fabric: &Fabric, from: NodeId, to: NodeId) -> i16 {
    let height = |node: NodeId| match fabric.node(node).kind {
        NodeKind::Host => -1,
        NodeKind::Switch => i16::from(fabric.node(node).tier),
    };
    height(to) - height(from)
}

/// Whether a hop is a bounce: a turn from down to up, or a hop within a tier.
fn is_bounce(rise: i16, from_above: bool) -> bool {
    rise == 0 || (rise > 0 && from_above)
}

impl TierReachability<'_> {
    /// Returns the number of bounces of a frame after it leaves `node` by `port`; `None` if the frame must not leave by
    /// this port. The frame arrived by `ingress` and had bounced `used` times.
    fn onward(&self, node: NodeId, ingress: PortIndex, port: PortIndex, used: usize) -> Option<usize> {
        if port == ingress {
            return None;
        }
        let peer = |port: PortIndex| self.fabric.ports(node)[usize::from(port)].peer;
        let from_above = rise(self.fabric, node, peer(ingress)) > 0;
        let bounced = used + usize::from(is_bounce(rise(self.fabric, node, peer(port)), from_above));
        (bounced < self.levels).then_some(bounced)
    }

    /// Whether a frame can still reach a host: only paths that reach a host are required to be lossless. The recursion
    /// terminates because each hop changes the tier or is a bounce, and the number of bounces is bounded.
    fn ends(&mut self, node: NodeId, ingress: PortIndex, used: usize) -> bool {
        let at = self.fabric.port_number(node, ingress) * self.levels + used;
        if self.ends[at] == Reachability::Unknown {
            let ports = 0..self.fabric.ports(node).len() as PortIndex;
            let ends = ports.into_iter().any(|port| {
                let Some(used) = self.onward(node, ingress, port, used) else { return false };
                let peer = self.fabric.ports(node)[usize::from(port)];
                !self.fabric.node(peer.peer).forwards() || self.ends(peer.peer, peer.peer_port, used)
            });
            self.ends[at] = if ends { Reachability::Yes } else { Reachability::No };
        }
        self.ends[at] == Reachability::Yes
    }
}

impl Verifier<'_> {
    /// Requires every path up and down the tiers with at most `bounces` bounces to be lossless for every class. A
    /// bounce is a turn from down to up, or a hop within a tier. In fabrics of at most 24 switches paths visit no
    /// node twice. In larger ones paths that visit a node twice are included, except paths that leave a node by the
    /// ingress port.
    ///
    /// # Errors
    /// [`PathFault::NoTiers`] if links join switches of one tier, and some host has no path with at most `bounces`
    /// bounces to another host; [`PathFault::Relays`] if hosts forward.
    pub fn expect_bounces(&mut self, bounces: u8) -> Result<(), PathFault> {
        self.expected = true;
        let fabric = self.fabric;
        let mut hosts = fabric.hosts().iter();
        if let Some(&relay) = hosts.find(|&&host| fabric.node(host).forwards()) {
            return Err(PathFault::Relays { host: fabric.name(relay).to_owned() });
        }
        self.check_reach(bounces)?;
        for node in fabric.switches() {
            let exits: Vec<PortIndex> = host_ports(fabric, node).collect();
            self.expect_neighbours(node, &exits);
        }
        if fabric.switches().count() > MOST_SWITCHES_BY_PATH {
            for class in 0..self.table.classes.len() {
                self.follow_heights(bounces, class);
            }
            return Ok(());
        }
        let mut climb = Climb { hops: Vec::new(), visited: vec![false; fabric.nodes().len()] };
        for node in fabric.switches().filter(|&node| host_ports(fabric, node).next().is_some()) {
            self.climb(node, false, bounces, &mut climb)?;
        }
        Ok(())
    }

    /// Checks that each host can reach every other host. In fabrics with links within a tier, this may need more
    /// bounces.
    fn check_reach(&self, bounces: u8) -> Result<(), PathFault> {
        let fabric = self.fabric;
        let is_switch = |node: NodeId| fabric.node(node).kind == NodeKind::Switch;
        let inside = |link: &&fabric::Link| is_switch(link.a.node) && rise(fabric, link.a.node, link.b.node) == 0;
        let Some(link) = fabric.links().iter().find(inside) else { return Ok(()) };
        let edges: Vec<(NodeId, PortIndex)> =
            fabric.switches().filter_map(|node| Some((node, host_ports(fabric, node).next()?))).collect();
        let levels = usize::from(bounces) + 1;
        let mut seen = Vec::new();
        for &(from, port) in &edges {
            seen.clear();
            // Visited states: node, whether the frame arrived from a higher tier, and number of bounces so far.
            seen.resize(fabric.nodes().len() * 2 * levels, false);
            let at = |node: NodeId, above: bool, used: usize| (node.index() * 2 + usize::from(above)) * levels + used;
            let mut open = vec![(from, false, 0)];
            seen[at(from, false, 0)] = true;
            while let Some((node, above, used)) = open.pop() {
                for peer in fabric.ports(node).iter().map(|port| port.peer).filter(|&peer| is_switch(peer)) {
                    let rise = rise(fabric, node, peer);
                    let used = used + usize::from(is_bounce(rise, above));
                    if used < levels && !std::mem::replace(&mut seen[at(peer, rise < 0, used)], true) {
                        open.push((peer, rise < 0, used));
                    }
                }
            }
            let unseen = |node: NodeId| !seen[at(node, false, 0)..][..2 * levels].contains(&true);
            if let Some(&(to, to_port)) = edges.iter().find(|(node, _)| unseen(*node)) {
                let name = |node: NodeId| fabric.name(node).to_owned();
                let host = |node: NodeId, port: PortIndex| name(fabric.ports(node)[usize::from(port)].peer);
                let (a, b, tier) = (name(link.a.node), name(link.b.node), fabric.node(link.a.node).tier);
                return Err(PathFault::NoTiers { a, b, tier, from: host(from, port), to: host(to, to_port), bounces });
            }
        }
        Ok(())
    }

    /// Requires every path that extends `climb` from `at` to be lossless.
    fn climb(&mut self, at: NodeId, descending: bool, bounces: u8, climb: &mut Climb) -> Result<(), PathFault> {
        let fabric = self.fabric;
        if !climb.hops.is_empty() && host_ports(fabric, at).next().is_some() {
            self.expect_path(None, &climb.hops, at)?;
        }
        climb.visited[at.index()] = true;
        for (port, peer) in fabric.ports(at).iter().enumerate() {
            let rise = rise(fabric, at, peer.peer);
            let bounce = is_bounce(rise, descending);
            let host = fabric.node(peer.peer).kind == NodeKind::Host;
            if host || climb.visited[peer.peer.index()] || (bounce && bounces == 0) {
                continue;
            }
            climb.hops.push(Hop { node: at, port: port as PortIndex });
            self.climb(peer.peer, rise < 0, bounces - u8::from(bounce), climb)?;
            climb.hops.pop();
        }
        climb.visited[at.index()] = false;
        Ok(())
    }

    /// Follows every queue that frames of a class can reach, separately for each number of bounces.
    fn follow_heights(&mut self, bounces: u8, class: usize) {
        let (fabric, first) = (self.fabric, self.first_slot(class));
        let levels = usize::from(bounces) + 1;
        let mut heights =
            TierReachability { fabric, levels, ends: vec![Reachability::Unknown; fabric.port_count() * levels] };
        // Predecessor of each state (queue, number of bounces), from which the report of a lossy path is built.
        let states = self.table.graph.len() * levels;
        let (mut seen, mut before, mut open) = (vec![false; states], vec![usize::MAX; states], Vec::new());
        for node in fabric.switches() {
            for port in host_ports(fabric, node) {
                let vertex = self.table.graph.vertex(fabric.port_number(node, port) as u32, first);
                seen[vertex as usize * levels] = true;
                open.push(vertex as usize * levels);
            }
        }
        while let Some(state) = open.pop() {
            self.counts.routed_queues += 1;
            let (vertex, used) = ((state / levels) as u32, state % levels);
            let graph = &self.table.graph;
            let node = graph.ports.node(graph.port(vertex));
            let ingress = (graph.port(vertex) - graph.ports.base(node)) as PortIndex;
            let mut lost = Vec::new();
            for (port, peer) in fabric.ports(node).iter().enumerate() {
                let port = port as PortIndex;
                let Some(used) = heights.onward(node, ingress, port, used) else { continue };
                let forwards = fabric.node(peer.peer).forwards();
                if forwards && !heights.ends(peer.peer, peer.peer_port, used) {
                    continue;
                }
                match graph.onward_slot(vertex, port) {
                    None => lost.push(port),
                    Some(slot) if forwards => {
                        let queue = graph.vertex(fabric.port_number(peer.peer, peer.peer_port) as u32, slot);
                        let next = queue as usize * levels + used;
                        if !std::mem::replace(&mut seen[next], true) {
                            before[next] = state;
                            open.push(next);
                        }
                    }
                    Some(_) => {}
                }
            }
            for port in lost {
                let mut chain = vec![vertex];
                let mut at = state;
                while before[at] != usize::MAX {
                    at = before[at];
                    chain.push((at / levels) as u32);
                }
                chain.reverse();
                self.lose(class, &chain, fabric.port_number(node, port) as u32);
            }
        }
    }
}
