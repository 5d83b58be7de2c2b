//! The Clos rule: a tag counts the bounces of a packet.
//!
//! The tag of a packet increases by one if the packet arrives from a higher tier and leaves upwards, or if it takes a
//! link within a tier; otherwise the tag stays. Between two bounces a packet first moves up and then down, and a queue
//! behind a link within a tier is always the first queue with its tag on a path. Therefore the queues of one tag form
//! no cycle. k lossless bounces need k + 1 tags; no scheme needs fewer if packets can bounce between a switch and a
//! switch above it.

use crate::error::TaggerError;
use crate::paths::check_reach;
use crate::ports::LinkDirection;
use crate::rules::{Class, GeneratedBy, MAX_TAG, Rule, RuleTable, SwitchRules, Tag};
use fabric::tags::PortSet;
use fabric::{Fabric, NodeId};

/// Returns rules that make paths with up to `bounces` bounces lossless for all `classes` (names). Class c (from 1)
/// starts with tag c, so N classes together need bounces + N tags.
///
/// A packet may leave downwards by its ingress port. If two switches send a packet back and forth, each round trip is
/// one bounce at the lower switch, so the packet is lossless for `bounces` round trips.
///
/// # Errors
/// If links within tiers leave hosts without a path of at most `bounces` bounces, or too many tags are needed.
pub fn clos_rule(fabric: &Fabric, bounces: u8, classes: &[String]) -> Result<RuleTable, TaggerError> {
    fabric.check()?;
    check_reach(fabric, bounces)?;
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
    let towards = |directions: &[LinkDirection]| -> PortSet {
        let ports =
            (0..).zip(own).filter(|(_, port)| directions.contains(&LinkDirection::between(fabric, node, port.peer)));
        ports.map(|(port, _): (u16, _)| port).collect()
    };
    let (up, down, across) =
        (towards(&[LinkDirection::Up]), towards(&[LinkDirection::Down]), towards(&[LinkDirection::Across]));
    let (climbing, vertical) =
        (towards(&[LinkDirection::Down, LinkDirection::Across]), towards(&[LinkDirection::Up, LinkDirection::Down]));
    let (bouncing, any) = (
        towards(&[LinkDirection::Up, LinkDirection::Across]),
        towards(&[LinkDirection::Up, LinkDirection::Down, LinkDirection::Across]),
    );
    let mut rules = Vec::new();
    for tag in 1..=highest {
        let mut push = |in_ports: &PortSet, out_ports: &PortSet, new_tag| {
            if !in_ports.is_empty() && !out_ports.is_empty() {
                rules.push(Rule { tag, in_ports: in_ports.clone(), out_ports: out_ports.clone(), new_tag });
            }
        };
        push(&climbing, if across.is_empty() { &any } else { &vertical }, tag);
        push(&up, &down, tag);
        if tag < highest {
            push(&climbing, &across, tag + 1);
            push(&up, &bouncing, tag + 1);
        }
    }
    rules
}
