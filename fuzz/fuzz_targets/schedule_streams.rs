#![no_main]

#[path = "../checks/schedule_streams.rs"]
mod schedule_streams;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| schedule_streams::check(bytes));
