//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/wire_frame.rs"]
mod wire_frame;

#[test]
fn wire_frame_corpus() {
    replay::replay("wire_frame", wire_frame::check);
}
