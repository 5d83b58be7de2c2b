//! Small fabrics with a single path between two hosts, and rings.

use super::parts::{add_hosts, add_switches, affordable, within};
use crate::{Fabric, FabricBuilder, FabricError, LinkSpec};

/// Generates `hosts` hosts (2..=65,535) on switch `S1`.
///
/// # Errors
/// If `hosts` is out of range.
pub fn single_switch(hosts: u32, link: LinkSpec) -> Result<Fabric, FabricError> {
    within("single-switch", "hosts", hosts, 2..=65_535)?;
    let mut builder = FabricBuilder::new("single-switch");
    let hosts = add_hosts(&mut builder, hosts);
    let switch = builder.add_switch("S1", 1);
    for &host in &hosts {
        builder.connect(host, switch, link);
    }
    builder.build()
}

/// Generates `left` hosts `H1`.. on `S1`, `right` further hosts on `S2`, and one link between the two switches.
///
/// # Errors
/// If a switch has no host or more than 65,000 hosts.
pub fn dumbbell(left: u32, right: u32, host: LinkSpec, bottleneck: LinkSpec) -> Result<Fabric, FabricError> {
    within("dumbbell", "left", left, 1..=65_000)?;
    within("dumbbell", "right", right, 1..=65_000)?;
    let mut builder = FabricBuilder::new("dumbbell");
    let hosts = add_hosts(&mut builder, left + right);
    let (s1, s2) = (builder.add_switch("S1", 1), builder.add_switch("S2", 1));
    for (index, &node) in hosts.iter().enumerate() {
        builder.connect(node, if (index as u32) < left { s1 } else { s2 }, host);
    }
    builder.connect(s1, s2, bottleneck);
    builder.build()
}

/// Generates a chain of `switches` switches `S1`.., each with `hosts_each` hosts (`H1`.. in the order of the switches).
/// Ports: hosts first, then the previous switch, then the next switch.
///
/// # Errors
/// If there is no switch, no host, or more than 30,000 switches.
pub fn line(switches: u32, hosts_each: u32, host: LinkSpec, between: LinkSpec) -> Result<Fabric, FabricError> {
    row("line", switches, hosts_each, host, between)
}

/// Generates a [`line()`] with an additional link between the last switch and the first. The ring is the smallest
/// fabric with a cyclic buffer dependency. At least 3 switches.
///
/// # Errors
/// If there are fewer than 3 or more than 30,000 switches, or no host.
pub fn ring(switches: u32, hosts_each: u32, host: LinkSpec, between: LinkSpec) -> Result<Fabric, FabricError> {
    row("ring", switches, hosts_each, host, between)
}

fn row(
    generator: &'static str,
    switches: u32,
    hosts_each: u32,
    host: LinkSpec,
    between: LinkSpec,
) -> Result<Fabric, FabricError> {
    let closed = generator == "ring";
    within(generator, "switches", switches, if closed { 3 } else { 1 }..=30_000)?;
    within(generator, "hosts_each", hosts_each, 1..=60_000)?;
    affordable("nodes", &[switches.into(), hosts_each.into()])?;
    let mut builder = FabricBuilder::new(generator);
    let hosts = add_hosts(&mut builder, switches * hosts_each);
    let switches = add_switches(&mut builder, "S", 1, switches, 1);
    for (index, &node) in hosts.iter().enumerate() {
        builder.connect(node, switches[index / hosts_each as usize], host);
    }
    for pair in switches.windows(2) {
        builder.connect(pair[0], pair[1], between);
    }
    if closed {
        builder.connect(switches[switches.len() - 1], switches[0], between);
    }
    builder.build()
}
