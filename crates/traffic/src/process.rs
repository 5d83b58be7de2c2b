//! Datagram sources, with the departure times and the lengths of their frames.

use crate::random::{exponential, normal};
use crate::sizes::ENDLESS;
use units::random::{Stream, purpose};
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// A source of datagrams: frames at scheduled times, without acknowledgements or congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramSource {
    /// Process of departure times.
    pub process: Process,
    /// Frame length in bytes from destination address to FCS, 64 to 65,535; the mean if the lengths are random.
    pub frame_bytes: u16,
    /// Distribution of frame lengths.
    pub lengths: LengthDistribution,
    /// Time from which no frame starts; `None`: limited only by the flow size.
    pub stop: Option<Time>,
}

/// Distribution of the frame lengths of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LengthDistribution {
    /// Constant length: every frame has `frame_bytes`.
    #[default]
    Equal,
    /// Normal distribution; draws below 64 bytes or above the maximum are clamped. The mean after clamping is
    /// `frame_bytes`, within half a byte: the location of the distribution is adjusted to compensate for the
    /// clamping.
    Normal {
        /// Standard deviation in bytes, before clamping.
        deviation_bytes: u16,
        /// Maximum frame length in bytes, at least `frame_bytes`.
        longest_bytes: u16,
    },
}

/// Process of a source's departure times. Rates are wire rates: each frame counts with its length plus
/// [`WIRE_OVERHEAD_BYTES`], so that a source with the rate of a link saturates the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// Equal gaps; the first frame departs at the start of the flow.
    Constant {
        /// Constant wire rate.
        rate: Rate,
    },
    /// One frame per period on the clock of the sending host, such as CPRI with time-based encapsulation (IEEE
    /// 1914.3).
    Periodic {
        /// Period on the host's clock, above zero.
        period: Time,
        /// Departures are at this clock time plus whole periods; `None`: the first frame departs at the start of the
        /// flow.
        phase: Option<Time>,
    },
    /// Independent, exponentially distributed gaps, also from the start of the flow to the first frame.
    Poisson {
        /// Mean wire rate.
        rate: Rate,
    },
    /// Equal gaps during exponentially distributed on-times, no frames during exponentially distributed off-times;
    /// starts with an on-time. A gap that is interrupted by the end of an on-time continues in the next on-time, so
    /// that the mean rate is exactly `rate * mean_on / (mean_on + mean_off)`.
    OnOff {
        /// Wire rate during on-times.
        rate: Rate,
        /// Mean on-time, at least the serialisation delay of one frame at `rate`.
        mean_on: Time,
        /// Mean off-time.
        mean_off: Time,
    },
    /// Equal bursts: frames with a fixed gap, and a pause after the last frame of each burst (the INET generator that
    /// PABO uses: 10 us, n + 1 frames, 0.2 s).
    Bursts {
        /// Time between the departures of two frames of a burst.
        frame_gap: Time,
        /// Number of frames per burst, at least 1.
        frames_per_burst: u32,
        /// Time from the departure of the last frame of a burst to that of the first frame of the next burst.
        pause: Time,
    },
}

impl Process {
    fn rate(&self) -> Option<Rate> {
        match *self {
            Process::Constant { rate } | Process::Poisson { rate } | Process::OnOff { rate, .. } => Some(rate),
            Process::Bursts { .. } | Process::Periodic { .. } => None,
        }
    }
}

