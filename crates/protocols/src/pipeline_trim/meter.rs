//! Token-bucket meters in integer arithmetic, with one or two rates.

use units::{Rate, Time};

/// One byte in the unit of a bucket's level: 8 bits times 10^12 ps/s.
const PER_BYTE: u64 = 8_000_000_000_000;

/// Maximum burst of a bucket in bytes, because its level is a `u64` in units of bit x ps/s.
pub const MAX_BURST_BYTES: u32 = 2_000_000;

/// Token bucket: initially full, fills at its rate up to its burst size. In the unit of its level, a byte is 8 x
/// 10^12 and each picosecond adds the rate in bit/s, so that no rounding occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    bps: u64,
    capacity: u64,
    level: u64,
    at: Time,
}

impl Bucket {
    /// Creates a full bucket with a burst size of `burst_bytes`, at most [`MAX_BURST_BYTES`].
    pub fn new(rate: Rate, burst_bytes: u32) -> Self {
        let capacity = u64::from(burst_bytes.min(MAX_BURST_BYTES)) * PER_BYTE;
        Bucket { bps: rate.as_bps(), capacity, level: capacity, at: Time::ZERO }
    }

    /// Adds the tokens for the time since the last call. If `now` is earlier than the last call, adds none.
    #[inline]
    fn fill(&mut self, now: Time) {
        let span = now.saturating_sub(self.at).as_ps();
        let more = u128::from(span) * u128::from(self.bps);
        let room = self.capacity - self.level;
        self.level += if more >= u128::from(room) { room } else { more as u64 };
        self.at = self.at.max(now);
    }

    #[inline]
    fn holds(&self, bytes: u32) -> bool {
        self.level >= u64::from(bytes) * PER_BYTE
    }

    #[inline]
    fn spend(&mut self, bytes: u32) {
        self.level -= u64::from(bytes) * PER_BYTE;
    }

    /// If there are at least `bytes` tokens, takes them and returns true; otherwise takes none.
    #[inline]
    pub fn take(&mut self, now: Time, bytes: u32) -> bool {
        self.fill(now);
        let holds = self.holds(bytes);
        if holds {
            self.spend(bytes);
        }
        holds
    }
}

/// Colour of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// Conforms to the committed rate.
    Green,
    /// Exceeds the committed rate, conforms to the peak rate.
    Yellow,
    /// Exceeds the peak rate.
    Red,
}

/// A two-rate three-colour meter in colour-blind mode (RFC 2698, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoRateMeter {
    peak: Bucket,
    committed: Bucket,
}

impl TwoRateMeter {
    /// Creates a meter with a burst size of `burst_bytes` in both buckets.
    pub fn new(peak: Rate, committed: Rate, burst_bytes: u32) -> Self {
        TwoRateMeter { peak: Bucket::new(peak, burst_bytes), committed: Bucket::new(committed, burst_bytes) }
    }

