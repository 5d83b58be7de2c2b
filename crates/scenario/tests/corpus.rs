//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/scenario_sweep.rs"]
mod scenario_sweep;
#[path = "../../../fuzz/checks/scenario_toml.rs"]
mod scenario_toml;

#[test]
fn scenario_toml_corpus() {
    replay::replay("scenario_toml", scenario_toml::check);
}

#[test]
fn scenario_sweep_corpus() {
    replay::replay("scenario_sweep", scenario_sweep::check);
}
