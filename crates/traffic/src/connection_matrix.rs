//! Connection matrices of htsim (`.cm`): flows, and triggers by which the completion of flows starts other flows.
//!
//! ```text
//! Nodes 16                     hosts, 0 to 15
//! Connections 3
//! Triggers 1
//! 0->13 id 1 start 0 size 2000000 send_done_trigger 1      start in ps or us, size in bytes
//! 4->13 id 2 start 500 size 2000000 recv_done_trigger 1
//! 13->0 id 3 trigger 1 size 4096                           waits
//! trigger id 1 barrier count 2                             oneshot, multishot, barrier
//! ```
//!
//! Kinds of triggers: `oneshot` starts all its flows at the first activation; `multishot` starts one more flow at
//! each activation, in file order; `barrier` starts all its flows at the `count`-th activation (without a count, when
//! all sources have activated it). A flow without `size`, or of size 0, has no end, as in htsim. `prio` is the
//! traffic class of its frames. `msg` is the number of a message of a connection; messages with the same `id` are
//! sent in the order of these numbers, and a `msg` without a number gets the next free number. A `failure` is
//! refused, because link failures are part of the scenario.
//!
//! In csg-htsim a start is in picoseconds, possibly with decimals (rounded to the picosecond); in uet-htsim it is in
//! whole microseconds. Without an explicit unit, starts are in microseconds if all are whole numbers below a million,
//! because in picoseconds all flows would start within a microsecond. A warning reports this unless all starts are 0.

use crate::decimal;
use crate::error::TrafficError;
use crate::flow_file::{FlowFileOptions, FlowWarning, StartUnit};
use crate::lines::{FileError, Lines, Problem, not_number};
use crate::plan::{Flow, FlowEvent, Load, PlanBuilder, Start};
use crate::sizes::ENDLESS;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use units::Time;

/// Contents of a connection matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionMatrix {
    /// Flows in file order. A waiting flow has the number of notifications that it waits for.
    pub flows: Vec<Flow>,
    /// Notifications: notifying flow, its event, and waiting flow.
    pub edges: Vec<(u32, FlowEvent, u32)>,
    /// Pairs of consecutive messages of one connection, as flow indices.
    pub follows: Vec<(u32, u32)>,
    /// Warnings about valid input.
    pub warnings: Vec<FlowWarning>,
}

/// Returns `true` if a file starts like a connection matrix: with `Nodes` and a number.
pub fn is_connection_matrix(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&content[..content.len().min(4096)]);
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
    let mut words = first.split_whitespace();
    words.next() == Some("Nodes") && words.next().is_some_and(|word| word.parse::<u64>().is_ok())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Oneshot,
    Multishot,
    Barrier(Option<u64>),
}

/// Identification of a flow in the file.
#[derive(Clone, Copy, Debug, Default)]
struct Names {
    id: Option<u64>,
    message: Option<MessageNumber>,
}

/// Number of the message of a flow on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MessageNumber {
    Number(u64),
    /// The next free number, which never equals an explicit number.
    Next,
}

/// Starts in the unit of their file, which is known only after all lines have been read.
#[derive(Debug, Default)]
struct WrittenStarts {
    /// Flow index, line number and text of each start, in file order.
    starts: Vec<(u32, u64, String)>,
}

/// Minimum start value that indicates picoseconds: no run of htsim starts a flow after one second.
const FIRST_IN_PICOSECONDS: u64 = 1_000_000;

impl WrittenStarts {
    fn unit(&self, options: &FlowFileOptions) -> StartUnit {
        let microseconds = |text: &str| text.parse::<u64>().is_ok_and(|start| start < FIRST_IN_PICOSECONDS);
        let guessed = if self.starts.iter().all(|(_, _, text)| microseconds(text)) {
            StartUnit::Microseconds
        } else {
            StartUnit::Picoseconds
        };
        options.start_unit.unwrap_or(guessed)
    }

