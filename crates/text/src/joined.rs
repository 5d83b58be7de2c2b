//! Several files in one stream, piece by piece.

/// How files follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// As they are.
    Plain,
    /// Each after a line `# NAME`.
    Named,
    /// Tables with one header, that of the first.
    Table,
    /// JSON values, as the members of one object.
    Members,
}

/// A stream of files.
#[derive(Clone, Debug)]
pub struct Joined {
    joint: Joint,
    pieces: usize,
}

impl Joined {
    /// An empty one.
    pub fn new(joint: Joint) -> Joined {
        Joined { joint, pieces: 0 }
    }

    /// What the stream goes on with for the next file. A name of a JSON value is in quotes already, and the value
    /// begins no line within a string, as JSON never does.
    pub fn next(&mut self, name: &str, text: &str) -> String {
        let first = self.pieces == 0;
        self.pieces += 1;
        match self.joint {
            Joint::Named => format!("# {name}\n{text}"),
            Joint::Table if !first => text.split_once('\n').map_or("", |(_, rest)| rest).to_owned(),
            Joint::Plain | Joint::Table => text.to_owned(),
            Joint::Members => {
                let start = if first { "{\n" } else { ",\n" };
                format!("{start}  {name}: {}", text.trim_end().replace('\n', "\n  "))
            }
        }
    }

    /// What the stream ends with.
    pub fn end(&self) -> &'static str {
        match (self.joint, self.pieces) {
            (Joint::Members, 0) => "{}\n",
            (Joint::Members, _) => "\n}\n",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(joint: Joint, files: &[(&str, &str)]) -> String {
        let mut all = Joined::new(joint);
        let pieces: String = files.iter().map(|(name, text)| all.next(name, text)).collect();
        pieces + all.end()
    }

    #[test]
    fn files_follow_each_other() {
        let files = [("a", "x,y\n1,2\n"), ("b", "x,y\n3,4\n")];
        assert_eq!(joined(Joint::Plain, &files), "x,y\n1,2\nx,y\n3,4\n");
        assert_eq!(joined(Joint::Named, &files), "# a\nx,y\n1,2\n# b\nx,y\n3,4\n");
        assert_eq!(joined(Joint::Table, &files), "x,y\n1,2\n3,4\n");
        let members = [("\"a\"", "{\n  \"x\": 1\n}\n"), ("\"b\"", "2\n")];
        assert_eq!(joined(Joint::Members, &members), "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": 2\n}\n");
        assert_eq!(joined(Joint::Members, &[]), "{}\n");
    }
}
