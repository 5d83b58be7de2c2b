//! Links that fail, lose or corrupt frames; routing loops; ECN marks.

use crate::bench::*;
use fabric::generate::{TierLinks, dumbbell, leaf_spine, line};
use fabric::routing::Failure;
use fabric::{Fabric, FabricBuilder, LinkSpec};
use model::parameters::*;
use stats::trace::TraceEvent;
use traffic::{ENDLESS, Flow, Process, Start};
use units::{Rate, Time};

/// Returns four standard deviations of a binomially distributed count.
fn four_sigma(trials: u64, p: f64) -> f64 {
    4.0 * (trials as f64 * p * (1.0 - p)).sqrt()
}

/// Frames of 1000 B are sent every 816 ns, so 20 us of propagation delay contain 24.5 frames. The counts of lost and
/// delivered frames are exact.
#[test]
fn a_failure_loses_exactly_the_frames_on_the_link_and_those_that_follow() {
    let long = LinkSpec::new(Rate::from_gbps(10), Time::from_us(20));
    let fabric = line(2, 1, link(10, 500), long).unwrap();
    let (s1, s2) = (fabric.find("S1").unwrap(), fabric.find("S2").unwrap());
    let failure = fabric.link_between(s1, s2).unwrap();
    let process = Process::Constant { rate: Rate::from_gbps(10) };
    let mut setup = setup(fabric, plan(2, [datagrams(0, 1, process, 1000, ENDLESS)]));
    let (down_at, up_at) = (Time::from_us(300), Time::from_us(500));
    setup.failures = vec![Failure { link: failure, down_at, up_at: Some(up_at) }];
    let end = setup.duration;
    let results = run(setup);
    results.all_hold();
    // Frame n reaches S1 at 1306.4 + 816 n ns, is forwarded immediately, and arrives 20,806.4 ns later.
    let (gap, first) = (816_000, 1_306_400);
    let starts_before = |t: Time| (t.as_ps() - first).div_ceil(gap);
    let arrived_before = |t: Time| (t.as_ps() - first - 20_806_400).div_ceil(gap);
    let on_the_wire = starts_before(down_at) - arrived_before(down_at);
    let while_down = starts_before(up_at) - starts_before(down_at);
    assert_eq!(results.dropped("link down") + results.dropped("no route"), on_the_wire + while_down);
    assert_eq!(results.dropped("no route"), while_down);
    let to_host = Time::from_ps(806_400 + 500_000);
    let delivered = arrived_before(end - to_host) - on_the_wire - while_down;
    assert_eq!(results.summary.packets.delivered_whole, delivered);
}

#[test]
fn local_rerouting_saves_frames_after_the_failure() {
    let build = || leaf_spine(3, 2, 1, 1, TierLinks::uniform(link(10, 1000))).unwrap();
    let process = Process::Constant { rate: Rate::from_gbps(4) };
    let run_with = |reroute, failing: &[(&str, &str)]| {
        let fabric = build();
        let failures = failing.iter().map(|(a, b)| {
            let link = fabric.link_between(fabric.find(a).unwrap(), fabric.find(b).unwrap()).unwrap();
            Failure { link, down_at: Time::from_us(300), up_at: None }
        });
        let failures = failures.collect();
        let mut setup = setup(fabric, plan(3, [datagrams(0, 1, process, 1000, ENDLESS)]));
        setup.spread = Spread::PerPacket;
        setup.reroute = reroute;
        setup.failures = failures;
        let results = run(setup);
        results.all_hold();
        results
    };
    // The spine whose downlink failed reroutes frames through the third leaf. Without rerouting, half of the frames are
    // lost.
    let down = [("S1", "L2")];
    let (with, without) = (run_with(Reroute::Local, &down), run_with(Reroute::None, &down));
    assert!(with.summary.packets.dropped_total() <= 2, "{:?}", with.summary.packets);
    let after = (700_000.0 / 2040.0) / 2.0;
    assert!((without.summary.packets.dropped_total() as f64 - after).abs() < 0.25 * after);
    // If an uplink of the leaf fails, the other uplink is an equal-cost path: no rerouting is needed.
    let up = run_with(Reroute::None, &[("S1", "L1")]);
    assert!(up.summary.packets.dropped_total() <= 2, "{:?}", up.summary.packets);
}

