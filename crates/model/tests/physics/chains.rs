//! Dependent flows, which start when others complete, and hosts that relay traffic.

use crate::bench::*;
use fabric::generate::{TierLinks, bcube, leaf_spine, single_switch};
use fabric::lone_flow_time;
use model::parameters::*;
use traffic::{Algorithm, Collective, Entry, Operation, PlanBuilder};
use units::{Rate, Time};

/// On a star, each step of these collectives uses each link at most once per direction, and each host waits for one
/// message only. The time of an iteration is the sum of the FCTs of its steps in an idle network, plus the step delays.
/// Iterations are separated by the compute time; the summary counts all iterations.
#[test]
fn a_collective_takes_the_steps_of_its_algorithm() {
    let (ring, halving) = (Algorithm::Ring, Algorithm::HalvingDoubling);
    let of = |times: u64, bytes: u64| vec![bytes; times as usize];
    let cases = [
        (Operation::AllReduce, ring, 2, 1000 * 2, of(2, 1000)),
        (Operation::AllReduce, ring, 5, 40_000 * 5, of(8, 40_000)),
        (Operation::ReduceScatter, ring, 8, 12_345 * 8, of(7, 12_345)),
        (Operation::AllGather, ring, 8, 12_345 * 8, of(7, 12_345)),
        (Operation::Broadcast { root: Some(3) }, ring, 5, 12_345, of(4, 12_345)),
        (Operation::ReduceScatter, halving, 8, 8000, vec![4000, 2000, 1000]),
        (Operation::AllReduce, halving, 4, 40_000, vec![20_000, 10_000, 10_000, 20_000]),
        // In groups of four, a ring reduce-scatter of three steps; then a ring all-reduce of a quarter of the data
        // across three groups; then an all-gather of three steps in groups.
        (
            Operation::AllReduce,
            Algorithm::Hierarchical { group: 4 },
            12,
            120_000,
            [of(3, 30_000), of(4, 10_000), of(3, 30_000)].concat(),
        ),
    ];
    for (operation, algorithm, hosts, total_bytes, steps) in cases {
        // Hosts of a broadcast chain finish at different times: the first host starts the next iteration while the last
        // host still receives. Hence only one iteration.
        let chain = matches!(operation, Operation::Broadcast { .. });
        for (iterations, compute, step_delay) in [(1, 0, 0), (if chain { 1 } else { 3 }, 5000, 700)] {
            let spec = link(40, 600);
            let (compute, step_delay) = (Time::from_ns(compute), Time::from_ns(step_delay));
            let what = Collective::new(operation, algorithm, total_bytes);
            let what = Collective { iterations, compute, step_delay, ..what };
            let mut builder = PlanBuilder::new();
            let members: Vec<u32> = (0..hosts).collect();
            traffic::collective(&what, &members, &Entry::new(1, 0), &mut builder).unwrap();
            let mut setup = setup(single_switch(hosts, spec).unwrap(), builder.build(hosts).unwrap());
            // Datagrams have no acknowledgements, so that the links carry only these messages.
            let datagram = transport("datagram", &[("frame", "1046B")]);
            let header = u64::from(datagram.header_bytes());
            setup.host.transport = datagram;
            let results = run(setup);
            results.all_hold();
            let alone = |bytes: &u64| {
                let payload = 1046 - header;
                let last = bytes % payload;
                let last_bytes = if last == 0 { 0 } else { (last + header).max(64) };
                lone_flow_time(&[(spec.rate, spec.delay); 2], bytes / payload, 1046, last_bytes)
            };
            let once =
                steps.iter().fold(Time::ZERO, |sum, bytes| sum + alone(bytes)) + step_delay * (steps.len() as u64 - 1);
            let summary = &results.summary.collectives[0];
            let time = summary.time_ns.unwrap();
            let ns = once.as_ps() as f64 / 1e3;
            let name = format!("{operation:?} {algorithm:?}");
            assert_eq!(
                (summary.completed, summary.ranks, summary.size_bytes),
                (iterations, hosts, total_bytes),
                "{name}"
            );
            assert!(
                [time.mean, time.min, time.max].iter().all(|found| (found - ns).abs() < 1e-3),
                "{name}: {time:?}, {ns}"
            );
            let algorithm_bps = total_bytes as f64 * 8e9 / ns;
            let close = |found: Option<f64>, expected: f64| (found.unwrap() / expected - 1.0).abs() < 1e-9;
            assert!(close(summary.algorithm_bps, algorithm_bps), "{name}");
            assert!(close(summary.bus_bps, algorithm_bps * operation.bus_factor(hosts)), "{name}");
            let end = results.flows.iter().map(|flow| flow.delivered_ps.expect("delivered")).max().unwrap();
            let rounds = u64::from(iterations);
            assert_eq!(Time::from_ps(end), once * rounds + compute * (rounds - 1), "{name}");
        }
    }
}

