//! Tagger at switches: its three steps (match, rewrite, egress queue by the new tag), and absence of deadlocks under
//! any routing.

use crate::bench::*;
use fabric::Fabric;
use fabric::generate::{TierLinks, clos, line, ring};
use fabric::routing::{Failure, PathTable};
use fabric::tags::{PortSet, Rule, SwitchRules};
use model::parameters::*;
use traffic::{ENDLESS, Flow, Process, Start};
use units::random::Stream;
use units::{Rate, Time};

/// Makes the rules of all switches. `new_tag` maps (switch, tag, ingress neighbour, egress neighbour) to the new tag,
/// or to 0 for no rule.
fn rules(fabric: &Fabric, tags: &[u8], new_tag: impl Fn(&str, u8, &str, &str) -> u8) -> Vec<SwitchRules> {
    let switches = fabric.switches().map(|node| {
        let name = |port: usize| fabric.name(fabric.ports(node)[port].peer);
        let ports = fabric.ports(node).len();
        let mut rules = Vec::new();
        for &tag in tags {
            for (from, to) in (0..ports).flat_map(|from| (0..ports).map(move |to| (from, to))) {
                let new_tag = new_tag(fabric.name(node), tag, name(from), name(to));
                if new_tag != 0 {
                    let one = |port: usize| -> PortSet { [port as u16].into_iter().collect() };
                    rules.push(Rule { tag, in_ports: one(from), out_ports: one(to), new_tag });
                }
            }
        }
        SwitchRules { node, rules }
    });
    switches.collect()
}

fn tagged(setup: &mut Setup, tags: &[u8], new_tag: impl Fn(&str, u8, &str, &str) -> u8, by_new_tag: bool) {
    let rules = rules(&setup.fabric, tags, new_tag);
    setup.tags = Some(TagRules::new(&setup.fabric, tags, &rules, by_new_tag).unwrap());
    let classes = tags.iter().fold(0, |classes, tag| classes | 1 << tag);
    setup.switch.flow_control = FlowControl::Pfc(PauseParameters { classes, ..pause(60_000) });
}

fn frames(src: u32, dst: u32, gbps: u64) -> Flow {
    let process = Process::Constant { rate: Rate::from_gbps(gbps) };
    Flow { class: 1, ..datagrams(src, dst, process, 1000, ENDLESS) }
}

/// Three switches in a line with two hosts each. H1 sends to H5 through S2, which rewrites its tag from 1 to 2. H6 also
/// sends to H5, so that the ingress account of tag 2 at S3 fills.
fn priority_transition(by_new_tag: bool) -> Results {
    let fabric = line(3, 2, link(40, 1000), link(40, 1000)).unwrap();
    let mut setup = setup(fabric, plan(6, [frames(0, 4, 40), frames(5, 4, 40)]));
    let second = |switch: &str, tag: u8, _: &str, to: &str| if switch == "S2" && to == "S3" { 2 } else { tag };
    tagged(&mut setup, &[1, 2], second, by_new_tag);
    setup.switch.scheduler = Scheduler::Wrr { weights: [1; 8] };
    setup.record.queues_every = Some(Time::from_us(10));
    run(setup)
}

// [BUF5]
#[test]
fn a_frame_waits_where_the_pause_of_its_new_tag_reaches_it() {
    let results = priority_transition(true);
    results.all_hold();
    let fullest = |node: u32, class: u8| {
        results
            .queues
            .iter()
            .filter(|sample| sample.1 == node && sample.3 == class)
            .map(|sample| sample.4)
            .max()
            .unwrap_or(0)
    };
    // S2 is node 7: six hosts precede S1.
    assert!(fullest(7, 2) > 50_000 && fullest(7, 1) == 0, "{} {}", fullest(7, 2), fullest(7, 1));
    assert!(fullest(6, 1) > 50_000 && fullest(6, 2) == 0, "S1 still has the old tag");
}

#[test]
fn in_the_queue_of_the_old_tag_it_is_not_stopped_and_lost() {
    let results = priority_transition(false);
    assert!(!results.passes("lossless"));
    assert!(results.dropped("lossless queue full") > 100);
}

#[test]
fn frames_without_a_rule_are_lossy_pause_no_neighbour_and_share_the_port() {
    let fabric = line(3, 2, link(40, 1000), link(40, 1000)).unwrap();
    let mut setup = setup(fabric, plan(6, [frames(0, 4, 40), frames(5, 4, 40)]));
    setup.switch.buffer = Buffer::Shared { bytes: 4_000_000, egress: Threshold::Static { bytes: 100_000 } };
    setup.switch.scheduler = Scheduler::Wrr { weights: [1; 8] };
    setup.record.throughput_every = Some(Time::from_us(100));
    setup.record.pauses = true;
    let lossy = |switch: &str, tag: u8, _: &str, to: &str| if switch == "S2" && to == "S3" { 0 } else { tag };
    tagged(&mut setup, &[1], lossy, true);
    let results = run(setup);
    results.all_hold();
    assert!(results.dropped("queue full") > 1000, "the lossy queue at S3 is a tail-drop queue");
    // At S3, only H6 (host 5) sends frames with tag 1.
    assert!(results.pauses.len() > 10 && results.pauses.iter().all(|pause| pause.1 == 5 && pause.3 == 1 << 1));
    let shares: Vec<f64> = results.goodput.iter().map(|&bytes| bytes as f64).collect();
    assert!((shares[0] / shares[5] - 1.0).abs() < 0.05, "{shares:?}");
}

