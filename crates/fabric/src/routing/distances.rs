//! Distances in links from each router to each destination, without the links that are failed when routes are computed.

use super::net::{FailedLinks, NONE, RouterGraph, Rows};
use crate::{Fabric, NodeId};
use std::sync::OnceLock;

/// Distance value for "no path".
pub const UNREACHABLE: u16 = u16::MAX;

/// Number of links from every router to the target of every row. A row is computed when it is first used, because
/// distances are needed only for local rerouting around failed links.
#[derive(Clone, Debug)]
pub(crate) struct Distances {
    rows: Rows,
    dead: FailedLinks,
    net: OnceLock<RouterGraph>,
    /// Distances in links, by row, then router.
    links: Vec<OnceLock<Box<[u16]>>>,
}

/// Breadth-first search over routers, with reusable buffers.
pub(crate) struct Search {
    pub links: Vec<u16>,
    queue: Vec<u32>,
}

impl Search {
    pub fn new(net: &RouterGraph) -> Search {
        Search { links: vec![UNREACHABLE; net.len()], queue: Vec::with_capacity(net.len()) }
    }

    /// Fills `links` with the distance of every router from `target`. Paths do not pass through nodes that do not
    /// forward. The search may step from `from` to `to` only if `allow(from, to)` returns `true`.
    pub fn run(&mut self, net: &RouterGraph, target: u32, allow: impl Fn(u32, u32) -> bool) {
        self.links.fill(UNREACHABLE);
        self.queue.clear();
        if target == NONE {
            return;
        }
        self.links[target as usize] = 0;
        self.queue.push(target);
        let mut head = 0;
        while let Some(&at) = self.queue.get(head) {
            head += 1;
            let too_far = self.links[at as usize] == UNREACHABLE - 1;
            if too_far || (at != target && !net.forwards[at as usize]) {
                continue;
            }
            let links = self.links[at as usize] + 1;
            for edge in net.edges(at) {
                if self.links[edge.peer as usize] == UNREACHABLE && allow(at, edge.peer) {
                    self.links[edge.peer as usize] = links;
                    self.queue.push(edge.peer);
                }
            }
        }
    }
}

impl Distances {
    /// Creates distances in the fabric without the links in `dead`.
    pub fn new(rows: Rows, dead: FailedLinks) -> Distances {
        Distances { dead, net: OnceLock::new(), links: vec![OnceLock::new(); rows.len()], rows }
    }

    /// Returns the number of links from a router to the switch of a host, or to the host itself if it has several
    /// links. Returns `None` if the node is a host with a single link, which makes no routing decisions.
    pub fn get(&self, fabric: &Fabric, node: NodeId, host: u32) -> Option<u16> {
        let net = self.net.get_or_init(|| RouterGraph::new(fabric, &self.dead));
        let slot = net.slot[node.index()];
        let row = self.rows.attach[host as usize].row as usize;
        (slot != NONE).then(|| {
            let links = self.links[row].get_or_init(|| {
                let mut search = Search::new(net);
                search.run(net, net.slot[self.rows.target[row].index()], |_, _| true);
                search.links.into()
            });
            links[slot as usize]
        })
    }

    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    pub fn memory_bytes(&self) -> usize {
        let known: usize = self.links.iter().filter_map(OnceLock::get).map(|links| links.len() * 2).sum();
        known + self.links.len() * size_of::<OnceLock<Box<[u16]>>>() + size_of_val(&*self.rows.attach)
    }
}
