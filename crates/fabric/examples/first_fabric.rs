//! Builds a leaf-spine fabric, computes its routes, and prints the ECMP ports of a leaf towards a host at another leaf.
//!
//! ```text
//!      spine  spine        2 spines
//!       / \\  // \
//!    leaf  leaf  leaf      3 leaves
//!    |  |  |  |  |  |
//!    h0 h1 h2 h3 h4 h5     2 hosts each
//! ```
use fabric::LinkSpec;
use fabric::generate::{TierLinks, leaf_spine};
use fabric::routing::{Forwarding, Mode};
use units::{Rate, Time};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let link = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
    let fabric = leaf_spine(3, 2, 2, 1, TierLinks::uniform(link))?;
    let routes = Forwarding::build(&fabric, Mode::ShortestPath)?;
    let leaf = fabric.ports(fabric.hosts()[0])[0].peer;
    let ports = routes.lookup(leaf, 5);
    println!("{} sends to host 5 by ports {ports:?}", fabric.name(leaf));
    assert_eq!(ports.len(), 2);
    Ok(())
}
