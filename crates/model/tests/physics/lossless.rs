//! PAUSE and PFC: exact times of pauses, and no loss with the computed headroom.

use crate::bench::*;
use fabric::generate::single_switch;
use fabric::{Fabric, FabricBuilder, LinkSpec};
use model::parameters::*;
use protocols::headroom::{Conditions, Headroom};
use protocols::reaction::Reaction;
use traffic::{ENDLESS, Flow, Process, Start};
use units::{Rate, Time};

/// `H1` and `H2` send to `H3`. `H2` has strict priority and uses the full rate of the port, so that no frame of `H1` is
/// dequeued. From `reverse` on, `H3` sends to `H1`, so that a pause frame to `H1` must wait for a frame in
/// transmission.
fn blocked(spec: LinkSpec, frame: u16, reverse: Time) -> Setup {
    let rate = spec.rate;
    let constant = |src, dst, class| Flow {
        class,
        start: Start::At(if src == 2 { reverse } else { Time::ZERO }),
        ..datagrams(src, dst, Process::Constant { rate }, frame, ENDLESS)
    };
    let flows = [constant(0, 2, 3), constant(1, 2, 7), constant(2, 0, 5)];
    let mut setup = setup(single_switch(3, spec).unwrap(), plan(3, flows));
    setup.host.mtu_bytes = frame;
    setup.switch.flow_control = FlowControl::Pfc(pause(20_000));
    setup.duration = rate.serialise(200_000) + spec.delay * 5;
    setup
}

const CASES: [(u64, u64, u16); 7] = [
    (1, 500, 1518),
    (10, 50, 1518),
    (10, 5_000, 9_000),
    (40, 1_000, 512),
    (100, 1, 9_000),
    (100, 500, 1518),
    (400, 2_000, 4_096),
];

/// Returns whether frames are lost with this headroom, for the worst of several phases of the frame that delays the
/// pause frame.
fn loses(spec: LinkSpec, frame: u16, reaction: Reaction, headroom: Option<u64>) -> bool {
    let phase = spec.rate.serialise(u64::from(frame) + 20) / 5;
    (0..5).any(|step| {
        let mut setup = blocked(spec, frame, phase * step);
        let pause = PauseParameters { headroom_bytes: headroom, reaction, ..pause(20_000) };
        setup.switch.flow_control = FlowControl::Pfc(pause);
        let results = run(setup);
        assert!(results.passes("conservation"));
        assert!(results.summary.pauses.count > 0, "the account must fill");
        assert_eq!(results.dropped("lossless queue full") > 0, !results.passes("lossless"));
        !results.passes("lossless")
    })
}

#[test]
fn the_computed_headroom_loses_nothing_and_little_less_loses() {
    for reaction in [FAST, Reaction::Standard] {
        for (gbps, delay_ns, frame) in CASES {
            let spec = link(gbps, delay_ns);
            let computed = Headroom::of(spec.rate, spec.delay, &Conditions::new(frame.into(), reaction, 1)).bytes;
            let results = format!("{gbps} Gbps, {delay_ns} ns, {frame} B, {reaction}");
            assert!(!loses(spec, frame, reaction, None), "{results} at {computed} bytes");
            let less = computed - 2 * u64::from(frame);
            assert!(loses(spec, frame, reaction, Some(less)), "{results} at {less} bytes");
        }
    }
}

/// Finds the minimum lossless headroom of the worst case by bisection, in whole frames. The computed headroom is at
/// least this minimum and at most two frames more, for cables from 10 m to 10 km.
#[test]
fn the_formula_is_within_two_frames_of_the_least_headroom_that_loses_nothing() {
    for gbps in [10, 100, 400] {
        for metres in [10, 100, 1_000, 10_000] {
            for mtu in [1_500u64, 9_100] {
                let spec = link(gbps, 5 * metres);
                let formula = Headroom::of(spec.rate, spec.delay, &Conditions::new(mtu, Reaction::Standard, 1)).bytes;
                let lossless = |frames: u64| !loses(spec, mtu as u16, Reaction::Standard, Some(frames * mtu));
                let (mut too_few, mut enough) = (0, 2 * formula.div_ceil(mtu));
                assert!(lossless(enough));
                while enough - too_few > 1 {
                    let middle = (too_few + enough) / 2;
                    *(if lossless(middle) { &mut enough } else { &mut too_few }) = middle;
                }
                let least = enough * mtu;
                let results =
                    format!("{gbps} Gbps, {metres} m, {mtu} B: {formula} by the formula, {least} by bisection");
                assert!(least <= formula && formula <= least + 2 * mtu, "{results}");
            }
        }
    }
}

