//! Topology files that other tools write and read.
//!
//! | [`Format`] | what it is |
//! |---|---|
//! | hpcc | `topology.txt` of the HPCC and conweave ns-3 forks |
//! | node-link | NetworkX node-link JSON |
//! | graphml | GraphML: NetworkX, Internet Topology Zoo |
//! | containerlab | containerlab topologies |
//! | config-db | SONiC `config_db.json`, one object a switch |
//! | link-csv | the link table of sonic-mgmt |
//! | ibnetdiscover | what InfiniBand's `ibnetdiscover` prints |
//! | htsim-topo | `.topo` of htsim: a tree by its numbers; read only |
//!
//! Every reader checks the fabric it made: what it returns is a network. Formats that are plain graphs leave things
//! open: what is a host, how fast a link is ([`Options`]). What is a host, in this order: what the file says; a name
//! like `h7`, `host-3`, `server1`; every node with one link; hosts put on each switch. A host with several links stays
//! a host, through which nothing passes. [`Fabric::reason`] says which it was.

mod config_db;
mod containerlab;
mod graphml;
mod hpcc;
mod htsim_topo;
mod ibnetdiscover;
mod link_csv;
mod node_link;
mod plain;
mod text;
mod yaml;

pub use config_db::{read_config_db, write_config_db};
pub use containerlab::{read_containerlab, write_containerlab};
pub use graphml::{read_graphml, write_graphml};
pub use hpcc::{read_hpcc, write_hpcc};
pub use htsim_topo::read_htsim_topo;
pub use ibnetdiscover::{read_ibnetdiscover, write_ibnetdiscover};
pub use link_csv::{read_link_csv, write_link_csv};
pub use node_link::{read_node_link, write_node_link};
pub use plain::Options;

use crate::{Fabric, FabricError, NodeId};

/// A kind of topology file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// `topology.txt` of the HPCC and conweave ns-3 forks.
    Hpcc,
    /// NetworkX node-link JSON.
    NodeLink,
    /// GraphML.
    GraphMl,
    /// containerlab topologies.
    Containerlab,
    /// SONiC `config_db.json`.
    ConfigDb,
    /// The link table of sonic-mgmt.
    LinkCsv,
    /// What `ibnetdiscover` prints.
    IbNetDiscover,
    /// `.topo` of htsim.
    HtsimTopo,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 8] = [
        Format::Hpcc,
        Format::NodeLink,
        Format::GraphMl,
        Format::Containerlab,
        Format::ConfigDb,
        Format::LinkCsv,
        Format::IbNetDiscover,
        Format::HtsimTopo,
    ];

    /// What it is called in scenarios and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Hpcc => "hpcc",
            Format::NodeLink => "node-link",
            Format::GraphMl => "graphml",
            Format::Containerlab => "containerlab",
            Format::ConfigDb => "config-db",
            Format::LinkCsv => "link-csv",
            Format::IbNetDiscover => "ibnetdiscover",
            Format::HtsimTopo => "htsim-topo",
        }
    }

    /// Whose format it is, in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Format::Hpcc => "topology.txt of the HPCC and conweave ns-3 forks",
            Format::NodeLink => "NetworkX node-link JSON",
            Format::GraphMl => "GraphML, as NetworkX and the Internet Topology Zoo write it",
            Format::Containerlab => "a containerlab topology",
            Format::ConfigDb => "SONiC config_db.json: a list of them, or a folder with one a switch",
            Format::LinkCsv => "the link table of sonic-mgmt",
            Format::IbNetDiscover => "what ibnetdiscover prints",
            Format::HtsimTopo => "an htsim .topo, read only",
        }
    }

    /// The format with this name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// What a file of this name should be: `.graphml` GraphML, `.clab.yml` containerlab, `.csv` a link table, `.json`
    /// node-link, `.topo` htsim, and anything else HPCC.
    pub fn of_name(path: &str) -> Format {
        let name = path.to_ascii_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        match () {
            () if ends(&[".json"]) => Format::NodeLink,
            () if ends(&[".graphml", ".xml"]) => Format::GraphMl,
            () if ends(&[".yml", ".yaml"]) => Format::Containerlab,
            () if ends(&[".csv"]) => Format::LinkCsv,
            () if ends(&[".topo"]) => Format::HtsimTopo,
            () if ends(&[".ibnet", ".ibnetdiscover"]) => Format::IbNetDiscover,
            () => Format::Hpcc,
        }
    }

    /// Reads a file of this format.
    ///
    /// # Errors
    /// What the format's reader reports.
    pub fn read(self, content: &str, options: &Options) -> Result<Fabric, FileError> {
        match self {
            Format::Hpcc => read_hpcc(content),
            Format::NodeLink => read_node_link(content, options),
            Format::GraphMl => read_graphml(content, options),
            Format::Containerlab => read_containerlab(content, options),
            Format::ConfigDb => read_config_db(content, options),
            Format::LinkCsv => read_link_csv(content, options),
            Format::IbNetDiscover => read_ibnetdiscover(content, options),
            Format::HtsimTopo => read_htsim_topo(content),
        }
    }

    /// Writes a fabric in this format; of [`Format::ConfigDb`] all objects in one list.
    ///
    /// # Errors
    /// [`FileError::NotExpressible`] if the format cannot hold the fabric.
    pub fn write(self, fabric: &Fabric) -> Result<String, FileError> {
        match self {
            Format::Hpcc => write_hpcc(fabric),
            Format::NodeLink => Ok(write_node_link(fabric)),
            Format::GraphMl => Ok(write_graphml(fabric)),
            Format::Containerlab => Ok(write_containerlab(fabric)),
            Format::ConfigDb => {
                write_config_db(fabric).map(|files| join_config_db(files.into_iter().map(|(_, file)| file)))
            }
            Format::LinkCsv => write_link_csv(fabric),
            Format::IbNetDiscover => write_ibnetdiscover(fabric),
            Format::HtsimTopo => {
                Err(FileError::NotExpressible { what: "single links: a .topo is a tree by its numbers".to_owned() })
            }
        }
    }
}

