//! Judges the merged configurations of an export with `--platform` by the rules of `tidegate fabric check --running`.
//! An export is refused if they have findings that the configurations before the merge do not have.

use super::{ExportArgs, Job};
use crate::commands::fabric::running::{finding_line, needed};
use crate::failure::Failure;
use crate::interfaces::wrong;
use crate::output;
use fabric::{End, Fabric, FabricBuilder, NodeId, NodeKind};
use running::{Conditions, Fault, Finding, Options, PathSet, QueueBinding, Report};
use serde_json::{Value, json};
use tagger::export::sonic::Config;
use text::numbers::{counted, counted_as};

/// Maximum number of findings that a list contains.
const MOST_SHOWN: usize = 20;

/// Comparison of the configurations before and after the merge with the fragments.
#[derive(Debug, Default)]
pub struct Judgement {
    /// Findings and faults that only the merged configurations have.
    created: Vec<String>,
    /// Findings that the configurations have before and after the merge.
    remaining: Vec<String>,
    /// Notes for the operator about the judgement.
    statements: Vec<String>,
    /// Whether the configurations could not be judged.
    is_unjudged: bool,
}

impl Judgement {
    fn unjudged(why: &str) -> Judgement {
        let text = format!("The merged configurations are not judged as tidegate fabric check --running does: {why}");
        Judgement { statements: vec![text], is_unjudged: true, ..Judgement::default() }
    }

    /// Returns whether the export is refused. If so, prints the findings, or one JSON object.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn refuses(&self, args: &ExportArgs) -> Result<bool, Failure> {
        if self.created.is_empty() || args.accept_findings {
            return Ok(false);
        }
        let rules = args.on.rules.display();
        let findings = counted(self.created.len() as u64, "finding");
        output::note(&format!("{rules}: the merge creates {findings}, so nothing is written:"));
        listed(&self.created).iter().for_each(|finding| output::note(finding));
        self.statements.iter().for_each(|statement| output::note(statement));
        output::note("--accept-findings writes the files, and these findings into NOTES.txt");
        if args.json {
            let object = json!({ "switches": {}, "notes": self.statements, "misfits": [], "findings": self.json() });
            output::print(&format!("{object:#}\n"))?;
        }
        Ok(true)
    }

    /// Returns the numbers of findings for the screen; empty if there are none.
    pub fn counts(&self) -> Vec<String> {
        let mut counts = Vec::new();
        if self.is_unjudged {
            counts.push("the merged configurations are not judged".to_owned());
        }
        for (findings, which) in [(&self.created, "that the merge creates"), (&self.remaining, "from before the merge")]
        {
            if !findings.is_empty() {
                counts.push(format!("{} {which}", counted(findings.len() as u64, "finding")));
            }
        }
        counts
    }

    /// Returns the findings as a part of the export's JSON object.
    pub fn json(&self) -> Value {
        json!({ "created": self.created, "remaining": self.remaining })
    }

    /// Returns the notes for the operator, with the findings.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.statements.clone();
        let created = listed(&self.created).into_iter();
        notes.extend(created.map(|finding| format!("Finding that the merge creates: {finding}")));
        let remaining = listed(&self.remaining).into_iter();
        notes.extend(remaining.map(|finding| format!("Finding that existed before the merge, and remains: {finding}")));
        notes
    }
}

/// Returns the first [`MOST_SHOWN`] texts, and the number of the others.
fn listed(texts: &[String]) -> Vec<String> {
    let mut shown: Vec<String> = texts.iter().take(MOST_SHOWN).cloned().collect();
    if texts.len() > MOST_SHOWN {
        shown.push(format!("{} more", texts.len() - MOST_SHOWN));
    }
    shown
}

/// Judges the configurations of all switches, with and without the fragments of all of them. Files without a table that
/// the checks need have findings. `None` without `--platform`, or if a switch of the export does not fit.
///
/// # Errors
/// The errors of an export.
pub fn judge(job: &Job<'_>) -> Result<Option<Judgement>, Failure> {
    if !job.platforms.has_configurations() {
        return Ok(None);
    }
    let mut judgement = with_and_without(job)?;
    if let Some(judgement) = &mut judgement {
        judgement.created.extend(job.platforms.unchecked(job.switches.iter().map(|&node| job.fabric.name(node))));
    }
    Ok(judgement)
}

fn with_and_without(job: &Job<'_>) -> Result<Option<Judgement>, Failure> {
    let switches: Vec<NodeId> = job.fabric.switches().collect();
    let files: Vec<_> = switches.iter().filter_map(|&node| job.platforms.file(job.fabric.name(node))).collect();
    if files.len() < switches.len() {
        let all = counted_as(switches.len() as u64, "switch", "switches");
        let why = format!("--platform has the configuration of {} of {all}; a folder has one for each", files.len());
        return Ok(Some(Judgement::unjudged(&why)));
    }
    let all_are_written = job.args.switches.is_empty();
    let made = match job.render(&switches, None, true) {
        Ok(made) => made,
        // The fault may be of a switch that is not exported, so the export is not refused because of it.
        Err(failure) if !all_are_written => return Ok(Some(Judgement::unjudged(&failure.to_string()))),
        Err(failure) => return Err(failure),
    };
    if let Some(misfit) = made.misfits.first() {
        return Ok((!all_are_written).then(|| Judgement::unjudged(&misfit.to_string())));
    }
    let fabric = with_interfaces(job)?;
    let several = switches.len() > 1 && job.platforms.is_one_file();
    let named = |(&node, (file, config)): (&NodeId, &(String, Config)), of: Option<&Config>| {
        let name = job.fabric.name(node);
        let file = if several { format!("{file} ({name})") } else { file.clone() };
        let mut config = of.unwrap_or(config).clone();
        if several {
            // The neighbours of one switch are not those of all: the topology is that of the fabric.
            config.remove("DEVICE_NEIGHBOR");
        }
        let metadata = config.entry("DEVICE_METADATA").or_insert_with(|| json!({}));
        if metadata["localhost"]["hostname"].is_null() {
            metadata["localhost"]["hostname"] = name.into();
        }
        (file, Value::from(config).to_string())
    };
    let before: Vec<_> = switches.iter().zip(&files).map(|one| named(one, None)).collect();
    let of = |node: NodeId| made.merged.get(job.fabric.name(node));
    let after: Vec<_> = switches.iter().zip(&files).map(|one| named(one, of(*one.0))).collect();
    Ok(Some(compared(&report(job, &fabric, &before), &report(job, &fabric, &after), switches.len() as u64)))
}

