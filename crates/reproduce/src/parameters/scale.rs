//! Relative changes of numbers in scenario values.

/// Returns `value` changed by `percent`. `value` is a number, a fraction such as `1/8`, a number with a unit, or a list
/// of these.
///
/// An integer without a unit, or in bytes, packets, frames, bit times or ps, is rounded to an integer and changes by at
/// least 1. Returns `None` if `value` is not of this form, is 0, or is an integer that would become 0.
pub(super) fn scaled(value: &str, percent: i32) -> Option<String> {
    if let Some(items) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let items = items.split(", ").map(|item| scaled(item, percent)).collect::<Option<Vec<_>>>()?;
        let quoted = |item: String| if item.parse::<f64>().is_ok() { item } else { format!("\"{item}\"") };
        return Some(format!("[{}]", items.into_iter().map(quoted).collect::<Vec<_>>().join(", ")));
    }
    let end = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
    let (digits, unit) = value.split_at(end);
    let number: f64 = digits.parse().ok().filter(|&number: &f64| number > 0.0)?;
    let factor = 1.0 + f64::from(percent) / 100.0;
    // A fraction such as `1/8`.
    if let Some(divisor) = unit.strip_prefix('/').and_then(|divisor| divisor.parse::<f64>().ok()) {
        return Some(format!("{}", number / divisor * factor));
    }
    if unit.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let is_count = !digits.contains('.') && matches!(unit.trim(), "" | "B" | "packets" | "frames" | "bit times" | "ps");
    if !is_count {
        return Some(format!("{}{unit}", rounded(number * factor)));
    }
    let nearest = (number * factor).round();
    let changed = if nearest == number { number + f64::from(percent.signum()) } else { nearest };
    (changed >= 1.0).then(|| format!("{changed}{unit}"))
}

/// Rounds to nine significant digits, to remove the rounding error of the multiplication.
fn rounded(number: f64) -> f64 {
    format!("{number:.8e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::scaled;

    #[test]
    fn numbers_change_and_names_do_not() {
        let cases = [
            ("100Gbps", "80Gbps", "120Gbps"),
            ("0.8", "0.64", "0.96"),
            ("500 packets", "400 packets", "600 packets"),
            ("3840 bit times", "3072 bit times", "4608 bit times"),
            ("1.518KB", "1.2144KB", "1.8216KB"),
            ("1us", "0.8us", "1.2us"),
            ("2", "1", "3"),
            ("1/8", "0.1", "0.15"),
            ("[10us, 1us]", "[\"8us\", \"0.8us\"]", "[\"12us\", \"1.2us\"]"),
            ("[3, 10]", "[2, 8]", "[4, 12]"),
        ];
        for (value, less, more) in cases {
            assert_eq!((scaled(value, -20).as_deref(), scaled(value, 20).as_deref()), (Some(less), Some(more)));
        }
        for value in ["0", "0B", "line", "true", "H1>H4 H2>H4", "normal 500 packets", "10us to 20us", ""] {
            assert_eq!((scaled(value, -20), scaled(value, 20)), (None, None), "{value}");
        }
        assert_eq!((scaled("1", -20), scaled("1", 20)), (None, Some("2".to_owned())));
    }
}
