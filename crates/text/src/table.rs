//! Text tables, fitted to the terminal width.

use crate::screen::{self, width};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};

/// Layout of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Lines of any length, for files.
    Fixed,
    /// For tables of numbers on a terminal: if the terminal is too narrow, headings wrap and the table is split; each
    /// part repeats the first columns.
    Fitting,
    /// For tables of text on a terminal: if the terminal is too narrow, long cells wrap.
    Wrapping,
}

/// Minimum width of a name column.
const LEAST_NAME: usize = 8;
/// Number of spaces between two columns.
const GAP: usize = 2;

/// Formats rows of cells below a header. The first `left` columns are text, aligned left; the others are numbers,
/// aligned right. Every line is indented by `indent` spaces and ends in a newline.
pub fn table(header: &[&str], rows: &[Vec<String>], left: usize, layout: Layout, indent: usize) -> String {
    match (layout, screen::columns()) {
        (Layout::Fixed, _) | (_, None) => drawn(header, rows, left, &[], indent),
        (Layout::Fitting, Some(columns)) => fitting(header, rows, left, indent, columns),
        (Layout::Wrapping, Some(columns)) => wrapping(header, rows, left, indent, columns),
    }
}

fn plain(header: &[&str], rows: &[Vec<String>], left: usize) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    if !header.is_empty() {
        table.set_header(header.iter().copied());
    }
    table.add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        if index >= left {
            column.set_cell_alignment(CellAlignment::Right);
        }
        // Padding only after a column, so that there is no space before the first column.
        column.set_padding((0, GAP as u16));
    }
    table
}

fn text(table: &Table, indent: usize) -> String {
    let margin = " ".repeat(indent);
    let mut text = String::new();
    for line in table.to_string().lines() {
        text.push_str(format!("{margin}{line}").trim_end());
        text.push('\n');
    }
    text
}

/// Formats the table with these column widths, or with minimal widths if `widths` is empty.
fn drawn(header: &[&str], rows: &[Vec<String>], left: usize, widths: &[usize], indent: usize) -> String {
    let mut table = plain(header, rows, left);
    if !widths.is_empty() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::MAX);
    }
    for (column, &width) in table.column_iter_mut().zip(widths) {
        let width = u16::try_from(width + GAP).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
    }
    text(&table, indent)
}

fn wrapping(header: &[&str], rows: &[Vec<String>], left: usize, indent: usize, columns: usize) -> String {
    let mut table = plain(header, rows, left);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    // The width includes the padding after the last column, which is trimmed from the output.
    table.set_width(u16::try_from(columns.saturating_sub(indent) + GAP).unwrap_or(u16::MAX));
    text(&table, indent)
}

fn fitting(header: &[&str], rows: &[Vec<String>], left: usize, indent: usize, columns: usize) -> String {
    let whole = drawn(header, rows, left, &[], indent);
    if whole.lines().all(|line| width(line) <= columns) {
        return whole;
    }
    let count = rows.iter().map(Vec::len).chain([header.len()]).max().unwrap_or(0);
    if left >= count {
        return wrapping(header, rows, left, indent, columns);
    }
    let word = |at: usize| header.get(at).map_or(0, |name| name.split(' ').map(width).max().unwrap_or(0));
    let cell = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell)).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..count).map(|at| word(at).max(cell(at))).collect();
    let needed = |widths: &[usize]| widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
    // A table that is too wide with its indentation is indented by at most two columns.
    let indent = if indent + needed(&widths) <= columns { indent } else { indent.min(2) };
    let room = columns.saturating_sub(indent);
    let names = left.max(1);
    if needed(&widths) > room {
        while needed(&widths[..names]) > room / 2 {
            let widest = widths[..names].iter_mut().max_by_key(|width| **width);
            let Some(widest) = widest.filter(|width| **width > LEAST_NAME) else { break };
            *widest -= 1;
        }
    }
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut free = 0;
    for (at, &width) in widths.iter().enumerate().skip(names) {
        match blocks.last_mut() {
            Some(block) if width + GAP <= free => block.push(at),
            _ => {
                blocks.push((0..names).chain([at]).collect());
                free = room.saturating_sub(needed(&widths[..names]));
            }
        }
        free = free.saturating_sub(width + GAP);
    }
    let of = |block: &Vec<usize>| {
        let header: Vec<&str> = block.iter().filter_map(|&at| header.get(at).copied()).collect();
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| block.iter().filter_map(|&at| row.get(at).cloned()).collect()).collect();
        let widths: Vec<usize> = block.iter().map(|&at| widths[at]).collect();
        drawn(&header, &rows, left, &widths, indent)
    };
    blocks.iter().map(of).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(cells: &[&[&str]]) -> Vec<Vec<String>> {
        cells.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect()
    }

    #[test]
    fn words_left_numbers_right_and_no_space_at_the_end() {
        let rows = rows(&[&["a", "1"], &["long name", "1,000"]]);
        let expected = "  name       count\n  a              1\n  long name  1,000\n";
        assert_eq!(table(&["name", "count"], &rows, 1, Layout::Fixed, 2), expected);
        assert_eq!(fitting(&["name", "count"], &rows, 1, 2, 30), expected);
    }

    #[test]
    fn headings_wrap_before_columns_part() {
        let rows = rows(&[&["s9 port 0 to h4", "47.6 %", "28.95MB", "1.46MB"]]);
        let header = ["busiest", "busy", "sent", "longest queue"];
        let expected = "  busiest            busy     sent  longest
                                      queue
  s9 port 0 to h4  47.6 %  28.95MB   1.46MB
";
        assert_eq!(fitting(&header, &rows, 1, 2, 44), expected);
        let expected = "  busiest            busy     sent
  s9 port 0 to h4  47.6 %  28.95MB

  busiest          longest
                     queue
  s9 port 0 to h4   1.46MB
";
        assert_eq!(fitting(&header, &rows, 1, 14, 36), expected);
    }

    #[test]
    fn every_width_holds_every_cell_and_no_line_is_longer() {
        let name = "a name of many words that no narrow screen can hold in one line";
        let all: Vec<String> = (0..9).map(|at| format!("{at}{}", "0".repeat(at))).collect();
        let rows = vec![[vec![name.to_owned()], all.clone()].concat()];
        for columns in 24..200 {
            let shown = fitting(&[], &rows, 1, 14, columns);
            assert!(shown.lines().all(|line| width(line) <= columns), "{columns}\n{shown}");
            let words: Vec<&str> = shown.split_whitespace().collect();
            assert!(all.iter().all(|cell| words.contains(&cell.as_str())), "{columns}\n{shown}");
            let prose = wrapping(&["what"], &[vec![name.to_owned()]], 1, 4, columns);
            assert!(prose.lines().all(|line| width(line) <= columns), "{columns}\n{prose}");
        }
    }
}
