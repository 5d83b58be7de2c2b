//! The completion time of a flow that has the network to itself: the floor under every measured one.

use units::{Rate, Time};

/// When the last bit of a flow arrives over a path of links (rate, delay) with store-and-forward nodes,
/// if nothing else is sent: `full_frames` frames of `full_bytes_on_wire`, then one of
/// `last_bytes_on_wire` (0: none). The first frame starts at 0; bytes on the wire include preamble and
/// gap. Exact, in time proportional to the number of links: frame n starts on a link when it has arrived
/// there and frame n-1 has left, so equal frames leave link j at
/// `sum of serialisations up to j + delays before j + (n - 1) * longest serialisation up to j`.
pub fn lone_flow_time(
    path: &[(Rate, Time)],
    full_frames: u64,
    full_bytes_on_wire: u64,
    last_bytes_on_wire: u64,
) -> Time {
    let mut slowest = Time::ZERO;
    // Arrival at the node before the link in question: of the first and of the last full frame.
    let mut first_arrival = Time::ZERO;
    let mut last_full_arrival = Time::ZERO;
    let mut last_arrival = Time::ZERO;
    for &(rate, delay) in path {
        let full = rate.serialise(full_bytes_on_wire);
        let mut link_free = Time::ZERO;
        if full_frames > 0 {
            slowest = slowest.max(full);
            let first_done = first_arrival + full;
            link_free = first_done + slowest * (full_frames - 1);
            first_arrival = first_done + delay;
            last_full_arrival = link_free + delay;
        }
        if last_bytes_on_wire > 0 {
            last_arrival = last_arrival.max(link_free) + rate.serialise(last_bytes_on_wire) + delay;
        }
    }
    last_arrival.max(last_full_arrival)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// Frame by frame and link by link.
    fn brute(path: &[(Rate, Time)], frames: &[u64]) -> Time {
        let mut free = vec![Time::ZERO; path.len()];
        let mut done = Time::ZERO;
        for &bytes in frames {
            let mut arrival = Time::ZERO;
            for (link, &(rate, delay)) in path.iter().enumerate() {
                free[link] = arrival.max(free[link]) + rate.serialise(bytes);
                arrival = free[link] + delay;
            }
            done = done.max(arrival);
        }
        done
    }

    #[test]
    fn equals_the_recurrence_per_frame() {
        let mut stream = Stream::new(3, 0, 0);
        for _ in 0..2_000 {
            let path: Vec<(Rate, Time)> = (0..1 + stream.below(6))
                .map(|_| (Rate::from_mbps(1 + stream.below(400_000)), Time::from_ps(1 + stream.below(2_000_000))))
                .collect();
            let (full_frames, full) = (stream.below(40), 64 + stream.below(9_000));
            let last = stream.below(full + 1);
            let mut frames = vec![full; full_frames as usize];
            frames.extend((last > 0).then_some(last));
            assert_eq!(lone_flow_time(&path, full_frames, full, last), brute(&path, &frames), "{path:?}");
        }
    }

    #[test]
    fn one_frame_costs_each_serialisation_and_delay() {
        let path = [(Rate::from_gbps(100), Time::from_us(1)), (Rate::from_gbps(10), Time::from_ns(500))];
        assert_eq!(lone_flow_time(&path, 0, 0, 1250), Time::from_ps(100_000 + 1_000_000 + 1_000_000 + 500_000));
        assert_eq!(lone_flow_time(&path, 0, 1250, 0), Time::ZERO);
        // A hundred million frames take no longer to compute.
        let long = lone_flow_time(&path, 100_000_000, 1250, 0);
        assert_eq!(long, Time::from_ps(100_000 + 1_000_000 + 500_000) + Time::from_us(1) * 100_000_000);
    }
}
