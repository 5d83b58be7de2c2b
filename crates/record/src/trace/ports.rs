//! `ports.parquet`: for each node and port number, the name of the node and its neighbour.

use crate::error::RecordError;
use crate::identity::ScenarioIdentity;
use crate::table::column::{Column, ColumnType};
use crate::table::{Data, TableWriter, read_table};
use std::path::Path;

/// Name of the port table in a result folder.
pub const PORTS_FILE: &str = "ports.parquet";

/// One port of the fabric; rows are sorted by node and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRow {
    /// Number of the node.
    pub node: u32,
    /// Name of the node.
    pub name: String,
    /// Whether the node is a host.
    pub host: bool,
    /// Port number.
    pub port: u16,
    /// Number of the neighbouring node.
    pub peer: u32,
    /// Port number at the neighbouring node.
    pub peer_port: u16,
    /// Rate of the link in bit/s.
    pub rate_bps: u64,
    /// One-way delay of the link in ps.
    pub delay_ps: u64,
}

/// Writes the ports of a fabric.
pub struct PortTable(TableWriter);

impl PortTable {
    /// Starts the table of `run` at `path`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn create(path: &Path, run: &ScenarioIdentity) -> Result<Self, RecordError> {
        let number = |name: &str, meaning: &'static str| Column::new(name, ColumnType::U64).means(meaning);
        let columns = [
            number("node", "the node, from 0"),
            Column::new("name", ColumnType::Text).means("the node's name"),
            Column::new("host", ColumnType::Bool).means("the node is a host"),
            number("port", "its port, from 0"),
            number("peer", "node at the other end of the link"),
            number("peer_port", "port at the other end, from 0"),
            number("rate_bps", "the link's rate"),
            number("delay_ps", "the link's one-way delay"),
        ];
        Ok(PortTable(TableWriter::create(path, &columns)?.about(run)))
    }

    /// Appends a port.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn push(&mut self, port: &PortRow) -> Result<(), RecordError> {
        self.0.push(&[
            port.node.into(),
            port.name.as_str().into(),
            port.host.into(),
            port.port.into(),
            port.peer.into(),
            port.peer_port.into(),
            port.rate_bps.into(),
            port.delay_ps.into(),
        ])
    }

    /// Completes the file and renames it to its path.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn close(self) -> Result<(), RecordError> {
        self.0.close()
    }
}

/// Reads a `ports.parquet`.
///
/// # Errors
/// [`RecordError::Unreadable`]; [`RecordError::Table`], [`RecordError::NoColumn`] and [`RecordError::ColumnKind`] for
/// another or a damaged table.
pub fn read_ports(path: &Path) -> Result<Vec<PortRow>, RecordError> {
    let table = read_table(path)?;
    let wrong = |row: usize, name: &str| RecordError::Table {
        path: path.to_owned(),
        what: format!("row {row}: {name} is missing or out of range"),
    };
    let number = |row: usize, name: &str| table.u64s(name)?[row].ok_or_else(|| wrong(row, name));
    let small = |row: usize, name: &str| u32::try_from(number(row, name)?).map_err(|_| wrong(row, name));
    let port = |row: usize, name: &str| u16::try_from(number(row, name)?).map_err(|_| wrong(row, name));
    let parse = |row: usize| {
        let name = match table.column("name")? {
            Data::Text(names) => names[row].clone(),
            _ => None,
        };
        let host = match table.column("host")? {
            Data::Bool(hosts) => hosts[row],
            _ => None,
        };
        Ok(PortRow {
            node: small(row, "node")?,
            name: name.ok_or_else(|| wrong(row, "name"))?,
            host: host.ok_or_else(|| wrong(row, "host"))?,
            port: port(row, "port")?,
            peer: small(row, "peer")?,
            peer_port: port(row, "peer_port")?,
            rate_bps: number(row, "rate_bps")?,
            delay_ps: number(row, "delay_ps")?,
        })
    };
    (0..table.rows).map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::Scratch;

    #[test]
    fn ports_come_back_and_another_table_is_refused() {
        let scratch = Scratch::new("ports");
        let path = scratch.0.join(PORTS_FILE);
        let row = |node: u32, host| PortRow {
            node,
            name: format!("N{node}"),
            host,
            port: 2,
            peer: 9,
            peer_port: 1,
            rate_bps: 100_000_000_000,
            delay_ps: 500_000,
        };
        let rows = [row(0, true), row(7, false)];
        let mut table = PortTable::create(&path, &ScenarioIdentity::default()).unwrap();
        rows.iter().for_each(|row| table.push(row).unwrap());
        table.close().unwrap();
        assert_eq!(read_ports(&path).unwrap(), rows);
        TableWriter::create(&path, &[Column::new("node", ColumnType::F64)]).unwrap().close().unwrap();
        assert_eq!(read_ports(&path).unwrap(), [], "an empty table of whatever kind holds no port");
    }
}