impl DatagramSource {
    /// Returns an error message if the parameters of the source are invalid.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.frame_bytes < 64 {
            return Err("an Ethernet frame has at least 64 bytes: raise frame_bytes");
        }
        if self.process.rate().is_some_and(|rate| rate.as_bps() > 1_000_000_000_000_000) {
            return Err("frames at more than 1 Pbps would follow each other within a picosecond: lower the rate");
        }
        if self.longest_bytes() < self.frame_bytes {
            return Err("the longest frame is shorter than the mean: raise it");
        }
        if self.location_bytes().is_none() {
            return Err(
                "the mean must lie between 64 bytes and the longest frame: raise the longest, or the mean above 64",
            );
        }
        match self.process {
            Process::OnOff { rate, mean_on, .. } if mean_on < rate.serialise(self.wire_bytes()) => {
                Err("the mean on-time is shorter than one frame at the given rate: lengthen it")
            }
            Process::Periodic { period: Time::ZERO, .. } => Err("a period is above zero"),
            Process::Bursts { frames_per_burst: 0, .. } => Err("a burst has at least 1 frame"),
            Process::Bursts { frame_gap: Time::ZERO, pause: Time::ZERO, .. } => {
                Err("bursts need a frame_gap or a pause above zero")
            }
            _ => Ok(()),
        }
    }

    /// Returns the maximum frame length in bytes.
    pub const fn longest_bytes(&self) -> u16 {
        match self.lengths {
            LengthDistribution::Equal => self.frame_bytes,
            LengthDistribution::Normal { longest_bytes, .. } => longest_bytes,
        }
    }

    /// Returns the location parameter of the normal distribution whose mean after clamping is `frame_bytes`; `None`
    /// if there is no such distribution.
    fn location_bytes(&self) -> Option<f64> {
        let mean = f64::from(self.frame_bytes);
        let LengthDistribution::Normal { deviation_bytes, longest_bytes } = self.lengths else { return Some(mean) };
        let (least, longest) = (LEAST_BYTES, f64::from(longest_bytes));
        let deviation = f64::from(deviation_bytes);
        let limited_mean = |location: f64| limited_mean(location, deviation, least, longest);
        if (limited_mean(mean) - mean).abs() <= 0.5 {
            return Some(mean);
        }
        if mean <= least || mean >= longest {
            return None;
        }
        // Bisection, since the mean after clamping increases with the location.
        let (mut low, mut high) = (least - 40.0 * deviation, longest + 40.0 * deviation);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if limited_mean(middle) < mean {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(0.5 * (low + high))
    }

    /// Returns `true` if departure times are on the host's clock; for other sources they are in true time.
    pub const fn follows_clock(&self) -> bool {
        matches!(self.process, Process::Periodic { .. })
    }

    /// Returns the mean wire bytes of a frame.
    pub const fn wire_bytes(&self) -> u64 {
        self.frame_bytes as u64 + WIRE_OVERHEAD_BYTES
    }
}

/// Iterator over the departure times of a flow's frames, which never decrease.
#[derive(Clone, Debug)]
pub struct Departures {
    source: DatagramSource,
    frames_left: u64,
    next: Time,
    stream: Stream,
    /// For sources with a constant rate: whole picoseconds of a gap, and its remainder in units of 1/rate
    /// picoseconds.
    gap: (Time, u64),
    /// Accumulated remainder of the gaps so far, below one picosecond, in units of 1/rate picoseconds.
    remainder: u64,
    /// Remaining time of the current on-time.
    on_left: Time,
    frames_in_burst: u32,
}

impl Departures {
    /// Creates the departures of the flow with index `flow` that starts at `start`, in the run with this `seed`.
    /// `size_bytes` is the total frame length (rounded up to whole frames; [`ENDLESS`] for no end).
    pub fn new(source: DatagramSource, size_bytes: u64, start: Time, seed: u64, flow: u32) -> Self {
        let mut stream = Stream::new(seed, u64::from(flow), purpose("datagram departures"));
        let frames_left =
            if size_bytes == ENDLESS { u64::MAX } else { size_bytes.div_ceil(u64::from(source.frame_bytes.max(1))) };
        let (mut next, mut on_left) = (start, Time::ZERO);
        match source.process {
            Process::Poisson { rate } => {
                let mean = rate.serialise(source.wire_bytes());
                next = next.saturating_add(exponential(&mut stream, mean));
            }
            Process::OnOff { mean_on, .. } => on_left = exponential(&mut stream, mean_on),
            Process::Periodic { period, phase: Some(phase) } => {
                let (at, phase) = (start % period, phase % period);
                let wait = if phase >= at { phase - at } else { phase + (period - at) };
                next = next.saturating_add(wait);
            }
            Process::Constant { .. } | Process::Bursts { .. } | Process::Periodic { .. } => {}
        }
        let gap = source.process.rate().map_or((Time::ZERO, 0), |rate| {
            const BYTE_PS_BPS: u64 = 8_000_000_000_000;
            // Frame lengths above 2 MB, which no link supports, saturate.
            let owed = source.wire_bytes().saturating_mul(BYTE_PS_BPS);
            (Time::from_ps(owed / rate.as_bps()), owed % rate.as_bps())
        });
        Departures { source, frames_left, next, stream, gap, remainder: 0, on_left, frames_in_burst: 0 }
    }

