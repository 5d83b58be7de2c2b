//! Trace of the tag of a packet along one path.

use crate::rules::{LOSSY_TAG, RuleTable, Tag};
use fabric::{Fabric, NodeId, PortIndex};

/// A node on a path, with the ports that the packet uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Switch, or a host that forwards.
    pub node: NodeId,
    /// Ingress port.
    pub in_port: PortIndex,
    /// Egress port.
    pub out_port: PortIndex,
}

/// Tag rewriting at one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Node and ports.
    pub step: Step,
    /// Tag at arrival.
    pub tag: Tag,
    /// Tag at departure; [`LOSSY_TAG`] for lossy.
    pub new_tag: Tag,
    /// Index of the matching rule among the rules of the node; `None` for the lossy default.
    pub rule: Option<usize>,
}

/// Reason why a list of names is not a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The list has fewer than three nodes.
    #[error("a path needs two ends and a switch between them, such as H1 T1 H2")]
    TooShort,
    /// The fabric has no node with this name.
    #[error("the fabric has no node `{name}`")]
    UnknownNode {
        /// Name of the node, as written.
        name: String,
    },
    /// The node does not have the selected egress port.
    #[error("`{node}` has no port `{port}`: its ports are 0 to {last}")]
    UnknownPort {
        /// The node.
        node: String,
        /// Requested port.
        port: String,
        /// Highest port of the node.
        last: usize,
    },
    /// Two consecutive nodes have no link.
    #[error("no link leads from `{from}` to `{to}`")]
    NoLink {
        /// First node.
        from: String,
        /// Second node.
        to: String,
    },
    /// The selected port leads to a node other than the next one.
    #[error("port {port} of `{from}` leads to `{leads}`, not to `{to}`")]
    OtherPeer {
        /// The node.
        from: String,
        /// Port of the node.
        port: PortIndex,
        /// Node to which the port leads.
        leads: String,
        /// Next node of the path.
        to: String,
    },
    /// Several links connect two nodes, and the list does not select one of them.
    #[error("ports {ports} of `{from}` lead to `{to}`: say which, as in {from}:{first}")]
    Parallel {
        /// First node.
        from: String,
        /// Second node.
        to: String,
        /// Egress ports of these links: "3, 4".
        ports: String,
        /// Lowest port of the parallel links.
        first: PortIndex,
    },
    /// A host that does not forward is in the middle of the path.
    #[error("`{host}` is a host that does not forward: only the ends of a path are hosts")]
    HostInside {
        /// The host.
        host: String,
    },
}

/// Returns the steps of a path given by node names, including the hosts at its ends. `NAME:PORT` selects the egress
/// port of a node, which is required for parallel links.
///
/// # Errors
/// [`TraceError`] with the invalid element.
pub fn steps<S: AsRef<str>>(fabric: &Fabric, names: &[S]) -> Result<Vec<Step>, TraceError> {
    if names.len() < 3 {
        return Err(TraceError::TooShort);
    }
    let nodes: Vec<(NodeId, Option<PortIndex>)> =
        names.iter().map(|name| element(fabric, name.as_ref())).collect::<Result<_, _>>()?;
    let mut arrives: Option<PortIndex> = None;
    let mut steps = Vec::with_capacity(names.len() - 2);
    for pair in nodes.windows(2) {
        let ((from, port), (to, _)) = (pair[0], pair[1]);
        let out_port = egress(fabric, from, port, to)?;
        if let Some(in_port) = arrives {
            if !fabric.node(from).forwards() {
                return Err(TraceError::HostInside { host: fabric.name(from).to_owned() });
            }
            steps.push(Step { node: from, in_port, out_port });
        }
        arrives = Some(fabric.ports(from)[usize::from(out_port)].peer_port);
    }
    Ok(steps)
}

/// Parses a name, or a name with a port. Since node names may contain a colon, the whole text is first looked up as a
/// name.
fn element(fabric: &Fabric, text: &str) -> Result<(NodeId, Option<PortIndex>), TraceError> {
    if let Some(node) = fabric.find(text) {
        return Ok((node, None));
    }
    let unknown = || TraceError::UnknownNode { name: text.to_owned() };
    let (name, port) = text.rsplit_once(':').ok_or_else(unknown)?;
    let node = fabric.find(name).ok_or_else(unknown)?;
    let ports = fabric.ports(node).len();
    let number = port.parse::<PortIndex>().ok().filter(|&port| usize::from(port) < ports);
    let (name, port, last) = (name.to_owned(), port.to_owned(), ports.saturating_sub(1));
    number.map(|port| (node, Some(port))).ok_or(TraceError::UnknownPort { node: name, port, last })
}

