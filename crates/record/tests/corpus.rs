//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/record_fct.rs"]
mod record_fct;
#[path = "../../../fuzz/checks/record_tables.rs"]
mod record_tables;
#[path = "../../../fuzz/checks/replay.rs"]
mod replay;

#[test]
fn record_fct_corpus() {
    replay::replay("record_fct", record_fct::check);
}

#[test]
fn record_tables_corpus() {
    replay::replay("record_tables", record_tables::check);
}
