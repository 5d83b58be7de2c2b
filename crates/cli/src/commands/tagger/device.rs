//! `tidegate tagger verify --running`: checks that switches with the given configuration execute the rules.
//!
//! Tagger's theorem assumes that a switch counts a frame in the ingress priority group of its arriving tag, and queues
//! it at egress by its rewritten tag. This module checks the assumption against the configuration, for every tag and
//! pair of ports of each switch.

use super::marks::{Trusted, parse_tag};
use crate::commands::fabric::counterexample::{self, Simulated};
use crate::commands::fabric::running::{
    AcceptedQueues, LOAD_SEED, QueueMap, check_other_folder, failure, read_configs,
};
use crate::failure::Failure;
use crate::output_folder::{OutputFolder, begin};
use fabric::files::NamePattern;
use fabric::{Fabric, NodeId, PortIndex};
use record::files::NewFiles;
use running::reproduce::counterexamples;
use running::{Binding, Hop, PathSet};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use tagger::export::{Lossy, Mark, Marks, USUAL_CLASSES};
use tagger::rules::Tag;
use text::numbers::counted;
use verify::{Check, EgressQueue, RuleFile};

/// Configuration to check against the rules.
#[derive(Clone, Debug, clap::Args)]
pub struct DeviceArgs {
    /// Prove the rules for switches with this configuration: a folder of `config_db.json` files, one per switch. It
    /// determines account, queue and scheduler of each tag.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["egress", "scheduler"])]
    pub running: Option<PathBuf>,
    /// With --running: DSCP and PFC priority of a tag. Without any, tags have the priorities 3, 4, 5, 6, 2, 1 and the
    /// DSCPs 26, 34 ..., like in `tagger export`.
    #[arg(long = "tag", requires = "running", value_name = "TAG=DSCP:PRIORITY", value_parser = parse_tag)]
    tags: Vec<Mark>,
    /// With --running: port at which the ASIC binds TC_TO_QUEUE_MAP, the egress or the ingress port of a frame.
    #[arg(long, requires = "running", value_enum, value_name = "PORT", default_value = "egress")]
    pub queue_map: QueueMap,
    /// With --running: tags that hosts may send, like in `tagger export`: the first tags of classes, so that other
    /// marks of hosts must be lossy; or any tag of the rules.
    #[arg(long, requires = "running", value_enum, value_name = "TAGS", default_value = "first")]
    trust_hosts: Trusted,
    #[command(flatten)]
    accepted: AcceptedQueues,
    /// With --running: write scenarios of a cycle and of a starved queue of the configuration into this folder, and
    /// simulate them, as `tidegate fabric check --running` does with `--forwarding any`.
    #[arg(long, requires = "running", value_name = "DIR")]
    pub counterexample: Option<PathBuf>,
    /// Overwrite files of the folder of --counterexample that tidegate did not write.
    #[arg(long, requires = "counterexample")]
    force: bool,
}

/// Verdict on whether the configured switches execute the rules.
pub struct DeviceVerdict {
    /// Checks, each with its counterexample if it failed.
    pub checks: Vec<(Check, Option<String>)>,
    /// Egress queue that the switches use for frames whose tag changes.
    pub egress: EgressQueue,
    /// Number of checked combinations of switch, pair of ports, and tag (or other DSCP that a lossless account counts).
    pub hops: u64,
    /// Assumptions under which the checks hold.
    pub assumptions: Vec<String>,
}

