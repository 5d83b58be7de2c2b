//! Chooses the number of threads for the next windows by measurement.
//!
//! ```text
//!   |<- one thread ->|<-try 2->|<- one thread, for twice as long as before ->|<-try 2->|<- two threads ...
//!                      slower                                                  faster: stay
//! ```
//!
//! Several threads need a barrier after every window. Whether they are faster depends on the machine, on its other
//! load, and on the work per window, which changes during a run. So it is measured: from time to time the next higher
//! or lower level of threads runs for a trial of two milliseconds, and the faster one is kept. After a failed trial
//! the wait doubles, so trials cost a few percent at most. Before a trial, and while several threads run, the work of
//! the nodes is measured from time to time, to balance the threads. No result depends on any of this.

use std::time::{Duration, Instant};
use units::random::Stream;

/// Interval between readings of the clock, which cost tens of nanoseconds each.
const CLOCK_INTERVAL: Duration = Duration::from_micros(500);
/// Minimum duration of a measurement, and therefore of a trial.
const TRIAL: Duration = Duration::from_millis(2);
/// Wait before the first trial, and minimum wait before later ones: several threads gain little in shorter runs.
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// Longest wait before a trial.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// Wait after a successful trial.
const WAIT_AFTER_SUCCESS: Duration = Duration::from_millis(100);
/// The wait before the next trial is at least this multiple of the duration of the last trial.
const WAIT_PER_TRIAL: u32 = 25;
/// Time of a barrier if no thread sleeps: shorter windows are not worth a trial.
const SHORT_WINDOW_NS: f64 = 2_000.0;
/// A trial succeeds if its cost is at most this fraction of the cost before.
const TRIAL_GAIN: f64 = 0.97;
/// Least interval between measurements of the nodes' work.
const WORK_INTERVAL: Duration = Duration::from_millis(100);
/// The interval between measurements of the nodes' work is at least this multiple of the duration of one measurement.
const WAIT_PER_MEASUREMENT: u32 = 100;
/// A rise of the cost between two measurements by this factor triggers an early trial.
const COST_JUMP: f64 = 1.5;

/// Policy that chooses the number of threads.
#[derive(Debug)]
pub(crate) enum ThreadPolicy {
    /// Selects the number of threads by measured time.
    Measured(Measured),
    /// Chooses a random number of threads, at most the second field, for a few windows each.
    Random(Stream, usize),
}

/// One measured interval of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Measurement {
    time: Duration,
    windows: u64,
    runs: u64,
}

impl Measurement {
    /// Returns the cost: nanoseconds per node run.
    fn cost(&self) -> f64 {
        self.time.as_nanos() as f64 / self.runs.max(1) as f64
    }

    fn window_ns(&self) -> f64 {
        self.time.as_nanos() as f64 / self.windows.max(1) as f64
    }
}

/// State of [`ThreadPolicy::Measured`].
#[derive(Debug)]
pub(crate) struct Measured {
    /// Candidate numbers of threads, ascending from 1.
    levels: Vec<usize>,
    level: usize,
    /// Windows between readings of the clock, by level.
    windows: Vec<u64>,
    last_reading: Option<Instant>,
    measurement: Measurement,
    /// Skips the next measurement, because caches adapt after a change of threads.
    warming_up: bool,
    /// During a trial: the level to return to, and its cost.
    fallback_level: Option<(usize, f64)>,
    /// The preceding measurement, if it was made with the same number of threads.
    last_measurement: Option<Measurement>,
    since_trial: Duration,
    wait: Duration,
    probe_up: bool,
    /// Time until the nodes' work is measured again.
    until_work_measurement: Duration,
}

impl ThreadPolicy {
    /// Creates a policy that selects up to `threads` threads, and at most `cores`, by measurement.
    pub(crate) fn measured(threads: usize, cores: usize) -> Self {
        let most = threads.min(cores).max(1);
        let mut levels: Vec<usize> =
            std::iter::successors(Some(1), |level| Some(level * 2)).take_while(|&level| level < most).collect();
        levels.push(most);
        ThreadPolicy::Measured(Measured {
            windows: vec![8; levels.len()],
            levels,
            level: 0,
            last_reading: None,
            measurement: Measurement::default(),
            warming_up: false,
            fallback_level: None,
            last_measurement: None,
            since_trial: Duration::ZERO,
            wait: FIRST_WAIT,
            probe_up: true,
            until_work_measurement: Duration::ZERO,
        })
    }

