#![no_main]

#[path = "../checks/import_hpcc.rs"]
mod import_hpcc;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| import_hpcc::check(bytes));
