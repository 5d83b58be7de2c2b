//! Frames along their paths: lossless frames that enter a lossy account, queues that do not match the group,
//! starvation.

use super::findings::{Findings, finding};
use super::inconsistencies::{Entry, MajorityValues, entry, tunnel_entry};
use super::ports::{group_key, list, pfc_key, queue_key, queue_profile};
use crate::device::{Device, Port};
use crate::error::FindingKind;
use crate::options::QueueBinding;
use crate::paths::{Arrival, ReachableWaits, Wait};
use fabric::NodeId;
use std::collections::{BTreeMap, BTreeSet};
use text::numbers::grouped;

/// A wait, with its ports.
struct WaitPorts<'d, 'a> {
    device: &'d Device<'a>,
    wait: &'d Wait,
    ingress: &'d Port,
    egress: &'d Port,
}

pub(super) fn judge(
    device: &Device<'_>,
    reached: &ReachableWaits,
    without_groups: &BTreeSet<NodeId>,
    votes: &MajorityValues<'_>,
    findings: &mut Findings,
) {
    // Bitmask of the queues in which frames wait, by egress port.
    let mut fed: BTreeMap<u32, u32> = BTreeMap::new();
    reached.waits.iter().for_each(|wait| *fed.entry(wait.egress).or_default() |= 1 << wait.queue);
    for wait in &reached.waits {
        let (Some(ingress), Some(egress)) = (device.port(wait.ingress), device.port(wait.egress)) else { continue };
        let ports = WaitPorts { device, wait, ingress, egress };
        if !without_groups.contains(&ingress.node) {
            ports.profiles(votes, findings);
        }
        if let (Some((_, next)), Some(arrival)) = (device.peer(wait.egress), wait.next) {
            ports.next(next, arrival, votes, findings);
        }
        if ports.lossless() {
            ports.starvation(fed[&wait.egress], findings);
        }
    }
}

