//! Flow files (`flow.txt`) of the HPCC and conweave simulators, and of ns3-rdma, on which these are based: read,
//! replay, write.
//!
//! ```text
//! 2                            number of flows; all after the last flow is comment
//! 0 2 3 100 20000 2.0          HPCC: source, destination, priority group, destination port, bytes, start in s
//! 0 2 3 20000 2.0              conweave: like HPCC, without the port
//! 0 2 3 20 2.0 9.5             ns3-rdma: source, destination, priority group, packets, start and end in s
//! ```
//!
//! A file with six columns has the format of ns3-rdma if the fifth column is less than the sixth in every line,
//! because a start is before its end. If each line is also valid in HPCC's format (a flow of 2 bytes at 9 s), the
//! caller must state the format.

use crate::decimal;
use crate::error::TrafficError;
use crate::lines::{FileError, Lines, Problem, not_number};
use crate::plan::{Flow, Load, PlanBuilder, Start};
use crate::sizes::ENDLESS;
use std::fmt;
use std::io::{self, BufRead, Write};
use units::Time;

/// Options for reading a flow file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowFileOptions {
    /// Number of hosts.
    pub hosts: u32,
    /// Node ids of the switches, ascending, if ids in the file count all nodes. Empty: ids count only hosts; this is
    /// equivalent if all hosts have lower ids than all switches.
    pub switches: Vec<u32>,
    /// Time in the file that becomes time 0. By convention, the simulators start traffic at 2 s; zero keeps all
    /// times.
    pub time_origin: Time,
    /// Index of the traffic entry of the flows.
    pub traffic: u8,
    /// Destination port for formats without a port column (conweave, ns3-rdma); HPCC's files have 100.
    pub default_dst_port: u16,
    /// Format of a flow file; `None`: detected from the content.
    pub columns: Option<FlowColumns>,
    /// Payload bytes per packet, for formats that count packets (ns3-rdma: `PACKET_PAYLOAD_SIZE`).
    pub packet_bytes: u64,
    /// Unit of start times in a connection matrix; `None`: guessed from the values, with a warning.
    pub start_unit: Option<StartUnit>,
}

impl Default for FlowFileOptions {
    /// Returns options without hosts: times as in the file, port 100, packets of 1000 bytes, format and unit detected
    /// from the content.
    fn default() -> Self {
        FlowFileOptions {
            hosts: 0,
            switches: Vec::new(),
            time_origin: Time::ZERO,
            traffic: 0,
            default_dst_port: 100,
            columns: None,
            packet_bytes: 1000,
            start_unit: None,
        }
    }
}

/// Format of a flow file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowColumns {
    /// HPCC: source, destination, priority group, destination port, bytes, start.
    Six,
    /// conweave: like HPCC, without the port.
    Five,
    /// ns3-rdma: source, destination, priority group, packets, start, end. It is read only, never written.
    Packets,
}

impl FlowColumns {
    /// Returns the name of the format in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            FlowColumns::Six => "hpcc",
            FlowColumns::Five => "conweave",
            FlowColumns::Packets => "ns3-rdma",
        }
    }

    /// Returns the name of the format in error messages.
    fn title(self) -> &'static str {
        match self {
            FlowColumns::Six => "hpcc flow file",
            FlowColumns::Five => "conweave flow file",
            FlowColumns::Packets => "ns3-rdma flow file",
        }
    }

    fn count(self) -> usize {
        if self == FlowColumns::Five { 5 } else { 6 }
    }
}

/// Unit of start times in a connection matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartUnit {
    /// Picoseconds, as in csg-htsim and older versions.
    Picoseconds,
    /// Whole microseconds, as in the UEC and EQDS programs of uet-htsim.
    Microseconds,
}

impl StartUnit {
    /// Returns the name of the unit in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            StartUnit::Picoseconds => "ps",
            StartUnit::Microseconds => "us",
        }
    }
}

/// Contents of a flow file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowFile {
    /// Flows, sorted by start time, with equal start times in file order.
    pub flows: Vec<Flow>,
    /// Format of the file; `None` if it has no flows.
    pub columns: Option<FlowColumns>,
    /// Warnings about valid input.
    pub warnings: Vec<FlowWarning>,
}

/// Warning about a flow file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowWarning {
    /// Start times decrease, so that the flows were sorted (stable sort). The simulators require sorted files.
    Unsorted {
        /// First line whose start is before that of the previous line.
        line: u64,
    },
    /// Lines of six columns were detected as the format of ns3-rdma.
    Packets {
        /// Line of the first flow.
        line: u64,
        /// Payload bytes per packet.
        packet_bytes: u64,
    },
    /// A flow in the format of ns3-rdma has an end time, which is ignored.
    Ends {
        /// Line of the first flow.
        line: u64,
    },
    /// The unit of start times was guessed, and the result depends on it.
    StartUnit {
        /// Line of the first flow with a start after 0.
        line: u64,
        /// Guessed unit.
        unit: StartUnit,
    },
    /// A connection matrix has numbers for the messages of its connections.
    Messages {
        /// First line with a message number.
        line: u64,
    },
    /// Start times with more than twelve decimals were rounded to the nearest picosecond.
    Rounded {
        /// First line with such a start time.
        line: u64,
    },
    /// Lines beyond the announced number of flows were ignored, as in the simulators.
    Surplus {
        /// First ignored line.
        line: u64,
    },
}

