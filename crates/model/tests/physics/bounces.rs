//! Frames that bounce (PABO) or detour (DIBS): causes of losses, retraced paths, packet conservation.

use crate::bench::*;
use crate::conservation::network;
use fabric::Fabric;
use fabric::generate::{TierLinks, fat_tree, line, tree};
use model::parameters::*;
use protocols::pabo::{BounceParameters, ReturnRoute};
use traffic::{ENDLESS, Process};
use units::random::{Stream, purpose};
use units::{Rate, Time};

fn links(gbps: u64) -> TierLinks {
    TierLinks { host: link(gbps, 50), edge: link(gbps, 50), core: link(gbps, 50) }
}

fn bounce(pabo: BounceParameters, packets: u32) -> SwitchParameters {
    SwitchParameters {
        buffer: Buffer::PerQueue { limit: QueueLimit::Packets(packets) },
        flow_control: FlowControl::None,
        overload: Overload::Bounce { pabo, queue: QueueLimit::Packets(packets) },
        marking: Marking::None,
        scheduler: Scheduler::Strict,
    }
}

/// Periodic bursts of `frames` frames from each of the `senders` to `receiver`, with 1 ms between bursts.
fn bursts(fabric: &Fabric, senders: &[u32], receiver: u32, frames: u32) -> traffic::Plan {
    let process = Process::Bursts { frame_gap: Time::from_ns(500), frames_per_burst: frames, pause: Time::from_ms(1) };
    let bytes = 2 * u64::from(frames) * 1518;
    let flows = senders.iter().map(|&sender| datagrams(sender, receiver, process, 1518, bytes));
    plan(fabric.hosts().len() as u32, flows.collect::<Vec<_>>())
}

fn bounces(results: &Results) -> &stats::bounces::BounceSummary {
    results.summary.bounces.as_ref().expect("a switch that bounces frames")
}

/// Checks that each frame with n bounces traversed `path + 2 n` switches, because a bounce goes back one hop, which the
/// frame then repeats. A frame that returned to its source traversed one switch less, because the source is a host.
fn retraces(results: &Results, path: usize) {
    let bounces = bounces(results);
    let sum = |counts: &[u64]| counts.iter().enumerate().map(|(value, frames)| value as u64 * frames).sum::<u64>();
    let expected = bounces.delivered * path as u64 + 2 * sum(&bounces.by_bounces) - bounces.returned_to_source;
    assert_eq!(sum(&bounces.by_total_hops), expected, "{bounces:?}");
    if bounces.returned_to_source > 0 {
        return;
    }
    for (count, &frames) in bounces.by_bounces.iter().enumerate() {
        let hops = bounces.by_total_hops.get(path + 2 * count).copied().unwrap_or(0);
        assert_eq!(hops, frames, "of {count} bounces: {bounces:?}");
    }
}

/// With traffic in one direction, no frame is lost and all frames retrace their paths, for any theta, lambda and queue
/// limits.
#[test]
fn traffic_in_one_direction_loses_nothing() {
    let mut random = Stream::new(1, 0, purpose("one direction"));
    for seed in 0..20 {
        let stream = &mut random;
        let (fabric, senders, receiver, path) = match stream.below(3) {
            0 => (tree(&[3, 1], 1, 1, links(10)).unwrap(), vec![0, 1, 2], 3, 3),
            // Senders in other pods, with equal-cost paths to the receiver.
            1 => (fat_tree(4, links(10)).unwrap(), vec![4, 6, 9, 11, 13], 0, 5),
            _ => (line(4, 2, link(10, 50), link(10, 50)).unwrap(), vec![0, 1], 6, 4),
        };
        let pabo = BounceParameters {
            theta: stream.below(11) as f64 / 10.0,
            lambda: [0.0, 1.0, 50.0, 500.0][stream.below(4) as usize],
            ..BounceParameters::default()
        };
        let frames = 20 + stream.below(180) as u32;
        let room = 1 + stream.below(40) as u32;
        let mut setup = setup(fabric.clone(), bursts(&fabric, &senders, receiver, frames));
        setup.switch = bounce(pabo, room);
        setup.seed = seed;
        setup.duration = Time::from_ms(4);
        let results = run(setup);
        assert!(results.summary.passes(), "seed {seed}: {:?}", results.summary.checks);
        let packets = &results.summary.packets;
        assert_eq!(packets.dropped_total(), 0, "seed {seed}: {pabo:?}, room {room}: {:?}", packets.dropped);
        assert_eq!(packets.delivered_whole, packets.injected, "seed {seed}");
        assert!(bounces(&results).bounced_share > 0.0 || room > 30, "seed {seed}: {pabo:?} {:?}", bounces(&results));
        retraces(&results, path);
    }
}

