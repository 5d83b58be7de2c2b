//! A traced result, read and indexed.

use super::pauses::{Builder, Pauses};
use crate::error::ExplainError;
use lab::{PathKind, recognise};
use record::flows::{FlowRecord, read_flows};
use record::folder::read_verified;
use record::summary::Summary;
use record::trace::{PORTS_FILE, PortRow, TRACE_FILE, TraceRow, read_ports, visit_trace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// Node number and port number.
pub type PortId = (u32, u16);

/// Input of all explanations.
#[derive(Debug)]
pub struct Trace {
    /// Events in order of time; empty if they are passed to a visitor instead.
    pub rows: Vec<TraceRow>,
    /// Pauses and their causes.
    pub pauses: Pauses,
    /// Recorded flows, by number.
    pub flows: BTreeMap<u64, FlowRecord>,
    /// End of the run.
    pub end: Time,
    /// Node numbers of the hosts, in order of the host indices of [`FlowRecord`].
    hosts: Vec<u32>,
    file: PathBuf,
    ports: BTreeMap<PortId, PortRow>,
    names: BTreeMap<String, u32>,
}

/// Returns the summary of the result in `folder`.
///
/// # Errors
/// If the folder is not a complete result of this version.
pub(crate) fn check_result(folder: &Path) -> Result<Summary, ExplainError> {
    let path = || folder.to_owned();
    if let Some(kind) = recognise(folder).filter(|kind| !matches!(kind, PathKind::Result | PathKind::Folder)) {
        return Err(ExplainError::NotAResult { path: path(), kind });
    }
    if !folder.is_dir() {
        return Err(ExplainError::NoFolder { path: path() });
    }
    let summary = read_verified(folder)?;
    let (theirs, ours) = (&summary.scenario.version, env!("CARGO_PKG_VERSION"));
    if theirs != ours {
        return Err(ExplainError::OtherVersion { path: path(), theirs: theirs.clone(), ours: ours.to_owned() });
    }
    Ok(summary)
}

/// Returns the names of the hosts by index; empty if the run did not record its ports.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn host_names(folder: &Path) -> Result<Vec<String>, ExplainError> {
    let path = folder.join(PORTS_FILE);
    let ports = if path.is_file() { read_ports(&path)? } else { Vec::new() };
    let hosts: BTreeMap<u32, String> =
        ports.into_iter().filter(|port| port.host).map(|port| (port.node, port.name)).collect();
    Ok(hosts.into_values().collect())
}

impl Trace {
    /// Reads the result in `folder`.
    ///
    /// # Errors
    /// If the folder is not a complete result, is of another version, or has no trace.
    pub fn read(folder: &Path) -> Result<Trace, ExplainError> {
        let mut rows = Vec::new();
        let mut trace = Trace::visit(folder, |row| rows.push(row.clone()))?;
        trace.rows = rows;
        Ok(trace)
    }

    /// Like [`Trace::read`], but passes each event to `visit` instead of storing it.
    ///
    /// # Errors
    /// As [`Trace::read`].
    pub fn visit(folder: &Path, mut visit: impl FnMut(&TraceRow)) -> Result<Trace, ExplainError> {
        let summary = check_result(folder)?;
        let file = folder.join(TRACE_FILE);
        if !file.is_file() {
            return Err(ExplainError::NotTraced { path: folder.to_owned() });
        }
        let ports = read_ports(&folder.join(PORTS_FILE))?;
        let names = ports.iter().map(|port| (port.name.clone(), port.node)).collect();
        let ports: BTreeMap<PortId, PortRow> = ports.into_iter().map(|port| ((port.node, port.port), port)).collect();
        let end = Time::from_ps(summary.simulated_ps);
        let mut builder = Builder::new(&ports);
        visit_trace(&file, |row| {
            builder.take(&row);
            visit(&row);
        })?;
        let pauses = builder.finish(end);
        let flows = folder.join("flows.parquet");
        let flows = if flows.is_file() { read_flows(&flows)? } else { Vec::new() };
        let flows = flows.into_iter().map(|flow| (flow.flow, flow)).collect();
        let mut hosts: Vec<u32> = ports.values().filter(|port| port.host).map(|port| port.node).collect();
        hosts.dedup();
        Ok(Trace { rows: Vec::new(), pauses, flows, end, hosts, file, ports, names })
    }

