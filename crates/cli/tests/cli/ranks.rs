//! A binary without MPI support that an MPI launcher starts as several processes must refuse to run, because each
//! process would execute the whole run.
#![cfg(not(feature = "mpi"))]

use std::process::Command;

#[test]
fn several_processes_without_mpi_are_refused_with_what_to_do() {
    let run = |processes: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
        command.args(["run", "examples/why-incast.toml", "--set", "duration=1us", "--json"]);
        command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).env("OMPI_COMM_WORLD_SIZE", processes);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run("2");
    assert_eq!(code, Some(2));
    assert!(said.contains("2 processes were started together") && said.contains("--features mpi"), "{said}");
    assert_eq!(run("1").0, Some(0));
}