impl fmt::Display for FlowWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlowWarning::Unsorted { line } => {
                write!(f, "line {line} starts before the line above it: flows were sorted by start")
            }
            FlowWarning::Packets { line, packet_bytes } => {
                write!(
                    f,
                    "from line {line} on the columns are those of ns3-rdma (source, destination, priority group, \
                     packets, start, end): packets have {packet_bytes} B of payload; `format` and `packet` say \
                     otherwise"
                )
            }
            FlowWarning::Ends { line } => {
                write!(f, "from line {line} on flows have an end time, which is ignored: incomplete flows continue")
            }
            FlowWarning::StartUnit { line, unit } => {
                let why = match unit {
                    StartUnit::Picoseconds => "picoseconds, as in csg-htsim: in microseconds they would be too late",
                    StartUnit::Microseconds => {
                        "microseconds, as uet-htsim does: in picoseconds all would be within 1 us"
                    }
                };
                write!(f, "from line {line} on `start` is read in {why}; write start_unit = \"ps\" or \"us\" to choose")
            }
            FlowWarning::Messages { line } => {
                write!(
                    f,
                    "line {line} is a message of a connection: each starts as a flow of its own, with a window of its \
                     own"
                )
            }
            FlowWarning::Rounded { line } => {
                write!(f, "line {line} has a start finer than a picosecond: such starts were rounded")
            }
            FlowWarning::Surplus { line } => {
                write!(f, "from line {line} on there are more flows than the first line states: they are ignored")
            }
        }
    }
}

const EXPECTED: &str = "<src> <dst> <priority group> <destination port> <bytes> <start s>, these without the port, or \
                        <src> <dst> <priority group> <packets> <start s> <end s>";
const HEADER: &str = "the number of flows";

/// Maximum number of flows for which memory is allocated before their lines have been read.
const TRUSTED_FLOWS: u64 = 1 << 16;

/// Reads a flow file. Its format is detected from the content unless the options state it. `file` is the file name in
/// errors.
///
/// # Errors
/// If a line is malformed, has a host that does not exist, the same source and destination, no bytes, a priority
/// group above 7, or a start before the time origin; or if the file has fewer flows than announced, or all lines are
/// valid in two formats.
pub fn read_flow_file(reader: impl BufRead, file: &str, options: &FlowFileOptions) -> Result<FlowFile, FileError> {
    let mut lines = Lines::new(reader, file, options.columns.map_or("flow file", FlowColumns::title));
    let header = lines.next()?.map(|columns| parse_header(&columns));
    let promised = match header {
        None => return Err(lines.error(Problem::Empty(HEADER))),
        Some(promised) => promised.map_err(|problem| lines.error(problem))?,
    };
    let mut read =
        ReadFlows { flows: Vec::with_capacity(promised.min(TRUSTED_FLOWS) as usize), ..ReadFlows::default() };
    // Lines read before the first line that determines the format.
    let mut undecided: Vec<(u64, Vec<String>)> = Vec::new();
    let mut columns = options.columns;
    for found in 0..promised {
        let Some(texts) = lines.next()? else {
            return Err(lines.error(Problem::Truncated { promised, found }));
        };
        let texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
        let number = lines.number();
        if columns.is_none() {
            columns = match columns_of(&texts) {
                Ok(columns) => columns,
                Err(problem) => return Err(lines.error(problem)),
            };
            let Some(columns) = columns else {
                undecided.push((number, texts));
                continue;
            };
            lines.set_format(columns.title());
        }
        let Some(columns) = columns else { continue };
        for (number, texts) in undecided.drain(..).chain([(number, texts)]) {
            let pushed = read.push(number, &texts, columns, options);
            pushed.map_err(|problem| lines.error_at(number, problem))?;
        }
    }
    if let Some((number, texts)) = undecided.first() {
        let [packets, size, end] = [3, 4, 5].map(|at| texts[at].chars().take(40).collect());
        return Err(lines.error_at(*number, Problem::Ambiguous { packets, size, end }));
    }
    let expected = columns.map_or(6, FlowColumns::count);
    let mut surplus = None;
    // The text after the announced flows is a comment; a line of numbers in the file's format may be a surplus flow.
    while let Ok(Some(texts)) = lines.next() {
        if promised == 0 && texts[0].parse::<f64>().is_ok() {
            let expected = "no flow, as the first line states";
            let found = texts.len();
            return Err(lines.error(Problem::Columns { found, expected }));
        }
        if texts.len() == expected && texts.iter().all(|text| decimal::parse(text, 0).is_some()) {
            surplus = Some(FlowWarning::Surplus { line: lines.number() });
            break;
        }
    }
    let ReadFlows { mut flows, first_line, unsorted, rounded, .. } = read;
    if unsorted.is_some() {
        flows.sort_by_key(|flow| match flow.start {
            Start::At(at) => at,
            Start::After { .. } => Time::MAX,
        });
    }
    let (mut packets, mut ends) = (None, None);
    if let Some(line) = first_line.filter(|_| columns == Some(FlowColumns::Packets)) {
        let guessed = options.columns.is_none();
        packets = guessed.then_some(FlowWarning::Packets { line, packet_bytes: options.packet_bytes });
        ends = Some(FlowWarning::Ends { line });
    }
    let columns = columns.filter(|_| first_line.is_some());
    let warnings = [packets, ends, unsorted, rounded, surplus].into_iter().flatten().collect();
    Ok(FlowFile { flows, columns, warnings })
}

