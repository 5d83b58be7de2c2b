//! Credit-based shaping of classes, compared with closed forms and checked by traces.

use crate::bench::{Results, datagrams, link, pause, plan, run, setup};
use fabric::generate::single_switch;
use fabric::{Fabric, NodeId};
use model::parameters::*;
use protocols::gates::GateList;
use protocols::preemption::{Fragments, PreemptionParameters};
use protocols::shaping::IdleSlopes;
use stats::trace::TraceEvent;
use std::sync::Arc;
use traffic::{Flow, Process, Start};
use units::random::Stream;
use units::{Rate, Time};

const fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// Returns the port of the switch towards a host of a star at 100 Gbps.
fn port_to(fabric: &Fabric, host: u32) -> (NodeId, u16) {
    let (node, peer) = (fabric.switches().next().unwrap(), fabric.host_node(host));
    (node, fabric.ports(node).iter().position(|port| port.peer == peer).unwrap() as u16)
}

fn slopes(shaped: &[(u8, Rate)]) -> IdleSlopes {
    let mut slopes = IdleSlopes::default();
    shaped.iter().for_each(|&(class, rate)| slopes.by_class[usize::from(class)] = Some(rate));
    slopes
}

/// A burst of frames of 105 B, each with a serialisation delay of 10 ns at 100 Gbps.
fn burst(src: u32, dst: u32, class: u8, frames: u64, start: Time) -> Flow {
    let process = Process::Constant { rate: Rate::from_gbps(100) };
    Flow { class, start: Start::At(start), ..datagrams(src, dst, process, 105, 105 * frames) }
}

/// Returns start time and wire time of each frame of a class at a port.
fn starts(results: &Results, (node, at_port): (NodeId, u16), class: u8) -> Vec<(Time, Time)> {
    let started = results.trace.iter().filter(|row| row.node == node.0).filter_map(|row| match &row.event {
        TraceEvent::Started { port, .. } if *port == at_port => {
            let packet = row.packet.unwrap();
            let busy = Rate::from_gbps(100).serialise(u64::from(packet.size_bytes) + 20);
            (packet.class == class).then_some((row.at, busy))
        }
        _ => None,
    });
    started.collect()
}

/// Returns the start time of each frame relative to the first, in nanoseconds.
fn after_first(results: &Results, port: (NodeId, u16), class: u8) -> Vec<u64> {
    let starts = starts(results, port, class);
    starts.iter().map(|start| (start.0 - starts[0].0).as_ps() / 1000).collect()
}

fn traced(fabric: Fabric, flows: Vec<Flow>, shaped: &[(u8, Rate)], port: (NodeId, u16)) -> Setup {
    let hosts = fabric.hosts().len() as u32;
    let mut setup = setup(fabric, plan(hosts, flows));
    setup.timing.shaping = [(port, slopes(shaped))].into();
    setup.record.trace = Some(TraceParameters::everything());
    setup
}

/// A burst is sent at the idle slope of its class, 25 of 100 Gbps: one frame of 10 ns every 40 ns, at a switch port
/// and at a host port.
#[test]
fn a_burst_leaves_at_the_idle_slope() {
    let fabric = single_switch(2, link(100, 50)).unwrap();
    let at_host = (fabric.host_node(0), 0);
    for port in [port_to(&fabric, 1), at_host] {
        let setup = traced(fabric.clone(), vec![burst(0, 1, 6, 5, ns(0))], &[(6, Rate::from_gbps(25))], port);
        let results = run(setup);
        results.all_hold();
        assert_eq!(after_first(&results, port, 6), [0, 40, 80, 120, 160], "{port:?}");
    }
}

/// A class that waits for a frame of another class accumulates credit, and then sends at line rate until the credit is
/// used up.
#[test]
fn a_class_that_waited_for_another_catches_up() {
    let fabric = single_switch(3, link(100, 50)).unwrap();
    let port = port_to(&fabric, 2);
    // 1480 B have a wire time of 120 ns. The burst arrives at the switch 1.04 ns after the long frame.
    let long = Flow { class: 0, ..datagrams(1, 2, Process::Constant { rate: Rate::from_gbps(1) }, 1480, 1480) };
    let comes = ns(120) - ns(9);
    let results = run(traced(fabric, vec![burst(0, 2, 6, 8, comes), long], &[(6, Rate::from_gbps(25))], port));
    results.all_hold();
    let starts: Vec<Time> = starts(&results, port, 6).iter().map(|start| start.0).collect();
    let came = comes + ns(50) + Rate::from_gbps(100).serialise(113);
    let long_ends = ns(50) + Rate::from_gbps(100).serialise(1488) + ns(120);
    assert!(came < long_ends);
    for (frame, start) in (0..).zip(&starts) {
        let at_line_rate = long_ends + ns(10 * frame);
        assert_eq!(*start, at_line_rate.max(came + ns(40 * frame)), "{frame}");
    }
    assert_eq!(starts.len(), 8);
    assert_eq!(starts[1] - starts[0], ns(10));
    assert_eq!(starts[7] - starts[6], ns(40));
}

/// The lower class gets the bandwidth that the shaped class leaves: 75 Gbps of 100 Gbps.
#[test]
fn other_classes_get_the_bandwidth_left_by_a_shaped_class() {
    let fabric = single_switch(3, link(100, 50)).unwrap();
    let port = port_to(&fabric, 2);
    let flows = vec![burst(0, 2, 6, 400, ns(0)), burst(1, 2, 0, 400, ns(0))];
    let results = run(traced(fabric, flows, &[(6, Rate::from_gbps(25))], port));
    results.all_hold();
    let half = |class| starts(&results, port, class).iter().filter(|start| start.0 < ns(2_100)).count();
    // From 59.04 ns to 2100 ns, the shaped class starts one frame per 40 ns, plus the first. The port is never idle.
    assert_eq!((half(6), half(0)), (52, 153));
}

