//! Claims about the per-flow scheme under conditions that the paper's simulation leaves open: cables, and lost control
//! frames.

use super::series::Series;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::FLORAX_FIG3;
use crate::trial::Trial;
use text::{Layout, table};

/// Propagation delay of all links of figure 3, with the topology.
const CABLES: [(&str, &str); 4] =
    [("10us", "fig3.json"), ("100us", "fig3-100us.json"), ("300us", "fig3-300us.json"), ("1ms", "fig3-1ms.json")];

/// Runs the experiment `florax/cables`.
pub fn cables(trial: &mut Trial) -> Result<(), Failure> {
    let seconds = trial.shorten("seconds", 10, 3);
    let mut rows = Vec::new();
    for (delay, file) in CABLES {
        let changes = [("fabric.file", format!("\"{file}\"")), ("duration", format!("\"{seconds}s\""))];
        let run = Series::run(trial, &FLORAX_FIG3, &changes)?;
        let again: u64 = (0..3).map(|flow| run.sent_again(flow)).sum();
        rows.push(vec![delay.to_owned(), run.lost().to_string(), again.to_string()]);
        let name = format!("links of {delay}: frames lost under per flow, of any flow");
        let note = "\"didn't drop any of the packets from flow 1, 2 and 3\"; the paper gives no length of cables";
        trial.check(Check::exact(name, "frames", run.lost() as f64, Relation::Equal, 0.0).note(note));
    }
    trial.show("  per flow over cables: frames lost, and payload of flows 1 to 3 that was sent again, B\n");
    trial.show(&table(&["delay", "lost", "sent again"], &rows, 1, Layout::Fixed, 2));
    Ok(())
}

/// Runs the experiment `florax/xon-loss`.
pub fn xon_loss(trial: &mut Trial) -> Result<(), Failure> {
    let (mut rows, mut without_loss) = (Vec::new(), 0.0);
    for (loss, expiry) in [("0", "20ms"), ("0.01", "20ms"), ("0.1", "20ms"), ("0.3", "20ms"), ("0.3", "1000s")] {
        let changes = [
            ("fabric.control_loss", loss.to_owned()),
            ("switch.flow_control.expiry", expiry.to_owned()),
            ("duration", "\"10s\"".to_owned()),
        ];
        let run = Series::run(trial, &FLORAX_FIG3, &changes)?;
        let done = (0..3).filter(|&flow| run.done_s(flow) < 10.0).count() as f64;
        let pressure = run.pressure();
        let mut row = vec![format!("{loss}, {expiry}"), done.to_string()];
        row.extend([pressure.xoffs, pressure.xons, pressure.expiries, run.lost()].map(|count| count.to_string()));
        rows.push(row);
        if expiry == "20ms" {
            let name = format!("{loss} of control frames lost: files of flows 1 to 3 that arrive within 10 s");
            let note = "\"restored when this time expires or XON is received\"; 60 MB take 5.1 s without loss";
            let check = Check::exact(name, "files", done, Relation::Equal, 3.0).note(note);
            trial.check(check.consistency_if(loss == "0"));
            let expired = 100.0 * pressure.expiries as f64 / pressure.xoffs as f64;
            if loss == "0" {
                without_loss = expired;
            } else {
                let name = format!("{loss} of control frames lost: share of XOFFs that end by expiry, against no loss");
                trial.check(Check::new(name, "%", expired, Relation::Above, without_loss, 0.0).consistency());
            }
        } else {
            let name = format!("negative control: {loss} lost, no expiry: files that arrive within 10 s");
            trial.check(Check::exact(name, "files", done, Relation::Below, 3.0).consistency());
        }
    }
    trial.show("  per flow by loss of control frames and expiry: files of flows 1 to 3, messages, frames lost\n");
    trial.show(&table(&["loss, expiry", "files", "XOFFs", "XONs", "expired", "lost"], &rows, 1, Layout::Fixed, 2));
    Ok(())
}
