#![no_main]

#[path = "../checks/record_tables.rs"]
mod record_tables;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| record_tables::check(bytes));
