//! SONiC's remapping between the ToRs of a pair is safe; without it there is a cycle.

mod common;

use common::{dual_tor, judge, leaf_spine};
use running::{FindingKind, PathSet};

#[test]
fn a_healthy_leaf_spine_is_safe() {
    let report = judge(&leaf_spine(4, 2, 2), PathSet::Shortest);
    assert!(report.safe(), "{:#?}", report.findings);
    assert!(report.counts.accounts > 0 && report.counts.dependencies > 0, "{:?}", report.counts);
}

#[test]
fn sonics_remapping_is_safe_and_the_same_fabric_without_it_deadlocks() {
    let with = judge(&dual_tor(true), PathSet::Shortest);
    assert!(with.safe(), "{:#?}", with.findings);
    assert!(with.assumptions.iter().any(|it| it.contains("do not send DSCP 2 and 6")), "{:#?}", with.assumptions);
    let without = judge(&dual_tor(false), PathSet::Shortest);
    let kinds: Vec<FindingKind> = without.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Deadlock], "{:#?}", without.findings);
    let cycle: Vec<String> = without.cycle.iter().map(|link| format!("{link} {:?}", link.priorities)).collect();
    assert_eq!(
        cycle,
        [
            "tor-a:Ethernet112 -> t1-1:Ethernet0 [3]",
            "t1-1:Ethernet4 -> tor-b:Ethernet112 [3]",
            "tor-b:Ethernet112 -> t1-1:Ethernet4 [3]",
            "t1-1:Ethernet0 -> tor-a:Ethernet112 [3]",
        ]
    );
}
