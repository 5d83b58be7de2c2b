//! CSV cells.

/// Formats a CSV cell (RFC 4180): quoted if necessary, with the prefix `'` if a spreadsheet would evaluate the text as
/// a formula.
pub fn csv_cell(text: &str) -> String {
    let formula = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{formula}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{formula}{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_no_formulas() {
        for (text, cell) in
            [("S1", "S1"), ("a,b", "\"a,b\""), ("=1+1", "'=1+1"), ("@x\"", "\"'@x\"\"\""), ("-1", "'-1")]
        {
            assert_eq!(csv_cell(text), cell);
        }
    }
}
