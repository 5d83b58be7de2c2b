//! Projects the distribution of a fat-tree's work over more threads than this machine has, from one run on one thread.
//!
//! ```text
//! cargo run --release -p tidegate-model --example threads -- [k] [duration_us] [permutation|pods|left|incast]
//!
//!   pods: each host sends within its pod, so that core switches are idle
//!   left: hosts of the first half of the pods send to each other, the others are idle
//!   incast: all hosts send to the first
//! ```
//!
//! Nodes are first partitioned by their wires, then by their work in the last fifth of the run.

use fabric::LinkSpec;
use fabric::generate::TierLinks;
use model::parameters::{Setup, Spread};
use model::{NullWatcher, Simulation};
use traffic::{DatagramSource, Entry, Pairs, Pattern, PlanBuilder, Process, Workload};
use units::{Rate, Time};

const THREADS: [usize; 6] = [2, 4, 8, 16, 32, 64];

/// Least delay of a link, which is the length of a window.
const WINDOW: Time = Time::from_ns(500);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| arguments.get(at).map_or(default, |text| text.parse().unwrap());
    let (k, duration) = (number(0, 16) as u32, Time::from_us(number(1, 100)));
    let traffic = arguments.get(2).map_or("permutation", String::as_str);
    for by_work in [false, true] {
        println!("nodes shared by {}", if by_work { "what they did" } else { "their wires" });
        project(build(k, duration, traffic), by_work.then_some(duration.as_ps() / 5));
    }
}

fn build(k: u32, duration: Time, traffic: &str) -> Simulation {
    let fabric = fabric::generate::fat_tree(k, TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), WINDOW)));
    let fabric = fabric.unwrap();
    let hosts: Vec<u32> = (0..fabric.hosts().len() as u32).collect();
    let mut plan = PlanBuilder::new();
    let process = Process::Constant { rate: Rate::from_gbps(80) };
    let source = DatagramSource { process, frame_bytes: 1000, lengths: Default::default(), stop: None };
    let incast = Pattern::Incast { fan_in: hosts.len() as u32 - 1, receiver: Some(0) };
    let pattern = if traffic == "incast" { incast } else { Pattern::Permutation };
    let pairs = Pairs { pattern, workload: Workload::Datagrams { source, size_bytes: None } };
    let entry = Entry { jitter: Time::from_ns(100), ..Entry::new(1, 0) };
    let crowd = match traffic {
        "pods" => (k * k / 4) as usize,
        "left" => hosts.len() / 2,
        _ => hosts.len(),
    };
    for group in hosts.chunks(crowd).take(if traffic == "left" { 1 } else { usize::MAX }) {
        traffic::pairs(&pairs, group, &entry, &mut plan).unwrap();
    }
    let setup = Setup {
        spread: Spread::PerPacket,
        duration,
        measure_end: duration,
        ..Setup::new(fabric, plan.build(hosts.len() as u32).unwrap()).unwrap()
    };
    Simulation::new(setup).unwrap()
}

/// Runs window by window, and repartitions the nodes every `every_ps` picoseconds.
fn project(mut simulation: Simulation, every_ps: Option<u64>) {
    // After each window, all threads wait for the one with most work.
    let mut before: Vec<Vec<u64>> = THREADS.map(|threads| vec![0; threads]).into();
    let (mut totals, mut slowest) = (before.clone(), [0u64; THREADS.len()]);
    let (mut crossing, mut frames) = ([0u64; THREADS.len()], [0u64; THREADS.len()]);
    let mut seen = [(0, 0); THREADS.len()];
    let mut repartition_at_ps = every_ps;
    while !simulation.is_over() {
        simulation.run_until(simulation.now() + WINDOW, &mut NullWatcher);
        for (at, &threads) in THREADS.iter().enumerate() {
            let split = simulation.split(threads);
            let did = split.work.iter().zip(&before[at]).map(|(now, before)| now - before);
            slowest[at] += did.clone().max().unwrap_or(0);
            did.zip(&mut totals[at]).for_each(|(did, total)| *total += did);
            frames[at] += split.frames - seen[at].0;
            crossing[at] += split.crossing - seen[at].1;
            (before[at], seen[at]) = (split.work, (split.frames, split.crossing));
        }
        if repartition_at_ps.is_some_and(|repartition_at_ps| simulation.now().as_ps() >= repartition_at_ps) {
            repartition_at_ps =
                repartition_at_ps.zip(every_ps).map(|(repartition_at_ps, every)| repartition_at_ps + every);
            simulation.repartition_by_work();
            for (at, &threads) in THREADS.iter().enumerate() {
                let split = simulation.split(threads);
                (before[at], seen[at]) = (split.work, (split.frames, split.crossing));
            }
        }
    }
    println!("{} windows, each the end of {} hops on the mean", simulation.windows(), {
        simulation.split(1).hops[0] / simulation.windows()
    });
    println!("threads  crossing  most over mean, of all  and of each window");
    for (at, threads) in THREADS.into_iter().enumerate() {
        let mean = totals[at].iter().sum::<u64>() as f64 / threads as f64;
        println!(
            "{threads:7}  {:6.1} %  {:21.3}  {:18.3}",
            100.0 * crossing[at] as f64 / frames[at].max(1) as f64,
            *totals[at].iter().max().unwrap() as f64 / mean,
            slowest[at] as f64 / mean,
        );
    }
}
