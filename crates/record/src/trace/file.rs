//! `trace.parquet`: one row per event. Columns that do not apply to an event are null.

use super::{Load, PacketKind, TraceEvent, TraceRow, TracedPacket, TrafficSelector};
use crate::error::RecordError;
use crate::identity::ScenarioIdentity;
use crate::table::column::{Column, ColumnType};
use crate::table::{Data, Table, TableReader, TableWriter};
use std::borrow::Cow;
use std::path::Path;
use units::Time;

/// Name of the trace file in a result folder.
pub const TRACE_FILE: &str = "trace.parquet";

/// Returns the columns of `trace.parquet`, in order.
pub fn trace_columns() -> Vec<Column> {
    let number = |name: &str, meaning: &'static str| Column::new(name, ColumnType::U64).means(meaning);
    let optional = |name: &str, meaning: &'static str| number(name, meaning).optional();
    vec![
        number("time_ps", "time of the event"),
        number("node", "node, by its number in ports.parquet"),
        Column::new("event", ColumnType::Text).means("event; it determines which other columns are set"),
        optional("port", "port of the event"),
        optional("in_port", "ingress port of the packet"),
        optional("class", "class of the packet, or the paused or resumed class"),
        optional("packet", "number of the packet in the trace"),
        optional("flow", "its flow, as in flows.parquet"),
        Column::new("kind", ColumnType::Text).optional().means("kind of the packet: data, ack, nak, cnp, control"),
        optional("seq", "data: offset of its first payload byte; others: next byte expected").unit("byte"),
        optional("payload_bytes", "its payload"),
        optional("size_bytes", "its length from destination address to frame check sequence"),
        Column::new("retransmission", ColumnType::Bool).optional().means("it is a retransmission"),
        optional("other_flow", "the flow ahead in the queue"),
        optional("other_port", "another port of the event: a full one, an egress, a pipeline"),
        optional("other_class", "the class at that port"),
        optional("frames", "frames ahead or waiting, or number of bounces"),
        optional("bytes", "bytes ahead, waiting, held or cut"),
        optional("limit_bytes", "limit or level of the account"),
        optional("since_ps", "arrival or creation of the packet, or start of a pause"),
        optional("until_ps", "end of the transmission, arrival of the last bit, or expiry of a pause"),
        Column::new("cause", ColumnType::Text).optional().means("cause of the loss"),
        optional("src_node", "source of the stopped traffic; null for all"),
        optional("dst_node", "destination of the stopped traffic; null for all"),
        optional("rate_bps", "rate allowed to it"),
        optional("waiting", "backlog at the output, in the unit of its limit"),
    ]
}

/// Event-specific fields of a row, with one field per column.
#[derive(Clone, Debug, Default, PartialEq)]
struct Cells {
    port: Option<u16>,
    in_port: Option<u16>,
    class: Option<u8>,
    other_flow: Option<u64>,
    other_port: Option<u16>,
    other_class: Option<u8>,
    frames: Option<u64>,
    bytes: Option<u64>,
    limit_bytes: Option<u64>,
    since: Option<Time>,
    until: Option<Time>,
    cause: Option<String>,
    of: TrafficSelector,
    rate_bps: Option<u64>,
    waiting: Option<u64>,
}

