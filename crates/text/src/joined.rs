//! Concatenates several files to one stream, file by file.

/// Format of the concatenation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConcatenationFormat {
    /// Files are appended unchanged.
    Plain,
    /// Each file is preceded by a line `# NAME`.
    Named,
    /// Tables: the header of each file but the first is removed.
    Table,
    /// JSON values become the members of one JSON object.
    Members,
}

/// State of a concatenation of files.
#[derive(Clone, Debug)]
pub struct Concatenation {
    joint: ConcatenationFormat,
    pieces: usize,
}

impl Concatenation {
    /// Starts a concatenation without files.
    pub fn new(joint: ConcatenationFormat) -> Concatenation {
        Concatenation { joint, pieces: 0 }
    }

    /// Returns the text to append to the stream for the next file. With [`ConcatenationFormat::Members`], `name` must
    /// be a quoted JSON string, and `text` must have no line breaks within strings, as is true for valid JSON.
    pub fn next(&mut self, name: &str, text: &str) -> String {
        let first = self.pieces == 0;
        self.pieces += 1;
        match self.joint {
            ConcatenationFormat::Named => format!("# {name}\n{text}"),
            ConcatenationFormat::Table if !first => text.split_once('\n').map_or("", |(_, rest)| rest).to_owned(),
            ConcatenationFormat::Plain | ConcatenationFormat::Table => text.to_owned(),
            ConcatenationFormat::Members => {
                let start = if first { "{\n" } else { ",\n" };
                format!("{start}  {name}: {}", text.trim_end().replace('\n', "\n  "))
            }
        }
    }

    /// Returns the text to append after the last file.
    pub fn end(&self) -> &'static str {
        match (self.joint, self.pieces) {
            (ConcatenationFormat::Members, 0) => "{}\n",
            (ConcatenationFormat::Members, _) => "\n}\n",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(joint: ConcatenationFormat, files: &[(&str, &str)]) -> String {
        let mut all = Concatenation::new(joint);
        let pieces: String = files.iter().map(|(name, text)| all.next(name, text)).collect();
        pieces + all.end()
    }

    #[test]
    fn files_follow_each_other() {
        let files = [("a", "x,y\n1,2\n"), ("b", "x,y\n3,4\n")];
        assert_eq!(joined(ConcatenationFormat::Plain, &files), "x,y\n1,2\nx,y\n3,4\n");
        assert_eq!(joined(ConcatenationFormat::Named, &files), "# a\nx,y\n1,2\n# b\nx,y\n3,4\n");
        assert_eq!(joined(ConcatenationFormat::Table, &files), "x,y\n1,2\n3,4\n");
        let members = [("\"a\"", "{\n  \"x\": 1\n}\n"), ("\"b\"", "2\n")];
        assert_eq!(
            joined(ConcatenationFormat::Members, &members),
            "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": 2\n}\n"
        );
        assert_eq!(joined(ConcatenationFormat::Members, &[]), "{}\n");
    }
}
