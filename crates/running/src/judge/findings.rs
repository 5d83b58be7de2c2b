//! Collection of findings.

use super::change::Change;
use crate::error::{Finding, FindingKind};
use crate::read::{OR_LEAVE_OUT, SwitchConfig};
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
        // A misspelt key is the cause of findings about the key that was meant.
        let (mut findings, more): (Vec<Finding>, Vec<u64>) = first.into_values().unzip();
        refer_to_unknown_keys(&mut findings);
        for (finding, more) in findings.iter_mut().zip(more).filter(|(_, more)| *more > 0) {
            finding.why += &format!(" (and {more} more)");
        }
        findings.sort_by_key(|finding| finding.kind != FindingKind::UnknownKey);
        findings
    }
}

/// Adds to findings about a table or field the unknown key of the file that is nearly it.
fn refer_to_unknown_keys(findings: &mut [Finding]) {
    let meant = |unknown: &Finding| {
        let near = unknown.instead.strip_suffix(OR_LEAVE_OUT).filter(|near| !near.contains(' '))?;
        let row = unknown.key.rsplit_once('.').map_or(String::new(), |(row, _)| format!("{row}."));
        Some((unknown.file.clone(), unknown.key.clone(), format!("{row}{near}")))
    };
    let unknown: Vec<_> = findings.iter().filter(|it| it.kind == FindingKind::UnknownKey).filter_map(meant).collect();
    for (file, key, meant) in unknown {
        let of_meant = |it: &&mut Finding| {
            let rest = it.key.strip_prefix(&meant).filter(|_| it.file == file && it.kind != FindingKind::UnknownKey);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['|', '.']))
        };
        findings
            .iter_mut()
            .filter(of_meant)
            .for_each(|it| it.why += &format!("; the file has {key}, which nothing reads"));
    }
}

/// Builds a finding.
pub(super) fn finding(kind: FindingKind, config: &SwitchConfig, key: String, why: String, instead: String) -> Finding {
    Finding { kind, file: config.file.clone(), key, why, instead }
}
