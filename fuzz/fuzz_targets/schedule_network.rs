#![no_main]

#[path = "../checks/schedule_network.rs"]
mod schedule_network;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| schedule_network::check(bytes));
