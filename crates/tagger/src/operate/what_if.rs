//! Effect of a link failure: lossless traffic that becomes lossy on its alternative path.
//!
//! Two states are evaluated. *Local*: a switch at an end of the failed link that has no remaining next hop sends
//! packets to the neighbour nearest to the destination, while all other switches keep their routes; in this state
//! packets can bounce. *Converged*: routes are recomputed without the link.

use crate::rules::{Lookup, RuleTable, Tag};
use fabric::routing::{FailedPorts, Forwarding, Mode, RoutingError};
use fabric::{Fabric, LinkId, NodeId, PortIndex};
use std::borrow::Cow;
use std::collections::HashMap;

/// Effect of a link failure on pairs of hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Pairs of hosts (sender, receiver) that have a lossy path after the failure and had none before.
    pub lossy: u64,
    /// Mean share of the packets of these pairs that take a lossy path, per million, if every switch spreads packets
    /// evenly over its next hops.
    pub lossy_per_million: u64,
    /// Pairs of hosts that have a path without a next hop after the failure and had none before.
    pub cut: u64,
    /// Pairs of hosts whose packets can loop without becoming lossy. Only rules that permit a deadlock allow this.
    pub looping: u64,
    /// A path that is lossy after the failure: its nodes in order, up to the switch whose rules make packets lossy.
    pub example: Option<Vec<NodeId>>,
}

/// A link between two switches, with the effects of its failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkFailureEffects {
    /// The link.
    pub link: LinkId,
    /// Effect before routing has converged (local rerouting).
    pub local: Effect,
    /// Effect after routing has converged.
    pub converged: Effect,
}

/// Fixed-point value of the share 1 (all packets).
const ALL: u64 = 1 << 32;

/// Possible outcomes of the packets in a state, as a union of bits, and the share of packets that become lossy.
#[derive(Clone, Copy, Default)]
struct PacketOutcome {
    bits: u8,
    lossy: u64,
}

impl PacketOutcome {
    const LOST: PacketOutcome = PacketOutcome { bits: LOSSY, lossy: ALL };

    fn of(bits: u8) -> PacketOutcome {
        PacketOutcome { bits, lossy: 0 }
    }
    fn has(self, bit: u8) -> bool {
        self.bits & bit != 0
    }
    /// Returns the outcome of packets that are spread evenly over `parts`.
    fn mean(parts: impl Iterator<Item = PacketOutcome>) -> PacketOutcome {
        let mut mean = PacketOutcome::default();
        let mut count = 0;
        for part in parts {
            (mean.bits, mean.lossy, count) = (mean.bits | part.bits, mean.lossy + part.lossy, count + 1);
        }
        let share = mean.lossy.checked_div(count);
        share.map_or(PacketOutcome::of(CUT), |lossy| PacketOutcome { lossy, ..mean })
    }
}

const LOSSY: u8 = 1;
const CUT: u8 = 2;
const LOOP: u8 = 4;
const BEGUN: u8 = 8;
const KNOWN: u8 = 16;

/// Method by which the nodes of a state select next hops.
enum PacketForwarding<'a> {
    /// According to these routes.
    Routes(&'a Forwarding),
    /// According to these routes, with local rerouting around a dead link at both of its ends.
    Around { routes: &'a Forwarding, dead: [(NodeId, FailedPorts); 2] },
}

impl PacketForwarding<'_> {
    fn ports(&self, fabric: &Fabric, node: NodeId, host: u32, ingress: Option<PortIndex>) -> Cow<'_, [PortIndex]> {
        let (PacketForwarding::Routes(routes) | PacketForwarding::Around { routes, .. }) = self;
        let ports = match ingress {
            Some(port) => routes.lookup_from(node, host, port),
            None => routes.lookup(node, host),
        };
        let PacketForwarding::Around { dead, .. } = self else { return Cow::Borrowed(ports) };
        let Some((_, dead)) = dead.iter().find(|(end, _)| *end == node) else { return Cow::Borrowed(ports) };
        let alive: Vec<PortIndex> = ports.iter().copied().filter(|&port| !dead.contains(port)).collect();
        Cow::Owned(if alive.is_empty() { routes.fallback(fabric, node, host, dead) } else { alive })
    }
}

