//! Cost of distributed scheduling: DTSCoE reservations on random trees, compared with slots that a central scheduler
//! computes.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::trial::Trial;
use schedule::offline::{central, central_heuristic, first_come, per_hop};
use schedule::protocol::network::{Clock, EventKind, Faults, Network, Wire};
use schedule::protocol::{Config, SlotRequest, StreamId, WireCost};
use schedule::{Link, Problem, Schedule, SlotStrategy, StreamSpec};
use std::collections::BTreeMap;
use text::{Layout, table};
use units::random::{Stream, purpose};
use units::{Rate, Time};

/// Tree of four switches with links of 100 Gbps; two hosts with 10 Gbps links at each switch; delay of 50 ns per link.
const SWITCHES: usize = 4;
const NODES: usize = 3 * SWITCHES;
const DELAY: Time = Time::from_ns(50);

/// Returns the parent of a node in the tree with root 0.
fn above(node: usize) -> usize {
    if node < SWITCHES { node.saturating_sub(1) / 4 } else { (node - SWITCHES) / 2 }
}

fn rate(node: usize) -> Rate {
    Rate::from_gbps(if node < SWITCHES { 100 } else { 10 })
}

/// Returns the nodes on the path from `node` to the root.
fn line(mut node: usize) -> Vec<usize> {
    let mut line = vec![node];
    while node != 0 {
        node = above(node);
        line.push(node);
    }
    line
}

/// Returns the links of the path: uplinks from the source, then downlinks to the receiver. Link 2n is the uplink of
/// node n, link 2n + 1 its downlink.
fn path(from: usize, to: usize) -> Vec<usize> {
    let (mut rise, mut fall) = (line(from), line(to));
    while rise.len() > 1 && fall.len() > 1 && rise[rise.len() - 2] == fall[fall.len() - 2] {
        rise.pop();
        fall.pop();
    }
    rise.pop();
    fall.pop();
    rise.into_iter().map(|node| 2 * node).chain(fall.into_iter().rev().map(|node| 2 * node + 1)).collect()
}

/// Draws random streams between hosts: 64 to 1518 bytes every 100, 200 or 400 us. Also returns the source and the
/// receiver of each stream.
fn streams(count: usize, seed: u64) -> (Problem, Vec<(usize, usize)>) {
    let mut random = Stream::new(seed, 3, purpose("what distribution costs"));
    let (mut streams, mut ends) = (Vec::new(), Vec::new());
    for number in 0..count {
        let from = SWITCHES + random.below(NODES as u64 - SWITCHES as u64) as usize;
        let mut to = from;
        while to == from {
            to = SWITCHES + random.below(NODES as u64 - SWITCHES as u64) as usize;
        }
        let period = Time::from_us([100, 200, 400][random.below(3) as usize]);
        let start = Time::from_ps(random.below(period.as_ps()));
        let frame_bytes = 64 + random.below(1455);
        let (name, path) = (format!("s{number}"), path(from, to));
        streams.push(StreamSpec { name, period, frame_bytes, start, deadline: None, path });
        ends.push((from, to));
    }
    let link = |at: usize| Link { node: format!("n{}", at / 2), port: at as u16, rate: rate(at / 2), delay: DELAY };
    let problem = Problem {
        links: (0..2 * NODES).map(link).collect(),
        streams,
        wire: WireCost::Ethernet,
        processing: Time::ZERO,
        grid: Time::from_ns(1),
        max_cycle: Time::from_ms(1),
    };
    (problem, ends)
}

/// Results of the slot requests of all streams.
#[derive(Default)]
struct Reserved {
    accepted: u64,
    messages: u64,
    /// Times from a stream's first request to its start; accepted streams only.
    waits: Vec<Time>,
    /// Number of simulated networks in which the reserved slots of two frames overlap on a link.
    meet: u64,
}

