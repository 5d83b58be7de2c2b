//! Random regular graphs of switches.

use super::parts::{add_hosts, add_switches, affordable, within};
use crate::{Fabric, FabricBuilder, FabricError, LinkSpec};
use std::collections::HashSet;
use units::random::{Stream, purpose};

/// Generates Jellyfish (Singla et al., NSDI 2012): a connected random graph of `switches` switches `S1`.., each linked
/// to `degree` other switches without parallel links, with `hosts_per_switch` hosts each. The seed determines the
/// graph. Ports: hosts first, then the other switches in ascending order.
///
/// The graph is a ring lattice after 10 random edge swaps per link, which approximates a uniform draw from all such
/// graphs. (The paper adds links greedily, which cannot produce every graph.)
///
/// # Errors
/// If `degree` is zero or not below `switches`, `switches * degree` is odd (no such graph exists), or no connected
/// graph is found (`degree` 1 with more than 2 switches).
pub fn jellyfish(
    switches: u32,
    degree: u32,
    hosts_per_switch: u32,
    seed: u64,
    host: LinkSpec,
    between: LinkSpec,
) -> Result<Fabric, FabricError> {
    const KIND: &str = "jellyfish";
    within(KIND, "switches", switches, 2..=100_000)?;
    within(KIND, "degree", degree, if switches == 2 { 1 } else { 2 }..=switches - 1)?;
    within(KIND, "hosts_per_switch", hosts_per_switch, 1..=10_000)?;
    affordable("links", &[switches.into(), degree.into()])?;
    affordable("nodes", &[switches.into(), hosts_per_switch.into()])?;
    if switches % 2 == 1 && degree % 2 == 1 {
        let expected = format!("with an odd number of switches ({switches}) it must be even");
        return Err(FabricError::Parameter { generator: KIND, parameter: "degree", value: degree.into(), expected });
    }
    let mut graph = RandomRegularGraph::ring_like(switches, degree);
    let mut stream = Stream::new(seed, 0, purpose("jellyfish"));
    graph.exchange(10 * graph.links.len(), &mut stream);
    let mut rounds = 0;
    while !graph.connected(switches) {
        rounds += 1;
        if rounds > 10_000 {
            let expected = "no connected graph was found: use 3 or more".to_owned();
            return Err(FabricError::Parameter {
                generator: KIND,
                parameter: "degree",
                value: degree.into(),
                expected,
            });
        }
        graph.exchange(graph.links.len() / 4 + 1, &mut stream);
    }
    // Links are sorted so that the ports of a switch are numbered by ascending neighbour.
    graph.links.iter_mut().for_each(|link| *link = ordered(link.0, link.1));
    graph.links.sort_unstable();

    let mut builder = FabricBuilder::new(KIND);
    let hosts = add_hosts(&mut builder, switches * hosts_per_switch);
    let nodes = add_switches(&mut builder, "S", 1, switches, 1);
    for (index, &node) in hosts.iter().enumerate() {
        builder.connect(node, nodes[index / hosts_per_switch as usize], host);
    }
    for &(a, b) in &graph.links {
        builder.connect(nodes[a as usize], nodes[b as usize], between);
    }
    builder.build()
}

fn ordered(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

/// A simple regular graph that is randomised by edge swaps.
struct RandomRegularGraph {
    links: Vec<(u32, u32)>,
    /// Used only for membership tests, because its iteration order is not deterministic.
    present: HashSet<(u32, u32)>,
}

impl RandomRegularGraph {
    /// Creates a ring lattice: each switch is linked to the `degree` nearest switches. Requires an even `switches *
    /// degree`.
    fn ring_like(switches: u32, degree: u32) -> RandomRegularGraph {
        let mut links = Vec::new();
        for step in 1..=degree / 2 {
            links.extend((0..switches).map(|a| (a, (a + step) % switches)));
        }
        if degree % 2 == 1 {
            links.extend((0..switches / 2).map(|a| (a, a + switches / 2)));
        }
        let present = links.iter().map(|&(a, b)| ordered(a, b)).collect();
        RandomRegularGraph { links, present }
    }

    /// Attempts edge swaps: two links a-b and c-d become a-d and c-b, which preserves degrees.
    fn exchange(&mut self, attempts: usize, stream: &mut Stream) {
        for _ in 0..attempts {
            let i = stream.below(self.links.len() as u64) as usize;
            let j = stream.below(self.links.len() as u64) as usize;
            let (a, b) = self.links[i];
            let (c, d) = if stream.next_u64() & 1 == 0 { self.links[j] } else { (self.links[j].1, self.links[j].0) };
            let (first, second) = (ordered(a, d), ordered(c, b));
            let clash = a == d || c == b || self.present.contains(&first) || self.present.contains(&second);
            if i == j || clash {
                continue;
            }
            self.present.remove(&ordered(a, b));
            self.present.remove(&ordered(c, d));
            self.present.extend([first, second]);
            (self.links[i], self.links[j]) = ((a, d), (c, b));
        }
    }

    fn connected(&self, switches: u32) -> bool {
        let mut root: Vec<u32> = (0..switches).collect();
        fn find(root: &mut [u32], mut node: u32) -> u32 {
            while root[node as usize] != node {
                root[node as usize] = root[root[node as usize] as usize];
                node = root[node as usize];
            }
            node
        }
        let mut parts = switches;
        for &(a, b) in &self.links {
            let (a, b) = (find(&mut root, a), find(&mut root, b));
            if a != b {
                root[a as usize] = b;
                parts -= 1;
            }
        }
        parts == 1
    }
}
