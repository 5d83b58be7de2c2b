//! Simulation over several ranks: partition of the nodes, and serialisation of frames between ranks.

use crate::network::Network;
use crate::on_wire::OnWire;
use engine::ranks::{MessageCodec, RankPartition};
use protocols::frame::{Detail, Frame};
use protocols::telemetry::Hop;
use std::sync::Arc;
use units::Time;
use units::pack::Pack;

/// Links between the ranks of a simulation (the cut).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Number of ranks.
    pub ranks: usize,
    /// Number of links and notification wires between different ranks.
    pub wires: u64,
    /// Minimum lookahead of these wires: one-way delay plus serialisation delay of a minimum-size frame. While there is
    /// work, ranks synchronise about once per window.
    pub window: Time,
    /// Upper bound of the number of full-size frames on all links in one window.
    pub max_frames: u64,
}

impl Cut {
    /// Computes the cut of a partition of `network` into ranks.
    pub(crate) fn of(network: &Network, borders: &RankPartition) -> Cut {
        let window = borders.cut_lookahead();
        let span = window.min(Time::from_ms(1));
        let bytes: u64 = network.fabric.links().iter().map(|link| 2 * link.rate.bytes_in(span)).sum();
        let max_frames = bytes / u64::from(network.host.mtu_bytes.max(64));
        Cut { ranks: borders.ranks(), wires: borders.cut_wires(), window, max_frames }
    }
}

/// Number of frames per rank and window below which a barrier takes longer than the simulation of the window.
const MIN_FRAMES_PER_BARRIER: u64 = 100;

impl Cut {
    /// Returns a warning if ranks have little work between two barriers.
    pub fn warning(&self) -> Option<String> {
        let Cut { ranks, wires, window, max_frames } = *self;
        (max_frames / (ranks as u64) < MIN_FRAMES_PER_BARRIER).then(|| {
            format!(
                "{ranks} ranks cut {wires} wires, the shortest of {window}, and meet as often; all links together \
                 carry at most {max_frames} full frames in that time: ranks will wait for each other more than they \
                 work. Start fewer, or let links between parts of the fabric be longer"
            )
        })
    }
}

/// Serialises frames, including their telemetry records.
pub(crate) struct FrameCodec(pub Arc<Network>);

impl MessageCodec<OnWire> for FrameCodec {
    fn pack(&self, message: &OnWire, to: &mut Vec<u8>) {
        message.0.pack(to);
        if let Some((telemetry, record)) = self.0.telemetry.as_ref().zip(message.0.record()) {
            let mut hops: Vec<Hop> = Vec::new();
            telemetry.take(record, &mut hops);
            hops.pack(to);
        }
    }

    fn unpack(&self, from: &mut &[u8]) -> Option<OnWire> {
        let mut frame = Frame::unpack(from)?;
        if let Some((telemetry, record)) = self.0.telemetry.as_ref().zip(frame.record()) {
            let hops = Vec::<Hop>::unpack(from)?;
            // A record number is local to its rank, so open a new record.
            frame.detail = Detail::record(telemetry.open(record.host, &hops));
        }
        Some(OnWire(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Setup;
    use crate::simulation::Simulation;
    use engine::ranks::in_one_process;
    use fabric::LinkSpec;
    use fabric::generate::{TierLinks, fat_tree};
    use units::Rate;

    #[test]
    fn short_cut_links_are_warned_of_with_the_time_between_meetings() {
        let cut = |delay: Time, ranks: usize| {
            let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), delay));
            let plan = traffic::PlanBuilder::new().build(16).unwrap();
            let setup = Setup::new(fat_tree(4, links).unwrap(), plan).unwrap();
            // `of_rank` does not communicate with other ranks, so one rank can be built alone.
            Simulation::of_rank(setup, in_one_process(ranks).swap_remove(0)).unwrap().cut().unwrap()
        };
        // The serialisation delay of a minimum-size frame with preamble is 5.76 ns. In 105.76 ns each direction of
        // the 48 links carries 1322 bytes: 119 frames of the largest size, 1058 bytes, in total.
        let short = cut(Time::from_ns(100), 2);
        assert_eq!((short.window, short.max_frames), (Time::from_ps(105_760), 119));
        let warning = short.warning().unwrap();
        assert!(warning.contains("the shortest of 105.76ns, and meet as often"), "{warning}");
        assert!(warning.starts_with(&format!("2 ranks cut {} wires", short.wires)), "{warning}");
        // With links of 1 us, two ranks have enough work per window, sixteen do not.
        assert_eq!(cut(Time::from_us(1), 2).warning(), None);
        assert!(cut(Time::from_us(1), 16).warning().is_some());
    }
}
