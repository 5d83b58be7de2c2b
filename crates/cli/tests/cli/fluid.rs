//! Tests of `tidegate fluid`: output, files, and rejected inputs.

use crate::common::{Scratch, example, run};
use serde_json::Value;

fn solved(arguments: &[&str]) -> Value {
    let ran = run(&[&["fluid"], arguments, &["--json"]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    serde_json::from_str(&ran.out).expect("JSON")
}

#[test]
fn every_example_is_solved_and_reports_its_fixed_point() {
    for name in ["dcqcn", "hetflow", "eccp", "timely"] {
        let file = example(&format!("fluid/{name}.toml"));
        let output = solved(&[&file, "--stability"]);
        assert!(output["flows"][0]["rate_bps"]["mean"].as_f64().expect("a rate") > 1e9, "{name}: {output:#}");
        assert!(output["stability"]["linear"].is_object(), "{name}");
    }
}

#[test]
fn a_series_is_written_as_csv_and_pictures_as_svg() {
    let scratch = Scratch::new("fluid-out");
    let file = example("fluid/hetflow.toml");
    let (out, plots) = (scratch.path("out"), scratch.path("plots"));
    let line = ["fluid", &file, "--out", &out, "--plots", &plots, "--phase", "rate_0_bps,rate_0_bps'", "-q"];
    for _ in 0..2 {
        let ran = run(&line);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    }
    let csv = std::fs::read_to_string(scratch.0.join("out/series.csv")).expect("a series");
    let mut rows = csv.lines();
    assert_eq!(rows.next(), Some("time_ps,rate_0_bps,rate_1_bps,queue_bytes"));
    let rows: Vec<&str> = rows.collect();
    assert_eq!(rows.len(), 1001);
    assert!(rows[0].split(',').nth(2) == Some("0"), "the last flow has not begun: {}", rows[0]);
    let pictures = scratch.names("plots");
    for name in ["phase-rate_0_bps-rate_0_bps-slope.svg", "rates-and-queue.svg"] {
        assert!(pictures.iter().any(|known| known == name), "{pictures:?}");
    }
    let foreign = scratch.file("out/summary.json", "years of work");
    let ran = run(&["fluid", &file, "--out", &out]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(foreign).unwrap(), "years of work");
}

#[test]
fn what_is_wrong_is_refused_with_its_line() {
    let scratch = Scratch::new("fluid-wrong");
    let text = std::fs::read_to_string(example("fluid/hetflow.toml")).expect("the example");
    for (from, to, said) in [
        ("kind = \"hetflow\"", "kind = \"hetflow\"\ngain = 0.02", "wrong.toml:7:8"),
        ("kind = \"hetflow\"", "kind = \"hetflow\"\ntimer = \"0us\"", "above zero"),
        ("rtt = \"10us\"", "rtt = \"-10us\"", "negative"),
        ("kind = \"hetflow\"", "kind = \"hetflo\"", "hetflow"),
        ("rate = \"10Gbps\"", "rate = \"0bps\"", "a rate is positive"),
        ("count = 3", "count = 0", "out of range"),
    ] {
        let file = scratch.file("wrong.toml", &text.replacen(from, to, 1));
        let ran = run(&["fluid", &file, "--out", &scratch.path("out")]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{to}: {}", ran.err);
        assert!(ran.err.contains("wrong.toml:") && ran.err.contains(said), "{to}: {}", ran.err);
        assert!(!ran.err.contains("panicked") && !scratch.0.join("out").exists(), "{}", ran.err);
    }
    let file = scratch.file("right.toml", &text);
    let ran = run(&["fluid", &file, "--plots", &scratch.path("plots"), "--phase", "rate_0_bps,colour"]);
    assert!(ran.code == Some(2) && ran.err.contains("queue_bytes"), "{}", ran.err);
    assert_eq!(run(&["fluid", "/nowhere.toml"]).code, Some(2));
}

#[test]
fn dcqcn_is_within_a_tenth_of_its_packets() {
    let output = solved(&[&example("fluid/dcqcn.toml"), "--packets", &example("fluid/dcqcn-packets.toml")]);
    let packets = &output["packets"];
    assert_eq!(packets["differ"].as_array().map(Vec::len), Some(0), "{packets:#}");
    let number = |value: &Value| value.as_f64().expect("a number");
    let queue = number(&output["queue_bytes"]["mean"]) / number(&packets["queue_bytes"]);
    let rate = 2.0 * number(&output["flows"][0]["rate_bps"]["mean"]) / number(&packets["rate_bps"]);
    assert!((queue - 1.0).abs() < 0.1 && (rate - 1.0).abs() < 0.1, "{queue} {rate}");
    // The model's gain is overridden, but that of the packet-level simulation is not: the difference is reported.
    let other = solved(&[
        &example("fluid/dcqcn.toml"),
        "--set",
        "model.gain=0.01",
        "--packets",
        &example("fluid/dcqcn-packets.toml"),
    ]);
    assert!(other["packets"]["differ"][0].as_str().expect("a difference").contains("model.gain = 0.01"), "{other:#}");
}

#[test]
fn divergence_is_reported_with_time_and_variable() {
    // TIMELY divides the RTT gradient by the minimum RTT, here 1 ps, while the queue grows for seconds: the model
    // diverges.
    let scratch = Scratch::new("fluid-diverges");
    let (file, out) = (example("fluid/timely.toml"), scratch.path("out"));
    let mut line = vec!["fluid", &file, "--out", &out, "--json"];
    for set in [
        "duration=100s",
        "warm_up=1s",
        "bottleneck.buffer=1TB",
        "model.segment=16GB",
        "model.min_rtt=1ps",
        "model.t_low=1000s",
        "model.t_high=2000s",
        "flow.0.rate=10Gbps",
    ] {
        line.extend(["--set", set]);
    }
    let ran = run(&line);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let output: Value = serde_json::from_str(&ran.out).expect("JSON");
    let at = output["failed_at_s"].as_f64().expect("an instant");
    assert!(ran.err.contains(&format!("timely.toml: `gradient_0` diverges at {at} s")), "{}", ran.err);
    let series = std::fs::read_to_string(scratch.0.join("out/series.csv")).expect("what there is of it");
    let last: f64 = series.lines().last().and_then(|row| row.split(',').next()?.parse().ok()).expect("a time");
    assert!(last <= at * 1e12 && last > 0.5 * at * 1e12, "{last} {at}");
}

#[test]
fn packets_and_portraits_are_drawn_with_the_fluid() {
    let scratch = Scratch::new("fluid-drawn");
    let (file, packets) = (example("fluid/dcqcn.toml"), example("fluid/dcqcn-packets.toml"));
    let plots = scratch.path("plots");
    let ran = run(&["fluid", &file, "--packets", &packets, "--plots", &plots, "--phase", "queue_bytes,alpha_0'", "-q"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let picture = std::fs::read_to_string(scratch.0.join("plots/rates-and-queue.svg")).expect("a picture");
    assert_eq!(picture.matches("<polyline").count(), 4, "fluid and packets in each of two panels");
    assert!(picture.contains(">packets</text>"));
    let portrait = scratch.0.join("plots/phase-queue_bytes-alpha_0-slope.svg");
    assert!(std::fs::read_to_string(portrait).expect("a portrait").contains("alpha_0', 1/ms"));
    // The file given by `--packets` is not a scenario: the command fails before it writes any file.
    let none = scratch.path("none");
    let ran = run(&["fluid", &file, "--packets", &file, "--out", &none]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(!scratch.0.join("none").exists());
}