    /// Sets the starts of the flows, in the unit of the file.
    fn resolve(&self, flows: &mut [Flow], options: &FlowFileOptions) -> Result<Vec<FlowWarning>, (u64, Problem)> {
        let unit = self.unit(options);
        let (decimals, expected) = match unit {
            StartUnit::Picoseconds => (0, "a start in picoseconds"),
            StartUnit::Microseconds => (6, "a start in microseconds"),
        };
        let (mut guessed, mut rounded) = (None, None);
        for &(flow, line, ref text) in &self.starts {
            let parsed = decimal::parse(text, decimals).ok_or_else(|| (line, not_number(text, expected)));
            let (ps, exact) = parsed?;
            let at = Time::from_ps(ps);
            if at < options.time_origin {
                return Err((line, Problem::BeforeOrigin(options.time_origin)));
            }
            flows[flow as usize].start = Start::At(at - options.time_origin);
            if options.start_unit.is_none() && ps != 0 {
                guessed.get_or_insert(FlowWarning::StartUnit { line, unit });
            }
            if !exact {
                rounded.get_or_insert(FlowWarning::Rounded { line });
            }
        }
        Ok([guessed, rounded].into_iter().flatten().collect())
    }
}

/// References of a flow to triggers: the trigger it waits for, and those it activates.
#[derive(Clone, Copy, Debug)]
struct TriggerReferences {
    line: u64,
    waits: Option<u64>,
    sent: Option<u64>,
    delivered: Option<u64>,
}

/// A trigger, with the flows that activate it (sources) and the flows that it starts (targets).
#[derive(Clone, Debug, Default)]
struct Trigger {
    /// Line and kind of the trigger's definition; `None` if only references have been read.
    defined: Option<(u64, Kind)>,
    sources: Vec<(u32, FlowEvent)>,
    targets: Vec<u32>,
    /// Line of the first reference to the trigger.
    line: u64,
}

/// Maximum number of notifications of all triggers of a file; it limits the memory to about a gigabyte.
const MAX_NOTIFICATIONS: u64 = 1 << 26;

const CONNECTION: &str = "<src>-><dst> [id <i>] [start <ps or us>] [trigger <t>] [size <bytes>] \
                          [send_done_trigger <t>] [recv_done_trigger <t>] [prio <p>] [msg [<m>]]";
const TRIGGER: &str = "trigger id <t> oneshot | multishot | barrier [count <n>]";

