//! Receiver-driven transports: the FCT of a lone flow is exact, an incast fills exactly the link of the receiver, and
//! no bytes are lost over lossy links.

use crate::bench::*;
use crate::lone_flow::{chain, random_path, recurrence};
use crate::trim::{trim, trimming};
use fabric::generate::TierLinks;
use fabric::{LinkSpec, generate};
use model::parameters::*;
use units::random::Stream;
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// An initial window of one bandwidth-delay product keeps the slowest link busy, wherever it is on the path, and pulls
/// arrive in time for further packets: the FCT equals that of a sender at line rate.
// [NDP1] [NDP8] [HPCC4]
#[test]
fn a_lone_flow_is_exact_over_1_to_6_hops() {
    let mut stream = Stream::new(21, 0, 0);
    for hops in 1..=6 {
        for round in 0..8 {
            let path = random_path(hops, &mut stream);
            let payload = 300 + stream.below(4_000);
            let size = 1 + stream.below(payload * 60);
            let kind = if round % 2 == 0 { "ndp" } else { "eqds" };
            let transport = transport(kind, &[("payload", &format!("{payload}B")), ("timeout", "never")]);
            let frame = |payload: u64| payload + 64;
            let mut frames = vec![frame(payload); (size / payload) as usize];
            frames.extend((!size.is_multiple_of(payload)).then_some(frame(size % payload)));
            let mut setup = setup(chain(&path), plan(2, [flow(0, 1, size)]));
            setup.host.transport = transport;
            setup.host.mtu_bytes = 9200;
            setup.duration = Time::from_ms(20);
            let results = run(setup);
            results.all_hold();
            let record = &results.flows[0];
            let took = Time::from_ps(record.fct_ps().expect("it completes"));
            assert_eq!(took, recurrence(&path, &frames), "{kind} {path:?} {payload} {size}");
            assert_eq!((record.baseline_fct_ps, record.retransmitted_bytes), (took.as_ps(), 0));
        }
    }
}

/// With `pulls = "acks"`, acknowledgements may carry pulls. For a lone flow all of them do, because the pull pacer is
/// idle at each arrival: no separate pulls are sent (`packet_hops`), and the FCT is unchanged.
#[test]
fn acknowledgements_that_ask_for_more_save_the_pulls() {
    for hops in 1..=4u64 {
        let path = vec![link(100, 500); hops as usize];
        let took = |pulls| {
            let mut setup = setup(chain(&path), plan(2, [flow(0, 1, 100 * 1436)]));
            setup.host.transport = transport("ndp", &[("pulls", pulls), ("timeout", "never")]);
            let results = run(setup);
            results.all_hold();
            (results.flows[0].fct_ps().expect("it completes"), results.summary.packet_hops)
        };
        let (apart, along) = (took("apart"), took("acks"));
        assert_eq!(along, (recurrence(&path, &[1500; 100]).as_ps(), hops * 200), "{hops} hops");
        assert!(apart.0 == along.0 && apart.1 > hops * 280, "{hops} hops: {apart:?}");
    }
}

/// Eight flows share the pull pacer of one receiver port. An acknowledgement carries a pull only if the next slot of
/// the pacer belongs to its flow, which is rare in an incast. Other pulls are sent separately, so the number of
/// packet-hops is within 2 % of that without `pulls = "acks"`. Together, the flows fill the link of the receiver.
#[test]
fn acknowledgements_with_pulls_keep_the_slots_of_the_port() {
    let senders = 8;
    let took = |pulls| {
        let fabric = generate::single_switch(senders + 1, link(100, 500)).unwrap();
        let flows = (0..senders).map(|sender| flow(sender, senders, 200 * 1436));
        let mut setup = setup(fabric, plan(senders + 1, flows));
        setup.switch = few(8);
        setup.host.transport = transport("ndp", &[("pulls", pulls), ("timeout", "never")]);
        setup.duration = Time::from_ms(10);
        let results = run(setup);
        results.all_hold();
        assert_eq!(results.flows.iter().filter(|flow| flow.delivered_ps.is_some()).count(), senders as usize);
        let done = results.flows.iter().filter_map(|flow| flow.delivered_ps).max().unwrap();
        (done, results.summary.packet_hops)
    };
    let (apart, along) = (took("apart"), took("acks"));
    let packet = Rate::from_gbps(100).serialise(1500 + WIRE_OVERHEAD_BYTES).as_ps();
    assert!(along.1.abs_diff(apart.1) < apart.1 / 50, "{along:?} {apart:?}");
    let floor = packet * 200 * u64::from(senders);
    assert!(along.0 >= floor && along.0 < floor + floor / 20, "{along:?}, at least {floor}");
}

