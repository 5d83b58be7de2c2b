//! NDP with the trimming switch (closed loop): figures 6 and 7.

use super::bench::{Seen, Switch, inside, join, max_waiting, mean, pairs, range, unlost};
use super::pictures::{leave, measured, periods};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::registry::TRIM_NDP;
use crate::trial::{Trial, TrialResult};
use model::parameters::PipelineParameters;
use text::lines::{Panel, Scale};

/// Results of one run with NDP.
#[derive(Debug)]
pub struct Run {
    result: TrialResult,
    /// Goodput of each sender, in Gbps.
    goodputs: Vec<f64>,
}

impl Run {
    /// Returns the mean goodput of the senders, in Gbps.
    pub fn goodput(&self) -> f64 {
        mean(&self.goodputs)
    }
    /// Returns the number of trimmed packets.
    pub fn trims(&self) -> f64 {
        self.result.summary.event_counts.trims as f64
    }
    /// Returns the maximum length of the recirculation queues, in packets.
    pub fn queue(&self) -> f64 {
        max_waiting(&self.result.summary)
    }
    /// Returns the number of failed invariant checks plus lost frames.
    fn wrong(&self) -> u64 {
        let (failed, lost) = unlost(&self.result.summary);
        failed + lost
    }
}

/// Runs NDP senders with 1000 packets each. Sender i sends to receiver i mod 16; each sender is a separate traffic
/// entry.
pub fn run(trial: &Trial, senders: u64, switch: Switch, changes: &[(&'static str, String)]) -> Result<Run, Failure> {
    let changes = join(&[switch.changes(), vec![pairs(senders, 16)], changes.to_vec()]);
    let mut setup = trial.setup(&TRIM_NDP, &changes)?;
    for (at, flow) in setup.traffic.flows.iter_mut().enumerate() {
        flow.traffic = at as u8;
    }
    setup.record.throughput_every = Some(setup.duration);
    let result = TrialResult::of(setup, &TRIM_NDP)?;
    let goodputs = (0..senders as usize).map(|sender| result.goodput(sender) * 1e-9).collect();
    Ok(Run { result, goodputs })
}

/// Returns by how much `ours` exceeds `other`, in %; 0 if both are 0.
pub fn above(ours: f64, other: f64) -> f64 {
    if other == 0.0 { if ours == 0.0 { 0.0 } else { f64::INFINITY } } else { 100.0 * (ours / other - 1.0) }
}

/// Runs the ideal switch and the Tofino switch for each number of senders.
fn compare(trial: &mut Trial) -> Result<Vec<(u64, Run, Run)>, Failure> {
    let step = trial.shorten("numbers of senders", 64, 8);
    let counts = (1..=64u64).filter(|count| (count * step).is_multiple_of(64) || matches!(count, 1 | 17 | 18));
    counts
        .map(|count| Ok((count, run(trial, count, Switch::Ideal, &[])?, run(trial, count, Switch::Tofino, &[])?)))
        .collect()
}

/// Plots one statistic as a function of the number of senders.
fn by_senders(
    trial: &mut Trial,
    name: &str,
    (title, y): (&str, &'static str),
    all: &[(u64, Run, Run)],
    of: fn(&Run) -> f64,
) {
    let ideal = all.iter().map(|(count, ideal, _)| (*count as f64, of(ideal))).collect();
    let tofino = all.iter().map(|(count, _, tofino)| (*count as f64, of(tofino))).collect();
    let series = vec![("Ideal".to_owned(), ideal), ("Tofino".to_owned(), tofino)];
    leave(trial, name, title, &[measured("senders", y, Scale::Linear, series)]);
}

/// Plots, by port, the periods in which pipelines are in pessimistic mode, from a separate run.
fn draw_periods(trial: &mut Trial, name: &str, senders: u64) -> Result<(), Failure> {
    // Congestion signals are per port and always recorded, so that the trace of one flow is enough.
    let seen = Seen::of(trial, &TRIM_NDP, &join(&[Switch::Tofino.changes(), vec![pairs(senders, 16)]]), &[0])?;
    let lines = vec![periods(&seen.signals, 64, pessimistic_us(trial)?)];
    let panel = Panel { x: "time, us", y: "receiver", scale: Scale::Linear, lines };
    leave(trial, name, &format!("{senders} senders: when pipelines are pessimistic about a receiver's port"), &[panel]);
    Ok(())
}

/// Checks that no invariant check of the runs fails and that no frame is lost; `which` describes the runs.
pub fn nothing_lost<'a>(trial: &mut Trial, which: &str, runs: impl Iterator<Item = &'a Run>) {
    let wrong: u64 = runs.map(Run::wrong).sum();
    let name = format!("{which}: checks of the runs failed, frames lost");
    trial.check(Check::exact(name, "", wrong as f64, Relation::Equal, 0.0).consistency());
}

/// Runs the experiment `trim/fig6a`.
pub fn goodput(trial: &mut Trial) -> Result<(), Failure> {
    let all = compare(trial)?;
    trial.show("  mean goodput of a sender, Gbps\n");
    let row = |(count, ideal, tofino): &(u64, Run, Run)| (count.to_string(), vec![ideal.goodput(), tofino.goodput()]);
    trial.show(&bars("senders", &["Ideal", "Tofino"], 100.0, &all.iter().map(row).collect::<Vec<_>>()));
    by_senders(trial, "fig6a", ("mean goodput of a sender", "goodput, Gbps"), &all, Run::goodput);
    let worst = all.iter().map(|(_, ideal, tofino)| above(ideal.goodput(), tofino.goodput())).fold(0.0, f64::max);
    let name = "Ideal above Tofino, the most at any number of senders";
    trial.check(Check::new(name, "%", worst, Relation::AtMost, 5.0, 0.0).note("one-sided: the paper's \"within 5 %\""));
    nothing_lost(trial, "all numbers of senders", all.iter().flat_map(|(_, ideal, tofino)| [ideal, tofino]));
    let all_trimmed = [("switch.overload.response", "all".to_owned()), ("switch.overload.half", "0s".to_owned())];
    let blunt = run(trial, 32, Switch::Tofino, &all_trimmed)?;
    let ideal = run(trial, 32, Switch::Ideal, &[])?;
    let name = "negative control: 32 senders, all trimmed after a signal: Ideal above it";
    trial
        .check(Check::new(name, "%", above(ideal.goodput(), blunt.goodput()), Relation::Above, 5.0, 0.0).consistency());
    Ok(())
}

/// Runs the experiment `trim/fig6b`.
pub fn trims(trial: &mut Trial) -> Result<(), Failure> {
    let all = compare(trial)?;
    trial.show("  packets trimmed\n");
    let row = |(count, ideal, tofino): &(u64, Run, Run)| (count.to_string(), vec![ideal.trims(), tofino.trims()]);
    trial.show(&bars("senders", &["Ideal", "Tofino"], 70_000.0, &all.iter().map(row).collect::<Vec<_>>()));
    by_senders(trial, "fig6b", ("packets trimmed", "packets"), &all, Run::trims);
    let excess: Vec<(u64, f64)> = all
        .iter()
        .filter(|(_, ideal, _)| ideal.trims() > 0.0)
        .map(|(count, ideal, tofino)| (*count, above(tofino.trims(), ideal.trims())))
        .collect();
    let worst = excess.iter().fold((0, f64::NEG_INFINITY), |most, &one| if one.1 > most.1 { one } else { most });
    let name = format!("Tofino above Ideal, the most at any number of senders (at {})", worst.0);
    trial.check(Check::new(name, "%", worst.1, Relation::AtMost, 10.0, 0.0));
    let name = "Tofino above Ideal, mean over the numbers of senders";
    let mean_excess = mean(&excess.iter().map(|one| one.1).collect::<Vec<f64>>());
    let check = Check::new(name, "%", mean_excess, Relation::Equal, 6.0, 0.5);
    // A quick run has eleven of the 64 numbers of senders.
    trial.check_in_full(check.note("0.5 %: the paper prints whole %"));
    let name = "longest recirculation queue at any number of senders";
    let longest = all.iter().map(|(_, _, tofino)| tofino.queue()).fold(0.0, f64::max);
    trial.check(Check::new(name, "packets", longest, Relation::AtMost, 250.0, 0.0));
    let below: f64 = all.iter().filter(|one| one.0 < 17).map(|(_, ideal, tofino)| ideal.trims() + tofino.trims()).sum();
    let name = "negative control: fewer than 17 senders: packets trimmed";
    trial.check(Check::exact(name, "packets", below, Relation::Equal, 0.0).consistency());
    Ok(())
}

/// Duration of the initial windows at line rate, in us: 1000 frames of 1520 B. Figures 7a to 7c are evaluated over this
/// interval.
const WINDOW_US: f64 = 121.6;

/// Tolerance of the goodput of senders that share a port.
const SHARED_GBPS: &str = "1.5 Gbps: 1 for the paper's range, and 1.3 % for preamble and gap";

/// Returns the minimum and maximum, over the ports with congestion signals, of the share of the first 121.6 us in
/// pessimistic mode. Measures a run that ends then: longer runs also have pessimistic time after the windows.
fn pessimistic(trial: &Trial, senders: u64) -> Result<(f64, f64), Failure> {
    Ok(pessimistic_since(trial, senders)?.0)
}

/// Returns the parameters of the pipelines in `trim/ndp.toml`.
fn pipelines(trial: &Trial) -> Result<PipelineParameters, Failure> {
    let setup = trial.setup(&TRIM_NDP, &Switch::Tofino.changes())?;
    let missing = || Failure::input("trim/ndp.toml has no pipelines".to_owned(), "it has pipelines".to_owned());
    setup.switch.overload.pipelines().copied().ok_or_else(missing)
}

/// Returns the duration of the response to a signal in `trim/ndp.toml`, in us.
fn pessimistic_us(trial: &Trial) -> Result<f64, Failure> {
    Ok(pipelines(trial)?.control.pessimistic.as_ps() as f64 * 1e-6)
}

/// Returns the shares of [`pessimistic`], and the time in us at which the first signal acts.
fn pessimistic_since(trial: &Trial, senders: u64) -> Result<((f64, f64), f64), Failure> {
    let windows = [("duration", format!("{}ns", (WINDOW_US * 1e3).round()))];
    let inside = inside(&run(trial, senders, Switch::Tofino, &windows)?.result.summary);
    let shares = inside.switches.iter().flat_map(|switch| &switch.ports).map(|port| port.pessimistic_share);
    let first =
        inside.switches.iter().flat_map(|switch| &switch.pipelines).filter_map(|line| line.first_recirculated_ps);
    // A signal acts this time after the deflected packet leaves the queue of the idle recirculation port.
    let delay_ps = pipelines(trial)?.signal_delay.as_ps();
    let since_us = first.min().map_or(f64::NAN, |ps| (ps + delay_ps) as f64 * 1e-6);
    Ok((range(&shares.collect::<Vec<f64>>()), since_us))
}

/// Runs the experiment `trim/fig7a`.
pub fn eighteen(trial: &mut Trial) -> Result<(), Failure> {
    let result = run(trial, 18, Switch::Tofino, &[])?;
    let lone = range(&result.goodputs[2..16]);
    let sharing: Vec<f64> = result.goodputs[..2].iter().chain(&result.goodputs[16..]).copied().collect();
    let (least, most) = range(&sharing);
    let note = "2 Gbps: ours counts 20 B of preamble and gap with each packet, so 94.5 at most";
    for (name, ours) in [("least", lone.0), ("greatest", lone.1)] {
        let name = format!("senders 3 to 16: {name} goodput");
        trial.check(Check::new(name, "Gbps", ours, Relation::Equal, 95.7, 2.0).note(note));
    }
    for (name, ours) in [("least", least), ("greatest", most)] {
        let name = format!("senders 1, 2, 17 and 18: {name} goodput");
        trial.check(Check::new(name, "Gbps", ours, Relation::Equal, 46.5, 1.5).note(SHARED_GBPS));
    }
    let (least, most) = pessimistic(trial, 18)?;
    for (name, ours) in [("least", least), ("greatest", most)] {
        let name = format!("time of ports 1 and 2 in pessimistic mode, of the first 121.6 us: {name}");
        let check = Check::new(name, "%", 100.0 * ours, Relation::AtMost, 25.0, 0.0);
        trial.check(check.note("one-sided: the paper's \"less than a fourth\""));
    }
    nothing_lost(trial, "18 senders", std::iter::once(&result));
    draw_periods(trial, "fig7a", 18)?;
    let fewer = run(trial, 17, Switch::Tofino, &[])?;
    let name = "17 senders: longest recirculation queue: none builds up";
    trial.check(Check::new(name, "packets", fewer.queue(), Relation::AtMost, 1.0, 0.0));
    let ideal = run(trial, 18, Switch::Ideal, &[])?;
    let name = "18 senders: mean goodput within 1 % of Ideal's";
    let gap = above(ideal.goodput(), result.goodput());
    trial.check(Check::new(name, "%", gap, Relation::AtMost, 1.0, 0.0).note("one-sided: the paper's \"within 1 %\""));
    let none = run(trial, 16, Switch::Tofino, &[])?;
    trial.check(
        Check::exact("negative control: 16 senders: trims", "packets", none.trims(), Relation::Equal, 0.0)
            .consistency(),
    );
    Ok(())
}

/// Runs the experiment `trim/fig7b`.
pub fn thirty_two(trial: &mut Trial) -> Result<(), Failure> {
    let result = run(trial, 32, Switch::Tofino, &[])?;
    let (least, most) = range(&result.goodputs);
    for (name, ours) in [("least", least), ("greatest", most)] {
        let check = Check::new(format!("{name} goodput"), "Gbps", ours, Relation::Equal, 45.5, 1.5);
        trial.check(check.note(SHARED_GBPS));
    }
    let (least, most) = pessimistic(trial, 32)?;
    for (name, ours) in [("least", least), ("greatest", most)] {
        let name = format!("time of a port in pessimistic mode, of the first 121.6 us: {name}");
        let check = Check::new(name, "%", 100.0 * ours, Relation::Equal, 25.0, 5.0);
        trial.check(check.note("5 %: our reading of the paper's \"roughly a quarter\""));
    }
    nothing_lost(trial, "32 senders", std::iter::once(&result));
    draw_periods(trial, "fig7b", 32)?;
    let unsignalled = run(trial, 32, Switch::Dod, &[])?;
    let name = "negative control: without signals: longest recirculation queue";
    trial.check(Check::new(name, "packets", unsignalled.queue(), Relation::Above, 1_000.0, 0.0).consistency());
    Ok(())
}

/// Runs the experiment `trim/fig7c`.
pub fn sixty_four(trial: &mut Trial) -> Result<(), Failure> {
    let result = run(trial, 64, Switch::Tofino, &[])?;
    let (least, most) = range(&result.goodputs);
    for (name, ours, paper) in [("least", least, 22.2), ("greatest", most, 23.4)] {
        let check = Check::new(format!("{name} goodput"), "Gbps", ours, Relation::Equal, paper, 1.1);
        trial
            .check(check.note("1.1 Gbps: 5 %, of which preamble and gap are 1.3 %; the paper's own range is 1.2 wide"));
    }
    let ((least, most), since_us) = pessimistic_since(trial, 64)?;
    let own = |share: f64| 100.0 * share * WINDOW_US / (WINDOW_US - since_us);
    trial.show(&format!(
        "  share of time in pessimistic mode from the first signal on, at {since_us:.2} us: {:.1} to {:.1} %\n",
        own(least),
        own(most)
    ));
    let name = "time of a port in pessimistic mode, of the first 121.6 us: least";
    let check = Check::new(name, "%", 100.0 * least, Relation::AtLeast, 100.0, 5.0);
    trial.check(check.note("one-sided: more than 100 % cannot be; 5 %: the first signals come after some us"));
    nothing_lost(trial, "64 senders", std::iter::once(&result));
    draw_periods(trial, "fig7c", 64)?;
    let one = run(trial, 64, Switch::Dod, &[])?;
    let name = "negative control: without signals: longest recirculation queue";
    trial.check(Check::new(name, "packets", one.queue(), Relation::AtLeast, 10_000.0, 0.0).consistency());
    Ok(())
}
