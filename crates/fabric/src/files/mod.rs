//! Topology files that other tools write and read.
//!
//! | [`Format`] | what it is |
//! |---|---|
//! | hpcc | `topology.txt` of the HPCC and conweave ns-3 forks, ns3-rdma, PowerTCP and SimAI |
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
mod error;
mod format;
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
pub use error::FileError;
pub use format::Format;
pub use graphml::{read_graphml, write_graphml};
pub use hpcc::{read_hpcc, write_hpcc};
pub use htsim_topo::read_htsim_topo;
pub use ibnetdiscover::{read_ibnetdiscover, write_ibnetdiscover};
pub use link_csv::{read_link_csv, write_link_csv};
pub use node_link::{read_node_link, write_node_link};
pub use plain::Options;

use crate::Fabric;

impl Format {
    /// Reads a file of this format.
    ///
    /// # Errors
    /// What the format's reader reports.
    pub fn read(self, content: &str, options: &Options) -> Result<Fabric, FileError> {
        let content = content.trim_start_matches('\u{feff}');
        let read = match self {
            Format::Hpcc => read_hpcc(content),
            Format::NodeLink => read_node_link(content, options),
            Format::GraphMl => read_graphml(content, options),
            Format::Containerlab => read_containerlab(content, options),
            Format::ConfigDb => read_config_db(content, options),
            Format::LinkCsv => read_link_csv(content, options),
            Format::IbNetDiscover => read_ibnetdiscover(content, options),
            Format::HtsimTopo => read_htsim_topo(content),
        };
        read.map_err(|error| match error {
            FileError::Line { line, message } => {
                FileError::Line { line, message: format!("{message} (read as {})", self.name()) }
            }
            other => other,
        })
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

#[cfg(test)]
mod graph_tests;
#[cfg(test)]
mod name_tests;
#[cfg(test)]
mod tests;