/// Broadcast along a chain of six hosts in chunks: a host forwards a chunk while it receives the next. The last host
/// finishes after the transfer of the whole message over one link, plus the transfer of one chunk over each of the four
/// further links.
#[test]
fn pieces_go_down_a_chain_behind_each_other() {
    let time = |chunks: u32, in_flight: u32| {
        let spec = link(40, 600);
        let what = Collective::new(Operation::Broadcast { root: None }, Algorithm::Ring, 1_000_000);
        let what = Collective { chunks, chunks_in_flight: in_flight, ..what };
        let mut builder = PlanBuilder::new();
        let members: Vec<u32> = (0..6).collect();
        traffic::collective(&what, &members, &Entry::new(1, 0), &mut builder).unwrap();
        let mut setup = setup(single_switch(6, spec).unwrap(), builder.build(6).unwrap());
        setup.host.transport = transport("datagram", &[("frame", "1046B")]);
        setup.duration = Time::from_ms(5);
        let results = run(setup);
        results.all_hold();
        results.summary.collectives[0].time_ns.unwrap().mean / 1e3
    };
    let spec = link(40, 600);
    let alone = |frames| lone_flow_time(&[(spec.rate, spec.delay); 2], frames, 1046, 0).as_ps() as f64 / 1e6;
    let (whole, cut) = (time(1, 1), time(20, 2));
    assert!((whole - 5.0 * alone(1000)).abs() < 1e-3, "{whole} us");
    // The last chunk is sent after all others and never waits for another chunk. With two chunks in flight, the
    // frames of both alternate on the link.
    let least = alone(1000) + 4.0 * alone(50);
    assert!(cut >= least && cut < least + 5.0 * alone(50), "{cut} us, at least {least}");
    assert!(time(20, 20) > 1.8 * cut, "all pieces at once share the link and arrive late");
}

/// With reordering, go-back-N retransmits many packets, and an early packet may be acknowledged again before the last
/// acknowledgement arrives. The flow still completes and is reported.
#[test]
fn completion_is_reported_for_any_order_of_acknowledgements() {
    for seed in 1..=6 {
        let mut builder = PlanBuilder::new();
        let what = Collective::new(Operation::AllToAll, Algorithm::Direct { window: 1 }, 1_000_000);
        let members: Vec<u32> = (0..8).collect();
        traffic::collective(&what, &members, &Entry::new(seed, 0), &mut builder).unwrap();
        let spec = link(400, 500);
        let mut setup = setup(leaf_spine(2, 2, 4, 1, TierLinks::uniform(spec)).unwrap(), builder.build(8).unwrap());
        setup.host.transport = transport("roce", &[("payload", "4000B")]);
        (setup.spread, setup.seed, setup.duration) = (Spread::PerPacket, seed, Time::from_ms(100));
        let results = run(setup);
        results.all_hold();
        assert_eq!(results.flows.iter().filter(|flow| flow.delivered_ps.is_some()).count(), 56, "seed {seed}");
        assert_eq!(results.summary.collectives[0].completed, 1, "seed {seed}");
    }
}

