//! Output of an export: files in a folder, text on standard output, or one JSON object.

use super::platform::compared;
use super::{ExportArgs, Format, Job, Written};
use crate::failure::Failure;
use crate::output;
use crate::output_folder::{OutputFolder, begin, finish};
use serde_json::{Map, Value, json};
use text::numbers::counted;
use text::{Concatenation, ConcatenationFormat};

/// Number of switches per batch of listings on standard output. Listings are never refused, so a batch can be printed
/// before the next is rendered.
const AT_A_TIME: usize = 64;

/// Writes all files with notes to a folder or to standard output, or prints one JSON object. Writes nothing if a switch
/// does not fit.
///
/// # Errors
/// If a folder cannot be written, or two switches have equal file names.
pub fn write(job: &Job<'_>) -> Result<Written, Failure> {
    let args = job.args;
    let mut written = Written { notes: job.notes(), ..Written::default() };
    let kind = format!("tagger export --to {}", args.to.name());
    let output = args.out.as_deref();
    let output =
        output.map(|folder| OutputFolder { folder, kind: &kind, whole: args.switches.is_empty(), force: args.force });
    let new = output.as_ref().map(begin).transpose()?;
    let shows = args.json || new.is_none();
    // Listings contain all rules of a fabric, possibly gigabytes, and are printed in batches, because no switch can be
    // a misfit. With other formats, the JSON object states the misfits before any switch, so all switches are rendered
    // first.
    let mut screen = (shows && (args.to.lists() || !args.json)).then(|| Screen::new(job));
    let at_a_time = if shows && args.to.lists() { AT_A_TIME } else { job.switches.len().max(1) };
    for switches in job.switches.chunks(at_a_time) {
        let mut part = job.render(switches, new.as_ref(), shows)?;
        written.misfits.extend(part.misfits);
        written.notes.extend(part.notes);
        written.published.extend(part.published);
        written.lost_dscps |= part.lost_dscps;
        if let Some(screen) = screen.as_mut().filter(|_| written.misfits.is_empty()) {
            for (switch, file) in &mut part.files {
                // A switch may have a patch beside its fragment: in this case the text of each file has the file name
                // as its label.
                let name = if job.platforms.has_configurations() { &file.name } else { &*switch };
                screen.show(name, &std::mem::take(&mut file.text))?;
            }
        }
        written.files.extend(part.files);
    }
    let classes = job.marks.map_or(1, |marks| marks.lossless().len());
    written.notes.extend(compared(&written.published, &args.headroom, classes));
    if let Some((output, new)) = output.zip(new).filter(|_| written.misfits.is_empty()) {
        let files = written.files.iter().map(|(switch, file)| (switch.as_str(), file.name.as_str()));
        finish(&output, new, files, &written.notes)?;
    }
    match &screen {
        Some(screen) if written.misfits.is_empty() => screen.end()?,
        None if args.json => output::print(&format!("{:#}\n", as_json(job, &written)))?,
        _ => {}
    }
    if written.misfits.is_empty() && !args.quiet && !args.json {
        match &args.out {
            Some(folder) => {
                let count = counted(written.files.len() as u64, "file");
                output::note(&format!("{}: {count}, and NOTES.txt to read before loading them", folder.display()));
                if let Some(counts) = counts(job, &written) {
                    output::note(&format!("{}: {counts}", folder.join("NOTES.txt").display()));
                }
            }
            None => written.notes.iter().for_each(|note| output::note(&format!("note: {note}"))),
        }
    }
    Ok(written)
}

/// Returns the numbers of findings, and of DSCPs that become lossy; `None` if there are none.
fn counts(job: &Job<'_>, written: &Written) -> Option<String> {
    let mut counts = job.judgement.as_ref().map(|judgement| judgement.counts()).unwrap_or_default();
    let dscps = u64::from(written.lost_dscps.count_ones());
    if dscps > 0 {
        let become_lossy = if dscps == 1 { "becomes lossy" } else { "become lossy" };
        counts.push(format!("{} {become_lossy}", counted(dscps, "DSCP")));
    }
    (!counts.is_empty()).then(|| counts.join(", "))
}

