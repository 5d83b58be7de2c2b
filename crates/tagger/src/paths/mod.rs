//! Expected lossless paths: paths on which no packet may be dropped.
//!
//! [`ExpectedPaths`] is a union of [`PathSource`]s. The paths are not stored: [`ExpectedPaths::visit`] enumerates them
//! one by one. If a source has too many paths for that (all shortest paths, trees towards every server), the generator
//! records their turns without enumerating the paths.

mod bounces;
mod error;
mod expand;
mod list;
mod path;
mod random;
mod shortest;
mod tables;
#[cfg(test)]
mod tests;
mod trees;

pub(crate) use bounces::{check_reach, tiers_differ};
pub use error::PathError;
pub use list::PathList;
pub use path::{Path, Visitor};
pub use tables::{Routes, SubnetNames};
pub use trees::TreeRoots;

use crate::graph::TaggedGraph;
use crate::ports::Ports;
use fabric::Fabric;
use std::ops::ControlFlow;

/// Source of expected lossless paths. Unless stated otherwise, there are paths from every host to every other host, and
/// no path visits a node twice.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum PathSource {
    /// All shortest paths, or up to `limit` shortest paths per pair of hosts, in order of egress ports.
    AllShortest {
        /// Maximum number of paths per pair; `None` for all.
        limit: Option<u32>,
    },
    /// Up-down paths with up to `bounces` bounces (Clos fabrics).
    UpDown {
        /// Maximum number of bounces (turns from down to up, or hops within a tier): Tagger's k.
        bounces: u8,
    },
    /// The n shortest paths of each pair of hosts. If there are fewer than n paths of minimum length, longer paths are
    /// included.
    NShortest {
        /// Number of paths per pair, n.
        paths: u32,
    },
    /// A shortest-path tree towards each switch or server; all hosts send along the tree.
    Trees {
        /// Roots of the trees: switches or servers.
        roots: TreeRoots,
        /// Seed of the choice among several shortest paths. `None`: always the lowest port.
        seed: Option<u64>,
    },
    /// Random loop-free paths between random pairs of hosts.
    Random {
        /// Number of paths.
        count: u32,
        /// Maximum number of switches on a path.
        max_switches: u32,
        /// Seed of the random generator.
        seed: u64,
    },
    /// The listed paths.
    List(PathList),
    /// The paths of forwarding tables.
    Tables(Routes),
}

/// Union of path sources.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ExpectedPaths {
    /// Sources; they may overlap.
    pub sources: Vec<PathSource>,
}

impl From<PathSource> for ExpectedPaths {
    fn from(source: PathSource) -> ExpectedPaths {
        ExpectedPaths { sources: vec![source] }
    }
}

impl ExpectedPaths {
    /// Enumerates every path, in an order that depends only on the fabric and the sources. A path that several sources
    /// contain is visited several times.
    ///
    /// # Errors
    /// [`PathError`] if a source is invalid for the fabric.
    pub fn visit(&self, fabric: &Fabric, visitor: &mut Visitor) -> Result<(), PathError> {
        let mut stopped = false;
        for source in &self.sources {
            if stopped {
                break;
            }
            source.visit(fabric, &mut |path| {
                let flow = visitor(path);
                stopped = flow.is_break();
                flow
            })?;
        }
        Ok(())
    }

    /// Returns a description of the paths for a rule file: "all shortest paths and 1000 random paths".
    pub fn describe(&self) -> String {
        let sources: Vec<String> = self.sources.iter().map(PathSource::describe).collect();
        sources.join(" and ")
    }

    /// Records the turns of all paths.
    pub(crate) fn record(&self, fabric: &Fabric, graph: &mut TaggedGraph) -> Result<(), PathError> {
        self.sources.iter().try_for_each(|source| source.record(fabric, graph))
    }
}

impl PathSource {
    fn visit(&self, fabric: &Fabric, visitor: &mut Visitor) -> Result<(), PathError> {
        match self {
            PathSource::AllShortest { limit } => shortest::visit(fabric, limit.unwrap_or(u32::MAX), false, visitor),
            PathSource::UpDown { bounces } => bounces::visit(fabric, *bounces, visitor)?,
            PathSource::NShortest { paths } => shortest::visit(fabric, *paths, true, visitor),
            PathSource::Trees { roots, seed } => trees::visit(fabric, *roots, *seed, visitor),
            PathSource::Random { count, max_switches, seed } => {
                random::visit(fabric, *count, *max_switches, *seed, visitor)?;
            }
            PathSource::List(list) => list.visit(visitor),
            PathSource::Tables(routes) => routes.visit(fabric, visitor)?,
        }
        Ok(())
    }

    fn record(&self, fabric: &Fabric, graph: &mut TaggedGraph) -> Result<(), PathError> {
        match self {
            PathSource::Trees { roots, seed } => trees::record(graph, *roots, *seed),
            PathSource::AllShortest { limit: None } => shortest::record_all(graph),
            PathSource::AllShortest { limit: Some(limit) } => shortest::record_some(graph, *limit, false),
            PathSource::NShortest { paths } => shortest::record_some(graph, *paths, true),
            PathSource::UpDown { bounces } => bounces::record_turns(graph, *bounces)?,
            PathSource::Tables(routes) => routes.record(graph)?,
            PathSource::Random { .. } | PathSource::List(_) => self.visit(fabric, &mut |path| {
                let entry = entry(graph.ports, path);
                graph.add_path(entry, &path.out_ports[1..]);
                ControlFlow::Continue(())
            })?,
        }
        Ok(())
    }

    fn describe(&self) -> String {
        match self {
            PathSource::AllShortest { limit: None } => "all shortest paths".to_owned(),
            PathSource::AllShortest { limit: Some(limit) } => format!("up to {limit} shortest paths a pair"),
            PathSource::UpDown { bounces: 0 } => "up-down".to_owned(),
            PathSource::UpDown { bounces: 1 } => "up-down plus 1 bounce".to_owned(),
            PathSource::UpDown { bounces } => format!("up-down plus {bounces} bounces"),
            PathSource::NShortest { paths } => format!("the {paths} shortest paths of each pair"),
            PathSource::Trees { roots: TreeRoots::Switches, .. } => "a tree towards each switch".to_owned(),
            PathSource::Trees { roots: TreeRoots::Servers, .. } => "a tree towards each server".to_owned(),
            PathSource::Random { count, .. } => format!("{count} random paths"),
            PathSource::List(list) => format!("{} listed paths", list.len()),
            PathSource::Tables(_) => "the paths of forwarding tables".to_owned(),
        }
    }
}

/// Returns the ingress port of a path at its first switch.
pub(crate) fn entry(ports: &Ports, path: Path) -> u32 {
    let out = ports.first[path.source.index()] + u32::from(path.out_ports[0]);
    ports.peer[out as usize]
}
