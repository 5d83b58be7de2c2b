//! The reader of schedules as [`crate::file`] writes them, for whoever runs them.

use crate::file::FORMAT;
use serde::Deserialize;
use units::Time;

/// Why a file is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The JSON does not read.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// It is of another kind.
    #[error("`format` is `{found}`, expected `{FORMAT}`")]
    Format {
        /// What it says.
        found: String,
    },
    /// A value is out of range.
    #[error("{element}: {what}")]
    Value {
        /// Of which element.
        element: String,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// What a frame costs a wire in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WireKind {
    /// Preamble and gap too.
    Ethernet,
    /// Its own length alone.
    FrameOnly,
}

/// A schedule that was read.
#[derive(Clone, Debug, Deserialize)]
pub struct SlotFile {
    format: String,
    /// What a frame costs a wire.
    pub wire: WireKind,
    /// The class of the streams, 0 to 7.
    pub class: u8,
    /// Streams that have slots.
    pub streams: Vec<FileStream>,
    /// The gates of ports.
    #[serde(default)]
    pub gates: Vec<FilePort>,
}

/// A stream.
#[derive(Clone, Debug, Deserialize)]
pub struct FileStream {
    /// Its name.
    pub name: String,
    period_ps: u64,
    /// From destination address to FCS.
    pub frame_bytes: u64,
    /// Where it passes, in order: at least one.
    pub hops: Vec<FileHop>,
}

impl FileStream {
    /// One frame in each, above zero.
    pub fn period(&self) -> Time {
        Time::from_ps(self.period_ps)
    }
}

/// A stream at a port.
#[derive(Clone, Debug, Deserialize)]
pub struct FileHop {
    /// The node.
    pub node: String,
    /// Its port.
    pub port: u16,
    start_ps: u64,
}

impl FileHop {
    /// When its slot starts in each period.
    pub fn start(&self) -> Time {
        Time::from_ps(self.start_ps)
    }
}

/// The gates of a port.
#[derive(Clone, Debug, Deserialize)]
pub struct FilePort {
    /// The node.
    pub node: String,
    /// Its port.
    pub port: u16,
    entries: Vec<FileState>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct FileState {
    gates: u8,
    interval_ps: u64,
}

impl FilePort {
    /// Which gates are open, a bit for each class, and how long.
    pub fn states(&self) -> impl Iterator<Item = (u8, Time)> + '_ {
        self.entries.iter().map(|state| (state.gates, Time::from_ps(state.interval_ps)))
    }
}

/// Times beyond this, 11 days, are refused, so that sums of them fit 64 bits.
const MOST_PS: u64 = 1_000_000_000_000_000_000;

impl SlotFile {
    /// Reads a file.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
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
    fn what_is_none_is_told() {
        let said = |from: &str, to: &str| SlotFile::parse(&GOOD.replace(from, to)).unwrap_err().to_string();
        assert_eq!(
            said("schedule-1", "schedule-9"),
            "`format` is `tidegate-schedule-9`, expected `tidegate-schedule-1`"
        );
        assert!(said("\"port\": 0, \"start", "\"port\": -1, \"start").starts_with("line 3, column "));
        assert_eq!(said("\"class\": 7", "\"class\": 8"), "class: classes are 0 to 7");
        assert_eq!(
            said("\"period_ps\": 5", "\"period_ps\": 0"),
            "stream `a`: a period is above zero and at most 11 days"
        );
        assert_eq!(said("bytes\": 64", "bytes\": 63"), "stream `a`: a frame has 64 to 65,535 bytes");
        assert_eq!(
            said("\"start_ps\": 3", "\"start_ps\": 1000000000000000001"),
            "stream `a`: a start is later than 11 days"
        );
    }
}
