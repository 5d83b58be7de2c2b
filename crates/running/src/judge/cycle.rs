//! Shortest cycle of a directed graph, given as a map of edges per vertex, by successor.
//!
//! Strongly connected components (Tarjan, 1972) decide whether there is a cycle: a component of several vertices has
//! one, and so has a vertex with a self-loop. Only components with a cycle are searched for a shortest cycle.

use std::collections::{BTreeMap, VecDeque};

/// Maximum number of start vertices of the search. Each start vertex lies on a cycle, so a cycle is always found. If
/// more vertices lie on cycles (in fabrics of thousands of ports), the reported cycle may not be the shortest.
const MOST_STARTS: usize = 2_000;
const NONE: usize = usize::MAX;

/// Returns a shortest cycle through one of the first `MOST_STARTS` vertices that lie on cycles; empty if there is none.
pub(super) fn shortest<E>(edges: &[BTreeMap<usize, E>]) -> Vec<usize> {
    let component = components(edges);
    let mut sizes = vec![0u32; edges.len()];
    component.iter().for_each(|&component| sizes[component] += 1);
    let is_on_cycle = |vertex: &usize| sizes[component[*vertex]] > 1 || edges[*vertex].contains_key(vertex);
    let mut best: Vec<usize> = Vec::new();
    let mut from = vec![NONE; edges.len()];
    for start in (0..edges.len()).filter(is_on_cycle).take(MOST_STARTS) {
        from.fill(NONE);
        let mut queue = VecDeque::from([(start, 1)]);
        'search: while let Some((vertex, length)) = queue.pop_front() {
            if !best.is_empty() && length >= best.len() {
                break;
            }
            for &next in edges[vertex].keys().filter(|&&next| component[next] == component[start]) {
                if next == start {
                    let mut cycle = vec![vertex];
                    while cycle[cycle.len() - 1] != start {
                        cycle.push(from[cycle[cycle.len() - 1]]);
                    }
                    cycle.reverse();
                    best = cycle;
                    break 'search;
                }
                if from[next] == NONE {
                    from[next] = vertex;
                    queue.push_back((next, length + 1));
                }
            }
        }
    }
    best
}

/// Returns the strongly connected component of each vertex, as a number. Iterative, because the depth of a recursive
/// search could reach the number of vertices.
fn components<E>(edges: &[BTreeMap<usize, E>]) -> Vec<usize> {
    let successors: Vec<Vec<usize>> = edges.iter().map(|to| to.keys().copied().collect()).collect();
    let (mut order, mut low) = (vec![NONE; edges.len()], vec![0; edges.len()]);
    let mut component = vec![NONE; edges.len()];
    let (mut visited, mut found) = (0, 0);
    let mut stack = Vec::new();
    for root in 0..edges.len() {
        if order[root] != NONE {
            continue;
        }
        // Stack of the depth-first search: each vertex with the index of its next successor.
        let mut path = vec![(root, 0)];
        while let Some((vertex, at)) = path.last_mut() {
            let vertex = *vertex;
            if *at == 0 {
                (order[vertex], low[vertex]) = (visited, visited);
                visited += 1;
                stack.push(vertex);
            }
            if let Some(&next) = successors[vertex].get(*at) {
                *at += 1;
                if order[next] == NONE {
                    path.push((next, 0));
                } else if component[next] == NONE {
                    low[vertex] = low[vertex].min(order[next]);
                }
                continue;
            }
            path.pop();
            if let Some(&(previous, _)) = path.last() {
                low[previous] = low[previous].min(low[vertex]);
            }
            if low[vertex] == order[vertex] {
                while let Some(member) = stack.pop() {
                    component[member] = found;
                    if member == vertex {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(vertices: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Vec<BTreeMap<usize, ()>> {
        let mut graph = vec![BTreeMap::new(); vertices];
        for (from, to) in edges {
            graph[from].insert(to, ());
        }
        graph
    }

    #[test]
    fn vertices_between_two_cycles_hide_neither() {
        // Vertices 0 to 2,001 lie on paths from a cycle of three vertices to a cycle of two, and on no cycle
        // themselves.
        let between = MOST_STARTS + 2;
        let [a, b, c, d, e] = std::array::from_fn(|at| between + at);
        let edges = (0..between).flat_map(|middle| [(a, middle), (middle, d)]);
        let cycles = [(a, b), (b, c), (c, a), (d, e), (e, d)];
        assert_eq!(shortest(&graph(between + 5, edges.clone().chain(cycles))), [d, e]);
        assert!(shortest(&graph(between + 5, edges.chain([(a, b), (b, c), (d, e)]))).is_empty());
    }

    #[test]
    fn cycles_are_found_by_length() {
        assert!(shortest(&graph(0, [])).is_empty());
        assert_eq!(shortest(&graph(1, [(0, 0)])), [0]);
        assert_eq!(shortest(&graph(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3)])), [3, 4]);
        let many = 200_000;
        let path = (1..many).map(|vertex| (vertex - 1, vertex));
        assert!(shortest(&graph(many, path.clone())).is_empty());
        assert_eq!(shortest(&graph(many, path.chain([(many - 1, many - 2)]))), [many - 2, many - 1]);
    }

    #[test]
    fn small_graphs_agree_with_a_search_from_every_vertex() {
        let mut state = 7u64;
        let mut below = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % most
        };
        let mut cyclic = 0;
        for _ in 0..2_000 {
            let vertices = 1 + below(8);
            let pairs: Vec<(usize, usize)> = (0..below(11)).map(|_| (below(vertices), below(vertices))).collect();
            let graph = graph(vertices, pairs);
            // The shortest cycle has the length of the first power of the adjacency matrix with a nonzero diagonal.
            let mut reached: Vec<Vec<bool>> =
                (0..vertices).map(|at| (0..vertices).map(|to| to == at).collect()).collect();
            let mut expected = 0;
            for length in 1..=vertices {
                let step = |row: &Vec<bool>| -> Vec<bool> {
                    (0..vertices).map(|to| (0..vertices).any(|by| row[by] && graph[by].contains_key(&to))).collect()
                };
                reached = reached.iter().map(step).collect();
                if expected == 0 && (0..vertices).any(|at| reached[at][at]) {
                    expected = length;
                }
            }
            let cycle = shortest(&graph);
            assert_eq!(cycle.len(), expected, "{graph:?}");
            for (at, vertex) in cycle.iter().enumerate() {
                assert!(graph[*vertex].contains_key(&cycle[(at + 1) % cycle.len()]), "{cycle:?} {graph:?}");
            }
            cyclic += usize::from(!cycle.is_empty());
        }
        assert!((500..1_900).contains(&cyclic), "{cyclic}");
    }
}
