//! Compares the engine with a minimal reference: one global queue ordered by (time, node, rotated port). Random
//! networks of nodes that forward, split and delay tokens must log the same events as the reference, for any number
//! of threads and any interruptions of a run.

use engine::ranks::{Membership, MessageCodec, RankPartition, Ranks, TransferCounts, divide_ranks, in_one_process};
use engine::{Engine, EngineError, Message, Node, Window, WireSpec};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Time;
use units::pack::Pack;
use units::random::{Stream, split_mix};

#[derive(Clone, Copy, Default, Debug, PartialEq)]
struct Token {
    at: Time,
    value: u64,
    life: u32,
}

impl Message for Token {
    fn at(&self) -> Time {
        self.at
    }
}

/// Test node: hashes its inputs into a signature, and answers each token with tokens, at once or after a timer.
#[derive(Clone)]
struct Relay {
    wires: Vec<WireSpec>,
    /// Arrival time of the last message on each wire, because a wire is FIFO.
    last: Vec<Time>,
    rotation: u32,
    signature: u64,
    events: u64,
    timers: BinaryHeap<Reverse<(Time, u64, u32)>>,
}

impl Relay {
    fn note(&mut self, at: Time, what: u64) {
        let mut state = self.signature ^ at.as_ps().rotate_left(17) ^ what;
        self.signature = split_mix(&mut state);
        self.events += 1;
    }

    /// Answers a token by at most one message and one timer, which depend only on the value of the token.
    fn answer(&mut self, now: Time, value: u64, life: u32) -> Option<(u16, Token)> {
        if life == 0 || self.wires.is_empty() {
            return None;
        }
        let mut state = value;
        let draw = split_mix(&mut state);
        if draw.is_multiple_of(3) {
            self.timers.push(Reverse((now + Time::from_ps(draw % 5_000), draw, life - 1)));
        }
        let port = (draw >> 8) as usize % self.wires.len();
        // Departures on a time grid of 500 ps make simultaneous arrivals frequent.
        let extra = Time::from_ps((draw >> 40) % 4 * 500);
        self.last[port] = self.last[port].max(now + self.wires[port].lookahead + extra);
        Some((port as u16, Token { at: self.last[port], value: draw, life: life - 1 }))
    }

    fn next_timer(&self) -> Time {
        self.timers.peek().map_or(Time::MAX, |Reverse((at, ..))| *at)
    }
}

impl Node for Relay {
    type Message = Token;
    fn run(&mut self, window: &mut Window<'_, Token>) -> Time {
        loop {
            let (arrival, timer) = (window.next_arrival(), self.next_timer());
            if arrival.min(timer) >= window.end() {
                return timer;
            }
            if arrival <= timer {
                window.rotate_ties(|| self.rotation);
                self.rotation += 1;
                while window.next_arrival() == arrival {
                    window.take_in_place(|port, token, window| {
                        let before = *token;
                        self.note(arrival, token.value ^ u64::from(port));
                        if let Some((port, answer)) = self.answer(arrival, token.value, token.life) {
                            window.send(port, answer);
                        }
                        assert_eq!(*token, before, "what is sent does not touch what has come");
                    });
                }
            } else if let Some(Reverse((at, value, life))) = self.timers.pop() {
                self.note(at, value);
                if let Some((port, token)) = self.answer(at, value, life) {
                    window.send(port, token);
                }
            }
        }
    }
}

struct Network {
    relays: Vec<Relay>,
    wires: Vec<Vec<WireSpec>>,
}

fn network(seed: u64) -> Network {
    network_of(seed, 2, |stream, nodes| (stream.below(nodes) as usize, stream.below(nodes) as usize))
}

/// Like [`network`], with wires only between adjacent nodes.
fn row(seed: u64) -> Network {
    network_of(seed, 2, |stream, nodes| {
        let from = stream.below(nodes - 1) as usize;
        if stream.below(2) == 0 { (from, from + 1) } else { (from + 1, from) }
    })
}

