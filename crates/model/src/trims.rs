//! What a run tells of frames that switches trimmed.

use crate::account::Ledger;
use crate::parameters::Overload;
use crate::simulation::Simulation;
use check::conservation::Cause;
use fabric::NodeId;
use stats::trims::{HeaderLoss, PortTrims, SwitchTrims, TrimSummary};
use units::Time;

/// How many ports a summary names.
const LISTED_PORTS: usize = 10;

impl Simulation {
    /// What `summary.json` says of frames that were trimmed; `None` where no switch trims.
    pub(crate) fn trims(&self, ledger: &Ledger, now: Time) -> Option<TrimSummary> {
        let Overload::Trim { .. } = self.network.switch.overload else { return None };
        let fabric = &self.network.fabric;
        let (mut switches, mut ports) = (Vec::new(), Vec::new());
        for switch in self.switches() {
            let Some(trimmer) = switch.overload.trimming() else { continue };
            let trims: u64 = trimmer.trimmed.iter().map(|tally| tally.frames).sum();
            let name = fabric.name(switch.node());
            if trims > 0 {
                switches.push(SwitchTrims { node: name.to_owned(), trims });
            }
            for (port, (cut, &returned)) in trimmer.trimmed.iter().zip(&trimmer.returned).enumerate() {
                if cut.frames + returned > 0 {
                    let peer = fabric.name(fabric.ports(switch.node())[port].peer).to_owned();
                    let (node, port) = (name.to_owned(), port as u32);
                    ports.push(PortTrims { node, port, peer, trims: cut.frames, cut_bytes: cut.bytes, returned });
                }
            }
        }
        // Stable: ports of equal counts stay in the order of the fabric.
        ports.sort_by_key(|port| std::cmp::Reverse(port.trims));
        ports.truncate(LISTED_PORTS);
        let packets = &ledger.packets;
        let payload_bytes = self.hosts().flat_map(|host| &host.measured.goodput_bytes).sum::<u64>();
        let seconds = now.as_ps() as f64 / 1e12;
        Some(TrimSummary {
            trims: packets.cut.frames,
            cut_bytes: packets.cut.bytes,
            spurious: ledger.spurious_trims,
            header_bytes: packets.delivered_trimmed.bytes,
            payload_bytes,
            payload_bps: if seconds > 0.0 { payload_bytes as f64 * 8.0 / seconds } else { 0.0 },
            lost_headers: packets.dropped_by(Cause::HeaderNoRoom).frames,
            first_header_loss: ledger
                .first_header_loss
                .map(|(at, node, _)| HeaderLoss { at_ps: at.as_ps(), node: fabric.name(NodeId(node)).to_owned() }),
            switches,
            ports,
        })
    }

    /// What the reader of a summary should know of headers that were lost.
    pub(crate) fn header_warning(&self, ledger: &Ledger) -> Option<String> {
        let (at, node, port) = ledger.first_header_loss?;
        let lost = ledger.packets.dropped_by(Cause::HeaderNoRoom).frames;
        Some(format!(
            "{lost} headers of trimmed frames found no room, the first at {at} at {} (it came by port {port}): nobody \
             hears of these frames before a timer",
            self.network.fabric.name(NodeId(node))
        ))
    }
}
