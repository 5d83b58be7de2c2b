//! Use of the library in another program: no child process, no terminal, several concurrent runs.

use lab::sweep::{Plan, Progress, RunOutcome, Sweep, SweepFolder};
use lab::{Comparison, LabError, Override, PlanError, Run, RunOptions, StopFlag, metrics, vary};
use model::{NullWatcher, Watcher};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use units::Time;

const SCENARIO: &str = r#"
duration = "200us"
[fabric]
kind = "single-switch"
hosts = 4
link = { rate = "100Gbps", delay = "500ns" }
[[traffic]]
kind = "incast"
fan_in = 3
size = "100KB"
"#;

fn set(key: &str, value: &str) -> Override {
    Override { key: key.to_owned(), value: value.to_owned() }
}

/// Creates an empty folder with the scenario for a test.
fn bench(name: &str) -> (PathBuf, PathBuf) {
    let folder = std::env::temp_dir().join(format!("tidegate-lab-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let scenario = folder.join("scenario.toml");
    std::fs::write(&scenario, SCENARIO).unwrap();
    (folder, scenario)
}

/// A watcher that requests a stop at the first progress report.
struct Ends<'a>(&'a StopFlag);

impl Watcher for Ends<'_> {
    fn progress(&mut self, _now: Time, _hops: u64) -> bool {
        self.0.request();
        true
    }
}

#[test]
fn a_stop_ends_its_own_run_and_no_other() {
    let (one, other) = (StopFlag::default(), StopFlag::default());
    let run = |stop: &StopFlag| Run::parse(SCENARIO, "bench.toml", &[set("duration", "20ms")], None, stop).unwrap();
    let ended = run(&one).produce(None, &mut Ends(&one), RunOptions::default(), &one).unwrap();
    assert!(ended.summary.partial && ended.summary.simulated_ps < Time::from_ms(20).as_ps());
    let whole = run(&other).produce(None, &mut Ends(&one), RunOptions::default(), &other).unwrap();
    assert!(!whole.summary.partial, "the flag of another run was set, and its watcher went on");
    assert!(one.unfinished_folders().is_empty() && !one.is_blocked());
}

