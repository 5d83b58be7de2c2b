//! Switches that trim packets: closed forms for a burst, and conservation in random networks.

use crate::bench::*;
use crate::conservation::network;
use fabric::generate::{TierLinks, leaf_spine, single_switch};
use model::parameters::*;
use protocols::qcn::PointParameters;
use protocols::trim::{HeaderDestination, HeaderFull, TrimParameters, Victim};
use stats::trace::TraceEvent;
use traffic::Process;
use units::random::{Stream, purpose};
use units::{Rate, Time};

/// Trimming to headers of 64 B in class 6.
pub fn trim() -> TrimParameters {
    TrimParameters { header_class: 6, classes: 1 << 3, ..TrimParameters::default() }
}

/// Switches with data queues of `packets` frames and header queues of `headers` headers.
pub fn trimming(trim: TrimParameters, packets: u32, headers: u32) -> SwitchParameters {
    SwitchParameters {
        buffer: Buffer::PerQueue { limit: QueueLimit::Packets(packets) },
        flow_control: FlowControl::None,
        overload: Overload::Trim { trim, header_queue: QueueLimit::Packets(headers), inside: None },
        marking: Marking::None,
        scheduler: Scheduler::Strict,
    }
}

/// `senders` hosts send `frames` frames of 1518 B each at line rate to the last host, from time 0.
fn burst(senders: u32, frames: u64, switch: SwitchParameters) -> Results {
    run(burst_setup(senders, frames, switch))
}

fn burst_setup(senders: u32, frames: u64, switch: SwitchParameters) -> Setup {
    let fabric = single_switch(senders + 1, link(100, 100)).unwrap();
    // The sizes of datagram sources count frame bytes.
    let process = Process::Constant { rate: Rate::from_gbps(100) };
    let flows = (0..senders).map(|src| datagrams(src, senders, process, 1518, frames * 1518));
    let mut setup = setup(fabric, plan(senders + 1, flows));
    setup.switch = switch;
    setup
}

/// Of n simultaneous frames, one is sent immediately, `room` are queued, and the others, n - 1 - `room`, are trimmed.
/// Headers have priority over the queue.
#[test]
fn exactly_the_frames_without_room_are_trimmed() {
    for (senders, room) in [(4u64, 2u64), (10, 5), (16, 8), (3, 4)] {
        let results = burst(senders as u32, 1, trimming(trim(), room as u32, 1000));
        results.all_hold();
        let packets = &results.summary.packets;
        let cut = senders.saturating_sub(1 + room);
        assert_eq!((results.summary.event_counts.trims, packets.delivered_trimmed), (cut, cut));
        assert_eq!((packets.delivered_whole, packets.dropped.len()), (senders - cut, 0));
        let trims = results.summary.trims.as_ref().unwrap();
        assert_eq!((trims.trimmed_bytes, trims.header_bytes), (cut * (1518 - 64), cut * 64));
        assert_eq!((trims.payload_bytes, trims.spurious), ((senders - cut) * 1472, 0));
        assert_eq!(trims.ports.first().map_or(0, |port| port.trims), cut);
    }
}

/// Lasting overload by n senders at line rate. On the wire, data frames have 1538 B and headers 84 B. In units of the
/// frame time, x data frames and y headers fill the link: x + y 84/1538 = 1 and x + y = n, so that x = (1 - n 84/1538)
/// / (1 - 84/1538) of the line rate.
#[test]
fn goodput_under_overload_is_the_lines_less_the_headers() {
    for senders in [2u32, 4, 8] {
        let results = burst(senders, 2000, trimming(trim(), 8, 100_000));
        results.all_hold();
        let trims = results.summary.trims.as_ref().unwrap();
        let header = 84.0 / 1538.0;
        let share = (1.0 - f64::from(senders) * header) / (1.0 - header);
        // The backlog at the end is at most one queue.
        let expected = share * 2000.0;
        let whole = (trims.payload_bytes / 1472) as f64;
        assert!((whole - expected).abs() <= 10.0, "{senders}: {whole} of {expected}");
    }
}

