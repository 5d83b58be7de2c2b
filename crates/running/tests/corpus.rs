//! Replays the fuzzing corpus.

#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/running_config.rs"]
mod running_config;

#[test]
fn running_config_corpus() {
    replay::replay("running_config", running_config::check);
}