    /// Returns the number of threads for the next windows, and the maximum number of windows until the next call.
    #[expect(clippy::disallowed_methods, reason = "how many threads run is measured, and no result depends on it")]
    pub(crate) fn next_threads(&mut self) -> (usize, u64) {
        match self {
            ThreadPolicy::Measured(measured) if measured.levels.len() == 1 => (1, u64::MAX),
            ThreadPolicy::Measured(measured) => {
                measured.last_reading.get_or_insert_with(Instant::now);
                (measured.levels[measured.level], measured.windows[measured.level])
            }
            ThreadPolicy::Random(stream, threads) => (1 + stream.below(*threads as u64) as usize, 1 + stream.below(6)),
        }
    }

    /// Returns the recent work of each node, if a measurement is due: measured by `read_work`, or random.
    #[expect(clippy::disallowed_methods, reason = "who runs what is measured, and no result depends on it")]
    pub(crate) fn measure_work(&mut self, nodes: usize, read_work: impl FnOnce() -> Vec<u64>) -> Option<Vec<u64>> {
        match self {
            ThreadPolicy::Measured(measured) if measured.until_work_measurement > Duration::ZERO => None,
            ThreadPolicy::Measured(measured) => {
                let start = Instant::now();
                let work = read_work();
                measured.finish_work_measurement(start.elapsed());
                Some(work)
            }
            ThreadPolicy::Random(stream, _) => {
                let is_due = stream.below(2) == 0;
                is_due.then(|| (0..nodes).map(|_| 10_000 * stream.below(9)).collect())
            }
        }
    }

    /// Reports that `windows` windows with `runs` node runs have been executed.
    pub(crate) fn report(&mut self, windows: u64, runs: u64) {
        if let ThreadPolicy::Measured(measured) = self {
            #[expect(
                clippy::disallowed_methods,
                reason = "how many threads run is measured, and no result depends on it"
            )]
            let now = Instant::now();
            let last = measured.last_reading.replace(now).unwrap_or(now);
            measured.record(Measurement { time: now - last, windows, runs });
        }
    }
}

impl Measured {
    /// Reports the duration of a measurement of the nodes' work.
    fn finish_work_measurement(&mut self, took: Duration) {
        self.until_work_measurement = WORK_INTERVAL.max(took * WAIT_PER_MEASUREMENT);
        // Skips the next time measurement, because it would include this measurement and the effect of a new division
        // on the caches.
        self.warming_up = true;
    }

    fn record(&mut self, measurement: Measurement) {
        self.until_work_measurement = self.until_work_measurement.saturating_sub(measurement.time);
        let windows = &mut self.windows[self.level];
        if measurement.time < CLOCK_INTERVAL / 2 {
            *windows = (*windows * 2).min(1 << 20);
        } else if measurement.time > CLOCK_INTERVAL * 2 {
            *windows = (*windows / 2).max(1);
        }
        if std::mem::take(&mut self.warming_up) {
            return;
        }
        self.measurement.time += measurement.time;
        self.measurement.windows += measurement.windows;
        self.measurement.runs += measurement.runs;
        if self.measurement.time >= TRIAL {
            let measurement = std::mem::take(&mut self.measurement);
            self.decide(measurement);
        }
    }

    fn decide(&mut self, measurement: Measurement) {
        let cost = measurement.cost();
        if let Some((fallback, cost_there)) = self.fallback_level.take() {
            if cost < cost_there * TRIAL_GAIN {
                self.last_measurement = Some(measurement);
                self.wait = WAIT_AFTER_SUCCESS;
            } else {
                self.set_level(fallback);
                self.last_measurement = None;
                self.wait = (self.wait * 2)
                    .max(measurement.time * WAIT_PER_TRIAL)
                    .min(MAX_WAIT.max(measurement.time * WAIT_PER_TRIAL));
            }
            self.since_trial = Duration::ZERO;
            return;
        }
        self.since_trial += measurement.time;
        let before = self.last_measurement.replace(measurement).unwrap_or(measurement);
        let cost_jumped = cost > before.cost() * COST_JUMP;
        let hurried = cost_jumped && self.level > 0 && self.since_trial >= FIRST_WAIT;
        if !hurried && self.since_trial < self.wait {
            return;
        }
        // The shorter of two window times, because one measurement may be long while another process has the core.
        let long = measurement.window_ns().min(before.window_ns()) >= SHORT_WINDOW_NS;
        let up = (self.level + 1 < self.levels.len() && long).then_some(self.level + 1);
        let down = self.level.checked_sub(1);
        self.probe_up = !self.probe_up && !hurried;
        let choice = if self.probe_up { up.or(down) } else { down.or(up) };
        if let Some(level) = choice {
            // The lower of two costs, because one long measurement on few threads would favour more threads.
            let cost = if level > self.level { cost.min(before.cost()) } else { cost };
            self.fallback_level = Some((self.level, cost));
            self.set_level(level);
        }
    }

