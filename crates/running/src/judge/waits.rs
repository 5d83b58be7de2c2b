//! Checks of frames along their paths: lossless frames that enter a lossy account, queues that do not match the
//! priority group, and starvation.

use super::entries::{Entry, entry, tunnel_entry};
use super::findings::{Findings, Scope, finding};
use super::lists::list;
use super::ports::{OWN_XOFF, group_key, missing_xoff, pfc_key, queue_key, queue_profile};
use crate::device::{Device, Port};
use crate::error::FindingKind;
use crate::options::QueueBinding;
use crate::paths::{Arrival, ReachableWaits, Wait};
use crate::read::table_of;
use fabric::NodeId;
use std::collections::{BTreeMap, BTreeSet};
use text::numbers::{counted, grouped};

/// A wait, with its ingress and egress port.
struct WaitPorts<'d, 'a> {
    device: &'d Device<'a>,
    wait: &'d Wait,
    ingress: &'d Port,
    egress: &'d Port,
}

/// Location of a finding: a key with the value to write, or the map entries on the path, most likely cause first.
enum Location<'a> {
    Key(String, String),
    Entries(Vec<Option<Entry<'a>>>),
}

pub(super) fn judge(
    device: &Device<'_>,
    reached: &ReachableWaits,
    without_groups: &BTreeSet<NodeId>,
    accepted_strict: u32,
    findings: &mut Findings,
) {
    let fed = fed(reached);
    for wait in &reached.waits {
        let (Some(ingress), Some(egress)) = (device.port(wait.ingress), device.port(wait.egress)) else { continue };
        let ports = WaitPorts { device, wait, ingress, egress };
        if !without_groups.contains(&ingress.node) {
            ports.profiles(findings);
        }
        if let (Some((_, next)), Some(arrival)) = (device.peer(wait.egress), wait.next) {
            ports.next(next, arrival, findings);
        }
        if ports.lossless() {
            ports.starvation(fed[&wait.egress], accepted_strict, findings);
        }
    }
}

/// Returns the advice, and the option that accepts the strict priority of a queue.
fn or_accept(advice: &str, queue: u8) -> String {
    format!("{advice}; or --accept-strict {queue}, if its frames leave enough of the rate")
}

/// Returns the bitmask of the queues in which frames wait, by egress port.
fn fed(reached: &ReachableWaits) -> BTreeMap<u32, u32> {
    let mut fed: BTreeMap<u32, u32> = BTreeMap::new();
    reached.waits.iter().for_each(|wait| *fed.entry(wait.egress).or_default() |= 1 << wait.queue);
    fed
}

/// Returns, by egress port, the bitmask of the queues that can starve queues of lossless accounts.
pub(super) fn starving(device: &Device<'_>, reached: &ReachableWaits) -> BTreeMap<u32, u32> {
    let fed = fed(reached);
    let mut starving: BTreeMap<u32, u32> = BTreeMap::new();
    for wait in &reached.waits {
        let (Some(ingress), Some(egress)) = (device.port(wait.ingress), device.port(wait.egress)) else { continue };
        if ingress.lossless >> wait.group & 1 == 1 {
            *starving.entry(wait.egress).or_default() |= egress.starves(wait.queue, fed[&wait.egress]);
        }
    }
    starving
}

/// Returns the assumption about lossless queues with a `pir` below the rate of their port.
pub(super) fn limited(device: &Device<'_>, reached: &ReachableWaits) -> Option<String> {
    let mut queues: BTreeMap<(u32, u8), (&Port, u64)> = BTreeMap::new();
    for wait in &reached.waits {
        let (Some(ingress), Some(egress)) = (device.port(wait.ingress), device.port(wait.egress)) else { continue };
        if ingress.lossless >> wait.group & 1 == 1
            && let Some(limit) = egress.limits.get(&wait.queue)
        {
            queues.insert((wait.egress, wait.queue), (egress, *limit));
        }
    }
    let (&(_, queue), &(port, limit)) = queues.iter().next()?;
    let (count, drain) = match queues.len() as u64 {
        1 => ("1 lossless queue".to_owned(), "drains"),
        many => (counted(many, "lossless queue"), "drain"),
    };
    let (file, of) = (&device.config(port).file, grouped(port.rate));
    let limit = grouped(limit);
    Some(format!(
        "{count} with a pir {drain} below the rate of the port, as queue {queue} of {file} {} at {limit} of {of} \
         bytes/s: the loss of throughput at paused switches is not judged",
        port.name
    ))
}

