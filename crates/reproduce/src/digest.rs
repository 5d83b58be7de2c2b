//! Digest of the results of an experiment, to detect parameters without an effect.

use crate::trial::Trial;
use model::Outcome;
use std::cell::Cell;
use std::fmt::{self, Write};

thread_local! {
    /// Digest of the simulations that ended on this thread since the last [`start`].
    static SIMULATIONS: Cell<u64> = const { Cell::new(FNV_BASIS) };
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a hash of the written text.
struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = text.bytes().fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
        Ok(())
    }
}

fn extended(hash: u64, value: &impl fmt::Debug) -> u64 {
    let mut hash = Fnv(hash);
    let _ = write!(hash, "{value:?}");
    hash.0
}

/// Starts the digest of the simulations of an experiment, which runs on this thread.
pub(crate) fn start() {
    SIMULATIONS.set(FNV_BASIS);
}

/// Adds the outcome of a simulation. Warnings and the text of checks are left out: they may state the value of a
/// parameter that has no effect.
pub(crate) fn add(outcome: &Outcome) {
    let passes: Vec<bool> = outcome.checks.iter().map(|check| check.pass).collect();
    let rest = Outcome { warnings: Vec::new(), checks: Vec::new(), ..outcome.clone() };
    SIMULATIONS.set(extended(SIMULATIONS.get(), &(passes, rest)));
}

/// Returns the digest of the simulations since [`start`], and of the measured numbers, tables and plots of `trial`.
pub(crate) fn of(trial: &Trial) -> u64 {
    let measured: Vec<u64> = trial.checks.iter().map(|check| check.ours.to_bits()).collect();
    extended(SIMULATIONS.get(), &(measured, &trial.shown, &trial.plots))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_differ_with_counters_and_tables_only() {
        let of_run = |events: u64, warning: &str, shown: &str| {
            start();
            add(&Outcome { events, warnings: vec![warning.to_owned()], ..Outcome::default() });
            let mut trial = Trial::new(true, None);
            trial.show(shown);
            of(&trial)
        };
        let first = of_run(1, "", "a");
        assert_eq!(of_run(1, "rate of 3 Gbps", "a"), first);
        assert!(of_run(2, "", "a") != first && of_run(1, "", "b") != first);
    }
}
