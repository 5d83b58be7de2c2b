//! Summary of bounced and detoured frames.

use crate::account::Counters;
use crate::bounce_storms::Storms;
use crate::host::HopCounts;
use crate::parameters::Overload;
use crate::simulation::Simulation;
use crate::switch::Switch;
use check::conservation::Cause;
use stats::bounces::{BounceSummary, PortBounces, SwitchBounces};

/// Maximum number of ports in the summary.
const LISTED_PORTS: usize = 10;

impl Simulation {
    /// Returns the number of frames that were dropped for lack of room, if all classes bounce. Otherwise returns 0.
    pub(crate) fn wrong_drops(&self, counters: &Counters) -> u64 {
        match self.network.switch.overload {
            Overload::Bounce { pabo, .. }
                if self.network.classes.iter().all(|class| pabo.classes >> class & 1 == 1) =>
            {
                counters.packets.dropped_by(Cause::NoRoom).frames
            }
            _ => 0,
        }
    }

    /// Returns the bounce entry of `summary.json`.
    pub(crate) fn bounce_summary(&self, counters: &Counters, hop_counts: &HopCounts) -> BounceSummary {
        let fabric = &self.network.fabric;
        let redirections_of = |switch: &Switch| switch.redirections().map(<[u64]>::to_vec);
        let (mut switches, mut ports) = (Vec::new(), Vec::new());
        for (node, redirections) in self.map_switches(redirections_of) {
            let total: u64 = redirections.iter().sum();
            if total == 0 {
                continue;
            }
            switches.push(SwitchBounces { node: fabric.name(node).to_owned(), bounces: total });
            for (port, &bounces) in redirections.iter().enumerate().filter(|(_, bounces)| **bounces > 0) {
                let peer = fabric.name(fabric.ports(node)[port].peer).to_owned();
                ports.push(PortBounces { node: fabric.name(node).to_owned(), port: port as u32, peer, bounces });
            }
        }
        // The sort is stable: ports with equal counts stay in the order of the fabric.
        ports.sort_by_key(|port| std::cmp::Reverse(port.bounces));
        ports.truncate(LISTED_PORTS);
        let delivered: u64 = hop_counts.bounces.iter().sum();
        let hops: u64 = hop_counts.hops.iter().enumerate().map(|(hops, frames)| hops as u64 * frames).sum();
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let made = counters.bounces + counters.detours;
        BounceSummary {
            delivered,
            bounced_share: share(delivered - hop_counts.bounces[0], delivered),
            mean_total_hops: share(hops, delivered),
            by_total_hops: trimmed(&hop_counts.hops),
            by_max_distance: trimmed(&hop_counts.max_distance),
            by_bounces: trimmed(&hop_counts.bounces),
            replies_by_bounces: trimmed(&hop_counts.reply_bounces),
            returned_to_source: counters.bounced_to_source,
            rate_reductions: counters.source_slowdowns,
            overhead_bytes: 2 * counters.bounced_bytes,
            overhead_share_of_hops: share(2 * made, counters.hops),
            switches,
            ports,
            storm: self.detection.storms.as_ref().and_then(Storms::storm),
        }
    }
}

/// Returns `counts` without trailing zeros.
fn trimmed(counts: &[u64]) -> Vec<u64> {
    let length = counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    counts[..length].to_vec()
}
