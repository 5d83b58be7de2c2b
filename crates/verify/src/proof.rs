//! Verification of a rule table for any forwarding: frames may take any port.

use crate::cycle::shortest;
use crate::error::{PathFault, VerifyError};
use crate::graph::Graph;
use crate::paths::{Hop, ListedPath, PathList};
use crate::rules::RuleFile;
use crate::switches::{EgressQueue, Scheduler, Switches, by_arriving_tag, stranded};
use crate::table::Table;
use crate::trees::Leaves;
use crate::verdict::{Check, Counts, Cycle, DecreasingRule, LostPath, MAX_LOST, TaggedLink, Verdict, forwarders};
use fabric::{Fabric, NodeId, NodeKind, PortIndex};
use std::io::BufRead;
use std::rc::Rc;

/// Checks rules against their fabric and against the paths that must be lossless.
///
/// ```
/// use fabric::generate::{TierLinks, leaf_spine};
/// use fabric::LinkSpec;
/// use units::{Rate, Time};
/// use verify::{RuleFile, Verifier, fabric_hash};
///
/// let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)));
/// let fabric = leaf_spine(2, 1, 1, 1, links)?; // H1 - L1 - S1 - L2 - H2; port 0 of a leaf is its host's
/// let rules = format!(
///     r#"{{ "format": "tidegate-tagger-rules", "version": 1, "fabric": {{ "hash": "{}" }},
///          "lossless_tags": [1], "lossy_tag": 0, "classes": [ {{ "name": "all", "first_tag": 1 }} ],
///          "switches": [
///            {{ "name": "L1", "rules": [ {{ "tag": 1, "in": [0], "out": [1], "new_tag": 1 }} ] }},
///            {{ "name": "S1", "rules": [ {{ "tag": 1, "in": [0], "out": [1], "new_tag": 1 }} ] }} ] }}"#,
///     fabric_hash(&fabric)
/// );
/// let mut verifier = Verifier::new(&fabric, &RuleFile::parse(rules.as_bytes())?)?;
/// verifier.expect_list("H1 L1 S1 L2 H2\n".as_bytes())?;
/// let verdict = verifier.finish();
/// assert!(!verdict.pass()); // it cannot deadlock, but L2 has no rule for the last hop of the path
/// assert_eq!(verdict.cycle, None);
/// assert_eq!(verdict.lost[0].reason, "`L2` has no rule that keeps tag 1 lossless from port 1 to port 0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Verifier<'f> {
    pub(crate) fabric: &'f Fabric,
    pub(crate) table: Table,
    /// Whether any paths are required to be lossless.
    pub(crate) expected: bool,
    pub(crate) counts: Counts,
    pub(crate) lost: Vec<LostPath>,
    pub(crate) edge: Edge,
    pub(crate) leaves: Leaves,
    switches: Switches,
}

impl<'f> Verifier<'f> {
    /// Resolves the rules against the fabric.
    ///
    /// # Errors
    /// [`VerifyError`] if rules contradict each other or do not belong to this fabric.
    pub fn new(fabric: &'f Fabric, rules: &RuleFile) -> Result<Verifier<'f>, VerifyError> {
        let table = Table::new(fabric, rules)?;
        let counts = Counts { switches: forwarders(fabric), rules: table.rules, ..Counts::default() };
        let edge = Edge::new(fabric, &table);
        let (leaves, switches) = (Leaves::new(fabric), Switches::default());
        Ok(Verifier { fabric, table, expected: false, counts, lost: Vec::new(), edge, leaves, switches })
    }

    /// Sets the behaviour of the switches that apply the rules; the default is the behaviour that Tagger requires.
    #[must_use]
    pub fn on(self, switches: Switches) -> Verifier<'f> {
        Verifier { switches, ..self }
    }

    /// Requires every path of a list to be lossless. Returns the number of paths, because an empty list proves nothing.
    ///
    /// # Errors
    /// Those of [`PathList::next_path`]; [`PathFault::NoHost`] for a path from or to a switch without hosts.
    pub fn expect_list<R: BufRead>(&mut self, input: R) -> Result<u64, VerifyError> {
        let mut list = PathList::new(self.fabric, input);
        let before = self.counts.paths;
        while let Some(ListedPath { line, hops, last }) = list.next_path()? {
            self.expect_path(Some(line), hops, last).map_err(|fault| VerifyError::Path { line, fault })?;
        }
        self.expected = true;
        Ok(self.counts.paths - before)
    }

