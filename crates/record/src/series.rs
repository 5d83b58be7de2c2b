//! Time series, streamed to Parquet: queue lengths, link loads and delivered payload. Nodes, ports, classes, traffic
//! entries and flows are given by number.

use std::path::Path;

use units::Time;

use crate::error::RecordError;
use crate::histogram::Histogram;
use crate::identity::ScenarioIdentity;
use crate::table::TableWriter;
use crate::table::column::{Column, ColumnType};

fn number(name: &str, meaning: &'static str) -> Column {
    Column::new(name, ColumnType::U64).means(meaning)
}

/// Returns the columns for time and port of a sample.
fn sample_columns() -> [Column; 3] {
    [
        number("time_ps", "time of the sample"),
        number("node", "the node, by its number in ports.parquet"),
        number("port", "its port, from 0"),
    ]
}

/// One sample of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueRow {
    /// Sampling instant.
    pub at: Time,
    /// The switch.
    pub node: u32,
    /// Egress port of the switch.
    pub port: u32,
    /// Traffic class of the queue.
    pub class: u8,
    /// `true` for the queue of bounced frames in a pair of queues.
    pub bounce_queue: bool,
    /// Queue length in bytes.
    pub queue_bytes: u64,
    /// Whether the class is paused at this port.
    pub paused: bool,
}

/// Queue lengths over time: `time_ps, node, port, class, queue_bytes, paused, bounce_queue`. `bounce_queue` is true for
/// the queue of bounced frames in a pair.
pub struct QueueSeries(TableWriter);

impl QueueSeries {
    /// Starts the series of `run` at `path`, usually `queues.parquet`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn create(path: &Path, run: &ScenarioIdentity) -> Result<Self, RecordError> {
        let mut columns = sample_columns().to_vec();
        columns.extend([
            number("class", "the class of the queue"),
            number("queue_bytes", "backlog in bytes"),
            Column::new("paused", ColumnType::Bool).means("the class is paused at this port"),
            Column::new("bounce_queue", ColumnType::Bool).means("it is the queue of bounced frames"),
        ]);
        Ok(QueueSeries(TableWriter::create(path, &columns)?.about(run)))
    }

    /// Appends one sample.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn push(&mut self, sample: &QueueRow) -> Result<(), RecordError> {
        let (time_ps, node, port) = (sample.at.as_ps().into(), sample.node.into(), sample.port.into());
        let (class, queue_bytes) = (sample.class.into(), sample.queue_bytes.into());
        self.0.push(&[time_ps, node, port, class, queue_bytes, sample.paused.into(), sample.bounce_queue.into()])
    }

    /// Completes the file and renames it to its path.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn close(self) -> Result<(), RecordError> {
        self.0.close()
    }
}

/// Reorder density (RFC 5236): `displacement_packets, packets, share`, one row per observed displacement.
pub struct ReorderTable(TableWriter);

impl ReorderTable {
    /// Starts the table of `run` at `path`, usually `reordering.parquet`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn create(path: &Path, run: &ScenarioIdentity) -> Result<Self, RecordError> {
        let columns = [
            Column::new("displacement_packets", ColumnType::I64).means("displacement of a packet; negative: early"),
            number("packets", "packets with this displacement"),
            Column::new("share", ColumnType::F64).unit("1").means("share of all packets with a displacement"),
        ];
        Ok(ReorderTable(TableWriter::create(path, &columns)?.about(run)))
    }

    /// Appends the number of packets with this displacement; `of` is the number of all packets.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn push(&mut self, displacement: i64, packets: u64, of: u64) -> Result<(), RecordError> {
        let share = packets as f64 / of.max(1) as f64;
        self.0.push(&[displacement.into(), packets.into(), share.into()])
    }

    /// Completes the file and renames it to its path.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn close(self) -> Result<(), RecordError> {
        self.0.close()
    }
}

/// Link loads over time: `time_ps, node, port, tx_bytes, utilisation`.
pub struct LinkSeries(TableWriter);

impl LinkSeries {
    /// Starts the series of `run` at `path`, usually `links.parquet`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn create(path: &Path, run: &ScenarioIdentity) -> Result<Self, RecordError> {
        let mut columns = sample_columns().to_vec();
        columns.extend([
            number("tx_bytes", "sent since the previous row, preamble and gap included"),
            Column::new("utilisation", ColumnType::F64).unit("1").means("share of that time with a transmission"),
        ]);
        Ok(LinkSeries(TableWriter::create(path, &columns)?.about(run)))
    }

    /// Appends the bytes that `port` sent since the previous sample, and its utilisation over that time (0..=1), both
    /// including preamble and inter-frame gap.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn push(
        &mut self,
        time: Time,
        node: u32,
        port: u32,
        tx_bytes: u64,
        utilisation: f64,
    ) -> Result<(), RecordError> {
        self.0.push(&[time.as_ps().into(), node.into(), port.into(), tx_bytes.into(), utilisation.into()])
    }

    /// Completes the file and renames it to its path.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn close(self) -> Result<(), RecordError> {
        self.0.close()
    }
}

/// Delivered payload over time, by traffic entry or by flow: `time_ps, traffic, label, flow, delivered_bytes`.
pub struct ThroughputSeries(TableWriter);

