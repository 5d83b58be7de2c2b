//! User-defined flow control in one file, as described in ARCHITECTURE.md: the XOFF threshold divides the free buffer
//! among the accounts that already pause a neighbour.

use crate::bench::*;
use fabric::generate::{TierLinks, leaf_spine};
use model::custom::{Account, CustomPause, PauseRule};
use model::parameters::*;
use units::Time;

/// XOFF at an eighth of the free buffer; with `by_stopping`, lower if several accounts pause.
#[derive(Debug)]
struct Shared {
    by_stopping: bool,
}

impl PauseRule for Shared {
    fn xoff_bytes(&self, account: &Account) -> u64 {
        let eighth = account.free_bytes / 8;
        if self.by_stopping { eighth / u64::from(1 + account.pausing_accounts) } else { eighth }
    }

    fn xon_bytes(&self, account: &Account) -> u64 {
        self.xoff_bytes(account).saturating_sub(3000)
    }
}

/// 12 hosts at four leaves; eight hosts send to one under PFC, with a user-defined rule or without.
fn setup_with(rule: Option<Shared>, threads: usize) -> Setup {
    let links = TierLinks { host: link(10, 500), edge: link(10, 500), core: link(10, 500) };
    let flows = (3..11).map(|src| flow(src, 0, 200_000));
    let base = setup(leaf_spine(4, 2, 3, 1, links).unwrap(), plan(12, flows));
    let pfc = PauseParameters { xoff: Threshold::Dynamic { alpha: (1, 8) }, ..pause(0) };
    let buffer = Buffer::Shared { bytes: 300_000, egress: Threshold::Dynamic { alpha: (1, 1) } };
    Setup {
        switch: SwitchParameters { buffer, flow_control: FlowControl::Pfc(pfc), ..base.switch },
        pause_rule: rule.map(CustomPause::new),
        threads,
        record: RecordParameters { pauses: true, ..RecordParameters::default() },
        duration: Time::from_ms(4),
        ..base
    }
}

fn results(rule: Option<Shared>, threads: usize) -> (String, usize) {
    let results = run(setup_with(rule, threads));
    let pauses = results.pauses.len();
    (format!("{:?} {:?} {:?}", results.flows, results.pauses, results.all_hold().summary.packets), pauses)
}

#[test]
fn a_rule_with_the_standard_thresholds_equals_the_standard() {
    let plain = results(None, 1);
    assert!(plain.1 > 20, "{} pauses", plain.1);
    assert_eq!(results(Some(Shared { by_stopping: false }), 1), plain);
}

#[test]
fn one_of_its_own_stops_otherwise_and_loses_nothing() {
    let own = results(Some(Shared { by_stopping: true }), 1);
    assert_ne!(own, results(None, 1));
    assert_eq!(results(Some(Shared { by_stopping: true }), 2), own, "on any number of threads");
}