/// Headers that find a full header queue are returned to the source or dropped.
#[test]
fn headers_without_room_go_back_or_are_lost() {
    for (full, returned, lost) in [(HeaderFull::Return, 7, 0), (HeaderFull::Drop, 0, 7)] {
        // Of 16 simultaneous frames, one is in transmission, 2 are queued, and 13 are trimmed; 6 headers fit the header
        // queue, 7 do not.
        let results = burst(16, 1, trimming(TrimParameters { full, ..trim() }, 2, 6));
        assert!(
            results.summary.passes() && results.summary.warnings.len() == usize::from(lost > 0),
            "{:?}",
            results.summary
        );
        let packets = &results.summary.packets;
        assert_eq!((packets.delivered_whole, packets.delivered_trimmed), (3, 6));
        assert_eq!((packets.returned_to_source, results.dropped("header queue full")), (returned, lost));
        assert_eq!(results.summary.event_counts.trims, 13);
    }
}

/// With `Victim::Tail`, the last frame of the queue is trimmed instead of the arriving frame. The number of trims is
/// equal.
#[test]
fn the_tail_makes_room_for_the_last_to_come() {
    let with = |victim| burst(8, 1, trimming(TrimParameters { victim, ..trim() }, 3, 100));
    let (arriving, tail, coin) = (with(Victim::Arriving), with(Victim::Tail), with(Victim::Coin));
    for results in [&arriving, &tail, &coin] {
        results.all_hold();
        assert_eq!((results.summary.packets.delivered_whole, results.summary.event_counts.trims), (4, 4));
    }
    let whole = |results: &Results| {
        results.flows.iter().filter(|flow| flow.delivered_ps.is_some()).map(|flow| flow.src_host).collect::<Vec<_>>()
    };
    let (first, last) = (whole(&arriving), whole(&tail));
    assert_eq!((first.len(), last.len()), (4, 4));
    // The frame in transmission and two queued frames are the same in both runs; the frame in the last position
    // differs.
    assert_eq!(first.iter().filter(|src| last.contains(src)).count(), 3);
}

/// Random networks with failures and lossy links: each frame is delivered whole, trimmed, returned or dropped with a
/// cause; frames and bytes are conserved, on any number of threads.
#[test]
fn random_networks_that_trim_keep_their_books() {
    let (mut trims, mut returned, mut spurious) = (0, 0, 0);
    for seed in 0..24 {
        let with = |threads| {
            let (mut setup, _) = network(seed, threads);
            let mut random = Stream::new(seed, 1, purpose("random trims"));
            let scheme = [HeaderDestination::OwnQueue, HeaderDestination::SameQueue, HeaderDestination::Source]
                [random.below(3) as usize];
            let trim = TrimParameters {
                size_bytes: 64 + random.below(3) as u16 * 64,
                header_class: [1, 6, 7][random.below(3) as usize],
                victim: match scheme {
                    HeaderDestination::OwnQueue => {
                        [Victim::Arriving, Victim::Tail, Victim::Coin][random.below(3) as usize]
                    }
                    _ => Victim::Arriving,
                },
                full: [HeaderFull::Return, HeaderFull::Drop][random.below(2) as usize],
                classes: !setup.switch.flow_control.lossless(),
                scheme,
                watermark: (scheme == HeaderDestination::Source && random.below(2) == 0)
                    .then_some(QueueLimit::Packets(1)),
                tiers: [0xff, 0b10][random.below(2) as usize],
            };
            setup.host.trim_aware = random.below(4) != 0;
            if random.below(4) != 0 {
                setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Packets(1 + random.below(4) as u32) };
            }
            let room = 1 + random.below(3) as u32;
            let header_queue = [QueueLimit::Packets(room), QueueLimit::Bytes(200)][random.below(2) as usize];
            setup.switch.overload = Overload::Trim { trim, header_queue, inside: None };
            setup
        };
        let results = run(with(1));
        let summary = &results.summary;
        assert!(summary.packets.closed, "seed {seed}: {:?}", summary.packets);
        for name in ["conservation", "buffer", "little's law"] {
            assert!(results.passes(name), "seed {seed}: {name}: {:?}", summary.checks);
        }
        trims += summary.event_counts.trims;
        returned += summary.packets.returned_to_source;
        spurious += u64::from(summary.event_counts.trims > summary.packets.delivered_trimmed);
        for threads in [2, 3] {
            let other = run(with(threads));
            assert_eq!(format!("{results:?}"), format!("{other:?}"), "seed {seed} on {threads} threads");
        }
    }
    assert!(trims > 1000 && returned > 10 && spurious > 0, "{trims} {returned} {spurious}");
}

