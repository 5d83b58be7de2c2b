//! Existing configurations of switches for a SONiC export: their buffers, their headroom by speed and cable length, and
//! the cable length of each port according to its switch.

use super::TargetArgs;
use crate::asic_table;
use crate::commands::tagger::headroom::{HeadroomArgs, Terms};
use crate::commands::tagger::source::read_text;
use crate::failure::Failure;
use fabric::sonic::AsicTables;
use fabric::{Fabric, Link, NodeId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tagger::export::Cable;
use tagger::export::sonic::{
    Config, OwnCables, PgTable, Platform, PlatformBuffers, PlatformError, PlatformFile, Published,
};
use text::numbers::grouped;

/// Contents of the files given by `--platform`, `--pg-profile` and `--asic-table`.
#[derive(Default)]
pub struct Platforms {
    /// The configuration, if one file applies to all switches.
    all: Option<(PathBuf, Platform)>,
    /// Configurations by name of the switch.
    own: BTreeMap<String, (PathBuf, Platform)>,
    rows: Option<(PathBuf, PgTable)>,
    /// ASIC of the switches whose configuration contains no ASIC tables.
    asic: Option<AsicTables>,
    /// Cable lengths and speeds of ports, by name of the switch.
    cables: BTreeMap<String, OwnCables>,
    below: bool,
    share_headroom: bool,
}

fn wrong(path: &Path, error: &PlatformError) -> Failure {
    let help = "--platform is a config_db.json or a folder with one for each switch; --pg-profile the \
                pg_profile_lookup.ini of the same platform";
    Failure::input(format!("{}: {error}", path.display()), help)
}

/// Returns the JSON files of a folder, sorted by name; no files if the path is not a folder.
fn json_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(path).and_then(|all| all.map(|one| Ok(one?.path())).collect());
    let mut files: Vec<PathBuf> =
        entries.map_err(|error| Failure::input(format!("{}: {error}", path.display()), "name a folder"))?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Ok(files)
}

/// Parses the cable lengths and speeds of a configuration file.
fn cables(file: &Path, text: &str) -> Result<Option<OwnCables>, Failure> {
    OwnCables::parse(text).map_err(|error| wrong(file, &error))
}

impl Platforms {
    /// Reads the given files. If the fabric's files are a folder of `config_db.json` files, also reads the cable
    /// lengths in them.
    ///
    /// # Errors
    /// If a file is invalid (the error has the key), or a switch of the export has no file.
    pub fn read(args: &TargetArgs, source: &str, fabric: &Fabric, switches: &[NodeId]) -> Result<Platforms, Failure> {
        let mut found =
            Platforms { below: args.below_platform, share_headroom: args.share_headroom, ..Platforms::default() };
        if let Some(path) = &args.pg_profile {
            let rows = PgTable::parse(&read_text(path)?).map_err(|error| wrong(path, &error))?;
            found.rows = Some((path.clone(), rows));
        }
        found.asic = asic_table::read(&args.asic_table)?;
        for file in json_files(Path::new(source))? {
            let cables = cables(&file, &read_text(&file)?)?;
            // Skip a file without a hostname: the reader of the fabric rejects such files.
            if let Some((name, cables)) = cables.and_then(|cables| Some((cables.hostname.clone()?, cables))) {
                found.add_cables(name, cables);
            }
        }
        let Some(path) = &args.platform else { return Ok(found) };
        let names: Vec<&str> = switches.iter().map(|&node| fabric.name(node)).collect();
        if path.is_dir() {
            for file in json_files(path)? {
                let text = read_text(&file)?;
                let platform = Platform::parse(&text).map_err(|error| wrong(&file, &error))?;
                let stem = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
                let name = platform.hostname().map_or(stem, str::to_owned);
                if let Some(cables) = cables(&file, &text)? {
                    found.add_cables(name.clone(), cables);
                }
                if let Some((other, _)) = found.own.insert(name.clone(), (file.clone(), platform)) {
                    let message = format!("{} and {} are both of `{name}`", other.display(), file.display());
                    return Err(Failure::input(message, "one file a switch"));
                }
            }
            if let Some(name) = names.iter().find(|name| !found.own.contains_key(**name)) {
                let message = format!("{}: no file of it has the switch `{name}`", path.display());
                return Err(Failure::input(
                    message,
                    "a file has the switch of its hostname (DEVICE_METADATA), or else of its file name",
                ));
            }
            return Ok(found);
        }
        let text = read_text(path)?;
        let platform = Platform::parse(&text).map_err(|error| wrong(path, &error))?;
        // If the configuration has no hostname, its cables apply to all switches.
        if let Some(cables) = cables(path, &text)? {
            names.iter().for_each(|name| found.add_cables((*name).to_owned(), cables.clone()));
        }
        match platform.hostname() {
            Some(name) if names != [name] => {
                let message = format!("{}: this is the configuration of the switch `{name}`", path.display());
                return Err(Failure::input(message, format!("--only {name}, or a folder with a file for each switch")));
            }
            _ => found.all = Some((path.clone(), platform)),
        }
        Ok(found)
    }

