//! Interpreters read the exported configurations and must treat every packet as the rules require; examples of common
//! switches.

use super::sonic::{Settings, SonicError, Watchdog};
use super::testing::{self, port};
use super::*;
use crate::rules::Tag;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn settings(binding: QueueBinding) -> Settings {
    Settings {
        binding,
        watchdog: Watchdog::All,
        first_tags: vec![1],
        detection_ms: 200,
        restoration_ms: 200,
        xon_bytes: 3_000,
        dynamic_th: 0,
    }
}

/// Calls `check` for every packet and every pair of ports.
fn each(view: &SwitchView, mut check: impl FnMut(u8, u16, u16)) {
    for dscp in [0, 1, 2, 3, 4, 8, 46, 48, 63] {
        for ingress in view.port_numbers() {
            view.port_numbers().for_each(|egress| check(dscp, ingress, egress));
        }
    }
}

/// Returns the number of groups, computed from their definition independently of the factoriser.
fn brute_force_groups(view: &SwitchView, marks: &Marks) -> usize {
    let mut rows: BTreeSet<(u8, Vec<(u8, u8)>)> = BTreeSet::new();
    for mark in marks.lossless() {
        for ingress in view.port_numbers() {
            let seen = |egress| testing::ruled(view, marks, mark.dscp, ingress, egress);
            let row: Vec<(u8, u8)> =
                view.port_numbers().map(|egress| (seen(egress).dscp, seen(egress).queue.unwrap())).collect();
            if row.iter().any(|&(dscp, _)| dscp != marks.lossy().dscp) {
                rows.insert((mark.priority, row));
            }
        }
    }
    rows.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn sonic_maps_do_what_the_rules_say_or_are_not_written(view in testing::switches(), marks in testing::marks()) {
        let needed = brute_force_groups(&view, &marks) + 1 + marks.kept().len();
        let fits = needed <= usize::from(marks.traffic_classes());
        match testing::sonic_fragment(&view, &marks, &settings(QueueBinding::Egress)) {
            Ok(config) => {
                prop_assert!(fits);
                each(&view, |dscp, ingress, egress| {
                    let got = testing::sonic(&config, dscp, view.interface(ingress), view.interface(egress));
                    assert_eq!(got, testing::ruled(&view, &marks, dscp, ingress, egress), "{dscp} {ingress} {egress}");
                });
            }
            Err(misfit) => {
                prop_assert!(!fits, "{misfit}");
                prop_assert!(misfit.to_string().contains("S needs \
                    ACL") && misfit.to_string().contains(&needed.to_string()));
            }
        }
    }

    #[test]
    fn where_the_queue_binds_at_ingress_it_is_right_whatever_the_egress_port(
        view in testing::switches(), marks in testing::marks(),
    ) {
        let settings = settings(QueueBinding::Ingress);
        let Ok(config) = testing::sonic_fragment(&view, &marks, &settings) else { return Ok(()) };
        each(&view, |dscp, ingress, egress| {
            // An ASIC that binds `TC_TO_QUEUE_MAP` at ingress: the queue map of the ingress port also applies at
            // egress.
            let by_ingress = testing::sonic(&config, dscp, view.interface(ingress), view.interface(ingress)).queue;
            assert_eq!(by_ingress, testing::ruled(&view, &marks, dscp, ingress, egress).queue);
        });
    }

    #[test]
    fn an_acl_rewrites_as_the_rules_say(view in testing::switches(), marks in testing::marks()) {
        let config = acl::config_db(&view, &marks).unwrap();
        for mark in marks.lossless() {
            for (ingress, egress) in view.port_numbers().flat_map(|i| view.port_numbers().map(move |e| (i, e))) {
                let got = testing::acl(&config, mark.dscp, view.interface(ingress), view.interface(egress));
                prop_assert_eq!(got, testing::ruled(&view, &marks, mark.dscp, ingress, egress).dscp);
            }
        }
        prop_assert_eq!(testing::acl(&config, 63, "Ethernet0", "Ethernet0"), 63);
        let expanded: usize = entries(&view, &marks).iter().map(|one| one.ingress.len() * one.egress.len()).sum();
        prop_assert_eq!(expanded, view.rule_count());
    }

    #[test]
    fn nftables_does_what_the_rules_say(view in testing::switches(), marks in testing::marks(), bridge: bool) {
        let family = if bridge { nftables::Family::Bridge } else { nftables::Family::Inet };
        let text = nftables::ruleset(&view, &marks, family).unwrap();
        for (ip, mark) in ["ip", "ip6"].iter().flat_map(|ip| marks.lossless().iter().map(move |mark| (ip, mark))) {
            for (ingress, egress) in view.port_numbers().flat_map(|i| view.port_numbers().map(move |e| (i, e))) {
                let got = testing::nftables(&text, ip, mark.dscp, view.interface(ingress), view.interface(egress));
                let ruled = testing::ruled(&view, &marks, mark.dscp, ingress, egress);
                prop_assert_eq!(got, (ruled.dscp, ruled.queue));
            }
            // Packets from or to a port that is not in the fabric become lossy.
            let lossy = (marks.lossy().dscp, Some(marks.lossy().queue));
            prop_assert_eq!(testing::nftables(&text, ip, mark.dscp, "eth9", "Ethernet0"), lossy);
            prop_assert_eq!(testing::nftables(&text, ip, mark.dscp, "Ethernet0", "eth9"), lossy);
        }
        prop_assert_eq!(testing::nftables(&text, "ip", 63, "Ethernet0", "Ethernet0"), (63, None));
        for kept in marks.kept() {
            let got = testing::nftables(&text, "ip6", kept.dscp, "Ethernet0", "Ethernet0");
            prop_assert_eq!(got, (kept.dscp, Some(kept.queue)));
        }
    }

    #[test]
    fn eos_does_what_the_rules_say_or_is_not_written(view in testing::switches(), marks in testing::marks()) {
        let Ok(text) = eos::config(&view, &marks) else { return Ok(()) };
        each(&view, |dscp, ingress, egress| {
            let got = testing::eos(&text, dscp, view.interface(ingress));
            let ruled = testing::ruled(&view, &marks, dscp, ingress, egress);
            assert_eq!((got.dscp, got.queue), (ruled.dscp, ruled.queue), "{dscp} {ingress} {egress}\n{text}");
            if marks.tag_of(dscp).is_some() {
                assert_eq!(got.priority_group, ruled.priority_group);
            }
        });
    }
}

