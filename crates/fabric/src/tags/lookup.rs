//! Tag rules as a dense table: one byte per (tag, ingress port, egress port) of every switch.

use super::{Rule, SwitchRules, Tag};
use crate::{Fabric, NodeId, PortIndex};

/// Maximum number of dense entries per switch. Switches with more ports store rules as port sets, because a dense table
/// for thousands of ports would need gigabytes.
const DENSE_LIMIT: usize = 1 << 24;

/// Tag rules in a form for one lookup per packet without hashing; only very large switches search a list of rules.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// Start of the dense entries of each node, or index of its list of rules.
    tables: Vec<SwitchTable>,
    /// New tag by [tag][ingress port][egress port] of each node; 0 means "no rule".
    entries: Vec<Tag>,
    /// Row index of each tag; `NO_ROW` for a tag without rules.
    row: [u8; 256],
    rows: usize,
    sparse: Vec<Vec<Rule>>,
}

#[derive(Clone, Copy, Debug)]
enum SwitchTable {
    Nothing,
    Dense { base: usize, ports: u32 },
    Sparse(u32),
}

const NO_ROW: u8 = u8::MAX;

impl Lookup {
    /// Expands the rules of `switches` for the tags `lossless_tags`. A rule that assigns the lossy tag is equivalent to
    /// no rule.
    pub fn new(fabric: &Fabric, lossless_tags: &[Tag], switches: &[SwitchRules]) -> Lookup {
        let mut row = [NO_ROW; 256];
        let mut rows = 0;
        for &tag in lossless_tags {
            if row[usize::from(tag)] == NO_ROW {
                row[usize::from(tag)] = rows as u8;
                rows += 1;
            }
        }
        let mut lookup = Lookup {
            tables: vec![SwitchTable::Nothing; fabric.nodes().len()],
            entries: Vec::new(),
            row,
            rows,
            sparse: vec![],
        };
        for switch in switches {
            lookup.add(fabric, switch);
        }
        lookup
    }

    fn add(&mut self, fabric: &Fabric, switch: &SwitchRules) {
        let ports = fabric.ports(switch.node).len();
        let size = self.rows * ports * ports;
        if size > DENSE_LIMIT {
            self.tables[switch.node.index()] = SwitchTable::Sparse(self.sparse.len() as u32);
            self.sparse.push(switch.rules.clone());
            return;
        }
        let base = self.entries.len();
        self.tables[switch.node.index()] = SwitchTable::Dense { base, ports: ports as u32 };
        self.entries.resize(base + size, 0);
        for rule in &switch.rules {
            let row = self.row[usize::from(rule.tag)];
            if row == NO_ROW {
                continue;
            }
            for in_port in rule.in_ports.iter().map(usize::from) {
                let line = base + (usize::from(row) * ports + in_port) * ports;
                for out_port in rule.out_ports.iter().map(usize::from) {
                    self.entries[line + out_port] = rule.new_tag;
                }
            }
        }
    }

    /// Returns the new tag of a packet that arrived at `in_port` of `switch` with `tag` and leaves by `out_port`;
    /// `None` if the packet becomes lossy.
    #[inline]
    pub fn new_tag(&self, switch: NodeId, tag: Tag, in_port: PortIndex, out_port: PortIndex) -> Option<Tag> {
        let row = self.row[usize::from(tag)];
        if row == NO_ROW {
            return None;
        }
        let new_tag = match self.tables[switch.index()] {
            SwitchTable::Nothing => 0,
            SwitchTable::Dense { base, ports } => {
                let ports = ports as usize;
                let (row, in_port, out_port) = (usize::from(row), usize::from(in_port), usize::from(out_port));
                if in_port >= ports || out_port >= ports {
                    return None;
                }
                self.entries[base + (row * ports + in_port) * ports + out_port]
            }
            SwitchTable::Sparse(at) => self.search(at, tag, in_port, out_port),
        };
        (new_tag != 0).then_some(new_tag)
    }

    #[cold]
    fn search(&self, at: u32, tag: Tag, in_port: PortIndex, out_port: PortIndex) -> Tag {
        let matches =
            |rule: &&Rule| rule.tag == tag && rule.in_ports.contains(in_port) && rule.out_ports.contains(out_port);
        self.sparse[at as usize].iter().find(matches).map_or(0, |rule| rule.new_tag)
    }
}
