//! Output backpressure: FLORAX, per-destination backpressure, and IEEE 802.3x PAUSE triggered by the output queue.

use crate::bench::*;
use crate::conservation::network;
use fabric::generate::{line, single_switch};
use fabric::{Fabric, FabricBuilder, LinkSpec};
use model::parameters::*;
use protocols::florax::{BackpressureParameters, StopTarget};
use protocols::reaction::Reaction;
use traffic::{ENDLESS, Flow, Process, Start};
use units::{Rate, Time};

fn florax() -> FlowControl {
    FlowControl::Florax(backpressure(StopTarget::Flows))
}

fn all() -> [FlowControl; 3] {
    let by_destination = FlowControl::Destination(backpressure(StopTarget::Destinations));
    [florax(), by_destination, FlowControl::PauseAtOutput(backpressure(StopTarget::WholePort), FAST)]
}

fn packets(count: u32) -> Buffer {
    Buffer::PerQueue { limit: QueueLimit::Packets(count) }
}

/// Incast over one switch: host i sends at `rates[i]` (Mbps) to the last host.
fn incast(spec: LinkSpec, rates: &[u64], size_bytes: u64) -> Setup {
    let last = rates.len() as u32;
    let flow = |(src, &mbps): (usize, &u64)| {
        datagrams(src as u32, last, Process::Constant { rate: Rate::from_mbps(mbps) }, 1518, size_bytes)
    };
    let mut setup = setup(single_switch(last + 1, spec).unwrap(), plan(last + 1, rates.iter().enumerate().map(flow)));
    setup.switch.buffer = packets(100);
    setup.switch.flow_control = florax();
    setup.host.mtu_bytes = 1518;
    setup.duration = Time::from_ms(4);
    setup.record.throughput_every = Some(Time::from_us(50));
    setup
}

/// Returns the throughput of a traffic entry on the wire in Mbps.
fn mbps(results: &Results, entry: usize, duration: Time) -> f64 {
    let payload = results.goodput.get(entry).copied().unwrap_or(0) as f64;
    payload * 1538.0 / 1472.0 * 8e6 / duration.as_ps() as f64
}

#[test]
fn only_senders_above_their_share_are_stopped() {
    let setup = incast(link(10, 500), &[9_900, 1_000], ENDLESS);
    let duration = setup.duration;
    let results = run(setup);
    results.all_hold();
    // The demands are 9.9 and 1 Gbps, so the max-min shares of 10 Gbps are 9 and 1 Gbps. Tolerance: the 100 frames
    // that may be queued at the end.
    let waits = 100.0 * 1538.0 * 8e6 / duration.as_ps() as f64;
    let (greater, lesser) = (mbps(&results, 0, duration), mbps(&results, 1, duration));
    assert!((lesser - 1_000.0).abs() < waits && (greater - 9_000.0).abs() < waits, "{greater} {lesser} +- {waits}");
    let pressure = results.summary.backpressure.as_ref().unwrap();
    assert!(pressure.xoffs > 0 && pressure.max_table_flows == 2);
    assert_eq!(pressure.control_bytes, pressure.control_packets * 84);
    assert_eq!((&pressure.outputs[0].peer[..], pressure.outputs.len()), ("H3", 1));
}

/// Losses of control frames do not affect data frames on links. If all are lost, no sender stops, and the switch drops
/// the excess; if some are, expiry ends the holds whose XON is lost.
#[test]
fn lost_control_frames_lose_no_data_on_links() {
    let with = |loss| {
        let mut setup = incast(link(10, 500), &[9_900, 9_900], ENDLESS);
        setup.control_loss = loss;
        let results = run(setup);
        let excess = ["queue full", "lossless queue full", "nonconforming"].map(|cause| results.dropped(cause));
        (
            results.dropped("link loss"),
            excess.iter().sum::<u64>(),
            results.summary.backpressure.as_ref().unwrap().expiries,
        )
    };
    let (on_links, excess, _) = with(0.0);
    assert_eq!((on_links, excess), (0, 0));
    let (on_links, all, _) = with(1.0);
    assert_eq!(on_links, 0);
    assert!(all > 1_000, "{all}");
    let (on_links, some, expiries) = with(0.5);
    assert_eq!(on_links, 0);
    assert!(some < all && expiries > 0, "{some} of {all}, {expiries}");
}