/// A ring of four switches that deadlocks with one tag, but not if S1 rewrites the tag of frames from S4 to a second
/// tag.
#[test]
fn a_tag_that_changes_once_around_the_ring_opens_it() {
    let around = |with_tags: bool| {
        let fabric = ring(4, 1, link(40, 1000), link(40, 1000)).unwrap();
        let mut paths = PathTable::new();
        let flows: Vec<Flow> = (0..4u32)
            .map(|src| {
                let name = |step: u32| (src + step) % 4 + 1;
                let names = [
                    format!("H{}", name(0)),
                    format!("S{}", name(0)),
                    format!("S{}", name(1)),
                    format!("S{}", name(2)),
                    format!("H{}", name(2)),
                ];
                let path = paths.push_names(&fabric, &names).unwrap();
                Flow { path: Some(path.0), ..frames(src, (src + 2) % 4, 40) }
            })
            .collect();
        let mut setup = setup(fabric, plan(4, flows));
        setup.paths = paths;
        setup.duration = Time::from_ms(2);
        setup.deadlock_every = Some(Time::from_us(1));
        let dateline = |switch: &str, tag: u8, from: &str, _: &str| match (switch, from) {
            ("S1", "S4") if with_tags => 2,
            _ => tag,
        };
        tagged(&mut setup, &[1, 2], dateline, true);
        run(setup)
    };
    let results = around(true);
    results.all_hold();
    assert!(results.summary.deadlock.is_none());
    assert!(around(false).summary.deadlock.is_some());
}

fn up(name: &str) -> u8 {
    match name.as_bytes()[0] {
        b'H' => 0,
        b'T' => 1,
        b'L' => 2,
        _ => 3,
    }
}

/// A Clos network under full load, with random link failures and random misrouting to any neighbour, including loops.
fn chaos(seed: u64, with_tags: bool) -> Setup {
    let fabric = clos(2, 2, 2, 2, 2, TierLinks::uniform(link(40, 1000))).unwrap();
    let mut stream = Stream::new(seed, 0, 0);
    let hosts = fabric.hosts().len() as u64;
    let mut flows = Vec::new();
    for src in 0..hosts {
        for _ in 0..2 {
            let dst = (src + 1 + stream.below(hosts - 1)) % hosts;
            let start = Start::At(Time::from_ns(stream.below(20_000)));
            flows.push(Flow { start, ..frames(src as u32, dst as u32, 20) });
        }
    }
    let mut setup = setup(fabric, plan(hosts as u32, flows));
    let fabric = setup.fabric.clone();
    let between: Vec<_> = (0..fabric.links().len() as u32)
        .map(fabric::LinkId)
        .filter(|&link| [fabric.link(link).a, fabric.link(link).b].iter().all(|end| fabric.node(end.node).forwards()))
        .collect();
    for _ in 0..1 + stream.below(3) {
        let link = between[stream.below(between.len() as u64) as usize];
        let down_at = Time::from_us(50 + stream.below(300));
        if setup.failures.iter().all(|failure: &Failure| failure.link != link) {
            setup.failures.push(Failure { link, down_at, up_at: Some(down_at + Time::from_us(400)) });
        }
    }
    let switches: Vec<_> = fabric.switches().collect();
    for _ in 0..stream.below(12) {
        let node = switches[stream.below(switches.len() as u64) as usize];
        let onward = (0..fabric.ports(node).len() as u16)
            .filter(|&port| fabric.node(fabric.ports(node)[usize::from(port)].peer).forwards())
            .collect::<Vec<_>>();
        let at = Time::from_us(50 + stream.below(300));
        setup.static_routes.push(StaticRoute {
            node,
            to: stream.below(hosts) as u32,
            from: None,
            ports: vec![onward[stream.below(onward.len() as u64) as usize]],
            at,
            until: Some(at + Time::from_us(200)),
        });
    }
    setup.reroute = Reroute::Local;
    setup.host.ttl = 16;
    setup.switch.buffer = Buffer::Shared { bytes: 8_000_000, egress: Threshold::Static { bytes: 100_000 } };
    setup.seed = seed;
    setup.deadlock_every = Some(Time::from_us(5));
    let bounce = |switch: &str, tag: u8, from: &str, to: &str| match up(from) > up(switch) && up(to) > up(switch) {
        true if with_tags && tag == 2 => 0,
        true if with_tags => tag + 1,
        _ => tag,
    };
    tagged(&mut setup, &[1, 2], bounce, true);
    setup
}

/// Seeds below 40 that deadlock without tags.
const STORED: [u64; 17] = [4, 6, 9, 10, 11, 12, 21, 22, 23, 25, 26, 27, 29, 31, 33, 37, 39];

#[test]
fn failures_and_routing_loops_deadlock_without_tags_and_never_with_them() {
    let mut looped = 0;
    for seed in 0..40 {
        let results = run(chaos(seed, true));
        assert!(results.summary.deadlock.is_none(), "seed {seed}: {:?}", results.summary.deadlock);
        assert!(results.passes("lossless"), "seed {seed}: {:?}", results.summary.checks);
        looped += u64::from(results.dropped("ttl expired") > 0);
    }
    assert!(looped > 5, "{looped}");
    let stuck: Vec<u64> = (0..40).filter(|&seed| run(chaos(seed, false)).summary.deadlock.is_some()).collect();
    assert_eq!(stuck, STORED);
}
