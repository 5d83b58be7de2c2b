//! Healthy distances: how many links each router is from each destination.

use super::net::{NONE, Net, Rows};
use crate::NodeId;
use std::collections::HashMap;
use std::hash::Hash;

/// "No path", as a distance.
pub const UNREACHABLE: u16 = u16::MAX;

/// Links from every router to every row's target.
#[derive(Clone, Debug)]
pub(crate) struct Distances {
    rows: Rows,
    /// Where those of each node begin, or [`NONE`]. Routers that stand alike share theirs.
    first: Vec<u32>,
    links: Links,
}

/// A byte each while none is longer than 254, two bytes from the first that is: a line of switches may be long, and
/// fat-trees have the most distances, all of them short.
#[derive(Clone, Debug)]
enum Links {
    Short(Vec<u8>),
    Long(Vec<u16>),
}

/// [`UNREACHABLE`], as a short distance.
const UNREACHABLE_SHORT: u8 = u8::MAX;

impl Links {
    fn get(&self, at: usize) -> u16 {
        match self {
            Links::Short(links) if links[at] == UNREACHABLE_SHORT => UNREACHABLE,
            Links::Short(links) => links[at].into(),
            Links::Long(links) => links[at],
        }
    }

    fn set(&mut self, at: usize, distance: u16) {
        match self {
            Links::Long(links) => links[at] = distance,
            Links::Short(links) if distance == UNREACHABLE => links[at] = UNREACHABLE_SHORT,
            Links::Short(links) if distance < UNREACHABLE_SHORT.into() => links[at] = distance as u8,
            Links::Short(links) => {
                let mut long: Vec<u16> = (0..links.len()).map(|at| self.get(at)).collect();
                long[at] = distance;
                *self = Links::Long(long);
            }
        }
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Links::Short(links) => links.len(),
            Links::Long(links) => links.len() * 2,
        }
    }
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

/// The different ones of pieces of `all`, each of `count`, that begin at `first`, which then says where they are.
fn shared<T: Copy + Eq + Hash>(all: &[T], count: usize, first: &mut [u32]) -> Vec<T> {
    let mut kept = Vec::new();
    let mut known: HashMap<&[T], u32> = HashMap::new();
    for first in first.iter_mut().filter(|first| **first != NONE) {
        let piece = &all[*first as usize..*first as usize + count];
        *first = *known.entry(piece).or_insert_with(|| {
            kept.extend_from_slice(piece);
            (kept.len() - count) as u32
        });
    }
    kept.shrink_to_fit();
    kept
}

impl Distances {
    pub fn new(net: &Net, rows: Rows) -> Distances {
        let links = Links::Short(vec![UNREACHABLE_SHORT; net.len() * rows.len()]);
        let count = rows.len() as u32;
        let first = net.slot.iter().map(|&slot| if slot == NONE { NONE } else { slot * count }).collect();
        Distances { rows, first, links }
    }

    /// Stores one finished search.
    pub fn store(&mut self, row: usize, search: &Search) {
        let rows = self.rows.len();
        for (slot, &links) in search.links.iter().enumerate() {
            self.links.set(slot * rows + row, links);
        }
    }

    /// Once all are stored: keeps equal ones once.
    pub fn finish(mut self) -> Distances {
        let (count, first) = (self.rows.len(), &mut self.first);
        self.links = match self.links {
            Links::Short(links) => Links::Short(shared(&links, count, first)),
            Links::Long(links) => Links::Long(shared(&links, count, first)),
        };
        self
    }

    /// Links from a router to the switch of a host (or to the host itself, if that has several links);
    /// `None` for a host with a single link, which decides nothing.
    #[inline]
    pub fn get(&self, node: NodeId, host: u32) -> Option<u16> {
        let first = self.first[node.index()];
        let row = self.rows.attach[host as usize];
        (first != NONE).then(|| self.links.get(first as usize + row as usize))
    }

    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    pub fn memory_bytes(&self) -> usize {
        self.links.memory_bytes() + self.first.len() * 4 + self.rows.attach.len() * 6
    }
}
