//! M/D/1 queue: waiting times, queue lengths and Little's law.

use crate::bench::*;
use check::little::QueueArea;
use fabric::{Fabric, FabricBuilder};
use model::Simulation;
use model::parameters::*;
use stats::trace::TraceEvent;
use traffic::{ENDLESS, Process};
use units::random::{Stream, purpose};
use units::{PREAMBLE_BYTES, Rate, Time};

const FRAME: u16 = 1230;
/// Service time: 1250 B on the wire at 10 Gbps.
const SERVICE: Time = Time::from_us(1);

/// `sources` hosts with links of 100 Gbps, and a sink with a link of 10 Gbps.
fn funnel(sources: u32) -> Fabric {
    let mut builder = FabricBuilder::new("funnel");
    let switch = builder.add_switch("S1", 1);
    for number in 0..=sources {
        let host = builder.add_host(format!("H{}", number + 1));
        builder.connect(host, switch, link(if number < sources { 100 } else { 10 }, 500));
    }
    builder.build().unwrap()
}

/// Poisson sources on `sources` hosts, with a total load `load` on the link of the sink.
fn poisson(sources: u32, load: f64, seed: u64) -> Setup {
    let rate = Rate::from_gbps(10).scale((load * 1000.0) as u64, 1000 * u64::from(sources));
    let flows = (0..sources).map(|src| {
        let flow = datagrams(src, sources, Process::Poisson { rate }, FRAME, ENDLESS);
        traffic::Flow { traffic: 0, ..flow }
    });
    let mut setup = setup(funnel(sources), plan(sources + 1, flows));
    setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Packets(1_000_000) };
    setup.seed = seed;
    setup.deadlock_every = None;
    setup
}

/// Returns the one-way delay of a frame without queueing.
fn fixed() -> Time {
    let wire = u64::from(FRAME) + PREAMBLE_BYTES;
    Rate::from_gbps(100).serialise(wire) + Rate::from_gbps(10).serialise(wire) + Time::from_us(1)
}

/// Returns the mean waiting time of `frames` frames after a warm-up, in units of the service time.
fn mean_wait(sources: u32, load: f64, frames: u64, seed: u64) -> f64 {
    let mut setup = poisson(sources, load, seed);
    let span = SERVICE.scale(frames * 1000, (load * 1000.0) as u64);
    setup.warm_up = Time::from_ms(2);
    setup.duration = setup.warm_up + span;
    let results = run(setup);
    results.all_hold();
    let delay = results.summary.delay_ns.expect("frames arrived");
    (delay.mean * 1000.0 - fixed().as_ps() as f64) / SERVICE.as_ps() as f64
}

/// Returns the mean of ten runs and the half-width of its 99.9 % confidence interval (Student's t, 9 degrees of
/// freedom).
fn interval(mut one: impl FnMut(u64) -> f64) -> (f64, f64) {
    let values: Vec<f64> = (1..=10).map(&mut one).collect();
    let mean = values.iter().sum::<f64>() / 10.0;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / 9.0;
    (mean, 4.781 * (variance / 10.0).sqrt())
}

/// Pollaczek-Khinchine for M/D/1: mean waiting time = load / (2 (1 - load)) service times. This is exact for one
/// source, because a fast deterministic server before a slow one only adds its service time. For several sources, the
/// waiting times at their own links add less than 0.1 %.
#[test]
fn mean_waits_are_those_of_m_d_1() {
    for (sources, load, frames) in [(1, 0.5, 20_000), (4, 0.5, 20_000), (1, 0.8, 40_000), (4, 0.95, 100_000)] {
        let expected = load / (2.0 * (1.0 - load));
        let (mean, half) = interval(|seed| mean_wait(sources, load, frames, seed));
        assert!((mean - expected).abs() < half, "{sources} sources, {load}: {mean} +- {half}, expected {expected}");
        assert!(half < 0.12 * expected, "{sources} sources, {load}: the interval {half} is too wide to tell");
        // The confidence interval excludes the mean waiting time of M/M/1, which is twice as long.
        assert!((mean - 2.0 * expected).abs() > half);
    }
}

