//! Search for cycles of lossless accounts that wait for each other.
//!
//! A vertex is a lossless account (switch, ingress port, priority group) that frames enter. Frames of an account wait
//! in queues, and PFC frames that the neighbour's accounts send pause queues. Therefore an account waits for each
//! account of the neighbour that frames enter and that pauses one of its queues, even if other frames fill that
//! account. Hosts consume all arrivals, so no account waits for a host. If the graph has no cycle, no account waits
//! forever (Tagger, Theorem 5.1).

use super::cycle::shortest;
use super::findings::{Findings, finding};
use super::ports::pfc_key;
use crate::device::{Device, Port};
use crate::error::FindingKind;
use crate::options::PathSet;
use crate::paths::{ReachableWaits, Wait};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// A link whose receiver pauses its sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PausedLink {
    /// Name of the paused node.
    pub from: String,
    /// Egress port of the paused node.
    pub from_port: String,
    /// Name of the node whose account is full.
    pub to: String,
    /// Ingress port of the full ingress account.
    pub to_port: String,
    /// Priority group of the account.
    pub group: u8,
    /// Priorities that PFC pauses upstream while the account is full.
    pub priorities: Vec<u8>,
    /// Whether frames of this account enter the tunnel to the other ToR of a dual-ToR pair before they wait for the
    /// next account.
    pub enters_tunnel: bool,
}

impl fmt::Display for PausedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PausedLink { from, from_port, to, to_port, .. } = self;
        write!(f, "{from}:{from_port} -> {to}:{to_port}")
    }
}

#[derive(Default)]
pub(crate) struct Found {
    pub cycle: Vec<PausedLink>,
    /// For each account of the cycle, frames that wait for the next account.
    pub waits: Vec<Wait>,
    pub accounts: u64,
    pub dependencies: u64,
}

/// An account by ingress port and group.
type Account = (u32, u8);

pub(super) fn judge(device: &Device<'_>, reached: &ReachableWaits, paths: PathSet, findings: &mut Findings) -> Found {
    let (found, first) = search(device, reached);
    if let Some(port) = first.and_then(|number| device.port(number)) {
        report(device, port, &found.cycle, paths, findings);
    }
    found
}

/// Returns the shortest cycle, and the port of the account that a finding names.
pub(crate) fn search(device: &Device<'_>, reached: &ReachableWaits) -> (Found, Option<u32>) {
    let lossless = |&(number, group): &Account| device.port(number).is_some_and(|port| port.lossless >> group & 1 == 1);
    let accounts: Vec<Account> = reached.accounts.iter().copied().filter(lossless).collect();
    let at = |account: &Account| accounts.binary_search(account).ok();
    // Successors of each account, each with one wait that causes the edge.
    let mut edges: Vec<BTreeMap<usize, &Wait>> = vec![BTreeMap::new(); accounts.len()];
    for wait in &reached.waits {
        let Some(from) = at(&(wait.ingress, wait.group)) else { continue };
        let (Some(egress), Some((next, peer))) = (device.port(wait.egress), device.peer(wait.egress)) else { continue };
        for group in (0..8u8).filter(|group| peer.lossless >> group & 1 == 1) {
            let sent = peer.sends[usize::from(group)];
            let stops = (0..8usize).filter(|p| sent >> p & 1 == 1).any(|p| egress.stops[p] >> wait.queue & 1 == 1);
            if let Some(to) = at(&(next, group)).filter(|_| stops) {
                // Prefers a wait outside of tunnels, because it is easier to explain.
                let known = edges[from].entry(to).or_insert(wait);
                if known.enters && !wait.enters {
                    *known = wait;
                }
            }
        }
    }
    let dependencies = edges.iter().map(|to| to.len() as u64).sum();
    let cycle = shortest(&edges);
    let links: Vec<PausedLink> = cycle
        .iter()
        .enumerate()
        .map(|(position, &vertex)| {
            let (number, group) = accounts[vertex];
            let (from, from_port) = device.end(device.other(number));
            let (to, to_port) = device.end(number);
            let sends = device.port(number).map_or(0, |port| port.sends[usize::from(group)]);
            let next = cycle[(position + 1) % cycle.len()];
            PausedLink {
                from: from.to_owned(),
                from_port,
                to: to.to_owned(),
                to_port,
                group,
                priorities: (0..8).filter(|priority| sends >> priority & 1 == 1).collect(),
                enters_tunnel: edges[vertex][&next].enters,
            }
        })
        .collect();
    let tunnel = links.iter().position(|link| link.enters_tunnel);
    let first = cycle.get(tunnel.unwrap_or(0)).map(|&vertex| accounts[vertex].0);
    let next = |position: usize| cycle[(position + 1) % cycle.len()];
    let waits = cycle.iter().enumerate().map(|(position, &vertex)| *edges[vertex][&next(position)]).collect();
    (Found { cycle: links, waits, accounts: accounts.len() as u64, dependencies }, first)
}

fn report(device: &Device<'_>, port: &Port, links: &[PausedLink], paths: PathSet, findings: &mut Findings) {
    let tunnel = links.iter().any(|link| link.enters_tunnel);
    let config = device.config(port);
    let why = format!("{} lossless accounts wait for each other in a cycle: {paths}", links.len());
    let (key, instead) = match &config.tunnel {
        Some(found) if tunnel => {
            let instead = "encap_tc_to_queue_map, encap_tc_to_dscp_map and decap_tc_to_pg_map that put what goes to \
                           the other ToR on priorities of its own";
            (format!("{}.encap_tc_to_queue_map", found.key), instead)
        }
        _ => (pfc_key(device, port), "another priority after each bounce: tidegate tagger rules"),
    };
    findings.add(finding(FindingKind::Deadlock, config, key, why, instead.to_owned()));
}
