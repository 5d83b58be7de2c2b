//! NDP with the trimming switch: effect of the length and type of the response to congestion signals, figures 8 and 9.

use super::bench::{Changes, Switch, join};
use super::closed::{Run, above, nothing_lost, run};
use super::pictures::{leave, measured};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::trial::Trial;
use text::lines::{Panel, Scale};

/// Returns the overrides for a response duration of `us`: after a congestion signal, the port is in pessimistic mode
/// for `us`, then in half mode for three times as long (the paper has 6 us and 18 us).
fn response(us: f64) -> Changes {
    let ns = |us: f64| format!("{}ns", (us * 1e3).round() as u64);
    vec![("switch.overload.pessimistic", ns(us)), ("switch.overload.half", ns(3.0 * us))]
}

/// Returns the response durations to test, in us.
fn responses(trial: &mut Trial) -> Vec<f64> {
    if trial.quick {
        trial.shortened.push("responses: 0, 1, 3, 6, 12 and 30 us instead of every one from 0 to 30".to_owned());
        vec![0.0, 1.0, 3.0, 6.0, 12.0, 30.0]
    } else {
        let fine = (0..8).map(|half| f64::from(half) * 0.5);
        fine.chain((4..=30).map(f64::from)).collect()
    }
}

/// Runs each response duration, and shows goodput, number of trims and maximum recirculation queue.
fn over_responses(trial: &mut Trial, senders: u64, more: impl Fn(f64) -> Changes) -> Result<Vec<(f64, Run)>, Failure> {
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
    nothing_lost(trial, &format!("{senders} senders, every response"), runs.iter().map(|run| &run.1));
    Ok(runs)
}

