#![no_main]

#[path = "../checks/verify_paths.rs"]
mod verify_paths;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| verify_paths::check(bytes));
