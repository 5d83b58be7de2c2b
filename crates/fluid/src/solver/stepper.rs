//! Step size control of the solver, and application of events.

use super::breaks::{Break, Breaks};
use super::events::{Event, Held, NEAR, What};
use super::history::{History, Piece, Seen};
use super::system::{Delay, Now, Past, System};
use super::tableau::{ERROR, NODES, STAGES, WEIGHTS};
use super::{Options, SolveError, Work};
use std::cell::Cell;

/// A variable whose magnitude exceeds this multiple of its scale has diverged.
const DIVERGED: f64 = 1e12;
/// Maximum number of iterations of a step in which delayed times are within the step itself. If the iteration does
/// not converge, the step is too long.
const ROUNDS: usize = 12;
/// Maximum number of events at one time, without a step between them.
const MOST_AT_ONCE: u32 = 1000;

/// State of a solution in progress.
pub(super) struct Stepper<'s, S: ?Sized> {
    pub(super) system: &'s mut S,
    pub(super) options: Options,
    end: f64,
    history: History,
    breaks: Breaks,
    memory: f64,
    pub(super) time: f64,
    pub(super) state: Vec<f64>,
    pub(super) modes: Vec<bool>,
    pub(super) held: Vec<Held>,
    /// Derivatives at the stages, without clamping. The derivatives of clamped variables count for the error
    /// estimate, so that steps are short enough to detect the time at which a variable leaves its limit.
    stages: [Vec<f64>; STAGES],
    /// Step length proposed by the error control.
    length: f64,
    last_error: f64,
    /// Set if the derivatives of the first stage are valid: they equal the last stage of the previous step (FSAL).
    fresh: bool,
    at_once: u32,
    appointments: Vec<f64>,
    pub(super) work: Work,
}

/// Attempted step, which may be rejected.
struct Tried {
    piece: Piece,
    to: Vec<f64>,
    error: f64,
    worst: usize,
}

