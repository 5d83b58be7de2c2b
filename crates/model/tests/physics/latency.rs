//! Worst-case latencies, which must be at most the closed-form bound and at least 90 % of it. Print them by
//! `cargo test -p tidegate-model --test physics latency -- --nocapture`.

use crate::bench::{datagrams, link, plan, run, setup};
use crate::cyclic::everywhere;
use fabric::generate::{line, single_switch};
use protocols::cyclic::Cycles;
use protocols::shaping::IdleSlopes;
use traffic::{Flow, Process, Start};
use units::{Rate, Time};

const RATE: Rate = Rate::from_gbps(10);
const LINK_DELAY: Time = Time::from_ns(50);

/// Returns the time that frames of these lengths in bytes occupy the wire, including preamble and gap.
fn busy(frames: &[u64]) -> Time {
    frames.iter().map(|bytes| RATE.serialise(bytes + 20)).sum()
}

/// Returns the time from the start of transmission of a frame to the arrival of its last bit over one link.
fn flight(bytes: u64) -> Time {
    RATE.serialise(bytes + 8) + LINK_DELAY
}

/// A flow of `frames` back-to-back frames from `src`, the first of which arrives at the switch at `at`.
fn at_switch(src: u32, dst: u32, (class, bytes, frames): (u8, u64, u64), at: Time) -> Flow {
    let flow = datagrams(src, dst, Process::Constant { rate: RATE }, bytes as u16, bytes * frames);
    Flow { class, start: Start::At(at - flight(bytes)), ..flow }
}

/// Returns the maximum delay of the frames of host 0 minus the delay in an idle network. All flows have the last host
/// as destination.
fn longest_wait(hosts: u32, flows: Vec<Flow>, bytes: u64, idle_slope: Option<Rate>) -> Time {
    let fabric = single_switch(hosts, link(10, 50)).unwrap();
    let (node, peer) = (fabric.switches().next().unwrap(), fabric.host_node(hosts - 1));
    let port = fabric.ports(node).iter().position(|port| port.peer == peer).unwrap() as u16;
    let mut setup = setup(fabric, plan(hosts, flows));
    if let Some(slope) = idle_slope {
        let mut slopes = IdleSlopes::default();
        slopes.by_class[6] = Some(slope);
        setup.timing.shaping = [((node, port), slopes)].into();
    }
    setup.record.jitter = true;
    let results = run(setup);
    results.all_hold();
    Time::from_ps(results.summary.jitter[0].max_delay_ps) - flight(bytes) - flight(bytes)
}

/// Prints the measured worst case and checks it against the bound.
fn judge(what: &str, measured: Time, bound: Time) {
    let share = measured.as_ps() as f64 / bound.as_ps() as f64;
    println!("{what}: {measured} of {bound}, {:.1} %", share * 100.0);
    assert!(measured <= bound && share >= 0.9, "{what}: {measured} of {bound}");
}

/// Strict priority: the bound on the queueing delay is one frame of lower priority that has started, plus all earlier
/// frames of higher priority and of the same class.
#[test]
fn latency_under_strict_priority_is_one_lower_frame_and_all_higher_ones() {
    const OWN: u64 = 600;
    let at = Time::from_us(20);
    let higher = [(7u8, 400u64), (6, 1000), (5, 700), (5, 300)];
    let bound = busy(&[1518, 400, 1000, 700, 300]);
    let mut worst = Time::ZERO;
    for phase_ns in 0..60 {
        // The low-priority frame arrives up to 1.2 us before the others, which arrive simultaneously.
        let lower_at = at - Time::from_ns(1 + 20 * phase_ns);
        let mut flows = vec![at_switch(0, 6, (5, OWN, 1), at), at_switch(5, 6, (0, 1518, 1), lower_at)];
        for (src, &(class, bytes)) in (1..).zip(&higher) {
            flows.push(at_switch(src, 6, (class, bytes, 1), at - Time::from_ps(1)));
        }
        let wait = longest_wait(7, flows, OWN, None);
        assert!(wait <= bound, "{phase_ns}: {wait}");
        worst = worst.max(wait);
    }
    judge("strict priority", worst, bound);
}

