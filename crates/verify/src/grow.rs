//! Trees of shortest paths towards every switch or server, built independently of the rule generator.

use crate::error::PathFault;
use crate::many::lossless_trees;
use crate::paths::Hop;
use crate::proof::{Verifier, host_ports};
use fabric::{Fabric, NodeId, NodeKind, PortIndex};

/// Roots of the trees of shortest paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TreeRoots {
    /// One tree per switch with hosts; its paths lead to all hosts of this switch.
    Switches,
    /// One tree per host. A host with several links is reached only by its first link.
    Servers,
}

const FAR: u16 = u16::MAX;

/// Shortest-path tree to one root at a time. Each node forwards by the lowest of its ports that lead closer to the
/// root.
pub(crate) struct Trees<'f> {
    fabric: &'f Fabric,
    /// Forwarding nodes, by ascending node number. A *slot* is an index into this list.
    pub nodes: Vec<NodeId>,
    /// Slot of each node; `u32::MAX` for hosts that do not forward.
    pub slots: Vec<u32>,
    /// Per slot: index of its first edge in `peers` and `ports`.
    starts: Vec<u32>,
    pub peers: Vec<u32>,
    pub ports: Vec<PortIndex>,
    /// Per slot: distance to the root in links.
    distance: Vec<u16>,
    /// Per node: port towards the root.
    towards: Vec<Option<PortIndex>>,
}

impl<'f> Trees<'f> {
    fn new(fabric: &'f Fabric) -> Trees<'f> {
        let nodes: Vec<NodeId> = fabric.node_ids().filter(|&node| fabric.node(node).forwards()).collect();
        let mut slots = vec![u32::MAX; fabric.nodes().len()];
        for (slot, node) in nodes.iter().enumerate() {
            slots[node.index()] = slot as u32;
        }
        let (mut starts, mut peers, mut ports) = (vec![0], Vec::new(), Vec::new());
        for &node in &nodes {
            for (port, peer) in fabric.ports(node).iter().enumerate() {
                if slots[peer.peer.index()] != u32::MAX {
                    peers.push(slots[peer.peer.index()]);
                    ports.push(port as PortIndex);
                }
            }
            starts.push(peers.len() as u32);
        }
        let (distance, towards) = (vec![FAR; nodes.len()], vec![None; slots.len()]);
        Trees { fabric, nodes, slots, starts, peers, ports, distance, towards }
    }

    /// Returns the edges of the node in `slot`, ordered by port, as indices into `peers` and `ports`.
    pub fn edges(&self, slot: u32) -> std::ops::Range<usize> {
        self.starts[slot as usize] as usize..self.starts[slot as usize + 1] as usize
    }

    /// Finds shortest paths to `root` by direction-optimising breadth-first search. A narrow frontier is expanded to
    /// its neighbours (top-down). Once the frontier is wide, each unvisited node searches its own neighbours for a
    /// node of the frontier, from the lowest port on, and usually finds one early (bottom-up).
    fn grow(&mut self, root: NodeId) {
        self.distance.fill(FAR);
        self.nodes.iter().for_each(|node| self.towards[node.index()] = None);
        let root = self.slots[root.index()];
        self.distance[root as usize] = 0;
        let (mut level, mut beyond) = (vec![root], Vec::new());
        let (mut left, mut depth) = (self.nodes.len() - 1, 0);
        while !level.is_empty() && left > 0 && depth < FAR - 1 {
            depth += 1;
            let mut next = Vec::new();
            if level.len() * 16 < left {
                for &slot in &level {
                    for edge in self.edges(slot) {
                        let peer = self.peers[edge];
                        if self.distance[peer as usize] == FAR {
                            self.distance[peer as usize] = depth;
                            next.push(peer);
                        }
                    }
                }
                for &slot in &next {
                    self.choose(slot, depth);
                }
            } else {
                if beyond.is_empty() {
                    beyond.extend((0..self.nodes.len() as u32).filter(|&slot| self.distance[slot as usize] == FAR));
                }
                beyond.retain(|&slot| {
                    if self.distance[slot as usize] == FAR && self.choose(slot, depth) {
                        self.distance[slot as usize] = depth;
                        next.push(slot);
                    }
                    self.distance[slot as usize] == FAR
                });
            }
            left -= next.len();
            level = next;
        }
    }

    /// Sets the port of one node: the lowest port to a node at distance `depth - 1`. Returns false if there is no such
    /// port.
    fn choose(&mut self, slot: u32, depth: u16) -> bool {
        let range = self.edges(slot);
        let edge = self.peers[range.clone()].iter().position(|&peer| self.distance[peer as usize] == depth - 1);
        let Some(edge) = edge else { return false };
        self.towards[self.nodes[slot as usize].index()] = Some(self.ports[range.start + edge]);
        true
    }

    /// Appends the hops of the path from `at` to the root.
    fn follow(&self, mut at: NodeId, hops: &mut Vec<Hop>) {
        while let Some(port) = self.towards[at.index()] {
            hops.push(Hop { node: at, port });
            at = self.fabric.ports(at)[usize::from(port)].peer;
        }
    }
}

/// Root of a tree, with its egress ports to destination hosts.
pub(crate) struct Root {
    pub node: NodeId,
    pub exits: Vec<PortIndex>,
}

/// Returns the roots of the trees: each switch with attached hosts, and each host that forwards. The exits of a root
/// are its ports to hosts that do not forward; with [`TreeRoots::Servers`], only the ports at the first link of a host.
fn roots(fabric: &Fabric, kind: TreeRoots) -> Vec<Root> {
    let mut all = Vec::new();
    for node in fabric.node_ids().filter(|&node| fabric.node(node).forwards()) {
        let exits = host_ports(fabric, node).filter(|&port| {
            let peer = fabric.ports(node)[usize::from(port)];
            !fabric.node(peer.peer).forwards() && (kind == TreeRoots::Switches || peer.peer_port == 0)
        });
        let exits: Vec<PortIndex> = exits.collect();
        if !exits.is_empty() || fabric.node(node).kind == NodeKind::Host {
            all.push(Root { node, exits });
        }
    }
    all
}

impl Verifier<'_> {
    /// Requires the paths of shortest-path trees to be lossless for every class: from every host, by each of its links,
    /// to the hosts at the root. If a node has several shortest paths, it uses its lowest port. `each` receives the
    /// number of finished trees and the number of all trees.
    ///
    /// # Errors
    /// None on a valid fabric: a [`PathFault`] is a defect of this crate.
    pub fn expect_trees(&mut self, kind: TreeRoots, mut each: impl FnMut(u64, u64)) -> Result<(), PathFault> {
        self.expected = true;
        let fabric = self.fabric;
        let (mut trees, relays) = (Trees::new(fabric), fabric.has_relays());
        let roots = roots(fabric, kind);
        let all = roots.len() as u64;
        let lossless = lossless_trees(fabric, &self.table, &trees, &roots, |done| each(done, all));
        for (index, root) in roots.iter().enumerate() {
            if let Some(paths) = lossless[index] {
                self.counts.paths += paths;
                self.expect_neighbours(root.node, &root.exits);
                continue;
            }
            each(index as u64, all);
            trees.grow(root.node);
            if relays {
                self.expect_each_path(&trees, root)?;
                continue;
            }
            let all = root.exits.len() == host_ports(fabric, root.node).count();
            let exits = (!all).then_some(root.exits.as_slice());
            self.expect_tree_to(root.node, exits, &trees.towards)?;
            self.expect_neighbours(root.node, &root.exits);
        }
        Ok(())
    }

