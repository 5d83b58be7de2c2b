//! Tests of `benches/alternate.py`, the benchmark timer described in docs/peers.md, with shell commands. They check the
//! order of the commands and the statistics of their run times, not the run times themselves.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn script(arguments: &[&str]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/alternate.py");
    Command::new("python3").arg(script).args(arguments).output().expect("python3")
}

fn refused(arguments: &[&str]) -> String {
    let output = script(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// Returns an empty file, and a function that returns a shell command: it appends a letter to the file, uses the CPU
/// for a short time, and exits with the given code.
fn log(name: &str) -> (PathBuf, impl Fn(char, u8) -> String) {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("alternate-{name}"));
    fs::write(&file, "").unwrap();
    let shown = file.display().to_string();
    let command = move |letter, exit| {
        let busy = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done";
        format!("sh -c 'printf {letter} >> \"{shown}\"; {busy}; echo report >&2; exit {exit}'")
    };
    (file, command)
}

#[test]
fn every_second_pair_runs_the_other_way_round_and_the_ratio_is_of_one_unit() {
    let (file, command) = log("pairs");
    let (a, b) = (command('a', 0), command('b', 0));
    let output = script(&["-n", "3", "--work-a", "3e6", "--work-b", "1e6", "--names", "one", "other", &a, &b]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_to_string(file).unwrap(), "abbaab");

    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 3 + 6, "{text}");
    let heads = ["pair", "one, s", "other, s", "ratio", "one, M/s", "other, M/s", "ratio a unit"];
    assert!(heads.iter().all(|head| lines[0].contains(head)), "{text}");
    for (pair, line) in (1..).zip(&lines[1..4]) {
        let cells: Vec<f64> = line.split_whitespace().map(|cell| cell.parse().unwrap()).collect();
        let [number, one, other, ratio, speed, other_speed, of_unit] = cells[..] else { panic!("{text}") };
        assert_eq!(number, f64::from(pair));
        // The tolerance includes rounding, because the numbers are printed with three decimals.
        let close = |value: f64, wanted: f64| (value - wanted).abs() < 0.0006 + 0.2 * wanted;
        assert!(one > 0.0 && close(ratio, other / one) && (of_unit - 3.0 * ratio).abs() < 0.003, "{text}");
        assert!(close(speed, 3.0 / one) && close(other_speed, 1.0 / other), "{text}");
    }
    for line in &lines[4..] {
        let figures: Vec<f64> = line.split(", ").filter_map(|part| part.rsplit(' ').next()?.parse().ok()).collect();
        let [min, median, max] = figures[..] else { panic!("{text}") };
        assert!(min <= median && median <= max, "{text}");
    }
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_reason() {
    let (_, command) = log("refused");
    let good = command('g', 0);
    let failed = refused(&[&good, &command('f', 7)]);
    assert!(failed.contains("ended with exit code 7:\nreport"), "{failed}");
    let killed = refused(&[&good, "sh -c 'kill -9 $$'"]);
    assert!(killed.contains("ended with signal 9"), "{killed}");
    for (arguments, printed) in [
        (&["-n", "0", "true", "true"][..], "0 is not above 0"),
        (&["--work-a", "1", "--work-b", "-2", "true", "true"], "-2 is not above 0"),
        (&["--work-a", "1", "true", "true"], "--work-a and --work-b go together"),
        (&["--names", "x", "x", "true", "true"], "--names are of two that differ"),
        (&["", "true"], "an empty command"),
        (&["sh -c 'open", "true"], "No closing quotation"),
        (&["no-such-program --x", "true"], "no-such-program --x does not start: No such file or directory"),
        (&["true"], "COMMAND_B"),
    ] {
        let text = refused(arguments);
        assert!(text.contains(printed), "{arguments:?}: {text}");
    }
}