/// Plotted statistic: axis title, scale, value.
type Quantity = (&'static str, Scale, fn(&Run) -> f64);
const GOODPUT: Quantity = ("goodput, Gbps", Scale::Linear, Run::goodput);
const TRIMS: Quantity = ("packets trimmed", Scale::Linear, Run::trims);
const QUEUE: Quantity = ("longest recirculation queue, packets", Scale::Logarithmic, Run::queue);

/// Plots statistics over the response duration, with a panel per statistic and a line per number of senders.
fn by_us(trial: &mut Trial, name: &str, title: &str, quantities: &[Quantity], all: &[(u64, Vec<(f64, Run)>)]) {
    let panel = |&(y, scale, of): &Quantity| {
        let points = |runs: &[(f64, Run)]| runs.iter().map(|(us, run)| (*us, of(run))).collect();
        let line = |(senders, runs): &(u64, Vec<(f64, Run)>)| (format!("{senders} senders"), points(runs));
        measured("response, us", y, scale, all.iter().map(line).collect())
    };
    let panels: Vec<Panel> = quantities.iter().map(panel).collect();
    leave(trial, name, title, &panels);
}

/// Returns the run with the shortest stable response duration ([`stable_from`]), or if there is none, the first run
/// with at least the paper's response duration. The text states the duration, for the note of a check.
fn where_stable(runs: &[(f64, Run)], paper_us: f64) -> Option<(&Run, String)> {
    let from = stable_from(runs);
    let (us, run) = runs.iter().find(|(us, _)| if from.is_finite() { *us == from } else { *us >= paper_us })?;
    let why = if from.is_finite() { "the first stable response" } else { "no response is stable, the paper's" };
    Some((run, format!("at {us} us, {why}")))
}

/// Reason for the tolerance of a response duration.
const STEP: &str = "2 us: two steps of the responses that are tried";
/// Reason for the tolerance of goodput and trims.
const FIVE: &str = "5 %: the paper's own bound beside Ideal";

/// Returns the shortest response duration with which, and with all longer durations, the recirculation queue does not
/// exceed the paper's 250 packets; infinite if there is none. The response duration is the time in pessimistic mode
/// after a congestion signal, not a latency.
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

fn by_response(trial: &mut Trial, figure: &str, senders: u64) -> Result<(), Failure> {
    let ideal = run(trial, senders, Switch::Ideal, &[])?;
    let runs = over_responses(trial, senders, response)?;
    let excess = |us| at(&runs, us).map_or(f64::NAN, |run| above(run.trims(), ideal.trims()));
    let short = |us| at(&runs, us).map_or(f64::NAN, |run| above(ideal.goodput(), run.goodput()));
    let name = "no response: goodput, Ideal's above it";
    let check = Check::new(name, "%", short(0.0), Relation::AtMost, 5.0, 0.0);
    trial.check(check.note("one-sided: \"near optimal\", taken as the 5 % of figure 6a"));
    let name = "6 us: trims above Ideal's";
    trial.check(Check::new(name, "%", excess(6.0), Relation::AtMost, 10.0, 0.0));
    let name = "1 us, which is too short: trims above Ideal's are more than with 6 us";
    trial.check(
        Check::new(name, "%", excess(1.0), Relation::Above, excess(6.0), 0.0).note("the other side is measured"),
    );
    let title = format!("{senders} senders, by length of the response");
    by_us(trial, figure, &title, &[GOODPUT, TRIMS], &[(senders, runs)]);
    Ok(())
}

/// Runs the experiment `trim/fig8a`.
pub fn response_of_32(trial: &mut Trial) -> Result<(), Failure> {
    by_response(trial, "fig8a", 32)?;
    // Recirculated packets are acknowledged only after the recirculation delay, and before that the receivers send no
    // pulls for them.
    let mut rows = Vec::new();
    for gbps in [100, 200] {
        let rate = vec![("switch.overload.recirculation_rate", format!("{gbps}Gbps"))];
        let run = run(trial, 32, Switch::Tofino, &join(&[response(0.0), rate]))?;
        rows.push((format!("{gbps} Gbps"), vec![run.goodput(), run.queue()]));
    }
    trial.show("  no response, by rate of recirculation: goodput, Gbps, and longest queue, packets\n");
    trial.show(&bars("", &["goodput", "queue"], 8000.0, &rows));
    Ok(())
}

/// Runs the experiment `trim/fig8b`.
pub fn response_of_64(trial: &mut Trial) -> Result<(), Failure> {
    by_response(trial, "fig8b", 64)
}

/// Runs the experiment `trim/fig8c`.
pub fn queue_by_response(trial: &mut Trial) -> Result<(), Failure> {
    let mut all = Vec::new();
    let mut unmetered = Vec::new();
    for (senders, load) in [(32, "none"), (64, "none"), (32, "recirculation"), (64, "recirculation")] {
        let messages = [("switch.overload.signal_load", load.to_owned())];
        if load != "none" {
            trial.show("  with an UPDATE and a NOTIFY of 64 B on the recirculation ports for each signal:\n");
        }
        let runs = over_responses(trial, senders, |us| join(&[response(us), messages.to_vec()]))?;
        let from = stable_from(&runs);
        let label = if load == "none" { "" } else { ", messages on the recirculation ports" };
        let name = format!("{senders} senders{label}: response from which on the queue stays within 250 packets");
        let check = Check::new(name, "us", from, Relation::Equal, 3.0, 0.5);
        // A quick run tries 1 and 3 us only.
        trial.check_in_full(check.note("\"at least 3us are needed\"; 0.5 us: a step of the responses that are tried"));
        if load != "none" {
            continue;
        }
        if senders == 32 {
            unmetered = runs.iter().map(|(us, run)| (*us, run.queue())).collect();
        }
        if senders == 64 {
            let name = "64 senders, no response: longest queue";
            let longest = at(&runs, 0.0).map_or(f64::NAN, Run::queue);
            trial.check(Check::new(name, "packets", longest, Relation::AtLeast, 10_000.0, 0.0));
        }
        all.push((senders, runs));
    }
    by_us(trial, "fig8c", "longest recirculation queue, by length of the response", &[QUEUE], &all);
    let mut differing = 0;
    for (us, queue) in unmetered {
        let every = vec![("switch.overload.metered", "all".to_owned())];
        differing += u32::from(run(trial, 32, Switch::Tofino, &join(&[response(us), every]))?.queue() != queue);
    }
    let name = "32 senders, meters that count every frame: responses with another longest queue";
    let note = "as in the authors' P4 program; no port has data and acknowledgements in one direction";
    trial.check(Check::exact(name, "", differing.into(), Relation::Equal, 0.0).consistency().note(note));
    Ok(())
}

/// Runs the experiment `trim/fig9a`: pessimistic mode only.
pub fn without_half(trial: &mut Trial) -> Result<(), Failure> {
    let more = |us: f64| vec![response(us)[0].clone(), ("switch.overload.half", "0s".to_owned())];
    let runs = over_responses(trial, 32, more)?;
    let from = stable_from(&runs);
    let name = "pessimistic alone: response from which on the queue stays within 250 packets";
    trial.check(Check::new(name, "us", from, Relation::Equal, 14.0, 2.0).note(STEP));
    if let Some((stable, which)) = where_stable(&runs, 14.0) {
        let name = "pessimistic alone: goodput there";
        let check = Check::new(name, "Gbps", stable.goodput(), Relation::Equal, 42.0, 2.1);
        trial.check(check.note(format!("{which}; {FIVE}")));
    }
    let ours = run(trial, 32, Switch::Tofino, &[])?;
    let name = "with half mode, 6 us: goodput";
    trial.check(Check::new(name, "Gbps", ours.goodput(), Relation::Equal, 46.0, 2.3).note(FIVE));
    let many = over_responses(trial, 64, more)?;
    let name = "64 senders, pessimistic alone: response from which on the queue stays within 250 packets";
    let check = Check::new(name, "us", stable_from(&many), Relation::AtMost, 3.0, 0.0);
    trial.check(check.note("one-sided: \"a congestion response of 3us suffices also in this setup\""));
    by_us(trial, "fig9a", "pessimistic mode alone, by its length", &[GOODPUT, TRIMS, QUEUE], &[(32, runs), (64, many)]);
    Ok(())
}

/// Runs the experiment `trim/fig9b`: a congestion signal reaches only the pipeline of the deflected packet.
pub fn one_pipeline(trial: &mut Trial) -> Result<(), Failure> {
    let mut all = Vec::new();
    for senders in [32, 64] {
        let more = |us: f64| join(&[response(us), vec![("switch.overload.notify", "origin".to_owned())]]);
        let runs = over_responses(trial, senders, more)?;
        let from = stable_from(&runs);
        let name =
            format!("{senders} senders, one pipeline notified: response from which on the queue stays within 250");
        trial.check(Check::new(name, "us", from, Relation::Equal, 10.5, 1.5).note("the paper: at least 9 to 12 us"));
        let (ideal, ours) = (run(trial, senders, Switch::Ideal, &[])?, run(trial, senders, Switch::Tofino, &[])?);
        if let Some((stable, which)) = where_stable(&runs, 9.0) {
            let name = format!("{senders} senders: trims there, above those of all pipelines notified");
            let check = Check::new(name, "%", above(stable.trims(), ours.trims()), Relation::Equal, 12.5, 2.5);
            trial.check(check.note(format!("{which}; the paper: 10 to 15 %")));
            let name = format!("{senders} senders: trims there, above Ideal's");
            let check = Check::new(name, "%", above(stable.trims(), ideal.trims()), Relation::Equal, 22.5, 2.5);
            trial.check(check.note(format!("{which}; the paper: 20 to 25 %")));
        }
        all.push((senders, runs));
    }
    by_us(trial, "fig9b", "one pipeline notified, by length of the response", &[GOODPUT, TRIMS, QUEUE], &all);
    Ok(())
}

/// Runs the experiment `trim/fig9c`: every packet is trimmed during the response.
pub fn trim_all(trial: &mut Trial) -> Result<(), Failure> {
    let more = |us: f64| {
        let only = vec![("switch.overload.half", "0s".to_owned()), ("switch.overload.response", "all".to_owned())];
        join(&[vec![response(us)[0].clone()], only])
    };
    let mut all = Vec::new();
    for (senders, threshold, goodput, with_ours) in [(32, 12.0, 38.0, 46.0), (64, 10.0, 19.0, 23.0)] {
        let runs = over_responses(trial, senders, more)?;
        let (ideal, ours) = (run(trial, senders, Switch::Ideal, &[])?, run(trial, senders, Switch::Tofino, &[])?);
        let from = stable_from(&runs);
        let name = format!("{senders} senders, all trimmed: response from which on the queue stays within 250");
        trial.check(Check::new(name, "us", from, Relation::Equal, threshold, 2.0).note(STEP));
        if let Some((stable, which)) = where_stable(&runs, threshold) {
            let name = format!("{senders} senders, all trimmed: goodput there");
            let check = Check::new(name, "Gbps", stable.goodput(), Relation::Equal, goodput, 0.05 * goodput);
            trial.check(check.note(format!("{which}; {FIVE}")));
            if senders == 32 {
                let name = "32 senders, all trimmed: trims there, above Ideal's";
                let check = Check::new(name, "%", above(stable.trims(), ideal.trims()), Relation::Equal, 80.0, 10.0);
                trial.check(check.note(format!("{which}; 10 %: what the paper allows its own trims beside Ideal's")));
            }
        }
        let name = format!("{senders} senders, metered: goodput");
        let check = Check::new(name, "Gbps", ours.goodput(), Relation::Equal, with_ours, 0.05 * with_ours);
        trial.check(check.note(FIVE));
        all.push((senders, runs));
    }
    by_us(trial, "fig9c", "all trimmed in the response, by its length", &[GOODPUT, TRIMS, QUEUE], &all);
    trial.show(
        "  each signal trims the next 12 packets, whenever they come: 32 and 64 senders: goodput (Gbps), trims \
         (thousands), longest queue (hundreds)\n",
    );
    let next = [("switch.overload.response", "next".to_owned())];
    let mut rows = Vec::new();
    for senders in [32, 64] {
        let run = run(trial, senders, Switch::Tofino, &next)?;
        rows.push((senders.to_string(), vec![run.goodput(), run.trims() / 1e3, run.queue() / 1e2]));
    }
    trial.show(&bars("senders", &["goodput", "trims", "queue"], 110.0, &rows));
    Ok(())
}