/// Flows of the lines that have been read.
#[derive(Default)]
struct ReadFlows {
    flows: Vec<Flow>,
    latest: Time,
    first_line: Option<u64>,
    unsorted: Option<FlowWarning>,
    rounded: Option<FlowWarning>,
}

impl ReadFlows {
    fn push(
        &mut self,
        line: u64,
        texts: &[String],
        columns: FlowColumns,
        options: &FlowFileOptions,
    ) -> Result<(), Problem> {
        let parsed = parse_flow(texts, columns, self.flows.is_empty(), options)?;
        self.first_line.get_or_insert(line);
        if !parsed.exact {
            self.rounded.get_or_insert(FlowWarning::Rounded { line });
        }
        if parsed.start < self.latest {
            self.unsorted.get_or_insert(FlowWarning::Unsorted { line });
        }
        self.latest = parsed.start;
        self.flows.push(parsed.flow);
        Ok(())
    }
}

/// Appends the flows of a file to a plan.
///
/// # Errors
/// If the plan would exceed its limits.
pub fn replay(file: FlowFile, builder: &mut PlanBuilder) -> Result<(), TrafficError> {
    builder.reserve("replay", file.flows.len() as u128, 0)?;
    for flow in file.flows {
        builder.flow(flow);
    }
    Ok(())
}

fn parse_header(columns: &[&str]) -> Result<u64, Problem> {
    let &[text] = columns else { return Err(Problem::Columns { found: columns.len(), expected: HEADER }) };
    let promised = text.parse().map_err(|_| not_number(text, HEADER))?;
    if promised > PlanBuilder::MAX_FLOWS {
        return Err(Problem::TooMany { promised, limit: PlanBuilder::MAX_FLOWS });
    }
    Ok(promised)
}

struct ParsedFlow {
    flow: Flow,
    start: Time,
    exact: bool,
}

fn seconds(text: &str, expected: &'static str) -> Result<(Time, bool), Problem> {
    let (ps, exact) = decimal::parse(text, 12).ok_or_else(|| not_number(text, expected))?;
    Ok((Time::from_ps(ps), exact))
}

