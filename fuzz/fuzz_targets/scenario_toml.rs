#![no_main]

#[path = "../checks/scenario_toml.rs"]
mod scenario_toml;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| scenario_toml::check(bytes));
