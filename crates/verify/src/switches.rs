//! Behaviour of the switches that apply the rules. A proof holds only for this behaviour.

use crate::graph::Graph;
use crate::verdict::StrandedFrame;
use fabric::{Fabric, PortIndex};
use serde::Serialize;

/// Egress queue of a frame whose tag has changed, by a rule or because no rule matches (Tagger, section 7, step 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EgressQueue {
    /// The queue of the new tag, as Theorem 5.1 requires: a PAUSE from the next switch for a queue stops exactly the
    /// frames that fill this queue.
    #[default]
    NewTag,
    /// The queue of the arriving tag, the default of switches. The ingress queue of tag x then waits for the ingress
    /// queue of tag x at the next switch, for every pair of ports, with or without a matching rule.
    ArrivingTag,
}

/// Scheduling of the egress queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// The queue of lossy frames has a share of every link, as under WRR or DRR.
    #[default]
    Share,
    /// Strict priority: the queue of lossy frames is served only if all other queues are empty. A class that always has
    /// frames to send can starve this queue, and also the lossless ingress queues in which its frames count.
    Strict,
}

/// Behaviour of the switches that apply the rules. The default is the behaviour that Tagger requires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Switches {
    /// Egress queue of a frame whose tag has changed: step 3 of Tagger.
    pub egress: EgressQueue,
    /// Scheduling of the queue of lossy frames.
    pub scheduler: Scheduler,
}

/// Builds the dependency graph of switches that queue by the arriving tag. `queues` flags the vertices to include. Each
/// queue waits for the queues of the same tag at the peers of all ports of its switch, including the ingress port if
/// `turns_back` is true.
pub(crate) fn by_arriving_tag(fabric: &Fabric, rules: &Graph, queues: &[bool], turns_back: bool) -> Graph {
    let mut graph = rules.without_edges();
    let mut set: Vec<u64> = Vec::new();
    for port in 0..fabric.port_count() as u32 {
        let node = graph.ports.node(port);
        let base = graph.ports.base(node);
        for slot in 0..graph.slots as u16 {
            if queues[graph.vertex(port, slot) as usize] && fabric.node(node).forwards() {
                set.clear();
                set.resize(graph.ports.width(node), 0);
                for out in (0..graph.ports.count(node)).filter(|out| turns_back || base + out != port) {
                    if queues[graph.vertex(graph.ports.peer(base + out), slot) as usize] {
                        set[out as usize / 64] |= 1 << (out % 64);
                    }
                }
                graph.push(slot, &set);
            }
            graph.close();
        }
    }
    graph
}

/// Returns a frame of the first queue of `queues` whose frames become lossy at some egress port.
pub(crate) fn stranded(
    fabric: &Fabric,
    rules: &Graph,
    queues: &[bool],
    tag: impl Fn(u16) -> u16,
) -> Option<StrandedFrame> {
    let used = (0..rules.len() as u32).filter(|&vertex| queues[vertex as usize]);
    let mut found = used.flat_map(|vertex| {
        let port = rules.port(vertex);
        let node = rules.ports.node(port);
        let (base, count) = (rules.ports.base(node), rules.ports.count(node));
        let turns_lossy =
            move |&out: &PortIndex| base + u32::from(out) != port && rules.onward_slot(vertex, out).is_none();
        (0..count as PortIndex).filter(turns_lossy).map(move |out| (vertex, node, (port - base) as PortIndex, out))
    });
    found.next().map(|(vertex, node, ingress, egress)| StrandedFrame {
        switch: fabric.name(node).to_owned(),
        ingress,
        egress,
        tag: tag(rules.slot(vertex)),
    })
}
