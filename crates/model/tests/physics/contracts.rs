//! Optional features of transports beyond data and acknowledgements, tested with a transport that uses all of them.

use crate::bench::*;
use crate::toy::{HEADER, PAYLOAD, PROBE_CLASS, Seen, Toy};
use fabric::generate::{TierLinks, leaf_spine, line, single_switch};
use fabric::{Fabric, FabricBuilder};
use model::parameters::{Buffer, NodeClock, NodeClocks, QueueLimit, Setup};
use model::{NullWatcher, Simulation};
use protocols::frame::Kind;
use std::collections::{BTreeMap, BTreeSet};
use units::{Rate, Time};

fn of(seen: &[Seen], by_sender: bool, kind: Kind) -> impl Iterator<Item = &Seen> {
    seen.iter().filter(move |it| it.by_sender == by_sender && it.kind == kind)
}

fn with(toy: &Toy, fabric: Fabric, traffic: traffic::Plan) -> Setup {
    let mut setup = setup(fabric, traffic);
    setup.host.transport = toy.parameters();
    setup
}

/// Hosts send and receive simultaneously. A receiver gets only control frames from the sender of the same flow.
#[test]
fn a_senders_control_frames_leave_under_its_flows_own_name() {
    let toy = Toy { probes: 2, ..Toy::default() };
    let pairs = [(0, 1, 5_000), (0, 2, 6_000), (1, 0, 7_000), (2, 1, 8_000), (2, 0, 9_000)];
    let plan = plan(3, pairs.map(|(src, dst, size)| flow(src, dst, size)));
    let results = run(with(&toy, single_switch(3, link(10, 500)).unwrap(), plan));
    results.all_hold();
    assert_eq!(results.flows.iter().filter(|flow| flow.delivered_ps.is_some()).count(), 5);
    let seen = toy.seen();
    let heard: Vec<_> = of(&seen, false, Kind::Control).map(|it| (it.flow, it.number)).collect();
    let own: Vec<_> = pairs.iter().zip(0..).map(|(&(src, _, size), flow)| ((src, flow), size)).collect();
    assert_eq!(heard, own);
    assert_eq!(of(&seen, true, Kind::Control).count(), 0);
}

/// Two paths with different delays, 1 and 9 us per link, between the switches `left` and `right`.
fn two_ways() -> Fabric {
    let mut builder = FabricBuilder::new("two ways");
    let hosts = ["a", "b"].map(|name| builder.add_host(name));
    let (left, right) = (builder.add_switch("left", 1), builder.add_switch("right", 1));
    let (near, far) = (builder.add_switch("near", 2), builder.add_switch("far", 2));
    builder.connect(hosts[0], left, link(10, 100));
    builder.connect(hosts[1], right, link(10, 100));
    for (middle, delay_ns) in [(near, 1_000), (far, 9_000)] {
        builder.connect(left, middle, link(10, delay_ns));
        builder.connect(middle, right, link(10, delay_ns));
    }
    builder.build().unwrap()
}

