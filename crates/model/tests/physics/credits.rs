//! Credit-based flow control: closed form of the throughput, no loss even if credit messages are lost, and the same
//! deadlocks as with pauses.

use crate::bench::*;
use fabric::generate::{ring, single_switch};
use fabric::routing::{Failure, PathTable};
use fabric::{Fabric, FabricBuilder, LinkSpec};
use model::parameters::*;
use protocols::cbfc::sufficient_credits;
use traffic::{ENDLESS, Flow, Process};
use units::random::Stream;
use units::{Rate, Time};

/// Credit-based flow control for class 3.
fn credits(bytes: Option<u64>, update_bytes: Option<u64>) -> FlowControl {
    FlowControl::Credit(CreditParameters {
        classes: 1 << 3,
        credits_bytes: bytes,
        update_bytes,
        regrant: Time::from_us(100),
    })
}

/// `H1 - S1 - S2 - H2`: `H1` sends frames of `frame` bytes at line rate to `H2`. The link between the switches is long,
/// the other links are short, and all have the same rate.
fn line(gbps: u64, delay_ns: u64, frame: u16) -> Setup {
    let mut builder = FabricBuilder::new("line");
    let (h1, h2) = (builder.add_host("H1"), builder.add_host("H2"));
    let (s1, s2) = (builder.add_switch("S1", 1), builder.add_switch("S2", 1));
    builder.connect(h1, s1, link(gbps, 1));
    builder.connect(s1, s2, link(gbps, delay_ns));
    builder.connect(s2, h2, link(gbps, 1));
    let process = Process::Constant { rate: Rate::from_gbps(gbps) };
    let mut setup = setup(builder.build().unwrap(), plan(2, [datagrams(0, 1, process, frame, ENDLESS)]));
    setup.host.mtu_bytes = frame;
    setup
}

/// Returns the utilisation of the long link, in delivered frames per frame time, in the second half of the run.
fn share(mut setup: Setup, gbps: u64, frame: u16) -> f64 {
    let time = Rate::from_gbps(gbps).serialise(u64::from(frame) + 20);
    setup.duration = time * 4_000 + Time::from_us(200);
    setup.record.throughput_every = Some(setup.duration / 2);
    let duration = setup.duration;
    let results = run(setup);
    results.all_hold();
    // A sample covers half of the run. The first half is the warm-up.
    let last = results.goodput_samples.last().expect("a sample").1;
    let frames = last as f64 / f64::from(frame - 46);
    frames * time.as_ps() as f64 / (duration / 2).as_ps() as f64
}

/// Credits for n frames are granted frame by frame. The RTT is the transmission time A of a frame, plus that of the
/// credit message of 72 bytes, plus twice the delay d. The utilisation is min(1, n S / (A + message + 2 d)), where S is
/// the frame time. S includes the inter-frame gap; A and the message do not.
#[test]
fn throughput_is_credits_over_the_round_trip() {
    for (gbps, delay_ns, frame) in [(10, 1_000, 1518u16), (100, 500, 1518), (40, 2_000, 700), (25, 100, 9_000)] {
        let rate = Rate::from_gbps(gbps);
        let serial = rate.serialise(u64::from(frame) + 20).as_ps() as f64;
        let arrival = rate.serialise(u64::from(frame) + 8).as_ps() as f64;
        let round_trip = arrival + rate.serialise(64 + 8).as_ps() as f64 + 2.0 * delay_ns as f64 * 1000.0;
        let enough = (round_trip / serial).ceil() as u64;
        for n in [1, 2, enough.saturating_sub(1).max(1), enough, enough + 3] {
            let mut setup = line(gbps, delay_ns, frame);
            setup.switch.flow_control = credits(Some(n * u64::from(frame)), Some(1));
            let (ours, expected) = (share(setup, gbps, frame), (n as f64 * serial / round_trip).min(1.0));
            let results = format!("{gbps} Gbps, {delay_ns} ns, {frame} B, {n} of {enough}: {ours} for {expected}");
            assert!((ours - expected).abs() < 0.003, "{results}");
        }
    }
}

/// The computed credits suffice for full utilisation in both directions simultaneously; credits for four frames less
/// do not.
#[test]
fn the_computed_credits_fill_a_link_both_ways() {
    for (gbps, delay_ns, frame) in [(10, 1_000, 1518u16), (100, 500, 1518), (100, 5_000, 4_096), (25, 50, 256)] {
        let rate = Rate::from_gbps(gbps);
        let both = |credit| {
            let mut setup = line(gbps, delay_ns, frame);
            let process = Process::Constant { rate };
            setup.traffic = plan(2, [(0, 1), (1, 0)].map(|(a, b)| datagrams(a, b, process, frame, ENDLESS)));
            setup.switch.flow_control = credit;
            share(setup, gbps, frame)
        };
        // On each link, one credit message (84 B on the wire) is sent per data frame of the reverse direction, so the
        // share of data frames is at most wire / (wire + 84 B).
        let wire = f64::from(frame) + 20.0;
        let full = wire / (wire + 84.0);
        let computed = both(credits(None, None));
        assert!((computed - full).abs() < 0.01, "{gbps} Gbps, {delay_ns} ns, {frame} B: {computed} of {full}");
        let enough = sufficient_credits(rate, Time::from_ns(delay_ns), frame.into(), frame.into());
        let less = both(credits(Some((enough - 4 * u64::from(frame)).max(frame.into())), None));
        assert!(less < 0.99 * full, "{gbps} Gbps, {delay_ns} ns, {frame} B: {less} with four frames less");
    }
}

