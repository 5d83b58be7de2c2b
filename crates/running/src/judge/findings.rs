//! Collection of findings.

use crate::error::{Finding, FindingKind};
use crate::read::SwitchConfig;
use std::collections::BTreeMap;

/// First finding per file, key and kind, with the number of further ones.
#[derive(Default)]
pub(super) struct Findings(BTreeMap<(String, String, FindingKind), (Finding, u64)>);

impl Findings {
    pub fn add(&mut self, finding: Finding) {
        let at = (finding.file.clone(), finding.key.clone(), finding.kind);
        self.0.entry(at).and_modify(|(_, more)| *more += 1).or_insert((finding, 0));
    }

    pub fn finish(self) -> Vec<Finding> {
        let counted = |(mut finding, more): (Finding, u64)| {
            if more > 0 {
                finding.why += &format!(" (and {more} more)");
            }
            finding
        };
        self.0.into_values().map(counted).collect()
    }
}

/// Builds a finding.
pub(super) fn finding(kind: FindingKind, config: &SwitchConfig, key: String, why: String, instead: String) -> Finding {
    Finding { kind, file: config.file.clone(), key, why, instead }
}
