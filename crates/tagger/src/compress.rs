//! Compression of rules: port sets instead of single ports.
//!
//! A TCAM entry matches a set of ports as a bitmap. Rules that differ only in the ingress port are merged; then the
//! resulting rules that differ only in the egress port are merged (or in the opposite order, if that gives fewer
//! entries). The last entry of every switch makes all other packets lossy; it is not counted.

use crate::ports::put;
use crate::rules::{Rule, RuleTable, SwitchRules, Tag};
use crate::threads::on_all_cores;
use fabric::tags::PortSet;
use fabric::tags::ones;
use fabric::{Fabric, NodeId};
use std::collections::BTreeMap;

/// Degree of rule merging.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compression {
    /// One rule per (tag, ingress port, egress port).
    None,
    /// Ingress ports merged: one rule per (tag, egress port, new tag).
    InPorts,
    /// Ingress ports and egress ports merged.
    #[default]
    Joint,
}

/// Number of rules of a switch at each degree of merging.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleCount {
    /// The switch.
    pub node: NodeId,
    /// Without merging: (tag, ingress port, egress port).
    pub single: u32,
    /// With ingress ports merged: (tag, egress port, new tag).
    pub in_ports_merged: u32,
    /// With egress ports merged as well.
    pub joint: u32,
    /// With ingress ports merged, counting only rules between ports that lead to other switches: the count in Tagger's
    /// Table 5.
    pub between_switches: u32,
}

/// Rules of one switch as a bit matrix: per (tag, new tag) and ingress port, a bitmap of egress ports.
pub(crate) struct Matrix {
    ports: usize,
    words: usize,
    turns: BTreeMap<(Tag, Tag), Vec<u64>>,
}

impl Matrix {
    pub fn new(ports: usize) -> Matrix {
        Matrix { ports, words: ports.div_ceil(64), turns: BTreeMap::new() }
    }

    fn of_pair(&mut self, tag: Tag, new_tag: Tag) -> &mut Vec<u64> {
        let size = self.ports * self.words;
        self.turns.entry((tag, new_tag)).or_insert_with(|| vec![0; size])
    }

    /// Adds the egress ports of the rules of one ingress port, as a bitmap.
    pub fn add(&mut self, tag: Tag, new_tag: Tag, in_port: usize, out_ports: &[u64]) {
        let words = self.words;
        if out_ports.iter().any(|&word| word != 0) {
            let row = &mut self.of_pair(tag, new_tag)[in_port * words..];
            row.iter_mut().zip(out_ports).for_each(|(row, out)| *row |= out);
        }
    }

    pub fn from_rules(ports: usize, rules: &[Rule]) -> Matrix {
        let mut matrix = Matrix::new(ports);
        for rule in rules {
            for in_port in rule.in_ports.iter() {
                matrix.add(rule.tag, rule.new_tag, in_port.into(), rule.out_ports.words());
            }
        }
        matrix
    }

    /// Returns the transposed matrix: per egress port, a bitmap of ingress ports.
    fn columns(&self, rows: &[u64]) -> Vec<u64> {
        let mut columns = vec![0; rows.len()];
        for in_port in 0..self.ports {
            for out in ones(&rows[in_port * self.words..(in_port + 1) * self.words]) {
                put(&mut columns[out * self.words..], in_port);
            }
        }
        columns
    }

    /// Merges equal rows of a matrix. Returns (row numbers, bits of the row), sorted by the first row number.
    fn merge_equal(&self, lines: &[u64]) -> Vec<(PortSet, PortSet)> {
        let line = |index: usize| &lines[index * self.words..(index + 1) * self.words];
        let mut order: Vec<usize> = (0..self.ports).filter(|&at| line(at).iter().any(|&word| word != 0)).collect();
        order.sort_by(|&a, &b| line(a).cmp(line(b)).then(a.cmp(&b)));
        let groups = order.chunk_by(|&a, &b| line(a) == line(b));
        groups.map(|group| (group.iter().map(|&at| at as u16).collect(), PortSet::from_words(line(group[0])))).collect()
    }

    /// Returns the rules, merged as requested, in canonical order.
    pub fn rules(&self, compression: Compression) -> Vec<Rule> {
        let mut rules = Vec::new();
        for (&(tag, new_tag), rows) in &self.turns {
            let mut push = |in_ports, out_ports| rules.push(Rule { tag, in_ports, out_ports, new_tag });
            match compression {
                Compression::None => {
                    for in_port in 0..self.ports {
                        for out in ones(&rows[in_port * self.words..(in_port + 1) * self.words]) {
                            push([in_port as u16].into_iter().collect(), [out as u16].into_iter().collect());
                        }
                    }
                }
                Compression::InPorts => {
                    let columns = self.columns(rows);
                    for (out, column) in columns.chunks(self.words).enumerate() {
                        if column.iter().any(|&word| word != 0) {
                            push(PortSet::from_words(column), [out as u16].into_iter().collect());
                        }
                    }
                }
                Compression::Joint => {
                    // Both orders of merging give equivalent rules; the order with fewer rules is used.
                    let by_out = self.merge_equal(&self.columns(rows));
                    let by_in = self.merge_equal(rows);
                    if by_in.len() < by_out.len() {
                        by_in.into_iter().for_each(|(in_ports, out_ports)| push(in_ports, out_ports));
                    } else {
                        by_out.into_iter().for_each(|(out_ports, in_ports)| push(in_ports, out_ports));
                    }
                }
            }
        }
        rules.sort_unstable();
        rules
    }

    fn count(&self, node: NodeId, onward: &PortSet) -> RuleCount {
        let mut count = RuleCount { node, single: 0, in_ports_merged: 0, joint: 0, between_switches: 0 };
        for rows in self.turns.values() {
            count.single += rows.iter().map(|word| word.count_ones()).sum::<u32>();
            let columns = self.columns(rows);
            for (out, column) in columns.chunks(self.words).enumerate() {
                count.in_ports_merged += u32::from(column.iter().any(|&word| word != 0));
                let between = column.iter().zip(onward.words()).any(|(in_ports, onward)| in_ports & onward != 0);
                count.between_switches += u32::from(between && onward.contains(out as u16));
            }
            count.joint += self.merge_equal(&columns).len().min(self.merge_equal(rows).len()) as u32;
        }
        count
    }
}

impl RuleTable {
    /// Returns an equivalent table, merged as requested.
    pub fn compressed(&self, fabric: &Fabric, compression: Compression) -> RuleTable {
        let switches = self.switches().iter().map(|switch| {
            let matrix = Matrix::from_rules(fabric.ports(switch.node).len(), &switch.rules);
            SwitchRules { node: switch.node, rules: matrix.rules(compression) }
        });
        let (by, tags, classes) = (self.generated_by.clone(), self.lossless_tags.clone(), self.classes.clone());
        RuleTable::new(fabric, by, tags, classes, switches.collect())
    }

    /// Returns the rule counts of each switch, in the order of [`RuleTable::switches`].
    pub fn counts(&self, fabric: &Fabric) -> Vec<RuleCount> {
        let count = |switch: &SwitchRules| {
            let own = fabric.ports(switch.node);
            let onward = (0..own.len()).filter(|&port| fabric.node(own[port].peer).forwards());
            let onward: PortSet = onward.map(|port| port as u16).collect();
            Matrix::from_rules(own.len(), &switch.rules).count(switch.node, &onward)
        };
        on_all_cores(self.switches(), count)
    }
}
