#![no_main]

#[path = "../checks/tagger_export.rs"]
mod tagger_export;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tagger_export::check(bytes));
