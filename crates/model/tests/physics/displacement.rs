//! Statistics of reordering and of queue utilisation, compared with expected values.

use crate::bench::*;
use fabric::generate::single_switch;
use fabric::{FabricBuilder, NodeId};
use model::parameters::*;
use traffic::{ENDLESS, Process};
use units::{Rate, Time};

/// Two hosts at two switches, which are connected by a short and a long link.
fn two_ways(short_ns: u64, long_ns: u64) -> fabric::Fabric {
    let mut builder = FabricBuilder::new("two ways");
    let hosts: Vec<NodeId> = (0..2).map(|at| builder.add_host(format!("H{at}"))).collect();
    let switches: Vec<NodeId> = (0..2).map(|at| builder.add_switch(format!("S{at}"), 1)).collect();
    for at in 0..2 {
        builder.connect(hosts[at], switches[at], link(10, 100));
    }
    for delay in [short_ns, long_ns] {
        builder.connect(switches[0], switches[1], link(10, delay));
    }
    builder.build().unwrap()
}

fn sprayed(short_ns: u64, long_ns: u64, spread: Spread) -> Results {
    let rate = Rate::from_gbps(1);
    let source = datagrams(0, 1, Process::Constant { rate }, 1000, 5_000_000);
    let mut setup = setup(two_ways(short_ns, long_ns), plan(2, [source]));
    setup.spread = spread;
    setup.record.reordering = Some(100);
    setup.duration = Time::from_ms(60);
    run(setup)
}

/// Frames are sent every 8.16 us: if one path is longer by k frame times, frames are displaced by up to k positions.
#[test]
fn ways_of_unequal_length_displace_by_their_difference() {
    let mut before = 0;
    for locations in [1, 4, 20] {
        let results = sprayed(100, 100 + 8160 * locations + 4000, Spread::PerPacket);
        let found = results.all_hold().summary.reordering.unwrap();
        // About half of the frames that are sent within the delay difference take the short path and overtake a frame
        // on the long path.
        assert!(found.latest_packets > before && found.latest_packets <= locations, "{found:?}");
        assert!(found.latest_packets >= locations / 3 && found.earliest_packets <= locations, "{found:?}");
        assert!(found.displaced > found.packets / 4 && found.entropy_nats > 0.5, "{found:?}");
        assert_eq!((found.packets, found.lost, found.too_early, found.ignored), (5000, 0, 0, 0));
        before = found.latest_packets;
    }
    for results in [sprayed(100, 100, Spread::PerPacket), sprayed(100, 30_000, Spread::FlowHash)] {
        let found = results.all_hold().summary.reordering.unwrap();
        assert_eq!((found.displaced, found.entropy_nats, found.lost), (0, 0.0, 0));
    }
}

/// Retransmitted frames are late by the number of frames that were received since the original.
#[test]
fn retransmissions_are_late() {
    let flows = (0..3).map(|src| flow(src, 3, 300_000));
    let mut setup = setup(single_switch(4, link(1, 500)).unwrap(), plan(4, flows));
    setup.host.transport = transport("tcp", &[("min_rto", "5ms")]);
    setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Packets(20) };
    setup.record.reordering = Some(1000);
    setup.duration = Time::from_ms(100);
    let results = run(setup);
    let found = results.all_hold().summary.reordering.unwrap();
    assert!(results.summary.event_counts.retransmissions > 0);
    assert!(found.displaced > 0 && found.latest_packets > 3, "{found:?}");
    assert_eq!((found.packets, found.lost), (3 * 300_000u64.div_ceil(1460), 0), "each frame once");
    assert!(run_without_measure().summary.reordering.is_none());
}

fn run_without_measure() -> Results {
    run(setup(single_switch(2, link(1, 500)).unwrap(), plan(2, [flow(0, 1, 1000)])))
}

/// Two sources at line rate send to one port: its queue grows linearly, is full (100 frames) after 100 frame times, and
/// stays full. It is more than half full for half of the time until then. All other queues are empty.
#[test]
fn a_queue_that_fills_linearly() {
    let rate = Rate::from_gbps(10);
    let sources = (0..2).map(|src| datagrams(src, 2, Process::Constant { rate }, 1000, ENDLESS));
    let mut setup = setup(single_switch(3, link(10, 500)).unwrap(), plan(3, sources));
    setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Packets(100) };
    setup.host.reply_class = None;
    setup.record.utilisation = Some(0.5);
    // The frame time is 816 ns for 1000 B. The first two frames arrive after 816 + 500 ns; the queue is full 100 frame
    // times later.
    setup.duration = Time::from_ns(1316 + 100 * 816);
    let results = run(setup);
    let found = results.summary.queue_utilisation.unwrap();
    assert_eq!((found.queues, found.queues_used), (3, 1), "{found:?}");
    assert!((found.time_ratio - 0.5).abs() < 0.02, "{found:?}");
    assert!((found.mean - 0.5 / 3.0).abs() < 0.01, "{found:?}");
    // Var[u] over three queues, two of which are empty: E[u^2] = 1/3 x 1/3 for a linear ramp, minus E[u]^2 = (1/2 x
    // 1/3)^2.
    assert!((found.variance - (1.0 / 9.0 - 1.0 / 36.0)).abs() < 0.01, "{found:?}");
    assert!((found.variance_of_means - (0.25 / 3.0 - 1.0 / 36.0)).abs() < 0.01, "{found:?}");
}
