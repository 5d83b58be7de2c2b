use super::cells::tests::unpacked;
use super::fabric::tests::rows;
use super::*;
use record::table::{Column, ColumnType, TableWriter, Value as Cell};
use record::trace::{PORTS_FILE, PortTable};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A temporary folder, which is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    /// Creates the folder with the port table of two hosts at a switch: port indices 0 and 1 are ports of the hosts, 2
    /// and 3 ports of the switch.
    fn new(name: &str) -> Scratch {
        let scratch = Scratch(std::env::temp_dir().join(format!("tidegate-replay-{name}-{}", std::process::id())));
        std::fs::create_dir_all(&scratch.0).unwrap();
        let mut table = PortTable::create(&scratch.0.join(PORTS_FILE), &Default::default()).unwrap();
        rows(2, &[(0, 2), (1, 2)]).iter().for_each(|row| table.push(row).unwrap());
        table.close().unwrap();
        scratch
    }

    fn links(&self, rows: &[(u64, u64, u64, u64, f64)]) {
        let mut columns =
            ["time_ps", "node", "port", "tx_bytes"].map(|name| Column::new(name, ColumnType::U64)).to_vec();
        columns.push(Column::new("utilisation", ColumnType::F64));
        let mut table = TableWriter::create(&self.0.join("links.parquet"), &columns).unwrap();
        for &(time, node, port, bytes, share) in rows {
            table.push(&[time.into(), node.into(), port.into(), bytes.into(), share.into()]).unwrap();
        }
        table.close().unwrap();
    }

    fn queues(&self, rows: &[(u64, u64, u64, u64, u64, bool)]) {
        let names = ["time_ps", "node", "port", "class", "queue_bytes"];
        let mut columns = names.map(|name| Column::new(name, ColumnType::U64)).to_vec();
        columns.push(Column::new("paused", ColumnType::Bool));
        let mut table = TableWriter::create(&self.0.join("queues.parquet"), &columns).unwrap();
        for &(time, node, port, class, bytes, paused) in rows {
            table.push(&[time.into(), node.into(), port.into(), class.into(), bytes.into(), paused.into()]).unwrap();
        }
        table.close().unwrap();
    }

    fn replay(&self, end_ps: u64) -> Replay {
        read_replay(&self.0, end_ps).unwrap().expect("ports")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn parts(replay: &Replay, factor: u32) -> &Parts {
    &replay.sizes.iter().find(|size| size.0 == factor).expect("a size").1
}

/// Decodes a part as the page does; returns the values by port or node: in thousandths, bytes or counts.
fn shown(replay: &Replay, part: usize, factor: u32) -> BTreeMap<usize, Vec<u64>> {
    let (unit, bytes) = parts(replay, factor)[part].clone().expect("recorded");
    let mut found = unpacked(&bytes, replay.grid.coarser(factor).frames());
    found.values_mut().flatten().for_each(|value| *value *= unit);
    found
}

const US: u64 = 1_000_000;

#[test]
fn frames_are_the_rows_of_the_tables() {
    let scratch = Scratch::new("rows");
    // Node 0 sends at full rate from 0 to 1 us: 100 Gbit/s x 1 us = 12,500 B.
    scratch.links(&[(US, 0, 0, 12_500, 1.0), (2 * US, 2, 1, 3_125, 0.25), (4 * US, 0, 0, 12, 0.00096)]);
    scratch.queues(&[(US, 2, 0, 3, 700, false), (US, 2, 0, 4, 50, true), (3 * US, 2, 1, 3, 0, true)]);
    let replay = scratch.replay(5 * US);
    assert_eq!((replay.sample_intervals, replay.grid.frames()), ([Some(US), Some(US)], 5));
    let links = shown(&replay, 0, 1);
    assert_eq!(links, BTreeMap::from([(0, vec![1000, 0, 0, 1, 0]), (3, vec![0, 250, 0, 0, 0])]));
    let queues = shown(&replay, 1, 1);
    assert_eq!(queues, BTreeMap::from([(2, vec![750, 0, 0, 0, 0]), (3, vec![0; 5])]), "the classes of a port together");
    // There is no `pfc.txt`: the paused times are taken from the queue samples.
    assert!(replay.pauses_sampled);
    let paused = shown(&replay, 2, 1);
    assert_eq!(paused, BTreeMap::from([(2, vec![1000, 0, 0, 0, 0]), (3, vec![0, 0, 1000, 0, 0])]));
}

#[test]
fn the_sampling_interval_is_derived_from_bytes_if_rows_are_few() {
    let scratch = Scratch::new("few");
    // One row: in the sampling interval of 10 us that ended at 40 us, the port sent 62,500 B, at utilisation 0.5.
    scratch.links(&[(40 * US, 0, 0, 62_500, 0.5)]);
    let replay = scratch.replay(100 * US);
    assert_eq!((replay.sample_intervals, replay.grid.frames()), ([Some(10 * US), None], 10));
    assert_eq!(shown(&replay, 0, 1)[&0], [0, 0, 0, 500, 0, 0, 0, 0, 0, 0]);
    assert!(parts(&replay, 1)[1].is_none() && parts(&replay, 1)[2].is_none(), "queues and pauses were not recorded");
    let page = replay.packed(1000);
    assert!(page["queues"].is_null() && page["pauses"].is_null() && page["events"].is_null(), "{page}");
    assert_eq!((&page["sample_intervals_ps"][0], &page["frames"]), (&json!(10 * US), &json!(10)));
}

#[test]
fn a_series_without_rows_was_recorded_all_the_same() {
    let scratch = Scratch::new("empty");
    scratch.links(&[]);
    scratch.queues(&[]);
    let replay = scratch.replay(5 * US);
    assert_eq!(replay.grid.frames(), 1000);
    assert!(shown(&replay, 0, 1).is_empty() && shown(&replay, 1, 1).is_empty());
}

#[test]
fn pauses_last_until_they_are_taken_back_or_expire() {
    let scratch = Scratch::new("pauses");
    // Files count ports from 1: port 1 of a file is port 0 of the fabric. The second pause has no resume: it expires
    // after 65,535 x 512 bit / 100 Gbit/s = 335.5392 us.
    let text = "1000 0 0 1 1\n2000 0 0 1 1\n4000 0 0 1 0\n5000 0 0 1 0\n100000 2 1 2 1\nnot a line\n8000 77 1 1 1\n";
    std::fs::write(scratch.0.join("pfc.txt"), text).unwrap();
    let replay = scratch.replay(1000 * US);
    assert!(!replay.pauses_sampled);
    let paused = shown(&replay, 2, 1);
    let total = |port: usize| paused[&port].iter().sum::<u64>();
    assert_eq!((paused.len(), total(0), &paused[&0][..6]), (2, 3000, &[0, 1000, 1000, 1000, 0, 0][..]));
    assert_eq!((total(3), paused[&3][99], paused[&3][100], paused[&3][435]), (335_539, 0, 1000, 539));
    // Pause at 0, renewed at 300 us, before it expires at 335.539 us; it expires at 300 + 335.539 us, before the
    // resume.
    std::fs::write(scratch.0.join("pfc.txt"), "0 0 0 1 1\n300000 0 0 1 1\n900000 0 0 1 0\n").unwrap();
    let paused = shown(&scratch.replay(1000 * US), 2, 1);
    assert_eq!(paused[&0].iter().sum::<u64>(), 635_539);
}

#[test]
fn traced_events_count_at_their_node() {
    let scratch = Scratch::new("events");
    let number = |name: &str| Column::new(name, ColumnType::U64).optional();
    let text = |name: &str| Column::new(name, ColumnType::Text).optional();
    let columns = [number("time_ps"), number("node"), text("event"), number("flow"), number("port"), text("kind")];
    let mut table = TableWriter::create(&scratch.0.join(TRACE_FILE), &columns).unwrap();
    let none = Cell::Null;
    let rows = [
        [1_u64.into(), 2_u64.into(), Cell::Text("dropped"), none, none, none],
        [1_u64.into(), 2_u64.into(), Cell::Text("dropped"), none, none, none],
        [2_u64.into(), 2_u64.into(), Cell::Text("queued"), 5_u64.into(), 0_u64.into(), Cell::Text("data")],
        [3_u64.into(), 0_u64.into(), Cell::Text("started"), 5_u64.into(), 0_u64.into(), Cell::Text("data")],
        [4_u64.into(), 2_u64.into(), Cell::Text("started"), 5_u64.into(), 1_u64.into(), Cell::Text("data")],
        [4_u64.into(), 2_u64.into(), Cell::Text("started"), 5_u64.into(), 0_u64.into(), Cell::Text("ack")],
        [7_u64.into(), 1_u64.into(), Cell::Text("trimmed"), none, none, none],
        [8_u64.into(), 9_u64.into(), Cell::Text("dropped"), none, none, none],
    ];
    for row in &rows {
        table.push(row).unwrap();
    }
    table.close().unwrap();
    let replay = scratch.replay(10);
    assert_eq!(shown(&replay, 3, 1), BTreeMap::from([(2, vec![2, 0, 0, 0, 0, 0, 0, 0, 0, 0])]));
    assert_eq!(shown(&replay, 4, 1)[&1][6], 1);
    assert!(shown(&replay, 5, 1).is_empty());
    let page = replay.packed(1000);
    assert_eq!(page["events"][1][0], "trimmed");
    // The path of flow 5 consists of the egress ports of its data packets: the acknowledgement through port 2 is
    // ignored.
    assert_eq!(page["paths"], json!({ "5": [0, 3] }));
    assert_eq!(traced_flows(Some(&replay)).collect::<Vec<_>>(), [5]);
}

#[test]
fn what_is_too_much_for_a_page_has_longer_frames() {
    let scratch = Scratch::new("much");
    let share = |at: u64| (at * 7919 % 1000) as f64 / 1000.0;
    let row = |at: u64| (at * US, 0, 0, (12_500.0 * share(at)) as u64, share(at));
    scratch.links(&(1..=5000).map(row).collect::<Vec<_>>());
    let replay = scratch.replay(5000 * US);
    assert_eq!((replay.grid.frames(), replay.grid.step_ps), (1667, 3 * US), "at most 2000, of whole sample_intervals");
    let mean = |frame: u64| (1..=3).map(|at| share(3 * frame + at)).sum::<f64>() * 1000.0 / 3.0;
    let links = shown(&replay, 0, 1);
    for frame in [0, 1, 777, 1665] {
        assert!((links[&0][frame as usize] as f64 - mean(frame)).abs() <= 0.51, "frame {frame}");
    }
    let long = (1..=24).map(|at| share(240 + at)).sum::<f64>() * 1000.0 / 24.0;
    assert!((shown(&replay, 0, 8)[&0][10] as f64 - long).abs() <= 0.51, "eight frames as one: {long}");
    let page = replay.packed(1500);
    assert_eq!((&page["frames"], &page["step_ps"]), (&json!(417), &json!(12 * US)));
    assert!(page["links"]["data"].as_str().unwrap().len() < 2000);
    assert!(replay.packed(0)["frames"].as_u64().unwrap() > 30, "never nothing");
}

#[test]
fn a_run_without_ports_has_no_replay() {
    let scratch = Scratch::new("none");
    std::fs::remove_file(scratch.0.join(PORTS_FILE)).unwrap();
    assert_eq!(read_replay(&scratch.0, US).unwrap(), None);
}
