//! What both ends keep packets in: words with a bit for each.

/// Packets that may be between a flow's oldest unacknowledged and its newest one, for a window of so many: as many
/// again may be sent while one is missing.
pub(super) fn span(window: u16) -> u64 {
    (2 * u64::from(window)).next_power_of_two().max(64)
}

/// The bits of `word` that are set from bit `from`, 0 to 63, on without a gap: how many, and which.
#[inline]
pub(super) fn run(word: u64, from: u64) -> (u64, u64) {
    let count = (word >> from).trailing_ones();
    let bits = if count == 64 { u64::MAX } else { ((1 << count) - 1) << from };
    (u64::from(count), bits)
}
