#![no_main]

#[path = "../checks/scenario_sweep.rs"]
mod scenario_sweep;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| scenario_sweep::check(bytes));