    fn set_level(&mut self, level: usize) {
        self.level = level;
        self.measurement = Measurement::default();
        self.warming_up = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates `readings` readings on a machine with `cost(level)` ns per node run and `runs` node runs per window.
    /// Returns the share of the runs at each level.
    fn play(policy: &mut Measured, readings: usize, runs: u64, cost: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut shares = vec![0.0; policy.levels.len()];
        for _ in 0..readings {
            let (level, windows) = (policy.level, policy.windows[policy.level]);
            let time = Duration::from_nanos((cost(level) * (windows * runs) as f64) as u64);
            shares[level] += (windows * runs) as f64;
            policy.record(Measurement { time, windows, runs: windows * runs });
        }
        let all: f64 = shares.iter().sum();
        shares.iter().map(|share| share / all).collect()
    }

    fn measured(threads: usize, cores: usize) -> Measured {
        let ThreadPolicy::Measured(measured) = ThreadPolicy::measured(threads, cores) else { unreachable!() };
        measured
    }

    #[test]
    fn levels_are_powers_of_two_and_never_more_than_cores() {
        for (threads, cores, levels) in [
            (1, 8, vec![1]),
            (8, 2, vec![1, 2]),
            (3, 64, vec![1, 2, 3]),
            (12, 64, vec![1, 2, 4, 8, 12]),
            (4, 4, vec![1, 2, 4]),
        ] {
            assert_eq!(measured(threads, cores).levels, levels);
        }
    }

    #[test]
    fn the_cheapest_level_gets_nearly_all_of_the_work() {
        let mut good = measured(4, 4);
        assert!(play(&mut good, 20_000, 1000, |level| [100.0, 60.0, 40.0][level])[2] > 0.95);
        let mut bad = measured(4, 4);
        assert!(play(&mut bad, 20_000, 1000, |level| [100.0, 300.0, 900.0][level])[0] > 0.97);
        let mut middle = measured(4, 4);
        assert!(play(&mut middle, 20_000, 1000, |level| [100.0, 60.0, 90.0][level])[1] > 0.93);
    }

    #[test]
    fn a_single_long_measurement_selects_no_costlier_level() {
        let mut policy = measured(2, 2);
        let record = |policy: &mut Measured, cost: u64| {
            policy.record(Measurement { time: Duration::from_nanos(cost * 40_000), windows: 40, runs: 40_000 });
        };
        // On one thread, measured costs alternate between 100 and 200 ns per node run; on two threads, all are 150
        // ns.
        let mut shares = [0, 0];
        for number in 0..20_000 {
            shares[policy.level] += 1;
            let cost = if policy.level == 0 { 100 << (number & 1) } else { 150 };
            record(&mut policy, cost);
        }
        assert!(shares[1] * 20 < shares[0], "{shares:?}");
    }

    #[test]
    fn nodes_are_weighed_now_and_then() {
        let mut policy = ThreadPolicy::measured(2, 2);
        assert_eq!(policy.measure_work(3, || vec![1, 2, 3]), Some(vec![1, 2, 3]));
        assert_eq!(policy.measure_work(3, || unreachable!("it is too early")), None);
        let ThreadPolicy::Measured(measured) = &mut policy else { unreachable!() };
        // After a measurement of 30 ms, the next one is due after 100 times that (3 s).
        measured.finish_work_measurement(Duration::from_millis(30));
        let measurement = |ms| Measurement { time: Duration::from_millis(ms), windows: 1, runs: 1 };
        measured.record(measurement(2_900));
        assert!(measured.until_work_measurement > Duration::ZERO);
        measured.record(measurement(100));
        assert_eq!(measured.until_work_measurement, Duration::ZERO);
    }

    #[test]
    fn short_windows_are_never_tried_on_several_threads() {
        let mut policy = measured(8, 8);
        assert_eq!(play(&mut policy, 20_000, 1, |_| 500.0)[0], 1.0);
    }

    #[test]
    fn it_follows_a_network_that_falls_quiet_and_wakes_up() {
        let mut policy = measured(2, 2);
        assert!(play(&mut policy, 5_000, 1000, |level| [100.0, 60.0][level])[1] > 0.9);
        // Now a window has 3 node runs, and the barrier dominates: 4,000 ns per node run on two threads, 100 ns on
        // one.
        assert!(play(&mut policy, 5_000, 3, |level| [100.0, 4000.0][level])[0] > 0.95);
        assert!(play(&mut policy, 20_000, 1000, |level| [100.0, 60.0][level])[1] > 0.8);
    }
}
