//! `tidegate fabric`: generate, inspect, convert and validate topologies.

use crate::exit::Exit;
use crate::fabric_source::{self, FabricFlags, FileFlags, Found, format_parser};
use crate::failure::Failure;
use crate::names::{distinct, file_name};
use crate::output::{self, Style, styled};
use fabric::files::{self, Format};
use fabric::{Fabric, show};
use record::file::{sealed, write_file};
use record::files::{PreviousFiles, write_files};
use std::path::{Path, PathBuf};
use text::numbers::counted;

/// Kind of the content in the manifest of a folder of `config_db.json` files.
const CONFIG_DB: &str = "fabric config-db";

pub mod counterexample;
mod grouped;
mod headroom;
mod judge;
mod lost;
mod pfc;
pub mod running;

/// Generate, inspect, convert and validate topologies.
#[derive(Debug, clap::Args)]
pub struct FabricArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Generate a topology: `fabric build fat-tree --k 8 --rate 100Gbps --delay 500ns --out topology.txt`.
    Build {
        /// Kind: fat-tree, f10, leaf-spine, clos, dumbbell, tree, star, jellyfish, bcube, single-switch, line or ring.
        kind: String,
        #[command(flatten)]
        flags: FabricFlags,
        /// Output file; default: standard output.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Output format; default: by the file extension, else hpcc.
        #[arg(long, value_parser = format_parser())]
        format: Option<Format>,
        /// Overwrite files that tidegate did not write.
        #[arg(long)]
        force: bool,
    },
    /// Print tiers, links, path counts, node names and the reader's decisions of a topology, and draw it with --svg.
    Show {
        /// Topology file, scenario, or kind of fabric with its parameters.
        #[arg(value_name = "FILE|SCENARIO|KIND")]
        source: String,
        #[command(flatten)]
        flags: FabricFlags,
        /// Draw the topology into this SVG file.
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
        /// Overwrite a file that tidegate did not write.
        #[arg(long, requires = "svg")]
        force: bool,
        /// Print only one JSON object on standard output.
        #[arg(long)]
        json: bool,
    },
    /// Convert a topology file into another format, and list the information that is lost.
    Convert {
        /// Input file.
        #[arg(value_name = "IN")]
        input: PathBuf,
        /// Output file.
        #[arg(value_name = "OUT")]
        output: PathBuf,
        /// Input format; default: detected from the content.
        #[arg(long, value_parser = format_parser())]
        from: Option<Format>,
        /// Output format; default: by the file extension, else hpcc. config-db writes a folder with one file per
        /// switch.
        #[arg(long, value_parser = format_parser())]
        to: Option<Format>,
        #[command(flatten)]
        flags: FileFlags,
        /// Overwrite files that tidegate did not write.
        #[arg(long)]
        force: bool,
        /// Print only errors.
        #[arg(long, short)]
        quiet: bool,
    },
    /// Check that every host can reach every other and report anomalies; with --pfc, check for deadlocks; with
    /// --running, check the configuration of running SONiC switches.
    Check {
        /// Topology file, scenario, or kind of fabric with its parameters.
        #[arg(value_name = "FILE|SCENARIO|KIND", required_unless_present = "running")]
        source: Option<String>,
        #[command(flatten)]
        flags: FabricFlags,
        #[command(flatten)]
        pfc: pfc::PfcFlags,
        #[command(flatten)]
        running: running::RunningFlags,
        /// Print only one JSON object on standard output.
        #[arg(long)]
        json: bool,
    },
    /// Compute XOFF, XON, headroom and credits per kind of port and check that the buffer holds them, for a fabric or
    /// one link: `fabric headroom --rate 100Gbps --length 300m`.
    Headroom {
        /// Topology file, scenario, or kind of fabric with its parameters; default: one link.
        #[arg(value_name = "FILE|SCENARIO|KIND")]
        source: Option<String>,
        #[command(flatten)]
        flags: FabricFlags,
        #[command(flatten)]
        thresholds: headroom::ThresholdFlags,
        /// Print only one JSON object on standard output.
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// Invalid files and parameters; an output that cannot be written.
pub fn command(args: &FabricArgs) -> Result<Exit, Failure> {
    match &args.action {
        Action::Build { kind, flags, out, format, force } => build(kind, flags, out.as_deref(), *format, *force),
        Action::Show { source, flags, svg, force, json } => {
            let found = fabric_source::find(source, flags, None)?;
            if let Some(path) = svg {
                fabric_source::check_output(Path::new(source), path)?;
                write(path, &sealed(show::svg(&found.fabric)), *force)?;
            }
            let text = if *json { shown_as_json(&found.fabric)? } else { shown(&found.fabric) };
            output::show(&text).map(|()| Exit::Done)
        }
        Action::Convert { input, output, from, to, flags, force, quiet } => {
            fabric_source::check_output(input, output)?;
            let found = fabric_source::read_file(input, &flags.0, *from)?.stated()?;
            let to = to.unwrap_or_else(|| of_name(output));
            write_fabric(output, &found.fabric, to, *force)?;
            if !quiet {
                say_converted(input, output, &found, to);
            }
            Ok(Exit::Done)
        }
        Action::Check { source, flags, running, json, .. } if running.running.is_some() => {
            running::check(source.as_deref(), flags, running, *json)
        }
        // Without --running, clap requires a source.
        Action::Check { source, flags, pfc, json, .. } => {
            let source = source.as_deref().unwrap_or_default();
            if pfc.is_requested() { pfc::check(source, flags, pfc, *json) } else { check(source, flags, *json) }
        }
        Action::Headroom { source, flags, thresholds, json } => {
            headroom::command(source.as_deref(), flags, thresholds, *json)
        }
    }
}

/// Returns the counts and names of the fabric's nodes, and the decisions that the reader made about ambiguous input.
fn shown(fabric: &Fabric) -> String {
    let mut text = format!("{}{}", show::summary(fabric), show::names(fabric));
    if !fabric.decisions().is_empty() {
        text.push_str("\ndecisions\n");
    }
    for decision in fabric.decisions() {
        let names = if decision.names.is_empty() { String::new() } else { format!(": {}", decision.names.join(", ")) };
        text.push_str(&format!("  {}{names}\n", decision.text));
    }
    text
}

fn shown_as_json(fabric: &Fabric) -> Result<String, Failure> {
    #[derive(serde::Serialize)]
    struct Shown<'f> {
        #[serde(flatten)]
        facts: show::Summary,
        node_list: Vec<show::ListedNode<'f>>,
        link_list: Vec<show::ListedLink<'f>>,
        decisions: &'f [fabric::Decision],
    }
    let (node_list, link_list) = (show::node_list(fabric), show::link_list(fabric));
    let shown = Shown { facts: show::summary(fabric), node_list, link_list, decisions: fabric.decisions() };
    serde_json::to_string_pretty(&shown).map(|text| text + "\n").map_err(|error| Failure::Output(error.into()))
}

