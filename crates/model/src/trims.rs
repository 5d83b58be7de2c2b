//! Summary of trimmed frames.

use crate::account::Counters;
use crate::parameters::Overload;
use crate::simulation::Simulation;
use crate::switch::Switch;
use check::conservation::Cause;
use fabric::NodeId;
use stats::trims::{HeaderLoss, PortTrims, SwitchTrims, TrimSummary};
use units::Time;

/// Maximum number of ports in the summary.
const LISTED_PORTS: usize = 10;

impl Simulation {
    /// Returns the trimming entry of `summary.json`, or `None` if no switch trims.
    pub(crate) fn trims(&self, counters: &Counters, now: Time) -> Option<TrimSummary> {
        let Overload::Trim { .. } = self.network.switch.overload else { return None };
        let fabric = &self.network.fabric;
        let trims_of = |switch: &Switch| {
            let trimmer = switch.overload.trimming()?;
            let mut ports = Vec::new();
            for (port, (cut, &returned)) in trimmer.trimmed.iter().zip(&trimmer.returned).enumerate() {
                if cut.frames + returned > 0 {
                    let peer = fabric.name(fabric.ports(switch.node())[port].peer).to_owned();
                    let (node, port) = (fabric.name(switch.node()).to_owned(), port as u32);
                    ports.push(PortTrims { node, port, peer, trims: cut.frames, trimmed_bytes: cut.bytes, returned });
                }
            }
            Some((trimmer.trimmed.iter().map(|tally| tally.frames).sum::<u64>(), ports))
        };
        let (mut switches, mut ports) = (Vec::new(), Vec::new());
        for (node, (trims, of_ports)) in self.map_switches(trims_of) {
            if trims > 0 {
                switches.push(SwitchTrims { node: fabric.name(node).to_owned(), trims });
            }
            ports.extend(of_ports);
        }
        // The sort is stable: ports with equal counts stay in the order of the fabric.
        ports.sort_by_key(|port| std::cmp::Reverse(port.trims));
        ports.truncate(LISTED_PORTS);
        let packets = &counters.packets;
        let payload_bytes = self.payload_bytes().iter().sum::<u64>();
        let seconds = now.as_ps() as f64 / 1e12;
        Some(TrimSummary {
            trims: packets.cut.frames,
            trimmed_bytes: packets.cut.bytes,
            spurious: counters.spurious_trims,
            header_bytes: packets.delivered_trimmed.bytes,
            payload_bytes,
            payload_bps: if seconds > 0.0 { payload_bytes as f64 * 8.0 / seconds } else { 0.0 },
            lost_headers: packets.dropped_by(Cause::HeaderNoRoom).frames,
            first_header_loss: counters
                .first_header_loss
                .map(|(at, node, _)| HeaderLoss { at_ps: at.as_ps(), node: fabric.name(NodeId(node)).to_owned() }),
            switches,
            ports,
        })
    }

    /// Returns the warning about lost headers of trimmed frames.
    pub(crate) fn header_warning(&self, counters: &Counters) -> Option<String> {
        let (at, node, port) = counters.first_header_loss?;
        let lost = counters.packets.dropped_by(Cause::HeaderNoRoom).frames;
        Some(format!(
            "{lost} headers of trimmed frames were lost, the first at {at} at {} (ingress port {port}): these frames \
             are only recovered by a timeout",
            self.network.fabric.name(NodeId(node))
        ))
    }
}
