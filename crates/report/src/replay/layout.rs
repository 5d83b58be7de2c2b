//! Positions of nodes in the drawing of a fabric. They are equal on all machines.

use super::fabric::Fabric;
use serde::Serialize;
use std::collections::BTreeMap;

/// Width of the drawing in drawing units; the page scales it to its canvas.
const WIDTH: i64 = 10_000;
const MARGIN: i64 = 350;
/// Distance between rows of switches.
const ROW: i64 = 1500;
/// Distance from the lowest row of switches to the first row of hosts.
const TO_HOSTS: i64 = 700;
/// Maximum distance between adjacent hosts, and maximum total height of the host rows below a switch.
const MOST_PITCH: i64 = 380;
const MOST_HOSTS_HEIGHT: i64 = 1500;
/// Maximum width and height of a switch.
const SWITCH: i64 = 300;
/// With more nodes than this, nodes are placed on a grid, because a force-directed layout would take too long.
const MOST_FOR_FORCES: usize = 2500;
/// Up to this number of nodes, the initial positions of a force-directed layout are on a circle; otherwise in a disc.
const MOST_ON_A_CIRCLE: usize = 120;
/// Maximum number of node pairs evaluated in all iterations of a force-directed layout.
const PAIRS: usize = 120_000_000;

/// Positions and sizes of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Layout {
    /// Whether each tier is drawn as a row, so that the page may scale width and height independently.
    pub tiers: bool,
    /// Whether the hosts of a switch are drawn in several rows, so that there is no space for their links.
    pub stacked: bool,
    /// Width of the drawing.
    pub width: i64,
    /// Height of the drawing.
    pub height: i64,
    /// x coordinate of the centre of each node.
    pub x: Vec<i64>,
    /// y coordinate of the centre of each node, increasing downwards.
    pub y: Vec<i64>,
    /// Width of each node; it is also the height, unless the page scales width and height independently.
    pub size: Vec<i64>,
}

impl Layout {
    /// If every link connects adjacent tiers, draws each tier as a row. Otherwise places the nodes on a line, a circle
    /// or a grid, or by a force-directed layout.
    pub fn new(fabric: &Fabric) -> Layout {
        let neighbours = fabric.neighbours();
        let count = fabric.names.len();
        let mut layout = Layout { x: vec![0; count], y: vec![0; count], size: vec![0; count], ..Layout::default() };
        match tiers(fabric, &neighbours) {
            Some(levels) => layout.in_rows(&levels, &neighbours),
            None => layout.free(fabric, &neighbours),
        }
        layout
    }

