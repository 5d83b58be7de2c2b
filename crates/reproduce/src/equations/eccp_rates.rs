//! Bounds of the rates in figure 2.17 of the thesis that follow from its equations.

use super::eccp::{FLOWS, GAINS, LINK, parameters};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::trial::Trial;
use text::{Layout, table};
use units::WIRE_OVERHEAD_BYTES;

/// Greatest and least rate of figure 2.17 with BC = 750 KB, in Gbps.
const PRINTED_GBPS: [f64; 2] = [2.293, 1.49];

/// Mean length of a frame in table 2.1.
const FRAME_BYTES: f64 = 1000.0;

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

/// Returns the rate without preamble and gap of frames of [`FRAME_BYTES`], of a rate on the wire.
fn without_overhead(wire_gbps: f64) -> f64 {
    wire_gbps * FRAME_BYTES / (FRAME_BYTES + WIRE_OVERHEAD_BYTES as f64)
}

/// Returns the largest share of a rate that one cut removes: Fb is -A_eq - w at least, since A_r lies between 0 and 1.
fn largest_cut(gain: f64) -> f64 {
    let p = parameters(gain, false);
    (gain * (p.equilibrium + p.weight)).min(p.largest_cut)
}

/// Runs the experiment `eccp/fig2.17`.
pub fn rates(trial: &mut Trial) -> Result<(), Failure> {
    let [most, least] = PRINTED_GBPS;
    // The thesis does not state whether a rate includes preamble and gap.
    for (reading, gbps) in [
        ("on the wire", uncut_gbps(true)),
        ("frames of 1000 B without preamble and gap", without_overhead(uncut_gbps(true))),
    ] {
        let name = format!("BC = 750 KB: rate that four equal flows reach without a cut, {reading}");
        let check = Check::new(name, "Gbps", gbps, Relation::Equal, most, 0.0005);
        let note = "\"between 1.49 and 2.293\": no notification cuts them earlier; 0.0005: the printed digit";
        trial.check(check.note(note));
    }
    let gains = [("100/128", 100.0 / 128.0), ("1/5", 0.2), ("1/10", 0.1), ("1/20", 0.05), ("1/100", 0.01)];
    let cuts = |gain: f64| libm::ceil(libm::log(least / most) / libm::log(1.0 - largest_cut(gain)));
    let row = |(name, gain): (&str, f64)| {
        vec![name.to_owned(), format!("{:.1}", 100.0 * largest_cut(gain)), cuts(gain).to_string()]
    };
    trial.show("  largest cut of a rate, in %, and successive cuts of this size from 2.293 to 1.49 Gbps\n");
    trial.show(&table(&["Gd", "cut", "cuts"], &gains.map(row), 1, Layout::Fixed, 2));
    let of = |probes| format!("{:.3}", uncut_gbps(probes));
    let frames = |gbps: f64| format!("{:.3}", without_overhead(gbps));
    let row = |load: &str, probes| vec![load.to_owned(), of(probes), frames(uncut_gbps(probes))];
    let rows = [row("data only (2.9)", false), row("data and probes", true)];
    trial.show("  rate of each of four equal flows without a cut, in Gbps on the wire, and without preamble and gap\n");
    trial.show(&table(&["load", "wire", "frames of 1000 B"], &rows, 1, Layout::Fixed, 2));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A_r = 2.5 / 3 = 0.8333: 10 / (4 + 0.08333) = 2.44898 Gbps, and 10 / (4.2 + 0.08333) = 2.33463 Gbps with probes.
    /// Without 20 B of 1020 B on the wire 2.33463 are 2.28885 Gbps.
    /// Cuts: 2.5 / 20 = 12.5 %, 2.5 / 100 = 2.5 %, 2.5 / 5 = 50 %.
    #[test]
    fn bounds_by_hand() {
        assert!((uncut_gbps(false) - 2.44898).abs() < 1e-5 && (uncut_gbps(true) - 2.33463).abs() < 1e-5);
        assert!((without_overhead(uncut_gbps(true)) - 2.28885).abs() < 1e-5);
        let cuts = [100.0 / 128.0, 0.2, 0.05, 0.01].map(|gain| (1000.0 * largest_cut(gain)).round());
        assert_eq!(cuts, [500.0, 500.0, 125.0, 25.0]);
    }
}
