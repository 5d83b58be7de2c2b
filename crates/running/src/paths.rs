//! Accounts that count frames, and queues in which frames wait, over all paths of a set.
//!
//! The state of a frame is its ingress port, its DSCP, and the inner DSCP in a tunnel. Hosts send every DSCP except
//! those reserved for tunnels. The search merges DSCPs that all maps treat equally, and host ports of a switch with
//! equal configuration.

use crate::device::{DSCPS, Device, Port};
use crate::options::PathSet;
use fabric::{Fabric, NodeId, NodeKind, PortIndex};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Hasher with one multiplication per word. Because the keys are small numbers that the program generates itself, the
/// default hasher's protection against chosen keys is not needed; this hasher takes a tenth of the time.
#[derive(Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }
    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }
    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }
}

type Set<T> = HashSet<T, BuildHasherDefault<WordHasher>>;

/// State of a frame on arrival at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct State {
    pub ingress: u32,
    pub dscp: u8,
    /// Inner DSCP, and the switch at the end of the tunnel; `None` outside of tunnels.
    pub inside: Option<(u8, NodeId)>,
    /// Number of bounces so far.
    pub bounces: u8,
}

/// A hop of frames in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub state: State,
    pub wait: Wait,
    /// State at the next switch; `None` if a host is next.
    pub next: Option<State>,
}

/// Frames of an account that wait in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Wait {
    pub ingress: u32,
    pub group: u8,
    pub egress: u32,
    pub queue: u8,
    /// State on arrival at the next switch; `None` if a host is next.
    pub next: Option<Arrival>,
    /// Whether the frames enter a tunnel at this switch.
    pub enters: bool,
    pub class: u8,
    /// The lowest DSCP of these frames at `ingress`.
    pub dscp: u8,
}

/// Classification of a frame on arrival at a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Arrival {
    pub dscp: u8,
    pub class: u8,
    pub group: u8,
    /// Whether the frame's tunnel ends at this switch.
    pub ends: bool,
}

/// Result of the search.
#[derive(Debug, Default)]
pub(crate) struct ReachableWaits {
    /// Sorted, without duplicates.
    pub waits: Vec<Wait>,
    /// Accounts: ingress port and group.
    pub accounts: BTreeSet<(u32, u8)>,
    /// Number of host ports at which reserved DSCPs are assumed not to arrive.
    pub reserved_at: u64,
}

/// Hosts attached to one set of switches.
struct Group {
    switches: Vec<NodeId>,
    /// Ports that lead to these hosts, by node.
    exits: BTreeMap<NodeId, Vec<PortIndex>>,
}

struct Search<'d, 'a> {
    device: &'d Device<'a>,
    /// Groups of host ports of one switch with equal configuration: the other ports of the group, by its lowest port.
    /// Groups of one port are omitted.
    equivalent_ports: BTreeMap<u32, Vec<u32>>,
    alike: [u8; DSCPS],
    waits: Set<Wait>,
    accounts: BTreeSet<(u32, u8)>,
    /// Distance in hops from each switch to a tunnel end, by tunnel end.
    distances: BTreeMap<NodeId, Vec<u32>>,
    seen: Set<State>,
    open: Vec<State>,
    /// All hops since the last call of `begin`, if hops are recorded.
    steps: Option<Vec<Step>>,
}

const FAR: u32 = u32::MAX;

/// Follows the frames of all hosts along a set of paths.
pub(crate) fn follow(device: &Device<'_>, paths: PathSet) -> ReachableWaits {
    follow_from(device, paths, equivalent_ports(device))
}

