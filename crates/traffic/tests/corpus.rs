//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/traffic_cdf.rs"]
mod traffic_cdf;
#[path = "../../../fuzz/checks/traffic_flows.rs"]
mod traffic_flows;
#[path = "../../../fuzz/checks/traffic_matrix.rs"]
mod traffic_matrix;

#[test]
fn traffic_flows_corpus() {
    replay::replay("traffic_flows", traffic_flows::check);
}

#[test]
fn traffic_cdf_corpus() {
    replay::replay("traffic_cdf", traffic_cdf::check);
}

#[test]
fn traffic_matrix_corpus() {
    replay::replay("traffic_matrix", traffic_matrix::check);
}
