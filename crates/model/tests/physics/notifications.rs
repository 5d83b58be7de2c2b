//! Congestion notifications between switches and hosts. QCN: congestion points at switches, reaction points at hosts,
//! and their messages as bytes. ECCP: the bandwidth of its probes, and the bandwidth that it leaves unused. HetFlow:
//! clock errors.

use crate::bench::*;
use fabric::NodeId;
use fabric::generate::dumbbell;
use model::FrameBytes;
use model::parameters::*;
use protocols::frame::Kind;
use units::Time;
use wire::{Content, Packet};

const SET_POINT_BYTES: u64 = 200_000;
/// Number of hosts on each side of the dumbbell. Its switches have the next node numbers.
const SENDERS: u32 = 4;

/// Four endless flows through a bottleneck of 10 Gbps, whose queue is a QCN congestion point.
fn four_flows() -> Setup {
    let fabric = dumbbell(SENDERS, SENDERS, link(10, 2_000), link(10, 2_000)).unwrap();
    let flows = (0..SENDERS).map(|host| flow(host, SENDERS + host, traffic::ENDLESS));
    let mut setup = setup(fabric, plan(2 * SENDERS, flows));
    setup.switch.buffer = Buffer::Shared { bytes: 1_000_000, egress: Threshold::Static { bytes: 1_000_000 } };
    setup.switch.marking = Marking::CongestionPoint(congestion_points(SET_POINT_BYTES, 150_000));
    setup.host.transport = transport("qcn", &[("initial_rate", "2Gbps")]);
    setup.record.queues_every = Some(Time::from_us(100));
    setup.duration = Time::from_ms(200);
    setup
}

fn bottleneck(setup: &Setup) -> (NodeId, u16) {
    let switch = setup.fabric.switches().next().expect("a switch");
    (switch, SENDERS as u16)
}

#[test]
fn qcn_holds_the_queue_near_its_set_point_and_loses_nothing() {
    let setup = four_flows();
    let (switch, port) = bottleneck(&setup);
    let results = run(setup);
    results.all_hold();
    assert_eq!(results.summary.packets.dropped_total(), 0);
    let late =
        results.queues.iter().filter(|(at, node, of, ..)| *at > Time::from_ms(100) && (*node, *of) == (switch.0, port));
    let bytes: Vec<f64> = late.map(|row| row.4 as f64).collect();
    let mean = bytes.iter().sum::<f64>() / bytes.len() as f64;
    assert!((mean / SET_POINT_BYTES as f64 - 1.0).abs() < 0.25, "{mean} of {} samples", bytes.len());
}

/// Negative control: without congestion points, senders receive no notifications and the queue overflows.
#[test]
fn without_congestion_points_the_queue_overflows() {
    let mut setup = four_flows();
    setup.switch.marking = Marking::None;
    setup.host.transport = transport("qcn", &[]);
    setup.duration = Time::from_ms(10);
    assert!(run(setup).summary.packets.dropped_total() > 0);
}

/// Each notification that reaches a host has the bytes that 802.1Q specifies: the identifier of the bottleneck port and
/// of class 3, and the feedback of the congestion point, from 1 to 63. More than 20 notifications are captured.
#[test]
fn messages_are_frames_of_802_1q() {
    let mut setup = four_flows();
    let (switch, port) = bottleneck(&setup);
    let host = setup.fabric.hosts()[0];
    setup.record.capture = vec![CaptureParameters {
        node: host,
        port: 0,
        inbound: true,
        outbound: false,
        from: Time::ZERO,
        until: Time::MAX,
    }];
    let bytes = FrameBytes::new(&setup);
    let results = run(setup);
    let mut messages = 0;
    for captured in results.captured.iter().filter(|captured| captured.frame.kind == Kind::Cnm) {
        let mut frame = Vec::new();
        assert_eq!(bytes.emit(captured, &mut frame), Ok(64));
        let packet = Packet::parse(&frame).expect("a frame");
        let Content::CongestionNotification { message, .. } = packet.content else { panic!("{packet}") };
        let [_, a, b, c] = switch.0.to_be_bytes();
        let [d, e] = port.to_be_bytes();
        assert_eq!(packet.source.octets(), [6, a, b, c, d, e]);
        assert_eq!(message.congestion_point.to_be_bytes(), [6, a, b, c, d, e, 0, 3]);
        assert_eq!(message.feedback, captured.frame.congestion_message().feedback);
        assert!((1..=63).contains(&message.feedback));
        assert_eq!((message.priority.get(), packet.vlan.expect("a tag").priority.get()), (3, 6));
        // The notification to host 0 concerns its flow to host 4.
        assert_eq!((packet.destination.octets()[5], message.destination.octets()[5]), (0, 4));
        // Offset and delta may have either sign, but the feedback offset + 2 x delta is positive under congestion.
        assert!(i32::from(message.offset) + 2 * i32::from(message.delta) > 0, "{message}");
        messages += 1;
    }
    assert!(messages > 20, "{messages}");
}

