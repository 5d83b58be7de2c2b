//! Splits a shell script into commands, for the subset that `tc` scripts use: words, quotes, comments, continued lines,
//! variables and redirections. Anything beyond the subset is refused, with its line.

use super::file::GateFileError;
use std::collections::BTreeMap;

/// Line, from 1, and text of a word.
pub type Word = (usize, String);

/// A command of a script.
#[derive(Clone, Debug)]
pub struct Command {
    pub words: Vec<Word>,
    /// Number of the command that must succeed for this one to run; `None` if it always runs.
    pub after: Option<usize>,
}

/// Maximum length of the value of a variable, in bytes.
const MOST_VALUE_BYTES: usize = 4_096;

pub fn at<T>(line: usize, message: impl Into<String>) -> Result<T, GateFileError> {
    Err(GateFileError::Line { line, message: message.into() })
}

struct Reader<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
    variables: BTreeMap<String, String>,
    commands: Vec<Command>,
    command: Vec<Word>,
    word: Option<Word>,
    /// Index in the word of its first quoted or expanded part. A word with one is no keyword; if the part precedes `=`,
    /// the word is no assignment.
    quoted_from: Option<usize>,
    /// Per word of the command: whether it is an assignment.
    assigns: Vec<bool>,
    /// Line and sign of a redirection whose file is the next word.
    redirects: Option<(usize, char)>,
    /// Whether the command runs only if the previous one succeeds; and the number of that command, unless it is an
    /// assignment.
    conditional: bool,
    condition: Option<usize>,
    /// Line after the last continuation by `\` within the command.
    line_continued: Option<usize>,
}