    fn in_rows(&mut self, levels: &[usize], neighbours: &[Vec<usize>]) {
        self.tiers = true;
        let top = levels.iter().copied().max().unwrap_or(0);
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); top + 1];
        levels.iter().enumerate().for_each(|(node, &level)| rows[level].push(node));
        let parts = parts(levels, neighbours, top);
        rows.iter_mut().for_each(|row| row.sort_by_key(|&node| (&parts[node], node)));
        for (level, row) in rows.iter().enumerate().skip(1) {
            let count = row.len() as i64;
            for (at, &node) in row.iter().enumerate() {
                self.x[node] = (2 * at as i64 + 1) * WIDTH / (2 * count);
                self.y[node] = MARGIN + (top - level) as i64 * ROW;
                self.size[node] = (WIDTH * 4 / (5 * count)).clamp(1, SWITCH);
            }
        }
        // A host is placed below its neighbour with the lowest index.
        let mut below: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &host in &rows[0] {
            below.entry(neighbours[host].iter().copied().min().unwrap_or(host)).or_default().push(host);
        }
        let slot = WIDTH / (rows[1].len() as i64).max(1);
        let most = below.values().map(Vec::len).max().unwrap_or(1) as i64;
        let columns = |pitch: i64| (slot * 23 / (25 * pitch)).max(1);
        let high = |pitch: i64| (most + columns(pitch) - 1) / columns(pitch) * pitch;
        // The largest distance between hosts at which the hosts fit below their switch.
        let fits = |pitch: &i64| pitch * 25 <= slot * 23 && high(*pitch) <= MOST_HOSTS_HEIGHT;
        let pitch = (1..=MOST_PITCH).rev().find(fits).unwrap_or((slot * 23 / 25).max(1));
        let columns = columns(pitch).min(most);
        self.stacked = most > columns;
        let floor = MARGIN + (top as i64 - 1) * ROW;
        for (switch, hosts) in below {
            for (at, host) in (0..).zip(hosts) {
                self.x[host] = self.x[switch] + (2 * (at % columns) - (columns - 1)) * pitch / 2;
                self.y[host] = floor + TO_HOSTS + at / columns * pitch;
                self.size[host] = (pitch * 4 / 5).max(1);
            }
        }
        self.width = WIDTH;
        self.height = floor + TO_HOSTS + high(pitch) - pitch + MARGIN;
    }

    fn free(&mut self, fabric: &Fabric, neighbours: &[Vec<usize>]) {
        // Hosts whose only link leads to a switch are placed around that switch, after all other nodes have been
        // placed.
        let hangs =
            |node: usize| fabric.hosts[node] && neighbours[node].len() == 1 && !fabric.hosts[neighbours[node][0]];
        let set: Vec<usize> = (0..fabric.names.len()).filter(|&node| !hangs(node)).collect();
        let rank: BTreeMap<usize, usize> = set.iter().enumerate().map(|(at, &node)| (node, at)).collect();
        let near: Vec<Vec<usize>> = set
            .iter()
            .map(|&node| neighbours[node].iter().filter_map(|other| rank.get(other)).copied().collect())
            .collect();
        let (positions, rigid) = set_by_links(&near);
        let apart = distance(&positions);
        let mut all = vec![(0.0, 0.0); fabric.names.len()];
        set.iter().zip(&positions).for_each(|(&node, &position)| all[node] = position);
        let middle = mean(positions.iter().copied());
        for (&node, near) in set.iter().zip(&near) {
            let hosts: Vec<usize> = neighbours[node].iter().copied().filter(|&other| hangs(other)).collect();
            let from = mean(near.iter().map(|&other| positions[other]));
            let away = |(x, y): (f64, f64)| (all[node].0 - x, all[node].1 - y);
            // The hosts are placed in the direction away from the switch's neighbours or, if the neighbours surround
            // the switch, away from the centre of the drawing.
            let directions = [away(from), away(middle)];
            let length = |(x, y): (f64, f64)| (x * x + y * y).sqrt();
            let away = directions.into_iter().find(|&d| length(d) > apart / 20.0).unwrap_or((0.0, 1.0));
            let away = (away.0 / length(away), away.1 / length(away));
            let (mut arc, mut first) = (0, 0);
            while first < hosts.len() {
                let here = (hosts.len() - first).min(7 + 2 * arc);
                let radius = apart * (0.42 + 0.16 * arc as f64);
                for at in 0..here {
                    // A row of hosts spans an arc of at most 140 degrees around the switch, and less for few hosts.
                    let angle = (at as f64 - (here - 1) as f64 / 2.0) * (2.4 / here.max(4) as f64);
                    let (sin, cos) = libm::sincos(angle);
                    let direction = (away.0 * cos - away.1 * sin, away.0 * sin + away.1 * cos);
                    all[hosts[first + at]] = (all[node].0 + radius * direction.0, all[node].1 + radius * direction.1);
                }
                (first, arc) = (first + here, arc + 1);
            }
        }
        let least = |pick: fn(&(f64, f64)) -> f64| all.iter().map(pick).fold(f64::INFINITY, f64::min);
        let greatest = |pick: fn(&(f64, f64)) -> f64| all.iter().map(pick).fold(f64::NEG_INFINITY, f64::max);
        let (x, y) = (|position: &(f64, f64)| position.0, |position: &(f64, f64)| position.1);
        let (wide, high) = ((greatest(x) - least(x)).max(1e-9), (greatest(y) - least(y)).max(1e-9));
        let inner = (WIDTH - 2 * MARGIN) as f64;
        let scale = (inner / wide).min(0.55 * inner / high);
        // Only a force-directed layout may be stretched horizontally: lines, circles and grids keep their aspect ratio.
        let across = if rigid { scale } else { (inner / wide).clamp(scale, 1.7 * scale) };
        self.width = WIDTH;
        self.height = (high * scale) as i64 + 2 * MARGIN;
        let left = (WIDTH as f64 - wide * across) / 2.0;
        let switch = ((apart * scale * 0.34) as i64).clamp(20, SWITCH);
        for (node, position) in all.iter().enumerate() {
            self.x[node] = (left + (position.0 - least(x)) * across) as i64;
            self.y[node] = MARGIN + ((position.1 - least(y)) * scale) as i64;
            self.size[node] = if fabric.hosts[node] { switch / 2 } else { switch };
        }
    }
}