/// Like [`follow`], with these groups of merged host ports.
fn follow_from(device: &Device<'_>, paths: PathSet, equivalent_ports: BTreeMap<u32, Vec<u32>>) -> ReachableWaits {
    let fabric = device.fabric;
    let mut search = Search::new(device, equivalent_ports);
    let (entries, reserved_at) = search.entries();
    match paths {
        PathSet::Shortest => {
            // Shortest paths depend on the destination, so each group of hosts needs its own set of visited states.
            for group in groups(fabric) {
                let towards = distances(fabric, &group.switches);
                search.begin(&entries);
                while let Some(state) = search.open.pop() {
                    search.towards_group(state, &group, &towards);
                }
            }
        }
        PathSet::Bounces(_) | PathSet::Any => {
            search.begin(&entries);
            while let Some(state) = search.open.pop() {
                search.anywhere(state, paths);
            }
        }
    }
    // Copies the waits of a port to the ports merged with it. Frames never return to the host port at which they
    // arrived, so copied waits with equal ingress and egress port are dropped.
    let alone: [u32; 0] = [];
    let alike = |port: u32| search.equivalent_ports.get(&port).map_or(&alone[..], Vec::as_slice);
    let mut followed: Vec<Wait> = search.waits.into_iter().collect();
    followed.sort_unstable();
    let (mut waits, mut accounts) = (Vec::with_capacity(followed.len()), search.accounts.clone());
    let returns = |wait: &Wait| wait.ingress == wait.egress && device.peer(wait.ingress).is_none();
    for wait in followed {
        let others = alike(wait.ingress).iter().map(|&ingress| Wait { ingress, ..wait });
        waits.extend([wait].into_iter().chain(others).filter(|wait| !returns(wait)));
    }
    for &(port, group) in &search.accounts {
        accounts.extend(alike(port).iter().map(|&other| (other, group)));
    }
    waits.sort_unstable();
    ReachableWaits { waits, accounts, reserved_at }
}

/// Passes all hops of a set of paths to `visit`, in order of their distance from the hosts: once per group of
/// destinations under shortest paths, else once.
pub(crate) fn steps(device: &Device<'_>, paths: PathSet, visit: &mut dyn FnMut(&[Step])) {
    let fabric = device.fabric;
    let mut search = Search::new(device, BTreeMap::new());
    let (entries, _) = search.entries();
    let groups = if paths == PathSet::Shortest { groups(fabric) } else { Vec::new() };
    let towards: Vec<Vec<u32>> = groups.iter().map(|group| distances(fabric, &group.switches)).collect();
    let mut explore = |expand: &dyn Fn(&mut Search<'_, '_>, State)| {
        search.begin(&entries);
        search.steps = Some(Vec::new());
        while !search.open.is_empty() {
            for state in std::mem::take(&mut search.open) {
                expand(&mut search, state);
            }
        }
        visit(&search.steps.take().unwrap_or_default());
    };
    if paths == PathSet::Shortest {
        for (group, towards) in groups.iter().zip(&towards) {
            explore(&|search, state| search.towards_group(state, group, towards));
        }
    } else {
        explore(&|search, state| search.anywhere(state, paths));
    }
}

/// Groups the host ports of each switch that treat frames equally: the first port of each group, with the later ports.
fn equivalent_ports(device: &Device<'_>) -> BTreeMap<u32, Vec<u32>> {
    let mut alike: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut firsts: Vec<(u32, &Port)> = Vec::new();
    for (number, port) in device.ports().filter(|(number, _)| device.peer(*number).is_none()) {
        // Since ports are ordered by switch, only the groups of the current switch are kept.
        firsts.retain(|(_, first)| first.node == port.node);
        match firsts.iter().find(|(_, first)| first.has_equal_treatment(port)) {
            Some((first, _)) => alike.entry(*first).or_default().push(number),
            None => firsts.push((number, port)),
        }
    }
    alike
}

/// Returns the distance in hops from every switch to the nearest of `targets`.
fn distances(fabric: &Fabric, targets: &[NodeId]) -> Vec<u32> {
    let mut distances = vec![FAR; fabric.nodes().len()];
    let mut queue: std::collections::VecDeque<NodeId> = targets.iter().copied().collect();
    targets.iter().for_each(|target| distances[target.index()] = 0);
    while let Some(node) = queue.pop_front() {
        for peer in fabric.ports(node).iter().map(|port| port.peer) {
            if fabric.node(peer).kind == NodeKind::Switch && distances[peer.index()] == FAR {
                distances[peer.index()] = distances[node.index()] + 1;
                queue.push_back(peer);
            }
        }
    }
    distances
}

fn groups(fabric: &Fabric) -> Vec<Group> {
    let mut groups: BTreeMap<Vec<NodeId>, Group> = BTreeMap::new();
    for &host in fabric.hosts() {
        let mut switches: Vec<NodeId> = fabric.ports(host).iter().map(|port| port.peer).collect();
        switches.sort_unstable();
        switches.dedup();
        let group = groups.entry(switches.clone()).or_insert_with(|| Group { switches, exits: BTreeMap::new() });
        for port in fabric.ports(host) {
            group.exits.entry(port.peer).or_default().push(port.peer_port);
        }
    }
    groups.into_values().collect()
}