/// IEEE 802.3x PAUSE, which stops the whole port instead of a class, is lossless with the computed headroom, too.
// [PAUSE1]
#[test]
fn pause_frames_keep_a_whole_port_lossless() {
    for (gbps, delay_ns, frame) in CASES {
        let spec = link(gbps, delay_ns);
        let rate = spec.rate;
        let flows = (0..4u32)
            .map(|src| Flow { class: src as u8, ..datagrams(src, 4, Process::Constant { rate }, frame, ENDLESS) });
        let with = |flow_control| {
            let mut setup = setup(single_switch(5, spec).unwrap(), plan(5, flows.clone()));
            setup.host.mtu_bytes = frame;
            setup.switch.flow_control = flow_control;
            setup.switch.buffer = Buffer::Shared { bytes: 6_000_000, egress: Threshold::Static { bytes: 100_000 } };
            setup.duration = rate.serialise(1_000_000) + spec.delay * 5;
            run(setup)
        };
        let results = with(FlowControl::Pause(PauseParameters { classes: 0xff, ..pause(20_000) }));
        results.all_hold();
        assert!(results.summary.pauses.count > 0);
        let results = with(FlowControl::None);
        assert!(results.dropped("queue full") > 0, "without it frames are lost: {gbps} Gbps");
    }
}

/// `H1` at 100 Gbps and `H2` at 10 Gbps, 500 ns each, at one switch.
fn step_down() -> Fabric {
    let mut builder = FabricBuilder::new("step down");
    let (h1, h2, s1) = (builder.add_host("H1"), builder.add_host("H2"), builder.add_switch("S1", 1));
    builder.connect(h1, s1, link(100, 500));
    builder.connect(h2, s1, link(10, 500));
    builder.build().unwrap()
}

/// Frames of 1250 B on the wire arrive every 100 ns from 599.04 ns on, and are forwarded every microsecond. XOFF is 10
/// frames: the eleventh queued frame exceeds it at 1799.04 ns. The pause frame reaches `H1` after 5.76 + 500 ns and
/// takes effect after 38.4 ns, so that the frame which starts at 2.3 us is the last. It arrives at 2899.04 ns, when 3
/// of the 24 frames have been forwarded: maximum queue 21 frames. XON is 7 frames, reached 16 x 1000 ns after the first
/// departure.
// [M39] [PFC1] [PFC2] [PFC5] [PFC8]
#[test]
fn xoff_and_xon_come_when_they_must() {
    let process = Process::Constant { rate: Rate::from_gbps(100) };
    let mut setup = setup(step_down(), plan(2, [datagrams(0, 1, process, 1230, ENDLESS)]));
    setup.switch.flow_control = FlowControl::Pfc(pause(10 * 1230));
    setup.record.pauses = true;
    setup.duration = Time::from_us(20);
    let results = run(setup);
    results.all_hold();
    let heard: Vec<(u64, u8, bool)> = results.pauses.iter().map(|pause| (pause.0.as_ps(), pause.3, pause.4)).collect();
    assert_eq!(heard[..2], [(2_304_800, 1 << 3, true), (17_104_800, 1 << 3, false)]);
    assert_eq!(results.summary.links.longest_queues[0].max_queue_bytes, 21 * 1230);
}

/// A pause expires unless it is renewed. With 8 quanta (4096 bit times), pauses expire before their renewal arrives,
/// because the renewal waits for a frame in transmission (12,304 bit times). The sender resumes, and the headroom
/// overflows.
#[test]
fn pauses_expire_and_expiry_lets_the_sender_go_on() {
    let with = |quanta| {
        let mut setup = blocked(link(10, 100), 1518, Time::ZERO);
        setup.switch.flow_control = FlowControl::Pfc(PauseParameters { quanta, ..pause(20_000) });
        run(setup)
    };
    let results = with(65_535);
    assert!(results.passes("lossless") && results.passes("pauses"), "{:?}", results.summary.checks);
    let results = with(8);
    assert!(!results.passes("lossless"), "4096 bit times of pause behind frames of 12,304 bit times");
    assert!(results.passes("pauses"), "{:?}", results.summary.checks);
}

