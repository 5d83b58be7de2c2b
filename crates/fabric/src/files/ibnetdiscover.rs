//! Output of InfiniBand's `ibnetdiscover`.
//!
//! ```text
//! Switch 8 "S-0002c902"    # "leaf1" enhanced port 0 lid 4 lmc 0
//! [1]  "H-0002c903"[1](2c904)    # "node1 HCA-1" lid 9 4xEDR
//! [3]  "S-0002c905"[1]           # "spine1" lid 2 4xEDR
//!
//! Ca 1 "H-0002c903"        # "node1 HCA-1"
//! [1](2c904)  "S-0002c902"[1]    # lid 9 lmc 0 "leaf1" lid 4 4xEDR
//! ```
//!
//! Channel adapters are hosts. SHARP aggregation nodes are functions inside a switch that are listed as channel
//! adapters; they are skipped unless the user names them as hosts. A node's name is its description if that is unique,
//! otherwise its id. The rate is the data rate of the link's width and speed. The output states no delays. Every cable
//! is listed at both ends and counts once; two different speeds are an error. A block of any other type is skipped with
//! its ports.

use super::error::FileError;
use super::plain::{Options, ParsedEnd, ParsedNode, ParsedTopology, counted, fail_line as fail, port_label};
use super::text::{lines, shown};
use crate::decision::Subject;
use crate::{Fabric, LinkSpec, NodeKind};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use units::Rate;

/// Data rate of one lane in Mbps, excluding the overhead of line coding (InfiniBand Architecture, volume 2).
const LANE_MBPS: [(&str, u64); 9] = [
    ("SDR", 2_000),
    ("DDR", 4_000),
    ("QDR", 8_000),
    ("FDR10", 10_000),
    ("FDR", 13_640),
    ("EDR", 25_000),
    ("HDR", 50_000),
    ("NDR", 100_000),
    ("XDR", 200_000),
];

/// Text in the description of a SHARP aggregation node's channel adapter.
const AGGREGATION_NODE: &str = "Aggregation Node";

/// Returns `true` if a line starts the block of a switch, channel adapter or router.
pub(crate) fn is_node(line: &str) -> bool {
    ["Switch\t", "Switch ", "Ca\t", "Ca ", "Rt\t", "Rt ", "Hca\t", "Hca "].iter().any(|word| line.starts_with(word))
        && line.contains('"')
}

/// Returns `true` if a line starts a block of an unknown kind, like `Foo 2 "X-0002"`.
fn is_other_block(line: &str) -> bool {
    line.starts_with(|c: char| c.is_ascii_alphabetic()) && line.contains('"')
}

/// Returns the text between the first pair of quotes, and the text after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = text.split_once('"')?;
    rest.split_once('"')
}

/// Returns the number in a leading `[3]`, and the text after it.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (number, rest) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    number.parse::<u16>().ok()?;
    Some((number, rest))
}

/// Parses `4xEDR` at the end of a line.
fn rate(text: &str) -> Option<Rate> {
    let (width, speed) = text.split_whitespace().next_back()?.split_once('x')?;
    let width = width.parse::<u64>().ok().filter(|width| (1..=16).contains(width))?;
    let (_, mbps) = LANE_MBPS.iter().find(|(name, _)| *name == speed)?;
    Rate::from_bps(width * mbps * 1_000_000)
}