/// A larger bipartite network: wires lead between nodes with odd and even numbers.
fn between(seed: u64) -> Network {
    network_of(seed, 17, |stream, nodes| {
        let (odd, even) = (2 * stream.below(nodes / 2) + 1, 2 * stream.below(nodes.div_ceil(2)));
        let (from, to) = if stream.below(2) == 0 { (odd, even) } else { (even, odd) };
        (from as usize, to as usize)
    })
}

/// Creates a network of at least `least` nodes. `ends` draws the two nodes of each wire; if they are equal, no wire
/// is added.
fn network_of(seed: u64, least: usize, ends: impl Fn(&mut Stream, u64) -> (usize, usize)) -> Network {
    let mut stream = Stream::new(seed, 0, 0);
    let nodes = least + stream.below(12) as usize;
    let mut wires = vec![Vec::new(); nodes];
    let mut ports = vec![0u16; nodes];
    // Lookaheads from short to long, all multiples of 500 ps, so that ties occur. Some nodes have more than 64 ports.
    let wires_a_node = if seed % 5 == 4 { 140 } else { 3 };
    for _ in 0..nodes * wires_a_node {
        let (from, to) = ends(&mut stream, nodes as u64);
        if from != to {
            let scale = 1 << stream.below(12);
            let lookahead = Time::from_ps(500 * (1 + stream.below(scale)));
            wires[from].push(WireSpec { node: to as u32, port: ports[to], lookahead });
            ports[to] += 1;
        }
    }
    let relays = (0..nodes)
        .map(|n| Relay {
            wires: wires[n].clone(),
            last: vec![Time::ZERO; wires[n].len()],
            rotation: 0,
            signature: n as u64,
            events: 0,
            timers: (0..stream.below(4))
                .map(|_| Reverse((Time::from_ps(500 * stream.below(40)), stream.next_u64(), 16)))
                .collect(),
        })
        .collect();
    Network { relays, wires }
}

type Log = Vec<(u64, u64)>;

fn log<'a>(relays: impl Iterator<Item = &'a Relay>) -> Log {
    relays.map(|r| (r.signature, r.events)).collect()
}

/// Runs one event at a time from a global queue.
fn reference(mut network: Network, stop: Time) -> Log {
    let mut in_flight: Vec<(Time, u32, u16, u64, Token)> = Vec::new();
    let mut order = 0;
    loop {
        let arrival = in_flight.iter().map(|m| m.0).min().unwrap_or(Time::MAX);
        let timer = network.relays.iter().map(Relay::next_timer).min().unwrap_or(Time::MAX);
        let now = arrival.min(timer);
        if now >= stop {
            return log(network.relays.iter());
        }
        for node in 0..network.relays.len() {
            let mut sent = Vec::new();
            let relay = &mut network.relays[node];
            let mut here: Vec<_> = in_flight.iter().filter(|m| m.0 == now && m.1 == node as u32).copied().collect();
            in_flight.retain(|m| !(m.0 == now && m.1 == node as u32));
            if !here.is_empty() {
                here.sort_by_key(|m| (m.2, m.3));
                let ties = here.len();
                // The order of ports is rotated; messages of one wire stay in order.
                let mut ports: Vec<u16> = here.iter().map(|m| m.2).collect();
                ports.rotate_left(relay.rotation as usize % ties);
                let mut left = std::mem::take(&mut here);
                for port in ports {
                    let first = left.iter().position(|m| m.2 == port).unwrap();
                    here.push(left.remove(first));
                }
                relay.rotation += 1;
            }
            for (at, _, port, _, token) in here {
                relay.note(at, token.value ^ u64::from(port));
                sent.extend(relay.answer(at, token.value, token.life));
            }
            while relay.next_timer() == now {
                let Some(Reverse((at, value, life))) = relay.timers.pop() else { break };
                relay.note(at, value);
                sent.extend(relay.answer(at, value, life));
            }
            for (port, token) in sent {
                let wire = network.wires[node][port as usize];
                in_flight.push((token.at, wire.node, wire.port, order, token));
                order += 1;
            }
        }
    }
}

