//! Dense next-hop tables with shared lists of ports (ECMP groups).

use super::error::RoutingError;
use super::net::{NONE, RouterGraph};
use crate::NodeId;
use std::collections::HashMap;

/// Maximum number of table entries: one gigabyte of two-byte entries.
const MAX_ENTRIES: u64 = 1 << 29;

/// Start of the entries of a node.
#[derive(Clone, Copy, Debug)]
struct Head {
    next_base: u32,
    /// [`NONE`] for a host with one port.
    group_base: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Span {
    start: u32,
    len: u16,
}

/// ECMP group (list of ports) per (node, row). A lookup takes three dependent loads and no hashing. Nodes with equal
/// entries in all rows, such as the core switches of a fat-tree, share one array of entries.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    heads: Vec<Head>,
    next: Vec<u16>,
    spans: Vec<Span>,
    pool: Vec<u16>,
}

impl Table {
    /// Returns the ports for a row at a node, ascending; empty if there is no route.
    #[inline]
    pub fn ports(&self, node: NodeId, row: u32) -> &[u16] {
        let head = self.heads[node.index()];
        if head.group_base == NONE {
            return &[0];
        }
        let group = self.next[head.next_base as usize + row as usize];
        let span = self.spans[head.group_base as usize + usize::from(group)];
        &self.pool[span.start as usize..span.start as usize + usize::from(span.len)]
    }

    /// Returns the memory size in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.heads.len() * 8 + self.next.len() * 2 + self.spans.len() * 8 + self.pool.len() * 2
    }
}

/// Builds a [`Table`] row by row. Equal lists of ports are stored once. Nodes whose rows are equal so far form one
/// class, and each class numbers its own groups, so that two bytes identify a group. Therefore construction needs no
/// more memory than the finished table.
pub(crate) struct TableBuilder {
    rows: usize,
    /// List number of each slot in the current row.
    now: Vec<u32>,
    /// List number most recently set for each slot; adjacent rows usually have the same list.
    last: Vec<u32>,
    class_of: Vec<u32>,
    classes: Vec<Class>,
    by_group: HashMap<(u32, u32), u16>,
    /// Distinct lists; the empty list is the first.
    lists: Vec<Span>,
    pool: Vec<u16>,
    by_content: HashMap<Box<[u16]>, u32>,
}

/// Nodes whose entries are equal so far.
#[derive(Clone)]
struct Class {
    /// Group of each row.
    next: Vec<u16>,
    /// List number of each group of the class, in order of first use.
    groups: Vec<u32>,
}

/// List number of an entry that no lookup reads (don't care).
const OPEN: u32 = u32::MAX;

/// List number of a class that has no entry in the current row yet.
const UNDECIDED: u32 = u32::MAX - 1;

impl TableBuilder {
    /// Creates an empty table: every entry is the empty list until set.
    pub fn new(slots: usize, rows: usize) -> Result<TableBuilder, RoutingError> {
        let entries = slots as u64 * rows as u64;
        // A class has at most as many groups as rows, so 16-bit group numbers suffice below 65,536 rows. With more
        // rows, `end_row` checks the number of groups.
        if entries > MAX_ENTRIES {
            return Err(RoutingError::TooLarge { entries, limit: MAX_ENTRIES });
        }
        let empty: Box<[u16]> = Box::new([]);
        Ok(TableBuilder {
            rows,
            now: vec![0; slots],
            last: vec![0; slots],
            class_of: vec![0; slots],
            classes: vec![Class { next: vec![0; rows], groups: vec![0] }],
            by_group: HashMap::from([((0, 0), 0)]),
            lists: vec![Span { start: 0, len: 0 }],
            pool: Vec::new(),
            by_content: HashMap::from([(empty, 0)]),
        })
    }

    /// Returns the number of a list of ports (ascending), for [`put`](Self::put).
    pub fn list(&mut self, ports: &[u16]) -> u32 {
        if let Some(&number) = self.by_content.get(ports) {
            return number;
        }
        let number = self.lists.len() as u32;
        self.lists.push(Span { start: self.pool.len() as u32, len: ports.len() as u16 });
        self.pool.extend_from_slice(ports);
        self.by_content.insert(ports.into(), number);
        number
    }

    /// Sets the ports (ascending) of a slot in the current row.
    pub fn set(&mut self, slot: u32, ports: &[u16]) {
        let Span { start, len } = self.lists[self.last[slot as usize] as usize];
        if self.pool[start as usize..start as usize + usize::from(len)] != *ports {
            self.last[slot as usize] = self.list(ports);
        }
        self.now[slot as usize] = self.last[slot as usize];
    }

    /// Sets the list of a slot in the current row.
    #[inline]
    pub fn put(&mut self, slot: u32, list: u32) {
        self.now[slot as usize] = list;
    }

    /// Declares that no lookup reads the entry of this slot in the current row. The entry gets the value of the
    /// adjacent row, so that nodes with otherwise equal entries stay in one class.
    pub fn leave_open(&mut self, slot: u32) {
        self.now[slot as usize] = OPEN;
    }

