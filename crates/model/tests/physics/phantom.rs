//! Phantom queues: shares of a link and lengths of real queues.

use crate::bench::*;
use fabric::generate::{dumbbell, single_switch};
use model::parameters::*;
use protocols::phantom::PhantomParameters;
use units::Time;

/// Four endless DCTCP flows over one port of 10 Gbps. Returns their share of the link on the wire, and mean and maximum
/// of the sampled queue in bytes, all after 20 of 60 ms.
fn shared(marking: Marking) -> (f64, f64, u64) {
    let fabric = dumbbell(4, 4, link(10, 5_000), link(10, 5_000)).unwrap();
    let flows = (0..4).map(|src| flow(src, 4 + src, traffic::ENDLESS));
    let mut setup = setup(fabric, plan(8, flows));
    setup.host.transport = transport("dctcp", &[("delayed_ack", "false")]);
    setup.switch.marking = marking;
    setup.duration = Time::from_ms(60);
    setup.warm_up = Time::from_ms(20);
    setup.record.throughput_every = Some(Time::from_ms(1));
    setup.record.queues_every = Some(Time::from_us(10));
    let results = run(setup);
    results.all_hold();
    assert_eq!(results.summary.packets.dropped_total(), 0);
    // One sample per millisecond. The first twenty precede the window.
    let looks = results.goodput_looks.len();
    let bytes: u64 = results.goodput_looks[looks / 3..].iter().map(|look| look.1).sum();
    let share = bytes as f64 / 1460.0 * 1538.0 * 8.0 / 40e-3 / 10e9;
    let queues: Vec<u64> =
        results.queues.iter().filter(|row| row.0 > Time::from_ms(20) && row.3 == 3).map(|row| row.4).collect();
    let longest = queues.iter().copied().max().unwrap_or(0);
    // Samples exist only for non-empty queues. Missing samples count as empty.
    (share, queues.iter().sum::<u64>() as f64 / 4000.0, longest)
}

fn phantom(drain: f64, threshold_bytes: u64) -> Marking {
    Marking::Phantom(PhantomParameters { drain, threshold_bytes })
}

/// With a threshold of some bandwidth-delay products, which permits DCTCP's oscillation, utilisation equals the drain
/// rate of the phantom queue.
#[test]
fn the_link_ends_at_the_share_of_the_drain() {
    for drain in [0.8, 0.9, 0.95] {
        for threshold_bytes in [100_000, 300_000] {
            let (share, ..) = shared(phantom(drain, threshold_bytes));
            assert!((share / drain - 1.0).abs() < 0.01, "{drain} {threshold_bytes}: {share}");
        }
    }
}

/// With a threshold of two frames the queue is nearly empty, below one frame on average. The oscillation costs up to a
/// seventh of the drain rate; HULL reports a tenth. Marks by the real queue need a queue, and fill the link.
#[test]
fn a_small_threshold_keeps_the_queue_empty() {
    for drain in [0.8, 0.9, 0.95] {
        let (share, mean, longest) = shared(phantom(drain, 3000));
        assert!((drain * 6.0 / 7.0..drain).contains(&share), "{drain}: {share}");
        assert!(mean < 1518.0 && longest < 8 * 1518, "{drain}: {mean} B wait on average, {longest} at most");
    }
    let step = Marking::Ecn(EcnParameters {
        k_min_bytes: 30_000,
        k_max_bytes: Some(30_000),
        p_max: 1.0,
        of_rate: None,
        at: MarkEvent::Enqueue,
    });
    let (share, mean, _) = shared(step);
    assert!(share > 0.99 && mean > 20_000.0, "{share} {mean}");
}

/// A lone RoCE flow at line rate never queues, so marks by the real queue are impossible. Its phantom queue grows by
/// 54.1 bytes per frame of 1082, so frames above the threshold are marked.
#[test]
fn frames_that_find_the_wire_idle_are_counted() {
    let marks = |marking: Marking| {
        let mut setup = setup(single_switch(2, link(100, 1_000)).unwrap(), plan(2, [flow(1, 0, 1_000_000)]));
        setup.host.transport = transport("roce", &[("ecn", "true")]);
        setup.switch.marking = marking;
        let results = run(setup);
        results.all_hold();
        results.summary.happened.marks
    };
    // 1082 + 54.1 n > 30000 from n = 535 on, of 0 to 999.
    assert_eq!(marks(phantom(0.95, 30_000)), 1000 - 535);
    assert_eq!(marks(Marking::None), 0);
}
