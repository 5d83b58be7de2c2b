//! Gates with frame preemption, checked by closed forms and traces: express frames find the port idle when their gate
//! opens, and preemptable frames are sent until a hold interrupts them.

use crate::bench::{Results, datagrams, link, plan, run, setup};
use crate::gates::{once, port_to, starts, switch};
use fabric::generate::single_switch;
use fabric::{LinkSpec, NodeId};
use model::parameters::*;
use protocols::gates::{GateList, GateOperation, GateState};
use protocols::preemption::{Fragments, PreemptionParameters};
use stats::trace::TraceEvent;
use std::collections::BTreeMap;
use std::sync::Arc;
use traffic::{Flow, Process};
use units::random::Stream;
use units::{Rate, Time};

const fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// Returns the arrival times at a node by packet number.
fn arrivals(results: &Results, node: NodeId) -> BTreeMap<u64, Time> {
    let came = results.trace.iter().filter(|row| row.node == node.0 && matches!(row.event, TraceEvent::Arrived { .. }));
    came.map(|row| (row.packet.unwrap().number, row.at)).collect()
}

/// Two hosts send to a third over links of 50 ns, through a port with these gate states. Class 7 is express.
fn converging(rate: Rate, fragments: Fragments, states: &[GateState], flows: Vec<Flow>) -> (Setup, NodeId, u16) {
    let fabric = single_switch(3, LinkSpec::new(rate, ns(50))).unwrap();
    let (node, port) = (switch(&fabric), port_to(&fabric, 2));
    let mut setup = setup(fabric, plan(3, flows));
    setup.timing.preemption = Some(PreemptionParameters { express: 0x80, fragments });
    setup.timing.gates = [((node, port), Arc::new(GateList::with_operations(states).unwrap()))].into();
    setup.record.trace = Some(TraceParameters::everything());
    (setup, node, port)
}

fn state(open: u8, time: Time) -> GateState {
    GateState { open, time, operation: None }
}

/// At 100 Mbps, a preemptable frame of 1500 B arrives 59 us before its gate closes, and an express frame of 500 B waits
/// for the express window that follows. Returns the start times of both, and the arrival time of the preemptable frame.
fn before_a_window(operation: Option<GateOperation>, fragments: Fragments) -> (Vec<Time>, Time) {
    let us = Time::from_us;
    let flows = vec![once(0, 2, 0, 1500, us(20)), once(1, 2, 7, 500, us(150))];
    let states = [state(1, us(200)), state(0x80, us(100))].map(|it| GateState { operation, ..it });
    let (mut setup, node, port) = converging(Rate::from_mbps(100), fragments, &states, flows);
    setup.duration = us(900);
    let host = setup.fabric.host_node(2);
    let results = run(setup);
    results.all_hold();
    let mut at: Vec<(u8, Time)> = starts(&results, node, port).iter().map(|&(at, class, _)| (class, at)).collect();
    at.sort_unstable();
    let mut came: Vec<Time> = arrivals(&results, host).into_values().collect();
    came.sort_unstable();
    (at.into_iter().map(|it| it.1).collect(), *came.last().unwrap())
}

#[test]
fn a_hold_cuts_a_frame_ahead_of_the_express_window() {
    // Arrival of the preemptable frame at the switch, after 1508 B and 50 ns.
    let comes = Time::from_us(20) + ns(1508 * 80 + 50);
    let opens = Time::from_us(200);
    // The hold is requested 143 B ahead of the express window, during byte 599 (including 8 B of preamble), which is
    // sent completely: 591 B of the frame are sent.
    let sent = (opens - ns(143 * 80) - comes).as_ps().div_ceil(80_000) - 8;
    assert_eq!(sent, 591);
    let rest = Time::from_us(300) + ns((8 + 1500 - sent) * 80 + 50);
    assert_eq!(before_a_window(None, Fragments::Standard), (vec![comes, opens], rest));
    // Ideal fragments have no overhead: the gap after the fragment ends when the express gate opens.
    let rest = Time::from_us(300) + ns(1508 * 80 + 50) - (opens - ns(12 * 80) - comes);
    assert_eq!(before_a_window(None, Fragments::Ideal), (vec![comes, opens], rest));
    // Without a hold, the whole frame must end before its gate closes: it waits for its next window.
    let set = Some(GateOperation::SetGateStates);
    let whole = Time::from_us(300) + ns(1508 * 80 + 50);
    assert_eq!(before_a_window(set, Fragments::Standard), (vec![Time::from_us(300), opens], whole));
}

