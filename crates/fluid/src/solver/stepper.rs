//! Step control.

use super::breaks::{Break, Breaks};
use super::events::{Event, Held, NEAR, What};
use super::history::{History, Piece, Seen};
use super::system::{Delay, Now, Past, System};
use super::tableau::{ERROR, NODES, STAGES, WEIGHTS};
use super::{Options, SolveError, Work};
use std::cell::Cell;

/// A variable whose magnitude exceeds this multiple of its scale has diverged.
const DIVERGED: f64 = 1e12;
/// Maximum number of iterations of a step whose delays reach into the step itself. A step that does not converge is
/// too long.
const ROUNDS: usize = 12;
/// Maximum number of events without a step between them.
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
    /// Derivatives at the stages as the system returns them. The derivatives of clamped variables count for the
    /// error, so that steps are short enough to detect their release.
    stages: [Vec<f64>; STAGES],
    /// Step length by the error control.
    length: f64,
    last_error: f64,
    /// Set if the first stage equals the last stage of the previous step.
    fresh: bool,
    at_once: u32,
    appointments: Vec<f64>,
    pub(super) work: Work,
}

/// Step attempt.
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
        // Initial values of switches are not events.
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

    /// Returns the shortest step: because of rounding, shorter steps would not change the time.
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

    /// Takes a step.
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
            // A breaking point reached by a state-dependent delay makes the error estimate large: retry with a step
            // that ends at the breaking point.
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
            // No step can end so close, so the event is applied at the current time.
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
        // Avoids a tiny last step, and a step much shorter than necessary.
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
        // A controller with memory (Hairer, Norsett and Wanner, IV.2) avoids alternation of too long and too short
        // steps.
        let factor = 0.9 * libm::pow(tried.error.max(1e-8), -0.17) * libm::pow(self.last_error, 0.04);
        self.last_error = tried.error.max(1e-4);
        let grown = attempted * factor.clamp(0.2, 5.0);
        // The error of a step that was shortened for an event or a breaking point does not determine the next length.
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

    /// Handles a breaking point.
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

    /// Applies an event.
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
            // The derivative is 0 except for rounding, which must not clamp the variable again.
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

    /// Updates switches and clamped variables for the current state. The value of the switch `switched` is 0 except
    /// for rounding, so its sign is ignored.
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

    /// Computes the derivatives at the start of a step.
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

    /// Calls `ask` with the system at a time within `current`, or at the start of the next step.
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

    /// Attempts a step of this length. If delays reach into it, it is iterated until it converges.
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
                // A stage may be outside the valid range of the system, such as a negative rate: the step is too long
                // then.
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
                // No convergence: the step will be halved.
                tried = (32.0, 0);
            }
        }
        self.stages = stages;
        Tried { piece, to, error: tried.0, worst: tried.1 }
    }

    /// Returns the largest of these errors in multiples of the tolerance, and its variable. NaN counts as too large.
    fn largest(&self, from: &[f64], to: &[f64], error: impl Fn(usize) -> f64) -> (f64, usize) {
        let variables = self.system.variables().iter().enumerate();
        let share = |(at, variable): (usize, &super::Variable)| {
            let size = variable.scale.max(from[at].abs()).max(to[at].abs());
            let share = (error(at) / (self.options.tolerance * size)).abs();
            (if share.is_nan() { f64::INFINITY } else { share }, at)
        };
        variables.map(share).fold((0.0, 0), |most, next| if next.0 > most.0 { next } else { most })
    }

    /// Returns the derivative of a variable at the end of the last attempt, without limits.
    pub(super) fn last_slope(&self, variable: usize) -> f64 {
        self.stages[STAGES - 1][variable]
    }

    pub(super) fn breaks(&self) -> &Breaks {
        &self.breaks
    }
}

/// All delayed values and slopes at one time.
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
