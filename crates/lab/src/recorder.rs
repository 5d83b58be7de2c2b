//! Writes the records of a run to its result files.

use fabric::{Fabric, NodeId};
use model::parameters::{CaptureParameters, Setup};
use model::{CapturedFrame, FrameBytes, QueueSample, Watcher};
use record::RecordError;
use record::control::{CONTROL_FILE, ControlSample, ControlSeries};
use record::flows::{FctFormat, FctWriter, FlowRecord, FlowTable};
use record::folder::ResultFolder;
use record::pcapng::{CAPTURE_FILE, CaptureWriter, Interface};
use record::pfc::{NodeKind, PfcWriter};
use record::series::{LinkSeries, QueueRow, QueueSeries, ReorderTable, ThroughputSeries};
use record::summary::ScenarioIdentity;
use record::trace::{PORTS_FILE, PortRow, PortTable, TRACE_FILE, TraceRow, TraceTable};
use scenario::Lowered;
use std::path::Path;
use units::Time;

/// Maximum number of hosts in HPCC's format of `fct.txt`, which has 16 bits for a host.
const HPCC_HOSTS: usize = 1 << 16;

/// The result files that are written during the run.
pub struct Recorder {
    flows: Option<(FlowTable, FctWriter)>,
    /// Host numbers in `fct.txt`, if they differ from host indices.
    fct_ids: Option<Vec<u32>>,
    queues: Option<QueueSeries>,
    links: Option<LinkSeries>,
    throughput: Option<ThroughputSeries>,
    control: Option<ControlSeries>,
    /// Labels of traffic entries.
    labels: Vec<String>,
    pauses: Option<PfcWriter>,
    trace: Option<TraceTable>,
    capture: Option<Capture>,
    reordering: Option<ReorderTable>,
    /// Kind of each node, for the file of pauses.
    kinds: Vec<NodeKind>,
    failure: Option<RecordError>,
}

impl Recorder {
    /// Creates in `folder` the files that `lowered` records of `run`. `fct.txt` has the format `fct`, or conweave's if
    /// there are more hosts than HPCC's format allows.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`]; [`RecordError::NotOurs`] if the earlier result contains a file of the user.
    pub fn create(
        folder: &ResultFolder,
        lowered: &Lowered,
        run: &ScenarioIdentity,
        fct: FctFormat,
    ) -> Result<Recorder, RecordError> {
        let at = |name: &str| folder.writable_path(name);
        let fabric = &lowered.setup.fabric;
        let record = &lowered.setup.record;
        let fct_ids = fabric.numbers_nodes().then(|| fabric.hosts().iter().map(|host| host.0).collect::<Vec<u32>>());
        let ids = fct_ids.as_ref().and_then(|ids| ids.last()).map_or(fabric.hosts().len(), |&last| last as usize + 1);
        let fct = if ids > HPCC_HOSTS { FctFormat::Conweave } else { fct };
        let flows = || Ok((FlowTable::create(&at("flows.parquet")?, run)?, FctWriter::create(&at("fct.txt")?, fct)?));
        let kinds = fabric.nodes().iter().map(|node| match node.kind {
            fabric::NodeKind::Host => NodeKind::Host,
            fabric::NodeKind::Switch => NodeKind::Switch,
        });
        // Names of the nodes, for the tables that refer to nodes by number.
        let by_number = record.queues_every.is_some() || record.links_every.is_some() || record.pauses;
        if record.trace.is_some() || by_number {
            write_ports(&at(PORTS_FILE)?, fabric, run)?;
        }
        Ok(Recorder {
            flows: lowered.record_flows.then(flows).transpose()?,
            fct_ids,
            queues: record.queues_every.map(|_| QueueSeries::create(&at("queues.parquet")?, run)).transpose()?,
            links: record.links_every.map(|_| LinkSeries::create(&at("links.parquet")?, run)).transpose()?,
            throughput: record
                .throughput_every
                .map(|_| ThroughputSeries::create(&at("throughput.parquet")?, run))
                .transpose()?,
            control: record.control_every.map(|_| ControlSeries::create(&at(CONTROL_FILE)?, run)).transpose()?,
            labels: lowered.traffic_names.clone(),
            pauses: record.pauses.then(|| PfcWriter::create(&at("pfc.txt")?)).transpose()?,
            trace: record.trace.is_some().then(|| TraceTable::create(&at(TRACE_FILE)?, run)).transpose()?,
            capture: Capture::create(folder, &lowered.setup)?,
            reordering: record.reordering.map(|_| ReorderTable::create(&at("reordering.parquet")?, run)).transpose()?,
            kinds: if record.pauses { kinds.collect() } else { Vec::new() },
            failure: None,
        })
    }

    /// Finishes the files.
    ///
    /// # Errors
    /// The first error since their creation.
    pub fn close(self) -> Result<(), RecordError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if let Some((table, fct)) = self.flows {
            table.close()?;
            fct.close()?;
        }
        self.queues.map_or(Ok(()), QueueSeries::close)?;
        self.links.map_or(Ok(()), LinkSeries::close)?;
        self.throughput.map_or(Ok(()), ThroughputSeries::close)?;
        self.control.map_or(Ok(()), ControlSeries::close)?;
        self.reordering.map_or(Ok(()), ReorderTable::close)?;
        self.pauses.map_or(Ok(()), PfcWriter::close)?;
        self.trace.map_or(Ok(()), TraceTable::close)?;
        self.capture.map_or(Ok(()), |capture| capture.writer.close())
    }

    /// Stores the first failure, which stops the run.
    fn keep(&mut self, result: Result<(), RecordError>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }
}

