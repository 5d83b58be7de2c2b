#![no_main]

#[path = "../checks/verify_lists.rs"]
mod verify_lists;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| verify_lists::check(bytes));