/// A routing loop between S1 and S2: a frame with TTL 9 is forwarded nine times.
// [M34]
#[test]
fn the_hop_limit_ends_a_loop() {
    let fabric = line(3, 1, link(10, 500), link(10, 500)).unwrap();
    let (s1, s2) = (fabric.find("S1").unwrap(), fabric.find("S2").unwrap());
    let back = fabric.port_towards(s2, s1).unwrap();
    let frames = 10;
    let process = Process::Constant { rate: Rate::from_mbps(100) };
    let mut setup = setup(fabric, plan(3, [datagrams(0, 2, process, 1000, frames * 1000)]));
    setup.forwarding.set_ports(&setup.fabric, s2, 2, &[back]).unwrap();
    setup.host.ttl = 9;
    let results = run(setup);
    results.all_hold();
    assert_eq!(results.dropped("ttl expired"), frames);
    // Nine switches forward the frame. At the tenth, its TTL is 0.
    assert_eq!(results.summary.packet_hops, frames * 10);
}

fn lossy_link(loss: f64, bit_error_rate: f64) -> Fabric {
    let mut builder = FabricBuilder::new("lossy");
    let (h1, h2, s1) = (builder.add_host("H1"), builder.add_host("H2"), builder.add_switch("S1", 1));
    builder.connect(h1, s1, LinkSpec { loss, bit_error_rate, ..link(100, 500) });
    builder.connect(s1, h2, link(100, 500));
    builder.build().unwrap()
}

#[test]
fn loss_and_bit_errors_strike_at_their_rates() {
    let process = Process::Constant { rate: Rate::from_gbps(100) };
    let frames = 100_000;
    for (loss, bits, cause) in [(0.02, 0.0, "link loss"), (0.0, 1e-5, "bit error"), (1e-3, 0.0, "link loss")] {
        let flow = datagrams(0, 1, process, 500, frames * 500);
        let mut setup = setup(lossy_link(loss, bits), plan(2, [flow]));
        setup.duration = Time::from_ms(5);
        let results = run(setup);
        results.all_hold();
        let p = if bits > 0.0 { 1.0 - (1.0f64 - bits).powi(500 * 8) } else { loss };
        let lost = results.dropped(cause);
        assert_eq!(results.summary.packets.dropped_total(), lost);
        assert!((lost as f64 - frames as f64 * p).abs() < four_sigma(frames, p), "{lost} of {frames} at {p}");
        assert_eq!(results.summary.packets.delivered_whole, frames - lost);
    }
}

/// Go-back-N and TCP deliver all bytes over a lossy link.
#[test]
fn reliable_transports_recover_from_loss() {
    for (kind, settings) in [
        ("roce", vec![("timeout", "100us"), ("nak_interval", "1us")]),
        ("tcp", vec![("min_rto", "1ms"), ("initial_rto", "1ms")]),
        ("dcqcn", vec![("timeout", "100us")]),
    ] {
        let mut setup = setup(lossy_link(0.01, 0.0), plan(2, [flow(0, 1, 2_000_000)]));
        setup.host.transport = transport(kind, &settings);
        setup.duration = Time::from_ms(2000);
        let results = run(setup);
        results.all_hold();
        let record = &results.flows[0];
        assert!(record.acked_ps.is_some(), "{kind}: {record:?}");
        assert!(record.retransmitted_bytes > 0);
        assert_eq!(results.summary.packets.in_flight, 0);
    }
}

/// Returns the number of marked frames. Frames of 1250 B on the wire arrive at a port of 10 Gbps every 100 ns, so that
/// the queue length at each arrival is known exactly.
fn marks(frames: u64, k_min_bytes: u64, k_max_bytes: u64, p_max: f64, at: MarkEvent) -> u64 {
    let fast = link(100, 500);
    let fabric = dumbbell(1, 1, fast, link(10, 500)).unwrap();
    let datagram = transport("datagram", &[("frame", "1230B"), ("ecn", "true")]);
    let payload = 1230 - u64::from(datagram.header_bytes());
    let mut setup = setup(fabric, plan(2, [flow(0, 1, frames * payload)]));
    setup.host.transport = datagram;
    setup.switch.marking =
        Marking::Ecn(EcnParameters { k_min_bytes, k_max_bytes: Some(k_max_bytes), p_max, of_rate: None, at });
    setup.duration = Time::from_us(1 + 2 * frames);
    let results = run(setup);
    results.all_hold();
    assert_eq!(results.summary.packets.delivered_whole, frames);
    results.summary.event_counts.marks
}

/// Returns the queue length in frames at the arrival of frame `n`: `n` frames, minus the first, which is sent
/// immediately, minus one frame per ten arrivals. A departure at the instant of an arrival precedes it.
fn met(n: u64) -> u64 {
    n - (n.div_ceil(10)).max(u64::from(n > 0)) - u64::from(n > 0 && n.is_multiple_of(10))
}

