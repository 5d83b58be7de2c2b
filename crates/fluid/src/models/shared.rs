//! What every model has in common: flows of several kinds over one queue, and where a model rests.
//!
//! ```text
//!  state:  [ rate, what else its control has ] of the first kind of flows, of the second, ..., queue
//! ```

use crate::solver::{Delay, Now, System, Variable};

/// The link that all flows share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// Its rate C in bit/s, above 0.
    pub rate: f64,
    /// What its queue holds at most, in bits.
    pub buffer: f64,
}

/// Flows that are alike: of the same start, round trip and rate. In a model without chance they do the same, so one of
/// them is solved for all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flows {
    /// How many there are, 1 or more.
    pub count: u32,
    /// When they begin, in s.
    pub start: f64,
    /// The delay of their control loop without queues, in s.
    pub rtt: f64,
    /// The rate that they begin with, in bit/s.
    pub rate: f64,
}

/// What flows of a kind have of their own.
pub(super) struct Kind<const EACH: usize> {
    /// Their variables, the rate first, each with its value at the start.
    pub variables: [(Variable, f64); EACH],
    /// Their delays.
    pub delays: Vec<Delay>,
}

/// What every model has in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// The link.
    pub bottleneck: Bottleneck,
    /// Who sends over it.
    pub flows: Vec<Flows>,
    started: Vec<bool>,
    /// Variables of a kind of flows.
    each: usize,
    variables: Vec<Variable>,
    delays: Vec<Delay>,
    first: Vec<f64>,
}

impl Shared {
    /// Flows over a link, of which none has begun, and an empty queue, which is usually around `queue_bits`. `kind`
    /// tells what flows have, by their place and themselves.
    pub(super) fn new<const EACH: usize>(
        bottleneck: Bottleneck,
        flows: Vec<Flows>,
        queue_bits: f64,
        kind: impl Fn(&Shared, usize, &Flows) -> Kind<EACH>,
    ) -> Shared {
        let started = vec![false; flows.len()];
        let (variables, delays, first) = (Vec::new(), Vec::new(), Vec::new());
        let mut shared = Shared { bottleneck, flows, started, each: EACH, variables, delays, first };
        for at in 0..shared.flows.len() {
            let kind = kind(&shared, at, &shared.flows[at]);
            for (variable, first) in kind.variables {
                shared.variables.push(variable);
                shared.first.push(first);
            }
            shared.delays.extend(kind.delays);
        }
        shared.variables.push(Variable::new("queue_bits", queue_bits).within(0.0, bottleneck.buffer));
        shared.first.push(0.0);
        shared
    }

    /// The number of flows.
    pub fn count(&self) -> f64 {
        self.flows.iter().map(|flows| f64::from(flows.count)).sum()
    }

    /// What each gets of the link if all get the same, in bit/s.
    pub fn fair_share(&self) -> f64 {
        self.bottleneck.rate / self.count()
    }

    /// Where the rate of these flows stands in the state; what else their control has follows.
    pub fn rate(&self, flows: usize) -> usize {
        self.each * flows
    }

    /// Where the queue stands in the state.
    pub fn queue(&self) -> usize {
        self.each * self.flows.len()
    }

    /// The variables, the queue last.
    pub(super) fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The delays.
    pub(super) fn delays(&self) -> &[Delay] {
        &self.delays
    }

    /// The state at the start.
    pub(super) fn first(&self) -> &[f64] {
        &self.first
    }

    /// When flows begin.
    pub(super) fn starts(&self) -> Vec<f64> {
        self.flows.iter().map(|flows| flows.start).collect()
    }

    /// Flows of which the start has come send from now on.
    pub(super) fn begin(&mut self, time: f64) {
        for (flows, started) in self.flows.iter().zip(&mut self.started) {
            *started |= flows.start <= time * (1.0 + 1e-12);
        }
    }

    /// Whether these flows have begun.
    pub(super) fn has_begun(&self, flows: usize) -> bool {
        self.started[flows]
    }

    /// The variable of a rate: from `least` to the rate of the link.
    pub(super) fn rate_variable(&self, name: String, least: f64) -> Variable {
        let line = self.bottleneck.rate;
        Variable::new(name, line / self.count()).within(least, line)
    }

    /// The sum of the rates of flows that have begun, where `rate` tells one of each kind.
    pub(super) fn total(&self, rate: impl Fn(usize) -> f64) -> f64 {
        let begun = (0..self.flows.len()).filter(|&at| self.started[at]);
        begun.map(|at| f64::from(self.flows[at].count) * rate(at)).sum()
    }

    /// What flows of this kind have in the state.
    pub(super) fn own<'a>(&self, flows: usize, state: &'a [f64]) -> &'a [f64] {
        &state[self.rate(flows)..][..self.each]
    }

    /// The slope of the queue, and by `control` those of flows that have begun; all others rest.
    pub(super) fn slopes(&self, now: &Now<'_>, slopes: &mut [f64], control: impl Fn(usize, &mut [f64])) {
        slopes.fill(0.0);
        slopes[self.queue()] = self.total(|at| now.state[self.rate(at)]) - self.bottleneck.rate;
        for at in (0..self.flows.len()).filter(|&at| self.started[at]) {
            control(at, &mut slopes[self.rate(at)..][..self.each]);
        }
    }

    /// A state in which all flows have the same, and the queue is this long.
    pub(super) fn alike(&self, own: &[f64], queue: f64) -> Vec<f64> {
        let mut state = own.repeat(self.flows.len());
        state.push(queue);
        state
    }
}

/// Where a model rests, and what of it moves about there.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedPoint {
    /// The state.
    pub state: Vec<f64>,
    /// How its switches stand.
    pub modes: Vec<bool>,
    /// The variables that take part; all others are held or feed nothing back.
    pub moving: Vec<usize>,
}

/// A fluid model.
pub trait Model: System {
    /// The link and the flows.
    fn shared(&self) -> &Shared;

    /// Where the rate of these flows stands in the state.
    fn rate(&self, flows: usize) -> usize {
        self.shared().rate(flows)
    }

    /// Where the queue stands in the state.
    fn queue(&self) -> usize {
        self.shared().queue()
    }

    /// Where it rests with all flows begun.
    ///
    /// # Errors
    /// Why there is no such point.
    fn fixed_point(&self) -> Result<FixedPoint, String>;

    /// The same control with other flows, all begun.
    fn with_flows(&self, flows: Vec<Flows>) -> Box<dyn Model>;
}

/// The parts of [`System`] that all models here share.
macro_rules! system {
    () => {
        fn variables(&self) -> &[Variable] {
            self.shared.variables()
        }
        fn delays(&self) -> &[Delay] {
            self.shared.delays()
        }
        fn history(&self, _: f64, state: &mut [f64]) {
            state.copy_from_slice(self.shared.first());
        }
        fn appointments(&self) -> Vec<f64> {
            self.shared.starts()
        }
        fn appointment(&mut self, time: f64, _: &mut [f64]) {
            self.shared.begin(time);
        }
    };
}
pub(super) use system;

/// The parts of [`Model`] that all models here share.
macro_rules! model {
    () => {
        fn shared(&self) -> &Shared {
            &self.shared
        }
        fn with_flows(&self, flows: Vec<Flows>) -> Box<dyn Model> {
            let mut model = Self::new(self.shared.bottleneck, flows, self.parameters);
            model.shared.begin(f64::INFINITY);
            Box::new(model)
        }
    };
}
pub(super) use model;
