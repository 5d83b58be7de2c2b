//! Errors of commands, and how they are printed.

mod explain_words;
pub mod lab_words;

use crate::arguments::text_of;
use crate::exit::Exit;
use crate::names::shown;
use crate::output;
use explain::ExplainError;
use lab::LabError;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use record::RecordError;
use reproduce::search::SearchFailure;
use scenario::ScenarioError;
use std::fmt;
use std::path::Path;
use verify::VerifyError;

/// Maximum number of errors printed with a source snippet per file.
const MOST_DRAWN: usize = 20;

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Error of a simulation run, a comparison or a sweep.
    #[error("{}", lab_words::message(.0))]
    Lab(#[from] LabError),
    /// Error of a query to a trace.
    #[error("{}", explain_words::message(.0))]
    Explain(#[from] ExplainError),
    /// Invalid argument or file.
    #[error("{message}")]
    Input {
        /// Error message with the location.
        message: String,
        /// What to write instead.
        help: Option<String>,
    },
    /// Error of reading or writing files: an unusable path, or a failure of the machine.
    #[error("{0}")]
    Record(#[from] RecordError),
    /// Error of writing to standard output.
    #[error("cannot write to standard output: {0}")]
    Output(std::io::Error),
}

impl From<SearchFailure> for Failure {
    fn from(failure: SearchFailure) -> Failure {
        let help = match failure {
            SearchFailure::NoSearch { .. } | SearchFailure::Other { .. } => "name another folder with --out",
            SearchFailure::Line { .. } => "remove the line: its point is judged again",
            SearchFailure::Io { .. } => "name a folder with --out that can be written",
        };
        Failure::input(failure.to_string(), help)
    }
}

impl From<reproduce::Failure> for Failure {
    fn from(failure: reproduce::Failure) -> Failure {
        match failure {
            reproduce::Failure::Lab(error) => Failure::Lab(error),
            reproduce::Failure::Unknown { ref known, .. } => Failure::input(failure.to_string(), known),
            reproduce::Failure::Bench { message, granted } => Failure::input(message, granted),
        }
    }
}

impl Failure {
    /// Returns the error of an invalid argument or file.
    pub fn input(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Input { message: message.into(), help: Some(help.into()) }
    }

    /// Returns the error of an unreadable file.
    pub fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
        Failure::Input { message: format!("{}: cannot read it: {error}", path.display()), help: None }
    }

    /// Returns the error of a file or folder that a command with the option --force could not write.
    pub fn of_output(error: RecordError) -> Failure {
        match error {
            RecordError::OtherKind { ref found, .. } if found == "result" => {
                Failure::input(error.to_string(), "name another folder, such as one in the result")
            }
            RecordError::NotOurs { .. } | RecordError::OtherKind { .. } => {
                Failure::input(error.to_string(), "name another location, or overwrite it with --force")
            }
            error => Failure::Record(error),
        }
    }

    /// Returns the error in a rule file or a list of paths, with its location in the file.
    pub fn of_verifier(path: &Path, error: &VerifyError) -> Failure {
        let name = path.display();
        let message = match error {
            VerifyError::Json { line, column, message } => format!("{name}:{line}:{column}: {message}"),
            VerifyError::Path { line, fault } => format!("{name}:{line}: {fault}"),
            VerifyError::Unreadable { line, source } => format!("{name}:{line}: cannot read on: {source}"),
            VerifyError::Fabric(error) => error.to_string(),
            other => format!("{name}: {other}"),
        };
        let help = match error {
            VerifyError::OtherFabric { .. } => {
                "name the fabric that the rules were made for, with the --ignore, --host, --switch and --hosts-on of \
                 tidegate tagger rules, or make rules for this one"
            }
            VerifyError::Format { .. } => "rules are written by `tidegate tagger rules`",
            VerifyError::Contradiction { .. } => "a switch would take whichever stands first: leave one of them out",
            _ => return Failure::Input { message, help: None },
        };
        Failure::input(message, help)
    }

    /// Returns the error for an empty list of paths, for which every check would hold trivially.
    pub fn no_path(path: &Path) -> Failure {
        let help = "write one a line, the names of its nodes from host to host: H1 T1 L1 T2 H5";
        Failure::input(format!("{}: no path stands in it", path.display()), help)
    }

    /// Returns the exit code.
    pub fn exit(&self) -> Exit {
        match self {
            Failure::Input { .. } => Exit::BadInput,
            // When a rank exits with an error, the launcher ends all ranks. Therefore only the rank with the original
            // error returns an error code.
            Failure::Lab(LabError::OtherRank { .. }) => Exit::Done,
            Failure::Lab(error) => lab_words::exit(error),
            Failure::Explain(ExplainError::Record(error)) if error.is_machine_failure() => Exit::Machine,
            Failure::Explain(_) => Exit::BadInput,
            Failure::Record(error) if !error.is_machine_failure() => Exit::BadInput,
            Failure::Record(_) | Failure::Output(_) => Exit::Machine,
        }
    }

    /// Writes the error to standard error: on a terminal with a snippet of the source, otherwise as lines of
    /// `file:line:column: message`.
    pub fn report(&self) {
        if let Failure::Lab(LabError::OtherRank { .. }) = self {
            return; // the other rank prints the error
        }
        if output::errors_are_watched() {
            self.draw().iter().for_each(|drawn| output::note(drawn));
        } else {
            output::note(&self.plain());
        }
    }

    /// Returns the hint for the `help:` line: how the user can correct the input.
    fn help(&self) -> Option<String> {
        match self {
            Failure::Input { help, .. } => help.clone(),
            Failure::Lab(error) => lab_words::help(error),
            Failure::Explain(error) => explain_words::help(error),
            Failure::Record(_) | Failure::Output(_) => None,
        }
    }

    fn plain(&self) -> String {
        let help = self.help().map_or(String::new(), |help| format!("\n  help: {}", shown(&help)));
        format!("error: {}{help}", shown(&self.to_string()))
    }

    fn draw(&self) -> Vec<String> {
        let drawings = match self {
            Failure::Lab(LabError::Scenario { errors, path }) => {
                let name = path.display().to_string();
                let text = text_of(path);
                // Spans count from the text without the byte order mark.
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
                // Each error in miette's representation owns a copy of the text.
                let drawn = errors.errors.iter().take(MOST_DRAWN);
                let mut drawings: Vec<Drawing> = drawn.map(|error| Drawing::of(error, &name, &text)).collect();
                if let more @ 1.. = errors.errors.len().saturating_sub(MOST_DRAWN) {
                    drawings.push(Drawing::plain(format!("and {more} more"), None));
                }
                drawings
            }
            other => vec![Drawing::plain(shown(&other.to_string()), other.help().as_deref().map(shown))],
        };
        let theme =
            if output::errors_take_colour() { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme);
        let draw = |drawing: &Drawing| {
            let mut text = String::new();
            match handler.render_report(&mut text, drawing) {
                Ok(()) => text.trim_end().to_owned(),
                Err(fmt::Error) => drawing.message.clone(),
            }
        };
        drawings.iter().map(draw).collect()
    }
}

/// An error in miette's representation.
#[derive(Debug)]
struct Drawing {
    message: String,
    help: Option<String>,
    source: Option<(NamedSource<String>, LabeledSpan)>,
}

impl Drawing {
    fn plain(message: String, help: Option<String>) -> Drawing {
        Drawing { message, help, source: None }
    }

    fn of(error: &ScenarioError, name: &str, text: &str) -> Drawing {
        let location = match error.line {
            0 => error.path.clone(),
            line => format!("{}:{line}", error.path),
        };
        // An empty span refers to the whole file.
        if error.path != name || error.span.is_empty() || error.span.end > text.len() {
            return Drawing::plain(shown(&format!("{location}: {}", error.message)), error.help.as_deref().map(shown));
        }
        let label = LabeledSpan::new_with_span((!error.key.is_empty()).then(|| error.key.clone()), error.span.clone());
        let source = NamedSource::new(name, text.to_owned()).with_language("toml");
        let (message, help) = (shown(&error.message), error.help.as_deref().map(shown));
        Drawing { message, help, source: Some((source, label)) }
    }
}

impl fmt::Display for Drawing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Drawing {}

impl Diagnostic for Drawing {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|(source, _)| source as &dyn SourceCode)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let (_, label) = self.source.as_ref()?;
        Some(Box::new(std::iter::once(label.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(path: &str, span: std::ops::Range<usize>) -> ScenarioError {
        let (key, help) = ("fabric.k".to_owned(), Some("write an even number".to_owned()));
        ScenarioError { path: path.to_owned(), line: 2, column: 5, span, key, message: "7 is odd".to_owned(), help }
    }

    fn drawn(drawing: &Drawing) -> String {
        let mut text = String::new();
        GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
            .render_report(&mut text, drawing)
            .unwrap();
        text
    }

    #[test]
    fn an_error_in_the_scenario_is_drawn_with_its_line_and_one_elsewhere_without() {
        let text = "[fabric]\nk = 7\n";
        let here = drawn(&Drawing::of(&error("a.toml", 13..14), "a.toml", text));
        assert!(here.contains("a.toml:2:5") && here.contains("k = 7") && here.contains("fabric.k"), "{here}");
        assert!(here.contains("help: write an even number"), "{here}");
        let there = drawn(&Drawing::of(&error("topology.txt", 0..0), "a.toml", text));
        assert!(there.contains("topology.txt:2: 7 is odd") && !there.contains("k = 7"), "{there}");
        // If the file has been truncated since the error occurred, printing the error must not panic.
        drawn(&Drawing::of(&error("a.toml", 900..901), "a.toml", text));
    }

    #[test]
    fn exit_codes_distinguish_input_from_machine_errors() {
        let source = || std::io::Error::other("no space left");
        let unwritable = |source| Failure::from(RecordError::Unwritable { action: "write", path: "x".into(), source });
        assert_eq!(unwritable(source()).exit(), Exit::Machine);
        assert_eq!(unwritable(std::io::ErrorKind::NotADirectory.into()).exit(), Exit::BadInput);
        assert_eq!(Failure::of_output(RecordError::BadTarget { path: "..".into() }).exit(), Exit::BadInput);
        assert_eq!(Failure::Record(RecordError::HostNumber { host: 70_000 }).exit(), Exit::BadInput);
        assert_eq!(Failure::Output(source()).exit(), Exit::Machine);
    }
}