impl DeviceArgs {
    /// Returns the DSCP and priority of each tag.
    ///
    /// # Errors
    /// If an export would reject the marks, or a mark has a tag at hosts, which is not checked here.
    fn carried(&self, tags: &[u16]) -> Result<BTreeMap<u16, (u8, u8)>, Failure> {
        if let Some(Mark { tag, dscp, priority, .. }) = self.tags.iter().find(|mark| mark.at_host.is_some()) {
            let message = format!("--tag {tag}: the tag that hosts see is not judged");
            return Err(Failure::input(message, format!("write --tag {tag}={dscp}:{priority}")));
        }
        let wrong = |error: &dyn std::fmt::Display| {
            let help = "state each lossless tag once with --tag TAG=DSCP:PRIORITY, as in --tag 1=26:3";
            Failure::input(format!("--tag: {error}"), help)
        };
        let tags: Vec<Tag> = tags
            .iter()
            .map(|&tag| Tag::try_from(tag).map_err(|_| wrong(&format!("tag {tag} is above 255"))))
            .collect::<Result<_, _>>()?;
        let marks = match self.tags.as_slice() {
            [] => Marks::usual(&tags),
            given => {
                // The lossy class gets an unused DSCP and queue, because neither is checked here.
                let free = |taken: fn(&Mark) -> u8| (0..64).find(|at| given.iter().all(|mark| taken(mark) != *at));
                let lossy = Lossy {
                    dscp: free(|mark| mark.dscp).unwrap_or_default(),
                    queue: free(|mark| mark.priority).unwrap_or_default(),
                };
                Marks::new(&tags, given.to_vec(), lossy, Vec::new(), USUAL_CLASSES)
            }
        };
        let marks = marks.map_err(|error| wrong(&error))?;
        Ok(marks.lossless().iter().map(|mark| (mark.tag.into(), (mark.dscp, mark.priority))).collect())
    }

    /// Checks the rules against the configuration, without the files of switches that `ignored` matches. `None` if no
    /// configuration is given.
    ///
    /// # Errors
    /// If the configuration does not match the fabric, or a tag has no priority.
    pub fn verdict(
        &self,
        fabric: &Fabric,
        rules: &RuleFile,
        ignored: &[NamePattern],
    ) -> Result<Option<DeviceVerdict>, Failure> {
        let Some(folder) = &self.running else { return Ok(None) };
        let configs = read_configs(folder, ignored)?;
        let queues = self.queue_map.binding();
        let binding = Binding::new(fabric, &configs, queues).map_err(|faults| failure(folder, &faults))?;
        let binding = binding.with_accepted_strict(self.accepted.bits());
        let accepted = binding.accepted_strict().map_err(|fault| failure(folder, &[fault]))?;
        let mut tags = rules.lossless_tags.clone();
        tags.sort_unstable();
        let carried = self.carried(&tags)?;
        let lookup = Lookup { fabric, binding: &binding, carried: &carried, table: self.table(fabric, rules) };
        let mut verdict = lookup.judge(&tags);
        verdict.assumptions.extend(accepted);
        Ok(Some(verdict))
    }

    /// Opens the folder of `--counterexample` before the proof starts, so that its errors are reported early.
    ///
    /// # Errors
    /// If the folder cannot be written, or is the folder of the configurations.
    pub fn open(&self) -> Result<Option<(OutputFolder<'_>, NewFiles<'_>)>, Failure> {
        let (Some(folder), Some(output)) = (&self.running, &self.counterexample) else { return Ok(None) };
        check_other_folder(folder, output)?;
        let location = counterexample::output_folder(output, self.force);
        begin(&location).map(|new| Some((location, new)))
    }

    /// Simulates the counterexamples of the configuration under any forwarding. Does nothing if there is no `output`
    /// folder.
    ///
    /// # Errors
    /// If the configuration does not match the fabric, or the folder cannot be written.
    pub fn counterexamples(
        &self,
        fabric: &Fabric,
        ignored: &[NamePattern],
        output: Option<(OutputFolder<'_>, NewFiles<'_>)>,
        visible: bool,
    ) -> Result<Vec<Simulated>, Failure> {
        let (Some(folder), Some((location, new))) = (&self.running, output) else { return Ok(Vec::new()) };
        let configs = read_configs(folder, ignored)?;
        let queues = self.queue_map.binding();
        let found = counterexamples(fabric, &configs, queues, PathSet::Any, LOAD_SEED);
        counterexample::simulate(fabric, found.map_err(|faults| failure(folder, &faults))?, &location, new, visible)
    }

    /// Returns the rules, without those for tags that hosts must not send.
    fn table(&self, fabric: &Fabric, rules: &RuleFile) -> Table {
        let first: Vec<u16> = rules.classes.iter().map(|class| class.first_tag).collect();
        let sent = |tag: u16, node, ingress: PortIndex| {
            let from_host =
                || fabric.ports(node).get(usize::from(ingress)).is_some_and(|port| is_host(fabric, port.peer));
            self.trust_hosts == Trusted::Any || first.contains(&tag) || !from_host()
        };
        let mut table = Table::new();
        for switch in &rules.switches {
            let Some(node) = fabric.find(&switch.name) else { continue };
            for rule in &switch.rules {
                for &ingress in rule.ingress.iter().filter(|&&ingress| sent(rule.tag, node, ingress)) {
                    for &egress in rule.egress.iter().filter(|_| rule.new_tag != rules.lossy_tag) {
                        table.insert((node, rule.tag, ingress, egress), rule.new_tag);
                    }
                }
            }
        }
        table
    }
}

