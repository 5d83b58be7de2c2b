#![no_main]

#[path = "../checks/record_fct.rs"]
mod record_fct;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| record_fct::check(bytes));
