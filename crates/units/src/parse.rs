//! Parses quantities: a decimal number, optional spaces, a unit.

use crate::{Bytes, Rate, Time};
use std::fmt;
use std::str::FromStr;

/// Error of parsing a quantity; its `Display` includes an example of the correct form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseQuantityError {
    message: String,
}

impl ParseQuantityError {
    pub(crate) fn new(message: String) -> ParseQuantityError {
        ParseQuantityError { message }
    }
}

impl fmt::Display for ParseQuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
impl std::error::Error for ParseQuantityError {}

/// A kind of quantity: its name, an example, and its units with their size in the base unit.
struct Kind {
    name: &'static str,
    example: &'static str,
    units: &'static [(&'static str, u64)],
}

const TIME: Kind = Kind {
    name: "a time",
    example: "1.5us",
    units: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("µs", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
    ],
};
const RATE: Kind = Kind {
    name: "a rate",
    example: "100Gbps",
    units: &[
        ("bps", 1),
        ("Kbps", 1_000),
        ("kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
        // Units in the notation of ns-3.
        ("b/s", 1),
        ("Kb/s", 1_000),
        ("kb/s", 1_000),
        ("Mb/s", 1_000_000),
        ("Gb/s", 1_000_000_000),
        ("Tb/s", 1_000_000_000_000),
    ],
};
const SIZE: Kind = Kind {
    name: "a size",
    example: "64KiB",
    units: &[
        ("B", 1),
        ("KB", 1_000),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
    ],
};

fn parse(text: &str, kind: &Kind) -> Result<u64, ParseQuantityError> {
    let fail = |why: String| Err(ParseQuantityError { message: why });
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = (text[..end].replace('_', ""), text[end..].trim_start());
    let listed = |name: &&str| name.is_ascii() && !name.contains('/');
    let names = || kind.units.iter().map(|(name, _)| *name).filter(listed).collect::<Vec<_>>().join(", ");
    if text.starts_with('-') {
        return fail(format!("`{text}` is negative: {} is zero or more, like \"{}\"", kind.name, kind.example));
    }
    if number.is_empty() || number == "." {
        return fail(format!("`{text}` is not {}: write a number and a unit, like \"{}\"", kind.name, kind.example));
    }
    let Some(&(_, scale)) = kind.units.iter().find(|(name, _)| *name == unit) else {
        return if unit.is_empty() {
            fail(format!("`{text}` has no unit: write {} like \"{}\" (one of {})", kind.name, kind.example, names()))
        } else {
            fail(format!("`{unit}` is not a unit of {}: use one of {}", kind.name, names()))
        };
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if fraction.contains('.') {
        return fail(format!("`{number}` is not a number: it has two points"));
    }
    let too_large = || ParseQuantityError { message: format!("`{text}` is too large for {}", kind.name) };
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large())? };
    let mut total = u128::from(whole) * u128::from(scale);
    let fraction = fraction.trim_end_matches('0');
    if !fraction.is_empty() {
        let Some(digits) = 10u128.checked_pow(fraction.len() as u32).filter(|_| fraction.len() <= 24) else {
            return fail(format!("`{text}` has more decimals than {} can hold", kind.name));
        };
        let numerator: u128 = fraction.parse().map_err(|_| too_large())?;
        let scaled = numerator * u128::from(scale);
        if !scaled.is_multiple_of(digits) {
            let base = kind.units[0].0;
            return fail(format!("`{text}` is finer than the smallest step of {}, 1 {base}", kind.name));
        }
        total += scaled / digits;
    }
    u64::try_from(total).map_err(|_| too_large())
}

impl FromStr for Time {
    type Err = ParseQuantityError;
    /// Parses a number with the unit ps, ns, us, ms or s; `0` needs a unit, too.
    fn from_str(text: &str) -> Result<Time, ParseQuantityError> {
        match parse(text, &TIME)? {
            // `Time::MAX` means "never", so it is not a valid number.
            u64::MAX => Err(ParseQuantityError { message: format!("`{text}` is too large for {}", TIME.name) }),
            ps => Ok(Time::from_ps(ps)),
        }
    }
}
impl FromStr for Rate {
    type Err = ParseQuantityError;
    /// Parses a positive number with the unit bps, Kbps, Mbps, Gbps or Tbps, or in the notation `Gb/s` of ns-3.
    fn from_str(text: &str) -> Result<Rate, ParseQuantityError> {
        let bps = parse(text, &RATE)?;
        Rate::from_bps(bps)
            .ok_or_else(|| ParseQuantityError { message: format!("`{text}`: a rate is positive, like \"100Gbps\"") })
    }
}
impl FromStr for Bytes {
    type Err = ParseQuantityError;
    /// Parses a number with the unit B, KB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024).
    fn from_str(text: &str) -> Result<Bytes, ParseQuantityError> {
        parse(text, &SIZE).map(Bytes)
    }
}