/// Negative control: without trimming, the frames of the burst that do not fit are lost.
#[test]
fn without_trimming_the_burst_is_lost() {
    let mut switch = trimming(trim(), 2, 6);
    switch.overload = Overload::Drop;
    let results = burst(16, 1, switch);
    assert_eq!((results.dropped("queue full"), results.summary.event_counts.trims), (13, 0));
    assert_eq!(results.summary.simulated_ps, Time::from_ms(1).as_ps());
}

/// Cut payload: headers keep their position in the queue, so that frames arrive in order.
#[test]
fn headers_of_cut_payload_keep_their_place() {
    let trim = TrimParameters { scheme: HeaderDestination::SameQueue, full: HeaderFull::Drop, ..trim() };
    let mut setup = burst_setup(6, 3, trimming(trim, 2, 100));
    setup.record.trace = Some(TraceParameters::everything());
    let results = run(setup);
    results.all_hold();
    let packets = &results.summary.packets;
    assert_eq!(packets.delivered_whole + packets.delivered_trimmed, 18);
    assert!(packets.delivered_trimmed > 0 && results.dropped("header queue full") == 0);
    // The port sends frames in their order of arrival.
    let node = results.trace.iter().find(|row| row.event.name() == "queued").unwrap().node;
    let switch = results.trace.iter().filter(|row| row.node == node);
    let order = |what: &str| -> Vec<u64> {
        let rows = switch.clone().filter(|row| row.event.name() == what);
        rows.filter_map(|row| row.packet.map(|packet| packet.number)).collect()
    };
    assert_eq!(order("arrived").len(), 18);
    assert_eq!(order("started"), order("arrived"), "first come, first served");
}

/// SFC: above the watermark, headers are returned to their own source; only frames below the watermark are forwarded.
#[test]
fn from_the_watermark_on_headers_go_back() {
    for (watermark, waiting) in [(Some(QueueLimit::Packets(3)), 3), (Some(QueueLimit::Bytes(3000)), 2), (None, 8)] {
        let trim = TrimParameters { scheme: HeaderDestination::Source, watermark, ..trim() };
        let results = burst(16, 1, trimming(trim, 8, 100));
        results.all_hold();
        let packets = &results.summary.packets;
        assert_eq!((packets.delivered_whole, packets.delivered_trimmed), (1 + waiting, 0));
        assert_eq!((packets.returned_to_source, results.summary.event_counts.trims), (15 - waiting, 15 - waiting));
    }
}

