//! Errors of topology files.

use super::format::Format;
use crate::FabricError;

/// Error of a topology file, or of a fabric that does not fit the format.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Invalid line of a text file.
    #[error("line {line}: {message}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// Problem and correction.
        message: String,
    },
    /// Invalid element of a structured file.
    #[error("{location}: {message}")]
    Element {
        /// Path like `links[3].rate`, or line and column of a syntax error.
        location: String,
        /// Problem and correction.
        message: String,
    },
    /// Well-formed file that is not a network.
    #[error("the file describes no usable fabric: {0}")]
    Fabric(#[from] FabricError),
    /// Well-formed file that is not a network and has unread keys.
    #[error("the file describes no usable fabric: {error} ({keys})")]
    Unread {
        /// Error of the fabric.
        error: FabricError,
        /// Decision about these keys.
        keys: String,
    },
    /// The fabric has a property that the format cannot represent.
    #[error("this format cannot express {what}")]
    NotExpressible {
        /// Property, with names.
        what: String,
    },
    /// File of unknown format.
    #[error("`{path}` is in none of the formats {}", names())]
    UnknownFormat {
        /// File name.
        path: String,
    },
}

fn names() -> String {
    Format::ALL.map(Format::name).join(", ")
}
