//! Text files with whitespace-separated columns, read line by line. Errors contain the file name and the line number.

use std::io::{BufRead, Read};
use thiserror::Error;

/// Maximum length of a line. Without a limit, a file without line breaks would exhaust the memory.
const MAX_LINE_BYTES: u64 = 4096;

/// Error of a text file.
#[derive(Debug, Error)]
pub enum FileError {
    /// A line violates the format.
    #[error("{file}:{line}: {problem} ({format})")]
    Line {
        /// File name as given by the caller.
        file: String,
        /// Line number, from 1.
        line: u64,
        /// Name of the format in which the file was read.
        format: &'static str,
        /// Error in the line.
        problem: Problem,
    },
    /// The file could not be read.
    #[error("{file}: {source}")]
    Read {
        /// File name as given by the caller.
        file: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
}

/// Error in a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// The line is not UTF-8.
    #[error("not UTF-8 text")]
    NotText,
    /// The line is longer than any line of the format.
    #[error("longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// The line has the wrong number of columns.
    #[error("{found} columns: expected {expected}")]
    Columns {
        /// Number of columns in the line.
        found: usize,
        /// Description of the expected columns.
        expected: &'static str,
    },
    /// A column is not a number, or the number is out of range.
    #[error("`{text}` is not {expected}")]
    NotNumber {
        /// Text of the column, truncated to 40 characters.
        text: String,
        /// Description of a valid value.
        expected: &'static str,
    },
    /// A host does not exist.
    #[error("{}", out_of_range(*id, *hosts, *nodes))]
    HostOutOfRange {
        /// Host id in the file.
        id: u64,
        /// Number of hosts.
        hosts: u32,
        /// Number of other nodes that ids count, such as switches.
        nodes: u32,
    },
    /// The source or destination is a switch.
    #[error("node {0} is a switch: flows go from host to host")]
    Switch(u64),
    /// Source and destination are the same host.
    #[error("host {0} sends to itself: source and destination must differ")]
    ToItself(u32),
    /// A flow starts before the time origin.
    #[error("the flow starts before the time origin {0}: use an earlier origin, or none")]
    BeforeOrigin(units::Time),
    /// All lines of the file are valid in two formats.
    #[error(
        "reads as a flow of {size} bytes at {end} s (hpcc), or as {packets} packets from {size} s to {end} s \
         (ns3-rdma), and no other line of the file is unambiguous: write format = \"hpcc\" or format = \"ns3-rdma\""
    )]
    Ambiguous {
        /// Fourth column: destination port, or number of packets.
        packets: String,
        /// Fifth column: size in bytes, or start time.
        size: String,
        /// Sixth column: start time, or end time.
        end: String,
    },
    /// The file has fewer flows than announced.
    #[error("the file ends after {found} flows, but its first line states {promised}")]
    Truncated {
        /// Announced number of flows.
        promised: u64,
        /// Number of flows in the file.
        found: u64,
    },
    /// The file has more flows than a plan can hold.
    #[error("{promised} flows are more than the {limit} a plan holds")]
    TooMany {
        /// Announced number of flows.
        promised: u64,
        /// Maximum number of flows.
        limit: u64,
    },
    /// The file has no data line.
    #[error("the file is empty: expected {0}")]
    Empty(&'static str),
    /// A connection matrix contains a link failure.
    #[error(
        "a link failure is not supported in a file of flows; remove the line and write [[fail]] in the scenario, with \
         link = [\"tor0\", \"agg1\"] and at = \"0ps\""
    )]
    Failure,
    /// A connection or trigger line of a connection matrix is malformed; the text is the complete error message.
    #[error("{0}")]
    Trigger(String),
    /// A size distribution is invalid; the text is the complete error message.
    #[error("{0}")]
    Distribution(&'static str),
}

fn out_of_range(id: u64, hosts: u32, nodes: u32) -> String {
    match nodes {
        0 => format!("host {id} does not exist: there are {hosts} hosts, 0 to {}", hosts.saturating_sub(1)),
        _ => format!("node {id} does not exist: there are {hosts} hosts and {nodes} switches, counted from 0"),
    }
}

/// Reader of the data lines of a file; blank lines and comments (`#`) are skipped.
pub(crate) struct Lines<'a, R> {
    reader: R,
    file: &'a str,
    format: &'static str,
    number: u64,
    buffer: Vec<u8>,
}

/// UTF-8 byte order mark, which some editors write at the start of a file.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl<'a, R: BufRead> Lines<'a, R> {
    /// Creates a reader; `format` is the name of the format in errors.
    pub(crate) fn new(reader: R, file: &'a str, format: &'static str) -> Self {
        Lines { reader, file, format, number: 0, buffer: Vec::new() }
    }

    /// Sets the name of the format in errors, after the format has been detected.
    pub(crate) fn set_format(&mut self, format: &'static str) {
        self.format = format;
    }

    /// Returns the columns of the next data line; `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<&str>>, FileError> {
        loop {
            self.buffer.clear();
            let read = (&mut self.reader).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut self.buffer);
            let read = read.map_err(|source| FileError::Read { file: self.file.into(), source })?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1 && self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.buffer.drain(..BYTE_ORDER_MARK.len());
            }
            if read as u64 > MAX_LINE_BYTES {
                return Err(self.error(Problem::TooLong));
            }
            let Ok(text) = std::str::from_utf8(&self.buffer) else { return Err(self.error(Problem::NotText)) };
            let text = text.split('#').next().unwrap_or_default();
            if !text.trim().is_empty() {
                break;
            }
        }
        // Converted a second time, because a borrow of the buffer cannot leave the loop.
        let text = std::str::from_utf8(&self.buffer).unwrap_or_default();
        Ok(Some(text.split('#').next().unwrap_or_default().split_whitespace().collect()))
    }

    /// Returns the line number of the last line read, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns an error at the last line read.
    pub(crate) fn error(&self, problem: Problem) -> FileError {
        self.error_at(self.number.max(1), problem)
    }

    /// Returns an error at line `line`.
    pub(crate) fn error_at(&self, line: u64, problem: Problem) -> FileError {
        FileError::Line { file: self.file.into(), line, format: self.format, problem }
    }
}

pub(crate) fn not_number(text: &str, expected: &'static str) -> Problem {
    Problem::NotNumber { text: text.chars().take(40).collect(), expected }
}