/// Returns the BFS level of each node, where hosts have level 0; `None` unless every link connects adjacent levels.
fn tiers(fabric: &Fabric, neighbours: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut levels: Vec<Option<usize>> = fabric.hosts.iter().map(|&host| host.then_some(0)).collect();
    let mut open: Vec<usize> = (0..levels.len()).filter(|&node| fabric.hosts[node]).collect();
    for level in 1.. {
        let mut next = Vec::new();
        for &other in open.iter().flat_map(|&node| &neighbours[node]) {
            if levels[other].is_none() {
                levels[other] = Some(level);
                next.push(other);
            }
        }
        if next.is_empty() {
            break;
        }
        open = next;
    }
    let levels: Vec<usize> = levels.into_iter().collect::<Option<_>>()?;
    let joins =
        |(node, near): (usize, &Vec<usize>)| near.iter().all(|&other| levels[node].abs_diff(levels[other]) == 1);
    let tiered = !levels.is_empty() && neighbours.iter().enumerate().all(joins);
    tiered.then_some(levels)
}

/// For each node: the identifier of its connected component after removal of the highest tier, then after removal of
/// the next tier, and so on. Sorting by these lists places nodes with a common prefix, such as those of a pod, next to
/// each other. A component is identified by its lowest node index.
fn parts(levels: &[usize], neighbours: &[Vec<usize>], top: usize) -> Vec<Vec<usize>> {
    let mut parts = vec![Vec::new(); levels.len()];
    for left in (1..top).rev() {
        let mut seen = vec![false; levels.len()];
        for first in 0..levels.len() {
            let mut open = vec![first];
            while let Some(node) = open.pop() {
                if levels[node] <= left && !std::mem::replace(&mut seen[node], true) {
                    parts[node].push(first);
                    open.extend(&neighbours[node]);
                }
            }
        }
    }
    parts
}

/// Returns the position of each node, and whether the positions form a line, a circle or a grid.
fn set_by_links(near: &[Vec<usize>]) -> (Vec<(f64, f64)>, bool) {
    let count = near.len();
    let order = walk(near);
    let mut positions = vec![(0.0, 0.0); count];
    let others = |node: usize| {
        let mut found = near[node].clone();
        found.sort_unstable();
        found.dedup();
        found.len()
    };
    let degrees: Vec<usize> = (0..count).map(others).collect();
    let together = order.windows(2).all(|pair| near[pair[0]].contains(&pair[1]));
    if together && degrees.iter().all(|&degree| degree <= 2) && degrees.iter().filter(|&&d| d < 2).count() == 2 {
        // The nodes form a line.
        order.iter().enumerate().for_each(|(at, &node)| positions[node] = (at as f64, 0.0));
        return (positions, true);
    }
    if count > MOST_FOR_FORCES {
        let columns = (1..).find(|columns| columns * columns * 11 >= count * 20).unwrap_or(1);
        order.iter().enumerate().for_each(|(at, &n)| positions[n] = ((at % columns) as f64, (at / columns) as f64));
        return (positions, true);
    }
    // Initial positions: on a circle in depth-first order, so that consecutive nodes are adjacent. If there are many
    // nodes, in a disc, in which nodes have shorter distances to move.
    let circle = count <= MOST_ON_A_CIRCLE || degrees.iter().all(|&degree| degree == 2);
    for (at, &node) in order.iter().enumerate() {
        let share = at as f64 / count as f64;
        // Successive angles differ by the golden angle, which fills the disc evenly.
        let (radius, turns) = if circle {
            (count as f64 / std::f64::consts::TAU, share)
        } else {
            ((at as f64 + 0.5).sqrt(), at as f64 * 0.618_034)
        };
        let (sin, cos) = libm::sincos(turns * std::f64::consts::TAU);
        positions[node] = (radius * sin, -radius * cos);
    }
    // If the nodes form a ring, the circle is the final layout.
    if together && degrees.iter().all(|&degree| degree == 2) {
        return (positions, true);
    }
    let rounds = (PAIRS / (count * count).max(1)).clamp(20, 400);
    (0..rounds).for_each(|round| push_and_pull(&mut positions, near, 1.0 - round as f64 / rounds as f64));
    (positions, false)
}