/// The credit of a class is constant while its gate is closed.
#[test]
fn a_shut_gate_earns_no_credit() {
    let fabric = single_switch(2, link(100, 50)).unwrap();
    let port = port_to(&fabric, 1);
    let mut setup = traced(fabric, vec![burst(0, 1, 6, 6, ns(0))], &[(6, Rate::from_gbps(25))], port);
    // The gate is open for 100 ns per microsecond: three frames start, and 20 of the 40 ns until the start of the
    // fourth have passed when the gate closes. The remaining 20 ns count from the next gate opening.
    let list = GateList::new(&[(0, ns(900)), (0xff, ns(100))]).unwrap();
    setup.timing.gates = [(port, Arc::new(list))].into();
    let results = run(setup);
    results.all_hold();
    assert_eq!(after_first(&results, port, 6), [0, 40, 80, 1020, 1060, 2000]);
}

/// The bytes of the fragments of a preempted frame consume credit. The remainder of the frame may be sent with negative
/// credit.
#[test]
fn an_interrupted_frame_goes_on_without_credit() {
    let fabric = single_switch(3, link(100, 50)).unwrap();
    let port = port_to(&fabric, 2);
    let shaped = Flow { class: 5, ..datagrams(1, 2, Process::Constant { rate: Rate::from_gbps(100) }, 1480, 2960) };
    let came = ns(50) + Rate::from_gbps(100).serialise(1488);
    let express = burst(0, 2, 7, 1, came);
    let mut setup = traced(fabric, vec![express, shaped], &[(5, Rate::from_gbps(50))], port);
    setup.timing.preemption = Some(PreemptionParameters { express: 0x80, fragments: Fragments::Ideal });
    let results = run(setup);
    results.all_hold();
    // Without preemption, the second frame would start after 240 ns. With preemption, the first frame ends 10 ns later,
    // but accumulates credit at the idle slope during the interruption, so that the second frame starts at the same
    // time.
    assert_eq!(after_first(&results, port, 5), [0, 240]);
}

/// Random traffic with one shaped class; in some runs with gates, preemption and PFC. From the trace only: between any
/// two starts, the class sends at most idle slope x time, plus the credit that it accumulates while it waits for one
/// frame. On one thread and on two.
#[test]
fn a_shaped_class_never_exceeds_its_credit() {
    let mut bursts = 0;
    for seed in 0..30 {
        let mut random = Stream::new(seed, 3, 0);
        let hosts = 3 + random.below(3) as u32;
        let fabric = single_switch(hosts, link(100, 50)).unwrap();
        let port = port_to(&fabric, 0);
        let mut flows = Vec::new();
        for src in 1..hosts {
            let process = Process::Poisson { rate: Rate::from_gbps(5 + random.below(70)) };
            let class = if src == 1 { 7 } else { random.below(7) as u8 };
            flows.push(Flow { class, ..datagrams(src, 0, process, 64 + random.below(1454) as u16, 60_000) });
        }
        let slope = Rate::from_gbps(1 + random.below(99));
        let lossless = random.below(3) == 0;
        let (timed, cuts) = (random.below(3) == 0, random.below(3));
        let run_on = |threads: usize| {
            let mut setup = traced(fabric.clone(), flows.clone(), &[(7, slope)], port);
            setup.threads = threads;
            if lossless {
                setup.switch.flow_control = FlowControl::Pfc(PauseParameters { classes: 0xff, ..pause(20_000) });
            }
            if timed {
                let list = GateList::new(&[(0xf0, ns(2_500)), (0x0f, ns(3_100)), (0xff, ns(1_700))]).unwrap();
                setup.timing.gates = [(port, Arc::new(list))].into();
            }
            if cuts > 0 {
                let fragments = if cuts == 1 { Fragments::Standard } else { Fragments::Ideal };
                setup.timing.preemption = Some(PreemptionParameters { express: 0x80, fragments });
            }
            run(setup)
        };
        let results = run_on(1);
        assert!(results.summary.passes() && results.summary.packets.closed, "{:#?}", results.summary.checks);
        assert_eq!(results.summary.packets.in_flight, 0, "{seed}");
        assert_eq!(results.trace, run_on(2).trace, "{seed}");
        // The switch is never paused, because hosts accept all frames. A frame of the class may wait for a frame of
        // 1518 B and for pause frames of the switch, 84 B each.
        let rate = Rate::from_gbps(100);
        let slack = rate.serialise(1518 + 20 + 4 * 84).as_ps();
        let starts = starts(&results, port, 7);
        let share = |busy: Time| busy.as_ps() * 100 / (slope.as_bps() / 1_000_000_000);
        // Transmission time of the sent bytes at the idle slope, minus elapsed time: its increase is bounded.
        let (mut sent, mut least) = (0i128, i128::MAX);
        for (start, busy) in &starts {
            let ahead = sent - i128::from(start.as_ps());
            bursts += usize::from(ahead > least);
            least = least.min(ahead);
            assert!(ahead - least <= i128::from(slack), "{seed}: {} ps", ahead - least);
            sent += i128::from(share(*busy));
        }
    }
    assert!(bursts > 50, "{bursts}");
}
