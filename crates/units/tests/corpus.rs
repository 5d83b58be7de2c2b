//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/units_quantity.rs"]
mod units_quantity;

#[test]
fn units_quantity_corpus() {
    replay::replay("units_quantity", units_quantity::check);
}