    /// Requires one path to be lossless for every class. `hops` has every node except the last, `last` is the last
    /// node. A path that starts or ends at a switch represents the paths of all hosts of the switch. `line` is the line
    /// number in reports.
    ///
    /// # Errors
    /// [`PathFault`] if ports and nodes do not form a path, or the path starts or ends at a switch without hosts.
    pub fn expect_path(&mut self, line: Option<u64>, hops: &[Hop], last: NodeId) -> Result<(), PathFault> {
        self.expected = true;
        self.counts.paths += 1;
        check_hops(self.fabric, hops, last)?;
        for class in 0..self.table.classes.len() {
            if let Some(lost) = self.follow(hops, last, class)? {
                self.counts.lost += 1;
                if self.lost.len() < MAX_LOST {
                    self.lost.push(self.describe(line, class, hops, last, lost));
                }
                // Report a path only once, for the first class in which it is lossy.
                break;
            }
        }
        Ok(())
    }

    /// Whether all hosts of `node` receive the frames of a queue of `node` losslessly.
    pub(crate) fn delivers(&mut self, vertex: u32, node: NodeId) -> Result<bool, PathFault> {
        Ok(self.edge.withheld(self.fabric, &self.table, vertex, node)?.is_none())
    }

    /// Returns the slot of the initial tag of a class.
    pub(crate) fn first_slot(&self, class: usize) -> u16 {
        let tag = self.table.classes[class].first_tag;
        self.table.tags.binary_search(&tag).unwrap_or(0) as u16
    }

    /// Returns the point at which frames of a class become lossy on the path; `None` if the path is lossless.
    fn follow(&mut self, hops: &[Hop], last: NodeId, class: usize) -> Result<Option<LossPoint>, PathFault> {
        let (fabric, table) = (self.fabric, &self.table);
        let start = hops[0];
        let egress = fabric.port_number(start.node, start.port) as u32;
        if fabric.node(start.node).kind == NodeKind::Host {
            let entry = table.graph.ports.peer(egress);
            let vertex = table.graph.vertex(entry, self.first_slot(class));
            return follow_from(fabric, table, &mut self.edge, &hops[1..], last, vertex, entry);
        }
        let first = self.first_slot(class);
        let entrance = self.edge.entrance(fabric, table, start, class, first);
        let entrance = self.edge.entrances[entrance].clone();
        if let Some(entry) = entrance.lost {
            return Ok(Some(LossPoint { entry, egress }));
        }
        if entrance.next.is_empty() {
            return Err(PathFault::NoHost { switch: fabric.name(start.node).to_owned() });
        }
        for &(vertex, entry) in entrance.next.iter() {
            let lost = follow_from(fabric, table, &mut self.edge, &hops[1..], last, vertex, entry)?;
            if lost.is_some() {
                return Ok(lost);
            }
        }
        Ok(None)
    }

    /// Builds the report of a lossy path: the links up to the point of loss, with the tags on these links.
    fn describe(&self, line: Option<u64>, class: usize, hops: &[Hop], last: NodeId, lost: LossPoint) -> LostPath {
        let graph = &self.table.graph;
        let egresses: Vec<u32> = hops.iter().map(|hop| self.fabric.port_number(hop.node, hop.port) as u32).collect();
        let mut vertex = graph.vertex(lost.entry, self.first_slot(class));
        let mut vertices = vec![vertex];
        for egress in egresses.into_iter().filter(|&egress| graph.ports.node(egress) != self.source(hops)) {
            let out = (egress - graph.ports.base(graph.ports.node(egress))) as u16;
            match graph.onward_slot(vertex, out) {
                Some(slot) if egress != lost.egress => vertex = graph.vertex(graph.ports.peer(egress), slot),
                _ => break,
            }
            vertices.push(vertex);
        }
        debug_assert!(vertices.len() <= hops.len() + 1 && last.index() < self.fabric.nodes().len());
        self.lost_path(line, class, &vertices, lost.egress)
    }

    /// Returns the source host of a path. For a path that starts at a switch, returns a node number that no node has.
    fn source(&self, hops: &[Hop]) -> NodeId {
        let node = hops[0].node;
        if self.fabric.node(node).kind == NodeKind::Host { node } else { NodeId(u32::MAX) }
    }

