//! A connection has one 5-tuple, one path and one congestion control state, for any number of messages.

use crate::common::{alone, over_ranks, read};
use lab::FinishedRun;
use model::Watcher;
use record::flows::FlowRecord;
use std::collections::BTreeSet;
use units::Time;
use units::random::Stream;

/// A sample of the congestion control state of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ControlRow {
    at: Time,
    flow: u64,
    traffic: u32,
    rate_bps: Option<u64>,
    window_bytes: Option<u64>,
    alpha: Option<f64>,
}

#[derive(Default)]
struct Seen {
    flows: Vec<FlowRecord>,
    controls: Vec<ControlRow>,
    /// Time, node, port and bytes of each sample of a link with traffic.
    links: Vec<(Time, u32, u16, u64)>,
}

impl Watcher for Seen {
    fn flow(&mut self, flow: &FlowRecord) {
        self.flows.push(flow.clone());
    }
    fn control(&mut self, it: &record::control::ControlSample) {
        let (at, flow, traffic) = (it.at, it.flow, it.traffic);
        let (rate_bps, window_bytes, alpha) = (it.rate_bps, it.window_bytes, it.alpha);
        self.controls.push(ControlRow { at, flow, traffic, rate_bps, window_bytes, alpha });
    }
    fn link(&mut self, at: Time, node: fabric::NodeId, port: u16, bytes: u64, _share: f64) {
        if bytes > 0 {
            self.links.push((at, node.0, port, bytes));
        }
    }
}

/// Returns the run of `text` on one thread, after checking that it equals those on two threads and over two ranks.
fn run(text: &str, set: &[(&str, &str)]) -> (FinishedRun, Seen) {
    let one: (FinishedRun, Seen) = alone(text, set, 1);
    for other in [alone::<Seen>(text, set, 2), over_ranks(text, set)] {
        assert_eq!((&other.0.summary, &other.1.flows), (&one.0.summary, &one.1.flows));
        assert_eq!(other.1.controls, one.1.controls);
    }
    assert!(one.0.summary.passes(), "{:?}", one.0.summary.checks);
    one
}

/// One DCTCP connection carries two replies of 10 MB; the second shares its bottleneck with a bulk flow and is
/// ECN-marked.
const SESSION_DCTCP: &str = r#"
duration = "30ms"
[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "10Gbps", delay = "5us" }
[switch]
queue = "400KB"
marking = { kind = "ecn", k_min = "65KB" }
[host]
transport = { kind = "dctcp", min_rto = "1ms" }
[[traffic]]
kind = "request-reply"
client = "H3"
servers = ["H1"]
reply_size = "10MB"
requests = 2
persistent_connection = true
think_time = "1ms"
[[traffic]]
kind = "pairs"
pairs = [["H2", "H3"]]
size = "endless"
start = "12ms"
[record]
control = { every = "50us" }
"#;

#[test]
fn alpha_of_a_session_is_updated_each_window_of_every_reply() {
    let (_, seen) = run(SESSION_DCTCP, &[]);
    let alphas: Vec<f64> = seen.controls.iter().filter(|it| it.flow == 3).filter_map(|it| it.alpha).collect();
    let different: BTreeSet<u64> = alphas.iter().map(|alpha| alpha.to_bits()).collect();
    // Regression: alpha stayed at 2.28e-10 for the whole reply, so that the window was reduced by only one byte.
    assert!(different.len() > alphas.len() / 2 && alphas.len() > 100, "{} of {}", different.len(), alphas.len());
    assert!(alphas.last().is_some_and(|&alpha| alpha > 0.05), "{alphas:?}");
}

/// A CUBIC connection is idle for 600 ms between two replies.
const SESSION_CUBIC: &str = r#"
duration = "3s"
until = "flows done"
[fabric]
kind = "dumbbell"
left = 1
right = 1
link = { rate = "1Gbps", delay = "50us", edge = { rate = "100Mbps", delay = "5ms" } }
[switch]
queue = "100KB"
[host]
transport = { kind = "tcp", congestion_control = "cubic", sack = true, min_rto = "200ms", advertised_window = "16MiB" }
[[traffic]]
kind = "request-reply"
client = "H2"
servers = ["H1"]
reply_size = "4MB"
requests = 2
think_time = "600ms"
persistent_connection = true
[record]
control = { every = "1ms" }
"#;

