//! Tests of schedules against exhaustive search on small instances, and at scale.

use schedule::offline::{central, first_come, per_hop};
use schedule::protocol::WireCost;
use schedule::slot::lcm;
use schedule::{Link, Problem, ProblemError, Schedule, SlotStrategy, StreamSpec};
use units::random::{Stream, purpose};
use units::{Rate, Time};

const fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// Frames of `bytes` bytes take `bytes` units of 80 ns on links of 100 Mbps.
fn problem(links: usize, streams: &[(u64, u64, &[usize])]) -> Problem {
    let link = |at| Link { node: format!("n{at}"), port: 0, rate: Rate::from_mbps(100), delay: Time::from_ps(1) };
    let stream = |(at, &(period, bytes, path)): (usize, &(u64, u64, &[usize]))| StreamSpec {
        name: format!("s{at}"),
        period: ns(80 * period),
        frame_bytes: bytes,
        start: Time::ZERO,
        deadline: None,
        path: path.to_vec(),
    };
    Problem {
        links: (0..links).map(link).collect(),
        streams: streams.iter().enumerate().map(stream).collect(),
        wire: WireCost::FrameOnly,
        processing: Time::from_ps(79_999),
        grid: ns(80),
        max_cycle: Time::from_ms(10),
    }
}

/// Checks a schedule by enumeration of all instances. Returns an error if two instances overlap on a link, a frame
/// starts before its arrival, or a slot crosses the end of its period.
fn fault(problem: &Problem, schedule: &Schedule, waits: bool) -> Option<String> {
    let mut taken: Vec<Vec<(Time, Time, usize)>> = vec![Vec::new(); problem.links.len()];
    let cycle = problem.streams.iter().fold(Time::from_ps(1), |cycle, spec| lcm(cycle, spec.period).unwrap());
    for (stream, starts) in schedule.starts.iter().enumerate() {
        let (spec, Some(starts)) = (&problem.streams[stream], starts) else { continue };
        let mut arrives = Time::ZERO;
        for (hop, (&link, &start)) in spec.path.iter().zip(starts).enumerate() {
            if start < arrives || (hop > 0 && !waits && start != arrives) {
                return Some(format!("stream {stream} at hop {hop}: {start}, arrives {arrives}"));
            }
            arrives = start + problem.passage(spec, link) + problem.processing;
            let length = problem.length(spec, link);
            for i in 0..cycle / spec.period {
                let from = (start + spec.period * i) % cycle;
                if !waits && from + length > cycle {
                    return Some(format!("stream {stream} at hop {hop} over the end of the cycle"));
                }
                taken[link].push((from, from + length, stream));
            }
        }
    }
    for (link, slots) in taken.iter_mut().enumerate() {
        slots.sort_unstable();
        let around = slots.first().map(|&(from, to, stream)| (from + cycle, to + cycle, stream));
        slots.extend(around);
        if let Some(pair) = slots.windows(2).find(|pair| pair[1].0 < pair[0].1) {
            return Some(format!("on link {link}: {pair:?}"));
        }
    }
    None
}

/// Returns the maximum number of streams with slots, by trying every start of each stream.
fn most(problem: &Problem) -> usize {
    fn go(problem: &Problem, starts: &mut Vec<Option<Vec<Time>>>) -> usize {
        let stream = starts.len();
        if stream == problem.streams.len() {
            return starts.iter().flatten().count();
        }
        starts.push(None);
        let mut best = go(problem, starts);
        let spec = &problem.streams[stream];
        for at in 0..spec.period / problem.grid {
            let own = problem.offsets(spec).into_iter().map(|offset| offset + problem.grid * at).collect();
            starts[stream] = Some(own);
            let trial = Schedule { starts: starts.clone(), rejected: Vec::new(), most: false };
            if fault(problem, &trial, false).is_none() {
                best = best.max(go(problem, starts));
            }
        }
        starts.pop();
        best
    }
    go(problem, &mut Vec::new())
}

#[test]
fn few_streams_get_as_many_slots_as_a_trial_of_every_start_finds() {
    let paths: [&[usize]; 6] = [&[0], &[0, 1], &[1, 0], &[1, 2], &[2, 0, 1], &[2]];
    let mut short = 0;
    for seed in 0..300 {
        let mut random = Stream::new(seed, 0, purpose("small problems"));
        let count = 2 + random.below(3) as usize;
        let streams: Vec<(u64, u64, &[usize])> = (0..count)
            .map(|_| {
                let period = [4, 6, 8, 12][random.below(4) as usize];
                (period, 1 + random.below(3), paths[random.below(6) as usize])
            })
            .collect();
        let problem = problem(3, &streams);
        let (found, best) = (central(&problem), most(&problem));
        assert_eq!(fault(&problem, &found, false), None, "seed {seed} {streams:?}");
        assert_eq!((found.accepted(), found.most), (best, true), "seed {seed} {streams:?}");
        for (other, waits) in [
            (first_come(&problem, SlotStrategy::Earliest), false),
            (first_come(&problem, SlotStrategy::Tightest), false),
            (per_hop(&problem), true),
        ] {
            assert_eq!(fault(&problem, &other, waits), None, "seed {seed} {streams:?}");
            assert!(waits || other.accepted() <= best);
        }
        short += usize::from(best < count);
    }
    assert!((20..280).contains(&short), "{short} of 300 instances have no room for all: both kinds are tried");
}

