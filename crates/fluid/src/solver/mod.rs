//! Delay differential equations by the method of steps.
//!
//! ```text
//!   System ──> Stepper ── attempt: stages, again while delays reach into the step ──> error small? ──> events within?
//!                 ^                                                                  no: shorter    yes: to the first
//!                 └── history (polynomials for delays), breaks (instants that no step may cross) <── accepted
//! ```
//!
//! The pair of Dormand and Prince of orders 5(4) with a continuous extension of order 4 takes the steps. Jumps of
//! derivatives travel along the delays, and steps end at each. Variables with limits are saturated integrals: the
//! instants at which a queue runs empty or a rate reaches its line are found and stepped to, and so are those at which
//! a switch of the right-hand side goes on or off, so that within a step the right-hand side is smooth.

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

/// How a solution is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The error that a step may make in a variable, of its size or its scale, whichever is larger; 1e-12 to 0.1.
    pub tolerance: f64,
    /// The longest step in s.
    pub longest_step: f64,
    /// More steps than this are a failure.
    pub most_steps: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { tolerance: 1e-6, longest_step: f64::INFINITY, most_steps: 20_000_000 }
    }
}

/// Why there is no solution, or none beyond an instant.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// A variable left every bound.
    #[error("`{variable}` diverges at {time} s: it is {value:e}")]
    Diverged {
        /// When, in s.
        time: f64,
        /// Which.
        variable: String,
        /// How large it was.
        value: f64,
    },
    /// No step is short enough.
    #[error("at {time} s no step is short enough for `{variable}`")]
    Stuck {
        /// When, in s.
        time: f64,
        /// The variable with the largest error.
        variable: String,
    },
    /// Switches go on and off without end at one instant.
    #[error("at {time} s {what} switches on and off without end")]
    Chatter {
        /// When, in s.
        time: f64,
        /// A variable or a switch.
        what: String,
    },
    /// A delay that looks into the future.
    #[error("at {time} s delay {delay} is {value} s; it must be 0 or more")]
    Delay {
        /// When, in s.
        time: f64,
        /// Which of the system's.
        delay: usize,
        /// Its length in s.
        value: f64,
    },
    /// Too much work.
    #[error("more than {most} steps, at {time} s")]
    Steps {
        /// When it was given up, in s.
        time: f64,
        /// The limit.
        most: u64,
    },
}

impl SolveError {
    /// When it happened, in s.
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

/// What a solution took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Steps that became part of it.
    pub steps: u64,
    /// Steps that were too long.
    pub rejected: u64,
    /// Evaluations of the right-hand side.
    pub evaluations: u64,
    /// Limits reached or left, and switches.
    pub events: u64,
}

/// Solves `system` from 0 to `end`, in s, and shows the state to `look` at 0, `every`, twice `every` and so on; at an
/// instant at which the state jumps, as it is before.
///
/// # Errors
/// [`SolveError`]; what was shown up to its time is right.
pub fn solve(
    system: &mut (impl System + ?Sized),
    end: f64,
    every: f64,
    options: &Options,
    mut look: impl FnMut(f64, &[f64]),
) -> Result<Work, SolveError> {
    let mut stepper = Stepper::new(system, end, options)?;
    let mut state = stepper.state().to_vec();
    look(0.0, &state);
    let mut looks: u64 = 1;
    while stepper.time() < end {
        let piece = stepper.step()?;
        // The last look may be at the end but for its last bit.
        while looks as f64 * every <= piece.end() * (1.0 + 1e-12) {
            let time = looks as f64 * every;
            if time > end * (1.0 + 1e-12) {
                break;
            }
            piece.state(((time - piece.start) / piece.length).min(1.0), &mut state);
            look(time, &state);
            looks += 1;
        }
    }
    Ok(stepper.work())
}