#[test]
fn idle_time_does_not_open_the_window_of_cubic() {
    let (_, seen) = alone::<Seen>(SESSION_CUBIC, &[], 1);
    let windows: Vec<u64> = seen.controls.iter().filter(|it| it.flow == 3).filter_map(|it| it.window_bytes).collect();
    // Regression: from a ssthresh of 117 segments up to 183, the window grew by 12 segments every 6 ms.
    let avoidance = windows.iter().position(|&window| window > 118 * 1460).unwrap_or(windows.len());
    assert!(windows.len() > 100);
    for pair in windows[avoidance..].windows(7) {
        assert!(pair[6] <= pair[0] + 3 * 1460, "{} -> {} in 6 ms", pair[0], pair[6]);
    }
}

/// Two CUBIC flows whose hosts receive pause frames.
const HALVE_CUBIC: &str = r#"
duration = "30ms"
[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "10Gbps", delay = "20us" }
[switch]
buffer = "4MB"
flow_control = { kind = "pause", xoff = "60KB", xon = "10KB" }
[check]
deadlock = false
[host]
on_pause = "halve"
[host.transport]
kind = "tcp"
congestion_control = "cubic"
sack = true
initial_ssthresh = "200KB"
advertised_window = "4MiB"
min_rto = "50ms"
[[traffic]]
kind = "pairs"
pairs = [["H1", "H3"], ["H2", "H3"]]
size = "endless"
[record]
control = { every = "10us" }
"#;

#[test]
fn a_window_that_a_pause_halves_stays_halved_under_cubic() {
    let (cubic, seen) = run(HALVE_CUBIC, &[]);
    let windows: Vec<u64> = seen.controls.iter().filter(|it| it.flow == 0).filter_map(|it| it.window_bytes).collect();
    let halvings: Vec<usize> = (1..windows.len()).filter(|&at| windows[at] * 10 < windows[at - 1] * 6).collect();
    assert!(halvings.len() > 2, "{windows:?}");
    for at in halvings {
        let later = windows.get(at + 8).copied().unwrap_or(0);
        assert!(later * 10 < windows[at - 1] * 7, "{} -> {} -> {later}", windows[at - 1], windows[at]);
    }
    let (newreno, _) = run(HALVE_CUBIC, &[("host.transport.congestion_control", "\"newreno\"")]);
    // Regression: 302 pauses with CUBIC, 22 with NewReno.
    assert!(cubic.summary.pauses.count < 4 * newreno.summary.pauses.count, "{}", cubic.summary.pauses.count);
}

/// One connection carries 16 replies over a fabric with eight equal-cost paths. Persistent connections are the default.
const SESSION_PATH: &str = r#"
duration = "20ms"
until = "flows done"
[fabric]
kind = "leaf-spine"
leaves = 2
spines = 8
hosts_per_leaf = 2
link = { rate = "100Gbps", delay = "1us" }
[host]
transport = "tcp"
[record]
links = { every = "10us" }
[[traffic]]
kind = "request-reply"
client = "H3"
servers = ["H1"]
reply_size = "100KB"
requests = 16
"#;

/// Returns the number of uplinks that carry replies at the leaf with the most transmitted bytes, which is that of the
/// server. Ports from 2 on are uplinks, because a leaf has two hosts.
fn uplinks(seen: &Seen) -> usize {
    let mut by_port = std::collections::BTreeMap::new();
    let up = seen.links.iter().filter(|link| link.2 >= 2);
    up.for_each(|&(_, node, port, bytes)| *by_port.entry((node, port)).or_insert(0) += bytes);
    let leaf = by_port.iter().max_by_key(|&(_, bytes)| bytes).map(|(port, _)| port.0);
    by_port.into_iter().filter(|&((node, _), bytes)| Some(node) == leaf && bytes > 90_000).count()
}

// [CON1]
#[test]
fn a_session_has_one_path() {
    for transport in ["tcp", "dctcp", "roce", "dcqcn", "hpcc"] {
        let set = [("host.transport", format!("\"{transport}\""))];
        let set: Vec<(&str, &str)> = set.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let (finished, seen) = run(SESSION_PATH, &set);
        assert_eq!(finished.summary.flows.completed, 32, "{transport}");
        assert!(finished.summary.requests[0].persistent_connection, "{transport}");
        assert_eq!(uplinks(&seen), 1, "{transport}: the uplink of the servers' leaf, and no more");
        let ports: BTreeSet<(u32, u16)> = seen.flows.iter().map(|row| (row.src_host, row.src_port)).collect();
        assert_eq!(ports.len(), 2, "one source port at each end: {ports:?}");
        let separate = [set.as_slice(), &[("traffic.0.persistent_connection", "false")]].concat();
        let (finished, seen) = run(SESSION_PATH, &separate);
        assert!(!finished.summary.requests[0].persistent_connection && uplinks(&seen) > 1, "{transport}");
    }
    let (finished, _) = run(SESSION_PATH, &[("host.transport", "\"datagram\"")]);
    assert!(!finished.summary.requests[0].persistent_connection, "datagrams have no connections");
}