/// Credit-based shaper, highest class: the bound on the queueing delay of the last frame of a burst is one frame of
/// another class, plus the transmission of the rest of the burst at the idle slope, minus the duration of the burst's
/// arrival (802.1Q-2022, annex L).
#[test]
fn latency_under_shaping_is_one_other_frame_and_the_burst_at_the_idle_slope() {
    const OWN: u64 = 1000;
    let at = Time::from_us(100);
    for (frames, gbps) in [(10, 2), (40, 5), (40, 1)] {
        let slope = Rate::from_gbps(gbps);
        let came = busy(&[OWN]) * (frames - 1);
        let bound = busy(&[1518]) + slope.serialise((frames - 1) * (OWN + 20)) - came;
        let mut worst = Time::ZERO;
        for phase_ns in 0..30 {
            let lower_at = at - Time::from_ns(1 + 40 * phase_ns);
            let flows = vec![at_switch(0, 2, (6, OWN, frames), at), at_switch(1, 2, (0, 1518, 1), lower_at)];
            let wait = longest_wait(3, flows, OWN, Some(slope));
            assert!(wait <= bound, "{frames} {gbps} {phase_ns}: {wait}");
            worst = worst.max(wait);
        }
        judge(&format!("shaping, {frames} frames at {slope}"), worst, bound);
    }
}

/// Cyclic queuing and forwarding: the latency is between (switches - 1) and (switches + 1) cycles (802.1Q-2022, T.2),
/// and both bounds are approached. The slowest frame arrives at the beginning of a cycle and is the last frame that the
/// last switch sends in its cycle. The fastest frame arrives at the end of a cycle and is the first to be sent.
#[test]
fn latency_under_cyclic_queuing_is_one_cycle_more_or_less_than_there_are_switches() {
    const OWN: u64 = 1500;
    const CYCLE: Time = Time::from_ps(12_500_000);
    let begins = CYCLE * 8;
    for switches in [3u32, 5] {
        let latency = |came: Time, others: u32| {
            let fabric = line(switches, 10, link(10, 50), link(10, 50)).unwrap();
            let (hosts, last) = (fabric.hosts().len() as u32, (switches - 1) * 10);
            let cycles = everywhere(&fabric, Cycles::new(CYCLE, [6, 7], LINK_DELAY).unwrap());
            let mut flows = vec![at_switch(0, last, (6, OWN, 1), came)];
            // The other frames arrive at the last switch at the beginning of the cycle in which the measured frame
            // arrives at that switch.
            let there = begins + CYCLE * u64::from(switches - 1) + Time::from_ps(1);
            flows.extend((1..=others).map(|other| at_switch(last + other, last, (6, OWN, 1), there)));
            let mut setup = setup(fabric, plan(hosts, flows));
            setup.timing.cycles = cycles;
            setup.record.jitter = true;
            let results = run(setup);
            results.all_hold();
            assert_eq!(results.summary.mechanisms["cyclic"]["missed"], 0);
            Time::from_ps(results.summary.jitter[0].max_delay_ps) - flight(OWN)
        };
        // Nine other frames of 1.216 us are sent first, so that the measured frame is sent near the end of the cycle.
        let slowest = (0..12).map(|phase_ns| latency(begins + Time::from_ns(1 + phase_ns), 9)).max().unwrap();
        judge(&format!("cyclic queuing, {switches} switches"), slowest, CYCLE * u64::from(switches + 1));
        let fastest = (0..12).map(|phase_ns| latency(begins + CYCLE - Time::from_ns(1 + phase_ns), 0)).min().unwrap();
        let bound = CYCLE * u64::from(switches - 1);
        println!("cyclic queuing, {switches} switches, the fastest: {fastest} of {bound}");
        assert!(fastest >= bound && fastest.as_ps() as f64 <= 1.1 * bound.as_ps() as f64, "{fastest} of {bound}");
    }
}

/// Number of hosts per switch of a line. The last host of each switch receives cross traffic.
const EACH: u32 = 8;

