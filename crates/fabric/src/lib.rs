//! Graphs of switches and hosts: generators, file formats, routing, failures.
//!
//! ```text
//!  generate::*  ─┐                       ┌─> routing::Forwarding   tables for lookups per frame
//!  files::read  ─┼─> Fabric ── check() ──┼─> show::summary, svg    tables and drawings for users
//!  FabricBuilder ┘                       └─> files::write_*        files for other tools
//! ```
//!
//! Nodes, links and ports are small integers. A host also has a dense *host index* (0..hosts, in order of creation).
//! Frames identify their source and destination by it.
//!
//! ```
//! use fabric::generate::{TierLinks, fat_tree};
//! use fabric::routing::{Forwarding, Mode};
//! use fabric::{LinkSpec, lone_flow_time};
//! use units::{Rate, Time};
//!
//! let link = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
//! let fabric = fat_tree(4, TierLinks::uniform(link))?;
//! let routes = Forwarding::build(&fabric, Mode::ShortestPath)?;
//! let edge = fabric.find("S1").expect("the first edge switch");
//! assert_eq!(routes.lookup(edge, 15), [2, 3]); // two uplinks towards host index 15
//! let path = routes.lone_path(&fabric, 0, 15, 7)?;
//! assert_eq!(path.len(), 6);
//! // One frame of 1518 B, after a preamble of 8 B on each of six links.
//! let time = lone_flow_time(&fabric.link_costs(&path), 0, 0, 1518);
//! assert_eq!(time, (Rate::from_gbps(100).serialise(1526) + Time::from_ns(500)) * 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod check;
mod decision;
pub mod files;
pub mod generate;
mod graph;
mod lone;
mod names;
pub mod routing;
pub mod show;
pub mod sonic;
pub mod tags;
mod tiers;

pub use builder::FabricBuilder;
pub use check::FabricError;
pub use decision::{Decision, Subject};
pub use graph::{End, Fabric, Link, LinkId, LinkSpec, Node, NodeId, NodeKind, PortIndex, PortPeer};
pub use lone::{SpreadHop, lone_flow_time, lone_frames_time, spread_flow_time, spread_frames_time};
pub use names::{MAX_NAME_BYTES, NameFault, check_name, nearest_name, nearest_port, visible};