// [M20] [M22] [M24]
#[test]
fn any_number_of_threads_equals_a_global_queue() {
    const COMBINATIONS: [(usize, bool); 8] =
        [(1, false), (3, false), (5, false), (5, true), (8, true), (2, false), (2, true), (3, true)];
    let (stop, seeds) = if cfg!(miri) { (Time::from_ns(50), 3..4) } else { (Time::from_us(40), 0..12) };
    let mut busy = 0;
    let draws = |seed| [network, between].into_iter().take(if seed % 3 == 0 { 2 } else { 1 });
    for (seed, draw) in seeds.flat_map(|seed| draws(seed).map(move |draw| (seed, draw))) {
        let expected = reference(draw(seed), stop);
        busy += expected.iter().filter(|entry| entry.1 > 10).count();
        for &(threads, random) in &COMBINATIONS[if cfg!(miri) { 6 } else { 0 }..] {
            let Network { relays, wires } = draw(seed);
            let mut engine = Engine::new(relays, &wires, threads).unwrap();
            if random {
                engine.randomise_threads(seed);
            }
            // Interrupt the run at odd times: results must not change.
            let mut cuts = Stream::new(seed, threads as u64, 1);
            while engine.now() < stop {
                let step = Time::from_ps(1 + cuts.below(stop.as_ps() / 4));
                assert!(engine.run_until((engine.now() + step).min(stop)));
            }
            assert_eq!(log(engine.nodes()), expected, "seed {seed}, {threads} threads, random: {random}");
            assert_eq!(engine.clock().now(), stop);
        }
    }
    assert!(busy > 40 || cfg!(miri), "the networks must be lively to prove anything: {busy}");
}

#[test]
fn statistics_and_active_nodes_do_not_depend_on_threads() {
    let run = |draw: fn(u64) -> Network, threads, seed: Option<u64>| {
        let Network { relays, wires } = draw(10);
        let mut engine = Engine::new(relays, &wires, threads).unwrap();
        seed.into_iter().for_each(|seed| engine.randomise_threads(seed));
        let mut active = Vec::new();
        for ns in if cfg!(miri) { [1, 15, 16, 30, 50] } else { [1, 1500, 1501, 9000, 30_000] } {
            engine.run_until(Time::from_ns(ns));
            let mut ran = engine.take_active();
            ran.sort_unstable();
            active.push(ran);
        }
        let shared = engine.sharing();
        assert!(shared.shared_runs <= engine.statistics().runs);
        assert_eq!(seed.is_some() && threads > 1, shared.shared_runs > 0, "{shared:?}");
        (engine.statistics(), engine.next_event(), active)
    };
    for draw in [network, between] {
        let one = run(draw, 1, None);
        assert!(one.0.runs > 1000 || cfg!(miri), "{one:?}");
        for threads in if cfg!(miri) { 2..4 } else { 2..8 } {
            assert_eq!(run(draw, threads, None), one);
            assert_eq!(run(draw, threads, Some(threads as u64)), one);
        }
    }
}

/// A separate ring of three nodes without events makes the network not bipartite. Then each window is for all nodes,
/// and nodes run more often, with equal results.
#[test]
fn alternating_sides_run_less_often_with_equal_results() {
    let run = |seed, with_circle| {
        let Network { mut relays, mut wires } = between(seed);
        let count = relays.len();
        for step in (0..3).filter(|_| with_circle) {
            let (node, port) = ((count + (step + 1) % 3) as u32, 0);
            wires.push(vec![WireSpec { node, port, lookahead: Time::from_ns(1) }]);
            relays.push(Relay { timers: BinaryHeap::new(), ..relays[0].clone() });
        }
        let mut engine = Engine::new(relays, &wires, 1).unwrap();
        engine.run_until(if cfg!(miri) { Time::from_ns(30) } else { Time::from_us(40) });
        (log(engine.nodes().take(count)), engine.statistics().runs)
    };
    let (mut alternating, mut together) = (0, 0);
    for seed in if cfg!(miri) { 3..4 } else { 0..30 } {
        let (found, expected) = (run(seed, false), run(seed, true));
        assert_eq!(found.0, expected.0, "seed {seed}");
        (alternating, together) = (alternating + found.1, together + expected.1);
    }
    assert!(alternating * 10 < together * 9 || cfg!(miri), "{alternating} runs in turn, {together} together");
}