/// Three servers reply to one client over persistent DCQCN connections.
const SESSION_DCQCN: &str = r#"
duration = "40ms"
until = "flows done"
[fabric]
kind = "single-switch"
hosts = 4
link = { rate = "10Gbps", delay = "2us" }
[switch]
queue = "400KB"
marking = { kind = "ecn", k_min = "20KB" }
[host]
transport = "dcqcn"
[[traffic]]
kind = "request-reply"
client = "H4"
servers = ["H1", "H2", "H3"]
reply_size = "500KB"
requests = 6
persistent_connection = true
[record]
control = { every = "5us" }
"#;

#[test]
fn the_rate_of_a_queue_pair_outlasts_its_messages() {
    // The first sample of each reply except the first reply.
    let first_rates = |seen: &Seen| {
        let mut known = BTreeSet::new();
        let first = seen.controls.iter().filter(|it| it.flow % 6 >= 3 && it.flow >= 9 && known.insert(it.flow));
        first.filter_map(|it| it.rate_bps).collect::<Vec<u64>>()
    };
    let (finished, session) = run(SESSION_DCQCN, &[]);
    assert_eq!(finished.summary.flows.completed, 36);
    let rates = first_rates(&session);
    assert!(rates.len() == 15 && rates.iter().all(|&rate| rate < 9_000_000_000), "{rates:?}");
    let (_, separate) = run(SESSION_DCQCN, &[("traffic.0.persistent_connection", "false")]);
    let rates = first_rates(&separate);
    assert!(rates.contains(&10_000_000_000), "each starts at the line's rate: {rates:?}");
}

#[test]
fn a_session_is_refused_where_nothing_outlasts_a_message() {
    for transport in ["datagram", "ndp", "eqds", "external"] {
        let kind = format!("\"{transport}\"");
        let set = [("host.transport", kind.as_str()), ("switch.marking", "\"none\"")];
        let error = read(SESSION_DCQCN, &set, 1).err().unwrap_or_default();
        assert!(
            error.contains("traffic.0.persistent_connection") || error.contains("no connections between messages"),
            "{transport}: {error}"
        );
    }
}

/// Two flows between the same pair of hosts.
const TWO_FLOWS: &str = r#"
duration = "1ms"
[fabric]
kind = "single-switch"
hosts = 2
link = { rate = "100Gbps", delay = "1us" }
[host]
transport = "tcp"
[[traffic]]
kind = "pairs"
pairs = [["H1", "H2"], ["H1", "H2"]]
size = "3KB"
dst_port = 777
"#;

// [CON4]
/// Source ports are 49152 and 49153, as in the headers of captured frames ([`model::capture`]).
#[test]
fn source_ports_of_flows_are_those_of_captures() {
    let (_, seen) = run(TWO_FLOWS, &[]);
    let ports: BTreeSet<(u64, u16, u16)> =
        seen.flows.iter().map(|row| (row.flow, row.src_port, row.dst_port)).collect();
    assert_eq!(ports, BTreeSet::from([(0, 49_152, 777), (1, 49_153, 777)]));
}

/// The destination port appears in tables and captures; it is not an input of the ECMP hash.
const DST_PORT: &str = r#"
duration = "1ms"
[fabric]
kind = "leaf-spine"
leaves = 2
spines = 8
hosts_per_leaf = 2
link = { rate = "100Gbps", delay = "1us" }
[record]
links = { every = "1ms" }
[[traffic]]
kind = "pairs"
pairs = [["H1", "H3"]]
size = "100KB"
"#;

#[test]
fn the_destination_port_is_no_part_of_the_hash() {
    let links = |port: &str| {
        let (_, seen) = alone::<Seen>(DST_PORT, &[("traffic.0.dst_port", port)], 1);
        assert!(seen.flows.iter().all(|row| row.dst_port.to_string() == port));
        seen.links
    };
    let first = links("100");
    assert!(!first.is_empty() && ["1", "101", "4791", "65535"].iter().all(|port| links(port) == first));
}

