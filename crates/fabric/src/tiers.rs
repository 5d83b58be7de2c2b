//! Inference of the tiers of switches from labels and names, otherwise from links.
//!
//! 1. If the file states the tier of each switch, nothing is inferred.
//! 2. If the labels (`group: leaf`, `role: spine`, `tier-2`) or names (`dc1-leaf3`) of most switches contain a layer
//!    word, these determine the tiers. Layers are numbered from 1 in the order of [`LAYERS`], skipping layers that the
//!    fabric does not have. A switch without a layer word is one tier above its lowest neighbour; if it has hosts and
//!    all its neighbours are above the first tier, it is one tier below its lowest neighbour.
//! 3. Otherwise links determine the tiers: the tier of a switch is its distance to the nearest switch with hosts, plus
//!    one. A few hosts at a higher switch (such as a fabric manager at a spine) would put that switch on tier 1, on
//!    the same tier as the leaves that it is linked to. Therefore other sets of leaves are tried: the switches with
//!    most hosts, the switches whose siblings (switches with equal neighbours) all have hosts, and the switches with
//!    fewest links to switches. A set is accepted if it yields *proper* tiers: no link within a tier, at least two
//!    neighbours below each switch above the first tier, and at least half of the hosts on the first tier. A host at a
//!    core switch of a three-tier fabric puts the core switch on a lower tier without a link within a tier; the core
//!    switch then is a valley: shortest paths go down to it and up again. Of all sets with proper tiers, the one with
//!    the fewest valleys is chosen, then the one with the fewest tiers. Siblings of a leaf that have no hosts are also
//!    leaves.

use crate::NodeKind;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

/// Words that name a layer, lowest layer first.
const LAYERS: [&[&str]; 5] = [
    &["tor", "access", EDGE, "rsw"],
    &["leaf", "border"],
    &["agg", "aggregation", "dist", "distribution", "fsw"],
    &["spine", "ssw"],
    &["superspine", "upperspine", "core"],
];

/// Word for the lowest layer of a fabric with aggregation and core; in a leaf-spine fabric, it names the WAN exit.
const EDGE: &str = "edge";

/// Properties of a node from which its tier is inferred.
#[derive(Clone, Debug)]
pub(crate) struct TierInput<'a> {
    pub kind: NodeKind,
    pub name: &'a str,
    /// Text of the file that may name the layer: a group or role.
    pub label: &'a str,
    /// Tier that the file states.
    pub tier: Option<u8>,
}

/// Rule by which the tiers were determined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    File,
    Words,
    /// Distance to the nearest switch with hosts.
    Distance,
    /// Links, disregarding hosts at higher tiers.
    ProperTiers,
}

