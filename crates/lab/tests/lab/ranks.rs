//! One simulation over several ranks gives the folder of one process, byte for byte, with every mechanism.
//!
//! ```text
//!   scenario --- one process ---------> folder A
//!            \-- rank 0, rank 1, ... -> folder B       A = B, except timing.json
//! ```
//!
//! The ranks are threads here, which exchange the bytes that MPI would carry.

use lab::{FinishedRun, LabError, Override, Run, RunOptions, StopFlag};
use model::{NullWatcher, Ranks, Watcher, in_one_process};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::Time;

/// Name of an example scenario, its duration in this test, and further overrides.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// All optional records.
const EVERYTHING: &[(&str, &str)] = &[
    ("record.queues", "{ every = \"20us\" }"),
    ("record.links", "{ every = \"30us\" }"),
    ("record.throughput", "{ every = \"50us\" }"),
    ("record.control", "{ every = \"70us\" }"),
    ("record.pauses", "true"),
    ("measure.reordering", "true"),
    ("measure.jitter", "true"),
    ("measure.queues", "{ every = \"7us\" }"),
];
const TRACE: (&str, &str) = ("record.trace", "{ until = \"60us\" }");
const NO_WARM_UP: (&str, &str) = ("measure.warm_up", "\"100us\"");

/// Examples with every mechanism that affects frames or views of the whole network.
const QUICK: &[Case] = &[
    // PFC, DCQCN, a trace of all events.
    ("incast-pfc", "300us", &[TRACE]),
    // Watchers or mechanisms that view several nodes at the same time.
    ("deadlock-ring", "1ms", &[]),
    ("credits", "300us", &[]),
    ("pause-storm", "1ms", &[]),
    ("link-failure", "500us", &[]),
    // Frames that are bounced, or trimmed and returned to the source.
    ("pabo-incast", "1ms", &[TRACE]),
    ("trim-shared-buffer", "300us", &[TRACE]),
    ("ndp-incast", "300us", &[TRACE]),
    // Frames with in-band telemetry.
    ("hpcc", "400us", &[TRACE]),
    ("hpcc-star", "400us", &[]),
    // Paused flows, ECN marks, notifications by switches.
    ("florax", "2ms", &[NO_WARM_UP, TRACE]),
    ("qcn", "1ms", &[NO_WARM_UP]),
    ("eccp", "1ms", &[NO_WARM_UP]),
    // Flows that start after flows of other hosts complete.
    ("collectives", "5ms", &[("until", "\"flows done\"")]),
    ("closed-loop", "300us", &[]),
    ("tcp-dumbbell", "20ms", &[("measure.warm_up", "\"2ms\"")]),
    // Gate control lists, frame preemption, cyclic queuing.
    ("tsn-gates", "1ms", &[]),
    ("tsn-preemption", "1ms", &[]),
    ("tsn-cyclic", "1ms", &[]),
    // A linear topology: the first and the last rank exchange no batches.
    ("parking-lot", "1ms", &[NO_WARM_UP]),
    ("leaf-spine", "800us", &[("measure.warm_up", "\"200us\""), ("measure.end", "\"600us\"")]),
];

/// The other examples.
const MORE: &[Case] = &[
    ("all-reduce", "1ms", &[TRACE]),
    ("dctcp-rate", "1ms", &[]),
    ("hetflow", "1ms", &[NO_WARM_UP]),
    ("hull", "1ms", &[NO_WARM_UP]),
    ("irn", "500us", &[]),
    ("partial-pfc", "500us", &[]),
    ("permutation", "500us", &[]),
    ("swift", "1ms", &[]),
    ("tcp-sack", "20ms", &[]),
    ("tcp-vegas", "20ms", &[("measure.warm_up", "\"2ms\"")]),
    ("timely", "1ms", &[NO_WARM_UP]),
    ("tsn-shaping", "1ms", &[]),
    ("web-search-dcqcn", "2500us", &[("measure.warm_up", "\"2100us\""), ("measure.end", "\"2400us\"")]),
    ("why-incast", "200us", &[TRACE]),
];

fn read(case: &Case, threads: usize) -> Run {
    let (name, duration, changes) = *case;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(format!("{name}.toml"));
    let duration = format!("\"{duration}\"");
    let set = |&(key, value): &(&str, &str)| Override { key: key.to_owned(), value: value.to_owned() };
    let all: Vec<Override> = [("duration", &*duration)].iter().chain(EVERYTHING).chain(changes).map(set).collect();
    let mut run = Run::read(&path, &all, None, &StopFlag::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    run.lowered.setup.threads = threads;
    run
}

/// Returns the files of a result, without machine-dependent data.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut bytes = std::fs::read(&path).unwrap();
        if name == "tidegate.sha256" {
            // The manifest lists the hash of every file, including `timing.json`, which depends on the machine.
            let text = String::from_utf8(bytes).unwrap();
            bytes = text.lines().filter(|line| !line.ends_with("timing.json")).collect::<String>().into_bytes();
        }
        (name, bytes)
    };
    entries.map(named).filter(|(name, _)| name != "timing.json").collect()
}

