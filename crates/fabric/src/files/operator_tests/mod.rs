//! Tests with typical operator files: unstated properties are decided, and the decisions reported.

use super::*;
use crate::{Decision, LinkSpec, NodeKind, Subject};
use units::{Rate, Time};

pub(super) const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
pub(super) const OPTIONS: Options = Options::new(LINK);

pub(super) fn of(content: &str) -> Fabric {
    read("file", content, &OPTIONS).unwrap_or_else(|error| panic!("{error}\n{content}"))
}

pub(super) fn fails(content: &str) -> String {
    read("file", content, &OPTIONS).unwrap_err().to_string()
}

pub(super) fn hosts(fabric: &Fabric) -> Vec<&str> {
    fabric.hosts().iter().map(|&host| fabric.name(host)).collect()
}

pub(super) fn tier(fabric: &Fabric, name: &str) -> u8 {
    fabric.node(fabric.find(name).unwrap()).tier
}

/// Returns all decisions except those about tiers.
pub(super) fn lines(fabric: &Fabric) -> Vec<String> {
    let others = fabric.decisions().iter().filter(|decision| decision.subject != Subject::Tiers);
    others.map(Decision::line).collect()
}

/// Appends to a link table a link from each node of `a` to each node of `b`.
pub(super) fn between(a: &[&str], b: &[&str], text: &mut String) {
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            text.push_str(&format!("{a},up{j},{b},down{i}\n"));
        }
    }
}

/// Returns a link table in which each leaf has `hosts_each` hosts and spines have none. The switch names are arbitrary.
pub(super) fn leaf_spine(leaves: &[&str], spines: &[&str], hosts_each: usize) -> String {
    let mut text = "StartDevice,StartPort,EndDevice,EndPort\n".to_owned();
    let mut host = 0;
    for leaf in leaves {
        for port in 0..hosts_each {
            host += 1;
            text.push_str(&format!("h{host},eth0,{leaf},p{port}\n"));
        }
    }
    between(leaves, spines, &mut text);
    text
}

pub(super) fn switch(name: &str, kind: &str, rest: &str) -> String {
    format!("{{\"DEVICE_METADATA\": {{\"localhost\": {{\"hostname\": \"{name}\", \"type\": \"{kind}\"}}}}, {rest}}}")
}

mod faults;
mod formats;
mod roles;