/// Numbers of senders to one destination host that a link failure affects, by effect (see [`Effect`]).
#[derive(Clone, Default)]
struct Cost {
    lossy: u64,
    /// Lossy packets per million, summed over the senders counted in `lossy`.
    lossy_per_million: u64,
    cut: u64,
    looping: u64,
    /// First of the senders counted in `lossy`.
    example: Option<u32>,
}

/// Rules, routes and buffers that the evaluations of all links of a fabric share.
///
/// A link failure affects many hosts, and the evaluation of a destination host follows the packets of all senders. Two
/// optimisations prevent a cost quadratic in the number of hosts: hosts of one switch with equal rules are evaluated
/// once, and outcomes before the failure are cached for all links.
pub struct WhatIf<'a> {
    fabric: &'a Fabric,
    routes: &'a Forwarding,
    lookup: Lookup,
    first_tags: Vec<Tag>,
    tags: usize,
    /// Representative of each host: the first host of its switch that has equal routes and equal new tags for packets
    /// from other switches, or the host itself.
    alike: Vec<u32>,
    /// Per representative host: the outcome bits of the packets of each sender while all links are up.
    before: HashMap<u32, Box<[u8]>>,
    /// Outcome of a packet by (ingress port, tag), for one set of routes and one destination host.
    states: Vec<PacketOutcome>,
    touched: Vec<u32>,
}

