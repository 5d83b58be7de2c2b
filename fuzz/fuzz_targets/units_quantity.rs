#![no_main]

#[path = "../checks/units_quantity.rs"]
mod units_quantity;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| units_quantity::check(bytes));
