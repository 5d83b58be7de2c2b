//! Throughput of an overloaded port with trimming, compared with closed forms.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::TRIM_OVERLOAD;
use crate::trial::{Trial, TrialResult};
use text::{Layout, table};

/// Sizes of a frame and a header on the wire, including preamble and gap, in bytes.
const FRAME_BYTES: f64 = 1538.0;
const HEADER_BYTES: f64 = 84.0;
/// Capacity of the header queue, and size of a queued header, in bytes.
const HEADER_QUEUE_BYTES: f64 = 1e6;
const QUEUED_HEADER_BYTES: f64 = 64.0;
/// Time on the wire of a frame at 100 Gbps, in us.
const FRAME_US: f64 = 0.12304;

/// Returns the share of the link rate that whole frames get if `senders` senders send at line rate. Per frame time, x
/// frames and y headers fill the link: x + y = senders and 1538 x + 84 y = 1538. Returns 0 if the headers alone exceed
/// the link rate.
fn share(senders: f64) -> f64 {
    let header = HEADER_BYTES / FRAME_BYTES;
    ((1.0 - senders * header) / (1.0 - header)).max(0.0)
}

/// Returns the numbers of delivered whole frames, delivered headers and dropped frames.
fn result(result: &TrialResult) -> (f64, f64, f64) {
    let packets = &result.summary.packets;
    (packets.delivered_whole as f64, packets.delivered_trimmed as f64, packets.dropped_total() as f64)
}

/// Runs the experiment `trim/overload`.
pub fn overload(trial: &mut Trial) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for senders in [2u32, 4, 8, 16] {
        let run = trial.run(&TRIM_OVERLOAD, &[("traffic.0.fan_in", senders.to_string())])?;
        let (whole, headers, lost) = result(&run);
        let slots = run.summary.simulated_ps as f64 / 1e6 / FRAME_US;
        let (ours, expected) = (whole / slots, share(f64::from(senders)));
        rows.push(vec![senders.to_string(), format!("{ours:.4}"), format!("{expected:.4}"), format!("{headers}")]);
        let name = format!("{senders} senders: share of the line that whole frames get");
        let check = Check::new(name, "", ours, Relation::Equal, expected, 20.0 / slots);
        trial.check(check.note("20 frames: what waits and is under way when the run begins and ends"));
        trial.check(
            Check::exact(format!("{senders} senders: frames lost"), "", lost, Relation::Equal, 0.0).consistency(),
        );
        let failed = run.failed_checks() as f64;
        let name = format!("{senders} senders: checks of the run that fail, conservation in bytes among them");
        trial.check(Check::exact(name, "", failed, Relation::Equal, 0.0).consistency());
    }
    trial.show("  whole frames on a line that several senders fill, as a share of what it carries\n");
    trial.show(&table(&["senders", "measured", "closed form", "headers delivered"], &rows, 0, Layout::Fixed, 2));

    // With 24 senders, the rate of headers exceeds the link rate, so that the header queue grows until it overflows.
    let run = trial.run(&TRIM_OVERLOAD, &[])?;
    let slot = 24.0 - FRAME_BYTES / HEADER_BYTES;
    let expected = HEADER_QUEUE_BYTES / QUEUED_HEADER_BYTES / slot * FRAME_US;
    let trims = run.summary.trims.clone().unwrap_or_default();
    let onset = trims.first_header_loss.map_or(f64::NAN, |first| first.at_ps as f64 / 1e6);
    let name = "24 senders: onset of header loss";
    let note = "the closed form leaves out the first frames and the way to the switch: about 2 us";
    trial.check(Check::new(name, "us", onset, Relation::Equal, expected, 3.0).note(note));

    // Negative control: without trimming, receivers get no headers of dropped frames.
    let changes = [("switch.overload", "drop".to_owned()), ("traffic.0.fan_in", "4".to_owned())];
    let (_, headers, lost) = result(&trial.run(&TRIM_OVERLOAD, &changes)?);
    let name = "negative control: without trimming, 4 senders: frames lost without a word";
    trial.check(Check::exact(name, "", lost, Relation::Above, 0.0).consistency());
    let name = "negative control: without trimming, 4 senders: headers delivered";
    trial.check(Check::exact(name, "", headers, Relation::Equal, 0.0).consistency());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn one_sender_gets_the_line_and_many_get_nothing() {
        assert!((share(1.0) - 1.0).abs() < 1e-12);
        assert_eq!(share(19.0), 0.0);
        // With two senders, two frames arrive per frame time: x whole frames and 2 - x headers fill the link.
        let x = share(2.0);
        assert!((1538.0 * x + 84.0 * (2.0 - x) - 1538.0).abs() < 1e-9);
    }
}
