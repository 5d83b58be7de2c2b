//! Ports with gate control lists: no frame is on a wire while its gate is closed, and frames that fit start as soon as
//! the gate is open.

use crate::bench::{Results, datagrams, link, pause, plan, run, setup};
use fabric::generate::single_switch;
use fabric::{Fabric, NodeId};
use model::parameters::*;
use protocols::gates::GateList;
use stats::trace::TraceEvent;
use std::sync::Arc;
use traffic::{Flow, Process, Start};
use units::random::Stream;
use units::{Rate, Time};

const fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

fn star(hosts: u32) -> Fabric {
    single_switch(hosts, link(100, 50)).unwrap()
}

/// Returns the switch of a star.
pub(crate) fn switch(fabric: &Fabric) -> NodeId {
    fabric.switches().next().unwrap()
}

/// Returns the port of the switch towards a host.
pub(crate) fn port_to(fabric: &Fabric, host: u32) -> u16 {
    let node = fabric.host_node(host);
    fabric.ports(switch(fabric)).iter().position(|port| port.peer == node).unwrap() as u16
}

fn with_class(class: u8, flow: Flow) -> Flow {
    Flow { class, ..flow }
}

pub(crate) fn once(src: u32, dst: u32, class: u8, frame_bytes: u16, start: Time) -> Flow {
    let process = Process::Constant { rate: Rate::from_gbps(1) };
    let flow = datagrams(src, dst, process, frame_bytes, frame_bytes.into());
    Flow { class, start: Start::At(start), ..flow }
}

/// Returns the transmissions at a port: start time, class and frame length in bytes.
pub(crate) fn starts(results: &Results, node: NodeId, at_port: u16) -> Vec<(Time, u8, u16)> {
    let started = results.trace.iter().filter(|row| row.node == node.0).filter_map(|row| match &row.event {
        TraceEvent::Started { port, .. } if *port == at_port => {
            let packet = row.packet.unwrap();
            Some((row.at, packet.class, packet.size_bytes))
        }
        _ => None,
    });
    started.collect()
}

/// A frame of 105 B takes 10 ns on the wire at 100 Gbps, with preamble and gap. It arrives at the switch 50 + 9.04 ns
/// after the start of its transmission.
#[test]
fn a_frame_leaves_as_its_gate_opens() {
    let fabric = star(2);
    let (node, port) = (switch(&fabric), port_to(&fabric, 1));
    let flows = [once(0, 1, 7, 105, ns(0)), once(0, 1, 7, 105, ns(10)), once(0, 1, 7, 105, ns(400))];
    let mut setup = setup(fabric, plan(2, flows));
    // The gate is open from 100 to 115 ns. The second frame would not end before the gate closes, so that it waits for
    // the next gate cycle.
    let list = GateList::new(&[(0x7f, ns(100)), (0x80, ns(15)), (0x7f, ns(85))]).unwrap();
    setup.timing.gates = [((node, port), Arc::new(list))].into();
    setup.record.trace = Some(TraceParameters::everything());
    let results = run(setup);
    results.all_hold();
    let at: Vec<Time> = starts(&results, node, port).iter().map(|start| start.0).collect();
    assert_eq!(at, [ns(100), ns(300), ns(500)]);
}

/// The gates of a switch follow the clock of the switch. Each case has the offset in ns and the drift in ppb of the
/// clock, and the simulation time at which the clock shows 1 ms, at which the gate opens.
#[test]
fn gates_go_by_the_clock_of_their_node() {
    for (offset, drift_ppb, opens) in [(0, 0, ns(1_000_000)), (300, 0, ns(999_700)), (0, 1_000_000, ns(999_001))] {
        let fabric = star(2);
        let (node, port) = (switch(&fabric), port_to(&fabric, 1));
        let mut setup = setup(fabric, plan(2, [once(0, 1, 7, 105, ns(0))]));
        let list = GateList::new(&[(0, Time::from_ms(1)), (0xff, Time::from_ms(1))]).unwrap();
        setup.timing.gates = [((node, port), Arc::new(list))].into();
        setup.timing.clocks.stated = [(node.0, NodeClock { offset: ns(offset), drift_ppb })].into();
        setup.duration = Time::from_ms(2);
        setup.record.trace = Some(TraceParameters::everything());
        let results = run(setup);
        let at = starts(&results, node, port)[0].0;
        assert!(at >= opens && at < opens + ns(1), "{at} {opens}");
    }
}

