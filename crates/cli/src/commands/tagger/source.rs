//! A fabric and the rules for it.

use crate::fabric_source::{self, FabricFlags};
use crate::failure::Failure;
use fabric::Fabric;
use std::path::{Path, PathBuf};
use tagger::rules::{RuleFileError, RuleTable, Tag};

/// Rules and the fabric that they are for.
#[derive(Clone, Debug, clap::Args)]
pub struct RulesOnFabric {
    /// The rules, a file that `tidegate tagger rules --out` wrote.
    #[arg(value_name = "RULES")]
    pub rules: PathBuf,
    /// The fabric they are for.
    #[arg(long = "fabric", value_name = "FILE|SCENARIO|KIND")]
    pub source: String,
    #[command(flatten)]
    pub flags: FabricFlags,
}

impl RulesOnFabric {
    /// Reads both.
    ///
    /// # Errors
    /// What is wrong with either, or that they do not belong together.
    pub fn read(&self) -> Result<(Fabric, RuleTable), Failure> {
        let fabric = fabric_source::find(&self.source, &self.flags, None)?.fabric;
        let table = read_rules(&self.rules, &fabric)?;
        Ok((fabric, table))
    }
}

/// Rules are for the fabric as flags make it of its file.
pub const SAME_FLAGS: &str = "give the flags of the fabric that tidegate tagger rules had (--ignore, --host, --switch, \
    --hosts-on) here too, or make rules for this fabric";

/// A file as text.
///
/// # Errors
/// A file that is not there, or not text.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    let read = scenario::read_at_most(path, scenario::MAX_TREE_BYTES);
    fabric_source::text(path, read.map_err(|error| Failure::unreadable(path, &error))?)
}

/// The rules of a file, for this fabric.
///
/// # Errors
/// What is wrong with the file, with its element.
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

/// The tag that packets of a class enter with; without a name, of the first class.
///
/// # Errors
/// A class that the rules do not have.
pub fn first_tag(table: &RuleTable, class: Option<&str>) -> Result<Tag, Failure> {
    let found = table.classes.iter().find(|known| class.is_none_or(|class| known.name == class));
    found.map(|class| class.first_tag).ok_or_else(|| {
        let known: Vec<&str> = table.classes.iter().map(|class| class.name.as_str()).collect();
        let name = class.unwrap_or("at all");
        Failure::input(format!("the rules have no class `{name}`"), format!("their classes: {}", known.join(", ")))
    })
}