/// Little's law: the mean queue length, sampled every 999 ns, equals arrival rate * mean waiting time.
#[test]
fn sampled_queue_lengths_agree_with_waits() {
    let mut setup = poisson(4, 0.8, 3);
    setup.duration = Time::from_ms(40);
    const EVERY: Time = Time::from_ns(999);
    (setup.record.queues_every, setup.record.queue_lengths_every) = (Some(EVERY), Some(EVERY));
    setup.record.trace = Some(TraceParameters::everything());
    let samples = setup.duration / EVERY;
    let sink = setup.fabric.switches().last().unwrap().0;
    let results = run(setup);
    results.all_hold();
    let delay = results.summary.delay_ns.unwrap();
    let wait = delay.mean - fixed().as_ps() as f64 / 1000.0;
    let in_queue: u64 = results.queues.iter().map(|sample| sample.4 / u64::from(FRAME)).sum();
    let length = in_queue as f64 / samples as f64;
    let expected = delay.count as f64 * wait / 40e6;
    assert!((length / expected - 1.0).abs() < 0.02, "sampled at {length}, waits say {expected}");
    assert!((length / (expected * 0.8) - 1.0).abs() > 0.1, "a rate a fifth too small would show");
    // The mean queue length in the summary is a time average. Its quantiles are from samples at random instants, one
    // per interval; the trace has the queue length at the port of the sink at these instants.
    let lengths = results.summary.queue_lengths.unwrap();
    let longest = lengths.longest.unwrap();
    let exact = expected * f64::from(FRAME);
    assert!((longest.lengths.mean_bytes / exact - 1.0).abs() < 1e-3, "{} {exact}", longest.lengths.mean_bytes);
    let waits = results.trace.iter().filter_map(|row| match row.event {
        TraceEvent::Started { port, since, .. } if row.node == sink && u32::from(port) == longest.port => {
            Some((since, row.at))
        }
        _ => None,
    });
    let waits: Vec<(Time, Time)> = waits.filter(|(since, start)| since < start).collect();
    let (mut random, mut sampled) = (Stream::new(3, 0, purpose("queue samples")), Vec::new());
    for interval in 0.. {
        let at = EVERY * interval + Time::from_ps(1 + random.below(EVERY.as_ps()));
        if at > Time::from_ms(40) {
            break;
        }
        // The queue is FIFO: frames leave in order of arrival.
        let left = waits.partition_point(|(_, start)| *start <= at);
        let waiting = waits[left..].iter().take_while(|(since, _)| *since <= at).count() as u64;
        sampled.push(waiting * u64::from(FRAME));
    }
    assert_eq!((lengths.samples, lengths.ports, &*longest.peer), (sampled.len() as u64, 5, "H5"));
    sampled.sort_unstable();
    let p99 = sampled[(sampled.len() * 99).div_ceil(100) - 1];
    assert!(p99.abs_diff(longest.lengths.p99_bytes) * 250 <= p99, "{p99} {longest:?}");
    assert!(sampled.last() <= Some(&longest.lengths.max_bytes));
}