/// A frame whose transmission time equals the gate open time always fits, even if the clock drifts.
#[test]
fn drift_does_not_push_a_frame_out_of_a_slot_of_its_length() {
    for drift_ppb in [-50_000, -50, 50, 99_999] {
        let fabric = star(2);
        let (node, port) = (switch(&fabric), port_to(&fabric, 1));
        let source = datagrams(0, 1, Process::Constant { rate: Rate::from_gbps(1) }, 105, 10_500);
        let mut setup = setup(fabric, plan(2, [with_class(7, source)]));
        // The source sends one frame per microsecond. The gate is open for 10 ns, the wire time of a frame, every 500
        // ns.
        let list = GateList::new(&[(0x7f, ns(490)), (0x80, ns(10))]).unwrap();
        setup.timing.gates = [((node, port), Arc::new(list))].into();
        setup.timing.clocks.stated = [(node.0, NodeClock { offset: ns(123), drift_ppb })].into();
        let results = run(setup);
        results.all_hold();
        assert_eq!(results.summary.packets.delivered_whole, 100, "{drift_ppb}");
        assert!(results.summary.delay_ns.as_ref().unwrap().max < 620.0, "{drift_ppb}");
    }
}

/// Frames of a class whose gate never opens stay queued, while other classes continue.
#[test]
fn a_gate_that_never_opens_holds_its_class_alone() {
    let fabric = star(3);
    let (node, port) = (switch(&fabric), port_to(&fabric, 2));
    let flows = [once(0, 2, 7, 105, ns(0)), once(1, 2, 0, 105, ns(20)), once(1, 2, 0, 105, ns(500))];
    let mut setup = setup(fabric, plan(3, flows));
    setup.timing.gates = [((node, port), Arc::new(GateList::new(&[(0x7f, ns(100))]).unwrap()))].into();
    let results = run(setup);
    results.all_hold();
    assert_eq!((results.summary.packets.delivered_whole, results.summary.packets.in_flight), (2, 1));
}

/// Random gate lists at all ports, including host ports, random traffic and clocks, with and without PFC. In the
/// trace, each frame starts and ends while its gate is open. The work-conservation check reports no frame at the end
/// of the run that could have been sent.
#[test]
fn no_frame_is_on_a_wire_while_its_gate_is_shut() {
    let mut seen = 0;
    for seed in 0..40 {
        let mut random = Stream::new(seed, 0, 0);
        let hosts = 2 + random.below(4) as u32;
        let fabric = star(hosts);
        let node = switch(&fabric);
        let mut flows = Vec::new();
        for src in 0..hosts {
            let (dst, class) = ((src + 1 + random.below(u64::from(hosts) - 1) as u32) % hosts, random.below(8) as u8);
            let rate = Rate::from_gbps(1 + random.below(60));
            let process = if random.below(2) == 0 { Process::Constant { rate } } else { Process::Poisson { rate } };
            flows.push(with_class(class, datagrams(src, dst, process, 64 + random.below(1454) as u16, 40_000)));
        }
        let mut lists = Vec::new();
        for (port, peer) in fabric.ports(node).iter().enumerate() {
            let states: Vec<(u8, Time)> = (0..1 + random.below(5))
                .map(|_| (random.below(256) as u8, Time::from_ps(1 + random.below(900_000))))
                .collect();
            for location in [(node, port as u16), (peer.peer, peer.peer_port)] {
                if random.below(3) > 0 {
                    lists.push((location, states.clone()));
                }
            }
        }
        let clock = NodeClock { offset: Time::from_ps(random.below(1 << 40)), drift_ppb: random.below(9) as i32 - 4 };
        let lossless = random.below(2) == 0;
        let run_on = |threads: usize| {
            let mut setup = setup(star(hosts), plan(hosts, flows.clone()));
            setup.threads = threads;
            setup.timing.gates =
                lists.iter().map(|(location, states)| (*location, Arc::new(GateList::new(states).unwrap()))).collect();
            setup.timing.clocks.stated = [(node.0, clock)].into();
            if lossless {
                setup.switch.flow_control = FlowControl::Pfc(PauseParameters { classes: 0xff, ..pause(20_000) });
            }
            setup.record.trace = Some(TraceParameters::everything());
            run(setup)
        };
        let results = run_on(1);
        assert!(results.summary.passes() && results.summary.packets.closed, "{:#?}", results.summary.checks);
        assert_eq!(results.trace, run_on(2).trace);
        for ((at, port), states) in &lists {
            let cycle: Time = states.iter().map(|state| state.1).sum();
            let shown = |time: Time| if *at == node { clock.local(time) } else { time };
            let is_open = |time: Time, class: u8| {
                let mut phase = time % cycle;
                let state = states.iter().find(|(_, span)| {
                    let inside = phase < *span;
                    phase = phase.saturating_sub(*span);
                    inside
                });
                state.unwrap().0 & 1 << class != 0
            };
            for (start, class, bytes) in starts(&results, *at, *port) {
                let end = start + Rate::from_gbps(100).serialise(u64::from(bytes) + 20);
                let (mut time, last) = (shown(start), shown(end).saturating_sub(Time::from_ps(3)));
                while time < last {
                    assert!(is_open(time, class), "seed {seed}: class {class} at {time}, {states:?}");
                    time += Time::from_ps(997).min(last - time);
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 1000, "{seen}");
}
