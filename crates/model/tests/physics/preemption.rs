//! Preempted frames, checked by closed forms and with random traffic.

use crate::bench::{datagrams, link, pause, plan, run, setup};
use fabric::generate::single_switch;
use fabric::routing::Failure;
use model::parameters::*;
use protocols::gates::GateList;
use protocols::preemption::{Fragments, PreemptionParameters};
use stats::Outcome;
use std::sync::Arc;
use traffic::{Flow, Process, Start};
use units::random::Stream;
use units::{Rate, Time};

const fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// Wire time of a byte at 100 Gbps, in picoseconds.
const BYTE: u64 = 80;

fn once(src: u32, class: u8, frame_bytes: u16, start: Time) -> Flow {
    let process = Process::Constant { rate: Rate::from_gbps(1) };
    let flow = datagrams(src, 2, process, frame_bytes, frame_bytes.into());
    Flow { class, start: Start::At(start), ..flow }
}

/// Returns the one-way delays (ps) of a frame of 1500 B in class 0 from host 0, and of a frame of 100 B in the express
/// class 7 from host 1.
fn delays(fragments: Option<Fragments>, express_start: Time) -> (u64, u64) {
    let flows = [once(0, 0, 1500, Time::ZERO), once(1, 7, 100, express_start)];
    let mut setup = setup(single_switch(3, link(100, 50)).unwrap(), plan(3, flows));
    setup.timing.preemption = fragments.map(|fragments| PreemptionParameters { express: 0x80, fragments });
    setup.record.jitter = true;
    let results = run(setup);
    results.all_hold();
    let most = |entry: usize| results.summary.jitter[entry].max_delay_ps;
    (most(0), most(1))
}

#[test]
fn an_express_frame_interrupts_and_the_rest_follows() {
    // One-way delay in an idle network: on each of the two links, 50 ns of propagation delay and the serialisation
    // delay of preamble and frame.
    let alone = |bytes: u64| 2 * (50_000 + (bytes + 8) * BYTE);
    // The long frame arrives at the switch after 50 ns and 1508 B. The express frame arrives when 500 B of the long
    // frame have been sent.
    let at_switch = 50_000 + 1508 * BYTE;
    let start = Time::from_ps(at_switch + (8 + 500) * BYTE - (50_000 + 108 * BYTE));
    let (long, short) = delays(None, start);
    assert_eq!((long, short), (alone(1500), alone(100) + (1000 + 12) * BYTE));
    // The express frame waits for the check sequence (4 B) and the gap (12 B) of the fragment. Preemption costs the
    // long frame 24 B, plus the express frame (120 B on the wire).
    let (long, short) = delays(Some(Fragments::Standard), start);
    assert_eq!((long, short), (alone(1500) + (24 + 120) * BYTE, alone(100) + (4 + 12) * BYTE));
    let (long, short) = delays(Some(Fragments::Ideal), start);
    assert_eq!((long, short), (alone(1500) + 120 * BYTE, alone(100)));
}

/// The last 64 B of a frame cannot be preempted: an express frame that arrives during these bytes waits. If it
/// arrives before these bytes start, or just as they start, it preempts the frame.
#[test]
fn the_end_of_a_frame_is_not_cut() {
    let at_switch = 50_000 + 1508 * BYTE;
    // The express frame arrives at the switch `after` picoseconds after the start of the long frame.
    let start = |after: u64| Time::from_ps(at_switch + after - (50_000 + 108 * BYTE));
    let alone = |bytes: u64| 2 * (50_000 + (bytes + 8) * BYTE);
    let standard = |after: u64| delays(Some(Fragments::Standard), start(after));
    assert_eq!(standard((8 + 1450) * BYTE), (alone(1500), alone(100) + (50 + 12) * BYTE));
    let ideal = delays(Some(Fragments::Ideal), start((8 + 1450) * BYTE));
    assert_eq!(ideal, (alone(1500) + 120 * BYTE, alone(100)));
    let last = (8 + 1436) * BYTE;
    for after in [last - 1, last] {
        let wait = (4 + 12) * BYTE + last - after;
        assert_eq!(standard(after), (alone(1500) + (24 + 120) * BYTE, alone(100) + wait), "{after}");
    }
    assert_eq!(standard(last + 1), (alone(1500), alone(100) + (64 + 12) * BYTE - 1));
}