/// Returns the nodes in depth-first order, so that each node follows one of its neighbours if possible.
fn walk(near: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; near.len()];
    let mut order = Vec::with_capacity(near.len());
    // Start with the nodes of lowest degree, which are the endpoints of lines.
    let mut starts: Vec<usize> = (0..near.len()).collect();
    starts.sort_by_key(|&node| near[node].len());
    for start in starts {
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                order.push(node);
                let mut next = near[node].clone();
                next.sort_unstable_by(|a, b| b.cmp(a));
                open.extend(next.into_iter().filter(|&other| !seen[other]));
            }
        }
    }
    order
}

/// One iteration of the Fruchterman-Reingold layout: all nodes repel each other, linked nodes attract each other, and
/// `heat` (from 1 down to 0) limits the distance that a node moves. The natural length of a link is 1. Only addition,
/// multiplication, division and square root are used, because these are rounded equally on every machine.
fn push_and_pull(positions: &mut [(f64, f64)], near: &[Vec<usize>], heat: f64) {
    let moves: Vec<(f64, f64)> = (0..positions.len())
        .map(|node| {
            let (x, y) = positions[node];
            let (mut dx, mut dy) = (0.0, 0.0);
            for &(ox, oy) in positions.iter() {
                let (ax, ay) = (x - ox, y - oy);
                let square = (ax * ax + ay * ay).max(1e-4);
                (dx, dy) = (dx + ax / square, dy + ay / square);
            }
            for &other in &near[node] {
                let (ax, ay) = (positions[other].0 - x, positions[other].1 - y);
                let length = (ax * ax + ay * ay).sqrt();
                (dx, dy) = (dx + ax * length, dy + ay * length);
            }
            // A weak force towards the centre keeps disconnected components together.
            (dx - 0.02 * x, dy - 0.02 * y)
        })
        .collect();
    let most = 0.1 + heat * (positions.len() as f64).sqrt() / 10.0;
    for (position, (dx, dy)) in positions.iter_mut().zip(moves) {
        let length = (dx * dx + dy * dy).sqrt().max(1e-9);
        let scale = (length * 0.1).min(most * heat) / length;
        *position = (position.0 + dx * scale, position.1 + dy * scale);
    }
}

fn mean(positions: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let (sum, count) =
        positions.fold(((0.0, 0.0), 0.0), |(sum, count), at| ((sum.0 + at.0, sum.1 + at.1), count + 1.0));
    if count > 0.0 { (sum.0 / count, sum.1 / count) } else { (0.0, 0.0) }
}

