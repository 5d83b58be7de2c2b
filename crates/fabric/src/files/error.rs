//! Errors of topology files.

use super::format::Format;
use crate::FabricError;

/// Fault in the configuration file of a switch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, thiserror::Error)]
#[error("{file}: {key}: {message}")]
pub struct ConfigFault {
    /// Name of the file.
    pub file: String,
    /// Key in SONiC's notation: `PORT_QOS_MAP|Ethernet0.pfc_enable`.
    pub key: String,
    /// Description of the fault.
    pub message: String,
    /// The value to write instead.
    pub help: String,
}

/// Error when reading a topology file, or when writing a fabric that the format cannot represent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Invalid line of a text file.
    #[error("line {line}: {message}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// Description of the problem and how to correct it.
        message: String,
    },
    /// Invalid element of a structured file.
    #[error("{location}: {message}")]
    Element {
        /// Path like `links[3].rate`, or line and column of a syntax error.
        location: String,
        /// Description of the problem and how to correct it.
        message: String,
    },
    /// The file is well-formed, but its content is not a valid network.
    #[error("the file describes no usable fabric: {0}")]
    Fabric(#[from] FabricError),
    /// The file is well-formed, but its content is not a valid network, and some of its keys were not read.
    #[error("the file describes no usable fabric: {error} ({keys})")]
    Unread {
        /// Error in the fabric.
        error: FabricError,
        /// Text of the decision that lists the unread keys.
        keys: String,
    },
    /// The fabric has a property that the format cannot represent.
    #[error("this format cannot express {what}")]
    NotExpressible {
        /// The property, with the names of the elements concerned.
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