/// An express frame starts when its gate opens, for any position and length of the preemptable frame at that time, any
/// rate and any clock.
#[test]
fn an_express_frame_starts_as_its_gate_opens() {
    let mut random = Stream::new(3, 0, 0);
    let (mut cut, mut waited) = (0, 0);
    for _ in 0..400 {
        let rate = Rate::from_mbps([100, 1_000, 2_777, 10_000, 100_000, 400_000][random.below(6) as usize]);
        let fragments = if random.below(4) == 0 { Fragments::Ideal } else { Fragments::Standard };
        // Maximum wire time after the request of a hold.
        let advance = rate.serialise(if fragments == Fragments::Ideal { 12 } else { 143 });
        let (bytes, before) = match random.below(4) {
            // The longest frame that cannot be preempted, within 1 ns of the hold request.
            0 => (123, (advance + Time::from_ps(random.below(2_000))).saturating_sub(ns(1))),
            _ => {
                (64 + random.below(1455) as u16, rate.serialise(random.below(1_600)) + Time::from_ps(random.below(999)))
            }
        };
        let (window, opens) = (rate.serialise(150) + ns(1), rate.serialise(20_000) + ns(1_000));
        let drift_ppb = if random.below(2) == 0 { 0 } else { random.below(200_001) as i32 - 100_000 };
        let clock = NodeClock { offset: Time::ZERO, drift_ppb };
        let comes = clock.global(opens) - before;
        let flows = vec![
            once(0, 2, 0, bytes, comes - ns(50) - rate.serialise(u64::from(bytes) + 8)),
            once(1, 2, 7, 100, opens - rate.serialise(2_000) - ns(100)),
        ];
        let states = [state(0x7f, opens), state(0x80, window), state(0x7f, rate.serialise(3_000))];
        let (mut setup, node, port) = converging(rate, fragments, &states, flows);
        setup.timing.clocks.stated = [(node.0, clock)].into();
        setup.duration = opens * 4;
        let results = run(setup);
        results.all_hold();
        assert_eq!(results.summary.packets.delivered_whole, 2);
        let starts = starts(&results, node, port);
        let start = |class: u8| starts.iter().find(|it| it.1 == class).unwrap().0;
        assert_eq!(start(7), clock.global(opens), "{rate} {bytes} {before} {drift_ppb}");
        // With a drifting clock, times may deviate by 2 ps plus 0.1 per mille.
        let slack = if drift_ppb == 0 { Time::ZERO } else { ns(2) };
        if before > advance + slack {
            assert_eq!(start(0), comes, "{rate} {bytes} {before} {drift_ppb}");
            cut += u32::from(before < rate.serialise(u64::from(bytes) + 20));
        } else if before + slack <= advance {
            assert!(start(0) >= clock.global(opens + window), "{rate} {bytes} {before} {drift_ppb}");
            waited += 1;
        }
    }
    assert!(cut > 100 && waited > 15, "{cut} {waited}");
}