/// Reads a connection matrix. `file` is the file name in errors; `default_class` is the class of flows without
/// `prio`.
///
/// # Errors
/// If a line is malformed, refers to a host or trigger that does not exist, sends to its own source, waits for a
/// trigger that never fires or fires too few times, or is a duplicate; or if the file has fewer flows than announced.
pub fn read_connection_matrix(
    reader: impl BufRead,
    file: &str,
    default_class: u8,
    options: &FlowFileOptions,
) -> Result<ConnectionMatrix, FileError> {
    let mut lines = Lines::new(reader, file, "htsim connection matrix");
    let mut promised = None;
    let (mut flows, mut refers) = (Vec::new(), Vec::new());
    // Id and message number of each flow, to detect duplicates.
    let mut ids: BTreeSet<(u64, Option<MessageNumber>)> = BTreeSet::new();
    let mut starts = WrittenStarts::default();
    let mut triggers: BTreeMap<u64, Trigger> = BTreeMap::new();
    let mut warnings = Vec::new();
    // Per message: connection, number of the message, flow index.
    let mut messages: Vec<(u64, u64, u32)> = Vec::new();
    let mut next_messages: BTreeMap<u64, u64> = BTreeMap::new();
    // Owned copies, because the words would borrow `lines`, which is needed for errors.
    let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect::<Vec<String>>();
    while let Some(words) = lines.next()?.map(owned) {
        let number = lines.number();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let parsed = match words.as_slice() {
            ["Nodes", count] => nodes(count, options),
            ["Connections", count] => number_of(count, "a number of connections").map(|count| promised = Some(count)),
            ["Triggers" | "Failures", count] => number_of(count, "a number").map(|_| ()),
            ["trigger", rest @ ..] => trigger(rest).and_then(|(id, kind)| {
                let trigger = triggers.entry(id).or_default();
                match trigger.defined.replace((number, kind)) {
                    Some(_) => Err(Problem::Trigger(format!("trigger {id} is defined twice"))),
                    None => Ok(()),
                }
            }),
            ["failure", ..] => Err(Problem::Failure),
            [pair, rest @ ..] if pair.contains("->") => {
                connection(pair, rest, default_class, options).and_then(|(flow, refer, names, start)| {
                    let Names { id, message } = names;
                    if let Some(id) = id
                        && message != Some(MessageNumber::Next)
                        && !ids.insert((id, message))
                    {
                        let message = match message {
                            Some(MessageNumber::Number(message)) => format!(" with message {message}"),
                            _ => String::new(),
                        };
                        return Err(Problem::Trigger(format!("duplicate flow id {id}{message}")));
                    }
                    if message.is_some() && warnings.is_empty() {
                        warnings.push(FlowWarning::Messages { line: number });
                    }
                    if let (Some(id), Some(message)) = (id, message) {
                        let next = next_messages.entry(id).or_insert(0);
                        let message = match message {
                            MessageNumber::Number(message) => message,
                            MessageNumber::Next => *next,
                        };
                        *next = message.saturating_add(1).max(*next);
                        messages.push((id, message, flows.len() as u32));
                    }
                    if let Some(start) = start {
                        starts.starts.push((flows.len() as u32, number, start.to_owned()));
                    }
                    flows.push(flow);
                    refers.push(TriggerReferences { line: number, ..refer });
                    Ok(())
                })
            }
            words => Err(Problem::Columns { found: words.len(), expected: CONNECTION }),
        };
        parsed.map_err(|problem| lines.error(problem))?;
    }
    let promised = promised.ok_or_else(|| lines.error(Problem::Empty("`Nodes <n>` and `Connections <n>`")))?;
    if (flows.len() as u64) < promised {
        return Err(lines.error(Problem::Truncated { promised, found: flows.len() as u64 }));
    }
    let of_starts = starts.resolve(&mut flows, options);
    warnings.extend(of_starts.map_err(|(line, problem)| lines.error_at(line, problem))?);
    for (index, refer) in refers.iter().enumerate() {
        let named = [refer.waits, refer.sent, refer.delivered];
        for id in named.into_iter().flatten() {
            let trigger = triggers.entry(id).or_default();
            trigger.line = if trigger.line == 0 { refer.line } else { trigger.line };
        }
        let flow = index as u32;
        if let Some(trigger) = refer.waits.and_then(|id| triggers.get_mut(&id)) {
            trigger.targets.push(flow);
        }
        for (id, when) in [(refer.sent, FlowEvent::Sent), (refer.delivered, FlowEvent::Delivered)] {
            if let Some(trigger) = id.and_then(|id| triggers.get_mut(&id)) {
                trigger.sources.push((flow, when));
            }
        }
    }
    // Every target of a trigger waits for every source of the trigger.
    let pairs = triggers.values().map(|trigger| trigger.sources.len() as u64 * trigger.targets.len() as u64);
    let (pairs, limit) = (pairs.fold(0, u64::saturating_add), MAX_NOTIFICATIONS);
    if pairs > limit {
        let why = format!("the triggers of this file make {pairs} notifications, more than the {limit} that fit");
        return Err(lines.error(Problem::Trigger(why)));
    }
    let mut edges = Vec::new();
    for (id, trigger) in &triggers {
        let wired = wire(*id, trigger, &refers, &mut flows, &mut edges);
        wired.map_err(|(line, problem)| lines.error_at(line, problem))?;
    }
    let follows = follow(messages, &flows)
        .map_err(|(flow, why)| lines.error_at(refers[flow as usize].line, Problem::Trigger(why)))?;
    Ok(ConnectionMatrix { flows, edges, follows, warnings })
}

/// Returns the pairs of consecutive messages of each connection. An error contains the flow and its reason.
fn follow(mut messages: Vec<(u64, u64, u32)>, flows: &[Flow]) -> Result<Vec<(u32, u32)>, (u32, String)> {
    messages.sort_unstable();
    let mut follows = Vec::new();
    for pair in messages.windows(2) {
        let [(id, message, before), (next_id, next_message, next)] = [pair[0], pair[1]];
        if id != next_id {
            continue;
        }
        let of = |flow: u32| (flows[flow as usize].src, flows[flow as usize].dst, flows[flow as usize].class);
        if of(before) != of(next) {
            let why = format!(
                "messages {message} and {next_message} of connection {id} differ in their hosts or priority: give them \
                 different ids"
            );
            return Err((next, why));
        }
        if flows[before as usize].size_bytes == ENDLESS {
            let why =
                format!("message {message} of connection {id} is endless, so message {next_message} never starts");
            return Err((before, why));
        }
        follows.push((before, next));
    }
    Ok(follows)
}

