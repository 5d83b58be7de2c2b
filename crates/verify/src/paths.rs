//! Readers of lists of expected paths, and of link names.

use crate::error::{PathFault, VerifyError};
use fabric::{Fabric, LinkId, NodeId, PortIndex};
use std::io::{BufRead, Read};

/// Maximum length of a line, longer than any path of 65,536 nodes. It bounds the memory for a file without line breaks.
const MAX_LINE_BYTES: u64 = 1 << 22;

/// One hop of a path: a node and its egress port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The node.
    pub node: NodeId,
    /// Egress port of the node.
    pub port: PortIndex,
}

/// One path of a list.
#[derive(Clone, Copy, Debug)]
pub struct ListedPath<'a> {
    /// Line number, from 1.
    pub line: u64,
    /// Every node except the last, with its egress port; at least one hop.
    pub hops: &'a [Hop],
    /// The last node.
    pub last: NodeId,
}

/// Reads a list of paths line by line; memory does not grow with the number of paths.
///
/// A line has the names of the nodes from source to destination, separated by blanks; `#` begins a comment. `A:port`
/// selects the egress port of `A` if several links lead to the next node.
#[derive(Debug)]
pub struct PathList<'f, R> {
    fabric: &'f Fabric,
    input: R,
    line: u64,
    text: Vec<u8>,
    walk: Walk,
}

impl<'f, R: BufRead> PathList<'f, R> {
    /// Creates a reader for paths of this fabric.
    pub fn new(fabric: &'f Fabric, input: R) -> PathList<'f, R> {
        PathList { fabric, input, line: 0, text: Vec::new(), walk: Walk::new(fabric) }
    }

    /// Returns the next path; `None` at the end of the list.
    ///
    /// # Errors
    /// [`VerifyError::Path`] with the line: an undefined name or port, a missing link, parallel links, a loop, a host
    /// that does not forward; [`VerifyError::Unreadable`].
    pub fn next_path(&mut self) -> Result<Option<ListedPath<'_>>, VerifyError> {
        loop {
            self.text.clear();
            self.line += 1;
            let read = (&mut self.input).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut self.text);
            let line = self.line;
            if read.map_err(|source| VerifyError::Unreadable { line, source })? == 0 {
                return Ok(None);
            }
            let wrong = |fault| VerifyError::Path { line, fault };
            if self.text.len() as u64 > MAX_LINE_BYTES {
                return Err(wrong(PathFault::TooLong { limit: MAX_LINE_BYTES }));
            }
            let text = std::str::from_utf8(&self.text).map_err(|_| wrong(PathFault::NotText))?;
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            let names = text.split('#').next().unwrap_or_default();
            if names.trim().is_empty() {
                continue;
            }
            let last = self.walk.read(self.fabric, names).map_err(wrong)?;
            return Ok(Some(ListedPath { line, hops: &self.walk.hops, last }));
        }
    }
}

/// State of the parser of paths, reused for each path.
#[derive(Debug)]
struct Walk {
    hops: Vec<Hop>,
    /// Per node: number of the last path that visited it, to detect loops.
    visited: Vec<u32>,
    number: u32,
}

impl Walk {
    fn new(fabric: &Fabric) -> Walk {
        Walk { hops: Vec::new(), visited: vec![0; fabric.nodes().len()], number: 0 }
    }

    fn visit(&mut self, fabric: &Fabric, node: NodeId) -> Result<(), PathFault> {
        if std::mem::replace(&mut self.visited[node.index()], self.number) == self.number {
            return Err(PathFault::Loop { node: fabric.name(node).to_owned() });
        }
        Ok(())
    }

