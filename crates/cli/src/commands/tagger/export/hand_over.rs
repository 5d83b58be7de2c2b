//! What an export leaves behind: files in a folder, text on the screen, or one JSON object.

use super::{ExportArgs, Format, Job, Written};
use crate::failure::Failure;
use crate::hand_over::{Place, begin, finish};
use crate::output;
use clap::ValueEnum;
use serde_json::{Map, Value, json};
use text::numbers::counted;
use text::{Joined, Joint};

/// Of listings on the screen, which nothing stops half-way, so many switches are held in memory at a time.
const AT_A_TIME: usize = 64;

/// Writes all files into a folder, or onto the screen, and says what to know; a JSON object says it otherwise. Nothing
/// is left where a switch does not fit.
///
/// # Errors
/// A folder that cannot be written; two switches whose files would have one name.
pub fn hand_over(job: &Job<'_>) -> Result<Written, Failure> {
    let args = job.args;
    let mut written = Written { notes: job.notes(), ..Written::default() };
    let format = args.to.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    let kind = format!("tagger export --to {format}");
    let place = args.out.as_deref();
    let place = place.map(|folder| Place { folder, kind: &kind, whole: args.switches.is_empty(), force: args.force });
    let new = place.as_ref().map(begin).transpose()?;
    let on_screen = new.is_none() && !args.json;
    let at_a_time = if on_screen && args.to.lists() { AT_A_TIME } else { job.switches.len().max(1) };
    let joint = joint(job);
    let mut screen = Joined::new(joint);
    for switches in job.switches.chunks(at_a_time) {
        let part = job.render(switches, new.as_ref(), on_screen || args.json)?;
        written.misfits.extend(part.misfits);
        written.notes.extend(part.notes);
        if on_screen && written.misfits.is_empty() {
            for (switch, _, text) in &part.files {
                let name =
                    if joint == Joint::Members { Value::from(switch.as_str()).to_string() } else { switch.clone() };
                output::print(&screen.next(&name, text))?;
            }
        } else {
            written.files.extend(part.files);
        }
    }
    if !written.misfits.is_empty() {
        return Ok(written);
    }
    if on_screen {
        output::print(screen.end())?;
    }
    let count = counted(written.files.len() as u64, "file");
    if let Some((place, new)) = place.zip(new) {
        let files = written.files.iter().map(|(switch, file, _)| (switch.as_str(), file.as_str()));
        finish(&place, new, files, &written.notes)?;
    }
    if args.quiet || args.json {
        return Ok(written);
    }
    match &args.out {
        Some(folder) => {
            output::note(&format!("{}: {count}, and NOTES.txt to read before loading them", folder.display()));
        }
        None => written.notes.iter().for_each(|note| output::note(&format!("note: {note}"))),
    }
    Ok(written)
}

/// How all switches stand in one stream: as a JSON object by switch where the format is JSON and there are several.
fn joint(job: &Job<'_>) -> Joint {
    match job.args.to {
        Format::Sonic | Format::Acl | Format::Json if job.switches.len() != 1 => Joint::Members,
        Format::Csv => Joint::Table,
        Format::Nftables => Joint::Named,
        _ => Joint::Plain,
    }
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
