//! Random switches, and interpreters of configurations, independent of the exporters.

use super::marks::{Kept, Lossy, Mark, Marks};
use super::sonic::{self, SonicError};
use super::view::{PortView, SwitchView};
use crate::rules::Tag;
use fabric::PortIndex;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use units::{Rate, Time};

/// Treatment of a packet: priority group at ingress, DSCP and queue at egress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Treatment {
    /// Priority group at ingress; `None` if the configuration leaves it to another part of the switch.
    pub priority_group: Option<u8>,
    pub dscp: u8,
    pub queue: Option<u8>,
}

pub fn port(interface: &str, to_host: bool) -> PortView {
    PortView {
        interface: interface.to_owned(),
        peer: format!("peer of {interface}"),
        peer_port: 0,
        to_host,
        rate: Rate::from_gbps(100),
        delay: Time::from_ns(200),
        headroom_bytes: 30_000,
    }
}

/// Generates switches with rules from a few rows, so that some fit and some do not.
pub fn switches() -> impl Strategy<Value = SwitchView> {
    let tag = prop_oneof![Just(0u8), 1..=3u8];
    (1..=6usize).prop_flat_map(move |ports| {
        let rows = prop::collection::vec(prop::collection::vec(tag.clone(), ports), 1..=9);
        let chosen = prop::collection::vec(0..9usize, 3 * ports);
        let hosts = prop::collection::vec(any::<bool>(), ports);
        (rows, chosen, hosts).prop_map(move |(rows, chosen, hosts)| {
            let mut rules = Vec::new();
            for tag in 1..=3u8 {
                for ingress in 0..ports {
                    let row = &rows[chosen[(usize::from(tag) - 1) * ports + ingress] % rows.len()];
                    let lossless = row.iter().enumerate().filter(|&(_, &new)| new != 0);
                    rules.extend(lossless.map(|(egress, &new)| (tag, ingress as u16, egress as u16, new)));
                }
            }
            let ports = hosts.iter().enumerate().map(|(at, &host)| port(&format!("Ethernet{}", 4 * at), host));
            SwitchView::new("S", ports.collect(), rules).expect("ports that exist")
        })
    })
}

/// Generates marks for the tags 1 to 3, with and without kept traffic and separate tags at hosts.
pub fn marks() -> impl Strategy<Value = Marks> {
    (any::<bool>(), any::<bool>(), 4..=16u8).prop_map(|(keep, restore, classes)| {
        let mark = |tag: Tag, dscp, priority| Mark { tag, dscp, priority, at_host: (restore && tag > 1).then_some(1) };
        let kept = if keep { vec![Kept { dscp: 48, queue: 7 }, Kept { dscp: 46, queue: 5 }] } else { Vec::new() };
        let lossless = vec![mark(1, 3, 3), mark(2, 4, 4), mark(3, 2, 2)];
        Marks::new(&[1, 2, 3], lossless, Lossy { dscp: 8, queue: 0 }, kept, classes).expect("marks")
    })
}

/// Returns the treatment that the rules require for a packet with this DSCP.
pub fn ruled(view: &SwitchView, marks: &Marks, dscp: u8, ingress: PortIndex, egress: PortIndex) -> Treatment {
    let lossy = marks.lossy();
    if let Some(mark) = marks.lossless().iter().find(|mark| mark.dscp == dscp) {
        let accepted = view.rules().any(|(tag, from, ..)| (tag, from) == (mark.tag, ingress));
        let group = if accepted { mark.priority } else { lossy.queue };
        let new = view.rules().find(|&(tag, from, to, _)| (tag, from, to) == (mark.tag, ingress, egress));
        let (dscp, queue) = match new {
            None => (lossy.dscp, lossy.queue),
            Some((.., new)) => {
                let find = |tag| *marks.lossless().iter().find(|mark| mark.tag == tag).expect("a mark");
                let seen = find(new).at_host.filter(|_| view.ports()[usize::from(egress)].to_host);
                (find(seen.unwrap_or(new)).dscp, find(seen.unwrap_or(new)).priority)
            }
        };
        return Treatment { priority_group: Some(group), dscp, queue: Some(queue) };
    }
    let kept = marks.kept().iter().find(|kept| kept.dscp == dscp);
    let (dscp, queue) = kept.map_or((lossy.dscp, lossy.queue), |kept| (kept.dscp, kept.queue));
    Treatment { priority_group: Some(lossy.queue), dscp, queue: Some(queue) }
}

