//! Causes of the differences between the Tofino switch and the Ideal switch in goodput and number of trims, and the
//! part of the run in which these differences occur.

use super::bench::{Changes, Switch, join, max_waiting, pairs, unlost};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::TRIM_NDP;
use crate::trial::Trial;
use text::{Layout, table};
use units::random::{Stream, purpose};

/// End of the first interval: the initial windows of 1000 packets are sent within 121.6 us, and the queues drain soon
/// after.
const WINDOWS_US: f64 = 125.0;
const RUN_US: f64 = 500.0;
/// Length of the recirculation queue, in packets, above which a run counts as unstable. With only 197 frames of 1520 B
/// in the queue, the delay of congestion signals already equals the response time of 24 us.
const RUNAWAY: f64 = 1000.0;

/// Results of one run.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Mean goodput of a sender during and after the initial windows, in Gbps.
    early: f64,
    late: f64,
    trims: f64,
    queue: f64,
    wrong: u64,
}

impl Run {
    fn goodput(self) -> f64 {
        (self.early * WINDOWS_US + self.late * (RUN_US - WINDOWS_US)) / RUN_US
    }
}

fn run(trial: &Trial, senders: u64, changes: &[Changes]) -> Result<Run, Failure> {
    let us = |us: f64| format!("{us}us");
    let watched: Changes = vec![
        ("duration", us(RUN_US)),
        ("measure.warm_up", us(WINDOWS_US)),
        ("record.throughput.every", us(WINDOWS_US)),
    ];
    let result = trial.run(&TRIM_NDP, &join(&[changes.concat(), watched]))?;
    let late = result.total_goodput() * 1e-9 / senders as f64;
    let payload = result.summary.trims.as_ref().map_or(0, |trims| trims.payload_bytes);
    let mean = payload as f64 * 8e-3 / RUN_US / senders as f64;
    let early = (mean * RUN_US - late * (RUN_US - WINDOWS_US)) / WINDOWS_US;
    let (failed, lost) = unlost(&result.summary);
    let trims = result.summary.event_counts.trims as f64;
    Ok(Run { early, late, trims, queue: max_waiting(&result.summary), wrong: failed + lost })
}

/// Assigns the senders of each pipeline to receivers in random order. The order determines which of several
/// simultaneous packets is served first.
fn shuffled(senders: u64, seed: u64) -> (&'static str, String) {
    let mut random = Stream::new(seed, 0, purpose("tie order"));
    let mut all = Vec::new();
    for first in (0..senders).step_by(16) {
        let count = (senders - first).min(16);
        let mut receivers: Vec<u64> = (0..count).collect();
        for at in (1..receivers.len()).rev() {
            receivers.swap(at, random.below(at as u64 + 1) as usize);
        }
        all.extend(
            (first..first + count).zip(receivers).map(|(sender, receiver)| format!("[{sender}, {}]", 64 + receiver)),
        );
    }
    ("traffic.0.pairs", format!("[{}]", all.join(", ")))
}

/// Worst-case statistics over all runs of one alternative.
#[derive(Clone, Copy, Debug)]
struct Worst {
    gap: f64,
    excess: f64,
    queue: f64,
    runaways: u64,
    runs: u64,
    wrong: u64,
}

fn worst(trial: &Trial, counts: &[u64], seeds: u64, choice: &Choice) -> Result<Worst, Failure> {
    let mut worst = Worst { gap: 0.0, excess: 0.0, queue: 0.0, runaways: 0, runs: 0, wrong: 0 };
    for &senders in counts {
        for seed in 1..=(if choice.seeded { seeds } else { 1 }) {
            let pairs = if choice.ties { shuffled(senders, seed) } else { pairs(senders, 16) };
            let of = |switch: Switch| {
                // Overrides of Tofino's `switch.overload` table are not valid for Ideal.
                let own = |key: &str| switch == Switch::Tofino || !key.starts_with("switch.overload");
                let changes: Changes = choice
                    .change
                    .iter()
                    .filter(|(key, _)| own(key))
                    .map(|&(key, value)| (key, value.to_owned()))
                    .collect();
                run(trial, senders, &[switch.changes(), vec![pairs.clone(), ("seed", seed.to_string())], changes])
            };
            let (ideal, ours) = (of(Switch::Ideal)?, of(Switch::Tofino)?);
            let gap = 100.0 * (ideal.goodput() / ours.goodput() - 1.0);
            worst.gap = worst.gap.max(gap);
            worst.excess = worst.excess.max(100.0 * (ours.trims / ideal.trims - 1.0));
            worst.queue = worst.queue.max(ours.queue);
            worst.runaways += u64::from(ours.queue > RUNAWAY);
            worst.runs += 1;
            worst.wrong += ideal.wrong + ours.wrong;
        }
    }
    Ok(worst)
}

/// A parameter that the paper does not specify, with an alternative value.
#[derive(Debug)]
struct Choice {
    name: &'static str,
    change: &'static [(&'static str, &'static str)],
    seeded: bool,
    ties: bool,
}

const fn fixed(name: &'static str, change: &'static [(&'static str, &'static str)]) -> Choice {
    Choice { name, change, seeded: false, ties: false }
}

