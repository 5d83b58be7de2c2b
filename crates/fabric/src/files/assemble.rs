//! Conversion of a file's nodes and links to a fabric. Each guess about unstated properties is reported as a
//! [`Decision`].
//!
//! Skipped are nodes that the user ignores, self-loops, and nodes without a link if other nodes have links.
//!
//! Hosts are determined by the first rule that applies:
//!
//! 1. the user's decision ([`Roles`](super::Roles));
//! 2. the kind in the file;
//! 3. if the file states no kind, a node is a host if the last word of its name is a host word and a number, like `h7`,
//!    `host-3`, `server1` or `srv2`. The number of links does not matter: a host with several links remains a host and
//!    forwards nothing. If all nodes have such names, this rule is skipped;
//! 4. if switches have layer names, a node without a layer name whose links all lead to the lowest layer is a host;
//! 5. a node with one link is a host, unless its name or label is that of a switch;
//! 6. if there is no host yet, each switch of the lowest tier gets [`Options::hosts_per_switch`] hosts.
//!
//! A node of a kind that servers and routers share (`linux` of containerlab) is a host, unless its name or label is
//! that of a switch, or it has several links and hosts reach each other only through such nodes.
//!
//! [`Fabric::reason`] returns the rule for each node.
//!
//! Ports are numbered from 0 in the order of the links in the file; port names of the file are kept
//! ([`Fabric::port_name`]). Tiers that the file does not state are derived by [`tiers`](crate::tiers).

use super::error::FileError;
use super::plain::{Options, ParsedLink, ParsedNode, ParsedTopology, counted, fail, named_like_a_host};
use crate::builder::MAX_ELEMENTS;
use crate::decision::Subject;
use crate::tiers::{Source, SwitchGraph, TierInput, layers, names_a_switch, tiers};
use crate::{Fabric, FabricBuilder, FabricError, Node, NodeId, NodeKind};
use std::collections::{BTreeMap, BTreeSet};
use units::{Rate, Time};

/// Default reason, for a node that is classified as a switch because no rule classifies it as a host.
const NO_SIGN_OF_A_HOST: &str = "nothing says that it is a host";

impl ParsedTopology {
    /// Builds the fabric by the rules of the module documentation.
    pub fn assemble(mut self, options: &Options) -> Result<Fabric, FileError> {
        let left_out = self.decisions.iter().filter(|decision| decision.subject == Subject::LeftOut);
        let left_out = left_out.flat_map(|decision| &decision.names);
        options.roles.check(self.nodes.iter().map(|node| &node.name).chain(left_out).map(String::as_str))?;
        self.apply_roles(options);
        self.leave_out_self_loops();
        self.leave_out_unlinked();
        self.choose_hosts();
        self.find_routers();
        self.attach_hosts(options)?;
        self.report_unknown_kinds();
        self.choose_tiers();
        self.assume_links(options);
        self.build()
    }

    fn build(self) -> Result<Fabric, FileError> {
        let mut builder = FabricBuilder::new("file");
        for node in self.nodes {
            let is_host = node.kind == Some(NodeKind::Host);
            let id = builder.add(Node {
                name: node.name,
                kind: node.kind.unwrap_or(NodeKind::Switch),
                tier: if is_host { 0 } else { node.tier.unwrap_or(1) },
                relay: node.relay,
            });
            match node.kind {
                Some(_) => builder.because(id, node.why),
                None => builder.because(id, NO_SIGN_OF_A_HOST),
            }
        }
        for link in &self.links {
            let id = builder.connect(link.a, link.b, link.spec);
            builder.name_ports(id, &link.a_port, &link.b_port);
        }
        let unread = self.decisions.iter().find(|decision| decision.subject == Subject::Unread);
        let unread = unread.map(|decision| decision.line());
        builder.decide(self.decisions);
        let built = builder.build().and_then(|fabric| fabric.check().map(|()| fabric));
        built.map_err(|error| match unread {
            // A misspelled key may be the cause of the error, so the error lists the unread keys.
            Some(keys) => FileError::Unread { error, keys },
            None => error.into(),
        })
    }

