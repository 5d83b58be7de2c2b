//! A comparison of runs with unfinished flows must not declare an order that complete runs contradict.

use lab::{Comparison, Override, Source, Stop, metrics, vary};
use serde_json::Value;
use units::random::Stream;

const SCENARIO: &str = r#"
duration = "200ms"
until = "flows done"
[fabric]
kind = "single-switch"
hosts = 4
link = { rate = "10Gbps", delay = "1us" }
[switch]
buffer = "1MB"
flow_control = { kind = "pfc", priorities = [3] }
marking = { kind = "ecn", k_min = "10KB", k_max = "40KB", p_max = 0.2 }
[host]
transport = { kind = "dcqcn" }
[[traffic]]
kind = "poisson"
sizes = { uniform = ["2KB", "6KB"] }
load = 0.3
stop = "60us"
[[traffic]]
kind = "incast"
fan_in = 3
size = "40KB"
"#;

const CONTROLS: [&str; 4] = ["roce", "dcqcn", "hpcc", "timely"];
const PAIRS: usize = 200;
/// Metrics that are statistics of flows.
const OF_FLOWS: [&str; 4] = ["fct", "slowdown", "jain", "goodput"];

/// Returns the JSON of a comparison of two controls under two seeds.
fn compared(controls: [&str; 2], load: f64, duration_us: u64) -> Value {
    let source = Source::Text { text: SCENARIO.to_owned(), name: "pair.toml".to_owned() };
    let set = |key: &str, value: String| Override { key: key.to_owned(), value };
    let set = [set("traffic.0.load", load.to_string()), set("duration", format!("{duration_us}us"))];
    let vary = [vary::parse_vary(&format!("host.transport.kind={},{}", controls[0], controls[1])).unwrap()];
    let stop = Stop::default();
    let comparison = Comparison::of(&source, &set, &vary, &[1, 2], &stop).unwrap();
    let (rows, _) = comparison.run(None, Some(1), &stop, &|| ()).unwrap();
    let names: Vec<String> = OF_FLOWS.map(str::to_owned).into();
    let metrics = metrics::chosen(&names, &comparison.labels).unwrap();
    comparison.json(&rows, &metrics)
}

/// Returns, by metric, the sign of the second column's difference to the first, if the comparison declares one.
fn declared(value: &Value) -> Vec<(String, Option<bool>)> {
    let [first, second] = [0, 1].map(|at| value["groups"][at]["metrics"].as_object().unwrap().clone());
    let sign = |(name, of): (&String, &Value)| {
        let is_declared = of["within_noise"] == Value::Bool(false);
        let larger = of["mean"].as_f64().zip(first[name]["mean"].as_f64()).map(|(second, first)| second > first);
        (name.clone(), larger.filter(|_| is_declared))
    };
    second.iter().map(sign).collect()
}

#[test]
fn no_order_is_declared_that_complete_runs_contradict() {
    let mut stream = Stream::new(30, 0, 0);
    let (mut undecided, mut decided) = (0, 0);
    for pair in 0..PAIRS {
        let first = (stream.unit() * 4.0) as usize;
        let second = (first + 1 + (stream.unit() * 3.0) as usize) % 4;
        let (load, duration_us) = (0.1 + 0.6 * stream.unit(), 30 + (stream.unit() * 170.0) as u64);
        let controls = [CONTROLS[first], CONTROLS[second]];
        let cut = compared(controls, load, duration_us);
        let whole = compared(controls, load, 200_000);
        let metrics = whole["groups"][0]["metrics"].as_object().unwrap();
        assert!(metrics["fct_mean_ns"]["completed"] == metrics["fct_mean_ns"]["started"], "{controls:?}");
        for ((name, cut_sign), (_, whole_sign)) in declared(&cut).into_iter().zip(declared(&whole)) {
            let reported = &cut["groups"][1]["metrics"][&name];
            undecided += u32::from(reported["undecided"].is_string());
            decided += u32::from(cut_sign.is_some());
            let contradicts = cut_sign.zip(whole_sign).is_some_and(|(cut, whole)| cut != whole);
            assert!(!contradicts, "pair {pair}, {controls:?}, load {load}, {duration_us} us: {name}: {reported}");
        }
    }
    assert!(undecided > 200 && decided > 20, "the pairs are of both kinds: {undecided}, {decided}");
}
