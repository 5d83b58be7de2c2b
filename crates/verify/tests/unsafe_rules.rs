//! Handmade rule sets with one fault each: all are rejected, and each report names the fault.

mod common;

use common::{DIRECT, DIRECT_PATHS, LINK, Of, rules, triangle};
use fabric::generate::line;
use fabric::{Fabric, FabricBuilder};
use verify::{Class, EgressQueue, Rule, RuleFile, Scheduler, Switches, Verdict, Verifier, VerifyError};

fn verdict(fabric: &Fabric, file: &RuleFile, paths: &str) -> Verdict {
    let mut verifier = Verifier::new(fabric, file).expect("rules of this fabric");
    verifier.expect_list(paths.as_bytes()).expect("paths of this fabric");
    verifier.finish()
}

fn failed(verdict: &Verdict) -> Vec<&'static str> {
    verdict.checks.iter().filter(|check| !check.pass).map(|check| check.name).collect()
}

#[test]
fn direct_paths_with_one_tag_are_proved() {
    let fabric = triangle();
    let verdict = verdict(&fabric, &rules(&fabric, 1, &DIRECT), DIRECT_PATHS);
    assert!(verdict.pass(), "{verdict:?}");
    // Nine ingress queues: three at host ports, six at ports between switches. Each queue at a host port waits for two
    // of the others: 6 dependencies.
    let counts = verdict.counts;
    assert_eq!((counts.switches, counts.rules, counts.paths, counts.lost), (3, 12, 6, 0));
    assert_eq!((counts.queues, counts.dependencies), (9, 6));
    assert_eq!((counts.reachable_queues, counts.reachable_dependencies), (9, 6));
}

#[test]
fn a_circle_within_one_tag_fails() {
    let fabric = triangle();
    // In addition, each switch forwards frames around the triangle: A to B, B to C, C to A.
    let around: [Of; 3] = [
        ("A", &[(1, 0, 1, 1), (1, 2, 1, 1)]),
        ("B", &[(1, 0, 2, 1), (1, 1, 2, 1)]),
        ("C", &[(1, 0, 1, 1), (1, 2, 1, 1)]),
    ];
    let verdict = verdict(&fabric, &rules(&fabric, 1, &around), "");
    assert_eq!(failed(&verdict), ["no-cycle", "no-reachable-cycle"]);
    let cycle = verdict.reachable_cycle.unwrap();
    assert_eq!(cycle.to_string(), "C:1 -> A:2  tag 1\nA:1 -> B:1  tag 1\nB:2 -> C:2  tag 1");
    assert!(cycle.shortest);
}

#[test]
fn waiting_by_the_arriving_tag_lets_any_loop_of_links_close() {
    let fabric = triangle();
    let on = |fabric: &Fabric, file: &RuleFile, egress| {
        Verifier::new(fabric, file).unwrap().on(Switches { egress, ..Switches::default() }).finish()
    };
    let file = rules(&fabric, 1, &DIRECT);
    assert!(on(&fabric, &file, EgressQueue::NewTag).pass());
    let arriving = on(&fabric, &file, EgressQueue::ArrivingTag);
    assert_eq!(failed(&arriving), ["no-cycle", "no-reachable-cycle"]);
    let cycle = arriving.reachable_cycle.unwrap();
    assert_eq!((cycle.links.len(), cycle.shortest), (3, true), "{cycle}");
    assert!(cycle.links.iter().all(|link| link.tag == Some(1)));
    // In a fabric without a loop of links, frames that return by their ingress port close the cycle.
    let fabric = line(2, 1, LINK, LINK).unwrap();
    let both: [Of; 2] = [("S1", &[(1, 0, 1, 1), (1, 1, 0, 1)]), ("S2", &[(1, 0, 1, 1), (1, 1, 0, 1)])];
    let arriving = on(&fabric, &rules(&fabric, 1, &both), EgressQueue::ArrivingTag);
    assert_eq!(failed(&arriving), ["no-cycle", "no-reachable-cycle"]);
    assert_eq!(arriving.cycle.unwrap().links.len(), 2);
    // Without rules, no frame with a lossless tag crosses the link between the switches: the cycle is among unreachable
    // queues.
    let nothing: [Of; 0] = [];
    assert_eq!(failed(&on(&fabric, &rules(&fabric, 1, &nothing), EgressQueue::ArrivingTag)), ["no-cycle"]);
    // A single switch has no links to other switches, so that no queue waits for another.
    let fabric = line(1, 2, LINK, LINK).unwrap();
    assert!(on(&fabric, &rules(&fabric, 1, &nothing), EgressQueue::ArrivingTag).pass());
}

