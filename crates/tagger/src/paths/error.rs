//! Why a source has no paths.

/// Why there are no paths.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// A line of a list or table that is wrong.
    #[error("line {line}: {message}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong and what would be right.
        message: String,
    },
    /// A JSON element that is wrong.
    #[error("{place}: {message}")]
    Element {
        /// As in `routes[3].ports`.
        place: String,
        /// What is wrong and what would be right.
        message: String,
    },
    /// A parameter outside its range.
    #[error("{parameter} = {value} does not work: {expected}")]
    Parameter {
        /// Its name.
        parameter: &'static str,
        /// What it was.
        value: u64,
        /// What would be right.
        expected: String,
    },
    /// Links inside a tier, and hosts that only more bounces would bring together.
    #[error(
        "no path with {bounces} bounces or fewer leads from `{from}` to `{to}`, where a hop inside a tier, as from \
         `{a}` to `{b}`, both on tier {tier}, counts as one: state tiers, allow more bounces, or use shortest paths"
    )]
    NoTiers {
        /// One switch of a link inside a tier.
        a: String,
        /// The other.
        b: String,
        /// Their tier.
        tier: u8,
        /// A sender.
        from: String,
        /// The receiver that it cannot reach.
        to: String,
        /// How many bounces a path may have.
        bounces: u8,
    },
    /// No path between two hosts.
    #[error("no path leads from `{from}` to `{to}`")]
    NoPath {
        /// The sender.
        from: String,
        /// The receiver.
        to: String,
    },
    /// Forwarding tables that send packets round in circles.
    #[error("the tables lead packets from `{from}` to `{to}` in a loop through `{at}`")]
    Loop {
        /// The sender.
        from: String,
        /// The receiver.
        to: String,
        /// A switch of the loop.
        at: String,
    },
}