impl<'a> WhatIf<'a> {
    /// Creates an evaluation of these rules under these routes.
    pub fn new(fabric: &'a Fabric, table: &RuleTable, routes: &'a Forwarding) -> WhatIf<'a> {
        let tags = table.lossless_tags.last().map_or(1, |&tag| usize::from(tag) + 1);
        let mut first_tags: Vec<Tag> = table.classes.iter().map(|class| class.first_tag).collect();
        first_tags.sort_unstable();
        first_tags.dedup();
        let states = vec![PacketOutcome::default(); fabric.port_count() * tags];
        let lookup = table.lookup(fabric);
        let alike = alike(fabric, routes, &lookup, tags);
        let (before, touched) = (HashMap::new(), Vec::new());
        WhatIf { fabric, routes, lookup, first_tags, tags, alike, before, states, touched }
    }

    /// Returns the links between forwarding nodes. Links of hosts are excluded because their failure can disconnect the
    /// host.
    pub fn links(fabric: &Fabric) -> Vec<LinkId> {
        let inner = |id: &LinkId| {
            let link = fabric.link(*id);
            fabric.node(link.a.node).forwards() && fabric.node(link.b.node).forwards()
        };
        (0..fabric.links().len() as u32).map(LinkId).filter(inner).collect()
    }

    /// Returns the effects of the failure of one link.
    ///
    /// # Errors
    /// [`RoutingError`] if routes cannot be computed without the link.
    pub fn fails(&mut self, link: LinkId) -> Result<LinkFailureEffects, RoutingError> {
        let (a, b) = (self.fabric.link(link).a, self.fabric.link(link).b);
        let dead = |port: PortIndex| [port].into_iter().collect::<FailedPorts>();
        let around =
            PacketForwarding::Around { routes: self.routes, dead: [(a.node, dead(a.port)), (b.node, dead(b.port))] };
        let lost = |host: u32| {
            [a, b].iter().any(|end| {
                // All ingress ports are considered, because up-down routing gives a frame from a higher node fewer
                // egress ports.
                let mut ingress = 0..self.fabric.ports(end.node).len() as PortIndex;
                ingress.any(|port| self.routes.lookup_from(end.node, host, port) == [end.port])
            })
        };
        // The failed link of a host affects only this host; the failure of any other link has the same effect on
        // equivalent hosts.
        let inner = self.fabric.node(a.node).forwards() && self.fabric.node(b.node).forwards();
        let rerouted = self.those(inner, lost);
        let local = self.cost(&rerouted, &around);
        // With all shortest paths (ECMP), a node at an end of the link that has another next hop keeps its distance,
        // and so do all nodes upstream of it. Therefore only destinations that one end reached exclusively by this link
        // have new paths. In other modes a failure can change more routes (for example, the up/down order of nodes), so
        // all destinations are considered.
        let moved = match self.routes.mode() {
            Mode::ShortestPath => rerouted,
            Mode::TwoLevel | Mode::UpDown { .. } => self.those(inner, |_| true),
        };
        let recomputed = self.routes.recompute_towards(self.fabric, &[link], &moved)?;
        let fresh = |host: u32| {
            self.fabric.node_ids().filter(|&node| self.fabric.node(node).forwards()).any(|node| {
                let before = self.routes.lookup(node, host);
                let after = recomputed.lookup(node, host);
                after.is_empty() || (after != before && after.iter().any(|port| !before.contains(port)))
            })
        };
        let mut may_move = vec![false; self.alike.len()];
        moved.iter().for_each(|&host| may_move[host as usize] = true);
        let rerouted = self.those(inner, |host| may_move[host as usize] && fresh(host));
        let converged = self.cost(&rerouted, &PacketForwarding::Routes(&recomputed));
        Ok(LinkFailureEffects { link, local, converged })
    }

    /// Returns the hosts for which `concerned` is true, each replaced by its representative if `share` is set.
    fn those(&self, share: bool, concerned: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut answers: Vec<Option<bool>> = vec![None; self.alike.len()];
        let by = |host: u32| if share { self.alike[host as usize] } else { host };
        let hosts = (0..self.alike.len() as u32).map(by);
        hosts.filter(|&host| *answers[host as usize].get_or_insert_with(|| concerned(host))).collect()
    }

    /// Counts the affected pairs of all senders with these hosts (representatives, repeated once per host of the
    /// group).
    fn cost(&mut self, hosts: &[u32], forwarding: &PacketForwarding) -> Effect {
        let mut known: HashMap<u32, Cost> = HashMap::new();
        let mut effect = Effect::default();
        for &host in hosts {
            let cost = known.entry(host).or_insert_with(|| self.towards(host, forwarding));
            let share = effect.lossy_per_million * effect.lossy + cost.lossy_per_million;
            effect.lossy += cost.lossy;
            effect.cut += cost.cut;
            effect.looping += cost.looping;
            effect.lossy_per_million = share.checked_div(effect.lossy).unwrap_or(0);
            if effect.example.is_none()
                && let Some(sender) = cost.example
            {
                effect.example = Some(self.lossy_path(sender, host, forwarding));
            }
        }
        effect
    }

    /// Counts the affected senders to one destination host.
    fn towards(&mut self, host: u32, forwarding: &PacketForwarding) -> Cost {
        if !self.before.contains_key(&host) {
            let before = PacketForwarding::Routes(self.routes);
            let bits = self.outcomes(host, &before).iter().map(|outcome| outcome.bits).collect();
            self.before.insert(host, bits);
        }
        let is = self.outcomes(host, forwarding);
        let mut cost = Cost::default();
        for ((sender, &was), is) in (0..).zip(&self.before[&host]).zip(is) {
            // A bit that was already set before the failure does not count.
            let new = |bit| u64::from(is.has(bit) && was & bit == 0);
            cost.lossy += new(LOSSY);
            cost.cut += new(CUT);
            cost.looping += new(LOOP);
            if new(LOSSY) == 1 {
                cost.lossy_per_million += is.lossy * 1_000_000 / ALL;
                cost.example = cost.example.or(Some(sender));
            }
        }
        cost
    }

    /// Returns the outcomes of the packets from every host to `host`.
    fn outcomes(&mut self, host: u32, forwarding: &PacketForwarding) -> Vec<PacketOutcome> {
        self.forget();
        let senders = 0..self.fabric.hosts().len() as u32;
        senders
            .map(|sender| if sender == host { PacketOutcome::default() } else { self.sent(sender, host, forwarding) })
            .collect()
    }

    /// Returns the outcome of the packets that one host sends to `host`.
    fn sent(&mut self, sender: u32, host: u32, forwarding: &PacketForwarding) -> PacketOutcome {
        let node = self.fabric.host_node(sender);
        let ports = forwarding.ports(self.fabric, node, host, None);
        let tags = 0..self.first_tags.len();
        let starts = ports.iter().flat_map(|&port| tags.clone().map(move |at| (port, at)));
        PacketOutcome::mean(starts.map(|(port, at)| {
            let peer = self.fabric.ports(node)[usize::from(port)];
            self.outcome(host, forwarding, peer.peer, peer.peer_port, self.first_tags[at])
        }))
    }

    fn forget(&mut self) {
        self.touched.drain(..).for_each(|state| self.states[state as usize] = PacketOutcome::default());
    }

    /// Returns the outcome of a packet that arrives at this ingress port.
    fn outcome(
        &mut self,
        host: u32,
        forwarding: &PacketForwarding,
        node: NodeId,
        ingress: PortIndex,
        tag: Tag,
    ) -> PacketOutcome {
        if node == self.fabric.host_node(host) {
            return PacketOutcome::default();
        }
        if !self.fabric.node(node).forwards() {
            return PacketOutcome::of(CUT);
        }
        let state = self.fabric.port_number(node, ingress) * self.tags + usize::from(tag);
        let known = self.states[state];
        // If a state is reached again before its outcome is known, the packet loops.
        if known.has(BEGUN) {
            return PacketOutcome::of(LOOP);
        }
        if known.has(KNOWN) {
            return PacketOutcome { bits: known.bits & !KNOWN, ..known };
        }
        self.states[state] = PacketOutcome::of(BEGUN);
        self.touched.push(state as u32);
        let ports = forwarding.ports(self.fabric, node, host, Some(ingress));
        let onward = |port: PortIndex| {
            let peer = self.fabric.ports(node)[usize::from(port)];
            let new = self.lookup.new_tag(node, tag, ingress, port);
            new.map_or(PacketOutcome::LOST, |new| self.outcome(host, forwarding, peer.peer, peer.peer_port, new))
        };
        let outcome = PacketOutcome::mean(ports.iter().copied().map(onward));
        self.states[state] = PacketOutcome { bits: outcome.bits | KNOWN, ..outcome };
        outcome
    }

    /// Returns a path that becomes lossy, from the states cached by the last evaluation.
    fn lossy_path(&mut self, sender: u32, host: u32, forwarding: &PacketForwarding) -> Vec<NodeId> {
        let mut nodes = vec![self.fabric.host_node(sender)];
        let (mut at, mut ingress, mut tag) = (nodes[0], None, None);
        // Each state is visited at most once, so the path has at most as many hops as there are states.
        for _ in 0..=self.touched.len() {
            let ports = forwarding.ports(self.fabric, at, host, ingress);
            let tags: Vec<Tag> = tag.map_or(self.first_tags.clone(), |tag| vec![tag]);
            let mut onward = None;
            for (&port, &tag) in ports.iter().flat_map(|port| tags.iter().map(move |tag| (port, tag))) {
                let peer = self.fabric.ports(at)[usize::from(port)];
                let new = match ingress {
                    None => Some(tag),
                    Some(ingress) => self.lookup.new_tag(at, tag, ingress, port),
                };
                let Some(new) = new else { return nodes };
                let leads = self.outcome(host, forwarding, peer.peer, peer.peer_port, new).has(LOSSY);
                if leads && (onward.is_none() || !nodes.contains(&peer.peer)) {
                    onward = Some((peer, new));
                }
            }
            let Some((peer, new)) = onward else { return nodes };
            (at, ingress, tag) = (peer.peer, Some(peer.peer_port), Some(new));
            nodes.push(at);
        }
        nodes
    }
}

/// Returns the representative of each host: the first host of the same switch with equal new tags for packets from
/// other switches. Packets between two hosts of one switch use no other link.
fn alike(fabric: &Fabric, routes: &Forwarding, lookup: &Lookup, tags: usize) -> Vec<u32> {
    let mut first: HashMap<(u32, Vec<Option<Tag>>), u32> = HashMap::new();
    let of = |host: u32| {
        let row = routes.row(host);
        let Some(switch) = routes.row_switch(row) else { return host };
        let entrances = (0..).zip(fabric.ports(switch)).filter(|(_, port)| fabric.node(port.peer).forwards());
        let arrivals = entrances.flat_map(|(ingress, _)| (0..tags).map(move |tag| (ingress, tag as Tag)));
        let out = routes.local_port(host);
        let delivered = arrivals.map(|(ingress, tag)| lookup.new_tag(switch, tag, ingress, out)).collect();
        *first.entry((row, delivered)).or_insert(host)
    };
    (0..fabric.hosts().len() as u32).map(of).collect()
}

#[cfg(test)]
#[path = "what_if_tests.rs"]
mod tests;