/// Reads the output of `ibnetdiscover`.
///
/// # Errors
/// [`FileError::Line`] with the line that is not a valid port, or contradicts the other end of its cable;
/// [`FileError::Fabric`] if it is not a network.
pub fn read_ibnetdiscover(content: &str, options: &Options) -> Result<Fabric, FileError> {
    let mut plain = ParsedTopology::default();
    let mut descriptions: HashMap<String, u32> = HashMap::new();
    // Line, ends and properties of each cable, in the order of the file.
    let mut cables: Vec<(usize, [ParsedEnd; 2], LinkSpec)> = Vec::new();
    let mut known: BTreeMap<ParsedEnd, ParsedEnd> = BTreeMap::new();
    // Line and rate of each port.
    let mut rates: BTreeMap<ParsedEnd, (usize, Rate)> = BTreeMap::new();
    let mut current: Option<String> = None;
    let mut is_skipped = false;
    let mut names: Vec<(String, String)> = Vec::new();
    let mut unread = Vec::new();
    for (line, text) in lines(content) {
        if is_node(text) {
            let Some((id, rest)) = quoted(text) else { return fail(line, "a node needs its id in quotes") };
            let comment = rest.split_once('#').map_or("", |(_, comment)| comment);
            let description = quoted(comment).map_or(id, |(name, _)| name.trim());
            let kind = if text.starts_with("Switch") { NodeKind::Switch } else { NodeKind::Host };
            let why = format!("a block `{}`", text.split_whitespace().next().unwrap_or_default());
            let kind = Some(kind);
            let node = ParsedNode { id: id.to_owned(), name: id.to_owned(), kind, why, ..ParsedNode::default() };
            if !plain.add(node) {
                return fail(line, format!("the node `{}` occurs twice", shown(id)));
            }
            *descriptions.entry(description.to_owned()).or_default() += 1;
            names.push((id.to_owned(), description.to_owned()));
            current = Some(id.to_owned());
            is_skipped = false;
        } else if is_other_block(text) {
            let block = text.split('#').next().unwrap_or_default().trim_end();
            unread.push(format!("line {line}, a block `{}`", shown(block)));
            is_skipped = true;
        } else if is_skipped && text.starts_with('[') {
            // This line is a port of a skipped block, so it is ignored.
        } else if let Some((port, rest)) = bracketed(text) {
            let Some(node) = &current else { return fail(line, "a port before any `Switch` or `Ca`") };
            let peer = quoted(rest).and_then(|(peer, rest)| Some((peer, bracketed(rest)?.0)));
            let Some((peer, peer_port)) = peer else {
                return fail(line, "expected a port like `[1] \"S-0002\"[3] # \"leaf1\" lid 4 4xEDR`");
            };
            let ends = [(node.clone(), port.to_owned()), (peer.to_owned(), peer_port.to_owned())];
            let own_rate = rate(text);
            if let Some(rate) = own_rate {
                rates.insert(ends[0].clone(), (line, rate));
            }
            match known.get(&ends[0]) {
                Some(there) if *there == ends[1] => {
                    if let (Some(own), Some((other_line, other))) = (own_rate, rates.get(there))
                        && own != *other
                    {
                        let other = format!("{other} at the other end of the cable, line {other_line}");
                        return fail(line, format!("port {port} of `{}` has {own}, but {other}", shown(node)));
                    }
                }
                Some(there) => {
                    let there = format!("port {} of `{}`", there.1, shown(&there.0));
                    return fail(line, format!("port {port} of `{}` is connected to {there} already", shown(node)));
                }
                None => {
                    if let Some(other) = known.get(&ends[1]) {
                        let other = format!("port {} of `{}`", other.1, shown(&other.0));
                        let peer = shown(peer);
                        return fail(line, format!("port {peer_port} of `{peer}` is connected to {other} already"));
                    }
                    known.insert(ends[0].clone(), ends[1].clone());
                    known.insert(ends[1].clone(), ends[0].clone());
                    cables.push((line, ends, options.link));
                }
            }
        } else if !text.trim_start().starts_with('#') && !text.contains('=') {
            // `vendid=0x2c9` and similar lines precede a block.
            unread.push(format!("line {line}"));
        }
    }
    for (id, description) in &names {
        if descriptions.get(description) == Some(&1)
            && let Some(node) = plain.node_mut(id)
        {
            node.name = description.clone();
        }
    }
    let by_id: HashMap<&str, &str> = names.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    for (line, [a, b], mut spec) in cables {
        // One of the two ends may state no speed.
        let stated = rates.get(&a).or_else(|| rates.get(&b));
        spec.rate = stated.map_or(spec.rate, |(_, rate)| *rate);
        plain.connect(&a, &b, spec).or_else(|id| fail(line, format!("no block describes `{}`", shown(&id))))?;
    }
    let is_aggregation = |node: &ParsedNode| {
        // `node.name` is the id if several nodes have the same description, so the description is looked up by id.
        let description = by_id.get(node.id.as_str()).map_or("", |text| *text);
        description.contains(AGGREGATION_NODE) && !options.roles.host.iter().any(|of| of.matches(&node.name))
    };
    let gone = plain.retain(|node, _| !is_aggregation(node));
    let text = |count| format!("{} inside of switches left out", counted(count, "SHARP aggregation node"));
    plain.decide(Subject::LeftOut, text, gone);
    plain.decide(Subject::Unread, |count| format!("{} not read", counted(count, "unknown line")), unread);
    plain.assemble(options)
}

