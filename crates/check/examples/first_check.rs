//! Every frame must have exactly one fate. In this example one frame is missing, so the check fails.
//!
//! ```text
//!  10 injected ---> [ network ] ---> 7 delivered
//!                    |       \-----> 1 dropped: queue full
//!                    1 in flight      1 missing
//! ```
use check::{Cause, PacketLedger};

pub(crate) fn main() {
    let mut ledger = PacketLedger::default();
    (0..10).for_each(|_| ledger.injected.count(1000));
    (0..7).for_each(|_| ledger.delivered_whole.count(1000));
    ledger.drop_frame(Cause::NoRoom, 1000);
    ledger.in_flight.count(1000);
    let verdict = ledger.verdict();
    println!("{}: {}", verdict.name, verdict.detail);
    assert!(!verdict.pass);
    ledger.in_flight.count(1000);
    assert!(ledger.verdict().pass);
}
