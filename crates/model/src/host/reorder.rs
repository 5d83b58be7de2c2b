//! Reordering of the data frames of each flow.

use crate::network::Network;
use check::{ReorderDensity, ReorderWatch};
use traffic::FrameLengths;

/// Reordering state of one flow. The segments of a flow are first sent in order, so the offset of a segment determines
/// its index in the sending order, also for retransmissions.
#[derive(Clone, Debug)]
pub(super) struct ReorderState {
    watch: ReorderWatch,
    chunks: Chunks,
}

/// Boundaries of the segments (or datagrams) of a flow.
#[derive(Clone, Debug)]
enum Chunks {
    /// Segments of equal size, as transports send them.
    Equal { bytes: u64 },
    /// Segments of the messages of a connection.
    OfMessages(Box<MessagePieces>),
    /// Datagrams with random lengths.
    Drawn(Box<DrawnPieces>),
}

/// Segments of a connection: of equal size, except for the last segment of each message.
#[derive(Clone, Debug)]
struct MessagePieces {
    bytes: u64,
    /// Offset and index of the first segment of each message.
    starts: Vec<(u64, u64)>,
}

impl MessagePieces {
    fn index_of(&self, offset: u64) -> u64 {
        let message = self.starts.partition_point(|start| start.0 <= offset).saturating_sub(1);
        let (start, index) = self.starts.get(message).copied().unwrap_or_default();
        index + offset.saturating_sub(start) / self.bytes
    }
}

/// Datagrams with random lengths. The lengths are drawn again from a copy of the random stream of the source.
#[derive(Clone, Debug)]
struct DrawnPieces {
    lengths: FrameLengths,
    header_bytes: u16,
    /// Offsets of the datagrams drawn so far; `end` is the offset of the next datagram.
    starts: Vec<u64>,
    end: u64,
}

impl DrawnPieces {
    fn index_of(&mut self, offset: u64) -> u64 {
        while self.end <= offset {
            self.starts.push(self.end);
            self.end += u64::from(payload_bytes(self.lengths.draw(), self.header_bytes));
        }
        self.starts.partition_point(|&start| start <= offset) as u64 - 1
    }
}

/// Returns the payload of a datagram in bytes.
pub(super) fn payload_bytes(frame_bytes: u16, header_bytes: u16) -> u16 {
    frame_bytes.saturating_sub(header_bytes).max(1)
}

impl ReorderState {
    /// Creates the state of a flow in segments of `piece_bytes`.
    pub fn new(piece_bytes: u16) -> ReorderState {
        let bytes = u64::from(piece_bytes.max(1));
        ReorderState { watch: ReorderWatch::default(), chunks: Chunks::Equal { bytes } }
    }

    /// Creates the state of a connection with messages of these sizes in bytes, in segments of `piece_bytes`.
    pub fn of_messages(piece_bytes: u16, sizes_bytes: impl Iterator<Item = u64>) -> ReorderState {
        let bytes = u64::from(piece_bytes.max(1));
        let start_of = |next: &mut (u64, u64), size_bytes: u64| {
            let start = *next;
            *next = (start.0.saturating_add(size_bytes), start.1 + size_bytes.div_ceil(bytes));
            Some(start)
        };
        let starts = sizes_bytes.scan((0, 0), start_of).collect();
        let chunks = Chunks::OfMessages(Box::new(MessagePieces { bytes, starts }));
        ReorderState { watch: ReorderWatch::default(), chunks }
    }

    /// Creates the state of a datagram flow with `header_bytes` per frame. No length may have been drawn from `lengths`
    /// yet.
    pub fn drawn(lengths: FrameLengths, header_bytes: u16) -> ReorderState {
        let chunks = DrawnPieces { lengths, header_bytes, starts: Vec::new(), end: 0 };
        ReorderState { watch: ReorderWatch::default(), chunks: Chunks::Drawn(Box::new(chunks)) }
    }

    /// Adds the results so far to `total`, as if no more frames arrived.
    pub fn add_to(&self, total: &mut ReorderDensity) {
        self.watch.clone().finish(total);
    }

    /// Returns the number of arrivals whose displacement is not yet determined.
    pub fn pending(&self) -> u64 {
        self.watch.pending()
    }

    /// Ends the measurement of the flow.
    pub fn finish(&mut self, density: &mut ReorderDensity) {
        self.watch.finish(density);
    }

    /// Records the arrival of the segment at this offset.
    #[inline(never)] // spares its callers the registers, like Host::on_event
    pub fn observe(&mut self, offset: u64, density: &mut ReorderDensity) {
        let index = match &mut self.chunks {
            Chunks::Equal { bytes } => offset / *bytes,
            Chunks::OfMessages(chunks) => chunks.index_of(offset),
            Chunks::Drawn(chunks) => chunks.index_of(offset),
        };
        self.watch.observe(index, density);
    }
}

/// Creates an empty density, if reordering is measured.
pub(super) fn density(network: &Network) -> Option<Box<ReorderDensity>> {
    network.measurement.reordering.map(|threshold| Box::new(ReorderDensity::new(threshold)))
}
