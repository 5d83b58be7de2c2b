//! Results of flows at the end of a run: flows that were delivered but not acknowledged, one row per flow, and
//! acknowledgements after completion. Each scenario runs on one thread, on two threads, and over two ranks.

use crate::common::{alone, over_ranks, read};
use lab::{FinishedRun, RunOptions, StopFlag};
use model::Watcher;
use record::flows::FlowRecord;
use record::trace::{PacketKind, TraceEvent, TraceRow};
use units::Time;

/// The last byte of flow 2 is delivered during the run. Its acknowledgement waits at the switch behind frames of flow
/// 1.
const DELIVERED_BUT_NOT_ACKNOWLEDGED: &str = r#"
duration = "100us"
[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "10Gbps", delay = "1us", host = { rate = "1Gbps" } }
[switch]
queue = "10000 packets"
[[traffic]]
kind = "pairs"
pairs = [["H3", "H1"], ["H2", "H1"]]
size = "60046B"
transport = { kind = "datagram", frame = "1000B", rate = "1Gbps" }
[[traffic]]
kind = "pairs"
pairs = [["H1", "H2"]]
start = "60us"
size = "1000B"
"#;

/// Five flows of one frame each share the access link of H1. The run ends when two of the frames have been delivered.
const ONE_FRAME_EACH: &str = r#"
duration = "30us"
[fabric]
kind = "single-switch"
hosts = 2
link = { rate = "1Gbps", delay = "1us" }
[[traffic]]
kind = "pairs"
pairs = [["H1", "H2"], ["H1", "H2"], ["H1", "H2"], ["H1", "H2"], ["H1", "H2"]]
size = "954B"
transport = { kind = "datagram", frame = "1000B" }
[check]
deadlock = false
"#;

/// The link fails and drops the only acknowledgement of ten packets; it is repaired before the retransmission timeout.
const LOST_LAST_ACKNOWLEDGEMENT: &str = r#"
duration = "300us"
[fabric]
kind = "single-switch"
hosts = 2
link = { rate = "10Gbps", delay = "1us" }
[[fail]]
link = ["H1", "S1"]
at = "10us"
until = "20us"
[[traffic]]
kind = "pairs"
pairs = [["H1", "H2"]]
size = "10000B"
transport = { kind = "roce", ack_every = 10, timeout = "100us" }
[record]
trace = {}
"#;

#[derive(Default)]
struct Seen {
    flows: Vec<FlowRecord>,
    trace: Vec<TraceRow>,
}

impl Watcher for Seen {
    fn flow(&mut self, flow: &FlowRecord) {
        self.flows.push(flow.clone());
    }
    fn trace(&mut self, row: &TraceRow) {
        self.trace.push(row.clone());
    }
}

/// Returns the run of `text` on one thread, after checking that it equals those on two threads and over two ranks.
fn run(text: &str, set: &[(&str, &str)]) -> (FinishedRun, Seen) {
    let one: (FinishedRun, Seen) = alone(text, set, 1);
    for other in [alone::<Seen>(text, set, 2), over_ranks(text, set)] {
        assert_eq!((&other.0.summary, &other.1.flows), (&one.0.summary, &one.1.flows));
    }
    one
}

