//! The window that HPCC's simulator gives every flow: what its longest round trip holds.

use fabric::Fabric;
use std::collections::VecDeque;
use units::Time;

/// What was found of the shortest way to a node.
#[derive(Clone, Copy)]
struct Way {
    delay_ps: u64,
    /// Of a packet's payload over each link.
    sending_ps: u64,
    rate_bps: u64,
}

/// What the longest round trip is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Longest {
    /// The longest of all.
    pub trip: Time,
    /// The greatest product of round trip and bottleneck.
    pub bytes: u64,
}

/// The longest round trip, and the greatest product of one and its bottleneck, over all pairs of hosts. A round trip
/// is twice the delays of a way of fewest links and once the time of `payload_bytes` on each; with several such ways,
/// those of the first found.
pub(super) fn longest(fabric: &Fabric, payload_bytes: u64) -> Longest {
    let mut most = Longest { trip: Time::ZERO, bytes: 0 };
    for &host in fabric.hosts() {
        let mut ways: Vec<Option<Way>> = vec![None; fabric.nodes().len()];
        ways[host.index()] = Some(Way { delay_ps: 0, sending_ps: 0, rate_bps: u64::MAX });
        let mut next = VecDeque::from([host]);
        while let Some(node) = next.pop_front() {
            let Some(way) = ways[node.index()] else { continue };
            for peer in fabric.ports(node) {
                let link = fabric.link(peer.link);
                let found = peer.peer;
                if ways[found.index()].is_some() {
                    continue;
                }
                let sending_ps = u128::from(payload_bytes) * 8_000_000_000_000 / u128::from(link.rate.as_bps());
                ways[found.index()] = Some(Way {
                    delay_ps: way.delay_ps.saturating_add(link.delay.as_ps()),
                    sending_ps: way.sending_ps.saturating_add(u64::try_from(sending_ps).unwrap_or(u64::MAX)),
                    rate_bps: way.rate_bps.min(link.rate.as_bps()),
                });
                if fabric.node(found).forwards() {
                    next.push_back(found);
                }
            }
        }
        for way in fabric.hosts().iter().filter(|&&other| other != host).filter_map(|&other| ways[other.index()]) {
            let trip_ps = u128::from(way.delay_ps) * 2 + u128::from(way.sending_ps);
            let bytes = trip_ps * u128::from(way.rate_bps) / 8_000_000_000_000;
            let trip = Time::from_ps(u64::try_from(trip_ps).unwrap_or(u64::MAX));
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            most = Longest { trip: most.trip.max(trip), bytes: most.bytes.max(bytes) };
        }
    }
    most
}