/// Returns the assumptions under which the checks of the configuration hold.
fn assumptions(unnamed: &BTreeSet<(NodeId, PortIndex, u8)>) -> Vec<String> {
    let buffers = "an account pauses before its headroom is used, and its queues drop nothing: headroom, pools, \
                   thresholds and WRED are judged by tidegate fabric check --running";
    let mut list = vec![buffers.to_owned()];
    if !unnamed.is_empty() {
        let queues = counted(unnamed.len() as u64, "queue");
        list.push(format!("lossless: {queues} with a profile named neither lossless nor lossy"));
    }
    list
}

fn is_host(fabric: &Fabric, node: NodeId) -> bool {
    !fabric.node(node).forwards()
}

/// New tag, by (switch, arriving tag, ingress port, egress port).
type Table = BTreeMap<(NodeId, u16, PortIndex, PortIndex), u16>;

struct Lookup<'a> {
    fabric: &'a Fabric,
    binding: &'a Binding<'a>,
    carried: &'a BTreeMap<u16, (u8, u8)>,
    table: Table,
}

/// Frames with one DSCP between two ports of a switch.
#[derive(Clone, Copy)]
struct Frames {
    node: NodeId,
    ingress: PortIndex,
    egress: PortIndex,
    dscp: u8,
}

/// Results of the checks of all frames.
struct Found {
    differs: Option<String>,
    starved: Option<String>,
    egress: EgressQueue,
    hops: u64,
    /// Egress queues with lossless frames whose buffer profile has a name that contains neither "lossless" nor "lossy",
    /// by (switch, egress port, queue).
    unnamed: BTreeSet<(NodeId, PortIndex, u8)>,
}

