//! Any number of ranks logs the events of the reference.

use crate::relay::{Log, Network, Token, log, network, reference, row};
use crate::{Runner, ring};
use engine::ranks::{Membership, MessageCodec, RankPartition, Ranks, TransferCounts, divide_ranks, in_one_process};
use engine::{Engine, Node, Window, WireSpec};
use std::collections::BTreeSet;
use std::sync::Arc;
use units::Time;
use units::pack::Pack;
use units::random::Stream;

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
            let runner = |node| Runner::of_ring(node, nodes, stop_at_run, &Arc::default(), Time::from_ns(1));
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
