//! Per-hop treatment of frames by a configuration: priority group, queue and DSCP. The comparison with Tagger rules and
//! the derivation of a rule table use it.

use crate::device::{DSCPS, Device, Port};
use crate::error::Fault;
use crate::judge::accepted;
use crate::options::QueueBinding;
use crate::read::SwitchConfig;
use fabric::{Fabric, NodeId, NodeKind, PortIndex};
use std::collections::{BTreeMap, BTreeSet};

/// Treatment of frames by the switches of a fabric.
#[derive(Debug)]
pub struct Binding<'a> {
    device: Device<'a>,
    /// Per node: bitmask of the queues that the maps of its ports select.
    fed: Vec<u32>,
    /// Bitmask of the queues whose strict priority is accepted.
    accepted_strict: u32,
}

/// Treatment of a frame between two ports of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Priority group that counts the frame.
    pub account: u8,
    /// Whether that priority group is lossless: it sends PFC frames instead of dropping.
    pub lossless: bool,
    /// Queue in which the frame waits.
    pub queue: u8,
    /// Whether that queue has a lossless profile, by the names of the profile and its pool.
    pub lossless_queue: bool,
    /// Whether neither the name of the queue's profile nor that of its pool contains lossless or lossy.
    pub unnamed_queue: bool,
    /// Whether that queue has a scheduler. Without one, nothing guarantees that it drains.
    pub scheduled: bool,
    /// Lowest-numbered strict-priority queue that can starve this queue if classes are mapped to it: a queue without a
    /// rate limit, or one of several queues whose rate limits together reach the port's rate.
    pub outranked_by: Option<u8>,
    /// Treatment at the next switch; `None` if the next node is a host.
    pub next: Option<NextHop>,
}

/// Treatment of a frame at the next switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// DSCP of the frame on arrival.
    pub dscp: u8,
    /// Priority group that counts the frame.
    pub account: u8,
    /// Whether that priority group is lossless.
    pub lossless: bool,
    /// Bitmask of the lossless groups at the next switch whose PFC frames pause the queue of the frame at this switch.
    pub stopped_by: u8,
}

/// A rule: frames counted in priority group `tag` that cross the switch from port `ingress` to port `egress` are
/// counted in priority group `new_tag` at the next switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImplementedRule {
    /// The switch.
    pub node: NodeId,
    /// Priority group at this switch, used as the tag: 1 to 7.
    pub tag: u8,
    /// Ingress port.
    pub ingress: PortIndex,
    /// Egress port.
    pub egress: PortIndex,
    /// Priority group at the next switch; if a host is next, the priority group at this switch.
    pub new_tag: u8,
}

/// The rule table that a configuration implements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImplementedRules {
    /// Rules, ordered by switch, priority group and ports. Frames that match no rule become lossy.
    pub rules: Vec<ImplementedRule>,
    /// Lossless priority groups, ascending: the tags.
    pub tags: Vec<u8>,
    /// Lossless priority groups of frames that arrive from hosts, ascending: the initial tags.
    pub first: Vec<u8>,
}

