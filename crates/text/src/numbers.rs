//! Human-readable formats of numbers.

use units::{Bytes, Time};

/// Formats 1234567 as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats `1 flow`, `2 flows`, `1,000 flows`.
pub fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Formats a number and a noun with an irregular plural.
pub fn counted_as(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Formats a time span given in ns, with up to two decimals.
pub fn span(ns: f64) -> String {
    format!("{:.2}", rounded(ns))
}

/// Rounds to the digits that will be displayed, because the formatting truncates.
fn rounded(ns: f64) -> Time {
    let ps = (ns * 1000.0).round().max(0.0) as u64;
    let unit = [1_000_000_000_000, 1_000_000_000, 1_000_000, 1_000].into_iter().find(|&unit| ps >= unit);
    // Two decimals of the unit are displayed: the step is a hundredth of the unit.
    let step = unit.unwrap_or(100) / 100;
    Time::from_ps((ps.saturating_add(step / 2)) / step * step)
}

/// Formats a time span given in ps.
pub fn span_ps(ps: u64) -> String {
    span(ps as f64 / 1000.0)
}

/// Formats an instant in whole ns, so that consecutive instants are distinguishable.
pub fn instant(at: Time) -> String {
    let ps = at.as_ps();
    if ps < 1000 { at.to_string() } else { Time::from_ps(ps.saturating_add(500) / 1000 * 1000).to_string() }
}

/// Rounds every time in `text`: a time after "at", "from", "to", "until" or "first" as an [`instant`], any other time
/// as a [`span`].
pub fn rounded_times(text: &str) -> String {
    let (mut shown, mut before) = (String::with_capacity(text.len()), "");
    for word in text.split_inclusive(' ') {
        let bare = word.trim_end_matches([' ', ',', '.', ';', ':', ')']);
        let time = bare.starts_with(|first: char| first.is_ascii_digit()).then(|| bare.parse::<Time>().ok()).flatten();
        match time.filter(|_| bare.ends_with('s')) {
            Some(at) if matches!(before, "at" | "from" | "to" | "until" | "first") => shown.push_str(&instant(at)),
            Some(span) => shown.push_str(&span_ps(span.as_ps())),
            None => shown.push_str(bare),
        }
        shown.push_str(&word[bare.len()..]);
        before = bare;
    }
    shown
}

/// Formats a number of bytes, with up to two decimals.
pub fn size(bytes: u64) -> String {
    format!("{:.2}", Bytes(bytes))
}

/// Formats a share from 0 to 1 as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Formats a rate in bit/s, with two decimals.
pub fn rate(bits_per_second: f64) -> String {
    let units = [(1e12, "Tbps"), (1e9, "Gbps"), (1e6, "Mbps"), (1e3, "Kbps")];
    match units.into_iter().find(|(unit, _)| bits_per_second >= *unit) {
        Some((unit, name)) => format!("{:.2} {name}", bits_per_second / unit),
        None => format!("{bits_per_second:.0} bps"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([counted(1, "flow"), counted(0, "flow")], ["1 flow", "0 flows"]);
        assert_eq!(counted_as(1, "switch", "switches"), "1 switch");
        assert_eq!(counted_as(2, "switch", "switches"), "2 switches");
        assert_eq!([0.5, 1.0, 999.999, 1234.5678, 2_000_000.0].map(span), ["500ps", "1ns", "1us", "1.23us", "2ms"]);
        assert_eq!([size(999), size(1_500), size(32_000_000)], ["999B", "1.5KB", "32MB"]);
        assert_eq!([percent(0.9987), percent(0.0)], ["99.9 %", "0.0 %"]);
        assert_eq!([rate(0.0), rate(1.5e9), rate(99.0e12)], ["0 bps", "1.50 Gbps", "99.00 Tbps"]);
        assert_eq!(span(f64::NAN), "0ps");
        let message =
            "waits 369.51344us for S1:3 (2.5ns), stopped from 43.01808us to 1.00000049ms, 3 frames, 50.976KB.  ";
        let shown = "waits 369.51us for S1:3 (2.5ns), stopped from 43.018us to 1ms, 3 frames, 50.976KB.  ";
        assert_eq!(rounded_times(message), shown);
        assert_eq!(instant(Time::from_ps(999)), "999ps");
    }
}
