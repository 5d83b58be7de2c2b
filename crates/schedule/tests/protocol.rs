//! Tests of the protocol on small networks: figures and tables of the thesis, and random runs with loss, duplicates and
//! late messages.

use schedule::protocol::network::{Clock, EventKind, Faults, Network, Wire};
use schedule::protocol::{Concurrency, Config, SlotRequest, StreamId, WireCost};
use schedule::slot::lcm;
use std::collections::BTreeSet;
use units::random::{Stream, purpose};
use units::{Rate, Time};
use wire::ReservationKind::{self, Ready, Request, Update};

const fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

fn wires(ends: &[[usize; 2]]) -> Vec<Wire> {
    ends.iter().map(|&ends| Wire { ends, rate: Rate::from_gbps(100), delay: ns(50) }).collect()
}

fn exact() -> Config {
    Config { wire: WireCost::FrameOnly, ..Config::new() }
}

fn started(network: &Network) -> BTreeSet<StreamId> {
    network
        .events
        .iter()
        .filter_map(|event| if let EventKind::Started(stream, ..) = event.what { Some(stream) } else { None })
        .collect()
}

/// Figure 4.2a: sources 0 and 1, switches 2 and 3, receiver 4. Switch 3 already has a slot for stream 1 of source 1
/// when source 0 requests a slot for stream 2.
fn figure_4_2a(faults: Faults) -> Network {
    let clocks = [9, 5, 1, 8, 3].map(|us| Clock { offset: Time::from_us(us), drift_ppb: 0 });
    let mut network = Network::new(&clocks, &wires(&[[0, 2], [1, 3], [2, 3], [3, 4]]), exact(), faults, 1);
    // Stream 1 starts 98 ns later, because frames of stream 2 pass one more link (48 ns transmission, 50 ns delay); the
    // slots would therefore coincide at switch 3.
    let ask =
        |stream, at: u64| SlotRequest { stream, destination: 4, frame_bytes: 600, window: ns(1920), start: ns(at) };
    network.ask(1, ask(1, 5000 + 98));
    network.run_until(Time::from_us(20));
    network.keeps_messages = true;
    network.ask(0, ask(2, 9000));
    network
}

#[test]
fn figure_4_2a_the_second_switch_moves_the_slot_updates_backwards_and_the_source_starts_when_it_is_ready() {
    let mut network = figure_4_2a(Faults::default());
    network.run_until(Time::from_us(40));
    let sent: Vec<(usize, usize, ReservationKind)> = network
        .events
        .iter()
        .filter_map(|event| {
            if let EventKind::Sent(to, message) = &event.what { Some((event.node, *to, message.kind)) } else { None }
        })
        .collect();
    // The update is short and the request, sent at the same time, is long. Therefore switch 2 has forwarded the update
    // before the receiver answers.
    let expected = [
        (0, 2, Request),
        (2, 3, Request),
        (3, 2, Update),
        (3, 4, Request),
        (2, 0, Update),
        (4, 3, Ready),
        (3, 2, Ready),
        (2, 0, Ready),
    ];
    assert_eq!(sent, expected);
    // The slot is shifted by the length of the slot of stream 1: 600 bytes at 100 Gbps take 48 ns.
    let EventKind::Started(2, slot, shift) = network.events.last().unwrap().what else { panic!("it starts last") };
    assert_eq!((shift, slot.start()), (ns(48), ns((9000 + 48) % 1920)));
    assert_eq!(network.collision(Time::from_us(40)), None);
}

#[test]
fn figure_4_2b_slots_match_arrivals_for_any_clocks_and_processing_times() {
    for seed in 0..200 {
        let mut random = Stream::new(seed, 0, purpose("clocks"));
        let mut clocks = [Clock::default(); 5];
        clocks.iter_mut().for_each(|clock| clock.offset = Time::from_ps(random.below(1 << 50)));
        let faults = Faults { processing: Time::from_us(30), ..Faults::default() };
        let mut network = Network::new(&clocks, &wires(&[[0, 2], [1, 3], [2, 3], [3, 4]]), exact(), faults, seed);
        network.ask(
            0,
            SlotRequest {
                stream: 1,
                destination: 4,
                frame_bytes: 600,
                window: ns(1920),
                start: Time::from_ps(random.below(1 << 40)),
            },
        );
        network.run_until(Time::from_us(500));
        let passages = network.passages(ns(1920));
        assert_eq!(passages.len(), 3);
        for passage in passages {
            let shown = network.clock(passage.node).shows(passage.start) % ns(1920);
            let slot = network.node(passage.node).slots().find(|&(_, port, _)| port == passage.port).unwrap().2;
            assert_eq!(shown, slot.start(), "seed {seed}, node {}", passage.node);
        }
    }
}