    /// Returns the number of links of each node.
    fn degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.nodes.len()];
        self.links.iter().flat_map(|link| [link.a, link.b]).for_each(|node| degrees[node.index()] += 1);
        degrees
    }

    fn ends(&self) -> Vec<(u32, u32)> {
        self.links.iter().map(|link| (link.a.0, link.b.0)).collect()
    }

    /// Keeps the nodes for which `keep` returns `true`, and the links between them. Returns the names of the removed
    /// nodes.
    pub(super) fn retain(&mut self, keep: impl Fn(&ParsedNode, NodeId) -> bool) -> Vec<String> {
        let mut new_id = vec![None; self.nodes.len()];
        let mut gone = Vec::new();
        let mut kept = Vec::new();
        for (at, node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            if keep(&node, NodeId(at as u32)) {
                new_id[at] = Some(NodeId(kept.len() as u32));
                kept.push(node);
            } else {
                gone.push(node.name);
            }
        }
        self.nodes = kept;
        // The old ids do not match the new node indices.
        self.by_id.clear();
        let moved =
            |link: ParsedLink| Some(ParsedLink { a: new_id[link.a.index()]?, b: new_id[link.b.index()]?, ..link });
        self.links = std::mem::take(&mut self.links).into_iter().filter_map(moved).collect();
        gone
    }

    fn apply_roles(&mut self, options: &Options) {
        let roles = &options.roles;
        if !roles.ignore.is_empty() {
            let gone = self.retain(|node, _| !roles.ignore.iter().any(|pattern| pattern.matches(&node.name)));
            self.decide(Subject::LeftOut, |count| format!("{} left out on request", counted(count, "node")), gone);
        }
        for (patterns, kind, why) in
            [(&roles.host, NodeKind::Host, "named as a host"), (&roles.switch, NodeKind::Switch, "named as a switch")]
        {
            for node in &mut self.nodes {
                if patterns.iter().any(|pattern| pattern.matches(&node.name)) {
                    (node.kind, node.may_forward, node.why) = (Some(kind), false, format!("{why} by the user"));
                }
            }
        }
    }

    fn leave_out_self_loops(&mut self) {
        let mut loops = Vec::new();
        let nodes = &self.nodes;
        self.links.retain(|link| {
            let is_loop = link.a == link.b;
            if is_loop {
                loops.push(nodes[link.a.index()].name.clone());
            }
            !is_loop
        });
        let text = |count| format!("{} of a node with itself left out", counted(count, "link"));
        self.decide(Subject::LeftOut, text, loops);
    }

    fn leave_out_unlinked(&mut self) {
        let degrees = self.degrees();
        if self.links.is_empty() {
            return;
        }
        let gone = self.retain(|_, id| degrees[id.index()] > 0);
        self.decide(Subject::LeftOut, |count| format!("{} without a link left out", counted(count, "node")), gone);
    }

    /// Applies rules 3 to 5.
    fn choose_hosts(&mut self) {
        let degrees = self.degrees();
        let is_open = |at: usize| self.nodes[at].kind.is_none() && degrees[at] > 0;
        let mut chosen: Vec<Option<&str>> = vec![None; self.nodes.len()];
        let named: Vec<bool> = self.nodes.iter().map(|node| named_like_a_host(&node.name)).collect();
        // If all nodes have host names, the names do not distinguish hosts from switches.
        if named.contains(&false) {
            for at in (0..chosen.len()).filter(|&at| is_open(at) && named[at]) {
                chosen[at] = Some("named like a host");
            }
        }
        for at in self.below_the_lowest_layer().into_iter().filter(|&at| is_open(at)) {
            chosen[at] = chosen[at].or(Some("has no name of a switch, and all its links lead to the lowest layer"));
        }
        let is_switch = |node: &ParsedNode| names_a_switch(&node.name) || names_a_switch(&node.label);
        let mut by_name = Vec::new();
        for at in (0..chosen.len()).filter(|&at| is_open(at) && degrees[at] == 1) {
            match is_switch(&self.nodes[at]) {
                true if chosen[at].is_none() => by_name.push(self.nodes[at].name.clone()),
                true => {}
                false => chosen[at] = chosen[at].or(Some("has one link, and not the name of a switch")),
            }
        }
        for (node, why) in self.nodes.iter_mut().zip(chosen) {
            if let Some(why) = why {
                (node.kind, node.why) = (Some(NodeKind::Host), why.to_owned());
            }
        }
        let text = |count| match count {
            1 => "1 node of one link is a switch by its name".to_owned(),
            _ => format!("{count} nodes of one link are switches by their names"),
        };
        self.decide(Subject::Roles, text, by_name);
    }

    /// Returns nodes without a layer name whose links all lead to switches named for the lowest of several layers.
    fn below_the_lowest_layer(&self) -> Vec<usize> {
        let layers = layers(&self.layered());
        let known: BTreeSet<usize> = layers.iter().flatten().copied().collect();
        let Some(&lowest) = known.first().filter(|_| known.len() > 1) else { return Vec::new() };
        let mut below: Vec<bool> = layers.iter().map(Option::is_none).collect();
        for (a, b) in self.ends().into_iter().flat_map(|(a, b)| [(a as usize, b as usize), (b as usize, a as usize)]) {
            below[a] &= layers[b] == Some(lowest);
        }
        (0..below.len()).filter(|&at| below[at]).collect()
    }

    /// Declares software routers to be switches: their kind in the file is also that of servers (`may_forward`).
    fn find_routers(&mut self) {
        let degrees = self.degrees();
        let is_open = |node: &ParsedNode| node.may_forward && node.kind == Some(NodeKind::Host);
        let named = |node: &ParsedNode| names_a_switch(&node.label) || names_a_switch(&node.name);
        let mut routers: Vec<String> = Vec::new();
        for (node, degree) in self.nodes.iter_mut().zip(&degrees) {
            if is_open(node) && *degree > 1 && named(node) {
                node.kind = Some(NodeKind::Switch);
                node.why = format!("{}, with the name of a switch", node.why);
                routers.push(node.name.clone());
            }
        }
        if !self.hosts_reach_each_other() {
            for (node, degree) in self.nodes.iter_mut().zip(&degrees) {
                if is_open(node) && *degree > 1 && !named_like_a_host(&node.name) {
                    node.kind = Some(NodeKind::Switch);
                    node.why = format!("{}, with several links without which hosts cannot reach each other", node.why);
                    routers.push(node.name.clone());
                }
            }
        }
        let text = |count| match count {
            1 => "1 node of a kind that servers have too is a switch".to_owned(),
            _ => format!("{count} nodes of a kind that servers have too are switches"),
        };
        self.decide(Subject::Roles, text, routers);
    }

    /// Returns `true` if every pair of hosts is connected by a path through switches.
    fn hosts_reach_each_other(&self) -> bool {
        let mut peers = vec![Vec::new(); self.nodes.len()];
        for link in &self.links {
            peers[link.a.index()].push(link.b.index());
            peers[link.b.index()].push(link.a.index());
        }
        let is_host = |at: usize| self.nodes[at].kind == Some(NodeKind::Host);
        let Some(first) = (0..self.nodes.len()).find(|&at| is_host(at)) else { return true };
        let mut reached = vec![false; self.nodes.len()];
        reached[first] = true;
        let mut open = vec![first];
        while let Some(at) = open.pop() {
            for &peer in &peers[at] {
                if !std::mem::replace(&mut reached[peer], true) && (!is_host(peer) || self.nodes[peer].relay) {
                    open.push(peer);
                }
            }
        }
        (0..self.nodes.len()).all(|at| reached[at] || !is_host(at))
    }

    /// Applies rule 6.
    fn attach_hosts(&mut self, options: &Options) -> Result<(), FileError> {
        let hosts_on = &options.roles.hosts_on;
        if self.nodes.iter().any(|node| node.kind == Some(NodeKind::Host)) {
            return match hosts_on.is_empty() {
                true => Ok(()),
                false => fail("hosts_on", "the file has hosts: no others are attached"),
            };
        }
        // A `hosts_on` pattern implies at least one host per switch.
        let each = options.hosts_per_switch.max(u16::from(!hosts_on.is_empty()));
        if each == 0 {
            let help = "say which are (host = \"...\"), or attach hosts to leaves (hosts_per_switch = 1)";
            return fail("nodes", format!("none is a host: {help}"));
        }
        let leaves: Vec<usize> = match hosts_on.is_empty() {
            true => self.leaves(),
            false => {
                let named = |at: &usize| hosts_on.iter().any(|pattern| pattern.matches(&self.nodes[*at].name));
                (0..self.nodes.len()).filter(named).collect()
            }
        };
        if self.nodes.len() as u64 + leaves.len() as u64 * u64::from(each) > MAX_ELEMENTS {
            return Err(FabricError::TooLarge { what: "nodes", limit: MAX_ELEMENTS }.into());
        }
        let where_to = if leaves.len() < self.nodes.len() { "leaf" } else { "switch" };
        let mut names = Vec::new();
        for leaf in leaves {
            let switch = self.nodes[leaf].name.clone();
            for number in 1..=each {
                let name = format!("{switch}-h{number}");
                let host = NodeId(self.nodes.len() as u32);
                let (kind, why) = (Some(NodeKind::Host), "attached, since the file has no host".to_owned());
                self.nodes.push(ParsedNode { id: name.clone(), name, kind, why, ..ParsedNode::default() });
                let (a_port, b_port) = (String::new(), String::new());
                self.links.push(ParsedLink { a: host, a_port, b: NodeId(leaf as u32), b_port, spec: options.link });
            }
            names.push(switch);
        }
        let each = counted(each.into(), "host");
        let text = |count| {
            let noun = match (where_to, count) {
                ("leaf", 1) => "leaf",
                ("leaf", _) => "leaves",
                (_, 1) => "switch",
                _ => "switches",
            };
            format!("no node is a host: {each} attached to each of {count} {noun}")
        };
        self.decide(Subject::AttachedHosts, text, names);
        Ok(())
    }

    /// Returns the switches of the lowest tier; all switches if labels, names and links do not determine tiers.
    fn leaves(&self) -> Vec<usize> {
        let layered = self.layered();
        let links = self.ends();
        match tiers(&layered, &links) {
            (tiers, Source::File | Source::Words) => {
                let lowest = tiers.iter().min().copied().unwrap_or_default();
                (0..tiers.len()).filter(|&at| tiers[at] == lowest).collect()
            }
            _ => SwitchGraph::new(&layered, &links).leaves().unwrap_or_else(|| (0..self.nodes.len()).collect()),
        }
    }

    /// Reports unknown kinds, with the classification (host or switch) of their nodes.
    fn report_unknown_kinds(&mut self) {
        let classified = |node: &ParsedNode| {
            let (kind, why) = match node.kind {
                Some(NodeKind::Host) => ("host", node.why.as_str()),
                Some(_) => ("switch", node.why.as_str()),
                None => ("switch", NO_SIGN_OF_A_HOST),
            };
            Some(format!("{}: {} is a {kind} ({why})", node.unknown_kind.as_ref()?, node.name))
        };
        let names = self.nodes.iter().filter_map(classified).collect();
        self.decide(Subject::Roles, |count| format!("{} of neighbours unknown", counted(count, "type")), names);
    }

    fn layered(&self) -> Vec<TierInput<'_>> {
        let kind = |node: &ParsedNode| node.kind.unwrap_or(NodeKind::Switch);
        let nodes = self.nodes.iter();
        nodes.map(|of| TierInput { kind: kind(of), name: &of.name, label: &of.label, tier: of.tier }).collect()
    }

    fn choose_tiers(&mut self) {
        let links = self.ends();
        let (tiers, source) = tiers(&self.layered(), &links);
        let both = links.iter().flat_map(|&(a, b)| [(a as usize, b as usize), (b as usize, a as usize)]);
        let is_host = |at: usize| self.nodes[at].kind == Some(NodeKind::Host);
        let of_hosts: Vec<(usize, usize)> = both.filter(|&(a, b)| is_host(a) && !is_host(b)).collect();
        let first = of_hosts.iter().map(|&(_, switch)| tiers[switch]).min().unwrap_or(1);
        let high = of_hosts.iter().filter(|&&(_, switch)| tiers[switch] > first);
        let name = |at: usize| &self.nodes[at].name;
        let high = high.map(|&(host, switch)| format!("{} on {}", name(host), name(switch))).collect();
        for (node, tier) in self.nodes.iter_mut().zip(&tiers) {
            node.tier = Some(*tier);
        }
        if source != Source::Distance {
            let text = |count| format!("{} on a switch above the first tier", counted(count, "host"));
            self.decide(Subject::HighHosts, text, high);
        }
        if source == Source::ProperTiers {
            let mut has_hosts = vec![false; self.nodes.len()];
            of_hosts.iter().for_each(|&(_, switch)| has_hosts[switch] = true);
            let is_empty_leaf = |at: &usize| self.nodes[*at].tier == Some(1) && !has_hosts[*at];
            let empty = (0..self.nodes.len()).filter(is_empty_leaf).map(|at| self.nodes[at].name.clone()).collect();
            let text = |count| match count {
                1 => "1 switch without hosts is a leaf by its links".to_owned(),
                _ => format!("{count} switches without hosts are leaves by their links"),
            };
            self.decide(Subject::Tiers, text, empty);
        }
        let how = match source {
            Source::File => return,
            Source::Words => "labels, names and neighbours",
            Source::Distance => "distance to the nearest host",
            Source::ProperTiers => "links",
        };
        let switches = || self.nodes.iter().filter(|node| node.kind != Some(NodeKind::Host));
        let mut counts: BTreeMap<u8, u64> = BTreeMap::new();
        switches().for_each(|node| *counts.entry(node.tier.unwrap_or(1)).or_default() += 1);
        let counts: Vec<String> = counts.iter().map(|(tier, count)| format!("{count} of tier {tier}")).collect();
        let text = format!("tiers by {how}: {}", counts.join(", "));
        self.decisions.push(crate::Decision { subject: Subject::Tiers, text, names: Vec::new() });
    }

    fn assume_links(&mut self, options: &Options) {
        let Some(assumed) = options.assumed else { return };
        let (mut rates, mut delays) = (0, 0);
        for spec in self.links.iter_mut().map(|link| &mut link.spec) {
            if spec.rate == Rate::MIN {
                (spec.rate, rates) = (assumed.rate, rates + 1);
            }
            if spec.delay == Time::ZERO {
                (spec.delay, delays) = (assumed.delay, delays + 1);
            }
        }
        let (rate, delay) = (assumed.rate, assumed.delay);
        let mut decide = |text| {
            self.decisions.push(crate::Decision { subject: Subject::AssumedLinks, text, names: Vec::new() });
        };
        if rates > 0 {
            decide(format!("{} without a rate: {rate} assumed", counted(rates, "link")));
        }
        if delays > 0 {
            decide(format!("{} without a delay: {delay} assumed", counted(delays, "link")));
        }
    }
}
