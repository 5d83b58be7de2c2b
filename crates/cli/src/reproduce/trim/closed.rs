//! With NDP behind the switch: figures 6 to 9.

use super::bench::{Changes, Switch, inside, join, mean, most_waiting, pairs, range, unlost};
use crate::failure::Failure;
use crate::reproduce::check::{Check, Relation};
use crate::reproduce::plot::bars;
use crate::reproduce::registry::TRIM_NDP;
use crate::reproduce::trial::{Told, Trial};

/// What one run with NDP showed.
#[derive(Debug)]
struct Run {
    told: Told,
    /// Of each sender, in Gbps.
    goodputs: Vec<f64>,
}

impl Run {
    fn goodput(&self) -> f64 {
        mean(&self.goodputs)
    }
    fn trims(&self) -> f64 {
        self.told.summary.happened.trims as f64
    }
    fn queue(&self) -> f64 {
        most_waiting(&self.told.summary)
    }
    /// Checks of the run failed, and frames lost.
    fn wrong(&self) -> u64 {
        let (failed, lost) = unlost(&self.told.summary);
        failed + lost
    }
}

/// Senders that begin with 1000 packets each, sender i to receiver i mod 16, each a traffic entry of its own.
fn run(trial: &Trial, senders: u64, switch: Switch, changes: &[(&'static str, String)]) -> Result<Run, Failure> {
    let changes = join(&[switch.changes(), vec![pairs(senders, 16)], changes.to_vec()]);
    let mut setup = trial.setup(&TRIM_NDP, &changes)?;
    for (at, flow) in setup.traffic.flows.iter_mut().enumerate() {
        flow.traffic = at as u8;
    }
    setup.record.throughput_every = Some(setup.duration);
    let told = Told::of(setup, &TRIM_NDP)?;
    let goodputs = (0..senders as usize).map(|sender| told.goodput(sender) * 1e-9).collect();
    Ok(Run { told, goodputs })
}

/// How far above `other`, in %; 0 above nothing.
fn above(ours: f64, other: f64) -> f64 {
    if other == 0.0 { if ours == 0.0 { 0.0 } else { f64::INFINITY } } else { 100.0 * (ours / other - 1.0) }
}

/// Tofino beside the ideal switch.
fn compare(trial: &mut Trial) -> Result<Vec<(u64, Run, Run)>, Failure> {
    let step = trial.shorten("numbers of senders", 64, 8);
    let counts = (1..=64u64).filter(|count| (count * step).is_multiple_of(64) || matches!(count, 1 | 17 | 18));
    counts
        .map(|count| Ok((count, run(trial, count, Switch::Ideal, &[])?, run(trial, count, Switch::Tofino, &[])?)))
        .collect()
}

fn nothing_lost<'a>(trial: &mut Trial, runs: impl Iterator<Item = &'a Run>) {
    let wrong: u64 = runs.map(Run::wrong).sum();
    trial.check(Check::exact("checks of the runs failed, frames lost", "", wrong as f64, Relation::Equal, 0.0));
}

/// Runs `trim/fig6a`.
///
/// # Errors
/// If the scenario is wrong.
pub fn goodput(trial: &mut Trial) -> Result<(), Failure> {
    let all = compare(trial)?;
    trial.show("  mean goodput of a sender, Gbps\n");
    let row = |(count, ideal, tofino): &(u64, Run, Run)| (count.to_string(), vec![ideal.goodput(), tofino.goodput()]);
    trial.show(&bars("senders", &["Ideal", "Tofino"], 100.0, &all.iter().map(row).collect::<Vec<_>>()));
    let worst = all.iter().map(|(_, ideal, tofino)| above(ideal.goodput(), tofino.goodput())).fold(0.0, f64::max);
    let name = "Ideal above Tofino, the most at any number of senders";
    trial.check(Check::new(name, "%", worst, Relation::AtMost, 5.0, 0.0));
    nothing_lost(trial, all.iter().flat_map(|(_, ideal, tofino)| [ideal, tofino]));
    let all_trimmed = [("switch.overload.response", "all".to_owned()), ("switch.overload.half", "0s".to_owned())];
    let blunt = run(trial, 32, Switch::Tofino, &all_trimmed)?;
    let ideal = run(trial, 32, Switch::Ideal, &[])?;
    let name = "negative control: 32 senders, all trimmed after a signal: Ideal above it";
    trial.check(Check::new(name, "%", above(ideal.goodput(), blunt.goodput()), Relation::Above, 5.0, 0.0));
    Ok(())
}

/// Runs `trim/fig6b`.
///
/// # Errors
/// If the scenario is wrong.
pub fn trims(trial: &mut Trial) -> Result<(), Failure> {
    let all = compare(trial)?;
    trial.show("  packets trimmed\n");
    let row = |(count, ideal, tofino): &(u64, Run, Run)| (count.to_string(), vec![ideal.trims(), tofino.trims()]);
    trial.show(&bars("senders", &["Ideal", "Tofino"], 70_000.0, &all.iter().map(row).collect::<Vec<_>>()));
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
    trial.check(Check::new(name, "%", mean_excess, Relation::Equal, 6.0, 4.0));
    let name = "longest recirculation queue at any number of senders";
    let longest = all.iter().map(|(_, _, tofino)| tofino.queue()).fold(0.0, f64::max);
    trial.check(Check::new(name, "packets", longest, Relation::AtMost, 250.0, 0.0));
    let below: f64 = all.iter().filter(|one| one.0 < 17).map(|(_, ideal, tofino)| ideal.trims() + tofino.trims()).sum();
    let name = "negative control: fewer than 17 senders: packets trimmed";
    trial.check(Check::exact(name, "packets", below, Relation::Equal, 0.0));
    Ok(())
}

/// The share of `us` in which pipelines were pessimistic about a port: least and greatest of the ports that heard any.
fn pessimistic(run: &Run, us: f64) -> (f64, f64) {
    let inside = inside(&run.told.summary);
    let whole = run.told.summary.simulated_ps as f64 * 1e-6;
    let shares =
        inside.switches.iter().flat_map(|switch| &switch.ports).map(|port| port.pessimistic_share * whole / us);
    range(&shares.collect::<Vec<f64>>())
}

/// Runs `trim/fig7a`.
///
/// # Errors
/// If the scenario is wrong.
pub fn eighteen(trial: &mut Trial) -> Result<(), Failure> {
    let told = run(trial, 18, Switch::Tofino, &[])?;
    let lone = range(&told.goodputs[2..16]);
    let sharing: Vec<f64> = told.goodputs[..2].iter().chain(&told.goodputs[16..]).copied().collect();
    let (least, most) = range(&sharing);
    let note = "ours counts 20 B of preamble and gap with each packet: 94.5 at most";
    for (name, ours) in [("least", lone.0), ("greatest", lone.1)] {
        let name = format!("senders 3 to 16: {name} goodput");
        trial.check(Check::new(name, "Gbps", ours, Relation::Equal, 95.7, 2.0).note(note));
    }
    for (name, ours) in [("least", least), ("greatest", most)] {
        let name = format!("senders 1, 2, 17 and 18: {name} goodput");
        trial.check(Check::new(name, "Gbps", ours, Relation::Equal, 46.5, 1.5));
    }
    let share = 100.0 * pessimistic(&told, 500.0).1;
    let name = "ports 1 and 2: time in pessimistic mode";
    trial.check(Check::new(name, "%", share, Relation::AtMost, 25.0, 0.0).note("of the run"));
    nothing_lost(trial, std::iter::once(&told));
    let fewer = run(trial, 17, Switch::Tofino, &[])?;
    let name = "17 senders: longest recirculation queue: none builds up";
    trial.check(Check::new(name, "packets", fewer.queue(), Relation::AtMost, 1.0, 0.0));
    let ideal = run(trial, 18, Switch::Ideal, &[])?;
    let name = "18 senders: mean goodput within 1 % of Ideal's";
    trial.check(Check::new(name, "%", above(ideal.goodput(), told.goodput()), Relation::AtMost, 1.0, 0.0));
    let none = run(trial, 16, Switch::Tofino, &[])?;
    trial.check(Check::exact("negative control: 16 senders: trims", "packets", none.trims(), Relation::Equal, 0.0));
    Ok(())
}

/// Runs `trim/fig7b`.
///
/// # Errors
/// If the scenario is wrong.
pub fn thirty_two(trial: &mut Trial) -> Result<(), Failure> {
    let told = run(trial, 32, Switch::Tofino, &[])?;
    let (least, most) = range(&told.goodputs);
    for (name, ours) in [("least", least), ("greatest", most)] {
        trial.check(Check::new(format!("{name} goodput"), "Gbps", ours, Relation::Equal, 45.5, 1.5));
    }
    // Twice the line comes until the windows are sent, with headers ahead: about twice 121.6 us.
    let (least, most) = pessimistic(&told, 121.6);
    for (name, ours) in [("least", least), ("greatest", most)] {
        let name = format!("time of a port in pessimistic mode, of the first 121.6 us: {name}");
        trial.check(
            Check::new(name, "%", 100.0 * ours, Relation::Equal, 25.0, 15.0).note("the paper: roughly a quarter"),
        );
    }
    nothing_lost(trial, std::iter::once(&told));
    let deaf = run(trial, 32, Switch::Dod, &[])?;
    let name = "negative control: without signals: longest recirculation queue";
    trial.check(Check::new(name, "packets", deaf.queue(), Relation::Above, 1_000.0, 0.0));
    Ok(())
}

/// Runs `trim/fig7c`.
///
/// # Errors
/// If the scenario is wrong.
pub fn sixty_four(trial: &mut Trial) -> Result<(), Failure> {
    let told = run(trial, 64, Switch::Tofino, &[])?;
    let (least, most) = range(&told.goodputs);
    trial.check(Check::new("least goodput", "Gbps", least, Relation::Equal, 22.2, 1.1));
    trial.check(Check::new("greatest goodput", "Gbps", most, Relation::Equal, 23.4, 1.1));
    let (least, _) = pessimistic(&told, 121.6);
    let name = "time of a port in pessimistic mode, of the first 121.6 us: least";
    trial.check(Check::new(name, "%", 100.0 * least, Relation::AtLeast, 100.0, 5.0));
    nothing_lost(trial, std::iter::once(&told));
    let one = run(trial, 64, Switch::Dod, &[])?;
    let name = "negative control: without signals: longest recirculation queue";
    trial.check(Check::new(name, "packets", one.queue(), Relation::AtLeast, 10_000.0, 0.0));
    Ok(())
}

/// A response of `us` that keeps the paper's ratio of pessimistic to half time, 6 to 18.
fn response(us: f64) -> Changes {
    let ns = |us: f64| format!("{}ns", (us * 1e3).round() as u64);
    vec![("switch.overload.pessimistic", ns(us)), ("switch.overload.half", ns(3.0 * us))]
}

/// Responses that are tried, in us.
fn responses(trial: &mut Trial) -> Vec<f64> {
    if trial.quick {
        trial.shortened.push("responses: 0, 1, 3, 6, 12 and 30 us instead of every one from 0 to 30".to_owned());
        vec![0.0, 1.0, 3.0, 6.0, 12.0, 30.0]
    } else {
        let fine = (0..8).map(|half| f64::from(half) * 0.5);
        fine.chain((4..=30).map(f64::from)).collect()
    }
}

/// Goodput, trims and longest queue over the response.
fn over_responses(trial: &mut Trial, senders: u64, more: fn(f64) -> Changes) -> Result<Vec<(f64, Run)>, Failure> {
    let responses = responses(trial);
    let runs: Vec<(f64, Run)> = responses
        .into_iter()
        .map(|us| Ok((us, run(trial, senders, Switch::Tofino, &more(us))?)))
        .collect::<Result<_, Failure>>()?;
    trial.show(&format!(
        "  {senders} senders, by response in us: goodput (Gbps), trims (thousands), longest queue (hundreds)\n"
    ));
    let row = |(us, run): &(f64, Run)| (us.to_string(), vec![run.goodput(), run.trims() / 1e3, run.queue() / 1e2]);
    let rows: Vec<(String, Vec<f64>)> = runs.iter().map(row).collect();
    trial.show(&bars("us", &["goodput", "trims", "queue"], 110.0, &rows));
    Ok(runs)
}

/// The least response from which on every longer one keeps the queue at the paper's 250 packets; infinite if none does.
fn stable_from(runs: &[(f64, Run)]) -> f64 {
    let mut from = f64::INFINITY;
    for (us, run) in runs.iter().rev() {
        if run.queue() > 250.0 {
            break;
        }
        from = *us;
    }
    from
}

fn at(runs: &[(f64, Run)], us: f64) -> Option<&Run> {
    runs.iter().find(|run| run.0 == us).map(|run| &run.1)
}

fn by_response(trial: &mut Trial, senders: u64) -> Result<(), Failure> {
    let ideal = run(trial, senders, Switch::Ideal, &[])?;
    let runs = over_responses(trial, senders, response)?;
    let excess = |us| at(&runs, us).map_or(f64::NAN, |run| above(run.trims(), ideal.trims()));
    let short = |us| at(&runs, us).map_or(f64::NAN, |run| above(ideal.goodput(), run.goodput()));
    let name = "no response: goodput, Ideal's above it";
    trial.check(Check::new(name, "%", short(0.0), Relation::AtMost, 5.0, 0.0));
    let name = "6 us: trims above Ideal's";
    trial.check(Check::new(name, "%", excess(6.0), Relation::AtMost, 10.0, 0.0));
    let name = "1 us, which is too short: trims above Ideal's are more than with 6 us";
    trial.check(
        Check::new(name, "%", excess(1.0), Relation::Above, excess(6.0), 0.0).note("the other side is measured"),
    );
    nothing_lost(trial, runs.iter().map(|run| &run.1));
    Ok(())
}

/// Runs `trim/fig8a`.
///
/// # Errors
/// If the scenario is wrong.
pub fn response_of_32(trial: &mut Trial) -> Result<(), Failure> {
    by_response(trial, 32)
}

/// Runs `trim/fig8b`.
///
/// # Errors
/// If the scenario is wrong.
pub fn response_of_64(trial: &mut Trial) -> Result<(), Failure> {
    by_response(trial, 64)
}

/// Runs `trim/fig8c`.
///
/// # Errors
/// If the scenario is wrong.
pub fn queue_by_response(trial: &mut Trial) -> Result<(), Failure> {
    for senders in [32, 64] {
        let runs = over_responses(trial, senders, response)?;
        let from = stable_from(&runs);
        let name = format!("{senders} senders: response from which on the queue stays within 250 packets");
        trial.check(Check::new(name, "us", from, Relation::AtMost, 3.0, 0.5));
        if senders == 64 {
            let name = "64 senders, no response: longest queue";
            let longest = at(&runs, 0.0).map_or(f64::NAN, Run::queue);
            trial.check(Check::new(name, "packets", longest, Relation::AtLeast, 10_000.0, 0.0));
        }
    }
    Ok(())
}

/// Runs `trim/fig9a`: pessimistic mode alone.
///
/// # Errors
/// If the scenario is wrong.
pub fn without_half(trial: &mut Trial) -> Result<(), Failure> {
    let more = |us: f64| vec![response(us)[0].clone(), ("switch.overload.half", "0s".to_owned())];
    let runs = over_responses(trial, 32, more)?;
    let from = stable_from(&runs);
    let name = "pessimistic alone: response from which on the queue stays within 250 packets";
    trial.check(Check::new(name, "us", from, Relation::Equal, 14.0, 2.0));
    if let Some(stable) = at(&runs, from) {
        let name = "pessimistic alone: goodput there";
        trial.check(Check::new(name, "Gbps", stable.goodput(), Relation::Equal, 42.0, 2.1));
    }
    let ours = run(trial, 32, Switch::Tofino, &[])?;
    let name = "with half mode, 6 us: goodput";
    trial.check(Check::new(name, "Gbps", ours.goodput(), Relation::Equal, 46.0, 2.3));
    Ok(())
}

/// Runs `trim/fig9b`: only the pipeline of the deflected packet hears of it.
///
/// # Errors
/// If the scenario is wrong.
pub fn one_pipeline(trial: &mut Trial) -> Result<(), Failure> {
    for senders in [32, 64] {
        let more = |us: f64| join(&[response(us), vec![("switch.overload.notify", "origin".to_owned())]]);
        let runs = over_responses(trial, senders, more)?;
        let from = stable_from(&runs);
        let name = format!("{senders} senders, one pipeline told: response from which on the queue stays within 250");
        trial.check(Check::new(name, "us", from, Relation::Equal, 10.5, 1.5).note("the paper: at least 9 to 12 us"));
        let (ideal, ours) = (run(trial, senders, Switch::Ideal, &[])?, run(trial, senders, Switch::Tofino, &[])?);
        if let Some(stable) = at(&runs, from) {
            let name = format!("{senders} senders: trims there, above those of all pipelines told");
            trial.check(Check::new(name, "%", above(stable.trims(), ours.trims()), Relation::Equal, 12.5, 2.5));
            let name = format!("{senders} senders: trims there, above Ideal's");
            trial.check(Check::new(name, "%", above(stable.trims(), ideal.trims()), Relation::Equal, 22.5, 2.5));
        }
    }
    Ok(())
}

/// Runs `trim/fig9c`: every packet trimmed in the response.
///
/// # Errors
/// If the scenario is wrong.
pub fn trim_all(trial: &mut Trial) -> Result<(), Failure> {
    let more = |us: f64| {
        let only = vec![("switch.overload.half", "0s".to_owned()), ("switch.overload.response", "all".to_owned())];
        join(&[vec![response(us)[0].clone()], only])
    };
    for (senders, threshold, goodput, with_ours) in [(32, 12.0, 38.0, 46.0), (64, 10.0, 19.0, 23.0)] {
        let runs = over_responses(trial, senders, more)?;
        let (ideal, ours) = (run(trial, senders, Switch::Ideal, &[])?, run(trial, senders, Switch::Tofino, &[])?);
        let from = stable_from(&runs);
        let name = format!("{senders} senders, all trimmed: response from which on the queue stays within 250");
        trial.check(Check::new(name, "us", from, Relation::Equal, threshold, 2.0));
        if let Some(stable) = at(&runs, from) {
            let name = format!("{senders} senders, all trimmed: goodput there");
            trial.check(Check::new(name, "Gbps", stable.goodput(), Relation::Equal, goodput, 0.05 * goodput));
            if senders == 32 {
                let name = "32 senders, all trimmed: trims there, above Ideal's";
                trial.check(Check::new(name, "%", above(stable.trims(), ideal.trims()), Relation::Equal, 80.0, 10.0));
            }
        }
        let name = format!("{senders} senders, metered: goodput");
        trial.check(Check::new(name, "Gbps", ours.goodput(), Relation::Equal, with_ours, 0.05 * with_ours));
    }
    trial.show("  each signal trims the next 12 packets, whenever they come: 32 and 64 senders: goodput (Gbps), trims (thousands), longest queue (hundreds)\n");
    let next = [("switch.overload.response", "next".to_owned())];
    let mut rows = Vec::new();
    for senders in [32, 64] {
        let run = run(trial, senders, Switch::Tofino, &next)?;
        rows.push((senders.to_string(), vec![run.goodput(), run.trims() / 1e3, run.queue() / 1e2]));
    }
    trial.show(&bars("senders", &["goodput", "trims", "queue"], 110.0, &rows));
    Ok(())
}
