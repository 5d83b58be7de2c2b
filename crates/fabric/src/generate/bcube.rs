//! BCube: servers with several ports that forward frames of other servers.

use super::parts::{affordable, within};
use crate::{Fabric, FabricBuilder, FabricError, LinkSpec, NodeId};

/// Generates BCube(n, k) (Guo et al., SIGCOMM 2009): n^(k+1) servers with k+1 ports, and k+1 levels of n^k switches
/// with n ports. There are no switch-to-switch and no server-to-server links, so servers relay. A server's number has
/// k+1 digits in base n. Port l of a server leads to a switch of level l, which connects the n servers whose numbers
/// differ only in digit l; the switch port equals that digit. Servers are `H1`.., the switches of level l `S<l>-1`..,
/// all on tier 1.
///
/// # Errors
/// If n is outside 2..=1024, k is outside 0..=15, or the fabric is too large.
pub fn bcube(n: u32, k: u32, link: LinkSpec) -> Result<Fabric, FabricError> {
    within("bcube", "n", n, 2..=1024)?;
    within("bcube", "k", k, 0..=15)?;
    let digits = vec![u64::from(n); k as usize + 1];
    affordable("nodes", &digits)?;
    affordable("links", &[digits.iter().product(), u64::from(k) + 1])?;
    let servers = n.pow(k + 1);
    let mut builder = FabricBuilder::new("bcube");
    let hosts: Vec<NodeId> = (1..=servers).map(|number| builder.add_relay_host(format!("H{number}"))).collect();
    for level in 0..=k {
        let switches: Vec<NodeId> =
            (1..=n.pow(k)).map(|number| builder.add_switch(format!("S{level}-{number}"), 1)).collect();
        let below = n.pow(level);
        for (server, &host) in hosts.iter().enumerate() {
            // The server number with digit `level` removed.
            let server = server as u32;
            let index = server / (below * n) * below + server % below;
            builder.connect(host, switches[index as usize], link);
        }
    }
    builder.build()
}
