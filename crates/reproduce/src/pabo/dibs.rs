//! Section VII: the order of packets with PABO and with DIBS, which detours packets by a random port. The paper has no
//! measurement, only the statement.

use super::fat_tree::{ALONE, CASES, Case, displaced, mean, seeds};
use super::hop_by_hop::lost;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::trial::{Trial, TrialResult};
use text::{Layout, table};

/// Queues of DIBS: those of PABO's packets that were never bounced, and both queues of a port together.
const QUEUES: [&str; 2] = ["100 packets", "200 packets"];

/// Returns the changes for DIBS. Each detour costs TTL, so frames start with the largest.
fn dibs(queue: &str) -> [(&'static str, String); 3] {
    [
        ("switch.overload", "\"detour\"".to_owned()),
        ("switch.queue", format!("\"{queue}\"")),
        ("host.ttl", "255".to_owned()),
    ]
}

fn run(
    trial: &Trial,
    case: &Case,
    seeds: u64,
    changes: &[(&'static str, String)],
) -> Result<Vec<TrialResult>, Failure> {
    (1..=seeds).map(|seed| case.run(trial, seed, changes)).collect()
}

fn entropy(result: &TrialResult) -> f64 {
    result.summary.reordering.unwrap_or_default().entropy_nats
}

/// Runs the experiment `pabo/dibs`.
pub fn beside_dibs(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = seeds(trial);
    let mut rows = Vec::new();
    for case in [&CASES[0], &CASES[3]] {
        let pabo = run(trial, case, seeds, &[])?;
        let (pabo_entropy, pabo_share) = (mean(&pabo, entropy), mean(&pabo, displaced));
        rows.push(vec![format!("{}: PABO", case.name), format!("{pabo_entropy:.2}"), format!("{pabo_share:.1}")]);
        for queue in QUEUES {
            let found = run(trial, case, seeds, &dibs(queue))?;
            let (entropy, share) = (mean(&found, entropy), mean(&found, displaced));
            let what = format!("{}: DIBS, {queue}", case.name);
            rows.push(vec![what, format!("{entropy:.2}"), format!("{share:.1}")]);
            let name = |what: &str| format!("{}: {what} with PABO, against DIBS with queues of {queue}", case.name);
            let note = "\"more manageable in maintaining packet order\": the other side is measured, means over seeds";
            let check = Check::new(name("reorder entropy"), "nats", pabo_entropy, Relation::Below, entropy, 0.0);
            trial.check(check.note(note));
            let check = Check::new(name("packets out of order"), "%", pabo_share, Relation::Below, share, 0.0);
            trial.check(check.note(note));
            let lost = found.iter().map(lost).sum::<u64>() as f64;
            let name = format!("{}: frames lost with DIBS and queues of {queue}", case.name);
            trial.check(Check::exact(name, "frames", lost, Relation::Equal, 0.0).consistency());
        }
    }
    trial.show("  reorder entropy in nats, and packets out of order in %; means over seeds\n");
    trial.show(&table(&["", "entropy", "out of order"], &rows, 1, Layout::Fixed, 2));
    let alone = ALONE.run(trial, 1, &dibs(QUEUES[0]))?;
    let name = "negative control: reorder entropy with DIBS and one server";
    trial.check(Check::exact(name, "nats", entropy(&alone), Relation::Equal, 0.0).consistency());
    Ok(())
}