/// Builds a leaf of a Clos with `down` ports to ToRs, then `up` ports to spines; `bounces` turns upwards stay lossless.
fn leaf(down: u16, up: u16, bounces: Tag, to_host: bool) -> SwitchView {
    let ports = (0..down + up).map(|at| port(&format!("Ethernet{}", 4 * at), to_host && at < down)).collect();
    let mut rules = Vec::new();
    for tag in 1..=bounces + 1 {
        for ingress in 0..down + up {
            for egress in 0..down + up {
                let new = if ingress >= down && egress >= down { tag + 1 } else { tag };
                if new <= bounces + 1 {
                    rules.push((tag, ingress, egress, new));
                }
            }
        }
    }
    SwitchView::new("L1", ports, rules).unwrap()
}

#[test]
fn a_clos_with_k_bounces_takes_two_groups_a_tag_and_spines_one() {
    for bounces in 0..=2 {
        let view = leaf(16, 16, bounces, false);
        let tags: Vec<Tag> = (1..=bounces + 1).collect();
        let marks = Marks::usual(&tags).unwrap();
        assert_eq!(groups(&view, &marks).len(), 2 * usize::from(bounces + 1));
        let spine = (0..32).flat_map(|i| (0..32).flat_map(move |e| [1, 2, 3].map(|tag| (tag, i, e, tag))));
        let spine = spine.filter(|rule| tags.contains(&rule.0));
        let ports = (0..32).map(|at| port(&format!("e{}", at + 1), false)).collect();
        let spine = SwitchView::new("S1", ports, spine).unwrap();
        assert_eq!(groups(&spine, &marks).len(), usize::from(bounces + 1));
        let config = eos::config(&spine, &marks).unwrap();
        let share = format!("   tx-queue {}\n      no priority\n      bandwidth percent ", marks.lossy().queue);
        assert_eq!(config.matches(&share).count(), spine.ports().len(), "{config}");
        for mark in marks.lossless() {
            let seen = testing::eos(&config, mark.dscp, "e7");
            let same = (Some(mark.priority), mark.dscp, Some(mark.priority));
            assert_eq!((seen.priority_group, seen.dscp, seen.queue), same);
        }
        assert_eq!(eos::config(&view, &marks).unwrap_err().switch(), "L1");
    }
}

