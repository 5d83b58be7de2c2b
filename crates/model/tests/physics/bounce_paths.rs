//! Paths of bounced frames in full traces with traffic in both directions: frames traverse existing links, a bounce
//! returns a frame to its previous node, and each loss has a cause of the bounce mechanism.

use crate::bench::*;
use crate::trace::check_chain;
use fabric::generate::{TierLinks, fat_tree, line, tree};
use fabric::{Fabric, NodeId};
use model::parameters::*;
use protocols::bounce_reaction::HalveParameters;
use protocols::pabo::BounceParameters;
use stats::trace::{TraceEvent, TraceRow};
use std::collections::BTreeMap;
use traffic::{ENDLESS, Process};
use units::random::{Stream, purpose};
use units::{Rate, Time};

/// Checks the path of a frame: forwarding appends a switch to the path, a bounce removes the last one. Returns the
/// number of bounces.
fn check_walk(fabric: &Fabric, rows: &[&TraceRow]) -> u8 {
    let mut path = vec![rows[0].node];
    // Number of bounces, and whether the next hop is a return to the previous node.
    let (mut bounces, mut back) = (0u8, false);
    for row in rows {
        match &row.event {
            TraceEvent::Bounced { port, full_port, bounces: now, .. } => {
                bounces = bounces.saturating_add(1);
                assert_eq!(*now, bounces, "{rows:?}");
                assert_ne!(port, full_port, "back is not ahead: {rows:?}");
                back = true;
            }
            TraceEvent::Arrived { .. } if std::mem::take(&mut back) => {
                path.pop();
                assert_eq!(path.last(), Some(&row.node), "it did not go back where it came from: {rows:?}");
            }
            TraceEvent::Arrived { .. } => {
                assert!(!path.contains(&row.node), "a circle: {rows:?}");
                path.push(row.node);
            }
            TraceEvent::Dropped { cause, .. } => {
                assert!(["bounce queue full", "bounce limit"].contains(&&**cause), "{rows:?}");
            }
            TraceEvent::Delivered | TraceEvent::Consumed => {
                assert!(!fabric.node(NodeId(row.node)).forwards() && row.node != rows[0].node, "{rows:?}");
            }
            _ => {}
        }
    }
    bounces
}

/// A network with Poisson sources between random host pairs, in both directions, and flows of a transport.
fn network(seed: u64) -> Setup {
    let mut random = Stream::new(seed, 0, purpose("walks"));
    let stream = &mut random;
    let ten = link(10, 50);
    let fabric = match stream.below(3) {
        0 => tree(&[3, 2], 2, 1, TierLinks { host: ten, edge: ten, core: ten }).unwrap(),
        1 => fat_tree(4, TierLinks { host: ten, edge: ten, core: ten }).unwrap(),
        _ => line(4, 2, ten, ten).unwrap(),
    };
    let hosts = fabric.hosts().len() as u64;
    let mut pair = || {
        let src = stream.below(hosts);
        (src as u32, ((src + 1 + stream.below(hosts - 1)) % hosts) as u32)
    };
    let pairs: Vec<(u32, u32)> = (0..6).map(|_| pair()).collect();
    let process = Process::Poisson { rate: Rate::from_gbps(3 + stream.below(6)) };
    // Sources in both directions of each pair, all in traffic entry 0.
    let directions = pairs.iter().flat_map(|&(src, dst)| [(src, dst), (dst, src)]);
    let sources =
        directions.map(|(src, dst)| traffic::Flow { traffic: 0, ..datagrams(src, dst, process, 1518, ENDLESS) });
    let flows = pairs.iter().map(|&(src, dst)| flow(src, dst, 60_000));
    let mut setup = setup(fabric, plan(hosts as u32, sources.chain(flows).collect::<Vec<_>>()));
    let pabo = BounceParameters {
        theta: stream.below(11) as f64 / 10.0,
        lambda: [0.0, 1.0, 50.0][stream.below(3) as usize],
        limit: [None, Some(1), Some(4)][stream.below(3) as usize],
        ..BounceParameters::default()
    };
    setup.switch = SwitchParameters {
        buffer: Buffer::PerQueue { limit: QueueLimit::Packets(2 + stream.below(20) as u32) },
        flow_control: FlowControl::None,
        overload: Overload::Bounce { pabo, queue: QueueLimit::Packets(1 + stream.below(20) as u32) },
        marking: Marking::None,
        scheduler: Scheduler::Strict,
    };
    setup.host.transport = transport("dctcp", &[("min_rto", "100us")]);
    setup.host.on_bounce = Some(HalveParameters { every: 1 + stream.below(3) as u32 });
    setup.duration = Time::from_us(150);
    setup.seed = seed;
    setup
}