/// Passes tokens round a ring of nodes for ever; the node sets the stop flag at its `stop_at_run`-th run.
struct Runner {
    wires: usize,
    sent: u64,
    taken: u64,
    runs: u64,
    /// Time that the node has reached.
    until: Time,
    stop_at_run: u64,
    stop: Arc<AtomicBool>,
    lookahead: Time,
}

impl Node for Runner {
    type Message = Token;
    fn run(&mut self, window: &mut Window<'_, Token>) -> Time {
        self.runs += 1;
        self.until = window.end();
        if self.runs == self.stop_at_run {
            self.stop.store(true, Ordering::Relaxed);
        }
        let mut send = |window: &mut Window<'_, Token>, now: Time| {
            let at = now + self.lookahead;
            window.send((self.sent % self.wires as u64) as u16, Token { at, value: 0, life: 0 });
            self.sent += 1;
        };
        if self.runs == 1 {
            send(window, Time::ZERO);
        }
        while window.next_arrival() < Time::MAX {
            let now = window.next_arrival();
            window.take();
            self.taken += 1;
            send(window, now);
        }
        Time::MAX
    }
}

/// Creates wires from each node to the nodes `steps` further on in the ring.
fn ring(nodes: u32, steps: &[u32], lookahead: Time) -> Vec<Vec<WireSpec>> {
    let wires_of = |node| {
        (0..).zip(steps).map(move |(port, step)| WireSpec { node: (node + step) % nodes, port, lookahead }).collect()
    };
    (0..nodes).map(wires_of).collect()
}

#[test]
fn a_stop_takes_effect_after_one_node_a_thread_and_loses_no_message() {
    let nodes = 40;
    for (threads, lookahead_ps) in [(1, 1), (2, 1), (3, 1), (5, 7), (1, 1_000_000), (3, 1_000_000)] {
        for stop_at_run in if cfg!(miri) { vec![2] } else { vec![1, 2, 3, 50, 1001] } {
            let stop = Arc::new(AtomicBool::new(false));
            let lookahead = Time::from_ps(lookahead_ps);
            let runner = |node| {
                // One node, at varying positions in the order of a window, sets the flag.
                let stop_at_run = if node == (stop_at_run * 7 % nodes) as u32 { stop_at_run } else { 0 };
                Runner {
                    wires: 2,
                    sent: 0,
                    taken: 0,
                    runs: 0,
                    until: Time::ZERO,
                    stop_at_run,
                    stop: Arc::clone(&stop),
                    lookahead,
                }
            };
            let wires = ring(nodes as u32, &[1, 19], lookahead);
            let mut engine = Engine::new((0..nodes as u32).map(runner).collect(), &wires, threads).unwrap();
            engine.set_stop_flag(Arc::clone(&stop));
            engine.randomise_threads(stop_at_run);
            assert!(!engine.run_until(Time::from_s(100)), "an endless run ends only if it is stopped");
            let runs = engine.nodes().map(|node| node.runs).collect::<Vec<_>>();
            assert_eq!(runs.iter().sum::<u64>(), engine.statistics().runs);
            assert!(
                runs.iter().all(|&runs| stop_at_run - 1 <= runs && runs <= stop_at_run),
                "no node is a window ahead: {runs:?}"
            );
            let (sent, taken) = engine.nodes().fold((0, 0), |sum, node| (sum.0 + node.sent, sum.1 + node.taken));
            let in_flight: usize = (0..engine.len()).map(|node| engine.in_flight(node).count()).sum();
            assert_eq!(sent, taken + in_flight as u64, "stop_at_run {stop_at_run}, {threads} threads");
            let now = engine.now();
            assert!(now < Time::from_s(1) && !engine.run_until(Time::from_s(100)) && engine.now() == now);
        }
    }
}

