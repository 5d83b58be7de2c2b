#![no_main]

#[path = "../checks/traffic_cdf.rs"]
mod traffic_cdf;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| traffic_cdf::check(bytes));
