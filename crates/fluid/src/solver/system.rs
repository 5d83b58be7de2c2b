//! Problem definition: a delay differential equation with saturated variables and switches.

/// Variable of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Name, with the unit last: `queue_bits`.
    pub name: String,
    /// Typical magnitude, above 0: errors below the tolerance times this are ignored.
    pub scale: f64,
    /// Lower limit: at the limit, a negative derivative counts as 0.
    pub floor: f64,
    /// Upper limit: at the limit, a positive derivative counts as 0.
    pub ceiling: f64,
}

impl Variable {
    /// Creates a variable without limits.
    pub fn new(name: impl Into<String>, scale: f64) -> Variable {
        Variable { name: name.into(), scale, floor: f64::NEG_INFINITY, ceiling: f64::INFINITY }
    }

    /// Returns the variable with limits: a queue between empty and full, a rate up to the link rate.
    pub fn within(self, floor: f64, ceiling: f64) -> Variable {
        Variable { floor, ceiling, ..self }
    }
}

/// Delay of a system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// Constant, in s, 0 or more.
    Constant(f64),
    /// State-dependent, returned by [`System::delay`].
    Varying {
        /// Upper bound, in s.
        longest: f64,
    },
}

impl Delay {
    /// Returns the maximum delay, in s.
    pub fn longest(self) -> f64 {
        match self {
            Delay::Constant(delay) | Delay::Varying { longest: delay } => delay,
        }
    }
}

/// Past of a solution, within its delays.
pub trait Past {
    /// Returns a variable at this delay.
    fn value(&self, delay: usize, variable: usize) -> f64;
    /// Returns the time derivative of a variable at this delay, for neutral equations.
    fn slope(&self, delay: usize, variable: usize) -> f64;
}

/// Input of a right-hand side.
#[derive(Clone, Copy)]
pub struct Now<'a> {
    /// Time, in s.
    pub time: f64,
    /// Variables.
    pub state: &'a [f64],
    /// State of each switch. A right-hand side must use these instead of signs, so that it is smooth within a step.
    pub modes: &'a [bool],
    /// Past.
    pub past: &'a dyn Past,
}

/// Delay differential equation, x'(t) = f(t, x(t), x(t - d1), ..., x'(t - d1), ...).
pub trait System {
    /// Returns the variables, in the order of the state.
    fn variables(&self) -> &[Variable];

    /// Returns the delays.
    fn delays(&self) -> &[Delay];

    /// Returns the length of a varying delay in s, 0 or more.
    fn delay(&self, _index: usize, _time: f64, _state: &[f64]) -> f64 {
        0.0
    }

    /// Computes the state at times up to the start: the initial history.
    fn history(&self, time: f64, state: &mut [f64]);

    /// Computes the right-hand side.
    fn derivative(&self, now: &Now<'_>, slopes: &mut [f64]);

    /// Returns `true` if the equation is neutral: it uses delayed derivatives, whose discontinuities are never
    /// smoothed.
    fn is_neutral(&self) -> bool {
        false
    }

    /// Returns the number of switches.
    fn switches(&self) -> usize {
        0
    }

    /// Returns the value of a switch, which is on while the value is above 0. Scaled so that 1 is large and 1e-9
    /// negligible.
    fn switch(&self, _index: usize, _now: &Now<'_>) -> f64 {
        0.0
    }

    /// Notifies of a switch change. The system may record it or change the state.
    fn switched(&mut self, _index: usize, _on: bool, _time: f64, _state: &mut [f64], _past: &dyn Past) {}

    /// Returns the times of calls of [`System::appointment`].
    fn appointments(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Handles a scheduled time, at which the state may change discontinuously.
    fn appointment(&mut self, _time: f64, _state: &mut [f64]) {}
}
