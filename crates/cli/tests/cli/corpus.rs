//! Runs the committed corpus of all fuzz targets through their checks, without a fuzzer.

#[path = "../../../../fuzz/checks/mod.rs"]
pub mod checks;
#[path = "../../../../fuzz/checks/committed.rs"]
pub mod committed;

use checks::TARGETS;
use committed::{all_inputs, inputs};
use std::collections::BTreeSet;
use std::path::Path;

/// Runs the check of a target with each input of its corpus.
fn replay(target: &str) {
    let (_, check) = TARGETS.iter().find(|(name, _)| *name == target).expect("a target");
    for (name, bytes) in inputs(target) {
        assert!(std::panic::catch_unwind(|| check(&bytes)).is_ok(), "fuzz/corpus.tar: {target}/{name} fails its check");
    }
}

macro_rules! replays {
    ($($target:ident)*) => {
        $(#[test]
        fn $target() {
            replay(stringify!($target));
        })*

        /// Each fuzz target must have all four parts: a check, a program, a corpus, and a test here. Otherwise a part
        /// would never run.
        #[test]
        fn each_target_has_a_check_a_program_inputs_and_a_test() {
            let tested: BTreeSet<String> = [$(stringify!($target).to_owned()),*].into();
            assert_eq!(all_inputs().into_keys().collect::<BTreeSet<_>>(), tested);
            let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/Cargo.toml");
            let manifest = std::fs::read_to_string(manifest).unwrap();
            let programs = manifest.split("[[bin]]\nname = \"").skip(1).map(|program| {
                let (name, rest) = program.split_once('"').unwrap();
                assert!(rest.starts_with("\npath = \"fuzz_targets/target.rs\"\n"), "{name}");
                name.to_owned()
            });
            assert_eq!(programs.collect::<BTreeSet<_>>(), tested);
            assert_eq!(TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>(), tested);
        }
    };
}

replays! {
    fabric_export
    fabric_formats
    fabric_hpcc
    fabric_node_link
    import_hpcc
    record_fct
    record_tables
    running_config
    scenario_fluid
    scenario_sweep
    scenario_toml
    schedule_network
    schedule_streams
    tagger_export
    tagger_paths
    tagger_profile
    traffic_cdf
    traffic_flows
    traffic_matrix
    units_quantity
    verify_gates
    verify_lists
    verify_paths
    verify_rules
    wire_frame
}

/// Omits, duplicates, truncates or renumbers each line of each gate control list of the corpus: the reader must return
/// an error or a result, and must not panic.
#[test]
fn changed_lines_of_gates_are_errors_or_results() {
    let mut tried = 0;
    for bytes in inputs("verify_lists").into_values() {
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for at in 0..lines.len() {
            let line = lines[at];
            let digits = |with: &str| {
                let one = |c: char| if c.is_ascii_digit() { with.to_owned() } else { c.to_string() };
                line.chars().map(one).collect::<String>()
            };
            let mut others = vec![String::new(), format!("{line}\n{line}"), "\u{0}\",,,(".to_owned()];
            others.extend(["0", "9", "-1", "99999999999999999999"].map(digits));
            others.extend((0..line.len()).filter_map(|end| line.get(..end).map(str::to_owned)));
            for other in others {
                let mut with = lines.clone();
                with[at] = &other;
                checks::verify::verify_lists::check((with.join("\n") + "\n").as_bytes());
                tried += 1;
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}
