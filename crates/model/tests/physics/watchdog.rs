//! Pause storms of a host, and of a ring of switches in deadlock, with a PFC watchdog.

use crate::bench::*;
use fabric::generate::{ring, single_switch};
use fabric::routing::PathTable;
use model::parameters::*;
use protocols::watchdog::{StormAction, WatchdogParameters};
use traffic::{ENDLESS, Flow, Process};
use units::{Rate, Time};

fn pfc(watchdog: Option<StormAction>) -> FlowControl {
    let (detection_time, restoration_time) = (Time::from_us(500), Time::from_us(700));
    FlowControl::Pfc(PauseParameters {
        watchdog: watchdog.map(|action| WatchdogParameters { detection_time, restoration_time, action }),
        ..pause(20_000)
    })
}

/// `H1` sends 2 Gbps each to `H3` and `H4` for the whole run of 8 ms. The NIC of `H3` has a pause storm from 1 ms to
/// `until`.
fn storm(watchdog: Option<StormAction>, until: Option<Time>) -> Results {
    let fabric = single_switch(4, link(10, 500)).unwrap();
    let node = fabric.host_node(2);
    let process = Process::Constant { rate: Rate::from_gbps(2) };
    let to = |dst, traffic| Flow { traffic, ..datagrams(0, dst, process, 1000, ENDLESS) };
    let mut setup = setup(fabric, plan(4, [to(2, 0), to(3, 1)]));
    setup.switch.flow_control = pfc(watchdog);
    setup.host.pause_storm = Some(PauseStorm { node, at: Time::from_ms(1), until });
    setup.duration = Time::from_ms(8);
    setup.record.throughput_every = Some(Time::from_ms(1));
    setup.record.trace = Some(TraceParameters::everything());
    let results = run(setup);
    assert!(results.passes("conservation") && results.passes("lossless") && results.passes("pauses"));
    results
}

/// Returns the payload bytes of a traffic entry per millisecond.
fn by_ms(results: &Results, entry: u8) -> Vec<u64> {
    results.goodput_samples.iter().filter(|sample| sample.0 == entry).map(|sample| sample.1).collect()
}

/// Payload bytes per millisecond: 2 Gbps of frames with 1020 B on the wire and 954 B of payload.
const FULL: u64 = 2_000_000 / 8 * 954 / 1020;

#[test]
fn without_a_watchdog_a_mad_card_stops_everybody() {
    let results = storm(None, None);
    let (victim, bystander) = (by_ms(&results, 0), by_ms(&results, 1));
    assert!(victim[0] > FULL * 99 / 100 && bystander[0] > FULL * 99 / 100);
    assert_eq!((victim[3], bystander[3]), (0, 0), "H1 is stopped, and with it what it sends elsewhere");
    assert_eq!(results.summary.pause_storms, None, "storm detection is off");
}

#[test]
fn dropping_frees_the_others() {
    let results = storm(Some(StormAction::Drop), None);
    let (victim, bystander) = (by_ms(&results, 0), by_ms(&results, 1));
    assert_eq!(victim[3], 0);
    assert!(bystander[3] > FULL * 99 / 100, "{bystander:?}");
    // From 1.5 ms on, all frames to H3 are dropped, 245 per millisecond, and also the frames that were queued.
    let dropped = results.dropped("pause storm");
    assert!((1_550..1_750).contains(&dropped), "{dropped}");
    assert!(results.summary.warnings[0].contains("1 pause storm and"), "{:?}", results.summary.warnings);
    assert!(results.dropped("lossless queue full") == 0);
    let sent = |row: &stats::trace::TraceRow| match row.event {
        stats::trace::TraceEvent::Started { until, .. } => until > row.at,
        _ => true,
    };
    assert!(results.trace.iter().all(sent), "what is dropped is not put on the wire");
    let found = results.summary.pause_storms.as_ref().unwrap();
    assert_eq!((found.storms, found.restored, found.dropped_packets), (1, 0, dropped));
    let [at] = &found.ports[..] else { panic!("{:?}", found.ports) };
    assert_eq!((at.node.as_str(), at.peer.as_str(), at.class), ("S1", "H3", 3));
    // The port is paused at 1 ms plus one frame time, the delay of the link and 384 ns of reaction time; the storm is
    // detected 0.5 ms later.
    let begins = Time::from_us(8_000).as_ps() - at.storm_ps;
    assert!((1_500_900_000..1_502_100_000).contains(&begins), "{begins}");
    assert_eq!(found.total_ps, at.storm_ps);
}

