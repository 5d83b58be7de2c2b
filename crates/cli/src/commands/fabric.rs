//! `tidegate fabric`: make, look at, translate and judge fabrics.

use crate::exit::Exit;
use crate::fabric_source::{self, FabricFlags, FileFlags, FormatName, Found};
use crate::failure::Failure;
use crate::output::{self, Style, styled};
use crate::render::numbers::counted;
use fabric::files;
use fabric::{Fabric, show};
use record::file::write_whole;
use std::path::{Path, PathBuf};

mod judge;
mod pfc;

/// Make, look at, translate and judge fabrics.
#[derive(Debug, clap::Args)]
pub struct FabricArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make a fabric by formula: `fabric build fat-tree --k 8 --rate 100Gbps --delay 500ns --out topology.txt`.
    Build {
        /// fat-tree, f10, leaf-spine, clos, dumbbell, tree, star, jellyfish, bcube, single-switch, line or ring.
        kind: String,
        #[command(flatten)]
        flags: FabricFlags,
        /// Write into this file instead of standard output.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// The file's format; without it, a name that ends in .json is node-link and any other hpcc.
        #[arg(long)]
        format: Option<FormatName>,
    },
    /// Print what a fabric is made of, and draw it.
    Show {
        /// A topology file, a scenario, or a kind of fabric with its numbers.
        #[arg(value_name = "FILE|SCENARIO|KIND")]
        source: String,
        #[command(flatten)]
        flags: FabricFlags,
        /// Draw it into this file.
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
        /// Print one JSON object on standard output, and nothing else there.
        #[arg(long)]
        json: bool,
    },
    /// Translate a topology file into another format, and say what is lost.
    Convert {
        /// The file to read.
        #[arg(value_name = "IN")]
        input: PathBuf,
        /// The file to write.
        #[arg(value_name = "OUT")]
        output: PathBuf,
        /// What IN is; without it, its content tells.
        #[arg(long)]
        from: Option<FormatName>,
        /// What OUT becomes; without it, a name that ends in .json is node-link and any other hpcc.
        #[arg(long)]
        to: Option<FormatName>,
        #[command(flatten)]
        flags: FileFlags,
        /// Say nothing.
        #[arg(long, short)]
        quiet: bool,
    },
    /// Tell whether a fabric is a network that every host can use, and what is odd about it; with --pfc, whether
    /// it can deadlock.
    Check {
        /// A topology file, a scenario, or a kind of fabric with its numbers.
        #[arg(value_name = "FILE|SCENARIO|KIND")]
        source: String,
        #[command(flatten)]
        flags: FabricFlags,
        #[command(flatten)]
        pfc: pfc::PfcFlags,
        /// Print one JSON object on standard output, and nothing else there.
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// Files and numbers that make no fabric; a machine that fails.
pub fn command(args: &FabricArgs) -> Result<Exit, Failure> {
    match &args.action {
        Action::Build { kind, flags, out, format } => build(kind, flags, out.as_deref(), *format),
        Action::Show { source, flags, svg, json } => {
            let found = fabric_source::find(source, flags, None)?;
            if let Some(path) = svg {
                write(path, &show::svg(&found.fabric))?;
            }
            let facts = show::summary(&found.fabric);
            let as_json = || serde_json::to_string_pretty(&facts).map(|text| text + "\n");
            let text =
                if *json { as_json().map_err(|error| Failure::Output(error.into()))? } else { facts.to_string() };
            output::print(&text).map(|()| Exit::Done)
        }
        Action::Convert { input, output, from, to, flags, quiet } => {
            convert(input, output, *from, to.unwrap_or(FormatName::of_name(output)), &flags.0, *quiet)
        }
        Action::Check { source, flags, pfc, json } if pfc.asked() => pfc::check(source, flags, pfc, *json),
        Action::Check { source, flags, json, .. } => check(source, flags, *json),
    }
}

/// The fabric as a file's text.
fn written(fabric: &Fabric, format: FormatName) -> Result<String, Failure> {
    match format {
        FormatName::NodeLink => Ok(files::write_node_link(fabric)),
        FormatName::Hpcc => files::write_hpcc(fabric)
            .map_err(|error| Failure::input(format!("the hpcc format: {error}"), "--format node-link says everything")),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    // A place that cannot be written was named by the user.
    write_whole(path, text.as_bytes()).map_err(|error| Failure::Target { target: path.to_owned(), error })
}

fn build(kind: &str, flags: &FabricFlags, out: Option<&Path>, format: Option<FormatName>) -> Result<Exit, Failure> {
    let fabric = fabric_source::generate(kind, flags)?;
    let format = format.or(out.map(FormatName::of_name)).unwrap_or(FormatName::Hpcc);
    let text = written(&fabric, format)?;
    match out {
        None => output::print(&text)?,
        Some(path) => {
            write(path, &text)?;
            output::note(&format!("{}: {}", path.display(), counts(&fabric)));
        }
    }
    Ok(Exit::Done)
}

/// The line above what is said of a fabric.
fn heading(source: &str, found: &Found) -> String {
    let format = found.format.map_or(String::new(), |format| format!(" ({})", format.name()));
    format!("{}{format}: {}\n", styled(source, Style::Strong), counts(&found.fabric))
}

fn counts(fabric: &Fabric) -> String {
    let switches = fabric.switches().count() as u64;
    let (hosts, links) = (fabric.hosts().len() as u64, fabric.links().len() as u64);
    let switches = if switches == 1 {
        "1 switch".to_owned()
    } else {
        format!("{} switches", crate::render::numbers::grouped(switches))
    };
    format!("{}, {switches}, {}", counted(hosts, "host"), counted(links, "link"))
}

fn convert(
    input: &Path,
    output: &Path,
    from: Option<FormatName>,
    to: FormatName,
    flags: &FabricFlags,
    quiet: bool,
) -> Result<Exit, Failure> {
    let found = fabric_source::read_file(input, flags, from)?;
    write(output, &written(&found.fabric, to)?)?;
    if quiet {
        return Ok(Exit::Done);
    }
    let was = found.format.map_or("a file", FormatName::name);
    output::note(&format!(
        "{} ({was}) -> {} ({}): {}",
        input.display(),
        output.display(),
        to.name(),
        counts(&found.fabric)
    ));
    let lost = lost(&found.fabric, to);
    if lost.is_empty() {
        output::note("nothing is lost");
    }
    lost.iter().for_each(|what| output::note(&format!("lost: {what}")));
    Ok(Exit::Done)
}

/// What does not come back when the written file is read.
fn lost(fabric: &Fabric, to: FormatName) -> Vec<String> {
    let again = match to {
        FormatName::NodeLink => files::read_node_link(
            &files::write_node_link(fabric),
            &files::NodeLinkOptions {
                link: fabric::LinkSpec::new(units::Rate::MIN, units::Time::ZERO),
                hosts_per_switch: 0,
            },
        ),
        FormatName::Hpcc => match files::write_hpcc(fabric) {
            Ok(text) => files::read_hpcc(&text),
            Err(_) => return Vec::new(),
        },
    };
    let Ok(again) = again else { return vec!["the file cannot be read again".to_owned()] };
    let mut lost = Vec::new();
    let pairs = || fabric.nodes().iter().zip(again.nodes());
    if let Some((node, other)) = pairs().find(|(node, other)| node.name != other.name) {
        let count = pairs().filter(|(node, other)| node.name != other.name).count() as u64;
        lost.push(format!("{} (`{}` becomes `{}`)", counted(count, "name"), node.name, other.name));
    }
    if let Some((node, other)) = pairs().find(|(node, other)| node.tier != other.tier) {
        lost.push(format!("tiers (`{}` was on tier {}, a reader infers {})", node.name, node.tier, other.tier));
    }
    if fabric.kind() != again.kind() {
        lost.push(format!("the kind, {}", fabric.kind()));
    }
    if fabric.hosts() != again.hosts() {
        lost.push("which nodes are hosts".to_owned());
    }
    if fabric.links() != again.links() {
        lost.push("properties or order of links".to_owned());
    }
    lost
}

fn check(source: &str, flags: &FabricFlags, json: bool) -> Result<Exit, Failure> {
    let found = fabric_source::find(source, flags, None)?;
    let verdict = judge::judge(&found.fabric);
    if json {
        output::print(&format!("{:#}\n", verdict.json(source)))?;
    } else {
        let mut text = heading(source, &found);
        for finding in &verdict.findings {
            text.push_str(&format!("  {}  {}\n", finding.mark(), finding.text));
        }
        output::print(&text)?;
    }
    Ok(if verdict.usable() { Exit::Done } else { Exit::BadInput })
}
