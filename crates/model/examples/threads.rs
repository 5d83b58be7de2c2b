//! How a fat-tree's work would spread over threads that this machine does not have, from one run on one thread.
//!
//! ```text
//! cargo run --release -p tidegate-model --example threads -- [k] [duration_us] [permutation|pods]
//!
//!   pods: every host sends to one of its own pod, so that core switches have nothing to do
//! ```

use fabric::LinkSpec;
use fabric::generate::TierLinks;
use model::parameters::{Setup, Spread};
use model::{Simulation, Unwatched};
use traffic::{DatagramSource, Entry, Pairs, Pattern, PlanBuilder, Process, Workload};
use units::{Rate, Time};

const THREADS: [usize; 6] = [2, 4, 8, 16, 32, 64];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| arguments.get(at).map_or(default, |text| text.parse().unwrap());
    let (k, duration) = (number(0, 16) as u32, Time::from_us(number(1, 100)));
    let in_pods = arguments.get(2).is_some_and(|traffic| traffic == "pods");
    let window = Time::from_ns(500);
    let fabric = fabric::generate::fat_tree(k, TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), window)));
    let fabric = fabric.unwrap();
    let hosts: Vec<u32> = (0..fabric.hosts().len() as u32).collect();
    let mut plan = PlanBuilder::new();
    let process = Process::Constant { rate: Rate::from_gbps(80) };
    let source = DatagramSource { process, frame_bytes: 1000, lengths: Default::default(), stop: None };
    let pairs = Pairs { pattern: Pattern::Permutation, workload: Workload::Datagrams { source, size_bytes: None } };
    let entry = Entry { jitter: Time::from_ns(100), ..Entry::new(1, 0) };
    for group in hosts.chunks(if in_pods { (k * k / 4) as usize } else { hosts.len() }) {
        traffic::pairs(&pairs, group, &entry, &mut plan).unwrap();
    }
    let setup = Setup {
        spread: Spread::PerPacket,
        duration,
        measure_end: duration,
        ..Setup::new(fabric, plan.build(hosts.len() as u32).unwrap()).unwrap()
    };
    let mut simulation = Simulation::new(setup).unwrap();
    // A window is a link's delay long; after each, all threads wait for the one that had most to do.
    let mut before: Vec<Vec<u64>> = THREADS.map(|threads| vec![0; threads]).into();
    let mut slowest = [0u64; THREADS.len()];
    while !simulation.is_over() {
        simulation.run_until(simulation.now() + window, &mut Unwatched);
        for (at, &threads) in THREADS.iter().enumerate() {
            let hops = simulation.split(threads).hops;
            slowest[at] += hops.iter().zip(&before[at]).map(|(now, before)| now - before).max().unwrap_or(0);
            before[at] = hops;
        }
    }
    println!("{} windows, each the end of {} hops on the mean", simulation.windows(), {
        simulation.split(1).hops[0] / simulation.windows()
    });
    println!("threads  crossing  most over mean, of all  and of each window");
    for (at, threads) in THREADS.into_iter().enumerate() {
        let split = simulation.split(threads);
        let mean = split.hops.iter().sum::<u64>() as f64 / split.hops.len() as f64;
        println!(
            "{threads:7}  {:6.1} %  {:21.3}  {:18.3}",
            100.0 * split.crossing as f64 / split.frames.max(1) as f64,
            *split.hops.iter().max().unwrap() as f64 / mean,
            slowest[at] as f64 / mean,
        );
    }
}
