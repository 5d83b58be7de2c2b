//! Why there are no rules.

use crate::paths::PathError;
use crate::rules::Tag;
use fabric::FabricError;

/// Why rules cannot be generated.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaggerError {
    /// The fabric is no network.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The expected paths do not fit the fabric.
    #[error("expected lossless paths: {0}")]
    Paths(#[from] PathError),
    /// More tags than a DSCP can say.
    #[error("{needed} lossless tags would be needed, but there can be between 1 and {limit}")]
    TooManyTags {
        /// How many.
        needed: usize,
        /// The most there can be.
        limit: Tag,
    },
    /// No path at all.
    #[error("there is no expected lossless path: nothing would be lossless")]
    NoPaths,
}
