//! Effects visible at hosts: ping delay during bulk transfers, and flows over several spines.

use super::bench::{Arrival, Changes, Cut, Seen, join, mean, quantile, range, tail_drop};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::registry::{TRIM_ECMP, TRIM_PING};
use crate::trial::Trial;

/// Minimum RTO: OPEN. It is 1 ms, so that a run of a few ms is longer than one timeout.
const TIMEOUT: &str = "1ms";

/// Returns the delays in us of the pings that arrive untrimmed, ascending; without bulk transfers unless `busy` is set.
fn pings(trial: &Trial, changes: &[(&str, String)], busy: bool) -> Result<Vec<f64>, Failure> {
    let mut setup = trial.setup(&TRIM_PING, changes)?;
    if !busy {
        setup.traffic.flows.truncate(1);
    }
    let seen = Seen::of_setup(setup, &TRIM_PING, &[0])?;
    let whole = |arrival: &&Arrival| arrival.cut == Cut::Whole && arrival.at_us > 5_000.0;
    let mut delays: Vec<f64> = seen.arrivals.iter().filter(whole).map(|arrival| arrival.took_us).collect();
    delays.sort_by(f64::total_cmp);
    Ok(delays)
}

/// Runs the experiment `trim/fig13`.
pub fn ping(trial: &mut Trial) -> Result<(), Failure> {
    let drop = tail_drop("8936B", TIMEOUT, TIMEOUT);
    let runs = [
        ("tail drop, 200 packets", pings(trial, &drop, false)?, pings(trial, &drop, true)?),
        ("trimming, 12 packets", pings(trial, &[], false)?, pings(trial, &[], true)?),
    ];
    let row = |(name, idle, busy): &(&str, Vec<f64>, Vec<f64>)| {
        ((*name).to_owned(), vec![quantile(idle, 0.5), quantile(busy, 0.5), quantile(busy, 0.99)])
    };
    trial.show("  one way of a ping, us\n");
    trial.show(&bars("", &["idle, median", "busy, median", "busy, 99 %"], 600.0, &runs.each_ref().map(row)));
    // Expected queueing delay with a full queue, by the paper and by calculation: 200 packets (tail drop) or 12 packets
    // (trimming) of 9000 B plus 20 B, and one packet in transmission.
    let drop_note = "150 us: a full queue is 577 us, and TCP's saw-tooth empties a third of it";
    let trim_note = "8 us: a full queue is 34.6 us, and two or three packets of 2.9 us come and go";
    for ((name, idle, busy), paper, tolerance, note) in
        [(&runs[0], 500.0, 150.0, drop_note), (&runs[1], 36.0, 8.0, trim_note)]
    {
        let added = mean(busy) - mean(idle);
        let name = format!("{name}: what nine transfers add to a ping, mean");
        trial.check(Check::new(name, "us", added, Relation::Equal, paper, tolerance).note(note));
    }
    trial.show("  trimming: what transfers add to a ping, mean, by packets of a first window, us\n");
    let windows: &[u64] = if trial.quick { &[10, 30] } else { &[4, 6, 8, 10, 15, 20, 30, 60, 100] };
    let mut rows = Vec::new();
    for window in windows {
        let changes = [("host.transport.initial_window", window.to_string())];
        let [idle, busy] = [pings(trial, &changes, false)?, pings(trial, &changes, true)?];
        rows.push((window.to_string(), vec![mean(&busy) - mean(&idle)]));
    }
    trial.show(&bars("packets", &["added"], 36.0, &rows));
    let added = |run: &(&str, Vec<f64>, Vec<f64>)| mean(&run.2) - mean(&run.1);
    let name = "negative control: without trimming it adds more than ten times as much";
    trial.check(Check::new(name, "x", added(&runs[0]) / added(&runs[1]), Relation::Above, 10.0, 0.0).consistency());
    Ok(())
}

/// Returns the goodputs of the three flows, in Gbps.
fn three(trial: &Trial, changes: &[(&'static str, String)]) -> Result<Vec<f64>, Failure> {
    let result = trial.run(&TRIM_ECMP, changes)?;
    Ok((0..3).map(|entry| result.goodput(entry) * 1e-9).collect())
}

/// Runs the experiment `trim/ecmp`.
pub fn spreading(trial: &mut Trial) -> Result<(), Failure> {
    // Goodput of a full link: 8936 of 9020 B on the wire are payload.
    let full = 25.0 * 8936.0 / 9020.0;
    let sprayed = three(trial, &[])?;
    let (least, _) = range(&sprayed);
    let name = "a path for each packet, trimming: least goodput of the three flows";
    let check = Check::new(name, "Gbps", least, Relation::AtLeast, full, 0.05 * full);
    trial.check(check.note("25 Gbps with headers; one-sided, 5 %: the paper's \"constantly\""));
    let tries = trial.shorten("choices of hosts, and so of hashes", 32, 8);
    let mut rows = Vec::new();
    let mut halved = 0;
    for at in 0..tries {
        let hosts: Changes = ["traffic.0.pairs", "traffic.1.pairs", "traffic.2.pairs"]
            .into_iter()
            .enumerate()
            .map(|(flow, key)| {
                let src = at + flow as u64;
                (key, format!("[[{}, {}]]", src % 8, 8 + (src + at / 8) % 8))
            })
            .collect();
        let changes = join(&[tail_drop("8936B", TIMEOUT, TIMEOUT), vec![("routing.spread", "flow".to_owned())], hosts]);
        let goodputs = three(trial, &changes)?;
        let (least, most) = range(&goodputs);
        halved += u64::from(least < 0.6 * full);
        rows.push((at.to_string(), vec![least, most]));
    }
    trial.show("  a path for each flow, tail drop: least and greatest goodput of the three flows, Gbps\n");
    trial.show(&bars("try", &["least", "greatest"], 25.0, &rows));
    // If three flows select one of three spines at random, all of them select different spines in 6 of 27 cases.
    let name = "a path for each flow: tries in which some flow gets at most 60 %";
    let share = 100.0 * halved as f64 / tries as f64;
    trial.check(Check::new(name, "%", share, Relation::AtLeast, 50.0, 0.0).note("by chance 78 %"));
    let name = "negative control: tries in which none does";
    trial.check(Check::new(name, "%", 100.0 - share, Relation::Above, 0.0, 0.0).consistency());
    Ok(())
}