/// Parses a percentage such as "80%", or a fraction such as "0.8"; returns the fraction, any non-negative finite value.
///
/// # Errors
/// If the text is not a number, or the number is negative or not finite.
pub fn parse_percent(text: &str) -> Result<f64, ParseQuantityError> {
    let trimmed = text.trim();
    let (number, scale) = match trimmed.strip_suffix('%') {
        Some(number) => (number.trim_end(), 0.01),
        None => (trimmed, 1.0),
    };
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value * scale),
        _ => Err(ParseQuantityError { message: format!("`{text}` is not a share: write \"80%\" or 0.8") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_as_people_write_them() {
        assert_eq!("1.5us".parse(), Ok(Time::from_ns(1500)));
        assert_eq!("0.001ms".parse(), Ok(Time::from_us(1)));
        assert_eq!("1000 ns".parse(), Ok(Time::from_us(1)));
        assert_eq!("0s".parse(), Ok(Time::ZERO));
        assert_eq!("100Gbps".parse(), Ok(Rate::from_gbps(100)));
        assert_eq!("2.5 Gbps".parse(), Ok(Rate::from_mbps(2500)));
        assert_eq!("100Gb/s".parse(), Ok(Rate::from_gbps(100)));
        assert_eq!("64KiB".parse(), Ok(Bytes(65_536)));
        assert_eq!("1_000B".parse(), Ok(Bytes(1000)));
        assert_eq!(parse_percent("80%"), Ok(0.8));
    }

    // [M1]
    #[test]
    fn each_error_states_the_correct_value() {
        let error = |text: &str| text.parse::<Time>().unwrap_err().to_string();
        assert!(error("5").contains("has no unit"));
        assert!(error("5 parsec").contains("ps, ns, us, ms, s"));
        assert!(error("-5us").contains("negative"));
        assert!(error("0.0001ns").contains("finer"));
        assert!(error("1.2.3us").contains("two points"));
        assert!(error("99999999s").contains("too large"));
        assert!(error("").contains("number and a unit"));
        assert!("0Gbps".parse::<Rate>().unwrap_err().to_string().contains("positive"));
    }

    #[test]
    fn display_parses_back() {
        let mut stream = crate::random::Stream::new(7, 0, 0);
        for _ in 0..10_000 {
            let value = stream.next_u64() >> (stream.next_u64() % 64).max(1);
            let time = Time::from_ps(value);
            assert_eq!(time.to_string().parse(), Ok(time));
            assert_eq!(Bytes(value).to_string().parse(), Ok(Bytes(value)));
            if let Some(rate) = Rate::from_bps(value) {
                assert_eq!(rate.to_string().parse(), Ok(rate));
            }
        }
        assert_eq!(format!("{:.1}", Time::from_ns(1_234_567)), "1.2ms");
    }

    // [M2]
    #[test]
    fn serialisation_is_exact() {
        assert_eq!(Rate::from_gbps(100).serialise(1), Time::from_ps(80));
        assert_eq!(Rate::from_gbps(1).serialise(1538), Time::from_ns(12_304));
        assert_eq!(Rate::from_bps(3).unwrap().serialise(3), Time::from_s(8));
        // One byte at 3 Gbps takes 2666.67 ps, rounded up to 2667 ps, so that a link never exceeds its rate.
        assert_eq!(Rate::from_gbps(3).serialise(1), Time::from_ps(2667));
        assert_eq!(Rate::from_gbps(400).serialise(30_000_000_000), Time::from_ms(600));
        assert_eq!(Rate::from_gbps(100).bytes_in(Time::from_us(1)), 12_500);
    }
}
