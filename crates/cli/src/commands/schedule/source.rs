//! The network whose streams are scheduled.

use crate::commands::tagger::read_text;
use crate::fabric_source::{self, FabricFlags};
use crate::failure::Failure;
use fabric::Fabric;
use schedule::streams::StreamsError;
use std::path::{Path, PathBuf};
use units::Time;

/// A fabric of Tidegate, or a network of tsnkit.
#[derive(Clone, Debug, clap::Args)]
pub struct NetworkSource {
    /// Topology file, scenario, or kind of fabric with its parameters.
    #[arg(long = "fabric", value_name = "FILE|SCENARIO|KIND", required_unless_present = "tsnkit_network")]
    source: Option<String>,
    /// Network of tsnkit instead of a fabric: a CSV file of link, q_num, rate, t_proc, t_prop. The cost of a frame on
    /// the wire is then its length, without preamble and gap.
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    tsnkit_network: Option<PathBuf>,
    #[command(flatten)]
    flags: FabricFlags,
}

/// Returns the failure for an error in a file of streams, with its line.
pub fn wrong(path: &Path, error: &StreamsError) -> Failure {
    let location = match error.line {
        0 => path.display().to_string(),
        line => format!("{}:{line}", path.display()),
    };
    Failure::Input { message: format!("{location}: {}", error.message), help: None }
}

impl NetworkSource {
    /// Reads the fabric. For a network of tsnkit, also returns the processing delay of its nodes.
    ///
    /// # Errors
    /// If a file is invalid.
    pub fn read(&self) -> Result<(Fabric, Option<Time>), Failure> {
        if let Some(path) = &self.tsnkit_network {
            let found = schedule::tsnkit::network(&read_text(path)?).map_err(|error| wrong(path, &error))?;
            return Ok((found.0, Some(found.1)));
        }
        let source = self.source.as_deref().unwrap_or_default();
        Ok((fabric_source::find(source, &self.flags, None)?.stated()?.fabric, None))
    }

    /// Returns the absolute path of the fabric's topology file.
    ///
    /// # Errors
    /// If the fabric is not given as a topology file.
    pub fn file(&self) -> Result<String, Failure> {
        let source = Path::new(self.source.as_deref().unwrap_or_default());
        let scenario = source.extension().is_some_and(|extension| extension == "toml");
        match source.canonicalize() {
            Ok(path) if !scenario => Ok(path.display().to_string()),
            _ => Err(Failure::input("--scenario needs a topology file", "write one with tidegate fabric convert")),
        }
    }
}