/// Returns the commands of a script, in order.
///
/// # Errors
/// Text with another meaning to a shell, or whose effect depends on more than the script: an open quote, an unassigned
/// variable, `$(...)`, loops and conditions, here documents, background jobs, file name patterns.
pub fn commands(text: &str) -> Result<Vec<Command>, GateFileError> {
    let mut reader = Reader {
        chars: text.chars().peekable(),
        line: 1,
        variables: BTreeMap::new(),
        commands: Vec::new(),
        command: Vec::new(),
        word: None,
        quoted_from: None,
        assigns: Vec::new(),
        redirects: None,
        conditional: false,
        condition: None,
        line_continued: None,
    };
    reader.read()?;
    Ok(reader.commands)
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.chars.next();
        self.line += usize::from(next == Some('\n'));
        next
    }

    fn push(&mut self, c: char) {
        let line = self.line;
        self.word.get_or_insert_with(|| (line, String::new())).1.push(c);
    }

    fn read(&mut self) -> Result<(), GateFileError> {
        while let Some(c) = self.next() {
            match c {
                '\\' => match self.next() {
                    Some('\n') => self.line_continued = Some(self.line),
                    Some('\r') if self.chars.peek() == Some(&'\n') => {
                        return at(self.line, "the line ends in a carriage return: `\\` before it continues nothing");
                    }
                    Some(c) => {
                        let blank = c.is_whitespace();
                        let rest = self.chars.clone().take_while(|c| *c != '\n').all(char::is_whitespace);
                        if blank && rest {
                            return at(self.line, "blanks after `\\`: the line is not continued");
                        }
                        self.quoted();
                        self.push(c);
                    }
                    None => return at(self.line, "the script ends in `\\`"),
                },
                '\'' => self.single()?,
                '"' => self.double()?,
                '$' => self.variable(false)?,
                '`' => return at(self.line, "the output of a command, `...`, is not known here"),
                '#' if self.word.is_none() => self.comment()?,
                '\n' => {
                    self.end_command(self.line - 1)?;
                    self.line_continued = None;
                }
                ';' => {
                    if self.chars.peek() == Some(&';') || (self.word.is_none() && self.command.is_empty()) {
                        return at(self.line, "`;` without a command before it");
                    }
                    self.end_command(self.line)?;
                }
                '&' | '|' => self.operator(c)?,
                '>' | '<' => self.redirection(c)?,
                '(' | ')' => return at(self.line, format!("`{c}`: subshells and functions are not followed")),
                '*' | '?' | '[' => {
                    return at(self.line, format!("`{c}` is a pattern of file names to a shell: quote it"));
                }
                ' ' | '\t' => self.end_word()?,
                '\r' => return at(self.line, "a carriage return: to a shell it is a part of the word before it"),
                c if c.is_whitespace() => {
                    let code = u32::from(c);
                    return at(self.line, format!("the blank U+{code:04X}: to a shell it is a part of a word"));
                }
                c if c.is_control() => return at(self.line, "a control character"),
                c => self.push(c),
            }
        }
        self.end_command(self.line)
    }

    /// Skips a comment to the end of its line. After a continued line a comment ends the command, even if it ends in
    /// `\`.
    fn comment(&mut self) -> Result<(), GateFileError> {
        let (line, mut last) = (self.line, ' ');
        while let Some(&c) = self.chars.peek() {
            if c == '\n' {
                break;
            }
            last = c;
            self.next();
        }
        let inside = !self.command.is_empty() || self.line_continued.is_some();
        if last == '\\' && inside {
            return at(line, "`\\` at the end of a comment continues nothing: the command ends here");
        }
        Ok(())
    }

    /// Marks the next character of the word as quoted or expanded.
    fn quoted(&mut self) {
        let begin = self.word.as_ref().map_or(0, |(_, word)| word.len());
        self.quoted_from.get_or_insert(begin);
    }

    fn single(&mut self) -> Result<(), GateFileError> {
        let line = self.line;
        self.quoted();
        self.word.get_or_insert_with(|| (line, String::new()));
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some('\n') | None => return at(line, "the quote `'` is not closed in its line"),
                Some(c) => self.push(c),
            }
        }
    }

    fn double(&mut self) -> Result<(), GateFileError> {
        let line = self.line;
        self.quoted();
        self.word.get_or_insert_with(|| (line, String::new()));
        loop {
            match self.next() {
                Some('"') => return Ok(()),
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.push(c),
                    Some(c) => {
                        self.push('\\');
                        self.push(c);
                    }
                    None => return at(line, "the quote `\"` is not closed"),
                },
                Some('$') => self.variable(true)?,
                Some('`') => return at(self.line, "the output of a command, `...`, is not known here"),
                Some('\n') | None => return at(line, "the quote `\"` is not closed in its line"),
                Some(c) => self.push(c),
            }
        }
    }

    /// Expands `$NAME` or `${NAME}`; outside of quotes the value is split into words.
    fn variable(&mut self, inside_quotes: bool) -> Result<(), GateFileError> {
        let line = self.line;
        let braced = self.chars.next_if_eq(&'{').is_some();
        let mut name = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
        }
        if braced && self.chars.next_if_eq(&'}').is_none() {
            return at(line, format!("`${{{name}...`: only ${{NAME}} is followed"));
        }
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return at(line, format!("`${name}`: only variables that the script assigns are known here"));
        }
        let Some(value) = self.variables.get(&name).cloned() else {
            return at(line, format!("`${name}` is not assigned before: a shell would put nothing there"));
        };
        self.quoted();
        if inside_quotes {
            value.chars().for_each(|c| self.push(c));
            return Ok(());
        }
        let blank = |c: char| c == ' ' || c == '\t';
        if self.redirects.is_some() && (value.is_empty() || value.contains(blank)) {
            return at(line, format!("`${name}` is no single word, and a redirection needs one: quote it"));
        }
        for c in value.chars() {
            if matches!(c, '*' | '?' | '[') {
                return at(line, format!("`${name}` has `{c}`, a pattern of file names to a shell: quote it"));
            }
            if blank(c) {
                self.end_word()?
            } else {
                self.quoted();
                self.push(c)
            }
        }
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), GateFileError> {
        let quoted_from = self.quoted_from.take();
        let Some((line, word)) = self.word.take() else { return Ok(()) };
        if self.redirects.take().is_some() {
            return Ok(());
        }
        if self.command.is_empty() && quoted_from.is_none() && KEYWORDS.contains(&word.as_str()) {
            return at(line, format!("`{word}`: loops, conditions and functions are not followed"));
        }
        if matches!(word.as_str(), "{" | "}") && self.command.is_empty() {
            return at(line, format!("`{word}`: groups of commands are not followed"));
        }
        let literal = |equals: usize| quoted_from.is_none_or(|quoted| equals < quoted);
        self.assigns.push(assignment(&word).is_some() && word.find('=').is_some_and(literal));
        self.command.push((line, word));
        Ok(())
    }

    /// Ends a command. Assignments set variables, other commands are stored.
    fn end_command(&mut self, line: usize) -> Result<(), GateFileError> {
        self.end_word()?;
        if let Some((line, sign)) = self.redirects {
            return at(line, format!("`{sign}` without the name of a file"));
        }
        let (command, assigns) = (std::mem::take(&mut self.command), std::mem::take(&mut self.assigns));
        let Some((first_line, first)) = command.first() else { return Ok(()) };
        let conditional = std::mem::take(&mut self.conditional);
        if let Some(what) = CHANGES.iter().find(|(name, _)| name == first).map(|(_, what)| what) {
            return at(*first_line, format!("`{first}`: {what}"));
        }
        let ends = ENDS.contains(&first.as_str()) && (first != "exec" || command.len() > 1);
        let exports = first == "export";
        // `export` evaluates its arguments as assignments, quoted or not.
        let exported = |(_, word): &Word| exports && assignment(word).is_some();
        if conditional && (ends || assigns[0] || command.iter().any(exported)) {
            return at(*first_line, format!("`{first}` after `&&`: whether it runs is not known here"));
        }
        let values: &[Word] = match (exports, assigns[0], command.len()) {
            (true, ..) => &command[1..],
            (false, true, 1) => &command,
            (false, true, _) => {
                let name = assignment(first).map_or("", |(name, _)| name);
                let why = format!("`{name}=` before a command holds for that command alone: assign it in its own");
                return at(line, why);
            }
            _ => {
                let after = if conditional { self.condition } else { None };
                self.commands.push(Command { words: command, after });
                return Ok(());
            }
        };
        for (name, value) in values.iter().filter_map(|(_, word)| assignment(word)) {
            if value.len() > MOST_VALUE_BYTES {
                return at(line, format!("the value of `{name}` is longer than {MOST_VALUE_BYTES} bytes"));
            }
            self.variables.insert(name.to_owned(), value.to_owned());
        }
        Ok(())
    }

    fn operator(&mut self, c: char) -> Result<(), GateFileError> {
        let doubled = self.chars.next_if_eq(&c).is_some();
        self.end_word()?;
        match (c, doubled) {
            ('&', true) => {
                let before = self.commands.len();
                self.end_command(self.line)?;
                self.conditional = true;
                self.condition = (self.commands.len() > before).then_some(before);
                Ok(())
            }
            // After `||` only handlers of failure are accepted: `|| true`, `|| exit 1`.
            ('|', true) => {
                self.end_command(self.line)?;
                let mut rest = String::new();
                while let Some(c) = self.chars.next_if(|c| *c != '\n' && *c != ';') {
                    if c == '#' && rest.ends_with([' ', '\t']) {
                        self.comment()?;
                        break;
                    }
                    rest.push(c);
                }
                let rest = rest.trim_matches([' ', '\t']);
                match ["true", ":", "exit 1", "exit"].contains(&rest) {
                    true => Ok(()),
                    false => at(self.line, "`||`: only `|| true` and `|| exit 1` are followed"),
                }
            }
            ('&', false) => at(self.line, "`&`: commands in the background are not followed"),
            _ => at(self.line, "`|`: pipes are not followed"),
        }
    }

    /// Skips `> FILE`, `2> FILE`, `2>&1` or `< FILE`, which have no effect on `tc`.
    fn redirection(&mut self, c: char) -> Result<(), GateFileError> {
        let line = self.line;
        // A digit directly before the sign is the descriptor, not a word.
        let is_descriptor =
            |word: &(usize, String)| word.1.len() == 1 && word.1.starts_with(|c: char| c.is_ascii_digit());
        if self.quoted_from.is_none() && self.word.as_ref().is_some_and(is_descriptor) {
            self.word = None;
        }
        self.end_word()?;
        if c == '<' && self.chars.peek() == Some(&'<') {
            return at(line, "`<<`: here documents are not followed");
        }
        if self.redirects.is_some() {
            return at(line, format!("`{c}` without the name of a file"));
        }
        self.chars.next_if_eq(&'>');
        if self.chars.next_if_eq(&'&').is_none() {
            while self.chars.next_if(|c| *c == ' ' || *c == '\t').is_some() {}
        }
        self.redirects = Some((line, c));
        Ok(())
    }
}

/// Commands that end a script; `exec` does so only with a command.
pub const ENDS: [&str; 2] = ["exit", "exec"];

/// Commands that change variables, or the commands that run.
const CHANGES: [(&str, &str); 20] = [
    ("unset", VARIABLES),
    ("read", VARIABLES),
    ("readonly", VARIABLES),
    ("local", VARIABLES),
    ("declare", VARIABLES),
    ("typeset", VARIABLES),
    ("let", VARIABLES),
    ("getopts", VARIABLES),
    ("mapfile", VARIABLES),
    ("readarray", VARIABLES),
    ("eval", RUNS),
    ("source", RUNS),
    (".", RUNS),
    ("trap", RUNS),
    ("alias", RUNS),
    ("builtin", RUNS),
    ("coproc", RUNS),
    ("return", "outside of a function some shells go on after it"),
    ("break", "there is no loop here"),
    ("continue", "there is no loop here"),
];
const VARIABLES: &str = "its effect on variables is not followed";
const RUNS: &str = "the commands that it runs are not followed";

const KEYWORDS: [&str; 14] =
    ["if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select"];

/// Splits `NAME=VALUE`.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(good) && !name.starts_with(|c: char| c.is_ascii_digit()))
        .then_some((name, value))
}
