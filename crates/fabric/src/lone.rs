//! Completion time of a single flow in an otherwise idle network: the lower bound of measured flow completion times.

use units::{PREAMBLE_BYTES, Rate, Time, WIRE_OVERHEAD_BYTES};

/// Returns the arrival time of the last bit of a flow over a path of links (rate, delay) with store-and-forward nodes
/// and no other traffic: `full_frames` frames of `full_bytes`, then one frame of `last_bytes` (0: none). Lengths count
/// from destination address to FCS. The first frame starts at time 0. A frame has arrived when its preamble and bytes
/// are serialised and propagated; the inter-packet gap after it delays only the next frame. The result is exact, in
/// time proportional to the number of links: frame n starts on a link when it has arrived at that link and the gap
/// after frame n-1 has ended. If all frames are equal, frame n therefore starts on link j at `arrival of frame 1 at
/// link j + (n - 1) * d`, where `d` is the maximum, over links 1 to j, of the time that a frame and its gap occupy the
/// link.
pub fn lone_flow_time(path: &[(Rate, Time)], full_frames: u64, full_bytes: u64, last_bytes: u64) -> Time {
    let mut slowest = Time::ZERO;
    // Arrival times of the first and of the last full frame at the node before the current link.
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

/// Like [`lone_flow_time`], for consecutive frames with these `lengths`, in time proportional to the number of frames.
pub fn lone_frames_time(path: &[(Rate, Time)], lengths: impl IntoIterator<Item = u64>) -> Time {
    let mut free = vec![Time::ZERO; path.len()];
    let mut done = Time::ZERO;
    for bytes in lengths {
        let mut arrival = Time::ZERO;
        for (free, &(rate, delay)) in free.iter_mut().zip(path) {
            let start = arrival.max(*free);
            *free = start + rate.serialise(bytes + WIRE_OVERHEAD_BYTES);
            arrival = start + rate.serialise(bytes + PREAMBLE_BYTES) + delay;
        }
        done = done.max(arrival);
    }
    done
}

/// Links available to the frames of one flow at one hop if each frame may take a different path (per-packet spraying).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpreadHop {
    /// Rate, delay and number of the links with equal properties.
    kinds: Vec<(Rate, Time, u64)>,
}

impl SpreadHop {
    /// Creates a hop with one link.
    pub fn single((rate, delay): (Rate, Time)) -> SpreadHop {
        SpreadHop { kinds: vec![(rate, delay, 1)] }
    }

    /// Creates a hop with parallel links of this kind, at least as many as there are frames.
    pub fn unlimited((rate, delay): (Rate, Time)) -> SpreadHop {
        SpreadHop { kinds: vec![(rate, delay, u64::MAX)] }
    }

    /// Creates a hop with these links; at least one is required.
    pub fn new(links: impl IntoIterator<Item = (Rate, Time)>) -> SpreadHop {
        let mut links: Vec<_> = links.into_iter().collect();
        links.sort_unstable();
        let kinds = links.chunk_by(|a, b| a == b).map(|same| (same[0].0, same[0].1, same.len() as u64)).collect();
        SpreadHop { kinds }
    }

    fn is_single(&self) -> bool {
        matches!(self.kinds[..], [(_, _, 1)])
    }

    /// Returns the minimum time from the start of a frame to its arrival, over all links.
    fn crossing(&self, bytes: u64) -> Time {
        let times = self.kinds.iter().map(|(rate, delay, _)| rate.serialise(bytes + PREAMBLE_BYTES) + *delay);
        times.min().unwrap_or(Time::ZERO)
    }

