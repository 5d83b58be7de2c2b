//! Compares the engine with a minimal reference: one global queue ordered by (time, node, rotated port). Random
//! networks of nodes that forward, split and delay tokens must log the same events as the reference, for any number
//! of threads and any interruptions of a run.

mod ranks;
mod relay;

use crate::relay::{Network, Relay, Token, between, log, network, reference};
use engine::{Engine, EngineError, Node, Window, WireSpec};
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Time;
use units::random::Stream;

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

impl Runner {
    /// Creates node `node` of a ring of `nodes` nodes. Node `stop_at_run * 7 mod nodes` sets `stop` in its run
    /// `stop_at_run`, so that different runs stop at different positions of a window.
    fn of_ring(node: u32, nodes: u64, stop_at_run: u64, stop: &Arc<AtomicBool>, lookahead: Time) -> Runner {
        let stop_at_run = if node == (stop_at_run * 7 % nodes) as u32 { stop_at_run } else { 0 };
        let (stop, until) = (Arc::clone(stop), Time::ZERO);
        Runner { wires: 2, sent: 0, taken: 0, runs: 0, until, stop_at_run, stop, lookahead }
    }
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
            let runner = |node| Runner::of_ring(node, nodes, stop_at_run, &stop, lookahead);
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
