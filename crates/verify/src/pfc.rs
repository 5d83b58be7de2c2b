//! Deadlock check of a fabric and its routing under PFC with one class, without tags.

use crate::cycle::shortest;
use crate::error::VerifyError;
use crate::graph::{Graph, Ports};
use crate::paths::{ListedPath, PathList};
use crate::proof::host_ports;
use crate::routes::{destinations, entries};
use crate::verdict::TaggedLink;
use fabric::routing::{Forwarding, UNREACHABLE};
use fabric::{Fabric, LinkId, NodeId, PortIndex};
use serde::Serialize;

/// Frames for which the fabric is checked.
#[derive(Clone, Copy, Debug)]
pub enum Traffic<'a> {
    /// Frames follow routing tables, from every host to every other host.
    Routes {
        /// The routing tables.
        routes: &'a Forwarding,
        /// Failed links, which detours avoid. The routing tables may still use these links.
        failed: &'a [LinkId],
        /// Maximum number of local detours per frame. At any switch, a frame may be detoured as if all ports of its
        /// ECMP group had just failed: it leaves by those of the other ports that are nearest to the destination,
        /// except the ingress port.
        bounces: u8,
    },
    /// Frames follow the paths of a list, in the format of [`PathList`].
    Paths(&'a [u8]),
}

/// A queue of a cyclic buffer dependency. It waits for the next queue of the cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dependency {
    /// The link over which frames arrive in the queue.
    pub link: TaggedLink,
    /// Destinations of frames that arrive over this link and leave over the link of the next queue, in the order of the
    /// fabric.
    pub destinations: Vec<String>,
}

/// Result of the deadlock check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PfcVerdict {
    /// Whether there is no cyclic buffer dependency.
    pub deadlock_free: bool,
    /// Number of ingress ports at which frames arrive that a node forwards.
    pub queues: u64,
    /// Number of pairs of queues in which the first queue waits for the second.
    pub dependencies: u64,
    /// A shortest cycle: each queue waits for the next, the last for the first. Empty if there is no cycle.
    pub cycle: Vec<Dependency>,
    /// Whether no cycle is shorter. False only for fabrics that are too large for a search from every queue.
    pub shortest: bool,
}

/// Searches for a cyclic buffer dependency under the assumption that all lossless frames share one class. A queue waits
/// for the queues that its frames enter next. Hosts consume all arrivals, so that no queue waits for a host.
///
/// ```
/// use fabric::generate::ring;
/// use fabric::routing::{Forwarding, Mode};
/// use fabric::LinkSpec;
/// use units::{Rate, Time};
/// use verify::{Traffic, check_pfc};
///
/// let link = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
/// let fabric = ring(5, 1, link, link)?;
/// let routes = Forwarding::build(&fabric, Mode::ShortestPath)?;
/// let verdict = check_pfc(&fabric, Traffic::Routes { routes: &routes, failed: &[], bounces: 0 })?;
/// assert_eq!(verdict.cycle.len(), 5); // once around
/// assert_eq!(verdict.cycle[0].link.to_string(), "S2:1 -> S1:1");
/// assert_eq!(verdict.cycle[0].destinations, ["H5"]); // only frames for H5 take S2 -> S1 -> S5
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// An invalid fabric, or a fault in the list of paths.
pub fn check_pfc(fabric: &Fabric, traffic: Traffic<'_>) -> Result<PfcVerdict, VerifyError> {
    fabric.check()?;
    let mut waiting = Waiting::new(fabric);
    each_turn(fabric, traffic, |ingress, egress, _| waiting.add(ingress, egress))?;
    let graph = waiting.finish();
    let used = || (0..graph.len() as u32).filter(|&vertex| graph.is_used(vertex));
    let (queues, dependencies) = (used().count() as u64, used().map(|vertex| graph.out_degree(vertex)).sum());
    let Some(known) = graph.walk(used()).cycle else {
        return Ok(PfcVerdict { deadlock_free: true, queues, dependencies, cycle: Vec::new(), shortest: true });
    };
    let short = shortest(&graph, known);
    // With one slot, vertex numbers equal port numbers.
    let ports = &short.vertices;
    let next = |at: usize| ports[(at + 1) % ports.len()];
    // Destinations are collected in a second pass, only for the queues of the cycle, because storing the destinations
    // of every dependency would take too much memory.
    let mut towards: Vec<Vec<NodeId>> = vec![Vec::new(); ports.len()];
    let mut position = vec![usize::MAX; graph.ports.len()];
    ports.iter().enumerate().for_each(|(at, &port)| position[port as usize] = at);
    each_turn(fabric, traffic, |ingress, egress, nodes| {
        let at = position[ingress as usize];
        if at != usize::MAX && graph.ports.peer(egress) == next(at) {
            towards[at].extend_from_slice(nodes);
        }
    })?;
    let dependency = |(&port, mut nodes): (&u32, Vec<NodeId>)| {
        nodes.sort_unstable();
        nodes.dedup();
        let destinations = nodes.into_iter().map(|node| fabric.name(node).to_owned()).collect();
        Dependency { link: TaggedLink::into_port(fabric, &graph, port, None), destinations }
    };
    let cycle = ports.iter().zip(towards).map(dependency).collect();
    Ok(PfcVerdict { deadlock_free: false, queues, dependencies, cycle, shortest: short.shortest })
}

