//! Reader of the schedule files that [`crate::file`] writes.

use crate::file::FORMAT;
use serde::Deserialize;
use units::Time;

/// Error in a schedule file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Invalid JSON.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// Message of the parser.
        message: String,
    },
    /// The file has another `format`.
    #[error("`format` is `{found}`, expected `{FORMAT}`")]
    Format {
        /// Value of `format`.
        found: String,
    },
    /// Value out of range.
    #[error("{element}: {what}")]
    Value {
        /// Path of the element, like `streams[0].period_ps`.
        element: String,
        /// Fault of the element.
        what: &'static str,
    },
}

/// Wire overhead of a frame in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WireKind {
    /// Frame, preamble and gap.
    Ethernet,
    /// Frame only.
    FrameOnly,
}

/// Schedule read from a file.
#[derive(Clone, Debug, Deserialize)]
pub struct SlotFile {
    format: String,
    /// Wire overhead of a frame.
    pub wire: WireKind,
    /// Class of the streams, 0 to 7.
    pub class: u8,
    /// Streams with slots.
    pub streams: Vec<FileStream>,
    /// Gates of ports.
    #[serde(default)]
    pub gates: Vec<FilePort>,
}

/// Stream with slots.
#[derive(Clone, Debug, Deserialize)]
pub struct FileStream {
    /// Name.
    pub name: String,
    period_ps: u64,
    /// Bytes from destination address to FCS.
    pub frame_bytes: u64,
    /// Hops in order: at least one.
    pub hops: Vec<FileHop>,
}

impl FileStream {
    /// Returns the period with one frame, above zero.
    pub fn period(&self) -> Time {
        Time::from_ps(self.period_ps)
    }
}

/// Slot of a stream at a port.
#[derive(Clone, Debug, Deserialize)]
pub struct FileHop {
    /// Node.
    pub node: String,
    /// Port of the node.
    pub port: u16,
    start_ps: u64,
}

impl FileHop {
    /// Returns the start of its slot in each period.
    pub fn start(&self) -> Time {
        Time::from_ps(self.start_ps)
    }
}

/// Gates of a port.
#[derive(Clone, Debug, Deserialize)]
pub struct FilePort {
    /// Node.
    pub node: String,
    /// Port of the node.
    pub port: u16,
    entries: Vec<FileState>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct FileState {
    gates: u8,
    interval_ps: u64,
}

impl FilePort {
    /// Returns the gate states: a bit for each class with an open gate, and the duration.
    pub fn states(&self) -> impl Iterator<Item = (u8, Time)> + '_ {
        self.entries.iter().map(|state| (state.gates, Time::from_ps(state.interval_ps)))
    }
}

/// Maximum time (11 days): larger values are rejected so that sums fit 64 bits.
const MOST_PS: u64 = 1_000_000_000_000_000_000;

impl SlotFile {
    /// Reads a file.
    ///
    /// # Errors
    /// The first error in the file.
    pub fn parse(text: &str) -> Result<SlotFile, ReadError> {
        let file: SlotFile = serde_json::from_str(text).map_err(|error| ReadError::Json {
            line: error.line(),
            column: error.column(),
            message: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
        })?;
        if file.format != FORMAT {
            return Err(ReadError::Format { found: file.format });
        }
        let wrong = |element: String, what| Err(ReadError::Value { element, what });
        if file.class > 7 {
            return wrong("class".to_owned(), "classes are 0 to 7");
        }
        for stream in &file.streams {
            let element = || format!("stream `{}`", stream.name);
            if stream.period_ps == 0 || stream.period_ps > MOST_PS {
                return wrong(element(), "a period is above zero and at most 11 days");
            }
            if !(64..=65_535).contains(&stream.frame_bytes) {
                return wrong(element(), "a frame has 64 to 65,535 bytes");
            }
            if stream.hops.is_empty() {
                return wrong(element(), "it has no hops");
            }
            if stream.hops.iter().any(|hop| hop.start_ps > MOST_PS) {
                return wrong(element(), "a start is later than 11 days");
            }
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"format": "tidegate-schedule-1", "wire": "ethernet", "class": 7, "without_slots": [],
        "streams": [{"name": "a", "period_ps": 5, "frame_bytes": 64,
                     "hops": [{"node": "h", "port": 0, "start_ps": 3}]}],
        "gates": [{"node": "h", "port": 0, "cycle_ps": 5, "entries": [{"gates": 128, "interval_ps": 5}]}]}"#;

    #[test]
    fn a_schedule_reads() {
        let file = SlotFile::parse(GOOD).unwrap();
        assert_eq!((file.class, file.wire), (7, WireKind::Ethernet));
        assert_eq!(file.streams[0].period(), Time::from_ps(5));
        assert_eq!(file.streams[0].hops[0].start(), Time::from_ps(3));
        assert_eq!(file.gates[0].states().collect::<Vec<_>>(), [(128, Time::from_ps(5))]);
    }

    #[test]
    fn invalid_input_is_reported() {
        let message = |from: &str, to: &str| SlotFile::parse(&GOOD.replace(from, to)).unwrap_err().to_string();
        assert_eq!(
            message("schedule-1", "schedule-9"),
            "`format` is `tidegate-schedule-9`, expected `tidegate-schedule-1`"
        );
        assert!(message("\"port\": 0, \"start", "\"port\": -1, \"start").starts_with("line 3, column "));
        assert_eq!(message("\"class\": 7", "\"class\": 8"), "class: classes are 0 to 7");
        assert_eq!(
            message("\"period_ps\": 5", "\"period_ps\": 0"),
            "stream `a`: a period is above zero and at most 11 days"
        );
        assert_eq!(message("bytes\": 64", "bytes\": 63"), "stream `a`: a frame has 64 to 65,535 bytes");
        assert_eq!(
            message("\"start_ps\": 3", "\"start_ps\": 1000000000000000001"),
            "stream `a`: a start is later than 11 days"
        );
    }
}