impl Watcher for Recorder {
    fn flow(&mut self, flow: &FlowRecord) {
        if let Some((table, written)) = &mut self.flows {
            let fct = |fct: &mut FctWriter| match &self.fct_ids {
                None => fct.push(flow),
                Some(ids) => {
                    let [src_host, dst_host] = [flow.src_host, flow.dst_host].map(|host| ids[host as usize]);
                    fct.push(&FlowRecord { src_host, dst_host, ..flow.clone() })
                }
            };
            let label = &self.labels[flow.traffic as usize];
            let result = table.push(label, flow).and_then(|()| fct(written));
            self.keep(result);
        }
    }

    fn queue(&mut self, sample: QueueSample) {
        if let Some(series) = &mut self.queues {
            let QueueSample { at, node, port, class, bounced, bytes: queue_bytes, paused, .. } = sample;
            let row =
                QueueRow { at, node: node.0, port: port.into(), class, bounce_queue: bounced, queue_bytes, paused };
            let result = series.push(&row);
            self.keep(result);
        }
    }

    fn link(&mut self, at: Time, node: NodeId, port: u16, bytes: u64, share: f64) {
        if let Some(series) = &mut self.links {
            let result = series.push(at, node.0, port.into(), bytes, share);
            self.keep(result);
        }
    }

    fn throughput(&mut self, at: Time, traffic: u8, bytes: u64) {
        if let Some(series) = &mut self.throughput {
            let label = self.labels[usize::from(traffic)].as_str();
            let result = series.push(at, (traffic.into(), label), None, bytes);
            self.keep(result);
        }
    }

    fn control(&mut self, sample: &ControlSample) {
        if let Some(series) = &mut self.control {
            let result = series.push(&self.labels[sample.traffic as usize], sample);
            self.keep(result);
        }
    }

    fn pause(&mut self, at: Time, node: NodeId, port: u16, _classes: u8, pause: bool) {
        if let Some(writer) = &mut self.pauses {
            // The file format numbers ports from 1.
            let result = writer.push(at, node.0, self.kinds[node.index()], u32::from(port) + 1, pause);
            self.keep(result);
        }
    }

    fn trace(&mut self, row: &TraceRow) {
        if let Some(table) = &mut self.trace {
            let result = table.push(row);
            self.keep(result);
        }
    }

    fn captured(&mut self, frame: &CapturedFrame) {
        if let Some(capture) = &mut self.capture {
            let result = capture.push(frame);
            self.keep(result);
        }
    }

    fn reordering(&mut self, displacement: i64, frames: u64, of: u64) {
        if let Some(table) = &mut self.reordering {
            let result = table.push(displacement, frames, of);
            self.keep(result);
        }
    }

    fn should_abort(&self) -> bool {
        self.failure.is_some()
    }
}

/// Frames captured at selected ports, as bytes.
struct Capture {
    frames: FrameBytes,
    writer: CaptureWriter,
    bytes: Vec<u8>,
}

impl Capture {
    fn create(folder: &ResultFolder, setup: &Setup) -> Result<Option<Capture>, RecordError> {
        if setup.record.capture.is_empty() {
            return Ok(None);
        }
        let fabric = &setup.fabric;
        let interface = |capture: &CaptureParameters| {
            let (node, port) = (capture.node, capture.port);
            let peer = fabric.ports(node)[usize::from(port)];
            let name = format!("{}:{port} to {}", fabric.name(node), fabric.name(peer.peer));
            Interface { name, rate_bps: fabric.link(peer.link).rate.as_bps() }
        };
        let interfaces: Vec<Interface> = setup.record.capture.iter().map(interface).collect();
        let writer = CaptureWriter::create(&folder.writable_path(CAPTURE_FILE)?, &interfaces)?;
        Ok(Some(Capture { frames: FrameBytes::new(setup), writer, bytes: Vec::new() }))
    }

    fn push(&mut self, captured: &CapturedFrame) -> Result<(), RecordError> {
        match self.frames.emit(captured, &mut self.bytes) {
            Ok(whole_bytes) => {
                let at = (captured.capture, captured.at);
                self.writer.push_cut(at, captured.outbound, &self.bytes, whole_bytes)
            }
            // An inconsistent frame is a bug of the model: report it instead of skipping the frame.
            Err(error) => Err(RecordError::Table {
                path: CAPTURE_FILE.into(),
                what: format!("a frame of flow {} cannot be written: {error}", captured.frame.flow),
            }),
        }
    }
}

/// Writes the table with the names of the nodes and ports in a trace.
fn write_ports(path: &Path, fabric: &Fabric, run: &ScenarioIdentity) -> Result<(), RecordError> {
    let mut table = PortTable::create(path, run)?;
    for node in fabric.node_ids() {
        for (port, peer) in fabric.ports(node).iter().enumerate() {
            let link = fabric.link(peer.link);
            table.push(&PortRow {
                node: node.0,
                name: fabric.name(node).to_owned(),
                host: fabric.node(node).kind == fabric::NodeKind::Host,
                port: port as u16,
                peer: peer.peer.0,
                peer_port: peer.peer_port,
                rate_bps: link.rate.as_bps(),
                delay_ps: link.delay.as_ps(),
            })?;
        }
    }
    table.close()
}
