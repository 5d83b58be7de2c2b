//! Numbered sentences of `docs/model.md`, each tested in a network small enough to compute all times by hand. At 10
//! Gbps a byte takes 800 ps. A frame of 1000 B has a wire time of 816 ns; its last bit arrives 806.4 ns plus the delay
//! of the link after the start of transmission.

use crate::bench::*;
use fabric::generate::{TierLinks, leaf_spine, single_switch};
use fabric::routing::Failure;
use fabric::{Fabric, FabricBuilder, LinkSpec, NodeId};
use model::parameters::*;
use stats::trace::{PacketKind, TraceEvent};
use std::collections::BTreeSet;
use traffic::{ArrivalRate, Entry, Flow, FlowEvent, PlanBuilder, Poisson, Process, Sizes, Start, poisson};
use units::random::{Stream, purpose};
use units::{Rate, Time};

/// For a frame of 1000 B at 10 Gbps, in picoseconds: wire time, and time from start to arrival over a link of 1 us.
pub const BUSY: u64 = 816_000;
pub const FLIGHT: u64 = 806_400 + 1_000_000;
/// Like `FLIGHT`, for a MAC control frame.
pub const CONTROL: u64 = 72 * 800 + 1_000_000;

/// One frame of 1000 bytes in class 3.
pub fn once(src: u32, dst: u32, start_ps: u64) -> Flow {
    frames(src, dst, 1, start_ps, Rate::from_gbps(10))
}

/// `count` frames of 1000 B in class 3, sent at `rate`.
pub fn frames(src: u32, dst: u32, count: u64, start_ps: u64, rate: Rate) -> Flow {
    let start = Start::At(Time::from_ps(start_ps));
    Flow { start, ..datagrams(src, dst, Process::Constant { rate }, 1000, 1000 * count) }
}

/// Hosts at one switch, with links of 10 Gbps and 1 us.
pub fn star(hosts: u32, flows: impl IntoIterator<Item = Flow>) -> Setup {
    let mut setup = setup(single_switch(hosts, link(10, 1000)).unwrap(), plan(hosts, flows));
    setup.record.trace = Some(TraceParameters::everything());
    setup
}

/// Returns the data frames that a port sends: start time in picoseconds, and flow.
pub fn starts(results: &Results, node: NodeId, at_port: u16) -> Vec<(u64, u64)> {
    let started =
        results.trace.iter().filter(|row| row.node == node.0).filter_map(|row| match (&row.event, row.packet) {
            (TraceEvent::Started { port, .. }, Some(packet)) if *port == at_port && packet.kind == PacketKind::Data => {
                Some((row.at.as_ps(), packet.flow))
            }
            _ => None,
        });
    started.collect()
}

/// Returns the flow of each frame.
pub fn order(starts: &[(u64, u64)]) -> Vec<u64> {
    starts.iter().map(|start| start.1).collect()
}

pub fn delivered(results: &Results, flow: u64) -> Option<u64> {
    results.flows.iter().find(|record| record.flow == flow).and_then(|record| record.delivered_ps)
}

/// `mix32`, implemented independently from the specification.
fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

fn hash(a: u32, b: u32, flow: u32) -> u32 {
    mix(mix(mix(a.wrapping_add(0x85eb_ca6b)) ^ b).wrapping_add(flow))
}

fn choice(entropy: u32, salt: u32, n: usize) -> usize {
    ((u64::from(mix(entropy ^ salt)) * n as u64) >> 32) as usize
}

fn salt(node: NodeId, seed: u64) -> u32 {
    mix(node.0.wrapping_add(0x9e37_79b9)) ^ mix(seed as u32 ^ mix((seed >> 32) as u32))
}

// [M5]
#[test]
fn a_short_frame_is_64_bytes_long() {
    // A payload of 1 B with 62 B of headers is padded to 64 B: 72 B with the preamble, over one link.
    let results = run(setup(crate::lone_flow::chain(&[link(10, 1000)]), plan(2, [flow(0, 1, 1)])));
    assert_eq!(delivered(&results, 0), Some(72 * 800 + 1_000_000));
}