/// Negative control: frames of a host that ignores pauses are lost, and so are frames of a class without PFC.
// [M50]
#[test]
fn without_obedience_or_in_another_class_frames_are_lost() {
    let mut setup = blocked(link(10, 100), 1518, Time::ZERO);
    setup.host.obeys_pause = false;
    assert!(!run(setup).passes("lossless"));
    let mut setup = blocked(link(10, 100), 1518, Time::ZERO);
    setup.switch.flow_control = FlowControl::Pfc(PauseParameters { classes: 1 << 2, ..pause(20_000) });
    setup.switch.buffer = Buffer::Shared { bytes: 6_000_000, egress: Threshold::Static { bytes: 20_000 } };
    let results = run(setup);
    assert!(results.passes("lossless") && results.dropped("queue full") > 0);
}

/// Class 3 is paused repeatedly between two switches while class 4 continues on this link. When a pause of class 3
/// ends, a frame of class 4 may be in transmission: utilisation must not exceed 1.
#[test]
fn a_busy_and_a_resumed_class_alternate_on_the_wire() {
    let mut builder = FabricBuilder::new("two switches");
    let (left, right) = (builder.add_switch("S1", 1), builder.add_switch("S2", 1));
    let hosts: Vec<_> = (1..=4).map(|n| builder.add_host(format!("H{n}"))).collect();
    let slow = link(1, 500);
    for (&host, (switch, spec)) in
        hosts.iter().zip([(left, link(10, 500)), (left, link(10, 500)), (right, slow), (right, link(10, 500))])
    {
        builder.connect(host, switch, spec);
    }
    builder.connect(left, right, link(10, 500));
    let fabric = builder.build().unwrap();
    let constant = |src, dst, class, bytes, gbps| {
        let rate = Rate::from_gbps(gbps);
        Flow { class, ..datagrams(src, dst, Process::Constant { rate }, bytes, ENDLESS) }
    };
    let mut setup = setup(fabric, plan(4, [constant(0, 2, 3, 1518, 9), constant(1, 3, 4, 700, 5)]));
    let pause = PauseParameters { classes: 0b11000, quanta: 40, xon_offset_bytes: 1_000, ..pause(6_000) };
    setup.switch.flow_control = FlowControl::Pfc(pause);
    setup.duration = Time::from_ms(5);
    let results = run(setup);
    results.all_hold();
    assert!(results.summary.pauses.count > 30, "{:?}", results.summary.pauses);
    let busiest = &results.summary.links.busiest[0];
    // Only the transmitted part of the last frame counts.
    assert!(busiest.utilisation <= 1.0, "{busiest:?}");
}

/// 802.1Q-2022, clause 36: PFC pauses only the classes that the pause frame names. The pause storm of `H3` pauses one
/// class for the whole run, with one frame queued. In the other class, two sources of 4 Gbps each share the link of 10
/// Gbps, and each frame arrives while a frame of the other source is in transmission. All frames of this class must be
/// delivered without additional delay.
#[test]
fn a_paused_class_does_not_delay_another() {
    let weights = [1; 8];
    let schedulers =
        [Scheduler::Strict, Scheduler::Wrr { weights }, Scheduler::Drr { quantum_bytes: weights.map(|_| 1_518) }];
    for scheduler in schedulers {
        for (paused, free) in [(5, 3), (3, 5)] {
            for traced in [false, true] {
                let at_us = |us: u64| Start::At(Time::from_us(us));
                let rate = Rate::from_gbps(4);
                let waits = Flow {
                    class: paused,
                    start: at_us(20),
                    ..datagrams(0, 2, Process::Constant { rate }, 1_000, 1_000)
                };
                let passes = |src| Flow {
                    class: free,
                    start: at_us(50),
                    ..datagrams(src, 2, Process::Constant { rate }, 1_000, 19_080)
                };
                let fabric = single_switch(3, link(10, 1_000)).unwrap();
                let mut setup = setup(fabric, plan(3, [waits, passes(0), passes(1)]));
                setup.switch.scheduler = scheduler;
                setup.switch.flow_control = FlowControl::Pfc(PauseParameters { classes: 1 << paused, ..pause(60_000) });
                setup.host.pause_storm =
                    Some(PauseStorm { node: setup.fabric.host_node(2), at: Time::ZERO, until: None });
                setup.record.trace = traced.then(TraceParameters::everything);
                let results = run(setup);
                assert!(results.passes("work conservation"));
                let delivered: Vec<Option<u64>> = results.flows.iter().map(|flow| flow.delivered_ps).collect();

                assert!([92_372_800, 93_188_800].iter().all(|&ps| delivered.contains(&Some(ps))), "{delivered:?}");
            }
        }
    }
}
