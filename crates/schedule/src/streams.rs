//! Lists of streams, and their paths on a fabric.

use crate::problem::{Link, ProblemError, StreamSpec};
use fabric::routing::{Forwarding, Mode};
use fabric::{Fabric, NodeId, PortIndex};
use serde::Deserialize;
use std::collections::BTreeSet;
use toml::Spanned;
use units::{Bytes, Time};

/// Error in a list of streams, with its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StreamsError {
    /// Line from 1; 0 if the error is not in one line.
    pub line: usize,
    /// Problem and correction.
    pub message: String,
}

pub(crate) fn at<T>(line: usize, message: impl Into<String>) -> Result<T, StreamsError> {
    Err(StreamsError { line, message: message.into() })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    stream: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Spanned<String>,
    from: Option<Spanned<String>>,
    to: Option<Spanned<String>>,
    path: Option<Spanned<Vec<String>>>,
    period: Spanned<String>,
    frame: Spanned<String>,
    start: Option<Spanned<String>>,
    deadline: Option<Spanned<String>>,
    class: Option<Spanned<u8>>,
}

/// Stream of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// First line of its table.
    pub line: usize,
    /// Name, unique in the list.
    pub name: String,
    /// Nodes of the path, or only its source and destination.
    pub nodes: Vec<String>,
    /// Set if `nodes` is the whole path.
    pub whole_path: bool,
    /// Period with one frame.
    pub period: Time,
    /// Bytes from destination address to FCS.
    pub frame_bytes: u64,
    /// Preferred start within the period, if the list states one.
    pub start: Option<Time>,
    /// Maximum latency.
    pub deadline: Option<Time>,
    /// Class, if the list states one.
    pub class: Option<u8>,
}

/// Maximum frame length of a list, in bytes. Jumbo frames have about 9.2 KB; the limit prevents overflow of times.
const MOST_FRAME_BYTES: u64 = 65_535;
/// Maximum period: a minute.
const MOST_PERIOD: Time = Time::from_s(60);

impl StreamsError {
    /// Converts an error of a problem with streams `listed`; adds the line of the stream.
    pub fn of(error: &ProblemError, listed: &[Listed]) -> StreamsError {
        let (ProblemError::NoPath { stream }
        | ProblemError::LongerThanPeriod { stream, .. }
        | ProblemError::Deadline { stream, .. }
        | ProblemError::Cycle { stream, .. }
        | ProblemError::Frames { stream, .. }) = error;
        let line = listed.iter().find(|one| &one.name == stream).map_or(0, |one| one.line);
        StreamsError { line, message: error.to_string() }
    }
}

/// Reads a TOML file of `[[stream]]` tables: `name`, `from` and `to` or a `path` of names, `period`, `frame`, and
/// optionally `start` and `deadline`.
///
/// # Errors
/// The first error, with its line.
pub fn parse(text: &str) -> Result<Vec<Listed>, StreamsError> {
    let all = parse_with_classes(text)?;
    match all.iter().find(|stream| stream.class.is_some()) {
        Some(stream) => {
            let name = &stream.name;
            at(stream.line, format!("stream `{name}` has a `class`, which only schedule worst-case uses"))
        }
        None => Ok(all),
    }
}

/// Like [`parse`]; streams may also have a `class`.
///
/// # Errors
/// The first error, with its line.
pub fn parse_with_classes(text: &str) -> Result<Vec<Listed>, StreamsError> {
    let line_of = |offset: usize| text.get(..offset).map_or(0, |before| before.matches('\n').count() + 1);
    let file: File = toml::from_str(text).map_err(|error| StreamsError {
        line: error.span().map_or(0, |span| line_of(span.start)),
        message: error.message().lines().next().unwrap_or("no TOML").to_owned(),
    })?;
    if file.stream.is_empty() {
        return at(0, "no stream stands in it: write [[stream]] with name, from, to, period and frame");
    }
    let mut names = BTreeSet::new();
    let mut all = Vec::new();
    for spanned in file.stream {
        let line = line_of(spanned.span().start);
        let entry = spanned.into_inner();
        let location = |span: std::ops::Range<usize>| line_of(span.start);
        let time = |value: &Spanned<String>, key: &str| {
            let parsed: Result<Time, _> = value.get_ref().parse();
            parsed.or_else(|error| at(location(value.span()), format!("{key}: {error}")))
        };
        let name = entry.name.get_ref().clone();
        if name.is_empty() || name.chars().any(char::is_control) {
            return at(location(entry.name.span()), "a name has letters, and no control characters");
        }
        if !names.insert(name.clone()) {
            return at(location(entry.name.span()), format!("stream `{name}` occurs twice"));
        }
        let (nodes, whole_path) = match (&entry.path, &entry.from, &entry.to) {
            (Some(path), None, None) if path.get_ref().len() >= 2 => (path.get_ref().clone(), true),
            (Some(path), None, None) => return at(location(path.span()), "a path names two nodes and more"),
            (None, Some(from), Some(to)) => (vec![from.get_ref().clone(), to.get_ref().clone()], false),
            _ => return at(line, format!("stream `{name}` needs `from` and `to`, or a `path`")),
        };
        let period = time(&entry.period, "period")?;
        if period == Time::ZERO || period > MOST_PERIOD {
            return at(location(entry.period.span()), format!("a period is above zero and at most {MOST_PERIOD}"));
        }
        let frame: Result<Bytes, _> = entry.frame.get_ref().parse();
        let frame_bytes = frame.or_else(|error| at(location(entry.frame.span()), format!("frame: {error}")))?.get();
        if !(64..=MOST_FRAME_BYTES).contains(&frame_bytes) {
            return at(location(entry.frame.span()), format!("a frame has 64 to {MOST_FRAME_BYTES} bytes"));
        }
        let start = entry.start.as_ref().map(|start| time(start, "start")).transpose()?.map(|start| start % period);
        let deadline = entry.deadline.as_ref().map(|deadline| time(deadline, "deadline")).transpose()?;
        let class = entry.class.as_ref().map(|class| match *class.get_ref() {
            class @ 0..8 => Ok(class),
            _ => at(location(class.span()), "a class is 0 to 7"),
        });
        let class = class.transpose()?;
        all.push(Listed { line, name, nodes, whole_path, period, frame_bytes, start, deadline, class });
    }
    Ok(all)
}