impl Cells {
    fn of(event: &TraceEvent) -> Cells {
        let none = Cells::default();
        let at = |port: u16| Cells { port: Some(port), ..Cells::default() };
        let with = |cells: Cells, load: &Load| Cells { frames: Some(load.frames), bytes: Some(load.bytes), ..cells };
        match event {
            TraceEvent::Created { since } => Cells { since: Some(*since), ..none },
            TraceEvent::Arrived { in_port } => Cells { in_port: Some(*in_port), ..none },
            TraceEvent::Queued { port, ahead, wire_free } => {
                with(Cells { until: Some(*wire_free), ..at(*port) }, ahead)
            }
            TraceEvent::Ahead { port, flow, load } => with(Cells { other_flow: Some(*flow), ..at(*port) }, load),
            TraceEvent::Marked { port } | TraceEvent::LinkDown { port } | TraceEvent::LinkUp { port } => at(*port),
            TraceEvent::Started { port, since, until } => {
                Cells { since: Some(*since), until: Some(*until), ..at(*port) }
            }
            TraceEvent::Dropped { cause, port, in_port, queue, account_bytes } => {
                let cause = Some(cause.clone().into_owned());
                with(Cells { port: *port, in_port: *in_port, cause, limit_bytes: *account_bytes, ..none }, queue)
            }
            TraceEvent::Delivered | TraceEvent::Consumed => none,
            TraceEvent::Bounced { port, full_port, bounces } | TraceEvent::Detoured { port, full_port, bounces } => {
                Cells { other_port: Some(*full_port), frames: Some(u64::from(*bounces)), ..at(*port) }
            }
            TraceEvent::Returned { port, full_port } => Cells { other_port: Some(*full_port), ..at(*port) },
            TraceEvent::Trimmed { port, trimmed_bytes } => {
                Cells { bytes: Some(u64::from(*trimmed_bytes)), ..at(*port) }
            }
            // These events store the pipeline number in the column `other_port`.
            TraceEvent::Metered { port, pipeline } | TraceEvent::Signalled { port, pipeline } => {
                Cells { other_port: Some(*pipeline), ..at(*port) }
            }
            TraceEvent::Deflected { port, pipeline, waiting, .. } => {
                with(Cells { other_port: Some(*pipeline), ..at(*port) }, waiting)
            }
            TraceEvent::PauseSent { port, class, account_bytes, limit_bytes, .. } => {
                let (bytes, limit_bytes) = (Some(*account_bytes), Some(*limit_bytes));
                Cells { class: *class, bytes, limit_bytes, ..at(*port) }
            }
            TraceEvent::AccountQueue { port, class, egress, egress_class, load } => {
                let (other_port, other_class) = (Some(*egress), Some(*egress_class));
                with(Cells { class: *class, other_port, other_class, ..at(*port) }, load)
            }
            TraceEvent::ResumeSent { port, class, account_bytes } => {
                Cells { class: *class, bytes: Some(*account_bytes), ..at(*port) }
            }
            TraceEvent::Paused { port, class, from, until } => {
                Cells { class: *class, since: Some(*from), until: Some(*until), ..at(*port) }
            }
            TraceEvent::Xoff { port, egress, of, rate_bps, waiting } => {
                let (other_port, rate_bps, waiting) = (Some(*egress), Some(*rate_bps), Some(*waiting));
                Cells { other_port, of: *of, rate_bps, waiting, ..at(*port) }
            }
            TraceEvent::Xon { port, egress, of, waiting } => {
                Cells { other_port: Some(*egress), of: *of, waiting: Some(*waiting), ..at(*port) }
            }
            TraceEvent::Held { port, of, rate_bps, until } => {
                Cells { of: *of, rate_bps: Some(*rate_bps), until: Some(*until), ..at(*port) }
            }
            TraceEvent::Released { port, of } => Cells { of: *of, ..at(*port) },
            TraceEvent::StormBegun { port, class } | TraceEvent::StormOver { port, class } => {
                Cells { class: Some(*class), ..at(*port) }
            }
            TraceEvent::Resumed { port, class, from } => Cells { class: *class, since: Some(*from), ..at(*port) },
        }
    }