    /// Returns the earliest start of the last of `frames` equal frames, relative to the start of the first frame, for
    /// any distribution over the links. A link on which a frame and its gap take time `k` can start `t / k + 1` frames
    /// within `t`.
    fn last_start(&self, frames: u64, bytes: u64) -> Time {
        let kept: Vec<(u64, u64)> = (self.kinds.iter())
            .map(|(rate, _, count)| (rate.serialise(bytes + WIRE_OVERHEAD_BYTES).as_ps().max(1), *count))
            .collect();
        let started = |ps: u64| {
            let of_kind = |&(kept, count): &(u64, u64)| u128::from(ps / kept + 1) * u128::from(count);
            kept.iter().map(of_kind).sum::<u128>()
        };
        let alone = |&(kept, count): &(u64, u64)| (frames.saturating_sub(1) / count.max(1)).saturating_mul(kept);
        // Upper bound of the search: the time at which the fastest kind of links alone has started all frames.
        let (mut low, mut high) = (0, kept.iter().map(alone).min().unwrap_or(0));
        while low < high {
            let middle = low + (high - low) / 2;
            if started(middle) >= u128::from(frames) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Time::from_ps(high)
    }

    /// Returns a lower bound of the start of the last frame relative to the start of the first. The frames have
    /// `wire_bytes` in total, and no frame is longer than `longest`. At the start of the last frame, at most one frame
    /// per link is still being sent.
    fn last_start_of(&self, wire_bytes: u64, longest: u64) -> Time {
        let count: u128 = self.kinds.iter().map(|kind| u128::from(kind.2)).sum();
        let rate: u128 = self.kinds.iter().map(|(rate, _, count)| u128::from(rate.as_bps()) * u128::from(*count)).sum();
        let gone = u128::from(wire_bytes).saturating_sub(count * u128::from(longest));
        Time::from_ps(u64::try_from(gone * 8_000_000_000_000 / rate.max(1)).unwrap_or(u64::MAX))
    }
}

fn single_path(hops: &[SpreadHop]) -> Option<Vec<(Rate, Time)>> {
    hops.iter().map(|hop| hop.is_single().then(|| (hop.kinds[0].0, hop.kinds[0].1))).collect()
}

/// Like [`lone_flow_time`], for a flow whose frames may take any link of each hop. The result is a lower bound for
/// every path choice. If a flow of full frames uses all links of its hops evenly, its completion time exceeds the bound
/// by less than one frame time per hop. A short last frame takes less time at each node and may overtake previous
/// frames.
pub fn spread_flow_time(hops: &[SpreadHop], full_frames: u64, full_bytes: u64, last_bytes: u64) -> Time {
    if let Some(path) = single_path(hops) {
        return lone_flow_time(&path, full_frames, full_bytes, last_bytes);
    }
    let crosses = |bytes: u64| hops.iter().map(|hop| hop.crossing(bytes)).fold(Time::ZERO, |sum, time| sum + time);
    let full = if full_frames == 0 {
        Time::ZERO
    } else {
        let last_start = hops.iter().map(|hop| hop.last_start(full_frames, full_bytes)).max();
        last_start.unwrap_or(Time::ZERO) + crosses(full_bytes)
    };
    let short = match last_bytes {
        0 => Time::ZERO,
        bytes => hops[0].last_start(full_frames + 1, full_bytes) + crosses(bytes),
    };
    full.max(short)
}

/// Like [`spread_flow_time`], for consecutive frames with these `lengths`, in time proportional to the number of
/// frames.
pub fn spread_frames_time(hops: &[SpreadHop], lengths: impl IntoIterator<Item = u64>) -> Time {
    if let Some(path) = single_path(hops) {
        return lone_frames_time(&path, lengths);
    }
    let (mut wire_bytes, mut shortest, mut longest) = (0u64, u64::MAX, 0);
    for bytes in lengths {
        wire_bytes += bytes + WIRE_OVERHEAD_BYTES;
        (shortest, longest) = (shortest.min(bytes), longest.max(bytes + WIRE_OVERHEAD_BYTES));
    }
    if longest == 0 {
        return Time::ZERO;
    }
    let crossing = hops.iter().map(|hop| hop.crossing(shortest)).fold(Time::ZERO, |sum, time| sum + time);
    let last_start = hops.iter().map(|hop| hop.last_start_of(wire_bytes, longest)).max();
    last_start.unwrap_or(Time::ZERO) + crossing
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// Computes the completion time frame by frame. Between the first and the last link, each frame has its own links.
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

    fn between_unlimited(path: &[(Rate, Time)]) -> Vec<SpreadHop> {
        let ends = [0, path.len() - 1];
        let hop = |(at, &link)| if ends.contains(&at) { SpreadHop::single(link) } else { SpreadHop::unlimited(link) };
        path.iter().enumerate().map(hop).collect()
    }

    /// Two uplinks of 10 Gbps between links of 100 Gbps: frames alternate between the uplinks.
    #[test]
    fn parallel_links_share_the_frames() {
        let (fast, slow) = ((Rate::from_gbps(100), Time::from_us(1)), (Rate::from_gbps(10), Time::from_us(1)));
        let hops = [SpreadHop::single(fast), SpreadHop::new([slow, slow]), SpreadHop::single(fast)];
        let kept = slow.0.serialise(1000 + 20);
        let one = lone_flow_time(&[fast, slow, fast], 1, 1000, 0);
        assert_eq!(spread_flow_time(&hops, 1, 1000, 0), one);
        assert_eq!(spread_flow_time(&hops, 2, 1000, 0), one + fast.0.serialise(1000 + 20));
        assert_eq!(spread_flow_time(&hops, 1001, 1000, 0), one + kept * 500);
        // The link of 40 Gbps starts four frames for each frame on the link of 10 Gbps.
        let uneven = [SpreadHop::new([slow, (Rate::from_gbps(40), Time::from_us(1))])];
        assert_eq!(uneven[0].last_start(5 * 100 + 1, 1000), kept * 100);
        assert_eq!(spread_frames_time(&hops, [1000; 3]), lone_flow_time(&[fast, slow, fast], 1, 1000, 0) + kept / 2);
        assert_eq!(lone_frames_time(&[fast, slow], [500, 1000, 64]), brute(&[fast, slow], &[500, 1000, 64]));
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
            let hops = between_unlimited(&path);
            assert_eq!(spread_flow_time(&hops, full_frames, full, 0), brute_spread(&path, &frames), "{path:?}");
            frames.extend((last > 0).then_some(last));
            let floor = spread_flow_time(&hops, full_frames, full, last);
            assert!(spread_frames_time(&hops, frames.iter().copied()) <= brute_spread(&path, &frames), "{path:?}");
            assert!(floor <= brute_spread(&path, &frames), "{path:?}");
            assert!(floor <= lone_flow_time(&path, full_frames, full, last), "{path:?}");
            short_is_not_last += u32::from(last > 0 && floor < lone_flow_time(&path, full_frames, full, last));
        }
        assert!(short_is_not_last > 100, "some overtake: {short_is_not_last}");
        let path = [(Rate::from_gbps(100), Time::from_us(1)); 2];
        assert_eq!(spread_flow_time(&path.map(SpreadHop::single), 3, 1000, 64), lone_flow_time(&path, 3, 1000, 64));
        assert_eq!(spread_flow_time(&[], 3, 1000, 64), Time::ZERO);
    }

