//! Errors of rule generation.

use crate::paths::PathError;
use crate::rules::Tag;
use fabric::FabricError;

/// Reason why rules cannot be generated.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaggerError {
    /// The fabric is invalid.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The expected paths do not fit the fabric.
    #[error("expected lossless paths: {0}")]
    Paths(#[from] PathError),
    /// More tags are needed than DSCP values exist.
    #[error("{needed} lossless tags would be needed, but there can be between 1 and {limit}")]
    TooManyTags {
        /// Number of tags needed.
        needed: usize,
        /// Maximum number of tags.
        limit: Tag,
    },
    /// The expected lossless paths are an empty set.
    #[error("there is no expected lossless path: nothing would be lossless")]
    NoPaths,
}
