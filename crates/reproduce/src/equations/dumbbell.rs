//! ECCP's dumbbell, figures 2.10 to 2.17 of the thesis, as far as its fluid goes.

use super::eccp::{FLOWS, GAINS, model_of, parameters};
use super::track::Track;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::trial::Trial;
use fluid::models::eccp::Parameters;
use text::{Layout, table};

/// Why figures of the thesis's simulator, with packets, are not judged.
const PACKETS: &str = "a figure of packets; the fluid's number is shown";
/// The same of what a fluid has no number for.
const NO_FLUID: &str = "a figure of packets, which equations do not judge";

/// The cross traffic of four flows in Gbps, mean, least and greatest, and the longest queue in KB, from 0.2 to 2 s.
fn cross_traffic(gain: f64, tau: f64, byte_counter: f64) -> [f64; 4] {
    let mut model = model_of(Parameters { byte_counter, ..parameters(gain, false) }, tau);
    let track = Track::of(&mut model, [0.2, 2.0], 1e-4);
    let (total, queue) = (track.late(|state| FLOWS * state[0] / 1e9), track.late(|state| state[3] / 8e3));
    let most = |values: &[f64]| values.iter().copied().reduce(f64::max).unwrap_or(f64::NAN);
    let least = total.iter().copied().reduce(f64::min).unwrap_or(f64::NAN);
    [track.mean(|state| FLOWS * state[0] / 1e9), least, most(&total), most(&queue)]
}

/// Delays tau of figure 2.10, in ms, and whether they are below the 1.482 ms of lemma 2.1.
const DELAYS: [(f64, bool); 6] = [(0.3, true), (0.6, true), (1.2, true), (1.8, false), (2.4, false), (3.3, false)];

/// What figures 2.11 to 2.21 show of packets: the claim, its unit, and the thesis's number.
const OF_PACKETS: [(&str, &str, Relation, f64); 19] = [
    ("figure 2.12, tau = 0.3 ms: 99 % of queues", "KB", Relation::Below, 6.72),
    ("figure 2.12, tau = 0.6 ms: 99 % of queues", "KB", Relation::Below, 6.78),
    ("figure 2.12, tau = 1.2 ms: 99 % of queues", "KB", Relation::Below, 21.9),
    ("figure 2.12, tau of 1.8 ms and more: 99 % of queues, up to", "KB", Relation::AtMost, 294.4),
    ("figure 2.13, tau up to 1.2 ms: Jain's index of mean rates", "1", Relation::Above, 0.95),
    ("figure 2.16, BC = 750 KB: 99 % of queues", "KB", Relation::Below, 6.9),
    ("figure 2.16, BC = 600 KB: 99 % of queues", "KB", Relation::Below, 6.8),
    ("figure 2.16, BC = 150 and 450 KB: 99 % of queues, up to", "KB", Relation::AtMost, 299.0),
    ("figure 2.17, BC = 750 KB: least rate of a flow", "Gbps", Relation::AtLeast, 1.49),
    ("figure 2.17, BC = 750 KB: greatest rate of a flow", "Gbps", Relation::AtMost, 2.293),
    ("figure 2.17, BC = 600 KB: least rate of a flow", "Gbps", Relation::AtLeast, 1.5928),
    ("figure 2.17, BC = 600 KB: greatest rate of a flow", "Gbps", Relation::AtMost, 3.7226),
    ("figure 2.19: where strain begins, off the available bandwidth of 6 Gbps", "%", Relation::AtMost, 5.0),
    ("figure 2.19: where strain begins, off the available bandwidth of 5 Gbps", "%", Relation::AtMost, 5.0),
    ("figure 2.19: where strain begins, off the available bandwidth of 1.5 Gbps", "%", Relation::AtMost, 5.0),
    ("figure 2.21, 4 s to 12.4 s: sum of the rates", "Gbps", Relation::AtMost, 9.5),
    ("figure 2.21, 12.4 s to 14.2 s: rate of each host", "Gbps", Relation::AtMost, 4.75),
    ("section 2.4: probes, of the link", "%", Relation::AtMost, 5.0),
    ("(2.21): frames lost when a flow begins at B / T", "frames", Relation::Equal, 0.0),
];

/// Runs `eccp/fig2.10`.
///
/// # Errors
/// None: what cannot be solved fails its checks.
pub fn dumbbell(trial: &mut Trial) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let mut means = Vec::new();
    for (milliseconds, stable) in DELAYS {
        for (name, gain) in GAINS {
            let told = cross_traffic(gain, milliseconds * 1e-3, 6e6);
            let mut row = vec![format!("tau = {milliseconds} ms"), name.to_owned()];
            row.extend(told.map(|number| format!("{number:.3}")));
            rows.push(row);
            if gain < 0.1 {
                continue;
            }
            let [mean, least, most, _] = told;
            means.push(mean);
            let name = |what: &str| format!("tau = {milliseconds} ms: {what} of the cross traffic");
            let spread = if stable { Relation::AtMost } else { Relation::Above };
            trial.check(Check::new(name("spread"), "Gbps", most - least, spread, 1.0, 0.0));
            let bound = if stable { Relation::AtLeast } else { Relation::Below };
            trial.check(Check::new(name("least"), "Gbps", least, bound, 9.0, 0.0));
        }
    }
    let falls = means.windows(2).filter(|pair| pair[1] >= pair[0]).count() as f64;
    let name = "steps from tau to tau, up to 2.4 ms, at which the mean does not fall";
    let rise = means[5] - means[4];
    trial.check(Check::exact(name, "of 4", falls - f64::from(u8::from(rise >= 0.0)), Relation::Equal, 0.0));
    let name = "tau = 3.3 ms: what the mean rises above that at 2.4 ms";
    trial.check(Check::exact(name, "Gbps", rise, Relation::Above, 0.0).unjudged(PACKETS));
    for (kilobytes, stable) in [(150.0, false), (450.0, false), (600.0, true), (750.0, true)] {
        let told = cross_traffic(GAINS[0].1, 40e-6, kilobytes * 8e3);
        let mut row = vec![format!("BC = {kilobytes} KB"), GAINS[0].0.to_owned()];
        row.extend(told.map(|number| format!("{number:.3}")));
        rows.push(row);
        let spread = if stable { Relation::AtMost } else { Relation::Above };
        let name = format!("figure 2.14, BC = {kilobytes} KB: spread of the cross traffic");
        trial.check(Check::new(name, "Gbps", told[2] - told[1], spread, 1.0, 0.0).unjudged(PACKETS));
    }
    trial.show("  the fluid from 0.2 to 2 s: cross traffic in Gbps, and the longest queue in KB\n");
    trial.show(&table(&["", "G_d", "mean", "least", "most", "queue"], &rows, 2, Layout::Fixed, 2));
    for (name, unit, relation, thesis) in OF_PACKETS {
        trial.check(Check::unmeasured(name, unit, relation, thesis, NO_FLUID));
    }
    Ok(())
}