#[test]
fn strict_priority_starves_frames_that_turn_lossy() {
    let fabric = triangle();
    let file = rules(&fabric, 1, &DIRECT);
    let strict = Switches { scheduler: Scheduler::Strict, ..Switches::default() };
    let verdict = Verifier::new(&fabric, &file).unwrap().on(strict).finish();
    assert_eq!(failed(&verdict), ["lossy-queue-drains"]);
    let text = verdict.stranded.unwrap().to_string();
    assert!(text.starts_with("A: from port 1 to port 2 no rule matches tag 1: "), "{text}");
    // If every frame stays lossless, no frame waits in the lossy queue.
    let fabric = line(1, 2, LINK, LINK).unwrap();
    let all: [Of; 1] = [("S1", &[(1, 0, 1, 1), (1, 1, 0, 1)])];
    assert!(Verifier::new(&fabric, &rules(&fabric, 1, &all)).unwrap().on(strict).finish().pass());
}

#[test]
fn a_circle_that_no_frame_reaches_fails_too() {
    let fabric = triangle();
    // The rules for tag 2 form a cycle, but no rule changes tag 1 to tag 2: only a host that sends frames with tag 2
    // could cause this deadlock.
    let around: [Of; 3] =
        [("A", &[(1, 0, 1, 1), (2, 2, 1, 2)]), ("B", &[(1, 1, 0, 1), (2, 1, 2, 2)]), ("C", &[(2, 2, 1, 2)])];
    let verdict = verdict(&fabric, &rules(&fabric, 2, &around), "HA A B HB");
    assert_eq!(failed(&verdict), ["no-cycle"]);
    assert_eq!(verdict.cycle.unwrap().to_string(), "C:1 -> A:2  tag 2\nA:1 -> B:1  tag 2\nB:2 -> C:2  tag 2");
    assert_eq!(verdict.reachable_cycle, None);
}

#[test]
fn a_circle_across_tags_fails_twice() {
    let fabric = triangle();
    let around: [Of; 3] = [
        ("A", &[(1, 0, 1, 1), (1, 2, 1, 2)]),
        ("B", &[(1, 1, 2, 1), (2, 1, 2, 2)]),
        ("C", &[(1, 2, 1, 1), (2, 2, 1, 1)]),
    ];
    let verdict = verdict(&fabric, &rules(&fabric, 2, &around), "");
    assert_eq!(failed(&verdict), ["tags-never-decrease", "no-cycle", "no-reachable-cycle"]);
    let message = verdict.decrease.unwrap().to_string();
    assert_eq!(message, "switch `C`, rule 2 lowers a tag: 2 from port 2 to port 1 becomes 1");
    let cycle = verdict.cycle.unwrap().to_string();
    assert_eq!(cycle, "C:1 -> A:2  tag 1\nA:1 -> B:1  tag 2\nB:2 -> C:2  tag 2");
}

#[test]
fn a_tag_that_decreases_fails_without_a_circle() {
    let fabric = triangle();
    let lower: [Of; 1] = [("A", &[(1, 0, 1, 1), (2, 0, 2, 1)])];
    let verdict = verdict(&fabric, &rules(&fabric, 2, &lower), "");
    assert_eq!(failed(&verdict), ["tags-never-decrease"]);
    let message = verdict.decrease.unwrap().to_string();
    assert_eq!(message, "switch `A`, rule 2 lowers a tag: 2 from port 0 to port 2 becomes 1");
}

#[test]
fn what_is_lossy_stays_lossy() {
    let fabric = triangle();
    let again: [Of; 1] = [("B", &[(0, 1, 2, 1)])];
    let verdict = verdict(&fabric, &rules(&fabric, 1, &again), "");
    assert_eq!(failed(&verdict), ["tags-never-decrease"]);
    let message = verdict.decrease.unwrap().to_string();
    assert_eq!(message, "switch `B`, rule 1 makes lossy frames lossless again: 0 from port 1 to port 2 becomes 1");
}