/// Preemptable frames of 1500 B (1520 B on the wire) in windows of 700 to 4000 B. Without holds, floor(window / 1520)
/// frames fit into each window. With holds, all bytes of a window are used except a guard band of at most 143 B and 24
/// B of preemption overhead.
#[test]
fn a_guard_band_is_no_longer_than_a_frame_that_cannot_be_cut() {
    const FRAMES: u64 = 60;
    for window in [4_000u64, 1_520, 1_663, 2_911, 700] {
        let shut = 20_000;
        let (rate, bytes) = (Rate::from_gbps(100), |bytes: u64| Time::from_ps(80 * bytes));
        let source = datagrams(0, 2, Process::Constant { rate }, 1500, FRAMES * 1500);
        let last = |operation: Option<GateOperation>| {
            let states = [state(0x80, bytes(shut)), state(1, bytes(window))];
            let states = states.map(|it| GateState { operation, ..it });
            let flows = vec![Flow { class: 0, ..source.clone() }];
            let (setup, ..) = converging(rate, Fragments::Standard, &states, flows);
            let host = setup.fabric.host_node(2);
            let results = run(setup);
            results.all_hold();
            (*arrivals(&results, host).values().max().unwrap_or(&Time::ZERO), results.summary.packets.delivered_whole)
        };
        let (mut done, mut rest, mut end, mut cycles) = (0, 1500, 0, 0);
        while done < FRAMES {
            let mut at = cycles * (shut + window) + shut;
            let hold = at + window - 143;
            while at < hold && done < FRAMES {
                let sent = (hold - at).saturating_sub(8).max(60);
                if sent + 64 <= rest {
                    (rest, at) = (rest - sent, at + 8 + sent + 4 + 12);
                    assert!(at <= hold + 143);
                    break;
                }
                (end, at) = (at + 8 + rest, at + 8 + rest + 12);
                (done, rest) = (done + 1, 1500);
            }
            cycles += 1;
        }
        assert_eq!(last(None), (bytes(end) + ns(50), FRAMES), "{window}");
        // Each window loses at most the guard band and 24 B for the preemption.
        assert!(cycles <= (FRAMES * 1520).div_ceil(window - 143 - 24), "{window} {cycles}");
        let whole = window / 1520;
        let (_, delivered) = last(Some(GateOperation::SetGateStates));
        let windows_of_a_run = Time::from_ms(1).as_ps() / bytes(shut + window).as_ps();
        assert_eq!(delivered, (whole * windows_of_a_run).min(FRAMES), "{window}");
    }
}

/// Gate states of a port, with the hold state of its MAC.
struct Stated {
    cycle: Time,
    states: Vec<(u8, bool, Time)>,
}

impl Stated {
    fn new(states: &[GateState], express: u8) -> Stated {
        let mut held = false;
        let mut all = Vec::new();
        for state in states.iter().chain(states) {
            held = match state.operation {
                Some(GateOperation::SetGateStates) => held,
                Some(operation) => operation == GateOperation::SetAndHoldMac,
                None => state.open & !express == 0,
            };
            all.push((state.open, held, state.time));
        }
        Stated { cycle: states.iter().map(|it| it.time).sum(), states: all.split_off(states.len()) }
    }

    /// Returns for how long, from time 0 to `at`, frames of `class` were permitted, in picoseconds.
    fn until(&self, at: Time, class: u8, express: bool) -> u64 {
        let (mut left, mut span, mut whole) = (at % self.cycle, 0, 0);
        for &(open, held, time) in &self.states {
            if open >> class & 1 == 1 && (express || !held) {
                span += left.min(time).as_ps();
                whole += time.as_ps();
            }
            left = left.saturating_sub(time);
        }
        at.as_ps() / self.cycle.as_ps() * whole + span
    }
}