// [ECN1] [ECN2] [ECN3] [M35]
#[test]
fn marks_are_those_of_the_queue_that_a_frame_meets() {
    let frames = 2_000;
    for threshold in [0, 10 * 1230, 100 * 1230, 100 * 1230 + 1, 1_000_000_000] {
        let expected = (0..frames).filter(|&n| met(n) * 1230 > threshold).count() as u64;
        assert_eq!(marks(frames, threshold, threshold, 1.0, MarkEvent::Enqueue), expected, "step at {threshold}");
    }
    // The marking probability of RED increases linearly from 0. The expected number of marks is the sum of the
    // probabilities of the frames.
    let k_max = 4_000 * 1230;
    let p = |n: u64| 0.5 * met(n) as f64 / 4_000.0;
    let expected: f64 = (0..frames).map(p).sum();
    let variance: f64 = (0..frames).map(|n| p(n) * (1.0 - p(n))).sum();
    let marked = marks(frames, 0, k_max, 0.5, MarkEvent::Enqueue) as f64;
    assert!((marked - expected).abs() < 4.0 * variance.sqrt(), "{marked}, expected {expected}");
}

/// Returns the queue length in frames after the departure of frame `n` of `frames`: one frame departs per ten arrivals.
/// An arrival at the instant of a departure follows it.
fn left(n: u64, frames: u64) -> u64 {
    if n == 0 { 0 } else { (10 * n - 1).min(frames - 1) - n }
}

/// Returns the numbers of the marked frames among 2000 frames.
fn marked(threshold: u64, at: MarkEvent) -> Vec<u64> {
    let fabric = dumbbell(1, 1, link(100, 500), link(10, 500)).unwrap();
    let datagram = transport("datagram", &[("frame", "1230B"), ("ecn", "true")]);
    let payload = 1230 - u64::from(datagram.header_bytes());
    let mut setup = setup(fabric, plan(2, [flow(0, 1, 2_000 * payload)]));
    setup.host.transport = datagram;
    setup.switch.marking = Marking::Ecn(EcnParameters {
        k_min_bytes: threshold,
        k_max_bytes: Some(threshold),
        p_max: 1.0,
        of_rate: None,
        at,
    });
    setup.duration = Time::from_us(4_001);
    setup.record.trace = Some(TraceParameters::everything());
    let results = run(setup);
    results.all_hold();
    let marks = results.trace.iter().filter(|row| matches!(row.event, TraceEvent::Marked { .. }));
    marks.map(|row| row.packet.expect("a packet").seq / payload).collect()
}

/// The number of frames whose queue exceeds the threshold at enqueue equals the number at dequeue, because the queue
/// length changes by one frame at a time. The marked frames differ: marking at dequeue marks the frames that depart
/// while the queue is long.
// [ECN2]
#[test]
fn marks_at_dequeue_are_those_of_the_queue_that_a_frame_leaves_behind() {
    let frames = 2_000;
    for threshold in [0, 10 * 1230, 100 * 1230, 100 * 1230 + 1, 1_000_000_000] {
        let leaves = |n: &u64| left(*n, frames) * 1230 > threshold;
        let expected: Vec<u64> = (0..frames).filter(leaves).collect();
        assert_eq!(marked(threshold, MarkEvent::Dequeue), expected, "step at {threshold}");
        assert_eq!(marks(frames, threshold, threshold, 1.0, MarkEvent::Dequeue), expected.len() as u64);
        let meets: Vec<u64> = (0..frames).filter(|&n| met(n) * 1230 > threshold).collect();
        assert_eq!(marked(threshold, MarkEvent::Enqueue), meets, "step at {threshold}");
    }
}

/// The last acknowledgement of a flow may be lost. Its sender then retransmits the last segment after the
/// retransmission timeout (at least 1 s). By then, later flows have completed at the same receiver. The flow
/// completes nevertheless.
#[test]
fn a_flow_whose_last_acknowledgement_is_lost_completes_all_the_same() {
    let spec = LinkSpec { loss: 0.1, ..link(1, 1_000) };
    let flows = (0..100).map(|n| Flow { start: Start::At(Time::from_ms(200) * n), ..flow(0, 1, 4_000) });
    let mut setup = setup(fabric::generate::single_switch(2, spec).unwrap(), plan(2, flows));
    setup.host.transport = transport("tcp", &[]);
    setup.duration = Time::from_s(300);
    setup.deadlock_every = None;
    let results = run(setup);
    assert!(results.passes("conservation"));
    assert_eq!(
        results.summary.flows.completed,
        100,
        "{:?}",
        results.flows.iter().filter(|f| f.acked_ps.is_none()).count()
    );
}