// [M8] [M9] [M10]
#[test]
fn generated_fabrics_number_hosts_first_and_ports_by_links() {
    let fabric = leaf_spine(2, 2, 2, 1, TierLinks::uniform(link(10, 1000))).unwrap();
    let names: Vec<&str> = fabric.node_ids().map(|node| fabric.name(node)).collect();
    assert_eq!(names, ["H1", "H2", "H3", "H4", "L1", "L2", "S1", "S2"]);
    assert_eq!(fabric.hosts(), [0, 1, 2, 3].map(NodeId));
    let peers = |node: u32| fabric.ports(NodeId(node)).iter().map(|port| port.peer.0).collect::<Vec<_>>();
    assert_eq!([peers(4), peers(5), peers(6), peers(7)], [vec![0, 1, 6, 7], vec![2, 3, 6, 7], vec![4, 5], vec![4, 5]]);
}

/// Frames of three hosts arrive at the switch simultaneously, ten times. Between some of these instants, another frame
/// arrives. The counter of arrival instants determines the port that is first.
// [M21] [M22] [M23]
#[test]
fn simultaneous_arrivals_begin_with_the_port_of_the_counter() {
    assert_eq!([0, 1, 2, 3, 4].map(mix), [0, 0x6889_90c0, 0xd113_2181, 0x53f1_e9dd, 0xd97e_5ed1]);
    let mut flows = Vec::new();
    let (mut instants, mut expected) = (0, Vec::new());
    for round in 0..10 {
        let at = round * 20_000_000;
        let first = flows.len() as u64;
        flows.extend((0..3).map(|src| once(src, 3, at)));
        let start = u64::from(mix(instants) % 3);
        expected.extend((0..3).map(|turn| first + (start + turn) % 3));
        instants += 1;
        if round % 3 == 1 {
            flows.push(once(3, 0, at + 10_000_000));
            instants += 1;
        }
    }
    let setup = star(4, flows);
    let switch = setup.fabric.switches().next().unwrap();
    let results = run(setup);
    assert_eq!(order(&starts(&results, switch, 3)), expected);
}

/// The queue limit is one frame. The queued frame is dequeued when the port becomes idle, before a frame that arrives
/// at the same instant is admitted.
// [M20] [BUF7]
#[test]
fn departures_come_before_arrivals() {
    let dropped = |earlier_ps| {
        let mut setup = star(4, [once(0, 3, 0), once(1, 3, 100_000), once(2, 3, BUSY - earlier_ps)]);
        setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Packets(1) };
        run(setup).dropped("queue full")
    };
    assert_eq!([dropped(0), dropped(1)], [0, 1]);
}

/// The link from the switch to a host fails. Arrivals and transmission starts at the instant of the failure precede it.
/// A frame that started at that instant is lost in flight, even if the link is repaired before the arrival time.
// [M20] [M55] [M60]
#[test]
fn a_failure_comes_after_the_arrivals_and_departures_of_its_instant() {
    let arrives = |down_ps: u64, up_ps: Option<u64>| {
        let mut setup = star(2, [once(0, 1, 0)]);
        let link = setup.fabric.ports(setup.fabric.host_node(1))[0].link;
        let up_at = up_ps.map(Time::from_ps);
        setup.failures = vec![Failure { link, down_at: Time::from_ps(down_ps), up_at }];
        let results = run(setup);
        (delivered(&results, 0) == Some(2 * FLIGHT), results.dropped("link down"), results.dropped("no route"))
    };
    assert_eq!(arrives(2 * FLIGHT, None), (true, 0, 0));
    assert_eq!(arrives(2 * FLIGHT - 1, None), (false, 1, 0));
    assert_eq!(arrives(FLIGHT, Some(FLIGHT + 1)), (false, 1, 0));
    assert_eq!(arrives(FLIGHT - 2, Some(FLIGHT - 1)), (true, 0, 0));
    assert_eq!(arrives(FLIGHT - 1, None), (false, 0, 1));
}

