//! Counters of port mechanisms, summed over ports.

use protocols::port_mechanisms::AnyPortMechanism;
use std::collections::BTreeMap;
use units::pack::Pack;

/// Values of the counters of all kinds of mechanisms; empty if no port has a mechanism with counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MechanismCounts {
    /// Counter values by kind of mechanism and counter, in the order of [`AnyPortMechanism::COUNTERS`]. Empty for kinds
    /// that no port has.
    counts: Vec<Vec<u64>>,
}

impl MechanismCounts {
    /// Adds the counters of one mechanism.
    pub fn add(&mut self, mechanism: &AnyPortMechanism) {
        if !mechanism.counts().is_empty() {
            self.add_counts(mechanism.kind(), mechanism.counts());
        }
    }

    /// Adds the counters of `other`.
    pub fn merge(&mut self, other: &MechanismCounts) {
        (0..).zip(&other.counts).for_each(|(kind, counts)| self.add_counts(kind, counts));
    }

    fn add_counts(&mut self, kind: usize, counts: &[u64]) {
        if self.counts.len() <= kind {
            self.counts.resize(kind + 1, Vec::new());
        }
        let own = &mut self.counts[kind];
        own.resize(own.len().max(counts.len()), 0);
        own.iter_mut().zip(counts).for_each(|(own, count)| *own += count);
    }

    /// Returns the counters by kind and name, for kinds that some port has.
    pub fn by_name(&self) -> BTreeMap<String, BTreeMap<String, u64>> {
        let kinds = self.counts.iter().zip(AnyPortMechanism::COUNTERS).filter(|(counts, _)| !counts.is_empty());
        let named = |(counts, (kind, counters)): (&Vec<u64>, &(&str, &[protocols::port::Counter]))| {
            let values = counters.iter().zip(counts).map(|(counter, count)| (counter.name.to_owned(), *count));
            ((*kind).to_owned(), values.collect())
        };
        kinds.map(named).collect()
    }
}

impl Pack for MechanismCounts {
    fn pack(&self, to: &mut Vec<u8>) {
        self.counts.pack(to);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Some(MechanismCounts { counts: Pack::unpack(from)? })
    }
}