/// The sides run alternately, so one side is usually ahead. Includes a stop that is detected between two calls, after
/// all nodes of the last window have run.
#[test]
fn after_a_stop_no_node_is_beyond_the_reported_time() {
    let (nodes, lookahead) = (20u32, Time::from_ns(1));
    for stop_at_run in if cfg!(miri) { 1..3 } else { 1..60 } {
        // `last` is the last node of a side, so that no check of the flag follows its run in the same window.
        for last in [nodes - 2, nodes - 1] {
            let stop = Arc::new(AtomicBool::new(false));
            let runner = |node| {
                let (stop_at_run, stop) = (if node == last { stop_at_run } else { 0 }, Arc::clone(&stop));
                Runner { wires: 1, sent: 0, taken: 0, runs: 0, until: Time::ZERO, stop_at_run, stop, lookahead }
            };
            let wires = ring(nodes, &[1], lookahead);
            let mut engine = Engine::new((0..nodes).map(runner).collect(), &wires, 1).unwrap();
            engine.set_stop_flag(Arc::clone(&stop));
            engine.randomise_threads(stop_at_run);
            assert!(!engine.run_until(Time::from_s(100)));
            let ahead = engine.nodes().map(|node| node.until).max();
            assert!(
                ahead <= Some(engine.now()),
                "stop_at_run {stop_at_run} of node {last}: {ahead:?} at {:?}",
                engine.now()
            );
            assert_eq!(engine.now(), engine.clock().now(), "the clock shows the engine time");
        }
    }
}

/// Serialises tokens.
struct Plain;
impl MessageCodec<Token> for Plain {
    fn pack(&self, token: &Token, to: &mut Vec<u8>) {
        (token.at, token.value, token.life).pack(to);
    }
    fn unpack(&self, from: &mut &[u8]) -> Option<Token> {
        <(Time, u64, u32)>::unpack(from).map(|(at, value, life)| Token { at, value, life })
    }
}

