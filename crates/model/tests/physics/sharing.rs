//! Sharing of a link: max-min fairness, simultaneous arrivals, and the three schedulers.

use crate::bench::*;
use fabric::generate::{dumbbell, single_switch};
use model::parameters::*;
use traffic::{ENDLESS, Flow, Process};
use units::{Rate, Time};

/// Returns each source's share of the total goodput.
fn shares(results: &Results) -> Vec<f64> {
    let total: u64 = results.goodput.iter().sum();
    results.goodput.iter().map(|&bytes| bytes as f64 / total as f64).collect()
}

fn assert_shares(results: &Results, expected: &[f64], tolerance: f64) {
    let got = shares(results);
    assert_eq!(got.len(), expected.len());
    for (share, want) in got.iter().zip(expected) {
        assert!((share - want).abs() < tolerance, "{got:?}, expected {expected:?}");
    }
}

/// Incast of `count` senders to the last host of one switch; each sender has a separate traffic entry.
fn incast(count: u32, mut flow_of: impl FnMut(u32) -> Flow) -> Setup {
    let fabric = single_switch(count + 1, link(10, 500)).unwrap();
    let flows: Vec<Flow> = (0..count).map(|src| Flow { traffic: src as u8, ..flow_of(src) }).collect();
    let mut setup = setup(fabric, plan(count + 1, flows));
    setup.record.throughput_every = Some(Time::from_us(10));
    setup
}

/// Simultaneous arrivals at a full tail-drop queue are admitted in rotating order of ports, so that no port starves.
#[test]
fn synchronised_constant_datagrams_share_equally_under_drop_tail() {
    let rate = Rate::from_gbps(10);
    let mut setup = incast(4, |src| datagrams(src, 4, Process::Constant { rate }, 1000, ENDLESS));
    setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Packets(50) };
    setup.duration = Time::from_ms(5);
    let results = run(setup);
    assert_shares(results.all_hold(), &[0.25; 4], 0.02);
    assert!(results.dropped("queue full") > 10_000);
}

#[test]
fn roce_flows_get_max_min_shares_under_pfc() {
    for count in [2, 3, 5, 8] {
        let mut setup = incast(count, |src| flow(src, count, ENDLESS));
        setup.switch.flow_control = FlowControl::Pfc(pause(50_000));
        setup.duration = Time::from_ms(4);
        let results = run(setup);
        assert_shares(results.all_hold(), &vec![1.0 / f64::from(count); count as usize], 0.01);
        assert!(results.summary.pauses.count > 0);
        let goodput = results.goodput.iter().sum::<u64>() as f64 * 8.0 / 4e-3;
        // Upper bound: 1000 of 1082 B on the wire are payload. The lower bound allows 3 of the 4000 us for the
        // arrival of the first frame.
        let most = 10e9 * 1000.0 / 1082.0;
        assert!(goodput < most && goodput > 0.999 * most * (1.0 - 3e-3 / 4.0), "{goodput} of {most}");
    }
}

/// One source demands less than its fair share and gets its demand. The other sources share the rest equally.
#[test]
fn a_flow_below_its_fair_share_gets_its_demand() {
    let modest = Process::Constant { rate: Rate::from_gbps(1) };
    let greedy = Process::Constant { rate: Rate::from_gbps(10) };
    let mut setup = incast(4, |src| datagrams(src, 4, if src == 0 { modest } else { greedy }, 1000, ENDLESS));
    setup.switch.flow_control = FlowControl::Pfc(pause(50_000));
    setup.duration = Time::from_ms(5);
    let results = run(setup);
    assert_shares(results.all_hold(), &[0.1, 0.3, 0.3, 0.3], 0.01);
}

/// Equal RTTs give approximately equal long-term shares. Phase effects of tail drop (Floyd and Jacobson, 1992) prevent
/// exact equality.
#[test]
fn tcp_flows_share_a_bottleneck() {
    let fabric =
        dumbbell(4, 4, link(10, 1000), fabric::LinkSpec::new(Rate::from_mbps(100), Time::from_us(500))).unwrap();
    let flows = (0..4).map(|n| Flow { traffic: n as u8, ..flow(n, 4 + n, ENDLESS) });
    let mut setup = setup(fabric, plan(8, flows));
    setup.host.transport = transport("tcp", &[("min_rto", "10ms"), ("initial_ssthresh", "20KB")]);
    setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Packets(30) };
    setup.duration = Time::from_s(10);
    setup.record.throughput_every = Some(Time::from_ms(100));
    let results = run(setup);
    results.all_hold();
    let shares = shares(&results);
    let jain = 1.0 / (4.0 * shares.iter().map(|share| share * share).sum::<f64>());
    assert!(jain > 0.93, "Jain's index {jain}: {shares:?}");
    let goodput = results.goodput.iter().sum::<u64>() as f64 * 8.0 / 10.0;
    let most = 1e8 * 1460.0 / 1538.0;
    assert!(goodput > 0.95 * most && goodput <= most, "{goodput} of {most}");
}

/// Three classes, each with a demand equal to the rate of the port.
fn classes(scheduler: Scheduler, frames: [u16; 3]) -> Results {
    let rate = Rate::from_gbps(10);
    let mut setup = incast(3, |src| Flow {
        class: 1 + src as u8,
        ..datagrams(src, 3, Process::Constant { rate }, frames[src as usize], ENDLESS)
    });
    setup.switch.scheduler = scheduler;
    setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Bytes(100_000) };
    setup.duration = Time::from_ms(5);
    run(setup)
}

