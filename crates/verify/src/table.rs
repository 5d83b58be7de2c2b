//! Rules resolved for a fabric: node names and port numbers are checked, and contradictory rules are refused.

use crate::error::{RuleFault, VerifyError};
use crate::graph::{Graph, Ports};
use crate::hash::fabric_hash;
use crate::rules::{Class, Rule, RuleFile, SwitchRules};
use fabric::{Fabric, NodeId};

/// A rule that lowers a tag, or that makes a lossy frame lossless.
#[derive(Debug)]
pub(crate) struct Decrease {
    pub node: NodeId,
    /// Position among the switch's rules, from 1.
    pub rule: usize,
    pub ingress: u16,
    pub egress: u16,
    pub tag: u16,
    pub new_tag: u16,
}

/// The rules of a file, resolved for a fabric.
#[derive(Debug)]
pub(crate) struct Table {
    /// Transitions between lossless tags.
    pub graph: Graph,
    /// Lossless tags, ascending; a slot is an index into this list.
    pub tags: Vec<u16>,
    pub lossy: u16,
    pub classes: Vec<Class>,
    /// Number of rules in the file.
    pub rules: u64,
    /// Number of rules that lower a tag or make a lossy frame lossless, and the first such rule.
    pub decreasing: u64,
    pub first_decrease: Option<Decrease>,
}

impl Table {
    pub fn new(fabric: &Fabric, file: &RuleFile) -> Result<Table, VerifyError> {
        fabric.check()?;
        same_fabric(fabric, file)?;
        let tags = lossless_tags(file)?;
        classes(file, &tags)?;
        let mut of_node: Vec<Option<&SwitchRules>> = vec![None; fabric.nodes().len()];
        for switch in &file.switches {
            let name = || switch.name.clone();
            let node = fabric.find(&switch.name).ok_or_else(|| VerifyError::UnknownSwitch { switch: name() })?;
            if !fabric.node(node).forwards() {
                return Err(VerifyError::HostTakesNoRules { host: name() });
            }
            if of_node[node.index()].replace(switch).is_some() {
                return Err(VerifyError::SwitchTwice { switch: name() });
            }
        }
        let ports = Ports::new(fabric);
        // Vertex numbers must be below `u32::MAX`, which stands for "no vertex".
        if ports.len().saturating_mul(tags.len()) >= u32::MAX as usize {
            return Err(VerifyError::TooLarge { ports: ports.len(), tags: tags.len() });
        }
        let mut table = Table {
            graph: Graph::new(ports, tags.len()),
            tags,
            lossy: file.lossy_tag,
            classes: file.classes.clone(),
            rules: 0,
            decreasing: 0,
            first_decrease: None,
        };
        let mut filler = TableBuilder::default();
        for node in fabric.node_ids() {
            filler.begin(fabric.ports(node).len(), table.tags.len());
            if let Some(switch) = of_node[node.index()] {
                for (index, rule) in switch.rules.iter().enumerate() {
                    table.rule(node, switch, index, rule, &mut filler)?;
                }
            }
            filler.give(&mut table.graph);
        }
        Ok(table)
    }

    /// Returns the slot of a tag: `Some(None)` for the lossy tag, `None` for an undefined tag.
    fn slot(&self, tag: u16) -> Option<Option<u16>> {
        match self.tags.binary_search(&tag) {
            Ok(slot) => Some(Some(slot as u16)),
            Err(_) => (tag == self.lossy).then_some(None),
        }
    }

    fn rule(
        &mut self,
        node: NodeId,
        switch: &SwitchRules,
        index: usize,
        rule: &Rule,
        filler: &mut TableBuilder,
    ) -> Result<(), VerifyError> {
        let fault = |fault| VerifyError::Rule { switch: switch.name.clone(), rule: index + 1, fault };
        let slot = |key, tag| self.slot(tag).ok_or_else(|| fault(RuleFault::UnknownTag { key, tag }));
        let (from, to) = (slot("tag", rule.tag)?, slot("new_tag", rule.new_tag)?);
        filler.read("in", &rule.ingress).map_err(fault)?;
        filler.read("out", &rule.egress).map_err(fault)?;
        self.rules += 1;
        let decreases = match (from, to) {
            (Some(from), Some(to)) => to < from,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if decreases {
            self.decreasing += 1;
            let (ingress, egress) = (rule.ingress[0], rule.egress[0]);
            self.first_decrease.get_or_insert(Decrease {
                node,
                rule: index + 1,
                ingress,
                egress,
                tag: rule.tag,
                new_tag: rule.new_tag,
            });
        }
        // In `filler`, the slot of the lossy tag follows the slots of the lossless tags.
        let lossy = self.tags.len() as u16;
        let (from, to) = (from.unwrap_or(lossy), to.unwrap_or(lossy));
        filler.add(from, &rule.ingress, to).map_err(|clash| contradiction(switch, index, &clash))
    }
}

/// Builds the error for a rule that contradicts an earlier rule, which is searched here.
#[cold]
fn contradiction(switch: &SwitchRules, index: usize, clash: &RuleConflict) -> VerifyError {
    let (rule, RuleConflict { ingress, egress }) = (&switch.rules[index], clash);
    let differs = |other: &Rule| {
        let matches = other.tag == rule.tag && other.ingress.contains(ingress) && other.egress.contains(egress);
        matches && other.new_tag != rule.new_tag
    };
    let first = switch.rules.iter().position(differs).unwrap_or(0);
    VerifyError::Contradiction {
        switch: switch.name.clone(),
        first: first + 1,
        second: index + 1,
        tag: rule.tag,
        ingress: *ingress,
        egress: *egress,
        first_gives: switch.rules[first].new_tag,
        second_gives: rule.new_tag,
    }
}

fn same_fabric(fabric: &Fabric, file: &RuleFile) -> Result<(), VerifyError> {
    if file.format != crate::rules::FORMAT {
        let expected = "\"tidegate-tagger-rules\"";
        return Err(VerifyError::Format { key: "format", found: format!("{:?}", file.format), expected });
    }
    let counts = [
        ("switches", file.fabric.switches, fabric.switches().count()),
        ("hosts", file.fabric.hosts, fabric.hosts().len()),
        ("links", file.fabric.links, fabric.links().len()),
    ];
    for (what, theirs, ours) in counts {
        if let Some(theirs) = theirs.filter(|&theirs| theirs != ours as u64) {
            return Err(VerifyError::OtherFabric { what, theirs: theirs.to_string(), ours: ours.to_string() });
        }
    }
    let ours = fabric_hash(fabric);
    if !file.fabric.hash.eq_ignore_ascii_case(&ours) {
        return Err(VerifyError::OtherFabric { what: "hash", theirs: file.fabric.hash.clone(), ours });
    }
    Ok(())
}

fn lossless_tags(file: &RuleFile) -> Result<Vec<u16>, VerifyError> {
    let mut tags = file.lossless_tags.clone();
    tags.sort_unstable();
    if let Some(twice) = tags.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(VerifyError::TagTwice { tag: twice[0] });
    }
    if tags.binary_search(&file.lossy_tag).is_ok() {
        return Err(VerifyError::LossyIsLossless { tag: file.lossy_tag });
    }
    if tags.is_empty() { Err(VerifyError::Empty { key: "lossless_tags" }) } else { Ok(tags) }
}

