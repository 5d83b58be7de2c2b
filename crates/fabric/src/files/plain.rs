//! What the graph formats have in common: nodes and links, and guesses at what they leave open.
//!
//! What is a host, in this order:
//!
//! 1. what the file says;
//! 2. without it, a name like `h7`, `host-3`, `server1`, `srv2`: such a word, then digits. How many links it has does
//!    not matter: a host with several stays one, and nothing passes through it. Where all nodes are called so, names
//!    say nothing;
//! 3. if that finds no host at all, every node with one link is one;
//! 4. if there is still none, each switch gets [`Options::hosts_per_switch`] hosts.
//!
//! [`Fabric::reason`] says for each node which of these it was.
//!
//! Ports number from 0 in the order of the links in the file; where the file names ports, the names are kept
//! ([`Fabric::port_name`]). Without tiers for all switches, the height of each is its distance to the nearest
//! host.

use super::error::FileError;
use super::text::shown;
use crate::names::visible;
use crate::{Fabric, FabricBuilder, LinkSpec, Node, NodeId, NodeKind};
use std::collections::HashMap;

/// What a graph does not say.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// Properties of links that do not state them.
    pub link: LinkSpec,
    /// Hosts to put on each switch if the file has none; 0 makes that an error.
    pub hosts_per_switch: u16,
}

/// A node as a file has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainNode {
    /// What links refer to.
    pub id: String,
    pub name: String,
    pub kind: Option<NodeKind>,
    /// Where the kind comes from, in the file's words: "kind linux".
    pub why: String,
    pub tier: Option<u8>,
    pub relay: bool,
}

/// One end of a link: the node's id, and the port's name or "".
pub(crate) type PlainEnd = (String, String);

/// A file's nodes and links, in its order.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    nodes: Vec<PlainNode>,
    by_id: HashMap<String, NodeId>,
    links: Vec<(NodeId, String, NodeId, String, LinkSpec)>,
}

pub(crate) fn fail<T>(place: impl Into<String>, message: impl Into<String>) -> Result<T, FileError> {
    Err(FileError::Element { place: place.into(), message: message.into() })
}

pub(crate) fn fail_line<T>(line: usize, message: impl Into<String>) -> Result<T, FileError> {
    Err(FileError::Line { line, message: message.into() })
}

impl Plain {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the file says of every node that it is one of these.
    pub fn all_are(&self, kind: NodeKind) -> bool {
        self.nodes.iter().all(|node| node.kind == Some(kind))
    }

    /// Adds a node; false if the id stands already.
    pub fn add(&mut self, node: PlainNode) -> bool {
        let id = NodeId(self.nodes.len() as u32);
        if self.by_id.insert(node.id.clone(), id).is_some() {
            return false;
        }
        self.nodes.push(node);
        true
    }

    /// The node with this id, to say more about it.
    pub fn node_mut(&mut self, id: &str) -> Option<&mut PlainNode> {
        let node = *self.by_id.get(id)?;
        self.nodes.get_mut(node.index())
    }

    /// The node with this id, which is added if it is new: its name is its id.
    pub fn node_or_new(&mut self, id: &str) -> &mut PlainNode {
        if !self.by_id.contains_key(id) {
            self.add(PlainNode { id: id.to_owned(), name: id.to_owned(), ..PlainNode::default() });
        }
        let node = self.by_id[id];
        &mut self.nodes[node.index()]
    }

    /// Adds a link; the first id that no node has is the error.
    pub fn connect(&mut self, a: &PlainEnd, b: &PlainEnd, spec: LinkSpec) -> Result<(), String> {
        let (Some(&from), Some(&to)) = (self.by_id.get(&a.0), self.by_id.get(&b.0)) else {
            return Err(if self.by_id.contains_key(&a.0) { b.0.clone() } else { a.0.clone() });
        };
        self.links.push((from, a.1.clone(), to, b.1.clone(), spec));
        Ok(())
    }

