//! Exporter's view of one switch.

use super::error::ExportError;
use super::interfaces::Interfaces;
use super::marks::Marks;
use crate::rules::{LOSSY_TAG, Rule, RuleTable, Tag};
use fabric::{Fabric, Link, NodeId, NodeKind, PortIndex};
use std::collections::BTreeMap;
use units::{Rate, Time};

/// Cable of a port, which determines its buffers. The two ends of a link may state different cables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cable {
    /// Rate of the port.
    pub rate: Rate,
    /// One-way delay.
    pub delay: Time,
    /// Headroom of a lossless priority of the port after its PAUSE, in bytes.
    pub headroom_bytes: u64,
}

/// Port with its name on the switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortView {
    /// Name on the switch.
    pub interface: String,
    /// Node at the other end of the port's link.
    pub peer: String,
    /// Port at the other end of the port's link.
    pub peer_port: PortIndex,
    /// True if the other end is a host that does not forward: such a host does not use tags.
    pub to_host: bool,
    /// Rate of the link, as stated at this end.
    pub rate: Rate,
    /// One-way delay of the cable, as stated at this end.
    pub delay: Time,
    /// Bytes that a lossless priority of this port may still receive after the port has sent PAUSE for it.
    pub headroom_bytes: u64,
}

/// Switch: its ports, and its rules T[(tag, ingress port), egress port] = new tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchView {
    name: String,
    ports: Vec<PortView>,
    /// Rules in ascending order, each (tag, ingress port, egress port) once.
    rules: Vec<(Tag, PortIndex, PortIndex, Tag)>,
}

fn key(rule: &(Tag, PortIndex, PortIndex, Tag)) -> (Tag, PortIndex, PortIndex) {
    (rule.0, rule.1, rule.2)
}

impl SwitchView {
    /// Creates a switch from ports by number and rules as (tag, ingress port, egress port, new tag). Packets without a
    /// rule become lossy.
    ///
    /// # Errors
    /// [`ExportError::UnknownPort`], and [`ExportError::InterfaceTwice`] if two ports share a name.
    pub fn new(
        name: impl Into<String>,
        ports: Vec<PortView>,
        rules: impl IntoIterator<Item = (Tag, PortIndex, PortIndex, Tag)>,
    ) -> Result<SwitchView, ExportError> {
        let name = name.into();
        let mut rules: Vec<_> = rules.into_iter().collect();
        rules.sort_by_key(key);
        // Of two rules with the same match key, the later one applies.
        rules.dedup_by(|later, earlier| {
            let same = key(later) == key(earlier);
            if same {
                *earlier = *later;
            }
            same
        });
        let named = rules.iter().flat_map(|&(_, ingress, egress, _)| [ingress, egress]);
        if let Some(port) = named.max().filter(|&port| usize::from(port) >= ports.len()) {
            let last = ports.len().saturating_sub(1) as u32;
            return Err(ExportError::UnknownPort { switch: name, port: port.into(), last });
        }
        let mut known = BTreeMap::new();
        for (second, port) in ports.iter().enumerate() {
            if let Some(first) = known.insert(port.interface.as_str(), second) {
                let interface = port.interface.clone();
                return Err(ExportError::InterfaceTwice { switch: name, interface, first, second });
            }
        }
        Ok(SwitchView { name, ports, rules })
    }

    /// Creates the view of a node with its rules and named ports; `cable` returns the cable of an interface on a link.
    ///
    /// # Errors
    /// Like [`new`](Self::new) and [`Interfaces::name`].
    pub fn of(
        fabric: &Fabric,
        node: NodeId,
        rules: &[Rule],
        interfaces: &Interfaces,
        cable: impl Fn(&str, &Link) -> Cable,
    ) -> Result<SwitchView, ExportError> {
        let name = fabric.name(node);
        let port = |(port, peer): (usize, &fabric::PortPeer)| {
            let (link, other) = (fabric.link(peer.link), fabric.node(peer.peer));
            let interface = interfaces.name(fabric, node, port as PortIndex)?;
            let Cable { rate, delay, headroom_bytes } = cable(&interface, link);
            Ok(PortView {
                interface,
                peer: other.name.clone(),
                peer_port: peer.peer_port,
                to_host: !other.forwards(),
                rate,
                delay,
                headroom_bytes,
            })
        };
        let ports = fabric.ports(node).iter().enumerate().map(port).collect::<Result<_, ExportError>>()?;
        let unfolded = rules.iter().filter(|rule| rule.new_tag != LOSSY_TAG).flat_map(|rule| {
            let pairs =
                rule.in_ports.iter().flat_map(|ingress| rule.out_ports.iter().map(move |egress| (ingress, egress)));
            pairs.map(|(ingress, egress)| (rule.tag, ingress, egress, rule.new_tag))
        });
        SwitchView::new(name, ports, unfolded)
    }