/// Returns the result of `run` for the engine of each rank over its share of `nodes`, in order of ranks.
fn on_ranks<N: Node<Message = Token>, R: Send>(
    ranks: usize,
    threads: usize,
    nodes: Vec<N>,
    wires: &[Vec<WireSpec>],
    run: impl Fn(Engine<N>) -> R + Sync,
) -> Vec<R> {
    let firsts = divide_ranks(wires, ranks).unwrap();
    let mut nodes = nodes.into_iter();
    let mut own: Vec<Vec<N>> =
        firsts.windows(2).map(|pair| nodes.by_ref().take((pair[1] - pair[0]) as usize).collect()).collect();
    let run = &run;
    let start = |(ranks, nodes): (Arc<dyn Ranks>, Vec<N>)| {
        let membership =
            Membership { ranks, codec: Box::new(Plain), borders: RankPartition::new(wires, firsts.clone()) };
        move || run(Engine::of_rank(nodes, wires, threads, membership).unwrap())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            in_one_process(ranks).into_iter().zip(own.drain(..)).map(|it| scope.spawn(start(it))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Returns, by rank, the number of other ranks that the wires of its nodes reach.
fn reached(wires: &[Vec<WireSpec>], ranks: usize) -> Vec<u64> {
    let firsts = divide_ranks(wires, ranks).unwrap();
    let rank_of = |node: u32| firsts.iter().rposition(|&first| first <= node).unwrap();
    let of_rank = |rank: usize| {
        let own = wires[firsts[rank] as usize..firsts[rank + 1] as usize].iter().flatten();
        let reached: BTreeSet<usize> = own.map(|wire| rank_of(wire.node)).filter(|&other| other != rank).collect();
        reached.len() as u64
    };
    (0..ranks).map(of_rank).collect()
}

#[test]
fn any_number_of_ranks_equals_a_global_queue() {
    const COMBINATIONS: [(usize, usize); 5] = [(1, 1), (8, 1), (3, 1), (2, 1), (2, 2)];
    let (stop, seeds) = if cfg!(miri) { (Time::from_ns(60), 3..4) } else { (Time::from_us(2), 0..6) };
    let (mut sent_messages, mut alone, mut voted) = (0, 0, 0);
    let both: [fn(u64) -> Network; 2] = [network, row];
    for (seed, draw) in seeds.flat_map(|seed| both.map(|draw| (seed, draw))) {
        let expected = reference(draw(seed), stop);
        for &(ranks, threads) in &COMBINATIONS[if cfg!(miri) { 3 } else { 0 }..] {
            let ranks = ranks.min(expected.len());
            let Network { relays, wires } = draw(seed);
            let reached = reached(&wires, ranks);
            let found = on_ranks(ranks, threads, relays, &wires, |mut engine| {
                if threads > 1 {
                    // The number of threads changes at different windows on each rank.
                    engine.randomise_threads(seed + engine.len() as u64);
                }
                let mut cuts = Stream::new(seed, ranks as u64, 2);
                while engine.now() < stop {
                    let step = Time::from_ps(1 + cuts.below(stop.as_ps() / 2));
                    assert!(engine.run_until((engine.now() + step).min(stop)));
                }
                (log(engine.nodes()), engine.transfer_counts(), engine.statistics().windows)
            });
            let logs: Log = found.iter().flat_map(|(log, ..)| log.clone()).collect();
            assert_eq!(logs, expected, "seed {seed}, {ranks} ranks, {threads} threads");
            let count = ranks as u64;
            let steps = (count - 1).checked_ilog2().map_or(0, |bits| u64::from(bits) + 1);
            let all_meet = reached.iter().sum::<u64>() + count * steps >= count * (count - 1);
            let votes = if all_meet { 0 } else { steps };
            for ((_, TransferCounts { barriers, batches, bytes, messages }, ran), others) in
                found.into_iter().zip(reached)
            {
                let others = if all_meet { count - 1 } else { others };
                assert_eq!(batches, barriers * (others + votes), "one to each that is reached, whatever is to say");
                assert_eq!(bytes, batches * 18 + messages * (6 + 20));
                sent_messages += messages;
                voted += votes;
                // Some wires between ranks are longer than wires within a rank, so ranks can run windows of their
                // own.
                alone += ran.saturating_sub(barriers);
            }
        }
    }
    // Under miri the run is too short for these bounds.
    assert!(alone > 100 || cfg!(miri), "ranks must run windows of their own: {alone}");
    assert!(sent_messages > 1_000 || cfg!(miri), "ranks must exchange messages: {sent_messages}");
    assert!(voted > 10 || cfg!(miri), "some ranks must not reach each other: {voted}");
}

#[test]
fn a_stop_at_one_rank_is_one_at_all_and_loses_no_message() {
    let nodes = 40;
    for (ranks, threads) in [(2, 1), (3, 2)] {
        for stop_at_run in if cfg!(miri) { vec![2] } else { vec![1, 2, 50] } {
            let wires = ring(nodes as u32, &[1, 19], Time::from_ns(1));
            let runner = |node| {
                let stop_at_run = if node == (stop_at_run * 7 % nodes) as u32 { stop_at_run } else { 0 };
                Runner {
                    wires: 2,
                    sent: 0,
                    taken: 0,
                    runs: 0,
                    until: Time::ZERO,
                    stop_at_run,
                    stop: Arc::default(),
                    lookahead: Time::from_ns(1),
                }
            };
            let found = on_ranks(ranks, threads, (0..nodes as u32).map(runner).collect(), &wires, |mut engine| {
                // Each rank has its own stop flag.
                let stop = engine.nodes().find(|node| node.stop_at_run > 0).map(|node| Arc::clone(&node.stop));
                engine.set_stop_flag(stop.unwrap_or_default());
                assert!(!engine.run_until(Time::from_s(100)), "an endless run ends only if it is stopped");
                let now = engine.now();
                assert!(!engine.run_until(Time::from_s(100)) && engine.now() == now);
                let (sent, taken) = engine.nodes().fold((0, 0), |sum, node| (sum.0 + node.sent, sum.1 + node.taken));
                let in_flight: usize = (0..engine.len()).map(|node| engine.in_flight(node).count()).sum();
                (now, sent, taken + in_flight as u64)
            });
            assert!(found.iter().all(|one| one.0 == found[0].0), "all end at one instant: {found:?}");
            let (sent, known) = found.iter().fold((0, 0), |sum, one| (sum.0 + one.1, sum.1 + one.2));
            assert_eq!(sent, known, "{ranks} ranks, stop_at_run {stop_at_run}");
        }
    }
}

#[test]
#[should_panic(expected = "a scoped thread panicked")]
fn a_rank_that_dies_takes_the_others_with_it() {
    struct Mortal(bool);
    impl Node for Mortal {
        type Message = Token;
        fn run(&mut self, _: &mut Window<'_, Token>) -> Time {
            assert!(!self.0, "out of order");
            Time::MAX
        }
    }
    let wire = |node| vec![WireSpec { node, port: 0, lookahead: Time::from_ns(1) }];
    std::thread::scope(|scope| {
        for ranks in in_one_process(2) {
            scope.spawn(move || {
                let wires = [wire(1), wire(0)];
                let borders = RankPartition::new(&wires, vec![0, 1, 2]);
                let membership = Membership { codec: Box::new(Plain), borders, ranks };
                let nodes = vec![Mortal(membership.ranks.rank() == 1)];
                Engine::of_rank(nodes, &wires, 1, membership).unwrap().run_until(Time::from_s(1));
            });
        }
    });
}

#[test]
fn impossible_wires_are_refused() {
    let relay = || Relay {
        wires: Vec::new(),
        last: Vec::new(),
        rotation: 0,
        signature: 0,
        events: 0,
        timers: BinaryHeap::new(),
    };
    let build = |wires: Vec<Vec<WireSpec>>| Engine::new(vec![relay(), relay()], &wires, 1).err();
    let wire = |node, lookahead| WireSpec { node, port: 0, lookahead: Time::from_ps(lookahead) };
    assert!(matches!(build(vec![vec![wire(7, 1)], vec![]]), Some(EngineError::NoSuchNode { end: 7, .. })));
    assert!(matches!(build(vec![vec![wire(1, 0)], vec![]]), Some(EngineError::NoDelay { .. })));
    assert!(matches!(build(vec![vec![wire(1, 1), wire(1, 1)], vec![]]), Some(EngineError::SharedPort { .. })));
    assert!(matches!(build(vec![vec![], vec![wire(1, 1)]]), Some(EngineError::OwnWire { node: 1, port: 0 })));
}

#[test]
fn a_panic_in_one_thread_ends_them_all() {
    #[derive(Clone)]
    struct Fragile(bool);
    impl Node for Fragile {
        type Message = Token;
        fn run(&mut self, window: &mut Window<'_, Token>) -> Time {
            assert!(!self.0 || window.end() < Time::from_ns(50), "broken on purpose");
            window.end().saturating_add(Time::from_ns(1))
        }
    }
    let wires = |to| vec![WireSpec { node: to, port: 0, lookahead: Time::from_ns(1) }];
    for seed in 0..if cfg!(miri) { 2 } else { 20 } {
        for first in [true, false] {
            let nodes = vec![Fragile(first), Fragile(!first)];
            let mut engine = Engine::new(nodes, &[wires(1), wires(0)], 2).unwrap();
            engine.randomise_threads(seed);
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| engine.run_until(Time::from_us(1))));
            let panic = outcome.unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"broken on purpose"));
        }
    }
}