    /// Requires the paths between hosts of one switch to be lossless.
    pub(crate) fn expect_neighbours(&mut self, node: NodeId, exits: &[PortIndex]) {
        if host_ports(self.fabric, node).nth(1).is_none() {
            return;
        }
        self.counts.paths += 1;
        for class in 0..self.table.classes.len() {
            for &port in exits {
                let first = self.first_slot(class);
                let at = self.edge.entrance(self.fabric, &self.table, Hop { node, port }, class, first);
                if let Some(entry) = self.edge.entrances[at].lost {
                    let egress = self.fabric.port_number(node, port) as u32;
                    self.lose(class, &[self.table.graph.vertex(entry, first)], egress);
                }
            }
        }
    }

    /// Checks every path separately. This is needed if hosts forward, because such hosts can be the start of a path and
    /// also an intermediate node.
    fn expect_each_path(&mut self, trees: &Trees<'_>, root: &Root) -> Result<(), PathFault> {
        let fabric = self.fabric;
        let mut hops = Vec::new();
        for &source in fabric.hosts().iter().filter(|&&host| host != root.node) {
            let relay = fabric.node(source).forwards();
            for (port, peer) in fabric.ports(source).iter().enumerate() {
                let port = port as PortIndex;
                // A host that forwards uses only its port in the tree; other hosts send by each of their links.
                let takes = if relay {
                    trees.towards[source.index()] == Some(port)
                } else {
                    peer.peer == root.node || trees.towards[peer.peer.index()].is_some()
                };
                if !takes {
                    continue;
                }
                hops.clear();
                hops.push(Hop { node: source, port });
                trees.follow(peer.peer, &mut hops);
                if root.exits.is_empty() {
                    self.expect_path(None, &hops, root.node)?;
                }
                for &exit in &root.exits {
                    let target = fabric.ports(root.node)[usize::from(exit)].peer;
                    if target != source {
                        hops.push(Hop { node: root.node, port: exit });
                        self.expect_path(None, &hops, target)?;
                        hops.pop();
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::RuleFile;
    use fabric::generate::{bcube, jellyfish, ring};
    use fabric::{LinkSpec, PortPeer};
    use units::{Rate, Time};

    const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));

    /// Reference implementation (Bellman-Ford): relaxes all links until no distance changes, then selects the lowest
    /// port that leads closer to the root.
    fn slowly(fabric: &Fabric, root: NodeId) -> Vec<Option<PortIndex>> {
        let forwards = |node: NodeId| fabric.node(node).forwards();
        let mut distance = vec![u32::MAX; fabric.nodes().len()];
        distance[root.index()] = 0;
        let mut changed = true;
        while std::mem::replace(&mut changed, false) {
            for link in fabric.links() {
                for (a, b) in [(link.a.node, link.b.node), (link.b.node, link.a.node)] {
                    let by = distance[a.index()].saturating_add(1);
                    if forwards(a) && forwards(b) && by < distance[b.index()] {
                        (distance[b.index()], changed) = (by, true);
                    }
                }
            }
        }
        let port = |node: NodeId| {
            let own = distance[node.index()];
            let closer = |at: &PortPeer| forwards(at.peer) && distance[at.peer.index()].checked_add(1) == Some(own);
            let port = fabric.ports(node).iter().position(closer).filter(|_| own != 0 && own != u32::MAX);
            port.map(|port| port as PortIndex)
        };
        fabric.node_ids().map(|node| if forwards(node) { port(node) } else { None }).collect()
    }

    /// Makes rules that keep the tag of all packets, except of packets that arrive at port 0 of `spoilt`.
    fn keeping(fabric: &Fabric, spoilt: Option<NodeId>) -> RuleFile {
        let all = |node: NodeId, from: usize| {
            (from..fabric.ports(node).len()).map(|port| port.to_string()).collect::<Vec<_>>().join(",")
        };
        let of = |node: NodeId| {
            let ingress = all(node, usize::from(spoilt == Some(node)));
            let rule = format!(r#"{{"tag":1,"in":[{ingress}],"out":[{}],"new_tag":1}}"#, all(node, 0));
            format!(r#"{{"name":"{}","rules":[{rule}]}}"#, fabric.name(node))
        };
        let switches: Vec<String> = fabric.switches().map(of).collect();
        let text = format!(
            r#"{{"format":"tidegate-tagger-rules","version":1,"fabric":{{"hash":"{}"}},"lossless_tags":[1],
            "lossy_tag":0,"classes":[{{"name":"all","first_tag":1}}],"switches":[{}]}}"#,
            crate::fabric_hash(fabric),
            switches.join(",")
        );
        RuleFile::parse(text.as_bytes()).unwrap()
    }

    /// The result of `lossless_trees` for a batch of trees equals the result of `expect_tree_to` for each tree.
    #[test]
    fn many_trees_at_a_time_are_judged_as_each_by_itself() {
        let fabrics = [
            jellyfish(150, 9, 2, 2, LINK, LINK).unwrap(),
            jellyfish(90, 70, 1, 3, LINK, LINK).unwrap(),
            ring(140, 2, LINK, LINK).unwrap(),
        ];
        for fabric in &fabrics {
            let switches: Vec<NodeId> = fabric.switches().collect();
            for spoilt in [None, Some(switches[70]), Some(switches[0])] {
                for kind in [TreeRoots::Switches, TreeRoots::Servers] {
                    let rules = keeping(fabric, spoilt);
                    let (roots, mut trees) = (roots(fabric, kind), Trees::new(fabric));
                    let mut single = Verifier::new(fabric, &rules).unwrap();
                    let many = lossless_trees(fabric, &single.table, &trees, &roots, |_| {});
                    for (root, many) in roots.iter().zip(many) {
                        let before = (single.counts.paths, single.counts.lost);
                        trees.grow(root.node);
                        single.expect_tree_to(root.node, None, &trees.towards).unwrap();
                        let lossless = single.counts.lost == before.1;
                        assert_eq!(
                            many,
                            lossless.then(|| single.counts.paths - before.0),
                            "{}",
                            fabric.name(root.node)
                        );
                    }
                    assert_eq!(spoilt.is_some(), single.counts.lost > 0);
                }
            }
        }
    }

    #[test]
    fn trees_are_those_of_the_lowest_ports_among_shortest_ways() {
        let fabrics = [jellyfish(60, 3, 1, 1, LINK, LINK), jellyfish(150, 9, 1, 2, LINK, LINK), bcube(3, 2, LINK)];
        for fabric in fabrics {
            let fabric = fabric.unwrap();
            let mut trees = Trees::new(&fabric);
            for root in trees.nodes.clone() {
                trees.grow(root);
                assert_eq!(trees.towards, slowly(&fabric, root), "{} towards {}", fabric.kind(), fabric.name(root));
            }
        }
    }
}