/// On a tree, the route to the source leaves by the arrival port of the frame. With equal-cost paths it may leave by
/// another port, which may receive more frames than it can send: only the arrival port guarantees capacity for the
/// return path.
#[test]
fn a_source_lookup_is_the_arrival_port_on_a_tree() {
    let on = |fabric: &Fabric, senders: &[u32], receiver, back| {
        let mut setup = setup(fabric.clone(), bursts(fabric, senders, receiver, 150));
        setup.switch = bounce(BounceParameters { back, ..BounceParameters::default() }, 20);
        setup.duration = Time::from_ms(4);
        let results = run(setup);
        assert!(results.summary.passes(), "{:?}", results.summary.checks);
        assert!(results.summary.packets.dropped.keys().all(|cause| cause == "bounce queue full"));
        assert!(back == ReturnRoute::SourceLookup || results.summary.packets.dropped_total() == 0);
        format!("{:?}", results.summary)
    };
    let small = tree(&[3, 1], 1, 1, links(10)).unwrap();
    let wide = fat_tree(4, links(10)).unwrap();
    let both = |fabric, senders: &[u32], receiver| {
        [ReturnRoute::ArrivalPort, ReturnRoute::SourceLookup].map(|back| on(fabric, senders, receiver, back))
    };
    let [arrival, lookup] = both(&small, &[0, 1, 2], 3);
    assert_eq!(arrival, lookup);
    let [arrival, lookup] = both(&wide, &[4, 6, 9, 11, 13], 0);
    assert_ne!(arrival, lookup);
}

/// Frames are lost only with traffic in both directions, because the reverse port can then receive more frames than it
/// sends; the cause is the full bounce queue.
#[test]
fn losses_have_the_bounce_queue_as_their_cause() {
    let fabric = line(3, 2, link(10, 50), link(10, 50)).unwrap();
    let process = Process::Poisson { rate: Rate::from_gbps(9) };
    let both_ways = [(0, 4), (1, 4), (2, 4), (4, 0), (5, 0), (3, 0)];
    let flows = both_ways.map(|(src, dst)| datagrams(src, dst, process, 1518, ENDLESS));
    let mut setup = setup(fabric, plan(6, flows));
    setup.switch = bounce(BounceParameters::default(), 20);
    let results = run(setup);
    let causes: Vec<&String> = results.summary.packets.dropped.keys().collect();
    assert_eq!(causes, ["bounce queue full"]);
    assert!(results.summary.passes(), "{:?}", results.summary.checks);
    let storm = bounces(&results).storm.expect("persistent overload is a storm");
    assert!(storm.bounced > storm.received);
    assert!(results.summary.warnings[0].starts_with("bounce storm: "), "{:?}", results.summary.warnings);
}

/// A frame at its bounce limit does not bounce again: it is lost, with a separate cause.
#[test]
fn a_frame_at_its_limit_bounces_no_more() {
    let fabric = tree(&[3, 1], 1, 1, links(10)).unwrap();
    let with = |limit| {
        let mut setup = setup(fabric.clone(), bursts(&fabric, &[0, 1, 2], 3, 300));
        setup.switch = bounce(BounceParameters { limit, ..BounceParameters::default() }, 30);
        setup.duration = Time::from_ms(4);
        run(setup)
    };
    let free = with(None);
    assert!(bounces(&free).by_bounces.len() > 4 && free.summary.packets.dropped_total() == 0);
    let bound = with(Some(3));
    assert_eq!(bounces(&bound).by_bounces.len(), 4, "{:?}", bounces(&bound));
    assert_eq!(bound.summary.packets.dropped.keys().collect::<Vec<_>>(), ["bounce limit"]);
    assert!(bound.summary.passes());
}

/// Hosts resend the frames that bounced back to them, so that all injected frames are delivered.
#[test]
fn frames_that_come_back_to_their_host_are_sent_again() {
    let fabric = tree(&[3, 1], 1, 1, links(10)).unwrap();
    let mut setup = setup(fabric.clone(), bursts(&fabric, &[0, 1, 2], 3, 400));
    setup.switch = bounce(BounceParameters::default(), 20);
    setup.duration = Time::from_ms(4);
    let results = run(setup);
    assert!(bounces(&results).returned_to_source > 100, "{:?}", bounces(&results));
    assert_eq!(results.summary.packets.delivered_whole, results.summary.packets.injected);
    assert!(results.summary.passes());
}

