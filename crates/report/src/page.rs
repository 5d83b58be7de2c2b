//! The page: fixed HTML, CSS and JavaScript around the runs as JSON.

use crate::Run;

const HTML: &str = include_str!("../assets/page.html");
const CSS: &str = include_str!("../assets/page.css");
const SCRIPT: &str = include_str!("../assets/page.js");

/// One HTML file that shows these runs side by side.
///
/// # Panics
/// Never: numbers, texts and lists are always JSON.
pub fn page(title: &str, runs: &[Run]) -> String {
    let data = serde_json::to_string(&serde_json::json!({ "title": title, "runs": runs })).expect("plain data");
    // Within a script element only `</` ends it early, and `<!--` changes how it is read.
    let data = data.replace('<', "\\u003c");
    HTML.replace("/*css*/", CSS)
        .replace("/*script*/", SCRIPT)
        .replace("<!--title-->", &escaped(title))
        .replace("/*data*/", &data)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
