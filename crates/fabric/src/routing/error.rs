//! Routing errors.

/// Error in routes or paths.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RoutingError {
    /// No route between two hosts.
    #[error("no route leads from host `{from}` to host `{to}`")]
    Unreachable {
        /// The sending host.
        from: String,
        /// The destination.
        to: String,
    },
    /// A frame would loop forever.
    #[error("the route from host `{from}` to host `{to}` does not arrive within {hops} hops: it loops at `{at}`")]
    Loop {
        /// The sending host.
        from: String,
        /// The destination.
        to: String,
        /// Number of hops followed.
        hops: usize,
        /// Node at which the walk stopped.
        at: String,
    },
    /// The fabric does not have the structure that the mode needs.
    #[error("two-level routing does not work here: {reason}")]
    NotTwoLevel {
        /// Description of the missing structure, with names.
        reason: String,
    },
    /// More routing entries than can be stored.
    #[error("routing tables of {entries} entries are too large: the limit is {limit}")]
    TooLarge {
        /// Number of table entries: switches times rows (destinations).
        entries: u64,
        /// Limit.
        limit: u64,
    },
    /// A path has fewer than two nodes.
    #[error("a path needs at least two nodes, this one has {nodes}")]
    PathTooShort {
        /// Number of nodes.
        nodes: usize,
    },
    /// A path names a node that does not exist.
    #[error("node {position} of the path is `{name}`, which the fabric does not have")]
    UnknownName {
        /// Position in the path, from 1.
        position: usize,
        /// Name of the node, as written.
        name: String,
    },
    /// Two consecutive nodes of a path have no link.
    #[error("no link joins `{from}` and `{to}`, node {position} and the next of the path")]
    NoLink {
        /// Position of `from` in the path, from 1.
        position: usize,
        /// Name of the node at `position`.
        from: String,
        /// Name of the next node of the path.
        to: String,
    },
    /// A path passes through a host that does not forward.
    #[error("node {position} of the path, host `{host}`, does not forward frames of others")]
    HostDoesNotForward {
        /// Position in the path, from 1.
        position: usize,
        /// The host.
        host: String,
    },
    /// A next hop uses a port that does not exist.
    #[error("node `{node}` has no port {port}: it has {ports}, counted from 0")]
    NoSuchPort {
        /// The node.
        node: String,
        /// Port number.
        port: u16,
        /// Number of ports of the node.
        ports: usize,
    },
    /// The root of an up-down tree is a node that does not forward.
    #[error("`{node}` cannot be the root of up-down routing: it does not forward frames")]
    BadRoot {
        /// The node.
        node: String,
    },
}
