#![no_main]

#[path = "../checks/scenario_fluid.rs"]
mod scenario_fluid;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| scenario_fluid::check(bytes));