    /// Converts the cells to the event with this name; `Err` is the name of a missing cell.
    fn event(self, name: &str) -> Result<TraceEvent, &'static str> {
        let Cells { in_port, class, cause, limit_bytes, .. } = self;
        let port = || self.port.ok_or("port");
        let load = || {
            Ok::<Load, &'static str>(Load { frames: self.frames.ok_or("frames")?, bytes: self.bytes.ok_or("bytes")? })
        };
        let (since, until) = (|| self.since.ok_or("since_ps"), || self.until.ok_or("until_ps"));
        let other_port = || self.other_port.ok_or("other_port");
        let bounces = || self.frames.and_then(|bounces| u8::try_from(bounces).ok()).ok_or("frames");
        let bytes = || self.bytes.ok_or("bytes");
        Ok(match name {
            "created" => TraceEvent::Created { since: since()? },
            "arrived" => TraceEvent::Arrived { in_port: in_port.ok_or("in_port")? },
            "queued" => TraceEvent::Queued { port: port()?, ahead: load()?, wire_free: until()? },
            "ahead" => TraceEvent::Ahead { port: port()?, flow: self.other_flow.ok_or("other_flow")?, load: load()? },
            "marked" => TraceEvent::Marked { port: port()? },
            "started" => TraceEvent::Started { port: port()?, since: since()?, until: until()? },
            "dropped" => TraceEvent::Dropped {
                cause: Cow::Owned(cause.ok_or("cause")?),
                port: self.port,
                in_port,
                queue: load()?,
                account_bytes: limit_bytes,
            },
            "delivered" => TraceEvent::Delivered,
            "consumed" => TraceEvent::Consumed,
            "bounced" => TraceEvent::Bounced { port: port()?, full_port: other_port()?, bounces: bounces()? },
            "detoured" => TraceEvent::Detoured { port: port()?, full_port: other_port()?, bounces: bounces()? },
            "trimmed" => {
                TraceEvent::Trimmed { port: port()?, trimmed_bytes: u16::try_from(bytes()?).map_err(|_| "bytes")? }
            }
            "returned" => TraceEvent::Returned { port: port()?, full_port: other_port()? },
            "metered" => TraceEvent::Metered { port: port()?, pipeline: other_port()? },
            "signalled" => TraceEvent::Signalled { port: port()?, pipeline: other_port()? },
            "deflected" | "mirrored" => TraceEvent::Deflected {
                port: port()?,
                pipeline: other_port()?,
                waiting: load()?,
                mirrored: name == "mirrored",
            },
            "pause sent" | "pause renewed" | "stop" | "renew" => TraceEvent::PauseSent {
                port: port()?,
                class,
                account_bytes: bytes()?,
                limit_bytes: limit_bytes.ok_or("limit_bytes")?,
                renewal: name == "pause renewed" || name == "renew",
            },
            "account queue" | "behind" => TraceEvent::AccountQueue {
                port: port()?,
                class,
                egress: other_port()?,
                egress_class: self.other_class.ok_or("other_class")?,
                load: load()?,
            },
            "resume sent" | "go" => TraceEvent::ResumeSent { port: port()?, class, account_bytes: bytes()? },
            "paused" => TraceEvent::Paused { port: port()?, class, from: since()?, until: until()? },
            "resumed" => TraceEvent::Resumed { port: port()?, class, from: since()? },
            "xoff" => TraceEvent::Xoff {
                port: port()?,
                egress: other_port()?,
                of: self.of,
                rate_bps: self.rate_bps.ok_or("rate_bps")?,
                waiting: self.waiting.ok_or("waiting")?,
            },
            "xon" => TraceEvent::Xon {
                port: port()?,
                egress: other_port()?,
                of: self.of,
                waiting: self.waiting.ok_or("waiting")?,
            },
            "held" => TraceEvent::Held {
                port: port()?,
                of: self.of,
                rate_bps: self.rate_bps.ok_or("rate_bps")?,
                until: until()?,
            },
            "released" | "freed" => TraceEvent::Released { port: port()?, of: self.of },
            "pause storm" | "storm" => TraceEvent::StormBegun { port: port()?, class: class.ok_or("class")? },
            "pause storm over" | "storm over" => TraceEvent::StormOver { port: port()?, class: class.ok_or("class")? },
            "link down" => TraceEvent::LinkDown { port: port()? },
            "link up" => TraceEvent::LinkUp { port: port()? },
            _ => return Err("event"),
        })
    }
}