    /// Builds the report of a lossy path: the queues that it passes, and the egress port for which no rule keeps it
    /// lossless.
    pub(crate) fn lost_path(&self, line: Option<u64>, class: usize, vertices: &[u32], egress: u32) -> LostPath {
        let (fabric, graph) = (self.fabric, &self.table.graph);
        let tag = |vertex: u32| self.table.tags[usize::from(graph.slot(vertex))];
        let mut links: Vec<TaggedLink> = vertices
            .iter()
            .map(|&vertex| TaggedLink::into_port(fabric, graph, graph.port(vertex), Some(tag(vertex))))
            .collect();
        let here = vertices[vertices.len() - 1];
        let (ingress, node) = (graph.port(here), graph.ports.node(egress));
        let local = |port: u32| port - graph.ports.base(node);
        let reason = format!(
            "`{}` has no rule that keeps tag {} lossless from port {} to port {}",
            fabric.name(node),
            tag(here),
            local(ingress),
            local(egress)
        );
        links.push(TaggedLink::into_port(fabric, graph, graph.ports.peer(egress), None));
        LostPath { line, class: self.table.classes[class].name.clone(), links, reason }
    }

    /// Records a lossy path: the queues that it passes, and the egress port for which no rule keeps it lossless.
    pub(crate) fn lose(&mut self, class: usize, vertices: &[u32], egress: u32) {
        self.counts.lost += 1;
        if self.lost.len() < MAX_LOST {
            let path = self.lost_path(None, class, vertices, egress);
            self.lost.push(path);
        }
    }

    /// Returns the lossy paths found so far, at most [`MAX_LOST`].
    pub fn lost(&self) -> &[LostPath] {
        &self.lost
    }

    /// Searches for cyclic buffer dependencies and returns the verdict.
    pub fn finish(mut self) -> Verdict {
        let (fabric, Table { graph, tags, .. }) = (self.fabric, &self.table);
        let used = (0..graph.len() as u32).filter(|&vertex| graph.is_used(vertex));
        let (all, reached) = match self.switches.egress {
            EgressQueue::NewTag => {
                let entries = self.entries();
                std::thread::scope(|scope| {
                    let reached = scope.spawn(|| search(fabric, tags, graph, entries.into_iter()));
                    let all = search(fabric, tags, graph, used);
                    (all, reached.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                })
            }
            EgressQueue::ArrivingTag => {
                (self.by_arriving_tag(&vec![true; graph.len()]), self.by_arriving_tag(&self.reachable()))
            }
        };
        let stranded = (self.switches.scheduler == Scheduler::Strict)
            // Under strict priority, a frame that becomes lossy can starve in the lossy queue while it still counts in
            // its lossless ingress queue.
            .then(|| stranded(fabric, graph, &self.reachable(), |slot| tags[usize::from(slot)]));
        (self.counts.queues, self.counts.dependencies) = (all.queues, all.dependencies);
        (self.counts.reachable_queues, self.counts.reachable_dependencies) = (reached.queues, reached.dependencies);
        let (cycle, reachable_cycle) = (all.cycle, reached.cycle);
        let decrease = self.table.first_decrease.as_ref().map(|decrease| DecreasingRule {
            switch: self.fabric.name(decrease.node).to_owned(),
            rule: decrease.rule,
            tag: decrease.tag,
            ingress: decrease.ingress,
            egress: decrease.egress,
            new_tag: decrease.new_tag,
            from_lossy: decrease.tag == self.table.lossy,
        });
        let mut checks = vec![
            Check {
                name: "tags-never-decrease",
                pass: decrease.is_none(),
                meaning: "no rule lowers a tag or makes a lossy frame lossless",
            },
            Check {
                name: "no-cycle",
                pass: cycle.is_none(),
                meaning: "no queues wait for each other in a circle, whatever tags enter and however frames are \
                    forwarded",
            },
            Check {
                name: "no-reachable-cycle",
                pass: reachable_cycle.is_none(),
                meaning: "nor do those that a frame can reach that enters with the first tag of its class",
            },
        ];
        if let Some(stranded) = &stranded {
            checks.push(Check {
                name: "lossy-queue-drains",
                pass: stranded.is_none(),
                meaning: "no frame turns lossy, so none waits for ever behind classes of higher priority",
            });
        }
        if self.expected {
            checks.push(Check {
                name: "expected-paths-lossless",
                pass: self.counts.lost == 0,
                meaning: "every expected path is lossless from source to destination, for every class",
            });
        }
        let (counts, stranded) = (self.counts, stranded.flatten());
        let switches = self.switches;
        Verdict { switches, checks, counts, decrease, cycle, reachable_cycle, stranded, lost: self.lost }
    }

    /// Searches the dependency graph of switches that queue by the arriving tag. A cycle in which no frame returns by
    /// its ingress port is preferred, because it is more plausible.
    fn by_arriving_tag(&self, queues: &[bool]) -> Search {
        let search_with = |turns_back| {
            let graph = by_arriving_tag(self.fabric, &self.table.graph, queues, turns_back);
            let used = (0..graph.len() as u32).filter(|&vertex| graph.is_used(vertex));
            search(self.fabric, &self.table.tags, &graph, used)
        };
        let onward = search_with(false);
        if onward.cycle.is_some() { onward } else { search_with(true) }
    }

    /// Flags the queues that a frame can reach if it enters the fabric with the initial tag of a class.
    fn reachable(&self) -> Vec<bool> {
        self.table.graph.reached(self.entries().into_iter())
    }

    /// Returns the queues in which frames from hosts arrive, for the initial tags of all classes.
    fn entries(&self) -> Vec<u32> {
        let graph = &self.table.graph;
        let mut slots: Vec<u16> = (0..self.table.classes.len()).map(|class| self.first_slot(class)).collect();
        slots.sort_unstable();
        slots.dedup();
        let mut entries = Vec::new();
        for node in self.fabric.node_ids().filter(|&node| self.fabric.node(node).forwards()) {
            for port in host_ports(self.fabric, node) {
                let port = self.fabric.port_number(node, port) as u32;
                entries.extend(slots.iter().map(|&slot| graph.vertex(port, slot)));
            }
        }
        entries
    }
}

/// Result of a search for cyclic buffer dependencies.
struct Search {
    queues: u64,
    dependencies: u64,
    cycle: Option<Cycle>,
}

/// Searches the queues reachable from `roots` for a cycle.
fn search(fabric: &Fabric, tags: &[u16], graph: &Graph, roots: impl Iterator<Item = u32>) -> Search {
    let walked = graph.walk(roots);
    let tag = |slot: u16| Some(tags[usize::from(slot)]);
    let cycle = walked.cycle.map(|known| Cycle::new(fabric, graph, &shortest(graph, known), tag));
    Search { queues: walked.vertices, dependencies: walked.edges, cycle }
}

/// Point at which a path becomes lossy: the port by which the frame entered the fabric, and the egress port for which
/// no rule keeps the frame lossless.
#[derive(Clone, Copy, Debug)]
struct LossPoint {
    entry: u32,
    egress: u32,
}

/// Returns the ports of a node that lead to hosts.
pub(crate) fn host_ports(fabric: &Fabric, node: NodeId) -> impl Iterator<Item = PortIndex> + '_ {
    let ports = fabric.ports(node).iter().enumerate();
    ports.filter(|(_, peer)| fabric.node(peer.peer).kind == NodeKind::Host).map(|(port, _)| port as PortIndex)
}

