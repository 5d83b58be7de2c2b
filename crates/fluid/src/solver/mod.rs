//! Solver of delay differential equations by the method of steps.
//!
//! ```text
//!   System ──> Stepper ── attempt: stages, again while delays reach into the step ──> error small? ──> events within?
//!                 ^                                                                  no: shorter    yes: to the first
//!                 └── history (polynomials for delays), breaks (instants that no step may cross) <── accepted
//! ```
//!
//! Steps use the pair of Dormand and Prince of orders 5(4) with a continuous extension of order 4. Discontinuities of
//! derivatives propagate along the delays, and a step ends at each of them. Variables with limits are saturated
//! integrals. Steps also end at the times at which a queue empties, a rate reaches the link rate or a switch of the
//! right-hand side changes, so that the right-hand side is smooth within a step.

mod breaks;
mod events;
mod history;
mod stepper;
mod system;
mod tableau;
#[cfg(test)]
mod tests;

pub use system::{Delay, Now, Past, System, Variable};

use stepper::Stepper;

/// Options of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Permitted error of a step, relative to the value or the scale of the variable, whichever is larger; 1e-12 to
    /// 0.1.
    pub tolerance: f64,
    /// Maximum length of a step, in s.
    pub longest_step: f64,
    /// Maximum number of steps; a solution that needs more ends with [`SolveError::Steps`].
    pub most_steps: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { tolerance: 1e-6, longest_step: f64::INFINITY, most_steps: 20_000_000 }
    }
}

/// Error of the solver; the solution cannot be continued beyond the time of the error.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// The magnitude of a variable exceeds 1e12 times its scale, or is not a number.
    #[error("`{variable}` diverges at {time} s: it is {value:e}")]
    Diverged {
        /// Time of the error, in s.
        time: f64,
        /// Name of the variable.
        variable: String,
        /// Value of the variable.
        value: f64,
    },
    /// The local error estimate exceeds the tolerance even at the minimum step size.
    #[error("at {time} s no step is short enough for `{variable}`")]
    Stuck {
        /// Start of the step, in s.
        time: f64,
        /// Name of the variable with the largest error.
        variable: String,
    },
    /// Too many switch changes or limit events without progress in time.
    #[error("at {time} s {what} switches on and off without end")]
    Chatter {
        /// Time of the error, in s.
        time: f64,
        /// Name of the variable or switch.
        what: String,
    },
    /// A delay is negative.
    #[error("at {time} s delay {delay} is {value} s; it must be 0 or more")]
    Delay {
        /// Time of the error, in s.
        time: f64,
        /// Index of the delay.
        delay: usize,
        /// Value of the delay, in s.
        value: f64,
    },
    /// The solution needs more than the maximum number of steps.
    #[error("more than {most} steps, at {time} s")]
    Steps {
        /// Time of the error, in s.
        time: f64,
        /// Maximum number of steps.
        most: u64,
    },
}

impl SolveError {
    /// Returns the time of the error, in s.
    pub fn time(&self) -> f64 {
        match self {
            SolveError::Diverged { time, .. }
            | SolveError::Stuck { time, .. }
            | SolveError::Chatter { time, .. }
            | SolveError::Delay { time, .. }
            | SolveError::Steps { time, .. } => *time,
        }
    }
}

/// Operation counts of the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Number of accepted steps.
    pub steps: u64,
    /// Number of rejected steps.
    pub rejected: u64,
    /// Number of evaluations of the right-hand side.
    pub evaluations: u64,
    /// Events: limits reached or left, and switch changes.
    pub events: u64,
}

/// Solves `system` from 0 to `end`, in s. Calls `sample` with time and state at the times 0, `every`, 2 `every` and
/// so on. The state of a sample at a discontinuity is the limit from the left.
///
/// # Errors
/// [`SolveError`]; samples up to its time are valid.
pub fn solve(
    system: &mut (impl System + ?Sized),
    end: f64,
    every: f64,
    options: &Options,
    mut sample: impl FnMut(f64, &[f64]),
) -> Result<Work, SolveError> {
    let mut stepper = Stepper::new(system, end, options)?;
    let mut state = stepper.state().to_vec();
    sample(0.0, &state);
    let mut samples: u64 = 1;
    while stepper.time() < end {
        let piece = stepper.step()?;
        // The time of the last sample may exceed the end of the solution by a rounding error.
        while samples as f64 * every <= piece.end() * (1.0 + 1e-12) {
            let time = samples as f64 * every;
            if time > end * (1.0 + 1e-12) {
                break;
            }
            piece.state(((time - piece.start) / piece.length).min(1.0), &mut state);
            sample(time, &state);
            samples += 1;
        }
    }
    Ok(stepper.work())
}