/// Returns the tier of node `to` minus that of node `from`; hosts are at tier -1.
fn rise(fabric: &Fabric, from: NodeId, to: NodeId) -> i16 {
    let height = |node: NodeId| match fabric.node(node).kind {
        NodeKind::Host => -1,
        NodeKind::Switch => i16::from(fabric.node(node).tier),
    };
    height(to) - height(from)
}

impl<'d, 'a> Search<'d, 'a> {
    fn new(device: &'d Device<'a>, equivalent_ports: BTreeMap<u32, Vec<u32>>) -> Search<'d, 'a> {
        let mut search = Search {
            device,
            equivalent_ports,
            alike: device.alike(),
            waits: Set::default(),
            accounts: BTreeSet::new(),
            distances: BTreeMap::new(),
            seen: Set::default(),
            open: Vec::new(),
            steps: None,
        };
        for peer in device.detours.values().map(|detour| detour.peer) {
            search.distances.entry(peer).or_insert_with(|| distances(device.fabric, &[peer]));
        }
        search
    }

    /// Returns the initial states of hosts' frames, and the number of host ports that are assumed not to send reserved
    /// DSCPs.
    fn entries(&self) -> (Vec<State>, u64) {
        let reserved = self.device.reserved();
        let (mut entries, mut reserved_at) = (Vec::new(), 0);
        let followers: BTreeSet<u32> = self.equivalent_ports.values().flatten().copied().collect();
        for (ingress, port) in self.device.ports().filter(|(number, _)| self.device.peer(*number).is_none()) {
            let held = |dscp: u8| reserved.contains(&dscp) && port.lossless >> self.account(port, dscp) & 1 == 0;
            reserved_at += u64::from((0..DSCPS as u8).any(held));
            if followers.contains(&ingress) {
                continue;
            }
            let sent: BTreeSet<u8> =
                (0..DSCPS as u8).filter(|&dscp| !held(dscp)).map(|dscp| self.alike[usize::from(dscp)]).collect();
            entries.extend(sent.into_iter().map(|dscp| State { ingress, dscp, inside: None, bounces: 0 }));
        }
        (entries, reserved_at)
    }

    fn account(&self, port: &Port, dscp: u8) -> u8 {
        self.device.classify(port, dscp, None, false).1
    }

    fn begin(&mut self, entries: &[State]) {
        self.seen.clear();
        self.seen.extend(entries);
        self.open.clear();
        self.open.extend(entries);
    }

    /// Expands one state towards the hosts of a group along shortest paths.
    fn towards_group(&mut self, state: State, group: &Group, towards: &[u32]) {
        let device = self.device;
        let Some(port) = device.port(state.ingress) else { return };
        let node = port.node;
        if self.in_tunnel(state, node) {
            return;
        }
        let Some(exits) = group.exits.get(&node) else {
            for out in self.closer(node, towards) {
                self.hop(state, out, None);
            }
            return;
        };
        self.deliver(state, node, exits.iter().copied());
    }

    /// Expands one state along all hops that the set of paths allows.
    fn anywhere(&mut self, state: State, paths: PathSet) {
        let (device, fabric) = (self.device, self.device.fabric);
        let Some(port) = device.port(state.ingress) else { return };
        let (node, ingress) = (port.node, port.index);
        if self.in_tunnel(state, node) {
            return;
        }
        let from_above = rise(fabric, node, fabric.ports(node)[usize::from(ingress)].peer) > 0;
        let mut exits = Vec::new();
        for (out, peer) in fabric.ports(node).iter().enumerate() {
            let out = out as PortIndex;
            if fabric.node(peer.peer).kind == NodeKind::Host {
                exits.push(out);
                continue;
            }
            if out == ingress {
                continue;
            }
            let rise = rise(fabric, node, peer.peer);
            let bounces = match paths {
                PathSet::Bounces(most) => {
                    let bounces = state.bounces + u8::from(rise == 0 || (rise > 0 && from_above));
                    if bounces > most {
                        continue;
                    }
                    bounces
                }
                _ => 0,
            };
            self.bounce(state, bounces, out, None);
        }
        self.deliver(state, node, exits.into_iter());
    }

