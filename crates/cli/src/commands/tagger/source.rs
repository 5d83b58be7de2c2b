//! Reads a fabric and the rules for it.

use crate::fabric_source::{self, FabricFlags, Found};
use crate::failure::Failure;
use fabric::Fabric;
use std::path::{Path, PathBuf};
use tagger::rules::{RuleFileError, RuleTable, Tag};

/// Rules and their fabric.
#[derive(Clone, Debug, clap::Args)]
pub struct RulesOnFabric {
    /// The rules, a file written by `tidegate tagger rules --out`.
    #[arg(value_name = "RULES")]
    pub rules: PathBuf,
    /// The fabric of the rules.
    #[arg(long = "fabric", value_name = "FILE|SCENARIO|KIND")]
    pub source: String,
    #[command(flatten)]
    pub flags: FabricFlags,
}

impl RulesOnFabric {
    /// Reads the fabric and the rules.
    ///
    /// # Errors
    /// If a file is invalid, or the rules are for another fabric.
    pub fn read(&self) -> Result<(Fabric, RuleTable), Failure> {
        let (found, table) = self.read_found()?;
        Ok((found.fabric, table))
    }

    /// Reads both; returns the format of the fabric's file too.
    ///
    /// # Errors
    /// Like [`read`](Self::read).
    pub fn read_found(&self) -> Result<(Found, RuleTable), Failure> {
        let found = fabric_source::find(&self.source, &self.flags, None)?;
        let table = read_rules(&self.rules, &found.fabric)?;
        Ok((found, table))
    }
}

/// Help text for rules that do not match the fabric: flags that modify the fabric must equal those of the generation.
pub const SAME_FLAGS: &str = "give the flags of the fabric that tidegate tagger rules had (--ignore, --host, --switch, \
    --hosts-on) here too, or make rules for this fabric";

/// Reads a file as text.
///
/// # Errors
/// If the file is missing or is not text.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    let read = scenario::read_at_most(path, scenario::MAX_TREE_BYTES);
    fabric_source::text(path, read.map_err(|error| Failure::unreadable(path, &error))?)
}

/// Reads the rules for this fabric from a file.
///
/// # Errors
/// If the file is invalid; the error names the invalid element.
pub fn read_rules(path: &Path, fabric: &Fabric) -> Result<RuleTable, Failure> {
    let text = read_text(path)?;
    RuleTable::read(fabric, &text).map_err(|error| {
        let help = match error {
            RuleFileError::Syntax { .. } | RuleFileError::Format { .. } => {
                Some("rules are written by tidegate tagger rules --out")
            }
            RuleFileError::OtherFabric { .. }
            | RuleFileError::OtherPorts { .. }
            | RuleFileError::UnknownSwitch { .. } => Some(SAME_FLAGS),
            _ => None,
        };
        Failure::Input { message: format!("{}: {error}", path.display()), help: help.map(str::to_owned) }
    })
}

/// Returns the first tag of a class; without a name, of the first class.
///
/// # Errors
/// If the rules have no class with this name.
pub fn first_tag(table: &RuleTable, class: Option<&str>) -> Result<Tag, Failure> {
    let found = table.classes.iter().find(|known| class.is_none_or(|class| known.name == class));
    found.map(|class| class.first_tag).ok_or_else(|| {
        let known: Vec<&str> = table.classes.iter().map(|class| class.name.as_str()).collect();
        let name = class.unwrap_or("at all");
        Failure::input(format!("the rules have no class `{name}`"), format!("their classes: {}", known.join(", ")))
    })
}
