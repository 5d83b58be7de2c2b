//! Errors of path sources.

/// Error in a path source.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// Invalid line of a list or table.
    #[error("line {line}: {message}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// Description of the error and how to correct it.
        message: String,
    },
    /// Invalid JSON element.
    #[error("{location}: {message}")]
    Element {
        /// Path of the element, such as `routes[3].ports`.
        location: String,
        /// Description of the error and how to correct it.
        message: String,
    },
    /// Parameter outside its range.
    #[error("{parameter} = {value} does not work: {expected}")]
    Parameter {
        /// Name of the parameter.
        parameter: &'static str,
        /// Value of the parameter.
        value: u64,
        /// Valid values.
        expected: String,
    },
    /// Because of links within a tier, some hosts are connected only by paths with too many bounces.
    #[error(
        "no path with {bounces} bounces or fewer leads from `{from}` to `{to}`, where a hop inside a tier, as from \
         `{a}` to `{b}`, both on tier {tier}, counts as one: state tiers, allow more bounces, or use shortest paths"
    )]
    NoTiers {
        /// One endpoint of a link within a tier.
        a: String,
        /// The other endpoint of the link.
        b: String,
        /// Tier of both endpoints.
        tier: u8,
        /// Sending host.
        from: String,
        /// Receiving host, which is unreachable with `bounces` bounces.
        to: String,
        /// Maximum number of bounces.
        bounces: u8,
    },
    /// No path between two hosts.
    #[error("no path leads from `{from}` to `{to}`")]
    NoPath {
        /// Sending host.
        from: String,
        /// Receiving host.
        to: String,
    },
    /// The forwarding tables contain a routing loop.
    #[error("the tables lead packets from `{from}` to `{to}` in a loop through `{at}`")]
    Loop {
        /// Sending host.
        from: String,
        /// Receiving host.
        to: String,
        /// A switch of the loop.
        at: String,
    },
}
