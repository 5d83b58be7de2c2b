//! Time to find slots for many streams over many switches: by default 1,000 over 100, on one core.
//!
//! ```text
//! cargo run --release -p tidegate-schedule --example schedule_scale [streams] [switches]
//! ```

#![expect(clippy::disallowed_methods, reason = "it measures how long things take")]

use schedule::gates::{GateOptions, gates};
use schedule::offline::{central, first_come, per_hop};
use schedule::protocol::WireCost;
use schedule::{Link, Problem, Schedule, SlotStrategy, StreamSpec};
use std::time::Instant;
use units::random::{Stream, purpose};
use units::{Rate, Time};

/// Generates a tree of switches with up to four children and two hosts each, and streams between random hosts.
fn problem(streams: usize, switches: usize) -> Problem {
    let mut random = Stream::new(1, 0, purpose("scale"));
    let above = |node: usize| if node < switches { node.saturating_sub(1) / 4 } else { (node - switches) / 2 };
    let line = |mut node: usize| {
        let mut line = vec![node];
        while node != 0 {
            node = above(node);
            line.push(node);
        }
        line
    };
    // Link 2n is the uplink of node n, link 2n + 1 its downlink.
    let link = |at: usize| {
        let rate = Rate::from_gbps(if at / 2 < switches { 100 } else { 10 });
        Link { node: format!("n{}", at / 2), port: (at % 2) as u16, rate, delay: Time::from_ns(50) }
    };
    let stream = |number: usize| {
        let host = |random: &mut Stream| switches + random.below(2 * switches as u64) as usize;
        let (from, mut to) = (host(&mut random), host(&mut random));
        while to == from {
            to = host(&mut random);
        }
        let (rise, fall) = (line(from), line(to));
        let shared = rise.iter().rev().zip(fall.iter().rev()).take_while(|(a, b)| a == b).count();
        let up = rise[..rise.len() - shared].iter().map(|&node| 2 * node);
        let down = fall[..fall.len() - shared].iter().rev().map(|&node| 2 * node + 1);
        let period = Time::from_us([100, 200, 400][random.below(3) as usize]);
        StreamSpec {
            name: format!("s{number}"),
            period,
            frame_bytes: 64 + random.below(1455),
            start: Time::from_ps(random.below(period.as_ps())),
            deadline: None,
            path: up.chain(down).collect(),
        }
    };
    Problem {
        streams: (0..streams).map(stream).collect(),
        links: (0..6 * switches).map(link).collect(),
        wire: WireCost::Ethernet,
        processing: Time::ZERO,
        grid: Time::from_ns(1),
        max_cycle: Time::from_ms(10),
    }
}

/// Name of a scheduling method, and the method.
type Finder<'a> = (&'a str, &'a dyn Fn(&Problem) -> Schedule);

fn main() {
    let number = |at, default: usize| std::env::args().nth(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (streams, switches) = (number(1, 1000), number(2, 100));
    let problem = problem(streams, switches);
    let find: [Finder<'_>; 4] = [
        ("central", &central),
        ("dtscoe-tightest", &|problem| first_come(problem, SlotStrategy::Tightest)),
        ("dtscoe", &|problem| first_come(problem, SlotStrategy::Earliest)),
        ("per-hop", &per_hop),
    ];
    for (name, find) in find {
        let since = Instant::now();
        let found = find(&problem);
        let lists = gates(&problem, &found, GateOptions { class: 7, guard_bytes: 0 });
        let (seconds, accepted, ports) = (since.elapsed().as_secs_f64(), found.accepted(), lists.len());
        println!(
            "{name:<16} {accepted} of {streams} streams, {switches} switches, gates of {ports} ports: {seconds:.2} s"
        );
    }
}
