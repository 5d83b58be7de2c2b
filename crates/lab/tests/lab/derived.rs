//! Random scenarios: every share is in [0, 1], and some values of `summary.json` are recomputed from the tables.
//! `scripts/derive.sh` recomputes all values and the sentences; the bugs that it found have regression tests in this
//! module.

use lab::{Run, RunOptions, StopFlag};
use model::NullWatcher;
use record::table::{Data, Table, read_table};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use units::random::{Stream, purpose};

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("tidegate-derived-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns a small random scenario with all inputs of the tested shares and sums.
fn scenario(number: u64) -> String {
    let mut stream = Stream::new(30, number, purpose("derived"));
    let mut pick = |values: &[&str]| values[stream.below(values.len() as u64) as usize].to_owned();
    let rate = pick(&["1Gbps", "3Gbps", "10Gbps", "100Gbps"]);
    let delay = pick(&["100ns", "1us", "3us"]);
    let fabric = pick(&[
        "kind = \"single-switch\"\nhosts = 4",
        "kind = \"dumbbell\"\nleft = 2\nright = 2",
        "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2",
    ]);
    let edge = if fabric.contains("dumbbell") { pick(&["", ", edge = { rate = \"40Gbps\" }"]) } else { String::new() };
    let switch = pick(&[
        "queue = \"30KB\"",
        "queue = \"20 packets\"",
        "buffer = \"2MB\"",
        "buffer = \"4MB\"\nflow_control = { kind = \"pfc\", priorities = [3], xoff = \"20KB\" }",
        "buffer = \"4MB\"\nflow_control = { kind = \"pause\", xoff = \"20KB\" }",
    ]);
    let utilisation = if switch.starts_with("queue") { pick(&["", "queue_utilisation = 0.5"]) } else { String::new() };
    let mut text = format!(
        "name = \"derived {number}\"\nduration = \"{}\"\nseed = {number}\n[fabric]\n{fabric}\nlink = {{ rate = \
         \"{rate}\", delay = \"{delay}\"{edge} }}\n[routing]\nspread = \"{}\"\n[switch]\n{switch}\n[host]\ntransport = \
         \"{}\"\n[check]\ndeadlock = false\n[measure]\nwarm_up = \"{}\"\n{}\nqueues = {{ every = \"{}\" \
         }}\n{utilisation}\n[record]\ntrace = {{}}\nlinks = {{ every = \"{}\" }}\nthroughput = {{ every = \"{}\" }}\n",
        pick(&["60us", "100us", "150us"]),
        pick(&["flow", "packet", "path"]),
        pick(&["datagram", "roce", "tcp"]),
        pick(&["0s", "0s", "10us", "33us"]),
        pick(&["", "", "end = \"55us\""]),
        pick(&["1us", "10us"]),
        pick(&["3us", "10us", "40us"]),
        pick(&["7us", "10us"]),
    );
    for _ in 0..1 + number % 3 {
        let traffic = pick(&[
            "kind = \"pairs\"\npairs = [[\"H1\", \"H3\"], [\"H2\", \"H3\"]]\nsize = \"60KB\"",
            "kind = \"pairs\"\npairs = [[\"H4\", \"H1\"]]\nsize = \"endless\"",
            "kind = \"pairs\"\npairs = [[\"H1\", \"H4\"]]\nsize = \"500B\"",
            "kind = \"pairs\"\npairs = [[\"H1\", \"H3\"]]\nprocess = \"periodic\"\nperiod = \"10us\"\nframe = \
                 \"1000B\"",
            "kind = \"pairs\"\npairs = [[\"H2\", \"H4\"]]\nprocess = \"constant\"\nload = 0.7\nframe = \
             \"800B\"\nframe_deviation = \"300B\"",
            "kind = \"pairs\"\npairs = [[\"H2\", \"H3\"]]\nprocess = \"bursts\"\nframe_gap = \"1ns\"\nframes_per_burst \
             = 20\npause = \"30us\"\nsize = \"40KB\"\nframe = \"1200B\"\nframe_deviation = \"200B\"",
            "kind = \"incast\"\nreceiver = \"H4\"\nfan_in = 3\nsize = \"20KB\"",
            "kind = \"poisson\"\nsizes = \"3KB\"\nload = 0.4\njitter = \"20us\"",
        ]);
        text += &format!("[[traffic]]\n{traffic}\nclass = 3\n");
    }
    text
}

fn times(table: &Table, name: &str) -> Vec<Option<u64>> {
    table.u64s(name).unwrap().to_vec()
}

fn texts(table: &Table, name: &str) -> Vec<Option<String>> {
    match table.column(name).unwrap() {
        Data::Text(values) => values.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

/// Collects all numbers whose key denotes a share.
fn shares(value: &Value, path: &str, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = format!("{path}.{key}");
                let is_share =
                    key.ends_with("utilisation") || key.ends_with("_share") || key == "share" || key == "jain";
                let of_queue =
                    path.starts_with(".queue_utilisation.") && ["mean", "time_ratio", "threshold"].contains(&&**key);
                if let Some(number) = value.as_f64().filter(|_| is_share || of_queue) {
                    found.push((path.clone(), number));
                }
                shares(value, &path, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| shares(item, path, found)),
        _ => {}
    }
}

fn close(what: &str, reported: &Value, derived: f64, tolerance: f64) {
    let reported = reported.as_f64().unwrap_or_else(|| panic!("{what}: {reported}"));
    assert!((reported - derived).abs() <= tolerance * derived.abs().max(1e-9), "{what}: {reported}, derived {derived}");
}

/// Compares mean, minimum, maximum and quantiles of `values` with a distribution in the summary. Quantiles are those of
/// histogram buckets with a relative width of 1/128.
fn distribution(what: &str, reported: &Value, mut values: Vec<f64>) {
    if values.is_empty() {
        assert!(reported.is_null(), "{what}: {reported}");
        return;
    }
    values.sort_by(f64::total_cmp);
    let count = values.len();
    assert_eq!(reported["count"].as_u64(), Some(count as u64), "{what}");
    close(what, &reported["mean"], values.iter().sum::<f64>() / count as f64, 1e-9);
    close(what, &reported["min"], values[0], 1e-12);
    close(what, &reported["max"], values[count - 1], 1e-12);
    for (name, q) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
        let rank = ((q * count as f64).ceil() as usize).clamp(1, count);
        close(&format!("{what} {name}"), &reported[name], values[rank - 1], 1.0 / 128.0);
    }
}

fn check_flows(folder: &Path, summary: &Value) {
    let (start, end) = (summary["window"]["start_ps"].as_u64().unwrap(), summary["window"]["end_ps"].as_u64().unwrap());
    let table = read_table(&folder.join("flows.parquet")).unwrap();
    let (starts, delivered) = (times(&table, "start_ps"), times(&table, "delivered_ps"));
    let (alone, timeouts) = (times(&table, "baseline_fct_ps"), times(&table, "timeouts"));
    let whole = start == 0 && end == summary["simulated_ps"].as_u64().unwrap();
    let (mut fct_ns, mut rates, mut started, mut all_timeouts) = (Vec::new(), Vec::new(), 0, 0);
    for row in 0..table.rows {
        let began = starts[row].unwrap();
        if began < start || (began >= end && !whole) {
            continue;
        }
        started += 1;
        all_timeouts += timeouts[row].unwrap();
        if let Some(delivered) = delivered[row] {
            fct_ns.push((delivered - began) as f64 / 1000.0);
            let slowdown = (delivered - began) as f64 / alone[row].unwrap() as f64;
            assert!(slowdown >= 1.0, "flow in row {row} was faster than alone: {slowdown}");
            rates.push(1.0 / slowdown);
        }
    }
    let flows = &summary["flows"];
    assert_eq!(flows["started"].as_u64(), Some(started), "flows started");
    assert_eq!(flows["completed"].as_u64(), Some(fct_ns.len() as u64), "flows completed");
    assert_eq!(flows["timeouts"].as_u64(), Some(all_timeouts), "timeouts");
    distribution("fct_ns", &flows["fct_ns"], fct_ns);
    if !rates.is_empty() {
        let sum: f64 = rates.iter().sum();
        let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
        close("jain", &flows["jain"], sum * sum / (rates.len() as f64 * squares), 1e-9);
    }
}

/// Compares the rows of `links.parquet` with the summary. The rows cover the whole run, so that the comparison requires
/// a measurement interval that does, too.
fn check_links(folder: &Path, summary: &Value, every: u64) {
    let table = read_table(&folder.join("links.parquet")).unwrap();
    let (at, node, port) = (times(&table, "time_ps"), times(&table, "node"), times(&table, "port"));
    let (shares, bytes) = (table.f64s("utilisation").unwrap(), times(&table, "tx_bytes"));
    let ports = read_table(&folder.join("ports.parquet")).unwrap();
    let names = texts(&ports, "name");
    let mut rates = BTreeMap::new();
    let mut by_number = BTreeMap::new();
    for (row, name) in names.iter().enumerate() {
        let key = (times(&ports, "node")[row].unwrap(), times(&ports, "port")[row].unwrap());
        rates.insert(key, times(&ports, "rate_bps")[row].unwrap());
        by_number.insert((name.clone().unwrap(), key.1), key);
    }
    // A row covers the time since the previous sampling instant, even if its port has no row for that instant.
    let simulated = summary["simulated_ps"].as_u64().unwrap();
    let mut busy: BTreeMap<(u64, u64), f64> = BTreeMap::new();
    for row in 0..table.rows {
        let (at, share, key) = (at[row].unwrap(), shares[row].unwrap(), (node[row].unwrap(), port[row].unwrap()));
        assert!((0.0..=1.0).contains(&share), "links.parquet row {row}: {share}");
        let span = if at % every == 0 { every } else { at % every };
        assert!(at % every == 0 || at == simulated, "a row between samples: {at}");
        *busy.entry(key).or_default() += share * span as f64;
        let capacity = rates[&key] as f64 * span as f64 / 8e12;
        let sent = bytes[row].unwrap() as f64;
        assert!((sent - share * capacity).abs() < 2.0, "row {row}: {sent} B, share {share} of {capacity}");
    }
    let window = &summary["window"];
    if window["start_ps"].as_u64() == Some(0) && window["end_ps"].as_u64() == Some(simulated) {
        let total: f64 = busy.values().sum();
        let mean = total / simulated as f64 / ports.rows as f64;
        close("mean_utilisation", &summary["links"]["mean_utilisation"], mean, 1e-6);
        for load in summary["links"]["busiest"].as_array().unwrap() {
            let key = by_number[&(load["node"].as_str().unwrap().to_owned(), load["port"].as_u64().unwrap())];
            close("busiest", &load["utilisation"], busy[&key] / simulated as f64, 1e-6);
        }
    }
    for load in ["busiest", "longest_queues"].iter().flat_map(|list| summary["links"][list].as_array().unwrap()) {
        let span = window["end_ps"].as_u64().unwrap() - window["start_ps"].as_u64().unwrap();
        assert!(load["paused_ps"].as_u64().unwrap() <= span, "paused for longer than the window: {load}");
    }
}

/// Returns the sampling interval of `links.parquet` in a scenario.
fn links_every(text: &str) -> u64 {
    let line = text.lines().find(|line| line.starts_with("links = ")).unwrap();
    line.split('"').nth(1).unwrap().parse::<units::Time>().unwrap().as_ps()
}

fn check_throughput(folder: &Path, summary: &Value) {
    let table = read_table(&folder.join("throughput.parquet")).unwrap();
    let payload: u64 = times(&table, "delivered_bytes").into_iter().flatten().sum();
    let window = &summary["window"];
    if window["start_ps"].as_u64() == Some(0) && window["end_ps"] == summary["simulated_ps"] {
        assert_eq!(summary["goodput"]["payload_bytes"].as_u64(), Some(payload), "payload");
    }
}

fn check_trace(folder: &Path, summary: &Value) {
    let table = read_table(&folder.join("trace.parquet")).unwrap();
    let (events, causes) = (texts(&table, "event"), texts(&table, "cause"));
    let (mut counts, mut dropped): (BTreeMap<String, u64>, BTreeMap<String, u64>) = Default::default();
    for (event, cause) in events.into_iter().zip(causes) {
        if let Some(cause) = cause {
            *dropped.entry(cause).or_default() += 1;
        }
        *counts.entry(event.unwrap()).or_default() += 1;
    }
    let packets = &summary["packets"];
    let count = |event: &str| counts.get(event).copied().unwrap_or(0);
    let reported: BTreeMap<String, u64> =
        packets["dropped"].as_object().unwrap().iter().map(|(cause, n)| (cause.clone(), n.as_u64().unwrap())).collect();
    assert_eq!(dropped, reported, "drops by cause");
    assert_eq!(packets["injected"].as_u64(), Some(count("created")), "injected");
    assert_eq!(packets["delivered_whole"].as_u64(), Some(count("delivered")), "delivered");
    assert_eq!(packets["consumed"].as_u64(), Some(count("consumed")), "consumed");
}

fn check(number: u64, scratch: &Path) {
    let text = scenario(number);
    let stop = StopFlag::default();
    let run = Run::parse(&text, "derived.toml", &[], None, &stop).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let folder = scratch.join(number.to_string());
    run.produce(Some(lab::folder(&folder).unwrap()), &mut NullWatcher, RunOptions::default(), &stop).unwrap();
    let summary: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("summary.json")).unwrap()).unwrap();
    let derive = || {
        let mut found = Vec::new();
        shares(&summary, "", &mut found);
        assert!(!found.is_empty());
        for (path, share) in found {
            assert!((0.0..=1.0).contains(&share), "{path} = {share}");
        }
        check_flows(&folder, &summary);
        check_links(&folder, &summary, links_every(&text));
        check_throughput(&folder, &summary);
        check_trace(&folder, &summary);
    };
    if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(derive)) {
        eprintln!("scenario {number}:\n{text}");
        std::panic::resume_unwind(panic);
    }
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn summaries_follow_from_their_tables() {
    let scratch = Scratch::new("some");
    (0..60).for_each(|number| check(number, &scratch.0));
}

