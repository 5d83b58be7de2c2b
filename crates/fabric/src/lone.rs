//! The completion time of a flow that has the network to itself: the floor under every measured one.

use units::{PREAMBLE_BYTES, Rate, Time, WIRE_OVERHEAD_BYTES};

/// When the last bit of a flow arrives over a path of links (rate, delay) with store-and-forward nodes,
/// if nothing else is sent: `full_frames` frames of `full_bytes`, then one of `last_bytes` (0: none), from
/// destination address to FCS. The first frame starts at 0. A frame arrives when its preamble and its last bit are
/// sent and have travelled; the gap behind it keeps the next one waiting, and nothing else. Exact, in time
/// proportional to the number of links: frame n starts on a link when it has arrived there and the gap after frame
/// n-1 is over, so frame n of equal ones starts on link j at
/// `arrival of the first there + (n - 1) * the longest time that a frame and its gap keep a link up to j`.
pub fn lone_flow_time(path: &[(Rate, Time)], full_frames: u64, full_bytes: u64, last_bytes: u64) -> Time {
    let mut slowest = Time::ZERO;
    // Arrival at the node before the link in question: of the first and of the last full frame.
    let mut first_arrival = Time::ZERO;
    let mut last_full_arrival = Time::ZERO;
    let mut last_arrival = Time::ZERO;
    for &(rate, delay) in path {
        let arrives = |bytes: u64| rate.serialise(bytes + PREAMBLE_BYTES) + delay;
        let mut link_free = Time::ZERO;
        if full_frames > 0 {
            let full = rate.serialise(full_bytes + WIRE_OVERHEAD_BYTES);
            slowest = slowest.max(full);
            let last_full_start = first_arrival + slowest * (full_frames - 1);
            link_free = last_full_start + full;
            last_full_arrival = last_full_start + arrives(full_bytes);
            first_arrival += arrives(full_bytes);
        }
        if last_bytes > 0 {
            last_arrival = last_arrival.max(link_free) + arrives(last_bytes);
        }
    }
    last_arrival.max(last_full_arrival)
}