/// Writes all switches, then all hosts as channel adapters.
///
/// # Errors
/// [`FileError::NotExpressible`] for names with quotes.
pub fn write_ibnetdiscover(fabric: &Fabric) -> Result<String, FileError> {
    if let Some(node) = fabric.nodes().iter().find(|node| node.name.contains('"')) {
        return Err(FileError::NotExpressible { what: format!("the name `{}`, which has a quote", node.name) });
    }
    let is_host = |node: crate::NodeId| fabric.node(node).kind == NodeKind::Host;
    let id = |node: crate::NodeId| {
        let letter = if is_host(node) { 'H' } else { 'S' };
        format!("{letter}-{:016x}", node.0 + 1)
    };
    let port_of = |node: crate::NodeId, port: u16| {
        let label = port_label(fabric, node, port, |port| (u32::from(port) + 1).to_string());
        // InfiniBand ports are numbers. If any port of a node has a name that is not a number, all ports of the node
        // are renumbered.
        let numbers = |port: usize| fabric.port_name(node, port as u16).is_none_or(|name| name.parse::<u16>().is_ok());
        let all = (0..fabric.ports(node).len()).all(numbers);
        if all { label } else { (u32::from(port) + 1).to_string() }
    };
    let mut text = String::from("#\n# Topology file: written by tidegate\n#\n");
    let nodes = fabric.switches().chain(fabric.hosts().iter().copied());
    for node in nodes {
        let (kind, ports) = (if is_host(node) { "Ca" } else { "Switch" }, fabric.ports(node));
        let lid = node.0 + 1;
        let _ = writeln!(text, "\n{kind}\t{} \"{}\"\t\t# \"{}\" lid {lid}", ports.len(), id(node), fabric.name(node));
        for (number, port) in ports.iter().enumerate() {
            let speed = speed_name(fabric.link(port.link).rate).map_or(String::new(), |name| format!(" {name}"));
            let _ = writeln!(
                text,
                "[{}]\t\"{}\"[{}]\t\t# \"{}\" lid {}{speed}",
                port_of(node, number as u16),
                id(port.peer),
                port_of(port.peer, port.peer_port),
                fabric.name(port.peer),
                port.peer.0 + 1
            );
        }
    }
    Ok(text)
}

/// Returns an InfiniBand width and speed (`4xEDR`) with exactly this data rate; `None` if none exists.
fn speed_name(rate: Rate) -> Option<String> {
    let widths = [4u64, 1, 8, 12, 2];
    let all = widths.iter().flat_map(|width| LANE_MBPS.iter().map(move |(name, mbps)| (width, name, width * mbps)));
    let mut matching = all.filter(|(_, _, mbps)| mbps * 1_000_000 == rate.as_bps());
    matching.next().map(|(width, name, _)| format!("{width}x{name}"))
}
