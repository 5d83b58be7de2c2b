//! Measurements compared with closed-form values: shares of time, pauses, queue lengths, baseline FCTs, frame lengths.

use lab::{Override, Run, RunOptions, StopFlag};
use model::Watcher;
use record::flows::FlowRecord;
use record::summary::{Lengths, Summary};
use std::collections::BTreeMap;
use units::{Rate, Time};

#[derive(Default)]
struct Seen {
    flows: Vec<FlowRecord>,
    /// Link samples: time, node, port, bytes, utilisation.
    links: Vec<(Time, u32, u16, u64, f64)>,
    /// Throughput samples: time, bytes.
    throughput: Vec<(Time, u64)>,
}

impl Watcher for Seen {
    fn flow(&mut self, flow: &FlowRecord) {
        self.flows.push(flow.clone());
    }

    fn link(&mut self, at: Time, node: fabric::NodeId, port: u16, bytes: u64, share: f64) {
        self.links.push((at, node.0, port, bytes, share));
    }

    fn throughput(&mut self, at: Time, _traffic: u8, bytes: u64) {
        self.throughput.push((at, bytes));
    }
}

fn run(text: &str, set: &[(&str, &str)]) -> (Summary, Seen) {
    let stop = StopFlag::default();
    let set: Vec<Override> =
        set.iter().map(|(key, value)| Override { key: (*key).into(), value: (*value).into() }).collect();
    let run = Run::parse(text, "test.toml", &set, None, &stop).unwrap();
    let mut seen = Seen::default();
    let summary = run.produce(None, &mut seen, RunOptions::default(), &stop).unwrap().summary;
    for check in &summary.checks {
        assert!(check.pass, "{}: {}", check.name, check.detail);
    }
    (summary, seen)
}

/// A port of 1 Gbps sends frames of 9000 B during the whole run. The serialisation delay of a frame exceeds seven
/// sampling intervals.
const LONG_FRAMES: &str = r#"
duration = "40us"
[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "1Gbps", delay = "1us" }
[host]
transport = { kind = "datagram", frame = "9000B" }
[[traffic]]
kind = "pairs"
pairs = [["H1", "H2"]]
size = "30KB"
[record]
links = { every = "10us" }
"#;

#[test]
fn the_time_of_a_frame_is_split_over_the_samples_that_it_spans() {
    let (summary, seen) = run(LONG_FRAMES, &[]);
    let at_us = |us| Time::from_us(us);
    let shares: Vec<(Time, u64, f64)> = seen.links.iter().map(|row| (row.0, row.3, row.4)).collect();
    // 1250 B = 10 us x 1 Gbps per sampling interval.
    assert_eq!(shares, [10, 20, 30, 40].map(|us| (at_us(us), 1250, 1.0)));
    assert_eq!(summary.links.busiest[0].utilisation, 1.0);
}

#[test]
fn a_port_is_busy_for_at_most_the_whole_run() {
    let text = r#"
duration = "20us"
[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "1Mbps", delay = "1us" }
[host]
transport = { kind = "datagram", frame = "1518B" }
[[traffic]]
kind = "pairs"
pairs = [["H1", "H2"]]
size = "1KB"
[record]
links = { every = "5us" }
"#;
    let (summary, seen) = run(text, &[]);
    assert_eq!(summary.links.busiest[0].utilisation, 1.0);
    // 5 us x 1 Mbps is less than one byte per sampling interval: the utilisation is still 1, and the sum of the bytes
    // is exact.
    assert_eq!(seen.links.iter().map(|row| row.4).collect::<Vec<_>>(), [1.0; 4]);
    assert_eq!(seen.links.iter().map(|row| row.3).sum::<u64>(), Rate::from_mbps(1).bytes_in(Time::from_us(20)));
}

#[test]
fn a_warm_up_within_a_frame_leaves_the_rest_of_it_to_the_window() {
    let warm_up = [("measure.warm_up", "25us"), ("record.links.every", "15us")];
    let (summary, seen) = run(LONG_FRAMES, &warm_up);
    assert_eq!(summary.links.busiest.first().map(|port| port.utilisation), None, "no frame began in the window");
    // Mean over the six directions of three links, one of which has utilisation 1.
    assert!((summary.links.mean_utilisation - 1.0 / 6.0).abs() < 1e-12, "{}", summary.links.mean_utilisation);
    let rows: Vec<_> = seen.links.iter().map(|row| (row.0, row.4)).collect();
    assert_eq!(rows, [15, 30, 40].map(|us| (Time::from_us(us), 1.0)));
}

