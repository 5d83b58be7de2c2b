//! Phantom queues: utilisation of a link, and lengths of real queues.

use crate::bench::*;
use fabric::generate::{dumbbell, single_switch};
use model::parameters::*;
use protocols::florax::StopTarget;
use protocols::frame::{Kind, flags};
use protocols::phantom::{PhantomParameters, PhantomQueue};
use stats::trace::TraceEvent;
use std::collections::BTreeMap;
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// Four endless DCTCP flows share a port of 10 Gbps. Returns the utilisation of the port, and mean and maximum of the
/// sampled queue length in bytes, from 20 ms to the end at 60 ms.
fn shared(marking: Marking) -> (f64, f64, u64) {
    let fabric = dumbbell(4, 4, link(10, 5_000), link(10, 5_000)).unwrap();
    let flows = (0..4).map(|src| flow(src, 4 + src, traffic::ENDLESS));
    let mut setup = setup(fabric, plan(8, flows));
    setup.host.transport = transport("dctcp", &[("delayed_ack", "false")]);
    setup.switch.marking = marking;
    setup.duration = Time::from_ms(60);
    setup.warm_up = Time::from_ms(20);
    setup.record.throughput_every = Some(Time::from_ms(1));
    setup.record.queues_every = Some(Time::from_us(10));
    let results = run(setup);
    results.all_hold();
    assert_eq!(results.summary.packets.dropped_total(), 0);
    // One sample per millisecond; the first third is the warm-up.
    let samples = results.goodput_samples.len();
    let bytes: u64 = results.goodput_samples[samples / 3..].iter().map(|sample| sample.1).sum();
    let share = bytes as f64 / 1460.0 * 1538.0 * 8.0 / 40e-3 / 10e9;
    let queues: Vec<u64> =
        results.queues.iter().filter(|row| row.0 > Time::from_ms(20) && row.3 == 3).map(|row| row.4).collect();
    let longest = queues.iter().copied().max().unwrap_or(0);
    // Samples exist only for non-empty queues: of the 4000 samples in 40 ms, missing ones count as 0.
    (share, queues.iter().sum::<u64>() as f64 / 4000.0, longest)
}

fn phantom(drain: f64, threshold_bytes: u64) -> Marking {
    Marking::Phantom(PhantomParameters { drain, threshold_bytes })
}

/// With a marking threshold of several bandwidth-delay products, which absorbs the oscillation of DCTCP, the
/// utilisation equals the drain rate of the phantom queue (0.8, 0.9, 0.95).
#[test]
fn the_link_ends_at_the_share_of_the_drain() {
    for drain in [0.8, 0.9, 0.95] {
        for threshold_bytes in [100_000, 300_000] {
            let (share, ..) = shared(phantom(drain, threshold_bytes));
            assert!((share / drain - 1.0).abs() < 0.01, "{drain} {threshold_bytes}: {share}");
        }
    }
}

/// With a marking threshold of two frames, the mean real queue is below one frame. The oscillation costs up to a
/// seventh of the drain rate; HULL reports a tenth. ECN marking by the real queue requires a queue, and fills the link.
#[test]
fn a_small_threshold_keeps_the_queue_empty() {
    for drain in [0.8, 0.9, 0.95] {
        let (share, mean, longest) = shared(phantom(drain, 3000));
        assert!((drain * 6.0 / 7.0..drain).contains(&share), "{drain}: {share}");
        assert!(mean < 1518.0 && longest < 8 * 1518, "{drain}: {mean} B wait on average, {longest} at most");
    }
    let step = Marking::Ecn(EcnParameters {
        k_min_bytes: 30_000,
        k_max_bytes: Some(30_000),
        p_max: 1.0,
        of_rate: None,
        at: MarkEvent::Enqueue,
    });
    let (share, mean, _) = shared(step);
    assert!(share > 0.99 && mean > 20_000.0, "{share} {mean}");
}

/// A lone RoCE flow at line rate builds no queue, so that ECN marking by the real queue never marks. The phantom queue
/// with drain 0.95 grows by 54.1 B per frame of 1082 B, so that frames above the threshold are marked.
#[test]
fn frames_that_find_the_wire_idle_are_counted() {
    let marks = |marking: Marking| {
        let mut setup = setup(single_switch(2, link(100, 1_000)).unwrap(), plan(2, [flow(1, 0, 1_000_000)]));
        setup.host.transport = transport("roce", &[("ecn", "true")]);
        setup.switch.marking = marking;
        let results = run(setup);
        results.all_hold();
        results.summary.event_counts.marks
    };
    // Of frames 0 to 999, those from n = 535 on are marked, because 1082 + 54.1 n > 30,000.
    assert_eq!(marks(phantom(0.95, 30_000)), 1000 - 535);
    assert_eq!(marks(Marking::None), 0);
}