/// Writer of the files of one switch after another to standard output.
struct Screen {
    stream: Concatenation,
    joint: ConcatenationFormat,
    /// Text before the first switch, if the files become members of a JSON object like that of [`as_json`].
    object: Option<String>,
    /// Whether each file is a JSON value.
    json: bool,
}

impl Screen {
    fn new(job: &Job<'_>) -> Screen {
        let joint = if job.args.json { ConcatenationFormat::Members } else { joint(job) };
        let indented = |value: Value| format!("{value:#}").replace('\n', "\n  ");
        let head = || {
            format!("{{\n  \"misfits\": [],\n  \"notes\": {},\n  \"switches\": ", indented(Value::from(job.notes())))
        };
        let object = job.args.json.then(head);
        Screen { stream: Concatenation::new(joint), joint, object, json: job.args.to == Format::Json }
    }

    fn show(&mut self, switch: &str, text: &str) -> Result<(), Failure> {
        let quoted = |text: &str| Value::from(text).to_string();
        let name = if self.joint == ConcatenationFormat::Members { quoted(switch) } else { switch.to_owned() };
        match &mut self.object {
            None => output::print(&self.stream.next(&name, text)),
            Some(head) => {
                let value = if self.json { text.to_owned() } else { quoted(text) };
                output::print(&std::mem::take(head))?;
                output::print(&self.stream.next(&name, &value).replace('\n', "\n  "))
            }
        }
    }

    fn end(&self) -> Result<(), Failure> {
        match &self.object {
            None => output::print(self.stream.end()),
            Some(head) => output::print(&format!("{head}{}\n}}\n", self.stream.end().trim_end().replace('\n', "\n  "))),
        }
    }
}

/// Returns the format in which the files of several switches are concatenated: one JSON object by switch name, if the
/// files are JSON and there are several switches.
fn joint(job: &Job<'_>) -> ConcatenationFormat {
    match job.args.to {
        Format::Sonic if job.platforms.has_configurations() => ConcatenationFormat::Members,
        Format::Sonic | Format::Acl | Format::Json if job.switches.len() != 1 => ConcatenationFormat::Members,
        Format::Csv => ConcatenationFormat::Table,
        Format::Nftables => ConcatenationFormat::Named,
        _ => ConcatenationFormat::Plain,
    }
}

/// Returns the files and the patches, by name of the switch.
fn by_switch(args: &ExportArgs, written: &Written) -> (Map<String, Value>, Map<String, Value>) {
    let json = matches!(args.to, Format::Sonic | Format::Acl);
    let (mut found, mut patches) = (Map::new(), Map::new());
    for (switch, file) in &written.files {
        let parsed = if json { serde_json::from_str(&file.text).ok() } else { None };
        let value = parsed.unwrap_or_else(|| Value::from(file.text.as_str()));
        // The nftables format has two files per switch: one object of files per switch.
        if args.to == Format::Nftables {
            found.entry(switch.clone()).or_insert_with(|| json!({}))[file.name.as_str()] = value;
        } else if file.is_patch {
            patches.insert(switch.clone(), value);
        } else {
            found.insert(switch.clone(), value);
        }
    }
    (found, patches)
}

/// Returns the whole output as one JSON object.
fn as_json(job: &Job<'_>, written: &Written) -> Value {
    let args = job.args;
    let misfits: Vec<Value> =
        written.misfits.iter().map(|misfit| json!({ "switch": misfit.switch(), "why": misfit.to_string() })).collect();
    // If a switch does not fit, no switch is printed.
    let (switches, patches) = if misfits.is_empty() { by_switch(args, written) } else { Default::default() };
    let mut notes = written.notes.clone();
    if args.to == Format::Sonic {
        notes.push(
            "This JSON object sorts the tables of a fragment by name; files of --out have the load order.".into(),
        );
    }
    let mut object = json!({ "switches": switches, "notes": notes, "misfits": misfits });
    if !patches.is_empty() {
        object["patches"] = patches.into();
    }
    if let Some(judgement) = &job.judgement {
        object["findings"] = judgement.json();
    }
    object
}