/// Incast of 4 or 15 senders: the link of the receiver is busy from the first packet to the last, and the queue never
/// exceeds the sum of the initial windows.
#[test]
fn an_incast_fills_the_receivers_link() {
    for (kind, senders) in [("ndp", 4), ("ndp", 15), ("eqds", 4), ("eqds", 15)] {
        let fabric = generate::single_switch(senders + 1, link(100, 500)).unwrap();
        let size = 200 * 1436;
        let flows = (0..senders).map(|sender| flow(sender, senders, size));
        let mut setup = setup(fabric, plan(senders + 1, flows));
        setup.host.transport = transport(kind, &[("timeout", "never")]);
        setup.duration = Time::from_ms(10);
        let packet = Rate::from_gbps(100).serialise(1500 + WIRE_OVERHEAD_BYTES);
        // Initial window in packets: the RTT (two transmissions of a packet, three of a control frame, and
        // propagation) divided by the transmission time of a packet; 1.5 times as many for EQDS.
        let window = (packet * 2 + Time::from_ns(2000) + Rate::from_gbps(100).serialise(84) * 3).as_ps();
        let ahead = if kind == "eqds" { 3 } else { 2 };
        let most = window.div_ceil(packet.as_ps()) * ahead / 2 * senders as u64 * 1500;
        setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Bytes(most) };
        let results = run(setup);
        results.all_hold();
        assert_eq!(results.dropped("queue full"), 0);
        let done = results.flows.iter().map(|flow| flow.delivered_ps.expect("it completes")).max().unwrap();
        // Lower bound of the last FCT: arrival of the first packet at the switch, serialisation of all packets at the
        // port, and propagation of the last packet.
        let gap = Rate::from_gbps(100).serialise(12);
        let floor = packet - gap + Time::from_ns(1000) + packet * (200 * senders as u64) - gap;
        let took = Time::from_ps(done);
        assert!(took >= floor && took < floor + packet * 2, "{kind} {senders}: {took}, at least {floor}");
    }
}

/// Switches that trim packets, with queues of `packets` frames and priority for headers.
fn few(packets: u32) -> SwitchParameters {
    trimming(trim(), packets, 4000)
}

/// The same incast with trimming and queues of eight packets: the link carries each packet once, plus all headers, and
/// is rarely idle. Timeouts are disabled.
#[test]
fn an_incast_over_eight_packets_loses_nothing_but_the_headers_time() {
    for (kind, senders) in [("ndp", 4), ("ndp", 60), ("eqds", 4), ("eqds", 60)] {
        let fabric = generate::single_switch(senders + 1, link(100, 500)).unwrap();
        let flows = (0..senders).map(|sender| flow(sender, senders, 200 * 1436));
        let mut setup = setup(fabric, plan(senders + 1, flows));
        setup.switch = few(8);
        setup.host.transport = transport(kind, &[("timeout", "never")]);
        setup.duration = Time::from_ms(10);
        let results = run(setup);
        results.all_hold();
        assert!(results.summary.packets.dropped.is_empty());
        let trims = results.summary.event_counts.trims;
        assert!(trims > 10 * u64::from(senders), "{trims}");
        // Each trimmed packet is retransmitted exactly once, and no other packet is.
        assert_eq!(results.flows.iter().map(|flow| flow.retransmitted_bytes).sum::<u64>(), trims * 1436);
        let rate = Rate::from_gbps(100);
        let packet = rate.serialise(1500 + WIRE_OVERHEAD_BYTES);
        let floor = packet + Time::from_ns(1000) + packet * (200 * u64::from(senders)) + rate.serialise(84) * trims;
        let took =
            Time::from_ps(results.flows.iter().map(|flow| flow.delivered_ps.expect("it completes")).max().unwrap());
        // One additional RTT at the end, when the last packets are pulled one by one.
        let most = floor + Time::from_ns(2000) + packet * 4;
        assert!(took < most, "{kind} {senders}: {took}, at most {most}");
    }
}

