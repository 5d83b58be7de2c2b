//! Reader of JSON files with streams, the start time of each hop, and the gate control lists of ports.

use serde::Deserialize;

/// Faults of a gate file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateFileError {
    /// Invalid JSON.
    #[error("{message}")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The fault.
        message: String,
    },
    /// A fault in a line of text, or in a row of a table.
    #[error("line {line}: {message}")]
    Line {
        /// The line, from 1; 0 if the fault belongs to no line.
        line: usize,
        /// The fault.
        message: String,
    },
    /// Another format.
    #[error("`format` is `{found}`, expected `tidegate-schedule-1`")]
    Format {
        /// Value found.
        found: String,
    },
    /// An element with an invalid value.
    #[error("{element}: {what}")]
    Value {
        /// Path of the element, like `gates[0].entries`.
        element: String,
        /// The fault.
        what: String,
    },
}

impl GateFileError {
    pub(super) fn of_json(error: serde_json::Error) -> GateFileError {
        GateFileError::Json {
            line: error.line(),
            column: error.column(),
            message: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
        }
    }

    /// Returns the message with the name of the file and, if available, the position.
    pub fn in_file(&self, name: &str) -> String {
        match self {
            GateFileError::Json { line, column, message } => format!("{name}:{line}:{column}: {message}"),
            GateFileError::Line { line: 0, message } => format!("{name}: {message}"),
            GateFileError::Line { line, message } => format!("{name}:{line}: {message}"),
            other => format!("{name}: {other}"),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Raw {
    format: String,
    wire: Wire,
    #[serde(default)]
    processing_ps: u64,
    class: u8,
    streams: Vec<Stream>,
    #[serde(default)]
    gates: Vec<Port>,
}

/// Whether the wire time of a frame includes the preamble and the inter-packet gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Wire {
    Ethernet,
    FrameOnly,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Stream {
    pub name: String,
    pub period_ps: u64,
    pub frame_bytes: u64,
    pub deadline_ps: Option<u64>,
    pub hops: Vec<Hop>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Hop {
    pub node: String,
    pub port: u16,
    pub start_ps: u64,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Port {
    pub node: String,
    pub port: u16,
    pub cycle_ps: u64,
    pub entries: Vec<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct State {
    pub gates: u8,
    pub interval_ps: u64,
}

/// Time slots and gate control lists of a file.
#[derive(Clone, Debug)]
pub struct Gates {
    pub(super) wire: Wire,
    pub(super) processing_ps: u64,
    pub(super) class: u8,
    pub(super) streams: Vec<Stream>,
    pub(super) ports: Vec<Port>,
}

/// Maximum value of a time, 11 days, so that sums of several times fit into 64 bits.
pub(super) const MOST_PS: u64 = 1_000_000_000_000_000_000;

/// Returns a text about intervals that do not add up to the cycle, both in ps, with the difference.
pub(super) fn other_sum(sum_ps: u64, cycle_ps: u64) -> String {
    let more = if sum_ps > cycle_ps { "more" } else { "less" };
    format!(
        "its intervals add up to {}, {} {more} than its cycle of {}",
        nanoseconds(sum_ps),
        nanoseconds(sum_ps.abs_diff(cycle_ps)),
        nanoseconds(cycle_ps)
    )
}

/// Formats picoseconds as `1921 ns` or `1920.5 ns`.
pub(super) fn nanoseconds(ps: u64) -> String {
    match ps % 1000 {
        0 => format!("{} ns", ps / 1000),
        rest => format!("{}.{} ns", ps / 1000, format!("{rest:03}").trim_end_matches('0')),
    }
}

impl Gates {
    /// Parses a file.
    ///
    /// # Errors
    /// The first fault in the file.
    pub fn parse(text: &str) -> Result<Gates, GateFileError> {
        let raw: Raw = serde_json::from_str(text).map_err(GateFileError::of_json)?;
        if raw.format != "tidegate-schedule-1" {
            return Err(GateFileError::Format { found: raw.format });
        }
        let wrong = |element: &str, what: &str| {
            Err(GateFileError::Value { element: element.to_owned(), what: what.to_owned() })
        };
        if raw.class > 7 {
            return wrong("class", "classes are 0 to 7");
        }
        if raw.processing_ps > MOST_PS {
            return wrong("processing_ps", "longer than 11 days");
        }
        let mut names = std::collections::BTreeSet::new();
        for stream in &raw.streams {
            let element = format!("stream `{}`", stream.name);
            if !names.insert(stream.name.as_str()) {
                return wrong(&element, "the name occurs twice");
            }
            if stream.period_ps == 0 || stream.period_ps > MOST_PS {
                return wrong(&element, "a period is above zero and at most 11 days");
            }
            if !(1..=1_000_000_000).contains(&stream.frame_bytes) {
                return wrong(&element, "a frame has 1 byte to 1 GB");
            }
            if stream.hops.is_empty() {
                return wrong(&element, "it has no hops");
            }
            if stream.hops.iter().any(|hop| hop.start_ps > MOST_PS) {
                return wrong(&element, "a start is later than 11 days");
            }
        }
        let mut ports = std::collections::BTreeSet::new();
        for port in &raw.gates {
            let element = format!("gates of port {} of `{}`", port.port, port.node);
            if !ports.insert((port.node.as_str(), port.port)) {
                return wrong(&element, "the port occurs twice");
            }
            let sum = port.entries.iter().try_fold(0u64, |sum, entry| sum.checked_add(entry.interval_ps));
            if port.cycle_ps == 0 || port.cycle_ps > MOST_PS {
                return wrong(&element, "its cycle is above zero and at most 11 days");
            }
            match sum {
                None => return wrong(&element, "its intervals add up to more than 11 days"),
                Some(sum) if sum != port.cycle_ps => return wrong(&element, &other_sum(sum, port.cycle_ps)),
                Some(_) => {}
            }
        }
        let Raw { wire, processing_ps, class, streams, gates, .. } = raw;
        Ok(Gates { wire, processing_ps, class, streams, ports: gates })
    }

    /// Number of streams.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }
    /// Number of ports with gates.
    pub fn ports(&self) -> usize {
        self.ports.len()
    }
}
