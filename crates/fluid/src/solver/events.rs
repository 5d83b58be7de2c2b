//! Events: times within a step at which the right-hand side changes because a variable reaches or leaves a limit, a
//! switch changes, or a varying delay reaches an earlier discontinuity.

use super::SolveError;
use super::history::Piece;
use super::stepper::Stepper;
use super::system::{Delay, System, Variable};

/// Number of bisections that locate an event, to 1e-12 of the step length.
const HALVINGS: u32 = 40;
/// Dead band of switches: a switch changes only if its value passes 0 by this much, so that rounding at 0 has no
/// effect.
pub(super) const NEAR: f64 = 1e-9;
/// Fractions of a step at which limits and switches are checked for a change.
const SHARES: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// State of a variable with limits: free, or clamped at a limit. The derivative of a clamped variable is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    Free,
    Floor,
    Ceiling,
}

impl Held {
    /// Returns the limit at which a variable with this value is clamped, given its derivative `slope` without
    /// clamping.
    pub fn by(variable: &Variable, value: f64, slope: f64) -> Held {
        if value <= variable.floor && slope < 0.0 {
            Held::Floor
        } else if value >= variable.ceiling && slope > 0.0 {
            Held::Ceiling
        } else {
            Held::Free
        }
    }
}

/// Kind of event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    /// A variable reaches a limit; its value is set to exactly this limit.
    Reached { variable: usize, limit: f64 },
    /// A clamped variable leaves its limit.
    Left { variable: usize },
    /// A switch is turned on or off.
    Switch { index: usize, on: bool },
    /// The delayed time of a state-dependent delay reaches a discontinuity of the past, so that this derivative of
    /// the solution is discontinuous at the event.
    Break { derivative: u8 },
}

/// Event with its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event {
    pub time: f64,
    pub what: What,
}

impl Event {
    pub fn name(&self, system: &(impl System + ?Sized)) -> String {
        match self.what {
            What::Reached { variable, .. } | What::Left { variable } => {
                format!("the limit of `{}`", system.variables()[variable].name)
            }
            What::Switch { index, .. } => format!("switch {index}"),
            What::Break { .. } => "a delay".to_owned(),
        }
    }
}

impl<S: System + ?Sized> Stepper<'_, S> {
    /// Returns the first event in a step.
    pub(super) fn first_event(&mut self, piece: &Piece) -> Result<Option<Event>, SolveError> {
        let mut first: Option<(f64, What)> = None;
        let mut note = |found: Option<(f64, What)>| {
            if let Some(found) = found
                && first.is_none_or(|first| found.0 < first.0)
            {
                first = Some(found);
            }
        };
        for variable in 0..self.state.len() {
            note(match self.held[variable] {
                Held::Free => self.reaches(piece, variable),
                Held::Floor => self.leaves(piece, variable, 1.0)?,
                Held::Ceiling => self.leaves(piece, variable, -1.0)?,
            });
        }
        for index in 0..self.modes.len() {
            note(self.turns(piece, index)?);
        }
        let first = first.map(|(share, what)| Event { time: piece.start + share * piece.length, what });
        Ok([first, self.first_break(piece)].into_iter().flatten().min_by(|a, b| a.time.total_cmp(&b.time)))
    }

    /// Returns the first time in a step at which the delayed time of a state-dependent delay reaches a discontinuity.
    pub(super) fn first_break(&self, piece: &Piece) -> Option<Event> {
        // A delayed time that crosses a discontinuity within the shortest step counts as having crossed it at the
        // start, because no step can end so early. Hence delayed times are compared with the offset `near`.
        let near = (1e-9 * piece.length).max(4.0 * self.shortest());
        let mut state = vec![0.0; self.state.len()];
        let mut first: Option<Event> = None;
        for (index, _) in
            self.system.delays().iter().enumerate().filter(|(_, delay)| matches!(delay, Delay::Varying { .. }))
        {
            let mut delayed_time = |share: f64| {
                let time = piece.start + share * piece.length;
                piece.state(share, &mut state);
                time - self.system.delay(index, time, &state)
            };
            let (from, to) = (delayed_time(0.0) + near, delayed_time(1.0) + near);
            let Some(at) = self.breaks().met(from, to) else { continue };
            let share = first_below(1.0, |share| at.time - delayed_time(share));
            let derivative = if self.system.is_neutral() { at.derivative.max(1) } else { at.derivative + 1 };
            let time = piece.start + share * piece.length;
            if time - piece.start > self.shortest() && first.is_none_or(|first| time < first.time) {
                first = Some(Event { time, what: What::Break { derivative } });
            }
        }
        first
    }

    /// Returns the time at which a free variable reaches one of its limits.
    fn reaches(&self, piece: &Piece, at: usize) -> Option<(f64, What)> {
        let variable = &self.system.variables()[at];
        let near = self.options.tolerance * 1e-3 * variable.scale;
        for share in SHARES {
            let value = piece.value(at, share);
            let (limit, sign) = if value < variable.floor - near {
                (variable.floor, 1.0)
            } else if value > variable.ceiling + near {
                (variable.ceiling, -1.0)
            } else {
                continue;
            };
            let share = first_below(share, |share| sign * (piece.value(at, share) - limit));
            return Some((share, What::Reached { variable: at, limit }));
        }
        None
    }

    /// Returns the time at which a clamped variable leaves its limit: its derivative, times `sign`, becomes positive.
    fn leaves(&self, piece: &Piece, at: usize, sign: f64) -> Result<Option<(f64, What)>, SolveError> {
        let slope = |share: f64| {
            let mut slopes = vec![0.0; self.state.len()];
            let time = piece.start + share * piece.length;
            self.with_now(Some((piece, time)), |system, now| system.derivative(now, &mut slopes))?;
            Ok::<f64, SolveError>(sign * slopes[at])
        };
        let end = if slope(0.5)? > 0.0 {
            0.5
        } else if sign * self.last_slope(at) > 0.0 {
            1.0
        } else {
            return Ok(None);
        };
        let mut failed = None;
        let share = first_below(end, |share| {
            -slope(share).unwrap_or_else(|error| {
                failed = Some(error);
                0.0
            })
        });
        failed.map_or(Ok(Some((share, What::Left { variable: at }))), Err)
    }

    /// Returns the time at which a switch changes.
    fn turns(&self, piece: &Piece, index: usize) -> Result<Option<(f64, What)>, SolveError> {
        let on = self.modes[index];
        let value = |share: f64| {
            let time = piece.start + share * piece.length;
            let value = self.with_now(Some((piece, time)), |system, now| system.switch(index, now))?;
            Ok::<f64, SolveError>(if on { value } else { -value })
        };
        for share in [0.5, 1.0] {
            if value(share)? < -NEAR {
                let mut failed = None;
                let share = first_below(share, |share| {
                    value(share).unwrap_or_else(|error| {
                        failed = Some(error);
                        0.0
                    })
                });
                return failed.map_or(Ok(Some((share, What::Switch { index, on: !on }))), Err);
            }
        }
        Ok(None)
    }
}

/// Returns the point in 0..=`end` at which a function becomes negative. It must be negative at `end`, and must change
/// its sign only once.
fn first_below(end: f64, mut function: impl FnMut(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, end);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if function(middle) < 0.0 { high = middle } else { low = middle }
    }
    high
}
