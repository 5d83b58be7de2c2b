//! Start of an incast, before any feedback from receivers: figures 2 and 5.

use super::bench::{
    Arrival, Changes, Cut, HeaderQueue, START, Seen, Switch, inside, join, max_waiting, pairs, quantile, unlost,
};
use super::pictures::{distribution, leave};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::trial::{Trial, TrialResult};
use text::lines::{Panel, Scale};
use text::{Layout, table};

/// Capacity of a recirculation port of 100 Gbps in bytes of frames per second; a frame of 1500 B takes 1520 B on the
/// wire.
const PORT_BYTES: f64 = 12.5e9 * 1500.0 / 1520.0;
/// Duration of the initial windows at line rate, in s: 1000 frames of 1520 B.
const WINDOW: f64 = 121.6e-6;

/// Returns the offered load of each pipeline's recirculation port, relative to its capacity.
fn overload(result: &TrialResult) -> Vec<f64> {
    let inside = inside(&result.summary);
    let Some(switch) = inside.switches.first() else { return Vec::new() };
    let load = |bytes: u64| bytes as f64 / WINDOW / PORT_BYTES;
    switch.pipelines.iter().map(|pipeline| load(pipeline.recirculated_bytes)).collect()
}

/// Returns the deflected load of the port of one receiver, in multiples of the line rate, with `senders` senders in
/// total, without feedback and with strict priority for headers. The meters pass four times the line rate. Traffic of
/// one line rate that is trimmed, at ingress or after recirculation, produces headers with a share `h` of the port
/// rate. Each recirculation port carries one line rate.
fn deflected_lines(senders: f64, receivers: f64) -> f64 {
    let h = 84.0 / 1520.0;
    (3.0 + ((senders - 4.0) + 4.0 / receivers) * h).min(4.0)
}

/// Runs the experiment `trim/fig2`.
pub fn worst_case(trial: &mut Trial) -> Result<(), Failure> {
    let run = |trial: &Trial, senders, receivers, switch: Switch| {
        trial.run(START, &join(&[switch.changes(), vec![pairs(senders, receivers), ("duration", "3ms".into())]]))
    };
    trial.show("  deflected to each recirculation port, in multiples of what it can carry, while senders start\n");
    let mut rows = Vec::new();
    // Each of the four pipelines passes one line rate per egress port. The port sends one line rate; three are
    // deflected, evenly over the recirculation ports.
    for (receivers, expected) in [(16, 12.0), (8, 6.0), (4, 3.0), (1, 0.75)] {
        let result = run(trial, 64, receivers, Switch::Dod)?;
        let loads = overload(&result);
        rows.push((format!("64 to {receivers}"), loads.clone()));
        let mean = loads.iter().sum::<f64>() / loads.len() as f64;
        let name = format!("64 to {receivers}, meters but no feedback: overload of a recirculation port");
        let check = Check::new(name, "x", mean, Relation::Equal, expected, 0.02 * expected);
        trial.check(
            check.note("2 %: the ends of the windows; the paper's arithmetic leaves out what headers take of a port"),
        );
        let name = format!("64 to {receivers}: the same, with what headers take");
        let expected = receivers as f64 * deflected_lines(64.0 / receivers as f64, receivers as f64) / 4.0;
        let check = Check::new(name, "x", mean, Relation::Equal, expected, 0.02 * expected).consistency();
        trial.check(check.note("2 %: the ends of the windows"));
        let (failed, lost) = unlost(&result.summary);
        let name = format!("64 to {receivers}: checks of the run failed, frames lost");
        trial.check(Check::exact(name, "", (failed + lost) as f64, Relation::Equal, 0.0).consistency());
    }
    trial.show(&bars("", &["pipeline 0", "1", "2", "3"], 12.0, &rows));
    let result = run(trial, 64, 16, Switch::Dod)?;
    let name = "64 to 16, no feedback: longest recirculation queue";
    let check = Check::new(name, "packets", max_waiting(&result.summary), Relation::AtLeast, 10_000.0, 0.0);
    trial.check(check.note("the paper's \"almost 14000\" cannot be: 16000 come to a pipeline, a quarter goes on"));
    let result = run(trial, 64, 16, Switch::Tofino)?;
    let most = overload(&result).into_iter().fold(0.0, f64::max);
    let name = "negative control: with feedback no recirculation port is offered 12 times what it can carry";
    trial.check(Check::new(name, "x", most, Relation::Below, 2.0, 0.0).consistency());
    let result = run(trial, 16, 16, Switch::Dod)?;
    let name = "negative control: one sender a receiver: frames deflected";
    trial.check(
        Check::exact(name, "frames", inside(&result.summary).recirculated as f64, Relation::Equal, 0.0).consistency(),
    );
    Ok(())
}

