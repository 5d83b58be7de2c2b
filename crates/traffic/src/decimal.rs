//! Parser of decimal numbers as integers, without floating-point arithmetic.

/// Parses a non-negative decimal number, possibly with an exponent ("2.000000807", "1e-05"), in units of
/// 10^-`decimals`. Returns the number, rounded half up, and `true` if it is exact. Returns `None` if the text is not
/// such a number, or if it overflows.
pub(crate) fn parse(text: &str, decimals: i32) -> Option<(u64, bool)> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i16>().ok()?),
        None => (text, 0),
    };
    let mantissa = mantissa.strip_prefix('+').unwrap_or(mantissa);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if digits().next().is_none() || !digits().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    // Trailing zeros are ignored, so that long numbers with few significant digits do not overflow.
    let fraction = fraction.trim_end_matches('0');
    let mut value: u128 = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        value = value.checked_mul(10)?.checked_add(u128::from(digit - b'0'))?;
    }
    let shift = i64::from(exponent) + i64::from(decimals) - fraction.len() as i64;
    if value == 0 {
        return Some((0, true));
    }
    let power = 10u128.checked_pow(u32::try_from(shift.unsigned_abs()).ok()?);
    let (value, exact) = match (shift >= 0, power) {
        (true, power) => (value.checked_mul(power?)?, true),
        // The number is far smaller than the unit, so that it rounds to 0.
        (false, None) => (0, false),
        (false, Some(power)) => {
            // Rounds half up; the simpler `2 * rest >= power` could overflow.
            (value / power + u128::from(value % power >= power - power / 2), value.is_multiple_of(power))
        }
    };
    Some((u64::try_from(value).ok()?, exact))
}

#[cfg(test)]
mod tests {
    use super::parse;
    use proptest::prelude::*;

    #[test]
    fn known_answers() {
        assert_eq!(parse("2.000000807", 12), Some((2_000_000_807_000, true)));
        assert_eq!(parse("2", 12), Some((2_000_000_000_000, true)));
        assert_eq!(parse(".5", 1), Some((5, true)));
        assert_eq!(parse("1e-05", 12), Some((10_000_000, true)));
        assert_eq!(parse("1.5E3", 0), Some((1500, true)));
        assert_eq!(parse("0.5", 0), Some((1, false)));
        assert_eq!(parse("0.49", 0), Some((0, false)));
        assert_eq!(parse("1.0000000000004999", 12), Some((1_000_000_000_000, false)));
        assert_eq!(parse("3.000000000000000000000000000000000000000000000000", 0), Some((3, true)));
        assert_eq!(parse("1e-300", 12), Some((0, false)));
        assert_eq!(parse("0e300", 12), Some((0, true)));
        for bad in ["", ".", "-1", "1.2.3", "1e", "e5", "nan", "inf", "0x10", "1e30", "99999999999999999999", "1 2"] {
            assert_eq!(parse(bad, 12), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn picoseconds_survive(ps in 0u64..=u64::MAX) {
            let text = format!("{}.{:012}", ps / 1_000_000_000_000, ps % 1_000_000_000_000);
            prop_assert_eq!(parse(&text, 12), Some((ps, true)));
        }
        #[test]
        fn any_text_is_read_or_refused(text in "[-+0-9.eE]{0,60}", decimals in 0i32..13) {
            parse(&text, decimals);
        }
    }
}
