//! The Clos rule: a tag counts the bounces of a packet.
//!
//! A packet that came from above and leaves upwards has bounced, and its tag goes up by one; nothing else
//! changes it. Between two bounces a packet goes up and then down, so among the packets of one tag there is
//! no cycle. With k bounces lossless, k + 1 tags are needed, and no scheme does with fewer.

use crate::PortSet;
use crate::error::TaggerError;
use crate::paths::check_tiers;
use crate::rules::{Class, GeneratedBy, MAX_TAG, Rule, RuleTable, SwitchRules, Tag};
use fabric::{Fabric, NodeId};

/// The rules by which paths with up to `bounces` bounces are lossless for every one of `classes` (their
/// names); class c (from 1) starts with tag c, so that N classes share bounces + N tags.
///
/// The way straight back out of a port is allowed, as any other that goes down: two switches that send a packet
/// to and fro make it bounce at the lower one, so it is lossless for `bounces` rounds.
///
/// # Errors
/// If a link joins two nodes of one tier, or there are too many tags.
pub fn clos_rule(fabric: &Fabric, bounces: u8, classes: &[String]) -> Result<RuleTable, TaggerError> {
    fabric.check()?;
    check_tiers(fabric)?;
    let tags = usize::from(bounces) + classes.len();
    if classes.is_empty() || tags > usize::from(MAX_TAG) {
        return Err(TaggerError::TooManyTags { needed: tags, limit: MAX_TAG });
    }
    let highest = tags as Tag;
    let switches = (fabric.node_ids())
        .filter(|&node| fabric.node(node).forwards())
        .map(|node| SwitchRules { node, rules: rules(fabric, node, highest) });
    let paths = match bounces {
        0 => "up-down".to_owned(),
        1 => "up-down plus 1 bounce".to_owned(),
        more => format!("up-down plus {more} bounces"),
    };
    let by = GeneratedBy { algorithm: "clos".to_owned(), paths };
    let classes = (classes.iter().zip(1..)).map(|(name, first_tag)| Class { name: name.clone(), first_tag });
    Ok(RuleTable::new(fabric, by, (1..=highest).collect(), classes.collect(), switches.collect()))
}

fn rules(fabric: &Fabric, node: NodeId, highest: Tag) -> Vec<Rule> {
    let own = fabric.ports(node);
    let tier = fabric.node(node).tier;
    let climbs = |port: u16| fabric.node(own[usize::from(port)].peer).tier > tier;
    let all = || 0..own.len() as u16;
    let up: PortSet = all().filter(|&port| climbs(port)).collect();
    let down: PortSet = all().filter(|&port| !climbs(port)).collect();
    let any: PortSet = all().collect();
    let mut rules = Vec::new();
    for tag in 1..=highest {
        let mut push = |in_ports: &PortSet, out_ports: &PortSet, new_tag| {
            if !in_ports.is_empty() && !out_ports.is_empty() {
                rules.push(Rule { tag, in_ports: in_ports.clone(), out_ports: out_ports.clone(), new_tag });
            }
        };
        push(&down, &any, tag);
        push(&up, &down, tag);
        if tag < highest {
            push(&up, &up, tag + 1);
        }
    }
    rules
}
