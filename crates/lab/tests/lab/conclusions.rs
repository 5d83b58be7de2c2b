//! Verdicts of checks in faulty runs: frame losses of lossless classes by cause, buffer limits with frames sent by
//! switches, and stalled lossless flows.

use crate::common::{alone, over_ranks};
use model::Watcher;
use record::summary::{Check, Summary};

const LEAF_SPINE: &str = r#"
[fabric]
kind = "leaf-spine"
leaves = 2
spines = 1
hosts_per_leaf = 4
link = { rate = "100Gbps", delay = "1us" }
"#;

/// The NIC of H1 sends PAUSE to its switch permanently, and watchdogs drop the waiting frames.
const WATCHDOG_DROPS: &str = r#"
[switch]
buffer = "4MB"
flow_control = { kind = "pfc", priorities = [3], xoff = "5KB" }
watchdog = { detection_time = "20us", restoration_time = "20us" }
[host]
pause_storm = { host = "H1", at = "10us" }
[[traffic]]
kind = "incast"
receiver = "H1"
fan_in = 6
size = "300KB"
"#;

/// The only link between the two halves of the network fails.
const FAILED_LINK: &str = r#"
[[fail]]
link = ["L2", "S1"]
at = "10us"
[switch]
buffer = "4MB"
flow_control = { kind = "pfc", priorities = [3] }
[[traffic]]
kind = "pairs"
pairs = [["H1", "H5"], ["H2", "H6"]]
size = "1MB"
"#;

/// Two of three senders ignore XOFF.
const NONCONFORMING: &str = r#"
duration = "2ms"
[fabric]
kind = "single-switch"
hosts = 4
link = { rate = "10Gbps", delay = "1us" }
[switch]
queue = "100 packets"
flow_control = { kind = "florax" }
[host]
ignore_pause = ["H2", "H3"]
[[traffic]]
kind = "incast"
receiver = "H1"
fan_in = 3
size = "2MB"
"#;

/// Switches send notifications to sources through ports with output backpressure.
const NOTIFICATIONS: &str = r#"
duration = "60us"
seed = 727007736373
[fabric]
kind = "clos"
pods = 2
tors_per_pod = 2
leaves_per_pod = 2
spines = 2
hosts_per_tor = 2
link = { rate = "400Gbps", delay = "5us" }
[switch]
queue = "20 packets"
flow_control = { kind = "destination" }
marking = { kind = "congestion-point", set_point = "5KB", sample = "1500B", sample_min = "1B" }
[[traffic]]
kind = "stride"
stride = 3
size = "100KB"
"#;

/// A frame remarked as lossy waits in class 0, starved by strict priority. It is charged to the lossless account of its
/// ingress port, which stays paused and so blocks a flow to another output (head-of-line blocking).
const STARVED: &str = r#"
duration = "20ms"
[fabric]
kind = "file"
file = "tests/starved/fabric.json"
[switch]
buffer = "12MB"
flow_control = { kind = "pfc", priorities = [1], xoff = "24KB", xon = "3KB", reaction = "1us" }
tags = { kind = "tagger", rules = "tests/starved/rules.json" }
[[traffic]]
kind = "pairs"
label = "stray"
pairs = [["H1", "H3"]]
process = "constant"
frame = "1000B"
load = 0.2
class = 1
[[traffic]]
kind = "pairs"
label = "victim"
pairs = [["H1", "H4"]]
process = "constant"
frame = "1000B"
load = 0.3
class = 1
[[traffic]]
kind = "pairs"
label = "bulk"
pairs = [["H2", "H3"]]
process = "constant"
frame = "1000B"
load = 1.0
class = 5
start = "1ms"
[host]
transport = "datagram"
[check]
deadlock = { every = "5us" }
"#;

/// A watcher that ignores all records: only the summary is compared.
#[derive(Default)]
struct Nothing;

impl Watcher for Nothing {}

