//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/record_fct.rs"]
mod record_fct;
#[path = "../../../fuzz/checks/replay.rs"]
mod replay;

#[test]
fn record_fct_corpus() {
    replay::replay("record_fct", record_fct::check);
}
