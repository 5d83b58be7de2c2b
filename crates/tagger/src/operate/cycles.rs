//! Strongly connected components, which determine the edges on cycles.

/// Directed graph in compressed sparse row format.
pub(crate) struct Graph {
    /// Edges of vertex v: `heads[first[v]..first[v + 1]]`.
    first: Vec<usize>,
    heads: Vec<u32>,
}

const UNSEEN: u32 = u32::MAX;

impl Graph {
    pub fn new(vertices: usize, edges: &[(u32, u32)]) -> Graph {
        let mut first = vec![0; vertices + 1];
        edges.iter().for_each(|&(tail, _)| first[tail as usize + 1] += 1);
        (0..vertices).for_each(|vertex| first[vertex + 1] += first[vertex]);
        let mut at = first.clone();
        let mut heads = vec![0; edges.len()];
        for &(tail, head) in edges {
            heads[at[tail as usize]] = head;
            at[tail as usize] += 1;
        }
        Graph { first, heads }
    }

    /// Returns the strongly connected component of every vertex (Tarjan's algorithm with an explicit stack).
    pub fn components(&self) -> Vec<u32> {
        let vertices = self.first.len() - 1;
        let (mut number, mut low) = (vec![UNSEEN; vertices], vec![0u32; vertices]);
        let mut component = vec![UNSEEN; vertices];
        let (mut open, mut calls): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
        let (mut next, mut found) = (0, 0);
        for root in 0..vertices as u32 {
            if number[root as usize] != UNSEEN {
                continue;
            }
            calls.push((root, self.first[root as usize]));
            while let Some((vertex, edge)) = calls.pop() {
                let v = vertex as usize;
                if edge == self.first[v] {
                    (number[v], low[v]) = (next, next);
                    next += 1;
                    open.push(vertex);
                }
                if edge < self.first[v + 1] {
                    calls.push((vertex, edge + 1));
                    let head = self.heads[edge];
                    if number[head as usize] == UNSEEN {
                        calls.push((head, self.first[head as usize]));
                    } else if component[head as usize] == UNSEEN {
                        low[v] = low[v].min(number[head as usize]);
                    }
                    continue;
                }
                if low[v] == number[v] {
                    while let Some(member) = open.pop() {
                        component[member as usize] = found;
                        if member == vertex {
                            break;
                        }
                    }
                    found += 1;
                }
                if let Some(&(caller, _)) = calls.last() {
                    low[caller as usize] = low[caller as usize].min(low[v]);
                }
            }
        }
        component
    }

    /// Returns whether an edge lies on a cycle, which is the case if both its vertices are in the same component.
    pub fn on_cycle(components: &[u32], (tail, head): (u32, u32)) -> bool {
        components[tail as usize] == components[head as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_edge_is_on_a_cycle_where_its_head_reaches_its_tail(
            edges in prop::collection::vec((0..9u32, 0..9u32), 0..25)
        ) {
            let components = Graph::new(9, &edges).components();
            let mut reaches = [[false; 9]; 9];
            edges.iter().for_each(|&(tail, head)| reaches[tail as usize][head as usize] = true);
            for by in 0..9 {
                for from in 0..9 {
                    for to in 0..9 {
                        reaches[from][to] |= reaches[from][by] && reaches[by][to];
                    }
                }
            }
            for &(tail, head) in &edges {
                let expected = tail == head || reaches[head as usize][tail as usize];
                prop_assert_eq!(Graph::on_cycle(&components, (tail, head)), expected);
            }
        }
    }
}