/// Simulates the slot requests in intervals of `apart`; simultaneous requests if `apart` is zero. Clock offsets are
/// random; nodes take up to 3 us to process a message.
fn reserve(problem: &Problem, ends: &[(usize, usize)], config: Config, apart: Time, seed: u64, sum: &mut Reserved) {
    let mut random = Stream::new(seed, 4, purpose("what distribution costs"));
    let clocks: Vec<Clock> =
        (0..NODES).map(|_| Clock { offset: Time::from_ps(random.below(1 << 50)), drift_ppb: 0 }).collect();
    let wire = |node: usize| Wire { ends: [node, above(node)], rate: rate(node), delay: DELAY };
    let wires: Vec<Wire> = (1..NODES).map(wire).collect();
    // With simultaneous requests, a request may wait for all others: use longer timeouts.
    let (answer, pending_lifetime) = (Time::from_ms(100), Time::from_ms(400));
    let config = if apart == Time::ZERO { Config { answer, pending_lifetime, ..config } } else { config };
    let faults = Faults { processing: Time::from_us(3), ..Faults::default() };
    let mut network = Network::new(&clocks, &wires, config, faults, seed);
    let mut requested: BTreeMap<StreamId, Time> = BTreeMap::new();
    for (stream, (spec, &(from, to))) in problem.streams.iter().zip(ends).enumerate() {
        let (stream, window, start) = (stream as StreamId, spec.period, spec.start);
        let frame_bytes = spec.frame_bytes as u16;
        requested.insert(stream, network.now());
        network.ask(from, SlotRequest { stream, destination: to as u32, frame_bytes, window, start });
        network.run_until(network.now() + apart);
    }
    // The run ends before the first refresh, so that only messages of the requests are counted.
    network.run_until(Time::from_ms(900));
    sum.messages += network.messages;
    sum.meet += u64::from(network.collision(Time::from_us(400)).is_some());
    for event in &network.events {
        if let EventKind::Started(stream, ..) = event.what
            && let Some(at) = requested.remove(&stream)
        {
            sum.accepted += 1;
            sum.waits.push(event.at - at);
        }
    }
}

fn share(part: u64, of: u64) -> f64 {
    100.0 * part as f64 / of as f64
}

/// Returns the sum of the queueing delays of all streams with slots in ns (time from first to last hop minus this time
/// without waiting), and the number of these streams.
fn waits(problem: &Problem, found: &Schedule) -> (f64, u64) {
    let with = problem.streams.iter().zip(&found.starts).filter_map(|(spec, starts)| Some((spec, starts.as_ref()?)));
    let wait = |(spec, starts): (&StreamSpec, &Vec<Time>)| {
        let ideal = problem.offsets(spec);
        let span = |times: &[Time]| times[times.len() - 1] - times[0];
        (span(starts) - span(&ideal)).as_ps()
    };
    let all: Vec<u64> = with.map(wait).collect();
    (all.iter().sum::<u64>() as f64 / 1000.0, all.len() as u64)
}

