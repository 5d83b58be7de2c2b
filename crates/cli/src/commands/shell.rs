//! `tidegate completions` and `tidegate man`, from the same definition as the help.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use clap::Command;
use clap_complete::Shell;
use std::path::PathBuf;

/// Print completions for a shell.
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Print the manual page, or write one a command into a folder.
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Write tidegate.1, tidegate-run.1 and so on into this folder.
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Completions for the definition `definition`.
///
/// # Errors
/// [`Failure::Output`].
pub fn completions(args: &CompletionsArgs, mut definition: Command) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition, "tidegate", &mut script);
    output::print(&String::from_utf8_lossy(&script)).map(|()| Exit::Done)
}

/// Manual pages of the definition `definition`.
///
/// # Errors
/// [`Failure::Input`] for a folder that does not do, [`Failure::Output`].
pub fn man(args: &ManArgs, definition: Command) -> Result<Exit, Failure> {
    if let Some(folder) = &args.folder {
        let wrong = |error: std::io::Error| Failure::Input {
            message: format!("{}: cannot write manual pages: {error}", folder.display()),
            help: None,
        };
        std::fs::create_dir_all(folder).map_err(wrong)?;
        return clap_mangen::generate_to(definition, folder).map(|()| Exit::Done).map_err(wrong);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(definition).render(&mut page).map_err(Failure::Output)?;
    output::print(&String::from_utf8_lossy(&page)).map(|()| Exit::Done)
}
