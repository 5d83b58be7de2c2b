//! `tidegate new`: writes a commented scenario as a starting point.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use clap::builder::PossibleValuesParser;
use record::RecordError;
use record::file::AtomicFile;
use scenario::TEMPLATES;
use std::io::Write;
use std::path::PathBuf;
use text::quoted;
use text::{Layout, table};

/// Write a commented scenario that is ready to run; without KIND, list all kinds.
#[derive(Debug, clap::Args)]
pub struct NewArgs {
    /// Kind of scenario.
    #[arg(value_name = "KIND", value_parser = PossibleValuesParser::new(TEMPLATES.iter().map(|kind| kind.name)))]
    kind: Option<String>,
    /// Output file; default: KIND.toml in the current folder. Files that it refers to are written beside it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the scenario on standard output and write no file.
    #[arg(long)]
    print: bool,
}

/// Runs the command.
///
/// # Errors
/// If a file with other content exists at the path of an output file, or a file cannot be written.
pub fn command(args: &NewArgs) -> Result<Exit, Failure> {
    let Some(kind) = TEMPLATES.iter().find(|kind| args.kind.as_deref() == Some(kind.name)) else {
        let rows: Vec<Vec<String>> =
            TEMPLATES.iter().map(|kind| vec![kind.name.to_owned(), kind.about.to_owned()]).collect();
        let list = table(&["kind", "what it shows"], &rows, 2, Layout::Wrapping, 0);
        return output::show(&format!("{list}\nWrite one with: tidegate new incast\n")).map(|()| Exit::Done);
    };
    let text = kind.text();
    if args.print {
        return output::print(&text).map(|()| Exit::Done);
    }
    let target = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.toml", kind.name)));
    let beside = kind.beside.iter().map(|(name, content)| (target.with_file_name(name), *content));
    let files: Vec<(PathBuf, &str)> = std::iter::once((target.clone(), text.as_str())).chain(beside).collect();
    // Files of the same content are those of an earlier command, which may have been killed between two files.
    let is_other = |(path, content): &&(PathBuf, &str)| {
        path.symlink_metadata().is_ok() && std::fs::read(path).ok().as_deref() != Some(content.as_bytes())
    };
    if let Some((path, _)) = files.iter().find(is_other) {
        let message = format!("{} exists with other content, and nothing was written", path.display());
        return Err(Failure::input(message, "name another file with --out, or --print it"));
    }
    let mut ready = Vec::new();
    for (path, content) in &files {
        let mut file = AtomicFile::create(path)?;
        let unwritable = |source| RecordError::Unwritable { action: "write", path: path.clone(), source };
        file.write_all(content.as_bytes()).map_err(unwritable)?;
        file.close()?;
        ready.push(file);
    }
    // First all files are written under temporary names, then all are renamed to their final names.
    ready.into_iter().try_for_each(|file| file.commit_over(false))?;
    let written: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
    let scenario = quoted(&target.display().to_string());
    let text = format!("wrote   {}\nrun it  tidegate run {scenario} --out results/{}\n", written.join(", "), kind.name);
    output::print(&text).map(|()| Exit::Done)
}
