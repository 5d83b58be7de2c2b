//! Deadlocks, and transient cyclic buffer dependencies that are not deadlocks.

use crate::bench::*;
use fabric::generate::ring;
use fabric::routing::PathTable;
use model::parameters::*;
use traffic::{ENDLESS, Flow, Process};
use units::random::Stream;
use units::{Rate, Time};

/// Four switches in a ring with one host each. Host i of `senders` sends `bytes` clockwise to host i + 2.
fn clockwise(senders: &[u32], bytes: u64, xoff_bytes: u64) -> Setup {
    let fabric = ring(4, 1, link(40, 1000), link(40, 1000)).unwrap();
    let mut paths = PathTable::new();
    let rate = Rate::from_gbps(40);
    let flows: Vec<Flow> = senders
        .iter()
        .map(|&src| {
            let name = |step: u32| (src + step) % 4 + 1;
            let names = [
                format!("H{}", name(0)),
                format!("S{}", name(0)),
                format!("S{}", name(1)),
                format!("S{}", name(2)),
                format!("H{}", name(2)),
            ];
            let path = paths.push_names(&fabric, &names).unwrap();
            Flow { path: Some(path.0), ..datagrams(src, (src + 2) % 4, Process::Constant { rate }, 1000, bytes) }
        })
        .collect();
    let mut setup = setup(fabric, plan(4, flows));
    setup.paths = paths;
    setup.switch.flow_control = FlowControl::Pfc(pause(xoff_bytes));
    setup.duration = Time::from_ms(2);
    setup.deadlock_every = Some(Time::from_us(1));
    setup.record.pauses = true;
    setup
}

/// Returns the port towards the next switch of the ring. Node 4 is `S1`; its first inter-switch link leads to `S2`.
fn clockwise_port(node: u32) -> Option<u16> {
    match node {
        4 => Some(1),
        5..=7 => Some(2),
        _ => None,
    }
}

#[test]
fn a_ring_of_four_deadlocks_and_the_run_reports_location_and_time() {
    let results = run(clockwise(&[0, 1, 2, 3], ENDLESS, 100_000));
    assert!(!results.passes("deadlock"));
    assert!(results.passes("lossless"));
    let found = results.summary.deadlock.expect("a deadlock");
    let mut cycle: Vec<(String, u32, u8, String)> =
        found.cycle.iter().map(|edge| (edge.node.clone(), edge.port, edge.class, edge.peer.clone())).collect();
    for (edge, next) in found.cycle.iter().zip(found.cycle.iter().cycle().skip(1)) {
        assert_eq!(edge.peer, next.node, "each waits for the next");
    }
    cycle.sort();
    let between = |from: &str, port: u32, to: &str| (from.to_owned(), port, 3, to.to_owned());
    assert_eq!(cycle[0], between("S1", 1, "S2"));
    assert_eq!(cycle[1], between("S2", 2, "S3"));
    assert_eq!(cycle[2], between("S3", 2, "S4"));
    assert_eq!(cycle[3], between("S4", 2, "S1"));
    assert_eq!(cycle.len(), 4);
    // The deadlock begins when the last of the four ports is paused, which is after an account has filled with 100 KB
    // at 20 Gbps or more. Later pause frames are renewals.
    assert!(found.closed_ps > 20_000_000 && found.closed_ps < 1_000_000_000, "{}", found.closed_ps);
    let resumed = results.pauses.iter().filter(|pause| !pause.4 && clockwise_port(pause.1) == Some(pause.2));
    assert!(resumed.clone().all(|pause| pause.0.as_ps() < found.closed_ps), "nobody in the ring goes on");
}

#[test]
fn the_lock_is_real_and_reported_as_soon_as_it_is() {
    let mut earlier = clockwise(&[0, 1, 2, 3], ENDLESS, 100_000);
    earlier.duration = Time::from_ms(1);
    let (early, late) = (run(earlier), run(clockwise(&[0, 1, 2, 3], ENDLESS, 100_000)));
    assert_eq!(early.summary.deadlock, late.summary.deadlock);
    assert_eq!(early.summary.packets.delivered_whole, late.summary.packets.delivered_whole, "nothing moves any more");
    let mut expected = clockwise(&[0, 1, 2, 3], ENDLESS, 100_000);
    expected.deadlock_every = None;
    assert!(run(expected).summary.deadlock.is_none(), "a detector that is off says nothing");
}

#[test]
fn without_the_traffic_of_one_link_or_without_flow_control_nothing_locks() {
    for without in 0..4u32 {
        // The link from switch `without` to the next is used by the senders `without` and `without - 1`: omit both.
        let senders: Vec<u32> = (0..4).filter(|&src| src != without && (src + 1) % 4 != without).collect();
        let results = run(clockwise(&senders, ENDLESS, 100_000));
        results.all_hold();
        assert!(results.summary.deadlock.is_none());
    }
    let mut open = clockwise(&[0, 1, 2, 3], ENDLESS, 100_000);
    open.switch.flow_control = FlowControl::None;
    open.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Bytes(100_000) };
    let results = run(open);
    results.all_hold();
    assert!(results.dropped("queue full") > 0);
}

/// Returns whether all four ports of the ring were paused simultaneously at some time.
fn all_stopped_at_once(results: &Results) -> bool {
    let mut events = results.pauses.clone();
    events.sort_unstable();
    let mut stopped = [false; 8];
    events.iter().any(|&(_, node, port, _, pause)| {
        if clockwise_port(node) == Some(port) {
            stopped[node as usize] = pause;
        }
        stopped[4..].iter().all(|&stopped| stopped)
    })
}

/// Bursts of random sizes: a deadlock is reported if and only if some frames never arrive. In some of the other runs,
/// all ports of the ring are paused simultaneously for a while, but the pauses resolve.
#[test]
fn a_deadlock_is_reported_if_and_only_if_frames_stay() {
    let mut stream = Stream::new(11, 0, 0);
    let (mut stuck, mut transient, mut harmless) = (0, 0, 0);
    for _ in 0..200 {
        let mut setup = clockwise(&[0, 1, 2, 3], ENDLESS, 100_000);
        setup.duration = Time::from_us(500);
        for flow in &mut setup.traffic.flows {
            flow.size_bytes = 1000 * (240 + stream.below(80));
            flow.start = traffic::Start::At(Time::from_ns(stream.below(4_000)));
        }
        let results = run(setup);
        let everything = results.summary.packets.in_flight == 0;
        assert_eq!(results.summary.deadlock.is_none(), everything, "{:?}", results.summary);
        match (everything, all_stopped_at_once(&results)) {
            (false, around) => {
                assert!(around, "a deadlock without pauses around the ring");
                stuck += 1;
            }
            (true, true) => transient += 1,
            (true, false) => harmless += 1,
        }
    }
    assert!(stuck > 0 && transient > 0 && harmless > 0, "{stuck} stuck, {transient} transient, {harmless} harmless");
}