/// Returns the content of a file of this format that describes the fabric.
fn written(fabric: &Fabric, format: Format) -> Result<String, Failure> {
    format.write(fabric).map_err(|error| {
        let help = "--format node-link (fabric convert: --to node-link) says everything";
        Failure::input(format!("the {} format: {error}", format.name()), help)
    })
}

fn of_name(path: &Path) -> Format {
    Format::of_name(&path.to_string_lossy())
}

/// Writes a fabric to a file or, if the format has one file per switch, to a folder.
fn write_fabric(path: &Path, fabric: &Fabric, format: Format, force: bool) -> Result<(), Failure> {
    if format != Format::ConfigDb {
        return write(path, &written(fabric, format)?, force);
    }
    let files = files::write_config_db(fabric)
        .map_err(|error| Failure::input(format!("the config-db format: {error}"), "--to node-link says everything"))?;
    let names: Vec<String> = files.iter().map(|(switch, _)| file_name(switch, ".json")).collect();
    distinct(files.iter().zip(&names).map(|((switch, _), name)| (switch.as_str(), name.as_str())))?;
    let files: Vec<(&str, &[u8])> =
        names.iter().zip(&files).map(|(name, (_, text))| (name.as_str(), text.as_bytes())).collect();
    // The folder describes one fabric, so switch files of an earlier fabric must be removed.
    write_files(path, CONFIG_DB, &files, PreviousFiles::Removed, force).map_err(Failure::of_output)
}

fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    write_file(path, text.as_bytes(), force).map_err(Failure::of_output)
}

fn build(
    kind: &str,
    flags: &FabricFlags,
    out: Option<&Path>,
    format: Option<Format>,
    force: bool,
) -> Result<Exit, Failure> {
    let fabric = fabric_source::generate(kind, flags)?;
    let format = format.or(out.map(of_name)).unwrap_or(Format::Hpcc);
    match out {
        None => output::print(&written(&fabric, format)?)?,
        Some(path) => {
            write_fabric(path, &fabric, format, force)?;
            output::note(&format!("{}: {}", path.display(), counts(&fabric)));
        }
    }
    Ok(Exit::Done)
}

/// Returns the heading above the findings: source, format and counts of the fabric.
fn heading(source: &str, found: &Found) -> String {
    let format = found.format.map_or(String::new(), |format| format!(" ({})", format.name()));
    format!("{}{format}: {}\n", styled(source, Style::Strong), counts(&found.fabric))
}

fn counts(fabric: &Fabric) -> String {
    let switches = fabric.switches().count() as u64;
    let (hosts, links) = (fabric.hosts().len() as u64, fabric.links().len() as u64);
    let switches =
        if switches == 1 { "1 switch".to_owned() } else { format!("{} switches", text::numbers::grouped(switches)) };
    format!("{}, {switches}, {}", counted(hosts, "host"), counted(links, "link"))
}

fn say_converted(input: &Path, output: &Path, found: &Found, to: Format) {
    let was = found.format.map_or("a file", Format::name);
    output::note(&format!(
        "{} ({was}) -> {} ({}): {}",
        input.display(),
        output.display(),
        to.name(),
        counts(&found.fabric)
    ));
    let lost = lost::lost(&found.fabric, to);
    if lost.is_empty() {
        output::note("nothing is lost");
    }
    lost.iter().for_each(|what| output::note(&format!("lost: {what}")));
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
        output::show(&text)?;
    }
    Ok(if verdict.usable() { Exit::Done } else { Exit::BadInput })
}
