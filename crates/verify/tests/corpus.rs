//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/verify_gates.rs"]
mod verify_gates;
#[path = "../../../fuzz/checks/verify_paths.rs"]
mod verify_paths;
#[path = "../../../fuzz/checks/verify_rules.rs"]
mod verify_rules;

#[test]
fn verify_rules_corpus() {
    replay::replay("verify_rules", verify_rules::check);
}

#[test]
fn verify_gates_corpus() {
    replay::replay("verify_gates", verify_gates::check);
}

#[test]
fn verify_paths_corpus() {
    replay::replay("verify_paths", verify_paths::check);
}
