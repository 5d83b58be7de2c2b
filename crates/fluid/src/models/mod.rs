//! Fluid models of congestion controls, each in a file that follows its paper.
//!
//! Flows share one bottleneck: the queue grows at the sum of their rates minus the link rate, bounded by zero and the
//! buffer. All times are in s, rates in bit/s on the wire, queues in bits.

pub mod dcqcn;
pub mod eccp;
pub mod hetflow;
mod shared;
#[cfg(test)]
pub(crate) mod testing;
pub mod timely;

pub use dcqcn::Dcqcn;
pub use eccp::Eccp;
pub use hetflow::HetFlow;
pub use shared::{Bottleneck, FixedPoint, Flows, Model, Shared};
pub use timely::Timely;

/// Congestion control algorithm with its parameters, independent of the flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// ECCP with its parameters.
    Eccp(eccp::Parameters),
    /// HetFlow with its parameters.
    HetFlow(hetflow::Parameters),
    /// DCQCN with its parameters.
    Dcqcn(dcqcn::Parameters),
    /// TIMELY or patched TIMELY, with its parameters.
    Timely(timely::Parameters),
}

impl Control {
    /// Returns the default initial rate of a flow in bit/s, for a link of rate `link` and a fair share of `share`,
    /// both in bit/s.
    pub fn first_rate(&self, link: f64, share: f64) -> f64 {
        let rate = match self {
            Control::Eccp(_) | Control::Dcqcn(_) => link,
            Control::HetFlow(_) => 0.8 * share,
            Control::Timely(_) => share,
        };
        rate.max(self.min_rate())
    }

    /// Returns the minimum rate, in bit/s.
    pub fn min_rate(&self) -> f64 {
        match self {
            Control::Eccp(parameters) => parameters.min_rate,
            Control::HetFlow(parameters) => parameters.min_rate,
            Control::Dcqcn(parameters) => parameters.min_rate,
            Control::Timely(parameters) => parameters.min_rate,
        }
    }

    /// Creates the model of these flows over this link.
    pub fn model(&self, bottleneck: Bottleneck, flows: Vec<Flows>) -> Box<dyn Model> {
        match *self {
            Control::Eccp(parameters) => Box::new(Eccp::new(bottleneck, flows, parameters)),
            Control::HetFlow(parameters) => Box::new(HetFlow::new(bottleneck, flows, parameters)),
            Control::Dcqcn(parameters) => Box::new(Dcqcn::new(bottleneck, flows, parameters)),
            Control::Timely(parameters) => Box::new(Timely::new(bottleneck, flows, parameters)),
        }
    }
}