#[test]
fn strict_priority_starves_the_lower_classes() {
    let results = classes(Scheduler::Strict, [1000; 3]);
    // Class 3 has the highest priority. The other classes send only a frame or two before its first frame arrives.
    assert_shares(results.all_hold(), &[0.0, 0.0, 1.0], 0.001);
}

#[test]
fn wrr_divides_frames_and_drr_divides_bytes() {
    let results = classes(Scheduler::Wrr { weights: [1, 1, 2, 5, 1, 1, 1, 1] }, [1000; 3]);
    assert_shares(results.all_hold(), &[0.125, 0.25, 0.625], 0.005);
    // Frames of different lengths: WRR counts frames, not bytes.
    let results = classes(Scheduler::Wrr { weights: [1; 8] }, [246, 546, 1046]);
    assert_shares(results.all_hold(), &[200.0 / 1700.0, 500.0 / 1700.0, 1000.0 / 1700.0], 0.005);
    // DRR counts bytes on the wire: payload, 46 B of headers and 20 B of preamble and gap.
    let quantum_bytes = [1500, 1500, 3000, 4500, 1500, 1500, 1500, 1500];
    let results = classes(Scheduler::Drr { quantum_bytes }, [246, 546, 1046]);
    let wire = [266.0, 566.0, 1066.0];
    let payload = [200.0, 500.0, 1000.0];
    let goodput: Vec<f64> = (0..3).map(|n| f64::from(n + 1) / 6.0 * payload[n as usize] / wire[n as usize]).collect();
    let total: f64 = goodput.iter().sum();
    assert_shares(results.all_hold(), &goodput.iter().map(|part| part / total).collect::<Vec<_>>(), 0.01);
}

/// Work conservation: other classes use the share of an idle class, so the port sends one frame per frame time.
#[test]
fn schedulers_conserve_work() {
    for scheduler in [
        Scheduler::Strict,
        Scheduler::Wrr { weights: [1, 9, 9, 1, 1, 1, 1, 1] },
        Scheduler::Drr { quantum_bytes: [9000; CLASSES] },
    ] {
        let rate = Rate::from_gbps(10);
        let mut setup = incast(2, |src| datagrams(src, 2, Process::Constant { rate }, 1000, ENDLESS));
        setup.switch.scheduler = scheduler;
        setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Bytes(100_000) };
        let results = run(setup);
        let frames = results.summary.packets.delivered_whole;
        // The frame time is 816 ns. The first frame arrives after 2632 ns.
        assert_eq!(frames, (1_000_000 - 2_632) / 816 + 1);
    }
}

/// Parking lot `H1 - S1 - S2 - S3` with two hosts per switch: one flow crosses both inter-switch links, and each of
/// these links has another flow that could fill it. The max-min share of all three flows is half a link. Returns the
/// share of each flow, and the utilisation of the first link.
fn parking_lot(xoff_bytes: u64, own_class: bool) -> ([f64; 3], f64) {
    let fabric = fabric::generate::line(3, 2, link(10, 500), link(10, 500)).unwrap();
    let classes = [3, if own_class { 4 } else { 3 }, 3];
    let flows = [(0, 4), (1, 2), (3, 5)].into_iter().zip(classes).enumerate();
    let flows: Vec<Flow> =
        flows.map(|(at, ((src, dst), class))| Flow { class, traffic: at as u8, ..flow(src, dst, ENDLESS) }).collect();
    let mut setup = setup(fabric, plan(6, flows));
    setup.record.throughput_every = Some(Time::from_us(100));
    setup.switch.flow_control = FlowControl::Pfc(PauseParameters { classes: 1 << 3 | 1 << 4, ..pause(xoff_bytes) });
    setup.switch.scheduler = Scheduler::Drr { quantum_bytes: [1518; 8] };
    setup.host.reply_class = Some(6);
    setup.warm_up = Time::from_ms(2);
    setup.duration = Time::from_ms(42);
    let results = run(setup);
    results.all_hold();
    let most = 10e9 / 8.0 * 42e-3 * 1000.0 / 1082.0;
    let got = [0, 1, 2].map(|at| results.goodput[at] as f64 / most);
    (got, got[0] + got[1])
}

/// PFC shares a port by the buffer occupancy of its neighbours, which are paused at equal thresholds. A neighbour that
/// fills its account twice as fast exceeds XOFF further before it stops, so that it gets a larger share. Flows behind a
/// paused link are blocked with it (head-of-line blocking), so that both get less than the max-min share, by the ratio
/// of the overshoot to XOFF. With a higher XOFF, the effect vanishes. If the other flow has a separate class, it is
/// never paused, and its link is never idle.
#[test]
fn pfc_is_max_min_over_two_bottlenecks_but_for_the_overshoot() {
    let (low, used_low) = parking_lot(20_000, false);
    let (middle, used_middle) = parking_lot(50_000, false);
    let (high, used_high) = parking_lot(500_000, false);
    // Both flows of the first link get less than the max-min share. The flow that shares the second link gets the
    // remainder.
    for got in [low, middle, high] {
        assert!(got[0] < 0.495 && got[1] < 0.499, "{got:?}");
        assert!((got[0] + got[2] - 1.0).abs() < 0.005 && got[2] > 0.505, "{got:?}");
    }
    let used = [used_low, used_middle, used_high];
    assert!(used_low < 0.93 && used_low + 0.03 < used_middle && used_middle + 0.01 < used_high, "{used:?}");
    let (got, used) = parking_lot(50_000, true);
    assert!(used > 0.998 && got[1] > 0.505, "{got:?} of {used}: nothing stops the flow of the other class");
}