/// Returns the fabric with the interface names of the configurations as port names.
fn with_interfaces(job: &Job<'_>) -> Result<Fabric, Failure> {
    let fabric = job.fabric;
    let mut builder = FabricBuilder::new(fabric.kind());
    for node in fabric.nodes() {
        builder.add(node.clone());
    }
    for link in fabric.links() {
        let name = |end: End| match fabric.node(end.node).kind {
            NodeKind::Switch => job.names.name(fabric, end.node, end.port).map_err(wrong),
            NodeKind::Host => Ok(fabric.port_name(end.node, end.port).unwrap_or_default().to_owned()),
        };
        let (a, b) = (name(link.a)?, name(link.b)?);
        let id = builder.connect(link.a.node, link.b.node, link.spec());
        builder.name_ports(id, &a, &b);
    }
    builder.build().map_err(|error| Failure::Input { message: error.to_string(), help: None })
}

fn report(job: &Job<'_>, fabric: &Fabric, files: &[(String, String)]) -> Result<Report, Vec<Fault>> {
    let reaction = job.args.headroom.reaction();
    let headroom = |conditions: &Conditions| needed(conditions, reaction);
    let binding = match job.settings.binding {
        tagger::export::QueueBinding::Egress => QueueBinding::Egress,
        tagger::export::QueueBinding::Ingress => QueueBinding::Ingress,
    };
    let asic = job.platforms.given("").asic;
    let options = Options { binding, paths: PathSet::Shortest, headroom: &headroom, asic, accepted_strict: 0 };
    running::judge(fabric, &running::read(files)?, &options)
}

fn compared(before: &Result<Report, Vec<Fault>>, after: &Result<Report, Vec<Fault>>, switches: u64) -> Judgement {
    let first = |faults: &[Fault]| match faults {
        [] => String::new(),
        [one] => one.to_string(),
        [one, more @ ..] => format!("{one} (and {} more)", more.len()),
    };
    match (before, after) {
        (Ok(_), Err(faults)) => Judgement {
            created: faults.iter().map(Fault::to_string).collect(),
            statements: vec![
                "Before the merge these configurations can be judged, and with it they cannot.".to_owned(),
            ],
            ..Judgement::default()
        },
        (Err(_), Err(faults)) => Judgement::unjudged(&first(faults)),
        (Err(faults), Ok(after)) => {
            let text = "Before the merge the configurations cannot be judged, so that every finding counts as created";
            Judgement {
                created: after.findings.iter().map(finding_line).collect(),
                statements: vec![judged(switches), format!("{text}: {}", first(faults))],
                ..Judgement::default()
            }
        }
        (Ok(before), Ok(after)) => {
            let (remaining, created): (Vec<&Finding>, Vec<&Finding>) =
                after.findings.iter().partition(|finding| is_known(finding, &before.findings));
            let gone = before.findings.iter().filter(|finding| !is_known(finding, &after.findings)).count() as u64;
            let mut statements = vec![judged(switches)];
            if gone > 0 {
                statements.push(format!("The merge removes {} of that check.", counted(gone, "finding")));
            }
            let lines = |findings: Vec<&Finding>| findings.into_iter().map(finding_line).collect();
            Judgement { created: lines(created), remaining: lines(remaining), statements, is_unjudged: false }
        }
    }
}

fn judged(switches: u64) -> String {
    format!(
        "The merged configurations of {} are judged as tidegate fabric check --running does, on all shortest paths \
         without failures.",
        counted_as(switches, "switch", "switches")
    )
}

/// Returns whether `findings` contains `finding`. The merge replaces a range such as `Ethernet0|3-4` by one entry per
/// number, so a finding about a number matches one about its range.
fn is_known(finding: &Finding, findings: &[Finding]) -> bool {
    let is_same = |other: &Finding| match (ranged(&other.key), ranged(&finding.key)) {
        (Some(other), Some(one)) => {
            let ports = one.1.split(',').any(|port| other.1.split(',').any(|other| other == port));
            other.0 == one.0 && ports && other.2 <= one.3 && one.2 <= other.3
        }
        _ => other.key == finding.key,
    };
    findings.iter().any(|other| (other.kind, &other.file) == (finding.kind, &finding.file) && is_same(other))
}

/// Splits a key like `BUFFER_PG|Ethernet0|3-4.profile` into table, ports, and the first and last number of the range.
fn ranged(key: &str) -> Option<(&str, &str, u8, u8)> {
    let (table, rest) = key.split_once('|')?;
    let (ports, rest) = rest.split_once('|')?;
    let range = rest.split('.').next()?;
    let (low, high) = range.split_once('-').unwrap_or((range, range));
    Some((table, ports, low.parse().ok()?, high.parse().ok()?))
}
