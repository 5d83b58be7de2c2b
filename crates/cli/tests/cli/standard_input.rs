//! Tests of a scenario on standard input, given as `-` in place of the file name.

use crate::common::{Ran, SMALL, Scratch, example, run, tidegate};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// Runs the command with these arguments in `folder`, with `input` on standard input.
fn fed(input: &[u8], folder: &Path, arguments: &[&str]) -> Ran {
    let mut command = tidegate();
    let command = command.args(arguments).current_dir(folder).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Ignore a failed write: the command may reject its arguments and exit without reading standard input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap().into()
}

#[test]
fn the_result_is_that_of_the_file_and_paths_are_relative_to_the_working_directory() {
    let scratch = Scratch::new("stdin");
    let scenario = example("replay/scenario.toml");
    let (beside, text) = (Path::new(&scenario).parent().unwrap(), std::fs::read(&scenario).unwrap());
    let (file, piped) = (scratch.path("file"), scratch.path("piped"));
    let of_file = run(&["run", &scenario, "--set", "duration=1ms", "--out", &file]);
    let of_pipe = fed(&text, beside, &["run", "-", "--set", "duration=1ms", "--out", &piped]);
    assert_eq!((of_file.code, of_pipe.code, of_pipe.err.as_str()), (Some(0), Some(0), ""));
    assert!(of_pipe.out.contains("\nagain         tidegate run - --set duration=1ms --seed 1\n"), "{}", of_pipe.out);
    assert_eq!(scratch.result("file"), scratch.result("piped"));
    let elsewhere = fed(&text, &scratch.0, &["run", "-"]);
    assert_eq!((elsewhere.code, elsewhere.out.as_str()), (Some(2), ""));
    assert!(elsewhere.err.contains("standard input:") && elsewhere.err.contains("topology.txt"), "{}", elsewhere.err);
}

#[test]
fn errors_are_reported_with_their_line_of_standard_input() {
    let scratch = Scratch::new("stdin-wrong");
    let wrong = SMALL.replace("hosts_per_leaf = 4", "hosts_per_leaf = -4");
    let line = 1 + wrong.lines().position(|line| line.starts_with("hosts_per_leaf")).unwrap();
    let output = fed(wrong.as_bytes(), &scratch.0, &["run", "-"]);
    assert_eq!((output.code, output.out.as_str()), (Some(2), ""));
    assert!(output.err.starts_with(&format!("error: standard input:{line}:")), "{}", output.err);
    for (input, said) in [
        (&b"name = \"a\"\n\xff\xfe\n"[..], "error: standard input:2: not UTF-8 text"),
        (&[b'#'; (1 << 24) + 1], "error: standard input: cannot read it: it is longer than 16.777216MB"),
        (b"", "error: standard input:"),
    ] {
        let output = fed(input, &scratch.0, &["run", "-"]);
        assert_eq!((output.code, output.out.as_str()), (Some(2), ""), "{said}");
        assert!(output.err.starts_with(said), "{}", output.err);
    }
}

#[test]
fn compare_reads_it_once_for_all_its_runs_and_a_file_of_that_name_is_a_file() {
    let scratch = Scratch::new("stdin-compare");
    let compared = ["--vary", "traffic.0.fan_in=3,5", "--json"];
    let of_pipe = fed(SMALL.as_bytes(), &scratch.0, &[&["compare", "-"], &compared[..]].concat());
    scratch.file("-", SMALL);
    let of_file = fed(b"", &scratch.0, &[&["compare", "./-"], &compared[..]].concat());
    assert_eq!((of_pipe.code, of_file.code), (Some(0), Some(0)), "{}{}", of_pipe.err, of_file.err);
    assert_eq!(of_pipe.out, of_file.out);
}