#[test]
fn a_frame_walks_on_the_fabric_and_a_bounce_takes_it_back() {
    let (mut causes, mut most, mut home, mut slowed) = (BTreeMap::new(), 0, 0, 0);
    for seed in 0..16 {
        let mut setup = network(seed);
        let fabric = setup.fabric.clone();
        setup.record.trace = Some(TraceParameters::everything());
        let results = run(setup);
        assert!(results.summary.passes(), "seed {seed}: {:?}", results.summary.checks);
        let mut frames: BTreeMap<u64, Vec<&TraceRow>> = BTreeMap::new();
        for row in &results.trace {
            if let Some(packet) = row.packet {
                frames.entry(packet.number).or_default().push(row);
            }
        }
        let mut bounced = 0;
        for rows in frames.values() {
            check_chain(&fabric, rows);
            let bounces = check_walk(&fabric, rows);
            most = most.max(bounces);
            bounced += u64::from(bounces);
        }
        assert_eq!(
            bounced, results.summary.event_counts.bounces,
            "seed {seed}: what frames went through is what was counted"
        );
        for (cause, count) in &results.summary.packets.dropped {
            *causes.entry(cause.clone()).or_insert(0) += count;
        }
        let bounces = results.summary.bounces.as_ref().expect("switches that bounce");
        (home, slowed) = (home + bounces.returned_to_source, slowed + bounces.rate_reductions);
    }
    let names: Vec<&String> = causes.keys().collect();
    assert_eq!(names, ["bounce limit", "bounce queue full"], "{causes:?}");
    assert!(most > 10 && home > 50 && slowed > 10, "{most} bounces, {home} home, slowed {slowed} times");
}

/// Three senders overload one receiver permanently. If senders halve their windows, less than half as many frames
/// return to their source. `rate_reductions` counts the reductions; it is 0 without them.
#[test]
fn senders_that_halve_bounce_less() {
    let ten = link(10, 50);
    let with = |on_bounce, threads| {
        let fabric = tree(&[3, 1], 1, 1, TierLinks { host: ten, edge: ten, core: ten }).unwrap();
        let mut setup = setup(fabric, plan(4, [0, 1, 2].map(|src| flow(src, 3, u64::MAX))));
        setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Packets(20) };
        setup.switch.overload = Overload::Bounce { pabo: BounceParameters::default(), queue: QueueLimit::Packets(20) };
        setup.host.transport = transport("dctcp", &[("dupack_threshold", "1000"), ("min_rto", "5ms")]);
        setup.host.on_bounce = on_bounce;
        setup.duration = Time::from_ms(5);
        setup.threads = threads;
        run(setup)
    };
    let bounces = |results: &Results| results.summary.bounces.clone().expect("switches that bounce");
    let (none, halve) = (with(None, 1), with(Some(HalveParameters { every: 1 }), 1));
    assert!(none.summary.passes() && halve.summary.passes());
    assert_eq!(bounces(&none).rate_reductions, 0);
    assert!(bounces(&halve).rate_reductions > 0, "{:?}", bounces(&halve));
    assert!(bounces(&halve).rate_reductions <= bounces(&halve).returned_to_source);
    assert!(
        bounces(&halve).returned_to_source * 2 < bounces(&none).returned_to_source,
        "{:?} {:?}",
        bounces(&halve),
        bounces(&none)
    );
    let seldom = with(Some(HalveParameters { every: 50 }), 1);
    assert!(bounces(&seldom).rate_reductions * 50 <= bounces(&seldom).returned_to_source, "{:?}", bounces(&seldom));
    let two = with(Some(HalveParameters { every: 1 }), 2);
    assert_eq!(format!("{halve:?}"), format!("{two:?}"), "on two threads");
}

/// Bounce storm detection with a sampling interval of 3 us does not change other results. It finds a storm of 2
/// samples, but none of 1000 samples, which would be longer than the run.
#[test]
fn looking_for_storms_changes_nothing() {
    let with = |storm| {
        let mut setup = network(3);
        setup.storm = storm;
        let mut results = run(setup);
        let storm = results.summary.bounces.as_mut().and_then(|bounces| bounces.storm.take());
        results.summary.warnings.clear();
        (storm, format!("{results:?}"))
    };
    let often = |samples| StormParameters { samples, every: Some(Time::from_us(3)), ratio: 0.0 };
    let (none, plain) = with(None);
    let (found, watched) = with(Some(often(2)));
    assert!(none.is_none() && found.is_some_and(|storm| storm.end_ps % 3_000_000 == 0), "{found:?}");
    assert_eq!(plain, watched);
    assert!(with(Some(often(1000))).0.is_none());
}
