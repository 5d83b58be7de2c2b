//! `topology.txt` of the HPCC and conweave ns-3 forks and their derivatives.
//!
//! ```text
//! 4 1 3                     nodes, switches, links
//! 3                         the ids of the switches; every other node is a host
//! 0 3 100Gbps 1000ns 0      one link per line: ends, rate, delay, frame loss probability
//! 1 3 100Gbps 1000ns 0
//! 2 3 100Gbps 0.001ms 0
//! all further text is comment
//! ```
//!
//! Other simulators use a different first line; the lines of the links are identical:
//!
//! | first line | simulator |
//! |---|---|
//! | `<nodes> <switches> <links>` | HPCC, conweave, ns3-rdma (links without probability) |
//! | `<nodes> <switches> <ToRs> <links>`, optionally two rates | PowerTCP, ABM, Reverie |
//! | `<nodes> <GPUs a server> <NVSwitches> <other switches> <links> <GPU>`, optionally a number | SimAI |
//!
//! A rate without a unit is in bit/s, as in ns-3; below 1 Mbps it is rejected because its unit is probably missing.
//!
//! Node ids become [`NodeId`]s unchanged, with names `h<id>` and `s<id>`. The forks number ports from 1 in the order of
//! the links; Tidegate uses the same order and starts at 0. The tier of a switch is its distance to the nearest host.

use super::error::FileError;
use super::plain::fail_line as fail;
use super::plain::ports_follow_links;
use super::text::{lines, shown};
use crate::{Fabric, FabricBuilder, LinkSpec, NodeId, NodeKind};
use std::fmt::Write as _;
use units::{Rate, Time};

/// Minimum rate accepted without a unit; a lower rate was probably meant with a unit.
const SLOWEST_BARE_BPS: u64 = 1_000_000;

struct Header {
    nodes: u64,
    switches: u64,
    links: u64,
}

const FIRST_LINE: &str = "the first line is `<nodes> <switches> <links>`";
const FIRST_LINES: &str = "the first line is `<nodes> <switches> <links>`, `<nodes> <switches> <ToRs> <links>` \
                           (PowerTCP) or `<nodes> <GPUs a server> <NVSwitches> <switches> <links> <GPU>` (SimAI)";

fn header(line: usize, text: &str) -> Result<Header, FileError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |word: &str| word.trim_end_matches('0').trim_end_matches('.').parse::<u64>().is_ok() || word == "0";
    let gpu = words.get(5).is_some_and(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
    // Name of each count and its position in the line.
    let counts: &[(&str, usize)] = match words.len() {
        0..=3 => &[("nodes", 0), ("switches", 1), ("links", 2)],
        6 | 7 if gpu => &[("nodes", 0), ("NVSwitches", 2), ("switches", 3), ("links", 4), ("GPUs a server", 1)],
        4 => &[("nodes", 0), ("switches", 1), ("ToRs", 2), ("links", 3)],
        6 if number(words[4]) && number(words[5]) => &[("nodes", 0), ("switches", 1), ("ToRs", 2), ("links", 3)],
        count => return fail(line, format!("{count} items: {FIRST_LINES}")),
    };
    let expected = if words.len() <= 3 { FIRST_LINE } else { FIRST_LINES };
    let count = |what: &str| {
        let Some(&(_, at)) = counts.iter().find(|(name, _)| *name == what) else { return Ok(0) };
        match words.get(at) {
            None => fail(line, format!("the number of {what} is missing: {expected}")),
            Some(word) => word
                .parse::<u64>()
                .or_else(|_| fail(line, format!("`{}` is not a number of {what}: {expected}", shown(word)))),
        }
    };
    count("GPUs a server")?;
    let (nodes, switches) = (count("nodes")?, count("switches")?.saturating_add(count("NVSwitches")?));
    let (header, tors) = (Header { nodes, switches, links: count("links")? }, count("ToRs")?);
    if header.switches > header.nodes {
        return fail(line, format!("{} switches among {} nodes: there cannot be more", header.switches, header.nodes));
    }
    if tors > header.switches {
        return fail(line, format!("{tors} ToRs among {} switches: {FIRST_LINES}", header.switches));
    }
    Ok(header)
}

/// Reads a topology.
///
/// # Errors
/// [`FileError::Line`] with the line that is truncated, has an invalid node, rate, delay or probability, or names a
/// switch twice; [`FileError::Fabric`] if the graph is not connected. The counts in the header are compared with the
/// file before memory is allocated for them.
pub fn read_hpcc(content: &str) -> Result<Fabric, FileError> {
    let last_line = content.lines().count().max(1);
    let mut lines = lines(content).peekable();
    let Some((line, text)) = lines.next() else {
        return fail(1, "the file is empty: the first line is `<nodes> <switches> <links>`");
    };
    let header = header(line, text)?;
    // Checked before any allocation: n connected nodes need at least n - 1 links, and every link needs a line of the
    // file.
    if header.links > last_line as u64 {
        return fail(line, format!("{} links are announced, but the file has only {last_line} lines", header.links));
    }
    if header.nodes > header.links + 1 {
        let message =
            format!("{} links cannot connect {} nodes: it takes one fewer than nodes", header.links, header.nodes);
        return fail(line, message);
    }
    let mut is_switch = vec![false; header.nodes as usize];
    let mut named = 0;
    while named < header.switches {
        let Some((line, text)) = lines.next() else {
            let message = format!("the file ends after {named} of {} switch ids", header.switches);
            return fail(last_line, message);
        };
        for word in text.split_whitespace() {
            if named == header.switches {
                return fail(
                    line,
                    format!("`{}` is one switch id more than the {} announced", shown(word), header.switches),
                );
            }
            let id = node_id(line, word, header.nodes)?;
            if std::mem::replace(&mut is_switch[id.index()], true) {
                return fail(line, format!("switch {} is listed twice", id.0));
            }
            named += 1;
        }
    }
    let mut builder = FabricBuilder::new("file");
    builder.number_nodes();
    for (id, &switch) in is_switch.iter().enumerate() {
        if switch {
            let node = builder.add_switch(format!("s{id}"), 1);
            builder.because(node, "among the ids of switches");
        } else {
            let node = builder.add_host(format!("h{id}"));
            builder.because(node, "not among the ids of switches");
        }
    }
    let mut items = 5;
    for read in 0..header.links {
        let Some((line, text)) = lines.next() else {
            return fail(last_line, format!("the file ends after {read} of {} links", header.links));
        };
        if read == 0 && text.split_whitespace().count() == 4 {
            items = 4;
        }
        let last = read + 1 == header.links;
        let (a, b, spec) = link(line, text, header.nodes, last, items)?;
        if a == b {
            return fail(line, format!("the link connects node {} with itself", a.0));
        }
        builder.connect(a, b, spec);
    }
    builder.infer_tiers();
    let fabric = builder.build()?;
    fabric.check()?;
    Ok(fabric)
}

