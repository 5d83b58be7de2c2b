use super::*;
use units::random::Stream;

const LINE: Rate = Rate::from_gbps(100);
const RTT: Time = Time::from_us(8);

fn parameters() -> HpccParameters {
    HpccParameters { base_rtt: Some(RTT), ..HpccParameters::default() }
}

fn flow(parameters: &HpccParameters) -> Hpcc {
    Hpcc::new(
        parameters,
        FlowLimits { most: LINE, line: LINE, start: Time::ZERO, round_trip: Time::ZERO, payload_bytes: 1000 },
    )
}

fn hop(at: Time, queue_bytes: u64, sent_bytes: u64) -> Hop {
    Hop { at, rate: LINE, queue_bytes, sent_bytes, probe_bytes: 0 }
}

/// Handles an acknowledgement of the bytes up to `seq`; `next` is the next byte to send.
fn report(flow: &mut Hpcc, parameters: &HpccParameters, (seq, next): (u64, u64), hops: &[Hop]) {
    let ack = AckInfo { rtt: RTT, wire_bytes: 1124, ece: false, seq, new_bytes: 1000, next, switches: 1, hops };
    flow.on_ack(parameters, Time::ZERO, ack);
}

/// A full link and a queue of one bandwidth-delay product have a utilisation of 2: the rate becomes 0.95 / 2 of the
/// line rate, plus the additive increase (HPCC, eq. 2 and 4).
#[test]
fn a_queue_of_one_bandwidth_delay_product_halves_the_rate() {
    let p = parameters();
    let mut flow = flow(&p);
    assert_eq!(flow.window_bytes(), 100_000, "100 Gbps for 8 us");
    report(&mut flow, &p, (1000, 100_000), &[hop(Time::ZERO, 100_000, 0)]);
    assert_eq!(flow.0.rate, LINE, "the first acknowledgement only begins the round trip");
    // One RTT later, the port has sent 100 kB (the bandwidth-delay product) and 100 kB are still queued.
    report(&mut flow, &p, (100_001, 200_000), &[hop(RTT, 100_000, 100_000)]);
    assert_eq!(flow.0.utilisation, 2.0);
    assert_eq!(flow.0.rate.as_bps(), 100_000_000_000 * 95 / 200 + 40_000_000);
    assert_eq!(flow.window_bytes(), flow.0.rate.as_bps() * 8 / 8_000_000);
    assert_eq!(flow.0.reference, flow.0.rate, "a round trip is over");
}

/// Two links: the utilisation is that of the busier link (10 Gbps), although the other link (100 Gbps) has the longer
/// queue.
// [HPCC7]
#[test]
fn the_busiest_link_counts() {
    let p = parameters();
    let mut flow = flow(&p);
    let slow =
        |at: Time, queue_bytes, sent_bytes| Hop { rate: Rate::from_gbps(10), ..hop(at, queue_bytes, sent_bytes) };
    report(&mut flow, &p, (1, 10), &[hop(Time::ZERO, 20_000, 0), slow(Time::ZERO, 15_000, 0)]);
    report(&mut flow, &p, (11, 20), &[hop(RTT, 20_000, 80_000), slow(RTT, 15_000, 10_000)]);
    // Utilisation from throughput and queue length: 0.8 + 0.2 on the fast link, 1 + 1.5 on the slow link.
    assert_eq!(flow.0.utilisation, 2.5);
}

/// Within a round trip, each acknowledgement computes the rate from the reference rate at the start of the round
/// trip, so that several acknowledgements cause one cut, not a product of cuts (HPCC, sec. 3.2).
// [HPCC9]
#[test]
fn acknowledgements_of_one_round_trip_do_not_add_up() {
    let p = parameters();
    let mut flow = flow(&p);
    let at = |step: u64| hop(Time::from_ns(800 * step), 100_000, 10_000 * step);
    report(&mut flow, &p, (1000, 100_000), &[at(0)]);
    let mut rates = Vec::new();
    for step in 1..=20 {
        report(&mut flow, &p, (1000 + step * 1000, 200_000), &[at(step)]);
        assert_eq!(flow.0.reference, LINE);
        rates.push(flow.0.rate.as_bps());
    }
    // Per acknowledgement, after a tenth of the RTT, U moves from 1 towards 2 by a tenth of the difference.
    let mut utilisation = 1.0;
    for rate in rates {
        utilisation = 0.9 * utilisation + 0.2;
        let expected = 100e9 * 0.95 / utilisation + 40e6;
        assert!((rate as f64 - expected).abs() < 10.0, "{rate} {expected}");
    }
    let mut plain = flow.clone();
    let without = HpccParameters { fast_reaction: false, ..p.clone() };
    let before = plain.0.rate;
    report(&mut plain, &without, (50_000, 200_000), &[at(30)]);
    assert_eq!(plain.0.rate, before, "without fast reaction only whole round trips count");
}

