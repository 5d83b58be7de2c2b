//! Durations that standards state in bit times.

use crate::{ParseQuantityError, Rate, Time};
use std::fmt;
use std::str::FromStr;

/// Number of bits in a pause quantum (IEEE 802.3, annex 31B.2).
const QUANTUM_BITS: u64 = 512;
/// Maximum number of bit times: larger than any value of a standard, and small enough that sums do not overflow.
const MOST_BIT_TIMES: u64 = 1_000_000_000;

/// A duration on a link: absolute, or in bit times, which are shorter on a faster link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTime {
    /// A duration that is equal on every link, at most one second.
    Time(Time),
    /// A number of bit times, at most 1,000,000,000.
    BitTimes(u64),
}

impl LinkTime {
    /// Zero time.
    pub const ZERO: LinkTime = LinkTime::Time(Time::ZERO);

    /// Returns the duration on a link of `rate`, rounded up to a picosecond.
    pub fn on(self, rate: Rate) -> Time {
        match self {
            LinkTime::Time(time) => time,
            LinkTime::BitTimes(bits) if bits.is_multiple_of(8) => rate.serialise(bits / 8),
            LinkTime::BitTimes(bits) => {
                let wide = (u128::from(bits) * 1_000_000_000_000).div_ceil(u128::from(rate.as_bps()));
                Time::from_ps(u64::try_from(wide).unwrap_or(u64::MAX))
            }
        }
    }

    /// Returns whether the duration is zero.
    pub fn is_zero(self) -> bool {
        matches!(self, LinkTime::Time(Time::ZERO) | LinkTime::BitTimes(0))
    }
}

impl FromStr for LinkTime {
    type Err = ParseQuantityError;

    /// Parses `500ns`, `8192 bit times` or `60 quanta`.
    fn from_str(text: &str) -> Result<LinkTime, ParseQuantityError> {
        let fail = |why: &str| {
            let right = "write a time like \"500ns\", \"8192 bit times\", or \"60 quanta\" of 512 bit times";
            ParseQuantityError::new(format!("`{text}` {why}: {right}"))
        };
        let text = text.trim();
        let in_bits = |ending: &str, bits: u64| {
            let number = text.strip_suffix(ending)?.trim_end();
            let whole = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse::<u64>().ok()).flatten();
            let bits = whole.and_then(|number| number.checked_mul(bits)).filter(|&bits| bits <= MOST_BIT_TIMES);
            Some(bits.map(LinkTime::BitTimes).ok_or_else(|| fail("is no whole number of up to a billion bit times")))
        };
        let units = [("bit times", 1), ("bit time", 1), ("quanta", QUANTUM_BITS), ("quantum", QUANTUM_BITS)];
        if let Some(read) = units.into_iter().find_map(|(ending, bits)| in_bits(ending, bits)) {
            return read;
        }
        match text.parse::<Time>() {
            Ok(time) if time <= Time::from_s(1) => Ok(LinkTime::Time(time)),
            Ok(_) => Err(fail("is more than a second")),
            Err(_) if text.bytes().all(|byte| byte.is_ascii_digit()) => Err(fail("has no unit")),
            Err(error) => Err(error),
        }
    }
}

impl fmt::Display for LinkTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LinkTime::Time(time) => time.fmt(f),
            LinkTime::BitTimes(bits) if bits > 0 && bits.is_multiple_of(QUANTUM_BITS) => {
                write!(f, "{} {}", bits / QUANTUM_BITS, if bits == QUANTUM_BITS { "quantum" } else { "quanta" })
            }
            LinkTime::BitTimes(bits) => write!(f, "{bits} bit time{}", if bits == 1 { "" } else { "s" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_in_bits_is_as_short_as_the_link_is_fast() {
        let on = |text: &str, gbps| text.parse::<LinkTime>().unwrap().on(Rate::from_gbps(gbps));
        assert_eq!([on("500ns", 10), on("500ns", 400)], [Time::from_ns(500); 2]);
        assert_eq!(on("3840 bit times", 100), Time::from_ps(38_400));
        assert_eq!(on("3840 bit times", 10), Time::from_ns(384));
        assert_eq!(on("60 quanta", 10), Time::from_ns(3_072));
        // One bit at 3 Gbps takes 333.3 ps, rounded up to 334 ps; 8 bits take 2,666.7 ps, rounded up to 2,667 ps.
        assert_eq!([on("1 bit time", 3), on("8bit times", 3)], [Time::from_ps(334), Time::from_ps(2_667)]);
    }

    #[test]
    fn it_is_written_as_it_is_read() {
        for (text, shown) in [
            ("38.4ns", "38.4ns"),
            ("0ns", "0ps"),
            ("0 bit times", "0 bit times"),
            ("3840 bit times", "3840 bit times"),
            ("8192 bit times", "16 quanta"),
            ("1 quantum", "1 quantum"),
            ("1 bit time", "1 bit time"),
        ] {
            let read: LinkTime = text.parse().unwrap();
            assert_eq!(read.to_string(), shown);
            assert_eq!(shown.parse(), Ok(read));
        }
    }

    #[test]
    fn what_is_no_time_is_refused_with_what_would_be_right() {
        for text in ["3840", "-1 quanta", "1.5 quanta", "99999999999 bit times", "18446744073709551615 quanta", "2s"] {
            let error = text.parse::<LinkTime>().unwrap_err().to_string();
            assert!(error.contains("\"8192 bit times\""), "{text}: {error}");
        }
        assert!("5 parsec".parse::<LinkTime>().unwrap_err().to_string().contains("ps, ns, us"));
    }
}