fn parse_flow(
    texts: &[String],
    columns: FlowColumns,
    is_first: bool,
    options: &FlowFileOptions,
) -> Result<ParsedFlow, Problem> {
    if texts.len() != columns.count() {
        let expected = match (is_first, columns) {
            (false, _) => "as many as in the flows above",
            (true, FlowColumns::Six) => "<src> <dst> <priority group> <destination port> <bytes> <start s>",
            (true, FlowColumns::Five) => "<src> <dst> <priority group> <bytes> <start s>",
            (true, FlowColumns::Packets) => "<src> <dst> <priority group> <packets> <start s> <end s>",
        };
        return Err(Problem::Columns { found: texts.len(), expected });
    }
    let host = |text: &str| -> Result<u32, Problem> {
        let id: u64 = number(text, "a host id")?;
        let before = options.switches.partition_point(|&switch| u64::from(switch) < id);
        if options.switches.get(before).is_some_and(|&switch| u64::from(switch) == id) {
            return Err(Problem::Switch(id));
        }
        let known = u32::try_from(id - before as u64).ok().filter(|host| *host < options.hosts);
        known.ok_or(Problem::HostOutOfRange { id, hosts: options.hosts, nodes: options.switches.len() as u32 })
    };
    let (src, dst) = (host(&texts[0])?, host(&texts[1])?);
    if src == dst {
        return Err(Problem::ToItself(src));
    }
    let class = &texts[2];
    let in_class = class.parse().ok().filter(|class| *class < 8u8);
    let class = in_class.ok_or_else(|| not_number(class, "a priority group, 0 to 7"))?;
    let dst_port = match columns {
        FlowColumns::Six => number(&texts[3], "a port, 0 to 65535")?,
        FlowColumns::Five | FlowColumns::Packets => options.default_dst_port,
    };
    let start_at = if columns == FlowColumns::Six { 5 } else { 4 };
    let (start, exact) = seconds(&texts[start_at], "a start in seconds, below 213 days")?;
    let size_bytes = if columns == FlowColumns::Packets {
        let (end, _) = seconds(&texts[5], "an end in seconds, below 213 days")?;
        if end <= start {
            return Err(not_number(&texts[5], "an end after the start"));
        }
        let bytes = number::<u64>(&texts[3], "a number of packets")?.checked_mul(options.packet_bytes);
        bytes.ok_or_else(|| not_number(&texts[3], "a number of packets that fits"))?
    } else {
        number(&texts[start_at - 1], "a size in bytes")?
    };
    if size_bytes == 0 || size_bytes == ENDLESS {
        let size = if columns == FlowColumns::Packets { &texts[3] } else { &texts[start_at - 1] };
        return Err(not_number(size, "a size of at least 1 byte"));
    }
    if start < options.time_origin {
        return Err(Problem::BeforeOrigin(options.time_origin));
    }
    let start = start - options.time_origin;
    let (traffic, load) = (options.traffic, Load::Transport);
    let flow = Flow { src, dst, size_bytes, start: Start::At(start), class, traffic, dst_port, path: None, load };
    Ok(ParsedFlow { flow, start, exact })
}

/// Returns the format of a line; `None` if the line is valid in two formats.
fn columns_of(texts: &[String]) -> Result<Option<FlowColumns>, Problem> {
    match texts {
        [_, _, _, _, _] => Ok(Some(FlowColumns::Five)),
        [_, _, _, port, size, end] => {
            let time = |text: &str| decimal::parse(text, 12).map(|(ps, _)| ps);
            let range = time(size).zip(time(end)).is_some_and(|(start, end)| start < end);
            let packets = range && port.parse::<u64>().is_ok();
            let bytes = port.parse::<u16>().is_ok() && size.parse::<u64>().is_ok();
            Ok(match (packets, bytes) {
                (true, true) => None,
                (true, false) => Some(FlowColumns::Packets),
                (false, _) => Some(FlowColumns::Six),
            })
        }
        _ => Err(Problem::Columns { found: texts.len(), expected: EXPECTED }),
    }
}

fn number<T: std::str::FromStr>(text: &str, expected: &'static str) -> Result<T, Problem> {
    text.parse().map_err(|_| not_number(text, expected))
}

/// Writes flows in a format of the simulators, exact to the picosecond; `time_origin` is added to every start time.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`], before any output, if the format is that of ns3-rdma, a flow waits for others,
/// has no end or is a datagram source, or start times decrease. Otherwise any error of the writer.
pub fn write_flow_file(
    flows: &[Flow],
    mut writer: impl Write,
    columns: FlowColumns,
    time_origin: Time,
) -> io::Result<()> {
    if columns == FlowColumns::Packets {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "flow files of ns3-rdma are read only"));
    }
    let mut latest = Time::ZERO;
    for (index, flow) in flows.iter().enumerate() {
        let fail = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, format!("flow {index} {why}")));
        match flow.start {
            Start::After { .. } => return fail("waits for others: a flow file holds fixed starts only"),
            Start::At(at) if at < latest => return fail("starts before its predecessor: sort the flows by start"),
            Start::At(at) if at.saturating_add(time_origin) == Time::MAX => return fail("starts too late"),
            Start::At(at) => latest = at,
        }
        if flow.size_bytes == ENDLESS || flow.load != Load::Transport {
            return fail("is endless or a datagram source: a flow file holds transfers only");
        }
    }
    writeln!(writer, "{}", flows.len())?;
    for Flow { src, dst, class, dst_port, size_bytes, start, .. } in flows {
        let Start::At(at) = *start else { continue };
        let at = (at + time_origin).as_ps();
        let seconds = format!("{}.{:012}", at / 1_000_000_000_000, at % 1_000_000_000_000);
        // Nine decimals, as the simulators write, if they are exact; otherwise twelve.
        let seconds = seconds.strip_suffix("000").unwrap_or(&seconds);
        match columns {
            FlowColumns::Six => writeln!(writer, "{src} {dst} {class} {dst_port} {size_bytes} {seconds}")?,
            FlowColumns::Five | FlowColumns::Packets => writeln!(writer, "{src} {dst} {class} {size_bytes} {seconds}")?,
        }
    }
    writer.flush()
}

#[cfg(test)]
#[path = "flow_file_tests.rs"]
mod tests;
