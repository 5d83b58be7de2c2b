//! DCQCN: fluid models compared with packet-level simulations.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::{FLUID_DCQCN, FLUID_DCQCN_MODEL};
use crate::trial::Trial;
use lab::equations::{PacketMeasurement, Solved};
use lab::{LabError, StopFlag};
use scenario::FluidFile;
use std::path::Path;
use text::{Layout, table};

/// Permitted relative deviation of the fluid model's rate and queue from those of the packet-level simulation.
const OFF: f64 = 0.1;

/// Returns the fluid model's mean rate per flow in bit/s and mean queue in bytes.
fn fluid(flows: u64, averaging: &str) -> Result<(f64, f64), Failure> {
    let set = [("flow.0.count", flows.to_string()), ("model.averaging", averaging.to_owned())];
    let set: Vec<(String, String)> = set.map(|(key, value)| (key.to_owned(), value)).to_vec();
    let source = &FLUID_DCQCN_MODEL;
    let wrong = |errors| LabError::Scenario { errors, path: source.name.into() };
    let solved = Solved::of(&FluidFile::parse(source.text, source.name, &set).map_err(wrong)?);
    let mean = |column: usize| solved.spread(column).map_or(f64::NAN, |spread| spread.mean);
    Ok((mean(solved.rates[0]), mean(solved.names.len() - 1)))
}

/// Runs the experiment `fluid/dcqcn`.
pub fn dcqcn(trial: &mut Trial) -> Result<(), Failure> {
    let milliseconds = trial.shorten("simulated ms", 480, 120);
    let mut rows = Vec::new();
    for flows in [2u64, 10, 50] {
        let changes = [("traffic.0.fan_in", flows.to_string()), ("duration", format!("\"{milliseconds}ms\""))];
        let setup = trial.setup(&FLUID_DCQCN, &changes)?;
        let packets = PacketMeasurement::of(setup, Path::new(FLUID_DCQCN.name), &StopFlag::default())?;
        let mut row = vec![flows.to_string(), format!("{:.1}", packets.queue_bytes / 1e3)];
        for (averaging, name) in [("paper", "the papers' model"), ("cycles", "cycle by cycle")] {
            let (rate_bps, queue_bytes) = fluid(flows, averaging)?;
            row.push(format!("{:.1}", queue_bytes / 1e3));
            row.push(format!("{:+.1} %", 100.0 * (queue_bytes / packets.queue_bytes - 1.0)));
            let mut beside = |what: &str, unit: &'static str, ours: f64, theirs: f64| {
                let name = format!("{flows} flows, {name}: {what} beside packets");
                // Averaging over cycles is this project's model, not the papers'.
                let check = Check::new(name, unit, ours, Relation::Equal, theirs, OFF * theirs);
                trial.check(check.consistency_if(averaging == "cycles"));
            };
            beside("mean rate of a flow", "Gbps", rate_bps / 1e9, packets.flow_bps() / 1e9);
            beside("mean queue", "KB", queue_bytes / 1e3, packets.queue_bytes / 1e3);
        }
        rows.push(row);
    }
    trial.show("  mean queue in KB: of packets, of the papers' model, and cycle by cycle\n");
    trial.show(&table(&["flows", "packets", "paper", "off", "cycles", "off"], &rows, 0, Layout::Fixed, 2));
    Ok(())
}
