//! Translates configurations of other simulators to scenarios.

pub mod hpcc;
mod hpcc_control;
mod hpcc_ecmp;
mod hpcc_keys;
mod hpcc_scenario;
mod hpcc_switch;
mod hpcc_window;

pub use hpcc::HpccConfig;
pub use hpcc_scenario::{Imported, Inputs, KeyReport, KeyStatus};

/// Returns `true` if `word` is a key in a `config.txt` of the HPCC simulator or its derivatives.
pub(crate) fn is_key(word: &str) -> bool {
    hpcc_keys::find(word).is_some()
}
