//! `tidegate import`: converts runs of other simulators into scenarios.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::names::shown;
use crate::output;
use fabric::Fabric;
use fabric::files::{Format, Options};
use lab::LabError;
use record::RecordError;
use record::file::AtomicFile;
use scenario::import::{HpccConfig, Imported, Inputs, KeyReport};
use scenario::{MAX_TREE_BYTES, MAX_WRITTEN_BYTES, Scenario, read_at_most};
use std::io::{BufReader, Write};
use std::path::{Component, Path, PathBuf};
use text::quoted;
use traffic::FlowFileOptions;
use units::Bytes;

/// Convert a run of another simulator into a scenario.
#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, clap::Subcommand)]
enum From {
    Hpcc(HpccArgs),
}

/// Convert config.txt of the HPCC simulator, with its topology and flows, into a scenario.
///
/// Settings that are not carried over are reported on standard error and as comments in the scenario. An unknown or
/// unsupported key is an error.
#[derive(Debug, clap::Args)]
struct HpccArgs {
    /// Configuration. Its files are searched relative to its folder, the folders above, and the current folder.
    #[arg(value_name = "CONFIG")]
    config: PathBuf,
    /// Scenario to write, must not exist; default: standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Transport of the flows, instead of that of CC_MODE; `tidegate mechanisms` lists transports.
    #[arg(long, value_name = "KIND")]
    transport: Option<String>,
    /// Topology file, instead of TOPOLOGY_FILE.
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Flow file, instead of FLOW_FILE.
    #[arg(long, value_name = "FILE")]
    flows: Option<PathBuf>,
    /// Leave out a key that is refused itself or by its value; may be repeated.
    #[arg(long, value_name = "KEY")]
    ignore: Vec<String>,
    /// Give each flow the path that ECMP of the HPCC simulator selects.
    #[arg(long)]
    paths: bool,
    /// Print the treatment of each key (carried, irrelevant, ignored or refused) with its reason, and write no
    /// scenario.
    #[arg(long, conflicts_with = "out")]
    verify: bool,
}

/// Runs the command.
///
/// # Errors
/// If the configuration is invalid or unsupported, or the output file exists or cannot be written.
pub fn command(args: &ImportArgs) -> Result<Exit, Failure> {
    match &args.from {
        From::Hpcc(args) => hpcc(args),
    }
}

fn hpcc(args: &HpccArgs) -> Result<Exit, Failure> {
    if let Some(out) = args.out.as_deref().filter(|out| out.symlink_metadata().is_ok()) {
        let message = format!("{} exists, and nothing was written", out.display());
        return Err(Failure::input(message, "name another file with --out"));
    }
    let folder = match args.out.as_deref().map(Path::parent) {
        Some(Some(folder)) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        let message = format!("there is no folder {}", folder.display());
        return Err(Failure::input(message, "make it, or name another with --out"));
    }
    let path = &args.config;
    let text = read_text(path, MAX_WRITTEN_BYTES)?;
    let wrong = |errors| Failure::from(LabError::Scenario { errors, path: path.clone() });
    let config = HpccConfig::parse(&text, &path.display().to_string()).map_err(wrong)?;
    let topology = match &args.topology {
        Some(topology) => topology.clone(),
        None => find(path, config.topology().map_err(wrong)?)?,
    };
    let flow_file = match &args.flows {
        Some(flows) => flows.clone(),
        None => find(path, config.flows().map_err(wrong)?)?,
    };
    let content = read_text(&topology, MAX_TREE_BYTES)?;
    let unstated = Options::NONE;
    let fabric = (Format::Hpcc.read(&content, &unstated))
        .map_err(|error| Failure::input(located(&topology, &error), "the topology that the configuration names"))?;
    let flows = flows(&flow_file, &fabric)?;
    let [topology_file, flow_file] = [&topology, &flow_file].map(|file| relative(folder, file).display().to_string());
    let inputs = Inputs {
        fabric: &fabric,
        flows: &flows,
        topology_file: &topology_file,
        flow_file: &flow_file,
        transport: args.transport.as_deref(),
        ignore: &args.ignore,
        keeps_paths: args.paths,
    };
    let (imported, accounts) = config.account(inputs);
    if args.verify {
        return verify(&accounts, imported.map_err(wrong));
    }
    let imported = imported.map_err(wrong)?;
    if imported.text.len() as u64 > MAX_WRITTEN_BYTES {
        let message = format!(
            "the scenario would have {}, more than the {} that a scenario may have",
            Bytes(imported.text.len() as u64),
            Bytes(MAX_WRITTEN_BYTES)
        );
        return Err(Failure::input(message, "leave --paths out, or split the flows"));
    }
    // Parse the written scenario, to verify that it is valid.
    let name = args.out.clone().unwrap_or_else(|| PathBuf::from("the scenario"));
    let scenario = Scenario::parse_with(
        &imported.text,
        &name.display().to_string(),
        folder,
        &[],
        None,
        Box::new(scenario::from_disk),
    );
    let lowered = scenario.and_then(|scenario| scenario.lower());
    lowered.map_err(|errors| Failure::from(LabError::Scenario { errors, path: name.clone() }))?;
    match &args.out {
        None => output::print(&imported.text)?,
        Some(out) => {
            let mut file = AtomicFile::create(out)?;
            let unwritable = |source| RecordError::Unwritable { action: "write", path: out.clone(), source };
            file.write_all(imported.text.as_bytes()).map_err(unwritable)?;
            file.commit_over(false)?;
            let location = out.display().to_string();
            output::print(&format!("wrote   {}\nrun it  tidegate run {}\n", shown(&location), quoted(&location)))?;
        }
    }
    imported.notes.iter().for_each(|note| output::note(&format!("note: {}", shown(note))));
    Ok(Exit::Done)
}

