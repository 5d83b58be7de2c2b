//! `tidegate mechanisms`: lists the mechanisms, or describes one of them.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Style, styled};
use protocols::describe::{Family, Mechanism, Parameter};
use protocols::mechanisms::all;
use serde_json::{Value, json};
use text::{Layout, table};

/// List the mechanisms, or print parameters, defaults and sources of one.
#[derive(Debug, clap::Args)]
pub struct MechanismsArgs {
    /// Mechanism; default: list all.
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print only one JSON value on standard output.
    #[arg(long)]
    json: bool,
}

/// Returns the path of a mechanism's documentation page.
pub fn page(mechanism: &Mechanism) -> String {
    format!("docs/mechanisms/{}.md", mechanism.kind)
}

/// Runs the command.
///
/// # Errors
/// If no mechanism has the name.
pub fn command(args: &MechanismsArgs) -> Result<Exit, Failure> {
    let text = match &args.name {
        None if args.json => format!("{:#}\n", all().map(json).collect::<Value>()),
        None => overview(),
        Some(name) => {
            let mechanism = all().find(|mechanism| mechanism.kind == name).ok_or_else(|| {
                let known: Vec<&str> = all().map(|mechanism| mechanism.kind).collect();
                let help = scenario::suggest_word(name, known).unwrap_or_default();
                Failure::input(format!("no mechanism is called `{name}`"), help)
            })?;
            if args.json { format!("{:#}\n", json(mechanism)) } else { details(mechanism) }
        }
    };
    output::show(&text).map(|()| Exit::Done)
}

fn overview() -> String {
    let row = |mechanism: &Mechanism| {
        let (key, title, source) = (mechanism.family.key(), mechanism.title, mechanism.source);
        vec![mechanism.kind.to_owned(), key.to_owned(), title.to_owned(), source.to_owned()]
    };
    let rows: Vec<Vec<String>> = all().map(row).collect();
    let mut text = table(&["name", "decides", "what it is", "source"], &rows, 4, Layout::Wrapping, 0);
    text.push_str("\ntidegate mechanisms NAME prints every parameter; docs/mechanisms/NAME.md says how it works.\n");
    text
}

fn details(mechanism: &Mechanism) -> String {
    let mut text = format!("{}  {}\n", styled(mechanism.kind, Style::Strong), mechanism.title);
    let key = mechanism.family.key();
    match mechanism.family {
        // In the buffer family, the scenario omits the `kind` of the mechanism in which queues share the buffer without
        // a limit.
        Family::Buffer => text.push_str(&format!("  key     {key}\n")),
        _ => text.push_str(&format!("  key     {key} = {{ kind = \"{}\" }}\n", mechanism.kind)),
    }
    text.push_str(&format!("  source  {}\n  page    {}\n", mechanism.source, page(mechanism)));
    if mechanism.parameters.is_empty() {
        text.push_str("\nIt has no parameters.\n");
        return text;
    }
    let row = |parameter: &Parameter| {
        let (meaning, source) = (parameter.meaning.to_owned(), parameter.source.to_owned());
        vec![parameter.key.to_owned(), parameter.default.words().to_owned(), meaning, source]
    };
    let rows: Vec<Vec<String>> = mechanism.parameters.iter().map(row).collect();
    text.push('\n');
    text.push_str(&table(&["parameter", "default", "meaning", "source"], &rows, 4, Layout::Wrapping, 0));
    text
}

fn json(mechanism: &'static Mechanism) -> Value {
    let parameter = |parameter: &Parameter| {
        json!({
            "key": parameter.key, "default": parameter.default.words(), "meaning": parameter.meaning,
            "source": parameter.source,
        })
    };
    json!({
        "name": mechanism.kind, "decides": mechanism.family.key(), "title": mechanism.title,
        "source": mechanism.source, "page": page(mechanism),
        "parameters": mechanism.parameters.iter().map(parameter).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_one_has_details() {
        let mut names: Vec<&str> = all().map(|mechanism| mechanism.kind).collect();
        assert!(names.len() >= 8);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().count());
        for mechanism in all() {
            let text = details(mechanism);
            assert!(text.contains(mechanism.family.key()) && text.contains(&page(mechanism)), "{text}");
            mechanism.parameters.iter().for_each(|parameter| assert!(text.contains(parameter.key), "{text}"));
        }
    }
}