#[test]
fn the_last_interval_is_sampled_though_it_is_shorter() {
    let text = r#"
duration = "1ms"
[fabric]
kind = "single-switch"
hosts = 2
link = { rate = "10Gbps", delay = "1us" }
[record]
links = { every = "300us" }
throughput = { every = "300us" }
[[traffic]]
kind = "pairs"
pairs = [["H1", "H2"]]
size = "endless"
"#;
    let (summary, seen) = run(text, &[]);
    let at: Vec<Time> = seen.throughput.iter().map(|row| row.0).collect();
    assert_eq!(at, [300, 600, 900, 1000].map(Time::from_us));
    assert_eq!(seen.throughput.iter().map(|row| row.1).sum::<u64>(), summary.goodput.payload_bytes);
    let mut busy: BTreeMap<(u32, u16), (f64, u64)> = BTreeMap::new();
    for &(at, node, port, bytes, share) in &seen.links {
        assert!((0.0..=1.0).contains(&share), "{share}");
        let span = if at == Time::from_us(1000) { 100.0 } else { 300.0 };
        let sum = busy.entry((node, port)).or_default();
        *sum = (sum.0 + share * span, sum.1 + bytes);
    }
    let most = busy.values().map(|sum| sum.0).fold(0.0, f64::max) / 1000.0;
    assert!((most - summary.links.busiest[0].utilisation).abs() < 1e-12, "{most}");
    let bytes = busy.values().map(|sum| sum.1).max().unwrap();
    let whole = Rate::from_gbps(10).bytes_in(Time::from_ms(1)) as f64 * most;
    assert!((bytes as f64 - whole).abs() < 2.0, "{bytes} {whole}");
}

const PAUSED: &str = r#"
duration = "10ms"
seed = 1
[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "10Gbps", delay = "1us" }
[switch]
buffer = "4MB"
flow_control = { kind = "pause", xoff = "100KB" }
[check]
deadlock = false
[[traffic]]
kind = "pairs"
pairs = [["H1", "H3"], ["H2", "H3"]]
size = "endless"
class = 3
"#;

fn paused_ps(summary: &Summary, node: &str) -> u64 {
    summary.links.busiest.iter().find(|port| port.node == node).unwrap().paused_ps
}

#[test]
fn a_port_is_paused_once_however_many_classes_stop() {
    let (pause, _) = run(PAUSED, &[]);
    let pfc = r#"{ kind = "pfc", priorities = [3], xoff = "100KB" }"#;
    let (pfc, _) = run(PAUSED, &[("switch.flow_control", pfc)]);
    let (ports, classes) = (paused_ps(&pause, "H1"), paused_ps(&pfc, "H1"));
    assert!(ports < 10_000_000_000 && ports > 4_000_000_000, "{ports} ps of 10 ms");
    // Per-port and per-class accounts with equal thresholds give equal pauses.
    assert_eq!(ports, classes);
}

#[test]
fn the_time_paused_is_that_of_the_window() {
    let text = r#"
duration = "10ms"
seed = 1
[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "10Gbps", delay = "1us" }
[switch]
buffer = "4MB"
flow_control = { kind = "pfc", priorities = [3], xoff = "100KB" }
[check]
deadlock = false
[measure]
warm_up = "9ms"
[[traffic]]
kind = "pairs"
pairs = [["H1", "H3"], ["H2", "H3"]]
size = "4MB"
class = 3
[[traffic]]
kind = "pairs"
pairs = [["H1", "H3"]]
size = "1MB"
start = "9ms"
class = 3
"#;
    let (summary, _) = run(text, &[]);
    assert!(summary.pauses.total_ps > 1_000_000_000);
    assert_eq!(paused_ps(&summary, "H1"), 0);
    // The warm-up ends during the pauses: pause time during and after the warm-up add up to the total.
    let (all, _) = run(text, &[("measure.warm_up", "0s")]);
    let (late, _) = run(text, &[("measure.warm_up", "3ms")]);
    let (early, _) = run(text, &[("measure.warm_up", "0s"), ("measure.end", "3ms")]);
    assert_eq!(paused_ps(&early, "H1") + paused_ps(&late, "H1"), paused_ps(&all, "H1"));
}