/// A collective of eight ranks in two leaves; its ring crosses the spines twice.
const RING: &str = r#"
duration = "50ms"
until = "flows done"
[fabric]
kind = "leaf-spine"
leaves = 2
spines = 8
hosts_per_leaf = 4
link = { rate = "400Gbps", delay = "500ns", edge = { rate = "100Gbps" } }
[switch]
buffer = "64MB"
flow_control = { kind = "pfc", priorities = [3] }
[host]
transport = { kind = "roce", payload = "4096B" }
[[traffic]]
kind = "collective"
operation = "all-reduce"
size = "16MB"
"#;

/// Completion time: 2 x 7/8 x 16 MB = 28 MB from rank 4 to rank 5, in packets of 4096 + 82 bytes, over one path of 100
/// Gbps. Regression: the messages were 14 flows on up to 14 paths and completed 1.5 times as fast.
#[test]
fn a_ring_takes_as_long_as_one_path_allows() {
    let time = |set: &[(&str, &str)]| {
        let (finished, _) = run(RING, set);
        let [collective] = &finished.summary.collectives[..] else { panic!("one collective") };
        assert_eq!(collective.completed, 1);
        (collective.time_ns.unwrap().mean / 1e6, collective.qps_per_connection)
    };
    let least = 28e6 / 4096.0 * 4178.0 * 8.0 / 100e9 * 1e3;
    for transport in ["roce", "dcqcn", "hpcc"] {
        let kind = format!("{{ kind = \"{transport}\", payload = \"4096B\" }}");
        let mut set = vec![("host.transport", kind.as_str())];
        if transport == "dcqcn" {
            set.push(("switch.marking", "{ kind = \"ecn\", k_min = \"400KB\" }"));
        }
        let (one, count) = time(&set);
        assert!(one >= least && count == Some(1), "{transport}: {one} ms, at least {least}");
        if transport == "roce" {
            assert!(one < 1.02 * least, "{one} ms, at least {least}");
        }
    }
    let (separate, count) = time(&[("traffic.0.connection_per_message", "true")]);
    assert!(separate < least && count.is_none(), "{separate} ms");
    let (four, count) = time(&[("traffic.0.qps_per_connection", "4")]);
    assert!(four < least && count == Some(4), "{four} ms");
}