    /// Computes the completion time frame by frame and link by link.
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
        // 1242 bytes with preamble take 99.36 ns at 100 Gbps and 993.6 ns at 10 Gbps.
        let path = [(Rate::from_gbps(100), Time::from_us(1)), (Rate::from_gbps(10), Time::from_ns(500))];
        let one = Time::from_ps(99_360 + 1_000_000 + 993_600 + 500_000);
        assert_eq!(lone_flow_time(&path, 0, 0, 1234), one);
        assert_eq!(lone_flow_time(&path, 1, 1234, 0), one);
        assert_eq!(lone_flow_time(&path, 0, 1234, 0), Time::ZERO);
        // The computing time does not depend on the number of frames. With its gap, each of the hundred million frames
        // occupies the slower link for 1003.2 ns.
        let long = lone_flow_time(&path, 100_000_000, 1234, 0);
        assert_eq!(long, one + Time::from_ps(1_003_200) * 99_999_999);
    }

    /// At 1 Gbps the inter-packet gap lasts 96 ns. It does not delay the arrival of a single frame over four links.
    /// With two frames, the gap between them adds 96 ns once, for any number of links.
    #[test]
    fn the_gap_is_no_part_of_the_arrival() {
        let path = [(Rate::from_gbps(1), Time::from_ns(100)); 4];
        let one = Time::from_ns((64 + 8) * 8 + 100) * 4;
        assert_eq!(lone_flow_time(&path, 1, 64, 0), one);
        assert_eq!(lone_flow_time(&path, 2, 64, 0), one + Time::from_ns((64 + 8 + 12) * 8));
    }
}
