//! Splits a shell script into commands. It supports the subset of the shell language that `tc` scripts use: words,
//! quotes, comments, continued lines, variables and redirections. Everything else is refused, with its line; options of
//! the shell and names of variables are also checked against lists of what is allowed.

use super::file::GateFileError;
use super::shell_variables::{Assignment, assignment, is_name, special_variable};
use std::collections::BTreeMap;

/// Line, from 1, and text of a word.
pub type Word = (usize, String);

/// A command of a script.
#[derive(Clone, Debug)]
pub struct Command {
    pub words: Vec<Word>,
    /// Index of the command after which this command runs only on success (`&&`); `None` if it always runs.
    pub after: Option<usize>,
    /// Whether the script ends if this command fails, because of `set -e` or `|| exit`.
    pub ends: bool,
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
    /// Line of the `readonly` command, by name of the read-only variable.
    fixed: BTreeMap<String, usize>,
    /// Whether the script's shell may be more than plain `sh`: it then accepts `NAME+=VALUE` and `set -o pipefail`.
    extended: bool,
    /// Whether `set -e` is in effect.
    errexit: bool,
    commands: Vec<Command>,
    command: Vec<Word>,
    word: Option<Word>,
    /// Offset of the first quoted or expanded part of the word. A word with such a part is no keyword; if this part
    /// precedes `=`, the word is no assignment.
    quoted_from: Option<usize>,
    /// Whether each word of the command is an assignment.
    assigns: Vec<bool>,
    /// Line and sign (`<` or `>`) of a redirection whose file name is the next word.
    redirects: Option<(usize, char)>,
    /// Whether the command runs only if the previous one succeeds (after `&&`); and the index of the previous
    /// command, unless that is an assignment.
    conditional: bool,
    condition: Option<usize>,
    /// Line that follows the last `\` continuation within the command.
    line_continued: Option<usize>,
}