/// Switches that bounce also mark ECN, and DCTCP reduces its window. PFC pauses class 3 while class 0 bounces.
#[test]
fn other_mechanisms_act_beside_it() {
    let fabric = tree(&[3, 1], 1, 1, links(10)).unwrap();
    let incast = |class| [0, 1, 2].map(|src| traffic::Flow { class, ..flow(src, 3, 400_000) });
    let mut marked = setup(fabric.clone(), plan(4, incast(0)));
    marked.switch = bounce(BounceParameters::default(), 20);
    marked.switch.marking = Marking::Ecn(EcnParameters {
        k_min_bytes: 5_000,
        k_max_bytes: Some(5_000),
        p_max: 1.0,
        of_rate: None,
        at: MarkEvent::Enqueue,
    });
    marked.host.transport = transport("dctcp", &[]);
    marked.duration = Time::from_ms(20);
    let results = run(marked);
    assert!(
        results.summary.event_counts.marks > 0 && results.summary.event_counts.bounces > 0,
        "{:?}",
        results.summary.event_counts
    );
    assert_eq!(results.flows.iter().filter(|flow| flow.delivered_ps.is_some()).count(), 3);
    assert!(results.summary.passes() && results.summary.packets.dropped_total() == 0);

    let mut stopped = setup(fabric, plan(4, incast(0).into_iter().chain(incast(3))));
    stopped.switch = bounce(BounceParameters { classes: !(1 << 3), ..BounceParameters::default() }, 60);
    stopped.switch.flow_control = FlowControl::Pfc(pause(10_000));
    stopped.host.transport = transport("dctcp", &[]);
    stopped.duration = Time::from_ms(20);
    let results = run(stopped);
    assert!(results.summary.pauses.count > 0 && results.summary.event_counts.bounces > 0, "{:?}", results.summary);
    assert!(results.summary.passes() && results.dropped("lossless queue full") == 0, "{:?}", results.summary.checks);
}

/// Detours (DIBS) absorb a burst: less than half as many frames are lost as with tail drop. Packets are conserved.
#[test]
fn detours_use_the_neighbours_buffers() {
    let fabric = fat_tree(4, links(10)).unwrap();
    let with = |overload| {
        let mut setup = setup(fabric.clone(), bursts(&fabric, &[4, 6, 9, 11, 13], 0, 40));
        setup.switch = SwitchParameters { overload, ..bounce(BounceParameters::default(), 20) };
        setup.duration = Time::from_ms(4);
        run(setup)
    };
    let (dropped, detoured) = (with(Overload::Drop), with(Overload::Detour));
    assert!(detoured.summary.passes() && detoured.summary.event_counts.detours > 0);
    assert_eq!(bounces(&detoured).returned_to_source, 0, "no frame is sent to a host that is not its own");
    let lost = |results: &Results| results.summary.packets.dropped_total();
    assert!(lost(&detoured) * 2 < lost(&dropped), "{} and {}", lost(&detoured), lost(&dropped));
}

/// Packet conservation holds in random networks with bounces, link failures, lossy links and PFC, on any number of
/// threads.
#[test]
fn counters_match_in_random_networks_with_bounces() {
    let mut bounced = [0, 0];
    for seed in 0..25 {
        let with = |threads| {
            let (mut setup, may_lock) = network(seed, threads);
            let mut random = Stream::new(seed, 1, purpose("random turns"));
            let relays = setup.fabric.nodes().iter().any(|node| node.relay);
            if relays || random.below(3) == 0 {
                setup.switch.overload = Overload::Detour;
            } else {
                let room = 2 + random.below(20) as u32;
                let pabo = BounceParameters {
                    theta: random.below(11) as f64 / 10.0,
                    back: [ReturnRoute::ArrivalPort, ReturnRoute::SourceLookup][random.below(2) as usize],
                    limit: [None, Some(2)][random.below(2) as usize],
                    classes: !setup.switch.flow_control.lossless(),
                    ..BounceParameters::default()
                };
                setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Packets(room) };
                let queue = [QueueLimit::Packets(room), QueueLimit::Bytes(20_000)][random.below(2) as usize];
                setup.switch.overload = Overload::Bounce { pabo, queue };
            }
            (setup, may_lock)
        };
        let (setup, _) = with(1);
        let results = run(setup);
        let summary = &results.summary;
        assert!(summary.packets.closed, "seed {seed}: {:?}", summary.packets);
        for name in ["conservation", "bounces", "buffer", "little's law"] {
            assert!(results.passes(name), "seed {seed}: {name}: {:?}", summary.checks);
        }
        bounced[0] += summary.event_counts.bounces;
        bounced[1] += summary.event_counts.detours;
        let other = run(with(2).0);
        assert_eq!(format!("{results:?}"), format!("{other:?}"), "seed {seed} on 2 threads");
    }
    assert!(bounced.iter().all(|&bounced| bounced > 100), "{bounced:?}");
}