/// Dependency graph under construction: the set of egress ports for the frames of each ingress port.
struct Waiting {
    ports: Ports,
    /// By ingress port, index in `words` of the first word of its bit set of egress ports; [`NOWHERE`] if no frame
    /// arrives at the port.
    row_starts: Vec<u32>,
    words: Vec<u64>,
}

const NOWHERE: u32 = u32::MAX;

impl Waiting {
    fn new(fabric: &Fabric) -> Waiting {
        let ports = Ports::new(fabric);
        Waiting { row_starts: vec![NOWHERE; ports.len()], ports, words: Vec::new() }
    }

    /// Adds `egress` to the egress ports of `ingress`. Both are port numbers of one node.
    fn add(&mut self, ingress: u32, egress: u32) {
        let node = self.ports.node(ingress);
        let row_start = &mut self.row_starts[ingress as usize];
        if *row_start == NOWHERE {
            *row_start = self.words.len() as u32;
            self.words.resize(self.words.len() + self.ports.width(node), 0);
        }
        let out = egress - self.ports.base(node);
        self.words[(*row_start + out / 64) as usize] |= 1 << (out % 64);
    }

    fn finish(self) -> Graph {
        let Waiting { ports, row_starts, words } = self;
        let widths: Vec<usize> = (0..ports.len() as u32).map(|port| ports.width(ports.node(port))).collect();
        let mut graph = Graph::new(ports, 1);
        for (row_start, width) in row_starts.into_iter().zip(widths) {
            if row_start != NOWHERE {
                graph.push(0, &words[row_start as usize..row_start as usize + width]);
            }
            graph.close();
        }
        graph
    }
}

/// Calls `each` with every pair of ingress and egress port that frames use, and the destinations of these frames
/// (hosts, or last nodes of paths). A pair that several groups of destinations share is passed several times.
fn each_turn(
    fabric: &Fabric,
    traffic: Traffic<'_>,
    mut each: impl FnMut(u32, u32, &[NodeId]),
) -> Result<(), VerifyError> {
    match traffic {
        Traffic::Paths(list) => {
            let mut list = PathList::new(fabric, list);
            while let Some(ListedPath { hops, last, .. }) = list.next_path()? {
                let number = |node, port| fabric.port_number(node, port) as u32;
                let first = hops[0];
                // A path that starts at a switch represents the paths from all hosts of the switch.
                for port in host_ports(fabric, first.node).filter(|_| fabric.host_index(first.node).is_none()) {
                    each(number(first.node, port), number(first.node, first.port), &[last]);
                }
                for pair in hops.windows(2) {
                    let ingress = fabric.ports(pair[0].node)[usize::from(pair[0].port)].peer_port;
                    each(number(pair[1].node, ingress), number(pair[1].node, pair[1].port), &[last]);
                }
            }
        }
        Traffic::Routes { routes, failed, bounces } => {
            let mut walk = RouteWalk::new(fabric, routes, failed, bounces);
            let mut alike: Vec<Vec<NodeId>> = vec![Vec::new(); routes.row_count()];
            for (host, &node) in fabric.hosts().iter().enumerate() {
                alike[routes.row(host as u32) as usize].push(node);
            }
            for host in destinations(fabric, routes) {
                walk.follow(host, &alike[routes.row(host) as usize], &mut each);
            }
        }
    }
    Ok(())
}