#[test]
fn hosts_are_trusted_with_the_tags_they_enter_with() {
    let view = leaf(2, 2, 1, true);
    let marks = Marks::usual(&[1, 2]).unwrap();
    assert_eq!(groups(&view, &marks).len(), 4);
    let trusting = view.clone().trusting_hosts_with(&[1]);
    assert_eq!(groups(&trusting, &marks).len(), 3);
    assert_eq!(
        (trusting.new_tag(2, 0, 3), trusting.new_tag(1, 0, 3), trusting.new_tag(2, 3, 0)),
        (None, Some(1), Some(2))
    );
    assert!(trusting.rules().all(|(tag, i, o, new)| view.new_tag(tag, i, o) == Some(new)));
}

#[test]
fn four_bounces_do_not_fit_and_the_switch_and_the_count_are_named() {
    let view = leaf(4, 4, 3, false);
    let marks = Marks::usual(&[1, 2, 3, 4]).unwrap();
    let misfit = testing::sonic_fragment(&view, &marks, &settings(QueueBinding::Egress)).unwrap_err();
    let SonicError::UnsupportedSwitch(misfit) = misfit else { panic!("{misfit}") };
    assert!(matches!(&misfit, UnsupportedSwitch::Classes { switch, groups: 8, others: 1, limit: 8 } if switch == "L1"));
    assert!(misfit.to_string().contains("L1 needs ACL") && misfit.to_string().contains("9 traffic classes"));
}

#[test]
fn a_bouncing_switch_without_the_queue_map_at_egress_is_reported() {
    let view = leaf(2, 2, 1, false);
    let marks = Marks::usual(&[1, 2]).unwrap();
    let notes = sonic::notes(&view, &marks, &settings(QueueBinding::Egress)).unwrap();
    assert!(notes.iter().any(|note| note.contains("binds at egress")), "{notes:?}");
    let refused = testing::sonic_fragment(&view, &marks, &settings(QueueBinding::Ingress)).unwrap_err();
    assert!(
        matches!(refused, SonicError::UnsupportedSwitch(UnsupportedSwitch::QueueByEgress { groups: 2, .. })),
        "{refused}"
    );
}

