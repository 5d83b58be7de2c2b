//! Periodic sources, random frame lengths, and the resulting jitter.

use crate::bench::{datagrams, link, plan, run, setup};
use fabric::generate::single_switch;
use model::parameters::*;
use traffic::{DatagramSource, Flow, LengthDistribution, Load, Process, Start};
use units::{Rate, Time};

const fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

fn periodic(src: u32, dst: u32, period: Time, phase: Option<Time>, frame_bytes: u16) -> Flow {
    datagrams(src, dst, Process::Periodic { period, phase }, frame_bytes, traffic::ENDLESS)
}

/// Two periodic flows to one host with periods of 500 and 1000 ns. Every second frame of the faster flow arrives 1 ns
/// after a frame of the other flow and waits 49 ns, because a frame of 605 B takes 50 ns on the wire at 100 Gbps.
#[test]
fn jitter_is_the_wait_for_the_other_flow() {
    let flows = [periodic(0, 2, ns(500), Some(ns(1)), 605), periodic(1, 2, ns(1000), Some(ns(0)), 605)];
    let results = run(setup(single_switch(3, link(100, 50)).unwrap(), plan(3, flows)));
    results.all_hold();
    let [late, first] = &results.summary.jitter[..] else { panic!("{:?}", results.summary.jitter) };
    assert_eq!((late.jitter_ps, first.jitter_ps), (49_000, 0));
    assert!(
        (late.mean_jitter_ps - 24_500.0).abs() < 100.0 && (late.standard_deviation_ps - 24_500.0).abs() < 100.0,
        "{late:?}"
    );
    // Minimum delay: two links of 50 ns, and the transmission of the frame without its gap on each.
    assert_eq!(first.min_delay_ps, 2 * (50_000 + 49_040));
}

/// A periodic source follows the clock of its host: a drift of +-10,000 ppm changes the number of frames by 1 %.
#[test]
fn a_periodic_source_goes_by_its_hosts_clock() {
    for (drift_ppb, frames) in [(0, 10_000), (10_000_000, 10_100), (-10_000_000, 9_900)] {
        let mut setup = setup(single_switch(2, link(100, 50)).unwrap(), plan(2, [periodic(0, 1, ns(100), None, 64)]));
        setup.host.clocks.stated = [(0, NodeClock { offset: ns(12_345), drift_ppb })].into();
        let results = run(setup);
        results.all_hold();
        assert_eq!(results.summary.packets.injected, frames, "{drift_ppb}");
        assert_eq!(results.summary.jitter[0].frames + results.summary.packets.in_flight, frames);
        assert!(results.summary.jitter[0].jitter_ps <= 1, "{:?}", results.summary.jitter);
    }
}

/// Normally distributed frame lengths: the mean length is 600 B, and the offered load on the wire is the configured
/// rate.
#[test]
fn frames_of_normal_lengths_offer_their_mean_rate() {
    let process = Process::Poisson { rate: Rate::from_gbps(10) };
    let lengths = LengthDistribution::Normal { deviation_bytes: 150, longest_bytes: 1500 };
    let source = DatagramSource { process, frame_bytes: 600, lengths, stop: None };
    let flow = Flow { load: Load::Datagrams(Box::new(source)), ..datagrams(0, 1, process, 600, traffic::ENDLESS) };
    let mut setup = setup(single_switch(2, link(100, 50)).unwrap(), plan(2, [flow]));
    setup.duration = Time::from_ms(20);
    setup.record.jitter = true;
    let results = run(setup);
    results.all_hold();
    let frames = results.summary.packets.injected as f64;
    // Expected number of frames: 10 Gbps x 20 ms / (620 B x 8) = 40,323, with a standard error of 0.5 %.
    assert!((frames / (10e9 * 0.02 / (620.0 * 8.0)) - 1.0).abs() < 0.025, "{frames}");
    assert!((results.summary.bytes.injected as f64 / frames - 600.0).abs() < 4.0);
    // The delay of a frame depends on its length and on the frames sent shortly before it; the minimum is that of a 64
    // B frame in an idle network.
    assert!(results.summary.jitter[0].min_delay_ps >= 2 * (50_000 + 72 * 80));
}

/// Jitter is measured for all traffic entries only on request, and excludes the warm-up.
#[test]
fn jitter_is_measured_where_it_is_wanted() {
    let source = |rate| datagrams(0, 1, Process::Poisson { rate: Rate::from_gbps(rate) }, 600, traffic::ENDLESS);
    let flow = Flow { start: Start::At(ns(10)), ..source(50) };
    let run_with = |jitter| {
        let mut setup = setup(single_switch(2, link(100, 50)).unwrap(), plan(2, [flow.clone()]));
        (setup.record.jitter, setup.warm_up) = (jitter, Time::from_us(500));
        run(setup).summary
    };
    let (without, with) = (run_with(false), run_with(true));
    assert!(without.jitter.is_empty());
    assert_eq!((with.jitter.len(), with.jitter[0].flows), (1, 1));
    assert_eq!(with.jitter[0].frames, with.delay_ns.unwrap().count);
    assert!(with.jitter[0].jitter_ps > 0);
}
