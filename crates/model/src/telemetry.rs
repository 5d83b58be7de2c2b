//! Storage of in-band telemetry ([`protocols::telemetry`]), separate from frames, so that frames without telemetry do
//! not carry it.
//!
//! A record belongs to one frame, and a frame to one node at a time, since frames move only between windows. So a
//! record has no concurrent users, and its content does not depend on the number of threads. The record number may
//! depend on it, but does not affect any result. The records of each source host share a lock, which only nodes with
//! frames of that host take. A second mailbox per link for records would avoid the lock, but add a queue to each link.

use protocols::telemetry::{Hop, RecordId};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Records of all hosts.
#[derive(Debug)]
pub(crate) struct Telemetry {
    hosts: Box<[Mutex<Records>]>,
}

/// Records of frames of one host.
#[derive(Debug, Default)]
struct Records {
    records: Vec<Vec<Hop>>,
    free: Vec<u32>,
}

impl Telemetry {
    /// Creates the storage for frames of `hosts` hosts.
    pub fn new(hosts: usize) -> Telemetry {
        Telemetry { hosts: (0..hosts).map(|_| Mutex::default()).collect() }
    }

    fn of(&self, host: u32) -> MutexGuard<'_, Records> {
        // A poisoned lock is safe to use: a panic ends the run, and an interrupted update does not leave the records
        // inconsistent.
        self.hosts[host as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates a record with the content `hops` for a frame of `host`.
    pub fn open(&self, host: u32, hops: &[Hop]) -> RecordId {
        let mut of = self.of(host);
        let slot = of.free.pop().unwrap_or_else(|| {
            of.records.push(Vec::new());
            of.records.len() as u32 - 1
        });
        of.records[slot as usize].extend_from_slice(hops);
        RecordId { host, slot }
    }

    /// Appends a hop when the frame of `record` starts transmission at a switch.
    pub fn append(&self, record: RecordId, hop: Hop) {
        self.of(record.host).records[record.slot as usize].push(hop);
    }

    /// Frees the record of an arrived frame and moves its hops to `hops`, replacing its content.
    pub fn take(&self, record: RecordId, hops: &mut Vec<Hop>) {
        hops.clear();
        let mut of = self.of(record.host);
        hops.append(&mut of.records[record.slot as usize]);
        of.free.push(record.slot);
    }

    /// Frees the record of a lost frame.
    pub fn close(&self, record: RecordId) {
        let mut of = self.of(record.host);
        of.records[record.slot as usize].clear();
        of.free.push(record.slot);
    }

    /// Returns the number of allocated records.
    pub fn in_use(&self) -> usize {
        (0..self.hosts.len() as u32).map(|host| self.of(host)).map(|of| of.records.len() - of.free.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use units::random::Stream;
    use units::{Rate, Time};

    /// Model-based test: random operations give the same hops as on a map from records to hops.
    #[test]
    fn a_record_has_the_hops_of_its_frame() {
        let mut random = Stream::new(1, 0, 0);
        let (telemetry, mut known) = (Telemetry::new(3), BTreeMap::<(u32, u32), Vec<Hop>>::new());
        let hop = |number| Hop {
            at: Time::from_ps(number),
            rate: Rate::from_gbps(1),
            queue_bytes: number,
            sent_bytes: 2 * number,
            probe_bytes: 0,
        };
        let mut hops = Vec::new();
        for step in 0..20_000 {
            let some = |known: &BTreeMap<(u32, u32), Vec<Hop>>, at: u64| {
                known.keys().nth(at as usize % known.len()).map(|&(host, slot)| RecordId { host, slot })
            };
            let what = if known.is_empty() { 0 } else { random.below(4) };
            match what {
                0 => {
                    let record = telemetry.open(random.below(3) as u32, &[hop(step)]);
                    assert_eq!(known.insert((record.host, record.slot), vec![hop(step)]), None, "given away twice");
                }
                1 => {
                    let record = some(&known, random.next_u64() >> 1).unwrap();
                    telemetry.append(record, hop(step));
                    known.get_mut(&(record.host, record.slot)).unwrap().push(hop(step));
                }
                2 => {
                    let record = some(&known, random.next_u64() >> 1).unwrap();
                    telemetry.take(record, &mut hops);
                    assert_eq!(known.remove(&(record.host, record.slot)).as_ref(), Some(&hops));
                }
                _ => {
                    let record = some(&known, random.next_u64() >> 1).unwrap();
                    telemetry.close(record);
                    known.remove(&(record.host, record.slot));
                }
            }
            assert_eq!(telemetry.in_use(), known.len());
        }
    }
}