/// SONiC ships such a remapping for two ToRs: the ToR that does not serve a server returns its packets upwards and
/// marks them for queue 2 in place of 3, and 6 in place of 4.
#[test]
fn two_tors_and_two_classes_get_the_maps_that_sonic_ships() {
    // Packets enter with tag 1 or 2 (DSCP and queue 3 or 4); packets with tag 3 or 4 (2 or 6) have bounced once.
    let mark = |tag, dscp, at_host| Mark { tag, dscp, priority: dscp, at_host };
    let lossless = vec![mark(1, 3, None), mark(2, 4, None), mark(3, 2, Some(1)), mark(4, 6, Some(2))];
    let marks = Marks::new(&[1, 2, 3, 4], lossless, Lossy { dscp: 8, queue: 0 }, vec![], 8).unwrap();
    // A ToR: two servers, then two T1s.
    let (hosts, up) = (0..2u16, 2..4u16);
    let mut rules = Vec::new();
    for (tag, bounced) in [(1, 3), (2, 4)] {
        for ingress in 0..4 {
            for egress in 0..4 {
                let turns = up.contains(&ingress) && up.contains(&egress);
                rules.push((tag, ingress, egress, if turns { bounced } else { tag }));
            }
        }
        for ingress in up.clone() {
            rules.extend(hosts.clone().map(|egress| (bounced, ingress, egress, bounced)));
        }
    }
    let ports = ["Ethernet0", "Ethernet4", "Ethernet112", "Ethernet116"];
    let ports = ports.iter().enumerate().map(|(at, name)| port(name, at < 2)).collect();
    let tor = SwitchView::new("T0a", ports, rules).unwrap();
    let shipped = Settings { watchdog: Watchdog::First, first_tags: vec![1, 2], ..settings(QueueBinding::Egress) };
    let config = testing::sonic_fragment(&tor, &marks, &shipped).unwrap();
    let seen = |dscp, from, to| {
        let seen = testing::sonic(&config, dscp, from, to);
        (seen.priority_group.unwrap(), seen.dscp, seen.queue.unwrap())
    };
    // From a T1 back up: queue 3 becomes 2, 4 becomes 6, DSCP likewise; ingress PAUSE still uses priority 3 and 4.
    assert_eq!(seen(3, "Ethernet112", "Ethernet116"), (3, 2, 2));
    assert_eq!(seen(4, "Ethernet112", "Ethernet116"), (4, 6, 6));
    // DSCP and queue do not change from and to servers.
    assert_eq!(seen(3, "Ethernet112", "Ethernet0"), (3, 3, 3));
    assert_eq!(seen(4, "Ethernet0", "Ethernet116"), (4, 4, 4));
    // Packets that bounced at another switch use their own priority group, and reach the server with their original
    // DSCP.
    assert_eq!(seen(2, "Ethernet112", "Ethernet0"), (2, 3, 3));
    assert_eq!(seen(6, "Ethernet112", "Ethernet4"), (6, 4, 4));
    // A packet that bounces a second time becomes lossy.
    assert_eq!(seen(2, "Ethernet112", "Ethernet116"), (2, 8, 0));
    // The additional lossless priorities 2 and 6 are enabled only at ports to T1s, and the watchdog does not monitor
    // them.
    let ports = &config["PORT_QOS_MAP"];
    assert_eq!(ports["Ethernet112"]["pfc_enable"], "2,3,4,6");
    assert_eq!(ports["Ethernet112"]["pfcwd_sw_enable"], "3,4");
    assert_eq!(
        (&ports["Ethernet0"]["pfc_enable"], &ports["Ethernet0"]["pfcwd_sw_enable"]),
        (&"3,4".into(), &"3,4".into())
    );
    for group in ["Ethernet112|2", "Ethernet112|3", "Ethernet112|4", "Ethernet112|6", "Ethernet0|3", "Ethernet0|4"] {
        assert_eq!(config["BUFFER_PG"][group]["profile"], "tagger_lossless_30000_profile", "{group}");
        assert_eq!(config["BUFFER_QUEUE"][group]["profile"], "egress_lossless_profile", "{group}");
    }
    assert_eq!(config["BUFFER_PG"].as_object().unwrap().len(), 2 * 2 + 2 * 4);
    assert_eq!(config["PFC_WD"]["Ethernet112"]["action"], "drop");
    // Every queue in use has an equal share, including the lossy one: strict priority could starve it.
    assert_eq!(config["SCHEDULER"]["TAGGER"]["type"], "DWRR");
    for queue in marks.queues() {
        assert_eq!(config["QUEUE"][format!("Ethernet112|{queue}")]["scheduler"], "TAGGER");
    }
    assert!(marks.queues().contains(&marks.lossy().queue));
    // The rules form six lossless groups of (tag, ingress port).
    assert_eq!(groups(&tor, &marks).len(), 6);
}

#[test]
fn a_port_that_does_not_exist_and_one_named_twice_are_refused() {
    let ports = || vec![port("a", false), port("b", false)];
    let refused = SwitchView::new("S", ports(), [(1, 0, 2, 1)]).unwrap_err().to_string();
    assert!(refused.contains("switch `S`: a rule names port 2, but its ports are 0 to 1"), "{refused}");
    let refused = SwitchView::new("S", vec![port("a", false), port("a", true)], []).unwrap_err().to_string();
    assert!(refused.contains("ports 0 and 1 are both called `a`"), "{refused}");
}

