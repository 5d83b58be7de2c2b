//! Errors in the papers: `experiments/errata.toml`, as text, JSON and the page `docs/errata.md`.

use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::sync::OnceLock;

/// Errors in all papers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errata {
    /// Papers, in the order of the page.
    #[serde(rename(deserialize = "paper"))]
    pub papers: Vec<ErroneousPaper>,
}

/// Errors in one paper, or in one chapter of a thesis.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErroneousPaper {
    /// Short name.
    pub title: String,
    /// Authors, title and year, as Markdown.
    #[serde(default)]
    pub citation: String,
    /// Errors, in the order of their ids.
    #[serde(rename(deserialize = "erratum"))]
    pub errata: Vec<Erratum>,
}

/// One error in a paper. Texts are Markdown, with links relative to `docs`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erratum {
    /// Stable id: a letter for the paper and a number from 1.
    pub id: String,
    /// Section, equation, table or figure.
    #[serde(default)]
    pub place: String,
    /// Statement of the paper.
    pub printed: String,
    /// Correct statement, with the reason.
    #[serde(default)]
    pub correction: String,
    /// Evidence, if the correction is not evident.
    #[serde(default)]
    pub evidence: String,
    /// Commands that print the evidence.
    #[serde(default)]
    pub commands: Vec<String>,
}

/// Text of the page before the papers.
const INTRODUCTION: &str = "\
# Errata of the papers

This page lists errors in the papers that Tidegate reproduces: contradictions within a paper, to its own arithmetic, or
to the behaviour of its system. Each row is one statement. If a row has a command, the command prints the evidence;
otherwise the evidence is the arithmetic in the row. `reproduce` is short for `tidegate reproduce`.

A claim that is not reproduced is not an erratum: it is a red check in the README of its paper, with the attempts to
explain it. Rows marked *inferred* fit all of the paper's numbers, but the paper does not state them.

To cite an erratum, name its id and the version of Tidegate. `tidegate reproduce --errata --json` prints this page in
machine-readable form.
";

/// Returns the errata.
pub fn errata() -> &'static Errata {
    static ERRATA: OnceLock<Errata> = OnceLock::new();
    // A unit test ensures that the compiled-in file can be parsed.
    ERRATA.get_or_init(|| {
        toml::from_str(include_str!("../experiments/errata.toml")).expect("the errata are part of the program")
    })
}

impl Errata {
    /// Returns the errata as JSON.
    pub fn json(&self) -> String {
        #[derive(Serialize)]
        struct Document<'a> {
            version: &'static str,
            #[serde(flatten)]
            errata: &'a Errata,
        }
        let document = Document { version: env!("CARGO_PKG_VERSION"), errata: self };
        // Serialisation could fail only for a map with non-string keys.
        serde_json::to_string_pretty(&document).expect("plain structs always serialise") + "\n"
    }

    /// Returns the errata as text: one paragraph each.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for paper in &self.papers {
            let _ = writeln!(text, "{}\n", paper.title);
            for erratum in &paper.errata {
                let _ = writeln!(text, "  {}  {}", erratum.id, erratum.place);
                let _ = writeln!(text, "      printed:    {}", erratum.printed);
                for (label, value) in [("correction: ", &erratum.correction), ("evidence:   ", &erratum.evidence)] {
                    if !value.is_empty() {
                        let _ = writeln!(text, "      {label}{value}");
                    }
                }
                for command in &erratum.commands {
                    let _ = writeln!(text, "      command:    {command}");
                }
                text.push('\n');
            }
        }
        text
    }

    /// Returns the page `docs/errata.md`.
    pub fn markdown(&self) -> String {
        let mut page = INTRODUCTION.to_owned();
        for paper in &self.papers {
            let _ = write!(page, "\n## {}\n\n", paper.title);
            if !paper.citation.is_empty() {
                let _ = write!(page, "{}\n\n", paper.citation);
            }
            page.push_str("| | place | printed | correction | evidence |\n|---|---|---|---|---|\n");
            for Erratum { id, place, printed, correction, evidence, .. } in &paper.errata {
                let row = format!("| {id} | {place} | {printed} | {correction} | {evidence} |\n");
                page.push_str(&row.replace("  ", " "));
            }
        }
        page
    }
}
