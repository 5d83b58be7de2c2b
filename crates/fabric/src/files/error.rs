//! What can be wrong with a topology file.

use super::format::Format;
use crate::FabricError;

/// Why a topology file is none, or why a fabric does not fit the format.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A text line that is wrong.
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
        /// As in `links[3].rate`, or line and column of a syntax error.
        place: String,
        /// What is wrong and what would be right.
        message: String,
    },
    /// Well-formed, but not a network.
    #[error("the file describes no usable fabric: {0}")]
    Fabric(#[from] FabricError),
    /// Well-formed, but not a network, with keys that were not read.
    #[error("the file describes no usable fabric: {error} ({keys})")]
    Unread {
        /// The fault.
        error: FabricError,
        /// The decision about these keys.
        keys: String,
    },
    /// The fabric has something that the format cannot say.
    #[error("this format cannot express {what}")]
    NotExpressible {
        /// What, with names.
        what: String,
    },
    /// None of the formats.
    #[error("`{path}` is in none of the formats {}", names())]
    UnknownFormat {
        /// The file's name.
        path: String,
    },
}

fn names() -> String {
    Format::ALL.map(Format::name).join(", ")
}
