//! Every effective value with its origin.

use scenario::{Explained, Lowered, Origin};
use serde_json::{Value, json};
use text::{Layout, table};

/// Returns the origin of a value as text.
fn origin(explained: &Explained) -> String {
    match &explained.origin {
        Origin::File { line } => format!("line {line}"),
        Origin::Default { source } | Origin::Absent { source } => format!("default: {source}"),
        Origin::Override => "command line".to_owned(),
    }
}

/// Returns whether a value is listed: all except `threads`, which changes no result but would change `explain.txt`.
fn matters(explained: &&Explained) -> bool {
    explained.key != "threads"
}

/// Returns a table of values.
pub(crate) fn values(values: &[Explained]) -> String {
    let values = values.iter().filter(matters);
    let rows: Vec<Vec<String>> =
        values.map(|value| vec![value.key.clone(), value.value.clone(), origin(value)]).collect();
    table(&["key", "value", "from"], &rows, 3, Layout::Fixed, 0)
}

/// Returns all values as in `explain.txt` and `--explain`, followed by derived values.
pub fn text(lowered: &Lowered) -> String {
    let mut text = values(&lowered.explain);
    if !lowered.derived.is_empty() {
        text.push('\n');
        let rows: Vec<Vec<String>> =
            lowered.derived.iter().map(|(what, value)| vec![what.clone(), value.clone()]).collect();
        text.push_str(&table(&["derived value", "value"], &rows, 2, Layout::Fixed, 0));
    }
    text
}

/// Returns values as JSON.
pub(crate) fn json_values(values: &[Explained]) -> Vec<Value> {
    let value = |value: &Explained| {
        let (from, line, source) = match &value.origin {
            Origin::File { line } => ("file", Some(*line), None),
            Origin::Default { source } | Origin::Absent { source } => ("default", None, Some(*source)),
            Origin::Override => ("command line", None, None),
        };
        json!({ "key": value.key, "value": value.value, "from": from, "line": line, "source": source })
    };
    values.iter().filter(matters).map(value).collect()
}

/// Returns all values as one JSON object.
pub fn json(lowered: &Lowered) -> Value {
    let derived = |(what, value): &(String, String)| json!({ "what": what, "value": value });
    json!({
        "scenario": { "name": lowered.name, "hash": lowered.hash, "seed": lowered.setup.seed },
        "values": json_values(&lowered.explain),
        "derived": lowered.derived.iter().map(derived).collect::<Vec<_>>(),
    })
}
