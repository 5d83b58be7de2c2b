//! Swift with windows below one packet: 100 senders to one port, each with a fair share of less than one packet per
//! RTT, without and with losses.

use crate::bench::*;
use fabric::generate::single_switch;
use model::parameters::*;
use units::Time;

const SENDERS: u32 = 100;

/// 100 flows of 50 packets into a port of 10 Gbps with a queue of `queue_bytes`.
fn incast(queue_bytes: u64, settings: &[(&str, &str)]) -> Results {
    let fabric = single_switch(SENDERS + 1, link(10, 1_000)).unwrap();
    let flows = (1..=SENDERS).map(|src| flow(src, 0, 50_000));
    let mut setup = setup(fabric, plan(SENDERS + 1, flows));
    setup.host.transport = transport("swift", settings);
    setup.switch.buffer = Buffer::Shared { bytes: 64_000_000, egress: Threshold::Static { bytes: queue_bytes } };
    setup.duration = Time::from_ms(400);
    setup.record.queues_every = Some(Time::from_us(20));
    let results = run(setup);
    results.all_hold();
    assert_eq!(results.flows.iter().filter(|flow| flow.delivered_ps.is_some()).count() as u32, SENDERS, "{settings:?}");
    results
}

/// Returns the FCT of the last flow, and the serialisation delay of all 5000 packets (1082 B on the wire) at 10 Gbps,
/// both in ms.
fn last_ms(results: &Results) -> (f64, f64) {
    let last = results.flows.iter().filter_map(|flow| flow.delivered_ps).max().unwrap_or(0);
    (last as f64 / 1e9, 5000.0 * 1082.0 * 8.0 / 10e9 * 1e3)
}

/// 100 flows with windows of at least one packet would have 108 kB in flight. With windows below one packet, the queue
/// is shorter, and the port is still fully utilised.
#[test]
fn a_hundred_flows_share_a_port_with_less_than_a_packet_each() {
    let results = incast(64_000_000, &[]);
    assert_eq!((results.summary.packets.dropped_total(), results.summary.event_counts.retransmissions), (0, 0));
    let (last, busy) = last_ms(&results);
    assert!(last < 1.5 * busy, "{last} ms, and {busy} at least");
    // In the second half, the target delay of 20 us plus the increase for small windows is 120 us, which is 150 kB at
    // 10 Gbps. The mean queue is shorter.
    let halfway = Time::from_us((busy * 500.0) as u64);
    let late: Vec<u64> = results.queues.iter().filter(|row| row.0 > halfway).map(|row| row.4).collect();
    let mean = late.iter().sum::<u64>() / late.len().max(1) as u64;
    assert!(mean < 150_000, "{mean} B wait on average");
}

/// A queue of 20 packets drops most packets of the initial windows. Windows fall below one packet, timeouts occur, and
/// all flows complete, with either kind of loss recovery.
#[test]
fn it_keeps_going_under_losses() {
    for settings in [&[("loss_recovery", "selective")][..], &[("timeout", "1ms"), ("nak_interval", "50us")]] {
        for min_window in ["0.001", "0.1"] {
            let results = incast(21_640, &[settings, &[("min_window", min_window)]].concat());
            assert!(results.dropped("queue full") > 500, "{}", results.dropped("queue full"));
            let (last, busy) = last_ms(&results);
            assert!(last < 30.0 * busy, "{settings:?} {min_window}: {last} ms, and {busy} at least");
        }
    }
}