#[test]
fn committed_rates_define_the_excess() {
    let mut setup = incast(link(10, 500), &[8_000, 3_000], ENDLESS);
    let duration = setup.duration;
    let lesser = |setup: Setup| mbps(run(setup).all_hold(), 1, duration);
    // With an expiry of 1 ms, the gaps between consecutive holds are negligible.
    let lasting =
        FlowControl::Florax(BackpressureParameters { expiry: Time::from_ms(1), ..backpressure(StopTarget::Flows) });
    setup.switch.flow_control = lasting;
    let mut without = incast(link(10, 500), &[8_000, 3_000], ENDLESS);
    without.switch.flow_control = lasting;
    let plain = lesser(without);
    let agreement = |from, mbps| CommittedRate { from, to: 2, rate: Rate::from_mbps(mbps) };
    setup.committed_rates = vec![agreement(0, 9_000), agreement(1, 1_000)];
    let agreed = lesser(setup);
    // Max-min share of host 1: 3 Gbps (its demand) without committed rates; 2 Gbps with committed rates, because the
    // 8 Gbps of host 0 are within its committed rate.
    assert!(plain > 2_900.0 && agreed < 2_350.0, "{plain} {agreed}");
}

#[test]
fn only_senders_that_ignore_stops_lose_their_excess() {
    let mut setup = incast(link(10, 500), &[9_900, 1_000], ENDLESS);
    let duration = setup.duration;
    setup.host.stopping.ignore_pause = vec![0];
    let results = run(setup);
    assert!(results.passes("lossless") && results.passes("conservation") && results.dropped("nonconforming") > 0);
    assert!(mbps(&results, 1, duration) > 950.0);
    // Negative control: if the whole link is paused, the conforming sender loses throughput.
    let mut simple = incast(link(10, 500), &[9_900, 1_000], ENDLESS);
    simple.host.stopping.ignore_pause = vec![0];
    simple.switch.flow_control = all()[2];
    let results = run(simple);
    assert_eq!(results.dropped("nonconforming"), 0);
    assert!(mbps(&results, 1, duration) < 500.0, "{}", mbps(&results, 1, duration));
}

/// Three switches in a line with one host each; all links have 10 Gbps and lose the fraction `loss`. Hosts 0 and 1
/// send 9.8 Gbps each to host 2, so the link from the second to the third switch is congested. The backpressure
/// reaches host 0 when the buffers of both switches on its path have filled.
fn row(loss: f64, size_bytes: u64) -> Setup {
    let fast = LinkSpec { loss, ..link(10, 500) };
    let fabric: Fabric = line(3, 1, fast, fast).unwrap();
    let flow =
        |src: u32, mbps, dst| datagrams(src, dst, Process::Constant { rate: Rate::from_mbps(mbps) }, 1518, size_bytes);
    let mut setup = setup(fabric, plan(3, [flow(0, 9_800, 2), flow(1, 9_800, 2)]));
    setup.switch.buffer = packets(100);
    setup.host.mtu_bytes = 1518;
    setup.duration = Time::from_ms(20);
    setup
}

#[test]
fn it_travels_hop_by_hop_without_loss_and_everything_arrives_in_order() {
    for control in all() {
        let mut setup = row(0.0, 3_000_000);
        setup.switch.flow_control = control;
        let results = run(setup);
        results.all_hold();
        assert_eq!(results.summary.flows.completed, 2, "{control:?}");
        let pressure = results.summary.backpressure.as_ref().unwrap();
        assert!(pressure.xoffs > 0, "{control:?}");
        let expected = results.summary.pauses.total_ps > 0;
        assert!(expected);
    }
    let mut setup = row(0.0, 3_000_000);
    setup.switch.flow_control = FlowControl::None;
    assert!(run(setup).dropped("queue full") > 0, "the negative control");
}

