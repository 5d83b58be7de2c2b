//! Errors in networks of nodes and wires.

/// An error in a network of nodes and wires.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A wire ends at a node that does not exist.
    #[error("wire {port} of node {node} ends at node {end}, but there are only {nodes} nodes")]
    NoSuchNode {
        /// The sender.
        node: u32,
        /// Egress port of the sender.
        port: usize,
        /// The missing receiver.
        end: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// A wire without delay: nodes that interact without delay must be one node.
    #[error("wire {port} of node {node} has no delay: nodes meet only through links with a delay")]
    NoDelay {
        /// The sender.
        node: u32,
        /// Egress port of the sender.
        port: usize,
    },
    /// A wire from a node to itself (self-loop). Not allowed, because a node handles messages in place, and meanwhile
    /// no message may be pushed to the ring that contains them.
    #[error("wire {port} of node {node} leads back to it: a node reaches itself without a wire")]
    OwnWire {
        /// The node.
        node: u32,
        /// Egress port of the node.
        port: usize,
    },
    /// Two wires end at one ingress port.
    #[error("ingress port {port} of node {node} is the end of more than one wire")]
    SharedPort {
        /// The receiver.
        node: u32,
        /// Ingress port of the receiver.
        port: u16,
    },
    /// More ranks than nodes: a rank would have no node.
    #[error("{ranks} ranks are more than there are nodes: {nodes}; start no more ranks than nodes")]
    TooManyRanks {
        /// Number of ranks.
        ranks: usize,
        /// Number of nodes.
        nodes: usize,
    },
}