#[test]
fn listings_name_ports_and_end_in_lossy() {
    let mut view = leaf(1, 1, 0, true);
    let written = |with: &dyn Fn(&mut String)| {
        let mut text = String::new();
        with(&mut text);
        text
    };
    let table = "L1: 3 rules\n  tag  in                             out                            new tag\n  \
                 1    Ethernet0 (peer of Ethernet0)  Ethernet0 (peer of Ethernet0)  1\n  \
                 1    Ethernet0 (peer of Ethernet0)  Ethernet4 (peer of Ethernet4)  1\n  \
                 1    Ethernet4 (peer of Ethernet4)  Ethernet0 (peer of Ethernet0)  1\n  \
                 any  any                            any                            0 (lossy)\n";
    assert_eq!(written(&|text| listing::table(text, &view, 0)), table);
    let csv = "L1,1,0,Ethernet0,0,Ethernet0,1\nL1,1,0,Ethernet0,1,Ethernet4,1\nL1,1,1,Ethernet4,0,Ethernet0,1\n";
    assert_eq!(written(&|text| listing::csv(text, &view)), csv);
    let rule = |ingress, egress| serde_json::json!({ "tag": 1, "in": ingress, "out": egress, "new_tag": 1 });
    let numbered = |number: u16| {
        let PortView { interface, peer, peer_port, .. } = &view.ports()[usize::from(number)];
        serde_json::json!({ "port": number, "interface": interface, "peer": peer, "peer_port": peer_port })
    };
    let ports: Vec<_> = view.port_numbers().map(numbered).collect();
    let json = serde_json::json!({ "switch": "L1", "ports": ports, "rules": [rule(0, 0), rule(0, 1), rule(1, 0)] });
    let text = written(&|text| listing::json(text, &view));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), json);
    assert_eq!(text.lines().count(), 7 + view.ports().len() + 3, "{text}");

    // A switch without rules; names with characters that JSON escapes.
    view = SwitchView::new("a\"b\\", vec![port("p\"", false)], []).unwrap();
    assert_eq!(written(&|text| listing::csv(text, &view)), "");
    assert_eq!(written(&|text| listing::table(text, &view, 0)).lines().count(), 3);
    let none: serde_json::Value = serde_json::from_str(&written(&|text| listing::json(text, &view))).unwrap();
    let ports = serde_json::json!([{ "port": 0, "interface": "p\"", "peer": "peer of p\"", "peer_port": 0 }]);
    assert_eq!(none, serde_json::json!({ "switch": "a\"b\\", "ports": ports, "rules": [] }));
}

#[test]
fn a_table_of_rules_becomes_views_of_all_switches() {
    use crate::rules::{Class, GeneratedBy, Rule, RuleTable, SwitchRules};
    use fabric::generate::{TierLinks, leaf_spine};
    use fabric::tags::PortSet;
    let link = fabric::LinkSpec::new(units::Rate::from_gbps(100), units::Time::from_ns(500));
    let fabric = leaf_spine(2, 2, 1, 1, TierLinks::uniform(link)).unwrap();
    let set = |ports: &[u16]| ports.iter().copied().collect::<PortSet>();
    let rule = |ins: &[u16], outs: &[u16], new_tag| Rule { tag: 1, in_ports: set(ins), out_ports: set(outs), new_tag };
    let rules = vec![rule(&[0], &[1, 2], 1), rule(&[1, 2], &[0], 1), rule(&[1], &[2], 0)];
    let switches = vec![SwitchRules { node: fabric.find("L1").unwrap(), rules }];
    let classes = vec![Class { name: "default".to_owned(), first_tag: 1 }];
    let table = RuleTable::new(&fabric, GeneratedBy::default(), vec![1], classes, switches);
    let names = Interfaces::of_fabric(Dialect::Sonic).with_pattern("Ethernet{port*4}").unwrap();
    let cable = |link: &fabric::Link| Cable {
        rate: link.rate,
        delay: link.delay,
        headroom_bytes: link.rate.as_bps() / 1_000_000,
    };
    let views = SwitchView::all(&fabric, &table, &names, cable);
    let views: Vec<SwitchView> = views.collect::<Result<_, _>>().unwrap();
    assert_eq!(views.iter().map(SwitchView::name).collect::<Vec<_>>(), ["L1", "L2", "S1", "S2"]);
    assert_eq!((views[0].rule_count(), views[1].rule_count()), (4, 0));
    let port = &views[0].ports()[0];
    assert_eq!((port.to_host, port.peer.as_str(), port.headroom_bytes), (true, "H1", 100_000));
    assert_eq!(
        (views[0].interface(2), views[0].new_tag(1, 1, 2), views[0].new_tag(1, 2, 0)),
        ("Ethernet8", None, Some(1))
    );
}
