//! Text bar charts.

/// Total width of the bars in a row, in characters.
const WIDTH: f64 = 40.0;

/// Plots one row per point: its label, then a bar and the value for each series. A bar of the value `most` has full
/// width.
///
/// ```text
///   load   lossless                lossy
///    0.5   ############     4.62   ############     4.61
/// ```
pub fn bars(label: &str, series: &[&str], most: f64, rows: &[(String, Vec<f64>)]) -> String {
    let width = (WIDTH / series.len() as f64).floor();
    let lead = rows.iter().map(|row| row.0.chars().count()).fold(10, usize::max);
    let mut text = format!("  {label:>lead$}");
    for name in series {
        text.push_str(&format!("   {name:<column$}", column = width as usize + 9));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    for (label, values) in rows {
        let mut line = format!("  {label:>lead$}");
        for &value in values {
            let filled = (value / most * width).round().clamp(0.0, width) as usize;
            let bar = "#".repeat(filled);
            line.push_str(&format!("   {bar:<column$} {:>8.3}", no_minus(value), column = width as usize));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Replaces values that would be printed as -0.000 with zero.
pub fn no_minus(value: f64) -> f64 {
    if value.abs() < 0.0005 { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_values() {
        let rows = [("1".to_owned(), vec![0.0, 10.0]), ("2".to_owned(), vec![5.0, 20.0])];
        let text = bars("x", &["one", "two"], 10.0, &rows);
        let lengths: Vec<usize> = text.lines().map(|line| line.matches('#').count()).collect();
        assert_eq!(lengths, [0, 20, 30], "clamped at the widest: {text}");
    }

    #[test]
    fn values_stand_in_columns_and_zero_has_no_sign() {
        let rows = [("1".to_owned(), vec![-1e-9]), ("twelve letters".to_owned(), vec![-0.25])];
        let text = bars("x", &["one"], 10.0, &rows);
        let ends: Vec<usize> = text.lines().skip(1).map(str::len).collect();
        assert_eq!(ends[0], ends[1], "{text}");
        assert!(text.contains(" 0.000") && !text.contains("-0.000") && text.contains("-0.250"), "{text}");
    }
}
