//! `topology.txt` of the HPCC and conweave ns-3 forks.
//!
//! ```text
//! 4 1 3                     nodes, switches, links
//! 3                         the ids of the switches; every other node is a host
//! 0 3 100Gbps 1000ns 0      one link a line: ends, rate, delay, probability that a frame is lost
//! 1 3 100Gbps 1000ns 0
//! 2 3 100Gbps 0.001ms 0
//! what follows is comment
//! ```
//!
//! Node ids become [`NodeId`]s unchanged, with names `h<id>` and `s<id>`. Ports, which the forks count from 1
//! in order of appearance, count from 0 here in the same order. Tiers are the distance to the nearest host.

use super::error::FileError;
use super::plain::fail_line as fail;
use super::plain::ports_follow_links;
use super::text::{lines, shown};
use crate::{Fabric, FabricBuilder, LinkSpec, NodeId, NodeKind};
use std::fmt::Write as _;
use units::{Rate, Time};

struct Header {
    nodes: u64,
    switches: u64,
    links: u64,
}

fn header(line: usize, text: &str) -> Result<Header, FileError> {
    let mut words = text.split_whitespace();
    let mut count = |what: &str| match words.next() {
        None => fail(line, format!("the number of {what} is missing: the first line is `<nodes> <switches> <links>`")),
        Some(word) => word.parse::<u64>().or_else(|_| {
            fail(
                line,
                format!("`{}` is not a number of {what}: the first line is `<nodes> <switches> <links>`", shown(word)),
            )
        }),
    };
    let header = Header { nodes: count("nodes")?, switches: count("switches")?, links: count("links")? };
    if let Some(word) = words.next() {
        // ns-3 would take it for a switch id.
        return fail(line, format!("`{}` is one item more than `<nodes> <switches> <links>`", shown(word)));
    }
    if header.switches > header.nodes {
        return fail(line, format!("{} switches among {} nodes: there cannot be more", header.switches, header.nodes));
    }
    Ok(header)
}

/// Reads a topology.
///
/// # Errors
/// [`FileError::Line`] with the line that is truncated, has a word that is no node, rate, delay or
/// probability, or names a switch twice; [`FileError::Fabric`] if the nodes are not all connected. A header
/// that promises more than the file holds costs no memory.
pub fn read_hpcc(content: &str) -> Result<Fabric, FileError> {
    let last_line = content.lines().count().max(1);
    let mut lines = lines(content).peekable();
    let Some((line, text)) = lines.next() else {
        return fail(1, "the file is empty: the first line is `<nodes> <switches> <links>`");
    };
    let header = header(line, text)?;
    // Before anything is allocated: nodes that hang together need links, and every link a line of the file.
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
    for read in 0..header.links {
        let Some((line, text)) = lines.next() else {
            return fail(last_line, format!("the file ends after {read} of {} links", header.links));
        };
        let last = read + 1 == header.links;
        let (a, b, spec) = link(line, text, header.nodes, last)?;
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

fn link(line: usize, text: &str, nodes: u64, last: bool) -> Result<(NodeId, NodeId, LinkSpec), FileError> {
    let words: Vec<&str> = text.split_whitespace().take(6).collect();
    // ns-3 reads words, not lines: a sixth word would become the next link's first, but after the last
    // link everything is comment.
    if words.len() < 5 || (words.len() > 5 && !last) {
        let count = text.split_whitespace().count();
        return fail(line, format!("a link is `<a> <b> <rate> <delay> <loss>`, 5 items; this line has {count}"));
    }
    let quantity = |message: units::ParseQuantityError| FileError::Line { line, message: message.to_string() };
    let (a, b) = (node_id(line, words[0], nodes)?, node_id(line, words[1], nodes)?);
    let rate: Rate = words[2].parse().map_err(quantity)?;
    let delay: Time = words[3].parse().map_err(quantity)?;
    if delay == Time::ZERO {
        return fail(line, format!("the delay `{}` must be above zero, like 1000ns", words[3]));
    }
    match words[4].parse::<f64>() {
        Ok(loss) if (0.0..=1.0).contains(&loss) => Ok((a, b, LinkSpec { loss, ..LinkSpec::new(rate, delay) })),
        _ => fail(line, format!("`{}` is not a loss probability between 0 and 1", shown(words[4]))),
    }
}

/// A time as the forks read it: whole nanoseconds where it is exact, else picoseconds.
fn nanoseconds(time: Time) -> String {
    let ps = time.as_ps();
    if ps.is_multiple_of(1000) { format!("{}ns", ps / 1000) } else { format!("{ps}ps") }
}

/// Writes a topology. Names, tiers and kind are lost; ids and ports stay.
///
/// # Errors
/// [`FileError::NotExpressible`] for a bit error rate, a host that relays, or fewer than one switch.
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
