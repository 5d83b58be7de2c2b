//! What checks conclude from runs in which something went wrong: losses of lossless classes for any cause, and buffers
//! that frames of a switch's own enter.

use lab::{Finished, Override, Run, Stop, Way};
use model::{Ranks, Unwatched, in_one_process};
use record::summary::{Check, Summary};
use std::sync::Arc;

const LEAF_SPINE: &str = r#"
[fabric]
kind = "leaf-spine"
leaves = 2
spines = 1
hosts_per_leaf = 4
link = { rate = "100Gbps", delay = "1us" }
"#;

/// The card of H1 pauses its switch for ever, and watchdogs drop what waits for it.
const WATCHDOG_DROPS: &str = r#"
[switch]
buffer = "4MB"
flow_control = { kind = "pfc", priorities = [3], xoff = "5KB" }
watchdog = { detect = "20us", restore = "20us" }
[host]
pause_storm = { host = "H1", at = "10us" }
[[traffic]]
kind = "incast"
receiver = "H1"
fan_in = 6
size = "300KB"
"#;

/// The only link between two halves fails.
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
disobedient = ["H2", "H3"]
[[traffic]]
kind = "incast"
receiver = "H1"
fan_in = 3
size = "2MB"
"#;

/// Switches notify sources through ports whose outputs decide whom to stop.
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

fn read(text: &str, set: &[(&str, &str)]) -> Run {
    let set: Vec<Override> =
        set.iter().map(|&(key, value)| Override { key: key.to_owned(), value: value.to_owned() }).collect();
    Run::parse(text, "case.toml", &set, None, &Stop::default()).unwrap()
}

fn finish(run: Run) -> Finished {
    run.produce(None, &mut Unwatched, Way::default(), &Stop::default()).unwrap()
}

/// The summary of `text`, which is the same over two ranks.
fn run(text: &str, set: &[(&str, &str)]) -> Summary {
    let alone = finish(read(text, set)).summary;
    let of_rank = |ranks: Arc<dyn Ranks>| {
        let mut run = read(text, set);
        run.over(ranks);
        finish(run).summary
    };
    let ranks = std::thread::scope(|scope| {
        let of_rank = &of_rank;
        let ranks: Vec<_> = in_one_process(2).into_iter().map(|ranks| scope.spawn(move || of_rank(ranks))).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).next().unwrap()
    });
    assert_eq!(alone, ranks);
    alone
}

fn check<'a>(summary: &'a Summary, name: &str) -> &'a Check {
    summary.checks.iter().find(|check| check.name == name).unwrap()
}

/// By cause, what class 3 lost.
fn lost(summary: &Summary) -> Vec<(&str, u64)> {
    let losses = summary.lossless_losses.iter();
    losses.inspect(|loss| assert!(loss.class == 3 && loss.bytes > 0)).map(|loss| (&*loss.cause, loss.packets)).collect()
}

#[test]
fn frames_that_a_watchdog_drops_are_lost_frames_of_a_lossless_class() {
    let summary = run(&["duration = \"2ms\"", LEAF_SPINE, WATCHDOG_DROPS].concat(), &[]);
    let lossless = check(&summary, "lossless");
    assert_eq!((lossless.pass, lost(&summary)), (true, vec![("pause storm", 1_662)]));
    let expected = "none for want of room; 1662 of lossless classes lost otherwise: pause storm 1662 (class 3)";
    assert_eq!(lossless.detail, expected);
    let warning = "watchdogs found 2 pause storms and dropped 1662 frames of lossless classes that waited in them";
    assert!(summary.warnings.iter().any(|it| it == warning), "{:?}", summary.warnings);
}

#[test]
fn frames_that_a_failed_link_takes_are_lost_frames_of_a_lossless_class() {
    let summary = run(&["duration = \"1ms\"", LEAF_SPINE, FAILED_LINK].concat(), &[]);
    let lossless = check(&summary, "lossless");
    assert_eq!((lossless.pass, lost(&summary)), (true, vec![("link down", 24), ("no route", 1_933)]));
    let expected = "none for want of room; 1957 of lossless classes lost otherwise: link down 24 (class 3), no route \
                    1933 (class 3)";
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
    let expected = "none for want of room; 3033 of lossless classes lost otherwise: nonconforming 3033 (class 3)";
    assert_eq!(lossless.detail, expected);
    let warning = "3033 frames of lossless classes were lost as nonconforming";
    assert!(summary.warnings.iter().any(|it| it.starts_with(warning)), "{:?}", summary.warnings);
}

/// Without losses the sentence and the key are as ever.
#[test]
fn a_run_without_losses_is_lossless() {
    let summary = run(&["duration = \"1ms\"", LEAF_SPINE, FAILED_LINK].concat(), &[("fail", "[]")]);
    assert_eq!(check(&summary, "lossless").detail, "no lossless frame dropped");
    assert!(summary.lossless_losses.is_empty() && !summary.to_json().contains("lossless_losses"));
}

/// Notifications took places of a port that was full: 22 frames where 20 fit. A failure names the node.
#[test]
fn notifications_of_switches_ask_for_room_like_any_frame() {
    for kind in ["destination", "florax", "pause-at-output"] {
        let summary = run(NOTIFICATIONS, &[("switch.flow_control.kind", kind)]);
        let buffer = check(&summary, "buffer");
        assert!(buffer.pass && summary.packets.closed, "{kind}: {}", buffer.detail);
        assert!(check(&summary, "conservation").pass && check(&summary, "little's law").pass, "{kind}");
    }
}