    /// Reads the trace again and passes every event to `visit`.
    ///
    /// # Errors
    /// If the file can no longer be read.
    pub fn again(&self, visit: impl FnMut(TraceRow)) -> Result<(), ExplainError> {
        Ok(visit_trace(&self.file, visit)?)
    }

    /// Returns whether `node` is a host.
    pub fn is_host(&self, node: u32) -> bool {
        self.hosts.binary_search(&node).is_ok()
    }

    /// Returns the nodes of the source and destination host of a recorded flow.
    pub fn ends(&self, flow: u64) -> Option<(u32, u32)> {
        let flow = self.flows.get(&flow)?;
        Some((*self.hosts.get(flow.src_host as usize)?, *self.hosts.get(flow.dst_host as usize)?))
    }

    /// Returns whether a port is the last hop of its frames: its peer is a host with one port.
    pub fn is_last_hop(&self, id: PortId) -> bool {
        let peer = self.port(id).map(|port| port.peer).filter(|&peer| self.is_host(peer));
        peer.is_some_and(|peer| self.ports.range((peer, 0)..=(peer, u16::MAX)).count() == 1)
    }

    /// Returns the name of a node.
    pub fn node(&self, node: u32) -> &str {
        let first = self.ports.range((node, 0)..=(node, u16::MAX)).next();
        first.map_or("a node without ports", |(_, port)| port.name.as_str())
    }

    /// Returns the record of a port.
    pub fn port(&self, id: PortId) -> Option<&PortRow> {
        self.ports.get(&id)
    }

    /// Returns the node at the other end of the port's link.
    pub fn peer(&self, id: PortId) -> Option<u32> {
        self.port(id).map(|port| port.peer)
    }

    /// Returns the name of a port, such as `S1:3`.
    pub fn port_name(&self, (node, port): PortId) -> String {
        format!("{}:{port}", self.node(node))
    }

    /// Returns the name of a port with its peer, such as `S1:3 towards H2`.
    pub fn port_towards(&self, id: PortId) -> String {
        match self.port(id) {
            Some(port) => format!("{} towards {}", self.port_name(id), self.node(port.peer)),
            None => self.port_name(id),
        }
    }

    /// Returns the serialisation delay of these frames, including preamble and gap, at the rate of a port.
    pub fn serialisation(&self, id: PortId, frames: u64, bytes: u64) -> Time {
        let rate = self.port(id).and_then(|port| Rate::from_bps(port.rate_bps));
        let bytes = frames.saturating_mul(WIRE_OVERHEAD_BYTES).saturating_add(bytes);
        rate.map_or(Time::ZERO, |rate| rate.serialise(bytes))
    }

    /// Finds a port by name: `S1:3`, `S1:H2`, or the name of a node with only one port.
    ///
    /// # Errors
    /// If no port has this name; the error lists valid names.
    pub fn find_port(&self, name: &str) -> Result<PortId, ExplainError> {
        let (node_name, port_name) = match self.names.get(name) {
            Some(_) => (name, None),
            None => match name.rsplit_once(':') {
                Some((node, port)) => (node, Some(port)),
                None => (name, None),
            },
        };
        let Some(&node) = self.names.get(node_name) else {
            let known = self.names.keys().cloned().collect();
            return Err(ExplainError::NoNode { port: name.to_owned(), node: node_name.to_owned(), known });
        };
        let ports = || self.ports.range((node, 0)..=(node, u16::MAX)).map(|(&id, port)| (id, port));
        let found = match port_name {
            None if ports().count() == 1 => ports().next().map(|(id, _)| id),
            None => None,
            Some(port_name) => {
                let by_number = port_name.parse::<u16>().ok();
                let by_peer = self.names.get(port_name);
                ports()
                    .find(|(id, port)| Some(id.1) == by_number || (by_number.is_none() && Some(&port.peer) == by_peer))
                    .map(|(id, _)| id)
            }
        };
        found.ok_or_else(|| {
            let known: Vec<String> = ports().map(|(id, _)| self.port_towards(id)).collect();
            let (port, node) = (name.to_owned(), node_name.to_owned());
            match port_name {
                Some(name) => ExplainError::NoPort { port, node, name: name.to_owned(), known },
                None => ExplainError::SeveralPorts { port, known },
            }
        })
    }
}