/// Probes and data frames use the entropy values that the sender sets, and probes use a separate class. An
/// acknowledgement has the entropy value of the frame that it acknowledges.
#[test]
fn segments_choose_class_and_path_and_replies_carry_the_path_back() {
    let toy = Toy { probes: 8, entropies: 5, gap: Time::from_us(20), ..Toy::default() };
    let results = run(with(&toy, two_ways(), plan(2, [flow(0, 1, 40_000)])));
    results.all_hold();
    let seen = toy.seen();
    let probes: Vec<_> = of(&seen, false, Kind::Probe).collect();
    assert!(probes.iter().all(|it| it.class == PROBE_CLASS && it.entropy == it.seq as u32));
    assert_eq!(probes.len(), 8);
    let data: Vec<_> = of(&seen, false, Kind::Data).collect();
    assert!(data.iter().all(|it| it.class == 3 && u64::from(it.entropy) == (it.seq / u64::from(PAYLOAD) + 1) % 5));
    assert_eq!(data.len(), 40);
    // Data frames are so far apart that no queue forms, so the one-way delay depends only on the path, which the
    // entropy value selects. The paths differ by two links of 9 - 1 = 8 us.
    let mut paths: BTreeMap<u32, BTreeSet<Time>> = BTreeMap::new();
    data.iter().for_each(|it| _ = paths.entry(it.entropy).or_default().insert(it.at - it.stamp));
    assert!(paths.values().all(|delays| delays.len() == 1), "{paths:?}");
    let delays: BTreeSet<_> = paths.values().flatten().collect();
    let [near, far] = delays.into_iter().collect::<Vec<_>>()[..] else { panic!("both paths are used: {paths:?}") };
    assert_eq!(*far - *near, Time::from_us(16));
    // Acknowledgements of data use the class of replies, even if a probe was the first frame of the flow.
    let acks: Vec<_> = of(&seen, true, Kind::Ack).collect();
    assert_eq!(acks.len(), 48);
    let sent: BTreeSet<_> = probes.iter().chain(&data).map(|it| (it.stamp, it.entropy)).collect();
    assert!(acks.iter().all(|it| sent.contains(&(it.stamp, it.entropy)) && it.class == 6));
}

/// If replies use the class of the data, an earlier probe in another class does not change their class.
#[test]
fn a_probe_that_opens_a_flow_does_not_choose_the_class_of_replies() {
    let toy = Toy { probes: 1, silent: true, ..Toy::default() };
    let mut setup = with(&toy, single_switch(2, link(10, 500)).unwrap(), plan(2, [flow(0, 1, 3_000)]));
    setup.host.reply_class = None;
    run(setup).all_hold();
    let classes: Vec<_> = of(&toy.seen(), true, Kind::Ack).map(|it| it.class).collect();
    assert_eq!(classes, [PROBE_CLASS, 3, 3, 3]);
}

fn clocks(stated: impl IntoIterator<Item = (u32, NodeClock)>) -> NodeClocks {
    NodeClocks { drawn: None, stated: stated.into_iter().collect() }
}

/// With timestamps from two clocks, the measured one-way delays deviate by the difference of the clock offsets, and
/// RTTs are exact. One-way delays in the summary do not depend on clocks.
#[test]
fn one_way_delays_see_the_offset_of_two_clocks_and_round_trips_do_not() {
    let run_with = |clocks: NodeClocks| {
        let toy = Toy { gap: Time::from_us(7), ..Toy::default() };
        let mut setup = with(&toy, single_switch(2, link(10, 500)).unwrap(), plan(2, [flow(0, 1, 20_000)]));
        setup.host.clocks = clocks;
        let results = run(setup);
        results.all_hold();
        (toy.seen(), results)
    };
    let offset = |us| NodeClock { offset: Time::from_us(us), drift_ppb: 0 };
    let (exact, reference) = run_with(NodeClocks::default());
    let (skewed, results) = run_with(clocks([(0, offset(3)), (1, offset(10))]));
    assert_eq!(exact.len(), skewed.len());
    for (exact, skewed) in exact.iter().zip(&skewed) {
        assert_eq!(skewed.stamp, exact.stamp + Time::from_us(3));
        assert_eq!(skewed.at, exact.at + Time::from_us(if exact.by_sender { 3 } else { 10 }));
        let off = if exact.by_sender { Time::ZERO } else { Time::from_us(7) };
        assert_eq!(skewed.at - skewed.stamp, exact.at - exact.stamp + off);
    }
    assert_eq!(format!("{:?}", results.flows), format!("{:?}", reference.flows));
    assert_eq!(results.summary.delay_ns, reference.summary.delay_ns);
}