/// Eight hosts send one frame each every 10 us, and the queue is sampled every 10 us: the mean queue length must not
/// depend on the phase of the samples.
#[test]
fn a_mean_queue_does_not_depend_on_the_period_of_the_traffic() {
    let text = r#"
duration = "10ms"
[fabric]
kind = "single-switch"
hosts = 9
link = { rate = "10Gbps", delay = "1us" }
[switch]
queue = "100KB"
[measure]
queues = { every = "10us" }
queue_utilisation = 0.5
[[traffic]]
kind = "incast"
receiver = "H9"
fan_in = 8
process = "periodic"
period = "10us"
frame = "1000B"
"#;
    let (summary, _) = run(text, &[]);
    let lengths = summary.queue_lengths.unwrap();
    let longest = lengths.longest.unwrap();
    // Time-average queue length = mean utilisation x total limit; only one of nine queues of 100 KB is used.
    let exact = summary.queue_utilisation.unwrap().mean * 9.0 * 100e3;
    assert!((longest.lengths.mean_bytes - exact).abs() < 1e-6 * exact, "{} {exact}", longest.lengths.mean_bytes);
    assert!((lengths.all.mean_bytes * 9.0 - exact).abs() < 1e-6 * exact);
    assert!((exact - 2284.8).abs() < 0.1, "{exact}");
    // Eight frames of 1000 B arrive simultaneously, and the first leaves immediately: the maximum queue is 7 frames.
    assert_eq!(longest.lengths.max_bytes, 7000);
    // Time-weighted quantiles: in each period of 10 us, the queue holds 7, 6, ... 1 frames for 0.816 us each, and is
    // then empty. Histogram buckets have a relative width of 1/128.
    let Lengths { p50_bytes, p95_bytes, p99_bytes, .. } = longest.lengths;
    for (reported, exact) in [(p50_bytes, 1000), (p95_bytes, 7000), (p99_bytes, 7000)] {
        assert!(u64::abs_diff(reported, exact) * 128 <= exact, "{:?}", longest.lengths);
    }
}

#[test]
fn a_lone_flow_is_not_slowed_down_by_spreading() {
    let text = r#"
duration = "50ms"
until = "flows done"
[fabric]
kind = "dumbbell"
left = 2
right = 2
link = { rate = "100Gbps", delay = "1us", edge = { rate = "10Gbps", delay = "3us" } }
[routing]
spread = "packet"
[switch]
buffer = "64MB"
[host]
transport = "datagram"
[[traffic]]
kind = "pairs"
pairs = [["H1", "H3"]]
size = "1MB"
"#;
    for spread in ["packet", "path", "flow"] {
        let (_, seen) = run(text, &[("routing.spread", spread)]);
        assert_eq!(seen.flows[0].delivered_ps.unwrap(), seen.flows[0].baseline_fct_ps, "{spread}");
    }
    // Two parallel uplinks of 10 Gbps between access links of 100 Gbps.
    let parallel = r#"
duration = "50ms"
until = "flows done"
[fabric]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
link = { rate = "10Gbps", delay = "1us", host = { rate = "100Gbps" } }
[switch]
buffer = "64MB"
[host]
transport = "datagram"
[[traffic]]
kind = "pairs"
pairs = [["H1", "H3"]]
size = "1MB"
"#;
    // The baseline FCT assumes that frames are divided evenly over both links. A flow exceeds its baseline by the
    // frames that one link carries beyond half.
    for spread in ["packet", "path"] {
        let (_, seen) = run(parallel, &[("routing.spread", spread), ("record.links.every", "100us")]);
        let mut uplinks: BTreeMap<u16, u64> = BTreeMap::new();
        let leaf = seen.links.iter().filter(|link| link.1 == 4 && link.2 >= 2);
        leaf.for_each(|link| *uplinks.entry(link.2).or_default() += link.3);
        let (most, sum) = (uplinks.values().max().unwrap(), uplinks.values().sum::<u64>());
        assert_eq!(uplinks.len(), 2, "{:?}", seen.links);
        let late = Rate::from_gbps(10).serialise(most - sum / 2);
        let (took, alone) = (seen.flows[0].delivered_ps.unwrap(), seen.flows[0].baseline_fct_ps);
        let frame = Rate::from_gbps(10).serialise(1538).as_ps();
        let difference = took.abs_diff(alone + late.as_ps());
        assert!(took >= alone && difference <= frame, "{spread}: {took} ps, alone {alone} ps, late by {late}");
    }
}