impl<'a> Binding<'a> {
    /// Binds the configurations to the switches of a fabric.
    ///
    /// # Errors
    /// Like [`crate::judge`], for the input that it refuses.
    pub fn new(
        fabric: &'a Fabric,
        configs: &'a [SwitchConfig],
        queues: QueueBinding,
    ) -> Result<Binding<'a>, Vec<Fault>> {
        let device = Device::new(fabric, configs, queues)?;
        let mut fed = vec![0; fabric.nodes().len()];
        device.ports().for_each(|(_, port)| fed[port.node.index()] |= queues_of(port));
        Ok(Binding { device, fed, accepted_strict: 0 })
    }

    /// Returns the binding in which these queues, a bitmask, may have strict priority above lossless queues. They are
    /// not among [`Hop::outranked_by`].
    #[must_use]
    pub fn with_accepted_strict(self, queues: u32) -> Binding<'a> {
        Binding { accepted_strict: queues, ..self }
    }

    /// Returns the assumptions about the accepted queues. The forwarding is unknown: they are about all pairs of two
    /// ports of a switch, all DSCPs, and all queues that maps can select. [`crate::judge`] considers the frames on the
    /// paths of its options, and so refuses queues that this function accepts.
    ///
    /// # Errors
    /// An accepted queue that has no strict priority above the queue of a lossless account at any such pair.
    pub fn accepted_strict(&self) -> Result<Vec<String>, Fault> {
        let device = &self.device;
        let mut starving: BTreeMap<u32, u32> = BTreeMap::new();
        for (number, egress) in device.ports() {
            // No frame leaves by the port of its arrival.
            let ports = device.ports_of(device.config(egress)).filter(|ingress| ingress.index != egress.index);
            let hops = ports.flat_map(|ingress| (0..DSCPS as u8).map(move |dscp| (ingress, dscp)));
            for (ingress, dscp) in hops {
                let (class, account) = device.classify(ingress, dscp, None, false);
                if ingress.lossless >> account & 1 == 1 {
                    let (queue, _) = device.leaves(ingress, egress, class, dscp, false);
                    *starving.entry(number).or_default() |= egress.starves(queue, self.fed_at(egress));
                }
            }
        }
        accepted::assumptions(device, self.accepted_strict, &starving)
    }

    /// Returns the bitmask of the queues of a port that maps can select. With the queue map of the ingress port these
    /// are the maps of all ports of the switch.
    fn fed_at(&self, egress: &Port) -> u32 {
        match self.device.binding {
            QueueBinding::Egress => queues_of(egress),
            QueueBinding::Ingress => self.fed[egress.node.index()],
        }
    }

    /// Returns the priority group that counts a frame of this DSCP outside of tunnels, and whether the group pauses.
    /// Returns `None` like [`Binding::hop`].
    pub fn account(&self, node: NodeId, ingress: PortIndex, dscp: u8) -> Option<(u8, bool)> {
        let device = &self.device;
        if usize::from(ingress) >= device.fabric.ports(node).len() || usize::from(dscp) >= DSCPS {
            return None;
        }
        let port = device.port(device.fabric.port_number(node, ingress) as u32)?;
        let (_, account) = device.classify(port, dscp, None, false);
        Some((account, port.lossless >> account & 1 == 1))
    }

    /// Returns the treatment of a frame of this DSCP by a switch, outside of tunnels; `None` if the node is no switch
    /// or has no such ports.
    pub fn hop(&self, node: NodeId, ingress: PortIndex, egress: PortIndex, dscp: u8) -> Option<Hop> {
        let device = &self.device;
        let ports = device.fabric.ports(node).len();
        if usize::from(ingress.max(egress)) >= ports || usize::from(dscp) >= DSCPS {
            return None;
        }
        let number = |port| device.fabric.port_number(node, port) as u32;
        let (from, to) = (device.port(number(ingress))?, device.port(number(egress))?);
        let (class, account) = device.classify(from, dscp, None, false);
        let (queue, dscp) = device.leaves(from, to, class, dscp, false);
        let starves = to.starves_beside(queue, self.fed_at(to), self.accepted_strict) & !self.accepted_strict;
        let next = device.peer(number(egress)).map(|(_, peer)| {
            let (_, account) = device.classify(peer, dscp, None, false);
            let stops = |group: &u8| {
                let sent = peer.sends[usize::from(*group)];
                let mut stops = (0..8usize).filter(|priority| sent >> priority & 1 == 1);
                peer.lossless >> group & 1 == 1 && stops.any(|priority| to.stops[priority] >> queue & 1 == 1)
            };
            let stopped_by = (0..8u8).filter(stops).fold(0, |bits, group| bits | 1 << group);
            NextHop { dscp, account, lossless: peer.lossless >> account & 1 == 1, stopped_by }
        });
        Some(Hop {
            account,
            lossless: from.lossless >> account & 1 == 1,
            queue,
            lossless_queue: to.lossless_queues >> queue & 1 == 1,
            unnamed_queue: to.unnamed_queues >> queue & 1 == 1,
            scheduled: to.scheduled >> queue & 1 == 1,
            outranked_by: (0..32u8).find(|other| starves >> other & 1 == 1),
            next,
        })
    }

    /// Returns the rules that the switches implement, independent of the forwarding. The tag of a frame is the priority
    /// group that counts it.
    ///
    /// The reason why rules cannot express the configuration: frames of one priority group, ingress port and egress
    /// port arrive in different groups at the next switch; a queue is paused by PFC frames of another group; lossy
    /// frames become lossless; there is a tunnel; or frames use priority group 0.
    pub fn rules(&self) -> Result<ImplementedRules, String> {
        let fabric = self.device.fabric;
        if let Some(node) = self.device.detours.keys().next() {
            return Err(format!("{}: frames enter a tunnel, whose maps are not those of ports", fabric.name(*node)));
        }
        // New tag, or lossy, by (switch, group, ingress, egress).
        let mut table: BTreeMap<(NodeId, u8, PortIndex, PortIndex), Option<u8>> = BTreeMap::new();
        let (mut tags, mut first) = (BTreeSet::new(), BTreeSet::new());
        for node in fabric.switches() {
            let ports = fabric.ports(node).len() as PortIndex;
            for (ingress, egress) in (0..ports).flat_map(|ingress| (0..ports).map(move |egress| (ingress, egress))) {
                for dscp in 0..DSCPS as u8 {
                    let Some(hop) = self.hop(node, ingress, egress, dscp) else { continue };
                    let location = || {
                        let port = |port| fabric.port_name(node, port).map_or_else(|| format!("{port}"), str::to_owned);
                        format!("{}: DSCP {dscp} from {} to {}", fabric.name(node), port(ingress), port(egress))
                    };
                    let new = new_tag(&hop).map_err(|why| format!("{}: {why}", location()))?;
                    if !hop.lossless {
                        continue;
                    }
                    if hop.account == 0 {
                        return Err(format!(
                            "{}: priority group 0 is lossless, and tag 0 is the lossy one",
                            location()
                        ));
                    }
                    tags.insert(hop.account);
                    tags.extend(new);
                    if fabric.node(fabric.ports(node)[usize::from(ingress)].peer).kind == NodeKind::Host {
                        first.insert(hop.account);
                    }
                    let known = *table.entry((node, hop.account, ingress, egress)).or_insert(new);
                    if known != new {
                        let tag = |tag: Option<u8>| tag.map_or("lossy".to_owned(), |tag| format!("in group {tag}"));
                        let (known, new) = (tag(known), tag(new));
                        return Err(format!("{}: leaves {new}, and other frames of its group {known}", location()));
                    }
                }
            }
        }
        let rule = |((node, tag, ingress, egress), new): ((NodeId, u8, PortIndex, PortIndex), Option<u8>)| {
            Some(ImplementedRule { node, tag, ingress, egress, new_tag: new? })
        };
        let rules = table.into_iter().filter_map(rule).collect();
        Ok(ImplementedRules { rules, tags: tags.into_iter().collect(), first: first.into_iter().collect() })
    }
}

/// Returns the bitmask of the queues that a port's queue map selects.
fn queues_of(port: &Port) -> u32 {
    port.queue.iter().fold(0, |bits, queue| bits | 1 << queue)
}

/// Returns the tag of a frame on departure; `None` if it becomes lossy. The error says why no rule can express the hop.
fn new_tag(hop: &Hop) -> Result<Option<u8>, String> {
    // The report assumes that queues with an unnamed profile are lossless.
    let drops = !hop.lossless_queue && !hop.unnamed_queue;
    let Some(next) = hop.next else { return Ok(Some(hop.account).filter(|_| !drops)) };
    match (hop.lossless, next.lossless) {
        (true, true) if drops => {
            Err(format!("waits in queue {}, which drops, and counts in a lossless group at both switches", hop.queue))
        }
        (false, true) => Err("becomes lossless at the next switch, and is not here".to_owned()),
        (false, false) => Ok(None),
        (true, true) if next.stopped_by == 1 << next.account => Ok(Some(next.account)),
        (true, false) if next.stopped_by == 0 => Ok(None),
        _ => Err(format!("waits in queue {}, which the PAUSE of another group than its own stops", hop.queue)),
    }
}