/// Only leaves trim: a frame that does not fit the queue of a spine is dropped.
#[test]
fn tiers_that_do_not_trim_drop() {
    let fabric =
        || leaf_spine(3, 1, 4, 1, TierLinks { host: link(100, 100), edge: link(100, 100), core: link(100, 100) });
    let with = |tiers| {
        let process = Process::Constant { rate: Rate::from_gbps(100) };
        // Two leaves send at full rate through one spine to the third leaf, so that the spine overflows.
        let flows = [(0, 8), (1, 9), (4, 10), (5, 11)].map(|(src, dst)| datagrams(src, dst, process, 1518, 200 * 1518));
        let mut setup = setup(fabric().unwrap(), plan(12, flows));
        setup.switch = trimming(TrimParameters { tiers, ..trim() }, 8, 1000);
        run(setup)
    };
    let (all, leaves) = (with(0xff), with(0b10));
    for results in [&all, &leaves] {
        assert!(results.passes("conservation"));
    }
    let trimming_nodes = |results: &Results| results.summary.trims.as_ref().unwrap().switches.len();
    assert_eq!((trimming_nodes(&all), trimming_nodes(&leaves)), (3, 2));
    assert_eq!(all.dropped("queue full"), 0);
    assert!(leaves.dropped("queue full") > 100, "{:?}", leaves.summary.packets);
}

/// If the receiver is trim-aware, it reports missing payload when it gets the header. Otherwise the sender waits for
/// its retransmission timeout.
#[test]
fn trim_aware_transports_need_no_timer() {
    let with = |kind: &str, settings: &[(&str, &str)], size_bytes, hears| {
        let fabric = single_switch(17, link(100, 500)).unwrap();
        let mut setup = setup(fabric, plan(17, (0..16).map(|src| flow(src, 16, size_bytes))));
        setup.host.transport = transport(kind, settings);
        setup.host.trim_aware = hears;
        setup.switch = trimming(TrimParameters { victim: Victim::Coin, ..trim() }, 8, 1000);
        setup.duration = Time::from_ms(400);
        run(setup)
    };
    // No later packet reveals the loss of the last packet of a flow.
    let timeout: &[(&str, &str)] = &[("timeout", "10ms")];
    for (kind, settings, size) in
        [("roce", timeout, 2000), ("tcp", &[("min_rto", "10ms"), ("initial_rto", "10ms")], 60_000)]
    {
        let (results, control) = (with(kind, settings, size, true), with(kind, settings, size, false));
        for results in [&results, &control] {
            assert!(results.passes("conservation") && results.summary.event_counts.trims > 0, "{kind}");
        }
        assert_eq!(results.flows.iter().filter(|flow| flow.delivered_ps.is_some()).count(), 16, "{kind}");
        let timeouts = |results: &Results| results.flows.iter().map(|flow| flow.timeouts).sum::<u32>();
        let last = |results: &Results| results.flows.iter().map(|flow| flow.delivered_ps.unwrap_or(u64::MAX)).max();
        assert!(timeouts(&results) < timeouts(&control), "{kind}: {} {}", timeouts(&results), timeouts(&control));
        assert!(last(&results) < last(&control), "{kind}");
        if kind == "roce" {
            assert_eq!(timeouts(&results), 0, "each copy that is cut is asked for");
        }
    }
}

/// A trace has an event for each trimmed, returned and lost header at its node, and exactly one final event for each
/// packet.
#[test]
fn a_trace_follows_headers() {
    for trim in [
        trim(),
        TrimParameters { victim: Victim::Tail, ..trim() },
        TrimParameters { full: HeaderFull::Drop, ..trim() },
        TrimParameters { scheme: HeaderDestination::Source, watermark: Some(QueueLimit::Packets(1)), ..trim() },
    ] {
        let mut setup = burst_setup(16, 4, trimming(trim, 2, 4));
        setup.record.trace = Some(TraceParameters::everything());
        let results = run(setup);
        let count = |name: &str| results.trace.iter().filter(|row| row.event.name() == name).count() as u64;
        let packets = &results.summary.packets;
        assert_eq!(count("trimmed"), results.summary.event_counts.trims);
        assert_eq!(
            count("returned"),
            results.summary.trims.as_ref().unwrap().ports.iter().map(|p| p.returned).sum::<u64>()
        );
        assert_eq!(count("delivered"), packets.delivered_whole + packets.delivered_trimmed);
        assert_eq!(count("consumed"), packets.returned_to_source);
        assert_eq!(count("dropped"), packets.dropped.values().sum::<u64>());
        // Each frame that was dequeued had been enqueued before or was sent immediately; no event is duplicated.
        assert_eq!(count("started"), count("arrived"), "nothing is under way at the end");
        let mut ends = std::collections::BTreeMap::<u64, u32>::new();
        for row in results.trace.iter().filter(|row| row.event.is_end()) {
            *ends.entry(row.packet.unwrap().number).or_default() += 1;
        }
        assert_eq!(ends.len(), 64);
        assert!(ends.values().all(|&count| count == 1));
    }
}