/// Returns the summary of `text`, after checking that it is equal on one thread, on two threads and over two ranks.
fn run(text: &str, set: &[(&str, &str)]) -> Summary {
    let one = alone::<Nothing>(text, set, 1).0.summary;
    for other in [alone::<Nothing>(text, set, 2), over_ranks(text, set)] {
        assert_eq!(other.0.summary, one);
    }
    one
}

fn check<'a>(summary: &'a Summary, name: &str) -> &'a Check {
    summary.checks.iter().find(|check| check.name == name).unwrap()
}

/// Returns the losses of class 3, by cause.
fn lost(summary: &Summary) -> Vec<(&str, u64)> {
    let losses = summary.lossless_losses.iter();
    losses.inspect(|loss| assert!(loss.class == 3 && loss.bytes > 0)).map(|loss| (&*loss.cause, loss.packets)).collect()
}

#[test]
fn frames_that_a_watchdog_drops_are_lost_frames_of_a_lossless_class() {
    let summary = run(&["duration = \"2ms\"", LEAF_SPINE, WATCHDOG_DROPS].concat(), &[]);
    let lossless = check(&summary, "lossless");
    assert_eq!((lossless.pass, lost(&summary)), (true, vec![("pause storm", 1_662)]));
    let expected = "no loss at a full buffer; 1662 of lossless classes lost for other causes: pause \
                    storm 1662 (class 3)";
    assert_eq!(lossless.detail, expected);
    let warning = "watchdogs found 2 pause storms and dropped 1662 frames of lossless classes that waited in them";
    assert!(summary.warnings.iter().any(|it| it == warning), "{:?}", summary.warnings);
}

#[test]
fn frames_that_a_failed_link_takes_are_lost_frames_of_a_lossless_class() {
    let summary = run(&["duration = \"1ms\"", LEAF_SPINE, FAILED_LINK].concat(), &[]);
    let lossless = check(&summary, "lossless");
    assert_eq!((lossless.pass, lost(&summary)), (true, vec![("link down", 24), ("no route", 1_933)]));
    let expected = "no loss at a full buffer; 1957 of lossless classes lost for other causes: link \
                    down 24 (class 3), no route 1933 (class 3)";
    assert_eq!(lossless.detail, expected);
    for warning in ["24 frames of lossless classes were lost with", "1933 frames of lossless classes were lost because"]
    {
        assert!(summary.warnings.iter().any(|it| it.starts_with(warning)), "{:?}", summary.warnings);
    }
}

#[test]
fn frames_of_hosts_that_ignore_xoff_are_lost_frames_of_a_lossless_class() {
    let summary = run(NONCONFORMING, &[]);
    let lossless = check(&summary, "lossless");
    assert_eq!((lossless.pass, lost(&summary)), (true, vec![("nonconforming", 3_033)]));
    let expected = "no loss at a full buffer; 3033 of lossless classes lost for other causes: \
                    nonconforming 3033 (class 3)";
    assert_eq!(lossless.detail, expected);
    let warning = "3033 frames of lossless classes were lost as nonconforming";
    assert!(summary.warnings.iter().any(|it| it.starts_with(warning)), "{:?}", summary.warnings);
}

/// Without losses, neither the text nor the JSON has a section about losses.
#[test]
fn a_run_without_losses_is_lossless() {
    let summary = run(&["duration = \"1ms\"", LEAF_SPINE, FAILED_LINK].concat(), &[("fail", "[]")]);
    assert_eq!(check(&summary, "lossless").detail, "no lossless frame dropped");
    assert!(summary.lossless_losses.is_empty() && !summary.to_json().contains("lossless_losses"));
}

/// Regression: notifications were admitted to a full port, which then held 22 frames at a limit of 20. A failed check
/// names the node.
#[test]
fn notifications_of_switches_ask_for_room_like_any_frame() {
    for kind in ["destination", "florax", "pause-at-output"] {
        let summary = run(NOTIFICATIONS, &[("switch.flow_control.kind", kind)]);
        let buffer = check(&summary, "buffer");
        assert!(buffer.pass && summary.packets.closed, "{kind}: {}", buffer.detail);
        assert!(check(&summary, "conservation").pass && check(&summary, "little's law").pass, "{kind}");
    }
}

