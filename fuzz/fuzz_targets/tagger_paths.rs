#![no_main]

#[path = "../checks/tagger_paths.rs"]
mod tagger_paths;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tagger_paths::check(bytes));
