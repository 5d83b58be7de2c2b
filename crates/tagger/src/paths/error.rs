//! Errors of path sources.

/// Reason why a source has no paths.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// Invalid line of a list or table.
    #[error("line {line}: {message}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// Error and correction.
        message: String,
    },
    /// Invalid JSON element.
    #[error("{location}: {message}")]
    Element {
        /// Position, such as `routes[3].ports`.
        location: String,
        /// Error and correction.
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
    /// Links inside a tier, and hosts that are connected only by paths with more bounces.
    #[error(
        "no path with {bounces} bounces or fewer leads from `{from}` to `{to}`, where a hop inside a tier, as from \
         `{a}` to `{b}`, both on tier {tier}, counts as one: state tiers, allow more bounces, or use shortest paths"
    )]
    NoTiers {
        /// One switch of a link inside a tier.
        a: String,
        /// The other switch of the link.
        b: String,
        /// Tier of both switches.
        tier: u8,
        /// Sending host.
        from: String,
        /// Receiving host that it cannot reach.
        to: String,
        /// Maximum number of bounces of a path.
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
    /// Forwarding tables that contain a loop.
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