/// A frame queued for a failed link is dropped, which frees its account, so that the resume is sent at the instant of
/// the failure. A pause of 10 quanta (512 ns) is due for renewal after 256 ns: a failure at that instant precedes the
/// renewal.
// [M26] [M56]
#[test]
fn frames_for_a_failed_link_are_lost_and_resume_their_sender() {
    for (quanta, after_ps) in [(40, 300_000), (10, 256_000)] {
        let mut setup = star(3, [once(0, 2, 0), once(1, 2, 0)]);
        setup.switch.flow_control = FlowControl::Pfc(PauseParameters { quanta, ..pause(500) });
        setup.record.pauses = true;
        let link = setup.fabric.ports(setup.fabric.host_node(2))[0].link;
        setup.failures = vec![Failure { link, down_at: Time::from_ps(FLIGHT + after_ps), up_at: None }];
        let results = run(setup);
        let heard: Vec<(u64, bool)> = results.pauses.iter().map(|it| (it.0.as_ps(), it.4)).collect();
        assert_eq!(heard, [(FLIGHT + CONTROL, true), (FLIGHT + after_ps + CONTROL, false)], "{quanta} quanta");
        assert_eq!(results.dropped("link down"), 2);
    }
}

/// A host keeps its queued frames while its link is down, and sends them after the repair.
// [M58]
#[test]
fn a_host_waits_for_its_link() {
    let mut setup = star(2, [once(0, 1, 0), once(0, 1, 3_000_000), frames(0, 1, 3, 4_000_000, Rate::from_gbps(5))]);
    let host = setup.fabric.host_node(0);
    let link = setup.fabric.ports(host)[0].link;
    let up = 9_000_000;
    setup.failures = vec![Failure { link, down_at: Time::from_ps(2_000_000), up_at: Some(Time::from_ps(up)) }];
    let results = run(setup);
    assert_eq!(starts(&results, host, 0), [(0, 0), (up, 1), (up + BUSY, 2), (up + 2 * BUSY, 2), (up + 3 * BUSY, 2)]);
    assert_eq!(results.summary.packets.delivered_whole, 5);
}

/// A pause survives a failure of its link: `H1` stays paused until it receives the resume.
// [M59]
#[test]
fn a_pause_outlives_a_failure() {
    let mut builder = FabricBuilder::new("step down");
    let (h1, h2, s1) = (builder.add_host("H1"), builder.add_host("H2"), builder.add_switch("S1", 1));
    let first = builder.connect(h1, s1, link(100, 500));
    builder.connect(h2, s1, link(10, 500));
    let process = Process::Constant { rate: Rate::from_gbps(100) };
    let flows = plan(2, [datagrams(0, 1, process, 1230, traffic::ENDLESS)]);
    let mut setup = setup(builder.build().unwrap(), flows);
    setup.switch.flow_control = FlowControl::Pfc(pause(10 * 1230));
    setup.record.trace = Some(TraceParameters::everything());
    setup.duration = Time::from_us(20);
    let (down, up) = (Time::from_us(4), Some(Time::from_us(6)));
    setup.failures = vec![Failure { link: first, down_at: down, up_at: up }];
    let starts = starts(&run(setup), h1, 0);
    // As in `xoff_and_xon_come_when_they_must` in lossless.rs: the resume is received at 17,104.8 ns, and the reaction
    // time is 38.4 ns.
    assert_eq!(starts.iter().map(|start| start.0).find(|&at| at > 2_400_000), Some(17_104_800 + 38_400));
}

