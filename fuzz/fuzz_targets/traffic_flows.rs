#![no_main]

#[path = "../checks/traffic_flows.rs"]
mod traffic_flows;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| traffic_flows::check(bytes));