const VARIED: &str = r#"
duration = "100ms"
seed = 1
[fabric]
kind = "single-switch"
hosts = 2
link = { rate = "10Gbps", delay = "1us" }
[measure]
reordering = true
[[traffic]]
kind = "pairs"
pairs = [["H1", "H2"]]
process = "constant"
load = 0.5
frame = "1518B"
frame_deviation = "400B"
"#;

#[test]
fn frames_of_varied_length_have_the_requested_load_and_keep_their_order() {
    let cases: [&[(&str, &str)]; 4] = [
        &[],
        &[("traffic.0.frame", "128B")],
        &[("traffic.0.frame", "800B"), ("duration", "20ms")],
        &[("traffic.0.frame_max", "1600B"), ("duration", "20ms")],
    ];
    for set in cases {
        let (summary, _) = run(VARIED, set);
        // Both the offered load and the utilisation of the link include preamble and inter-frame gap.
        let load = summary.links.busiest[0].utilisation;
        assert!((load / 0.5 - 1.0).abs() < 0.01, "{set:?}: {load}");
        let order = summary.reordering.unwrap();
        assert_eq!((order.lost, order.ignored, order.displaced), (0, 0, 0), "{set:?}");
    }
    let error = Run::parse(
        &VARIED.replace("400B", "400B\"\nframe_max = \"1518B"),
        "test.toml",
        &[],
        None,
        &StopFlag::default(),
    );
    let error = error.err().unwrap().to_string();
    assert!(error.contains("lengths cannot vary by 400B around a mean of 1518B"), "{error}");
}

#[test]
fn frames_of_varied_length_are_no_faster_than_alone() {
    let text = r#"
duration = "5ms"
until = "flows done"
[fabric]
kind = "single-switch"
hosts = 2
link = { rate = "10Gbps", delay = "1us" }
[[traffic]]
kind = "pairs"
pairs = [["H1", "H2"]]
process = "bursts"
frame_gap = "1ns"
frames_per_burst = 100
pause = "1ms"
size = "151800B"
frame = "1518B"
frame_deviation = "600B"
"#;
    for spread in ["flow", "packet"] {
        for seed in ["1", "2", "3", "4"] {
            let (summary, seen) = run(text, &[("seed", seed), ("routing.spread", spread)]);
            assert_eq!(summary.warnings, [""; 0]);
            // All frames of the single burst wait only at the host, so that the flow has its baseline FCT.
            assert_eq!(seen.flows[0].delivered_ps.unwrap(), seen.flows[0].baseline_fct_ps, "{spread} {seed}");
        }
    }
}

#[test]
fn arrivals_of_a_poisson_process_start_late_by_the_jitter() {
    let text = r#"
duration = "2ms"
seed = 1
[fabric]
kind = "single-switch"
hosts = 8
link = { rate = "100Gbps", delay = "1us" }
[[traffic]]
kind = "poisson"
sizes = "1KB"
mean_gap = "10us"
"#;
    let first = |jitter: &str| {
        let (_, seen) = run(text, &[("traffic.0.jitter", jitter)]);
        let mut first = BTreeMap::new();
        for flow in &seen.flows {
            let start = first.entry(flow.src_host).or_insert(u64::MAX);
            *start = flow.start_ps.min(*start);
        }
        first.into_values().collect::<Vec<u64>>()
    };
    let (without, with) = (first("0s"), first("1ms"));
    assert!(without.iter().all(|&start| start < 100_000_000), "{without:?}");
    assert!(with.iter().any(|&start| start > 500_000_000) && with.iter().max() < Some(&1_100_000_000), "{with:?}");
    assert!(with.iter().zip(&without).all(|(with, without)| with > without));
}

#[test]
fn a_buffer_beyond_what_is_counted_is_refused() {
    for (key, value, expected) in [
        ("switch.buffer", "64GB", "`buffer` = 64GB is out of range\n  help: write a size from 1B to 4GB"),
        ("switch.queue", "5GB", "5GB is more than a switch can count: at most 4.294967295GB"),
    ] {
        let set = [Override { key: key.into(), value: value.into() }];
        let error = Run::parse(VARIED, "test.toml", &set, None, &StopFlag::default()).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
