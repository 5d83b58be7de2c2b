//! Search for the shortest cycle of a dependency graph, because the shortest is the easiest to read.

use crate::graph::Graph;
use std::collections::VecDeque;

/// Maximum number of edges that the search visits, which takes some seconds. The search then stops with the shortest
/// cycle found.
const BUDGET: u64 = 300_000_000;

/// A cycle, and whether it is proved to be shortest.
#[derive(Debug)]
pub(crate) struct Short {
    /// Vertices in order; an edge leads from the last vertex to the first.
    pub vertices: Vec<u32>,
    /// Whether no cycle is shorter.
    pub shortest: bool,
}

/// Breadth-first search with reused memory.
struct Search {
    /// Number of the last search that visited each vertex.
    seen: Vec<u32>,
    /// Predecessor of each vertex.
    from: Vec<u32>,
    queue: VecDeque<(u32, u32)>,
    number: u32,
    edges: u64,
}

impl Search {
    /// Returns a shortest cycle through `start` of fewer than `below` vertices.
    fn run(&mut self, graph: &Graph, start: u32, below: u32) -> Option<Vec<u32>> {
        self.number += 1;
        self.queue.clear();
        self.queue.push_back((start, 1));
        while let Some((vertex, length)) = self.queue.pop_front() {
            if length >= below {
                return None;
            }
            let mut closed = false;
            graph.successors(vertex, |next| {
                self.edges += 1;
                closed |= next == start;
                if self.seen[next as usize] != self.number {
                    self.seen[next as usize] = self.number;
                    self.from[next as usize] = vertex;
                    self.queue.push_back((next, length + 1));
                }
            });
            if closed {
                let mut cycle = vec![vertex];
                while cycle[cycle.len() - 1] != start {
                    cycle.push(self.from[cycle[cycle.len() - 1] as usize]);
                }
                cycle.reverse();
                return Some(cycle);
            }
        }
        None
    }
}

/// Returns the shortest cycle of a graph; `known` is any cycle of this graph. Of several shortest cycles, returns the
/// cycle with the lowest vertex, rotated to start at this vertex. If the graph is too large for searches from all
/// vertices, returns the shortest cycle found.
pub(crate) fn shortest(graph: &Graph, known: Vec<u32>) -> Short {
    let mut search =
        Search { seen: vec![0; graph.len()], from: vec![0; graph.len()], queue: VecDeque::new(), number: 0, edges: 0 };
    // Shorten the known cycle first: its length bounds the searches from all vertices, which makes them cheap.
    let mut best = known;
    for start in best.clone() {
        if let Some(cycle) = search.run(graph, start, best.len() as u32) {
            best = cycle;
        }
    }
    // Allow one vertex more than the best cycle has, so that another cycle of equal length with a lower vertex is
    // found.
    let mut bound = best.len() as u32 + 1;
    let mut shortest = true;
    for start in 0..graph.len() as u32 {
        if search.edges > BUDGET {
            shortest = false;
            break;
        }
        if !graph.is_used(start) {
            continue;
        }
        if let Some(cycle) = search.run(graph, start, bound) {
            bound = cycle.len() as u32;
            best = cycle;
        }
    }
    let lowest = (0..best.len()).min_by_key(|&at| best[at]).unwrap_or(0);
    best.rotate_left(lowest);
    Short { vertices: best, shortest }
}