/// Follows routing tables, for one group of destinations at a time.
struct RouteWalk<'a> {
    fabric: &'a Fabric,
    routes: &'a Forwarding,
    failed: Vec<bool>,
    bounces: u32,
    /// Per ingress port and number of detours so far: number of the last destination for which this state was visited.
    seen: Vec<u32>,
    open: Vec<(u32, u32)>,
    number: u32,
    /// Node of each port number.
    node: Vec<NodeId>,
    detour: Vec<PortIndex>,
}

impl<'a> RouteWalk<'a> {
    fn new(fabric: &'a Fabric, routes: &'a Forwarding, failed: &[LinkId], bounces: u8) -> RouteWalk<'a> {
        let mut out = vec![false; fabric.links().len()];
        failed.iter().for_each(|link| out[link.index()] = true);
        let node = fabric.node_ids().flat_map(|node| std::iter::repeat_n(node, fabric.ports(node).len())).collect();
        RouteWalk {
            fabric,
            routes,
            failed: out,
            bounces: bounces.into(),
            seen: vec![0; fabric.port_count() * (usize::from(bounces) + 1)],
            open: Vec::new(),
            number: 0,
            node,
            detour: Vec::new(),
        }
    }

    fn visit(&mut self, port: u32, bounced: u32) {
        let at = port as usize * (self.bounces as usize + 1) + bounced as usize;
        if std::mem::replace(&mut self.seen[at], self.number) != self.number {
            self.open.push((port, bounced));
        }
    }

    fn follow(&mut self, host: u32, alike: &[NodeId], each: &mut impl FnMut(u32, u32, &[NodeId])) {
        let (fabric, routes) = (self.fabric, self.routes);
        self.number += 1;
        entries(fabric, routes, host, |entry| self.visit(entry, 0));
        let target = fabric.host_node(host);
        while let Some((port, bounced)) = self.open.pop() {
            let node = self.node[port as usize];
            if node == target {
                continue;
            }
            let base = fabric.port_number(node, 0) as u32;
            let ingress = (port - base) as PortIndex;
            let group = routes.lookup_from(node, host, ingress);
            for &out in group {
                self.leave(node, port, out, bounced, alike, each);
            }
            // If the destination is attached to this switch by its only link, no detour can reach it.
            let delivers = matches!(fabric.ports(target), [only] if only.peer == node);
            if bounced < self.bounces && !delivers {
                self.find_detour(node, ingress, host, group);
                for index in 0..self.detour.len() {
                    self.leave(node, port, self.detour[index], bounced + 1, alike, each);
                }
            }
        }
    }

    fn leave(
        &mut self,
        node: NodeId,
        ingress: u32,
        out: PortIndex,
        bounced: u32,
        alike: &[NodeId],
        each: &mut impl FnMut(u32, u32, &[NodeId]),
    ) {
        let peer = self.fabric.ports(node)[usize::from(out)];
        each(ingress, self.fabric.port_number(node, out) as u32, alike);
        if self.fabric.node(peer.peer).forwards() {
            self.visit(self.fabric.port_number(peer.peer, peer.peer_port) as u32, bounced);
        }
    }

    /// Finds the detour for the case that all ports of the ECMP group `group` fail: those of the other usable ports
    /// that are nearest to the destination.
    fn find_detour(&mut self, node: NodeId, ingress: PortIndex, host: u32, group: &[PortIndex]) {
        self.detour.clear();
        let mut nearest = UNREACHABLE;
        for (port, peer) in self.fabric.ports(node).iter().enumerate() {
            let port = port as PortIndex;
            let usable = self.fabric.node(peer.peer).forwards() || peer.peer == self.fabric.host_node(host);
            if !usable || self.failed[peer.link.index()] || port == ingress || group.contains(&port) {
                continue;
            }
            let links = self.routes.distance(self.fabric, peer.peer, host).unwrap_or(UNREACHABLE);
            if links < nearest {
                nearest = links;
                self.detour.clear();
            }
            if links == nearest && links != UNREACHABLE {
                self.detour.push(port);
            }
        }
    }
}
