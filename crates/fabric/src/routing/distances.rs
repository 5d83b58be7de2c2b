//! Healthy distances: how many links each router is from each destination.

use super::net::{NONE, Net, Rows};
use crate::NodeId;

/// "No path", as a distance.
pub const UNREACHABLE: u16 = u16::MAX;

/// Links from every router to every row's target. Two bytes each: a line of switches may be longer than
/// 255, and the largest fat-tree needs 20 MB.
#[derive(Clone, Debug)]
pub(crate) struct Distances {
    rows: Rows,
    slot: Vec<u32>,
    links: Vec<u16>,
}

/// Breadth-first search over routers, with buffers that are used again.
pub(crate) struct Search {
    pub links: Vec<u16>,
    queue: Vec<u32>,
}

impl Search {
    pub fn new(net: &Net) -> Search {
        Search { links: vec![UNREACHABLE; net.len()], queue: Vec::with_capacity(net.len()) }
    }

    /// Fills `links` with the distance of every router from `target`. Nothing passes through a node that
    /// does not forward. `allow(from, to)` says whether the search may step to `to` from `from`.
    pub fn run(&mut self, net: &Net, target: u32, allow: impl Fn(u32, u32) -> bool) {
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
    pub fn new(net: &Net, rows: Rows) -> Distances {
        let links = vec![UNREACHABLE; net.len() * rows.len()];
        Distances { rows, slot: net.slot.clone(), links }
    }

    /// Stores one finished search.
    pub fn store(&mut self, row: usize, search: &Search) {
        let rows = self.rows.len();
        for (slot, &links) in search.links.iter().enumerate() {
            self.links[slot * rows + row] = links;
        }
    }

    /// Links from a router to the switch of a host (or to the host itself, if that has several links);
    /// `None` for a host with a single link, which decides nothing.
    #[inline]
    pub fn get(&self, node: NodeId, host: u32) -> Option<u16> {
        let slot = self.slot[node.index()];
        let row = self.rows.attach[host as usize];
        (slot != NONE).then(|| self.links[slot as usize * self.rows.len() + row as usize])
    }

    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    pub fn memory_bytes(&self) -> usize {
        self.links.len() * 2 + self.slot.len() * 4 + self.rows.attach.len() * 6
    }
}