fn number(value: &Value) -> u8 {
    value.as_str().expect("a text, as SONiC has it").parse().expect("a number")
}

/// Returns the fragment of a switch without a given platform.
pub fn sonic_fragment(view: &SwitchView, marks: &Marks, settings: &sonic::Settings) -> Result<Value, SonicError> {
    sonic::fragment(view, marks, settings, &sonic::PlatformBuffers::default()).map(|fragment| fragment.config)
}

/// Interprets SONiC's pipeline on a fragment of `config_db.json`.
pub fn sonic(config: &Value, dscp: u8, ingress: &str, egress: &str) -> Treatment {
    let (from, to) = (&config["PORT_QOS_MAP"][ingress], &config["PORT_QOS_MAP"][egress]);
    let lookup =
        |table: &str, name: &Value, key: u8| number(&config[table][name.as_str().expect("a name")][key.to_string()]);
    let class = lookup("DSCP_TO_TC_MAP", &from["dscp_to_tc_map"], dscp);
    Treatment {
        priority_group: Some(lookup("TC_TO_PRIORITY_GROUP_MAP", &from["tc_to_pg_map"], class)),
        dscp: lookup("TC_TO_DSCP_MAP", &to["tc_to_dscp_map"], class),
        queue: Some(lookup("TC_TO_QUEUE_MAP", &to["tc_to_queue_map"], class)),
    }
}

/// Interprets a rewriting ACL: the matching rule with the highest priority. An ACL sets no queue.
pub fn acl(config: &Value, dscp: u8, ingress: &str, egress: &str) -> u8 {
    let rules = config["ACL_RULE"].as_object().expect("rules");
    let named = |list: &Value, port: &str| list.as_str().is_none_or(|list| list.split(',').any(|name| name == port));
    let matching = rules.values().filter(|rule| {
        number(&rule["DSCP"]) == dscp && named(&rule["IN_PORTS"], ingress) && named(&rule["OUT_PORTS"], egress)
    });
    let first = matching.max_by_key(|rule| rule["PRIORITY"].as_str().expect("text").parse::<u32>().expect("a number"));
    first.map_or(dscp, |rule| number(&rule["DSCP_ACTION"]))
}