    /// Returns the next gap of a source with constant rate in whole picoseconds; the accumulated remainder makes the
    /// mean exact.
    #[inline]
    fn constant_gap(&mut self, rate: Rate) -> Time {
        let (gap, rest) = self.gap;
        let owed = self.remainder + rest;
        let more = owed >= rate.as_bps();
        self.remainder = if more { owed - rate.as_bps() } else { owed };
        gap + Time::from_ps(u64::from(more))
    }

    #[inline]
    fn gap(&mut self) -> Time {
        match self.source.process {
            Process::Constant { rate } => self.constant_gap(rate),
            Process::Periodic { period, .. } => period,
            Process::Poisson { rate } => exponential(&mut self.stream, rate.serialise(self.source.wire_bytes())),
            Process::OnOff { rate, mean_on, mean_off } => self.on_off_gap(rate, mean_on, mean_off),
            Process::Bursts { frame_gap, frames_per_burst, pause } => {
                self.frames_in_burst += 1;
                if self.frames_in_burst < frames_per_burst {
                    frame_gap
                } else {
                    self.frames_in_burst = 0;
                    pause
                }
            }
        }
    }

    fn on_off_gap(&mut self, rate: Rate, mean_on: Time, mean_off: Time) -> Time {
        let mut on_needed = self.constant_gap(rate);
        let mut passed = Time::ZERO;
        // Terminates, usually after one or two periods, because the mean on-time is at least one gap (checked).
        while self.on_left <= on_needed {
            on_needed = on_needed.saturating_sub(self.on_left);
            let off = exponential(&mut self.stream, mean_off);
            passed = passed.saturating_add(self.on_left).saturating_add(off);
            self.on_left = exponential(&mut self.stream, mean_on);
            if passed == Time::MAX {
                return passed;
            }
        }
        self.on_left -= on_needed;
        passed.saturating_add(on_needed)
    }
}

impl Iterator for Departures {
    type Item = Time;
    #[inline(always)] // called per frame of a source
    fn next(&mut self) -> Option<Time> {
        let at = self.next;
        if self.frames_left == 0 || at == Time::MAX || self.source.stop.is_some_and(|stop| at >= stop) {
            return None;
        }
        if self.frames_left != u64::MAX {
            self.frames_left -= 1;
        }
        let gap = self.gap();
        self.next = at.saturating_add(gap);
        Some(at)
    }
}

/// Minimum frame length in bytes.
const LEAST_BYTES: f64 = 64.0;

/// Returns the mean of a normal distribution whose draws are clamped to the range from `least` to `longest`.
fn limited_mean(location: f64, deviation: f64, least: f64, longest: f64) -> f64 {
    let below = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
    let density = |x: f64| libm::exp(-0.5 * x * x) / libm::sqrt(2.0 * std::f64::consts::PI);
    let (low, high) = ((least - location) / deviation, (longest - location) / deviation);
    let within = below(high) - below(low);
    least * below(low) + longest * below(-high) + location * within + deviation * (density(low) - density(high))
}

/// Random frame lengths of one flow.
#[derive(Clone, Debug)]
pub struct FrameLengths {
    source: DatagramSource,
    /// Location parameter of the normal distribution. It exists for a valid source: see [`DatagramSource::check`].
    location_bytes: f64,
    stream: Stream,
}

impl FrameLengths {
    /// Creates the frame lengths of the flow with index `flow`, in the run with this `seed`.
    pub fn new(source: DatagramSource, seed: u64, flow: u32) -> Self {
        let location_bytes = source.location_bytes().unwrap_or(f64::from(source.frame_bytes));
        FrameLengths { source, location_bytes, stream: Stream::new(seed, u64::from(flow), purpose("datagram lengths")) }
    }

    /// Draws the next frame length in bytes.
    #[inline]
    pub fn draw(&mut self) -> u16 {
        match self.source.lengths {
            LengthDistribution::Equal => self.source.frame_bytes,
            LengthDistribution::Normal { deviation_bytes, longest_bytes } => {
                self.draw_normal(deviation_bytes, longest_bytes)
            }
        }
    }

