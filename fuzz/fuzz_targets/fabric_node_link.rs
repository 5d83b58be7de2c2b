#![no_main]

#[path = "../checks/fabric_node_link.rs"]
mod fabric_node_link;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fabric_node_link::check(bytes));