#[test]
fn a_lost_xoff_or_xon_blocks_no_flow_for_ever() {
    for control in all() {
        let mut setup = row(0.05, 1_000_000);
        setup.switch.flow_control = control;
        setup.duration = Time::from_ms(10);
        let results = run(setup);
        assert!(results.passes("conservation") && results.passes("pauses"), "{:?}", results.summary.checks);
        // At the end, all frames that links did not lose have arrived, and no flow is held, although links lost XOFFs
        // and XONs.
        assert_eq!(results.summary.packets.in_flight, 0, "{control:?}");
        let pauses = results.summary.checks.iter().find(|check| check.name == "pauses").unwrap();
        assert!(pauses.detail.ends_with("0 still paused"), "{}", pauses.detail);
        let longest = Time::from_ps(results.summary.pauses.max_ps);
        assert!(longest > Time::ZERO);
    }
}

/// A hold ends at most one expiry after the last XOFF for its flow: a flow that starts after the congestion is not
/// delayed by a hold.
#[test]
fn no_flow_stays_blocked_longer_than_an_expiry_after_the_congestion() {
    let mut setup = incast(link(10, 500), &[9_900, 9_900], 1_500_000);
    // The third flow starts when the other flows are complete and the buffers are empty.
    let late = Time::from_ms(6);
    let third = traffic::Flow {
        start: Start::At(late),
        ..datagrams(1, 2, Process::Constant { rate: Rate::from_mbps(5_000) }, 1518, 147_200)
    };
    let flows =
        (0..2).map(|src| datagrams(src, 2, Process::Constant { rate: Rate::from_mbps(9_900) }, 1518, 1_500_000));
    setup.traffic = plan(3, flows.chain([third]));
    setup.duration = Time::from_ms(10);
    let results = run(setup);
    results.all_hold();
    let last = results.flows.iter().find(|flow| flow.start_ps == late.as_ps()).unwrap();
    let alone = results.flows.iter().filter_map(|flow| flow.delivered_ps).count();
    assert_eq!(alone, 3);
    // The third flow has 100 frames of 1538 B on the wire: 100 * 2.461 us at 5 Gbps, plus at most 20 us on the path.
    let took = Time::from_ps(last.delivered_ps.unwrap()) - late;
    assert!(took < Time::from_us(2_461 / 10 + 20), "{took}");
}

#[test]
fn random_networks_keep_their_books_on_any_number_of_threads() {
    let (mut stopped, mut held) = (0, 0);
    for seed in 0..30 {
        let setup = |threads| {
            let mut setup = network(seed, threads).0;
            setup.switch.buffer = packets(40);
            let backpressure = |target| BackpressureParameters {
                lower: 5,
                upper: 10,
                max_upper: 16,
                raise: 1,
                expiry: Time::from_us(30),
                burst_gap: Time::from_us(10),
                flows: if seed % 2 == 0 { 3 } else { 1000 },
                ..backpressure(target)
            };
            setup.switch.flow_control = match seed % 3 {
                0 => FlowControl::Destination(backpressure(StopTarget::Destinations)),
                1 => FlowControl::PauseAtOutput(backpressure(StopTarget::WholePort), FAST),
                _ => FlowControl::Florax(backpressure(StopTarget::Flows)),
            };
            setup.host.stopping.ignore_pause = if seed % 5 == 0 { vec![0] } else { Vec::new() };
            setup.host.stopping.halves_rate = seed % 4 == 0;
            if seed % 7 == 0 {
                setup.record.trace = Some(TraceParameters::everything());
            }
            setup
        };
        let results = run(setup(1));
        let summary = &results.summary;
        assert!(summary.packets.closed, "seed {seed}: {:?}", summary.packets);
        // Limits are small and links fast, so frames in flight may find a full queue: the check `lossless` may fail.
        let bad = summary.checks.iter().find(|check| !check.pass && check.name != "lossless");
        assert!(bad.is_none(), "seed {seed}: {bad:?}");
        stopped += summary.backpressure.as_ref().unwrap().xoffs;
        held += u64::from(summary.pauses.total_ps > 0);
        for threads in [2, 3] {
            assert_eq!(format!("{results:?}"), format!("{:?}", run(setup(threads))), "seed {seed}, {threads} threads");
        }
    }
    assert!(stopped > 1_000 && held > 20, "{stopped} {held}");
}

