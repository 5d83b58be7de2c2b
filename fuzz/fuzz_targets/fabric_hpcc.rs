#![no_main]

#[path = "../checks/fabric_hpcc.rs"]
mod fabric_hpcc;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fabric_hpcc::check(bytes));