    /// Returns the views of all switches of a fabric and all hosts with rules, by name, one at a time: expanded rules
    /// of a large fabric would fill the memory.
    pub fn all<'a>(
        fabric: &'a Fabric,
        table: &'a RuleTable,
        interfaces: &'a Interfaces,
        cable: impl Fn(&Link) -> Cable + 'a,
    ) -> impl Iterator<Item = Result<SwitchView, ExportError>> + 'a {
        let mut nodes: BTreeMap<&str, (NodeId, &[Rule])> =
            fabric.switches().map(|node| (fabric.name(node), (node, [].as_slice()))).collect();
        let named = table
            .switches()
            .iter()
            .filter(|switch| fabric.node(switch.node).kind == NodeKind::Switch || !switch.rules.is_empty());
        nodes.extend(named.map(|switch| (fabric.name(switch.node), (switch.node, switch.rules.as_slice()))));
        nodes.into_values().map(move |(node, rules)| Self::of(fabric, node, rules, interfaces, |_, link| cable(link)))
    }

    /// Removes the rules of ports to hosts for tags other than the initial tags `first_tags`; packets that arrive there
    /// with such a tag become lossy. Removing rules cannot create a cycle, and hosts can no longer send into the queues
    /// of bounced packets.
    #[must_use]
    pub fn trusting_hosts_with(mut self, first_tags: &[Tag]) -> SwitchView {
        let ports = &self.ports;
        let sent = |tag: Tag, ingress: PortIndex| first_tags.contains(&tag) || !ports[usize::from(ingress)].to_host;
        self.rules.retain(|&(tag, ingress, ..)| sent(tag, ingress));
        self
    }

    /// Returns the name in the fabric.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Returns the ports by number.
    pub fn ports(&self) -> &[PortView] {
        &self.ports
    }
    /// Returns the name of a port on the switch.
    pub fn interface(&self, port: PortIndex) -> &str {
        &self.ports[usize::from(port)].interface
    }
    /// Returns all port numbers.
    pub fn port_numbers(&self) -> std::ops::Range<PortIndex> {
        0..self.ports.len() as PortIndex
    }
    /// Returns the rules as (tag, ingress port, egress port, new tag), in that order.
    pub fn rules(&self) -> impl Iterator<Item = (Tag, PortIndex, PortIndex, Tag)> + '_ {
        self.rules.iter().copied()
    }
    /// Returns the number of rules.
    pub fn rule_count(&self) -> usize {
        self.rules.len()
    }
    /// Returns the tag of a packet at departure; `None` if it becomes lossy.
    pub fn new_tag(&self, tag: Tag, ingress: PortIndex, egress: PortIndex) -> Option<Tag> {
        let at = self.rules.binary_search_by_key(&(tag, ingress, egress), key);
        at.ok().map(|at| self.rules[at].3)
    }
    /// Like [`new_tag`](Self::new_tag), with the tag that [`Marks`] define for hosts if the port leads to one.
    pub fn shown_tag(&self, marks: &Marks, tag: Tag, ingress: PortIndex, egress: PortIndex) -> Option<Tag> {
        self.new_tag(tag, ingress, egress).map(|new| self.as_shown(marks, egress, new))
    }
    /// Like [`shown_tag`](Self::shown_tag), by egress port; `None` if packets with this tag that arrive at this port
    /// become lossy at all egress ports.
    pub fn shown_tags(&self, marks: &Marks, tag: Tag, ingress: PortIndex) -> Option<Vec<Option<Tag>>> {
        let first = self.rules.partition_point(|rule| key(rule) < (tag, ingress, 0));
        let rules = self.rules[first..].iter().take_while(|rule| (rule.0, rule.1) == (tag, ingress));
        let mut row = None;
        for &(_, _, egress, new) in rules {
            let row = row.get_or_insert_with(|| vec![None; self.ports.len()]);
            row[usize::from(egress)] = Some(self.as_shown(marks, egress, new));
        }
        row
    }
    /// Returns the largest number of lossless priorities of a port.
    pub fn most_lossless_priorities(&self, marks: &Marks) -> usize {
        self.lossless_priorities(marks).iter().map(Vec::len).max().unwrap_or(0)
    }
    /// Returns the lossless priorities of each port, ascending: the priorities of tags that arrive at the port, for
    /// which it sends PAUSE, and of tags that leave by the port, for which it obeys PAUSE.
    pub fn lossless_priorities(&self, marks: &Marks) -> Vec<Vec<u8>> {
        let mut found = vec![0u8; self.ports.len()];
        for &(tag, ingress, egress, new) in &self.rules {
            found[usize::from(ingress)] |= 1 << marks.priority(tag);
            found[usize::from(egress)] |= 1 << marks.priority(self.as_shown(marks, egress, new));
        }
        found.into_iter().map(|bits| (0..8).filter(|priority| bits >> priority & 1 == 1).collect()).collect()
    }
    fn as_shown(&self, marks: &Marks, egress: PortIndex, new: Tag) -> Tag {
        if self.ports[usize::from(egress)].to_host { marks.at_host(new) } else { new }
    }
}