impl<'a> WaitPorts<'_, 'a> {
    fn lossless(&self) -> bool {
        self.ingress.lossless >> self.wait.group & 1 == 1
    }

    /// Text such as `DSCP 3 from Ethernet0`.
    fn frames(&self) -> String {
        format!("DSCP {} from {}", self.wait.dscp, self.ingress.name)
    }

    /// Returns the name of a port's switch.
    fn name(&self, port: &Port) -> String {
        fabric::visible(self.device.fabric.name(port.node))
    }

    fn class(&self) -> Option<Entry<'a>> {
        entry(self.device, self.ingress, "dscp_to_tc_map", self.wait.dscp)
    }
    fn group(&self) -> Option<Entry<'a>> {
        entry(self.device, self.ingress, "tc_to_pg_map", self.wait.class)
    }
    /// Returns the entry that chooses the queue.
    fn queue(&self) -> Option<Entry<'a>> {
        let tunnel = tunnel_entry(self.device, self.egress, "encap_tc_to_queue_map", self.wait.class);
        let port = match self.device.binding {
            QueueBinding::Egress => self.egress,
            QueueBinding::Ingress => self.ingress,
        };
        tunnel.filter(|_| self.wait.enters).or_else(|| entry(self.device, port, "tc_to_queue_map", self.wait.class))
    }
    fn rewrite(&self) -> Option<Entry<'a>> {
        let tunnel = tunnel_entry(self.device, self.egress, "encap_tc_to_dscp_map", self.wait.class);
        let port = entry(self.device, self.egress, "tc_to_dscp_map", self.wait.class);
        tunnel.filter(|_| self.wait.enters).or(port)
    }

    /// Reports the entry that differs from most files; without one, `key` of the switch of `port`.
    fn report_inconsistency<'e>(
        &self,
        kind: FindingKind,
        odd: Option<(Entry<'e>, u8)>,
        (port, key, instead): (&Port, String, String),
        why: String,
        findings: &mut Findings,
    ) {
        findings.add(match odd {
            Some((entry, usual)) => {
                let why = format!("{why}; the other switches have {usual} here");
                finding(kind, entry.config, entry.key(), why, format!("\"{usual}\""))
            }
            None => finding(kind, self.device.config(port), key, why, instead),
        });
    }

    /// Compares the group of the frames with their queue.
    fn profiles(&self, votes: &MajorityValues<'_>, findings: &mut Findings) {
        let WaitPorts { device, wait, ingress, egress } = *self;
        let lossless_queue = egress.lossless_queues >> wait.queue & 1 == 1;
        let stopped = egress.stops.iter().any(|stops| stops >> wait.queue & 1 == 1);
        if egress.unnamed_queues >> wait.queue & 1 == 1 {
            return;
        }
        if self.lossless() == lossless_queue || (lossless_queue && !stopped) {
            return;
        }
        let sends = (0..8).map(|priority| entry(device, ingress, "pfc_to_pg_map", priority));
        let odd = votes.odd([self.queue(), self.group(), self.class()].into_iter().chain(sends));
        let queue = format!("queue {} of {}, {}", wait.queue, egress.name, queue_profile(device, egress, wait.queue));
        let frames = self.frames();
        if lossless_queue {
            let why =
                format!("{frames} counts in group {}, which drops, and waits in {queue}, which does not", wait.group);
            let bit = ingress.lossless_profiles >> wait.group & 1 == 1;
            let key = if bit { pfc_key(device, ingress) } else { group_key(device, ingress, wait.group) };
            let or = (ingress, key, "a lossless group for them, or a lossy queue".to_owned());
            self.report_inconsistency(FindingKind::Mismatch, odd, or, why, findings);
        } else {
            let why =
                format!("{frames} counts in lossless group {}, and waits in {queue}: dropped when full", wait.group);
            let or = (egress, queue_key(device, egress, wait.queue), "an egress profile of a lossless pool".to_owned());
            self.report_inconsistency(FindingKind::Mismatch, odd, or, why, findings);
        }
    }

    /// Checks the treatment of these frames by the next switch.
    fn next(&self, next: &Port, arrival: Arrival, votes: &MajorityValues<'_>, findings: &mut Findings) {
        let WaitPorts { device, wait, egress, .. } = *self;
        let of = |field, tunnel, at| {
            let tunnel = tunnel_entry(device, next, tunnel, at).filter(|_| arrival.ends);
            tunnel.or_else(|| entry(device, next, field, at))
        };
        let class = of("dscp_to_tc_map", "decap_dscp_to_tc_map", arrival.dscp);
        let group = of("tc_to_pg_map", "decap_tc_to_pg_map", arrival.class);
        // The key of the finding may belong to either switch or a third one, so the text names both.
        let here = format!("at {}, {} to {}", self.name(egress), self.frames(), egress.name);
        let there = format!("at {} {}", self.name(next), next.name);
        let lossless_there = next.lossless >> arrival.group & 1 == 1;
        if !lossless_there {
            if self.lossless() {
                let why = format!(
                    "{here} counts in lossless group {}; {there} it arrives as DSCP {} in group {}, which drops",
                    wait.group, arrival.dscp, arrival.group
                );
                let sends = next.sends[usize::from(arrival.group)] != 0;
                let has_profile = next.lossless_profiles >> arrival.group & 1 == 1;
                let (key, instead) = match (sends, has_profile) {
                    (false, true) => (pfc_key(device, next), format!("a list with {}", arrival.group)),
                    (true, false) => (group_key(device, next, arrival.group), "a profile with xoff".to_owned()),
                    _ => {
                        let key = class.as_ref().map_or_else(|| group_key(device, next, arrival.group), Entry::key);
                        (key, "a traffic class of a lossless group".to_owned())
                    }
                };
                let sends = (0..8).map(|priority| entry(device, next, "pfc_to_pg_map", priority));
                let candidates = [class, group, self.rewrite(), self.class(), self.group()];
                let odd = votes.odd(candidates.into_iter().chain(sends));
                let or = (next, key, instead);
                self.report_inconsistency(FindingKind::LossyHop, odd, or, why, findings);
            }
            return;
        }
        let sent = next.sends[usize::from(arrival.group)] & egress.enabled;
        let priorities = (0..8u8).filter(|priority| sent >> priority & 1 == 1);
        let stopped = priorities.clone().fold(0, |bits, priority| bits | egress.stops[usize::from(priority)]);
        if sent == 0 || stopped >> wait.queue & 1 == 1 {
            return;
        }
        let stops = match stopped {
            0 => "no queue".to_owned(),
            _ => format!("queue {}", list(stopped)),
        };
        let why = format!(
            "{here} waits in queue {}; {there} it fills group {}, whose PAUSE of priority {} stops {} of {}",
            wait.queue,
            arrival.group,
            list(sent.into()),
            stops,
            self.name(egress)
        );
        let pauses = priorities.clone().map(|priority| entry(device, egress, "pfc_to_queue_map", priority));
        let sends = priorities.map(|priority| entry(device, next, "pfc_to_pg_map", priority));
        let queue = self.queue();
        let key = queue.as_ref().map_or_else(|| queue_key(device, egress, wait.queue), Entry::key);
        let candidates = [queue].into_iter().chain(pauses).chain([self.class(), self.rewrite(), self.group()]);
        let odd = votes.odd(candidates.chain([class, group]).chain(sends));
        let or = (egress, key, format!("queue {}, or the priority that stops this one", list(stopped)));
        self.report_inconsistency(FindingKind::Neighbours, odd, or, why, findings);
    }

    /// Reports queues that can starve the queue of a lossless account.
    fn starvation(&self, fed: u32, findings: &mut Findings) {
        let WaitPorts { device, wait, egress, .. } = *self;
        let config = device.config(egress);
        let mut starved = |key: String, why: String, instead: &str| {
            findings.add(finding(FindingKind::Starvation, config, key, why, instead.to_owned()));
        };
        let row = |queue: u8| format!("QUEUE|{}|{queue}.scheduler", egress.name);
        // Many ports share a row of SCHEDULER, so that row is the one to change.
        let row_of = |queue: u8, field: &str| {
            let bound = config.scheduled.get(&(egress.name.clone(), queue));
            bound.map_or_else(|| row(queue), |bound| format!("SCHEDULER|{}.{field}", bound.name))
        };
        let key = |queue: u8| row_of(queue, "type");
        let account = format!("lossless group {} of {}", wait.group, self.ingress.name);
        let starves = egress.starves(wait.queue, fed);
        let unlimited = |queue: &u8| starves >> queue & 1 == 1 && !egress.limits.contains_key(queue);
        for queue in (0..32u8).filter(unlimited) {
            let why = format!(
                "strict priority without a pir below the port's rate: while queue {queue} of {} has frames, queue {} \
                 waits, and {account} with it",
                egress.name, wait.queue
            );
            starved(key(queue), why, "a scheduler of type DWRR, or a pir below the rate of the port");
        }
        let mut limited = (0..32u8).filter(|queue| starves >> queue & 1 == 1 && egress.limits.contains_key(queue));
        if let Some(first) = limited.next() {
            let sum = limited.chain([first]).fold(0u64, |sum, queue| sum.saturating_add(egress.limits[&queue]));
            let why = format!(
                "queues {} of {} have strict priority, and their pir add up to {} bytes/s of the port's {}: while they \
                 send, queue {} waits, and {account} with it",
                list(starves),
                egress.name,
                grouped(sum),
                grouped(egress.rate),
                wait.queue
            );
            starved(row_of(first, "pir"), why, "values of pir that together stay below the rate of the port");
        }
        if egress.scheduled >> wait.queue & 1 == 0 {
            let why = format!("queue {} has no scheduler: nothing says that {account} drains", wait.queue);
            starved(row(wait.queue), why, "a scheduler of type DWRR");
        }
    }
}
