//! Bitmaps of packets, used by sender and receiver.

/// Returns the size of a packet bitmap for an initial window of `window` packets: twice the window, rounded up to a
/// power of two of at least 64. It limits the range from a flow's oldest unacknowledged packet to its newest packet.
pub(super) fn span(window: u16) -> u64 {
    (2 * u64::from(window)).next_power_of_two().max(64)
}

/// Returns the length of the run of set bits of `word` that starts at bit `from`, 0 to 63, and the mask of these
/// bits.
#[inline]
pub(super) fn run(word: u64, from: u64) -> (u64, u64) {
    let count = (word >> from).trailing_ones();
    let bits = if count == 64 { u64::MAX } else { ((1 << count) - 1) << from };
    (u64::from(count), bits)
}
