//! `tidegate completions` and `tidegate man`, both generated from the definition of the arguments.

use super::manual;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use clap::Command;
use clap_complete::Shell;
use record::RecordError;
use record::file::write_file;
use std::path::PathBuf;

/// Print shell completions.
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Print the manual page, or write one page per command into a folder.
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Folder for tidegate.1, tidegate-run.1 and so on; default: standard output, the main page only.
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Overwrite pages that differ.
    #[arg(long, requires = "folder")]
    force: bool,
}

/// Prints the shell completions of the command `definition`.
///
/// # Errors
/// [`Failure::Output`] if standard output cannot be written.
pub fn completions(args: &CompletionsArgs, definition: Command) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut manual::with_values(definition), "tidegate", &mut script);
    output::print(&String::from_utf8_lossy(&script)).map(|()| Exit::Done)
}

/// Prints the manual page of the command `definition`, or writes one page per command.
///
/// # Errors
/// If the folder cannot be used, or contains pages of these names with other content; [`Failure::Output`].
pub fn man(args: &ManArgs, definition: Command) -> Result<Exit, Failure> {
    let Some(folder) = &args.folder else {
        return output::print(&String::from_utf8_lossy(&page(definition)?.1)).map(|()| Exit::Done);
    };
    std::fs::create_dir_all(folder).map_err(|source| {
        Failure::of_output(RecordError::Unwritable { action: "create", path: folder.clone(), source })
    })?;
    let mut definition = definition.disable_help_subcommand(true);
    // `build` sets the full names of subcommands, so that the name on a page includes the parent commands.
    definition.build();
    for command in with_subcommands(definition) {
        let (name, text) = page(command)?;
        write_file(&folder.join(name), &text, args.force).map_err(Failure::of_output)?;
    }
    Ok(Exit::Done)
}

/// Returns the file name and the text of a command's manual page.
fn page(command: Command) -> Result<(String, Vec<u8>), Failure> {
    let (sections, mut text) = (manual::sections(&command), Vec::new());
    let man = clap_mangen::Man::new(command);
    man.render(&mut text).map_err(Failure::Output)?;
    text.extend(sections.to_roff().into_bytes());
    Ok((man.get_filename(), text))
}

fn with_subcommands(command: Command) -> Vec<Command> {
    let below: Vec<Command> = command.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    let mut all = vec![command];
    all.extend(below.into_iter().flat_map(with_subcommands));
    all
}