/// Four paths with different delays between `H0` and `H1`. Their ports are 1 to 4 at `A` and 0 to 3 at `C`.
fn four_ways() -> (Fabric, NodeId, NodeId) {
    let mut builder = FabricBuilder::new("four ways");
    let hosts = ["H0", "H1"].map(|name| builder.add_host(name));
    let (a, c) = (builder.add_switch("A", 1), builder.add_switch("C", 1));
    builder.connect(hosts[0], a, link(10, 1000));
    for path in 0..4 {
        let middle = builder.add_switch(format!("B{path}"), 2);
        builder.connect(a, middle, link(10, 1000 + 100 * path));
        builder.connect(middle, c, link(10, 1000));
    }
    builder.connect(c, hosts[1], link(10, 1000));
    (builder.build().unwrap(), a, c)
}

/// Returns the egress port of each frame of `kind` that `node` sends, in the order of the trace.
fn ports_of(results: &Results, node: NodeId, kind: PacketKind) -> Vec<u16> {
    let rows = results.trace.iter().filter(|row| row.node == node.0 && row.packet.is_some_and(|it| it.kind == kind));
    rows.filter_map(|row| if let TraceEvent::Started { port, .. } = row.event { Some(port) } else { None }).collect()
}

// [M28] [M29] [M30] [M31]
#[test]
fn equal_ports_are_chosen_by_the_hash_of_the_flow() {
    assert_eq!(hash(3, 4, 7), 0x97f8_96c3);
    assert_eq!((salt(NodeId(3), 0), salt(NodeId(3), 1)), (0xf8b_8b36, 0xf8b_8b36 ^ 0x6889_90c0));
    for seed in [0, 1, 7, 5 << 32] {
        let (fabric, a, c) = four_ways();
        let mut setup = setup(fabric, plan(2, (0..40).map(|n| Flow { start: at(n * 10_000_000), ..flow(0, 1, 500) })));
        setup.forwarding.seed_hashes(seed);
        setup.record.trace = Some(TraceParameters::everything());
        let results = run(setup);
        let there: Vec<u16> = (0..40).map(|flow| 1 + choice(hash(0, 1, flow), salt(a, seed), 4) as u16).collect();
        let back: Vec<u16> = (0..40).map(|flow| choice(hash(1, 0, flow), salt(c, seed), 4) as u16).collect();
        assert_eq!(ports_of(&results, a, PacketKind::Data), there);
        let acks: Vec<u16> = ports_of(&results, c, PacketKind::Ack);
        assert_eq!(acks, back);
    }
}

fn at(ps: u64) -> Start {
    Start::At(Time::from_ps(ps))
}

// [M33] [M18]
#[test]
fn spread_by_packet_counts_on_from_the_flows_hash() {
    let (fabric, a, c) = four_ways();
    let mut setup = setup(fabric, plan(2, [flow(0, 1, 30_000)]));
    (setup.spread, setup.seed) = (Spread::PerPacket, 9);
    setup.host.transport = transport("roce", &[("rate", "100Mbps"), ("window", "1000B")]);
    setup.record.trace = Some(TraceParameters::everything());
    setup.duration = Time::from_ms(10);
    let results = run(setup);
    let there = |n: u32| 1 + choice(hash(0, 1, 0).wrapping_add(n.wrapping_mul(0x9e37_79b9)), salt(a, 0), 4) as u16;
    assert_eq!(ports_of(&results, a, PacketKind::Data), (0..30).map(there).collect::<Vec<_>>());
    let mut host = Stream::new(9, 1, purpose("host"));
    let back: Vec<u16> = (0..30)
        .map(|_| choice(hash(1, 0, 0).wrapping_add((host.next_u64() >> 32) as u32), salt(c, 0), 4) as u16)
        .collect();
    assert_eq!(ports_of(&results, c, PacketKind::Ack), back);
}

