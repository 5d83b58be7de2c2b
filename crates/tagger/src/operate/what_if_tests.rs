use super::*;
use crate::paths::PathSource;
use crate::rules::{Class, GeneratedBy, Rule, SwitchRules};
use crate::{Request, generate};
use fabric::LinkSpec;
use fabric::generate::{TierLinks, bcube, clos, jellyfish, leaf_spine, ring};
use fabric::routing::Mode;
use units::random::Stream;
use units::{Rate, Time};

/// Clos rule for `bounces` bounces in the ten-switch fabric of Tagger's Fig. 2, implemented independently of
/// `clos_rule`.
fn rules(fabric: &Fabric, bounces: Tag) -> RuleTable {
    let of = |node: NodeId| {
        let tier = fabric.node(node).tier;
        let above = |port: &PortIndex| fabric.node(fabric.ports(node)[usize::from(*port)].peer).tier > tier;
        let ports = || 0..fabric.ports(node).len() as PortIndex;
        let (up, down): (Vec<_>, Vec<_>) = ports().partition(above);
        let set = |ports: &[PortIndex]| ports.iter().copied().collect::<fabric::tags::PortSet>();
        let mut found = Vec::new();
        for tag in 1..=bounces + 1 {
            let mut add = |ins: &[PortIndex], outs: &[PortIndex], new_tag| {
                if !ins.is_empty() && !outs.is_empty() && new_tag <= bounces + 1 {
                    found.push(Rule { tag, in_ports: set(ins), out_ports: set(outs), new_tag });
                }
            };
            add(&down, &up, tag);
            add(&down, &down, tag);
            add(&up, &down, tag);
            add(&up, &up, tag + 1);
        }
        SwitchRules { node, rules: found }
    };
    let classes = vec![Class { name: "default".to_owned(), first_tag: 1 }];
    let tags = (1..=bounces + 1).collect();
    RuleTable::new(fabric, GeneratedBy::default(), tags, classes, fabric.switches().map(of).collect())
}

fn small() -> Fabric {
    let link = LinkSpec::new(Rate::from_gbps(40), Time::from_ns(500));
    clos(2, 2, 2, 2, 4, TierLinks::uniform(link)).unwrap()
}

#[test]
fn one_bounce_absorbs_what_without_bounces_turns_lossy() {
    let fabric = small();
    let routes = Forwarding::build(&fabric, Mode::ShortestPath).unwrap();
    let link = fabric.link_between(fabric.find("T1").unwrap(), fabric.find("L1").unwrap()).unwrap();
    let none = rules(&fabric, 0);
    let found = WhatIf::new(&fabric, &none, &routes).fails(link).unwrap();
    // The four hosts of T1 receive from 12 other hosts. Half of the packets arrive at L1, which must send them back
    // after the failure.
    assert_eq!((found.local.lossy, found.local.cut), (12 * 4, 0));
    let names: Vec<&str> = found.local.example.iter().flatten().map(|&node| fabric.name(node)).collect();
    assert!(names.first().is_some_and(|name| name.starts_with('H')) && names.last() == Some(&"L1"), "{names:?}");
    assert_eq!(found.converged, Effect::default());

    // L1 sends packets for T1 up to a spine or down to T2. A spine, which still has the old routes, may send them back
    // to L1, which is a second bounce.
    let mut before = found.local.lossy_per_million;
    for bounces in 1..=3 {
        let found = WhatIf::new(&fabric, &rules(&fabric, bounces), &routes).fails(link).unwrap();
        assert_eq!((found.local.lossy, found.local.looping), (12 * 4, 0));
        assert!(found.local.lossy_per_million < before, "{bounces}");
        before = found.local.lossy_per_million;
        let path = found.local.example.unwrap();
        assert!(path.iter().filter(|&&node| fabric.name(node) == "L1").count() > 1);
        assert_eq!(found.converged, Effect::default());
    }
}

#[test]
fn links_of_hosts_are_not_queried() {
    let fabric = small();
    assert_eq!(WhatIf::links(&fabric).len(), fabric.links().len() - 16);
}

