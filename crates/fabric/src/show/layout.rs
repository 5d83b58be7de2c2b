//! Layout of a drawing, and grouping of nodes if there are too many.

use super::nodes::ranges;
use super::summary::{grouped, tier_name};
use crate::{Fabric, NodeId, NodeKind};
use std::collections::BTreeMap;
use units::Rate;

/// Maximum number of shapes; with more shapes, links are indistinguishable.
const MAX_SHAPES: usize = 400;
/// Minimum width of a drawing.
const MIN_WIDTH: usize = 288;
/// Horizontal space between two switches.
const GAP: usize = 24;
/// Minimum distance between two rows. Wide drawings have larger distances, so that lines are not too flat.
const ROW_HEIGHT: usize = 130;
const MARGIN: usize = 50;

/// One node, or a group of nodes drawn as one.
pub(super) struct Shape {
    pub label: String,
    pub kind: NodeKind,
    pub tier: u8,
    /// Number of nodes in the group.
    pub nodes: usize,
    pub x: i64,
    pub y: i64,
}

/// Maximum number of characters of a name in the drawing; the tooltip has the full name.
const MAX_LABEL: usize = 14;
/// Maximum number of characters of a group's label. It is larger than [`MAX_LABEL`] because there are few groups.
const MAX_GROUP_LABEL: usize = 24;
/// Maximum number of pods that fit side by side.
const MAX_PODS: usize = 16;
/// Width of the column for link rates, left of the rows.
const RATES_WIDTH: usize = 120;

impl Shape {
    /// Returns the label as drawn.
    pub fn short_label(&self) -> String {
        if self.label.chars().count() <= self.most() {
            self.label.clone()
        } else {
            self.label.chars().take(self.most() - 1).chain(['…']).collect()
        }
    }

    fn most(&self) -> usize {
        if self.nodes > 1 { MAX_GROUP_LABEL } else { MAX_LABEL }
    }

    /// Returns half the width of the shape and its label, at 7 units per character.
    pub fn half_width(&self) -> usize {
        let text = self.label.chars().count().min(self.most()) * 7 / 2;
        match self.kind {
            NodeKind::Host => (text + 2).max(17),
            NodeKind::Switch => (text + 6).max(24),
        }
    }

    fn room(&self) -> usize {
        2 * self.half_width() + if self.kind == NodeKind::Switch { GAP } else { 0 }
    }
}

/// Line between two shapes.
pub(super) struct Line {
    pub a: usize,
    pub b: usize,
    pub links: usize,
}

pub(super) struct Layout {
    pub width: i64,
    pub height: i64,
    pub shapes: Vec<Shape>,
    pub lines: Vec<Line>,
    /// Description of the grouping, if any.
    pub note: Option<String>,
    /// Height and text of each label with the number of links by rate between two rows.
    pub rates: Vec<(i64, String)>,
}

/// Returns the pod of each node. Pods are the connected components that remain without the highest tier; nodes of that
/// tier have no pod. `None` if there are no pods, or too many to draw side by side.
fn pods(fabric: &Fabric) -> Option<Vec<u32>> {
    let top = fabric.nodes().iter().map(|node| node.tier).max().filter(|&top| top > 2)?;
    let is_top = |node: NodeId| fabric.node(node).tier == top;
    let mut pods = vec![u32::MAX; fabric.nodes().len()];
    let mut count = 0;
    for first in fabric.node_ids().filter(|&node| !is_top(node)) {
        if pods[first.index()] != u32::MAX {
            continue;
        }
        let mut waiting = vec![first];
        while let Some(node) = waiting.pop() {
            if pods[node.index()] == u32::MAX && !is_top(node) {
                pods[node.index()] = count;
                waiting.extend(fabric.ports(node).iter().map(|port| port.peer));
            }
        }
        count += 1;
    }
    (2..=MAX_PODS as u32).contains(&count).then_some(pods)
}

/// Returns the number of links by rate between each pair of tiers (lower, higher).
fn rates(fabric: &Fabric) -> BTreeMap<(u8, u8), String> {
    let mut found: BTreeMap<(u8, u8), BTreeMap<Rate, usize>> = BTreeMap::new();
    for link in fabric.links() {
        let [a, b] = [link.a.node, link.b.node].map(|node| fabric.node(node).tier);
        *found.entry((a.min(b), a.max(b))).or_default().entry(link.rate).or_default() += 1;
    }
    let summary_of = |of: BTreeMap<Rate, usize>| {
        let count = grouped(of.values().sum());
        match (of.first_key_value(), of.last_key_value()) {
            (Some((least, _)), Some((most, _))) if least < most => {
                format!("{count} x {} to {}", least, most)
            }
            (Some((one, _)), _) => format!("{count} x {one}"),
            _ => count,
        }
    };
    found.into_iter().map(|(tiers, of)| (tiers, summary_of(of))).collect()
}