/// Random traffic in all classes to one host, with link failures; in some runs, also with gates and PFC.
fn random_run(seed: u64, threads: usize) -> Outcome {
    let mut random = Stream::new(seed, 1, 0);
    let hosts = 3 + random.below(3) as u32;
    let fabric = single_switch(hosts, link([10, 100, 400][random.below(3) as usize], random.below(100))).unwrap();
    let mut flows = Vec::new();
    for src in 0..hosts {
        let dst = if src == 0 { 1 } else { 0 };
        let process = Process::Poisson { rate: Rate::from_gbps(1 + random.below(8)) };
        let flow = datagrams(src, dst, process, 64 + random.below(1455) as u16, 60_000);
        flows.push(Flow { class: random.below(8) as u8, ..flow });
    }
    let mut setup = setup(fabric, plan(hosts, flows));
    setup.threads = threads;
    setup.seed = seed;
    setup.duration = Time::from_ms(2);
    let fragments = if random.below(2) == 0 { Fragments::Standard } else { Fragments::Ideal };
    setup.timing.preemption = Some(PreemptionParameters { express: random.below(256) as u8, fragments });
    if random.below(3) == 0 {
        let link = setup.fabric.ports(setup.fabric.host_node(0))[0].link;
        let down_at = Time::from_us(random.below(300));
        setup.failures.push(Failure { link, down_at, up_at: Some(down_at + Time::from_us(random.below(50))) });
    }
    if random.below(3) == 0 {
        let list = GateList::new(&[(0xf0, ns(2_500)), (0x0f, ns(3_100)), (0xff, ns(1_700))]).unwrap();
        let node = setup.fabric.switches().next().unwrap();
        setup.timing.gates = (0..hosts as u16).map(|port| ((node, port), Arc::new(list.clone()))).collect();
    }
    if random.below(3) == 0 {
        setup.switch.flow_control = FlowControl::Pfc(PauseParameters { classes: 0xff, ..pause(20_000) });
    }
    setup.record.jitter = true;
    run(setup).summary
}

#[test]
fn every_frame_is_accounted_for_under_any_preemption() {
    for seed in 0..40 {
        let results = random_run(seed, 1);
        assert!(results.passes() && results.packets.closed, "{seed}: {:#?}", results.checks);
        assert_eq!(results.packets.in_flight, 0, "{seed}");
        assert_eq!(results, random_run(seed, 2), "{seed}");
    }
}

/// An express frame waits for at most 143 B of preemptable frames: the longest frame that cannot be preempted (123
/// B), with preamble and gap.
#[test]
fn an_express_frame_waits_for_143_bytes_at_most() {
    for seed in 0..20 {
        let mut random = Stream::new(seed, 2, 0);
        let express = datagrams(0, 3, Process::Poisson { rate: Rate::from_gbps(2) }, 64, 20_000);
        let mut flows = vec![Flow { class: 7, ..express }];
        for src in 1..3 {
            let process = Process::Poisson { rate: Rate::from_gbps(40) };
            let flow = datagrams(src, 3, process, 64 + random.below(1455) as u16, 2_000_000);
            flows.push(Flow { class: 0, ..flow });
        }
        let mut setup = setup(single_switch(4, link(100, 50)).unwrap(), plan(4, flows));
        let parameters = PreemptionParameters { express: 0x80, fragments: Fragments::Standard };
        setup.timing.preemption = Some(parameters);
        setup.record.jitter = true;
        let results = run(setup);
        results.all_hold();
        // In addition, up to three express frames of 84 B on the wire may be ahead; at 2 Gbps, more are improbable.
        let worst = results.summary.jitter[0].max_delay_ps - 2 * (50_000 + 72 * BYTE);
        assert!(worst <= (143 + 3 * 84) * BYTE, "{seed}: {worst}");
        assert!(worst > 0);
    }
}
