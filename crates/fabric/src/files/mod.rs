//! Readers and writers of topology files of other tools.
//!
//! | [`Format`] | description |
//! |---|---|
//! | hpcc | `topology.txt` of the HPCC and conweave ns-3 forks, ns3-rdma, PowerTCP and SimAI |
//! | node-link | NetworkX node-link JSON |
//! | graphml | GraphML: NetworkX, Internet Topology Zoo |
//! | containerlab | containerlab topologies |
//! | config-db | SONiC `config_db.json`, one object per switch |
//! | link-csv | the link table of sonic-mgmt |
//! | ibnetdiscover | output of InfiniBand's `ibnetdiscover` |
//! | htsim-topo | `.topo` of htsim: a tree by its parameters; read only |
//! | lldp | a folder of LLDP tables, one per switch; read only |
//! | batfish | `layer1_topology.json` of Batfish; read only |
//! | netlab | netlab topologies; read only |
//! | gns3 | GNS3 projects; read only |
//!
//! Every reader validates the fabric it returns. Formats that are plain graphs do not state hosts, tiers of switches or
//! link rates; see [`Options`], and `assemble.rs` for the rules that determine them. [`Fabric::decisions`] lists the
//! reader's decisions, [`Fabric::reason`] the reason for a node's kind.

mod assemble;
mod batfish;
mod claims;
mod config_db;
mod config_db_write;
mod containerlab;
mod error;
mod format;
mod gns3;
mod graphml;
mod hpcc;
mod htsim_topo;
mod ibnetdiscover;
pub(crate) mod json;
mod link_csv;
mod lldp;
mod netlab;
mod node_link;
mod plain;
mod roles;
mod text;
mod wiring;
mod yaml;

pub use batfish::read_batfish;
pub use config_db::read_config_db;
pub use config_db_write::write_config_db;
pub use containerlab::{read_containerlab, write_containerlab};
pub use error::{ConfigFault, FileError};
pub use format::Format;
pub use gns3::read_gns3;
pub use graphml::{read_graphml, write_graphml};
pub use hpcc::{read_hpcc, write_hpcc};
pub use htsim_topo::read_htsim_topo;
pub use ibnetdiscover::{read_ibnetdiscover, write_ibnetdiscover};
pub use json::parse_json;
pub use link_csv::{read_link_csv, write_link_csv};
pub use lldp::{is_lldp_table, join_lldp, read_lldp};
pub use netlab::read_netlab;
pub use node_link::{read_node_link, write_node_link};
pub use plain::Options;
pub use roles::{NamePattern, Roles};
pub use wiring::{NeighbourCheck, check_neighbours};

use crate::Fabric;

impl Format {
    /// Reads a file of this format.
    ///
    /// # Errors
    /// Errors of the format's reader.
    pub fn read(self, content: &str, options: &Options) -> Result<Fabric, FileError> {
        let content = content.trim_start_matches('\u{feff}');
        if let (Format::Hpcc | Format::HtsimTopo, Some(key)) = (self, options.roles.first_key()) {
            let message = format!("a file of the format {} says which nodes are hosts, by their numbers", self.name());
            return Err(FileError::Element { location: key.to_owned(), message });
        }
        let read = match self {
            Format::Hpcc => read_hpcc(content),
            Format::NodeLink => read_node_link(content, options),
            Format::GraphMl => read_graphml(content, options),
            Format::Containerlab => read_containerlab(content, options),
            Format::ConfigDb => read_config_db(content, options),
            Format::LinkCsv => read_link_csv(content, options),
            Format::IbNetDiscover => read_ibnetdiscover(content, options),
            Format::HtsimTopo => read_htsim_topo(content),
            Format::Lldp => read_lldp(content, options),
            Format::Batfish => read_batfish(content, options),
            Format::Netlab => read_netlab(content, options),
            Format::Gns3 => read_gns3(content, options),
        };
        read.map_err(|error| match error {
            FileError::Line { line, message } => {
                FileError::Line { line, message: format!("{message} (read as {})", self.name()) }
            }
            other => other,
        })
    }

