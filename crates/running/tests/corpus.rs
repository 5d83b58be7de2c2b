//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/running_config.rs"]
mod running_config;

#[test]
fn running_config_corpus() {
    replay::replay("running_config", running_config::check);
}