/// A file's content as text.
///
/// # Errors
/// The line, from 1, of the first byte that is not UTF-8.
pub fn text_of(content: &[u8]) -> Result<&str, usize> {
    std::str::from_utf8(content).map_err(|error| {
        let before = &content[..error.valid_up_to()];
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    })
}

/// The files of several switches as one list.
pub fn join_config_db(files: impl IntoIterator<Item = String>) -> String {
    let files: Vec<String> = files.into_iter().map(|file| file.trim().to_owned()).collect();
    format!("[\n{}\n]\n", files.join(",\n"))
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

/// Which format this is, by content; the name decides only where the content is broken.
pub fn detect(path: &str, content: &str) -> Option<Format> {
    let text = content.trim_start_matches('\u{feff}').trim_start();
    let by_name = Format::of_name(path);
    if text.starts_with(['{', '[']) {
        let sonic = text.contains("\"DEVICE_NEIGHBOR\"") || text.contains("\"DEVICE_METADATA\"");
        let known = sonic || by_name == Format::NodeLink || text.contains("\"nodes\"");
        return known.then_some(if sonic { Format::ConfigDb } else { Format::NodeLink });
    }
    if text.starts_with('<') {
        return (by_name == Format::GraphMl || text.contains("<graphml")).then_some(Format::GraphMl);
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let first = lines.next()?;
    if link_csv::is_header(first) {
        return Some(Format::LinkCsv);
    }
    if htsim_topo::is_first(first) {
        return Some(Format::HtsimTopo);
    }
    let ib = |line: &str| ["vendid=", "devid=", "switchguid=", "caguid="].iter().any(|key| line.starts_with(key));
    if ib(first) || ibnetdiscover::is_node(first) {
        return Some(Format::IbNetDiscover);
    }
    if by_name == Format::Containerlab || text.lines().any(|line| line.trim_end() == "topology:") {
        return Some(Format::Containerlab);
    }
    let numbers = first.split_whitespace().take(3).filter(|word| word.parse::<u64>().is_ok());
    (numbers.count() == 3).then_some(Format::Hpcc)
}

/// Reads a file of whatever format.
///
/// # Errors
/// [`FileError::UnknownFormat`], and what the format's reader reports.
pub fn read(path: &str, content: &str, options: &Options) -> Result<Fabric, FileError> {
    match detect(path, content) {
        Some(format) => format.read(content, options),
        None => Err(FileError::UnknownFormat { path: path.to_owned() }),
    }
}

/// Links must keep both ends' port order: whether link order alone gives the ports back.
fn ports_follow_links(fabric: &Fabric) -> bool {
    fabric.node_ids().all(|node: NodeId| fabric.ports(node).windows(2).all(|pair| pair[0].link <= pair[1].link))
}

#[cfg(test)]
mod graph_tests;
#[cfg(test)]
mod name_tests;
#[cfg(test)]
mod tests;