    /// Writes a fabric in this format; for [`Format::ConfigDb`] the objects of all switches in one list.
    ///
    /// # Errors
    /// [`FileError::NotExpressible`] if the format cannot represent the fabric.
    pub fn write(self, fabric: &Fabric) -> Result<String, FileError> {
        match self {
            Format::Hpcc => write_hpcc(fabric),
            Format::NodeLink => Ok(write_node_link(fabric)),
            Format::GraphMl => Ok(write_graphml(fabric)),
            Format::Containerlab => write_containerlab(fabric),
            Format::ConfigDb => {
                write_config_db(fabric).map(|files| join_config_db(files.into_iter().map(|(_, file)| file)))
            }
            Format::LinkCsv => write_link_csv(fabric),
            Format::IbNetDiscover => write_ibnetdiscover(fabric),
            Format::HtsimTopo => {
                Err(FileError::NotExpressible { what: "single links: a .topo is a tree by its numbers".to_owned() })
            }
            Format::Lldp | Format::Batfish | Format::Netlab | Format::Gns3 => {
                Err(FileError::NotExpressible { what: "a fabric: this format is only read".to_owned() })
            }
        }
    }
}

/// Content that is not UTF-8 text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not UTF-8 text at byte {offset}")]
pub struct NotText {
    /// Offset of the first byte that is not UTF-8, from 0.
    pub offset: usize,
    /// Line of that byte, from 1.
    pub line: usize,
}

/// Returns a file's content as text.
///
/// # Errors
/// The first byte that is not UTF-8.
pub fn text_of(content: &[u8]) -> Result<&str, NotText> {
    std::str::from_utf8(content).map_err(|error| {
        let before = &content[..error.valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        NotText { offset: before.len(), line }
    })
}

/// Returns whether a file has no content: nothing but white space and a byte order mark.
pub fn is_blank(content: &str) -> bool {
    content.trim_start_matches('\u{feff}').trim().is_empty()
}

/// Joins the named files of a folder to one text: a list of `config_db.json` objects or of LLDP tables. The file name
/// without extension is the name of the switch.
///
/// # Errors
/// Name and line of a file that has another format than the other files or is not JSON.
pub fn join(files: Vec<(String, String)>) -> Result<String, String> {
    let tables = files.iter().filter(|(_, content)| is_lldp_table(content)).count();
    if tables > 0 {
        if let Some((name, _)) = files.iter().find(|(_, content)| !is_lldp_table(content)) {
            return Err(format!("{name} is no LLDP table, but other files of the folder are"));
        }
        return Ok(join_lldp(files));
    }
    for (name, content) in &files {
        let content = content.trim_start_matches('\u{feff}');
        if is_blank(content) {
            return Err(format!("{name}: empty file"));
        }
        if let Err(error) = parse_json(content) {
            return Err(format!("{name}, line {}, column {}: not valid JSON: {error}", error.line(), error.column()));
        }
    }
    let of = |(name, content): (String, String)| {
        let content = content.trim_start_matches('\u{feff}').trim().to_owned();
        format!("{{\"file\": {}, \"config_db\": {content}}}", serde_json::Value::from(name))
    };
    Ok(join_config_db(files.into_iter().map(of)))
}

/// Joins the files of several switches to a list.
pub fn join_config_db(files: impl IntoIterator<Item = String>) -> String {
    let files: Vec<String> = files.into_iter().map(|file| file.trim().to_owned()).collect();
    format!("[\n{}\n]\n", files.join(",\n"))
}

/// Detects the format by content; the name is used only if the content cannot be parsed.
pub fn detect(path: &str, content: &str) -> Option<Format> {
    let text = content.trim_start_matches('\u{feff}').trim_start();
    let by_name = Format::of_name(path);
    if text.starts_with(['{', '[']) {
        if text.starts_with('[') && text.contains("\"lldp_table\"") || is_lldp_table(text) {
            return Some(Format::Lldp);
        }
        if text.contains("\"interfaceName\"") && text.contains("\"node1\"") {
            return Some(Format::Batfish);
        }
        let gns3 = [("\"node_type\"", "\"node_id\""), ("\"source_node_id\"", "\"destination_port_id\"")];
        if by_name == Format::Gns3 || gns3.iter().any(|(a, b)| text.contains(a) && text.contains(b)) {
            return Some(Format::Gns3);
        }
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
    if is_lldp_table(text) {
        return Some(Format::Lldp);
    }
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    let links = ["links:", "vlans:", "vrfs:", "vlans.", "vrfs."].into_iter().any(has);
    let is_plugin = has("fabric:") && has("plugin:");
    if (has("nodes:") && links || is_plugin) && !has("topology:") {
        return Some(Format::Netlab);
    }
    if by_name == Format::Containerlab || has("topology:") {
        return Some(Format::Containerlab);
    }
    let numbers = first.split_whitespace().take(3).filter(|word| word.parse::<u64>().is_ok());
    (numbers.count() == 3).then_some(Format::Hpcc)
}

/// Reads a file of any format.
///
/// # Errors
/// [`FileError::UnknownFormat`], and errors of the format's reader.
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
mod operator_tests;
#[cfg(test)]
mod tests;
