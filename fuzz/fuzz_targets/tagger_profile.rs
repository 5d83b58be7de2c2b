#![no_main]

#[path = "../checks/tagger_profile.rs"]
mod tagger_profile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tagger_profile::check(bytes));