#[test]
fn a_flow_is_complete_when_its_last_byte_has_arrived_though_the_run_ends_before_the_acknowledgement() {
    let (finished, seen) = run(DELIVERED_BUT_NOT_ACKNOWLEDGED, &[]);
    let row = seen.flows.iter().find(|row| row.flow == 2).unwrap();
    let delivered = Time::from_ps(row.delivered_ps.unwrap());
    assert!(delivered > Time::from_ns(79_110) && delivered < Time::from_ns(79_130), "{delivered}");
    assert!(row.acked_ps.is_none() && row.awaits_ack && row.slowdown().is_some());
    let flows = &finished.summary.flows;
    let completed = seen.flows.iter().filter(|row| row.delivered_ps.is_some()).count() as u64;
    assert_eq!((seen.flows.len(), flows.started, flows.completed, flows.unacknowledged), (3, 3, completed, 1));
    let entry = &flows.by_traffic[1];
    assert_eq!((entry.started, entry.completed, entry.completed_bytes), (1, 1, 1000));
    let fct = entry.fct_ns.as_ref().unwrap();
    assert_eq!((fct.count, fct.max), (1, row.fct_ps().unwrap() as f64 / 1e3));
    assert_eq!(flows.fct_ns.as_ref().unwrap().count, completed);
    // In a longer run, the row of the acknowledged flow has the same delivery time.
    let (whole, later) = run(DELIVERED_BUT_NOT_ACKNOWLEDGED, &[("duration", "\"10ms\"")]);
    let later = later.flows.iter().find(|row| row.flow == 2).unwrap();
    assert_eq!((later.delivered_ps, whole.summary.flows.unacknowledged), (row.delivered_ps, 0));
    assert!(later.acked_ps.is_some_and(|at| at > Time::from_us(100).as_ps()));
}

#[test]
fn fct_txt_has_no_line_of_a_flow_that_is_not_acknowledged() {
    let target = std::env::temp_dir().join(format!("tidegate-flow-ends-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&target);
    for (duration, lines) in [("\"100us\"", 0), ("\"10ms\"", 1)] {
        let run = read(DELIVERED_BUT_NOT_ACKNOWLEDGED, &[("duration", duration)], 1).unwrap();
        let folder = lab::folder(&target).unwrap();
        run.produce(Some(folder), &mut model::NullWatcher, RunOptions::default(), &StopFlag::default()).unwrap();
        let fct = std::fs::read_to_string(target.join("fct.txt")).unwrap();
        assert_eq!(fct.lines().filter(|line| line.contains(" 1000 60000 ")).count(), lines, "{fct}");
        let summary = std::fs::read_to_string(target.join("summary.json")).unwrap();
        assert_eq!(summary.contains("\"unacknowledged\": 1"), lines == 0);
    }
    std::fs::remove_dir_all(&target).unwrap();
}

#[test]
fn a_datagram_flow_has_one_row_though_its_sender_waits_for_its_turn() {
    let (finished, seen) = run(ONE_FRAME_EACH, &[]);
    let mut rows: Vec<(u64, bool)> = seen.flows.iter().map(|row| (row.flow, row.delivered_ps.is_some())).collect();
    rows.sort_unstable();
    assert_eq!(rows, [(0, true), (1, true), (2, false), (3, false), (4, false)]);
    assert_eq!((finished.summary.flows.started, finished.summary.flows.completed), (5, 2));
    let warnings = &finished.summary.warnings;
    assert!(warnings.iter().any(|warning| warning.starts_with("only 2 of 5 flows completed")), "{warnings:?}");
}

#[test]
fn the_first_duplicate_after_completion_is_answered_for_the_whole_flow_at_its_configured_length() {
    for (settings, length) in [("", 66), (", ack = \"90B\"", 90)] {
        let text = LOST_LAST_ACKNOWLEDGEMENT.replace("timeout = \"100us\"", &format!("timeout = \"100us\"{settings}"));
        let (finished, seen) = run(&text, &[]);
        let created = |row: &&TraceRow| matches!(row.event, TraceEvent::Created { .. });
        let acks: Vec<(u64, u16)> = seen
            .trace
            .iter()
            .filter(|row| row.at > Time::from_us(50))
            .filter(created)
            .filter_map(|row| row.packet.as_ref().filter(|packet| packet.kind == PacketKind::Ack))
            .map(|packet| (packet.seq, packet.size_bytes))
            .collect();
        assert!(!acks.is_empty() && acks.iter().all(|&ack| ack == (10_000, length)), "{settings}: {acks:?}");
        let row = &seen.flows[0];
        assert!(row.acked_ps.is_some() && row.timeouts == 1, "{row:?}");
        assert_eq!(finished.summary.flows.completed, 1);
    }
}
