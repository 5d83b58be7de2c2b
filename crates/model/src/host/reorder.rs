//! How far the data frames of each flow come out of order.

use super::Host;
use crate::network::Network;
use check::{ReorderDensity, ReorderWatch};
use protocols::datagram::DatagramParameters;
use traffic::Load;

/// The watch over one flow. Every transport sends each piece of a flow for the first time in order and in
/// pieces of one size, so that a piece's offset tells its place in the order of sending, however often it is
/// sent again.
#[derive(Clone, Debug)]
pub(super) struct ReorderState {
    watch: ReorderWatch,
    piece_bytes: u64,
}

impl ReorderState {
    /// How many arrivals were not judged yet.
    pub fn pending(&self) -> u64 {
        self.watch.pending()
    }

    /// Nothing more of the flow is judged.
    pub fn finish(&mut self, density: &mut ReorderDensity) {
        self.watch.finish(density);
    }

    /// The piece at this offset has arrived.
    pub fn observe(&mut self, offset: u64, density: &mut ReorderDensity) {
        self.watch.observe(offset / self.piece_bytes, density);
    }
}

/// An empty density, where reordering is measured.
pub(super) fn density(network: &Network) -> Option<Box<ReorderDensity>> {
    network.reordering.map(|threshold| Box::new(ReorderDensity::new(threshold)))
}

impl Host {
    /// The watch over a flow that arrives, where reordering is measured.
    pub(super) fn reorder_state(&self, flow: u32) -> Option<Box<ReorderState>> {
        self.measured.reordering.as_ref()?;
        let piece_bytes = match self.network.traffic.flows.get(flow as usize).map(|flow| &flow.load) {
            Some(Load::Datagrams(source)) => {
                source.frame_bytes.saturating_sub(DatagramParameters::default().header_bytes)
            }
            _ => self.network.host.transport.payload_bytes(),
        };
        Some(Box::new(ReorderState { watch: ReorderWatch::default(), piece_bytes: u64::from(piece_bytes.max(1)) }))
    }

    /// Adds what came to `total`, as if nothing more came.
    pub(crate) fn add_reordering(&self, total: &mut ReorderDensity) {
        let Some(density) = &self.measured.reordering else { return };
        total.merge(density);
        for incoming in self.receivers.flows.iter().filter(|incoming| incoming.active) {
            if let Some(state) = &incoming.reorder {
                state.watch.clone().finish(total);
            }
        }
    }
}
