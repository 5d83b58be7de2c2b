//! Common parts of all models: groups of flows over one queue, and fixed points.
//!
//! ```text
//!   state:  [ rate, other variables of the control ] of the first group of flows, of the second group, ..., queue
//! ```

use crate::solver::{Delay, Now, System, Variable};

/// Link that all flows share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// Link rate C in bit/s, above 0.
    pub rate: f64,
    /// Buffer size, in bits.
    pub buffer: f64,
}

/// Group of equal flows with one start time, RTT and initial rate. Models are deterministic, so one flow per group is
/// solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flows {
    /// Number of flows, 1 or more.
    pub count: u32,
    /// Start time, in s.
    pub start: f64,
    /// Round-trip time without queueing delay, in s: the delay of the control loop.
    pub rtt: f64,
    /// Initial rate, in bit/s.
    pub rate: f64,
}

/// State variables and delays of a group of flows.
pub(super) struct Kind<const EACH: usize> {
    /// Variables, the rate first, with initial values.
    pub variables: [(Variable, f64); EACH],
    /// Delays of the control loop of the group.
    pub delays: Vec<Delay>,
}

/// Common part of all models.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// Bottleneck link.
    pub bottleneck: Bottleneck,
    /// Groups of flows over the link.
    pub flows: Vec<Flows>,
    started: Vec<bool>,
    /// Number of state variables of a group of flows.
    each: usize,
    variables: Vec<Variable>,
    delays: Vec<Delay>,
    first: Vec<f64>,
}

impl Shared {
    /// Creates the common state of a model: flows over a link, none of which has started, and an empty queue whose
    /// scale (typical length) is `queue_bits`. `kind` returns the variables and delays of a group of flows.
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

    /// Returns the number of flows, over all groups.
    pub fn count(&self) -> f64 {
        self.flows.iter().map(|flows| f64::from(flows.count)).sum()
    }

    /// Returns the fair share of the link rate per flow, in bit/s.
    pub fn fair_share(&self) -> f64 {
        self.bottleneck.rate / self.count()
    }

    /// Returns the state index of the rate of this group of flows; the other variables of its control have the next
    /// indices.
    pub fn rate(&self, flows: usize) -> usize {
        self.each * flows
    }

    /// Returns the state index of the queue length.
    pub fn queue(&self) -> usize {
        self.each * self.flows.len()
    }

    /// Returns the state variables; the queue length is the last one.
    pub(super) fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns the delays of all groups of flows.
    pub(super) fn delays(&self) -> &[Delay] {
        &self.delays
    }

    /// Returns the initial state.
    pub(super) fn first(&self) -> &[f64] {
        &self.first
    }

    /// Returns the start time of each group of flows, in s.
    pub(super) fn starts(&self) -> Vec<f64> {
        self.flows.iter().map(|flows| flows.start).collect()
    }

    /// Marks the groups with start times up to `time` as started.
    pub(super) fn begin(&mut self, time: f64) {
        for (flows, started) in self.flows.iter().zip(&mut self.started) {
            *started |= flows.start <= time * (1.0 + 1e-12);
        }
    }

    /// Returns `true` if this group of flows has started.
    pub(super) fn has_begun(&self, flows: usize) -> bool {
        self.started[flows]
    }

    /// Returns a rate as state variable, limited to the range from `least` to the link rate.
    pub(super) fn rate_variable(&self, name: String, least: f64) -> Variable {
        let line = self.bottleneck.rate;
        Variable::new(name, line / self.count()).within(least, line)
    }

    /// Returns the sum of the rates of all started flows; `rate` returns the rate of one flow of a group.
    pub(super) fn total(&self, rate: impl Fn(usize) -> f64) -> f64 {
        let begun = (0..self.flows.len()).filter(|&at| self.started[at]);
        begun.map(|at| f64::from(self.flows[at].count) * rate(at)).sum()
    }

    /// Returns the state variables of this group of flows.
    pub(super) fn own<'a>(&self, flows: usize, state: &'a [f64]) -> &'a [f64] {
        &state[self.rate(flows)..][..self.each]
    }

    /// Computes the time derivatives: of the queue (total rate minus link rate) and, with `control`, of the variables
    /// of started flows. The derivatives of the variables of other flows are 0.
    pub(super) fn slopes(&self, now: &Now<'_>, slopes: &mut [f64], control: impl Fn(usize, &mut [f64])) {
        slopes.fill(0.0);
        slopes[self.queue()] = self.total(|at| now.state[self.rate(at)]) - self.bottleneck.rate;
        for at in (0..self.flows.len()).filter(|&at| self.started[at]) {
            control(at, &mut slopes[self.rate(at)..][..self.each]);
        }
    }

    /// Returns a state in which each group of flows has the variables `own`, and the queue has length `queue`.
    pub(super) fn alike(&self, own: &[f64], queue: f64) -> Vec<f64> {
        let mut state = own.repeat(self.flows.len());
        state.push(queue);
        state
    }
}

/// Fixed point of a model, and the indices of the variables that react to disturbances.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedPoint {
    /// Values of the state variables.
    pub state: Vec<f64>,
    /// State of each switch, `true` for on.
    pub modes: Vec<bool>,
    /// Indices of the variables that change after a disturbance; all others are constant or not fed back.
    pub moving: Vec<usize>,
}

/// Fluid model.
pub trait Model: System {
    /// Returns the link and the flows.
    fn shared(&self) -> &Shared;

    /// Returns the state index of the rate of this group of flows.
    fn rate(&self, flows: usize) -> usize {
        self.shared().rate(flows)
    }

    /// Returns the state index of the queue length.
    fn queue(&self) -> usize {
        self.shared().queue()
    }

    /// Returns the fixed point with all flows started.
    ///
    /// # Errors
    /// The reason, if there is no fixed point.
    fn fixed_point(&self) -> Result<FixedPoint, String>;

    /// Returns this model with other groups of flows, all started.
    fn with_flows(&self, flows: Vec<Flows>) -> Box<dyn Model>;
}

/// Methods of [`System`] that are equal for all models.
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

/// Methods of [`Model`] that are equal for all models.
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
