//! Generation of rules from a fabric and its expected lossless paths.

use crate::compress::{Compression, Matrix};
use crate::error::TaggerError;
use crate::graph::TaggedGraph;
use crate::merge::TooManyTags;
use crate::minimum_tags::{fewest, lower_bound, merged};
use crate::order::{Scratch, Work};
use crate::paths::ExpectedPaths;
use crate::ports::Ports;
use crate::resolve::{Resolution, Rewriting};
use crate::rules::{Class, GeneratedBy, MAX_TAG, RuleTable, SwitchRules, Tag};
use crate::threads::on_each;
use fabric::{Fabric, NodeId};

/// Algorithm that assigns tags to the hops of paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Algorithm {
    /// The tag increases at every hop (Tagger, Algorithm 1).
    OnePerHop,
    /// Greedy merging of the tags of Algorithm 1 (Tagger, Algorithm 2).
    #[default]
    Merge,
    /// The minimum number of tags that the search finds: never more than with `Merge`, and for small fabrics proved
    /// minimal (see [`Report::lower_bound`]).
    Fewest,
}

/// Input of [`generate`].
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// Paths that must be lossless.
    pub paths: ExpectedPaths,
    /// Algorithm that assigns the tags.
    pub algorithm: Algorithm,
    /// Names of the lossless classes: class c (from 1) starts with tag c.
    pub classes: Vec<String>,
    /// Degree of rule merging.
    pub compression: Compression,
    /// Number of threads; the rules do not depend on it.
    pub threads: usize,
}

impl Request {
    /// Creates a request for one class called "default", with Algorithm 2 and merged rules.
    pub fn new(paths: impl Into<ExpectedPaths>) -> Request {
        let (algorithm, compression) = (Algorithm::default(), Compression::default());
        Request { paths: paths.into(), algorithm, classes: vec!["default".to_owned()], compression, threads: 1 }
    }
}

/// Generated rules with statistics of the generation.
#[derive(Clone, PartialEq, Debug)]
pub struct Generated {
    /// The rules.
    pub table: RuleTable,
    /// Statistics of the generation.
    pub report: Report,
}

/// Statistics of the generation of rules; independent of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Lossless tags that packets carry between switches: the number of lossless queues that every switch needs.
    pub tags: Tag,
    /// Proved lower bound on the number of tags of any rules for one class. If it equals `tags`, the number of tags is
    /// minimal. The bound does not account for further classes.
    pub lower_bound: Tag,
    /// Number of switches on the longest expected path.
    pub longest_path_switches: u32,
    /// Edges of the tagged graph with one tag per hop: distinct (tag, ingress port, egress port).
    pub edges: u64,
    /// Number of recorded turns of paths; all paths of a tree that make the same turn are recorded at once.
    pub turns_recorded: u64,
    /// Links visited by the path search.
    pub path_edge_visits: u64,
    /// Cost of the cycle detection while tags are merged.
    pub merging: Work,
    /// Conflicts among new tags, and the rules added to resolve them.
    pub resolution: Resolution,
}

/// Generates rules that make every expected path lossless for every class and prevent deadlock for any forwarding.
///
/// # Errors
/// If the fabric is invalid, the paths do not fit it, there are no paths, or more than 62 tags are needed.
pub fn generate(fabric: &Fabric, request: &Request) -> Result<Generated, TaggerError> {
    fabric.check()?;
    if request.classes.is_empty() || request.classes.len() > usize::from(MAX_TAG) {
        return Err(TaggerError::TooManyTags { needed: request.classes.len(), limit: MAX_TAG });
    }
    let ports = Ports::new(fabric);
    let mut graph = TaggedGraph::new(&ports);
    graph.threads = request.threads;
    request.paths.record(fabric, &mut graph)?;
    graph.trim();
    if graph.hops.is_empty() {
        return Err(TaggerError::NoPaths);
    }
    let mut scratch = Scratch::new(&ports);
    let too_many = |_: TooManyTags| TaggerError::TooManyTags { needed: usize::from(MAX_TAG) + 1, limit: MAX_TAG };
    let mut lower_bound = lower_bound(&graph);
    let mut rewriting = match request.algorithm {
        Algorithm::OnePerHop => Rewriting::one_per_hop(&graph),
        Algorithm::Merge => merged(&graph, &ports.visiting_order(), &mut scratch),
        Algorithm::Fewest => fewest(&graph, &request.paths, &mut scratch).map(|found| {
            lower_bound = found.lower_bound;
            found.rewriting
        }),
    }
    .map_err(too_many)?;
    for first_tag in 2..=request.classes.len() as Tag {
        rewriting.follow_paths(&graph, first_tag, &mut scratch).map_err(too_many)?;
    }
    let algorithm = match request.algorithm {
        Algorithm::OnePerHop => "one-per-hop",
        Algorithm::Merge => "merge",
        Algorithm::Fewest => "fewest",
    };
    let by = GeneratedBy { algorithm: algorithm.to_owned(), paths: request.paths.describe() };
    let table = table(&rewriting, by, request);
    let report = Report {
        tags: rewriting.highest_matched(),
        lower_bound,
        longest_path_switches: graph.hops.len() as u32,
        edges: graph.edges(),
        turns_recorded: graph.recorded,
        path_edge_visits: graph.edge_visits,
        merging: rewriting.work,
        resolution: rewriting.counts,
    };
    Ok(Generated { table, report })
}

fn table(rewriting: &Rewriting, by: GeneratedBy, request: &Request) -> RuleTable {
    let ports = rewriting.ports;
    let nodes: Vec<NodeId> = ports.fabric.node_ids().filter(|&node| ports.fabric.node(node).forwards()).collect();
    let mut switches = on_each(request.threads, &nodes, |&node| {
        let mut matrix = Matrix::new(ports.of(node).len());
        for (in_port, port) in ports.of(node).enumerate() {
            for (index, changes) in rewriting.changes.iter().enumerate() {
                for (new_tag, plane) in changes {
                    matrix.add(index as Tag + 1, *new_tag, in_port, &plane[ports.row(port)]);
                }
            }
        }
        SwitchRules { node, rules: matrix.rules(request.compression) }
    });
    switches.retain(|switch| !switch.rules.is_empty());
    let classes =
        request.classes.iter().zip(1..).map(|(name, first_tag)| Class { name: name.clone(), first_tag }).collect();
    RuleTable::new(ports.fabric, by, (1..=rewriting.highest_tag()).collect(), classes, switches)
}
