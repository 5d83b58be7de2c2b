//! Nodes and ports of a run, from its `ports.parquet`.

use record::RecordError;
use record::trace::{PORTS_FILE, PortRow, read_ports};
use std::collections::BTreeMap;
use std::path::Path;

/// One direction of a link, identified by its sending port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    /// Index of the sending node in [`Fabric::names`].
    pub node: usize,
    /// Port number at the sending node.
    pub number: u16,
    /// Index in [`Fabric::ports`] of the port at the other end of the link.
    pub back: usize,
    /// The link's rate, in bit/s.
    pub rate_bps: u64,
}

/// The fabric of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fabric {
    /// Name of each node.
    pub names: Vec<String>,
    /// Whether a node is a host.
    pub hosts: Vec<bool>,
    /// Ports, sorted by node, then by port number.
    pub ports: Vec<Port>,
    /// Index in `ports`, by the node and port numbers of the result's tables.
    indices: BTreeMap<(u64, u64), usize>,
}

impl Fabric {
    /// Reads the fabric of the run in `folder`; `None` if the run did not record its ports.
    ///
    /// # Errors
    /// If the table is damaged, or the two ports of a link do not refer to each other.
    pub fn read(folder: &Path) -> Result<Option<Fabric>, RecordError> {
        let path = folder.join(PORTS_FILE);
        if !path.exists() {
            return Ok(None);
        }
        let rows = read_ports(&path)?;
        Fabric::new(&rows).map(Some).map_err(|what| RecordError::Table { path, what })
    }

    fn new(rows: &[PortRow]) -> Result<Fabric, String> {
        let mut fabric = Fabric::default();
        let mut nodes: BTreeMap<u32, usize> = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            nodes.entry(row.node).or_insert_with(|| {
                fabric.names.push(row.name.clone());
                fabric.hosts.push(row.host);
                fabric.names.len() - 1
            });
            fabric.indices.insert((row.node.into(), row.port.into()), index);
        }
        for (index, row) in rows.iter().enumerate() {
            let back = fabric.port_index(row.peer.into(), row.peer_port.into());
            let leads_back =
                |&back: &usize| (rows[back].peer, rows[back].peer_port) == (row.node, row.port) && back != index;
            let back = back.filter(leads_back).ok_or_else(|| {
                let PortRow { node, port, peer, peer_port, .. } = row;
                format!(
                    "port {port} of node {node} leads to port {peer_port} of node {peer}, which is not another port \
                     that leads back"
                )
            })?;
            fabric.ports.push(Port { node: nodes[&row.node], number: row.port, back, rate_bps: row.rate_bps });
        }
        Ok(fabric)
    }

    /// Returns the index in `ports` of the port with these node and port numbers in the result's tables.
    pub fn port_index(&self, node: u64, port: u64) -> Option<usize> {
        self.indices.get(&(node, port)).copied()
    }

    /// Returns the index in `names` of the node with this number in the result's tables.
    pub fn node(&self, node: u64) -> Option<usize> {
        let first = self.indices.range((node, 0)..).next()?;
        (first.0.0 == node).then(|| self.ports[*first.1].node)
    }

    /// Returns the neighbours of each node. A neighbour connected by two links occurs twice.
    pub fn neighbours(&self) -> Vec<Vec<usize>> {
        let mut neighbours = vec![Vec::new(); self.names.len()];
        for port in &self.ports {
            neighbours[port.node].push(self.ports[port.back].node);
        }
        neighbours
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns the ports of nodes 0, 1, ... connected by these links of 100 Gbit/s; the first `hosts` nodes are hosts.
    pub(crate) fn rows(hosts: u32, links: &[(u32, u32)]) -> Vec<PortRow> {
        let mut ends: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (link, &(a, b)) in links.iter().enumerate() {
            ends.entry(a).or_default().push(link);
            ends.entry(b).or_default().push(link);
        }
        let port = |node: u32, link: usize| ends[&node].iter().position(|&at| at == link).unwrap() as u16;
        let mut rows = Vec::new();
        for (&node, own) in &ends {
            for &link in own {
                let peer = if links[link].0 == node { links[link].1 } else { links[link].0 };
                let (port, peer_port) = (port(node, link), port(peer, link));
                let name = format!("{}{node}", if node < hosts { 'H' } else { 'S' });
                let (rate_bps, delay_ps) = (100_000_000_000, 500_000);
                rows.push(PortRow { node, name, host: node < hosts, port, peer, peer_port, rate_bps, delay_ps });
            }
        }
        rows
    }

    pub(crate) fn fabric(hosts: u32, links: &[(u32, u32)]) -> Fabric {
        Fabric::new(&rows(hosts, links)).unwrap()
    }

    #[test]
    fn ports_lead_to_each_other_and_nodes_may_have_gaps_in_their_numbers() {
        let fabric = fabric(2, &[(0, 7), (1, 7), (7, 9), (7, 9)]);
        assert_eq!(fabric.names, ["H0", "H1", "S7", "S9"]);
        assert_eq!(fabric.hosts, [true, true, false, false]);
        let up = fabric.ports[fabric.port_index(1, 0).unwrap()];
        assert_eq!((up.node, fabric.ports[up.back].node, fabric.ports[up.back].number), (1, 2, 1));
        assert_eq!(fabric.neighbours()[2], [0, 1, 3, 3]);
        assert_eq!((fabric.node(9), fabric.node(8), fabric.node(10)), (Some(3), None, None));
        assert_eq!((fabric.port_index(7, 3), fabric.port_index(7, 4)), (Some(5), None));
        // Cases: the peer port refers to another port, does not exist, or is the port itself.
        for (row, peer, peer_port, at) in
            [(1, 0, 5, "port 0 of node 1"), (0, 1, 5, "port 5 of node 1"), (0, 0, 0, "port 0 of node 0")]
        {
            let mut broken = rows(1, &[(0, 1)]);
            (broken[row].peer, broken[row].peer_port) = (peer, peer_port);
            let error = Fabric::new(&broken).unwrap_err();
            assert_eq!(error, format!("port 0 of node 0 leads to {at}, which is not another port that leads back"));
        }
    }
}