/// Regression: H1 is paused at 1.03 ms and sends no further frame, but every check passed. Under round robin, class 0
/// is served and H1 resumes.
#[test]
fn a_lossless_flow_behind_a_starved_queue_is_a_stall() {
    let summary = run(STARVED, &[]);
    let red: Vec<&Check> = summary.checks.iter().filter(|check| !check.pass).collect();
    let [stall] = red[..] else { panic!("{:?}", summary.checks) };
    assert_eq!(stall.name, "stall");
    let parts: Vec<&str> = stall.detail.split("; ").collect();
    let [root, behind] = parts[..] else { panic!("{}", stall.detail) };
    assert!(root.starts_with("1 queue blocked: B port 2 class 0 (27000 B) since 1.0"), "{root}");
    assert!(root.ends_with("ms: higher classes occupy the link (strict priority)"), "{root}");
    let stopped: Vec<&str> = behind.strip_prefix("stopped by these: ").unwrap().split(", ").collect();
    assert_eq!(stopped.len(), 2, "{behind}");
    assert!(stopped[0].starts_with("A port 1 class 1 since 1.0"), "{behind}");
    assert!(stopped[1].starts_with("H1 port 0 class 1 since 1.0"), "{behind}");

    let fair = "{ kind = \"wrr\", weights = [1, 1, 1, 1, 1, 1, 1, 1] }";
    let summary = run(STARVED, &[("switch.scheduler", fair)]);
    assert!(summary.checks.iter().all(|check| check.pass), "{:?}", summary.checks);
}

/// Two senders ignore XOFF and keep the output queue full, so that the third sender never receives XON. FLORAX instead
/// drops their frames above the assigned rate.
#[test]
fn a_flow_that_hosts_who_ignore_xoff_keep_stopped_is_a_stall() {
    for kind in ["destination", "pause-at-output"] {
        let summary = run(NONCONFORMING, &[("switch.flow_control.kind", kind)]);
        let stall = check(&summary, "stall");
        assert!(
            !stall.pass && stall.detail.starts_with("1 queue blocked: H4 port 0 class 3 since "),
            "{kind}: {}",
            stall.detail
        );
        assert!(
            stall.detail.ends_with("us: frames of hosts that ignore XOFF fill the downstream output"),
            "{}",
            stall.detail
        );
        let all_obey = run(NONCONFORMING, &[("switch.flow_control.kind", kind), ("host.ignore_pause", "[]")]);
        assert!(check(&all_obey, "stall").pass, "{kind}");
    }
    assert!(check(&run(NONCONFORMING, &[]), "stall").pass);
}

/// Without a watchdog, the NIC blocks all frames to it permanently. With a watchdog, the waiting frames are dropped, so
/// that no flow stalls.
#[test]
fn a_host_that_never_ceases_to_pause_is_a_stall() {
    let text = ["duration = \"2ms\"", LEAF_SPINE, WATCHDOG_DROPS].concat();
    assert!(check(&run(&text, &[]), "stall").pass);
    let unwatched = text.replace("watchdog =", "#");
    let stall = check(&run(&unwatched, &[]), "stall").clone();
    assert!(!stall.pass, "{}", stall.detail);
    assert!(stall.detail.starts_with("1 queue blocked: L1 port 0 class 3 ("), "{}", stall.detail);
    let cause =
        " since 13.02304us: the host pauses it continuously; stopped by these: H3 port 0 class 3 since 4.628us, ";
    assert!(stall.detail.contains(cause), "{}", stall.detail);
    let over = unwatched.replace("at = \"10us\"", "at = \"10us\", until = \"1ms\"");
    assert!(check(&run(&over, &[]), "stall").pass);
}
