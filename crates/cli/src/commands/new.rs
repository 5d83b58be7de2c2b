//! `tidegate new`: a commented scenario to start from.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use clap::builder::PossibleValuesParser;
use record::RecordError;
use record::file::WholeFile;
use std::io::Write;
use std::path::PathBuf;
use text::quoted;
use text::{Layout, table};

/// Write a commented scenario that runs as it is; without a kind, list what there is.
#[derive(Debug, clap::Args)]
pub struct NewArgs {
    /// What to start from.
    #[arg(value_name = "KIND", value_parser = PossibleValuesParser::new(KINDS.iter().map(|kind| kind.name)))]
    kind: Option<String>,
    /// The file to write; KIND.toml here without. Files that it names are written beside it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the scenario on standard output and write nothing.
    #[arg(long)]
    print: bool,
}

/// Something to start from.
struct Kind {
    name: &'static str,
    about: &'static str,
    text: &'static str,
    /// Files that the scenario names.
    beside: &'static [(&'static str, &'static str)],
}

macro_rules! example {
    ($path:literal) => {
        include_str!(concat!("../../../../examples/", $path))
    };
}

/// All of them are examples of the project, which are tests.
const KINDS: [Kind; 8] = [
    Kind {
        name: "incast",
        about: "many hosts send to one, under PFC, ECN and DCQCN",
        text: example!("incast-pfc.toml"),
        beside: &[],
    },
    Kind {
        name: "permutation",
        about: "every host sends to another, over flow-hash routes",
        text: example!("permutation.toml"),
        beside: &[],
    },
    Kind {
        name: "web-search",
        about: "flows of a measured size distribution arrive at random, under DCQCN",
        text: example!("web-search-dcqcn.toml"),
        beside: &[],
    },
    Kind {
        name: "all-reduce",
        about: "accelerators reduce over a ring, step by step",
        text: example!("all-reduce.toml"),
        beside: &[],
    },
    Kind {
        name: "deadlock",
        about: "pauses close around a ring of switches and nothing moves any more",
        text: example!("deadlock-ring.toml"),
        beside: &[],
    },
    Kind {
        name: "link-failure",
        about: "a link fails and comes back; its neighbours send around it",
        text: example!("link-failure.toml"),
        beside: &[],
    },
    Kind { name: "tcp", about: "TCP flows share a bottleneck", text: example!("tcp-dumbbell.toml"), beside: &[] },
    Kind {
        name: "replay",
        about: "topology and flows from files in the format of the HPCC simulator",
        text: example!("replay/scenario.toml"),
        beside: &[("topology.txt", example!("replay/topology.txt")), ("flow.txt", example!("replay/flow.txt"))],
    },
];

/// Runs the command.
///
/// # Errors
/// A file that exists already; a disk that fails.
pub fn command(args: &NewArgs) -> Result<Exit, Failure> {
    let Some(kind) = KINDS.iter().find(|kind| args.kind.as_deref() == Some(kind.name)) else {
        let rows: Vec<Vec<String>> =
            KINDS.iter().map(|kind| vec![kind.name.to_owned(), kind.about.to_owned()]).collect();
        let list = table(&["kind", "what it shows"], &rows, 2, Layout::Wrapping, 0);
        return output::print(&format!("{list}\nWrite one with: tidegate new incast\n")).map(|()| Exit::Done);
    };
    let text = scenario::commented(kind.text);
    if args.print {
        return output::print(&text).map(|()| Exit::Done);
    }
    let target = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.toml", kind.name)));
    let beside = kind.beside.iter().map(|(name, content)| (target.with_file_name(name), *content));
    let files: Vec<(PathBuf, &str)> = std::iter::once((target.clone(), text.as_str())).chain(beside).collect();
    if let Some((path, _)) = files.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        let message = format!("{} exists, and nothing was written", path.display());
        return Err(Failure::input(message, "name another file with --out, or --print it"));
    }
    let mut ready = Vec::new();
    for (path, content) in &files {
        let mut file = WholeFile::create(path)?;
        let unwritable = |source| RecordError::Unwritable { action: "write", path: path.clone(), source };
        file.write_all(content.as_bytes()).map_err(unwritable)?;
        file.close()?;
        ready.push(file);
    }
    // All are on the disk before the first takes its name.
    ready.into_iter().try_for_each(|file| file.commit_over(false))?;
    let written: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
    let scenario = quoted(&target.display().to_string());
    let text = format!("wrote   {}\nrun it  tidegate run {scenario} --out results/{}\n", written.join(", "), kind.name);
    output::print(&text).map(|()| Exit::Done)
}
