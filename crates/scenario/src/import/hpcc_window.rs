//! The window of every flow in the HPCC simulator: the largest bandwidth-delay product over all pairs of hosts.

use fabric::Fabric;
use std::collections::VecDeque;
use units::Time;

/// Properties of the shortest path to a node.
#[derive(Clone, Copy)]
struct PathProperties {
    delay_ps: u64,
    /// Time to serialise a packet's payload on each link.
    sending_ps: u64,
    rate_bps: u64,
}

/// The longest RTT and the largest bandwidth-delay product over all pairs of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Longest {
    /// Longest RTT.
    pub trip: Time,
    /// Largest product of RTT and bottleneck rate, in bytes.
    pub bytes: u64,
}

/// Returns the longest RTT and the largest bandwidth-delay product over all pairs of hosts. The RTT is twice the
/// propagation delay of the shortest path by hop count, plus the time to serialise `payload_bytes` on each link. Of
/// several shortest paths, the first found counts.
pub(super) fn longest(fabric: &Fabric, payload_bytes: u64) -> Longest {
    let mut most = Longest { trip: Time::ZERO, bytes: 0 };
    for &host in fabric.hosts() {
        let mut paths: Vec<Option<PathProperties>> = vec![None; fabric.nodes().len()];
        paths[host.index()] = Some(PathProperties { delay_ps: 0, sending_ps: 0, rate_bps: u64::MAX });
        let mut next = VecDeque::from([host]);
        while let Some(node) = next.pop_front() {
            let Some(path) = paths[node.index()] else { continue };
            for peer in fabric.ports(node) {
                let link = fabric.link(peer.link);
                let found = peer.peer;
                if paths[found.index()].is_some() {
                    continue;
                }
                let sending_ps = u128::from(payload_bytes) * 8_000_000_000_000 / u128::from(link.rate.as_bps());
                paths[found.index()] = Some(PathProperties {
                    delay_ps: path.delay_ps.saturating_add(link.delay.as_ps()),
                    sending_ps: path.sending_ps.saturating_add(u64::try_from(sending_ps).unwrap_or(u64::MAX)),
                    rate_bps: path.rate_bps.min(link.rate.as_bps()),
                });
                if fabric.node(found).forwards() {
                    next.push_back(found);
                }
            }
        }
        for path in fabric.hosts().iter().filter(|&&other| other != host).filter_map(|&other| paths[other.index()]) {
            let trip_ps = u128::from(path.delay_ps) * 2 + u128::from(path.sending_ps);
            let bytes = trip_ps * u128::from(path.rate_bps) / 8_000_000_000_000;
            let trip = Time::from_ps(u64::try_from(trip_ps).unwrap_or(u64::MAX));
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            most = Longest { trip: most.trip.max(trip), bytes: most.bytes.max(bytes) };
        }
    }
    most
}