fn location(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("tidegate-ranks-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// Calls `each` for each of `count` ranks, and returns the results.
fn over<R: Send>(count: usize, each: impl Fn(Arc<dyn Ranks>) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let each = &each;
        let threads: Vec<_> = in_one_process(count).into_iter().map(|ranks| scope.spawn(|| each(ranks))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn over_ranks(count: usize, target: &Path, read: impl Fn() -> Run + Sync, seed: Option<u64>) -> FinishedRun {
    let each = |ranks: Arc<dyn Ranks>| {
        let folder = (ranks.rank() == 0).then(|| lab::folder(target).unwrap());
        let mut run = read();
        run.over(ranks);
        let mut begun = run.begin(folder, &StopFlag::default()).unwrap();
        // By default, the engine would run networks as small as these on one thread.
        seed.into_iter().for_each(|seed| begun.simulation().randomise_threads(seed));
        begun.run(&mut NullWatcher);
        begun.finish(&mut NullWatcher, RunOptions::default()).unwrap()
    };
    over(count, each).swap_remove(0)
}

fn hold_against_one_process(cases: &[Case], divisions: &[(usize, usize)]) {
    for case in cases {
        let target = location(case.0);
        let folder = lab::folder(&target).unwrap();
        let alone =
            read(case, 1).produce(Some(folder), &mut NullWatcher, RunOptions::default(), &StopFlag::default()).unwrap();
        let expected = files(&target);
        std::fs::remove_dir_all(&target).unwrap();
        assert!(alone.summary.packet_hops > 200, "{}: nothing happens in {} hops", case.0, alone.summary.packet_hops);
        for &(ranks, threads) in divisions {
            let seed = (threads > 1).then_some(ranks as u64);
            let found = over_ranks(ranks, &target, || read(case, threads), seed);
            let what = format!("{} on {ranks} ranks and {threads} threads", case.0);
            assert_eq!(found.timing.ranks.len(), ranks, "{what}");
            let here = files(&target);
            assert!(here.keys().eq(expected.keys()), "{what}: {:?}", here.keys());
            for (name, bytes) in &here {
                if *bytes != expected[name] {
                    let [ours, theirs] = [bytes, &expected[name]].map(|bytes| String::from_utf8_lossy(bytes));
                    let differ = ours.lines().zip(theirs.lines()).find(|(ours, theirs)| ours != theirs);
                    panic!("{what}: {name} is otherwise: {differ:?}");
                }
            }
            assert_eq!(found.summary.results_hash, alone.summary.results_hash, "{what}");
            std::fs::remove_dir_all(&target).unwrap();
        }
    }
}

#[test]
fn folders_of_ranks_are_those_of_one_process() {
    hold_against_one_process(QUICK, &[(2, 1), (3, 2)]);
}

/// All examples with all numbers of ranks and threads; takes minutes.
#[test]
#[ignore = "long: scripts/ranks.sh runs it"]
fn folders_of_ranks_are_those_of_one_process_in_every_way() {
    let divisions = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)];
    hold_against_one_process(QUICK, &divisions);
    hold_against_one_process(MORE, &divisions);
}

/// A watcher that ends the run after some calls.
struct Impatient(u32);

impl Watcher for Impatient {
    fn progress(&mut self, _: Time, _: u64) -> bool {
        self.0 -= 1;
        self.0 > 0
    }
}

const CASE: Case = ("incast-pfc", "300us", &[]);

#[test]
fn the_first_rank_ends_a_run_where_one_process_would() {
    let alone =
        read(&CASE, 1).produce(None, &mut Impatient(7), RunOptions::default(), &StopFlag::default()).unwrap().summary;
    assert!(alone.partial && alone.packet_hops > 0);
    let found = over(3, |ranks| {
        // The watchers of other ranks would end the run at once, but only that of the first rank is called.
        let mut watcher = Impatient(if ranks.rank() == 0 { 7 } else { 1 });
        let mut run = read(&CASE, 1);
        run.over(ranks);
        run.produce(None, &mut watcher, RunOptions::default(), &StopFlag::default()).unwrap().summary
    });
    assert_eq!(found[0], alone);
}

#[test]
fn a_stop_at_any_rank_ends_all_with_a_partial_result() {
    let target = location("stopped");
    let found = over(3, |ranks| {
        let stop = StopFlag::default();
        let folder = (ranks.rank() == 0).then(|| lab::folder(&target).unwrap());
        let mut run = read(&CASE, 1);
        if ranks.rank() == 2 {
            stop.request();
        }
        run.over(ranks);
        run.produce(folder, &mut NullWatcher, RunOptions::default(), &stop).unwrap().summary
    });
    assert!(found[0].partial && found[0].simulated_ps < 300_000_000 && found[0].passes(), "{:?}", found[0].checks);
    assert!(files(&target).contains_key("flows.parquet"));
    std::fs::remove_dir_all(&target).unwrap();
}

#[test]
fn differences_of_ranks_are_reported_once_and_leave_no_output() {
    let target = location("refused");
    let begun = |ranks: Arc<dyn Ranks>, read: &dyn Fn(usize) -> Run| {
        let folder = (ranks.rank() == 0).then(|| lab::folder(&target).unwrap());
        let mut run = read(ranks.rank());
        run.over(ranks);
        run.begin(folder, &StopFlag::default()).map(|_| ()).unwrap_err()
    };
    let others = |found: &[LabError]| found.iter().all(|error| matches!(error, LabError::OtherRank { rank: 0 }));
    let longer = ("incast-pfc", "301us", &[][..]);
    let found = over(3, |ranks| begun(ranks, &|rank| read(if rank == 2 { &longer } else { &CASE }, 1)));
    let said = found[0].to_string();
    assert!(said.starts_with("rank 2 has another run than rank 0: ") && said.contains("seed 1"), "{said}");
    assert!(said.contains(concat!("tidegate ", env!("CARGO_PKG_VERSION"), ", build ")), "{said}");
    assert!(others(&found[1..]), "{found:?}");
    // The network has nine nodes: six hosts and three switches.
    let found = over(10, |ranks| begun(ranks, &|_| read(&("parking-lot", "1ms", &[NO_WARM_UP]), 1)));
    assert!(found[0].to_string().contains("10 ranks are more than there are nodes: 9"), "{}", found[0]);
    assert!(others(&found[1..]), "{found:?}");
    assert!(!target.exists() && !target.with_extension("partial").exists());
}