impl<'s, S: System + ?Sized> Stepper<'s, S> {
    pub fn new(system: &'s mut S, end: f64, options: &Options) -> Result<Stepper<'s, S>, SolveError> {
        let count = system.variables().len();
        let mut state = vec![0.0; count];
        system.history(0.0, &mut state);
        let memory = system.delays().iter().map(|delay| delay.longest()).fold(0.0, f64::max);
        let mut appointments = system.appointments();
        appointments.retain(|&time| time >= 0.0 && time < end);
        appointments.sort_by(|a, b| b.total_cmp(a));
        let mut breaks = Breaks::default();
        appointments.iter().for_each(|&time| breaks.expect(Break { time, derivative: 0 }));
        let (delays, neutral) = (system.delays(), system.is_neutral());
        breaks.happened(Break { time: 0.0, derivative: 1 }, delays, neutral);
        let modes = vec![false; system.switches()];
        let mut stepper = Stepper {
            options: *options,
            end,
            history: History::default(),
            breaks,
            memory,
            time: 0.0,
            state,
            modes,
            held: vec![Held::Free; count],
            stages: std::array::from_fn(|_| vec![0.0; count]),
            length: 0.0,
            last_error: 1e-4,
            fresh: false,
            at_once: 0,
            appointments,
            work: Work::default(),
            system,
        };
        stepper.keep_appointments();
        // The initial states of the switches are set without events.
        for index in 0..stepper.modes.len() {
            stepper.modes[index] = stepper.with_now(None, |system, now| system.switch(index, now))? > 0.0;
        }
        stepper.settle(None)?;
        stepper.length = stepper.first_length();
        Ok(stepper)
    }

    pub fn time(&self) -> f64 {
        self.time
    }

    pub fn state(&self) -> &[f64] {
        &self.state
    }

    pub fn work(&self) -> Work {
        self.work
    }

    /// Returns the shortest step length, in s. Adding less to the time could have no effect because of rounding.
    pub(super) fn shortest(&self) -> f64 {
        32.0 * f64::EPSILON * self.time.abs().max(1e-3 * self.end)
    }

    fn first_length(&self) -> f64 {
        let quickest = |(at, variable): (usize, &super::Variable)| {
            variable.scale.max(self.state[at].abs()) / self.stages[0][at].abs()
        };
        let pace = self.system.variables().iter().enumerate().map(quickest).fold(f64::INFINITY, f64::min);
        let length = 0.05 * libm::pow(self.options.tolerance, 0.2) * pace;
        length.min(self.end / 100.0).max(1e3 * self.shortest())
    }

    /// Computes the next step, with as many attempts as necessary, and applies the event at its end.
    pub fn step(&mut self) -> Result<Piece, SolveError> {
        if !self.fresh {
            self.first_stage()?;
        }
        loop {
            if self.work.steps + self.work.rejected >= self.options.most_steps {
                return Err(SolveError::Steps { time: self.time, most: self.options.most_steps });
            }
            let (mut length, mut at_break) = self.next_length();
            let mut tried = self.attempt(length);
            // A delayed time that crosses a breaking point within the step makes the error estimate large. The step
            // is repeated so that it ends when the delayed time reaches the breaking point.
            if tried.error > 1.0
                && let Some(met) = self.first_break(&tried.piece)
                && met.time - self.time > self.shortest()
            {
                self.work.rejected += 1;
                (length, at_break) = (met.time - self.time, false);
                tried = self.attempt(length);
            }
            if tried.error > 1.0 {
                self.work.rejected += 1;
                let factor = (0.9 * libm::pow(tried.error, -0.2)).clamp(0.1, 0.9);
                self.length = length * if factor.is_nan() { 0.1 } else { factor };
                if self.length < self.shortest() {
                    return Err(self.stuck(&tried));
                }
                continue;
            }
            let Some(event) = self.first_event(&tried.piece)? else {
                return self.accept(tried, length, at_break, None);
            };
            // No step can be short enough to end at the event, so the event is applied at the current time.
            if event.time - self.time <= self.shortest() {
                self.happen(&event)?;
                continue;
            }
            let tried = self.attempt(event.time - self.time);
            return self.accept(tried, length, false, Some(event));
        }
    }

    /// Returns the length of the next step, and `true` if it ends at a breaking point.
    fn next_length(&self) -> (f64, bool) {
        let wanted = self.length.min(self.options.longest_step);
        let next = self.breaks.next().map_or(self.end, |next| next.time.min(self.end));
        let rest = next - self.time;
        // Extends a step that almost reaches the breaking point, to avoid a tiny last step; divides the rest into two
        // equal steps if the step covers more than half of it.
        if wanted >= 0.999 * rest {
            (rest, true)
        } else if wanted > 0.5 * rest {
            (0.5 * rest, false)
        } else {
            (wanted, false)
        }
    }

    fn stuck(&self, tried: &Tried) -> SolveError {
        let variable = self.system.variables()[tried.worst].name.clone();
        match tried.to.iter().position(|value| !value.is_finite()) {
            Some(at) => {
                let variable = self.system.variables()[at].name.clone();
                SolveError::Diverged { time: self.time, variable, value: self.state[at] }
            }
            None => SolveError::Stuck { time: self.time, variable },
        }
    }

    fn accept(
        &mut self,
        mut tried: Tried,
        attempted: f64,
        at_break: bool,
        event: Option<Event>,
    ) -> Result<Piece, SolveError> {
        let start = self.time;
        let next = self.breaks.next();
        self.time = match (&event, next) {
            (Some(event), _) => event.time,
            (None, Some(next)) if at_break && next.time <= self.end => next.time,
            (None, _) if at_break => self.end,
            (None, _) => start + tried.piece.length,
        };
        tried.piece.length = self.time - start;
        self.state.copy_from_slice(&tried.to);
        self.work.steps += 1;
        self.at_once = 0;
        for (variable, &value) in self.system.variables().iter().zip(&self.state) {
            if value.is_nan() || value.abs() > DIVERGED * variable.scale {
                return Err(SolveError::Diverged { time: self.time, variable: variable.name.clone(), value });
            }
        }
        // A step size controller with memory of the previous error (Hairer, Norsett and Wanner, IV.2) avoids
        // alternation of too long and too short steps.
        let factor = 0.9 * libm::pow(tried.error.max(1e-8), -0.17) * libm::pow(self.last_error, 0.04);
        self.last_error = tried.error.max(1e-4);
        let grown = attempted * factor.clamp(0.2, 5.0);
        // A step that was shortened for an event or a breaking point does not change the length of the next step.
        if !at_break && event.is_none() {
            self.length = grown;
        }
        let oldest = self.time - self.memory * (1.0 + 1e-9);
        self.history.push(tried.piece.clone(), oldest);
        self.breaks.forget(oldest);
        self.stages.swap(0, STAGES - 1);
        self.fresh = true;
        if let Some(event) = event {
            self.happen(&event)?;
        }
        if at_break && next.is_some_and(|next| next.time <= self.time) {
            self.jump(next)?;
        }
        Ok(tried.piece)
    }

    /// Handles a breaking point that the solution has reached.
    fn jump(&mut self, at: Option<Break>) -> Result<(), SolveError> {
        let Some(at) = at else { return Ok(()) };
        self.breaks.pop();
        self.keep_appointments();
        self.breaks.happened(at, self.system.delays(), self.system.is_neutral());
        self.settle(None)
    }

    fn keep_appointments(&mut self) {
        while self.appointments.last().is_some_and(|&time| time <= self.time + self.shortest()) {
            self.appointments.pop();
            self.system.appointment(self.time, &mut self.state);
            self.fresh = false;
        }
    }

    /// Applies an event at the current time.
    fn happen(&mut self, event: &Event) -> Result<(), SolveError> {
        self.work.events += 1;
        self.at_once += 1;
        if self.at_once > MOST_AT_ONCE {
            return Err(SolveError::Chatter { time: self.time, what: event.name(self.system) });
        }
        let (mut derivative, mut switched) = (1, None);
        match event.what {
            What::Reached { variable, limit } => self.state[variable] = limit,
            What::Left { .. } => {}
            What::Switch { index, on } => {
                self.set_switch(index, on)?;
                switched = Some(index);
            }
            What::Break { derivative: met } => derivative = met,
        }
        let at = Break { time: self.time, derivative };
        self.breaks.happened(at, self.system.delays(), self.system.is_neutral());
        self.settle(switched)?;
        if let What::Left { variable } = event.what {
            // The derivative is 0 except for rounding errors, so its sign must not clamp the variable again.
            self.held[variable] = Held::Free;
        }
        Ok(())
    }

    fn set_switch(&mut self, index: usize, on: bool) -> Result<(), SolveError> {
        self.modes[index] = on;
        let mut lags = vec![0.0; self.system.delays().len()];
        self.lags(self.time, &self.state, &mut lags)?;
        let current = Piece::rest(self.time, &self.state);
        let overlapped = Cell::new(false);
        let mut state = self.state.clone();
        // The delayed values are tabulated first because the call changes the system. The tabulated values depend on
        // the system only before the start of the solution.
        let delayed: Vec<(f64, f64)> = {
            let seen = Seen {
                system: &*self.system,
                history: &self.history,
                current: &current,
                time: self.time,
                lags: &lags,
                right: false,
                overlapped: &overlapped,
            };
            let all = (0..lags.len()).flat_map(|delay| (0..state.len()).map(move |variable| (delay, variable)));
            all.map(|(delay, variable)| (seen.value(delay, variable), seen.slope(delay, variable))).collect()
        };
        let past = Table { variables: state.len(), delayed };
        self.system.switched(index, on, self.time, &mut state, &past);
        self.state = state;
        Ok(())
    }

    /// Updates all switches and the clamping of variables for the current state. The switch `switched` has just
    /// changed: its value is 0 except for rounding errors, so the sign of its value is ignored.
    fn settle(&mut self, switched: Option<usize>) -> Result<(), SolveError> {
        for index in (0..self.modes.len()).filter(|index| Some(*index) != switched) {
            let value = self.with_now(None, |system, now| system.switch(index, now))?;
            if value.abs() > NEAR && (value > 0.0) != self.modes[index] {
                self.set_switch(index, value > 0.0)?;
            }
        }
        self.held.fill(Held::Free);
        self.first_stage()?;
        for (at, variable) in self.system.variables().iter().enumerate() {
            self.held[at] = Held::by(variable, self.state[at], self.stages[0][at]);
        }
        Ok(())
    }

    /// Computes the derivatives at the first stage, the start of a step.
    fn first_stage(&mut self) -> Result<(), SolveError> {
        let (time, state) = (self.time, self.state.clone());
        let mut slopes = std::mem::take(&mut self.stages[0]);
        let current = Piece::rest(time, &state);
        let overlapped = Cell::new(false);
        let outcome = self.slopes(time, &state, &current, true, &overlapped, &mut slopes);
        self.stages[0] = slopes;
        self.fresh = true;
        outcome
    }

    fn lags(&self, time: f64, state: &[f64], lags: &mut [f64]) -> Result<(), SolveError> {
        for (index, (lag, delay)) in lags.iter_mut().zip(self.system.delays()).enumerate() {
            *lag = match delay {
                Delay::Constant(delay) => *delay,
                Delay::Varying { longest } => self.system.delay(index, time, state).min(*longest),
            };
            if lag.is_nan() || *lag < 0.0 {
                return Err(SolveError::Delay { time, delay: index, value: *lag });
            }
        }
        Ok(())
    }

    /// Calls `ask` with the system and its inputs at a time within the step `current`, or at the start of the next
    /// step if it is `None`.
    pub(super) fn with_now<T>(
        &self,
        current: Option<(&Piece, f64)>,
        ask: impl FnOnce(&S, &Now<'_>) -> T,
    ) -> Result<T, SolveError> {
        let (piece, time, state, right) = match current {
            Some((piece, time)) => {
                let mut state = self.state.clone();
                piece.state((time - piece.start) / piece.length, &mut state);
                (piece.clone(), time, state, false)
            }
            None => {
                let piece = Piece::rest(self.time, &self.state);
                (piece, self.time, self.state.clone(), true)
            }
        };
        let mut lags = vec![0.0; self.system.delays().len()];
        self.lags(time, &state, &mut lags)?;
        let overlapped = Cell::new(false);
        let (system, history, lags) = (&*self.system, &self.history, &lags[..]);
        let past = Seen { system, history, current: &piece, time, lags, right, overlapped: &overlapped };
        Ok(ask(system, &Now { time, state: &state, modes: &self.modes, past: &past }))
    }

    fn slopes(
        &mut self,
        time: f64,
        state: &[f64],
        current: &Piece,
        right: bool,
        overlapped: &Cell<bool>,
        slopes: &mut [f64],
    ) -> Result<(), SolveError> {
        self.work.evaluations += 1;
        let mut lags = vec![0.0; self.system.delays().len()];
        self.lags(time, state, &mut lags)?;
        let (system, history, lags) = (&*self.system, &self.history, &lags[..]);
        let past = Seen { system, history, current, time, lags, right, overlapped };
        system.derivative(&Now { time, state, modes: &self.modes, past: &past }, slopes);
        Ok(())
    }

    /// Attempts a step of this length. If delayed times are within the step itself, the step is iterated until it
    /// converges.
    fn attempt(&mut self, length: f64) -> Tried {
        let from = self.state.clone();
        let free: Vec<bool> = self.held.iter().map(|held| *held == Held::Free).collect();
        let mut piece = Piece::line(self.time, length, &from, &self.stages[0], &free);
        let mut stages = std::mem::take(&mut self.stages);
        let (mut to, mut before) = (from.clone(), from.clone());
        let mut tried = (f64::INFINITY, 0);
        for round in 0..ROUNDS {
            let (overlapped, mut outside) = (Cell::new(false), false);
            for stage in 1..STAGES {
                for (at, x) in to.iter_mut().enumerate().filter(|(at, _)| free[*at]) {
                    let slope: f64 = (0..stage).map(|earlier| WEIGHTS[stage][earlier] * stages[earlier][at]).sum();
                    *x = from[at] + length * slope;
                }
                let time = self.time + NODES[stage] * length;
                let mut slopes = std::mem::take(&mut stages[stage]);
                // The state of a stage may be outside the domain of the system, for example a negative rate; the step
                // is then too long.
                outside |= self.slopes(time, &to, &piece, false, &overlapped, &mut slopes).is_err();
                stages[stage] = slopes;
            }
            if outside {
                tried = (f64::INFINITY, 0);
                break;
            }
            piece = Piece::of_step(self.time, length, &from, &to, &stages, &free);
            let error = |at: usize| length * (0..STAGES).map(|stage| ERROR[stage] * stages[stage][at]).sum::<f64>();
            tried = self.largest(&from, &to, error);
            if !overlapped.get() {
                break;
            }
            let (change, _) = self.largest(&from, &to, |at| to[at] - before[at]);
            if round > 0 && change <= 0.05 {
                break;
            }
            before.copy_from_slice(&to);
            if round == ROUNDS - 1 {
                // The iteration did not converge. An error of 32 tolerances halves the step.
                tried = (32.0, 0);
            }
        }
        self.stages = stages;
        Tried { piece, to, error: tried.0, worst: tried.1 }
    }

    /// Returns the largest error in multiples of the tolerance, and the index of its variable. NaN counts as too
    /// large.
    fn largest(&self, from: &[f64], to: &[f64], error: impl Fn(usize) -> f64) -> (f64, usize) {
        let variables = self.system.variables().iter().enumerate();
        let share = |(at, variable): (usize, &super::Variable)| {
            let size = variable.scale.max(from[at].abs()).max(to[at].abs());
            let share = (error(at) / (self.options.tolerance * size)).abs();
            (if share.is_nan() { f64::INFINITY } else { share }, at)
        };
        variables.map(share).fold((0.0, 0), |most, next| if next.0 > most.0 { next } else { most })
    }

    /// Returns the derivative of a variable at the last stage of the last attempt, without clamping.
    pub(super) fn last_slope(&self, variable: usize) -> f64 {
        self.stages[STAGES - 1][variable]
    }

    pub(super) fn breaks(&self) -> &Breaks {
        &self.breaks
    }
}

/// Delayed values and derivatives at one time, per delay and variable.
struct Table {
    variables: usize,
    delayed: Vec<(f64, f64)>,
}

impl Past for Table {
    fn value(&self, delay: usize, variable: usize) -> f64 {
        self.delayed[delay * self.variables + variable].0
    }

    fn slope(&self, delay: usize, variable: usize) -> f64 {
        self.delayed[delay * self.variables + variable].1
    }
}
