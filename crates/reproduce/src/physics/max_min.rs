//! Max-min fair shares of a bottleneck.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::registry::{MAX_MIN, MAX_MIN_TCP};
use crate::trial::Trial;

/// Runs the experiment `physics/max-min`.
pub fn max_min(trial: &mut Trial) -> Result<(), Failure> {
    let result = trial.run(&MAX_MIN, &[])?;
    let got: Vec<f64> = (0..5).map(|entry| result.goodput(entry) / 1e9).collect();
    // Ratio of goodput to wire rate: frames of 1062 bytes plus 20 bytes of preamble and gap carry 1000 bytes of payload
    // with RoCE and 1016 bytes as datagrams.
    let modest = 0.5 * 1016.0 / 1082.0;
    let share = (10.0 - 0.5) / 4.0 * 1000.0 / 1082.0;
    let name = "modest: gets what it asks for, 500 Mbps of the wire";
    trial.check(Check::new(name, "Gbps", got[0], Relation::Equal, modest, 0.01 * modest));
    for (number, &goodput) in got.iter().enumerate().skip(1) {
        let name = format!("H{}: gets a quarter of the rest", number + 1);
        trial.check(Check::new(name, "Gbps", goodput, Relation::Equal, share, 0.01 * share));
    }
    trial.check(Check::exact("frames lost", "frames", result.overflowed() as f64, Relation::Equal, 0.0));
    let rows: Vec<(String, Vec<f64>)> = ["modest", "H2", "H3", "H4", "H5"]
        .iter()
        .zip(&got)
        .map(|(name, &got)| ((*name).to_owned(), vec![got]))
        .collect();
    trial.show("  RoCE under PFC: goodput in Gbps\n");
    trial.show(&bars("", &["goodput"], 10.0, &rows));

    let seconds = trial.shorten("simulated s of TCP", 60, 15);
    let result = trial.run(&MAX_MIN_TCP, &[("duration", format!("\"{seconds}s\""))])?;
    let got: Vec<f64> = (0..4).map(|entry| result.goodput(entry) / 1e6).collect();
    let total: f64 = got.iter().sum();
    let jain = total * total / (4.0 * got.iter().map(|got| got * got).sum::<f64>());
    let note = "drop-tail's phase effects keep it from 1 (Floyd and Jacobson, 1992)";
    trial.check(Check::new("TCP: Jain's index of four flows", "index", jain, Relation::AtLeast, 0.9, 0.0).note(note));
    let capacity = 100.0 * 1460.0 / 1538.0;
    trial.check(Check::new(
        "TCP: together they fill the link",
        "Mbps",
        total,
        Relation::Equal,
        capacity,
        0.05 * capacity,
    ));
    let longer = [("duration", format!("\"{seconds}s\"")), ("fabric.link.edge.loss", "0.01".to_owned())];
    let starved = trial.run(&MAX_MIN_TCP, &longer)?.total_goodput() / 1e6;
    let name = "negative control: TCP does not fill a link that loses one frame in a hundred";
    trial.check(Check::new(name, "Mbps", starved, Relation::Below, 0.95 * capacity, 0.0).consistency());
    let rows: Vec<(String, Vec<f64>)> =
        got.iter().enumerate().map(|(number, &got)| (format!("H{}", number + 1), vec![got])).collect();
    trial.show("  TCP under drop-tail: goodput in Mbps\n");
    trial.show(&bars("", &["goodput"], 100.0, &rows));
    Ok(())
}