    fn add_cables(&mut self, switch: String, cables: OwnCables) {
        self.cables.entry(switch).or_default().extend(cables);
    }

    /// Returns whether `--platform` configurations are given, from which entries may have to be removed.
    pub fn has_configurations(&self) -> bool {
        self.all.is_some() || !self.own.is_empty()
    }

    /// Returns whether one configuration applies to all switches.
    pub fn is_one_file(&self) -> bool {
        self.all.is_some()
    }

    /// Returns the file name and the tables of a switch's configuration; `None` if the switch has none.
    pub fn file(&self, switch: &str) -> Option<(String, Config)> {
        let (path, platform) = self.own.get(switch).or_else(|| {
            let is_own = |hostname: Option<&str>| hostname.is_none_or(|name| name == switch);
            self.all.as_ref().filter(|(_, platform)| is_own(platform.hostname()))
        })?;
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Some((name, platform.tables()))
    }

    /// Returns a finding for each table that the files of these switches lack, and without which a check of the export
    /// is over nothing.
    pub fn unchecked<'n>(&self, switches: impl Iterator<Item = &'n str>) -> BTreeSet<String> {
        let needed = [
            ("BUFFER_POOL", "whether pools hold what their profiles reserve, and the headroom of groups"),
            ("PORT", "whether the switch has the ports of the fragment"),
        ];
        let platforms = switches.filter_map(|switch| self.platform(switch));
        let missing = platforms.flat_map(|(path, platform)| {
            let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let missing = needed.into_iter().filter(|(table, _)| !platform.has(table));
            missing.map(move |(table, check)| format!("{name}: {table}: is missing, and {check}, is not checked"))
        });
        missing.collect()
    }

    fn platform(&self, switch: &str) -> Option<&(PathBuf, Platform)> {
        self.own.get(switch).or(self.all.as_ref())
    }

    /// Returns the exporter's platform input for one switch.
    pub fn given(&self, switch: &str) -> PlatformBuffers<'_> {
        PlatformBuffers {
            platform: self.platform(switch).map(|(_, platform)| platform),
            rows: self.rows.as_ref().map(|(_, rows)| rows),
            asic: self.asic.as_ref(),
            below: self.below,
            share_headroom: self.share_headroom,
        }
    }

    /// Returns the platform input that is common to all switches.
    pub fn in_general(&self) -> PlatformBuffers<'_> {
        let any = self.all.as_ref().or_else(|| self.own.values().next());
        PlatformBuffers { platform: any.map(|(_, platform)| platform), ..self.given("") }
    }

    /// Returns the failure for an error in the platform of a switch, with the file that contains the error.
    pub fn failure(&self, switch: &str, error: &PlatformError) -> Failure {
        let path = match error.file {
            PlatformFile::PgProfile => self.rows.as_ref().map(|(path, _)| path),
            PlatformFile::Config => self.platform(switch).map(|(path, _)| path),
        };
        match path {
            Some(path) => wrong(path, error),
            None => Failure::input(format!("{switch}: {error}"), "--platform names the platform's configuration"),
        }
    }

    /// Returns rate and delay of a port: as configured at its own switch, otherwise those of the link.
    pub fn cable(&self, switch: &str, interface: &str, link: &Link, args: &HeadroomArgs, classes: usize) -> Cable {
        let own = self.cables.get(switch);
        let rate = own.and_then(|own| own.speed(interface)).unwrap_or(link.rate);
        let delay = own.and_then(|own| own.delay(interface)).unwrap_or(link.delay);
        Cable { rate, delay, headroom_bytes: args.bytes(rate, delay, classes) }
    }

    /// Returns notes on links whose two ends have different cable lengths or speeds: each end uses its own headroom.
    pub fn disagreements(&self, fabric: &Fabric) -> Vec<String> {
        let mut notes = Vec::new();
        for link in fabric.links() {
            let end = |end: &fabric::End| {
                let (switch, port) = (fabric.name(end.node), fabric.port_name(end.node, end.port)?);
                let own = self.cables.get(switch)?;
                Some((format!("{switch} {port}"), own.speed(port), own.delay(port)))
            };
            let Some((a, b)) = end(&link.a).zip(end(&link.b)) else { continue };
            // If only one end states a value, there is no contradiction.
            let speeds = a.1.zip(b.1).filter(|(a, b)| a != b).map(|(a, b)| (a.to_string(), b.to_string()));
            let cables = a.2.zip(b.2).filter(|(a, b)| a != b).map(|(a, b)| (format!("a cable of {a}"), b.to_string()));
            let (here, there): (Vec<String>, Vec<String>) = speeds.into_iter().chain(cables).unzip();
            if !here.is_empty() {
                notes.push(format!(
                    "{} states {}, {} at the other end {}: each end has the headroom of its own; one of them is wrong",
                    a.0,
                    here.join(" and "),
                    b.0,
                    there.join(" and ")
                ));
            }
        }
        notes
    }
}