#[test]
fn the_same_run_is_the_same_with_files_and_in_memory_but_for_its_hash() {
    let (folder, scenario) = bench("files");
    let stop = StopFlag::default();
    let run = || Run::read(&scenario, &[], Some(3), &stop).unwrap();
    let out = lab::folder(&folder.join("out")).unwrap();
    let mut filed = run().produce(Some(out), &mut NullWatcher, RunOptions::default(), &stop).unwrap();
    let mut bare = run().produce(None, &mut NullWatcher, RunOptions::default(), &stop).unwrap();
    assert_eq!(filed.folder.as_deref(), Some(folder.join("out").as_path()));
    assert_eq!(filed.summary.results_hash.len(), 64);
    (filed.summary.results_hash, bare.summary.results_hash) = (String::new(), String::new());
    assert_eq!(filed.summary, bare.summary);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn errors_are_typed() {
    let (folder, scenario) = bench("errors");
    let stop = StopFlag::default();
    let read = |path: &Path, set: &[Override]| Run::read(path, set, None, &stop).unwrap_err();
    assert!(matches!(read(&folder, &[]), LabError::NotAScenario { kind: lab::PathKind::Folder, .. }));
    let LabError::Scenario { errors, .. } = read(&scenario, &[set("fabric.hosts", "many")]) else { panic!() };
    assert_eq!(errors.errors[0].key, "fabric.hosts");
    let twice = ["fabric.hosts=4,5", "fabric.hosts=6"].map(|text| vary::parse_vary(text).unwrap());
    let compared = Comparison::of(&scenario.as_path().into(), &[], &twice, &[], &stop).unwrap_err();
    assert!(matches!(compared, LabError::Plan(PlanError::VariedTwice { values, .. }) if values == ["4", "5", "6"]));
    let unknown = metrics::chosen(&["speed".to_owned()], &[]).unwrap_err();
    assert!(matches!(unknown, PlanError::Metric { name, known } if name == "speed" && known.len() > 20));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_comparison_sets_values_side_by_side() {
    let (folder, scenario) = bench("compare");
    let stop = StopFlag::default();
    let varied = [vary::parse_vary("traffic.0.fan_in=1,3").unwrap()];
    let comparison = Comparison::of(&scenario.as_path().into(), &[], &varied, &[1, 2], &stop).unwrap();
    let ran = Mutex::new(0);
    let (rows, stopped) = comparison.run(None, Some(2), &stop, &|| *ran.lock().unwrap() += 1).unwrap();
    assert_eq!((rows.len(), stopped, ran.into_inner().unwrap()), (4, false, 4));
    let completed = metrics::chosen(&["completed".to_owned()], &[]).unwrap();
    let counts: Vec<Option<f64>> = rows.iter().map(|row| row.value(&completed[0])).collect();
    assert_eq!(counts, [1.0, 1.0, 3.0, 3.0].map(Some));
    assert_eq!(comparison.json(&rows, &completed)["groups"][1]["metrics"]["completed"]["mean"], 3.0);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_sweep_goes_on_where_it_was_stopped() {
    let (folder, scenario) = bench("sweep");
    let varied = [vary::parse_vary("traffic.0.fan_in=1,2,3").unwrap()];
    let plan = Plan::of(&scenario, &[], &varied, &[]).unwrap();
    let out = folder.join("out");
    let sweep = |stop: &StopFlag, resume: bool, report_progress: &(dyn Fn(Progress<'_>) + Sync)| {
        let points = plan.points(Some(1), stop).unwrap();
        let store = SweepFolder::open(&out, resume, None, &plan.manifest()).unwrap();
        let sweep = Sweep { plan: &plan, points: &points, store: &store, shard: None, jobs: Some(1) };
        let outcomes = sweep.run(stop, report_progress);
        sweep.write_table(&out, &outcomes).unwrap();
        outcomes
    };
    let stop = StopFlag::default();
    let outcomes = sweep(&stop, false, &|progress| {
        if matches!(progress, Progress::Ran { .. }) {
            stop.request();
        }
    });
    let complete = |outcomes: &[RunOutcome], was: bool| {
        outcomes.iter().filter(|outcome| matches!(outcome, RunOutcome::Complete { found, .. } if *found == was)).count()
    };
    assert_eq!((complete(&outcomes, false), complete(&outcomes, true)), (1, 0));
    let open = Mutex::new(0);
    let outcomes = sweep(&StopFlag::default(), true, &|progress| {
        if let Progress::Found { open: left, .. } = progress {
            *open.lock().unwrap() = left;
        }
    });
    assert_eq!((complete(&outcomes, false), complete(&outcomes, true), open.into_inner().unwrap()), (2, 1, 2));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Every combination of values in the committed sweep `league.toml` is a valid scenario, and no two are equal.
#[test]
fn the_league_can_be_run() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/league/league.toml");
    let stop = StopFlag::default();
    // The RTT does not affect validity: one value suffices.
    let only = |text: &str| vary::parse_vary(text).unwrap();
    let plan = Plan::of(&file, &[], &[only("round_trip=\"50 us\"")], &[1]).unwrap();
    assert_eq!(plan.points(None, &stop).unwrap().len(), 24 * 6);
    let wrong = Plan::of(&file, &[], &[only("control=HPPC")], &[]).unwrap_err();
    assert!(
        matches!(wrong, LabError::Plan(PlanError::NoSuchValue { known, .. }) if known.contains(&"HPCC".to_owned()))
    );
    let twice = Plan::of(&file, &[], &[only("fabric.link.delay=1us,2us")], &[]).unwrap_err();
    assert!(matches!(twice, LabError::Plan(PlanError::VariedTwice { .. })), "{twice:?}");
}
