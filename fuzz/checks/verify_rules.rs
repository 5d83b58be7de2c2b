//! Rule files: any bytes are an error or rules, and rules of a fabric get a consistent verdict.

use fabric::LinkSpec;
use fabric::generate::{TierLinks, leaf_spine};
use units::{Rate, Time};
use verify::{RuleFile, Verifier, fabric_hash};

/// Fails on bytes that violate the property.
pub fn check(bytes: &[u8]) {
    let mut file = match RuleFile::parse(bytes) {
        Ok(file) => file,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(10), Time::from_ns(1)));
    let fabric = leaf_spine(3, 2, 1, 1, links).expect("a fabric");
    // A fuzzer cannot guess the hash.
    file.fabric.hash = fabric_hash(&fabric);
    (file.fabric.switches, file.fabric.hosts, file.fabric.links) = (None, None, None);
    let mut verifier = match Verifier::new(&fabric, &file) {
        Ok(verifier) => verifier,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    verifier.expect_list("H1 L1 S1 L2 H2\nL3 S2 L1\n".as_bytes()).expect("paths of this fabric");
    let verdict = verifier.finish();
    // A cycle of reachable queues is also a cycle of all queues.
    assert!(verdict.reachable_cycle.is_none() || verdict.cycle.is_some());
    assert_eq!(verdict.counts.lost == 0, verdict.lost.is_empty());
    for cycle in verdict.cycle.iter().chain(&verdict.reachable_cycle) {
        assert!(cycle.links.len() > 1 && cycle.shortest);
        let next = cycle.links.iter().cycle().skip(1);
        assert!(cycle.links.iter().zip(next).all(|(link, next)| link.to == next.from));
    }
    let failed = verdict.decrease.is_some() || verdict.cycle.is_some() || !verdict.lost.is_empty();
    assert_eq!(verdict.pass(), !failed);
}
