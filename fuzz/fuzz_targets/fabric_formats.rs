#![no_main]

#[path = "../checks/fabric_formats.rs"]
mod fabric_formats;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fabric_formats::check(bytes));
