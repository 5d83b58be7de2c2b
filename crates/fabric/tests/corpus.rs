//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/fabric_export.rs"]
mod fabric_export;
#[path = "../../../fuzz/checks/fabric_formats.rs"]
mod fabric_formats;
#[path = "../../../fuzz/checks/fabric_hpcc.rs"]
mod fabric_hpcc;
#[path = "../../../fuzz/checks/fabric_node_link.rs"]
mod fabric_node_link;
#[path = "../../../fuzz/checks/replay.rs"]
mod replay;

#[test]
fn fabric_formats_corpus() {
    replay::replay("fabric_formats", fabric_formats::check);
}

#[test]
fn fabric_hpcc_corpus() {
    replay::replay("fabric_hpcc", fabric_hpcc::check);
}

#[test]
fn fabric_node_link_corpus() {
    replay::replay("fabric_node_link", fabric_node_link::check);
}

#[test]
fn fabric_export_corpus() {
    replay::replay("fabric_export", fabric_export::check);
}
