//! Bounds of the rates in figure 2.17 of the thesis that follow from its equations.

use super::eccp::{FLOWS, GAINS, LINK, parameters};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::trial::Trial;
use text::{Layout, table};
use units::WIRE_OVERHEAD_BYTES;

/// Greatest and least rate of figure 2.17 with BC = 750 KB, in Gbps.
const PRINTED_GBPS: [f64; 2] = [2.293, 1.49];

/// Returns the rate in Gbps that each of four equal flows reaches before the first notification can cut it. A cut needs
/// Fb < 0; from A_old = 1, (2.6) gives Fb = A_r - A_eq + w (A_r - 1), which is negative below
/// A_r = (A_eq + w) / (1 + w). With `probes`, the mean load of the probes of all flows, AvT R / 2 each, reduces the
/// available bandwidth of (2.9).
fn uncut_gbps(probes: bool) -> f64 {
    let p = parameters(GAINS[0].1, false);
    let ratio = (p.equilibrium + p.weight) / (1.0 + p.weight);
    let load = if probes { FLOWS * (1.0 + p.available / 2.0) } else { FLOWS };
    LINK / (load + ratio * p.available) / 1e9
}

/// Returns the largest share of a rate that one cut removes: Fb is -A_eq - w at least, since A_r lies between 0 and 1.
fn largest_cut(gain: f64) -> f64 {
    let p = parameters(gain, false);
    (gain * (p.equilibrium + p.weight)).min(p.largest_cut)
}

/// Runs the experiment `eccp/fig2.17`.
pub fn rates(trial: &mut Trial) -> Result<(), Failure> {
    let [most, least] = PRINTED_GBPS;
    let name = "BC = 750 KB: rate that four equal flows reach without a cut, on the wire";
    let check = Check::new(name, "Gbps", uncut_gbps(true), Relation::Equal, most, 0.01);
    trial.check(check.note("\"not exceeding 2.293\": no notification cuts them earlier"));
    let frame_bytes = 1000.0;
    let without_overhead = uncut_gbps(true) * frame_bytes / (frame_bytes + WIRE_OVERHEAD_BYTES as f64);
    let name = "the same, of frames of 1000 B without preamble and gap";
    trial.check(Check::new(name, "Gbps", without_overhead, Relation::Equal, most, 0.01).consistency());
    let needed = 1.0 - least / most;
    for (name, gain) in GAINS {
        let claim = format!("BC = 750 KB, Gd = {name}: largest cut, which leads from 2.293 to 1.49 Gbps");
        trial.check(Check::new(claim, "%", 100.0 * largest_cut(gain), Relation::AtLeast, 100.0 * needed, 0.0));
    }
    let gains = [("100/128", 100.0 / 128.0), ("1/5", 0.2), ("1/10", 0.1), ("1/20", 0.05), ("1/100", 0.01)];
    let rows = gains.map(|(name, gain)| vec![name.to_owned(), format!("{:.1}", 100.0 * largest_cut(gain))]);
    trial.show("  largest cut of a rate, in %\n");
    trial.show(&table(&["Gd", "cut"], &rows, 1, Layout::Fixed, 2));
    let of = |probes| format!("{:.3}", uncut_gbps(probes));
    let rows = [vec!["data only (2.9)".to_owned(), of(false)], vec!["data and probes".to_owned(), of(true)]];
    trial.show("  rate of each of four equal flows without a cut, in Gbps on the wire\n");
    trial.show(&table(&["load", "rate"], &rows, 1, Layout::Fixed, 2));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A_r = 2.5 / 3 = 0.8333: 10 / (4 + 0.08333) = 2.44898 Gbps, and 10 / (4.2 + 0.08333) = 2.33463 Gbps with probes.
    /// Cuts: 2.5 / 20 = 12.5 %, 2.5 / 100 = 2.5 %, 2.5 / 5 = 50 %.
    #[test]
    fn bounds_by_hand() {
        assert!((uncut_gbps(false) - 2.44898).abs() < 1e-5 && (uncut_gbps(true) - 2.33463).abs() < 1e-5);
        let cuts = [100.0 / 128.0, 0.2, 0.05, 0.01].map(|gain| (1000.0 * largest_cut(gain)).round());
        assert_eq!(cuts, [500.0, 500.0, 125.0, 25.0]);
    }
}