    /// The fabric, with what the file leaves open chosen as the module's documentation says.
    pub fn assemble(self, options: &Options) -> Result<Fabric, FileError> {
        let mut builder = FabricBuilder::new("file");
        let mut tiers_given = true;
        for node in &self.nodes {
            let is_host = node.kind == Some(NodeKind::Host);
            tiers_given &= is_host || node.tier.is_some();
            let id = builder.add(Node {
                name: node.name.clone(),
                kind: node.kind.unwrap_or(NodeKind::Switch),
                tier: if is_host { 0 } else { node.tier.unwrap_or(1) },
                relay: node.relay,
            });
            match node.kind {
                Some(_) => builder.because(id, node.why.clone()),
                None => builder.because(id, "nothing says that it is a host"),
            }
        }
        for (a, a_port, b, b_port, spec) in &self.links {
            let link = builder.connect(*a, *b, *spec);
            builder.name_ports(link, a_port, b_port);
        }
        self.choose_hosts(&mut builder, options)?;
        if !tiers_given {
            builder.infer_tiers();
        }
        let fabric = builder.build()?;
        fabric.check()?;
        Ok(fabric)
    }

    /// Rules 2 to 4.
    fn choose_hosts(&self, builder: &mut FabricBuilder, options: &Options) -> Result<(), FileError> {
        let ids = || (0..self.nodes.len() as u32).map(NodeId);
        let of = |id: NodeId| &self.nodes[id.index()];
        let open: Vec<NodeId> = ids().filter(|&id| of(id).kind.is_none()).collect();
        let mut by_name = open.clone();
        by_name.retain(|&id| builder.degree(id) > 0 && named_like_a_host(&of(id).name));
        if by_name.len() == self.nodes.len() {
            by_name.clear();
        }
        let has_hosts = !by_name.is_empty() || self.nodes.iter().any(|node| node.kind == Some(NodeKind::Host));
        let (chosen, why) = match has_hosts {
            true => (by_name, "named like a host"),
            false => (
                open.into_iter().filter(|&id| builder.degree(id) == 1).collect(),
                "has one link, and no node is called a host",
            ),
        };
        for &id in &chosen {
            builder.make_host(id);
            builder.because(id, why);
        }
        if has_hosts || !chosen.is_empty() {
            return Ok(());
        }
        if options.hosts_per_switch == 0 {
            return fail("nodes", "none is a host: say which are, or ask for hosts on each switch");
        }
        if !builder.has_room(self.nodes.len() as u64 * u64::from(options.hosts_per_switch)) {
            return Ok(());
        }
        for switch in ids() {
            for number in 1..=options.hosts_per_switch {
                let host = builder.add_host(format!("{}-h{number}", of(switch).name));
                builder.because(host, "put on each switch, since the file has none");
                builder.connect(host, switch, options.link);
            }
        }
        Ok(())
    }
}

/// What a file may call a host; any other kind is a switch.
const HOST_WORDS: [&str; 7] = ["host", "server", "endpoint", "nic", "client", "compute", "hca"];

/// A kind, type or role in the words of the field.
pub(crate) fn kind_of(text: &str) -> NodeKind {
    let host = HOST_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    if host { NodeKind::Host } else { NodeKind::Switch }
}

/// Why a node is what it is, where an attribute of the file says so: `kind linux`.
pub(crate) fn said_by(key: &str, word: &str) -> String {
    format!("{key} {}", visible(&shown(word)))
}

fn named_like_a_host(name: &str) -> bool {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let word = letters.trim_end_matches(['-', '_', '.']);
    letters.len() < name.len() && ["h", "host", "server", "srv"].iter().any(|host| word.eq_ignore_ascii_case(host))
}

/// The name of a port in a format that must have one: the file's own, or one made of its number that no other port
/// of the node has.
pub(crate) fn port_label(fabric: &Fabric, node: NodeId, port: u16, made: impl FnOnce(u16) -> String) -> String {
    if let Some(name) = fabric.port_name(node, port) {
        return name.to_owned();
    }
    let mut made = made(port);
    while fabric.port_named(node, &made).is_some() {
        made.push('x');
    }
    made
}

/// Links must keep both ends' port order: whether link order alone gives the ports back.
pub(crate) fn ports_follow_links(fabric: &Fabric) -> bool {
    fabric.node_ids().all(|node: NodeId| fabric.ports(node).windows(2).all(|pair| pair[0].link <= pair[1].link))
}