/// With spread by entropy, a sender uses each of its eight entropy values once per round, in an order that it draws for
/// each round.
// [M65] [M18]
#[test]
fn spread_by_entropy_cycles_through_the_values() {
    let (fabric, a, _) = four_ways();
    let mut setup = setup(fabric, plan(2, [frames(0, 1, 40, 0, Rate::from_gbps(1))]));
    (setup.spread, setup.seed) = (Spread::PerEntropy { values: 8 }, 4);
    setup.record.trace = Some(TraceParameters::everything());
    let results = run(setup);
    let (mut host, mut order) = (Stream::new(4, 0, purpose("host")), 0);
    let mut expected = Vec::new();
    for frame in 0..40u32 {
        if frame % 8 == 0 {
            order = host.below(8) as u32;
        }
        let entropy = hash(0, 1, 0).wrapping_add(((frame % 8) ^ order).wrapping_mul(0x9e37_79b9));
        expected.push(1 + choice(entropy, salt(a, 0), 4) as u16);
    }
    assert_eq!(ports_of(&results, a, PacketKind::Data), expected);
}

/// With spread by path, a sender uses each of the four paths once per round, in random order.
// [M64] [M18]
#[test]
fn spread_by_path_cycles_through_the_paths() {
    let (fabric, a, _) = four_ways();
    let mut setup = setup(fabric, plan(2, [frames(0, 1, 40, 0, Rate::from_gbps(1))]));
    (setup.spread, setup.seed) = (Spread::PerPath, 4);
    setup.record.trace = Some(TraceParameters::everything());
    let results = run(setup);
    let port = |entropy| 1 + choice(entropy, salt(a, 0), 4) as u16;
    let mut list: Vec<u32> = Vec::new();
    for entropy in (0u32..).map(|t| mix(t.wrapping_mul(0x9e37_79b9))) {
        if list.len() == 4 {
            break;
        }
        if list.iter().all(|&other| port(other) != port(entropy)) {
            list.push(entropy);
        }
    }
    let mut host = Stream::new(4, 0, purpose("host"));
    let mut expected = Vec::new();
    for frame in 0..40 {
        let i = frame % 4;
        list.swap(i, i + host.below(4 - i as u64) as usize);
        expected.push(port(list[i]));
    }
    assert_eq!(ports_of(&results, a, PacketKind::Data), expected);
}

