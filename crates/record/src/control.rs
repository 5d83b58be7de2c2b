//! Congestion control state over time, streamed to Parquet.

use crate::error::RecordError;
use crate::identity::ScenarioIdentity;
use crate::table::column::{Column, ColumnType};
use crate::table::{TableWriter, Value};
pub use stats::control::ControlSample;
use std::path::Path;

/// Default name of the table in a result folder.
pub const CONTROL_FILE: &str = "control.parquet";

/// One row per flow and sample: `time_ps, flow, traffic, label`, and the congestion control state of the flow:
/// `rate_bps, target_bps, window_bytes, flight_bytes, rtt_ps, delay_ps, alpha, available_bps`. Fields that the
/// congestion control does not have are null. Units are in the names and, per column, in the metadata of the file
/// (`unit.rate_bps`).
pub struct ControlSeries(TableWriter);

impl ControlSeries {
    /// Starts the series of `run` at `path`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn create(path: &Path, run: &ScenarioIdentity) -> Result<Self, RecordError> {
        let number = |name: &str, meaning: &'static str| Column::new(name, ColumnType::U64).means(meaning);
        let columns = [
            number("time_ps", "time of the sample"),
            number("flow", "the flow, as in flows.parquet"),
            number("traffic", "entry of [[traffic]], from 0"),
            Column::new("label", ColumnType::Text).means("name of the traffic entry"),
            number("rate_bps", "pacing rate, preamble and gap included").optional(),
            number("target_bps", "target rate of the recovery").optional(),
            number("window_bytes", "congestion window").optional(),
            number("flight_bytes", "sent and not acknowledged").optional(),
            number("rtt_ps", "round trip used by the control").optional(),
            Column::new("delay_ps", ColumnType::I64)
                .optional()
                .means("mean one-way delay measured by the receiver, including the clock offset"),
            Column::new("alpha", ColumnType::F64).optional().unit("1").means("estimated share of marks"),
            number("available_bps", "last reported available bandwidth").optional(),
        ];
        Ok(ControlSeries(TableWriter::create(path, &columns)?.about(run)))
    }

    /// Appends one sample of a flow; `label` names its traffic entry in results.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn push(&mut self, label: &str, sample: &ControlSample) -> Result<(), RecordError> {
        let row = [
            sample.at.as_ps().into(),
            sample.flow.into(),
            sample.traffic.into(),
            Value::Text(label),
            sample.rate_bps.into(),
            sample.target_bps.into(),
            sample.window_bytes.into(),
            sample.flight_bytes.into(),
            sample.rtt_ps.into(),
            sample.delay_ps.map_or(Value::Null, Value::I64),
            sample.alpha.map_or(Value::Null, Value::F64),
            sample.available_bps.into(),
        ];
        self.0.push(&row)
    }

    /// Completes the file and renames it to its path.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn close(self) -> Result<(), RecordError> {
        self.0.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::Scratch;
    use crate::table::read_table;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use units::Time;

    #[test]
    fn absent_control_values_are_null_and_units_are_stated() {
        let scratch = Scratch::new("control");
        let path = scratch.0.join(CONTROL_FILE);
        let mut series = ControlSeries::create(&path, &ScenarioIdentity::default()).unwrap();
        let sample = ControlSample {
            at: Time::from_us(2),
            flow: 3,
            traffic: 1,
            window_bytes: Some(14_600),
            delay_ps: Some(-5),
            alpha: Some(0.25),
            ..ControlSample::default()
        };
        series.push("bulk", &sample).unwrap();
        series.close().unwrap();
        let table = read_table(&path).unwrap();
        let row = table.row(0);
        assert_eq!(row[..4], [Value::U64(2_000_000), Value::U64(3), Value::U64(1), Value::Text("bulk")]);
        assert_eq!(row[4..7], [Value::Null, Value::Null, Value::U64(14_600)]);
        assert_eq!(row[7..], [Value::Null, Value::Null, Value::I64(-5), Value::F64(0.25), Value::Null]);

        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let key_values = reader.metadata().file_metadata().key_value_metadata().unwrap();
        let unit = |key: &str| key_values.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone());
        assert_eq!(unit("unit.rate_bps").as_deref(), Some("bit/s"));
        assert_eq!(unit("unit.delay_ps").as_deref(), Some("ps"));
        assert_eq!(unit("unit.label").as_deref(), Some("none"));
    }
}