/// Returns notes that compare the computed headroom with the published headroom, term by term.
pub fn compared(published: &BTreeSet<Published>, args: &HeadroomArgs, classes: usize) -> Vec<String> {
    let note = |one: &Published| {
        let difference = |more: u64, less: u64| grouped(more.abs_diff(less));
        let beside = match one.published >= one.computed {
            true => format!("{} less than", difference(one.published, one.computed)),
            false => format!("{} more than", difference(one.published, one.computed)),
        };
        let head = format!(
            "xoff at {} and {}: computed {}, {beside} the {} of {}; written {}. ",
            one.rate,
            one.delay,
            grouped(one.computed),
            grouped(one.published),
            one.location,
            grouped(one.written)
        );
        if let Some(dynamic) = &one.dynamic {
            let lines: Vec<String> = dynamic.lines().iter().map(|line| format!("  {line}\n")).collect();
            return format!(
                "{head}Terms of that value, in bytes ({}):\n{}",
                asic_table::inputs(dynamic),
                lines.concat()
            );
        }
        let terms = Terms::of(one.rate, one.delay, classes.try_into().unwrap_or(8), args);
        let formula = terms.sonic_bytes();
        let rest = match one.published >= formula {
            true => format!("{} more than SONiC's formula", difference(one.published, formula)),
            false => format!("{} less than SONiC's formula", difference(one.published, formula)),
        };
        format!(
            "{head}Term by term (the platform's file has no terms: its value is {rest} with these inputs):\n{}",
            terms.plain_text()
        )
    };
    published.iter().map(note).collect()
}
