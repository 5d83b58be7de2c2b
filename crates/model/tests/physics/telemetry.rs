//! HPCC with real queues: effect and overhead of its telemetry.

use crate::bench::*;
use fabric::generate::single_switch;
use model::parameters::*;
use units::Time;

const SENDERS: u32 = 8;

/// Eight endless flows into one port of 100 Gbps.
fn incast(settings: &[(&str, &str)]) -> Setup {
    let fabric = single_switch(SENDERS + 1, link(100, 1_000)).unwrap();
    let flows = (1..=SENDERS).map(|src| flow(src, 0, traffic::ENDLESS));
    let mut setup = setup(fabric, plan(SENDERS + 1, flows));
    setup.host.transport = transport("hpcc", settings);
    setup.host.reply_class = Some(6);
    setup.switch.buffer = Buffer::Shared { bytes: 8_000_000, egress: Threshold::Static { bytes: 8_000_000 } };
    setup.duration = Time::from_ms(1);
    setup.record.throughput_every = Some(Time::from_ms(1));
    setup.record.queues_every = Some(Time::from_us(1));
    setup
}

/// Incast of eight endless HPCC flows. The first window of each flow, a bandwidth-delay product, is queued. Afterwards,
/// the utilisation is slightly above eta, because each flow adds its additive increase per RTT, and the queue is nearly
/// empty (HPCC, fig. 9).
#[test]
fn hpcc_empties_its_queue_and_keeps_the_link_busy() {
    let results = run(incast(&[("max_stage", "0")]));
    results.all_hold();
    assert_eq!(results.summary.packets.dropped_total(), 0);
    let waiting = |from: u64, to: u64| {
        let within = |at: Time| (Time::from_us(from)..Time::from_us(to)).contains(&at);
        results.queues.iter().filter(|row| within(row.0)).map(|row| row.4).max().unwrap_or(0)
    };
    // Eight windows of 54 kB (432 kB), minus the bytes forwarded in the meantime.
    assert!((250_000..450_000).contains(&waiting(0, 10)), "{}", waiting(0, 10));
    assert!(waiting(200, 1000) < 20_000, "{}", waiting(200, 1000));
    let goodput_bps = results.goodput.iter().sum::<u64>() as f64 * 8.0 / 1e-3;
    // 1000 of 1124 B on the wire are payload.
    let share = goodput_bps / (100e9 * 1000.0 / 1124.0);
    assert!((0.93..1.0).contains(&share), "{share}");
}

/// Telemetry bytes on the wire reduce the goodput of a lone flow by their share, within 0.2 %.
#[test]
fn telemetry_costs_its_bytes() {
    let frames = |telemetry: &str| {
        let mut setup = incast(&[("telemetry", telemetry), ("target_utilisation", "1"), ("base_rtt", "20us")]);
        setup.traffic = plan(SENDERS + 1, [flow(1, 0, traffic::ENDLESS)]);
        run(setup).goodput.iter().sum::<u64>() as f64
    };
    let (none, five_hops, many) = (frames("0B"), frames("42B"), frames("500B"));
    assert!((five_hops / none - 1082.0 / 1124.0).abs() < 0.002, "{none} {five_hops}");
    assert!((many / none - 1082.0 / 1582.0).abs() < 0.002, "{none} {many}");
}

/// Results with telemetry do not depend on the number of threads.
#[test]
fn telemetry_is_the_same_on_any_number_of_threads() {
    let of = |threads: usize| {
        let mut setup = incast(&[]);
        setup.threads = threads;
        let results = run(setup);
        (results.flows, results.queues, results.summary.packets, results.summary.packet_hops)
    };
    let one = of(1);
    assert!(one.3 > 10_000);
    for threads in [2, 3] {
        assert!(of(threads) == one, "{threads} threads");
    }
}