/// Returns the mean distance between a node and the node nearest to it in the drawing.
fn distance(positions: &[(f64, f64)]) -> f64 {
    let nearest = |at: usize| {
        let square = |other: usize| {
            let (x, y) = (positions[at].0 - positions[other].0, positions[at].1 - positions[other].1);
            x * x + y * y
        };
        (0..positions.len()).filter(|&other| other != at).map(square).fold(f64::INFINITY, f64::min).sqrt()
    };
    // Use only the first 500 nodes, to limit the computation time.
    let distances: Vec<f64> = (0..positions.len().min(500)).map(nearest).filter(|far| far.is_finite()).collect();
    if distances.is_empty() { 1.0 } else { (distances.iter().sum::<f64>() / distances.len() as f64).max(1e-6) }
}

#[cfg(test)]
mod tests {
    use super::super::fabric::tests::fabric;
    use super::*;

    /// Returns the number of hosts and the links of a fat-tree of `k`; hosts have the lowest numbers, as in the
    /// generators.
    fn fat_tree(k: u32) -> (u32, Vec<(u32, u32)>) {
        let (hosts, half) = (k * k * k / 4, k / 2);
        let (edges, aggregations) = (hosts, hosts + k * half);
        let mut links: Vec<(u32, u32)> = (0..hosts).map(|host| (host, edges + host / half)).collect();
        for pod in 0..k {
            for a in 0..half {
                links.extend((0..half).map(|b| (edges + pod * half + a, aggregations + pod * half + b)));
                links
                    .extend((0..half).map(|c| (aggregations + pod * half + a, aggregations + k * half + a * half + c)));
            }
        }
        (hosts, links)
    }

    /// Returns the number of pairs of nodes that overlap in the drawing.
    fn overlaps(layout: &Layout) -> usize {
        let count = layout.x.len();
        let apart = |a: usize, b: usize| {
            (layout.x[a] - layout.x[b]).abs().max((layout.y[a] - layout.y[b]).abs())
                >= (layout.size[a] + layout.size[b]) / 2
        };
        (0..count).map(|a| (0..a).filter(|&b| !apart(a, b)).count()).sum()
    }

    fn is_inside(layout: &Layout) -> bool {
        let inside = |values: &[i64], most: i64| values.iter().all(|value| (0..=most).contains(value));
        inside(&layout.x, layout.width) && inside(&layout.y, layout.height)
    }

    #[test]
    fn a_fat_tree_of_a_thousand_hosts_is_drawn_in_rows_without_overlaps() {
        let (hosts, links) = fat_tree(16);
        let layout = Layout::new(&fabric(hosts, &links));
        assert!(layout.tiers && layout.stacked && is_inside(&layout));
        assert_eq!((hosts, layout.x.len(), overlaps(&layout)), (1024, 1344, 0));
        let mut rows: Vec<i64> = layout.y[1024..].to_vec();
        rows.dedup();
        assert_eq!(rows.len(), 3, "edges, aggregations, cores");
        assert!(layout.y[..1024].iter().all(|&y| y > rows[0]) && rows[0] > rows[1] && rows[1] > rows[2]);
        // On a screen with a width of 1180 pixels, a host is at least 6 pixels wide.
        assert!(layout.size[..1024].iter().all(|&size| size * 1180 / WIDTH >= 6), "{:?}", &layout.size[..4]);
        // Hosts are below their edge switch, and the switches of each row are in the order of their pods.
        assert!((0..1024).all(|host| (layout.x[host] - layout.x[1024 + host / 8]).abs() < 40));
        for row in [1024..1152, 1152..1280, 1280..1344] {
            assert!(layout.x[row].windows(2).all(|pair| pair[0] < pair[1]));
        }
        assert_eq!(layout, Layout::new(&fabric(hosts, &links)), "the same again");
    }

    #[test]
    fn rows_follow_the_links_where_numbers_do_not() {
        // Leaves 4 and 6 with spine 9 form one pod, leaves 5 and 7 with spine 8 the other: the numbers of the pods
        // interleave.
        let links = [(0, 4), (1, 5), (2, 6), (3, 7), (4, 9), (6, 9), (5, 8), (7, 8), (8, 10), (9, 10)];
        let layout = Layout::new(&fabric(4, &links));
        assert!(layout.tiers && !layout.stacked);
        let (a, b) = (layout.x[4].max(layout.x[6]), layout.x[5].min(layout.x[7]));
        assert_eq!(a < b, layout.x[9] < layout.x[8], "{layout:?}");
        assert!(a < b || layout.x[5].max(layout.x[7]) < layout.x[4].min(layout.x[6]), "{layout:?}");
    }

