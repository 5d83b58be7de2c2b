//! Explicit paths, one per line.
//!
//! ```text
//! # sender, switches, receiver; `name:port` selects the egress port of a node with parallel links
//! H1 T1 L1 T2 H5
//! H1 T1:5 L2 T2 H5
//! ```

use super::error::PathError;
use super::path::{Path, Visitor};
use fabric::{Fabric, NodeId, NodeKind, PortIndex};

/// Explicit paths, all of which are valid in the fabric that they were created for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathList {
    sources: Vec<NodeId>,
    out_ports: Vec<PortIndex>,
    /// End index in `out_ports` of each path's ports.
    ends: Vec<usize>,
}

impl PathList {
    /// Reads a file with one path per line, from host to host, as node names separated by blanks. A `#` begins a
    /// comment. `name:port` selects the egress port of a node; it is required if several links lead to the next node.
    ///
    /// # Errors
    /// [`PathError::Line`] for an unknown name or port, consecutive nodes without a link, parallel links without a
    /// selected port, a repeated node, a host in the middle that does not forward, or a first or last node that is not
    /// a host.
    pub fn read(fabric: &Fabric, text: &str) -> Result<PathList, PathError> {
        let mut list = PathList::default();
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = content.split_whitespace().collect();
            if !words.is_empty() {
                list.add(fabric, &words).map_err(|message| PathError::Line { line: index + 1, message })?;
            }
        }
        Ok(list)
    }

    /// Adds one path by the names of its nodes.
    ///
    /// # Errors
    /// Like [`read`](Self::read), without a line number.
    pub fn push<S: AsRef<str>>(&mut self, fabric: &Fabric, names: &[S]) -> Result<(), PathError> {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let location = || format!("path {}", names.join(" "));
        self.add(fabric, &names).map_err(|message| PathError::Element { location: location(), message })
    }

    /// Returns the number of paths.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Returns the paths.
    pub fn iter(&self) -> impl Iterator<Item = Path<'_>> {
        self.sources.iter().enumerate().map(|(index, &source)| {
            let from = if index == 0 { 0 } else { self.ends[index - 1] };
            Path { source, out_ports: &self.out_ports[from..self.ends[index]] }
        })
    }

    pub(super) fn visit(&self, visitor: &mut Visitor) {
        for path in self.iter() {
            if visitor(path).is_break() {
                return;
            }
        }
    }

    fn add(&mut self, fabric: &Fabric, words: &[&str]) -> Result<(), String> {
        let nodes = words.iter().map(|word| node(fabric, word)).collect::<Result<Vec<_>, _>>()?;
        let [(first, _), .., (last, _)] = nodes[..] else {
            return Err("a path needs at least a sender and a receiver".to_owned());
        };
        for end in [first, last] {
            if fabric.node(end).kind != NodeKind::Host {
                return Err(format!("a path leads from host to host, and `{}` is a switch", fabric.name(end)));
            }
        }
        let mut sorted: Vec<NodeId> = nodes.iter().map(|&(node, _)| node).collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("the path visits `{}` twice: paths must be free of loops", fabric.name(twice[0])));
        }
        let mut out_ports = Vec::with_capacity(nodes.len() - 1);
        for (index, pair) in nodes.windows(2).enumerate() {
            let [(from, stated), (to, _)] = [pair[0], pair[1]];
            if index > 0 && !fabric.node(from).forwards() {
                return Err(format!("host `{}` does not forward, so a path cannot pass it", fabric.name(from)));
            }
            out_ports.push(egress(fabric, from, stated, to)?);
        }
        if let (last, Some(port)) = nodes[nodes.len() - 1] {
            return Err(format!("`{}` is the last node and not left, by port {port} or any", fabric.name(last)));
        }
        self.sources.push(first);
        self.out_ports.append(&mut out_ports);
        self.ends.push(self.out_ports.len());
        Ok(())
    }
}

fn node(fabric: &Fabric, word: &str) -> Result<(NodeId, Option<PortIndex>), String> {
    if let Some(node) = fabric.find(word) {
        return Ok((node, None));
    }
    if let Some((name, port)) = word.rsplit_once(':')
        && let Some(node) = fabric.find(name)
    {
        let ports = fabric.ports(node).len();
        return match port.parse::<PortIndex>() {
            Ok(number) if usize::from(number) < ports => Ok((node, Some(number))),
            _ => Err(format!("`{name}` has no port `{port}`: it has {ports}, counted from 0")),
        };
    }
    Err(format!("the fabric has no node `{word}`"))
}

fn egress(fabric: &Fabric, from: NodeId, stated: Option<PortIndex>, to: NodeId) -> Result<PortIndex, String> {
    let (from_name, to_name) = (fabric.name(from), fabric.name(to));
    match stated {
        None => {
            let ports = (0..).zip(fabric.ports(from)).filter(|(_, port)| port.peer == to).map(|(port, _)| port);
            match ports.collect::<Vec<PortIndex>>()[..] {
                [] => Err(format!("no link joins `{from_name}` and `{to_name}`")),
                [only] => Ok(only),
                [first, .., last] => Err(format!(
                    "several links join `{from_name}` and `{to_name}`, by ports {first} to {last} of `{from_name}`: \
                     write `{from_name}:{first}` for the one at port {first}"
                )),
            }
        }
        Some(port) => {
            let peer = fabric.ports(from)[usize::from(port)].peer;
            if peer == to {
                return Ok(port);
            }
            Err(format!("port {port} of `{from_name}` leads to `{}`, not to `{to_name}`", fabric.name(peer)))
        }
    }
}
