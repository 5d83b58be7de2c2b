//! `flows.parquet`: one row per flow.

use std::path::Path;

use super::{ENDLESS_BYTES, FlowRecord};
use crate::error::RecordError;
use crate::identity::ScenarioIdentity;
use crate::table::column::{Column, ColumnType};
use crate::table::{Table, TableWriter, read_table};
use stats::Coverage;

/// Returns the columns of `flows.parquet`, in order. For an unfinished flow, `delivered_ps`, `fct_ps` and `slowdown`
/// are null.
pub fn flow_columns() -> Vec<Column> {
    let required = |name: &str, meaning: &'static str| Column::new(name, ColumnType::U64).means(meaning);
    let optional = |name: &str, meaning: &'static str| required(name, meaning).optional();
    vec![
        required("flow", "number of the flow, in the order of the scenario"),
        required("traffic", "entry of [[traffic]], from 0"),
        Column::new("label", ColumnType::Text).means("name of the traffic entry"),
        required("src_host", "sender, index among the hosts from 0"),
        required("dst_host", "receiver, index among the hosts from 0"),
        required("src_port", "source port"),
        required("dst_port", "destination port"),
        required("class", "class of its data"),
        optional("size_bytes", "payload; null for an endless flow"),
        required("start_ps", "start time"),
        optional("delivered_ps", "arrival of its last byte; null if it did not arrive by the end of the run"),
        optional(
            "acked_ps",
            "arrival of the last acknowledgement at its sender; null if it did not arrive by the end of the run, and \
             for datagrams",
        ),
        optional("fct_ps", "completion time: delivered_ps - start_ps; null without delivered_ps"),
        required("baseline_fct_ps", "completion time of the flow alone on its path"),
        Column::new("slowdown", ColumnType::F64)
            .optional()
            .unit("1")
            .means("fct_ps over baseline_fct_ps, at least 1; null without fct_ps, or if baseline_fct_ps is 0"),
        required("retransmitted_bytes", "retransmitted payload"),
        required("timeouts", "retransmission timeouts"),
        required("fct_txt_standalone_ns", "alone time as in fct.txt"),
    ]
}

/// Streams flows into a Parquet table.
pub struct FlowTable {
    table: TableWriter,
    coverage: Coverage,
}

impl FlowTable {
    /// Starts the table of `run` at `path`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn create(path: &Path, run: &ScenarioIdentity) -> Result<Self, RecordError> {
        let table = TableWriter::create(path, &flow_columns())?.about(run);
        Ok(FlowTable { table, coverage: Coverage::default() })
    }

    /// Appends a flow; `label` names its traffic entry in results.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn push(&mut self, label: &str, flow: &FlowRecord) -> Result<(), RecordError> {
        self.coverage.started += u64::from(flow.size_bytes != ENDLESS_BYTES);
        self.coverage.completed += u64::from(flow.delivered_ps.is_some());
        self.table.push(&[
            flow.flow.into(),
            flow.traffic.into(),
            label.into(),
            flow.src_host.into(),
            flow.dst_host.into(),
            flow.src_port.into(),
            flow.dst_port.into(),
            flow.class.into(),
            Some(flow.size_bytes).filter(|&bytes| bytes != ENDLESS_BYTES).into(),
            flow.start_ps.into(),
            flow.delivered_ps.into(),
            flow.acked_ps.into(),
            flow.fct_ps().into(),
            flow.baseline_fct_ps.into(),
            flow.slowdown().into(),
            flow.retransmitted_bytes.into(),
            flow.timeouts.into(),
            flow.fct_txt_standalone_ns.into(),
        ])
    }

    /// Completes the file and renames it to its path. If flows are unfinished, the metadata of the file have the counts
    /// `tidegate.flows_completed` and `tidegate.flows_started`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn close(mut self) -> Result<(), RecordError> {
        if !self.coverage.is_whole() {
            let Coverage { completed, started } = self.coverage;
            self.table.note("flows_completed", &completed.to_string());
            self.table.note("flows_started", &started.to_string());
        }
        self.table.close()
    }
}