    #[test]
    fn a_ring_is_a_circle_and_a_line_a_row() {
        let ring: Vec<(u32, u32)> =
            (0..6).map(|at| (at, 6 + at)).chain((0..6).map(|at| (6 + at, 6 + (at + 1) % 6))).collect();
        let layout = Layout::new(&fabric(6, &ring));
        assert!(!layout.tiers && is_inside(&layout) && overlaps(&layout) == 0, "{layout:?}");
        let middle = (layout.x[6..].iter().sum::<i64>() / 6, layout.y[6..].iter().sum::<i64>() / 6);
        let far = |node: usize| {
            let (x, y) = ((layout.x[node] - middle.0) as f64, (layout.y[node] - middle.1) as f64);
            (x * x + y * y).sqrt()
        };
        assert!((7..12).all(|node| (far(node) - far(6)).abs() < 5.0), "{layout:?}");
        assert!((0..6).all(|host| far(host) > far(6) + 50.0), "hosts stand outside");
        let line: Vec<(u32, u32)> = vec![(0, 3), (1, 5), (3, 4), (4, 5), (2, 4)];
        let layout = Layout::new(&fabric(3, &line));
        assert!(!layout.tiers && is_inside(&layout) && overlaps(&layout) == 0);
        assert!(layout.x[3] < layout.x[4] && layout.x[4] < layout.x[5], "{layout:?}");
        assert!(layout.y[3..].windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn any_other_fabric_keeps_its_nodes_apart_and_neighbours_near() {
        // 24 switches with two hosts each, linked as a grid of 6 x 4; linked switches do not have adjacent numbers.
        let shuffled = |at: u32| 48 + at * 7 % 24;
        let mut links: Vec<(u32, u32)> = (0..48).map(|host| (host, 48 + host / 2)).collect();
        for at in 0..24 {
            links.extend((at % 6 < 5).then(|| (shuffled(at), shuffled(at + 1))));
            links.extend((at < 18).then(|| (shuffled(at), shuffled(at + 6))));
        }
        let drawn = fabric(48, &links);
        let layout = Layout::new(&drawn);
        assert!(!layout.tiers && is_inside(&layout));
        assert!(overlaps(&layout) <= 3, "{} of 72 nodes: {layout:?}", overlaps(&layout));
        let far = |a: usize, b: usize| {
            let (x, y) = ((layout.x[a] - layout.x[b]) as f64, (layout.y[a] - layout.y[b]) as f64);
            (x * x + y * y).sqrt()
        };
        let linked: Vec<f64> = links[48..].iter().map(|&(a, b)| far(a as usize, b as usize)).collect();
        let all: Vec<f64> = (48..72).flat_map(|a| (48..a).map(move |b| (a, b))).map(|(a, b)| far(a, b)).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert!(2.0 * mean(&linked) < mean(&all), "{} of {}", mean(&linked), mean(&all));
        assert_eq!(layout, Layout::new(&drawn));
    }

    #[test]
    fn nothing_and_one_switch_and_very_many_are_drawn_too() {
        assert_eq!(Layout::new(&fabric(0, &[])).x.len(), 0);
        let star: Vec<(u32, u32)> = (0..40).map(|host| (host, 40)).collect();
        let layout = Layout::new(&fabric(40, &star));
        assert!(layout.tiers && is_inside(&layout) && overlaps(&layout) == 0);
        // A ring of 3,000 nodes with chords: too many nodes for a force-directed layout.
        let links: Vec<(u32, u32)> = (0..3000).flat_map(|at| [(at, (at + 1) % 3000), (at, (at + 50) % 3000)]).collect();
        let layout = Layout::new(&fabric(0, &links));
        assert!(!layout.tiers && is_inside(&layout) && overlaps(&layout) == 0);
    }
}
