//! Collection of findings.

use super::change::{Causes, Change, Part};
use crate::device::Port;
use crate::error::{Finding, FindingKind};
use crate::read::{SwitchConfig, table_of};
use fabric::{NodeId, PortIndex};
use std::collections::BTreeMap;
use text::numbers::counted;

/// A finding before the search for its cause.
#[derive(Clone, Debug)]
pub(super) struct Conflict {
    pub finding: Finding,
    /// Text of the reason for a finding that names another file.
    pub elsewhere: String,
    /// Settings that may be the cause; empty if the finding already names its cause.
    pub scope: Scope,
}

/// Settings that may cause a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scope {
    /// Switches whose settings may be the cause.
    pub switches: Vec<NodeId>,
    /// Ports on the path, whose rows may be the cause.
    pub ports: Vec<(NodeId, PortIndex)>,
    /// Map entries on the path: switch, table and key.
    pub entries: Vec<(NodeId, &'static str, u8)>,
}

impl Scope {
    pub fn is_empty(&self) -> bool {
        self.switches.is_empty()
    }

    /// Returns the scope of a finding about one port.
    pub fn of_port(port: &Port) -> Scope {
        Scope::of_ports(&[port])
    }

    /// Returns the scope of a finding about these ports: their rows, and their maps of PFC priorities.
    pub fn of_ports(ports: &[&Port]) -> Scope {
        let entries = ports.iter().flat_map(|port| {
            let enabled = (0..8u8).filter(|priority| port.enabled >> priority & 1 == 1);
            let tables = ["pfc_to_queue_map", "pfc_to_pg_map"].map(table_of);
            enabled.flat_map(move |priority| tables.map(|table| (port.node, table, priority)))
        });
        Scope {
            switches: ports.iter().map(|port| port.node).collect(),
            ports: ports.iter().map(|port| (port.node, port.index)).collect(),
            entries: entries.collect(),
        }
    }
}

/// All findings, in order of discovery.
#[derive(Default)]
pub(super) struct Findings(pub Vec<Conflict>);

impl Findings {
    pub fn add(&mut self, finding: Finding) {
        self.0.push(Conflict { finding, elsewhere: String::new(), scope: Scope::default() });
    }

    /// Adds a finding whose cause may be one of these settings.
    pub fn conflict(&mut self, finding: Finding, elsewhere: String, scope: Scope) {
        self.0.push(Conflict { finding, elsewhere, scope });
    }

    /// Returns the first finding per file, key and kind, with the number of further findings.
    pub fn finish(self, causes: &Causes) -> Vec<Finding> {
        let mut first: BTreeMap<(String, String, FindingKind), (Finding, u64)> = BTreeMap::new();
        for (Conflict { mut finding, elsewhere, scope }, cause) in self.0.into_iter().zip(&causes.of_findings) {
            let of_port = |part: &&Part| part.port.is_some_and(|port| scope.ports.contains(&port));
            let part = |change: &'_ Change| change.parts.iter().find(of_port).or(change.parts.first()).cloned();
            if let Some((change, part)) = cause.as_ref().and_then(|change| Some((change, part(change)?))) {
                let why = if change.file == finding.file { finding.why } else { elsewhere };
                finding.why = format!("{why}; {}", part.like);
                finding.file.clone_from(&change.file);
                (finding.key, finding.instead) = (part.key, part.instead);
            } else if let Some(trials) = causes.limit.filter(|_| !scope.is_empty()) {
                finding.why += &format!("; the search for its cause ended after {}", counted(trials, "trial"));
            }
            let at = (finding.file.clone(), finding.key.clone(), finding.kind);
            first.entry(at).and_modify(|(_, more)| *more += 1).or_insert((finding, 0));
        }
        // A misspelt key is the cause of findings about the key that was meant.
        let (mut findings, more): (Vec<Finding>, Vec<u64>) = first.into_values().unzip();
        refer_to_unknown_keys(&mut findings);
        let findings = findings.into_iter().zip(more).map(|(finding, more)| finding.with_more(more));
        let mut findings: Vec<Finding> = findings.collect();
        findings.sort_by_key(|finding| finding.kind != FindingKind::UnknownKey);
        findings
    }
}

/// Adds to findings about a table or field the unknown key of the file that is nearly it.
fn refer_to_unknown_keys(findings: &mut [Finding]) {
    let meant = |unknown: &Finding| {
        let near = unknown.meant()?;
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
    Finding::new(kind, config.file.clone(), key, why, instead)
}