/// Returns the neighbour of a host with one link, if that neighbour forwards frames; `None` for other nodes.
fn only_switch(fabric: &Fabric, node: NodeId) -> Option<NodeId> {
    match fabric.ports(node) {
        [only] if fabric.node(node).kind == NodeKind::Host && fabric.node(only.peer).forwards() => Some(only.peer),
        _ => None,
    }
}

impl Layout {
    pub fn new(fabric: &Fabric) -> Layout {
        let hanging = fabric.hosts().iter().filter(|&&host| only_switch(fabric, host).is_some()).count();
        let without_hosts = fabric.nodes().len() - hanging;
        let mut layout =
            Layout { width: 0, height: 0, shapes: Vec::new(), lines: Vec::new(), note: None, rates: Vec::new() };
        // Nodes with equal keys are drawn as one shape.
        let shape_of = if fabric.nodes().len() <= MAX_SHAPES {
            layout.group(fabric, |node| (0, node.0))
        } else if without_hosts * 2 <= MAX_SHAPES {
            layout.note = Some(format!("the {} hosts are drawn as one circle a switch", grouped(hanging)));
            layout.group(fabric, |node| only_switch(fabric, node).map_or((0, node.0), |switch| (1, switch.0)))
        } else if let Some(pods) = pods(fabric) {
            layout.note = Some("nodes of one tier of a pod are drawn as one shape".to_owned());
            layout.group(fabric, |node| {
                let (kind, tier) = (fabric.node(node).kind == NodeKind::Switch, u32::from(fabric.node(node).tier));
                (pods[node.index()], tier * 2 + u32::from(kind))
            })
        } else {
            let nodes = grouped(fabric.nodes().len());
            layout.note = Some(format!("{nodes} nodes are too many to draw: each tier is drawn as one shape"));
            layout.group(fabric, |node| {
                (u32::from(fabric.node(node).kind == NodeKind::Switch), fabric.node(node).tier.into())
            })
        };
        let mut lines: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for link in fabric.links() {
            let (a, b) = (shape_of[link.a.node.index()], shape_of[link.b.node.index()]);
            *lines.entry((a.min(b), a.max(b))).or_default() += 1;
        }
        layout.lines = lines.into_iter().map(|((a, b), links)| Line { a, b, links }).collect();
        if layout.is_flat() {
            layout.place_on_circle();
            let rate_notes = rates(fabric).into_iter().map(|((low, high), rates)| match (low, high) {
                (0, 1..) => format!("links to hosts: {rates}"),
                _ => format!("links between switches: {rates}"),
            });
            layout.note = Some(layout.note.into_iter().chain(rate_notes).collect::<Vec<_>>().join("; "));
        } else {
            layout.place_in_rows();
            let row = |tier: u8| layout.shapes.iter().find(|shape| shape.tier == tier).map_or(0, |shape| shape.y);
            // The label of links within a row is above the row.
            let height = |(low, high): (u8, u8)| if low == high { row(low) - 30 } else { (row(low) + row(high)) / 2 };
            layout.rates = rates(fabric).into_iter().map(|(tiers, rate_notes)| (height(tiers), rate_notes)).collect();
        }
        layout
    }

    fn group(&mut self, fabric: &Fabric, key: impl Fn(NodeId) -> (u32, u32)) -> Vec<usize> {
        let mut by_key: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        let mut shape_of = Vec::with_capacity(fabric.nodes().len());
        for id in fabric.node_ids() {
            let node = fabric.node(id);
            let shape = *by_key.entry(key(id)).or_insert_with(|| {
                let label = node.name.clone();
                self.shapes.push(Shape { label, kind: node.kind, tier: node.tier, nodes: 0, x: 0, y: 0 });
                self.shapes.len() - 1
            });
            self.shapes[shape].nodes += 1;
            shape_of.push(shape);
        }
        let mut names: Vec<Vec<&str>> = vec![Vec::new(); self.shapes.len()];
        shape_of.iter().zip(fabric.nodes()).for_each(|(&shape, node)| names[shape].push(&node.name));
        for (shape, names) in self.shapes.iter_mut().zip(names).filter(|(shape, _)| shape.nodes > 1) {
            let what = tier_name(shape.tier, shape.kind);
            let count = format!("{} {what}", grouped(shape.nodes));
            // A single range of names is more informative than a count, unless the shape represents a whole tier.
            shape.label = match &ranges(&names)[..] {
                [one] if self.note.as_ref().is_some_and(|note| note.contains("pod")) => one.clone(),
                _ => count,
            };
        }
        shape_of
    }