    fn draw_normal(&mut self, deviation_bytes: u16, longest_bytes: u16) -> u16 {
        let drawn = self.location_bytes + f64::from(deviation_bytes) * normal(&mut self.stream);
        libm::round(drawn.clamp(LEAST_BYTES, f64::from(longest_bytes))) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// N(600, 150): mean and standard deviation are within five standard errors, and no length is out of range.
    #[test]
    fn normal_lengths_have_their_mean_and_deviation() {
        let lengths = LengthDistribution::Normal { deviation_bytes: 150, longest_bytes: 1500 };
        let source = DatagramSource { lengths, ..periodic(None) };
        let mut lengths = FrameLengths::new(source, 3, 1);
        let drawn: Vec<f64> = (0..100_000).map(|_| f64::from(lengths.draw())).collect();
        let mean = drawn.iter().sum::<f64>() / 1e5;
        let deviation = libm::sqrt(drawn.iter().map(|drawn| (drawn - mean) * (drawn - mean)).sum::<f64>() / 1e5);
        assert!((mean - 600.0).abs() < 2.4 && (deviation - 150.0).abs() < 1.7, "{mean} {deviation}");
        assert!(drawn.iter().all(|drawn| (64.0..=1500.0).contains(drawn)));
        let lengths = LengthDistribution::Normal { deviation_bytes: 60_000, longest_bytes: 700 };
        let mut wide = FrameLengths::new(DatagramSource { lengths, ..periodic(None) }, 3, 1);
        let drawn: std::collections::BTreeSet<u16> = (0..1000).map(|_| wide.draw()).collect();
        assert_eq!((drawn.first(), drawn.last()), (Some(&64), Some(&700)));
        assert!(DatagramSource { frame_bytes: 701, lengths, ..periodic(None) }.check().is_err());
    }

    /// The mean of the drawn lengths is `frame_bytes`, also if the clamping affects one side of the distribution, or
    /// nearly all of it.
    #[test]
    fn limits_do_not_shift_the_mean_length() {
        for (frame_bytes, deviation_bytes, longest_bytes) in
            [(1518, 400, 1600), (128, 400, 1518), (700, 60_000, 1518), (1518, 400, 2972), (600, 150, 1500)]
        {
            let lengths = LengthDistribution::Normal { deviation_bytes, longest_bytes };
            let source = DatagramSource { frame_bytes, lengths, ..periodic(None) };
            source.check().unwrap();
            let mut lengths = FrameLengths::new(source, 7, 2);
            let mean = (0..100_000).map(|_| f64::from(lengths.draw())).sum::<f64>() / 1e5;
            let error = 5.0 * f64::from(deviation_bytes.min(longest_bytes)) / libm::sqrt(1e5) + 1.0;
            assert!((mean - f64::from(frame_bytes)).abs() < error, "{frame_bytes} {longest_bytes}: {mean}");
        }
        let lengths = LengthDistribution::Normal { deviation_bytes: 400, longest_bytes: 1518 };
        assert!(DatagramSource { frame_bytes: 1518, lengths, ..periodic(None) }.check().is_err());
        assert!(DatagramSource { frame_bytes: 64, lengths, ..periodic(None) }.check().is_err());
    }

    fn periodic(phase: Option<Time>) -> DatagramSource {
        let process = Process::Periodic { period: Time::from_ns(640), phase };
        DatagramSource { process, frame_bytes: 600, lengths: LengthDistribution::Equal, stop: Some(Time::from_us(3)) }
    }

    #[test]
    fn a_periodic_source_keeps_its_phase() {
        let first = |phase: Option<u64>, start: u64| {
            let source = periodic(phase.map(Time::from_ns));
            Departures::new(source, ENDLESS, Time::from_ns(start), 1, 0).map(|at| at.as_ps() / 1000).collect::<Vec<_>>()
        };
        assert_eq!(first(None, 100), [100, 740, 1380, 2020, 2660]);
        assert_eq!(first(Some(50), 100), [690, 1330, 1970, 2610]);
        assert_eq!(first(Some(740), 100), [100, 740, 1380, 2020, 2660]);
    }

    fn departures(process: Process, frame_bytes: u16, stop: Time) -> Vec<Time> {
        let source = DatagramSource { process, frame_bytes, lengths: LengthDistribution::Equal, stop: Some(stop) };
        source.check().unwrap();
        Departures::new(source, ENDLESS, Time::ZERO, 1, 0).collect()
    }

    #[test]
    fn a_constant_source_at_the_link_rate_saturates_it() {
        let frames = departures(Process::Constant { rate: Rate::from_gbps(1) }, 1518, Time::from_ms(10));
        assert_eq!(frames[1], Time::from_ns(12_304), "1518 + 20 bytes at 1 Gbps");
        assert_eq!(frames.len() as u64, Time::from_ms(10).as_ps().div_ceil(12_304_000));
        // 84 wire bytes at 3 Gbps take exactly 224 ns, 85 wire bytes no whole number of picoseconds: rounding errors
        // must not accumulate.
        let frames = departures(Process::Constant { rate: Rate::from_gbps(3) }, 65, Time::from_ms(1));
        assert_eq!(frames[3_000], Time::from_ns(680_000));
        assert_eq!(frames[1], Time::from_ps(226_666));
    }

    #[test]
    fn poisson_and_on_off_offer_their_mean() {
        let rate = Rate::from_gbps(10);
        let second = Time::from_s(1);
        let gap = rate.serialise(1538);
        let full = second.as_ps() as f64 / gap.as_ps() as f64;
        let frames = departures(Process::Poisson { rate }, 1518, second).len() as f64;
        // 813,000 frames: the standard deviation of a Poisson count is 0.11 %.
        assert!((frames / full - 1.0).abs() < 0.005, "{}", frames / full);
        let on_off = Process::OnOff { rate, mean_on: Time::from_us(20), mean_off: Time::from_us(60) };
        let frames = departures(on_off, 1518, second);
        // 12,500 on and off periods: the standard error of the share of on-time is about 1 %.
        assert!((frames.len() as f64 / full - 0.25).abs() < 0.01, "{}", frames.len() as f64 / full);
        // Gaps are never shorter than at the constant rate, except for a picosecond of rounding.
        assert!(frames.windows(2).all(|pair| pair[1] - pair[0] + Time::from_ps(1) >= gap));
    }

    /// PABO's generator sends five bursts per second, of n + 1 frames each, for each of the paper's three values of
    /// n.
    #[test]
    fn bursts_start_where_pabo_needs_them() {
        for n in [500u32, 1500, 2500] {
            let bursts =
                Process::Bursts { frame_gap: Time::from_us(10), frames_per_burst: n + 1, pause: Time::from_ms(200) };
            let frames = departures(bursts, 1518, Time::from_s(1));
            assert_eq!(frames.len() as u32, 5 * (n + 1));
            let period = Time::from_ms(200) + Time::from_us(10) * u64::from(n);
            assert!((0..5).all(|k| frames[k * (n as usize + 1)] == period * k as u64));
        }
    }

    #[test]
    fn a_size_ends_it_too_and_huge_times_do_not_overflow() {
        let process = Process::Constant { rate: Rate::from_gbps(1) };
        let source = DatagramSource { process, frame_bytes: 100, lengths: LengthDistribution::Equal, stop: None };
        assert_eq!(Departures::new(source, 1001, Time::ZERO, 1, 0).count(), 11);
        let slow = DatagramSource { process: Process::Constant { rate: Rate::MIN }, ..source };
        // 120 wire bytes at 1 bit/s take 960 s: 19,216 frames in 213.5 days, the range of `Time`.
        assert_eq!(Departures::new(slow, ENDLESS, Time::ZERO, 1, 0).count(), 19_216);
        let pause = Process::Bursts { frame_gap: Time::MAX, frames_per_burst: 2, pause: Time::MAX };
        let once = DatagramSource { process: pause, ..source };
        assert_eq!(Departures::new(once, ENDLESS, Time::from_s(1), 1, 0).count(), 1);
    }

    #[test]
    fn sources_that_cannot_send_are_refused() {
        let source = |process, frame_bytes| {
            DatagramSource { process, frame_bytes, lengths: LengthDistribution::Equal, stop: None }.check()
        };
        let rate = Rate::from_gbps(1);
        assert!(source(Process::Poisson { rate }, 63).is_err());
        assert!(source(Process::Constant { rate: Rate::from_gbps(1_000_001) }, 64).unwrap_err().contains("1 Pbps"));
        let on_off = Process::OnOff { rate, mean_on: Time::from_us(1), mean_off: Time::ZERO };
        assert!(source(on_off, 1518).unwrap_err().contains("on-time"));
        assert!(source(on_off, 64).is_ok());
        let bursts = |frame_gap, frames_per_burst| Process::Bursts { frame_gap, frames_per_burst, pause: Time::ZERO };
        assert!(source(bursts(Time::from_us(1), 0), 64).is_err());
        assert!(source(bursts(Time::ZERO, 2), 64).is_err());
        assert!(source(bursts(Time::from_us(1), 2), 64).is_ok());
    }
}
