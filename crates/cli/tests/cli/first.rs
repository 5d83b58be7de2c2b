//! Tests the first example of each library: it runs, is short, and has a diagram.

#[path = "../../../check/examples/first_check.rs"]
mod first_check;
#[path = "../../../engine/examples/first_engine.rs"]
mod first_engine;
#[path = "../../../explain/examples/first_explain.rs"]
mod first_explain;
#[path = "../../../fabric/examples/first_fabric.rs"]
mod first_fabric;
#[path = "../../../fluid/examples/first_fluid.rs"]
mod first_fluid;
#[path = "../../../lab/examples/first_lab.rs"]
mod first_lab;
#[path = "../../../model/examples/first_model.rs"]
mod first_model;
#[path = "../../../protocols/examples/first_protocols.rs"]
mod first_protocols;
#[path = "../../../record/examples/first_record.rs"]
mod first_record;
#[path = "../../../report/examples/first_report.rs"]
mod first_report;
#[path = "../../../reproduce/examples/first_reproduce.rs"]
mod first_reproduce;
#[path = "../../../running/examples/first_running.rs"]
mod first_running;
#[path = "../../../scenario/examples/first_scenario.rs"]
mod first_scenario;
#[path = "../../../schedule/examples/first_schedule.rs"]
mod first_schedule;
#[path = "../../../stats/examples/first_stats.rs"]
mod first_stats;
#[path = "../../../tagger/examples/first_tagger.rs"]
mod first_tagger;
#[path = "../../../text/examples/first_text.rs"]
mod first_text;
#[path = "../../../traffic/examples/first_traffic.rs"]
mod first_traffic;
#[path = "../../../units/examples/first_units.rs"]
mod first_units;
#[path = "../../../verify/examples/first_verify.rs"]
mod first_verify;
#[path = "../../../wire/examples/first_wire.rs"]
mod first_wire;

use std::path::Path;

/// Maximum number of code lines in a first example.
const MOST_LINES: usize = 30;

#[test]
fn first_examples_run() {
    first_check::main();
    first_engine::main();
    first_explain::main().unwrap();
    first_fabric::main().unwrap();
    first_fluid::main().unwrap();
    first_lab::main().unwrap();
    first_model::main().unwrap();
    first_protocols::main();
    first_record::main().unwrap();
    first_report::main().unwrap();
    first_reproduce::main().unwrap();
    first_running::main();
    first_scenario::main().unwrap();
    first_schedule::main();
    first_stats::main();
    first_tagger::main().unwrap();
    first_text::main();
    first_traffic::main().unwrap();
    first_units::main().unwrap();
    first_verify::main().unwrap();
    first_wire::main().unwrap();
}

#[test]
fn every_library_has_a_first_example_that_is_short_and_shows_its_bench() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in std::fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if !folder.join("src/lib.rs").is_file() {
            continue;
        }
        let path = folder.join(format!("examples/first_{name}.rs"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let code = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
        assert!(code.count() < MOST_LINES, "{name}");
        assert!(
            text.starts_with("//! ") && text.contains("//! ```text"),
            "{name}: what it shows, and a drawing of its bench"
        );
        assert!(include_str!("first.rs").contains(&format!("first_{name}::main()")), "{name} is run above");
    }
}

#[test]
fn the_guide_shows_the_first_example_as_it_is_and_names_all() {
    let guide = include_str!("../../../../docs/guide/library.md");
    let example = include_str!("../../../lab/examples/first_lab.rs");
    assert!(guide.contains(&format!("```rust\n{example}```\n")), "docs/guide/library.md shows another first_lab.rs");
    for line in include_str!("first.rs").lines().filter_map(|line| line.strip_prefix("mod first_")) {
        let name = line.trim_end_matches(';');
        assert!(guide.contains(&format!("(../../crates/{name}/examples/first_{name}.rs)")), "{name}");
    }
}