    /// Reads the path of one line into `hops` and returns its last node.
    fn read(&mut self, fabric: &Fabric, names: &str) -> Result<NodeId, PathFault> {
        self.hops.clear();
        self.number = self.number.wrapping_add(1);
        if self.number == 0 {
            self.visited.fill(0);
            self.number = 1;
        }
        let mut words = names.split_whitespace();
        let first = words.next().unwrap_or_default();
        let (mut at, mut port) = element(fabric, first)?;
        let mut word = first;
        self.visit(fabric, at)?;
        for name in words {
            let (next, next_port) = element(fabric, name)?;
            if !self.hops.is_empty() && !fabric.node(at).forwards() {
                return Err(PathFault::HostDoesNotForward { host: fabric.name(at).to_owned() });
            }
            self.hops.push(Hop { node: at, port: towards(fabric, at, port, next)? });
            self.visit(fabric, next)?;
            (at, port, word) = (next, next_port, name);
        }
        if self.hops.is_empty() {
            return Err(PathFault::TooShort { nodes: 1 });
        }
        if port.is_some() {
            let (node, port) = word.rsplit_once(':').unwrap_or((word, ""));
            return Err(PathFault::LastPort { node: node.to_owned(), port: port.to_owned() });
        }
        Ok(at)
    }
}

/// Parses the element `A` or `A:port` of a path.
fn element(fabric: &Fabric, text: &str) -> Result<(NodeId, Option<PortIndex>), PathFault> {
    // Names may contain colons.
    if let Some(node) = fabric.find(text) {
        return Ok((node, None));
    }
    let unknown = || PathFault::UnknownNode { name: text.to_owned() };
    let (name, port) = text.rsplit_once(':').ok_or_else(unknown)?;
    let node = fabric.find(name).ok_or_else(unknown)?;
    let ports = fabric.ports(node).len();
    match port.parse::<PortIndex>() {
        Ok(number) if usize::from(number) < ports => Ok((node, Some(number))),
        _ => Err(PathFault::UnknownPort { node: name.to_owned(), port: port.to_owned(), ports }),
    }
}

/// Returns the port of `from` that leads to `to`; `port` selects one of several parallel links.
fn towards(fabric: &Fabric, from: NodeId, port: Option<PortIndex>, to: NodeId) -> Result<PortIndex, PathFault> {
    let name = |node| fabric.name(node).to_owned();
    if let Some(port) = port {
        let peer = fabric.ports(from)[usize::from(port)].peer;
        if peer != to {
            return Err(PathFault::PortLeadsElsewhere { from: name(from), port, leads_to: name(peer), to: name(to) });
        }
        return Ok(port);
    }
    let mut leading = fabric.ports(from).iter().enumerate().filter(|(_, peer)| peer.peer == to);
    let Some((port, _)) = leading.next() else {
        return Err(PathFault::NoLink { from: name(from), to: name(to) });
    };
    let port = port as PortIndex;
    match leading.count() {
        0 => Ok(port),
        more => Err(PathFault::Parallel { from: name(from), to: name(to), count: more + 1, port }),
    }
}

