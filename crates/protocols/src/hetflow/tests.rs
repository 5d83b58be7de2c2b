//! Compares the rate recovery with closed forms, and tests it with random input.

use super::*;
use units::random::Stream;

fn at(parameters: &HetFlowParameters, gbps: u64) -> HetFlow {
    let parameters = HetFlowParameters { initial_rate: Some(Rate::from_gbps(gbps)), ..parameters.clone() };
    let most = Rate::from_gbps(10);
    HetFlow::new(
        &parameters,
        FlowLimits { most, line: most, start: Time::ZERO, round_trip: Time::ZERO, payload_bytes: 1000 },
    )
}

fn message(feedback: u8) -> CongestionMessage {
    CongestionMessage { feedback, ..CongestionMessage::default() }
}

/// Figure 3.5 of the thesis: the rate is R^ (1 - Gd Fb) after the cut, R^ after one recovery time, R^ (1 + Gd Fb)
/// after two. It does not change before the timer of 3 ms.
#[test]
fn the_climb_is_the_cubic_of_equation_3_6() {
    let p = HetFlowParameters::default();
    for feedback in [1, 16, 64] {
        let mut flow = at(&p, 4);
        let cut_at = Time::from_us(7);
        flow.on_cnm(&p, cut_at, message(feedback));
        let depth = f64::from(feedback) / 128.0;
        let closed = |ms: f64| 4e9 * (1.0 + depth * ((ms - 10.0) / 10.0_f64).powi(3));
        for ms in [0, 3, 5, 10, 15, 20] {
            let rate = flow.rate(&p, cut_at + Time::from_ms(ms)).as_bps() as f64;
            let expected = if ms < 3 { closed(0.0) } else { closed(ms as f64) };
            assert!((rate - expected).abs() <= 1.0, "{feedback} {ms} ms: {rate} for {expected}");
        }
    }
}

#[test]
fn for_the_time_of_the_timer_after_a_notification_the_rate_stays() {
    let p = HetFlowParameters::default();
    let mut flow = at(&p, 8);
    flow.on_cnm(&p, Time::ZERO, message(64));
    assert_eq!(flow.next_change(), p.timer);
    assert_eq!(flow.rate(&p, p.timer - Time::from_ps(1)), Rate::from_gbps(4));
    assert!(flow.rate(&p, p.timer) > Rate::from_gbps(6), "{:?}", flow.rate);
    // A notification at 4 ms restarts the timer of 3 ms.
    flow.on_cnm(&p, Time::from_ms(4), message(1));
    assert_eq!(flow.next_change(), Time::from_ms(7));
}

/// The rate at an instant does not depend on how often it was read before.
#[test]
fn late_calls_change_nothing() {
    let p = HetFlowParameters::default();
    let mut random = Stream::new(3, 0, 0);
    for _ in 0..200 {
        let (mut prompt, mut late) = (at(&p, 5), at(&p, 5));
        let feedback = 1 + random.below(64) as u8;
        prompt.on_cnm(&p, Time::ZERO, message(feedback));
        late.on_cnm(&p, Time::ZERO, message(feedback));
        let end = Time::from_ns(random.below(40_000_000));
        while prompt.next_change() <= end {
            prompt.rate(&p, prompt.next_change());
        }
        assert_eq!(prompt.rate(&p, end), late.rate(&p, end));
        assert_eq!(prompt.next_change(), late.next_change());
    }
}

/// From 1 Gbps, without notifications, the rate rises to its limit of 10 Gbps.
#[test]
fn a_flow_climbs_to_its_limit_and_rests_there() {
    let p = HetFlowParameters::default();
    let mut flow = at(&p, 1);
    assert_eq!(flow.rate(&p, Time::from_us(99)), Rate::from_gbps(1));
    assert_eq!(flow.rate(&p, Time::from_s(2)), Rate::from_gbps(10));
    assert_eq!(flow.next_change(), Time::MAX, "at the limit nothing is left to do");
    flow.on_cnm(&p, Time::from_s(3), message(0));
    assert_eq!(flow.rate(&p, Time::from_s(4)), Rate::from_gbps(10), "no congestion, no cut");
}

/// Random and invalid notifications at random times: rates stay within their bounds, and the next update is in the
/// future.
#[test]
fn the_rate_keeps_its_bounds_for_any_input() {
    for seed in 0..20 {
        let mut random = Stream::new(seed, 0, 0);
        let p = HetFlowParameters {
            gain: (1 + random.below(64)) as f64 / 4096.0,
            recovery: Time::from_us(1 + random.below(20_000)),
            update: Time::from_us(1 + random.below(3000)),
            ..HetFlowParameters::default()
        };
        let (mut flow, mut now) = (at(&p, 10), Time::ZERO);
        for _ in 0..5000 {
            now += Time::from_us(random.below(5000));
            match random.below(4) {
                0 => flow.on_cnm(&p, now, message(random.next_u32() as u8)),
                1 => {
                    let before = flow.rate(&p, now);
                    assert_eq!(flow.halve(&p, now), before > p.min_rate);
                }
                _ => {}
            }
            let rate = flow.rate(&p, now);
            assert!((p.min_rate..=Rate::from_gbps(10)).contains(&rate), "{rate}");
            assert!(flow.next_change() > now);
        }
    }
}
