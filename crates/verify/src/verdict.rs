//! Verdicts of the verifier, with node names and port numbers.

use crate::cycle::Short;
use crate::graph::Graph;
use crate::switches::Switches;
use fabric::{Fabric, NodeKind};
use serde::Serialize;
use std::fmt;

/// A directed link, with the tag of frames on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaggedLink {
    /// The sending node.
    pub from: String,
    /// Egress port of the sending node.
    pub from_port: u16,
    /// The receiving node. Its ingress queue may fill.
    pub to: String,
    /// Ingress port of the receiving node.
    pub to_port: u16,
    /// The tag; `None` for lossy frames, and in checks without tags.
    pub tag: Option<u16>,
}

impl TaggedLink {
    /// Describes the link over which frames arrive at an ingress port.
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

/// A cyclic buffer dependency: each queue waits for the next, the last queue for the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cycle {
    /// The links over which frames arrive in these queues, in order.
    pub links: Vec<TaggedLink>,
    /// Whether no cycle is shorter. False only for fabrics that are too large for a search from every queue.
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

/// A rule that lowers a tag or makes a lossy frame lossless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecreasingRule {
    /// Name of the switch.
    pub switch: String,
    /// Position in the rules of the switch, from 1.
    pub rule: usize,
    /// Arriving tag.
    pub tag: u16,
    /// First ingress port of the rule.
    pub ingress: u16,
    /// First egress port of the rule.
    pub egress: u16,
    /// New tag.
    pub new_tag: u16,
    /// Whether the arriving tag is the lossy one: a lossy frame must not become lossless again.
    pub from_lossy: bool,
}

impl fmt::Display for DecreasingRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DecreasingRule { switch, rule, tag, ingress, egress, new_tag, from_lossy } = self;
        let what = if *from_lossy { "makes lossy frames lossless again" } else { "lowers a tag" };
        write!(f, "switch `{switch}`, rule {rule} {what}: {tag} from port {ingress} to port {egress} becomes {new_tag}")
    }
}

/// A frame that becomes lossy at a switch but still counts in a lossless ingress queue while it waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StrandedFrame {
    /// Name of the switch.
    pub switch: String,
    /// Ingress port of the frame.
    pub ingress: u16,
    /// Egress port of the frame.
    pub egress: u16,
    /// Lossless tag of the frame on arrival.
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

/// An expected path that is not lossless from source to destination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostPath {
    /// Line number in the list of paths, from 1; `None` for a path of routing tables or trees.
    pub line: Option<u64>,
    /// Name of the application class.
    pub class: String,
    /// The links of the path up to and including the first link on which the frame is lossy.
    pub links: Vec<TaggedLink>,
    /// Cause for which the frame is lossy on the last of these links.
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

/// A condition for a positive verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Identifier of the condition in output.
    pub name: &'static str,
    /// Whether the check passed.
    pub pass: bool,
    /// Text of the condition.
    pub meaning: &'static str,
}

/// Size of the verified input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Number of switches, and of hosts that forward.
    pub switches: u64,
    /// Number of rules in the file.
    pub rules: u64,
    /// Number of queues (ingress port, lossless tag) that the rules use: the queues that may fill.
    pub queues: u64,
    /// Number of pairs of queues in which the first queue waits for the second.
    pub dependencies: u64,
    /// Number of queues that frames can reach if they enter with the initial tag of a class.
    pub reachable_queues: u64,
    /// Number of dependencies among the reachable queues.
    pub reachable_dependencies: u64,
    /// Number of expected paths from lists and trees.
    pub paths: u64,
    /// Number of queues followed along routing tables, once per group of destinations and class.
    pub routed_queues: u64,
    /// Number of expected paths that become lossy, from lists, trees and routing tables.
    pub lost: u64,
}

/// Result of the verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Behaviour of switches for which the verdict holds.
    pub switches: Switches,
    /// All conditions, in order.
    pub checks: Vec<Check>,
    /// Size of the verified input. A search stops at the first cycle: then the numbers of queues and dependencies are
    /// incomplete.
    pub counts: Counts,
    /// The first rule that lowers a tag or makes a lossy frame lossless.
    pub decrease: Option<DecreasingRule>,
    /// A cyclic buffer dependency among all queues that the rules use, reachable or not.
    pub cycle: Option<Cycle>,
    /// A cyclic buffer dependency among the reachable queues.
    pub reachable_cycle: Option<Cycle>,
    /// Under strict priority: a lossy frame that other classes can starve.
    pub stranded: Option<StrandedFrame>,
    /// The first expected paths that become lossy, at most [`MAX_LOST`].
    pub lost: Vec<LostPath>,
}

/// Maximum number of lossy paths that a verdict lists.
pub const MAX_LOST: usize = 10;

impl Verdict {
    /// Whether all conditions hold.
    pub fn pass(&self) -> bool {
        self.checks.iter().all(|check| check.pass)
    }
}

/// Number of switches, and of hosts that forward.
pub(crate) fn forwarders(fabric: &Fabric) -> u64 {
    fabric.nodes().iter().filter(|node| node.kind == NodeKind::Switch || node.relay).count() as u64
}