/// Runs the experiment `dtscoe/distribution`.
pub fn run(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = trial.shorten("random networks a load", 3, 1);
    let counts: &[usize] = if seeds == 1 { &[800, 1600] } else { &[400, 800, 1200, 1600, 1800] };
    let by_tightest = Config::new().tightest();
    let half = Config { message_bytes: by_tightest.message_bytes / 2, ..by_tightest };
    let mut rows = Vec::new();
    let mut meet = 0;
    for &count in counts {
        let total = count as u64 * seeds;
        let (mut centre, mut hops, mut waited, mut lists) = (0, 0, 0.0, 0);
        let [mut earliest, mut tightest, mut at_once, mut short]: [Reserved; 4] = Default::default();
        // Shorter messages are compared only at the highest load, because they make no difference at lower loads.
        let result = count == counts[counts.len() - 1];
        let (mut by_hop, mut links) = (0, 0);
        for seed in 1..=seeds {
            let (problem, ends) = streams(count, seed);
            let found = central(&problem);
            centre += found.accepted() as u64;
            lists += NODES as u64;
            let each = per_hop(&problem);
            let (wait, accepted) = waits(&problem, &each);
            (waited, by_hop, hops) = (waited + wait, by_hop + accepted, hops + each.accepted() as u64);
            links += problem.streams.iter().map(|spec| spec.path.len() as u64).sum::<u64>();
            let apart = Time::from_us(200);
            reserve(&problem, &ends, Config::new(), apart, seed, &mut earliest);
            reserve(&problem, &ends, by_tightest, apart, seed, &mut tightest);
            reserve(&problem, &ends, by_tightest, Time::ZERO, seed, &mut at_once);
            if result {
                reserve(&problem, &ends, half, apart, seed, &mut short);
            }
        }
        let a_stream = |messages: u64| format!("{:.1}", messages as f64 / total as f64);
        let mut row = |who: &str, accepted: u64, wait: f64, messages: String, waits: Option<&mut Vec<Time>>| {
            let (median, last) = match waits {
                Some(waits) => {
                    waits.sort_unstable();
                    (waits[waits.len() / 2].to_string(), waits[waits.len() - 1].to_string())
                }
                None => ("-".into(), "-".into()),
            };
            let accepted = format!("{:.2} %", share(accepted, total));
            rows.push(vec![count.to_string(), who.into(), accepted, format!("{wait:.0} ns"), messages, median, last]);
        };
        // Messages of the central scheduler: per stream, a request and a reply; per node, its gate control list.
        row("central", centre, 0.0, a_stream(2 * total + lists), None);
        row("DTSCoE, tightest", tightest.accepted, 0.0, a_stream(tightest.messages), Some(&mut tightest.waits));
        row("DTSCoE, earliest", earliest.accepted, 0.0, a_stream(earliest.messages), Some(&mut earliest.waits));
        if result {
            let who = format!("tightest, {} B a message", half.message_bytes);
            row(&who, short.accepted, 0.0, a_stream(short.messages), Some(&mut short.waits));
            let name =
                format!("control: {count} streams, tightest place, messages of half the length, against all of it");
            let whole = share(tightest.accepted, total);
            trial.check(Check::exact(name, "%", share(short.accepted, total), Relation::Below, whole).consistency());
        }
        row("all at once, tightest", at_once.accepted, 0.0, a_stream(at_once.messages), Some(&mut at_once.waits));
        // Messages of per-hop scheduling: a request and a reply on each link of the path.
        row("each node for itself", hops, waited / by_hop.max(1) as f64, a_stream(2 * links), None);
        meet += earliest.meet + tightest.meet + at_once.meet;
        for (name, ours) in [("tightest place", tightest.accepted), ("tightest place, all at once", at_once.accepted)] {
            let name = format!("{count} streams, {name}: of those that the centre accepts");
            trial.check(Check::exact(name, "%", share(ours, centre), Relation::AtLeast, 95.0).consistency());
        }
        if count == 1600 {
            let name = "control: 1600 streams, earliest place: of those that the centre accepts";
            trial.check(Check::exact(name, "%", share(earliest.accepted, centre), Relation::Below, 95.0).consistency());
        }
    }
    trial.show(&format!(
        "  {seeds} random trees a load; requests 200 us apart where not said; mean wait; messages a stream\n  \
         (central: to the centre, back, and to each node); from a stream's first request until it may send\n"
    ));
    let heading = ["streams", "who", "accepted", "wait", "messages", "median", "last"];
    trial.show(&table(&heading, &rows, 2, Layout::Fixed, 2));
    trial.check(Check::exact("networks in which two frames meet", "networks", meet as f64, Relation::Equal, 0.0));
    few(trial);
    Ok(())
}

/// Compares the schedulers on instances that are small enough for exhaustive search.
fn few(trial: &mut Trial) {
    let (mut requested, mut found) = (0, [0u64; 5]);
    for seed in 1..=300 {
        let mut problem = streams(6, seed).0;
        // All streams have one receiver and short periods, so that some cannot be scheduled.
        for (number, spec) in problem.streams.iter_mut().enumerate() {
            spec.path = path(SWITCHES + 1 + number % (NODES - SWITCHES - 1), SWITCHES);
            spec.period = Time::from_ps(spec.period.as_ps() / 50);
            spec.start = spec.start % spec.period;
        }
        requested += problem.streams.len() as u64;
        let all = [
            central(&problem),
            central_heuristic(&problem),
            first_come(&problem, SlotStrategy::Tightest),
            first_come(&problem, SlotStrategy::Earliest),
            per_hop(&problem),
        ];
        for (sum, schedule) in found.iter_mut().zip(&all) {
            *sum += schedule.accepted() as u64;
        }
    }
    let names =
        ["central, exact", "central, heuristic", "DTSCoE, tightest", "DTSCoE, earliest", "each node for itself"];
    let row = |(name, &accepted): (&str, &u64)| vec![name.to_owned(), format!("{:.2} %", share(accepted, requested))];
    let rows: Vec<Vec<String>> = names.into_iter().zip(&found).map(row).collect();
    trial.show("  six streams to one receiver every 2, 4 or 8 us, 300 times, no clocks and no messages\n");
    trial.show(&table(&["who", "accepted"], &rows, 1, Layout::Fixed, 2));
    let name = "six streams: of those that can have slots without waiting, the heuristic accepts";
    trial.check(Check::exact(name, "%", share(found[1], found[0]), Relation::AtLeast, 95.0).consistency());
    let more = found[1..4].iter().filter(|&&accepted| accepted > found[0]).count();
    trial.check(
        Check::exact("six streams: who accepts more than the exact", "", more as f64, Relation::Equal, 0.0)
            .consistency(),
    );
}