/// Follows a queue along `hops`. If the last node is a switch, follows it also to all hosts of the switch.
fn follow_from(
    fabric: &Fabric,
    table: &Table,
    edge: &mut Edge,
    hops: &[Hop],
    last: NodeId,
    mut vertex: u32,
    entry: u32,
) -> Result<Option<LossPoint>, PathFault> {
    let graph = &table.graph;
    for hop in hops {
        let egress = fabric.port_number(hop.node, hop.port) as u32;
        match graph.onward_slot(vertex, hop.port) {
            Some(slot) => vertex = graph.vertex(graph.ports.peer(egress), slot),
            None => return Ok(Some(LossPoint { entry, egress })),
        }
    }
    if fabric.node(last).kind == NodeKind::Host {
        return Ok(None);
    }
    Ok(edge.withheld(fabric, table, vertex, last)?.map(|egress| LossPoint { entry, egress }))
}

/// Cache of rule lookups for frames from and to the hosts of each switch, because every path between two switches needs
/// these lookups.
#[derive(Debug)]
pub(crate) struct Edge {
    /// Per class and egress port: index into `entrances`; 0 if not computed.
    of_egress: Vec<Vec<u32>>,
    pub entrances: Vec<Entrance>,
    /// Per class and egress port: the slots of [`Entrance::next`] as bits, with [`LOST`]; 0 if not computed. Used for
    /// trees.
    bits: Vec<Vec<u64>>,
    /// Per queue: whether all hosts of its switch receive its frames losslessly.
    pub delivers: Vec<bool>,
}

/// Bit of [`Edge::entrance_bits`] above the bits of all slots: frames of at least one host become lossy.
pub(crate) const LOST: u64 = 1 << 62;
const KNOWN: u64 = 1 << 63;

/// Treatment of frames that hosts of a switch send and that leave the switch by one egress port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entrance {
    /// Ingress port at the switch of the first host whose frames become lossy; `None` if there is no such host.
    pub lost: Option<u32>,
    /// The queues that these frames enter at the next node, each with the ingress port at this switch of one host whose
    /// frames enter the queue.
    pub next: Rc<[(u32, u32)]>,
}

