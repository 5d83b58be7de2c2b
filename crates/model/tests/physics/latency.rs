//! Worst cases of latency beside their closed forms: never above, and within a tenth.
//! `cargo test -p tidegate-model --test physics latency -- --nocapture` prints them.

use crate::bench::{datagrams, link, plan, run, setup};
use fabric::generate::single_switch;
use protocols::shaping::IdleSlopes;
use traffic::{Flow, Process, Start};
use units::{Rate, Time};

const RATE: Rate = Rate::from_gbps(10);
const LINK_DELAY: Time = Time::from_ns(50);

/// Time on the wire of frames of this many bytes, preamble and gap included.
fn busy(frames: &[u64]) -> Time {
    frames.iter().map(|bytes| RATE.serialise(bytes + 20)).sum()
}

/// From the first bit of a frame to its last at the other end of a link.
fn flight(bytes: u64) -> Time {
    RATE.serialise(bytes + 8) + LINK_DELAY
}

/// Frames one after the other from `src`, of which the first is at the switch, in full, at `at`.
fn at_switch(src: u32, dst: u32, (class, bytes, frames): (u8, u64, u64), at: Time) -> Flow {
    let flow = datagrams(src, dst, Process::Constant { rate: RATE }, bytes as u16, bytes * frames);
    Flow { class, start: Start::At(at - flight(bytes)), ..flow }
}

/// The longest delay of the frames of host 0, less what they take alone; the flows end at the last host.
fn longest_wait(hosts: u32, flows: Vec<Flow>, bytes: u64, idle_slope: Option<Rate>) -> Time {
    let fabric = single_switch(hosts, link(10, 50)).unwrap();
    let (node, peer) = (fabric.switches().next().unwrap(), fabric.host_node(hosts - 1));
    let port = fabric.ports(node).iter().position(|port| port.peer == peer).unwrap() as u16;
    let mut setup = setup(fabric, plan(hosts, flows));
    if let Some(slope) = idle_slope {
        let mut slopes = IdleSlopes::default();
        slopes.0[6] = Some(slope);
        setup.timing.shaping = [((node, port), slopes)].into();
    }
    setup.record.jitter = true;
    let told = run(setup);
    told.all_hold();
    Time::from_ps(told.summary.jitter[0].most_delay_ps) - flight(bytes) - flight(bytes)
}

/// Says and judges what was measured over all phases.
fn judge(what: &str, measured: Time, bound: Time) {
    let share = measured.as_ps() as f64 / bound.as_ps() as f64;
    println!("{what}: {measured} of {bound}, {:.1} %", share * 100.0);
    assert!(measured <= bound && share >= 0.9, "{what}: {measured} of {bound}");
}

/// Strict priority: one frame of a lower class that has begun, and all of higher and of its own that came before it.
#[test]
fn latency_under_strict_priority_is_one_lower_frame_and_all_higher_ones() {
    const OWN: u64 = 600;
    let at = Time::from_us(20);
    let higher = [(7u8, 400u64), (6, 1000), (5, 700), (5, 300)];
    let bound = busy(&[1518, 400, 1000, 700, 300]);
    let mut worst = Time::ZERO;
    for phase_ns in 0..60 {
        // The lower frame comes up to 1.2 us before the others, which come together.
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

/// Credit-based shaping, the highest class: the last frame of a burst waits for one frame of another class, and for the
/// others of its burst at the idle slope, less the time in which these came (802.1Q-2022, annex L).
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