/// Returns the share of each of four senders in the goodput of a port with a queue of eight frames. Each sends frames
/// of 1500 B at half the link rate and starts `step` after the previous one.
fn shares_of_a_trimmed_port(process: impl Fn(Rate) -> Process, step: Time) -> Vec<f64> {
    let rate = Rate::from_gbps(50);
    let start = |src: u32| traffic::Start::At(step * u64::from(src));
    let flows = (0..4u32).map(|src| traffic::Flow {
        start: start(src),
        traffic: src as u8,
        ..datagrams(src, 4, process(rate), 1500, traffic::ENDLESS)
    });
    let mut setup = setup(single_switch(5, link(100, 500)).unwrap(), plan(5, flows));
    setup.switch = trimming(trim(), 8, 4000);
    setup.record.throughput_every = Some(Time::from_us(10));
    setup.duration = Time::from_ms(2);
    let results = run(setup);
    results.all_hold();
    let total: u64 = results.goodput.iter().sum();
    results.goodput.iter().map(|&bytes| bytes as f64 / total as f64).collect()
}

/// Lockout: the next arrival gets the free slot of a full queue. Constant-rate senders with different phases arrive in
/// a fixed order, so that a few of them always get the slot. With equal phases, the switch rotates the order of
/// simultaneous arrivals; with random inter-arrival times, the sender that gets the slot is random.
#[test]
fn fixed_phases_lock_constant_senders_out() {
    let constant = |rate| Process::Constant { rate };
    let locked = shares_of_a_trimmed_port(constant, Time::from_ns(7));
    assert!(
        locked[..2].iter().all(|&share| share > 0.45) && locked[2..].iter().all(|&share| share < 0.02),
        "{locked:?}"
    );
    let in_step = shares_of_a_trimmed_port(constant, Time::ZERO);
    let poisson = shares_of_a_trimmed_port(|rate| Process::Poisson { rate }, Time::from_ns(7));
    for shares in [in_step, poisson] {
        assert!(shares.iter().all(|share| (share - 0.25).abs() < 0.02), "{shares:?}");
    }
}

/// A congestion point with a sampling interval of 1 B notifies the source of each data frame that joins the queue,
/// also if the frame displaces (trims) the last frame of a full queue.
#[test]
fn a_congestion_point_samples_frames_that_displace_others() {
    for victim in [Victim::Arriving, Victim::Tail] {
        let trim = TrimParameters { header_class: 7, victim, ..TrimParameters::default() };
        let mut setup = burst_setup(4, 60, trimming(trim, 8, 1000));
        setup.switch.marking = Marking::CongestionPoint(PointParameters {
            set_point_bytes: 1,
            sample_min_bytes: 1,
            jitter: 0.0,
            ..crate::bench::congestion_points(1, 1)
        });
        setup.record.trace = Some(TraceParameters::everything());
        let switch = setup.fabric.switches().next().unwrap().0;
        let results = run(setup);
        let count = |is: fn(&stats::trace::TraceRow) -> bool| {
            results.trace.iter().filter(|row| row.node == switch && is(row)).count()
        };
        let joined = count(|row| {
            matches!(row.event, TraceEvent::Queued { .. }) && row.packet.as_ref().is_some_and(|it| it.class < 6)
        });
        let notified = count(|row| matches!(row.event, TraceEvent::Created { .. }));
        assert!(joined > 50, "{joined}");
        assert_eq!(notified, joined, "{victim:?}");
    }
}
