//! Section 4: unfairness between the pipelines that send to one port, if a signal reaches only the pipeline of the
//! deflected packet.

use super::bench::{Switch, join, pairs};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::TRIM_NDP;
use crate::trial::{Trial, simulation};
use model::Watcher;
use text::{Layout, table};
use units::Time;

/// Share of a port, in %, that a pipeline at line rate takes beside one that passes a quarter: 100 of 125 Gbps.
const TAKEN: f64 = 80.0;
/// Interval over which shares are measured.
const WINDOW: Time = Time::from_us(50);
/// Senders: two to each receiver, by two pipelines, as in the paper's example.
const SENDERS: u64 = 32;
const RECEIVERS: u64 = 16;

/// Payload bytes of each sender in each window.
#[derive(Default)]
struct Windows(Vec<[u64; SENDERS as usize]>);

impl Watcher for Windows {
    fn throughput(&mut self, at: Time, traffic: u8, bytes: u64) {
        let window = (at.as_ps().div_ceil(WINDOW.as_ps()).max(1) - 1) as usize;
        if self.0.len() <= window {
            self.0.resize(window + 1, [0; SENDERS as usize]);
        }
        self.0[window][usize::from(traffic)] += bytes;
    }
}

impl Windows {
    /// Returns the greatest share of a port's payload in a window that came by one of its two pipelines, in %.
    fn greatest_share(&self) -> f64 {
        let share = |bytes: &[u64; SENDERS as usize], receiver: usize| {
            let [one, other] = [bytes[receiver], bytes[receiver + RECEIVERS as usize]];
            100.0 * one.max(other) as f64 / (one + other).max(1) as f64
        };
        let shares = self.0.iter().flat_map(|bytes| (0..RECEIVERS as usize).map(|receiver| share(bytes, receiver)));
        shares.fold(0.0, f64::max)
    }
}

fn run(trial: &Trial, notify: &str, jitter: &str, seed: u64) -> Result<f64, Failure> {
    let own = [("switch.overload.notify", notify), ("traffic.0.jitter", jitter)];
    let own = own.map(|(key, value)| (key, value.to_owned())).to_vec();
    let changes = join(&[Switch::Tofino.changes(), vec![pairs(SENDERS, RECEIVERS), ("seed", seed.to_string())], own]);
    let mut setup = trial.setup(&TRIM_NDP, &changes)?;
    for (at, flow) in setup.traffic.flows.iter_mut().enumerate() {
        flow.traffic = at as u8;
    }
    setup.record.throughput_every = Some(WINDOW);
    let mut simulation = simulation(setup, &TRIM_NDP)?;
    let mut windows = Windows::default();
    simulation.run(&mut windows);
    simulation.finish(&mut windows, false);
    Ok(windows.greatest_share())
}

/// Runs the experiment `trim/unfairness`.
pub fn unfairness(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = trial.shorten("seeds", 5, 2);
    let mut rows = Vec::new();
    for (jitter, phases) in [("0s", "in step"), ("121ns", "out of step")] {
        let greatest = |trial: &Trial, notify: &str| -> Result<f64, Failure> {
            let seeds = if jitter == "0s" { 1 } else { seeds };
            let shares = (1..=seeds).map(|seed| run(trial, notify, jitter, seed));
            shares.collect::<Result<Vec<f64>, Failure>>().map(|shares| shares.into_iter().fold(0.0, f64::max))
        };
        let (one, all) = (greatest(trial, "origin")?, greatest(trial, "all")?);
        rows.push(vec![phases.to_owned(), format!("{one:.1}"), format!("{all:.1}")]);
        let name = format!("{phases}: greatest share of a port that one of two pipelines takes in 50 us, one notified");
        let check = Check::new(name, "%", one, Relation::Above, all, 0.0);
        trial.check(check.note("\"can result in unfairness\": the other side is measured, all pipelines notified"));
        let name = format!("{phases}: the same, against the 80 % of the paper's example");
        let note =
            "one-sided: \"taking 80%\" is of a moment, and the mean over 50 us is no more; 0.5: the printed digit";
        // A quick run has fewer seeds, of which this is the greatest value.
        trial.check_in_full(Check::new(name, "%", one, Relation::AtLeast, TAKEN, 0.5).note(note));
    }
    trial.show("  greatest share of a port's payload in 50 us that came by one of its two pipelines, %\n");
    trial.show(&table(&["senders", "one notified", "all notified"], &rows, 1, Layout::Fixed, 2));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_share_is_of_one_port_and_one_window() {
        let mut windows = Windows::default();
        for (us, sender, bytes) in
            [(50, 0, 60), (50, 16, 40), (100, 0, 10), (100, 16, 30), (100, 1, 900), (100, 17, 900)]
        {
            windows.throughput(Time::from_us(us), sender, bytes);
        }
        assert_eq!(windows.0.len(), 2);
        assert_eq!(windows.greatest_share(), 75.0);
    }
}