/// Makes cross traffic on each link between switches of a line and on the last link, at the worst time for a frame of
/// host 0 that arrives at the first switch at `at`. Each cross flow shares only one link with this frame. `wait` is the
/// queueing delay of the frame at each switch.
fn at_every_switch(
    switches: u32,
    at: Time,
    own: u64,
    wait: Time,
    others: impl Fn(u32, u32, Time) -> Vec<Flow>,
) -> Vec<Flow> {
    let mut came = at;
    let mut flows = Vec::new();
    for switch in 0..switches {
        // Cross flows of the last switch share its link to its first host, the destination of the measured frame.
        // Those of other switches go to the last host of the next switch, so that they share only the link between
        // the two switches.
        let dst = if switch + 1 == switches { switch * EACH } else { (switch + 1) * EACH + EACH - 1 };
        flows.extend(others(switch * EACH, dst, came));
        came += wait + flight(own);
    }
    flows
}

/// Returns the maximum delay of the frames of host 0 over a line of switches minus the delay in an idle network.
fn longest_wait_in_line(switches: u32, flows: Vec<Flow>, bytes: u64, idle_slope: Option<Rate>) -> Time {
    let fabric = line(switches, EACH, link(10, 50), link(10, 50)).unwrap();
    let ports = |node| (0..fabric.ports(node).len() as u16).map(move |port| (node, port));
    let all: Vec<_> = fabric.switches().flat_map(ports).collect();
    let mut setup = setup(fabric.clone(), plan(switches * EACH, flows));
    if let Some(slope) = idle_slope {
        let mut slopes = IdleSlopes::default();
        slopes.by_class[6] = Some(slope);
        setup.timing.shaping = all.into_iter().map(|port| (port, slopes)).collect();
    }
    setup.record.jitter = true;
    let results = run(setup);
    results.all_hold();
    Time::from_ps(results.summary.jitter[0].max_delay_ps) - flight(bytes) * u64::from(switches + 1)
}

/// Strict priority over several switches: the bound per switch is one frame of lower priority that has started, plus
/// all frames of higher priority.
#[test]
fn latency_under_strict_priority_adds_up_over_switches() {
    const OWN: u64 = 600;
    let at = Time::from_us(20);
    for switches in [3u32, 5] {
        let at_one = busy(&[1518, 400, 1000]);
        let worst = (0..20).map(|early_ns| {
            let early = Time::from_ns(1 + early_ns);
            let mut flows = vec![at_switch(0, (switches - 1) * EACH, (5, OWN, 1), at)];
            flows.extend(at_every_switch(switches, at, OWN, at_one - early, |first, dst, came| {
                vec![
                    at_switch(first + 1, dst, (0, 1518, 1), came - early),
                    at_switch(first + 2, dst, (7, 400, 1), came - Time::from_ps(1)),
                    at_switch(first + 3, dst, (6, 1000, 1), came - Time::from_ps(1)),
                ]
            }));
            longest_wait_in_line(switches, flows, OWN, None)
        });
        let bound = at_one * u64::from(switches);
        judge(&format!("strict priority, {switches} switches"), worst.max().unwrap(), bound);
    }
}

/// Credit-based shaper over several switches: a burst is delayed only at the first switch. After it, the frames arrive
/// at the idle slope, and each further switch adds at most one cross frame.
#[test]
fn latency_under_shaping_pays_for_a_burst_once() {
    const OWN: u64 = 1000;
    let at = Time::from_us(100);
    let (frames, slope) = (20, Rate::from_gbps(2));
    for switches in [3u32, 5] {
        let spread = slope.serialise((frames - 1) * (OWN + 20));
        let first = busy(&[1518]) + spread - busy(&[OWN]) * (frames - 1);
        let early = Time::from_ns(1);
        let mut flows = vec![at_switch(0, (switches - 1) * EACH, (6, OWN, frames), at)];
        // Arrival of the last frame of the burst at the first switch. The first frame of the burst is delayed by a
        // cross frame.
        let last = at + busy(&[OWN]) * (frames - 1);
        let mut came = last + first - early + flight(OWN);
        flows.push(at_switch(1, EACH + EACH - 1, (0, 1518, 1), at - early));
        for switch in 1..switches {
            let dst = if switch + 1 == switches { switch * EACH } else { (switch + 1) * EACH + EACH - 1 };
            flows.push(at_switch(switch * EACH + 1, dst, (0, 1518, 1), came - early));
            came += busy(&[1518]) - early + flight(OWN);
        }
        let worst = longest_wait_in_line(switches, flows, OWN, Some(slope));
        let bound = first + busy(&[1518]) * u64::from(switches - 1);
        judge(&format!("shaping, {frames} frames at {slope}, {switches} switches"), worst, bound);
    }
}
