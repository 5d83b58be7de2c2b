//! Problem definition: a delay differential equation with saturated variables and switches.

/// State variable of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Name, with the unit last: `queue_bits`.
    pub name: String,
    /// Typical magnitude, above 0. Errors below the tolerance times the scale are ignored.
    pub scale: f64,
    /// Lower limit. At this limit, the variable is clamped: a negative derivative counts as 0.
    pub floor: f64,
    /// Upper limit. At this limit, the variable is clamped: a positive derivative counts as 0.
    pub ceiling: f64,
}

impl Variable {
    /// Creates a variable without limits.
    pub fn new(name: impl Into<String>, scale: f64) -> Variable {
        Variable { name: name.into(), scale, floor: f64::NEG_INFINITY, ceiling: f64::INFINITY }
    }

    /// Returns the variable with limits, for example 0 and the buffer size for a queue, or up to the link rate for a
    /// rate.
    pub fn within(self, floor: f64, ceiling: f64) -> Variable {
        Variable { floor, ceiling, ..self }
    }
}

/// Delay of a delay differential equation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// Constant, in s, 0 or more.
    Constant(f64),
    /// State-dependent, returned by [`System::delay`].
    Varying {
        /// Upper bound of the delay, in s.
        longest: f64,
    },
}

impl Delay {
    /// Returns the upper bound of the delay, in s.
    pub fn longest(self) -> f64 {
        match self {
            Delay::Constant(delay) | Delay::Varying { longest: delay } => delay,
        }
    }
}

/// Delayed values and derivatives of the state variables.
pub trait Past {
    /// Returns the value of a variable, delayed by the delay with index `delay`.
    fn value(&self, delay: usize, variable: usize) -> f64;
    /// Returns the time derivative of a variable, delayed by the delay with index `delay`; for neutral equations.
    fn slope(&self, delay: usize, variable: usize) -> f64;
}

/// Inputs of the right-hand side of the equation.
#[derive(Clone, Copy)]
pub struct Now<'a> {
    /// Time, in s.
    pub time: f64,
    /// Values of the state variables.
    pub state: &'a [f64],
    /// State of each switch. A right-hand side must use these states, not the signs of the switch values, so that it
    /// is smooth within a step.
    pub modes: &'a [bool],
    /// Delayed values.
    pub past: &'a dyn Past,
}

/// Delay differential equation, x'(t) = f(t, x(t), x(t - d1), x(t - d2), ..., x'(t - d1), ...).
pub trait System {
    /// Returns the variables, in the order of the state.
    fn variables(&self) -> &[Variable];

    /// Returns the delays; [`Past`] uses their indices.
    fn delays(&self) -> &[Delay];

    /// Returns the value of a state-dependent delay in s, 0 or more.
    fn delay(&self, _index: usize, _time: f64, _state: &[f64]) -> f64 {
        0.0
    }

    /// Computes the initial history: the state at a time before or at the start.
    fn history(&self, time: f64, state: &mut [f64]);

    /// Computes the right-hand side: the time derivative of each variable.
    fn derivative(&self, now: &Now<'_>, slopes: &mut [f64]);

    /// Returns `true` if the equation is neutral, that is, uses delayed derivatives. In a neutral equation a
    /// discontinuity of a derivative keeps its order when it propagates along a delay.
    fn is_neutral(&self) -> bool {
        false
    }

    /// Returns the number of switches.
    fn switches(&self) -> usize {
        0
    }

    /// Returns the value of a switch. The switch is on while the value is above 0. The value must be scaled so that
    /// 1e-9 is negligible.
    fn switch(&self, _index: usize, _now: &Now<'_>) -> f64 {
        0.0
    }

    /// Handles the change of a switch. The system may record the change or modify the state.
    fn switched(&mut self, _index: usize, _on: bool, _time: f64, _state: &mut [f64], _past: &dyn Past) {}

    /// Returns the times in s at which the solver calls [`System::appointment`].
    fn appointments(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Handles a time of [`System::appointments`]. The system may change the state discontinuously.
    fn appointment(&mut self, _time: f64, _state: &mut [f64]) {}
}