/// Reads a `flows.parquet`. [`FlowRecord::awaits_ack`] has no column and is set to `false`.
///
/// # Errors
/// [`RecordError::Unreadable`]; [`RecordError::Table`], [`RecordError::NoColumn`] and [`RecordError::ColumnKind`] for a
/// damaged table or a table of another kind.
pub fn read_flows(path: &Path) -> Result<Vec<FlowRecord>, RecordError> {
    let table = read_table(path)?;
    let wide = |name: &str, row: usize| -> Result<u64, RecordError> { required(&table, path, name, row) };
    let small = |name: &str, row: usize| -> Result<u32, RecordError> {
        u32::try_from(wide(name, row)?).map_err(|_| out_of_range(path, name, row))
    };
    let port = |name: &str, row: usize| -> Result<u16, RecordError> {
        u16::try_from(wide(name, row)?).map_err(|_| out_of_range(path, name, row))
    };
    let (delivered, acked) = (table.u64s("delivered_ps")?, table.u64s("acked_ps")?);
    let sizes = table.u64s("size_bytes")?;
    (0..table.rows)
        .map(|row| {
            Ok(FlowRecord {
                flow: wide("flow", row)?,
                traffic: small("traffic", row)?,
                src_host: small("src_host", row)?,
                dst_host: small("dst_host", row)?,
                src_port: port("src_port", row)?,
                dst_port: port("dst_port", row)?,
                class: u8::try_from(wide("class", row)?).map_err(|_| out_of_range(path, "class", row))?,
                size_bytes: sizes[row].unwrap_or(ENDLESS_BYTES),
                start_ps: wide("start_ps", row)?,
                delivered_ps: delivered[row],
                acked_ps: acked[row],
                awaits_ack: false,
                retransmitted_bytes: wide("retransmitted_bytes", row)?,
                timeouts: small("timeouts", row)?,
                baseline_fct_ps: wide("baseline_fct_ps", row)?,
                fct_txt_standalone_ns: wide("fct_txt_standalone_ns", row)?,
            })
        })
        .collect()
}

fn required(table: &Table, path: &Path, name: &str, row: usize) -> Result<u64, RecordError> {
    table.u64s(name)?[row].ok_or_else(|| RecordError::Table {
        path: path.to_owned(),
        what: format!("row {row} has no {name}; every flow has one"),
    })
}

fn out_of_range(path: &Path, name: &str, row: usize) -> RecordError {
    RecordError::Table { path: path.to_owned(), what: format!("row {row}: {name} is out of range") }
}

#[cfg(test)]
mod tests {
    use super::super::tests::any_flow;
    use super::*;
    use crate::file::tests::Scratch;
    use crate::table::Column;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn flows_come_back(flows in prop::collection::vec(any_flow(), 0..40)) {
            let scratch = Scratch::new("flows");
            let path = scratch.0.join("flows.parquet");
            let mut table = FlowTable::create(&path, &ScenarioIdentity::default()).unwrap();
            flows.iter().for_each(|flow| table.push("web", flow).unwrap());
            table.close().unwrap();
            prop_assert_eq!(read_flows(&path).unwrap(), flows.clone());
            let table = read_table(&path).unwrap();
            let slowdowns: Vec<_> = flows.iter().map(FlowRecord::slowdown).collect();
            prop_assert_eq!(table.f64s("slowdown").unwrap(), slowdowns);
        }
    }

    /// The size of an endless flow is null, because it exceeds the range of a signed column.
    #[test]
    fn a_flow_without_end_has_no_size() {
        let scratch = Scratch::new("flows-endless");
        let path = scratch.0.join("flows.parquet");
        let mut table = FlowTable::create(&path, &ScenarioIdentity::default()).unwrap();
        let flow = FlowRecord { size_bytes: ENDLESS_BYTES, ..FlowRecord::default() };
        table.push("web", &flow).unwrap();
        table.close().unwrap();
        assert_eq!(read_table(&path).unwrap().u64s("size_bytes").unwrap(), [None]);
        assert_eq!(read_flows(&path).unwrap(), [flow]);
    }

    #[test]
    fn another_table_is_refused() {
        let scratch = Scratch::new("flows-other");
        let path = scratch.0.join("queues.parquet");
        TableWriter::create(&path, &[Column::new("time_ps", ColumnType::U64)]).unwrap().close().unwrap();
        let error = read_flows(&path).unwrap_err();
        assert_eq!(error.to_string(), "no column delivered_ps; the table has time_ps");
    }
}
