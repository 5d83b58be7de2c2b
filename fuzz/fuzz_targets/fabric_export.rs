#![no_main]

#[path = "../checks/fabric_export.rs"]
mod fabric_export;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fabric_export::check(bytes));