/// Random two-tier fabrics, incast bursts of random size, random credits down to one frame, links that lose frames and
/// credit messages, and link failures: no frame of the lossless class is dropped for lack of buffer space.
#[test]
fn nothing_is_ever_lost_for_want_of_room() {
    let mut waits = 0;
    for seed in 0..60 {
        let mut stream = Stream::new(seed, 7, 0);
        let hosts = 3 + stream.below(4) as u32;
        let fragile = seed % 3 == 1;
        let loss = if fragile { 0.02 } else { 0.0 };
        let spec = LinkSpec { loss, ..link([10, 25, 100][stream.below(3) as usize], 20 + stream.below(2_000)) };
        let fabric = tiers(hosts, spec);
        let flows: Vec<Flow> = (0..hosts)
            .filter(|host| host % 3 != 0 || *host == 0)
            .map(|src| {
                let rate = Rate::from_gbps(1 + stream.below(100));
                let frame = 64 + stream.below(1_455) as u16;
                let bytes = u64::from(frame - 46) * (50 + stream.below(400));
                datagrams(
                    src,
                    (src / 3 * 3 + 3) % hosts.next_multiple_of(3).min(hosts),
                    Process::Constant { rate },
                    frame,
                    bytes,
                )
            })
            .filter(|flow| flow.src != flow.dst)
            .collect();
        let mut setup = setup(fabric, plan(hosts, flows));
        let room = 1518 + stream.below(4_000);
        setup.switch.flow_control =
            credits((seed % 4 != 0).then_some(room), (seed % 2 == 0).then(|| 1 + stream.below(3_000)));
        setup.seed = seed;
        setup.duration = Time::from_ms(20);
        if seed % 3 == 2 {
            let (link, from) = (setup.fabric.links().len() as u64 - 1, Time::from_us(50 + stream.below(200)));
            let up_at = Some(from + Time::from_us(1 + stream.below(300)));
            setup.failures = vec![Failure { link: fabric::LinkId(link as u32), down_at: from, up_at }];
        }
        let results = run(setup);
        assert_eq!(results.dropped("lossless queue full"), 0, "seed {seed}");
        for check in ["lossless", "conservation", "pauses", "buffer", "deadlock"] {
            assert!(results.passes(check), "seed {seed}: {:?}", results.summary.checks);
        }
        assert_eq!(results.summary.packets.in_flight, 0, "seed {seed}: nobody waits for ever");
        waits += results.summary.pauses.count;
    }
    assert!(waits > 1_000, "{waits}");
}

/// Two leaves under one spine; hosts are assigned to the leaves alternately.
fn tiers(hosts: u32, spec: LinkSpec) -> Fabric {
    let mut builder = FabricBuilder::new("tiers");
    let hosts: Vec<_> = (1..=hosts).map(|n| builder.add_host(format!("H{n}"))).collect();
    let leaves = [builder.add_switch("L1", 1), builder.add_switch("L2", 1)];
    let spine = builder.add_switch("S1", 2);
    for (index, &host) in hosts.iter().enumerate() {
        builder.connect(host, leaves[index % 2], spec);
    }
    leaves.into_iter().for_each(|leaf| _ = builder.connect(leaf, spine, spec));
    builder.build().unwrap()
}

/// Negative control: frames of hosts that ignore credits are dropped.
// [M50]
#[test]
fn a_host_that_does_not_listen_loses() {
    let flows = |hosts: u32| {
        (1..hosts)
            .map(|src| {
                let process = Process::Constant { rate: Rate::from_gbps(10) };
                datagrams(src, 0, process, 1518, 1_472 * 200)
            })
            .collect::<Vec<_>>()
    };
    let mut setup = setup(single_switch(4, link(10, 500)).unwrap(), plan(4, flows(4)));
    setup.switch.flow_control = credits(None, None);
    let mut control = Setup {
        fabric: single_switch(4, link(10, 500)).unwrap(),
        traffic: plan(4, flows(4)),
        ..self::setup(single_switch(4, link(10, 500)).unwrap(), plan(4, flows(4)))
    };
    control.switch.flow_control = setup.switch.flow_control;
    control.host.obeys_pause = false;
    run(setup).all_hold();
    assert!(!run(control).passes("lossless"));
}