fn classes(file: &RuleFile, tags: &[u16]) -> Result<(), VerifyError> {
    if file.classes.is_empty() {
        return Err(VerifyError::Empty { key: "classes" });
    }
    for (index, class) in file.classes.iter().enumerate() {
        if tags.binary_search(&class.first_tag).is_err() {
            return Err(VerifyError::ClassNotLossless { class: class.name.clone(), tag: class.first_tag });
        }
        if file.classes[..index].iter().any(|other| other.name == class.name) {
            return Err(VerifyError::ClassTwice { class: class.name.clone() });
        }
    }
    Ok(())
}

/// Ports of a frame for which two rules give different tags.
struct RuleConflict {
    ingress: u16,
    egress: u16,
}

/// Set of egress ports by which frames leave with one new tag.
struct Given {
    slot: u16,
    /// Index of the first word of the set.
    at: usize,
}

/// Rules of one node under construction: sets of egress ports, by ingress port and arriving tag.
#[derive(Default)]
struct TableBuilder {
    ports: usize,
    /// Number of words per set of ports.
    width: usize,
    /// Number of lossless tags.
    slots: usize,
    /// Per ingress port and arriving slot (the lossless slots, then the lossy slot): sets of egress ports, by new slot.
    given: Vec<Vec<Given>>,
    words: Vec<u64>,
    /// The last list of ports that was read, as a set.
    set: Vec<u64>,
}

impl TableBuilder {
    /// Clears the rules and starts another node.
    fn begin(&mut self, ports: usize, slots: usize) {
        (self.ports, self.width, self.slots) = (ports, ports.div_ceil(64), slots);
        self.given.iter_mut().for_each(Vec::clear);
        if self.given.len() < ports * (slots + 1) {
            self.given.resize_with(ports * (slots + 1), Vec::new);
        }
        self.words.clear();
    }

    /// Reads a list of ports into `set`. `side` is the key of the list, for errors.
    fn read(&mut self, side: &'static str, list: &[u16]) -> Result<(), RuleFault> {
        if list.is_empty() {
            return Err(RuleFault::NoPort { side });
        }
        self.set.clear();
        self.set.resize(self.width, 0);
        for &port in list {
            if usize::from(port) >= self.ports {
                return Err(RuleFault::UnknownPort { side, port, ports: self.ports });
            }
            let (word, bit) = (&mut self.set[usize::from(port / 64)], 1 << (port % 64));
            if *word & bit != 0 {
                return Err(RuleFault::PortTwice { side, port });
            }
            *word |= bit;
        }
        Ok(())
    }

    /// Adds a rule: frames in slot `from` that arrive by a port of `ingress` and leave by a port of `set` get slot
    /// `to`.
    fn add(&mut self, from: u16, ingress: &[u16], to: u16) -> Result<(), RuleConflict> {
        for &port in ingress {
            let given = &mut self.given[usize::from(port) * (self.slots + 1) + usize::from(from)];
            let mut own = None;
            for one in given.iter() {
                let words = &self.words[one.at..one.at + self.width];
                if one.slot == to {
                    own = Some(one.at);
                } else if let Some(word) = words.iter().zip(&self.set).position(|(a, b)| a & b != 0) {
                    let bit = (words[word] & self.set[word]).trailing_zeros();
                    return Err(RuleConflict { ingress: port, egress: (word as u32 * 64 + bit) as u16 });
                }
            }
            match own {
                Some(at) => self.words[at..at + self.width].iter_mut().zip(&self.set).for_each(|(a, b)| *a |= b),
                None => {
                    given.push(Given { slot: to, at: self.words.len() });
                    self.words.extend_from_slice(&self.set);
                }
            }
        }
        Ok(())
    }

    /// Adds the rules of the node whose arriving and new tags are lossless to the graph.
    fn give(&mut self, graph: &mut Graph) {
        for port in 0..self.ports {
            for slot in 0..self.slots {
                for one in &self.given[port * (self.slots + 1) + slot] {
                    if usize::from(one.slot) < self.slots {
                        graph.push(one.slot, &self.words[one.at..one.at + self.width]);
                    }
                }
                graph.close();
            }
        }
    }
}
