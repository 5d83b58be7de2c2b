//! Compares the rate controller with closed forms, and tests it with random input.

use super::*;
use crate::frame::{Detail, Kind};
use units::random::Stream;

fn flow(parameters: &EccpParameters, gbps: u64) -> Eccp {
    let parameters = EccpParameters { initial_rate: Some(Rate::from_gbps(gbps)), ..parameters.clone() };
    let most = Rate::from_gbps(10);
    Eccp::new(
        &parameters,
        FlowLimits { most, line: most, start: Time::ZERO, round_trip: Time::ZERO, payload_bytes: 1000 },
    )
}

fn cnp(available_bps: u64) -> Frame {
    Frame { kind: Kind::Cnp, detail: Detail::available(available_bps), ..Frame::default() }
}

/// At 4 Gbps with AvT = 0.1 the margin is 400 Mbps. The ratio is the available bandwidth over the margin; at
/// equilibrium it is 0.5 (200 Mbps). Cut factor: 1 + Gd (ratio - 0.5 + w (ratio - ratio before)).
#[test]
fn the_rate_is_cut_by_offset_and_fall_of_the_ratio() {
    let p = EccpParameters::default();
    let factor = |before: f64, mbps: u64| {
        let mut flow = flow(&p, 4);
        flow.ratio = before;
        let factor = flow.judge(&p, mbps * 1_000_000);
        assert_eq!(flow.ratio, (mbps as f64 / 400.0).min(1.0), "whatever it does, it remembers");
        factor
    };
    assert_eq!(factor(0.5, 200), None);
    assert_eq!(factor(1.0, 5_000), None, "more than the margin is the whole margin");
    let gain = 100.0 / 128.0;
    assert_eq!(factor(0.25, 100), Some(1.0 - gain * 0.25));
    assert_eq!(factor(0.5, 100), Some(0.5), "-0.25 - 2 * 0.25 would be more than half");
    // A rising ratio does not cut the rate, even below the equilibrium.
    assert_eq!(factor(0.0, 180), None);
    assert_eq!(factor(0.5, 190), Some(1.0 + gain * (0.475 - 0.5 + 2.0 * (0.475 - 0.5))));
}

#[test]
fn a_cut_sets_the_target_and_the_stages_bring_it_back() {
    let p = EccpParameters::default();
    let mut flow = flow(&p, 8);
    (0..2).for_each(|_| flow.on_cnp(&p, Time::ZERO, &cnp(0)));
    // From 8 Gbps, the first CNP has a feedback of -0.5 - 2 * 1 = -2.5 and halves the rate, the maximum cut. The
    // second one has an unchanged ratio and a feedback of -0.5, which removes Gd / 2 = 25/64.
    assert_eq!(
        (flow.recovery.current(), flow.recovery.target()),
        (Rate::from_bps(2_437_500_000).unwrap(), Rate::from_gbps(4))
    );
    assert_eq!(flow.next_change(), Time::from_ms(5));
    assert_eq!(flow.rate(&p, Time::from_ms(5)), Rate::from_bps(3_218_750_000).unwrap());
    // After the five stages of fast recovery, the stage length is halved and the target rate rises by 5 Mbps per
    // stage.
    flow.rate(&p, Time::from_ms(25));
    assert_eq!(flow.next_change(), Time::from_us(27_500));
    assert_eq!(flow.recovery.target(), Rate::from_mbps(4005));
}

#[test]
fn the_rate_keeps_its_bounds_for_any_input() {
    for seed in 0..20 {
        let mut random = Stream::new(seed, 0, 0);
        let p =
            EccpParameters { gain: random.unit().max(0.01), weight: 1.0 + random.unit(), ..EccpParameters::default() };
        let (mut flow, mut now) = (flow(&p, 10), Time::ZERO);
        for _ in 0..5000 {
            now += Time::from_us(random.below(8000));
            let bits = random.below(64);
            match random.below(4) {
                0 => flow.on_cnp(&p, now, &cnp(random.next_u64() >> bits)),
                1 => flow.on_sent(&p, now, random.below(900_000)),
                2 => _ = flow.halve(&p, now),
                _ => {}
            }
            let rate = flow.rate(&p, now);
            assert!((p.recovery.min_rate..=Rate::from_gbps(10)).contains(&rate), "{rate}");
            assert!(flow.next_change() > now && flow.ratio.is_finite());
        }
    }
}