/// Random gate lists with hold and release operations at all ports of a switch, random traffic, express classes and
/// clocks. From the trace only: an express frame is sent only while its gate is open. A preemptable frame starts and
/// ends while its gate is open and the MAC is released, and the total time in such states suffices for its bytes.
#[test]
fn no_byte_is_on_a_wire_while_its_class_is_shut_or_held() {
    let (mut seen, mut cut, mut preempted) = (0, 0, 0);
    let rate = Rate::from_gbps(100);
    for seed in 0..60 {
        let mut random = Stream::new(seed, 4, 0);
        let hosts = 2 + random.below(4) as u32;
        let fabric = single_switch(hosts, link(100, 50)).unwrap();
        let node = switch(&fabric);
        let flows: Vec<Flow> = (0..2 * hosts)
            .map(|flow| {
                let src = flow / 2;
                let dst = (src + 1 + random.below(u64::from(hosts) - 1) as u32) % hosts;
                let of = Rate::from_gbps(1 + random.below(40));
                let process = Process::Poisson { rate: of };
                let of = datagrams(src, dst, process, 64 + random.below(1454) as u16, 40_000);
                Flow { class: random.below(8) as u8, ..of }
            })
            .collect();
        let lists: Vec<Vec<GateState>> = (0..hosts)
            .map(|_| {
                let any = |random: &mut Stream| {
                    use GateOperation::*;
                    let named = [SetGateStates, SetAndHoldMac, SetAndReleaseMac][random.below(3) as usize];
                    let operation = (random.below(2) == 0).then_some(named);
                    let open = (random.below(256) | random.below(256)) as u8;
                    GateState { open, time: Time::from_ps(1 + random.below(900_000)), operation }
                };
                (0..1 + random.below(5)).map(|_| any(&mut random)).collect()
            })
            .collect();
        let clock = NodeClock { offset: Time::from_ps(random.below(1 << 40)), drift_ppb: random.below(9) as i32 - 4 };
        let fragments = if random.below(3) == 0 { Fragments::Ideal } else { Fragments::Standard };
        let parameters = PreemptionParameters { express: random.below(256) as u8, fragments };
        let run_on = |threads: usize, traced: bool| {
            let mut setup = setup(single_switch(hosts, link(100, 50)).unwrap(), plan(hosts, flows.clone()));
            (setup.threads, setup.seed) = (threads, seed);
            let list = |port: usize| Arc::new(GateList::with_operations(&lists[port]).unwrap());
            setup.timing.gates = (0..hosts as usize).map(|port| ((node, port as u16), list(port))).collect();
            setup.timing.clocks.stated = [(node.0, clock)].into();
            setup.timing.preemption = Some(parameters);
            setup.record.trace = traced.then(TraceParameters::everything);
            run(setup)
        };
        let results = run_on(1, true);
        assert!(results.summary.passes() && results.summary.packets.closed, "{seed}: {:#?}", results.summary.checks);
        let other = run_on(2, true);
        assert_eq!((&results.trace, &results.summary), (&other.trace, &other.summary), "{seed}");
        for threads in [1, 2] {
            assert_eq!(results.summary, run_on(threads, false).summary, "{seed}");
        }
        for (port, peer) in fabric.ports(node).iter().enumerate() {
            let stated = Stated::new(&lists[port], parameters.express);
            let came = arrivals(&results, peer.peer);
            let mut frames = Vec::new();
            for row in results.trace.iter().filter(|row| row.node == node.0) {
                let TraceEvent::Started { port: at, .. } = row.event else { continue };
                let packet = row.packet.unwrap();
                if usize::from(at) == port && came.contains_key(&packet.number) {
                    frames.push((row.at, came[&packet.number] - ns(50), packet.class, packet.size_bytes));
                }
            }
            for &(start, end, class, bytes) in &frames {
                let express = parameters.express >> class & 1 == 1;
                let shown = |at: Time| clock.local(at);
                let available = |from: Time, to: Time| {
                    Time::from_ps(stated.until(shown(to), class, express) - stated.until(shown(from), class, express))
                };
                let context =
                    format!("{seed} {port}: {class} {bytes} {start} to {end} {parameters:?} {:?}", lists[port]);
                let wire = rate.serialise(u64::from(bytes) + 8);
                let within = frames.iter().filter(|it| it.0 > start && it.0 < end);
                let others: Time = within.clone().map(|it| rate.serialise(u64::from(it.3) + 20)).sum();
                let slack = Time::from_ps(3);
                if express {
                    assert_eq!((end - start, others), (wire, Time::ZERO), "{context}");
                }
                // A drifting clock may shorten a gate opening by 1 ps.
                assert!(available(start, start + slack) > Time::ZERO, "{context}");
                assert!(available(end - slack, end) > Time::ZERO, "{context}");
                // Frames that were sent between the fragments of this frame used part of the time in which its class
                // was permitted.
                let own: Time = within
                    .map(|it| {
                        let until = it.0 + rate.serialise(u64::from(it.3) + 20);
                        available(it.0, until.min(end))
                    })
                    .sum();
                assert!(available(start, end) + slack >= wire + own, "{context}");
                seen += 1;
                preempted += u32::from(others > Time::ZERO);
                cut += u32::from(others == Time::ZERO && end - start > wire);
            }
        }
    }
    assert!(seen > 1000 && cut > 100 && preempted > 100, "{seen} {cut} {preempted}");
}
