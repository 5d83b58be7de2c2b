//! Text files of whitespace-separated columns, read line by line; errors have the file and the line.

use std::io::{BufRead, Read};
use thiserror::Error;

/// Maximum length of a line: without a limit, a file without line breaks would fill the memory.
const MAX_LINE_BYTES: u64 = 4096;

/// Error of reading a file.
#[derive(Debug, Error)]
pub enum FileError {
    /// A line that violates the format.
    #[error("{file}:{line}: {problem} ({format})")]
    Line {
        /// Name of the file as given.
        file: String,
        /// Line, from 1.
        line: u64,
        /// Format that the file was read as.
        format: &'static str,
        /// The error and a correct value.
        problem: Problem,
    },
    /// The file could not be read.
    #[error("{file}: {source}")]
    Read {
        /// Name of the file as given.
        file: String,
        /// Error of the system.
        source: std::io::Error,
    },
}

/// Error in a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// Not text.
    #[error("not UTF-8 text")]
    NotText,
    /// A line longer than any of the format.
    #[error("longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// The wrong number of columns.
    #[error("{found} columns: expected {expected}")]
    Columns {
        /// Number of columns in the line.
        found: usize,
        /// Columns of the format.
        expected: &'static str,
    },
    /// A column that is no number, or one out of range.
    #[error("`{text}` is not {expected}")]
    NotNumber {
        /// Text of the column, truncated to 40 characters.
        text: String,
        /// Description of a valid value.
        expected: &'static str,
    },
    /// A host that does not exist.
    #[error("{}", out_of_range(*id, *hosts, *nodes))]
    HostOutOfRange {
        /// The id.
        id: u64,
        /// Number of hosts.
        hosts: u32,
        /// Number of other nodes that ids count.
        nodes: u32,
    },
    /// A switch as source or destination.
    #[error("node {0} is a switch: flows go from host to host")]
    Switch(u64),
    /// A flow to its own source.
    #[error("host {0} sends to itself: source and destination must differ")]
    ToItself(u32),
    /// A flow before the time origin.
    #[error("the flow starts before the time origin {0}: use an earlier origin, or none")]
    BeforeOrigin(units::Time),
    /// Lines that are valid in two formats, in all of the file.
    #[error(
        "reads as a flow of {size} bytes at {end} s (hpcc), or as {packets} packets from {size} s to {end} s \
         (ns3-rdma), and no other line of the file is unambiguous: write format = \"hpcc\" or format = \"ns3-rdma\""
    )]
    Ambiguous {
        /// The fourth column: a port, or packets.
        packets: String,
        /// The fifth: bytes, or a start.
        size: String,
        /// The sixth: a start, or an end.
        end: String,
    },
    /// Fewer flows than announced.
    #[error("the file ends after {found} flows, but its first line states {promised}")]
    Truncated {
        /// The announced number.
        promised: u64,
        /// Number of flows in the file.
        found: u64,
    },
    /// More flows than a plan holds.
    #[error("{promised} flows are more than the {limit} a plan holds")]
    TooMany {
        /// The announced number.
        promised: u64,
        /// The limit.
        limit: u64,
    },
    /// A file without a line of data.
    #[error("the file is empty: expected {0}")]
    Empty(&'static str),
    /// A link failure in a connection matrix.
    #[error(
        "a link failure is not supported in a file of flows; remove the line and write [[fail]] in the scenario, with \
         link = [\"tor0\", \"agg1\"] and at = \"0ps\""
    )]
    Failure,
    /// A malformed connection or trigger line of a connection matrix; contains the complete error text.
    #[error("{0}")]
    Trigger(String),
    /// An invalid distribution of sizes; contains the complete error text.
    #[error("{0}")]
    Distribution(&'static str),
}

fn out_of_range(id: u64, hosts: u32, nodes: u32) -> String {
    match nodes {
        0 => format!("host {id} does not exist: there are {hosts} hosts, 0 to {}", hosts.saturating_sub(1)),
        _ => format!("node {id} does not exist: there are {hosts} hosts and {nodes} switches, counted from 0"),
    }
}

/// The lines of a file that hold data: blank lines and comments (`#`) are skipped.
pub(crate) struct Lines<'a, R> {
    reader: R,
    file: &'a str,
    format: &'static str,
    number: u64,
    buffer: Vec<u8>,
}

/// Byte order mark, which some editors write before the first line.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl<'a, R: BufRead> Lines<'a, R> {
    /// Makes a reader; `format` is the name of the format in errors.
    pub(crate) fn new(reader: R, file: &'a str, format: &'static str) -> Self {
        Lines { reader, file, format, number: 0, buffer: Vec::new() }
    }

    /// Sets the format after it was detected.
    pub(crate) fn set_format(&mut self, format: &'static str) {
        self.format = format;
    }

    /// Returns the columns of the next line with data, or `None` at the end.
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
        // Converted again, since a borrow of the buffer cannot leave the loop.
        let text = std::str::from_utf8(&self.buffer).unwrap_or_default();
        Ok(Some(text.split('#').next().unwrap_or_default().split_whitespace().collect()))
    }

    /// Returns the line number of the last line read, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Makes an error at the last line read.
    pub(crate) fn error(&self, problem: Problem) -> FileError {
        self.error_at(self.number.max(1), problem)
    }

    /// Makes an error at an earlier line.
    pub(crate) fn error_at(&self, line: u64, problem: Problem) -> FileError {
        FileError::Line { file: self.file.into(), line, format: self.format, problem }
    }
}

pub(crate) fn not_number(text: &str, expected: &'static str) -> Problem {
    Problem::NotNumber { text: text.chars().take(40).collect(), expected }
}
