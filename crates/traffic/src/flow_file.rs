//! `flow.txt` of the HPCC and conweave simulators: read, replay and write.

use crate::decimal;
use crate::error::TrafficError;
use crate::lines::{FileError, Lines, Problem, not_number};
use crate::plan::{Flow, Load, PlanBuilder, Start};
use crate::sizes::ENDLESS;
use std::fmt;
use std::io::{self, BufRead, Write};
use units::Time;

/// How to read a flow file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowFileOptions {
    /// How many hosts there are.
    pub hosts: u32,
    /// Ids count nodes, and these, ascending, are switches. Empty: ids count hosts, which is the same where hosts come
    /// before all switches.
    pub switches: Vec<u32>,
    /// What becomes instant 0. The simulators start traffic at 2 s by convention; zero keeps the times.
    pub time_origin: Time,
    /// Index of the traffic entry, for the flows.
    pub traffic: u8,
    /// Destination port where the file has none (conweave); HPCC writes 100.
    pub default_dst_port: u16,
}

/// Which of both formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowColumns {
    /// HPCC: source, destination, priority group, destination port, bytes, start.
    Six,
    /// conweave: the same without the port.
    Five,
}

/// What a flow file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowFile {
    /// The flows, sorted by start; in the order of the file where starts are equal.
    pub flows: Vec<Flow>,
    /// How the file was written; `None` if it has no flow.
    pub columns: Option<FlowColumns>,
    /// What was accepted but should be known.
    pub warnings: Vec<FlowWarning>,
}

/// Something unusual in a flow file that was read nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowWarning {
    /// Starts decrease; the flows were sorted, stably. The simulators need them sorted.
    Unsorted {
        /// The first line that starts before its predecessor.
        line: u64,
    },
    /// A connection matrix numbers the messages of its connections.
    Messages {
        /// The first such line.
        line: u64,
    },
    /// Starts finer than a picosecond were rounded to the nearest.
    Rounded {
        /// The first such line.
        line: u64,
    },
    /// Lines beyond the number that the first line promises were not read, as in the simulators.
    Surplus {
        /// The first of them.
        line: u64,
    },
}

impl fmt::Display for FlowWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlowWarning::Unsorted { line } => {
                write!(f, "line {line} starts before the line above it: flows were sorted by start")
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
                write!(f, "from line {line} on there are more flows than the first line promises: they were not read")
            }
        }
    }
}

const EXPECTED: &str =
    "<src> <dst> <priority group> <destination port> <bytes> <start s>, or the same without the port";
const HEADER: &str = "the number of flows";

/// What is allocated on the word of a header alone; more only as flows are read.
const TRUSTED_FLOWS: u64 = 1 << 16;

/// Reads a flow file; five or six columns, told apart by the first flow. `file` names it in errors.
///
/// # Errors
/// The line that is malformed or names a host that does not exist, sends to itself, has no bytes or a
/// priority group above 7, or starts before the time origin; a file with fewer flows than promised.
pub fn read_flow_file(reader: impl BufRead, file: &str, options: &FlowFileOptions) -> Result<FlowFile, FileError> {
    let mut lines = Lines::new(reader, file);
    let header = lines.next()?.map(|columns| parse_header(&columns));
    let promised = match header {
        None => return Err(lines.error(Problem::Empty(HEADER))),
        Some(promised) => promised.map_err(|problem| lines.error(problem))?,
    };
    let mut flows = Vec::with_capacity(promised.min(TRUSTED_FLOWS) as usize);
    let (mut columns, mut unsorted, mut rounded) = (None, None, None);
    let mut latest = Time::ZERO;
    while (flows.len() as u64) < promised {
        let Some(texts) = lines.next()? else {
            return Err(lines.error(Problem::Truncated { promised, found: flows.len() as u64 }));
        };
        let parsed = parse_flow(&texts, columns, options);
        let parsed = parsed.map_err(|problem| lines.error(problem))?;
        columns = Some(parsed.columns);
        if !parsed.exact {
            rounded.get_or_insert(FlowWarning::Rounded { line: lines.number() });
        }
        if parsed.start < latest {
            unsorted.get_or_insert(FlowWarning::Unsorted { line: lines.number() });
        }
        latest = parsed.start;
        flows.push(parsed.flow);
    }
    let surplus = lines.next()?.is_some().then(|| lines.number());
    let surplus = surplus.map(|line| FlowWarning::Surplus { line });
    if unsorted.is_some() {
        flows.sort_by_key(|flow| match flow.start {
            Start::At(at) => at,
            Start::After { .. } => Time::MAX,
        });
    }
    Ok(FlowFile { flows, columns, warnings: [unsorted, rounded, surplus].into_iter().flatten().collect() })
}

