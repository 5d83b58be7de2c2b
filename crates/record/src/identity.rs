//! Identity of a run.

use serde::{Deserialize, Serialize};

/// Scenario, seed and version: runs with equal identities give equal results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioIdentity {
    /// The scenario's name.
    pub name: String,
    /// Hash of the lowered scenario, in hex.
    pub hash: String,
    /// Seed of all random streams of the run.
    pub seed: u64,
    /// Version of Tidegate.
    pub version: String,
}