impl Edge {
    pub fn new(fabric: &Fabric, table: &Table) -> Edge {
        Edge {
            of_egress: vec![vec![0; fabric.port_count()]; table.classes.len()],
            entrances: vec![Entrance::default()],
            bits: vec![vec![0; fabric.port_count()]; table.classes.len()],
            delivers: vec![false; table.graph.len()],
        }
    }

    /// Returns the egress port to the first host of `node` that frames of the queue `vertex` do not reach losslessly;
    /// `None` if they reach all hosts.
    fn withheld(
        &mut self,
        fabric: &Fabric,
        table: &Table,
        vertex: u32,
        node: NodeId,
    ) -> Result<Option<u32>, PathFault> {
        if self.delivers[vertex as usize] {
            return Ok(None);
        }
        let mut any = false;
        for port in host_ports(fabric, node) {
            any = true;
            let egress = fabric.port_number(node, port) as u32;
            // A host does not send to itself.
            if egress != table.graph.port(vertex) && table.graph.onward_slot(vertex, port).is_none() {
                return Ok(Some(egress));
            }
        }
        if !any {
            return Err(PathFault::NoHost { switch: fabric.name(node).to_owned() });
        }
        self.delivers[vertex as usize] = true;
        Ok(None)
    }

    /// Returns, as bits, the slots in which frames of the hosts of a switch leave by an egress port. [`LOST`] is set if
    /// frames of at least one host become lossy.
    pub fn entrance_bits(&mut self, fabric: &Fabric, table: &Table, hop: Hop, egress: u32, class: usize) -> u64 {
        let known = self.bits[class][egress as usize];
        if known != 0 {
            return known & !KNOWN;
        }
        let first = table.tags.binary_search(&table.classes[class].first_tag).unwrap_or(0) as u16;
        let at = self.entrance(fabric, table, hop, class, first);
        let mut bits = if self.entrances[at].lost.is_some() { LOST } else { 0 };
        self.entrances[at].next.iter().for_each(|&(vertex, _)| bits |= 1 << table.graph.slot(vertex));
        self.bits[class][egress as usize] = bits | KNOWN;
        bits
    }

    /// Returns the index in `entrances` of the entry for frames of class `class` that leave by `hop`; computes a
    /// missing entry.
    pub fn entrance(&mut self, fabric: &Fabric, table: &Table, hop: Hop, class: usize, first: u16) -> usize {
        let egress = fabric.port_number(hop.node, hop.port);
        let known = self.of_egress[class][egress];
        if known != 0 {
            return known as usize;
        }
        let graph = &table.graph;
        let (mut lost, mut next): (Option<u32>, Vec<(u32, u32)>) = (None, Vec::new());
        for port in host_ports(fabric, hop.node).filter(|&port| port != hop.port) {
            let entry = fabric.port_number(hop.node, port) as u32;
            match graph.onward_slot(graph.vertex(entry, first), hop.port) {
                None => lost = lost.or(Some(entry)),
                Some(slot) => {
                    let vertex = graph.vertex(graph.ports.peer(egress as u32), slot);
                    // Most hosts of a switch lead to the same next queue: store it once.
                    if next.iter().all(|(other, _)| *other != vertex) {
                        next.push((vertex, entry));
                    }
                }
            }
        }
        self.entrances.push(Entrance { lost, next: next.into() });
        self.of_egress[class][egress] = self.entrances.len() as u32 - 1;
        self.entrances.len() - 1
    }
}

/// Checks that the egress port of each hop leads to the node of the next hop, and the last to `last`.
fn check_hops(fabric: &Fabric, hops: &[Hop], last: NodeId) -> Result<(), PathFault> {
    let Some(first) = hops.first() else { return Err(PathFault::TooShort { nodes: 1 }) };
    let mut at = first.node;
    for hop in hops {
        let name = |node| fabric.name(node).to_owned();
        if hop.node != at {
            return Err(PathFault::NoLink { from: name(at), to: name(hop.node) });
        }
        let ports = fabric.ports(at);
        let Some(peer) = ports.get(usize::from(hop.port)) else {
            return Err(PathFault::UnknownPort { node: name(at), port: hop.port.to_string(), ports: ports.len() });
        };
        at = peer.peer;
    }
    if at == last {
        Ok(())
    } else {
        Err(PathFault::NoLink { from: fabric.name(at).to_owned(), to: fabric.name(last).to_owned() })
    }
}
