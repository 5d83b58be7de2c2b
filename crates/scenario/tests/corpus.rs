//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/import_hpcc.rs"]
mod import_hpcc;
#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/scenario_fluid.rs"]
mod scenario_fluid;
#[path = "../../../fuzz/checks/scenario_sweep.rs"]
mod scenario_sweep;
#[path = "../../../fuzz/checks/scenario_toml.rs"]
mod scenario_toml;

#[test]
fn import_hpcc_corpus() {
    replay::replay("import_hpcc", import_hpcc::check);
}

#[test]
fn scenario_toml_corpus() {
    replay::replay("scenario_toml", scenario_toml::check);
}

#[test]
fn scenario_sweep_corpus() {
    replay::replay("scenario_sweep", scenario_sweep::check);
}

#[test]
fn scenario_fluid_corpus() {
    replay::replay("scenario_fluid", scenario_fluid::check);
}
