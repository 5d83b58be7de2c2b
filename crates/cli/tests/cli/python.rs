//! Checks that Polars, pandas and DuckDB can load the Parquet files of a result, by running the examples in
//! `examples/python`. If Python or a module is missing, the test prints a note and is skipped. The environment variable
//! `PYTHON` selects another interpreter.

use crate::common::{SMALL, Scratch, example, run};
use std::process::Command;

/// Runs an example; `None` if Python or one of its modules is missing.
fn python(script: &str, modules: &[&str], arguments: &[&str]) -> Option<String> {
    let interpreter = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let imports = format!("import {}", modules.join(", "));
    let found = Command::new(&interpreter).args(["-c", &imports]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped {script}: `{interpreter} -c \"{imports}\"` fails; pip install {}", modules.join(" "));
        return None;
    }
    let output = Command::new(&interpreter).arg(example(&format!("python/{script}"))).args(arguments).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_result_loads_in_polars_pandas_and_duckdb() {
    let scratch = Scratch::new("python");
    let scenario = scratch.file("small.toml", SMALL);
    let out = scratch.path("out");
    assert_eq!(run(&["run", &scenario, "--quiet", "--out", &out]).code, Some(0));
    for (script, modules) in [
        ("read_polars.py", &["polars"][..]),
        ("read_pandas.py", &["pandas", "pyarrow"]),
        ("read_duckdb.py", &["duckdb"]),
    ] {
        let Some(said) = python(script, modules, &[&out]) else { continue };
        assert!(said.starts_with("7 of 7 flows completed\n"), "{script}: {said}");
        assert!(said.contains("fct_mean_us") && said.contains("100000"), "{script}: {said}");
    }
}

#[test]
fn the_table_of_a_sweep_loads_in_polars() {
    let scratch = Scratch::new("python-sweep");
    let scenario = scratch.file("small.toml", SMALL);
    let out = scratch.path("out");
    let sweep = ["sweep", &scenario, "--vary", "traffic.0.fan_in=3,5", "--seeds", "1..3", "--quiet", "--out", &out];
    assert_eq!(run(&sweep).code, Some(0));
    if let Some(said) = python("sweep_polars.py", &["polars"], &[&out, "traffic.0.fan_in"]) {
        assert!(said.starts_with("6 runs, 6 of them with all checks held\n"), "{said}");
        assert!(said.contains("traffic.0.fan_in") && said.contains("fct_p99_ns_std"), "{said}");
    }
}
