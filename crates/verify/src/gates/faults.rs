//! Formatting of faults: node and port names as in the fabric's file, times with units, duplicates counted.

use fabric::{Fabric, NodeId};
use std::collections::BTreeMap;

/// Maximum number of faults that a check keeps.
const MOST_FAULTS: usize = 100;

/// Faults in order of occurrence: the first fault of each key, and the number of further faults of this key.
#[derive(Debug)]
pub(super) struct Faults<K> {
    indices: BTreeMap<K, usize>,
    all: Vec<(String, u64)>,
}

impl<K: Ord> Faults<K> {
    pub fn new() -> Faults<K> {
        Faults { indices: BTreeMap::new(), all: Vec::new() }
    }

    pub fn note(&mut self, key: K, fault: impl FnOnce() -> String) {
        match self.indices.get(&key) {
            Some(&index) => self.all[index].1 += 1,
            None if self.all.len() < MOST_FAULTS => {
                self.indices.insert(key, self.all.len());
                self.all.push((fault(), 0));
            }
            None => {}
        }
    }

    pub fn finish(self) -> Vec<String> {
        let counted = |(fault, more): (String, u64)| match more {
            0 => fault,
            _ => format!("{fault} (and {more} more)"),
        };
        self.all.into_iter().map(counted).collect()
    }
}

/// Returns the name of a port, or its number if the fabric's file has no name.
pub(super) fn port_of(fabric: &Fabric, node: &str, port: u16) -> String {
    let of_node = |id: NodeId| fabric.port_name(id, port).filter(|_| usize::from(port) < fabric.ports(id).len());
    match fabric.find(node).and_then(of_node) {
        Some(name) => format!("port {} of `{node}`", fabric::visible(name)),
        None => format!("port {port} of `{node}`"),
    }
}

/// Formats a time exactly, in the largest unit that does not exceed it: `1.012492ms`.
pub(super) fn shown(ps: u64) -> String {
    const UNITS: [(u64, &str); 5] =
        [(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns"), (1, "ps")];
    let (size, unit) = UNITS.into_iter().find(|(size, _)| ps >= *size).unwrap_or((1, "ps"));
    let digits = size.ilog10() as usize;
    let fraction = if digits == 0 { String::new() } else { format!("{:0digits$}", ps % size) };
    match fraction.trim_end_matches('0') {
        "" => format!("{}{unit}", ps / size),
        fraction => format!("{}.{fraction}{unit}", ps / size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_units_writes_them() {
        let mut ps = 1u64;
        for factor in [1, 7, 10, 3, 1000, 11, 10, 1000, 13, 1000] {
            ps = ps.saturating_mul(factor);
            for ps in [ps - 1, ps, ps + 1, ps + 492_000] {
                assert_eq!(shown(ps), units::Time::from_ps(ps).to_string());
            }
        }
        assert_eq!((shown(1_012_492_000), shown(0)), ("1.012492ms".to_owned(), "0ps".to_owned()));
    }

    #[test]
    fn a_fault_that_comes_again_is_counted() {
        let mut faults = Faults::new();
        for key in [2, 1, 2, 2] {
            faults.note(key, || format!("fault {key}"));
        }
        assert_eq!(faults.finish(), ["fault 2 (and 2 more)", "fault 1"]);
        let mut faults = Faults::new();
        (0..1_000).for_each(|key| faults.note(key, String::new));
        assert_eq!(faults.finish().len(), MOST_FAULTS);
    }
}
