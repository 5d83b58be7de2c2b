//! Writes what a run shows into the files of its result.

use fabric::NodeId;
use model::{QueueSample, Watcher};
use record::RecordError;
use record::flows::{FctFormat, FctWriter, FlowRecord, FlowTable};
use record::folder::ResultFolder;
use record::pfc::{NodeKind, PfcWriter};
use record::series::{LinkSeries, QueueLook, QueueSeries, ThroughputSeries};
use scenario::Lowered;
use units::Time;

/// The HPCC form of `fct.txt` has 16 bits for a host.
const HPCC_HOSTS: usize = 1 << 16;

/// The files of one result that grow while it runs.
pub struct Recorder {
    flows: Option<(FlowTable, FctWriter)>,
    queues: Option<QueueSeries>,
    links: Option<LinkSeries>,
    throughput: Option<ThroughputSeries>,
    pauses: Option<PfcWriter>,
    /// By node; asked for pauses only.
    kinds: Vec<NodeKind>,
    failure: Option<RecordError>,
}

impl Recorder {
    /// Starts the files that `lowered` asks for in `folder`; `fct.txt` in the form `fct`, or in conweave's
    /// where there are more hosts than HPCC's can name.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn create(folder: &ResultFolder, lowered: &Lowered, fct: FctFormat) -> Result<Recorder, RecordError> {
        let at = |name: &str| folder.path().join(name);
        let fabric = &lowered.setup.fabric;
        let record = lowered.setup.record;
        let fct = if fabric.hosts().len() > HPCC_HOSTS { FctFormat::Conweave } else { fct };
        let flows = || Ok((FlowTable::create(&at("flows.parquet"))?, FctWriter::create(&at("fct.txt"), fct)?));
        let kinds = fabric.nodes().iter().map(|node| match node.kind {
            fabric::NodeKind::Host => NodeKind::Host,
            fabric::NodeKind::Switch => NodeKind::Switch,
        });
        Ok(Recorder {
            flows: lowered.record_flows.then(flows).transpose()?,
            queues: record.queues_every.map(|_| QueueSeries::create(&at("queues.parquet"))).transpose()?,
            links: record.links_every.map(|_| LinkSeries::create(&at("links.parquet"))).transpose()?,
            throughput: record
                .throughput_every
                .map(|_| ThroughputSeries::create(&at("throughput.parquet")))
                .transpose()?,
            pauses: record.pauses.then(|| PfcWriter::create(&at("pfc.txt"))).transpose()?,
            kinds: if record.pauses { kinds.collect() } else { Vec::new() },
            failure: None,
        })
    }

    /// Makes the files appear.
    ///
    /// # Errors
    /// The first thing that went wrong since the start.
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
        self.pauses.map_or(Ok(()), PfcWriter::close)
    }

    /// Keeps the first failure; the next look at the progress stops the run for it.
    fn keep(&mut self, result: Result<(), RecordError>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }
}

impl Watcher for Recorder {
    fn flow(&mut self, flow: &FlowRecord) {
        if let Some((table, fct)) = &mut self.flows {
            let result = table.push(flow).and_then(|()| fct.push(flow));
            self.keep(result);
        }
    }

    fn queue(&mut self, sample: QueueSample) {
        if let Some(series) = &mut self.queues {
            let QueueSample { at, node, port, class, bounced, bytes: queue_bytes, paused, .. } = sample;
            let look = QueueLook { at, node: node.0, port: port.into(), class, bounced, queue_bytes, paused };
            let result = series.push(&look);
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
            let result = series.push(at, traffic.into(), None, bytes);
            self.keep(result);
        }
    }

    fn pause(&mut self, at: Time, node: NodeId, port: u16, _classes: u8, pause: bool) {
        if let Some(writer) = &mut self.pauses {
            // The format counts ports from 1.
            let result = writer.push(at, node.0, self.kinds[node.index()], u32::from(port) + 1, pause);
            self.keep(result);
        }
    }

    fn progress(&mut self, _now: Time, _hops: u64) -> bool {
        self.failure.is_none()
    }
}