fn node_id(line: usize, word: &str, nodes: u64) -> Result<NodeId, FileError> {
    match word.parse::<u64>() {
        Ok(id) if id < nodes => Ok(NodeId(id as u32)),
        Ok(id) => fail(line, format!("node {id} does not exist: there are {nodes}, counted from 0")),
        Err(_) => fail(line, format!("`{}` is not a node id: it is a number below {nodes}", shown(word))),
    }
}

/// Parses a rate with a unit, or in bit/s.
fn rate(line: usize, word: &str) -> Result<Rate, FileError> {
    let bare = word
        .split_once('.')
        .map_or(word, |(whole, zeros)| if zeros.trim_matches('0').is_empty() { whole } else { word });
    match bare.parse::<u64>().ok().filter(|&bps| bps >= SLOWEST_BARE_BPS).and_then(Rate::from_bps) {
        Some(rate) => Ok(rate),
        None => word
            .parse()
            .map_err(|error: units::ParseQuantityError| FileError::Line { line, message: error.to_string() }),
    }
}

/// Parses a link line of `items` columns.
fn link(
    line: usize,
    text: &str,
    nodes: u64,
    last: bool,
    items: usize,
) -> Result<(NodeId, NodeId, LinkSpec), FileError> {
    let words: Vec<&str> = text.split_whitespace().take(6).collect();
    // ns-3 reads words, not lines, so an additional word would become the first word of the next link. The text after
    // the last link is a comment, but a number at the end of the last link's line is more likely an additional column.
    let comment = last && words.get(items).is_none_or(|word| word.parse::<f64>().is_err());
    if words.len() < items || (words.len() > items && !comment) {
        let count = text.split_whitespace().count();
        let expected = match items {
            4 => "`<a> <b> <rate> <delay>`, 4 items, as in the first line of links",
            _ => "`<a> <b> <rate> <delay> <loss>`, 5 items",
        };
        return fail(line, format!("a link is {expected}; this line has {count}"));
    }
    let (a, b) = (node_id(line, words[0], nodes)?, node_id(line, words[1], nodes)?);
    let rate = rate(line, words[2])?;
    let parsed = words[3].parse();
    let delay: Time =
        parsed.map_err(|error: units::ParseQuantityError| FileError::Line { line, message: error.to_string() })?;
    if delay == Time::ZERO {
        return fail(line, format!("the delay `{}` must be above zero, like 1000ns", words[3]));
    }
    let loss = words.get(4).filter(|_| items == 5);
    match loss.map_or(Ok(0.0), |loss| loss.parse::<f64>()) {
        Ok(loss) if (0.0..=1.0).contains(&loss) => Ok((a, b, LinkSpec { loss, ..LinkSpec::new(rate, delay) })),
        _ => fail(line, format!("`{}` is not a loss probability between 0 and 1", shown(words[4]))),
    }
}

/// Formats a time for the ns-3 forks: whole nanoseconds if exact, otherwise picoseconds.
fn nanoseconds(time: Time) -> String {
    let ps = time.as_ps();
    if ps.is_multiple_of(1000) { format!("{}ns", ps / 1000) } else { format!("{ps}ps") }
}

/// Writes a topology. Names, tiers and kind are lost; ids and ports are preserved.
///
/// # Errors
/// [`FileError::NotExpressible`] for a bit error rate, a host that relays, or a fabric without switches.
pub fn write_hpcc(fabric: &Fabric) -> Result<String, FileError> {
    let unable = |what: String| Err(FileError::NotExpressible { what });
    if let Some(relay) = fabric.nodes().iter().find(|node| node.relay) {
        return unable(format!("that host `{}` forwards for others", relay.name));
    }
    if let Some(link) = fabric.links().iter().find(|link| link.bit_error_rate != 0.0) {
        let (a, b) = (fabric.name(link.a.node), fabric.name(link.b.node));
        return unable(format!("the bit error rate between `{a}` and `{b}`: give the link a frame loss instead"));
    }
    debug_assert!(ports_follow_links(fabric));
    let switches: Vec<String> = (fabric.node_ids())
        .filter(|&node| fabric.node(node).kind == NodeKind::Switch)
        .map(|node| node.0.to_string())
        .collect();
    let mut text = format!("{} {} {}\n", fabric.nodes().len(), switches.len(), fabric.links().len());
    text.push_str(&switches.join(" "));
    text.push('\n');
    for link in fabric.links() {
        let (a, b, delay) = (link.a.node.0, link.b.node.0, nanoseconds(link.delay));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{a} {b} {} {delay} {}", link.rate, link.loss);
    }
    Ok(text)
}