/// The ECMP hash of a flow with a random arrival uses the flow's number at its host, from 2^31 on.
// [M12]
#[test]
fn drawn_flows_are_numbered_from_two_to_the_31() {
    let (fabric, a, _) = four_ways();
    let mut builder = PlanBuilder::new();
    let drawn = Poisson {
        intensity: ArrivalRate::MeanGap(Time::from_us(40)),
        sizes: Sizes::Fixed(900),
        destinations: None,
        stop: None,
        flows_per_host: Some(20),
    };
    poisson(&drawn, &[0, 1], &Entry::new(1, 0), &mut builder).unwrap();
    (0..3).for_each(|n| _ = builder.flow(once(0, 1, 5_000_000_000 + n * 10_000_000)));
    let mut setup = setup(fabric, builder.build(2).unwrap());
    setup.record.trace = Some(TraceParameters::everything());
    setup.duration = Time::from_ms(10);
    let results = run(setup);
    let port = |flow| 1 + choice(hash(0, 1, flow), salt(a, 0), 4) as u16;
    let expected = (0..20).map(|k| port((1 << 31) + k)).chain((0..3).map(port));
    let data = ports_of(&results, a, PacketKind::Data);
    // Port 0 of `A` leads to `H0` and carries the frames of `H1`, which are omitted.
    assert_eq!(data.into_iter().filter(|&port| port > 0).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    // In the results, these flows are numbered after the planned flows, alternating between the hosts.
    let numbers: BTreeSet<u64> = results.flows.iter().filter(|flow| flow.src_host == 0).map(|flow| flow.flow).collect();
    assert_eq!(numbers, (0..3).chain((0..20).map(|k| 3 + 2 * k)).collect());
}

/// Two hosts notify a third simultaneously, seven times. The dependent flows start in the order of the notification
/// ports, which the counter of instants rotates.
// [M24] [M52] [M22]
#[test]
fn notifications_arrive_by_ports_of_their_own() {
    let mut builder = PlanBuilder::new();
    let mut expected = Vec::new();
    for round in 0..7 {
        let after = |dst| Flow { start: Start::After { waits_for: 0, delay: Time::ZERO }, ..once(2, dst, 0) };
        let results: Vec<u32> =
            [0, 1].map(|host| builder.flow(once(3 + host, host, u64::from(round) * 20_000_000))).into();
        // The flow that the notification of host 1 starts has the lower flow number.
        let by_1 = builder.flow(after(1));
        let by_0 = builder.flow(after(0));
        builder.notify(results[0], FlowEvent::Delivered, by_0);
        builder.notify(results[1], FlowEvent::Delivered, by_1);
        let turned = mix(round) % 2 == 1;
        expected.extend(if turned { [by_1, by_0] } else { [by_0, by_1] }.map(u64::from));
    }
    let mut setup = star(5, []);
    setup.traffic = builder.build(5).unwrap();
    let host = setup.fabric.host_node(2);
    assert_eq!(order(&starts(&run(setup), host, 0)), expected);
}

/// The links of two of the four paths have failed. Flows whose hashed path is up keep it. Other flows select among the
/// paths that are up.
// [M57]
#[test]
fn a_frame_whose_port_has_failed_chooses_among_the_live_ones() {
    let (fabric, a, _) = four_ways();
    let dead = [2, 3].map(|port: u16| fabric.ports(a)[usize::from(port)].link);
    let mut setup = setup(fabric, plan(2, (0..40).map(|n| once(0, 1, n * 10_000_000))));
    setup.failures = dead.map(|link| Failure { link, down_at: Time::from_ns(1), up_at: None }).into();
    setup.record.trace = Some(TraceParameters::everything());
    let results = run(setup);
    let port = |flow| {
        let entropy = hash(0, 1, flow);
        let regular = 1 + choice(entropy, salt(a, 0), 4) as u16;
        if [2, 3].contains(&regular) { [1, 4][choice(entropy, salt(a, 0), 2)] } else { regular }
    };
    assert_eq!(ports_of(&results, a, PacketKind::Data), (0..40).map(port).collect::<Vec<_>>());
}

/// A lossy link loses exactly the frames for which the random stream of the sending host decides so.
// [M27] [M18]
#[test]
fn a_link_loses_the_frames_that_the_random_stream_selects() {
    for (loss, bit_error_rate) in [(0.3, 0.0), (0.0, 4e-5), (0.2, 2e-5)] {
        let spec = LinkSpec { loss, bit_error_rate, ..link(10, 1000) };
        let mut setup = setup(crate::lone_flow::chain(&[spec]), plan(2, (0..100).map(|n| once(0, 1, n * 5_000_000))));
        setup.seed = 3;
        let results = run(setup);
        let mut host = Stream::new(3, 1, purpose("host"));
        let damaged = -libm::expm1(8.0 * libm::log1p(-bit_error_rate) * 1000.0);
        let arrives = |_: &u64| {
            let lost = loss > 0.0 && host.unit() < loss;
            !(lost || bit_error_rate > 0.0 && host.unit() < damaged)
        };
        let expected: Vec<u64> = (0..100).filter(arrives).collect();
        let came: Vec<u64> = (0..100).filter(|&flow| delivered(&results, flow).is_some()).collect();
        assert_eq!(came, expected);
    }
}

/// The inter-arrival times of a Poisson process are drawn from the random stream of its flow.
// [M19]
#[test]
fn the_gaps_of_a_process_come_from_the_stream_of_its_flow() {
    let rate = Rate::from_mbps(500);
    let process = Process::Poisson { rate };
    let mut setup = star(2, [once(1, 0, 0), datagrams(0, 1, process, 1000, 20_000)]);
    setup.seed = 11;
    let host = setup.fabric.host_node(0);
    let results = run(setup);
    let mut random = Stream::new(11, 1, purpose("datagram departures"));
    let mean = rate.serialise(1020).as_ps();
    let (mut due, mut free) = (0, 0);
    let mut expected = Vec::new();
    for _ in 0..20 {
        let unit = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let fixed = libm::round(-libm::log(1.0 - unit) * 4_294_967_296.0) as u128;
        due += ((u128::from(mean) * fixed) >> 32) as u64;
        let start = due.max(free);
        free = start + BUSY;
        expected.push((start, 1));
    }
    assert_eq!(starts(&results, host, 0), expected);
}

/// Two backlogged flows alternate. A new flow is appended to the round-robin ring when it starts. A flow that waits
/// until a time is appended when the port is idle for the first time after it; flows are ordered by this time, not by
/// flow number.
// [M25] [M42] [M43] [M44] [M45] [M46]
#[test]
fn flows_of_a_class_are_served_round_robin() {
    let slow = Rate::from_bps(1020 * 8 * 100_000).unwrap(); // a frame each 10 us
    let flows = [
        frames(0, 1, 40, 0, Rate::from_gbps(10)),
        frames(0, 1, 40, 0, Rate::from_gbps(10)),
        frames(0, 1, 3, 100_000, slow),
        frames(0, 1, 3, 50_000, slow),
    ];
    let setup = star(2, flows);
    let host = setup.fabric.host_node(0);
    let results = run(setup);
    let starts = starts(&results, host, 0);
    assert!(starts.windows(2).all(|pair| pair[1].0 == pair[0].0 + BUSY), "the wire is never idle");
    // Flow 0 sends when it starts, and joins the ring before flow 1.
    assert_eq!(order(&starts)[..8], [0, 0, 1, 3, 2, 0, 1, 0]);
    // The flows are due again at 10.05 and 10.1 us, while frame 12 is in transmission (from 9.792 us): both are
    // appended to the ring behind two other flows.
    assert_eq!(starts[12].0, 9_792_000);
    let ring = &order(&starts)[12..18];
    assert_eq!(ring[3..5], [3, 2], "{ring:?}");
    assert_eq!(ring[1] + ring[2], 1, "{ring:?}");
}

/// Of several flows that are due at the same time, the flow in the lowest slot of the flow table is first. A new flow
/// uses the slot that was freed last.
// [M46] [M53]
#[test]
fn flows_that_are_due_at_once_are_served_by_their_places() {
    let slow = Rate::from_bps(1020 * 8 * 100_000).unwrap();
    let flows = [once(0, 1, 0), once(0, 1, 0), frames(0, 1, 2, 10_000_000, slow), frames(0, 1, 2, 10_000_000, slow)];
    let setup = star(2, flows);
    let host = setup.fabric.host_node(0);
    // Flow 0 ends at 816 ns and flow 1 at 1632 ns, so that flow 2 uses the slot of flow 1. Both remaining flows are due
    // again at 20 us.
    let results = run(setup);
    assert_eq!(order(&starts(&results, host, 0)), [0, 1, 2, 3, 3, 2]);
}

/// A flow with a window of one packet leaves the ring when it has sent the packet, and is appended when the
/// acknowledgement arrives.
// [M47] [ROCE4]
#[test]
fn a_flow_that_waits_for_an_acknowledgement_joins_at_the_end() {
    let flows = [
        flow(0, 1, 3_000),
        Flow { start: at(1), ..frames(0, 1, 60, 0, Rate::from_gbps(10)) },
        Flow { start: at(1), ..frames(0, 1, 60, 0, Rate::from_gbps(10)) },
    ];
    let mut setup = star(2, flows);
    setup.host.transport = transport("roce", &[("window", "938B"), ("payload", "938B"), ("ack", "64B")]);
    let host = setup.fabric.host_node(0);
    let results = run(setup);
    let starts = starts(&results, host, 0);
    // Over two links, the packet takes 2 x 1.8064 us and the acknowledgement 2 x (57.6 ns + 1 us). It arrives at 5.728
    // us, while the eighth frame is in transmission (from 5.712 us) and two flows are in the ring.
    let own: Vec<usize> = (0..starts.len()).filter(|&n| starts[n].1 == 0).collect();
    assert_eq!(own[..2], [0, 7 + 3], "{starts:?}");
}

/// A host sends an acknowledgement before queued data of the same class, after the frame in transmission.
// [M41] [M49] [ROCE13]
#[test]
fn replies_go_ahead_of_data() {
    let mut setup = star(2, [flow(0, 1, 1_000), frames(1, 0, 40, 0, Rate::from_gbps(10))]);
    setup.host.reply_class = None;
    let host = setup.fabric.host_node(1);
    let results = run(setup);
    let ack = results.trace.iter().find(|row| {
        row.node == host.0
            && matches!(row.event, TraceEvent::Started { .. })
            && row.packet.is_some_and(|packet| packet.kind == PacketKind::Ack)
    });
    // 1062 B over two links arrive after 2 x (856 ns + 1 us) = 3.712 us. The frame that is then in transmission ends
    // at 4.08 us.
    let arrives = 2 * (1070 * 800 + 1_000_000);
    assert_eq!(ack.map(|row| row.at.as_ps()), Some(u64::div_ceil(arrives, BUSY) * BUSY));
    let back = 86 * 800;
    let next = starts(&results, host, 0).into_iter().find(|start| start.0 > arrives).unwrap();
    assert_eq!(next.0, u64::div_ceil(arrives, BUSY) * BUSY + back);
}

/// A receiver removes the state of a complete flow when another flow completes at least twice the timeout plus 10 ms
/// later. After that, a retransmission of the data counts as new data.
// [M54]
#[test]
fn a_complete_flow_is_remembered_for_a_time() {
    let goodput = |with_another: bool| {
        let mut flows = vec![flow(0, 1, 1_000)];
        flows.extend(with_another.then(|| Flow { start: at(11_000_000_000), ..flow(2, 1, 1_000) }));
        let mut setup = star(3, flows);
        setup.host.transport = transport("roce", &[("timeout", "100us")]);
        let link = setup.fabric.ports(setup.fabric.host_node(0))[0].link;
        // The link is down while the acknowledgement is in flight, and up again after 12 ms.
        let (down_at, up_at) = (Time::from_us(5), Some(Time::from_ms(12)));
        setup.failures = vec![Failure { link, down_at, up_at }];
        setup.duration = Time::from_ms(20);
        run(setup).summary.goodput.payload_bytes
    };
    assert_eq!((goodput(false), goodput(true)), (1_000, 3_000));
}

// [M61]
#[test]
fn nothing_happens_at_the_end_or_later() {
    let arrives = |duration_ps| {
        let mut setup = star(2, [once(0, 1, 0)]);
        setup.duration = Time::from_ps(duration_ps);
        run(setup).summary.packets.delivered_whole
    };
    assert_eq!([arrives(2 * FLIGHT), arrives(2 * FLIGHT + 1)], [0, 1]);
}

/// A queue sample excludes a frame that is enqueued at the instant of the sample, and includes a frame that is dequeued
/// at that instant.
// [M62] [M39]
#[test]
fn a_sample_shows_the_state_before_its_instant() {
    let sampled = |every_ps| {
        let mut setup = star(3, [once(0, 2, 0), once(1, 2, 100_000)]);
        setup.record.queues_every = Some(Time::from_ps(every_ps));
        setup.duration = Time::from_ps(every_ps + 1);
        let results = run(setup);
        results.queues.iter().filter(|sample| sample.0.as_ps() == every_ps).map(|sample| sample.4).sum::<u64>()
    };
    // The second frame is enqueued 100 ns after the arrival of the first. It is dequeued 816 ns after the start of the
    // first.
    let (joins, leaves) = (FLIGHT + 100_000, FLIGHT + BUSY);
    assert_eq!([joins, joins + 1, leaves, leaves + 1].map(sampled), [0, 1000, 1000, 0]);
}