const SWITCHES: [Switch; 4] = [Switch::Ideal, Switch::Mod, Switch::Dod, Switch::Tofino];
/// Flows that are traced if tracing all of them is slow.
const FEW_FLOWS: [u64; 2] = [0, 51];
const SHARES: [f64; 6] = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99];

/// Effect of one switch type on trimmed headers.
struct Headers {
    seen: Seen,
    /// Median delay of the headers of [`FEW_FLOWS`], in us.
    median_of_few: f64,
    /// Quantiles [`SHARES`] of the arrival times and of the delays of headers, in us.
    arrival: [f64; 6],
    delay: [f64; 6],
}

fn headers(
    trial: &Trial,
    receivers: u64,
    switch: Switch,
    packets: u64,
    header_queue: Option<HeaderQueue>,
) -> Result<Headers, Failure> {
    let size = ("traffic.0.size", format!("{}B", 1500 * packets));
    let changes: Changes =
        join(&[switch.changes_with(header_queue), vec![pairs(64, receivers), size, ("duration", "3ms".into())]]);
    // With one receiver and large header queues, tens of thousands of headers are queued and tracing all flows is slow,
    // so only two flows are traced.
    let many = receivers == 1 && header_queue.is_none_or(|queue| queue.full != HeaderQueue::HTSIM.full);
    let flows: &[u64] = if many { &FEW_FLOWS } else { &[] };
    let seen = Seen::of(trial, START, &changes, flows)?;
    let arrival = SHARES.map(|share| quantile(&seen.headers_us, share));
    let delay = SHARES.map(|share| quantile(&seen.delays_us, share));
    let of_few = |arrival: &&Arrival| arrival.cut != Cut::Whole && FEW_FLOWS.contains(&arrival.flow);
    let mut few: Vec<f64> = seen.arrivals.iter().filter(of_few).map(|arrival| arrival.took_us).collect();
    few.sort_by(f64::total_cmp);
    Ok(Headers { median_of_few: quantile(&few, 0.5), seen, arrival, delay })
}

/// Runs an incast from 64 senders to `receivers` receivers with all switch types, and shows the results.
fn compare(trial: &mut Trial, receivers: u64, header_queue: Option<HeaderQueue>) -> Result<[Headers; 4], Failure> {
    let packets = trial.shorten("packets of a sender", 1000, 250);
    let mut all = Vec::new();
    for switch in SWITCHES {
        all.push(headers(trial, receivers, switch, packets, header_queue)?);
    }
    for (title, of) in [
        ("when headers arrive", (|headers: &Headers| headers.arrival) as fn(&Headers) -> [f64; 6]),
        ("how long they take", |headers| headers.delay),
    ] {
        trial.show(&format!("  64 to {receivers}, {title}, us: share of headers, by kind of switch\n"));
        let most = all.iter().map(|headers| of(headers)[5]).fold(0.0, f64::max);
        let names = SWITCHES.map(Switch::name);
        let row = |at: usize| (SHARES[at].to_string(), all.iter().map(|headers| of(headers)[at]).collect());
        let rows: Vec<(String, Vec<f64>)> = (0..SHARES.len()).map(row).collect();
        trial.show(&bars("share", &names, most, &rows));
    }
    let figure = match receivers {
        1 => "fig5a",
        4 => "fig5b",
        8 => "fig5b-8",
        _ => "fig5c",
    };
    let curve = |(headers, switch): (&Headers, Switch)| distribution(switch.name(), &headers.seen.headers_us);
    let lines = all.iter().zip(SWITCHES).map(curve).collect();
    let panel = Panel { x: "header arrives, us", y: "share of headers", scale: Scale::Linear, lines };
    leave(trial, figure, &format!("64 senders to {receivers}: when headers arrive"), &[panel]);
    for (headers, switch) in all.iter().zip(SWITCHES) {
        let (failed, lost) = unlost(&headers.seen.summary);
        let name = format!("{}: checks of the run failed, frames lost", switch.name());
        trial.check(Check::exact(name, "", (failed + lost) as f64, Relation::Equal, 0.0).consistency());
    }
    all.try_into().map_err(|_| Failure::input("four kinds of switches".to_owned(), String::new()))
}