/// No collective completes faster than the ports on the paths of its connections allow: for 1000 random fabrics and
/// collectives, the check "collectives" finds no time below its bound, and many close to it.
#[test]
fn random_collectives_take_as_long_as_their_ports_need() {
    let mut random = Stream::new(8, 0, 0);
    let mut any = |words: &[&'static str]| words[random.below(words.len() as u64) as usize];
    let (mut judged, mut near) = (0, 0);
    for number in 0..1000 {
        let fabric = any(&[
            "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4",
            "kind = \"leaf-spine\"\nleaves = 4\nspines = 1\nhosts_per_leaf = 2",
            "kind = \"single-switch\"\nhosts = 8",
            "kind = \"fat-tree\"\nk = 4",
        ]);
        let (delay, rate) = (any(&["100ns", "1us", "5us"]), any(&["10Gbps", "100Gbps"]));
        let operation = any(&["all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all"]);
        let algorithm = if operation == "all-reduce" { any(&["", "algorithm = \"ring\"\n"]) } else { "" };
        let hosts = any(&[
            "hosts = [\"H1\", \"H2\"]",
            "hosts = [\"H1\", \"H3\", \"H6\"]",
            "hosts = [\"H8\", \"H2\", \"H5\", \"H1\"]",
            "",
        ]);
        let size = any(&["40KB", "100KB", "333333B"]);
        let transport = any(&["roce", "hpcc", "tcp", "ndp", "irn"]);
        let transport = match transport {
            "irn" => "{ kind = \"roce\", loss_recovery = \"selective\" }".to_owned(),
            _ => format!("{{ kind = \"{transport}\" }}"),
        };
        let control = any(&["\"none\"", "{ kind = \"pfc\", priorities = [0] }"]);
        let overload = if transport.contains("ndp") { "overload = \"trim\"\nqueue = \"8 packets\"" } else { "" };
        let control = if transport.contains("ndp") { "\"none\"" } else { control };
        let spread = any(&["flow", "flow", "path", "packet"]);
        let queue_pairs = any(&["1", "1", "3"]);
        let text = format!(
            r#"
duration = "20ms"
until = "flows done"
seed = {number}
[fabric]
{fabric}
link = {{ rate = "{rate}", delay = "{delay}" }}
[routing]
spread = "{spread}"
[switch]
flow_control = {control}
{overload}
[host]
transport = {transport}
[[traffic]]
kind = "collective"
operation = "{operation}"
{algorithm}
{hosts}
size = "{size}"
iterations = 2
qps_per_connection = {queue_pairs}
"#
        );
        let (finished, _) = alone::<Seen>(&text, &[], 1);
        let check = finished.summary.checks.iter().find(|check| check.name == "collectives").expect("a check");
        assert!(check.pass, "{text}{}", check.detail);
        // With go-back-N, reordering over several paths whose queues hold one frame may prevent completion: then the
        // check is not applicable.
        if !check.applicable {
            continue;
        }
        judged += 1;
        let (_, times) = check.detail.split_once("the closest ").expect("times");
        let (took, least) = times.split_once(", lower bound ").expect("times");
        let [took, least]: [Time; 2] = [took, least].map(|time| time.parse().expect("a time"));
        near += u32::from(took < least * 2);
    }
    assert!(judged > 900 && near > 300, "{judged} are through, {near} within twice their bound");
}

/// A message of 8 MB, or the same bytes in `chunks` messages, shares its bottleneck with a bulk flow.
const BROADCAST: &str = r#"
duration = "40ms"
[fabric]
kind = "dumbbell"
left = 2
right = 2
link = { rate = "10Gbps", delay = "2us", edge = { rate = "10Gbps" } }
[switch]
queue = "400KB"
marking = { kind = "ecn", k_min = "65KB" }
[host]
transport = "dcqcn"
[[traffic]]
kind = "collective"
operation = "broadcast"
hosts = ["H1", "H3"]
size = "8000000B"
[[traffic]]
kind = "pairs"
pairs = [["H2", "H4"]]
size = "endless"
[record]
control = { every = "20us" }
"#;

// [CON2]
/// Messages without gaps between them behave like one message of their total length: window, alpha and rate are equal.
#[test]
fn messages_without_a_gap_equal_one_long_message() {
    for kind in ["dcqcn", "hpcc", "swift", "timely", "roce", "dctcp-rate", "tcp", "dctcp"] {
        let transport = match kind {
            // These payload sizes divide the message size, so that the last segment of a message is a full segment.
            "timely" => "{ kind = \"timely\", payload = \"1000B\", segment = \"50KB\" }".to_owned(),
            "tcp" | "dctcp" => format!("{{ kind = \"{kind}\", mss = \"1000B\", delayed_ack = false }}"),
            _ => format!("{{ kind = \"{kind}\", payload = \"1000B\" }}"),
        };
        let trace = |chunks: &str| {
            let lossless = "buffer = \"4MB\"\nflow_control = { kind = \"pfc\", priorities = [3] }";
            let text = match kind {
                "timely" | "roce" => BROADCAST.replace("queue = \"400KB\"", lossless).replace("\"40ms\"", "\"400ms\""),
                _ => BROADCAST.to_owned(),
            };
            let set = [
                ("host.transport", transport.as_str()),
                ("traffic.0.chunks", chunks),
                ("traffic.0.chunks_in_flight", "1000"),
            ];
            let (finished, seen) = alone::<Seen>(&text, &set, 1);
            let mut rows: Vec<&FlowRecord> = seen.flows.iter().filter(|row| row.traffic == 0).collect();
            rows.sort_by_key(|row| row.flow);
            assert!(rows.iter().all(|row| row.start_ps == rows[0].start_ps), "{kind}: all could start at once");
            assert!(rows.is_sorted_by(|a, b| a.delivered_ps <= b.delivered_ps), "{kind}: in order");
            let own = seen.controls.into_iter().filter(|it| it.traffic == 0);
            let own = own.map(|it| (it.at, it.rate_bps, it.window_bytes, it.alpha)).collect::<Vec<_>>();
            (finished.summary.collectives[0].time_ns.expect(kind).mean, own)
        };
        let (one, many) = (trace("1"), trace("16"));
        let round_trip_ns = 20_000.0 + 400_000.0 * 0.8;
        assert!((one.0 - many.0).abs() < round_trip_ns, "{kind}: {} {}", one.0, many.0);
        let differ = one.1.iter().zip(&many.1).filter(|(one, many)| one != many).count();
        assert!(differ == 0, "{kind}: {differ} of {}", one.1.len());
        assert!(one.1.len() > 100, "{kind}");
    }
}