#[test]
fn any_number_of_threads_sends_the_same_messages() {
    let of = |threads: usize| {
        let mut setup = four_flows();
        (setup.threads, setup.duration) = (threads, Time::from_ms(20));
        let results = run(setup);
        (results.queues, results.summary.packets)
    };
    let one = of(1);
    assert!(one == of(2) && one == of(3));
}

/// Flows of other transports in this class are notified, too, and ignore the notifications.
#[test]
fn notifications_have_no_effect_on_other_transports() {
    for kind in ["roce", "tcp", "datagram"] {
        let mut setup = four_flows();
        setup.host.transport = transport(kind, &[]);
        setup.duration = Time::from_ms(5);
        let results = run(setup);
        assert!(results.summary.packets.closed, "{kind}");
        assert!(results.summary.packets.consumed > 0, "{kind}");
    }
}

fn four_flows_of(kind: &str, settings: &[(&str, &str)]) -> Setup {
    let mut setup = four_flows();
    setup.switch.marking = Marking::None;
    setup.host.transport = transport(kind, settings);
    setup
}

/// Returns the share of the bottleneck capacity that frames of these kinds use, including preamble and gap.
fn share_of(results: &Results, span: Time, kinds: &[Kind]) -> f64 {
    let of_kind = results.captured.iter().filter(|captured| kinds.contains(&captured.frame.kind));
    let bytes: u64 = of_kind.map(|captured| u64::from(captured.frame.size_bytes) + units::WIRE_OVERHEAD_BYTES).sum();
    bytes as f64 * 8.0 / 10e9 / span.as_secs_f64()
}

/// ECCP leaves part of the bottleneck unused; its probes use less than 5 % of the capacity, with either estimate of the
/// available bandwidth.
#[test]
fn eccp_leaves_room_and_its_probes_cost_less_than_a_twentieth() {
    for estimate in ["trains", "measured"] {
        let mut setup = four_flows_of("eccp", &[("initial_rate", "2Gbps"), ("estimate", estimate)]);
        let (node, port) = bottleneck(&setup);
        let from = Time::from_ms(50);
        setup.record.capture =
            vec![CaptureParameters { node, port, inbound: false, outbound: true, from, until: Time::MAX }];
        let span = setup.duration - from;
        let results = run(setup);
        results.all_hold();
        assert_eq!(results.summary.packets.dropped_total(), 0, "{estimate}");
        let (data, probes) = (share_of(&results, span, &[Kind::Data]), share_of(&results, span, &[Kind::Probe]));
        assert!((0.8..0.98).contains(&data), "{estimate}: {data}");
        assert!((0.01..0.05).contains(&probes), "{estimate}: {probes}");
    }
}

/// ECCP with measured loads uses telemetry records, which threads share: results do not depend on the number of
/// threads.
#[test]
fn any_number_of_threads_measures_the_same_loads() {
    let of = |threads: usize| {
        let mut setup = four_flows_of("eccp", &[("estimate", "measured"), ("initial_rate", "2Gbps")]);
        (setup.threads, setup.duration) = (threads, Time::from_ms(30));
        let results = run(setup);
        (results.queues, results.summary.packets)
    };
    let one = of(1);
    assert!(one == of(2) && one == of(3));
}

/// For 1 s, HetFlow uses more than 97 % of the link and keeps the queue below 20 kB, although each clock has an
/// offset of up to 1 s and a drift of up to 10 us per second. The goodput differs by less than 1 % from that with
/// exact clocks.
#[test]
fn hetflow_needs_no_clock_to_be_right() {
    let of = |clock: Option<NodeClock>| {
        let mut setup = four_flows_of("hetflow", &[("initial_rate", "2Gbps")]);
        setup.host.clocks.drawn = clock;
        setup.duration = Time::from_s(1);
        setup.record.throughput_every = Some(Time::from_ms(1));
        let (node, port) = bottleneck(&setup);
        let results = run(setup);
        results.all_hold();
        assert_eq!(results.summary.packets.dropped_total(), 0);
        let late = results.queues.iter().filter(|row| row.0 > Time::from_ms(50) && (row.1, row.2) == (node.0, port));
        let longest = late.map(|row| row.4).max().unwrap_or(0);
        assert!(longest < 20_000, "{longest}");
        results.goodput.iter().sum::<u64>() as f64 * 8.0 / (10e9 * 1000.0 / 1082.0)
    };
    let exact = of(None);
    let drifting = of(Some(NodeClock { offset: Time::from_s(1), drift_ppb: 10_000 }));
    assert!(exact > 0.97 && drifting > 0.97, "{exact} {drifting}");
    assert!((exact / drifting - 1.0).abs() < 0.01, "{exact} {drifting}");
}
