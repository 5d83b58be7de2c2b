//! Random walks of flows around failed links: each hop uses a random shortest-path port, or a random detour if all
//! shortest-path ports have failed.
//!
//! ```text
//!   live ports of shortest paths          -> one of them
//!   none: live neighbouring switches with -> one of them
//!         a next hop other than this node
//! ```

use fabric::routing::Forwarding;
use fabric::{Fabric, LinkId, NodeId, PortIndex};
use units::random::Stream;

/// Hop limit, equal to the packets' TTL; a flow whose walk is longer is lost.
const MAX_HOPS: usize = 64;

/// Random walks on a fabric, with the routes computed before any failure and a set of failed links.
pub struct Walker<'a> {
    fabric: &'a Fabric,
    routes: &'a Forwarding,
    dead: Vec<bool>,
    ports: Vec<PortIndex>,
    /// Nodes of the last walk, from source to destination.
    pub nodes: Vec<NodeId>,
}

impl<'a> Walker<'a> {
    /// Creates a walker without failed links.
    pub fn new(fabric: &'a Fabric, routes: &'a Forwarding) -> Walker<'a> {
        let dead = vec![false; fabric.links().len()];
        Walker { fabric, routes, dead, ports: Vec::new(), nodes: Vec::new() }
    }

    /// Returns the links between switches.
    pub fn between_switches(fabric: &Fabric) -> impl Iterator<Item = LinkId> + '_ {
        let between = |link: LinkId| {
            let link = fabric.link(link);
            fabric.node(link.a.node).forwards() && fabric.node(link.b.node).forwards()
        };
        (0..fabric.links().len() as u32).map(LinkId).filter(move |&link| between(link))
    }

    /// Replaces the failed links: each link between switches fails independently with this probability.
    pub fn fail(&mut self, probability: f64, stream: &mut Stream) {
        for (at, dead) in self.dead.iter_mut().enumerate() {
            let link = self.fabric.link(LinkId(at as u32));
            let between = self.fabric.node(link.a.node).forwards() && self.fabric.node(link.b.node).forwards();
            *dead = between && stream.unit() < probability;
        }
    }

    /// Fails or restores a link.
    pub fn set(&mut self, link: LinkId, dead: bool) {
        self.dead[link.index()] = dead;
    }

    fn alive(&self, node: NodeId, port: PortIndex) -> bool {
        !self.dead[self.fabric.ports(node)[usize::from(port)].link.index()]
    }

    /// Walks from a node to a host. Returns the number of bounces (turns from down to up), or `None` if no live port
    /// remains or the hop limit is exceeded. `nodes` then has the path.
    pub fn walk(&mut self, from: NodeId, to: u32, stream: &mut Stream) -> Option<u32> {
        let (fabric, routes) = (self.fabric, self.routes);
        let end = fabric.host_node(to);
        self.nodes.clear();
        self.nodes.push(from);
        let (mut at, mut came_by, mut from_above, mut bounces) = (from, PortIndex::MAX, false, 0);
        while at != end {
            if self.nodes.len() > MAX_HOPS {
                return None;
            }
            let mut ports = std::mem::take(&mut self.ports);
            ports.clear();
            let regular = routes.lookup(at, to);
            ports.extend(regular.iter().copied().filter(|&port| port != came_by && self.alive(at, port)));
            if ports.is_empty() {
                let peers = fabric.ports(at).iter().enumerate().map(|(port, peer)| (port as PortIndex, peer));
                ports.extend(peers.filter_map(|(port, peer)| {
                    let useful = port != came_by && self.alive(at, port) && fabric.node(peer.peer).forwards();
                    let onward = routes.lookup(peer.peer, to);
                    (useful && onward.iter().any(|&port| fabric.ports(peer.peer)[usize::from(port)].peer != at))
                        .then_some(port)
                }));
            }
            let chosen = (!ports.is_empty()).then(|| ports[stream.below(ports.len() as u64) as usize]);
            self.ports = ports;
            let peer = fabric.ports(at)[usize::from(chosen?)];
            let up = fabric.node(peer.peer).tier > fabric.node(at).tier;
            bounces += u32::from(up && from_above);
            from_above = !up;
            (at, came_by) = (peer.peer, peer.peer_port);
            self.nodes.push(at);
        }
        Some(bounces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::LinkSpec;
    use fabric::generate::{TierLinks, clos};
    use fabric::routing::Mode;
    use units::{Rate, Time};

    #[test]
    fn a_flow_bounces_where_its_way_down_has_failed() {
        let link = LinkSpec::new(Rate::from_gbps(40), Time::from_ns(500));
        let fabric = clos(2, 2, 2, 2, 4, TierLinks::uniform(link)).unwrap();
        let routes = Forwarding::build(&fabric, Mode::ShortestPath).unwrap();
        let node = |name: &str| fabric.find(name).unwrap();
        let mut stream = Stream::new(1, 0, 0);
        let mut walker = Walker::new(&fabric, &routes);
        for _ in 0..100 {
            assert_eq!(walker.walk(node("H9"), 0, &mut stream), Some(0));
            assert_eq!(walker.nodes.len(), 7);
        }
        // The link from L2 to T1 has failed: about half of the flows arrive at L2 and bounce once, through T2 or a
        // spine, to L1.
        let broken = fabric.link_between(node("L2"), node("T1")).unwrap();
        walker.set(broken, true);
        let (mut straight, mut once) = (0, 0);
        for _ in 0..1000 {
            match walker.walk(node("H9"), 0, &mut stream) {
                Some(0) => straight += 1,
                Some(1) => {
                    once += 1;
                    let names: Vec<&str> = walker.nodes.iter().map(|&node| fabric.name(node)).collect();
                    assert!(names[4] == "L2" && names[6..] == ["L1", "T1", "H1"], "{names:?}");
                    assert!(["T2", "S1", "S2"].contains(&names[5]) && names[5] != names[3], "{names:?}");
                }
                other => panic!("{other:?} {:?}", walker.nodes),
            }
        }
        assert!((400..600).contains(&straight) && straight + once == 1000, "{straight} {once}");
        walker.set(fabric.link_between(node("L1"), node("T1")).unwrap(), true);
        assert!((0..100).all(|_| walker.walk(node("H9"), 0, &mut stream).is_none()), "T1 is cut off");
    }
}