/// Generates a random tree of `switches` with two hosts each, and streams between hosts.
fn tree(switches: usize, streams: usize, seed: u64) -> Problem {
    let mut random = Stream::new(seed, 0, purpose("trees"));
    let nodes = switches * 3;
    let up: Vec<usize> = (0..nodes)
        .map(|node| match node {
            0 => 0,
            node if node < switches => (node - 1) / 4,
            host => (host - switches) / 2,
        })
        .collect();
    // Link 2n is the uplink of node n, link 2n + 1 its downlink.
    let link = |at: usize| Link {
        node: format!("n{}", at / 2),
        port: (at % 2) as u16,
        rate: Rate::from_gbps(if at / 2 < switches { 100 } else { 10 }),
        delay: ns(50),
    };
    let mut all = Vec::new();
    for number in 0..streams {
        let host = |random: &mut Stream| switches + random.below(switches as u64 * 2) as usize;
        let (from, mut to) = (host(&mut random), host(&mut random));
        while to == from {
            to = host(&mut random);
        }
        let line = |mut node: usize| {
            let mut line = vec![node];
            while node != 0 {
                node = up[node];
                line.push(node);
            }
            line
        };
        let (mut rise, mut fall) = (line(from), line(to));
        while rise.len() > 1 && fall.len() > 1 && rise[rise.len() - 2] == fall[fall.len() - 2] {
            rise.pop();
            fall.pop();
        }
        rise.pop();
        fall.pop();
        let path =
            rise.into_iter().map(|node| 2 * node).chain(fall.into_iter().rev().map(|node| 2 * node + 1)).collect();
        let period = ns([100_000, 200_000, 400_000][random.below(3) as usize]);
        let start = Time::from_ns(random.below(period.as_ps() / 1000));
        let frame_bytes = 64 + random.below(1455);
        all.push(StreamSpec { name: format!("s{number}"), period, frame_bytes, start, deadline: None, path });
    }
    Problem {
        links: (0..2 * nodes).map(link).collect(),
        streams: all,
        wire: WireCost::Ethernet,
        processing: Time::ZERO,
        grid: ns(1),
        max_cycle: Time::from_ms(10),
    }
}

#[test]
fn a_thousand_streams_over_a_hundred_switches_have_slots_that_hold() {
    for seed in 0..3 {
        let problem = tree(100, 1000, seed);
        problem.check().unwrap();
        for (schedule, waits) in [
            (central(&problem), false),
            (first_come(&problem, SlotStrategy::Earliest), false),
            (first_come(&problem, SlotStrategy::Tightest), false),
            (per_hop(&problem), true),
        ] {
            assert_eq!(fault(&problem, &schedule, waits), None, "seed {seed}");
            assert!(schedule.accepted() >= 990, "{}", schedule.accepted());
        }
    }
}

#[test]
fn dtscoe_accepts_within_5_percent_of_what_the_centre_does() {
    for streams in [800, 1000, 1200, 1600, 1800] {
        let (mut centre, mut earliest, mut tightest) = (0, 0, 0);
        for seed in 0..3 {
            let problem = tree(4, streams, seed);
            centre += central(&problem).accepted();
            earliest += first_come(&problem, SlotStrategy::Earliest).accepted();
            tightest += first_come(&problem, SlotStrategy::Tightest).accepted();
        }
        let of = 3 * streams;
        println!("{streams} streams: the centre {centre} of {of}, tightest {tightest}, earliest {earliest}");
        assert!(tightest * 100 >= centre * 95, "{streams}: {tightest} of {centre}");
        // At high load, the thesis's search order accepts fewer streams; the tightest search was added for this reason.
        assert_eq!(earliest * 100 >= centre * 95, streams < 1400, "{streams}: {earliest} of {centre}");
    }
}

#[test]
fn impossible_requirements_are_reported_with_the_stream() {
    let two = problem(2, &[(4, 3, &[0]), (3, 1, &[0, 1])]);
    assert_eq!(two.check(), Ok(()));
    let mut bad = two.clone();
    bad.streams[1].path.clear();
    assert_eq!(bad.check(), Err(ProblemError::NoPath { stream: "s1".into() }));
    let mut bad = two.clone();
    bad.streams[0].frame_bytes = 5;
    assert!(matches!(bad.check(), Err(ProblemError::LongerThanPeriod { stream, .. }) if stream == "s0"));
    let mut bad = two.clone();
    bad.max_cycle = ns(80 * 11);
    assert!(matches!(bad.check(), Err(ProblemError::Cycle { stream, .. }) if stream == "s1"));
    let mut bad = two;
    bad.streams[1].deadline = Some(ns(240));
    assert!(matches!(bad.check(), Err(ProblemError::Deadline { stream, .. }) if stream == "s1"));
}

#[test]
fn a_stream_without_room_is_reported_with_the_link_and_its_users() {
    let problem = problem(2, &[(4, 2, &[0]), (4, 2, &[0]), (4, 1, &[1, 0])]);
    let schedule = first_come(&problem, SlotStrategy::Earliest);
    assert_eq!(schedule.accepted(), 2);
    let rejection = &schedule.rejected[0];
    let holders: Vec<usize> = rejection.holders.iter().map(|&(holder, _)| holder).collect();
    assert_eq!((rejection.stream, rejection.link, holders), (2, 0, vec![0, 1]));
}
