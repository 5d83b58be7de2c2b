//! An experiment of a paper, shortened, and its checks beside the paper's numbers.
//!
//! ```text
//!  S1 --> S2        four switches that wait for each other: PFC locks up,
//!  ^       |        as it must, and without PFC nothing does
//!  S4 <-- S3
//! ```
pub(crate) fn main() -> Result<(), reproduce::Failure> {
    for experiment in reproduce::choose(&["deadlock/ring".to_owned()])? {
        let found = reproduce::run(experiment, true, None)?;
        print!("{}", reproduce::print::result(&found, text::Paint::Plain));
        assert!(found.passes());
    }
    Ok(())
}
