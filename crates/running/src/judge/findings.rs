//! Collection of findings.

use super::change::Change;
use crate::error::{Finding, FindingKind};
use crate::read::SwitchConfig;
use fabric::NodeId;
use std::collections::BTreeMap;

/// A finding before the search for its cause.
#[derive(Clone, Debug)]
pub(super) struct Conflict {
    pub finding: Finding,
    /// Text of the reason for a finding that names another file.
    pub elsewhere: String,
    /// Switches whose maps or `pfc_enable` may be the cause; empty if the finding already names its cause.
    pub switches: Vec<NodeId>,
}

/// All findings, in order of discovery.
#[derive(Default)]
pub(super) struct Findings(pub Vec<Conflict>);

impl Findings {
    pub fn add(&mut self, finding: Finding) {
        self.0.push(Conflict { finding, elsewhere: String::new(), switches: Vec::new() });
    }

    /// Adds a finding whose cause may be a setting of these switches.
    pub fn conflict(&mut self, finding: Finding, elsewhere: String, switches: Vec<NodeId>) {
        self.0.push(Conflict { finding, elsewhere, switches });
    }

    /// Returns the first finding per file, key and kind, with the number of further findings. `causes`: the change that
    /// removes each finding, if known.
    pub fn finish(self, causes: &[Option<&Change>]) -> Vec<Finding> {
        let mut first: BTreeMap<(String, String, FindingKind), (Finding, u64)> = BTreeMap::new();
        for (Conflict { mut finding, elsewhere, .. }, cause) in self.0.into_iter().zip(causes) {
            if let Some(change) = cause {
                let why = if change.file == finding.file { finding.why } else { elsewhere };
                finding.why = format!("{why}; {}", change.like);
                finding.file.clone_from(&change.file);
                finding.key.clone_from(&change.key);
                finding.instead.clone_from(&change.instead);
            }
            let at = (finding.file.clone(), finding.key.clone(), finding.kind);
            first.entry(at).and_modify(|(_, more)| *more += 1).or_insert((finding, 0));
        }
        let counted = |(mut finding, more): (Finding, u64)| {
            if more > 0 {
                finding.why += &format!(" (and {more} more)");
            }
            finding
        };
        first.into_values().map(counted).collect()
    }
}

/// Builds a finding.
pub(super) fn finding(kind: FindingKind, config: &SwitchConfig, key: String, why: String, instead: String) -> Finding {
    Finding { kind, file: config.file.clone(), key, why, instead }
}