/// A clock with a drift of +50 ppm is 50 us ahead after 1 s, so that paced frames are sent earlier by up to 50 us.
#[test]
fn a_clock_drifts_away_over_a_second() {
    let toy = Toy { gap: Time::from_ms(100), ..Toy::default() };
    let mut setup = with(&toy, single_switch(2, link(10, 500)).unwrap(), plan(2, [flow(0, 1, 11_000)]));
    setup.duration = Time::from_ms(1_100);
    setup.deadlock_every = None;
    setup.host.clocks = clocks([(0, NodeClock { offset: Time::ZERO, drift_ppb: 50_000 })]);
    let results = run(setup);
    results.all_hold();
    let seen = toy.seen();
    let data: Vec<_> = of(&seen, false, Kind::Data).collect();
    assert_eq!(data.len(), 11);
    let delay_ps = |it: &Seen| i128::from(it.at.as_ps()) - i128::from(it.stamp.as_ps());
    for (n, it) in (0..).zip(&data) {
        // Frame n is sent after n intervals of 100 ms on the sender's clock, each of which takes 100 ms / 1.00005.
        assert_eq!(it.stamp, Time::from_ms(100 * n));
        let counted_ps = i128::from(it.stamp.as_ps());
        let ahead_ps = counted_ps - counted_ps * 1_000_000_000 / 1_000_050_000;
        let off_ps = delay_ps(data[0]) - ahead_ps - delay_ps(it);
        assert!(off_ps.abs() <= 2, "{n}: {off_ps}");
    }
    // By the clocks of sender and receiver, the last frame arrives before it was sent.
    assert!(data[10].at < data[10].stamp && data[10].stamp - data[10].at < Time::from_us(50));
}

/// On an idle line of switches, each telemetry record has the time at which the frame left the hop and the bytes sent
/// before it.
// [HPCC2] [HPCC3]
#[test]
fn telemetry_covers_every_hop_and_returns_to_the_sender() {
    let (rate, delay) = (Rate::from_gbps(10), Time::from_ns(500));
    let toy = Toy { collects: true, gap: Time::from_us(10), ..Toy::default() };
    let fabric = line(3, 1, link(10, 500), link(10, 500)).unwrap();
    let far = (fabric.hosts().len() - 1) as u32;
    let results = run(with(&toy, fabric, plan(far + 1, [flow(0, far, 10_000)])));
    results.all_hold();
    let seen = toy.seen();
    let data: Vec<_> = of(&seen, false, Kind::Data).collect();
    let frame_bytes = u64::from(PAYLOAD + HEADER);
    let step = rate.serialise(frame_bytes + 8) + delay;
    for (n, it) in (0..).zip(&data) {
        let times: Vec<_> = it.hops.iter().map(|hop| hop.at).collect();
        assert_eq!(times, [1, 2, 3].map(|hop| it.stamp + step * hop));
        assert!(it.hops.iter().all(|hop| hop.rate == rate && hop.queue_bytes == 0));
        // One control frame (64 B) is sent after the first data frame.
        let sent_bytes = n * frame_bytes + if n > 0 { 64 } else { 0 };
        assert!(it.hops.iter().all(|hop| hop.sent_bytes == sent_bytes), "{it:?}");
    }
    let there: BTreeMap<_, _> = data.iter().map(|it| (it.seq, &it.hops)).collect();
    let acks: Vec<_> = of(&seen, true, Kind::Ack).collect();
    let (last, others) = acks.split_last().unwrap();
    assert_eq!(others.len(), 9);
    assert!(others.iter().all(|it| there[&it.seq] == &it.hops));
    assert!(last.hops.is_empty(), "who says that the flow is complete says nothing else");
}