/// Adds a notification from each source of a trigger to each of its targets. An error contains the line and its
/// reason.
fn wire(
    id: u64,
    trigger: &Trigger,
    refers: &[TriggerReferences],
    flows: &mut [Flow],
    edges: &mut Vec<(u32, FlowEvent, u32)>,
) -> Result<(), (u64, Problem)> {
    let Some((_, kind)) = trigger.defined else {
        let expected = format!("trigger {id} is not defined: write `trigger id {id} oneshot`");
        return Err((trigger.line, Problem::Trigger(expected)));
    };
    let fires = trigger.sources.len() as u64;
    for (index, &target) in trigger.targets.iter().enumerate() {
        // Each target counts the notifications of all sources; the n-th target of a multishot trigger starts at its
        // n-th notification.
        let needed = match kind {
            Kind::Oneshot => 1,
            Kind::Multishot => index as u64 + 1,
            Kind::Barrier(count) => count.unwrap_or(fires).max(1),
        };
        if needed > fires {
            let line = refers[target as usize].line;
            let why = match fires {
                0 => format!("nothing fires trigger {id}: this flow would never start"),
                _ => format!("trigger {id} fires at most {fires} times, this flow needs {needed}"),
            };
            return Err((line, Problem::Trigger(why)));
        }
        flows[target as usize].start = Start::After { waits_for: needed as u32, delay: Time::ZERO };
        edges.extend(trigger.sources.iter().map(|&(source, when)| (source, when, target)));
    }
    Ok(())
}

/// Appends the flows of a connection matrix.
///
/// # Errors
/// If the plan would exceed its limits.
pub fn replay_connection_matrix(matrix: ConnectionMatrix, builder: &mut PlanBuilder) -> Result<(), TrafficError> {
    builder.reserve("replay", matrix.flows.len() as u128, matrix.edges.len() as u128)?;
    let first = builder.len() as u32;
    for flow in matrix.flows {
        builder.flow(flow);
    }
    for (from, when, target) in matrix.edges {
        builder.count_towards(first + from, when, first + target);
    }
    for (before, next) in matrix.follows {
        builder.continues(first + before, first + next);
    }
    Ok(())
}

fn number_of(text: &str, expected: &'static str) -> Result<u64, Problem> {
    text.parse().map_err(|_| not_number(text, expected))
}

fn nodes(count: &str, options: &FlowFileOptions) -> Result<(), Problem> {
    match number_of(count, "a number of nodes")? {
        nodes if nodes > u64::from(options.hosts) => {
            Err(Problem::HostOutOfRange { id: nodes - 1, hosts: options.hosts, nodes: 0 })
        }
        _ => Ok(()),
    }
}

fn trigger(words: &[&str]) -> Result<(u64, Kind), Problem> {
    let (id, kind) = match words {
        ["id", id, "oneshot"] => (id, Kind::Oneshot),
        ["id", id, "multishot"] => (id, Kind::Multishot),
        ["id", id, "barrier"] => (id, Kind::Barrier(None)),
        ["id", id, "barrier", "count", count] | ["id", id, "barrier", count] => {
            (id, Kind::Barrier(Some(number_of(count, "how often a barrier is reached")?)))
        }
        _ => return Err(Problem::Columns { found: words.len() + 1, expected: TRIGGER }),
    };
    Ok((number_of(id, "the number of a trigger")?, kind))
}

