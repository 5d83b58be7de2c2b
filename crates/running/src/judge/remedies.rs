//! Search for the setting that causes findings: a map entry, a reference to a map, a `pfc_enable`, or a row of buffers,
//! whose value differs from that of switches of the same role.
//!
//! Each candidate value is tried: the changed configuration is judged. If the check then has fewer findings and no new
//! one, the setting is the cause of the findings that disappeared. Only such values are given as advice. Candidates
//! that most findings share come first, so that one wrong map of a switch needs one trial.

use super::candidates::candidates;
use super::change::{Causes, Change, Part, Setting};
use super::collect;
use super::findings::{Conflict, Scope};
use crate::device::Device;
use crate::error::{Finding, FindingKind};
use crate::options::Options;
use crate::read::SwitchConfig;
use fabric::{Fabric, NodeId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Limits of the number of trials: the total, and the product of trials and waits of the fabric, which is proportional
/// to the run time.
const MOST_TRIALS: u64 = 64;
const MOST_TRIED_WAITS: u64 = 300_000;
const LEAST_TRIALS: u64 = 4;

/// Kind, file and key of a finding.
type FindingKey = (FindingKind, String, String);

fn key_of(finding: &Finding) -> FindingKey {
    (finding.kind, finding.file.clone(), finding.key.clone())
}

/// Returns whether a setting of a switch is among those that may cause a finding.
fn concerns(part: &Part, node: NodeId, scope: &Scope) -> bool {
    match (&part.setting, part.port) {
        (_, Some(port)) => scope.ports.contains(&port),
        (Setting::Entry { table, at, .. }, None) => scope.entries.contains(&(node, table, *at)),
        (_, None) => scope.switches.contains(&node),
    }
}

/// Returns the number of findings that each change concerns.
fn shares(fabric: &Fabric, configs: &[SwitchConfig], changes: &[Change], current: &[Conflict]) -> Vec<u64> {
    let mut counts: BTreeMap<&Scope, u64> = BTreeMap::new();
    for conflict in current.iter().filter(|conflict| !conflict.scope.is_empty()) {
        *counts.entry(&conflict.scope).or_default() += 1;
    }
    let node = |file: &str| {
        let config = configs.iter().find(|config| config.file == file)?;
        fabric.find(&config.name)
    };
    let share = |change: &Change| {
        let Some(node) = node(&change.file) else { return 0 };
        let is_shared = |scope: &Scope| change.parts.iter().any(|part| concerns(part, node, scope));
        counts.iter().filter(|(scope, _)| is_shared(scope)).map(|(_, count)| count).sum()
    };
    changes.iter().map(share).collect()
}

/// Returns the trial limit for a fabric with this number of waits.
pub(super) fn most_trials(waits: u64) -> u64 {
    (MOST_TRIED_WAITS / waits.max(1)).clamp(LEAST_TRIALS, MOST_TRIALS)
}

/// Searches for the cause of each finding, with at most `limit` trials.
pub(super) fn search(
    fabric: &Fabric,
    configs: &[SwitchConfig],
    options: &Options<'_>,
    first: &[Conflict],
    limit: u64,
) -> Causes {
    let mut causes: Vec<Option<Change>> = vec![None; first.len()];
    let mut configs = configs.to_vec();
    let mut current: Vec<Conflict> = first.to_vec();
    let (mut trials, mut untried) = (0, false);
    while current.iter().any(|conflict| !conflict.scope.is_empty()) {
        let Ok(device) = Device::new(fabric, &configs, options.binding) else { break };
        let switches = current.iter().flat_map(|conflict| &conflict.scope.switches).chain(device.detours.keys());
        let names: BTreeSet<&str> = switches.map(|node| fabric.name(*node)).collect();
        let files = configs.iter().filter(|config| names.contains(config.name.as_str()));
        let tried = candidates(&device, &configs, &files.map(|config| config.file.clone()).collect());
        let shares = shares(fabric, &configs, &tried, &current);
        let mut tried: Vec<(u64, Change)> = shares.into_iter().zip(tried).collect();
        // Of equal shares those with the largest majority first; the sort is stable.
        tried.sort_by_key(|(share, change)| (Reverse(*share), Reverse(change.margin)));
        let before: BTreeSet<FindingKey> = current.iter().map(|conflict| key_of(&conflict.finding)).collect();
        let mut best: Option<(Change, Vec<SwitchConfig>, Vec<Conflict>)> = None;
        for (_, change) in tried {
            if trials == limit {
                untried = true;
                break;
            }
            trials += 1;
            let changed = change.applied(&configs);
            let Ok(judged) = collect(fabric, &changed, options) else { continue };
            let after = judged.findings.0;
            let fewest = best.as_ref().map_or(current.len(), |(.., best)| best.len());
            if after.len() < fewest && after.iter().all(|conflict| before.contains(&key_of(&conflict.finding))) {
                let done = after.iter().all(|conflict| conflict.scope.is_empty());
                best = Some((change, changed, after));
                if done {
                    break;
                }
            }
        }
        let Some((change, changed, after)) = best else { break };
        let left: BTreeSet<&Finding> = after.iter().map(|conflict| &conflict.finding).collect();
        for (conflict, cause) in first.iter().zip(&mut causes) {
            if cause.is_none() && !conflict.scope.is_empty() && !left.contains(&conflict.finding) {
                *cause = Some(change.clone());
            }
        }
        (configs, current) = (changed, after);
    }
    let is_open = |(conflict, cause): (&Conflict, &Option<Change>)| cause.is_none() && !conflict.scope.is_empty();
    let open = first.iter().zip(&causes).any(is_open);
    Causes { of_findings: causes, limit: Some(limit).filter(|_| untried && open) }
}

#[cfg(test)]
#[path = "remedies_tests.rs"]
mod tests;
