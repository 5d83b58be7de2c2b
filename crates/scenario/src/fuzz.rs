//! Entry point for fuzzing: any text, in bounded time and memory.

use crate::fabric_part::FabricPlan;
use crate::parts::Parts;
use crate::scenario::Scenario;
use crate::traffic_part::{PatternPlan, ServersPlan, TrafficKind};
use std::io;
use std::path::Path;

/// Limits: larger fabrics and traffic are read but not built, because fuzzing searches for errors, not for slow inputs.
const MAX_NODES: u64 = 300;
const MAX_FLOWS: u64 = 10_000;

/// Reads a scenario and, if it is small, lowers it; no files are loaded. It must return for every text. `over`
/// overrides a key, as `--set` does.
pub fn read_any(text: &str, over: Option<(&str, &str)>) {
    let overrides: Vec<(String, String)> = over.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
    let no_files = |_: &Path| Err(io::Error::new(io::ErrorKind::NotFound, "no files here"));
    let read = Scenario::parse_with(text, "fuzz.toml", Path::new(""), &overrides, None, Box::new(no_files));
    let errors = match read {
        Err(errors) => errors,
        Ok(scenario) if !small(&scenario.parts) => return,
        Ok(scenario) => match scenario.lower() {
            Err(errors) => errors,
            Ok(lowered) => {
                assert!(lowered.setup.fabric.check().is_ok(), "a network");
                assert_eq!(lowered.traffic_names.len(), lowered.traffic_text.len());
                return;
            }
        },
    };
    assert!(!errors.errors.is_empty(), "a refusal says why");
    for error in &errors.errors {
        assert!(!error.message.is_empty() && error.span.end <= text.len(), "{error}");
    }
}

fn product(counts: &[u32]) -> u64 {
    counts.iter().fold(1, |product, &count| product.saturating_mul(count.into()))
}

fn small(parts: &Parts) -> bool {
    let nodes = match &parts.fabric {
        FabricPlan::FatTree { k, hosts_per_edge, .. } => product(&[*k, *k, hosts_per_edge.unwrap_or(*k)]),
        FabricPlan::F10 { k, .. } => product(&[*k, *k, *k]),
        FabricPlan::LeafSpine { leaves, spines, hosts_per_leaf, links_per_pair, .. } => {
            product(&[*leaves, *hosts_per_leaf]).max(product(&[*leaves, *spines, *links_per_pair]))
        }
        FabricPlan::Clos { pods, tors, leaves, spines, hosts, .. } => {
            product(&[*pods, *tors, *hosts, *leaves]).max(product(&[*pods, *leaves, *spines]))
        }
        FabricPlan::Dumbbell { left, right, .. } => u64::from(*left) + u64::from(*right),
        FabricPlan::Tree { arity, hosts_per_leaf, root_hosts, .. } => {
            product(arity).saturating_mul(u64::from(*hosts_per_leaf) + 1).saturating_add(u64::from(*root_hosts))
        }
        FabricPlan::Star { arms, hosts_per_arm, hub_hosts, .. } => {
            product(&[*arms, *hosts_per_arm]).max(u64::from(*arms)).max(u64::from(*hub_hosts))
        }
        FabricPlan::Jellyfish { switches, degree, hosts, .. } => product(&[*switches, (*degree).max(*hosts)]),
        FabricPlan::BCube { n, levels, .. } => u64::from(*n).saturating_pow(levels.saturating_add(1)),
        FabricPlan::SingleSwitch { hosts, .. } => u64::from(*hosts),
        FabricPlan::Row { switches, hosts, .. } => product(&[*switches, *hosts]),
        FabricPlan::File { .. } => 0,
    };
    let flows = parts.traffic.iter().map(|entry| match &entry.what {
        TrafficKind::Pairs { pattern: PatternPlan::Random { pairs }, .. } => u64::from(*pairs),
        TrafficKind::RequestReply { requests, servers, connections, .. } => {
            let servers = match servers {
                ServersPlan::List(list) => list.len() as u64,
                ServersPlan::Random(count) => u64::from(*count),
            };
            let connections = servers.saturating_mul(u64::from(*connections));
            u64::from(*requests).saturating_mul(connections).saturating_mul(connections)
        }
        _ => 0,
    });
    nodes <= MAX_NODES && flows.fold(0, u64::saturating_add) <= MAX_FLOWS
}