/// Streams events into a Parquet table.
pub struct TraceTable(TableWriter);

impl TraceTable {
    /// Starts the table of `run` at `path`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn create(path: &Path, run: &ScenarioIdentity) -> Result<Self, RecordError> {
        Ok(TraceTable(TableWriter::create(path, &trace_columns())?.about(run)))
    }

    /// Appends an event.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn push(&mut self, row: &TraceRow) -> Result<(), RecordError> {
        let cells = Cells::of(&row.event);
        let packet = row.packet;
        self.0.push(&[
            row.at.as_ps().into(),
            row.node.into(),
            row.event.name().into(),
            cells.port.into(),
            cells.in_port.into(),
            packet.map(|packet| packet.class).or(cells.class).into(),
            packet.map(|packet| packet.number).into(),
            packet.map(|packet| packet.flow).into(),
            packet.map(|packet| packet.kind.name()).into(),
            packet.map(|packet| packet.seq).into(),
            packet.map(|packet| packet.payload_bytes).into(),
            packet.map(|packet| packet.size_bytes).into(),
            packet.map(|packet| packet.retransmission).into(),
            cells.other_flow.into(),
            cells.other_port.into(),
            cells.other_class.into(),
            cells.frames.into(),
            cells.bytes.into(),
            cells.limit_bytes.into(),
            cells.since.map(Time::as_ps).into(),
            cells.until.map(Time::as_ps).into(),
            cells.cause.as_deref().into(),
            cells.of.src.into(),
            cells.of.dst.into(),
            cells.rate_bps.into(),
            cells.waiting.into(),
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

/// Reads a `trace.parquet`.
///
/// # Errors
/// [`RecordError::Unreadable`]; [`RecordError::Table`], [`RecordError::NoColumn`] and [`RecordError::ColumnKind`] for
/// another or a damaged table.
pub fn read_trace(path: &Path) -> Result<Vec<TraceRow>, RecordError> {
    let mut rows = Vec::new();
    visit_trace(path, |row| rows.push(row))?;
    Ok(rows)
}

/// Reads a `trace.parquet` row by row, in order, with one row group in memory.
///
/// # Errors
/// Those of [`read_trace`].
pub fn visit_trace(path: &Path, mut visit: impl FnMut(TraceRow)) -> Result<(), RecordError> {
    let mut reader = TableReader::open(path)?;
    let empty = Table { columns: reader.columns().to_vec(), data: Vec::new(), rows: 0 };
    for column in trace_columns() {
        empty.column_index(&column.name)?;
    }
    let (mut before, mut last) = (0, Time::ZERO);
    while let Some(table) = reader.next_group()? {
        for row in 0..table.rows {
            let cells = Row { table: &table, path, row, before };
            let event = cells.parse()?;
            let orderly = match event.event {
                TraceEvent::Created { since } => since <= event.at,
                TraceEvent::Started { since, until, .. } => since <= event.at && event.at <= until,
                _ => true,
            };
            if event.at < last || !orderly {
                return Err(cells.wrong("time_ps"));
            }
            last = event.at;
            visit(event);
        }
        before += table.rows;
    }
    Ok(())
}

struct Row<'a> {
    table: &'a Table,
    path: &'a Path,
    row: usize,
    /// Number of rows of the file before this row group.
    before: usize,
}

impl Row<'_> {
    fn parse(&self) -> Result<TraceRow, RecordError> {
        let name = self.text("event")?.ok_or_else(|| self.wrong("event"))?;
        let cells = Cells {
            port: self.number("port")?,
            in_port: self.number("in_port")?,
            class: self.number("class")?,
            other_flow: self.number("other_flow")?,
            other_port: self.number("other_port")?,
            other_class: self.number("other_class")?,
            frames: self.number("frames")?,
            bytes: self.number("bytes")?,
            limit_bytes: self.number("limit_bytes")?,
            since: self.number("since_ps")?.map(Time::from_ps),
            until: self.number("until_ps")?.map(Time::from_ps),
            cause: self.text("cause")?,
            of: TrafficSelector { src: self.number("src_node")?, dst: self.number("dst_node")? },
            rate_bps: self.number("rate_bps")?,
            waiting: self.number("waiting")?,
        };
        let class = cells.class;
        Ok(TraceRow {
            at: Time::from_ps(self.required("time_ps")?),
            node: self.required("node")?,
            packet: self.packet(class)?,
            event: cells.event(&name).map_err(|cell| self.wrong(cell))?,
        })
    }

    fn packet(&self, class: Option<u8>) -> Result<Option<TracedPacket>, RecordError> {
        let Some(number) = self.number("packet")? else { return Ok(None) };
        let kind = self.text("kind")?;
        let kind = PacketKind::ALL.into_iter().find(|known| Some(known.name()) == kind.as_deref());
        Ok(Some(TracedPacket {
            number,
            flow: self.required("flow")?,
            kind: kind.ok_or_else(|| self.wrong("kind"))?,
            seq: self.required("seq")?,
            payload_bytes: self.required("payload_bytes")?,
            size_bytes: self.required("size_bytes")?,
            class: class.ok_or_else(|| self.wrong("class"))?,
            retransmission: match self.table.column("retransmission")? {
                Data::Bool(values) => values[self.row].ok_or_else(|| self.wrong("retransmission"))?,
                _ => return Err(self.wrong("retransmission")),
            },
        }))
    }

    fn number<T: TryFrom<u64>>(&self, name: &'static str) -> Result<Option<T>, RecordError> {
        let value = self.table.u64s(name)?[self.row];
        value.map(|value| T::try_from(value).map_err(|_| self.wrong(name))).transpose()
    }

    fn required<T: TryFrom<u64>>(&self, name: &'static str) -> Result<T, RecordError> {
        self.number(name)?.ok_or_else(|| self.wrong(name))
    }

    fn text(&self, name: &'static str) -> Result<Option<String>, RecordError> {
        match self.table.column(name)? {
            Data::Text(values) => Ok(values[self.row].clone()),
            _ => Err(self.wrong(name)),
        }
    }

    fn wrong(&self, cell: &str) -> RecordError {
        let what = format!("row {}: {cell} is missing or out of range for its event", self.before + self.row);
        RecordError::Table { path: self.path.to_owned(), what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::Scratch;

    fn every_event() -> Vec<TraceEvent> {
        let (port, load, since) = (3, Load { frames: 2, bytes: 3000 }, Time::from_ps(7));
        let (class, until) = (Some(3), Time::from_us(9));
        vec![
            TraceEvent::Created { since },
            TraceEvent::Arrived { in_port: 1 },
            TraceEvent::Queued { port, ahead: load, wire_free: until },
            TraceEvent::Ahead { port, flow: 8, load },
            TraceEvent::Marked { port },
            TraceEvent::Started { port, since, until },
            TraceEvent::Dropped {
                cause: "queue full".into(),
                port: None,
                in_port: Some(2),
                queue: load,
                account_bytes: Some(9),
            },
            TraceEvent::Delivered,
            TraceEvent::Consumed,
            TraceEvent::Bounced { port, full_port: 4, bounces: 2 },
            TraceEvent::Detoured { port, full_port: 4, bounces: 255 },
            TraceEvent::Trimmed { port, trimmed_bytes: 1436 },
            TraceEvent::Metered { port, pipeline: 3 },
            TraceEvent::Signalled { port, pipeline: 2 },
            TraceEvent::Deflected { port, pipeline: 1, waiting: load, mirrored: false },
            TraceEvent::Deflected { port, pipeline: 1, waiting: load, mirrored: true },
            TraceEvent::Returned { port, full_port: 6 },
            TraceEvent::PauseSent { port, class, account_bytes: 5, limit_bytes: 4, renewal: false },
            TraceEvent::PauseSent { port, class: None, account_bytes: 5, limit_bytes: 4, renewal: true },
            TraceEvent::AccountQueue { port, class, egress: 1, egress_class: 4, load },
            TraceEvent::ResumeSent { port, class, account_bytes: 0 },
            TraceEvent::Paused { port, class, from: since, until },
            TraceEvent::Resumed { port, class: None, from: since },
            TraceEvent::StormBegun { port, class: 3 },
            TraceEvent::StormOver { port, class: 0 },
            TraceEvent::LinkDown { port },
            TraceEvent::LinkUp { port },
        ]
    }

    #[test]
    fn every_event_comes_back() {
        let scratch = Scratch::new("trace");
        let path = scratch.0.join(TRACE_FILE);
        let packet = |number: u64| TracedPacket {
            number,
            flow: 1 << 40,
            kind: PacketKind::ALL[number as usize % PacketKind::ALL.len()],
            seq: 12_000,
            payload_bytes: 1000,
            size_bytes: 1062,
            class: 3,
            retransmission: number % 2 == 1,
        };
        // Events of a port have a class but no packet.
        let of_port = |event: &TraceEvent| {
            let name = event.name();
            matches!(name, "account queue" | "resume sent" | "paused" | "resumed")
                || name.starts_with("pause ")
                || name.starts_with("link")
        };
        let rows: Vec<TraceRow> = every_event()
            .into_iter()
            .enumerate()
            .map(|(at, event)| {
                let packet = (!of_port(&event)).then(|| packet(at as u64));
                TraceRow { at: Time::from_ns(at as u64 + 1), node: at as u32, packet, event }
            })
            .collect();
        let mut table = TraceTable::create(&path, &ScenarioIdentity::default()).unwrap();
        rows.iter().for_each(|row| table.push(row).unwrap());
        table.close().unwrap();
        assert_eq!(read_trace(&path).unwrap(), rows);
        let mut names: Vec<&str> = rows.iter().map(|row| row.event.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), rows.len(), "names differ");
    }

    #[test]
    fn a_trace_that_contradicts_itself_is_refused() {
        let scratch = Scratch::new("trace-order");
        let path = scratch.0.join(TRACE_FILE);
        let us = Time::from_us;
        let row = |at: u64, event: TraceEvent| TraceRow { at: us(at), node: 1, packet: None, event };
        let started = |since: u64, until: u64| TraceEvent::Started { port: 1, since: us(since), until: us(until) };
        for rows in [
            vec![row(2, TraceEvent::LinkUp { port: 1 }), row(1, TraceEvent::LinkDown { port: 1 })],
            vec![row(2, TraceEvent::Created { since: us(3) })],
            vec![row(2, started(3, 4))],
            vec![row(2, started(1, 1))],
        ] {
            let mut table = TraceTable::create(&path, &ScenarioIdentity::default()).unwrap();
            rows.iter().for_each(|row| table.push(row).unwrap());
            table.close().unwrap();
            assert!(matches!(read_trace(&path), Err(RecordError::Table { .. })), "{rows:?}");
        }
    }

    #[test]
    fn another_table_and_a_row_without_its_cells_are_refused() {
        let scratch = Scratch::new("trace-bad");
        let path = scratch.0.join("x.parquet");
        TableWriter::create(&path, &[Column::new("time_ps", ColumnType::U64)]).unwrap().close().unwrap();
        assert_eq!(read_trace(&path).unwrap_err().to_string(), "no column node; the table has time_ps");
        let mut table = TableWriter::create(&path, &trace_columns()).unwrap();
        let mut row = vec![crate::table::Value::Null; trace_columns().len()];
        (row[0], row[1], row[2]) = (1u64.into(), 1u64.into(), "queued".into());
        table.push(&row).unwrap();
        table.close().unwrap();
        let error = read_trace(&path).unwrap_err().to_string();
        assert!(error.contains("row 0: port is missing"), "{error}");
    }
}
