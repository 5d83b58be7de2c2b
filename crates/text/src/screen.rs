//! Terminal width, and line wrapping.

/// Minimum width in columns; a narrower terminal is treated as this wide.
const LEAST: usize = 20;

/// Returns the width of the terminal in columns: from the environment variable COLUMNS, otherwise from the terminal at
/// standard output; `None` for a file or a pipe.
pub fn columns() -> Option<usize> {
    let columns_variable =
        std::env::var("COLUMNS").ok().and_then(|columns_variable| columns_variable.trim().parse().ok());
    let found = || comfy_table::Table::new().width().map(usize::from);
    columns_variable.filter(|&columns| columns >= LEAST).or_else(found).map(|columns| columns.max(LEAST))
}

/// Wraps the lines of `text` at word boundaries to at most `columns` columns; returns it unchanged if `columns` is
/// `None`. Continuation lines are aligned with the text after the first gap of at least two spaces, such as the gap
/// after a label; if the line has no gap, they are indented by two columns more than the line. Colour escape sequences
/// have width 0.
pub fn fitted(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        wrap(line, columns, &mut out);
        out.push_str(end);
    }
    out
}

/// Returns for each character its byte offset, the character, and its column; colour escape sequences have width 0.
fn placed(text: &str) -> impl Iterator<Item = (usize, char, usize)> + '_ {
    let (mut column, mut escaped) = (0, false);
    text.char_indices().map(move |(at, character)| {
        let before = column;
        match (escaped, character) {
            (false, '\u{1b}') => escaped = true,
            (true, 'm') => escaped = false,
            (true, _) => {}
            (false, _) => column += 1,
        }
        (at, character, before)
    })
}

/// Returns the width of a line in columns.
pub(crate) fn width(line: &str) -> usize {
    // The column of an appended character equals the width of the line.
    placed(&format!("{line}.")).last().map_or(0, |(_, _, column)| column)
}

/// Returns the indentation in columns of the continuation lines of `line`.
fn hang(line: &str, columns: usize) -> usize {
    let (mut spaces, mut margin, mut words) = (0, 0, false);
    for (_, character, column) in placed(line) {
        match character {
            ' ' => spaces += 1,
            '\u{1b}' => {}
            _ if words && spaces > 1 && column <= columns / 2 => return column,
            _ => {
                margin = if words { margin } else { column };
                (words, spaces) = (true, 0);
            }
        }
    }
    (margin + 2).min(columns / 2)
}

fn wrap(line: &str, columns: usize, out: &mut String) {
    let hang = hang(line, columns);
    let (mut rest, mut room, mut least) = (line, columns, hang);
    while width(rest) > room {
        let spaces = || placed(rest).filter(|&(_, character, column)| character == ' ' && column > least);
        let cut = spaces().filter(|&(_, _, column)| column <= room).last().or_else(|| spaces().next());
        let Some((at, ..)) = cut else { break };
        out.push_str(rest[..at].trim_end());
        out.push('\n');
        out.push_str(&" ".repeat(hang));
        rest = rest[at..].trim_start();
        (room, least) = (columns - hang, 0);
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_continues_below_its_label() {
        let text = "goodput       99.85MB of payload from 0ps to 5ms: 159.76 Gbps\nshort\n";
        let expected = "goodput       99.85MB of\n              payload from 0ps\n              to 5ms: 159.76\n\
                        \x20             Gbps\nshort\n";
        assert_eq!(fitted(text, Some(30)), expected);
        assert_eq!(fitted(text, None), text);
        assert_eq!(fitted("a sentence without a gap", Some(20)), "a sentence without a\n  gap");
        let coloured = "\u{1b}[1mgoodput\u{1b}[0m  is as it was";
        assert_eq!(fitted(coloured, Some(22)), "\u{1b}[1mgoodput\u{1b}[0m  is as it was");
        assert_eq!(fitted(coloured, Some(20)), "\u{1b}[1mgoodput\u{1b}[0m  is as it\n         was");
        assert_eq!(fitted("an-endless-word-of-a-path/and/more", Some(20)), "an-endless-word-of-a-path/and/more");
    }

    #[test]
    fn no_word_is_lost_and_lines_of_short_words_fit() {
        let words: Vec<String> = (0usize..40).map(|at| "abcdefghi"[..at * 7 % 9 + 1].to_owned()).collect();
        for columns in LEAST..100 {
            for gaps in 1..4 {
                let gap = |at: usize| " ".repeat((at * columns) % gaps + 1);
                let line: String = (0..).zip(&words).map(|(at, word)| format!("{word}{}", gap(at))).collect();
                let shown = fitted(line.trim_end(), Some(columns));
                assert_eq!(shown.split_whitespace().collect::<Vec<_>>(), words);
                assert!(shown.lines().all(|line| width(line) <= columns), "{columns}:\n{shown}");
            }
        }
    }
}