/// Appends the flows of a file.
///
/// # Errors
/// More flows than a plan holds.
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
    columns: FlowColumns,
    start: Time,
    exact: bool,
}

fn parse_flow(texts: &[&str], before: Option<FlowColumns>, options: &FlowFileOptions) -> Result<ParsedFlow, Problem> {
    let (&[src, dst, class, .., size, start], Some(columns)) = (texts, columns_of(texts.len())) else {
        return Err(Problem::Columns { found: texts.len(), expected: EXPECTED });
    };
    if before.is_some_and(|before| before != columns) {
        let expected = "as many as in the flows above";
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
    let (src, dst) = (host(src)?, host(dst)?);
    if src == dst {
        return Err(Problem::ToItself(src));
    }
    let in_class = class.parse().ok().filter(|class| *class < 8u8);
    let class = in_class.ok_or_else(|| not_number(class, "a priority group, 0 to 7"))?;
    let dst_port = match columns {
        FlowColumns::Six => number(texts[3], "a port, 0 to 65535")?,
        FlowColumns::Five => options.default_dst_port,
    };
    let size_bytes = number(size, "a size in bytes")?;
    if size_bytes == 0 || size_bytes == ENDLESS {
        return Err(not_number(size, "a size of at least 1 byte"));
    }
    let (ps, exact) =
        decimal::parse(start, 12).ok_or_else(|| not_number(start, "a start in seconds, below 213 days"))?;
    let start = Time::from_ps(ps);
    if start < options.time_origin {
        return Err(Problem::BeforeOrigin(options.time_origin));
    }
    let start = start - options.time_origin;
    let (traffic, load) = (options.traffic, Load::Transport);
    let flow = Flow { src, dst, size_bytes, start: Start::At(start), class, traffic, dst_port, path: None, load };
    Ok(ParsedFlow { flow, columns, start, exact })
}

fn columns_of(count: usize) -> Option<FlowColumns> {
    match count {
        6 => Some(FlowColumns::Six),
        5 => Some(FlowColumns::Five),
        _ => None,
    }
}

fn number<T: std::str::FromStr>(text: &str, expected: &'static str) -> Result<T, Problem> {
    text.parse().map_err(|_| not_number(text, expected))
}

/// Writes flows for the simulators, exact to the picosecond; `time_origin` is added to every start.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for what the format cannot say, before anything is written: a flow that
/// waits for others, has no end or is a datagram source, or starts that decrease. Any error of the writer.
pub fn write_flow_file(
    flows: &[Flow],
    mut writer: impl Write,
    columns: FlowColumns,
    time_origin: Time,
) -> io::Result<()> {
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
        // Nine decimals, as the simulators write, wherever that is exact.
        let seconds = seconds.strip_suffix("000").unwrap_or(&seconds);
        match columns {
            FlowColumns::Six => writeln!(writer, "{src} {dst} {class} {dst_port} {size_bytes} {seconds}")?,
            FlowColumns::Five => writeln!(writer, "{src} {dst} {class} {size_bytes} {seconds}")?,
        }
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn options() -> FlowFileOptions {
        FlowFileOptions { hosts: 320, switches: Vec::new(), time_origin: Time::ZERO, traffic: 2, default_dst_port: 100 }
    }
    fn read(text: &str) -> Result<FlowFile, String> {
        read_flow_file(text.as_bytes(), "flow.txt", &options()).map_err(|error| error.to_string())
    }

    /// HPCC's own topology.txt has its switch first.
    #[test]
    fn ids_count_nodes_where_switches_stand_among_hosts() {
        let options = FlowFileOptions { hosts: 4, switches: vec![0, 3], ..options() };
        let read = |line: &str| read_flow_file(format!("1\n{line} 3 100 5 2.0\n").as_bytes(), "f", &options);
        let ends = |line: &str| read(line).map(|file| (file.flows[0].src, file.flows[0].dst)).unwrap();
        assert_eq!([ends("1 2"), ends("4 5"), ends("2 4")], [(0, 1), (2, 3), (1, 2)]);
        let said = |line: &str| read(line).unwrap_err().to_string();
        assert_eq!(said("1 3"), "f:2: node 3 is a switch: flows go from host to host");
        assert_eq!(said("0 1"), "f:2: node 0 is a switch: flows go from host to host");
        assert_eq!(said("1 6"), "f:2: node 6 does not exist: there are 4 hosts and 2 switches, counted from 0");
    }

    #[test]
    fn hpcc_and_conweave_say_the_same() {
        let hpcc = read("2\n11 7 3 100 21256546 2.000000807\n191 70 3 100 29748 2.000002126\n").unwrap();
        let first = &hpcc.flows[0];
        assert_eq!((first.src, first.dst, first.class, first.dst_port), (11, 7, 3, 100));
        assert_eq!((first.size_bytes, first.traffic), (21_256_546, 2));
        assert_eq!(first.start, Start::At(Time::from_ps(2_000_000_807_000)));
        assert_eq!(hpcc.warnings, []);
        let conweave = read("2\n11 7 3 21256546 2.000000807\n191 70 3 29748 2.000002126\n").unwrap();
        assert_eq!(conweave.flows, hpcc.flows);
        assert_eq!((hpcc.columns, conweave.columns), (Some(FlowColumns::Six), Some(FlowColumns::Five)));
        assert_eq!(read("0\n").unwrap().columns, None);
    }

    #[test]
    fn the_origin_is_subtracted_when_asked() {
        let options = FlowFileOptions { time_origin: Time::from_s(2), ..options() };
        let read = |text: &str| read_flow_file(text.as_bytes(), "f", &options);
        let file = read("1\n0 1 3 100 5 2.0\n").unwrap();
        assert_eq!(file.flows[0].start, Start::At(Time::ZERO));
        let error = read("1\n0 1 3 100 5 1.9\n").unwrap_err().to_string();
        assert!(error.starts_with("f:2: the flow starts before the time origin 2s"), "{error}");
    }

    #[test]
    fn unusual_files_are_read_with_a_warning() {
        let file = read("4\n0 1 3 7 5 2.5\n0 2 3 7 5 2.0\n0 3 3 7 5 2.5\n0 4 3 7 5 2.00000000000049\nmore\n").unwrap();
        let order: Vec<u32> = file.flows.iter().map(|flow| flow.dst).collect();
        assert_eq!(order, [2, 4, 1, 3], "stable");
        let expected =
            [FlowWarning::Unsorted { line: 3 }, FlowWarning::Rounded { line: 5 }, FlowWarning::Surplus { line: 6 }];
        assert_eq!(file.warnings, expected);
        assert!(file.warnings.iter().all(|warning| warning.to_string().contains("line")));
    }

    #[test]
    fn each_error_names_the_line_and_what_would_be_right() {
        let fails = |text: &str, at: &str, what: &str| {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(&format!("flow.txt:{at}: ")) && error.contains(what), "{error}");
        };
        fails("", "1", "the file is empty: expected the number of flows");
        fails("many\n", "1", "`many` is not the number of flows");
        fails("-3\n", "1", "not the number of flows");
        fails("0 1 3 100 5 2.0\n", "1", "6 columns: expected the number of flows");
        fails("3\n0 1 3 100 5 2.0\n0 1 3 100 5 2.0\n", "3", "ends after 2 flows, but its first line promises 3");
        fails("99999999999\n", "1", "more than the 67108864");
        fails("67108864\n0 1 3 100 5 2.0\n", "2", "ends after 1 flows");
        fails("1\n320 1 3 100 5 2.0\n", "2", "host 320 does not exist: there are 320 hosts, 0 to 319");
        fails("1\n0 99999999999 3 100 5 2.0\n", "2", "host 99999999999 does not exist");
        fails("1\n7 7 3 100 5 2.0\n", "2", "host 7 sends to itself");
        fails("1\n0 1 8 100 5 2.0\n", "2", "`8` is not a priority group");
        fails("1\n0 1 3 65536 5 2.0\n", "2", "not a port");
        fails("1\n0 1 3 100 0 2.0\n", "2", "at least 1 byte");
        fails("1\n0 1 3 100 5.5 2.0\n", "2", "not a size");
        fails("1\n0 1 3 100 5 soon\n", "2", "`soon` is not a start");
        fails("1\n0 1 3 100 5 -2.0\n", "2", "not a start");
        fails("1\n0 1 3 100 5 1e9\n", "2", "213 days");
        fails("1\n0 1 3 5\n", "2", "4 columns");
        fails("1\n0 1 3 100 5 2.0 9\n", "2", "7 columns");
        fails("2\n0 1 3 100 5 2.0\n0 1 3 5 2.0\n", "3", "as many as in the flows above");
    }

    #[test]
    fn writing_refuses_what_the_format_cannot_say() {
        let mut flow = read("1\n0 1 3 100 5 2.0\n").unwrap().flows.remove(0);
        let mut out = Vec::new();
        write_flow_file(std::slice::from_ref(&flow), &mut out, FlowColumns::Six, Time::ZERO).unwrap();
        assert_eq!(out, b"1\n0 1 3 100 5 2.000000000\n");
        flow.size_bytes = ENDLESS;
        let mut untouched = Vec::new();
        let refused = write_flow_file(&[flow.clone()], &mut untouched, FlowColumns::Six, Time::ZERO);
        assert!(refused.unwrap_err().to_string().contains("flow 0 is endless"));
        flow.size_bytes = 1;
        flow.start = Start::After { waits_for: 1, delay: Time::ZERO };
        assert!(write_flow_file(&[flow], &mut untouched, FlowColumns::Six, Time::ZERO).is_err());
        assert!(untouched.is_empty());
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            rows in prop::collection::vec((0u32..300, 1u32..20, 0u8..8, 0u16.., 1u64..u64::MAX, 0u64..1 << 60), 0..30),
            origin_s in 0u64..3,
            six in prop::bool::ANY,
        ) {
            let columns = if six { FlowColumns::Six } else { FlowColumns::Five };
            let time_origin = Time::from_s(origin_s);
            let mut flows: Vec<Flow> = rows
                .into_iter()
                .map(|(src, offset, class, dst_port, size_bytes, ps)| Flow {
                    src,
                    dst: src + offset,
                    size_bytes,
                    start: Start::At(Time::from_ps(ps)),
                    class,
                    traffic: 2,
                    dst_port: if six { dst_port } else { 100 },
                    path: None,
                    load: Load::Transport,
                })
                .collect();
            flows.sort_by_key(|flow| match flow.start {
                Start::At(at) => at,
                Start::After { .. } => Time::MAX,
            });
            let mut text = Vec::new();
            write_flow_file(&flows, &mut text, columns, time_origin).unwrap();
            let options = FlowFileOptions { time_origin, ..options() };
            let file = read_flow_file(&text[..], "f", &options).unwrap();
            prop_assert_eq!(file.flows, flows);
            prop_assert_eq!(file.warnings, vec![]);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(prop::num::u8::ANY, 0..300)) {
            drop(read_flow_file(&bytes[..], "f", &options()));
        }

        #[test]
        fn any_columns_are_read_or_refused(text in "[0-9]{1,3}\n([0-9]{1,4} ([0-9.e]{1,6} ){3,5}[0-9.e]{1,8}\n){0,6}") {
            drop(read_flow_file(text.as_bytes(), "f", &options()));
        }
    }
}