#[test]
fn frames_sent_back_by_the_port_they_came_by_are_a_circle_of_two() {
    let fabric = line(2, 1, LINK, LINK).unwrap();
    // The port lists match more pairs than intended: both ingress ports {0, 1} with both egress ports {0, 1}, so that
    // frames may return by their ingress port.
    let mut file = rules(&fabric, 1, &[("S1", &[]), ("S2", &[])]);
    for switch in &mut file.switches {
        switch.rules.push(Rule { tag: 1, ingress: vec![0, 1], egress: vec![0, 1], new_tag: 1 });
    }
    let verdict = verdict(&fabric, &file, "H1 S1 S2 H2");
    assert_eq!(failed(&verdict), ["no-cycle", "no-reachable-cycle"]);
    assert_eq!(verdict.cycle.unwrap().to_string(), "S2:1 -> S1:1  tag 1\nS1:1 -> S2:1  tag 1");
}

#[test]
fn a_missing_rule_names_the_path_link_by_link() {
    let fabric = triangle();
    let mut file = rules(&fabric, 1, &DIRECT);
    file.switches[1].rules.remove(2); // rule at B for frames from A to host HB
    let with_paths = verdict(&fabric, &file, &format!("# all of them\n{DIRECT_PATHS}"));
    assert_eq!(failed(&with_paths), ["expected-paths-lossless"]);
    assert_eq!((with_paths.counts.paths, with_paths.counts.lost), (6, 1));
    let message = "line 2, class default: `B` has no rule that keeps tag 1 lossless from port 1 to port 0
  HA:0 -> A:0  tag 1
  A:1 -> B:1   tag 1
  B:0 -> HB:0  lossy";
    assert_eq!(with_paths.lost[0].to_string(), message);
    // Without expected paths, the check of paths is omitted, and the other three checks pass.
    let verdict = Verifier::new(&fabric, &file).unwrap().finish();
    assert!(verdict.pass() && verdict.checks.len() == 3, "{verdict:?}");
}

#[test]
fn a_rule_that_makes_an_expected_path_lossy_is_reported() {
    let fabric = triangle();
    let mut file = rules(&fabric, 1, &DIRECT);
    file.switches[0].rules[0].new_tag = 0;
    let verdict = verdict(&fabric, &file, DIRECT_PATHS);
    assert_eq!(failed(&verdict), ["expected-paths-lossless"]);
    assert_eq!(verdict.lost[0].reason, "`A` has no rule that keeps tag 1 lossless from port 0 to port 1");
    assert_eq!(verdict.lost[0].links.len(), 2);
}

#[test]
fn a_path_between_switches_represents_those_of_all_their_hosts() {
    let fabric = triangle();
    let file = rules(&fabric, 1, &DIRECT);
    assert!(verdict(&fabric, &file, "A B\nB C\nC A\nA B HB\nHA A").pass());
    let mut file = rules(&fabric, 1, &DIRECT);
    file.switches[2].rules.retain(|rule| rule.ingress != [0]);
    let verdict = verdict(&fabric, &file, "C A");
    assert_eq!(verdict.lost[0].reason, "`C` has no rule that keeps tag 1 lossless from port 0 to port 1");
}

#[test]
fn every_class_must_keep_its_paths() {
    let fabric = triangle();
    let mut file = rules(&fabric, 2, &DIRECT);
    file.classes.push(Class { name: "control".to_owned(), first_tag: 2 });
    let verdict = verdict(&fabric, &file, "HB B C HC");
    assert_eq!(verdict.lost[0].class, "control");
    assert_eq!(verdict.lost[0].reason, "`B` has no rule that keeps tag 2 lossless from port 0 to port 2");
}