/// The Little's law check passes for the correct trajectory of a queue, and fails if the recorded arrival time of one
/// frame is 1 ps late.
#[test]
fn little_holds_in_every_queue_and_fails_when_corrupted() {
    let mut setup = poisson(4, 0.95, 5);
    setup.duration = Time::from_ms(5);
    let mut simulation = Simulation::new(setup).unwrap();
    simulation.run(&mut Results::default());
    let summary = simulation.finish(&mut Results::default(), false);
    let check = summary.checks.iter().find(|check| check.name == "little's law").unwrap();
    assert!(check.pass && check.detail.contains("10 queues"), "{check:?}");

    let id = check::BufferLocation::Queue(check::QueueId { node: 0, port: 0, class: 3 });
    for late_by in [0, 1] {
        // Frames arrive every half service time and are served every service time.
        let mut area = QueueArea::starting(Time::ZERO);
        let arrival = |n: u64| SERVICE / 2 * n;
        let departure = |n: u64| SERVICE * n;
        let mut length = 0;
        for n in 0..200u64 {
            area.on_change(arrival(n), length);
            length += 1;
            if n % 2 == 0 {
                area.on_change(arrival(n), length);
                length -= 1;
                let stamp = arrival(n / 2) + Time::from_ps(if n == 100 { late_by } else { 0 });
                area.on_departure(stamp, departure(n / 2));
            }
        }
        let inside: Vec<Time> = (100..200).map(arrival).collect();
        let verdict = check::little::LittleFindings::of(arrival(250), [(id, &area, length, inside)])
            .verdict(|node| node.to_string());
        assert_eq!(verdict.pass, late_by == 0, "{}", verdict.detail);
    }
}

/// Only events in the measurement interval are counted: the middle half of a constant stream of 1 ms, exact to the
/// frame.
#[test]
fn a_measurement_counts_only_its_window() {
    let rate = Rate::from_gbps(8);
    let stream = datagrams(0, 1, Process::Constant { rate }, 980, traffic::ENDLESS);
    let fabric = fabric::generate::single_switch(2, link(10, 500)).unwrap();
    let mut setup = setup(fabric, plan(2, [stream]));
    setup.warm_up = Time::from_us(250);
    setup.measure_end = Time::from_us(750);
    let results = run(setup);
    results.all_hold();
    let window = results.summary.window;
    assert_eq!((window.start_ps, window.end_ps), (250_000_000, 750_000_000));
    // One frame of 1000 B on the wire per microsecond: 500 frames in 500 us.
    assert_eq!(results.summary.delay_ns.unwrap().count, 500);
    let busiest = &results.summary.links.busiest[0];
    assert_eq!(busiest.tx_bytes, 500 * 980);
    assert!((busiest.utilisation - 0.8).abs() < 1e-9, "{busiest:?}");
    // 934 B of payload per frame. Because an endless flow is unfinished, goodput covers the whole measurement interval.
    let goodput = &results.summary.goodput;
    assert_eq!((goodput.start_ps, goodput.end_ps), (250_000_000, 750_000_000));
    assert_eq!((goodput.payload_bytes, &goodput.payload_bytes_by_traffic[..]), (500 * 934, &[500 * 934][..]));
    assert_eq!(goodput.bps, 934.0 * 8e6);
}

/// The goodput interval ends with the last flow completion, so that a longer run without traffic has the same goodput.
#[test]
fn goodput_does_not_fall_with_the_time_in_which_nothing_happens() {
    let of = |duration_us: u64, sizes: [u64; 2]| {
        let flows = [flow(0, 2, sizes[0]), flow(1, 2, sizes[1])];
        let fabric = fabric::generate::single_switch(3, link(10, 500)).unwrap();
        let mut setup = setup(fabric, plan(3, flows));
        setup.duration = Time::from_us(duration_us);
        let results = run(setup);
        results.all_hold();
        let last = results.flows.iter().filter_map(|flow| flow.delivered_ps).max();
        (results.summary.goodput, last)
    };
    let (short, last) = of(2_000, [100_000, 200_000]);
    assert_eq!(Some(short.end_ps), last);
    assert_eq!(short.payload_bytes, 300_000);
    assert_eq!(short.bps, 300_000.0 * 8e12 / short.end_ps as f64);
    assert!(short.bps > 8e9, "{short:?}");
    assert_eq!(of(20_000, [100_000, 200_000]).0, short);
    // An unfinished flow extends the goodput interval to the end of the measurement.
    assert_eq!(of(2_000, [100_000, 200_000_000]).0.end_ps, 2_000_000_000);
}