/// Returns the assumption about ports that `PORT_QOS_MAP.scheduler` limits below their rate.
pub(super) fn limited_ports(device: &Device<'_>) -> Option<String> {
    let limit_of = |port: &Port| {
        let config = device.config(port);
        let limit = config.port_limits.get(&port.name).or_else(|| config.port_limits.get("global"))?;
        (*limit < port.rate).then(|| (config.file.clone(), port.name.clone(), *limit, port.rate))
    };
    let mut limited: Vec<_> = device.ports().filter_map(|(_, port)| limit_of(port)).collect();
    limited.sort();
    let (file, port, limit, rate) = limited.first()?;
    let (limit, rate) = (grouped(*limit), grouped(*rate));
    let (count, drain) = match limited.len() as u64 {
        1 => ("1 port".to_owned(), "drains"),
        many => (counted(many, "port"), "drain"),
    };
    Some(format!(
        "{count} with a pir by PORT_QOS_MAP.scheduler {drain} below the rate of the link, as {port} of {file} at \
         {limit} of {rate} bytes/s: starvation and the loss of throughput by this limit are not judged"
    ))
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
    /// Returns the map entry that selects the queue.
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

    /// Returns the settings that may determine the treatment of these frames: those of this switch, of the next one,
    /// and of the previous one, which may have written the DSCP. The search for causes adds switches with a tunnel.
    fn scope(&self) -> Scope {
        let before = self.device.peer(self.wait.ingress).map(|(_, port)| port);
        let next = self.device.peer(self.wait.egress).map(|(_, port)| port);
        let mut scope = Scope::of_ports(&[self.ingress, self.egress]);
        scope.switches = [Some(self.ingress), next, before].into_iter().flatten().map(|port| port.node).collect();
        scope.ports.extend(next.map(|port| (port.node, port.index)));
        let entries = |port: &Port, dscp: u8, class: u8| {
            let classified = [("dscp_to_tc_map", dscp), ("tc_to_pg_map", class), ("tc_to_queue_map", class)];
            classified.map(|(field, at)| (port.node, table_of(field), at))
        };
        scope.entries.extend(entries(self.ingress, self.wait.dscp, self.wait.class));
        scope.entries.push((self.egress.node, table_of("tc_to_dscp_map"), self.wait.class));
        if let (Some(next), Some(arrival)) = (next, self.wait.next) {
            scope.entries.extend(entries(next, arrival.dscp, arrival.class));
        }
        scope
    }

    /// Adds a finding at a key of the switch of `port`, or at a map entry on the path; in the latter case `why` lists
    /// all entries.
    fn conflict(
        &self,
        kind: FindingKind,
        port: &Port,
        at: Location<'_>,
        (mut why, elsewhere): (String, Option<String>),
        findings: &mut Findings,
    ) {
        let mut elsewhere = elsewhere.unwrap_or_else(|| why.clone());
        let finding = match at {
            Location::Key(key, instead) => finding(kind, self.device.config(port), key, why, instead),
            Location::Entries(entries) => {
                let locations: BTreeSet<String> = entries.iter().flatten().map(Entry::location).collect();
                let locations: Vec<String> = locations.into_iter().collect();
                elsewhere.clone_from(&why);
                why += &format!("; the entries on this path are {}", locations.join(", "));
                match entries.into_iter().flatten().next() {
                    Some(first) => finding(kind, first.config, first.key(), why, String::new()),
                    None => finding(kind, self.device.config(port), "PORT_QOS_MAP".to_owned(), why, String::new()),
                }
            }
        };
        findings.conflict(finding, elsewhere, self.scope());
    }

    /// Checks that the priority group of the frames and their queue are both lossless or both lossy.
    fn profiles(&self, findings: &mut Findings) {
        let WaitPorts { device, wait, ingress, egress } = *self;
        let lossless_queue = egress.lossless_queues >> wait.queue & 1 == 1;
        let stopped = egress.stops.iter().any(|stops| stops >> wait.queue & 1 == 1);
        if egress.unnamed_queues >> wait.queue & 1 == 1 {
            return;
        }
        if self.lossless() == lossless_queue || (lossless_queue && !stopped) {
            return;
        }
        let queue = format!("queue {} of {}, {}", wait.queue, egress.name, queue_profile(device, egress, wait.queue));
        let frames = self.frames();
        let group = wait.group;
        let (why, port, key, instead) = if lossless_queue {
            let why = format!("{frames} counts in group {group}, which drops, and waits in {queue}, which does not");
            let bit = ingress.lossless_profiles >> group & 1 == 1;
            let (key, instead) = match missing_xoff(device, ingress, group) {
                Some(key) => (key, OWN_XOFF),
                None if bit => (pfc_key(device, ingress), "a lossless group for them, or a lossy queue"),
                None => (group_key(device, ingress, group), "a lossless group for them, or a lossy queue"),
            };
            (why, ingress, key, instead)
        } else {
            let why = format!("{frames} counts in lossless group {group}, and waits in {queue}: dropped when full");
            (why, egress, queue_key(device, egress, wait.queue), "an egress profile of a lossless pool")
        };
        let elsewhere = format!("at {}, {why}", self.name(egress));
        let at = Location::Key(key, instead.to_owned());
        self.conflict(FindingKind::Mismatch, port, at, (why, Some(elsewhere)), findings);
    }

    /// Checks the treatment of these frames by the next switch.
    fn next(&self, next: &Port, arrival: Arrival, findings: &mut Findings) {
        let WaitPorts { device, wait, egress, .. } = *self;
        let of = |field, tunnel, at| {
            let tunnel = tunnel_entry(device, next, tunnel, at).filter(|_| arrival.ends);
            tunnel.or_else(|| entry(device, next, field, at))
        };
        let class = || of("dscp_to_tc_map", "decap_dscp_to_tc_map", arrival.dscp);
        let group = || of("tc_to_pg_map", "decap_tc_to_pg_map", arrival.class);
        // If the egress switch rewrites the DSCP, the finding lists the map entry that rewrites it before the maps of
        // the next switch.
        let rewrite = || self.rewrite().filter(|_| arrival.dscp != wait.dscp);
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
                let at = match (sends, has_profile) {
                    (false, true) => Location::Key(pfc_key(device, next), String::new()),
                    (true, false) => match missing_xoff(device, next, arrival.group) {
                        Some(key) => Location::Key(key, OWN_XOFF.to_owned()),
                        None => Location::Key(group_key(device, next, arrival.group), "a profile with xoff".to_owned()),
                    },
                    _ => Location::Entries(vec![rewrite(), class(), group(), self.class(), self.group()]),
                };
                self.conflict(FindingKind::LossyHop, next, at, (why, None), findings);
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
        let pauses = priorities.map(|priority| entry(device, egress, "pfc_to_queue_map", priority));
        let path = [self.queue(), rewrite(), class(), group(), self.class()];
        let at = Location::Entries(path.into_iter().chain(pauses).collect());
        self.conflict(FindingKind::Neighbours, egress, at, (why, None), findings);
    }

    /// For a queue with a `pir` below the rate of its port, returns the time in ms in which it drains the headroom of
    /// the account. The account pauses the upstream switch for at least this time. Also returns the detection time of
    /// the watchdog at the upstream port, and the name of that port.
    fn pause_by_limit(&self) -> Option<(u64, u64, String)> {
        let WaitPorts { device, wait, ingress, egress } = *self;
        let limit = *egress.limits.get(&wait.queue)?;
        let config = device.config(ingress);
        let bound = config.groups.get(&(ingress.name.clone(), wait.group))?;
        let headroom = config.profiles.get(&bound.name)?.xoff?;
        let (_, upstream) = device.peer(wait.ingress)?;
        let of = device.config(upstream);
        let watched = of.qos.get(&upstream.name)?.watched & ingress.sends[usize::from(wait.group)];
        let detection_ms = of.watchdog.ports.get(&upstream.name)?.detection.filter(|_| watched != 0)?;
        let pause_ms = headroom.saturating_mul(1000) / limit;
        Some((pause_ms, detection_ms, format!("{} {}", self.name(upstream), upstream.name)))
    }

    /// Reports queues that can starve the queue of a lossless account.
    fn starvation(&self, fed: u32, accepted_strict: u32, findings: &mut Findings) {
        let WaitPorts { device, wait, egress, .. } = *self;
        let config = device.config(egress);
        let mut starved = |key: String, why: String, instead: &str| {
            findings.add(finding(FindingKind::Starvation, config, key, why, instead.to_owned()));
        };
        let row = |queue: u8| format!("QUEUE|{}|{queue}.scheduler", egress.name);
        // Many ports share a row of SCHEDULER, so the finding names this row.
        let row_of = |queue: u8, field: &str| {
            let bound = config.scheduled.get(&(egress.name.clone(), queue));
            bound.map_or_else(|| row(queue), |bound| format!("SCHEDULER|{}.{field}", bound.name))
        };
        let key = |queue: u8| row_of(queue, "type");
        let account = format!("lossless group {} of {}", wait.group, self.ingress.name);
        let all = egress.starves_beside(wait.queue, fed, accepted_strict);
        let starves = all & !accepted_strict;
        let unlimited = |queue: &u8| starves >> queue & 1 == 1 && !egress.limits.contains_key(queue);
        for queue in (0..32u8).filter(unlimited) {
            let why = format!(
                "strict priority without a pir below the port's rate: while queue {queue} of {} has frames, queue {} \
                 waits, and {account} with it",
                egress.name, wait.queue
            );
            starved(
                key(queue),
                why,
                &or_accept("a scheduler of type DWRR, or a pir below the rate of the port", queue),
            );
        }
        let mut limited = (0..32u8).filter(|queue| starves >> queue & 1 == 1 && egress.limits.contains_key(queue));
        if let Some(first) = limited.next() {
            let together = all & egress.limits.keys().fold(0, |bits, queue| bits | 1 << queue);
            let limits = (0..32u8).filter(|queue| together >> queue & 1 == 1).map(|queue| egress.limits[&queue]);
            let sum = limits.fold(0u64, u64::saturating_add);
            let why = format!(
                "queues {} of {} have strict priority, and their pir add up to {} bytes/s of the port's {}: while they \
                 send, queue {} waits, and {account} with it",
                list(together),
                egress.name,
                grouped(sum),
                grouped(egress.rate),
                wait.queue
            );
            let instead = or_accept("values of pir that together stay below the rate of the port", first);
            starved(row_of(first, "pir"), why, &instead);
        }
        if let Some((pause_ms, detection_ms, upstream)) = self.pause_by_limit()
            && pause_ms > detection_ms
        {
            let why = format!(
                "queue {} of {} sends at most {} bytes/s: a PAUSE of {account} lasts up to {} ms, and the watchdog of \
                 {upstream} acts after {} ms and drops its frames",
                wait.queue,
                egress.name,
                grouped(egress.limits[&wait.queue]),
                grouped(pause_ms),
                grouped(detection_ms)
            );
            starved(row_of(wait.queue, "pir"), why, "no pir, or one with which the headroom drains in time");
        }
        if egress.scheduled >> wait.queue & 1 == 0 {
            let why = format!("queue {} has no scheduler: nothing says that {account} drains", wait.queue);
            starved(row(wait.queue), why, "a scheduler of type DWRR");
        }
    }
}