/// Header queues of two headers, which return further headers to their sources: all bytes are delivered without
/// timeouts.
#[test]
fn returned_headers_need_no_timer() {
    for kind in ["ndp", "eqds"] {
        let fabric = generate::single_switch(31, link(100, 500)).unwrap();
        let flows = (0..30).map(|sender| flow(sender, 30, 100 * 1436));
        let mut setup = setup(fabric, plan(31, flows));
        setup.switch = trimming(trim(), 8, 2);
        setup.host.transport = transport(kind, &[("timeout", "never")]);
        setup.duration = Time::from_ms(10);
        let results = run(setup);
        results.all_hold();
        assert!(results.summary.packets.returned_to_source > 200, "{:?}", results.summary.packets);
        assert_eq!(results.flows.iter().filter(|flow| flow.delivered_ps.is_some()).count(), 30, "{kind}");
        assert_eq!(results.summary.event_counts.retransmissions, results.summary.event_counts.trims);
    }
}

/// Returns the mean of baseline FCT / FCT over 16 flows, each from one host to a host in another pod.
fn permutation(packets: u32, spread: Spread) -> f64 {
    let fabric = generate::fat_tree(4, TierLinks::uniform(link(100, 500))).unwrap();
    let flows = (0..16u32).map(|src| flow(src, (src + 7) % 16, 3_000_000));
    let mut setup = setup(fabric, plan(16, flows));
    setup.switch = few(packets);
    setup.spread = spread;
    setup.host.transport = transport("ndp", &[("payload", "4032B"), ("initial_window", "40"), ("timeout", "never")]);
    setup.host.mtu_bytes = 4096;
    setup.duration = Time::from_ms(2);
    let results = run(setup);
    results.all_hold();
    let share = |flow: &stats::flows::FlowRecord| flow.baseline_fct_ps as f64 / flow.fct_ps().expect("complete") as f64;
    results.flows.iter().map(share).sum::<f64>() / 16.0
}

/// Permutation traffic with queues of 8 to 12 packets: with sender-selected paths, the mean of baseline FCT / FCT is
/// above 0.9, although acknowledgements and pulls of the reverse flow use 4 % of each link. With one path per flow
/// (ECMP), it is below 0.8, because paths collide.
#[test]
fn a_permutation_keeps_the_links_full() {
    for packets in [8, 12] {
        let (chosen, hashed) = (permutation(packets, Spread::PerPath), permutation(packets, Spread::FlowHash));
        assert!(chosen > 0.9 && hashed < 0.8, "{packets}: {chosen}, {hashed}");
    }
}

/// Links that lose 2 % of all frames: each byte is delivered once, and results are equal on any number of threads.
#[test]
fn links_that_lose_cost_time_and_no_byte() {
    for kind in ["ndp", "eqds"] {
        let results = [1, 3].map(|threads| {
            let lossy = LinkSpec { loss: 0.02, ..link(100, 500) };
            let fabric = generate::fat_tree(4, TierLinks::uniform(lossy)).unwrap();
            let flows = (0..16u32).map(|src| flow(src, (src + 7) % 16, 100 * 1436 - 7));
            let incast = (0..12).map(|src| flow(src, 15, 50 * 1436));
            let mut setup = setup(fabric, plan(16, flows.chain(incast)));
            setup.switch = few(8);
            setup.spread = Spread::PerPacket;
            setup.host.transport = transport(kind, &[("timeout", "50us")]);
            setup.duration = Time::from_ms(20);
            setup.threads = threads;
            run(setup)
        });
        results[0].all_hold();
        assert_eq!(results[0].flows.iter().filter(|flow| flow.delivered_ps.is_some()).count(), 28);
        assert!(results[0].flows.iter().map(|flow| flow.timeouts).sum::<u32>() > 10);
        assert_eq!(results[0].summary.packets, results[1].summary.packets);
        assert_eq!(results[0].flows, results[1].flows);
    }
}
