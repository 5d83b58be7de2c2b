#![no_main]

#[path = "../checks/verify_gates.rs"]
mod verify_gates;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| verify_gates::check(bytes));