impl ThroughputSeries {
    /// Starts the series of `run` at `path`, usually `throughput.parquet`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn create(path: &Path, run: &ScenarioIdentity) -> Result<Self, RecordError> {
        let columns = [
            number("time_ps", "time of the sample"),
            number("traffic", "entry of [[traffic]], from 0"),
            Column::new("label", ColumnType::Text).means("name of the traffic entry"),
            number("flow", "the flow; null in rows of a whole entry").optional(),
            number("delivered_bytes", "payload received since the previous row, without duplicates"),
        ];
        Ok(ThroughputSeries(TableWriter::create(path, &columns)?.about(run)))
    }

    /// Appends the payload bytes delivered since the previous sample: those of one flow or, with `None`, of all flows
    /// of the traffic entry. `label` names the entry in results.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn push(
        &mut self,
        time: Time,
        (traffic, label): (u32, &str),
        flow: Option<u64>,
        delivered_bytes: u64,
    ) -> Result<(), RecordError> {
        self.0.push(&[time.as_ps().into(), traffic.into(), label.into(), flow.into(), delivered_bytes.into()])
    }

    /// Completes the file and renames it to its path.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn close(self) -> Result<(), RecordError> {
        self.0.close()
    }
}

/// Writes delay histograms in ps as the table `name, low_ps, high_ps, count`, one row per non-empty bucket, from which
/// a CDF can be plotted.
///
/// # Errors
/// [`RecordError::Unwritable`].
pub fn write_histograms(path: &Path, histograms: &[(&str, &Histogram)]) -> Result<(), RecordError> {
    let columns = [
        Column::new("name", ColumnType::Text).means("which distribution"),
        number("low_ps", "lower bound of the bucket"),
        number("high_ps", "upper bound of the bucket"),
        number("count", "values in the bucket"),
    ];
    let mut table = TableWriter::create(path, &columns)?;
    for (name, histogram) in histograms {
        for bucket in histogram.buckets() {
            table.push(&[(*name).into(), bucket.low.into(), bucket.high.into(), bucket.count.into()])?;
        }
    }
    table.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::Scratch;
    use crate::table::{Value, read_table};

    fn names(path: &Path) -> Vec<String> {
        read_table(path).unwrap().columns.into_iter().map(|column| column.name).collect()
    }

    #[test]
    fn each_series_has_its_columns_and_rows() {
        let scratch = Scratch::new("series");
        let (at, run) = (|name: &str| scratch.0.join(name), ScenarioIdentity::default());
        let mut queues = QueueSeries::create(&at("queues.parquet"), &run).unwrap();
        let at_us = Time::from_us(1);
        let sample =
            QueueRow { at: at_us, node: 3, port: 2, class: 1, bounce_queue: false, queue_bytes: 4096, paused: true };
        queues.push(&sample).unwrap();
        queues.close().unwrap();
        let columns = ["time_ps", "node", "port", "class", "queue_bytes", "paused", "bounce_queue"];
        assert_eq!(names(&at("queues.parquet")), columns);
        let table = read_table(&at("queues.parquet")).unwrap();
        let numbers = [1_000_000, 3, 2, 1, 4096].map(Value::U64);
        assert_eq!(table.row(0), [&numbers[..], &[Value::Bool(true), Value::Bool(false)]].concat());

        let mut links = LinkSeries::create(&at("links.parquet"), &run).unwrap();
        links.push(Time::from_us(1), 3, 2, 12_500, 0.25).unwrap();
        links.close().unwrap();
        assert_eq!(names(&at("links.parquet")), ["time_ps", "node", "port", "tx_bytes", "utilisation"]);
        assert_eq!(read_table(&at("links.parquet")).unwrap().f64s("utilisation").unwrap(), [Some(0.25)]);

        let mut throughput = ThroughputSeries::create(&at("throughput.parquet"), &run).unwrap();
        throughput.push(Time::from_us(1), (0, "web"), None, 10).unwrap();
        throughput.push(Time::from_us(1), (0, "web"), Some(7), 5).unwrap();
        throughput.close().unwrap();
        assert_eq!(names(&at("throughput.parquet")), ["time_ps", "traffic", "label", "flow", "delivered_bytes"]);
        assert_eq!(read_table(&at("throughput.parquet")).unwrap().u64s("flow").unwrap(), [None, Some(7)]);
    }

    #[test]
    fn a_histogram_is_a_row_a_bucket() {
        let scratch = Scratch::new("series-histogram");
        let path = scratch.0.join("delays.parquet");
        let mut histogram = Histogram::new();
        [5u64, 5, 1 << 20].iter().for_each(|&ps| histogram.record(ps));
        write_histograms(&path, &[("delay", &histogram), ("wait", &Histogram::new())]).unwrap();
        let table = read_table(&path).unwrap();
        assert_eq!(table.rows, 2);
        assert_eq!(table.row(0), [Value::Text("delay"), Value::U64(5), Value::U64(5), Value::U64(2)]);
        let width = (1 << 13) - 1;
        assert_eq!(table.row(1)[1..], [1 << 20, (1 << 20) + width, 1].map(Value::U64));
    }
}
