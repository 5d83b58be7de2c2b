//! Tagged graph with one tag per hop (Tagger, Algorithm 1), stored as bitmaps instead of edge lists.
//!
//! A vertex is an ingress port with a tag; the tag is the hop number on the path. An edge is a *turn* (an ingress and
//! an egress port of one switch) on one hop. All edges of one tag are one bitmap: 10,000 switches with 64 ports take 5
//! MB per tag, independent of the number of paths.

use crate::ports::{PortBitmaps, Ports, put};

/// Turns of the expected lossless paths, by hop.
pub(crate) struct TaggedGraph<'p, 'f> {
    pub ports: &'p Ports<'f>,
    /// `hops[t - 1]`: for each ingress port, the egress ports that paths use on hop t.
    pub hops: Vec<PortBitmaps>,
    /// Number of recorded turns, including repetitions.
    pub recorded: u64,
    /// Number of fabric edges visited by the path search.
    pub edge_visits: u64,
    /// Maximum number of threads of the path search.
    pub threads: usize,
}

impl<'p, 'f> TaggedGraph<'p, 'f> {
    pub fn new(ports: &'p Ports<'f>) -> TaggedGraph<'p, 'f> {
        TaggedGraph { ports, hops: Vec::new(), recorded: 0, edge_visits: 0, threads: 1 }
    }

    /// Allocates bitmaps for paths with `hops` hops through switches.
    pub fn reserve_hops(&mut self, hops: usize) {
        while self.hops.len() < hops {
            self.hops.push(self.ports.plane());
        }
    }

    /// Adds the turns and counters of another graph.
    pub fn unite(&mut self, other: &TaggedGraph) {
        self.reserve_hops(other.hops.len());
        for (all, own) in self.hops.iter_mut().zip(&other.hops) {
            all.iter_mut().zip(own).for_each(|(all, own)| *all |= own);
        }
        self.recorded += other.recorded;
        self.edge_visits += other.edge_visits;
    }

    /// Adds a path, given by the ingress port at its first switch and the egress port at each switch.
    pub fn add_path(&mut self, entry: u32, out_ports: &[u16]) {
        self.reserve_hops(out_ports.len());
        self.recorded += out_ports.len() as u64;
        let mut at = entry;
        for (hop, &out) in out_ports.iter().enumerate() {
            put(&mut self.hops[hop][self.ports.row(at)], usize::from(out));
            at = self.ports.next(at, usize::from(out));
        }
    }

    /// Removes trailing hops without turns.
    pub fn trim(&mut self) {
        while self.hops.last().is_some_and(|plane| plane.iter().all(|&word| word == 0)) {
            self.hops.pop();
        }
    }

    /// Returns the ingress ports at which paths enter the fabric (hop 1).
    pub fn entries(&self) -> impl Iterator<Item = u32> + '_ {
        let first = self.hops.first();
        (0..self.ports.len() as u32)
            .filter(move |&port| first.is_some_and(|plane| plane[self.ports.row(port)].iter().any(|&word| word != 0)))
    }

    /// Returns the egress ports that lead to a forwarding node, of the turns of ingress port `port` on hop `tag` (from
    /// 1).
    #[inline]
    pub fn onward(&self, tag: usize, port: u32) -> impl Iterator<Item = usize> + '_ {
        let row = &self.hops[tag - 1][self.ports.row(port)];
        let onward = &self.ports.onward[self.ports.set(self.ports.node[port as usize])];
        row.iter().zip(onward).enumerate().flat_map(|(index, (&turns, &onward))| {
            let mut rest = turns & onward;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    index * 64 + bit
                })
            })
        })
    }

    /// Returns the number of distinct (tag, ingress port, egress port).
    pub fn edges(&self) -> u64 {
        self.hops.iter().flatten().map(|word| u64::from(word.count_ones())).sum()
    }
}
