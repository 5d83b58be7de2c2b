//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/schedule_network.rs"]
mod schedule_network;
#[path = "../../../fuzz/checks/schedule_streams.rs"]
mod schedule_streams;

#[test]
fn schedule_streams_corpus() {
    replay::replay("schedule_streams", schedule_streams::check);
}

#[test]
fn schedule_network_corpus() {
    replay::replay("schedule_network", schedule_network::check);
}
