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

#[derive(Clone, Copy, Debug)]
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

/// Fills a [`Table`]: equal lists of ports are stored once, and each node counts its own groups so that
/// two bytes name one.
pub(crate) struct TableBuilder {
    rows: usize,
    next: Vec<u16>,
    /// Per slot: the groups in order of appearance, as numbers of lists.
    groups: Vec<Vec<u32>>,
    /// Per slot: the group used last; neighbouring rows mostly share it.
    last: Vec<u16>,
    lists: Vec<Span>,
    pool: Vec<u16>,
    by_content: HashMap<Box<[u16]>, u32>,
    by_slot: HashMap<(u32, u32), u16>,
    /// Entries, by slot and row, that nobody reads.
    open: Vec<(u32, usize)>,
}

impl TableBuilder {
    /// An empty table: every group is the empty one until set.
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
            next: vec![0; entries as usize],
            groups: vec![vec![0]; slots],
            last: vec![0; slots],
            lists: vec![Span { start: 0, len: 0 }],
            pool: Vec::new(),
            by_content: HashMap::from([(empty, 0)]),
            by_slot: (0..slots as u32).map(|slot| ((slot, 0), 0)).collect(),
            open: Vec::new(),
        })
    }

    fn list(&self, number: u32) -> &[u16] {
        let span = self.lists[number as usize];
        &self.pool[span.start as usize..span.start as usize + usize::from(span.len)]
    }

    /// Sets the ports (ascending) of one entry.
    pub fn set(&mut self, slot: u32, row: usize, ports: &[u16]) -> Result<(), RoutingError> {
        let group = self.group(slot, ports)?;
        self.put(slot, row, group);
        Ok(())
    }

    /// The number of a group of ports at a slot, for [`put`](Self::put).
    pub fn group(&mut self, slot: u32, ports: &[u16]) -> Result<u16, RoutingError> {
        let last = self.last[slot as usize];
        if self.list(self.groups[slot as usize][usize::from(last)]) == ports {
            return Ok(last);
        }
        let group = self.intern(slot, ports)?;
        self.last[slot as usize] = group;
        Ok(group)
    }

    /// Nobody reads this entry. With what its neighbour says there, nodes that stand alike are equal.
    pub fn leave_open(&mut self, slot: u32, row: usize) {
        self.open.push((slot, row));
    }

    /// Sets the group of one entry.
    #[inline]
    pub fn put(&mut self, slot: u32, row: usize, group: u16) {
        self.next[slot as usize * self.rows + row] = group;
    }

    fn intern(&mut self, slot: u32, ports: &[u16]) -> Result<u16, RoutingError> {
        let number = match self.by_content.get(ports) {
            Some(&number) => number,
            None => {
                let number = self.lists.len() as u32;
                self.lists.push(Span { start: self.pool.len() as u32, len: ports.len() as u16 });
                self.pool.extend_from_slice(ports);
                self.by_content.insert(ports.into(), number);
                number
            }
        };
        if let Some(&group) = self.by_slot.get(&(slot, number)) {
            return Ok(group);
        }
        let groups = &mut self.groups[slot as usize];
        let group = u16::try_from(groups.len())
            .map_err(|_| RoutingError::TooLarge { entries: groups.len() as u64, limit: u64::from(u16::MAX) })?;
        groups.push(number);
        self.by_slot.insert((slot, number), group);
        Ok(group)
    }

    pub fn finish(mut self, net: &Net) -> Table {
        for &(slot, row) in self.open.iter().filter(|_| self.rows > 1) {
            let first = slot as usize * self.rows;
            self.next[first + row] = self.next[first + if row == 0 { 1 } else { row - 1 }];
        }
        let mut next: Vec<u16> = Vec::new();
        let mut known: HashMap<&[u16], u32> = HashMap::new();
        let mut heads = vec![Head { next_base: 0, group_base: NONE }; net.slot.len()];
        let mut spans = Vec::new();
        for (slot, groups) in self.groups.iter().enumerate() {
            let own = &self.next[slot * self.rows..(slot + 1) * self.rows];
            let next_base = *known.entry(own).or_insert_with(|| {
                next.extend_from_slice(own);
                (next.len() - own.len()) as u32
            });
            heads[net.routers[slot].index()] = Head { next_base, group_base: spans.len() as u32 };
            spans.extend(groups.iter().map(|&number| self.lists[number as usize]));
        }
        next.shrink_to_fit();
        Table { heads, next, spans, pool: self.pool }
    }
}
