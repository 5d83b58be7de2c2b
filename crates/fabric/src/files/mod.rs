//! Topology files that other tools write and read.
//!
//! * [`Format::Hpcc`]: the `topology.txt` of the HPCC and conweave ns-3 forks ([`read_hpcc`], [`write_hpcc`]);
//! * [`Format::NodeLink`]: NetworkX node-link JSON ([`read_node_link`], [`write_node_link`]).
//!
//! Every reader checks the fabric it made: what it returns is a network.

mod hpcc;
mod node_link;

pub use hpcc::{read_hpcc, write_hpcc};
pub use node_link::{NodeLinkOptions, read_node_link, write_node_link};

use crate::{Fabric, FabricError, NodeId};

/// A kind of topology file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// `topology.txt` of the HPCC and conweave ns-3 forks.
    Hpcc,
    /// NetworkX node-link JSON.
    NodeLink,
}

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
    /// The fabric has something that the format cannot say.
    #[error("this format cannot express {what}")]
    NotExpressible {
        /// What, with names.
        what: String,
    },
    /// Neither format.
    #[error(
        "`{path}` is no topology file: expected `<nodes> <switches> <links>` on the first line (HPCC), or a JSON \
         object with `nodes` and `links` or `edges` (NetworkX node-link)"
    )]
    UnknownFormat {
        /// The file's name.
        path: String,
    },
}

/// Which format this is, by content; the extension decides only where the content is broken JSON.
pub fn detect(path: &str, content: &str) -> Option<Format> {
    let first = content.trim_start_matches('\u{feff}').trim_start();
    let json_name = path.to_ascii_lowercase().ends_with(".json");
    if first.starts_with('{') && (json_name || first.contains("\"nodes\"")) {
        return Some(Format::NodeLink);
    }
    let numbers = first.lines().next()?.split_whitespace().take(3).filter(|word| word.parse::<u64>().is_ok());
    (numbers.count() == 3).then_some(Format::Hpcc)
}

/// Reads a file of either format.
///
/// # Errors
/// [`FileError::UnknownFormat`], and what the format's reader reports.
pub fn read(path: &str, content: &str, options: &NodeLinkOptions) -> Result<Fabric, FileError> {
    match detect(path, content) {
        Some(Format::Hpcc) => read_hpcc(content),
        Some(Format::NodeLink) => read_node_link(content, options),
        None => Err(FileError::UnknownFormat { path: path.to_owned() }),
    }
}

/// Links must keep both ends' port order: whether link order alone gives the ports back.
fn ports_follow_links(fabric: &Fabric) -> bool {
    fabric.node_ids().all(|node: NodeId| fabric.ports(node).windows(2).all(|pair| pair[0].link <= pair[1].link))
}

#[cfg(test)]
mod tests;
