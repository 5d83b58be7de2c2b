#![no_main]

#[path = "../checks/traffic_matrix.rs"]
mod traffic_matrix;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| traffic_matrix::check(bytes));
