//! Tables of text, as wide as the terminal allows.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// How a table is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Every line as long as it must be: figures.
    Fixed,
    /// Long cells wrap where a terminal is too narrow: prose.
    Wrapping,
}

/// Rows under a header; the first `left` columns are words and stand left, the others numbers. Every line
/// is indented by `indent` spaces and ends in a newline.
pub fn table(header: &[&str], rows: &[Vec<String>], left: usize, layout: Layout, indent: usize) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_content_arrangement(match layout {
        Layout::Fixed => ContentArrangement::Disabled,
        Layout::Wrapping => ContentArrangement::Dynamic,
    });
    if !header.is_empty() {
        table.set_header(header.iter().copied());
    }
    table.add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        if index >= left {
            column.set_cell_alignment(CellAlignment::Right);
        }
        // Two spaces between columns, none before the first.
        column.set_padding((0, 2));
    }
    let margin = " ".repeat(indent);
    let mut text = String::new();
    for line in table.to_string().lines() {
        text.push_str(format!("{margin}{line}").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_left_numbers_right_and_no_space_at_the_end() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["long name".to_owned(), "1,000".to_owned()]];
        let expected = "  name       count\n  a              1\n  long name  1,000\n";
        assert_eq!(table(&["name", "count"], &rows, 1, Layout::Fixed, 2), expected);
    }
}