#[test]
fn forwarding_loses_nothing_and_ignores_the_card() {
    let results = storm(Some(StormAction::Forward), None);
    for entry in [0, 1] {
        assert!(by_ms(&results, entry)[3] > FULL * 99 / 100, "{:?}", by_ms(&results, entry));
    }
    assert_eq!(results.dropped("pause storm"), 0);
}

/// The last pause is received at 2.68 ms and lasts 3.36 ms, to 6.04 ms. The storm ends 0.7 ms after the pause.
#[test]
fn a_storm_that_ends_is_over() {
    let results = storm(Some(StormAction::Drop), Some(Time::from_ms(3)));
    let victim = by_ms(&results, 0);
    assert_eq!(victim[2], 0);
    let found = results.summary.pause_storms.as_ref().unwrap();
    assert_eq!((found.storms, found.restored), (1, 1));
    // The trace has events for the start and the end of the storm.
    let ends: Vec<(&str, Time)> = results
        .trace
        .iter()
        .map(|row| (row.event.name(), row.at))
        .filter(|end| end.0.starts_with("pause storm"))
        .collect();
    let [("pause storm", begun), ("pause storm over", over)] = ends[..] else { panic!("{ends:?}") };
    assert_eq!((over - begun).as_ps(), found.total_ps);
    assert!(over > Time::from_us(6_700) && over < Time::from_us(6_800), "{over}");
    assert!(victim[7] > FULL * 99 / 100, "{victim:?}");
}

/// Four switches in deadlock: the watchdog breaks the deadlock repeatedly. Without a watchdog, no frame is forwarded.
#[test]
fn a_deadlock_is_broken() {
    let with = |watchdog| {
        let fabric = ring(4, 1, link(40, 1000), link(40, 1000)).unwrap();
        let mut paths = PathTable::new();
        let process = Process::Constant { rate: Rate::from_gbps(40) };
        let mut flows = Vec::new();
        for src in 0..4u32 {
            let name = |step: u32| (src + step) % 4 + 1;
            let names = [
                format!("H{}", name(0)),
                format!("S{}", name(0)),
                format!("S{}", name(1)),
                format!("S{}", name(2)),
                format!("H{}", name(2)),
            ];
            let path = Some(paths.push_names(&fabric, &names).unwrap().0);
            flows.push(Flow { path, ..datagrams(src, (src + 2) % 4, process, 1000, ENDLESS) });
        }
        let mut setup = setup(fabric, plan(4, flows));
        setup.paths = paths;
        setup.switch.flow_control = pfc(watchdog);
        setup.duration = Time::from_ms(5);
        let results = run(setup);
        assert!(results.passes("conservation"));
        assert!(results.passes("lossless"));
        assert!(!results.passes("deadlock"), "a deadlock occurred, and is reported");
        results
    };
    let (stuck, freed, passed) = (with(None), with(Some(StormAction::Drop)), with(Some(StormAction::Forward)));
    let delivered = |results: &Results| results.summary.packets.delivered_whole;
    // In 5 ms, the ring deadlocks four times: it deadlocks within 20 us, the watchdog acts after 0.5 ms, and the
    // storm ends 0.7 ms later.
    assert!(delivered(&freed) > 3 * delivered(&stuck), "{} and {}", delivered(&freed), delivered(&stuck));
    assert!(freed.dropped("pause storm") > 0);
    assert!(delivered(&passed) > 3 * delivered(&stuck), "{} and {}", delivered(&passed), delivered(&stuck));
}