    /// Returns the colour of a packet of `bytes`. A red packet takes no tokens, a yellow packet takes only tokens of
    /// the peak bucket.
    #[inline]
    pub fn color(&mut self, now: Time, bytes: u32) -> Color {
        if !self.peak.take(now, bytes) {
            return Color::Red;
        }
        if self.committed.take(now, bytes) { Color::Green } else { Color::Yellow }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const FRAME: u32 = 1520;

    /// Returns the number of frames, one every `gap` until `end`, for which the bucket has enough tokens.
    fn passed(mut bucket: Bucket, gap: Time, end: Time) -> u64 {
        let (mut now, mut count) = (Time::ZERO, 0);
        while now < end {
            count += u64::from(bucket.take(now, FRAME));
            now += gap;
        }
        count
    }

    /// Frames arrive back to back at the line rate C: a bucket of rate C/d and burst size B passes `B + C t / d`
    /// bytes in time t, rounded down to whole frames.
    #[test]
    fn passes_its_share_of_a_line_and_its_burst() {
        let line = Rate::from_gbps(100);
        let gap = line.serialise(u64::from(FRAME));
        for (divisor, burst_frames) in [(1, 1), (1, 8), (2, 2), (2, 8), (4, 1), (4, 8), (4, 64)] {
            let bucket = Bucket::new(line.scale(1, divisor), burst_frames * FRAME);
            let frames = 100_000u64;
            let ours = passed(bucket, gap, gap * frames);
            // The last frame arrives after (frames - 1) gaps; the number of frames that pass is rounded down.
            let tokens = u64::from(burst_frames) + (frames - 1) / divisor;
            let expected = tokens.min(frames);
            assert_eq!(ours, expected, "1/{divisor}, burst of {burst_frames}");
        }
    }

    /// Random packet sizes and gaps: in any interval, at most the burst size plus rate times duration passes. A
    /// packet is refused only if it would exceed this bound in some interval that ends with it.
    #[test]
    fn refuses_only_what_breaks_the_bound_and_all_of_that() {
        for seed in 0..20 {
            let mut stream = Stream::new(seed, 0, 0);
            let rate = Rate::from_bps(1_000_000_007 * (1 + stream.below(20))).unwrap();
            let burst = 1_600 + stream.below(20_000) as u32;
            let mut bucket = Bucket::new(rate, burst);
            // Reference model: stores every packet that passed, to check the bound for all intervals.
            let mut taken: Vec<(u64, u64)> = Vec::new();
            let mut now = 0u64;
            for _ in 0..2_000 {
                now += stream.below(300_000);
                let bytes = 64 + stream.below(1_500) as u32;
                let fits = (0..=taken.len()).all(|from| {
                    // The interval from packet `from` to the current packet; for an interval with this packet only,
                    // the bucket is full.
                    let start = taken.get(from).map_or(now, |taken| taken.0);
                    let sum: u64 = taken[from..].iter().map(|taken| taken.1).sum::<u64>() + u64::from(bytes);
                    let allowed =
                        u128::from(burst) * u128::from(PER_BYTE) + u128::from(now - start) * u128::from(rate.as_bps());
                    u128::from(sum) * u128::from(PER_BYTE) <= allowed
                });
                assert_eq!(bucket.take(Time::from_ps(now), bytes), fits, "seed {seed} at {now}");
                if fits {
                    taken.push((now, u64::from(bytes)));
                }
            }
            assert!(taken.len() > 10 && taken.len() < 2_000, "seed {seed}: {} taken", taken.len());
        }
    }

    #[test]
    fn a_call_from_the_past_adds_nothing_and_does_no_harm() {
        let mut bucket = Bucket::new(Rate::from_gbps(100), FRAME);
        assert!(bucket.take(Time::from_us(5), FRAME));
        assert!(!bucket.take(Time::from_us(1), FRAME));
        assert!(!bucket.take(Time::from_us(5), FRAME));
        assert!(bucket.take(Time::MAX, FRAME));
    }

    #[test]
    fn colours_are_those_of_rfc_2698() {
        let mut meter = TwoRateMeter::new(Rate::from_gbps(100), Rate::from_gbps(50), 2 * FRAME);
        let colours: Vec<Color> = (0..3).map(|_| meter.color(Time::ZERO, FRAME)).collect();
        assert_eq!(colours, [Color::Green, Color::Green, Color::Red]);
        // After the serialisation delay of a frame at 100 Gbps, the peak bucket has tokens for one frame, the
        // committed bucket (50 Gbps) for half a frame.
        let gap = Rate::from_gbps(100).serialise(u64::from(FRAME));
        assert_eq!(meter.color(gap, FRAME), Color::Yellow);
        // At the line rate of 100 Gbps, every second frame is green, the other frames are yellow.
        let mut counts = [0; 3];
        for step in 2..10_002 {
            counts[meter.color(gap * step, FRAME) as usize] += 1;
        }
        assert_eq!(counts, [5_000, 5_000, 0]);
    }
}
