//! ECCP's dumbbell, figures 2.10 to 2.17 of the thesis, as a fluid model.

use super::eccp::{FLOWS, GAINS, model_of, parameters};
use super::track::Track;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::trial::Trial;
use fluid::models::eccp::Parameters;
use text::{Layout, table};

/// Returns mean, minimum and maximum of the total cross traffic of four flows in Gbps, and the maximum queue length in
/// KB, between 0.2 s and 2 s.
fn cross_traffic(gain: f64, tau: f64, byte_counter: f64) -> [f64; 4] {
    let mut model = model_of(Parameters { byte_counter, ..parameters(gain, false) }, tau);
    let track = Track::of(&mut model, [0.2, 2.0], 1e-4);
    let (total, queue) = (track.late(|state| FLOWS * state[0] / 1e9), track.late(|state| state[3] / 8e3));
    let most = |values: &[f64]| values.iter().copied().reduce(f64::max).unwrap_or(f64::NAN);
    let least = total.iter().copied().reduce(f64::min).unwrap_or(f64::NAN);
    [track.mean(|state| FLOWS * state[0] / 1e9), least, most(&total), most(&queue)]
}

/// Loop delays tau of figure 2.10 in ms, and `true` if tau is below the 1.482 ms of lemma 2.1 (stable).
const DELAYS: [(f64, bool); 6] = [(0.3, true), (0.6, true), (1.2, true), (1.8, false), (2.4, false), (3.3, false)];

/// Runs the experiment `eccp/fluid`. If the model has no solution, its checks fail.
pub fn dumbbell(trial: &mut Trial) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let mut means = Vec::new();
    for (milliseconds, stable) in DELAYS {
        for (name, gain) in GAINS {
            let result = cross_traffic(gain, milliseconds * 1e-3, 6e6);
            let mut row = vec![format!("tau = {milliseconds} ms"), name.to_owned()];
            row.extend(result.map(|number| format!("{number:.3}")));
            rows.push(row);
            if gain < 0.1 {
                continue;
            }
            let [mean, least, most, _] = result;
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
    trial.check(Check::exact(name, "Gbps", rise, Relation::Above, 0.0));
    for (kilobytes, stable) in [(150.0, false), (450.0, false), (600.0, true), (750.0, true)] {
        let result = cross_traffic(GAINS[0].1, 40e-6, kilobytes * 8e3);
        let mut row = vec![format!("BC = {kilobytes} KB"), GAINS[0].0.to_owned()];
        row.extend(result.map(|number| format!("{number:.3}")));
        rows.push(row);
        let spread = if stable { Relation::AtMost } else { Relation::Above };
        let name = format!("figure 2.14, BC = {kilobytes} KB: spread of the cross traffic");
        trial.check(Check::new(name, "Gbps", result[2] - result[1], spread, 1.0, 0.0));
    }
    trial.show("  the fluid from 0.2 to 2 s: cross traffic in Gbps, and the longest queue in KB\n");
    trial.show(&table(&["", "G_d", "mean", "least", "most", "queue"], &rows, 2, Layout::Fixed, 2));
    Ok(())
}