/// Table 4.1: frame length in bytes and window in ns of the four sources at each of two switches.
const TABLE_4_1: [(u16, u64); 4] = [(600, 640), (600, 1920), (750, 960), (600, 1920)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phases {
    Same,
    Random,
}

/// Figure 4.3a: sources 0 to 7, switches 8 to 11, and the receiver of all streams (the pool of baseband units) as node
/// 12.
fn figure_4_3a(config: Config, drift_ppb: i32, phases: Phases, seed: u64) -> Network {
    let mut ends: Vec<[usize; 2]> = (0..8).map(|source| [source, 8 + source / 4]).collect();
    ends.extend([[8, 10], [9, 10], [10, 11], [11, 12]]);
    let mut random = Stream::new(seed, 1, purpose("clocks"));
    let mut clock = |_| {
        let offset = Time::from_ps(random.below(1 << 50));
        let fast = random.below(2) == 1;
        Clock { offset, drift_ppb: if fast { drift_ppb } else { -drift_ppb } }
    };
    let clocks: Vec<Clock> = (0..13).map(&mut clock).collect();
    let faults = Faults { processing: Time::from_us(3), ..Faults::default() };
    let mut network = Network::new(&clocks, &wires(&ends), config, faults, seed);
    let mut order: Vec<usize> = (0..8).collect();
    random.shuffle(&mut order);
    for source in order {
        let (frame_bytes, gap) = TABLE_4_1[source % 4];
        // All sources request the same start (true time zero), or random starts.
        let start = match phases {
            Phases::Same => clocks[source].shows(Time::ZERO),
            Phases::Random => Time::from_ps(random.below(gap * 1000)),
        };
        network
            .ask(source, SlotRequest { stream: source as u64, destination: 12, frame_bytes, window: ns(gap), start });
    }
    network
}

/// Returns the number of streams with slots, at most eight per seed: the sum over all seeds, and the minimum. Checks
/// that frames never overlap.
fn accepted(config: Config, phases: Phases, seeds: u64) -> (usize, usize) {
    let run = |seed| {
        let mut network = figure_4_3a(config, 0, phases, seed);
        network.run_until(Time::from_ms(100));
        assert_eq!(network.collision(Time::from_us(20)), None, "{config:?} {phases:?} seed {seed}");
        started(&network).len()
    };
    let all: Vec<usize> = (0..seeds).map(run).collect();
    (all.iter().sum(), all.into_iter().min().unwrap_or(0))
}

#[test]
fn table_4_1_finds_slots_for_all_in_any_order_with_unsynchronised_clocks() {
    for wire in [WireCost::FrameOnly, WireCost::Ethernet] {
        assert_eq!(accepted(Config { wire, ..Config::new() }, Phases::Same, 30), (240, 8), "{wire:?}");
    }
}

#[test]
fn table_4_1_with_random_phases_and_requests_served_at_once_leaves_one_out_now_and_then() {
    // With random phases, the earliest slots leave gaps that are too short for another slot. A central scheduler could
    // move existing slots; a node cannot.
    let random = accepted(exact(), Phases::Random, 100);
    let at_once = accepted(Config { concurrency: Concurrency::Simultaneous, ..exact() }, Phases::Random, 100);
    assert_eq!((random, at_once), ((797, 7), (791, 7)));
}

/// Returns whether any frames overlap on a link during four lifetimes, with a guard band of `permille`/1000 of the
/// required one.
fn collides(permille: u64, seed: u64) -> bool {
    let demanded = exact().refreshed_every(Time::from_ms(20), 50);
    let config = Config { guard: demanded.guard.scale(permille, 1000), ..demanded };
    let mut network = figure_4_3a(config, 50, Phases::Same, seed);
    // Samples over several lifetimes, so that entries reach their maximum age between two refreshes.
    let lifetime = config.lifetime;
    network.run_until(Time::from_ms(10));
    assert_eq!(started(&network).len(), 8, "seed {seed}");
    (0..40).any(|_| {
        network.run_until(network.now() + lifetime / 10);
        network.collision(Time::from_us(20)).is_some()
    })
}

#[test]
fn no_frame_waits_at_50_ppb_with_the_guard_band_that_this_demands() {
    assert_eq!(exact().refreshed_every(Time::from_ms(20), 50).guard, Time::from_ps(3_008));
    assert!((0..20).all(|seed| !collides(1000, seed)));
}

#[test]
fn frames_wait_when_the_guard_band_is_halved() {
    assert!((0..20).any(|seed| collides(500, seed)));
}

#[test]
fn a_stream_that_is_released_leaves_no_slot_and_its_place_is_free() {
    let mut network = figure_4_2a(Faults::default());
    network.run_until(Time::from_us(40));
    network.release(1);
    network.release(2);
    network.run_until(Time::from_us(60));
    for node in 0..5 {
        assert_eq!(network.node(node).slots().count(), 0, "node {node}");
    }
    network.ask(1, SlotRequest { stream: 1, destination: 4, frame_bytes: 600, window: ns(1920), start: ns(7) });
    network.run_until(Time::from_us(80));
    let EventKind::Started(1, slot, Time::ZERO) = network.events.last().unwrap().what else {
        panic!("it starts again, unmoved")
    };
    assert_eq!(slot.start(), ns(7));
}

#[test]
fn a_stream_without_room_fails_and_leaves_no_slot() {
    let config = Config { attempts: 3, ..exact() };
    let mut network =
        Network::new(&[Clock::default(); 4], &wires(&[[0, 2], [1, 2], [2, 3]]), config, Faults::default(), 1);
    // Two slots of 60 ns (750 bytes at 100 Gbps) do not fit in a window of 100 ns.
    let ask = |stream| SlotRequest { stream, destination: 3, frame_bytes: 750, window: ns(100), start: ns(0) };
    network.ask(0, ask(1));
    network.ask(1, ask(2));
    network.run_until(Time::from_ms(400));
    let failed: Vec<&EventKind> =
        network.events.iter().map(|event| &event.what).filter(|what| matches!(what, EventKind::Failed(_))).collect();
    assert_eq!(failed.len(), 1);
    let slots: Vec<StreamId> =
        (0..4).flat_map(|node| network.node(node).slots().collect::<Vec<_>>()).map(|(stream, ..)| stream).collect();
    assert_eq!(slots.len(), 2, "those of the other at its source and the switch: {slots:?}");
    assert_eq!(slots[0], slots[1]);
}

#[test]
fn a_source_whose_refresh_is_never_answered_stops_before_the_nodes_forget_it() {
    let mut network = figure_4_2a(Faults::default());
    network.run_until(Time::from_us(40));
    network.set_faults(Faults { lost_permille: 1000, ..Faults::default() });
    network.run_until(Time::from_ms(1499));
    let stopped = |event: &&schedule::protocol::network::Event| matches!(event.what, EventKind::Stopped(_));
    assert_eq!(network.events.iter().filter(stopped).count(), 2);
    // Switch 2 still has the entry of stream 2.
    assert!(network.node(2).slots().any(|(stream, ..)| stream == 2));
    network.run_until(Time::from_s(4));
    assert_eq!((2..5).flat_map(|node| network.node(node).slots().collect::<Vec<_>>()).count(), 0);
}

/// Runs a random tree of switches with hosts, random streams that start and end, and random faults.
fn random_run(seed: u64) -> usize {
    let mut random = Stream::new(seed, 0, purpose("random runs"));
    let switches = 1 + random.below(4) as usize;
    let hosts = 3 + random.below(6) as usize;
    let mut ends: Vec<[usize; 2]> = (1..switches).map(|at| [at, random.below(at as u64) as usize]).collect();
    ends.extend((0..hosts).map(|host| [switches + host, random.below(switches as u64) as usize]));
    let rates = [10, 25, 100].map(Rate::from_gbps);
    let wires: Vec<Wire> = ends
        .iter()
        .map(|&ends| Wire {
            ends,
            rate: rates[random.below(3) as usize],
            delay: Time::from_ps(1 + random.below(900_000)),
        })
        .collect();
    let drift = [0, 50, 100_000][random.below(3) as usize];
    let clock = |random: &mut Stream| Clock {
        offset: Time::from_ps(random.below(1 << 45)),
        drift_ppb: random.below(2 * drift + 1) as i32 - drift as i32,
    };
    let clocks: Vec<Clock> = (0..switches + hosts).map(|_| clock(&mut random)).collect();
    let config = Config {
        grid: Time::from_ps([1, 500, 1000][random.below(3) as usize]),
        answer: Time::from_us(200),
        pending_lifetime: Time::from_us(700),
        concurrency: if random.below(2) == 0 { Concurrency::Serialise } else { Concurrency::Simultaneous },
        ..Config::new()
    };
    let config = config.refreshed_every(Time::from_ms(1), drift as u32);
    let config = if seed.is_multiple_of(3) { config.tightest() } else { config };
    let faults = Faults {
        lost_permille: random.below(300) as u16,
        copied_permille: random.below(300) as u16,
        processing: Time::from_us(random.below(40)),
        late: Time::from_us(random.below(100)),
    };
    let mut network = Network::new(&clocks, &wires, config, faults, seed);
    let base = 10_000 + 100 * random.below(40);
    let streams = 2 + random.below(8);
    for step in 0..12 {
        let stream = random.below(streams);
        match random.below(4) {
            0 => network.release(stream),
            _ if step < 9 => {
                let (from, to) = (random.below(hosts as u64) as usize, random.below(hosts as u64) as usize);
                // Each stream has only one source, so a stream that was requested before keeps its source.
                let from = (from + stream as usize) % hosts;
                let source = switches + if seed.is_multiple_of(2) { stream as usize % hosts } else { from };
                if source != switches + to && network.source(stream).is_none_or(|known| known == source) {
                    let window = ns(base * [1, 2, 3, 4][random.below(4) as usize]);
                    let frame_bytes = 64 + random.below(1455) as u16;
                    let start = Time::from_ps(random.below(1 << 44));
                    network.ask(
                        source,
                        SlotRequest { stream, destination: (switches + to) as u32, frame_bytes, window, start },
                    );
                }
            }
            _ => {}
        }
        network.run_until(network.now() + Time::from_us(random.below(1200)));
        check(&network, switches + hosts, &config, seed);
    }
    let count = started(&network).len();
    network.set_faults(Faults::default());
    (0..streams).for_each(|stream| network.release(stream));
    network.run_until(network.now() + Time::from_ms(4));
    for node in 0..switches + hosts {
        assert_eq!(
            network.node(node).slots().count(),
            0,
            "seed {seed}: node {node} keeps slots of streams that are no more"
        );
    }
    count
}

/// Checks by enumeration of instances that no two slots of different streams overlap at any port and no two frames
/// overlap, and that each frame has a slot at every node.
fn check(network: &Network, nodes: usize, config: &Config, seed: u64) {
    for node in 0..nodes {
        let slots: Vec<_> = network.node(node).slots().collect();
        for (at, (stream, port, slot)) in slots.iter().enumerate() {
            for (other, _, with) in slots[..at].iter().filter(|(other, on, _)| on == port && other != stream) {
                let all = lcm(slot.period(), with.period()).unwrap().as_ps();
                for i in 0..all / slot.period().as_ps() {
                    for k in 0..all / with.period().as_ps() {
                        let a = slot.start().as_ps() + i * slot.period().as_ps();
                        let b = with.start().as_ps() + k * with.period().as_ps();
                        let (ahead, behind) = ((b + all - a) % all, (a + all - b) % all);
                        let fits = ahead >= slot.length().as_ps() && behind >= with.length().as_ps();
                        assert!(
                            fits,
                            "seed {seed}: streams {stream} and {other} overlap at port {port} of node {node}"
                        );
                    }
                }
            }
        }
    }
    let passages = network.passages(Time::from_us(100));
    assert_eq!(network.collision(Time::from_us(100)), None, "seed {seed} at {}", network.now());
    for passage in passages {
        let shown = network.clock(passage.node).shows(passage.start);
        let near = |&(stream, port, slot): &(StreamId, u16, schedule::Slot)| {
            let off = (shown + slot.period() - slot.start()) % slot.period();
            let off = off.min(slot.period() - off);
            stream == passage.stream && port == passage.port && off <= config.guard
        };
        assert!(network.node(passage.node).slots().any(|slot| near(&slot)), "seed {seed}: {passage:?} has no slot");
    }
}

/// Runs 10,000 random networks, or the number in TIDEGATE_RUNS.
#[test]
fn no_two_slots_overlap_under_loss_copies_and_delay() {
    let runs = std::env::var("TIDEGATE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(10_000);
    let started: usize = (0..runs).map(random_run).sum();
    assert!(started as u64 > runs, "only {started} streams started in {runs} runs: nothing was tried");
}
