//! What an export leaves behind: files in a folder, text on the screen, or one JSON object.

use super::{ExportArgs, Format, Written};
use crate::failure::Failure;
use crate::hand_over::{Place, write_folder};
use crate::output;
use clap::ValueEnum;
use serde_json::{Map, Value, json};
use text::numbers::counted;

/// Writes all files into a folder, or onto the screen, and says what to know; a JSON object says it otherwise.
///
/// # Errors
/// A folder that cannot be written; two switches whose files would have one name.
pub fn hand_over(args: &ExportArgs, written: &Written) -> Result<(), Failure> {
    match &args.out {
        Some(folder) => {
            let files: Vec<_> = written
                .files
                .iter()
                .map(|(switch, file, text)| (switch.as_str(), file.as_str(), text.as_str()))
                .collect();
            let format = args.to.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
            let kind = format!("tagger export --to {format}");
            let place = Place { folder, kind: &kind, whole: args.switches.is_empty(), force: args.force };
            write_folder(place, &files, &written.notes)?;
        }
        None if args.json => {}
        None => output::print(&on_screen(args, written))?,
    }
    if args.quiet || args.json {
        return Ok(());
    }
    match &args.out {
        Some(folder) => {
            let count = counted(written.files.len() as u64, "file");
            output::note(&format!("{}: {count}, and NOTES.txt to read before loading them", folder.display()));
        }
        None => written.notes.iter().for_each(|note| output::note(&format!("note: {note}"))),
    }
    Ok(())
}

/// All switches in one stream: a JSON object by switch where the format is JSON and there are several.
fn on_screen(args: &ExportArgs, written: &Written) -> String {
    let json = matches!(args.to, Format::Sonic | Format::Acl | Format::Json);
    if json && written.files.len() != 1 {
        return format!("{:#}\n", Value::Object(by_switch(args, written)));
    }
    let text = |(at, (switch, _, text)): (usize, &(String, String, String))| match args.to {
        // One header for all.
        Format::Csv if at > 0 => text.split_once('\n').map_or(String::new(), |(_, rest)| rest.to_owned()),
        Format::Nftables => format!("# {switch}\n{text}"),
        _ => text.clone(),
    };
    written.files.iter().enumerate().map(text).collect()
}

fn by_switch(args: &ExportArgs, written: &Written) -> Map<String, Value> {
    let json = matches!(args.to, Format::Sonic | Format::Acl | Format::Json);
    let mut found = Map::new();
    for (switch, file, text) in &written.files {
        let parsed = if json { serde_json::from_str(text).ok() } else { None };
        let value = parsed.unwrap_or_else(|| Value::from(text.as_str()));
        // nftables has two files a switch.
        if args.to == Format::Nftables {
            found.entry(switch.clone()).or_insert_with(|| json!({}))[file.as_str()] = value;
        } else {
            found.insert(switch.clone(), value);
        }
    }
    found
}

/// Everything as one object.
pub fn as_json(args: &ExportArgs, written: &Written) -> Value {
    let misfits: Vec<Value> =
        written.misfits.iter().map(|misfit| json!({ "switch": misfit.switch(), "why": misfit.to_string() })).collect();
    // Half an export is none.
    let switches = if misfits.is_empty() { by_switch(args, written) } else { Map::new() };
    json!({ "switches": switches, "notes": written.notes, "misfits": misfits })
}