/// Interprets the subset of nftables in use, from its text: the chain hooked into forwarding, statement by statement,
/// for a packet of this family (`ip` or `ip6`). Returns DSCP and queue at departure; no queue if none was set.
pub fn nftables(text: &str, family: &str, dscp: u8, ingress: &str, egress: &str) -> (u8, Option<u8>) {
    // Joins lists in braces that continue over several lines.
    let joined = text.replace(",\n", ",");
    let (mut chains, mut maps) = (BTreeMap::<&str, Vec<&str>>::new(), BTreeMap::<&str, Vec<&str>>::new());
    let (mut chain, mut map) = (None, None);
    for line in joined.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("chain ").or(line.strip_prefix("map ")) {
            let name = name.trim_end_matches(" {");
            (chain, map) = if line.starts_with("chain") { (Some(name), None) } else { (None, Some(name)) };
            assert!(chain.is_none_or(|chain| !chains.contains_key(chain)), "{name} twice");
        } else if line == "}" {
            (chain, map) = (None, None);
        } else if let Some(chain) = chain {
            chains.entry(chain).or_default().push(line);
        } else if let Some(elements) = map.zip(line.strip_prefix("elements = ")) {
            maps.entry(elements.0).or_default().extend(listed(elements.1));
        }
    }
    let (mut at, mut left) = ("rewrite", (dscp, None));
    'chains: loop {
        for statement in &chains[at] {
            let words: Vec<&str> = statement.split(' ').collect();
            let (condition, target) = statement.split_once("goto ").unwrap_or((statement, ""));
            let set = || listed(&condition[condition.find('{').expect("a set")..]);
            let goes = match words[..] {
                ["type", "filter", "hook", "forward", ..] => None,
                ["goto", chain] => Some(chain),
                [of, "dscp", "set", new] => {
                    if of == family {
                        left.0 = new.parse().expect("a number");
                    }
                    None
                }
                ["meta", "priority", "set", minor] => {
                    let minor = minor.strip_prefix("1:").expect("a class of HTB");
                    left.1 = Some(u8::from_str_radix(minor, 16).expect("a number") - 1);
                    None
                }
                [of, "dscp", of_dscp, "iifname", "vmap", map] => {
                    let elements = maps.get(map.trim_start_matches('@')).cloned().unwrap_or_default();
                    let key = format!("\"{ingress}\" : goto ");
                    let mut found = elements.into_iter().filter_map(|element| element.strip_prefix(&key));
                    let first = found.next().filter(|_| of == family && of_dscp == dscp.to_string());
                    assert_eq!(found.next(), None, "an element twice");
                    first
                }
                [of, "dscp", one, "goto", chain] => (of == family && one == dscp.to_string()).then_some(chain),
                // This rule does not match, because the interpreted packets are IP.
                ["meta", "protocol", "!=", "{", "ip,", "ip6", "}", "meta", "priority", "set", _] => None,
                [of, "dscp", "{", ..] => (of == family && set().contains(&&*dscp.to_string())).then_some(target),
                ["oifname", "{", ..] => set().contains(&&*format!("\"{egress}\"")).then_some(target),
                _ => panic!("unknown: {statement}"),
            };
            if let Some(chain) = goes {
                at = chain;
                continue 'chains;
            }
        }
        return left;
    }
}

/// Returns the elements in braces, separated by commas.
fn listed(text: &str) -> Vec<&str> {
    let inner = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).expect("braces");
    inner.split(',').map(str::trim).collect()
}

/// Interprets the subset of EOS in use: `None` if no map applies to a packet.
pub fn eos(text: &str, dscp: u8, ingress: &str) -> Treatment {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let after = |start: &str| {
        let at = lines.iter().position(|line| *line == start).unwrap_or_else(|| panic!("{start}"));
        lines[at + 1..].iter().take_while(|line| **line != "!").copied().collect::<Vec<_>>()
    };
    let interface = after(&format!("interface {ingress}"));
    let policy =
        interface.iter().find_map(|line| line.strip_prefix("service-policy type qos input ")).expect("a policy");
    let policy = after(&format!("policy-map type quality-of-service {policy}"));
    // `class-default` matches no IP packet.
    let matched = |class: &str| {
        class != "class-default"
            && after(&format!("class-map type qos match-any {class}")) == [format!("match dscp {dscp}")]
    };
    let class = match policy.chunks(2).find(|pair| matched(pair[0].strip_prefix("class ").expect("a class"))) {
        Some(first) => first[1].strip_prefix("set traffic-class ").expect("a class"),
        None => {
            assert!(interface.contains(&"qos trust dscp"), "by the default class of the port: {ingress}");
            let maps =
                lines.iter().filter_map(|line| line.strip_prefix("qos map dscp ")?.split_once(" to traffic-class "));
            let mut of = maps.filter(|(dscps, _)| dscps.split(' ').any(|one| one == dscp.to_string()));
            let (first, second) = (of.next().expect("a map of this DSCP"), of.next());
            assert_eq!(second, None, "one map for DSCP {dscp}");
            first.1
        }
    };
    let class: u8 = class.parse().expect("a number");
    let map = |to: &str| {
        let start = format!("qos map traffic-class {class} to {to} ");
        let found: Vec<u8> = lines.iter().filter_map(|line| line.strip_prefix(&start)?.parse().ok()).collect();
        assert_eq!(found.len(), 1, "one map to {to} for class {class}");
        found[0]
    };
    Treatment { priority_group: Some(class), dscp: map("dscp"), queue: Some(map("tx-queue")) }
}