    /// Returns `true` if there are several switches, all of one tier, and the links among them form more than a chain.
    /// Rows by tier are not useful in this case.
    fn is_flat(&self) -> bool {
        let switches: Vec<usize> =
            (0..self.shapes.len()).filter(|&shape| self.shapes[shape].kind == NodeKind::Switch).collect();
        let level = switches.windows(2).all(|pair| self.shapes[pair[0]].tier == self.shapes[pair[1]].tier);
        let rank = |shape: usize| switches.binary_search(&shape).ok();
        let jumps = |line: &Line| match (rank(line.a), rank(line.b)) {
            (Some(a), Some(b)) => a.abs_diff(b) > 1,
            _ => false,
        };
        level && self.lines.iter().any(jumps)
    }

    /// Places hosts at the bottom and each tier above the previous one.
    fn place_in_rows(&mut self) {
        let mut rows: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
        for (index, shape) in self.shapes.iter().enumerate() {
            rows.entry(shape.tier).or_default().push(index);
        }
        let widest =
            |row: &Vec<usize>| row.iter().map(|&shape| self.shapes[shape].room()).max().unwrap_or(0) * row.len();
        let width = rows.values().map(widest).max().unwrap_or(0).max(MIN_WIDTH);
        let row_height = ROW_HEIGHT.max(width / 12);
        let height = rows.len().saturating_sub(1) * row_height;
        for (level, row) in rows.values().enumerate() {
            for (position, &shape) in row.iter().enumerate() {
                // Centre of the shape's share of the row width.
                self.shapes[shape].x = (RATES_WIDTH + MARGIN + (2 * position + 1) * width / (2 * row.len())) as i64;
                self.shapes[shape].y = (MARGIN + height - level * row_height) as i64;
            }
        }
        self.width = (RATES_WIDTH + width + 2 * MARGIN) as i64;
        self.height = (height + 2 * MARGIN) as i64;
    }

    /// Places switches on a circle, and hosts outside of it next to their switch.
    fn place_on_circle(&mut self) {
        let switches: Vec<usize> =
            (0..self.shapes.len()).filter(|&s| self.shapes[s].kind == NodeKind::Switch).collect();
        let mut outside: BTreeMap<usize, Vec<usize>> = switches.iter().map(|&switch| (switch, Vec::new())).collect();
        let mut placed = vec![false; self.shapes.len()];
        for line in &self.lines {
            for (host, switch) in [(line.a, line.b), (line.b, line.a)] {
                let is_host = self.shapes[host].kind == NodeKind::Host;
                if let Some(hosts) = outside.get_mut(&switch).filter(|_| is_host && !placed[host]) {
                    hosts.push(host);
                    placed[host] = true;
                }
            }
        }
        let most = outside.values().map(Vec::len).max().unwrap_or(0).max(1);
        let around = |count: usize, room: usize| (count * room) as f64 / std::f64::consts::TAU;
        let room = |kind: NodeKind| self.shapes.iter().filter(|s| s.kind == kind).map(Shape::room).max().unwrap_or(0);
        let inner = around(switches.len(), room(NodeKind::Switch)).max(110.0);
        let outer = around(switches.len() * most, room(NodeKind::Host)).max(inner + 80.0);
        let centre = outer + MARGIN as f64;
        let at = |radius: f64, rotations: f64| {
            // Clockwise from the top.
            let angle = rotations * std::f64::consts::TAU;
            let (x, y) = (centre + radius * libm::sin(angle), centre - radius * libm::cos(angle));
            (libm::round(x) as i64, libm::round(y) as i64)
        };
        let count = switches.len() as f64;
        for (index, (switch, hosts)) in outside.iter().enumerate() {
            let middle = index as f64 / count;
            (self.shapes[*switch].x, self.shapes[*switch].y) = at(inner, middle);
            for (number, &host) in hosts.iter().enumerate() {
                let step = (2 * number + 1) as f64 / (2 * hosts.len()) as f64 - 0.5;
                (self.shapes[host].x, self.shapes[host].y) = at(outer, middle + 0.9 * step / count);
            }
        }
        self.width = libm::ceil(2.0 * centre) as i64;
        self.height = self.width;
    }
}
