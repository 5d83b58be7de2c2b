//! Descriptions of runs by other simulators, translated into scenarios.

pub mod hpcc;
mod hpcc_control;
mod hpcc_ecmp;
mod hpcc_keys;
mod hpcc_scenario;
mod hpcc_switch;
mod hpcc_window;

pub use hpcc::HpccConfig;
pub use hpcc_scenario::{Imported, Inputs, KeyAccount, KeyFate};

/// Whether a word is a key of such a configuration.
pub(crate) fn is_key(word: &str) -> bool {
    hpcc_keys::find(word).is_some()
}
