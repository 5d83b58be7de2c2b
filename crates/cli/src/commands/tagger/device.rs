//! `tidegate tagger verify --running`: do the switches, as they are configured, carry out the rules?
//!
//! The theorem is about switches that count a frame by its arriving tag and queue it by its new one. Here that is not
//! assumed but looked up in the configuration, for every tag and pair of ports.

use super::marks::parse_tag;
use crate::commands::fabric::running::{failure, read_configs};
use crate::failure::Failure;
use fabric::{Fabric, NodeId, PortIndex};
use running::{Binding, Hop, QueueBinding};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tagger::export::Mark;
use verify::{Check, EgressQueue, RuleFile};

/// Priorities and DSCPs that exports give tags in order, unless they are told others.
const USUAL_PRIORITIES: [u8; 6] = [3, 4, 5, 6, 2, 1];

/// The configuration to hold the rules against.
#[derive(Clone, Debug, clap::Args)]
pub struct DeviceArgs {
    /// Prove it for switches that run this configuration: a folder of `config_db.json` files, one a switch. Account,
    /// queue and scheduler of each tag are taken from there.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["egress", "scheduler"])]
    pub running: Option<PathBuf>,
    /// With --running: how a tag is carried, its DSCP and PFC priority. Without any, tags take the priorities 3, 4, 5,
    /// 6, 2, 1 and the DSCPs 26, 34 ..., as `tagger export` has it.
    #[arg(long = "tag", requires = "running", value_name = "TAG=DSCP:PRIORITY", value_parser = parse_tag)]
    tags: Vec<Mark>,
}

/// What the configuration makes of rules.
pub struct DeviceVerdict {
    /// Checks, each with what refutes it.
    pub checks: Vec<(Check, Option<String>)>,
    /// Where frames wait whose tag changes.
    pub egress: EgressQueue,
    /// Tags, pairs of ports and switches that were looked up.
    pub hops: u64,
}

impl DeviceArgs {
    /// DSCP and priority by tag.
    fn carried(&self, tags: &[u16]) -> Result<BTreeMap<u16, (u8, u8)>, Failure> {
        let mut carried = BTreeMap::new();
        for (at, &tag) in tags.iter().enumerate() {
            let stated =
                self.tags.iter().find(|mark| u16::from(mark.tag) == tag).map(|mark| (mark.dscp, mark.priority));
            let usual = USUAL_PRIORITIES.get(at).map(|&priority| (8 * priority + 2, priority));
            let usual = usual.filter(|_| self.tags.is_empty());
            let Some(mark) = stated.or(usual) else {
                let message = format!("--tag: nothing says how tag {tag} is carried");
                return Err(Failure::input(message, format!("--tag {tag}=26:3 for each lossless tag")));
            };
            carried.insert(tag, mark);
        }
        Ok(carried)
    }

    /// Holds the rules against the configuration, if there is one.
    ///
    /// # Errors
    /// Configuration that cannot be judged, tags without a priority.
    pub fn verdict(&self, fabric: &Fabric, rules: &RuleFile) -> Result<Option<DeviceVerdict>, Failure> {
        let Some(folder) = &self.running else { return Ok(None) };
        let configs = read_configs(folder)?;
        let binding =
            Binding::new(fabric, &configs, QueueBinding::Egress).map_err(|faults| failure(folder, &faults))?;
        let mut tags = rules.lossless_tags.clone();
        tags.sort_unstable();
        let carried = self.carried(&tags)?;
        let told = Told { fabric, binding: &binding, carried: &carried, table: table(fabric, rules) };
        Ok(Some(told.judge(&tags)))
    }
}

/// New tag by (switch, tag, ingress, egress).
type Table = BTreeMap<(NodeId, u16, PortIndex, PortIndex), u16>;

fn table(fabric: &Fabric, rules: &RuleFile) -> Table {
    let mut table = Table::new();
    for switch in &rules.switches {
        let Some(node) = fabric.find(&switch.name) else { continue };
        for rule in &switch.rules {
            for &ingress in &rule.ingress {
                for &egress in rule.egress.iter().filter(|_| rule.new_tag != rules.lossy_tag) {
                    table.insert((node, rule.tag, ingress, egress), rule.new_tag);
                }
            }
        }
    }
    table
}

struct Told<'a> {
    fabric: &'a Fabric,
    binding: &'a Binding<'a>,
    carried: &'a BTreeMap<u16, (u8, u8)>,
    table: Table,
}

impl Told<'_> {
    fn judge(&self, tags: &[u16]) -> DeviceVerdict {
        let (mut differs, mut starved, mut hops) = (None, None, 0);
        let mut egress_queue = EgressQueue::NewTag;
        for node in self.fabric.switches() {
            let ports = self.fabric.ports(node).len() as PortIndex;
            for &tag in tags {
                for (ingress, egress) in (0..ports).flat_map(|ingress| (0..ports).map(move |egress| (ingress, egress)))
                {
                    let Some(hop) = self.binding.hop(node, ingress, egress, self.carried[&tag].0) else { continue };
                    hops += 1;
                    let new = self.table.get(&(node, tag, ingress, egress)).copied();
                    if let Some(why) = self.difference(tag, new, &hop) {
                        // Frames that wait where the PAUSE of their own arriving tag stops them, and of no other.
                        let own = 1 << self.carried[&tag].1;
                        let arriving =
                            hop.lossless && new != Some(tag) && hop.next.is_some_and(|next| next.stopped_by == own);
                        if arriving {
                            egress_queue = EgressQueue::ArrivingTag;
                        }
                        differs.get_or_insert_with(|| format!("{}: {why}", self.place(node, tag, ingress, egress)));
                    }
                    if let (true, Some(above)) = (hop.lossless, hop.outranked_by) {
                        starved.get_or_insert_with(|| {
                            let place = self.place(node, tag, ingress, egress);
                            format!(
                                "{place}: it waits in queue {}, which queue {above} of strict priority can keep \
                                 waiting for ever, and with it priority group {} of that ingress port",
                                hop.queue, hop.account
                            )
                        });
                    }
                }
            }
        }
        let carries = Check {
            name: "switches-carry-out-rules",
            pass: differs.is_none(),
            meaning: "every frame counts in the account of its arriving tag and waits in the queue of its new one",
        };
        let drains = Check {
            name: "lossless-accounts-drain",
            pass: starved.is_none(),
            meaning: "every queue in which frames of a lossless account wait has a share of its link",
        };
        DeviceVerdict { checks: vec![(carries, differs), (drains, starved)], egress: egress_queue, hops }
    }

    fn place(&self, node: NodeId, tag: u16, ingress: PortIndex, egress: PortIndex) -> String {
        let port = |port| crate::names::port_shown(self.fabric, node, port);
        let (dscp, name) = (self.carried[&tag].0, self.fabric.name(node));
        format!("{name}: tag {tag} (DSCP {dscp}) from {} to {}", port(ingress), port(egress))
    }

    /// What the switch does that the rule does not say.
    fn difference(&self, tag: u16, new: Option<u16>, hop: &Hop) -> Option<String> {
        let group = self.carried[&tag].1;
        if !hop.lossless && new.is_some() {
            return Some(format!("it counts in group {}, which drops, and a rule keeps it lossless", hop.account));
        }
        if hop.lossless && hop.account != group {
            return Some(format!("it counts in group {}, and its priority is {group}", hop.account));
        }
        let Some(next) = hop.next else {
            let lossy = new.is_some() && !hop.lossless_queue;
            return lossy
                .then(|| format!("it waits in queue {}, which drops, and a rule keeps it lossless", hop.queue));
        };
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