/// A result in a separate folder.
struct Made {
    summary: Value,
    folder: Scratch,
}

impl Made {
    fn of(name: &str, text: &str) -> Made {
        let (folder, stop) = (Scratch::new(name), StopFlag::default());
        let run = Run::parse(text, "derived.toml", &[], None, &stop).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let out = folder.0.join("out");
        run.produce(Some(lab::folder(&out).unwrap()), &mut NullWatcher, RunOptions::default(), &stop).unwrap();
        let summary = serde_json::from_str(&std::fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
        Made { summary, folder }
    }

    fn table(&self, name: &str) -> Table {
        read_table(&self.folder.0.join("out").join(name)).unwrap()
    }

    /// Returns the packet numbers of all trace rows with this event.
    fn packets_of(&self, event: &str) -> Vec<u64> {
        let trace = self.table("trace.parquet");
        let (events, packets) = (texts(&trace, "event"), times(&trace, "packet"));
        events.iter().zip(packets).filter(|(name, _)| name.as_deref() == Some(event)).filter_map(|row| row.1).collect()
    }

    fn check(&self, name: &str) -> &Value {
        self.summary["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap()
    }
}

/// A scenario with an incast over one switch. `keys` are keys of `[switch]`; `after` are further tables.
fn incast(keys: &str, after: &str) -> String {
    format!(
        "duration = \"200us\"\n[fabric]\nkind = \"single-switch\"\nhosts = 4\nlink = {{ rate = \"10Gbps\", delay = \
         \"1us\" }}\n[switch]\n{keys}\n{after}\n[record]\ntrace = {{}}\n[[traffic]]\nkind = \"incast\"\nreceiver = \
         \"H4\"\nfan_in = 3\nsize = \"100KB\"\n"
    )
}

#[test]
fn frames_that_switches_make_are_not_injected_by_hosts() {
    let marking =
        "marking = { kind = \"congestion-point\", set_point = \"10KB\", sample = \"8KB\", sample_min = \"3KB\" }";
    let made = Made::of("made", &incast(&format!("queue = \"100KB\"\n{marking}"), "[host]\ntransport = \"qcn\""));
    let (packets, trace) = (&made.summary["packets"], made.table("trace.parquet"));
    let (events, nodes) = (texts(&trace, "event"), times(&trace, "node"));
    let created = |by_switch: bool| {
        // Four hosts have the node numbers 0 to 3, so that the switch is node 4.
        let rows = events
            .iter()
            .zip(&nodes)
            .filter(|(event, node)| event.as_deref() == Some("created") && (**node == Some(4)) == by_switch);
        rows.count() as u64
    };
    assert!(created(true) > 0);
    assert_eq!(packets["created_in_network"].as_u64(), Some(created(true)), "{packets}");
    assert_eq!(packets["injected"].as_u64(), Some(created(false)), "{packets}");
}

#[test]
fn marks_of_trimmed_headers_are_in_the_trace() {
    let keys = "queue = \"20KB\"\noverload = { kind = \"trim\" }\nmarking = { kind = \"ecn\", k_min = \"10KB\" }";
    let made = Made::of("marks", &incast(keys, "[host]\ntransport = \"dctcp\"\nreply_class = 7"));
    let (marked, trimmed) = (made.packets_of("marked"), made.packets_of("trimmed"));
    assert!(trimmed.iter().any(|packet| marked.contains(packet)), "no marked header");
    assert_eq!(made.summary["event_counts"]["marks"].as_u64(), Some(marked.len() as u64));
}

/// A host generates replies to a destination that backpressure has paused.
#[test]
fn held_replies_are_traced_once_when_they_are_made() {
    let keys = "queue = \"100KB\"\nflow_control = { kind = \"destination\", upper = 0.3, lower = 0.1 }";
    let pairs = "[[traffic]]\nkind = \"pairs\"\npairs = [[\"H4\", \"H1\"], [\"H4\", \"H2\"]]\nsize = \"endless\"\n";
    let made = Made::of("held", &(incast(keys, "[host]\ntransport = \"roce\"") + pairs));
    let created = made.packets_of("created");
    assert!(made.summary["backpressure"]["xoffs"] != 0 && !made.packets_of("created").is_empty());
    assert_eq!(made.summary["packets"]["injected"].as_u64(), Some(created.len() as u64));
    let distinct: std::collections::BTreeSet<u64> = created.iter().copied().collect();
    assert_eq!(distinct.len(), created.len(), "a packet was created twice");
}

/// All requests of a client are messages of one connection, each shorter than a packet, and must not be counted as
/// duplicates.
#[test]
fn messages_of_a_connection_are_no_duplicates() {
    let text = "duration = \"1ms\"\n[fabric]\nkind = \"single-switch\"\nhosts = 3\nlink = { rate = \"10Gbps\", delay = \
                \"1us\" }\n[host]\ntransport = \"tcp\"\n[measure]\nreordering = true\n[[traffic]]\nkind = \
                \"request-reply\"\nclient = \"H1\"\nservers = [\"H2\", \"H3\"]\nreply_size = \"2KB\"\nrequests = 20\n";
    let Made { summary, .. } = Made::of("messages", text);
    let reordering = &summary["reordering"];
    assert_eq!((&reordering["ignored"], &reordering["displaced"]), (&0.into(), &0.into()), "{reordering}");
    assert_eq!(reordering["packets"], summary["delay_ns"]["count"]);
}

/// A short flow completes long before the last datagram of a flow with losses: goodput covers the measurement interval
/// up to the arrival of the last datagram.
#[test]
fn goodput_covers_the_arrivals_of_flows_that_lost_datagrams() {
    let short = "[[traffic]]\nkind = \"pairs\"\npairs = [[\"H1\", \"H2\"]]\nsize = \"500B\"\n";
    let made = Made::of("goodput", &(incast("queue = \"30KB\"", "[host]\ntransport = \"datagram\"") + short));
    let goodput = &made.summary["goodput"];
    assert!(made.summary["flows"]["completed"] == 1 && made.summary["flows"]["started"] == 4);
    assert!(goodput["bps"].as_f64().unwrap() < 10e9, "faster than the receiver's link: {goodput}");
    assert!(goodput["end_ps"].as_u64().unwrap() < 200_000_000, "{goodput}");
}

#[test]
fn longest_queues_include_those_of_bounced_frames() {
    let text = incast("queue = \"20 packets\"\noverload = \"bounce\"", "[host]\ntransport = \"tcp\"")
        .replace("trace = {}", "queues = { every = \"500ns\" }")
        .replace("kind = \"single-switch\"\nhosts = 4", "kind = \"dumbbell\"\nleft = 3\nright = 1");
    let made = Made::of("bounced", &text);
    let table = made.table("queues.parquet");
    let bounced = match table.column("bounce_queue").unwrap() {
        Data::Bool(values) => values.clone(),
        other => panic!("{other:?}"),
    };
    let rows = times(&table, "queue_bytes").into_iter().zip(bounced).zip(times(&table, "node"));
    let longest = rows.filter(|((_, bounced), _)| *bounced == Some(true)).filter_map(|((bytes, _), _)| bytes).max();
    let reported = made.summary["links"]["longest_queues"].as_array().unwrap();
    let most = reported.iter().filter_map(|load| load["max_queue_bytes"].as_u64()).max();
    assert!(longest > Some(0) && most >= longest, "{longest:?} sampled, {most:?} reported");
    let pairs = reported.iter().filter(|load| load["node"] == "S1").count();
    assert!(pairs > 1, "the queues of frames on their way back count: {reported:?}");
}

/// Some queues hold frames only during the warm-up, others only after it.
#[test]
fn littles_law_counts_the_queues_of_the_warm_up_and_after_it() {
    let late = "[[traffic]]\nkind = \"incast\"\nreceiver = \"H1\"\nfan_in = 3\nsize = \"20KB\"\nstart = \"150us\"\n";
    let text = incast("queue = \"1MB\"", "[measure]\nwarm_up = \"140us\"").replace("100KB", "20KB") + late;
    let made = Made::of("little", &text);
    let detail = made.check("little's law")["detail"].as_str().unwrap();
    let queued = made.packets_of("queued");
    assert!(!queued.is_empty());
    assert_eq!(detail, "exact to the picosecond in 2 of 4 queues; no frame waited in the others");
}