const MEDIAN: usize = 2;
const LATE: usize = 4;
const LAST: usize = 5;

/// Checks that mirror on drop adds about 1 us to the median delay of headers. The serialisation delay of 84 B is only 7
/// ns.
fn mirror_is_a_microsecond_late(trial: &mut Trial, ideal: &Headers, mirror: &Headers) {
    let name = "median delay of a header: mirror-on-drop above Ideal";
    let shift = mirror.delay[MEDIAN] - ideal.delay[MEDIAN];
    trial.check(Check::new(name, "us", shift, Relation::Equal, 1.0, 0.3).note("0.3 us: the paper's \"around 1us\""));
}

/// Runs the experiment `trim/fig5a`.
pub fn to_one(trial: &mut Trial) -> Result<(), Failure> {
    let packets = trial.shorten("packets of a sender", 1000, 250);
    let large: Vec<Headers> = SWITCHES
        .iter()
        .map(|&switch| headers(trial, 1, switch, packets, Some(HeaderQueue::LARGE)))
        .collect::<Result<_, _>>()?;
    let all = compare(trial, 1, Some(HeaderQueue::HTSIM))?;
    let row = |name: &str, all: &[Headers]| {
        let medians = all.iter().map(|headers| format!("{:.2}", headers.median_of_few));
        std::iter::once(name.to_owned()).chain(medians).collect::<Vec<String>>()
    };
    let rows = [row("30 KB, then return to the sender", &all), row("4 MB, then drop", &large)];
    trial.show("  median delay of the headers of flows 0 and 51 at the receiver, us, by header queue\n");
    let names = SWITCHES.map(Switch::name);
    let header: Vec<&str> = std::iter::once("").chain(names).collect();
    trial.show(&table(&header, &rows, 1, Layout::Fixed, 2));
    let [ideal, mirror, dod, tofino] = all;
    mirror_is_a_microsecond_late(trial, &ideal, &mirror);
    let name = "median delay of a header: Tofino beside deflection only";
    let gap = tofino.delay[MEDIAN] - dod.delay[MEDIAN];
    trial.check(
        Check::new(name, "us", gap, Relation::Equal, 0.0, 0.3)
            .note("0.3 us: the paper's \"similarly\", beside 1 us of mirror-on-drop"),
    );
    for (other, name) in [(&dod, "deflection only"), (&tofino, "Tofino")] {
        let name = format!("median delay of a header: mirror-on-drop above {name}");
        let above = mirror.delay[MEDIAN] - other.delay[MEDIAN];
        trial.check(Check::new(name, "us", above, Relation::Above, 0.0, 0.0));
    }
    let result = dod.seen.inside();
    let share = 100.0 * result.recirculated as f64 / (result.recirculated + result.ingress_trims) as f64;
    let name = "deflection only: share of trims that are deflected";
    let note = "1 %: a fifth of 300 of 6300 Gbps; the paper's \"a third\" is of what pipelines let through, and is \
        three quarters there";
    trial.check(Check::new(name, "%", share, Relation::Equal, 4.8, 1.0).note(note));
    let name = "the same, with headers, which fill the port: 4 of 64 lines";
    // In a quick run the initial windows are shorter, so that their start and end have a larger effect on the share.
    trial.check_in_full(
        Check::new(name, "%", share, Relation::Equal, 6.25, 0.1)
            .consistency()
            .note("0.1 %: the ends of windows of 1000 packets"),
    );
    Ok(())
}

