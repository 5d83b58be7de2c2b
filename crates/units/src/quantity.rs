//! Time, rate and size as integers.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

/// Preamble and start delimiter before every frame on a link (IEEE 802.3 clause 35.2.3.2).
pub const PREAMBLE_BYTES: u64 = 8;

/// Minimum interpacket gap (IEEE 802.3, clause 4.4.2). It occupies the link after a frame, but does not delay the
/// reception of this frame, which is complete with its last bit.
pub const GAP_BYTES: u64 = 12;

/// Overhead of every frame on a link.
pub const WIRE_OVERHEAD_BYTES: u64 = PREAMBLE_BYTES + GAP_BYTES;

/// An instant or a duration, in picoseconds. The range of a `u64` is 213 days.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Time(u64);

impl Time {
    /// The start of a simulation, and the zero duration.
    pub const ZERO: Time = Time(0);
    /// Later than every other time: "never".
    pub const MAX: Time = Time(u64::MAX);

    /// Makes a time of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Time(ps)
    }
    /// Makes a time of `ns` nanoseconds; at most 18,446,744,073,709,551 (213 days).
    pub const fn from_ns(ns: u64) -> Self {
        Time(ns * 1_000)
    }
    /// Makes a time of `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Time(us * 1_000_000)
    }
    /// Makes a time of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Time(ms * 1_000_000_000)
    }
    /// Makes a time of `s` seconds.
    pub const fn from_s(s: u64) -> Self {
        Time(s * 1_000_000_000_000)
    }
    /// Returns picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }
    /// Returns seconds, for display and statistics only: simulated time is never computed from a float.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// Returns the sum, or [`Time::MAX`] on overflow.
    pub const fn saturating_add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
    /// Returns the difference, or zero if `other` is later.
    pub const fn saturating_sub(self, other: Time) -> Time {
        Time(self.0.saturating_sub(other.0))
    }
    /// Returns `self * numerator / denominator`, rounded down, in 128-bit arithmetic.
    ///
    /// # Panics
    /// If `denominator` is zero or the result exceeds 213 days.
    pub fn scale(self, numerator: u64, denominator: u64) -> Time {
        let wide = u128::from(self.0) * u128::from(numerator) / u128::from(denominator);
        Time(u64::try_from(wide).expect("a time of at most 213 days"))
    }
}

impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}
impl Sub for Time {
    type Output = Time;
    #[inline]
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}
impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}
impl SubAssign for Time {
    #[inline]
    fn sub_assign(&mut self, other: Time) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Time {
    type Output = Time;
    #[inline]
    fn mul(self, factor: u64) -> Time {
        Time(self.0 * factor)
    }
}
impl Div<u64> for Time {
    type Output = Time;
    #[inline]
    fn div(self, divisor: u64) -> Time {
        Time(self.0 / divisor)
    }
}
impl Div<Time> for Time {
    type Output = u64;
    #[inline]
    fn div(self, divisor: Time) -> u64 {
        self.0 / divisor.0
    }
}
impl Rem<Time> for Time {
    type Output = Time;
    #[inline]
    fn rem(self, divisor: Time) -> Time {
        Time(self.0 % divisor.0)
    }
}
impl Sum for Time {
    fn sum<I: Iterator<Item = Time>>(items: I) -> Time {
        items.fold(Time::ZERO, Add::add)
    }
}

/// A rate in bits per second, never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Rate(u64);

/// 8 bits in picoseconds at 1 bit/s: the serialisation delay of a byte is this number divided by the rate.
const BYTE_PS_BPS: u64 = 8_000_000_000_000;

impl Rate {
    /// The smallest rate, 1 bit/s.
    pub const MIN: Rate = Rate(1);