/// Each mark has an event in the trace, and a frame has equal marks in captures at both ends of a link, even if it is
/// marked without queueing.
#[test]
fn marks_are_traced_and_captured_where_they_are_set() {
    let fair = Marking::read("afd", &[("target", "3KB"), ("action", "mark")]).expect("its kind");
    let (fair, faults) = fair.expect("its keys");
    assert!(faults.is_empty());
    for marking in [phantom(0.9, 3000), fair] {
        let fabric = dumbbell(4, 4, link(10, 5_000), link(10, 5_000)).unwrap();
        let [one, other]: [fabric::NodeId; 2] = fabric.switches().collect::<Vec<_>>().try_into().unwrap();
        let port_to = |from, to| fabric.ports(from).iter().position(|port| port.peer == to).unwrap() as u16;
        let ends = [(one, port_to(one, other), false), (other, port_to(other, one), true)];
        let flows = (0..4).map(|src| flow(src, 4 + src, traffic::ENDLESS));
        let mut setup = setup(fabric, plan(8, flows));
        setup.host.transport = transport("dctcp", &[("delayed_ack", "false")]);
        setup.switch.marking = marking;
        setup.duration = Time::from_ms(3);
        setup.record.trace = Some(TraceParameters::everything());
        setup.record.capture = ends
            .map(|(node, port, inbound)| CaptureParameters {
                node,
                port,
                inbound,
                outbound: !inbound,
                from: Time::ZERO,
                until: Time::MAX,
            })
            .into();
        let results = run(setup);
        let traced = results.trace.iter().filter(|row| matches!(row.event, TraceEvent::Marked { .. })).count();
        assert!(traced > 100, "{traced} marks");
        assert_eq!(traced as u64, results.summary.event_counts.marks, "{marking:?}");
        let data = results.captured.iter().filter(|it| it.frame.kind == Kind::Data);
        let (sent, received): (Vec<&model::CapturedFrame>, Vec<&model::CapturedFrame>) =
            data.partition(|it| it.outbound);
        let sent: BTreeMap<(u32, u64), u8> =
            sent.iter().map(|it| ((it.frame.flow, it.frame.seq), it.frame.flags)).collect();
        assert!(received.iter().filter(|it| it.frame.flags & flags::CE != 0).count() > 100, "{marking:?}");
        for it in received {
            assert_eq!(sent.get(&(it.frame.flow, it.frame.seq)), Some(&it.frame.flags), "{marking:?}");
        }
    }
}

/// Under every kind of flow control, each frame that a port sends is counted once: a phantom queue that is replayed
/// from the capture of the port marks the same frames.
#[test]
fn every_frame_that_leaves_is_counted_once_under_every_flow_control() {
    let credit = CreditParameters {
        classes: 1 << 3,
        credits_bytes: Some(40_000),
        update_bytes: None,
        regrant: Time::from_us(100),
    };
    let packets = Buffer::PerQueue { limit: QueueLimit::Packets(100) };
    let shared = Buffer::Shared { bytes: 1_000_000, egress: Threshold::Static { bytes: 400_000 } };
    let controls = [
        (FlowControl::None, shared),
        (FlowControl::Pfc(pause(20_000)), shared),
        (FlowControl::Credit(credit), shared),
        (FlowControl::Florax(backpressure(StopTarget::Flows)), packets),
        (FlowControl::Destination(backpressure(StopTarget::Destinations)), packets),
        (FlowControl::PauseAtOutput(backpressure(StopTarget::WholePort), FAST), packets),
    ];
    let parameters = PhantomParameters { drain: 0.9, threshold_bytes: 30_000 };
    for (control, buffer) in controls {
        let mut setup =
            setup(single_switch(5, link(10, 1_000)).unwrap(), plan(5, (1..5).map(|src| flow(src, 0, 400_000))));
        let switch = setup.fabric.switches().next().expect("a switch");
        setup.host.transport = transport("dctcp", &[]);
        setup.switch.marking = Marking::Phantom(parameters);
        (setup.switch.flow_control, setup.switch.buffer) = (control, buffer);
        setup.record.capture = vec![CaptureParameters {
            node: switch,
            port: 0,
            inbound: false,
            outbound: true,
            from: Time::ZERO,
            until: Time::MAX,
        }];
        setup.duration = Time::from_ms(20);
        let results = run(setup);
        results.all_hold();
        let mut queue = PhantomQueue::new(&parameters, Rate::from_gbps(10));
        let mut marks = 0;
        for it in results.captured.iter().filter(|it| !it.frame.is_mac_control()) {
            let above = queue.pass(it.at, u64::from(it.frame.size_bytes) + WIRE_OVERHEAD_BYTES);
            let marked = above && it.frame.flags & flags::ECT != 0;
            assert_eq!(it.frame.flags & flags::CE != 0, marked, "{control:?}: {it:?}");
            marks += u64::from(marked);
        }
        assert!(marks > 20, "{control:?}: {marks}");
        assert_eq!(results.summary.event_counts.marks, marks, "{control:?}");
    }
}
