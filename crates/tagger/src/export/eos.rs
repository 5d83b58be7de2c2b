//! Export to Arista EOS, as documented in its public configuration guides; not loaded on hardware.
//!
//! A policy map of type quality-of-service selects the traffic class by DSCP at each ingress port: the first of the two
//! maps of `factorise`. EOS lacks the second map, by traffic class and egress port: a traffic class has one transmit
//! queue and one PFC priority (its own number) on the whole switch. According to a feature note of August 2018, a map
//! from traffic class to DSCP can be bound to a port. That is insufficient: a packet whose new tag depends on the
//! egress port needs a queue that depends on it too. If ingress ports assigned an arriving tag to two classes, the
//! switch would send PAUSE for two priorities, although the neighbour queues the packets of this tag in one. Therefore
//! a switch fits if each arriving lossless tag has one result for all ports: spines fit, switches with bounces do not.
//!
//! The class `class-default` of a policy map matches no IPv4 and no IPv6 packet (EOS user manual, Traffic Management,
//! QoS policies). IP packets whose DSCP no class matches get the traffic class of the DSCP-to-traffic-class map, at
//! ports that trust the DSCP: this map covers all 64 values.

use super::dialect::Dialect;
use super::factorise::{Group, UnsupportedSwitch, groups};
use super::marks::Marks;
use super::view::SwitchView;
use crate::rules::Tag;
use fabric::PortIndex;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Warning for the operator who loads the configuration.
pub const WARNING: &str = "Written after the public EOS configuration guides; no switch was configured with it. Queue \
    and DSCP by traffic class are maps of the whole switch, and PFC priorities are traffic classes. Queues in use \
    share each port in equal parts: strict priority above the lossy queue would let packets that turn lossy stop a \
    lossless queue for ever.";