/// Four flows share a port. In order of departure, each telemetry record has the bytes sent before the frame, and its
/// queue length is consistent with that of the next frame.
// [HPCC2]
#[test]
fn telemetry_of_a_crowded_port_adds_up() {
    let toy = Toy { collects: true, probes: 3, ..Toy::default() };
    let flows = (0..4).map(|src| flow(src, 4, 50_000));
    let results = run(with(&toy, single_switch(5, link(10, 500)).unwrap(), plan(5, flows)));
    results.all_hold();
    let seen = toy.seen();
    let size = |it: &Seen| if it.kind == Kind::Data { u64::from(PAYLOAD + HEADER) } else { 64 };
    let mut left: Vec<_> = seen.iter().filter(|it| !it.by_sender && it.kind != Kind::Control).collect();
    left.sort_by_key(|it| it.hops[0].at);
    let wire = |bytes: u64| Rate::from_gbps(10).serialise(bytes + 20);
    let mut most_queued = 0;
    for pair in left.windows(2) {
        let [(a, hop), (b, next)] = [pair[0], pair[1]].map(|it| (it, it.hops[0]));
        assert!(next.at >= hop.at + wire(size(a)), "two frames on one wire");
        // Only control frames, which carry no telemetry, can have been sent between the two frames.
        let others = next.sent_bytes - hop.sent_bytes - size(a);
        assert!(others.is_multiple_of(64) && others <= 4 * 64, "{others}");
        if hop.queue_bytes > 0 && others == 0 {
            assert_eq!(next.at, hop.at + wire(size(a)), "something waited, and the wire idled");
            assert!(next.queue_bytes + size(b) >= hop.queue_bytes);
        }
        most_queued = most_queued.max(hop.queue_bytes);
    }
    assert!(most_queued > 100_000, "{most_queued}");
}

/// The telemetry records of lost frames are freed, and observations at both endpoints do not depend on the number of
/// threads.
#[test]
fn records_of_lost_frames_are_freed_and_threads_change_nothing() {
    let results = |threads: usize| {
        let toy = Toy { collects: true, probes: 5, entropies: 3, ..Toy::default() };
        let flows = (0..8).flat_map(|src| [(src, 8), (src, 9)].map(|(src, dst)| flow(src, dst, 40_000)));
        let mut setup = with(&toy, fabric_of_ten(), plan(10, flows));
        setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Bytes(20_000) };
        setup.threads = threads;
        let mut simulation = Simulation::new(setup).unwrap();
        if threads > 1 {
            simulation.randomise_threads(threads as u64);
        }
        assert!(simulation.run(&mut NullWatcher));
        let in_use = simulation.telemetry_in_use();
        let summary = simulation.finish(&mut NullWatcher, false);
        assert!(summary.packets.dropped.values().sum::<u64>() > 50, "{:?}", summary.packets);
        assert_eq!((summary.packets.in_flight, in_use), (0, 0));
        (toy.seen(), format!("{:?}", summary.packets))
    };
    let one = results(1);
    assert!(one.0.iter().any(|it| it.hops.len() == 3));
    assert!((2..=3).all(|threads| results(threads) == one));
}

fn fabric_of_ten() -> Fabric {
    let [host, edge, core] = [link(10, 500); 3];
    leaf_spine(2, 2, 5, 1, TierLinks { host, edge, core }).unwrap()
}

/// Two traffic entries with different transports in disjoint parts of one network give the same results as each entry
/// alone.
#[test]
fn each_entry_of_the_traffic_has_its_own_transport() {
    let flows =
        || [(0, 1, 0), (2, 3, 1)].map(|(src, dst, traffic)| traffic::Flow { traffic, ..flow(src, dst, 300_000) });
    let run_with = |usual: &str, own: Option<&str>| {
        let mut setup = setup(single_switch(4, link(10, 500)).unwrap(), plan(4, flows()));
        setup.host.transport = transport(usual, &[]);
        setup.host.transports = own.map(|own| (1, transport(own, &[]))).into_iter().collect();
        let results = run(setup);
        results.all_hold();
        let mut flows: Vec<_> = results.flows.iter().map(|flow| format!("{flow:?}")).collect();
        flows.sort();
        flows
    };
    let [roce, tcp, ndp, datagram] = ["roce", "tcp", "ndp", "datagram"].map(|kind| run_with(kind, None));
    assert!(roce.iter().zip(&tcp).all(|(a, b)| a != b));
    assert_eq!(run_with("roce", Some("tcp")), [roce[0].clone(), tcp[1].clone()]);
    assert_eq!(run_with("tcp", Some("ndp")), [tcp[0].clone(), ndp[1].clone()]);
    assert_eq!(run_with("ndp", Some("datagram")), [ndp[0].clone(), datagram[1].clone()]);
    assert_eq!(run_with("datagram", Some("roce")), [datagram[0].clone(), roce[1].clone()]);
}
