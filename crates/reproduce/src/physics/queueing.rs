//! An M/D/1 queue: Pollaczek-Khinchine formula, and Little's law.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::MD1;
use crate::trial::{Trial, TrialResult, finish, simulation};
use lab::statistics::{Confidence, Interval, interval};
use model::Watcher;
use text::{Layout, table};
use units::{Rate, Time};

/// Service time (serialisation delay) of a frame at the 10 Gbps port.
const SERVICE: Time = Time::from_us(1);
const SERVICE_NS: f64 = 1000.0;
/// Delay without queueing: serialisation of 1238 bytes (frame and preamble) twice at 100 Gbps and once at 10 Gbps, and
/// propagation over three cables.
const FIXED_NS: f64 = 99.04 + 990.4 + 99.04 + 3.0 * 500.0;
/// Number of batches (method of batch means). Each batch contains thousands of busy periods, so that the batch means
/// are nearly independent.
const BATCHES: u64 = 20;

/// Watcher that interrupts the run at the end of each batch.
struct Batches {
    length: Time,
    next: Time,
}

impl Watcher for Batches {
    fn progress(&mut self, now: Time, _hops: u64) -> bool {
        if now < self.next {
            return true;
        }
        self.next += self.length;
        false
    }
}

/// Returns the confidence interval of the mean waiting time, computed from batch means, in service times, and the
/// number of frames.
fn waits(trial: &Trial, load: f64, frames: u64) -> Result<(Interval, u64), Failure> {
    let rate = Rate::from_gbps(10).scale((load * 100.0).round() as u64, 400);
    let warm_up = Time::from_ms(5);
    let length = SERVICE.scale(frames / BATCHES * 100, (load * 100.0).round() as u64);
    let changes = [
        ("traffic.0.rate", format!("\"{}bps\"", rate.as_bps())),
        ("measure.warm_up", "\"5ms\"".to_owned()),
        ("duration", format!("\"{}ps\"", (warm_up + length * BATCHES).as_ps())),
    ];
    let mut simulation = simulation(trial.setup(&MD1, &changes)?, &MD1)?;
    let mut batches = Batches { length, next: warm_up + length };
    let mut means = Vec::new();
    let (mut count, mut total_ns) = (0, 0.0);
    while means.len() < BATCHES as usize {
        let ended = simulation.run(&mut batches);
        let delay = finish(&mut simulation, &mut model::NullWatcher).delay_ns.unwrap_or_default();
        let (frames, sum_ns) = (delay.count - count, delay.mean * delay.count as f64 - total_ns);
        (count, total_ns) = (delay.count, delay.mean * delay.count as f64);
        means.push((sum_ns / frames as f64 - FIXED_NS) / SERVICE_NS);
        if ended {
            break;
        }
    }
    Ok((interval(&means, Confidence::P99), count))
}

/// Runs the experiment `physics/md1`.
pub fn md1(trial: &mut Trial) -> Result<(), Failure> {
    let most = trial.shorten("frames at load 0.95", 100_000_000, 4_000_000);
    let mut rows = Vec::new();
    let mut checks = Vec::new();
    for (load, frames) in [(0.5, most / 5), (0.8, most / 5), (0.95, most)] {
        let expected = load / (2.0 * (1.0 - load));
        let (wait, count) = waits(trial, load, frames)?;
        rows.push(vec![
            format!("{load}"),
            count.to_string(),
            format!("{:.5}", wait.mean),
            format!("{:.5}", wait.half),
            format!("{expected:.5}"),
            format!("{:+.3} %", 100.0 * (wait.mean / expected - 1.0)),
        ]);
        let name = format!("load {load}: mean wait");
        let note =
            format!("99 % confidence of batch means: {:.5} to {:.5}", wait.mean - wait.half, wait.mean + wait.half);
        let tolerance = if trial.quick { (0.01 * expected).max(wait.half) } else { 0.01 * expected };
        checks.push(Check::new(name, "services", wait.mean, Relation::Equal, expected, tolerance).note(note));
        let name = format!("load {load}: the confidence interval holds the expected mean");
        checks.push(Check::new(name, "services", (wait.mean - expected).abs(), Relation::AtMost, wait.half, 0.0));
        let name = format!("negative control: load {load} is not M/M/1, which waits twice as long");
        checks.push(Check::new(name, "services", wait.mean, Relation::Below, 2.0 * expected, wait.half).consistency());
    }
    trial
        .show("  mean wait in service times, half its 99 % confidence interval (20 batches), and load / 2(1 - load)\n");
    trial.show(&table(&["load", "frames", "wait", "+-", "expected", "off"], &rows, 0, Layout::Fixed, 2));
    if trial.quick {
        trial.shortened.push("tolerances are the confidence intervals, where those are wider than 1 %".to_owned());
    }
    checks.into_iter().for_each(|check| trial.check(check));
    Ok(())
}

/// Runs the experiment `physics/little`.
pub fn little(trial: &mut Trial) -> Result<(), Failure> {
    let milliseconds = trial.shorten("simulated ms", 400, 60);
    let sampled_ns = 997;
    for load in [50u64, 95] {
        let changes = [
            ("traffic.0.rate", format!("\"{}Mbps\"", 25 * load)),
            ("duration", format!("\"{milliseconds}ms\"")),
            ("measure.warm_up", "\"0s\"".to_owned()),
            ("record.queues", format!("{{ every = \"{sampled_ns}ns\" }}")),
        ];
        let setup = trial.setup(&MD1, &changes)?;
        let node = setup.fabric.find("S1");
        let port = node.zip(setup.fabric.find("S2")).and_then(|(s1, s2)| setup.fabric.port_towards(s1, s2));
        let result = TrialResult::of(setup, &MD1)?;
        let found = result.summary.checks.iter().find(|check| check.name == "little's law");
        let holds = found.is_some_and(|check| check.pass);
        let name = format!("load 0.{load}: integral of length and sum of waits agree to the picosecond in every queue");
        let detail = found.map_or("the check is missing", |check| check.detail.as_str());
        trial.check(
            Check::exact(name, "holds", f64::from(u8::from(holds)), Relation::Equal, 1.0).consistency().note(detail),
        );
        let in_queue: u64 = result
            .queues
            .iter()
            .filter(|sample| Some(sample.0) == node && Some(sample.1) == port)
            .map(|sample| sample.2 / 1230)
            .sum();
        let length = in_queue as f64 / (milliseconds * 1_000_000 / sampled_ns) as f64;
        let delay = result.summary.delay_ns.unwrap_or_default();
        let arrivals_a_ns = delay.count as f64 / (milliseconds as f64 * 1e6);
        let expected = arrivals_a_ns * (delay.mean - FIXED_NS);
        let name = format!("load 0.{load}: mean length as looked at from outside is rate times wait");
        trial.check(Check::new(name, "frames", length, Relation::Equal, expected, 0.02 * expected));
        let name = format!("negative control: load 0.{load}: with a tenth of the frames uncounted it is not");
        let off = (length - 0.9 * expected).abs();
        trial.check(Check::new(name, "frames", off, Relation::Above, 0.02 * expected, 0.0).consistency());
    }
    Ok(())
}
