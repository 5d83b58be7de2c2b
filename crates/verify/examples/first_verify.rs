//! Shortest-path routing on a ring of five switches can deadlock under PFC: the ingress buffers around the ring form a
//! cyclic dependency.
//!
//! ```text
//!    S1 --- S2 --- S3        each of S1 ... S5 with a host; every buffer around
//!      \           /         the ring may wait for the next
//!       S5 ---- S4
//! ```
use fabric::LinkSpec;
use fabric::generate::ring;
use fabric::routing::{Forwarding, Mode};
use units::{Rate, Time};
use verify::{Traffic, check_pfc};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let link = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
    let fabric = ring(5, 1, link, link)?;
    let routes = Forwarding::build(&fabric, Mode::ShortestPath)?;
    let verdict = check_pfc(&fabric, Traffic::Routes { routes: &routes, failed: &[], bounces: 0 })?;
    verdict.cycle.iter().for_each(|waits| println!("{} waits for the next", waits.link));
    assert!(!verdict.deadlock_free && verdict.cycle.len() == 5);
    Ok(())
}
