//! The HTML page: fixed HTML, CSS and JavaScript around the data as JSON.

use crate::replay::{Replay, bytes_of_each};
use crate::run::Run;
use crate::sweep::Sweep;
use serde_json::{Value, json};

const HTML: &str = include_str!("../assets/page.html");
const CSS: &str = include_str!("../assets/page.css");
/// The plotting library and its licence, which are part of every page.
const UPLOT: &str = include_str!("../assets/uplot/uPlot.iife.min.js");
const UPLOT_CSS: &str = include_str!("../assets/uplot/uPlot.min.css");
const UPLOT_LICENSE: &str = include_str!("../assets/uplot/LICENSE");
const COMMON: &str = include_str!("../assets/common.js");
const PLOT: &str = include_str!("../assets/plot.js");
const OF_RUNS: &str = include_str!("../assets/run.js");
const REPLAY: &str = include_str!("../assets/replay.js");
const OF_A_SWEEP: &str = include_str!("../assets/sweep.js");
const THEME: &str = include_str!("../assets/theme.js");

/// Returns one HTML page that shows several runs in common figures.
pub fn page(title: &str, runs: &[Run]) -> String {
    let hint = "Hover over a figure to read values, drag to zoom, double-click to reset; click a name in a legend to \
                hide its line. Figures over time share the zoom, and a click in one moves the replay.";
    let each = bytes_of_each(runs.iter().filter(|run| run.replay.is_some()).count());
    let packed = |replay: &Replay| replay.packed(each);
    let replays: Vec<Option<Value>> = runs.iter().map(|run| run.replay.as_ref().map(packed)).collect();
    filled(title, hint, &[REPLAY, OF_RUNS], &json!({ "title": title, "runs": runs, "replays": replays }))
}

/// Returns one HTML page that shows every combination of a sweep.
pub fn sweep_page(title: &str, sweep: &Sweep) -> String {
    let hint = "Results of single runs are in the sweep's folder, below runs; tidegate report shows each of them.";
    filled(title, hint, &[OF_A_SWEEP], &json!({ "title": title, "sweep": sweep }))
}

fn filled(title: &str, hint: &str, of: &[&str], data: &Value) -> String {
    // In a script element, `</` may end the element and `<!--` changes the parsing: escape every `<`.
    let data = data.to_string().replace('<', "\\u003c");
    let of = of.concat();
    let library = format!("/*\nFigures are drawn by uPlot:\n\n{UPLOT_LICENSE}\n*/\n{UPLOT}");
    let script = format!("{library}\n(() => {{\n\"use strict\";\n{THEME}{COMMON}{PLOT}{of}}})();\n");
    HTML.replace("/*css*/", &format!("{UPLOT_CSS}\n{CSS}"))
        .replace("/*script*/", &script)
        .replace("<!--title-->", &escaped(title))
        .replace("<!--hint-->", hint)
        .replace("/*data*/", &data)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// All scripts of a page share one scope, in which a second declaration of a name would be a syntax error.
    #[test]
    fn no_name_is_declared_twice_at_the_top_of_a_page() {
        for of in [[REPLAY, OF_RUNS].concat(), OF_A_SWEEP.to_owned()] {
            let mut names = BTreeSet::new();
            for line in [THEME, COMMON, PLOT, &of].concat().lines() {
                let Some(rest) = line.strip_prefix("  ") else { continue };
                let declared = ["const ", "let ", "function ", "async function ", "class "]
                    .iter()
                    .find_map(|word| rest.strip_prefix(word));
                let Some(declared) = declared else { continue };
                // Declarations: `const name = ...`, `const [a, b] = ...`, `const { a, b } = ...`, `function name(...)`.
                let end = declared.find(['=', '(']).unwrap_or(declared.len());
                let parts = declared[..end].split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
                for name in parts.filter(|name| !name.is_empty()) {
                    assert!(names.insert(name.to_owned()), "{name} is declared twice");
                }
            }
            assert!(names.len() > 20, "{}", names.len());
        }
    }
}