    /// Makes a rate of `bps` bits per second; `None` for zero.
    pub const fn from_bps(bps: u64) -> Option<Self> {
        if bps == 0 { None } else { Some(Rate(bps)) }
    }
    /// Makes a rate of `gbps` gigabits per second.
    ///
    /// # Panics
    /// If `gbps` is zero.
    pub const fn from_gbps(gbps: u64) -> Self {
        assert!(gbps > 0, "a rate is positive");
        Rate(gbps * 1_000_000_000)
    }
    /// Makes a rate of `mbps` megabits per second.
    ///
    /// # Panics
    /// If `mbps` is zero.
    pub const fn from_mbps(mbps: u64) -> Self {
        assert!(mbps > 0, "a rate is positive");
        Rate(mbps * 1_000_000)
    }
    /// Returns bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }
    /// Returns the serialisation delay of `bytes`, for any `u64`, rounded up to a picosecond. It is exact for every
    /// rate that divides 8 Tbps: 1, 10, 25, 40, 100, 200, 400, 800 Gbps. Callers add [`WIRE_OVERHEAD_BYTES`] for the
    /// time that a frame occupies the link, or [`PREAMBLE_BYTES`] for the time until its last bit is sent.
    #[inline]
    pub fn serialise(self, bytes: u64) -> Time {
        // For fewer than 2^21 bytes, the product with 8e12 fits into 64 bits; frames are always shorter.
        if bytes < 1 << 21 {
            Time((bytes * BYTE_PS_BPS).div_ceil(self.0))
        } else {
            let wide = (u128::from(bytes) * u128::from(BYTE_PS_BPS)).div_ceil(u128::from(self.0));
            Time(u64::try_from(wide).unwrap_or(u64::MAX))
        }
    }
    /// Returns the number of whole bytes that can be sent in `span`.
    pub fn bytes_in(self, span: Time) -> u64 {
        let wide = u128::from(span.0) * u128::from(self.0) / u128::from(BYTE_PS_BPS);
        u64::try_from(wide).unwrap_or(u64::MAX)
    }
    /// Returns `self * numerator / denominator`, rounded down, but at least 1 bit/s.
    ///
    /// # Panics
    /// If `denominator` is zero.
    pub fn scale(self, numerator: u64, denominator: u64) -> Rate {
        let wide = u128::from(self.0) * u128::from(numerator) / u128::from(denominator);
        Rate(u64::try_from(wide).unwrap_or(u64::MAX).max(1))
    }
}

/// A size in bytes, for scenarios and tables; counters on hot paths are plain integers with names that end in `_bytes`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Returns the number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Writes `value`, given in the first unit of `scales`, in the largest unit that is at most `value`. Writes all
/// decimals unless a precision is given.
fn write_scaled(f: &mut fmt::Formatter<'_>, value: u64, scales: &[(u64, &str)]) -> fmt::Result {
    let &(size, name) = scales.iter().rev().find(|(size, _)| value >= *size).unwrap_or(&scales[0]);
    let (whole, rest) = (value / size, value % size);
    if rest == 0 {
        return write!(f, "{whole}{name}");
    }
    let digits = size.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    let shown = f.precision().unwrap_or(digits).min(digits);
    let fraction = fraction[..shown].trim_end_matches('0');
    if fraction.is_empty() { write!(f, "{whole}{name}") } else { write!(f, "{whole}.{fraction}{name}") }
}

/// Exact unless a precision is given: `1.5us`. With a precision, as in `{:.1}`, decimals are truncated.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::MAX {
            return f.write_str("never");
        }
        const SCALES: [(u64, &str); 5] =
            [(1, "ps"), (1_000, "ns"), (1_000_000, "us"), (1_000_000_000, "ms"), (1_000_000_000_000, "s")];
        write_scaled(f, self.0, &SCALES)
    }
}
impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
/// Exact unless a precision is given: `100Gbps`, `1.5Mbps`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SCALES: [(u64, &str); 5] =
            [(1, "bps"), (1_000, "Kbps"), (1_000_000, "Mbps"), (1_000_000_000, "Gbps"), (1_000_000_000_000, "Tbps")];
        write_scaled(f, self.0, &SCALES)
    }
}
impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
/// Decimal units (KB = 1000 B), exact unless a precision is given.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SCALES: [(u64, &str); 5] =
            [(1, "B"), (1_000, "KB"), (1_000_000, "MB"), (1_000_000_000, "GB"), (1_000_000_000_000, "TB")];
        write_scaled(f, self.0, &SCALES)
    }
}
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
