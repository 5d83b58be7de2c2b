//! Fluid models of congestion controls, each a file that reads like its paper.
//!
//! Flows share one bottleneck: a queue that fills at the sum of their rates less its own, and stays between empty and
//! full. All times are in s, rates in bit/s on the wire, queues in bits.

pub mod dcqcn;
pub mod eccp;
pub mod hetflow;
pub mod timely;

pub use dcqcn::Dcqcn;
pub use eccp::Eccp;
pub use hetflow::HetFlow;
pub use timely::Timely;

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

/// What every model has in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// The link.
    pub bottleneck: Bottleneck,
    /// Who sends over it.
    pub flows: Vec<Flows>,
    started: Vec<bool>,
}

impl Shared {
    /// Flows over a link. None has begun.
    pub fn new(bottleneck: Bottleneck, flows: Vec<Flows>) -> Shared {
        let started = vec![false; flows.len()];
        Shared { bottleneck, flows, started }
    }

    /// The number of flows.
    pub fn count(&self) -> f64 {
        self.flows.iter().map(|flows| f64::from(flows.count)).sum()
    }

    /// What each gets of the link if all get the same, in bit/s.
    pub fn fair_share(&self) -> f64 {
        self.bottleneck.rate / self.count()
    }

    /// The sum of the rates of flows that have begun, where `rate` tells one of each kind.
    fn total(&self, rate: impl Fn(usize) -> f64) -> f64 {
        let begun = (0..self.flows.len()).filter(|&at| self.started[at]);
        begun.map(|at| f64::from(self.flows[at].count) * rate(at)).sum()
    }

    fn starts(&self) -> Vec<f64> {
        self.flows.iter().map(|flows| flows.start).collect()
    }

    fn begin(&mut self, time: f64) {
        for (flows, started) in self.flows.iter().zip(&mut self.started) {
            *started |= flows.start <= time * (1.0 + 1e-12);
        }
    }

    /// The variable of a rate: from `least` to the rate of the link.
    fn rate_variable(&self, name: String, least: f64) -> Variable {
        let line = self.bottleneck.rate;
        Variable::new(name, line / self.count()).within(least, line)
    }

    fn queue_variable(&self, scale: f64) -> Variable {
        Variable::new("queue_bits", scale).within(0.0, self.bottleneck.buffer)
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
    fn rate(&self, flows: usize) -> usize;

    /// Where the queue stands in the state.
    fn queue(&self) -> usize;

    /// Where it rests with all flows begun.
    ///
    /// # Errors
    /// Why there is no such point.
    fn fixed_point(&self) -> Result<FixedPoint, String>;

    /// The same control with other flows, all begun.
    fn with_flows(&self, flows: Vec<Flows>) -> Box<dyn Model>;
}

/// A control with its parameters, of flows yet to be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// ECCP.
    Eccp(eccp::Parameters),
    /// HetFlow.
    HetFlow(hetflow::Parameters),
    /// DCQCN.
    Dcqcn(dcqcn::Parameters),
    /// TIMELY, patched or not.
    Timely(timely::Parameters),
}

impl Control {
    /// The rate in bit/s at which a flow begins that is not told otherwise, where its share of the link would be `share`.
    pub fn first_rate(&self, link: f64, share: f64) -> f64 {
        match self {
            Control::Eccp(_) | Control::Dcqcn(_) => link,
            Control::HetFlow(_) => 0.8 * share,
            Control::Timely(_) => share,
        }
    }

    /// These flows over this link.
    pub fn model(&self, bottleneck: Bottleneck, flows: Vec<Flows>) -> Box<dyn Model> {
        match *self {
            Control::Eccp(parameters) => Box::new(Eccp::new(bottleneck, flows, parameters)),
            Control::HetFlow(parameters) => Box::new(HetFlow::new(bottleneck, flows, parameters)),
            Control::Dcqcn(parameters) => Box::new(Dcqcn::new(bottleneck, flows, parameters)),
            Control::Timely(parameters) => Box::new(Timely::new(bottleneck, flows, parameters)),
        }
    }
}

/// The parts of [`System`] that all models here share.
macro_rules! common {
    () => {
        fn variables(&self) -> &[Variable] {
            &self.variables
        }
        fn delays(&self) -> &[Delay] {
            &self.delays
        }
        fn appointments(&self) -> Vec<f64> {
            self.shared.starts()
        }
    };
}
use common;

/// Every flow of a model at the same rate, the queue at another length.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::solver::{Options, solve};

    /// Means of the second half: of each kind of flows' rate, and of the queue; and the last state.
    pub fn means(model: &mut dyn Model, end: f64) -> (Vec<f64>, f64, Vec<f64>) {
        let kinds = model.shared().flows.len();
        let places: Vec<usize> = (0..kinds).map(|at| model.rate(at)).chain([model.queue()]).collect();
        let (mut sums, mut looks, mut last) = (vec![0.0; kinds + 1], 0.0, Vec::new());
        let options = Options { most_steps: 100_000, ..Options::default() };
        let solved = solve(model, end, end / 4000.0, &options, |time, state| {
            last = state.to_vec();
            if time >= end / 2.0 {
                looks += 1.0;
                places.iter().zip(&mut sums).for_each(|(place, sum)| *sum += state[*place]);
            }
        });
        solved.unwrap_or_else(|error| panic!("{error}"));
        let queue = sums.pop().unwrap_or_default() / looks;
        (sums.iter().map(|sum| sum / looks).collect(), queue, last)
    }

    /// That a model's slopes vanish at its fixed point, of the variables that move.
    pub fn rests(model: &dyn Model) {
        struct Still<'a>(&'a [f64]);
        impl crate::solver::Past for Still<'_> {
            fn value(&self, _: usize, variable: usize) -> f64 {
                self.0[variable]
            }
            fn slope(&self, _: usize, _: usize) -> f64 {
                0.0
            }
        }
        let point = model.fixed_point().expect("a fixed point");
        let mut slopes = vec![0.0; point.state.len()];
        let past = Still(&point.state);
        model.derivative(&Now { time: 0.0, state: &point.state, modes: &point.modes, past: &past }, &mut slopes);
        for &at in &point.moving {
            let variable = &model.variables()[at];
            // Nothing moves by a millionth of its scale within a microsecond.
            assert!(slopes[at].abs() * 1e-6 < 1e-6 * variable.scale, "{}: {:e}", variable.name, slopes[at]);
        }
    }
}