    /// Forwards a frame in a tunnel towards the tunnel's end. Returns false if the frame is in no tunnel, or if this
    /// switch is the end of its tunnel.
    fn in_tunnel(&mut self, state: State, node: NodeId) -> bool {
        let Some((_, target)) = state.inside.filter(|(_, target)| *target != node) else { return false };
        let towards = std::mem::take(self.distances.entry(target).or_default());
        for out in self.closer(node, &towards) {
            self.hop(state, out, None);
        }
        self.distances.insert(target, towards);
        true
    }

    /// Delivers to hosts of this switch, directly or through the tunnel to the other ToR.
    fn deliver(&mut self, state: State, node: NodeId, exits: impl Iterator<Item = PortIndex>) {
        let (device, fabric) = (self.device, self.device.fabric);
        let mut detours = false;
        for out in exits {
            let number = fabric.port_number(node, out) as u32;
            // A frame never leaves by its ingress port. A merged port is an exception: it stands for several ports, so
            // frames of one may leave by another.
            let back = number == state.ingress && !self.equivalent_ports.contains_key(&number);
            let Some(exit) = device.port(number).filter(|_| !back) else { continue };
            if exit.delivers || state.inside.is_some() {
                self.hop(state, out, None);
            }
            // A decapsulated frame does not enter the tunnel again.
            detours |= exit.detours && state.inside.is_none();
        }
        let Some(detour) = device.detours.get(&node).filter(|_| detours) else { return };
        let towards = std::mem::take(self.distances.entry(detour.peer).or_default());
        for out in self.closer(node, &towards) {
            self.hop(state, out, Some(detour.peer));
        }
        self.distances.insert(detour.peer, towards);
    }

    /// Returns the ports of a switch whose neighbours are one hop closer to the target.
    fn closer(&self, node: NodeId, towards: &[u32]) -> Vec<PortIndex> {
        let fabric = self.device.fabric;
        let here = towards[node.index()];
        let ports = fabric.ports(node).iter().enumerate();
        let closer = ports.filter(|(_, port)| {
            let switch = fabric.node(port.peer).kind == NodeKind::Switch;
            switch && here != 0 && here != FAR && towards[port.peer.index()] == here - 1
        });
        closer.map(|(port, _)| port as PortIndex).collect()
    }

    /// Like [`Search::bounce`], with an unchanged number of bounces.
    fn hop(&mut self, state: State, out: PortIndex, enters: Option<NodeId>) {
        self.bounce(state, state.bounces, out, enters);
    }

    /// Records the wait at egress port `out`, and adds the state on arrival at the next switch, with this number of
    /// bounces. `enters`: end of the tunnel that the frame enters at this switch.
    fn bounce(&mut self, state: State, bounces: u8, out: PortIndex, enters: Option<NodeId>) {
        let device = self.device;
        let Some(ingress) = device.port(state.ingress) else { return };
        let node = ingress.node;
        let egress = device.fabric.port_number(node, out) as u32;
        let Some(exit) = device.port(egress) else { return };
        let ends = state.inside.is_some_and(|(_, target)| target == node);
        let inner = state.inside.map(|(inner, _)| inner);
        let (class, group) = device.classify(ingress, state.dscp, inner, ends);
        let carried = device.carried(node, state.dscp, inner, ends);
        let (queue, dscp) = device.leaves(ingress, exit, class, carried, enters.is_some());
        let next = device.peer(egress).map(|(next, port)| {
            let inside = match (enters, ends) {
                (Some(target), _) => Some((state.dscp, target)),
                (None, false) => state.inside,
                (None, true) => None,
            };
            let arrives = State { ingress: next, dscp: self.alike[usize::from(dscp)], inside, bounces };
            let there = inside.is_some_and(|(_, target)| target == port.node);
            let (class, group) = device.classify(port, arrives.dscp, inside.map(|(inner, _)| inner), there);
            (arrives, Arrival { dscp: arrives.dscp, class, group, ends: there })
        });
        let wait = Wait {
            ingress: state.ingress,
            group,
            egress,
            queue,
            next: next.map(|(_, arrival)| arrival),
            enters: enters.is_some(),
            class,
            dscp: state.dscp,
        };
        self.waits.insert(wait);
        self.accounts.insert((state.ingress, group));
        if let Some(steps) = &mut self.steps {
            steps.push(Step { state, wait, next: next.map(|(arrives, _)| arrives) });
        }
        if let Some((arrives, _)) = next
            && self.seen.insert(arrives)
        {
            self.open.push(arrives);
        }
    }
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