/// Prints how each key of the configuration was treated, then returns the error of the conversion, if there is one.
fn verify(accounts: &[KeyReport], imported: Result<Imported, Failure>) -> Result<Exit, Failure> {
    let width = accounts.iter().map(|account| account.key.chars().count()).max().unwrap_or(0);
    let mut table = String::new();
    for KeyReport { line, key, fate, note } in accounts {
        let row = format!("{line:>4}  {:<width$}  {:<10}  {}", shown(key), fate.name(), shown(note));
        table.push_str(row.trim_end());
        table.push('\n');
    }
    output::print(&table)?;
    imported.map(|_| Exit::Done)
}

fn read_text(path: &Path, most: u64) -> Result<String, Failure> {
    let content = read_at_most(path, most).map_err(|error| Failure::unreadable(path, &error))?;
    let wrong = |fault: fabric::files::NotText| Failure::Input {
        message: format!("{}:{}: {fault}", path.display(), fault.line),
        help: None,
    };
    fabric::files::text_of(&content).map(str::to_owned).map_err(wrong)
}

fn located(path: &Path, error: &fabric::files::FileError) -> String {
    match error {
        fabric::files::FileError::Line { line, message } => format!("{}:{line}: {message}", path.display()),
        other => format!("{}: {other}", path.display()),
    }
}

fn flows(path: &Path, fabric: &Fabric) -> Result<Vec<traffic::Flow>, Failure> {
    let file = scenario::open(path).map_err(|error| Failure::unreadable(path, &error))?;
    let options = FlowFileOptions {
        hosts: fabric.hosts().len() as u32,
        switches: scenario::flow_ids_of_switches(fabric),
        ..FlowFileOptions::default()
    };
    let read = traffic::read_flow_file(BufReader::new(file), &path.display().to_string(), &options);
    let file = read.map_err(|error| Failure::input(error.to_string(), "the flow file that the configuration names"))?;
    Ok(file.flows)
}

/// Resolves a file name in a configuration. The HPCC simulator resolves names relative to its working directory, which
/// is unknown. Therefore these folders are tried: the folder of the configuration and its three parents, the current
/// directory, and the folder of the configuration with the bare file name.
fn find(config: &Path, (name, line): (&str, u64)) -> Result<PathBuf, Failure> {
    let folder = match config.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let above = ["", "..", "../..", "../../.."].map(|up| folder.join(up).join(name));
    let beside = Path::new(name).file_name().map(|file| folder.join(file));
    let tried: Vec<PathBuf> = above.into_iter().chain([PathBuf::from(name)]).chain(beside).collect();
    tried.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        let message = format!("{}:{line}: there is no file `{}`", config.display(), shown(name));
        let help = "it is looked for from the folder of the configuration, from up to three folders above it, from \
            here, and by its bare name beside the configuration";
        Failure::input(message, help)
    })
}

/// Returns the path of `file` relative to `folder`.
fn relative(folder: &Path, file: &Path) -> PathBuf {
    let (Ok(folder), Ok(file)) = (folder.canonicalize(), file.canonicalize()) else { return file.to_owned() };
    let common = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(file.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_as_seen_from_the_scenario() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let seen = |from: &str| relative(&root.join(from), &root.join("src/commands/import.rs"));
        assert_eq!(seen("src/commands"), Path::new("import.rs"));
        assert_eq!(seen("src"), Path::new("commands/import.rs"));
        assert_eq!(seen("tests"), Path::new("../src/commands/import.rs"));
    }
}
