//! Runs a shortened experiment of a paper and prints its checks against the paper's numbers.
//!
//! ```text
//!  S1 --> S2        four switches in a cyclic dependency: PFC deadlocks as
//!  ^       |        expected, and without PFC there is no deadlock
//!  S4 <-- S3
//! ```
pub(crate) fn main() -> Result<(), reproduce::Failure> {
    for experiment in reproduce::choose(&["deadlock/ring".to_owned()])? {
        let found = reproduce::run(experiment, true, None)?;
        print!("{}", reproduce::print::result(&found, text::ColorMode::Plain));
        assert!(found.passes());
    }
    Ok(())
}