fn egress(fabric: &Fabric, from: NodeId, port: Option<PortIndex>, to: NodeId) -> Result<PortIndex, TraceError> {
    let names = || (fabric.name(from).to_owned(), fabric.name(to).to_owned());
    if let Some(port) = port {
        let peer = fabric.ports(from)[usize::from(port)].peer;
        if peer == to {
            return Ok(port);
        }
        let ((from, to), leads) = (names(), fabric.name(peer).to_owned());
        return Err(TraceError::OtherPeer { from, port, leads, to });
    }
    let leading = fabric.ports(from).iter().enumerate().filter(|(_, peer)| peer.peer == to);
    let leading: Vec<PortIndex> = leading.map(|(port, _)| port as PortIndex).collect();
    let (from, to) = names();
    match leading[..] {
        [] => Err(TraceError::NoLink { from, to }),
        [only] => Ok(only),
        [first, ..] => {
            let ports = leading.iter().map(PortIndex::to_string).collect::<Vec<_>>().join(", ");
            Err(TraceError::Parallel { from, to, ports, first })
        }
    }
}

/// Returns the tag rewriting at every node of a path, for a packet that enters with `first_tag`.
pub fn trace(table: &RuleTable, steps: &[Step], first_tag: Tag) -> Vec<Hop> {
    let mut tag = first_tag;
    let hop = |&step: &Step| {
        let matches = |rule: &crate::rules::Rule| {
            rule.tag == tag && rule.in_ports.contains(step.in_port) && rule.out_ports.contains(step.out_port)
        };
        let rules = table.rules_of(step.node);
        let rule = rules.iter().position(matches);
        let new_tag = rule.map_or(LOSSY_TAG, |at| rules[at].new_tag);
        let hop = Hop { step, tag, new_tag, rule };
        tag = new_tag;
        hop
    };
    steps.iter().map(hop).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Class, GeneratedBy, Rule, SwitchRules};
    use fabric::LinkSpec;
    use fabric::generate::{TierLinks, leaf_spine};
    use fabric::tags::PortSet;
    use units::{Rate, Time};

    fn two_leaves(parallel: u32) -> Fabric {
        let link = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
        leaf_spine(2, 2, 1, parallel, TierLinks::uniform(link)).unwrap()
    }

    #[test]
    fn a_path_is_followed_to_its_lossy_end() {
        let fabric = two_leaves(1);
        let set = |ports: &[u16]| ports.iter().copied().collect::<PortSet>();
        let rule =
            |tag, ins: &[u16], outs: &[u16], new_tag| Rule { tag, in_ports: set(ins), out_ports: set(outs), new_tag };
        let rules_of = |name: &str, rules| SwitchRules { node: fabric.find(name).unwrap(), rules };
        let switches = vec![
            rules_of("L1", vec![rule(1, &[0], &[1, 2], 1)]),
            rules_of("S1", vec![rule(1, &[0, 1], &[0, 1], 1)]),
            rules_of("L2", vec![rule(1, &[1, 2], &[1, 2], 2), rule(1, &[1, 2], &[0], 1)]),
        ];
        let classes = vec![Class { name: "default".to_owned(), first_tag: 1 }];
        let table = RuleTable::new(&fabric, GeneratedBy::default(), vec![1, 2], classes, switches);
        let tags = |names: &[&str]| {
            let hops = trace(&table, &steps(&fabric, names).unwrap(), 1);
            hops.iter().map(|hop| (hop.tag, hop.new_tag, hop.rule)).collect::<Vec<_>>()
        };
        assert_eq!(tags(&["H1", "L1", "S1", "L2", "H2"]), [(1, 1, Some(0)), (1, 1, Some(0)), (1, 1, Some(0))]);
        // The packet bounces at L2 and gets tag 2. S2 has no rule for tag 2, so the packet is lossy on the rest of the
        // path.
        let bounced = tags(&["H1", "L1", "S1", "L2", "S2", "L1", "H1"]);
        assert_eq!(bounced[2..], [(1, 2, Some(1)), (2, 0, None), (0, 0, None)]);
    }

    #[test]
    fn an_invalid_path_is_reported_with_its_element() {
        let fabric = two_leaves(1);
        let wrong = |names: &[&str]| steps(&fabric, names).unwrap_err().to_string();
        assert!(wrong(&["H1", "L1"]).contains("two ends"));
        assert_eq!(wrong(&["H1", "L9", "H2"]), "the fabric has no node `L9`");
        assert_eq!(wrong(&["H1", "L2", "H2"]), "no link leads from `H1` to `L2`");
        assert_eq!(wrong(&["H1", "L1:9", "H2"]), "`L1` has no port `9`: its ports are 0 to 2");
        assert_eq!(wrong(&["H1", "L1:1", "S2", "L2", "H2"]), "port 1 of `L1` leads to `S1`, not to `S2`");
        assert!(wrong(&["L1", "H1", "L1", "H1"]).contains("`H1` is a host"));
        let parallel = two_leaves(2);
        let names = ["H1", "L1", "S1", "L2", "H2"];
        let refused = steps(&parallel, &names).unwrap_err().to_string();
        assert_eq!(refused, "ports 1, 2 of `L1` lead to `S1`: say which, as in L1:1");
        assert!(steps(&parallel, &["H1", "L1:2", "S1:3", "L2", "H2"]).is_ok());
    }
}
