//! Sampled congestion control state, compared with the equations of the papers.

use crate::bench::*;
use fabric::generate::dumbbell;
use model::parameters::*;
use stats::control::ControlSample;
use units::{Rate, Time};

fn of_flow(results: &Results, flow: u64) -> Vec<ControlSample> {
    results.controls.iter().filter(|sample| sample.flow == flow).copied().collect()
}

/// A lone TCP flow with an RTT of 2 ms doubles its window per RTT in slow start, because each segment is acknowledged
/// and each acknowledgement adds a segment (RFC 5681, 3.1).
#[test]
fn tcp_in_slow_start_doubles_its_window_each_round_trip() {
    let fabric = dumbbell(1, 1, link(100, 333_333), link(100, 333_333)).unwrap();
    let mut setup = setup(fabric, plan(2, [flow(0, 1, traffic::ENDLESS)]));
    let settings = [("mss", "1000B"), ("initial_window", "2000B"), ("delayed_ack", "false"), ("initial_rto", "1s")];
    setup.host.transport = transport("tcp", &settings);
    setup.duration = Time::from_ms(17);
    setup.record.control_every = Some(Time::from_ms(2));
    let samples = of_flow(&run(setup), 0);
    // The RTT is slightly longer than the sampling interval of 2 ms: a sample is taken just before the end of round k
    // and has the window of round k - 1.
    let windows: Vec<u64> = samples.iter().map(|sample| sample.window_bytes.unwrap()).collect();
    assert_eq!(windows, (0..8).map(|round| 2000 << round).collect::<Vec<u64>>());
    assert_eq!(samples[0].rtt_ps, None, "nothing has come back yet");
    let rtt = samples[1].rtt_ps.unwrap();
    assert!((2_000_000_000..2_010_000_000).contains(&rtt), "{rtt}");
    assert!(samples.iter().all(|sample| sample.rate_bps.is_none() && sample.alpha.is_none()));
    assert!(samples.iter().all(|sample| sample.flight_bytes == sample.window_bytes), "it sends all that it may");
}

fn dcqcn() -> Setup {
    let fabric = dumbbell(2, 2, link(10, 1_000), link(10, 1_000)).unwrap();
    let mut setup = setup(fabric, plan(4, [flow(0, 2, traffic::ENDLESS), flow(1, 3, 200_000)]));
    setup.switch.marking = Marking::Ecn(EcnParameters {
        k_min_bytes: 20_000,
        k_max_bytes: Some(20_000),
        p_max: 1.0,
        of_rate: None,
        at: MarkEvent::Enqueue,
    });
    setup.host.transport = transport("dcqcn", &[("byte_counter", "0B")]);
    setup.duration = Time::from_ms(3);
    setup.record.control_every = Some(Time::from_us(55));
    setup
}

/// A DCQCN flow after one rate decrease, sampled at the interval of the increase timer. Each sample shows one stage:
/// five stages of fast recovery, which halve the distance to the target rate; then one additive increase; then hyper
/// increases (DCQCN, fig. 7). Alpha decreases by the factor 1 - g per sample (eq. 2).
#[test]
fn dcqcn_recovers_by_its_stages_and_forgets_by_its_gain() {
    let samples = of_flow(&run(dcqcn()), 0);
    let held: Vec<(u64, u64, f64)> = samples
        .iter()
        .map(|sample| (sample.rate_bps.unwrap(), sample.target_bps.unwrap(), sample.alpha.unwrap()))
        .collect();
    let cut = (1..held.len()).rev().find(|&at| held[at].0 < held[at - 1].0).expect("a cut");
    assert!(held.len() > cut + 12, "{cut} of {}", held.len());
    let (mut rate, mut target, mut alpha) = held[cut];
    assert!(rate < 9_000_000_000 && alpha > 0.5, "{rate} {alpha}");
    for (stage, sample) in (1..=12).zip(&held[cut + 1..]) {
        target = (target + [0, 40_000_000, 400_000_000][usize::from(stage >= 5) + usize::from(stage > 5)])
            .min(10_000_000_000);
        rate += (target - rate).div_ceil(2);
        alpha *= 1.0 - 1.0 / 256.0;
        assert_eq!((sample.0, sample.1), (rate, target), "stage {stage}");
        assert!((sample.2 - alpha).abs() < 1e-12, "stage {stage}: {} and {alpha}", sample.2);
    }
}

/// Sampling does not change the run, and samples are equal on any number of threads.
#[test]
fn sampling_controls_changes_nothing_on_any_number_of_threads() {
    for kind in ["tcp", "dctcp", "dcqcn", "timely", "hetflow", "qcn", "eccp", "hpcc", "dctcp-rate", "swift", "external"]
    {
        let of = |threads: usize, samples: Option<Time>| {
            let mut setup = dcqcn();
            setup.host.transport = transport(kind, &[]);
            (setup.threads, setup.record.control_every) = (threads, samples);
            let results = run(setup);
            (results.controls, results.flows, results.summary.packets, results.summary.packet_hops)
        };
        let seen = of(1, Some(Time::from_us(7)));
        assert!(seen.0.len() > 400, "{kind}: {}", seen.0.len());
        let unseen = of(1, None);
        assert!(unseen.0.is_empty());
        assert!((&seen.1, &seen.2, seen.3) == (&unseen.1, &unseen.2, unseen.3), "{kind}");
        assert!(seen == of(2, Some(Time::from_us(7))) && seen == of(3, Some(Time::from_us(7))), "{kind}");
    }
}

/// A lone HetFlow flow over three links of 10 Gbps and 1 us: the receiver measures the one-way delay of the path minus
/// the clock offset of the sender.
#[test]
fn hetflow_sees_the_delay_of_its_way_by_the_clocks_of_its_ends() {
    let of = |offset_us: u64| {
        let fabric = dumbbell(1, 1, link(10, 1_000), link(10, 1_000)).unwrap();
        let mut setup = setup(fabric, plan(2, [flow(0, 1, traffic::ENDLESS)]));
        setup.host.transport = transport("hetflow", &[("payload", "1000B"), ("header", "58B")]);
        setup.host.clocks.stated.insert(0, NodeClock { offset: Time::from_us(offset_us), drift_ppb: 0 });
        setup.record.control_every = Some(Time::from_us(500));
        of_flow(&run(setup), 0).last().unwrap().delay_ps.unwrap()
    };
    let (frame, preamble) = (3 * (1058 + 8) * 800, 0);
    assert_eq!(of(0), 3_000_000 + frame + preamble);
    assert_eq!(of(50), of(0) - 50_000_000);
}

/// For NDP, only the bytes in flight are sampled. Datagrams have no congestion control, and no samples.
#[test]
fn values_without_meaning_for_a_transport_are_omitted() {
    let of = |kind: &str| {
        let fabric = dumbbell(1, 1, link(10, 1_000), link(10, 1_000)).unwrap();
        let mut setup = setup(fabric, plan(2, [flow(0, 1, 500_000)]));
        setup.host.transport = transport(kind, &[]);
        setup.record.control_every = Some(Time::from_us(20));
        of_flow(&run(setup), 0)
    };
    let ndp = of("ndp");
    assert!(!ndp.is_empty());
    for sample in &ndp {
        let only = ControlSample { at: sample.at, flight_bytes: sample.flight_bytes, ..ControlSample::default() };
        assert!(*sample == only && sample.flight_bytes.is_some(), "{sample:?}");
    }
    assert!(of("datagram").is_empty());
    let fixed = of("roce");
    assert!(fixed.iter().all(|sample| sample.rate_bps == Some(Rate::from_gbps(10).as_bps())));
}
