//! All fuzz targets: each program runs the check with its own name. The check is selected at compile time, so that a
//! program contains neither code nor coverage counters of other checks.

#![no_main]

#[path = "../checks/mod.rs"]
mod checks;

const CHECK: fn(&[u8]) = check_of(env!("CARGO_BIN_NAME"));

const fn check_of(program: &str) -> fn(&[u8]) {
    let mut at = 0;
    while at < checks::TARGETS.len() {
        let (name, check) = checks::TARGETS[at];
        if equal(name.as_bytes(), program.as_bytes()) {
            return check;
        }
        at += 1;
    }
    panic!("no check has the name of this program")
}

const fn equal(left: &[u8], right: &[u8]) -> bool {
    let mut at = 0;
    while at < left.len() && at < right.len() && left[at] == right[at] {
        at += 1;
    }
    at == left.len() && at == right.len()
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| CHECK(bytes));
