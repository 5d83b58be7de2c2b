//! Some weight and colour for eyes.

/// How a piece of text stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A heading.
    Strong,
    /// Beside the point.
    Faint,
    /// As it should be.
    Good,
    /// Worth a look.
    Caution,
    /// Wrong.
    Bad,
}

/// Whether a text takes colours: on a terminal it may, in a pipe or a file it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    /// Text as it is.
    #[default]
    Plain,
    /// With the terminal's colours (ECMA-48, select graphic rendition).
    Colour,
}

impl Paint {
    /// `text` in `style`, as far as it takes any.
    pub fn styled(self, text: &str, style: Style) -> String {
        if self == Paint::Plain {
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
        assert_eq!(Paint::Colour.styled("ok", Style::Good), "\u{1b}[32mok\u{1b}[0m");
        assert_eq!(Paint::default().styled("ok", Style::Good), "ok");
    }
}