/// Parses a flow that starts at time 0 or after a trigger. Returns also the text of its start time.
fn connection<'a>(
    pair: &str,
    mut words: &[&'a str],
    default_class: u8,
    options: &FlowFileOptions,
) -> Result<(Flow, TriggerReferences, Names, Option<&'a str>), Problem> {
    let host = |text: &str| {
        let id = number_of(text, "a host id")?;
        let known = u32::try_from(id).ok().filter(|id| *id < options.hosts);
        known.ok_or(Problem::HostOutOfRange { id, hosts: options.hosts, nodes: 0 })
    };
    let (src, dst) = pair.split_once("->").unwrap_or((pair, ""));
    let (src, dst) = (host(src)?, host(dst)?);
    if src == dst {
        return Err(Problem::ToItself(src));
    }
    let (mut size_bytes, mut start, mut class, mut names) = (ENDLESS, None, default_class, Names::default());
    let mut refer = TriggerReferences { line: 0, waits: None, sent: None, delivered: None };
    while let &[key, ref rest @ ..] = words {
        let text = rest.first().copied();
        if key == "msg" && text.is_none_or(|text| text.starts_with(|c: char| c.is_ascii_lowercase())) {
            names.message = Some(MessageNumber::Next);
            words = rest;
            continue;
        }
        let Some(text) = text else {
            let word: String = key.chars().take(40).collect();
            return Err(Problem::Trigger(format!("`{word}` has no value: expected {CONNECTION}")));
        };
        words = &rest[1..];
        match key {
            "id" => names.id = Some(number_of(text, "a flow id")?),
            "msg" => names.message = Some(MessageNumber::Number(number_of(text, "the number of a message")?)),
            "start" => start = Some(text),
            "size" => {
                size_bytes = match number_of(text, "a size in bytes")? {
                    0 => ENDLESS,
                    ENDLESS => return Err(not_number(text, "a size in bytes")),
                    bytes => bytes,
                };
            }
            "prio" => {
                let known = text.parse().ok().filter(|class| *class < 8u8);
                class = known.ok_or_else(|| not_number(text, "a priority, 0 to 7"))?;
            }
            "trigger" => refer.waits = Some(number_of(text, "the number of a trigger")?),
            "send_done_trigger" => refer.sent = Some(number_of(text, "the number of a trigger")?),
            "recv_done_trigger" => refer.delivered = Some(number_of(text, "the number of a trigger")?),
            other => {
                let other: String = other.chars().take(40).collect();
                return Err(Problem::Trigger(format!("`{other}` is not part of a connection: expected {CONNECTION}")));
            }
        }
    }
    let begins = match (start, refer.waits) {
        (Some(_), Some(_)) => {
            return Err(Problem::Trigger("a flow has a start or a trigger, not both".to_owned()));
        }
        // Placeholder until the trigger is known.
        (None, Some(_)) => Start::After { waits_for: 1, delay: Time::ZERO },
        // Placeholder until the unit of starts is known.
        (_, None) => Start::At(Time::ZERO),
    };
    let (traffic, dst_port) = (options.traffic, options.default_dst_port);
    let flow =
        Flow { src, dst, size_bytes, start: begins, class, traffic, dst_port, path: None, load: Load::Transport };
    Ok((flow, refer, names, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> FlowFileOptions {
        let start_unit = Some(StartUnit::Picoseconds);
        FlowFileOptions { hosts: 16, traffic: 1, start_unit, ..FlowFileOptions::default() }
    }

    fn read(text: &str) -> Result<ConnectionMatrix, String> {
        read_connection_matrix(text.as_bytes(), "x.cm", 3, &options()).map_err(|error| error.to_string())
    }

    const CHAIN: &str = "Nodes 16\nConnections 5\nTriggers 2\n\
        0->13 id 1 start 0 size 5000000000 send_done_trigger 1\n4->13 id 2 start 500 size 2000 recv_done_trigger 1 \
        prio 6\n\
        13->0 id 3 trigger 1 size 4096 send_done_trigger 2\n13->1 id 4 trigger 1 size 4096\n2->3 trigger 2\n\
        trigger id 1 KIND\ntrigger id 2 oneshot\n";

    #[test]
    fn flows_and_triggers() {
        let matrix = read(&CHAIN.replace("KIND", "barrier count 2")).unwrap();
        assert_eq!(matrix.flows.len(), 5);
        let first = &matrix.flows[0];
        assert_eq!((first.src, first.dst, first.size_bytes, first.class), (0, 13, 5_000_000_000, 3));
        assert_eq!((matrix.flows[1].start, matrix.flows[1].class), (Start::At(Time::from_ps(500)), 6));
        assert_eq!(matrix.flows[4].size_bytes, ENDLESS);
        let waits = |matrix: &ConnectionMatrix| {
            let of = |flow: &Flow| match flow.start {
                Start::After { waits_for, .. } => waits_for,
                Start::At(_) => 0,
            };
            matrix.flows.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(waits(&matrix), [0, 0, 2, 2, 1]);
        let edges = [
            (0, FlowEvent::Sent, 2),
            (1, FlowEvent::Delivered, 2),
            (0, FlowEvent::Sent, 3),
            (1, FlowEvent::Delivered, 3),
        ];
        assert_eq!(matrix.edges[..4], edges);
        assert_eq!(matrix.edges[4..], [(2, FlowEvent::Sent, 4)]);
        assert_eq!(matrix.warnings, []);
        assert_eq!(waits(&read(&CHAIN.replace("KIND", "oneshot")).unwrap()), [0, 0, 1, 1, 1], "the first starts both");
        assert_eq!(waits(&read(&CHAIN.replace("KIND", "multishot")).unwrap()), [0, 0, 1, 2, 1], "one at each");
        let mut builder = PlanBuilder::new();
        replay_connection_matrix(matrix, &mut builder).unwrap();
        assert_eq!(builder.build(16).unwrap().notifications.len(), 5);
    }

    /// htsim reads and writes starts as floating-point numbers.
    #[test]
    fn starts_may_have_decimals() {
        let text =
            "Nodes 4\nConnections 3\n0->1 start 10.000000 size 5\n1->2 start 1.5e3 size 5\n2->3 start 2.7 size 5\n";
        let matrix = read(text).unwrap();
        let starts: Vec<Start> = matrix.flows.iter().map(|flow| flow.start).collect();
        assert_eq!(starts, [10, 1500, 3].map(|ps| Start::At(Time::from_ps(ps))));
        assert_eq!(matrix.warnings, [FlowWarning::Rounded { line: 5 }]);
    }

    /// Without an explicit unit, `start 100` is ambiguous: 100 us in uet-htsim, 100 ps in csg-htsim.
    #[test]
    fn the_unit_of_starts_is_stated_or_guessed_with_a_warning() {
        let file = |start: &str| {
            format!("Nodes 32\nConnections 2\n0->31 id 1 start 0 size 800\n8->31 id 2 start {start} size 9\n")
        };
        let of = |start: &str, start_unit| {
            let options = FlowFileOptions { hosts: 32, start_unit, ..FlowFileOptions::default() };
            let matrix = read_connection_matrix(file(start).as_bytes(), "x.cm", 3, &options).unwrap();
            (matrix.flows[1].start, matrix.warnings)
        };
        let (ps, us) = (StartUnit::Picoseconds, StartUnit::Microseconds);
        let guessed = |unit| vec![FlowWarning::StartUnit { line: 4, unit }];
        assert_eq!(of("100", None), (Start::At(Time::from_us(100)), guessed(us)));
        assert_eq!(of("100", Some(us)), (Start::At(Time::from_us(100)), vec![]));
        assert_eq!(of("100", Some(ps)), (Start::At(Time::from_ps(100)), vec![]));
        assert_eq!(of("2500000", None), (Start::At(Time::from_ns(2500)), guessed(ps)));
        assert_eq!(of("10.0", None), (Start::At(Time::from_ps(10)), guessed(ps)));
        assert_eq!(of("0", None), (Start::At(Time::ZERO), vec![]), "nothing depends on the unit");
        assert!(guessed(us)[0].to_string().contains("start_unit"));
    }

    /// In files of uet-htsim, `msg` has no number; the message gets the next free one.
    #[test]
    fn a_message_without_a_number_is_the_next() {
        let line = "0->1 id 1 msg start 0 size 40860\n";
        let text = format!("Nodes 2\nConnections 3\nTriggers 0\n{line}{line}0->1 id 1 msg 7 start 0 size 40860\n");
        assert_eq!(read(&text).unwrap().flows.len(), 3);
        assert_eq!(read("Nodes 2\nConnections 1\n0->1 id 1 start 0 size 5 msg\n").unwrap().flows[0].size_bytes, 5);
        assert!(read(&text.replace("msg 7", "msg -7")).unwrap_err().contains("`-7` is not the number of a message"));
    }

    #[test]
    fn a_size_of_zero_is_endless_and_messages_share_an_id() {
        let text = "Nodes 4\nConnections 3\n0->1 id 1 msg 2 start 0 size 0\n0->1 id 1 msg 1 start 0 size 9\n\
                    0->1 id 2 start 0\n";
        let matrix = read(text).unwrap();
        let sizes: Vec<u64> = matrix.flows.iter().map(|flow| flow.size_bytes).collect();
        assert_eq!(sizes, [ENDLESS, 9, ENDLESS]);
        assert_eq!(matrix.warnings, [FlowWarning::Messages { line: 3 }]);
        assert_eq!(matrix.follows, [(1, 0)], "in the order of their numbers");
        let error = read(&text.replace("msg 1", "msg 3")).unwrap_err();
        assert!(error.contains("x.cm:3: message 2 of connection 1 is endless, so message 3"), "{error}");
        let error = read(&text.replace("0->1 id 1 msg 1", "0->2 id 1 msg 1")).unwrap_err();
        assert!(error.contains("x.cm:3: messages 1 and 2 of connection 1 differ in their hosts"), "{error}");
        let error = read(&text.replace("msg 2", "msg 1")).unwrap_err();
        assert!(error.contains("x.cm:4: duplicate flow id 1 with message 1"), "{error}");
    }

    /// One trigger with 100,000 sources and 100,000 targets: 3 MB of text would cause ten billion notifications.
    #[test]
    fn triggers_that_multiply_are_refused_before_they_do() {
        let mut text = String::from("Nodes 16\nConnections 200000\ntrigger id 1 oneshot\n");
        for _ in 0..100_000 {
            text += "0->1 start 0 size 1 send_done_trigger 1\n2->3 trigger 1 size 1\n";
        }
        let error = read(&text).unwrap_err();
        assert!(error.contains("make 10000000000 notifications, more than the"), "{error}");
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let chain = CHAIN.replace("KIND", "oneshot");
        for (from, to, expected) in [
            ("trigger id 2 oneshot\n", "", "x.cm:6: trigger 2 is not defined"),
            (" send_done_trigger 2", "", "x.cm:8: nothing fires trigger 2"),
            ("oneshot", "barrier count 3", "x.cm:6: trigger 1 fires at most 2 times, this flow needs 3"),
            ("trigger id 2 oneshot", "trigger id 1 oneshot", "x.cm:10: trigger 1 is defined twice"),
            ("trigger id 2 oneshot", "trigger id 2 sometimes", "x.cm:10: 4 columns: expected trigger id"),
            ("id 4", "id 3", "x.cm:7: duplicate flow id 3"),
            ("4->13", "4->16", "x.cm:5: host 16 does not exist"),
            ("4->13", "4->4", "x.cm:5: host 4 sends to itself"),
            ("size 2000 ", "size -1 ", "x.cm:5: `-1` is not a size"),
            ("size 2000 ", "size 18446744073709551615 ", "is not a size in bytes"),
            ("start 500", "start 1e30", "x.cm:5: `1e30` is not a start in picoseconds"),
            ("trigger id 2 oneshot", "failure switch_type TOR switch_id 0 link_id 1", "x.cm:10: a link failure"),
            ("start 500", "strat 500", "x.cm:5: `strat` is not part of a connection"),
            ("prio 6", "prio", "x.cm:5: `prio` has no value"),
            ("trigger 1 size", "start 7 trigger 1 size", "x.cm:6: a flow has a start or a trigger"),
            ("Nodes 16", "Nodes 17", "x.cm:1: host 16 does not exist"),
            ("Connections 5", "Connections 6", "the file ends after 5 flows, but its first line states 6"),
        ] {
            assert!(chain.contains(from), "{from}");
            let error = read(&chain.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(expected), "{to:?}: {error}");
        }
        assert!(is_connection_matrix(b"# x\n\nNodes 4\n") && !is_connection_matrix(b"2\n0 1 3 100 5 2.0\n"));
    }
}