/// Four switches in a ring with one host each. Host i of `senders` sends clockwise to host i + 3.
fn clockwise(senders: &[u32], bytes: u64) -> Setup {
    let fabric = ring(4, 1, link(40, 1000), link(40, 1000)).unwrap();
    let mut paths = PathTable::new();
    let process = Process::Constant { rate: Rate::from_gbps(40) };
    let mut flows = Vec::new();
    for &src in senders {
        let name = |step: u32| (src + step) % 4 + 1;
        let switches = (0..4).map(|step| format!("S{}", name(step)));
        let names: Vec<String> =
            [format!("H{}", name(0))].into_iter().chain(switches).chain([format!("H{}", name(3))]).collect();
        let path = Some(paths.push_names(&fabric, &names).unwrap().0);
        flows.push(Flow { path, ..datagrams(src, (src + 3) % 4, process, 1000, bytes) });
    }
    let mut setup = setup(fabric, plan(4, flows));
    setup.paths = paths;
    setup.switch.flow_control = credits(None, None);
    setup.duration = Time::from_ms(2);
    setup.deadlock_every = Some(Time::from_us(1));
    setup
}

#[test]
fn a_ring_deadlocks_under_credits_and_the_run_locates_it() {
    let results = run(clockwise(&[0, 1, 2, 3], ENDLESS));
    assert!(results.passes("lossless") && !results.passes("deadlock"), "{:?}", results.summary.checks);
    let found = results.summary.deadlock.as_ref().expect("a deadlock");
    assert_eq!(found.cycle.len(), 4);
    for (edge, next) in found.cycle.iter().zip(found.cycle.iter().cycle().skip(1)) {
        assert_eq!(edge.peer, next.node, "each waits for the next");
    }
    run(clockwise(&[0], ENDLESS)).all_hold();
}

/// A deadlock is reported if and only if some frames never arrive.
#[test]
fn a_deadlock_is_reported_if_and_only_if_frames_stay() {
    let mut stream = Stream::new(12, 0, 0);
    let (mut stuck, mut free) = (0, 0);
    for _ in 0..100 {
        let mut setup = clockwise(&[0, 1, 2, 3], ENDLESS);
        setup.duration = Time::from_us(500);
        for flow in &mut setup.traffic.flows {
            flow.size_bytes = 1000 * (5 + stream.below(50));
            flow.start = traffic::Start::At(Time::from_ns(stream.below(12_000)));
        }
        let results = run(setup);
        let everything = results.summary.packets.in_flight == 0;
        assert_eq!(results.summary.deadlock.is_none(), everything, "{:?}", results.summary);
        (stuck, free) = (stuck + u32::from(!everything), free + u32::from(everything));
    }
    assert!(stuck > 10 && free > 10, "{stuck} stuck, {free} free");
}

/// Four hosts send to a fifth: in the trace, each ingress account repeatedly starts and ends a credit stall of its
/// sender, because of frames queued for the only congested port, and never exceeds its credits.
#[test]
fn a_trace_has_the_reason_of_missing_credits() {
    use stats::trace::TraceEvent;
    let process = Process::Constant { rate: Rate::from_gbps(10) };
    let flows = (1..5).map(|src| datagrams(src, 0, process, 1000, ENDLESS));
    let mut setup = setup(single_switch(5, link(10, 500)).unwrap(), plan(5, flows));
    setup.switch.flow_control = credits(None, None);
    setup.duration = Time::from_us(500);
    setup.record.trace = Some(TraceParameters::everything());
    let results = run(setup);
    results.all_hold();
    let mut held = [false; 5];
    let (mut stops, mut behind) = (0, 0);
    for row in &results.trace {
        match row.event {
            TraceEvent::PauseSent { port, class, account_bytes, limit_bytes, renewal } => {
                assert!(!std::mem::replace(&mut held[usize::from(port)], true), "{row:?}");
                assert!(port != 0 && class == Some(3) && !renewal, "{row:?}");
                assert!(account_bytes > 0 && account_bytes <= limit_bytes, "{row:?}");
                (stops, behind) = (stops + 1, account_bytes);
            }
            TraceEvent::AccountQueue { egress, egress_class, load, .. } => {
                assert_eq!((egress, egress_class, load.bytes), (0, 3, behind), "all of it waits for the receiver");
            }
            TraceEvent::ResumeSent { port, .. } => {
                assert!(std::mem::replace(&mut held[usize::from(port)], false), "{row:?}")
            }
            _ => {}
        }
    }
    assert!(stops > 20, "{stops}");
    // With a single flow, no credit stall starts, because the switches forward all frames at line rate.
    let mut alone = line(10, 1_000, 1518);
    alone.switch.flow_control = credits(None, None);
    alone.duration = Time::from_us(500);
    alone.record.trace = Some(TraceParameters::everything());
    let results = run(alone);
    assert!(results.trace.iter().all(|row| !matches!(row.event, TraceEvent::PauseSent { .. })));
}
