//! Serialisation delays of frames on links.

use units::Time;

/// Returns the serialisation delay of `frames` frames of the minimum size at `rate_bps`, with preamble and inter-packet
/// gap.
pub(crate) fn min_frames_time(frames: u64, rate_bps: u128) -> Time {
    let bits = (u64::from(protocols::frame::MIN_FRAME_BYTES) + units::WIRE_OVERHEAD_BYTES) * 8;
    let ps = u128::from(frames) * u128::from(bits) * 1_000_000_000_000 / rate_bps.max(1);
    Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_of_the_smallest_frames_take_so_long() {
        // A minimum-size frame has 84 bytes with preamble and inter-packet gap: 672 ns at 1 Gbps.
        assert_eq!(min_frames_time(1, 1_000_000_000), Time::from_ns(672));
        assert_eq!(min_frames_time(1000, 672_000_000_000_000), Time::from_ns(1));
        assert_eq!(min_frames_time(1 << 24, 0), Time::MAX);
    }
}
