//! Terminal colours.

/// Style of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A heading.
    Strong,
    /// Secondary information.
    Faint,
    /// Success.
    Good,
    /// Warning.
    Caution,
    /// Error.
    Bad,
}

/// Whether to use colours: on a terminal, but not in a pipe or a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorMode {
    /// Plain text.
    #[default]
    Plain,
    /// The colours of the terminal (ECMA-48, select graphic rendition).
    Colour,
}

impl ColorMode {
    /// Returns `text` in `style`; in plain mode, unchanged.
    pub fn styled(self, text: &str, style: Style) -> String {
        if self == ColorMode::Plain {
            return text.to_owned();
        }
        let code = match style {
            Style::Strong => "1",
            Style::Faint => "2",
            Style::Good => "32",
            Style::Caution => "33",
            Style::Bad => "1;31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_end_with_their_word_and_plain_text_has_none() {
        assert_eq!(ColorMode::Colour.styled("ok", Style::Good), "\u{1b}[32mok\u{1b}[0m");
        assert_eq!(ColorMode::default().styled("ok", Style::Good), "ok");
    }
}
