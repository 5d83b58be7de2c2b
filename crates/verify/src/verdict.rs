//! What was proved, or what refutes it, in names and ports.

use crate::cycle::Short;
use crate::graph::Graph;
use crate::switches::Switches;
use fabric::{Fabric, NodeKind};
use serde::Serialize;
use std::fmt;

/// A link in the direction in which frames cross it, with the tag that they carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaggedLink {
    /// The node that sends.
    pub from: String,
    /// Its egress port.
    pub from_port: u16,
    /// The node that receives: its ingress queue is the one that may fill.
    pub to: String,
    /// Its ingress port.
    pub to_port: u16,
    /// The tag; `None`: lossy, or there are no tags.
    pub tag: Option<u16>,
}

impl TaggedLink {
    /// The link that leads to this ingress port.
    pub(crate) fn into_port(fabric: &Fabric, graph: &Graph, port: u32, tag: Option<u16>) -> TaggedLink {
        let end = |port: u32| {
            let node = graph.ports.node(port);
            (fabric.name(node).to_owned(), (port - graph.ports.base(node)) as u16)
        };
        let ((from, from_port), (to, to_port)) = (end(graph.ports.peer(port)), end(port));
        TaggedLink { from, from_port, to, to_port, tag }
    }
}

impl fmt::Display for TaggedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} -> {}:{}", self.from, self.from_port, self.to, self.to_port)
    }
}

/// Queues that wait for each other: each for the next, the last for the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cycle {
    /// The links into the ports of these queues, in order.
    pub links: Vec<TaggedLink>,
    /// Whether no cycle is shorter; false only on fabrics too large to try every start.
    pub shortest: bool,
}

impl Cycle {
    pub(crate) fn new(fabric: &Fabric, graph: &Graph, short: &Short, tag: impl Fn(u16) -> Option<u16>) -> Cycle {
        let link = |&vertex: &u32| TaggedLink::into_port(fabric, graph, graph.port(vertex), tag(graph.slot(vertex)));
        Cycle { links: short.vertices.iter().map(link).collect(), shortest: short.shortest }
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: Vec<String> = self.links.iter().map(TaggedLink::to_string).collect();
        let width = text.iter().map(|link| link.chars().count()).max().unwrap_or(0);
        for (index, (link, text)) in self.links.iter().zip(&text).enumerate() {
            let newline = if index == 0 { "" } else { "\n" };
            match link.tag {
                Some(tag) => write!(f, "{newline}{text:width$}  tag {tag}")?,
                None => write!(f, "{newline}{text}")?,
            }
        }
        Ok(())
    }
}

/// A rule under which a tag decreases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecreasingRule {
    /// Name of the switch.
    pub switch: String,
    /// Position among its rules, from 1.
    pub rule: usize,
    /// Arriving tag.
    pub tag: u16,
    /// The first ingress port that it names.
    pub ingress: u16,
    /// The first egress port that it names.
    pub egress: u16,
    /// The tag that it gives.
    pub new_tag: u16,
    /// Whether the arriving tag is the lossy one: what lost its guarantee may not get it back.
    pub from_lossy: bool,
}

impl fmt::Display for DecreasingRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DecreasingRule { switch, rule, tag, ingress, egress, new_tag, from_lossy } = self;
        let what = if *from_lossy { "makes lossy frames lossless again" } else { "lowers a tag" };
        write!(f, "switch `{switch}`, rule {rule} {what}: {tag} from port {ingress} to port {egress} becomes {new_tag}")
    }
}

/// A frame that turns lossy, and waits as such while it counts against a lossless ingress queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StrandedFrame {
    /// Name of the switch.
    pub switch: String,
    /// The port that it comes by.
    pub ingress: u16,
    /// The port that it waits at.
    pub egress: u16,
    /// The lossless tag that it came with.
    pub tag: u16,
}

impl fmt::Display for StrandedFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StrandedFrame { switch, ingress, egress, tag } = self;
        write!(
            f,
            "{switch}: from port {ingress} to port {egress} no rule matches tag {tag}: the frame waits in the lossy \
             queue of port {egress}, and counts against the lossless queue of port {ingress}"
        )
    }
}

/// An expected path that is not lossless from end to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostPath {
    /// Its line in the list, from 1; `None` for a path of routing tables.
    pub line: Option<u64>,
    /// The application class.
    pub class: String,
    /// Every link up to the one on which it is lossy first.
    pub links: Vec<TaggedLink>,
    /// Why the last of them is lossy.
    pub reason: String,
}

impl fmt::Display for LostPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map_or(String::new(), |line| format!("line {line}, "));
        write!(f, "{line}class {}: {}", self.class, self.reason)?;
        let text: Vec<String> = self.links.iter().map(TaggedLink::to_string).collect();
        let width = text.iter().map(|link| link.chars().count()).max().unwrap_or(0);
        for (link, text) in self.links.iter().zip(&text) {
            match link.tag {
                Some(tag) => write!(f, "\n  {text:width$}  tag {tag}")?,
                None => write!(f, "\n  {text:width$}  lossy")?,
            }
        }
        Ok(())
    }
}

/// One thing that must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its name, the same in every run.
    pub name: &'static str,
    /// Whether it holds.
    pub pass: bool,
    /// What it says.
    pub meaning: &'static str,
}

/// How much was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Switches of the fabric, and hosts that forward.
    pub switches: u64,
    /// Rules of the file.
    pub rules: u64,
    /// Pairs of ingress port and lossless tag that the rules use: the queues that may fill.
    pub queues: u64,
    /// Pairs of queues of which the first waits for the second.
    pub dependencies: u64,
    /// Queues that a frame can reach that enters with the first tag of a class.
    pub reachable_queues: u64,
    /// Dependencies among these.
    pub reachable_dependencies: u64,
    /// Expected paths of a list.
    pub paths: u64,
    /// Queues that were followed along routing tables, once per group of destinations and class.
    pub routed_queues: u64,
    /// Expected paths and ways of routing tables that turn lossy.
    pub lost: u64,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The switches that it holds for.
    pub switches: Switches,
    /// Everything that must hold, in order.
    pub checks: Vec<Check>,
    /// How much was looked at. A search that found a cycle stopped there.
    pub counts: Counts,
    /// The first rule that lowers a tag.
    pub decrease: Option<DecreasingRule>,
    /// A cycle among all queues that the rules use, whether or not a frame can get there.
    pub cycle: Option<Cycle>,
    /// A cycle among those that a frame can reach.
    pub reachable_cycle: Option<Cycle>,
    /// Under strict priority: a frame that the other classes can keep waiting for ever.
    pub stranded: Option<StrandedFrame>,
    /// The first expected paths that turn lossy: at most [`MAX_LOST`].
    pub lost: Vec<LostPath>,
}

/// How many lossy paths a verdict names.
pub const MAX_LOST: usize = 10;

impl Verdict {
    /// Whether everything holds.
    pub fn pass(&self) -> bool {
        self.checks.iter().all(|check| check.pass)
    }
}

/// Switches and hosts that forward.
pub(crate) fn forwarders(fabric: &Fabric) -> u64 {
    fabric.nodes().iter().filter(|node| node.kind == NodeKind::Switch || node.relay).count() as u64
}