/// Output backpressure with 802.3x PAUSE of the maximum quanta, renewed as long as necessary, as with `expiry =
/// "auto"`.
fn lasting() -> BackpressureParameters {
    BackpressureParameters {
        lower: 50,
        upper: 100,
        expiry: Time::MAX,
        renewed: true,
        ..backpressure(StopTarget::WholePort)
    }
}

/// Hosts of 10 or 100 Gbps send to a host with a thousandth of that rate. At 100 Gbps a pause lasts at most 336 us, but
/// 50 frames take 6.2 ms to drain. Without renewals, pauses expire repeatedly, and frames are lost.
#[test]
fn simple_stops_fast_links_for_as_long_as_it_must() {
    for gbps in [10, 100] {
        let with = |backpressure: BackpressureParameters| {
            let mut builder = FabricBuilder::new("fast to slow");
            let switch = builder.add_switch("S1", 1);
            for (host, rate) in [("H1", gbps * 1_000), ("H2", gbps * 1_000), ("H3", gbps)] {
                let host = builder.add_host(host);
                builder.connect(host, switch, LinkSpec::new(Rate::from_mbps(rate), Time::from_ns(500)));
            }
            let process = Process::Constant { rate: Rate::from_gbps(gbps) };
            let flow = |src| datagrams(src, 2, process, 1518, ENDLESS);
            let mut setup = setup(builder.build().unwrap(), plan(3, [flow(0), flow(1)]));
            setup.switch.buffer = packets(200);
            setup.switch.flow_control = FlowControl::PauseAtOutput(backpressure, Reaction::Standard);
            setup.duration = Rate::from_gbps(gbps).serialise(1_000_000_000);
            run(setup)
        };
        let results = with(lasting());
        results.all_hold();
        assert!(
            results.summary.pauses.count > 0 && results.summary.backpressure.as_ref().unwrap().expiries == 0,
            "{gbps} Gbps"
        );
        // Negative control: each pause has the maximum duration, and is not renewed.
        let once = Rate::from_gbps(gbps).serialise(65_535 * 64);
        let results = with(BackpressureParameters { expiry: once, renewed: false, ..lasting() });
        assert!(!results.passes("lossless"), "{gbps} Gbps: {:?}", results.summary.packets.dropped);
    }
}

/// Host 1 sends more than two output ports can send (5 Gbps and 100 Mbps), so both pause its ingress port. When the
/// first output has drained, its XON must not resume this port, because the second output still pauses it.
#[test]
fn a_port_stays_stopped_for_every_output_that_stopped_it() {
    let mut builder = FabricBuilder::new("two outputs");
    let switch = builder.add_switch("S1", 1);
    for (host, mbps) in [("H1", 10_000), ("H2", 5_000), ("H3", 100)] {
        let host = builder.add_host(host);
        builder.connect(host, switch, LinkSpec::new(Rate::from_mbps(mbps), Time::from_ns(500)));
    }
    let flow = |dst, mbps| Flow {
        class: 2 + dst as u8,
        ..datagrams(0, dst, Process::Constant { rate: Rate::from_mbps(mbps) }, 1518, ENDLESS)
    };
    let mut setup = setup(builder.build().unwrap(), plan(3, [flow(1, 6_000), flow(2, 4_000)]));
    setup.switch.buffer = packets(140);
    setup.switch.flow_control = FlowControl::PauseAtOutput(lasting(), FAST);
    setup.duration = Time::from_ms(50);
    let results = run(setup);
    results.all_hold();
    assert!(results.summary.pauses.count > 3, "{:?}", results.summary.pauses);
}