/// At 10 of 100 Gbps the rate rises by one step per round trip. After maxStage steps it follows the measured
/// utilisation of 0.1: the rate is multiplied by 0.95 / 0.1.
// [HPCC8]
#[test]
fn after_max_stage_steps_the_rate_follows_the_measurement() {
    let p = HpccParameters { max_stage: 3, ..parameters() };
    let mut flow = flow(&p);
    (flow.0.rate, flow.0.reference) = (Rate::from_gbps(10), Rate::from_gbps(10));
    let mut rates = Vec::new();
    for round in 0..6 {
        // The utilisation is 0.1, caused by this flow alone.
        report(&mut flow, &p, (round * 100 + 1, round * 100 + 100), &[hop(RTT * round, 0, 10_000 * round)]);
        rates.push(flow.0.rate.as_bps() / 1_000_000);
    }
    assert_eq!(rates[..4], [10_000, 10_040, 10_080, 10_120]);
    let jump = (10_120.0 * 9.5 + 40.0) as u64;
    assert!(rates[4].abs_diff(jump) <= 1, "{rates:?} {jump}");
    assert_eq!(rates[5], (rates[4] + 40).min(100_000), "and the row begins again");
}

/// Telemetry of another path (another number of hops, or decreased timestamps or byte counts) is no utilisation
/// sample; it replaces the stored telemetry.
// [HPCC6]
#[test]
fn another_path_begins_anew() {
    let p = parameters();
    let mut flow = flow(&p);
    report(&mut flow, &p, (1, 10), &[hop(Time::from_us(100), 0, 1_000_000)]);
    for hops in [&[hop(RTT, 500_000, 10)][..], &[hop(RTT, 500_000, 20), hop(RTT, 500_000, 20)], &[]] {
        report(&mut flow, &p, (11, 20), hops);
        assert_eq!((flow.0.rate, flow.0.utilisation), (LINE, 1.0));
    }
    // A duplicate of the stored telemetry: no time has passed at the ports, so that it is no sample either.
    let same = [hop(RTT, 500_000, 20), hop(RTT, 500_000, 20)];
    report(&mut flow, &p, (12, 20), &same);
    assert_eq!(flow.0.utilisation, 1.0);
}

/// Random telemetry: rate and utilisation stay within their bounds, and the window is at least one byte.
#[test]
fn the_rate_keeps_its_bounds_for_any_report() {
    for seed in 0..20 {
        let mut random = Stream::new(seed, 0, 0);
        let p = HpccParameters { max_stage: random.below(4) as u32, fast_reaction: seed % 2 == 0, ..parameters() };
        let mut flow = flow(&p);
        let (mut seq, mut next) = (0, 0);
        let mut hops = vec![hop(Time::ZERO, 0, 0); 3];
        for _ in 0..10_000 {
            seq += random.below(3000);
            next = seq.max(next) + random.below(3000);
            for hop in &mut hops {
                let bits = random.below(40);
                hop.at = hop.at.saturating_add(Time::from_ps(random.below(1 << bits)));
                hop.sent_bytes = hop.sent_bytes.saturating_add(random.below(1 << bits));
                hop.queue_bytes = random.below(1 << bits);
                hop.rate = Rate::from_bps(1 + random.below(1 << bits)).unwrap();
                if random.below(500) == 0 {
                    *hop = Hop { at: Time::ZERO, rate: LINE, queue_bytes: 0, sent_bytes: u64::MAX, probe_bytes: 0 };
                }
            }
            let telemetry = &hops[..if random.below(100) == 0 { random.below(4) as usize } else { 3 }];
            report(&mut flow, &p, (seq, next), telemetry);
            assert!((p.min_rate..=LINE).contains(&flow.0.rate), "{flow:?}");
            assert!(flow.0.utilisation.is_finite() && flow.0.utilisation >= 0.0, "{flow:?}");
            assert!(flow.window_bytes() >= 1);
            if random.below(50) == 0 {
                let before = flow.0.rate;
                assert_eq!(flow.halve(&p, Time::ZERO), before > p.min_rate);
            }
        }
    }
}