/// Returns the configuration of a switch.
///
/// # Errors
/// [`UnsupportedSwitch::Name`] if a name is invalid in EOS, [`UnsupportedSwitch::ByPort`] if the result of a tag
/// depends on ports, [`UnsupportedSwitch::KeptQueue`] if kept traffic shares a queue.
pub fn config(view: &SwitchView, marks: &Marks) -> Result<String, UnsupportedSwitch> {
    UnsupportedSwitch::of_names(view, Dialect::Eos)?;
    let groups = groups(view, marks);
    let alone = |group: &Group| groups.iter().filter(|other| other.priority == group.priority).count() == 1;
    let uniform = |group: &Group| group.row.iter().all(|&tag| tag.is_some() && tag == group.row[0]);
    let scattered: Vec<&Group> = groups.iter().filter(|group| !alone(group) || !uniform(group)).collect();
    if let Some(first) = scattered.iter().find(|group| !uniform(group)).or(scattered.first()) {
        let example = by_port(first, &groups, view);
        return Err(UnsupportedSwitch::ByPort { switch: view.name().to_owned(), groups: scattered.len(), example });
    }
    let mut queues = vec![marks.lossy().queue];
    for kept in marks.kept() {
        if queues.contains(&kept.queue) {
            let (switch, dscp, queue) = (view.name().to_owned(), kept.dscp, kept.queue);
            return Err(UnsupportedSwitch::KeptQueue { switch, dscp, queue });
        }
        queues.push(kept.queue);
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |content: String| {
        let _ = writeln!(text, "{content}");
    };
    line(format!("! Tagger rules of {}: {} rules, then lossy.", view.name(), view.rule_count()));
    line(format!("! {WARNING}"));
    line("qos rewrite dscp".to_owned());
    let lossy = marks.lossy();
    let class = |queue: u8, dscp: u8, to_queue: u8| {
        [
            format!("qos map traffic-class {queue} to tx-queue {to_queue}"),
            format!("qos map traffic-class {queue} to dscp {dscp}"),
        ]
    };
    class(lossy.queue, lossy.dscp, lossy.queue).into_iter().for_each(&mut line);
    for kept in marks.kept() {
        class(kept.queue, kept.dscp, kept.queue).into_iter().for_each(&mut line);
    }
    for group in &groups {
        let tag = group.row[0];
        class(group.priority, marks.dscp(tag), marks.queue(tag)).into_iter().for_each(&mut line);
    }
    for (class, dscps) in dscp_map(marks) {
        line(format!("qos map dscp {} to traffic-class {class}", dscps.join(" ")));
    }
    line("!".to_owned());
    for dscp in marks.lossless().iter().map(|mark| mark.dscp).chain(marks.kept().iter().map(|kept| kept.dscp)) {
        line(format!("class-map type qos match-any tagger-dscp-{dscp}"));
        line(format!("   match dscp {dscp}"));
        line("!".to_owned());
    }
    let policies: Vec<Vec<(u8, u8)>> = view.port_numbers().map(|port| policy(&groups, marks, port)).collect();
    let mut distinct: Vec<&Vec<(u8, u8)>> = Vec::new();
    policies.iter().for_each(|policy| {
        if !distinct.contains(&policy) {
            distinct.push(policy)
        }
    });
    for (number, policy) in distinct.iter().enumerate() {
        line(format!("policy-map type quality-of-service tagger-in-{}", number + 1));
        for (dscp, class) in policy.iter() {
            line(format!("   class tagger-dscp-{dscp}"));
            line(format!("      set traffic-class {class}"));
        }
        line("   class class-default".to_owned());
        line(format!("      set traffic-class {}", lossy.queue));
        line("!".to_owned());
    }
    for (port, lossless) in view.port_numbers().zip(view.lossless_priorities(marks)) {
        let at = distinct.iter().position(|policy| **policy == policies[usize::from(port)]).unwrap_or(0);
        line(format!("interface {}", view.interface(port)));
        line("   qos trust dscp".to_owned());
        line(format!("   service-policy type qos input tagger-in-{}", at + 1));
        for queue in marks.queues() {
            line(format!("   tx-queue {queue}"));
            line("      no priority".to_owned());
            line(format!("      bandwidth percent {}", 100 / marks.queues().len()));
        }
        if !lossless.is_empty() {
            line("   priority-flow-control on".to_owned());
        }
        for priority in lossless {
            line(format!("   priority-flow-control priority {priority} no-drop"));
        }
        line("!".to_owned());
    }
    Ok(text)
}

/// Describes a group that is treated differently by egress port, or another group of its tag by ingress port.
fn by_port(group: &Group, groups: &[Group], view: &SwitchView) -> String {
    let (tag, ingress) = group.members[0];
    let result = |tag: Option<Tag>| tag.map_or("lossy".to_owned(), |tag| format!("tag {tag}"));
    let to = |row: &[Option<Tag>], port: usize| format!("{} to {}", result(row[port]), view.ports()[port].interface);
    let from = |port: PortIndex| view.interface(port);
    // The port of arrival itself is the worst example.
    let ports: Vec<usize> = (0..group.row.len()).filter(|port| *port != usize::from(ingress)).collect();
    let first = ports.iter().copied().find(|&port| group.row[port].is_some()).or(ports.first().copied()).unwrap_or(0);
    let differs = |row: &[Option<Tag>]| ports.iter().copied().find(|&port| row[port] != group.row[first]);
    if let Some(second) = differs(&group.row) {
        return format!("tag {tag} from {}: {}, {}", from(ingress), to(&group.row, first), to(&group.row, second));
    }
    let other = groups.iter().find(|other| other.priority == group.priority && *other != group);
    let Some((other, &(_, at))) = other.and_then(|other| Some((other, other.members.first()?))) else {
        return format!("tag {tag} from {}: {}", from(ingress), to(&group.row, first));
    };
    format!("tag {tag} from {}: {}; from {}: {}", from(ingress), to(&group.row, first), from(at), to(&other.row, first))
}

/// Returns the DSCPs of each traffic class if no policy map assigns one: kept DSCPs, and all others in the lossy class.
fn dscp_map(marks: &Marks) -> BTreeMap<u8, Vec<String>> {
    let mut map: BTreeMap<u8, Vec<String>> = BTreeMap::new();
    for dscp in 0..64 {
        let kept = marks.kept().iter().find(|kept| kept.dscp == dscp);
        map.entry(kept.map_or(marks.lossy().queue, |kept| kept.queue)).or_default().push(dscp.to_string());
    }
    map
}

/// Returns (DSCP, traffic class) pairs of an ingress port.
fn policy(groups: &[Group], marks: &Marks, port: PortIndex) -> Vec<(u8, u8)> {
    let mut found = Vec::new();
    for mark in marks.lossless() {
        let accepted = groups.iter().find(|group| group.members.contains(&(mark.tag, port)));
        found.push((mark.dscp, accepted.map_or(marks.lossy().queue, |group| group.priority)));
    }
    found.extend(marks.kept().iter().map(|kept| (kept.dscp, kept.queue)));
    found
}