/// Returns the link with the name `A-B`, or `A:port-B` if several links join A and B. Node names may contain dashes.
///
/// # Errors
/// [`VerifyError::Link`] with the fault.
pub fn find_link(fabric: &Fabric, text: &str) -> Result<LinkId, VerifyError> {
    let mut fault = PathFault::NotALink { text: text.to_owned() };
    for (dash, _) in text.match_indices('-') {
        let (a, b) = (&text[..dash], &text[dash + 1..]);
        match (element(fabric, a), element(fabric, b)) {
            (Ok((a, port)), Ok((b, None))) => {
                let port = towards(fabric, a, port, b).map_err(VerifyError::Link)?;
                return Ok(fabric.ports(a)[usize::from(port)].link);
            }
            (Ok(_), Ok((b, Some(port)))) => {
                let node = fabric.name(b).to_owned();
                fault = PathFault::LastPort { node, port: port.to_string() };
            }
            // With a single dash there is only one way to split the text into two names: report the fault of these
            // names.
            (Err(other), _) | (_, Err(other)) if text.matches('-').count() == 1 => fault = other,
            _ => {}
        }
    }
    Err(VerifyError::Link(fault))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::{FabricBuilder, LinkSpec};
    use units::{Rate, Time};

    /// Makes a fabric with two links between `A` and `B`, a link between `leaf-1` and `B`, and one host at each switch.
    fn fabric() -> Fabric {
        let spec = LinkSpec::new(Rate::from_gbps(10), Time::from_ns(1));
        let mut builder = FabricBuilder::new("test");
        let hosts = ["H1", "H2", "H3"].map(|name| builder.add_host(name));
        let switches = ["A", "B", "leaf-1"].map(|name| builder.add_switch(name, 1));
        for (host, switch) in hosts.into_iter().zip(switches) {
            builder.connect(host, switch, spec);
        }
        for (a, b) in [(0, 1), (0, 1), (1, 2)] {
            builder.connect(switches[a], switches[b], spec);
        }
        builder.build().unwrap()
    }

    fn read(text: &str) -> Result<Vec<Vec<(String, u16)>>, String> {
        let fabric = fabric();
        let mut list = PathList::new(&fabric, text.as_bytes());
        let mut paths = Vec::new();
        loop {
            match list.next_path().map_err(|error| error.to_string())? {
                None => return Ok(paths),
                Some(ListedPath { hops, last, .. }) => {
                    let mut path: Vec<(String, u16)> =
                        hops.iter().map(|hop| (fabric.name(hop.node).to_owned(), hop.port)).collect();
                    path.push((fabric.name(last).to_owned(), u16::MAX));
                    paths.push(path);
                }
            }
        }
    }

    #[test]
    fn paths_are_lines_of_names_and_a_port_distinguishes_parallel_links() {
        let paths = read("# expected\n\nH1 A:2 B H2   # the second link\nH3 leaf-1\n").unwrap();
        let of = |path: &[(&str, u16)]| path.iter().map(|(name, port)| (name.to_string(), *port)).collect::<Vec<_>>();
        assert_eq!(paths[0], of(&[("H1", 0), ("A", 2), ("B", 0), ("H2", u16::MAX)]));
        assert_eq!(paths[1], of(&[("H3", 0), ("leaf-1", u16::MAX)]));
        assert_eq!(paths.len(), 2);
    }

    #[test]
    fn what_is_no_path_names_line_and_element() {
        let table = [
            ("# x\nH1 A Z", "line 2: the fabric has no node `Z`"),
            ("H1 A:x B H2", "line 1: `A` has no port x: it has 3, counted from 0"),
            ("H1 A:3 B H2", "line 1: `A` has no port 3: it has 3, counted from 0"),
            ("H1 A leaf-1 H3", "line 1: no link joins `A` and `leaf-1`"),
            ("H1 A B H2", "line 1: `A` and `B` are joined by 2 parallel links: write `A:1` for the one at port 1"),
            ("H1 A:0 B H2", "line 1: port 0 of `A` leads to `H1`, not to `B`"),
            ("A:1 B:1 A", "line 1: the path comes to `A` twice: an expected path has no loop"),
            ("H1", "line 1: a path needs at least two nodes, this one has 1"),
            ("H1 A:1", "line 1: `A:1` is the last node, and has an egress port"),
            ("A:1 B H2 B", "line 1: host `H2` does not forward: a path can only start or end there"),
        ];
        for (text, message) in table {
            assert_eq!(read(text).unwrap_err(), message);
        }
        let fabric = fabric();
        let error = PathList::new(&fabric, [0xff, b' ', b'A'].as_slice()).next_path().unwrap_err();
        assert_eq!(error.to_string(), "line 1: not UTF-8 text");
    }

    #[test]
    fn links_are_named_by_their_ends() {
        let fabric = fabric();
        let of = |text: &str| find_link(&fabric, text).map(|link| link.0).map_err(|error| error.to_string());
        assert_eq!((of("H1-A"), of("A:2-B"), of("B-leaf-1"), of("leaf-1-B")), (Ok(0), Ok(4), Ok(5), Ok(5)));
        let table = [
            ("A", "`A` is no link: write `A-B` with the names of its ends, or `A:port-B` for one of several"),
            ("A-C", "the fabric has no node `C`"),
            ("A-B", "`A` and `B` are joined by 2 parallel links: write `A:1` for the one at port 1"),
            ("A-leaf-1", "no link joins `A` and `leaf-1`"),
            ("A-B:1", "`B:1` is the last node, and has an egress port"),
            (
                "x-leaf-1",
                "`x-leaf-1` is no link: write `A-B` with the names of its ends, or `A:port-B` for one of several",
            ),
        ];
        for (text, message) in table {
            assert_eq!(of(text).unwrap_err(), message);
        }
    }
}
