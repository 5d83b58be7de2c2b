//! Seven hosts send 1 MB each to one host, through a 16 MB switch, with defaults otherwise.
//!
//! ```text
//!  h1 ... h7 ====> S1 ----> h0      100 Gbps each, RoCE at line rate
//! ```
use fabric::LinkSpec;
use fabric::generate::single_switch;
use model::parameters::Setup;
use model::{NullWatcher, Simulation};
use traffic::{Entry, Pairs, Pattern, PlanBuilder, Sizes, Workload};
use units::{Rate, Time};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fabric = single_switch(8, LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)))?;
    let mut plan = PlanBuilder::new();
    let incast = Pairs {
        pattern: Pattern::Incast { fan_in: 7, receiver: Some(0) },
        workload: Workload::Bulk(Sizes::Fixed(1_000_000)),
    };
    traffic::pairs(&incast, &(0..8).collect::<Vec<u32>>(), &Entry::new(1, 0), &mut plan)?;
    let mut simulation = Simulation::new(Setup::new(fabric, plan.build(8)?)?)?;
    simulation.run(&mut NullWatcher);
    let outcome = simulation.finish(&mut NullWatcher, false);
    println!("{} of {} flows, longest {:?}", outcome.flows.completed, outcome.flows.started, outcome.flows.fct_ns);
    assert!(outcome.passes() && outcome.flows.completed == 7);
    Ok(())
}