/// Returns the tier of each node (0 for hosts) and the rule that determined them.
pub(crate) fn tiers(nodes: &[TierInput<'_>], links: &[(u32, u32)]) -> (Vec<u8>, Source) {
    let stated = |node: &TierInput<'_>| node.kind == NodeKind::Host || node.tier.is_some();
    if nodes.iter().all(stated) {
        let tier = |node: &TierInput<'_>| if node.kind == NodeKind::Host { 0 } else { node.tier.unwrap_or(1) };
        return (nodes.iter().map(tier).collect(), Source::File);
    }
    let graph = SwitchGraph::new(nodes, links);
    let (mut tiers, source) = by_words(nodes, &graph).map_or_else(|| graph.by_links(), |tiers| (tiers, Source::Words));
    // A tier that the file states takes precedence over an inferred one.
    for (tier, node) in tiers.iter_mut().zip(nodes).filter(|(_, node)| node.kind == NodeKind::Switch) {
        *tier = node.tier.unwrap_or(*tier);
    }
    (tiers, source)
}

/// Returns the layer that a text names: its index in [`LAYERS`], and `true` if the word is [`EDGE`]. The last layer
/// word of the text counts.
fn layer_of(text: &str) -> Option<(usize, bool)> {
    let lower = text.to_ascii_lowercase().replace("super-spine", "superspine").replace("super_spine", "superspine");
    let words = lower.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let layer = |word: &str| {
        let exact = LAYERS.iter().position(|layer| layer.contains(&word));
        // Compound words such as `borderleaf`.
        let compound = || {
            ["leaf", "spine"]
                .into_iter()
                .find(|of| word.ends_with(of))
                .and_then(|of| LAYERS.iter().position(|layer| layer.contains(&of)))
        };
        exact.or_else(compound).map(|at| (at, word == EDGE))
    };
    words.filter_map(layer).next_back()
}

/// Returns the layer that the label or name of each switch contains.
pub(crate) fn layers(nodes: &[TierInput<'_>]) -> Vec<Option<usize>> {
    let of = |node: &TierInput<'_>| layer_of(node.label).or_else(|| layer_of(node.name));
    let found: Vec<Option<(usize, bool)>> = nodes.iter().map(of).collect();
    let is_switch = |at: usize| nodes[at].kind == NodeKind::Switch;
    let has_leaves = (0..nodes.len()).any(|at| is_switch(at) && matches!(found[at], Some((0 | 1, false))));
    // In a leaf-spine fabric, "edge" does not name a layer.
    let layer = |(at, is_edge): (usize, bool)| (!is_edge || !has_leaves).then_some(at);
    (0..nodes.len()).map(|at| found[at].filter(|_| is_switch(at)).and_then(layer)).collect()
}

/// Returns `true` if a name or label contains a word for a switch.
pub(crate) fn names_a_switch(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphabetic());
    layer_of(text).is_some() || words.any(|word| ["switch", "router", "rtr", "sw"].contains(&word))
}

/// Returns the number in `tier-2`, `tier 2`, `level2`, or in a name like `t1-leaf`.
fn number_of(text: &str) -> Option<u8> {
    let lower = text.to_ascii_lowercase();
    let begins_word = |at: usize| !lower[..at].ends_with(|c: char| c.is_ascii_alphabetic());
    let at_word = |word: &str| lower.find(word).filter(|&at| begins_word(at)).map(|at| at + word.len());
    let after = ["tier", "level", "layer"].into_iter().find_map(at_word);
    let digits = match after {
        Some(at) => lower[at..].trim_start_matches(['-', '_', ' ', ':', '=']),
        None => lower.strip_prefix('t')?,
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    // `t1-4` means the fourth switch of tier 1, but `t4` is just a name.
    let is_tier = after.is_some() || (end == 1 && digits[1..].starts_with(['-', '_']));
    digits[..end].parse().ok().filter(|_| is_tier)
}

/// Applies rule 2.
fn by_words(nodes: &[TierInput<'_>], graph: &SwitchGraph) -> Option<Vec<u8>> {
    let switches = || nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Switch);
    let of_most = |ranks: Vec<Option<usize>>| {
        let known = switches().filter(|(at, _)| ranks[*at].is_some()).count();
        (2 * known > switches().count()).then_some(ranks)
    };
    let number = |node: &TierInput<'_>| {
        node.tier.or_else(|| number_of(node.label)).or_else(|| number_of(node.name)).map(usize::from)
    };
    let numbered = of_most(nodes.iter().map(number).collect());
    let is_numbered = numbered.is_some();
    let mut rank = numbered.or_else(|| of_most(layers(nodes)))?;
    let ranks: BTreeSet<usize> = switches().filter_map(|(at, _)| rank[at]).collect();
    let dense: BTreeMap<usize, usize> = ranks.iter().enumerate().map(|(tier, &rank)| (rank, tier + 1)).collect();
    switches().for_each(|(at, _)| rank[at] = rank[at].map(|rank| dense[&rank]));
    // Some files number tiers from the core; the first tier must have the most hosts.
    let hosts_on = |tier: usize| -> u64 {
        switches().filter(|(at, _)| rank[*at] == Some(tier)).map(|(at, _)| u64::from(graph.hosts[at])).sum()
    };
    if is_numbered && ranks.len() > 1 && hosts_on(ranks.len()) > hosts_on(1) {
        switches().for_each(|(at, _)| rank[at] = rank[at].map(|tier| ranks.len() + 1 - tier));
    }
    graph.place_others(&mut rank);
    let tier = |(at, node): (usize, &TierInput<'_>)| match node.kind {
        NodeKind::Host => 0,
        NodeKind::Switch => rank[at].unwrap_or(1).min(usize::from(u8::MAX)) as u8,
    };
    Some(nodes.iter().enumerate().map(tier).collect())
}

/// Switches, the links between them, and the number of hosts of each switch.
pub(crate) struct SwitchGraph {
    is_switch: Vec<bool>,
    /// Neighbouring switches of each switch, ascending, without duplicates.
    peers: Vec<Vec<u32>>,
    hosts: Vec<u32>,
}

impl SwitchGraph {
    pub fn new(nodes: &[TierInput<'_>], links: &[(u32, u32)]) -> SwitchGraph {
        Self::of(nodes.iter().map(|node| node.kind == NodeKind::Switch).collect(), links)
    }

    /// Creates the graph from nodes by index, and links between them.
    pub fn of(is_switch: Vec<bool>, links: &[(u32, u32)]) -> SwitchGraph {
        let mut peers = vec![Vec::new(); is_switch.len()];
        let mut hosts = vec![0; is_switch.len()];
        for (a, b) in links.iter().flat_map(|&(a, b)| [(a, b), (b, a)]) {
            match (is_switch[a as usize], is_switch[b as usize]) {
                (true, true) if a != b => peers[a as usize].push(b),
                (true, false) => hosts[a as usize] += 1,
                _ => {}
            }
        }
        for peers in &mut peers {
            peers.sort_unstable();
            peers.dedup();
        }
        SwitchGraph { is_switch, peers, hosts }
    }

    fn switches(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.peers.len()).filter(|&at| self.is_switch[at])
    }

    /// Assigns a rank to the other switches, starting from neighbours of ranked switches. A switch with hosts whose
    /// neighbours are all above the first tier is one tier below its lowest neighbour; other switches are one tier
    /// above their lowest neighbour. Therefore a management host at a switch above the leaves does not lower the tier
    /// of that switch.
    fn place_others(&self, rank: &mut [Option<usize>]) {
        let lowest =
            |rank: &[Option<usize>], at: usize| self.peers[at].iter().filter_map(|&peer| rank[peer as usize]).min();
        let is_open = |rank: &[Option<usize>], at: usize| self.is_switch[at] && rank[at].is_none();
        let given = rank.to_vec();
        for at in self.switches().filter(|&at| given[at].is_none() && self.hosts[at] > 0) {
            rank[at] = lowest(&given, at).filter(|&lowest| lowest > 1).map(|lowest| lowest - 1);
        }
        let mut open: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
        for at in self.switches().filter(|&at| is_open(rank, at)) {
            open.extend(lowest(rank, at).map(|lowest| Reverse((lowest, at))));
        }
        while let Some(Reverse((lowest, at))) = open.pop() {
            if is_open(rank, at) {
                rank[at] = Some(lowest + 1);
                let next = self.peers[at].iter().map(|&peer| peer as usize).filter(|&peer| is_open(rank, peer));
                open.extend(next.map(|peer| Reverse((lowest + 1, peer))));
            }
        }
    }

    /// Returns the distance to the nearest of the switches `from`, plus one; 0 for hosts, 1 for switches that cannot
    /// reach any of them.
    fn distances(&self, from: &[usize]) -> Vec<u8> {
        let mut tiers = vec![0u8; self.peers.len()];
        let mut open: VecDeque<usize> = from.iter().copied().collect();
        from.iter().for_each(|&at| tiers[at] = 1);
        while let Some(at) = open.pop_front() {
            for &peer in &self.peers[at] {
                if tiers[peer as usize] == 0 {
                    tiers[peer as usize] = tiers[at].saturating_add(1);
                    open.push_back(peer as usize);
                }
            }
        }
        self.switches().for_each(|at| tiers[at] = tiers[at].max(1));
        tiers
    }

    /// Returns `true` if no link connects switches of the same tier.
    fn are_layers(&self, tiers: &[u8]) -> bool {
        self.switches().all(|at| self.peers[at].iter().all(|&peer| tiers[peer as usize] != tiers[at]))
    }

    /// Returns `true` if the tiers are proper, as defined in the module documentation.
    fn are_proper(&self, tiers: &[u8]) -> bool {
        let is_above_two = |at: usize| {
            let below = self.peers[at].iter().filter(|&&peer| tiers[peer as usize] < tiers[at]).count();
            tiers[at] == 1 || below >= 2
        };
        let hosts = |first: bool| -> u64 {
            self.switches().filter(|&at| !first || tiers[at] == 1).map(|at| u64::from(self.hosts[at])).sum()
        };
        self.are_layers(tiers) && self.switches().all(is_above_two) && 2 * hosts(true) >= hosts(false)
    }

    /// Returns the sets of leaves to try in case some hosts are attached to higher switches.
    fn candidates(&self, with_hosts: &[usize]) -> Vec<Vec<usize>> {
        let mut sets = Vec::new();
        let counts: BTreeSet<u32> = with_hosts.iter().map(|&at| self.hosts[at]).collect();
        for &least in counts.iter().skip(1).take(MAX_STEPS) {
            sets.push(with_hosts.iter().copied().filter(|&at| self.hosts[at] >= least).collect());
        }
        let mut siblings: BTreeMap<&[u32], (usize, usize)> = BTreeMap::new();
        for at in self.switches() {
            let (all, with) = siblings.entry(&self.peers[at]).or_default();
            *all += 1;
            *with += usize::from(self.hosts[at] > 0);
        }
        let all_have = |at: &usize| siblings.get(&self.peers[*at][..]).is_some_and(|(all, with)| all == with);
        sets.push(with_hosts.iter().copied().filter(all_have).collect());
        let degrees: BTreeSet<usize> = with_hosts.iter().map(|&at| self.peers[at].len()).collect();
        for &most in degrees.iter().rev().skip(1).take(MAX_STEPS) {
            sets.push(with_hosts.iter().copied().filter(|&at| self.peers[at].len() <= most).collect());
        }
        sets.retain(|set: &Vec<usize>| !set.is_empty());
        sets
    }

    /// Returns groups of siblings: switches with equal neighbours.
    fn siblings(&self) -> Vec<Vec<usize>> {
        let mut siblings: BTreeMap<&[u32], Vec<usize>> = BTreeMap::new();
        self.switches().for_each(|at| siblings.entry(&self.peers[at]).or_default().push(at));
        siblings.into_values().collect()
    }

    /// Adds the siblings without hosts to the set, because a leaf without hosts has the same links as a leaf with
    /// hosts. Switches whose single link leads to a neighbour without further neighbours are not added: they may be
    /// roots of trees.
    fn with_empty_siblings(&self, siblings: &[Vec<usize>], set: &[usize]) -> Vec<usize> {
        let mut is_in = vec![false; self.peers.len()];
        set.iter().for_each(|&at| is_in[at] = true);
        let applies = |same: &Vec<usize>| match self.peers[same[0]].as_slice() {
            [] => false,
            [one] => self.peers[*one as usize].len() > same.len(),
            _ => true,
        };
        for same in siblings.iter().filter(|same| applies(same)) {
            if same.iter().any(|&at| is_in[at]) {
                same.iter().filter(|&&at| self.hosts[at] == 0).for_each(|&at| is_in[at] = true);
            }
        }
        self.switches().filter(|&at| is_in[at]).collect()
    }

    /// Returns the sets of leaves without the groups of siblings that have the fewest hosts. They are tried if proper
    /// tiers have valleys.
    fn candidates_without_few(&self, siblings: &[Vec<usize>], with_hosts: &[usize]) -> Vec<Vec<usize>> {
        let mut sets = Vec::new();
        let hosts = |same: &Vec<usize>| -> u64 { same.iter().map(|&at| u64::from(self.hosts[at])).sum() };
        let mut by_hosts: Vec<(u64, &Vec<usize>)> = siblings.iter().map(|same| (hosts(same), same)).collect();
        by_hosts.retain(|(hosts, _)| *hosts > 0);
        by_hosts.sort_by_key(|(hosts, _)| *hosts);
        let without = |gone: &[(u64, &Vec<usize>)]| -> Vec<usize> {
            let gone: BTreeSet<usize> = gone.iter().flat_map(|(_, same)| same.iter().copied()).collect();
            with_hosts.iter().copied().filter(|at| !gone.contains(at)).collect()
        };
        for at in 0..by_hosts.len().min(MAX_STEPS) {
            sets.push(without(&by_hosts[..=at]));
            sets.push(without(&by_hosts[at..=at]));
        }
        sets.retain(|set: &Vec<usize>| !set.is_empty());
        sets
    }

    /// Returns the set plus all switches without hosts that have the same `form` as a member. Switches with a single
    /// link are not added: they may be roots of trees.
    fn with_alike<T: Ord>(&self, set: &[usize], form: impl Fn(usize) -> T) -> Vec<usize> {
        let forms: BTreeSet<T> = set.iter().map(|&at| form(at)).collect();
        let is_in: BTreeSet<usize> = set.iter().copied().collect();
        let is_alike = |at: usize| self.hosts[at] == 0 && self.peers[at].len() > 1 && forms.contains(&form(at));
        self.switches().filter(|&at| is_in.contains(&at) || is_alike(at)).collect()
    }

    /// Returns the number of pairs of switches with hosts for which a shortest path goes up again after a downward
    /// link. At most [`MAX_SOURCES`] source switches are considered.
    fn valleys(&self, with_hosts: &[usize], tiers: &[u8]) -> usize {
        const UP: u8 = 1;
        const DOWN: u8 = 2;
        const VALLEY: u8 = 4;
        let step = with_hosts.len().div_ceil(MAX_SOURCES).max(1);
        let mut count = 0;
        for &source in with_hosts.iter().step_by(step) {
            let mut distance = vec![u32::MAX; self.peers.len()];
            let mut seen = vec![0u8; self.peers.len()];
            (distance[source], seen[source]) = (0, UP);
            let mut open = VecDeque::from([source]);
            while let Some(at) = open.pop_front() {
                for peer in self.peers[at].iter().map(|&peer| peer as usize) {
                    if distance[peer] == u32::MAX {
                        distance[peer] = distance[at] + 1;
                        open.push_back(peer);
                    }
                    if distance[peer] == distance[at] + 1 {
                        let went_down = seen[at] & DOWN != 0;
                        seen[peer] |= match tiers[peer] > tiers[at] {
                            true => seen[at] & (UP | VALLEY) | if went_down { VALLEY } else { 0 },
                            false => seen[at] & VALLEY | if seen[at] & (UP | DOWN) != 0 { DOWN } else { 0 },
                        };
                    }
                }
            }
            count += with_hosts.iter().filter(|&&at| seen[at] & VALLEY != 0).count();
        }
        count
    }

    /// Applies rule 3.
    pub fn by_links(&self) -> (Vec<u8>, Source) {
        let with_hosts: Vec<usize> = self.switches().filter(|&at| self.hosts[at] > 0).collect();
        let plain = self.distances(&with_hosts);
        if with_hosts.is_empty() {
            return (plain, Source::Distance);
        }
        let siblings = self.siblings();
        let mut sets = vec![with_hosts.clone()];
        sets.extend(self.candidates(&with_hosts));
        // If links connect switches of the same tier, the fabric may be a ring or mesh in which every switch has hosts.
        if self.are_layers(&plain) {
            sets.extend(self.candidates_without_few(&siblings, &with_hosts));
        }
        let degree = |at: usize| self.peers[at].len();
        let degrees_near = |at: usize| {
            let mut near: Vec<usize> = self.peers[at].iter().map(|&peer| degree(peer as usize)).collect();
            near.sort_unstable();
            near
        };
        let alike = |set: &Vec<usize>| [self.with_alike(set, degrees_near), self.with_alike(set, degree)];
        let alike: Vec<Vec<usize>> = sets.iter().flat_map(alike).collect();
        sets.extend(alike);
        let mut best: Option<((usize, u8, usize), Vec<u8>)> = None;
        for (at, set) in sets.iter().enumerate() {
            let tiers = self.distances(&self.with_empty_siblings(&siblings, set));
            if !self.are_proper(&tiers) {
                continue;
            }
            let highest = tiers.iter().copied().max().unwrap_or(1);
            let found = ((self.valleys(&with_hosts, &tiers), highest, at), tiers);
            // If leaves without hosts are not recognised, they or the other switches of their pods would be above the
            // third tier.
            let is_final = found.0.0 == 0 && highest <= 3;
            if best.as_ref().is_none_or(|best| found.0 < best.0) {
                best = Some(found);
            }
            if is_final {
                break;
            }
        }
        match best {
            Some((_, tiers)) if tiers != plain => (tiers, Source::ProperTiers),
            _ => (plain, Source::Distance),
        }
    }

    /// Returns the leaves of a fabric without hosts: the switches with the fewest links to other switches, if this set
    /// yields proper tiers.
    pub fn leaves(&self) -> Option<Vec<usize>> {
        let fewest = self.switches().map(|at| self.peers[at].len()).min()?;
        let leaves: Vec<usize> = self.switches().filter(|&at| self.peers[at].len() == fewest).collect();
        let proper = leaves.len() < self.switches().count() && self.are_proper(&self.distances(&leaves));
        proper.then_some(leaves)
    }
}

/// Maximum number of thresholds of each kind to try, to bound the run time for a large fabric with many different
/// values.
const MAX_STEPS: usize = 16;

/// Maximum number of source switches for counting valleys, to bound the run time for a large fabric.
const MAX_SOURCES: usize = 32;
