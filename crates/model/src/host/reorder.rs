//! How far the data frames of each flow come out of order.

use crate::network::Network;
use check::{ReorderDensity, ReorderWatch};

/// The watch over one flow. Every transport sends each piece of a flow for the first time in order and in
/// pieces of one size, so that a piece's offset tells its place in the order of sending, however often it is
/// sent again.
#[derive(Clone, Debug)]
pub(super) struct ReorderState {
    watch: ReorderWatch,
    piece_bytes: u64,
}

impl ReorderState {
    /// For a flow in pieces of `piece_bytes`.
    pub fn new(piece_bytes: u16) -> ReorderState {
        ReorderState { watch: ReorderWatch::default(), piece_bytes: u64::from(piece_bytes.max(1)) }
    }

    /// Adds what came to `total`, as if nothing more came.
    pub fn add_to(&self, total: &mut ReorderDensity) {
        self.watch.clone().finish(total);
    }

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
