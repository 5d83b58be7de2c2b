//! Behaviour of the switches that apply the rules. A proof holds only for this behaviour.

use crate::graph::Graph;
use crate::verdict::StrandedFrame;
use fabric::{Fabric, PortIndex};
use serde::Serialize;

/// Egress queue of a frame after a rule, or the lack of one, has changed its tag (Tagger, section 7, step 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EgressQueue {
    /// Queue of the new tag, as Theorem 5.1 requires: a PAUSE from the next switch stops the frames that fill its
    /// queue.
    #[default]
    NewTag,
    /// Queue of the arriving tag, the default of switches. The ingress queue of tag x then waits for the queue of tag x
    /// at the next switch, for every pair of ports, with or without a rule.
    ArrivingTag,
}

/// Scheduling of the egress queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// The queue of lossy frames has a share of every link, as under WRR or DRR.
    #[default]
    Share,
    /// Strict priority: the queue of lossy frames sends only while no other queue can. A class that always has frames
    /// to send can starve it, and with it the lossless ingress queues in which its frames count.
    Strict,
}

/// Behaviour of the switches that apply the rules. The default is the behaviour that Tagger requires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Switches {
    /// Queue of a frame whose tag has changed: step 3 of Tagger.
    pub egress: EgressQueue,
    /// Scheduling of the queue of lossy frames.
    pub scheduler: Scheduler,
}

/// Builds the dependencies among `queues` (a flag per vertex) for switches that queue by the arriving tag: each queue
/// waits for those of its own tag behind every port of its switch. `turns_back` includes the ingress port.
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

/// Returns the first queue of `queues` whose frames become lossy at some egress port.
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