/// As [`lone_flow_time`], of a flow whose frames may each take another of several paths like `path`: no flow is faster,
/// and one of full frames alone is as fast where no two of its frames meet between the first link and the last. A short
/// last frame needs less time at each node, and may overtake those before it.
pub fn spread_flow_time(path: &[(Rate, Time)], full_frames: u64, full_bytes: u64, last_bytes: u64) -> Time {
    let ([first, .., last] | [first @ last]) = path else { return Time::ZERO };
    if path.len() <= 2 {
        // There is one path.
        return lone_flow_time(path, full_frames, full_bytes, last_bytes);
    }
    let keeps = |link: &(Rate, Time), bytes: u64| link.0.serialise(bytes + WIRE_OVERHEAD_BYTES);
    let crosses = |bytes: u64| {
        let times = path.iter().map(|(rate, delay)| rate.serialise(bytes + PREAMBLE_BYTES) + *delay);
        times.fold(Time::ZERO, |sum, time| sum + time)
    };
    let full = match full_frames.checked_sub(1) {
        None => Time::ZERO,
        Some(others) => keeps(first, full_bytes).max(keeps(last, full_bytes)) * others + crosses(full_bytes),
    };
    let short = match last_bytes {
        0 => Time::ZERO,
        bytes => keeps(first, full_bytes) * full_frames + crosses(bytes),
    };
    full.max(short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// Frame by frame, where each has links of its own between the first and the last.
    fn brute_spread(path: &[(Rate, Time)], frames: &[u64]) -> Time {
        let crosses = |link: &(Rate, Time), bytes: u64| link.0.serialise(8 + bytes) + link.1;
        let (mut sent, mut arrivals) = (Time::ZERO, Vec::new());
        for (number, &bytes) in frames.iter().enumerate() {
            let middle = &path[1..path.len() - 1];
            let there = middle.iter().fold(sent + crosses(&path[0], bytes), |at, link| at + crosses(link, bytes));
            arrivals.push((there, number, bytes));
            sent += path[0].0.serialise(8 + bytes + 12);
        }
        arrivals.sort_unstable();
        let (last, mut free, mut done) = (&path[path.len() - 1], Time::ZERO, Time::ZERO);
        for (at, _, bytes) in arrivals {
            let start = at.max(free);
            free = start + last.0.serialise(8 + bytes + 12);
            done = done.max(start + crosses(last, bytes));
        }
        done
    }

    #[test]
    fn no_spread_flow_is_faster() {
        let mut stream = Stream::new(5, 0, 0);
        let mut short_is_not_last = 0;
        for _ in 0..2_000 {
            let path: Vec<(Rate, Time)> = (0..3 + stream.below(4))
                .map(|_| (Rate::from_mbps(1 + stream.below(400_000)), Time::from_ps(1 + stream.below(2_000_000))))
                .collect();
            let (full_frames, full) = (1 + stream.below(40), 64 + stream.below(9_000));
            let last = stream.below(full);
            let mut frames = vec![full; full_frames as usize];
            assert_eq!(spread_flow_time(&path, full_frames, full, 0), brute_spread(&path, &frames), "{path:?}");
            frames.extend((last > 0).then_some(last));
            let floor = spread_flow_time(&path, full_frames, full, last);
            assert!(floor <= brute_spread(&path, &frames), "{path:?}");
            assert!(floor <= lone_flow_time(&path, full_frames, full, last), "{path:?}");
            short_is_not_last += u32::from(last > 0 && floor < lone_flow_time(&path, full_frames, full, last));
        }
        assert!(short_is_not_last > 100, "some overtake: {short_is_not_last}");
        let path = [(Rate::from_gbps(100), Time::from_us(1)); 2];
        assert_eq!(spread_flow_time(&path, 3, 1000, 64), lone_flow_time(&path, 3, 1000, 64));
        assert_eq!(spread_flow_time(&[], 3, 1000, 64), Time::ZERO);
    }

    /// Frame by frame and link by link.
    fn brute(path: &[(Rate, Time)], frames: &[u64]) -> Time {
        let mut free = vec![Time::ZERO; path.len()];
        let mut done = Time::ZERO;
        for &bytes in frames {
            let mut arrival = Time::ZERO;
            for (link, &(rate, delay)) in path.iter().enumerate() {
                let start = arrival.max(free[link]);
                free[link] = start + rate.serialise(8 + bytes + 12);
                arrival = start + rate.serialise(8 + bytes) + delay;
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
        // With preamble 1242 bytes, which take 99.36 ns and 993.6 ns.
        let path = [(Rate::from_gbps(100), Time::from_us(1)), (Rate::from_gbps(10), Time::from_ns(500))];
        let one = Time::from_ps(99_360 + 1_000_000 + 993_600 + 500_000);
        assert_eq!(lone_flow_time(&path, 0, 0, 1234), one);
        assert_eq!(lone_flow_time(&path, 1, 1234, 0), one);
        assert_eq!(lone_flow_time(&path, 0, 1234, 0), Time::ZERO);
        // A hundred million frames take no longer to compute; with the gap the slower link needs 1003.2 ns for each.
        let long = lone_flow_time(&path, 100_000_000, 1234, 0);
        assert_eq!(long, one + Time::from_ps(1_003_200) * 99_999_999);
    }

    /// At 1 Gbps the gap lasts 96 ns: over four links of a lone frame it is no part of the arrival, between two
    /// frames it is there once, whatever the number of links.
    #[test]
    fn the_gap_is_no_part_of_the_arrival() {
        let path = [(Rate::from_gbps(1), Time::from_ns(100)); 4];
        let one = Time::from_ns((64 + 8) * 8 + 100) * 4;
        assert_eq!(lone_flow_time(&path, 1, 64, 0), one);
        assert_eq!(lone_flow_time(&path, 2, 64, 0), one + Time::from_ns((64 + 8 + 12) * 8));
    }
}