/// Returns all directed links of a fabric, by [`Fabric::port_number`].
pub fn links(fabric: &Fabric) -> Vec<Link> {
    let mut all = Vec::with_capacity(fabric.port_count());
    for node in fabric.node_ids() {
        for (port, peer) in fabric.ports(node).iter().enumerate() {
            let link = fabric.link(peer.link);
            let (rate, delay) = (link.rate, link.delay);
            all.push(Link { node: fabric.name(node).to_owned(), port: port as PortIndex, rate, delay });
        }
    }
    all
}

/// Finds the path of each stream: the listed one, or a shortest one from host to host.
///
/// # Errors
/// A missing node or link, with the stream's line.
pub fn on_fabric(fabric: &Fabric, listed: &[Listed]) -> Result<Vec<StreamSpec>, StreamsError> {
    let mut routes: Option<Forwarding> = None;
    let mut all = Vec::new();
    for (number, stream) in listed.iter().enumerate() {
        let name = &stream.name;
        let find = |node: &String| match fabric.find(node) {
            Some(found) => Ok(found),
            None => at(stream.line, format!("stream `{name}`: the fabric has no node `{node}`")),
        };
        let nodes: Vec<NodeId> = stream.nodes.iter().map(find).collect::<Result<_, _>>()?;
        let (first, last) = (nodes[0], nodes[nodes.len() - 1]);
        let (Some(from), Some(to)) = (fabric.host_index(first), fabric.host_index(last)) else {
            return at(stream.line, format!("stream `{name}`: its ends must be hosts"));
        };
        if from == to {
            return at(stream.line, format!("stream `{name}` goes from `{}` to itself", fabric.name(first)));
        }
        let path = if stream.whole_path {
            let mut path = Vec::new();
            for pair in nodes.windows(2) {
                let Some(port) = fabric.port_towards(pair[0], pair[1]) else {
                    let (a, b) = (fabric.name(pair[0]), fabric.name(pair[1]));
                    return at(stream.line, format!("stream `{name}` has no path: no link joins `{a}` and `{b}`"));
                };
                if pair[0] != first && !fabric.node(pair[0]).forwards() {
                    let node = fabric.name(pair[0]);
                    return at(stream.line, format!("stream `{name}`: `{node}` is a host that forwards nothing"));
                }
                path.push(fabric.port_number(pair[0], port));
            }
            path
        } else {
            if routes.is_none() {
                let built = Forwarding::build(fabric, Mode::ShortestPath);
                routes = Some(built.or_else(|error| at(stream.line, format!("stream `{name}`: {error}")))?);
            }
            let hops = routes.as_ref().map(|routes| routes.path(fabric, from, to, number as u32));
            match hops {
                Some(Ok(hops)) => hops.iter().map(|hop| fabric.port_number(hop.node, hop.port)).collect(),
                Some(Err(error)) => return at(stream.line, format!("stream `{name}` has no path: {error}")),
                None => Vec::new(),
            }
        };
        let mut once = path.clone();
        once.sort_unstable();
        once.dedup();
        if once.len() < path.len() {
            return at(stream.line, format!("stream `{name}`: its path takes a link twice"));
        }
        let Listed { name, period, frame_bytes, start, deadline, .. } = stream.clone();
        let start = start.unwrap_or(Time::ZERO);
        all.push(StreamSpec { name, period, frame_bytes, start, deadline, path });
    }
    Ok(all)
}