/// Returns the commands of a script, in order.
///
/// # Errors
/// Text that a shell would execute with another meaning than this reader, or whose effect depends on more than the
/// script: an open quote, an unassigned variable, `$(...)`, loops and conditions, here documents, background jobs, file
/// name patterns.
pub fn commands(text: &str) -> Result<Vec<Command>, GateFileError> {
    if text.starts_with('\u{feff}') {
        return at(1, "a byte order mark: to a shell it is a part of the first word");
    }
    let Interpreter { extended, errexit } = interpreter(text.split('\n').next().unwrap_or_default())?;
    let mut reader = Reader {
        chars: text.chars().peekable(),
        line: 1,
        variables: BTreeMap::new(),
        fixed: BTreeMap::new(),
        extended,
        errexit,
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
                '{' | '}' => {
                    return at(self.line, format!("`{c}`: groups of commands and lists in braces are not followed"));
                }
                '~' if self.word.as_ref().is_none_or(|(_, word)| word.ends_with(['=', ':'])) => {
                    return at(self.line, "`~` is a home directory to a shell: quote it");
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

    /// Skips a comment to the end of its line. Refuses a `\` at the end of a comment within a command, because it does
    /// not continue the command.
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

    /// Marks the rest of the word, from the next character on, as quoted or expanded.
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

    /// Expands `$NAME` or `${NAME}`. Outside quotes, the value is split into words.
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
        let quoted_from = self.quoted_from;
        self.quoted();
        if inside_quotes {
            value.chars().for_each(|c| self.push(c));
            return Ok(());
        }
        let blank = |c: char| c == ' ' || c == '\t';
        let special = |c: char| blank(c) || matches!(c, '*' | '?' | '[');
        let equals = self.word.as_ref().and_then(|(_, word)| assignment(word).and(word.find('=')));
        let begins = equals.is_some_and(|equals| quoted_from.is_none_or(|quoted| equals < quoted));
        match self.command.first() {
            // The value of an assignment is not split into words.
            None if begins => {
                value.chars().for_each(|c| self.push(c));
                return Ok(());
            }
            Some((_, word)) if DECLARES.contains(&word.as_str()) && begins && value.contains(special) => {
                return at(line, format!("`{word}` of `${name}`: some shells split its value into words: quote it"));
            }
            _ => {}
        }
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
        if let Some((line, sign)) = self.redirects.take() {
            if sign == '<' && word != "/dev/null" {
                let file = fabric::visible(&word);
                return at(
                    line,
                    format!("`< {file}`: without this file the command does not run: only /dev/null is read"),
                );
            }
            return Ok(());
        }
        if self.command.is_empty() && quoted_from.is_none() && KEYWORDS.contains(&word.as_str()) {
            return at(line, format!("`{word}`: loops, conditions and functions are not followed"));
        }
        let literal = |equals: usize| quoted_from.is_none_or(|quoted| equals < quoted);
        self.assigns.push(assignment(&word).is_some() && word.find('=').is_some_and(literal));
        self.command.push((line, word));
        Ok(())
    }

    /// Ends a command. Assignments set variables; all other commands are appended to the list.
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
        let declares = DECLARES.contains(&first.as_str());
        if conditional && (ends || assigns[0] || first == "set" || declares) {
            return at(*first_line, format!("`{first}` after `&&`: whether it runs is not known here"));
        }
        if first == "set" {
            return self.set(&command);
        }
        let values: &[Word] = match (declares, assigns[0], command.len()) {
            (true, ..) => &command[1..],
            (false, true, 1) => &command,
            (false, true, _) => {
                let name = assignment(first).map_or("", |assigned| assigned.name);
                let why = format!("`{name}=` before a command holds for that command alone: assign it in its own");
                return at(line, why);
            }
            _ => {
                let after = if conditional { self.condition } else { None };
                self.commands.push(Command { words: command, after, ends: self.errexit });
                return Ok(());
            }
        };
        for (line, word) in values {
            // `export NAME` and `readonly NAME` without `=` keep the value of the variable. Both commands also treat
            // quoted arguments as assignments.
            let Some(assigned) = assignment(word) else {
                if !is_name(word) {
                    return at(*line, format!("`{first} {}`: expected NAME or NAME=VALUE", fabric::visible(word)));
                }
                if first == "readonly" {
                    self.fixed.insert(word.clone(), *line);
                }
                continue;
            };
            self.assign(&assigned, *line)?;
            if first == "readonly" {
                self.fixed.insert(assigned.name.to_owned(), *line);
            }
        }
        Ok(())
    }

    fn assign(&mut self, assigned: &Assignment<'_>, line: usize) -> Result<(), GateFileError> {
        let Assignment { name, value, appends } = *assigned;
        if let Some(fixed) = self.fixed.get(name) {
            return at(line, format!("`{name}` is readonly since line {fixed}: a shell refuses this assignment"));
        }
        if let Some(why) = special_variable(name, value) {
            return at(line, format!("`{name}={}`: {why}", fabric::visible(value)));
        }
        let mut text = String::new();
        if appends {
            if !self.extended {
                let why = "bash appends, and sh searches for a command of this name: begin with `#!/bin/bash`";
                return at(line, format!("`{name}+=`: {why}"));
            }
            let Some(known) = self.variables.get(name) else {
                return at(line, format!("`{name}+=`: `{name}` is not assigned before"));
            };
            text.push_str(known);
        }
        text.push_str(value);
        if text.len() > MOST_VALUE_BYTES {
            return at(line, format!("the value of `{name}` is longer than {MOST_VALUE_BYTES} bytes"));
        }
        self.variables.insert(name.to_owned(), text);
        Ok(())
    }

    /// Applies `set`: the options `-e`, `-u`, `-x`, `-v` and their long names.
    fn set(&mut self, command: &[Word]) -> Result<(), GateFileError> {
        let mut words = command[1..].iter();
        let mut any = false;
        while let Some((line, word)) = words.next() {
            any = true;
            let refused = || at(*line, format!("`set {}`: {ONLY_OPTIONS}", fabric::visible(word)));
            let on = word.starts_with('-');
            let Some(letters) = word.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty()) else {
                return refused();
            };
            for letter in letters.chars() {
                match letter {
                    'e' => self.errexit = on,
                    'u' | 'x' | 'v' => {}
                    'o' => match words.next().map(|(_, name)| name.as_str()) {
                        Some("errexit") => self.errexit = on,
                        Some("nounset" | "xtrace" | "verbose") => {}
                        Some("pipefail") if self.extended => {}
                        Some("pipefail") => {
                            let why = "some shells refuse it, and end: begin with `#!/bin/bash`";
                            return at(*line, format!("`set -o pipefail`: {why}"));
                        }
                        name => {
                            let name = fabric::visible(name.unwrap_or_default());
                            return at(*line, format!("`set -o {name}`: {ONLY_OPTIONS}"));
                        }
                    },
                    _ => return refused(),
                }
            }
        }
        let line = command.first().map_or(0, |(line, _)| *line);
        if any { Ok(()) } else { at(line, format!("`set`: {ONLY_OPTIONS}")) }
    }

    /// Sets `ends` of all commands in the last `&&` list: whether the script ends if one of them fails.
    fn list_ends(&mut self, ends: bool) {
        let mut number = self.commands.len().checked_sub(1);
        while let Some(command) = number.and_then(|number| self.commands.get_mut(number)) {
            command.ends = ends;
            number = command.after;
        }
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
                if let Some(before) = self.condition {
                    // `set -e` ignores the failure of a command before `&&`.
                    self.commands[before].ends = false;
                }
                Ok(())
            }
            // After `||`, only `true`, `:` and `exit` are accepted: `|| true`, `|| exit 1`.
            ('|', true) => {
                let before = self.commands.len();
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
                match rest {
                    "true" | ":" | "exit 1" | "exit" => {
                        if self.commands.len() > before {
                            self.list_ends(rest.starts_with("exit"));
                        }
                        Ok(())
                    }
                    _ => at(self.line, "`||`: only `|| true` and `|| exit 1` are followed"),
                }
            }
            ('&', false) => at(self.line, "`&`: commands in the background are not followed"),
            _ => at(self.line, "`|`: pipes are not followed"),
        }
    }

    /// Skips `> FILE`, `2> FILE`, `2>&1` or `< /dev/null`, which have no effect on `tc`. Output files are assumed to be
    /// writable.
    fn redirection(&mut self, c: char) -> Result<(), GateFileError> {
        let line = self.line;
        // A digit directly before the sign is a file descriptor, not a word.
        let is_descriptor =
            |word: &(usize, String)| word.1.len() == 1 && word.1.starts_with(|c: char| c.is_ascii_digit());
        if self.quoted_from.is_none() && self.word.as_ref().is_some_and(is_descriptor) {
            self.word = None;
        }
        let digits = |word: &(usize, String)| word.1.chars().all(|c| c.is_ascii_digit());
        if self.quoted_from.is_none() && self.word.as_ref().is_some_and(digits) {
            return at(line, format!("digits before `{c}` are a descriptor to some shells: put a blank between them"));
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

/// Commands that end a script. `exec` ends it only with a command as argument.
pub const ENDS: [&str; 2] = ["exit", "exec"];

/// Commands that change variables or the control flow, each with the reason why it is refused.
const CHANGES: [(&str, &str); 20] = [
    ("unset", VARIABLES),
    ("read", VARIABLES),
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
    ("shopt", "of the options of a shell only those of `set` are followed"),
    ("return", "outside of a function some shells go on after it"),
    ("break", "there is no loop here"),
    ("continue", "there is no loop here"),
];
const VARIABLES: &str = "its effect on variables is not followed";
const RUNS: &str = "the commands that it runs are not followed";

const KEYWORDS: [&str; 16] = [
    "!", "time", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function",
    "select",
];

/// Commands whose arguments are assignments.
const DECLARES: [&str; 2] = ["export", "readonly"];
const ONLY_OPTIONS: &str = "only -e, -u, -x and -v are followed, errexit, nounset, xtrace, verbose and pipefail";

struct Interpreter {
    extended: bool,
    errexit: bool,
}

/// Parses the `#!` line of a script. A script without `#!` may run in any shell.
fn interpreter(first: &str) -> Result<Interpreter, GateFileError> {
    let Some(line) = first.strip_prefix("#!") else { return Ok(Interpreter { extended: false, errexit: false }) };
    if first.ends_with('\r') {
        return at(1, "the line ends in a carriage return: there is no such interpreter");
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let (program, options) = match words.as_slice() {
        ["/usr/bin/env" | "/bin/env", program] => (*program, None),
        [program] if program.starts_with('/') => (*program, None),
        [program, options] if program.starts_with('/') && !program.ends_with("/env") => (*program, Some(*options)),
        _ => return at(1, format!("`{}` is no shell", fabric::visible(line.trim()))),
    };
    let extended = match program.rsplit('/').next() {
        Some("bash" | "ksh") => true,
        Some("sh" | "dash" | "ash") => false,
        _ => return at(1, format!("`{}` is no shell that is followed: sh, bash, ksh", fabric::visible(line.trim()))),
    };
    let letters = options.map_or(Some(""), |options| options.strip_prefix('-'));
    match letters.filter(|letters| letters.chars().all(|c| matches!(c, 'e' | 'u' | 'x' | 'v'))) {
        Some(letters) => Ok(Interpreter { extended, errexit: letters.contains('e') }),
        None => at(1, format!("`{}`: {ONLY_OPTIONS}", fabric::visible(line.trim()))),
    }
}