#[test]
fn a_link_without_an_alternative_cuts() {
    let link = LinkSpec::new(Rate::from_gbps(40), Time::from_ns(500));
    let fabric = clos(1, 2, 1, 1, 2, TierLinks::uniform(link)).unwrap();
    let routes = Forwarding::build(&fabric, Mode::ShortestPath).unwrap();
    let table = rules(&fabric, 1);
    let down = fabric.link_between(fabric.find("T1").unwrap(), fabric.find("L1").unwrap()).unwrap();
    let found = WhatIf::new(&fabric, &table, &routes).fails(down).unwrap();
    assert_eq!(found.converged.cut, 8);
}

#[test]
fn hosts_tested_together_have_the_costs_of_each_alone() {
    let fabric = small();
    let mut draw = Stream::new(7, 0, units::random::purpose("what-if test"));
    let mut together = 0;
    for case in 0..12u8 {
        let table = rules(&fabric, case % 3);
        // The rules of switches differ between ports, so some hosts are not equivalent to other hosts of their switch.
        let mut switches = table.switches().to_vec();
        for switch in &mut switches {
            switch.rules.retain_mut(|rule| {
                let gone = (draw.below(4) == 0).then(|| draw.below(6) as PortIndex);
                rule.out_ports = rule.out_ports.iter().filter(|port| Some(*port) != gone).collect();
                !rule.out_ports.is_empty()
            });
        }
        let (origin, tags, classes) = (table.generated_by, table.lossless_tags, table.classes);
        let table = RuleTable::new(&fabric, origin, tags, classes, switches);
        let mode = if case % 2 == 0 { Mode::ShortestPath } else { Mode::UpDown { root: None } };
        let routes = Forwarding::build(&fabric, mode).unwrap();
        let mut shared = WhatIf::new(&fabric, &table, &routes);
        together += shared.alike.iter().zip(0..).filter(|&(&first, host)| first != host).count();
        for link in (0..fabric.links().len() as u32).map(LinkId) {
            let mut alone = WhatIf::new(&fabric, &table, &routes);
            alone.alike = (0..fabric.hosts().len() as u32).collect();
            assert_eq!(shared.fails(link).unwrap(), alone.fails(link).unwrap(), "case {case}, {link:?}");
        }
    }
    assert!((20..12 * 12).contains(&together), "{together} of {} hosts are like another", 12 * 16);
}

#[test]
fn what_is_left_out_would_have_cost_nothing() {
    let link = LinkSpec::new(Rate::from_gbps(40), Time::from_ns(500));
    let fabrics = [
        small(),
        jellyfish(12, 4, 2, 3, link, link).unwrap(),
        leaf_spine(3, 2, 2, 2, TierLinks::uniform(link)).unwrap(),
        bcube(3, 1, link).unwrap(),
        ring(5, 2, link, link).unwrap(),
    ];
    let (mut costly, mut free) = (0, 0);
    for fabric in fabrics {
        let expected = PathSource::AllShortest { limit: None };
        let table = generate(&fabric, &Request::new(expected)).unwrap().table;
        let modes = [Mode::ShortestPath, Mode::UpDown { root: None }];
        for mode in modes {
            let routes = Forwarding::build(&fabric, mode).unwrap();
            let everybody: Vec<u32> = (0..fabric.hosts().len() as u32).collect();
            for link in (0..fabric.links().len() as u32).map(LinkId) {
                let mut question = WhatIf::new(&fabric, &table, &routes);
                let recomputed = routes.recompute_without(&fabric, &[link]).unwrap();
                let all = question.cost(&everybody, &PacketForwarding::Routes(&recomputed));
                assert_eq!(question.fails(link).unwrap().converged, all, "{}, {mode:?}, {link:?}", fabric.kind());
                if all == Effect::default() { free += 1 } else { costly += 1 }
            }
        }
    }
    assert!(costly > 30 && free > 30, "{costly} {free}");
}