/// Runs the experiment `trim/fig5b`: 64 senders to 4 receivers, and to 8 receivers, which the text of the paper also
/// mentions.
pub fn to_few(trial: &mut Trial) -> Result<(), Failure> {
    for receivers in [4, 8] {
        let [ideal, mirror, dod, tofino] = compare(trial, receivers, None)?;
        let of = |name: &str| format!("64 to {receivers}: {name}");
        let name = of("median delay of a header: Tofino, at most mirror-on-drop's");
        trial.check(Check::new(name, "us", tofino.delay[MEDIAN], Relation::AtMost, mirror.delay[MEDIAN], 0.0));
        let name = of("median delay of a header: Tofino above Ideal");
        let above = tofino.delay[MEDIAN] - ideal.delay[MEDIAN];
        let check = Check::new(name, "us", above, Relation::Equal, 0.0, 0.5);
        trial.check(check.note("0.5 us: \"closely\", half of what mirror-on-drop adds"));
        let name = of("deflection only, two modes: delay of the latest hundredth above that of the first quarter");
        let ratio = dod.delay[LAST] / dod.delay[1];
        trial.check(Check::new(name, "x", ratio, Relation::Above, 10.0, 0.0));
        if receivers == 4 {
            mirror_is_a_microsecond_late(trial, &ideal, &mirror);
            let name = of("deflection only: share of trims that are deflected");
            let result = dod.seen.inside();
            let share = 100.0 * result.recirculated as f64 / (result.recirculated + result.ingress_trims) as f64;
            // With 4 receivers, a pipeline of 1600 Gbps deflects 300 of the 400 Gbps that its meters pass.
            let check = Check::new(&name, "%", share, Relation::Equal, 20.0, 1.0);
            trial.check(check.note(
                "1 %: the ends of windows; 300 of 1500 Gbps a pipeline: the paper's arithmetic, without headers",
            ));
            let name = of("the same, with headers, which take part of each port");
            let deflected = deflected_lines(16.0, 4.0);
            let check = Check::new(name, "%", share, Relation::Equal, 100.0 * deflected / (12.0 + deflected), 1.0)
                .consistency();
            trial.check(
                check.note("1 %: the ends of windows; twelve lines are cut at ingress, and what headers leave goes on"),
            );
        }
    }
    Ok(())
}

/// Runs the experiment `trim/fig5c`.
pub fn to_many(trial: &mut Trial) -> Result<(), Failure> {
    let [ideal, mirror, dod, tofino] = compare(trial, 16, None)?;
    mirror_is_a_microsecond_late(trial, &ideal, &mirror);
    let others = ideal.arrival[MEDIAN].max(mirror.arrival[MEDIAN]).max(tofino.arrival[MEDIAN]);
    let name = "deflection only: median arrival of headers, above twice that of all others";
    trial.check(Check::new(name, "us", dod.arrival[MEDIAN], Relation::Above, 2.0 * others, 0.0));
    let name = "Tofino: nine of ten headers take at most as long as with mirror-on-drop, up to 1 us";
    let check = Check::new(name, "us", tofino.delay[LATE], Relation::AtMost, mirror.delay[LATE], 1.0);
    // In a quick run the initial windows are shorter, so that their first microseconds have a larger effect on the
    // quantile.
    trial.check_in_full(check.note("one-sided; 1 us: a deflected header goes round once, as a mirrored one does"));
    let name = "Tofino: the slowest hundredth of headers takes longer than with mirror-on-drop";
    trial.check(Check::new(name, "us", tofino.delay[LAST], Relation::Above, mirror.delay[LAST], 0.0));
    let name = "Tofino: longest recirculation queue";
    let longest = max_waiting(&tofino.seen.summary);
    trial.check(Check::new(name, "packets", longest, Relation::AtMost, 250.0, 0.0));
    Ok(())
}
