//! Requires all paths of routing tables to be lossless.

use crate::proof::Verifier;
use fabric::routing::Forwarding;
use fabric::{Fabric, PortIndex};

/// Returns the first host of every group of hosts that share a row of the routing tables.
pub(crate) fn destinations(fabric: &Fabric, routes: &Forwarding) -> Vec<u32> {
    let mut of_row = vec![u32::MAX; routes.row_count()];
    for host in (0..fabric.hosts().len() as u32).rev() {
        of_row[routes.row(host) as usize] = host;
    }
    of_row.into_iter().filter(|&host| host != u32::MAX).collect()
}

/// Calls `each` with the ingress ports at which frames for `host` enter the fabric from other hosts.
pub(crate) fn entries(fabric: &Fabric, routes: &Forwarding, host: u32, mut each: impl FnMut(u32)) {
    for (index, &source) in fabric.hosts().iter().enumerate() {
        if index as u32 == host {
            continue;
        }
        for &port in routes.lookup(source, host) {
            let peer = fabric.ports(source)[usize::from(port)];
            if fabric.node(peer.peer).forwards() {
                each(fabric.port_number(peer.peer, peer.peer_port) as u32);
            }
        }
    }
}

/// Queues that frames for one destination pass, with the predecessor of each queue.
struct VisitedQueues {
    /// Per queue: number of the last search that visited it.
    seen: Vec<u32>,
    from: Vec<u32>,
    open: Vec<u32>,
    walk: u32,
}

impl VisitedQueues {
    fn visit(&mut self, vertex: u32, from: u32) {
        if std::mem::replace(&mut self.seen[vertex as usize], self.walk) != self.walk {
            self.from[vertex as usize] = from;
            self.open.push(vertex);
        }
    }

    fn chain(&self, vertex: u32) -> Vec<u32> {
        let mut chain = vec![vertex];
        while self.from[chain[chain.len() - 1] as usize] != u32::MAX {
            chain.push(self.from[chain[chain.len() - 1] as usize]);
        }
        chain.reverse();
        chain
    }
}

impl Verifier<'_> {
    /// Requires every path of the routing tables from a host to another host to be lossless for every class.
    pub fn expect_routes(&mut self, routes: &Forwarding) {
        self.expected = true;
        let count = self.table.graph.len();
        let mut passed = VisitedQueues { seen: vec![0; count], from: vec![0; count], open: Vec::new(), walk: 0 };
        let representatives = destinations(self.fabric, routes);
        let mut hosts_of_row: Vec<Vec<u32>> = vec![Vec::new(); routes.row_count()];
        for host in 0..self.fabric.hosts().len() as u32 {
            hosts_of_row[routes.row(host) as usize].push(host);
        }
        for class in 0..self.table.classes.len() {
            for &host in &representatives {
                passed.walk += 1;
                self.follow_routes(routes, host, &hosts_of_row[routes.row(host) as usize], class, &mut passed);
            }
        }
    }

    fn follow_routes(
        &mut self,
        routes: &Forwarding,
        host: u32,
        alike: &[u32],
        class: usize,
        passed: &mut VisitedQueues,
    ) {
        let (fabric, first) = (self.fabric, self.first_slot(class));
        let row_switch = routes.row_switch(routes.row(host));
        let graph = &self.table.graph;
        for &other in alike {
            entries(fabric, routes, other, |entry| passed.visit(graph.vertex(entry, first), u32::MAX));
            // The hosts of one row of the forwarding table (single-homed hosts of one switch) receive from the same
            // sources, except that no host sends to itself. Two hosts of a row therefore cover all sources.
            if row_switch.is_none() || other != host {
                break;
            }
        }
        while let Some(vertex) = passed.open.pop() {
            let graph = &self.table.graph;
            self.counts.routed_queues += 1;
            let node = graph.ports.node(graph.port(vertex));
            let ingress = (graph.port(vertex) - graph.ports.base(node)) as PortIndex;
            let mut lost = Vec::new();
            if row_switch == Some(node) {
                let missing = alike.iter().map(|&host| routes.local_port(host));
                // A host does not send to itself.
                lost.extend(missing.filter(|&port| port != ingress && graph.onward_slot(vertex, port).is_none()));
            } else if node != fabric.host_node(host) {
                for &port in routes.lookup_from(node, host, ingress) {
                    match graph.onward_slot(vertex, port) {
                        None => lost.push(port),
                        Some(slot) => {
                            let peer = fabric.ports(node)[usize::from(port)];
                            if fabric.node(peer.peer).forwards() {
                                let port = fabric.port_number(peer.peer, peer.peer_port) as u32;
                                passed.visit(graph.vertex(port, slot), vertex);
                            }
                        }
                    }
                }
            }
            for port in lost {
                self.lose(class, &passed.chain(vertex), fabric.port_number(node, port) as u32);
            }
        }
    }
}