static CHOICES: [Choice; 12] = [
    fixed("as the scenario has it", &[]),
    fixed("queue 8 packets", &[("switch.queue", "8 packets")]),
    fixed("queue 12 packets", &[("switch.queue", "12 packets")]),
    fixed("queue 20 packets", &[("switch.queue", "20 packets")]),
    fixed("meter burst 1 frame", &[("switch.overload.meter_burst", "1520B")]),
    fixed("meter burst 16 frames", &[("switch.overload.meter_burst", "24320B")]),
    fixed("signals act at once", &[("switch.overload.signal_delay", "0s")]),
    fixed("signals act after 2 us", &[("switch.overload.signal_delay", "2us")]),
    fixed("pessimistic for 3 us", &[("switch.overload.pessimistic", "3us")]),
    fixed("early pulls count", &[("host.transport.early_pulls", "count")]),
    Choice { name: "other order of ties", change: &[], seeded: true, ties: true },
    Choice { name: "phases within a frame", change: &[("traffic.0.jitter", "121ns")], seeded: true, ties: false },
];

/// Runs the experiment `trim/sensitivity`.
pub fn sensitivity(trial: &mut Trial) -> Result<(), Failure> {
    let plain = |switch: Switch| run(trial, 32, &[switch.changes(), vec![pairs(32, 16)]]);
    let (ideal, ours) = (plain(Switch::Ideal)?, plain(Switch::Tofino)?);
    let rows = [("Ideal", ideal), ("Tofino", ours)]
        .map(|(name, run)| vec![name.to_owned(), format!("{:.2}", run.early), format!("{:.2}", run.late)]);
    trial.show("  32 senders: goodput of a sender, Gbps, while windows are sent (125 us) and after\n");
    trial.show(&table(&["", "windows", "after"], &rows, 1, Layout::Fixed, 2));
    let name = "32 senders: once the windows are sent, Ideal above Tofino";
    let check = Check::new(name, "%", 100.0 * (ideal.late / ours.late - 1.0), Relation::Equal, 0.0, 1.0);
    trial.check(check.note("1 %: what the paper allows from the best in section 6.2"));

    let counts: &[u64] = if trial.quick { &[32] } else { &[31, 32, 33] };
    let seeds = trial.shorten("seeds of phases and orders of ties", 10, 2);
    if trial.quick {
        trial.shortened.push("32 senders instead of 31, 32 and 33".into());
    }
    let all: Vec<Worst> =
        CHOICES.iter().map(|choice| worst(trial, counts, seeds, choice)).collect::<Result<_, Failure>>()?;
    let row = |(choice, worst): (&Choice, &Worst)| {
        let Worst { gap, excess, queue, runaways, runs, .. } = worst;
        vec![
            choice.name.to_owned(),
            format!("{gap:.1}"),
            format!("{excess:.1}"),
            format!("{queue:.0}"),
            format!("{runaways} of {runs}"),
        ]
    };
    let rows: Vec<Vec<String>> = CHOICES.iter().zip(&all).map(row).collect();
    trial.show(
        "  Tofino beside Ideal, the worst of all runs: goodput below, trims above, %; longest recirculation queue, \
         packets; runs in which it\n  exceeds 1000\n",
    );
    trial.show(&table(&["", "goodput", "trims", "queue", "runs away"], &rows, 1, Layout::Fixed, 2));
    let wrong = ideal.wrong + ours.wrong + all.iter().map(|worst| worst.wrong).sum::<u64>();
    trial.check(
        Check::exact("all runs: checks failed, frames lost", "", wrong as f64, Relation::Equal, 0.0).consistency(),
    );
    let of = |name: &str| CHOICES.iter().zip(&all).find(|(choice, _)| choice.name == name).map(|(_, worst)| *worst);
    let gap = |name: &str| of(name).map_or(f64::NAN, |worst| worst.gap);
    for name in ["queue 20 packets", "signals act at once"] {
        let text = format!("pessimistic time over an empty queue is what is lost: {name}: less than as it stands");
        let check = Check::new(text, "%", gap(name), Relation::Below, gap("as the scenario has it"), 0.0).consistency();
        trial.check(check.note("the other side is measured"));
    }
    let name = "negative control: signals act after 2 us: goodput below Ideal's";
    trial.check(Check::new(name, "%", gap("signals act after 2 us"), Relation::Above, 5.0, 0.0).consistency());
    let queue = of("phases within a frame").map_or(f64::NAN, |worst| worst.queue);
    let name = "phases within a frame: longest recirculation queue of any run";
    trial.check_in_full(Check::new(name, "packets", queue, Relation::AtMost, 250.0, 0.0));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffled_senders_keep_their_number_at_each_receiver() {
        let (_, text) = shuffled(33, 7);
        let count = |receiver: u64| text.matches(&format!(", {receiver}]")).count();
        assert_eq!(text.matches('[').count() - 1, 33);
        assert_eq!((64..80).map(count).collect::<Vec<_>>(), [&[3][..], &[2; 15]].concat());
        assert_ne!(text, shuffled(33, 8).1);
        assert_ne!(text, pairs(33, 16).1);
    }
}
