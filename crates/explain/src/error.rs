//! Why there is no answer.

use lab::Kind;
use record::RecordError;
use std::path::PathBuf;

/// Everything that keeps a question from its answer.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// Something else than the folder of a result was named.
    #[error("{path} is {kind}, not the folder of a result", path = path.display())]
    NotAResult {
        /// As it was named.
        path: PathBuf,
        /// What it is.
        kind: Kind,
    },
    /// There is nothing.
    #[error("{path}: no such folder", path = path.display())]
    NoFolder {
        /// As it was named.
        path: PathBuf,
    },
    /// Traces of another version may mean something else.
    #[error("{path}: a result of tidegate {theirs}; this is {ours}", path = path.display())]
    OtherVersion {
        /// The folder.
        path: PathBuf,
        /// Of the result.
        theirs: String,
        /// Of this library.
        ours: String,
    },
    /// The scenario did not ask for a trace.
    #[error("{path}: the run was not traced", path = path.display())]
    NotTraced {
        /// The folder.
        path: PathBuf,
    },
    /// The run wrote no flows.
    #[error("{path}: there is no flows.parquet", path = path.display())]
    NoFlows {
        /// The folder.
        path: PathBuf,
    },
    /// The trace does not hold this packet.
    #[error("packet {number}: no such packet")]
    NoPacket {
        /// As asked for.
        number: u64,
        /// The last that it holds; `None` where it holds none.
        last: Option<u64>,
    },
    /// The run had no such flow, as far as it recorded them.
    #[error("flow {number}: no such flow in the trace")]
    NoFlow {
        /// As asked for.
        number: u64,
        /// Those that it holds.
        traced: Vec<u64>,
    },
    /// The run had this flow and did not trace it.
    #[error("flow {number}: the flow was not traced")]
    FlowNotTraced {
        /// As asked for.
        number: u64,
        /// Those that were.
        traced: Vec<u64>,
    },
    /// No node has the name.
    #[error("port {port}: the fabric has no node `{node}`")]
    NoNode {
        /// As asked for.
        port: String,
        /// The part of it that names a node.
        node: String,
        /// Nodes that there are.
        known: Vec<String>,
    },
    /// The node has no such port.
    #[error("port {port}: `{node}` has no port `{name}`")]
    NoPort {
        /// As asked for.
        port: String,
        /// The node.
        node: String,
        /// The part of it that names a port.
        name: String,
        /// Ports that there are, with their peers.
        known: Vec<String>,
    },
    /// A node was named that has more than one port.
    #[error("port {port}: `{port}` has several ports")]
    SeveralPorts {
        /// As asked for.
        port: String,
        /// Ports that there are, with their peers.
        known: Vec<String>,
    },
    /// A file of the result is damaged or cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
}
