//! An explanation: a title, lines with times, and data.

use serde_json::{Map, Value, json};
use text::numbers::{instant, rounded_times};
use text::{ColorMode, Style};
use units::Time;

/// One sentence about an instant or a time span.
#[derive(Clone, Debug)]
pub struct Line {
    /// Start of the time span; `None` for a sentence without time.
    pub at: Option<Time>,
    /// End of the time span; `None` for an instant.
    pub until: Option<Time>,
    /// Indentation level; an indented line explains the preceding line with lower indentation.
    pub depth: usize,
    /// The sentence.
    pub text: String,
}

/// An explanation.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// The subject.
    pub title: String,
    /// Sentences, in order.
    pub lines: Vec<Line>,
    /// Further members of the JSON object, in addition to `title` and `lines`.
    pub facts: Map<String, Value>,
}

impl Explanation {
    /// Creates an explanation without lines.
    pub fn new(title: String) -> Explanation {
        Explanation { title, ..Explanation::default() }
    }

    /// Appends a sentence about an instant.
    pub fn at(&mut self, at: Time, text: impl Into<String>) {
        self.lines.push(Line { at: Some(at), until: None, depth: 0, text: text.into() });
    }

    /// Appends a sentence about a time span.
    pub fn span(&mut self, at: Time, until: Time, text: impl Into<String>) {
        self.lines.push(Line { at: Some(at), until: Some(until), depth: 0, text: text.into() });
    }

    /// Appends an indented sentence that explains the previous one.
    pub fn cause_line(&mut self, text: impl Into<String>) {
        self.lines.push(Line { at: None, until: None, depth: 1, text: text.into() });
    }

    /// Appends a sentence without a time.
    pub fn line(&mut self, text: impl Into<String>) {
        self.lines.push(Line { at: None, until: None, depth: 0, text: text.into() });
    }

    /// Returns the text with rounded times; the times of [`Explanation::json`] are exact.
    pub fn text(&self, paint: ColorMode) -> String {
        let mut text = format!("{}\n", paint.styled(&rounded_times(&self.title), Style::Strong));
        let when = |line: &Line| line.at.map(instant).unwrap_or_default();
        let width = self.lines.iter().map(|line| when(line).len()).max().unwrap_or(0);
        for line in &self.lines {
            let indent = "  ".repeat(line.depth);
            let stamp = match line.at {
                None if line.depth == 0 => String::new(),
                _ => format!("{:>width$}  ", when(line)),
            };
            text.push_str(&format!("  {}{indent}{}\n", paint.styled(&stamp, Style::Faint), rounded_times(&line.text)));
        }
        text
    }

    /// Returns the explanation as JSON.
    pub fn json(&self) -> Value {
        let line = |line: &Line| {
            json!({
                "at_ps": line.at.map(Time::as_ps),
                "until_ps": line.until.map(Time::as_ps),
                "cause": line.depth > 0,
                "text": line.text,
            })
        };
        let mut facts = self.facts.clone();
        facts.insert("title".to_owned(), self.title.clone().into());
        facts.insert("lines".to_owned(), self.lines.iter().map(line).collect());
        Value::Object(facts)
    }
}

/// Returns a count and a noun, such as "1 frame" or "3 frames".
pub fn plural(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}
