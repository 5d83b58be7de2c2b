//! Dense next-hop tables with shared groups of ports.

use super::error::RoutingError;
use super::net::{NONE, Net};
use crate::NodeId;
use std::collections::HashMap;

/// A gigabyte of two-byte entries.
const MAX_ENTRIES: u64 = 1 << 29;

/// Where a node's part of the table starts.
#[derive(Clone, Copy, Debug)]
struct Head {
    next_base: u32,
    /// [`NONE`]: a host with one port.
    group_base: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Span {
    start: u32,
    len: u16,
}

/// Group of ports per (node, row). Three dependent loads to the ports, no hashing. Nodes that stand alike, such as the
/// core switches of a fat-tree, share their groups by row.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    heads: Vec<Head>,
    next: Vec<u16>,
    spans: Vec<Span>,
    pool: Vec<u16>,
}

impl Table {
    /// The ports for a row at a node, ascending; empty where no route exists.
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

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.heads.len() * 8 + self.next.len() * 2 + self.spans.len() * 8 + self.pool.len() * 2
    }
}

/// Fills a [`Table`] row by row: equal lists of ports are stored once, nodes whose rows were equal so far are one
/// class, and each class counts its own groups so that two bytes name one. So what is held while it grows is no more
/// than what is kept.
pub(crate) struct TableBuilder {
    rows: usize,
    /// Per slot: the list of the row in hand.
    now: Vec<u32>,
    /// Per slot: the list set last; neighbouring rows mostly share it.
    last: Vec<u32>,
    class_of: Vec<u32>,
    classes: Vec<Class>,
    by_group: HashMap<(u32, u32), u16>,
    /// The empty list first.
    lists: Vec<Span>,
    pool: Vec<u16>,
    by_content: HashMap<Box<[u16]>, u32>,
}

/// Nodes that are equal so far.
#[derive(Clone)]
struct Class {
    /// The group of each row.
    next: Vec<u16>,
    /// The groups in order of appearance, as numbers of lists.
    groups: Vec<u32>,
}

/// Nobody reads this entry, as a list.
const OPEN: u32 = u32::MAX;

/// No list yet.
const UNDECIDED: u32 = u32::MAX - 1;

impl TableBuilder {
    /// An empty table: every list is the empty one until set.
    pub fn new(slots: usize, rows: usize) -> Result<TableBuilder, RoutingError> {
        let entries = slots as u64 * rows as u64;
        // A node never has more groups than rows, so that two bytes suffice below 65,536 rows; above, the
        // number of distinct groups is checked as it grows.
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

    /// The number of a list of ports (ascending), for [`put`](Self::put).
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

    /// Sets the ports (ascending) of a slot in the row in hand.
    pub fn set(&mut self, slot: u32, ports: &[u16]) {
        let Span { start, len } = self.lists[self.last[slot as usize] as usize];
        if self.pool[start as usize..start as usize + usize::from(len)] != *ports {
            self.last[slot as usize] = self.list(ports);
        }
        self.now[slot as usize] = self.last[slot as usize];
    }

    /// Sets the list of a slot in the row in hand.
    #[inline]
    pub fn put(&mut self, slot: u32, list: u32) {
        self.now[slot as usize] = list;
    }

    /// Nobody reads the entry of this slot in the row in hand. With what its neighbour says there, nodes that stand
    /// alike are equal.
    pub fn leave_open(&mut self, slot: u32) {
        self.now[slot as usize] = OPEN;
    }

    /// Files the row in hand as `row`. What was set for none of the slots is empty.
    pub fn end_row(&mut self, row: usize) -> Result<(), RoutingError> {
        // By class what it has in this row; of others of its slots what they have, and the class that they become.
        let mut decided = vec![UNDECIDED; self.classes.len()];
        let mut apart: HashMap<(u32, u32), u32> = HashMap::new();
        for (class_of, now) in self.class_of.iter_mut().zip(&mut self.now) {
            let class = *class_of as usize;
            let list = match std::mem::take(now) {
                // That of the first row waits for the second.
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

    pub fn finish(self, net: &Net) -> Table {
        let TableBuilder { rows, class_of, classes, lists, pool, .. } = self;
        let (mut next, mut spans): (Vec<u16>, Vec<Span>) = (Vec::with_capacity(classes.len() * rows), Vec::new());
        let mut heads_of_classes = vec![Head { next_base: 0, group_base: NONE }; classes.len()];
        let opens = |class: &Class| class.next.first().is_some_and(|&first| class.groups[usize::from(first)] == OPEN);
        // Those whose first entry is open may be equal to others, which come before.
        let (open, whole): (Vec<_>, Vec<_>) = (0..).zip(classes).partition(|(_, class)| opens(class));
        let first_open = whole.len();
        for (place, (class, Class { next: mut own, groups })) in whole.into_iter().chain(open).enumerate() {
            let was_open = place >= first_open;
            if was_open {
                own[0] = if rows > 1 { own[1] } else { 0 };
            }
            // In order of appearance, without those that only the open entry had.
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
    use super::super::net::{Dead, Rows};
    use super::super::shortest;
    use super::*;
    use crate::LinkSpec;
    use crate::generate::{TierLinks, fat_tree};
    use units::{Rate, Time};

    #[test]
    fn nodes_that_stand_alike_share_their_rows() {
        let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), Time::from_us(1)));
        let fabric = fat_tree(8, links).unwrap();
        let dead = Dead::new(&fabric, &[]);
        let (net, rows) = (Net::new(&fabric, &dead), Rows::aggregated(&fabric, &dead));
        let table = shortest::build(&net, &rows, |_| true).unwrap();
        // All edge switches, the first one with an open entry in the first row; those above, by pod; all of the core.
        assert_eq!(table.next.len(), (1 + 8 + 1) * rows.len());
    }
}
