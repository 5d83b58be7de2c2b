//! Cells of tables that spreadsheets open.

/// A cell of a CSV table (RFC 4180): in quotes where it must be, and with `'` before what a spreadsheet takes for a
/// formula.
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