#[test]
fn input_from_which_nothing_can_be_proved_names_the_element() {
    let fabric = triangle();
    let good = || rules(&fabric, 2, &DIRECT);
    let of = |change: &dyn Fn(&mut RuleFile)| {
        let mut file = good();
        change(&mut file);
        Verifier::new(&fabric, &file).map(|_| ()).unwrap_err().to_string()
    };
    let rule = |file: &mut RuleFile, tag, ingress: &[u16], egress: &[u16], new_tag| {
        let rule = Rule { tag, ingress: ingress.to_vec(), egress: egress.to_vec(), new_tag };
        file.switches[1].rules.push(rule);
    };
    type Change<'a> = &'a dyn Fn(&mut RuleFile);
    let table: [(Change, &str); 18] = [
        (&|f| f.fabric.hash = "00".into(), "the rules are for another fabric: they have hash 00, this one has "),
        (&|f| f.fabric.hosts = Some(9), "the rules are for another fabric: they have hosts 9, this one has 3"),
        (&|f| f.switches[0].name = "Z".into(), "the fabric has no switch `Z`"),
        (&|f| f.switches[0].name = "HA".into(), "`HA` is a host that does not forward: it takes no rules"),
        (&|f| f.switches[0].name = "B".into(), "switch `B` occurs twice"),
        (&|f| f.lossless_tags = vec![1, 2, 1], "`lossless_tags` names tag 1 twice"),
        (&|f| f.lossy_tag = 2, "`lossy_tag` 2 is one of `lossless_tags`"),
        (&|f| f.lossless_tags.clear(), "`lossless_tags` is empty: nothing would be lossless"),
        (&|f| f.classes.clear(), "`classes` is empty: nothing would be lossless"),
        (&|f| f.classes[0].first_tag = 7, "class `default` starts with tag 7, which is not one of `lossless_tags`"),
        (&|f| f.classes.extend(f.classes.clone()), "class `default` occurs twice"),
        (&|f| rule(f, 1, &[3], &[1], 1), "switch `B`, rule 5: `in` names port 3, but the switch has 3, counted from 0"),
        (
            &|f| rule(f, 1, &[0], &[9], 1),
            "switch `B`, rule 5: `out` names port 9, but the switch has 3, counted from 0",
        ),
        (&|f| rule(f, 1, &[2, 1, 2], &[0], 1), "switch `B`, rule 5: `in` names port 2 twice"),
        (&|f| rule(f, 1, &[2], &[], 1), "switch `B`, rule 5: `out` names no port"),
        (
            &|f| rule(f, 5, &[2], &[1], 1),
            "switch `B`, rule 5: `tag` 5 is neither one of `lossless_tags` nor `lossy_tag`",
        ),
        (
            &|f| rule(f, 1, &[2], &[1], 5),
            "switch `B`, rule 5: `new_tag` 5 is neither one of `lossless_tags` nor `lossy_tag`",
        ),
        (
            &|f| rule(f, 1, &[2, 0], &[1, 2], 2),
            "switch `B`: rules 1 and 5 contradict each other: a frame with tag 1 from port 0 to port 1 gets tag 1 by \
             the one and 2 by the other",
        ),
    ];
    for (change, message) in table {
        let error = of(change);
        assert!(error.starts_with(message), "{error}\nexpected {message}");
    }
    // Two rules that give a frame the same tag do not contradict each other.
    let mut file = good();
    rule(&mut file, 1, &[0], &[1, 2], 1);
    assert!(Verifier::new(&fabric, &file).is_ok());
}

#[test]
fn a_fabric_that_does_not_hang_together_is_refused() {
    let mut builder = FabricBuilder::new("parts");
    for (host, switch) in [("H1", "A"), ("H2", "B")] {
        let (host, switch) = (builder.add_host(host), builder.add_switch(switch, 1));
        builder.connect(host, switch, LINK);
    }
    let fabric = builder.build().unwrap();
    let error = Verifier::new(&fabric, &rules(&fabric, 1, &[])).map(|_| ()).unwrap_err();
    assert!(matches!(error, VerifyError::Fabric(_)));
    assert_eq!(error.to_string(), "the fabric: the fabric is not connected: no path leads from `H1` to `H2`");
}

#[test]
fn a_path_from_a_switch_without_hosts_is_refused() {
    let mut builder = FabricBuilder::new("spine");
    let (host, leaf, spine) = (builder.add_host("H"), builder.add_switch("L", 1), builder.add_switch("S", 2));
    builder.connect(host, leaf, LINK);
    builder.connect(leaf, spine, LINK);
    let fabric = builder.build().unwrap();
    let file = rules(&fabric, 1, &[("L", &[(1, 0, 1, 1), (1, 1, 0, 1)])]);
    for path in ["S L", "\nL S"] {
        let mut verifier = Verifier::new(&fabric, &file).unwrap();
        let error = verifier.expect_list(path.as_bytes()).unwrap_err().to_string();
        assert!(
            error.ends_with("switch `S` has no host: a path starts and ends at a host, or at a switch with hosts"),
            "{error}"
        );
        assert!(error.starts_with(if path.starts_with('S') { "line 1: " } else { "line 2: " }));
    }
}
