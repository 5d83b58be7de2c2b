//! Errors of explanations.

use lab::PathKind;
use record::RecordError;
use std::path::PathBuf;

/// An error that prevents an explanation.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// The path is not a result folder.
    #[error("{path} is {kind}, not the folder of a result", path = path.display())]
    NotAResult {
        /// The path as given.
        path: PathBuf,
        /// Recognised kind of the file or folder at the path.
        kind: PathKind,
    },
    /// The folder does not exist.
    #[error("{path}: no such folder", path = path.display())]
    NoFolder {
        /// The path as given.
        path: PathBuf,
    },
    /// A result of another version, whose trace may have another meaning.
    #[error("{path}: a result of tidegate {theirs}; this is {ours}", path = path.display())]
    OtherVersion {
        /// The folder.
        path: PathBuf,
        /// Version of the result.
        theirs: String,
        /// Version of this library.
        ours: String,
    },
    /// The run has no trace.
    #[error("{path}: the run was not traced", path = path.display())]
    NotTraced {
        /// The folder.
        path: PathBuf,
    },
    /// The run has no `flows.parquet`.
    #[error("{path}: flows.parquet is missing", path = path.display())]
    NoFlows {
        /// The folder.
        path: PathBuf,
    },
    /// The packet is not in the trace.
    #[error("packet {number}: no such packet")]
    NoPacket {
        /// The requested number.
        number: u64,
        /// The last packet number in the trace; `None` if it has no packets.
        last: Option<u64>,
    },
    /// The flow is not among the recorded flows.
    #[error("flow {number}: no such flow in the trace")]
    NoFlow {
        /// The requested number.
        number: u64,
        /// The flows of the trace.
        traced: Vec<u64>,
    },
    /// The flow exists but was not traced.
    #[error("flow {number}: the flow was not traced")]
    FlowNotTraced {
        /// The requested number.
        number: u64,
        /// The traced flows.
        traced: Vec<u64>,
    },
    /// No node has this name.
    #[error("port {port}: the fabric has no node `{node}`")]
    NoNode {
        /// The port as given.
        port: String,
        /// Node part of `port`.
        node: String,
        /// Nodes of the fabric.
        known: Vec<String>,
    },
    /// The node has no such port.
    #[error("port {port}: `{node}` has no port `{name}`")]
    NoPort {
        /// The port as given.
        port: String,
        /// The node.
        node: String,
        /// Port part of `port`.
        name: String,
        /// Ports of the node, with their peers.
        known: Vec<String>,
    },
    /// The node has more than one port.
    #[error("port {port}: `{port}` has several ports")]
    SeveralPorts {
        /// The port as given.
        port: String,
        /// Ports of the node, with their peers.
        known: Vec<String>,
    },
    /// A file of the result is damaged or cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
}
