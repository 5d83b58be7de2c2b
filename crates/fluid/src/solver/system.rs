//! What is solved: a delay differential equation with saturated variables and switches.

/// One variable of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name, with the unit last: `queue_bits`.
    pub name: String,
    /// How large it usually is, above 0: errors below the tolerance times this do not count.
    pub scale: f64,
    /// It never falls below this: at the floor a negative slope counts as 0.
    pub floor: f64,
    /// It never rises above this: at the ceiling a positive slope counts as 0.
    pub ceiling: f64,
}

impl Variable {
    /// A variable without limits.
    pub fn new(name: impl Into<String>, scale: f64) -> Variable {
        Variable { name: name.into(), scale, floor: f64::NEG_INFINITY, ceiling: f64::INFINITY }
    }

    /// The same, kept within limits: a queue between empty and full, a rate up to that of its line.
    pub fn within(self, floor: f64, ceiling: f64) -> Variable {
        Variable { floor, ceiling, ..self }
    }
}

/// How far back one of a system's delays looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// Always this many s, 0 or more.
    Constant(f64),
    /// By the state, but never further than this many s: [`System::delay`] tells.
    Varying {
        /// The bound in s.
        longest: f64,
    },
}

impl Delay {
    /// The furthest that it looks back, in s.
    pub fn longest(self) -> f64 {
        match self {
            Delay::Constant(delay) | Delay::Varying { longest: delay } => delay,
        }
    }
}

/// The past of a solution, as far as its delays look.
pub trait Past {
    /// A variable, this delay ago.
    fn value(&self, delay: usize, variable: usize) -> f64;
    /// Its slope, this delay ago: of neutral equations.
    fn slope(&self, delay: usize, variable: usize) -> f64;
}

/// What a right-hand side is told.
#[derive(Clone, Copy)]
pub struct Now<'a> {
    /// The time in s.
    pub time: f64,
    /// The variables.
    pub state: &'a [f64],
    /// Whether each switch is on. A right-hand side asks these, never the sign itself: within a step it must stay
    /// smooth.
    pub modes: &'a [bool],
    /// The past.
    pub past: &'a dyn Past,
}

/// A delay differential equation, x'(t) = f(t, x(t), x(t - d1), ..., x'(t - d1), ...).
pub trait System {
    /// The variables, in the order of the state.
    fn variables(&self) -> &[Variable];

    /// The delays.
    fn delays(&self) -> &[Delay];

    /// The length of a varying delay in s, 0 or more.
    fn delay(&self, _index: usize, _time: f64, _state: &[f64]) -> f64 {
        0.0
    }

    /// The state up to the start.
    fn history(&self, time: f64, state: &mut [f64]);

    /// The right-hand side.
    fn derivative(&self, now: &Now<'_>, slopes: &mut [f64]);

    /// Whether it asks for slopes of the past. Their jumps are never smoothed.
    fn is_neutral(&self) -> bool {
        false
    }

    /// Number of switches.
    fn switches(&self) -> usize {
        0
    }

    /// A switch is on while this is above 0. In units in which 1 is much and a billionth nothing.
    fn switch(&self, _index: usize, _now: &Now<'_>) -> f64 {
        0.0
    }

    /// A switch went on or off: the system may remember, or change the state.
    fn switched(&mut self, _index: usize, _on: bool, _time: f64, _state: &mut [f64], _past: &dyn Past) {}

    /// Instants at which [`System::appointment`] is called.
    fn appointments(&self) -> Vec<f64> {
        Vec::new()
    }

    /// One of them has come: the state may jump.
    fn appointment(&mut self, _time: f64, _state: &mut [f64]) {}
}