    /// Stores the current row under the index `row`. Slots that were not set have the empty list.
    pub fn end_row(&mut self, row: usize) -> Result<(), RoutingError> {
        // The first slot of each class determines the list of the class in this row. Slots with a different list leave
        // the class; those of them with the same list form a new class.
        let mut decided = vec![UNDECIDED; self.classes.len()];
        let mut apart: HashMap<(u32, u32), u32> = HashMap::new();
        for (class_of, now) in self.class_of.iter_mut().zip(&mut self.now) {
            let class = *class_of as usize;
            let list = match std::mem::take(now) {
                // An open entry in row 0 has no previous row; `finish` sets it to the value of row 1.
                OPEN if row > 0 => {
                    let Class { next, groups } = &self.classes[class];
                    groups[usize::from(next[row - 1])]
                }
                list => list,
            };
            if decided[class] == UNDECIDED {
                decided[class] = list;
            } else if decided[class] != list {
                *class_of = *apart.entry((*class_of, list)).or_insert_with(|| {
                    let of = self.classes[class].clone();
                    let number = self.classes.len() as u32;
                    self.by_group.extend((0..).zip(&of.groups).map(|(group, &list)| ((number, list), group)));
                    self.classes.push(of);
                    decided.push(list);
                    number
                });
            }
        }
        for (number, (class, list)) in (0..).zip(self.classes.iter_mut().zip(decided)) {
            let Class { next, groups } = class;
            if groups[usize::from(next[row.saturating_sub(1)])] == list {
                next[row] = next[row.saturating_sub(1)];
                continue;
            }
            let group = match self.by_group.get(&(number, list)) {
                Some(&group) => group,
                None => {
                    let entries = groups.len() as u64;
                    let limit = u64::from(u16::MAX);
                    if entries >= limit {
                        return Err(RoutingError::TooLarge { entries, limit });
                    }
                    let group = entries as u16;
                    groups.push(list);
                    self.by_group.insert((number, list), group);
                    group
                }
            };
            next[row] = group;
        }
        Ok(())
    }

    pub fn finish(self, net: &RouterGraph) -> Table {
        let TableBuilder { rows, class_of, classes, lists, pool, .. } = self;
        let (mut next, mut spans): (Vec<u16>, Vec<Span>) = (Vec::with_capacity(classes.len() * rows), Vec::new());
        let mut heads_of_classes = vec![Head { next_base: 0, group_base: NONE }; classes.len()];
        let opens = |class: &Class| class.next.first().is_some_and(|&first| class.groups[usize::from(first)] == OPEN);
        // A class with an open first entry may be equal to another class, so the classes without open entries are
        // stored first.
        let (open, whole): (Vec<_>, Vec<_>) = (0..).zip(classes).partition(|(_, class)| opens(class));
        let first_open = whole.len();
        for (index, (class, Class { next: mut own, groups })) in whole.into_iter().chain(open).enumerate() {
            let was_open = index >= first_open;
            if was_open {
                own[0] = if rows > 1 { own[1] } else { 0 };
            }
            // Renumbers groups in order of first use, omitting the group that only the open entry used.
            let mut number = vec![u16::MAX; groups.len()];
            let first_span = spans.len();
            for group in &mut own {
                let number = &mut number[usize::from(*group)];
                if *number == u16::MAX {
                    *number = (spans.len() - first_span) as u16;
                    spans.push(lists[groups[usize::from(*group)] as usize]);
                }
                *group = *number;
            }
            let alike = heads_of_classes.iter().filter(|head| was_open && head.group_base != NONE).find(|head| {
                let (from, to) = (head.next_base as usize, head.next_base as usize + rows);
                let groups = &spans[head.group_base as usize..first_span];
                next[from..to] == own && groups.starts_with(&spans[first_span..])
            });
            let head = match alike {
                Some(&head) => {
                    spans.truncate(first_span);
                    head
                }
                None => {
                    next.extend_from_slice(&own);
                    Head { next_base: (next.len() - rows) as u32, group_base: first_span as u32 }
                }
            };
            heads_of_classes[class] = head;
        }
        next.shrink_to_fit();
        let mut heads = vec![Head { next_base: 0, group_base: NONE }; net.slot.len()];
        for (node, &class) in net.routers.iter().zip(&class_of) {
            heads[node.index()] = heads_of_classes[class as usize];
        }
        Table { heads, next, spans, pool }
    }
}

#[cfg(test)]
mod tests {
    use super::super::net::{FailedLinks, Rows};
    use super::super::shortest;
    use super::*;
    use crate::LinkSpec;
    use crate::generate::{TierLinks, fat_tree};
    use units::{Rate, Time};

    #[test]
    fn nodes_that_stand_alike_share_their_rows() {
        let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), Time::from_us(1)));
        let fabric = fat_tree(8, links).unwrap();
        let dead = FailedLinks::new(&fabric, &[]);
        let (net, rows) = (RouterGraph::new(&fabric, &dead), Rows::aggregated(&fabric, &dead));
        let table = shortest::build(&net, &rows, |_| true).unwrap();
        // Classes of switches with equal tables: 1 for all edge switches (the entry for a switch's own row is never
        // read and counts as equal), 1 per pod for aggregation switches, 1 for all core switches.
        assert_eq!(table.next.len(), (1 + 8 + 1) * rows.len());
    }
}
