//! Lists of nodes and links by name, with the reason for the kind of each node.

use super::summary::grouped;
use crate::{Fabric, Node, NodeId, NodeKind};
use serde::Serialize;
use std::fmt::Write as _;

/// Maximum line length, in characters.
const WIDTH: usize = 110;

/// Maximum number of printed names or ranges per group; the JSON output has all names.
const MOST: usize = 200;

/// Node in the JSON output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedNode<'f> {
    /// Name.
    pub name: &'f str,
    /// Host or switch.
    pub kind: NodeKind,
    /// Tier.
    pub tier: u8,
    /// Set for a host that forwards frames of others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub relay: bool,
    /// Reason for the kind, if read from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'f str>,
}

/// End of a link in the JSON output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedEnd<'f> {
    /// The node.
    pub node: &'f str,
    /// Port, from 0.
    pub port: u16,
    /// Name of the port in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'f str>,
}

/// Link in the JSON output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedLink<'f> {
    /// First endpoint of the link.
    pub a: ListedEnd<'f>,
    /// Second endpoint of the link.
    pub b: ListedEnd<'f>,
    /// Rate, as text with unit.
    pub rate: String,
    /// Propagation delay, as text with unit.
    pub delay: String,
}

/// Returns all nodes, by number.
pub fn node_list(fabric: &Fabric) -> Vec<ListedNode<'_>> {
    let listed = |id| {
        let Node { name, kind, tier, relay } = fabric.node(id);
        ListedNode { name, kind: *kind, tier: *tier, relay: *relay, reason: fabric.reason(id) }
    };
    fabric.node_ids().map(listed).collect()
}

/// Returns all links, by number.
pub fn link_list(fabric: &Fabric) -> Vec<ListedLink<'_>> {
    let end = |end: crate::End| ListedEnd {
        node: fabric.name(end.node),
        port: end.port,
        name: fabric.port_name(end.node, end.port),
    };
    let listed = |link: &crate::Link| ListedLink {
        a: end(link.a),
        b: end(link.b),
        rate: link.rate.to_string(),
        delay: link.delay.to_string(),
    };
    fabric.links().iter().map(listed).collect()
}

/// Returns the names of all nodes as text: grouped by kind, tier and reason, sorted numerically, with consecutive
/// numbers as ranges.
pub fn names(fabric: &Fabric) -> String {
    let key = |id: NodeId| {
        let node = fabric.node(id);
        (node.kind == NodeKind::Switch, node.tier, node.relay, fabric.reason(id))
    };
    let mut all: Vec<NodeId> = fabric.node_ids().collect();
    all.sort_by_key(|&id| (key(id), id));
    let mut text = String::new();
    for group in all.chunk_by(|&a, &b| key(a) == key(b)) {
        let (switch, tier, relay, reason) = key(group[0]);
        let one = group.len() == 1;
        let what = match (switch, tier) {
            (false, _) if relay => if one { "host that forwards" } else { "hosts that forward" }.to_owned(),
            (false, _) => if one { "host" } else { "hosts" }.to_owned(),
            (true, tier) => format!("{} of tier {tier}", if one { "switch" } else { "switches" }),
        };
        let why = reason.map_or(String::new(), |reason| format!(" ({reason})"));
        let _ = writeln!(text, "\n{} {what}{why}", grouped(group.len()));
        let names: Vec<&str> = group.iter().map(|&id| fabric.name(id)).collect();
        wrap(&ranges(&names), &mut text);
    }
    text
}

/// Formats names as `h0 to h15, x, h17`: three or more consecutive numbers become a range.
pub(super) fn ranges(names: &[&str]) -> Vec<String> {
    let numbered = |name: &str| {
        let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = name[letters.len()..].parse::<u64>().ok()?;
        // Names with leading zeros are excluded: `h007` does not follow `h6`.
        (number.to_string().len() + letters.len() == name.len()).then(|| (letters.to_owned(), number))
    };
    let follows = |a: &str, b: &str| match (numbered(a), numbered(b)) {
        (Some((word, number)), Some((next, follower))) => word == next && number.checked_add(1) == Some(follower),
        _ => false,
    };
    let mut found = Vec::new();
    for run in names.chunk_by(|a, b| follows(a, b)) {
        match run {
            [first, _, .., last] => found.push(format!("{first} to {last}")),
            few => found.extend(few.iter().map(|&name| name.to_owned())),
        }
    }
    found
}

fn wrap(items: &[String], text: &mut String) {
    let mut column = 0;
    let more = items.len().saturating_sub(MOST);
    let rest = (more > 0).then(|| format!("and {} more, which --json lists", grouped(more)));
    let shown: Vec<&String> = items.iter().take(MOST).chain(&rest).collect();
    for (at, item) in shown.iter().enumerate() {
        let comma = if at + 1 < shown.len() { "," } else { "" };
        let width = item.chars().count() + comma.len() + 1;
        if column > 0 && column + width > WIDTH {
            text.push('\n');
            column = 0;
        }
        let _ = write!(text, "{}{item}{comma}", if column == 0 { "  " } else { " " });
        column += width + usize::from(column == 0);
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkSpec;
    use crate::generate::{TierLinks, leaf_spine};
    use units::{Rate, Time};

    #[test]
    fn names_that_count_on_are_ranges() {
        let list = ["h1", "h2", "h3", "h5", "h6", "h007", "h008", "h009", "x", "h10", "h11", "h12"];
        assert_eq!(ranges(&list), ["h1 to h3", "h5", "h6", "h007", "h008", "h009", "x", "h10 to h12"]);
        assert_eq!(ranges(&["h18446744073709551615", "h0", "", "9"]).len(), 4);
    }

    #[test]
    fn every_node_is_named_once_by_what_it_is() {
        let link = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
        let fabric = leaf_spine(4, 2, 8, 1, TierLinks::uniform(link)).unwrap();
        let expected =
            "\n32 hosts\n  H1 to H32\n\n4 switches of tier 1\n  L1 to L4\n\n2 switches of tier 2\n  S1, S2\n";
        assert_eq!(names(&fabric), expected);
        assert_eq!((node_list(&fabric).len(), link_list(&fabric).len()), (38, 40));
        let mut text = String::new();
        let many: Vec<String> = (0..1_000).map(|n| format!("node-{}", n * 2)).collect();
        wrap(&many, &mut text);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH + 1), "{text}");
        assert!(text.ends_with("and 800 more, which --json lists\n") && text.contains("node-398,"), "{text}");
    }
}
