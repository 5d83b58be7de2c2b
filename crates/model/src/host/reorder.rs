//! How far the data frames of each flow come out of order.

use crate::network::Network;
use check::{ReorderDensity, ReorderWatch};
use traffic::FrameLengths;

/// The watch over one flow. Each piece of a flow is sent for the first time in order, so that its offset tells its
/// place in the order of sending, however often it is sent again.
#[derive(Clone, Debug)]
pub(super) struct ReorderState {
    watch: ReorderWatch,
    pieces: Pieces,
}

/// Where the pieces of a flow begin.
#[derive(Clone, Debug)]
enum Pieces {
    /// Pieces of one size, as every transport makes them.
    Equal { bytes: u64 },
    /// Datagrams whose lengths the source draws.
    Drawn(Box<DrawnPieces>),
}

/// Pieces whose lengths are drawn once more, from the same stream as at their source.
#[derive(Clone, Debug)]
struct DrawnPieces {
    lengths: FrameLengths,
    header_bytes: u16,
    /// Offsets of the pieces so far, and of the next.
    starts: Vec<u64>,
    end: u64,
}

impl DrawnPieces {
    fn place_of(&mut self, offset: u64) -> u64 {
        while self.end <= offset {
            self.starts.push(self.end);
            self.end += u64::from(payload_bytes(self.lengths.draw(), self.header_bytes));
        }
        self.starts.partition_point(|&start| start <= offset) as u64 - 1
    }
}

/// What a datagram of a source carries.
pub(super) fn payload_bytes(frame_bytes: u16, header_bytes: u16) -> u16 {
    frame_bytes.saturating_sub(header_bytes).max(1)
}

impl ReorderState {
    /// For a flow in pieces of `piece_bytes`.
    pub fn new(piece_bytes: u16) -> ReorderState {
        let bytes = u64::from(piece_bytes.max(1));
        ReorderState { watch: ReorderWatch::default(), pieces: Pieces::Equal { bytes } }
    }

    /// For datagrams of these `lengths`, which are at their first, with `header_bytes` each.
    pub fn drawn(lengths: FrameLengths, header_bytes: u16) -> ReorderState {
        let pieces = DrawnPieces { lengths, header_bytes, starts: Vec::new(), end: 0 };
        ReorderState { watch: ReorderWatch::default(), pieces: Pieces::Drawn(Box::new(pieces)) }
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
        let place = match &mut self.pieces {
            Pieces::Equal { bytes } => offset / *bytes,
            Pieces::Drawn(pieces) => pieces.place_of(offset),
        };
        self.watch.observe(place, density);
    }
}

/// An empty density, where reordering is measured.
pub(super) fn density(network: &Network) -> Option<Box<ReorderDensity>> {
    network.reordering.map(|threshold| Box::new(ReorderDensity::new(threshold)))
}
