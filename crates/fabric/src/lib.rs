//! Graphs of switches and hosts: generators, files, routing, failures.
//!
//! ```text
//!   generate::*  ─┐                       ┌─> routing::Forwarding   what a switch looks up per frame
//!   files::read  ─┼─> Fabric ── check() ──┼─> show::summary, svg    what a person looks at
//!   FabricBuilder ┘                       └─> files::write_*        what other tools read
//! ```
//!
//! Nodes, links and ports are small integers. A host is also known by its dense *host index*
//! (0..hosts, in order of creation): that is how frames name their source and destination.

mod builder;
mod check;
pub mod files;
pub mod generate;
mod graph;
mod lone;
pub mod routing;
pub mod show;

pub use builder::FabricBuilder;
pub use check::FabricError;
pub use graph::{End, Fabric, Link, LinkId, LinkSpec, Node, NodeId, NodeKind, PortIndex, PortPeer};
pub use lone::lone_flow_time;