/// An all-to-all with a window of one: the transfers of a host are sequential, and each takes about the FCT in an idle
/// network.
#[test]
fn rounds_of_an_exchange_follow_each_other() {
    let spec = link(10, 1000);
    let mut builder = PlanBuilder::new();
    let exchange = Collective::new(Operation::AllToAll, Algorithm::Direct { window: 1 }, 40_000);
    let exchange = Collective { step_delay: Time::from_us(2), ..exchange };
    traffic::collective(&exchange, &[0, 1, 2, 3], &Entry::new(1, 0), &mut builder).unwrap();
    let mut setup = setup(single_switch(4, spec).unwrap(), builder.build(4).unwrap());
    setup.host.transport = transport("roce", &[("ack_every", "1000")]);
    let results = run(setup);
    results.all_hold();
    assert_eq!(results.flows.len(), 12);
    for flow in &results.flows {
        assert_eq!(flow.size_bytes, 10_000);
        assert!(flow.slowdown().is_some_and(|slowdown| slowdown < 1.2), "{flow:?}");
    }
    // Three rounds, each with the transfer and its acknowledgement, and two step delays of 2 us between them.
    let transfer = lone_flow_time(&[(spec.rate, spec.delay); 2], 10, 1062, 0);
    let last = results.flows.iter().map(|flow| flow.acked_ps.unwrap()).max().unwrap();
    let acknowledged = transfer + lone_flow_time(&[(spec.rate, spec.delay); 2], 1, 66, 0);
    let least = acknowledged * 3 + Time::from_us(4);
    assert!(last >= least.as_ps() && last < least.as_ps() + 3_000_000, "{last}, at least {least}");
}

/// A flow that depends on the delivery of a flow of another host starts after the configured notification delay (7
/// us) and its own delay (3 us).
// [M52]
#[test]
fn a_flow_of_another_host_starts_at_its_notification() {
    let spec = link(10, 1000);
    let mut builder = PlanBuilder::new();
    let first = builder.flow(flow(0, 1, 5_000));
    let start = traffic::Start::After { waits_for: 0, delay: Time::from_us(3) };
    let second = builder.flow(traffic::Flow { start, ..flow(2, 3, 5_000) });
    builder.notify(first, traffic::FlowEvent::Delivered, second);
    let mut setup = setup(single_switch(4, spec).unwrap(), builder.build(4).unwrap());
    setup.notification_delay = Some(Time::from_us(7));
    let results = run(setup);
    results.all_hold();
    let of = |src: u32| results.flows.iter().find(|flow| flow.src_host == src).unwrap();
    assert_eq!(of(2).start_ps, of(0).delivered_ps.unwrap() + 10_000_000);
}

/// In BCube(3, 1), hosts whose addresses differ in both digits reach each other through a relay host, by
/// store-and-forward.
#[test]
fn bcube_hosts_relay() {
    let fabric = bcube(3, 1, link(10, 500)).unwrap();
    let mut setup = setup(fabric, plan(9, [flow(0, 4, 20_000)]));
    let datagram = transport("datagram", &[("frame", "1046B")]);
    setup.host.transport = datagram;
    let results = run(setup);
    results.all_hold();
    assert_eq!(results.summary.packet_hops, 20 * 4, "two switches and the host between them");
    let path = [(Rate::from_gbps(10), Time::from_ns(500)); 4];
    assert_eq!(results.flows[0].fct_ps(), Some(lone_flow_time(&path, 20, 1046, 0).as_ps()));
    // All-to-all: each of the 72 transfers is delivered and acknowledged.
    let mut builder = PlanBuilder::new();
    let exchange = Collective::new(Operation::AllToAll, Algorithm::Direct { window: 8 }, 270_000);
    traffic::collective(&exchange, &(0..9).collect::<Vec<_>>(), &Entry::new(1, 0), &mut builder).unwrap();
    let mut setup = crate::bench::setup(bcube(3, 1, link(10, 500)).unwrap(), builder.build(9).unwrap());
    setup.spread = Spread::FlowHash;
    let results = run(setup);
    results.all_hold();
    assert!(results.flows.len() == 72 && results.flows.iter().all(|flow| flow.acked_ps.is_some()));
}
