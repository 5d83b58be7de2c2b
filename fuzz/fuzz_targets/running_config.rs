#![no_main]

#[path = "../checks/running_config.rs"]
mod running_config;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| running_config::check(bytes));
