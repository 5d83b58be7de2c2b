#![no_main]

#[path = "../checks/verify_rules.rs"]
mod verify_rules;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| verify_rules::check(bytes));