impl Lookup<'_> {
    fn judge(&self, tags: &[u16]) -> DeviceVerdict {
        let mut found =
            Found { differs: None, starved: None, egress: EgressQueue::NewTag, hops: 0, unnamed: BTreeSet::new() };
        let of_tags: u64 = self.carried.values().fold(0, |bits, &(dscp, _)| bits | 1 << dscp);
        for node in self.fabric.switches() {
            let ports = self.fabric.ports(node).len() as PortIndex;
            let pairs = || (0..ports).flat_map(|ingress| (0..ports).map(move |egress| (ingress, egress)));
            for &tag in tags {
                let dscp = self.carried[&tag].0;
                for (ingress, egress) in pairs() {
                    self.compare(&[tag], Frames { node, ingress, egress, dscp }, &mut found);
                }
            }
            // A host may send any DSCP, and frames of any DSCP in a lossless account wait like frames of the account's
            // tag.
            for ingress in 0..ports {
                for dscp in (0..64u8).filter(|dscp| of_tags >> dscp & 1 == 0) {
                    let Some((account, true)) = self.binding.account(node, ingress, dscp) else { continue };
                    let of_account = |tag: &&u16| self.carried[tag].1 == account;
                    let tags: Vec<u16> = tags.iter().filter(of_account).copied().collect();
                    for egress in 0..ports {
                        self.compare(&tags, Frames { node, ingress, egress, dscp }, &mut found);
                    }
                }
            }
        }
        let carries = Check {
            name: "switches-carry-out-rules",
            pass: found.differs.is_none(),
            meaning: "every frame counts in the account of its arriving tag and waits in the queue of its new one",
        };
        let drains = Check {
            name: "lossless-accounts-drain",
            pass: found.starved.is_none(),
            meaning: "every queue in which frames of a lossless account wait has a share of its link",
        };
        DeviceVerdict {
            checks: vec![(carries, found.differs), (drains, found.starved)],
            egress: found.egress,
            hops: found.hops,
            assumptions: assumptions(&found.unnamed),
        }
    }

    /// Compares the hop of these frames with the rules for `tags`: the frames must be treated as one of the tags
    /// requires.
    fn compare(&self, tags: &[u16], frames: Frames, found: &mut Found) {
        let Frames { node, ingress, egress, dscp } = frames;
        let Some(hop) = self.binding.hop(node, ingress, egress, dscp) else { return };
        found.hops += 1;
        if hop.lossless && hop.unnamed_queue {
            found.unnamed.insert((node, egress, hop.queue));
        }
        let as_tag = |&tag: &u16| {
            let new = self.table.get(&(node, tag, ingress, egress)).copied();
            let why = self.difference(tag, new, &hop)?;
            // Whether the frames wait in a queue that is paused only by the PFC priority of their arriving tag.
            let own = 1 << self.carried[&tag].1;
            let arriving = hop.lossless && new != Some(tag) && hop.next.is_some_and(|next| next.stopped_by == own);
            Some((tag, why, arriving))
        };
        let differences: Vec<_> = tags.iter().map(as_tag).collect();
        let tag = tags.first().copied();
        if differences.iter().all(Option::is_some) {
            let (tag, why, arriving) = match differences.into_iter().flatten().next() {
                Some((tag, why, arriving)) => (Some(tag), why, arriving),
                None => (None, format!("it counts in lossless group {}, which no tag has", hop.account), false),
            };
            if arriving {
                found.egress = EgressQueue::ArrivingTag;
            }
            found.differs.get_or_insert_with(|| format!("{}: {why}", self.location(tag, frames)));
        }
        let account = hop.account;
        let why = match (hop.outranked_by, hop.scheduled) {
            _ if !hop.lossless => return,
            (Some(above), _) => format!(
                "it waits in queue {}, which queue {above} of strict priority can keep waiting for ever, and with it \
                 priority group {account} of that ingress port",
                hop.queue
            ),
            (None, false) => format!(
                "it waits in queue {}, which has no scheduler: nothing says that it drains, and with it priority group \
                 {account} of that ingress port",
                hop.queue
            ),
            (None, true) => return,
        };
        found.starved.get_or_insert_with(|| format!("{}: {why}", self.location(tag, frames)));
    }

    fn location(&self, tag: Option<u16>, Frames { node, ingress, egress, dscp }: Frames) -> String {
        let port = |port| crate::names::port_shown(self.fabric, node, port);
        let name = self.fabric.name(node);
        let frames = match tag.filter(|tag| self.carried[tag].0 == dscp) {
            Some(tag) => format!("tag {tag} (DSCP {dscp})"),
            None => format!("DSCP {dscp}, which is no tag's,"),
        };
        format!("{name}: {frames} from {} to {}", port(ingress), port(egress))
    }

    /// Returns the difference between the switch's treatment of the frames and the rule for `tag`; `None` if there is
    /// none.
    fn difference(&self, tag: u16, new: Option<u16>, hop: &Hop) -> Option<String> {
        let group = self.carried[&tag].1;
        if !hop.lossless && new.is_some() {
            return Some(format!("it counts in group {}, which drops, and a rule keeps it lossless", hop.account));
        }
        if hop.lossless && hop.account != group {
            return Some(format!("it counts in group {}, and its priority is {group}", hop.account));
        }
        if new.is_some() && !hop.lossless_queue && !hop.unnamed_queue {
            return Some(format!("it waits in queue {}, whose profile drops, and a rule keeps it lossless", hop.queue));
        }
        let next = hop.next?;
        let stops = |bits: u8| {
            let groups: Vec<String> = (0..8).filter(|at| bits >> at & 1 == 1).map(|at: u8| at.to_string()).collect();
            match groups.as_slice() {
                [] => "which no PAUSE stops".to_owned(),
                groups => format!("which the PAUSE of group {} stops", groups.join(" and ")),
            }
        };
        let queue = format!("it waits in queue {}, {}", hop.queue, stops(next.stopped_by));
        match new {
            None if next.lossless => {
                Some(format!("it is lossless in group {} of the next switch, and no rule says so", next.account))
            }
            None if hop.lossless && next.stopped_by != 0 => Some(format!("{queue}, and it turns lossy")),
            None => None,
            Some(new) => {
                let wanted = self.carried[&new].1;
                if next.account != wanted || !next.lossless {
                    let drops = if next.lossless { "" } else { ", which drops" };
                    return Some(format!(
                        "it counts in group {} of the next switch{drops}, and its new tag {new} has priority {wanted}",
                        next.account
                    ));
                }
                (next.stopped_by != 1 << wanted)
                    .then(|| format!("{queue}, and its new tag {new} has priority {wanted}"))
            }
        }
    }
}
