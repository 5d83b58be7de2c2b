//! Number of threads for the next windows, by measurement.
//!
//! ```text
//!   |<- one thread ->|<-try 2->|<- one thread, for twice as long as before ->|<-try 2->|<- two threads ...
//!                      slower                                                  faster: stay
//! ```
//!
//! Threads pay for a barrier after every window. Whether this is worth it depends on the machine, on its other load,
//! and on the work per window, which changes during a run. So it is measured: from time to time a neighbouring number
//! of threads runs for a trial of two milliseconds, and the faster one stays. After a failed trial the wait doubles, so
//! trials cost a few percent at most. Before a trial, and while several threads run, the work of the nodes is measured
//! from time to time, to balance the threads. No result depends on any of this.

use std::time::{Duration, Instant};
use units::random::Stream;

/// Interval between readings of the clock, which cost tens of nanoseconds each.
const LOOK: Duration = Duration::from_micros(500);
/// Length of a measurement.
const PIECE: Duration = Duration::from_millis(2);
/// Wait before the first trial and at least before others: shorter runs gain little by threads.
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// Longest wait before a trial.
const LAST_WAIT: Duration = Duration::from_secs(2);
/// Wait after a successful trial.
const SETTLED_WAIT: Duration = Duration::from_millis(100);
/// The wait is at least this many times the length of the last trial.
const WAIT_PER_TRY: u32 = 25;
/// Time of a barrier if no thread sleeps: shorter windows are not worth a trial.
const SHORT_WINDOW_NS: f64 = 2_000.0;
/// A trial must be cheaper by this factor.
const CHEAPER: f64 = 0.97;
/// Least interval between measurements of the nodes' work.
const WEIGH_WAIT: Duration = Duration::from_millis(100);
/// The interval is also at least this many times the duration of a measurement.
const WAIT_PER_WEIGHING: u32 = 100;
/// A rise of the cost between two measurements by this factor triggers an early trial.
const DEARER: f64 = 1.5;

/// Policy that chooses the number of threads.
#[derive(Debug)]
pub(crate) enum Pace {
    /// By measured time.
    Measured(Measured),
    /// At random, any number of threads up to this, for a few windows each.
    Drawn(Stream, usize),
}

/// One measured interval of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    time: Duration,
    windows: u64,
    runs: u64,
}

impl Piece {
    /// Returns nanoseconds per node run.
    fn cost(&self) -> f64 {
        self.time.as_nanos() as f64 / self.runs.max(1) as f64
    }

    fn window_ns(&self) -> f64 {
        self.time.as_nanos() as f64 / self.windows.max(1) as f64
    }
}

/// Chooses by measured time.
#[derive(Debug)]
pub(crate) struct Measured {
    /// Candidate numbers of threads, ascending from 1.
    levels: Vec<usize>,
    level: usize,
    /// Windows between readings of the clock, by level.
    windows: Vec<u64>,
    last_look: Option<Instant>,
    piece: Piece,
    /// Skips the next measurement, as caches adapt to a change.
    settling: bool,
    /// During a trial: the level to return to, and its cost.
    home: Option<(usize, f64)>,
    /// The preceding measurement, if it had this number of threads.
    before: Option<Piece>,
    since_try: Duration,
    wait: Duration,
    upwards: bool,
    /// Time until the nodes' work is measured again.
    weigh_in: Duration,
}

impl Pace {
    /// Measures up to `threads` threads on `cores` cores.
    pub(crate) fn measured(threads: usize, cores: usize) -> Self {
        let most = threads.min(cores).max(1);
        let mut levels: Vec<usize> =
            std::iter::successors(Some(1), |level| Some(level * 2)).take_while(|&level| level < most).collect();
        levels.push(most);
        Pace::Measured(Measured {
            windows: vec![8; levels.len()],
            levels,
            level: 0,
            last_look: None,
            piece: Piece::default(),
            settling: false,
            home: None,
            before: None,
            since_try: Duration::ZERO,
            wait: FIRST_WAIT,
            upwards: true,
            weigh_in: Duration::ZERO,
        })
    }

    /// Returns the number of threads for the next windows, and the most windows until the next call.
    #[expect(clippy::disallowed_methods, reason = "how many threads run is measured, and no result depends on it")]
    pub(crate) fn next(&mut self) -> (usize, u64) {
        match self {
            Pace::Measured(measured) if measured.levels.len() == 1 => (1, u64::MAX),
            Pace::Measured(measured) => {
                measured.last_look.get_or_insert_with(Instant::now);
                (measured.levels[measured.level], measured.windows[measured.level])
            }
            Pace::Drawn(stream, threads) => (1 + stream.below(*threads as u64) as usize, 1 + stream.below(6)),
        }
    }

    /// Returns the recent work of each node, if it is due: measured by `look`, or drawn at random.
    #[expect(clippy::disallowed_methods, reason = "who runs what is measured, and no result depends on it")]
    pub(crate) fn weigh(&mut self, nodes: usize, look: impl FnOnce() -> Vec<u64>) -> Option<Vec<u64>> {
        match self {
            Pace::Measured(measured) if measured.weigh_in > Duration::ZERO => None,
            Pace::Measured(measured) => {
                let start = Instant::now();
                let seen = look();
                measured.weighed(start.elapsed());
                Some(seen)
            }
            Pace::Drawn(stream, _) => {
                let drawn = stream.below(2) == 0;
                drawn.then(|| (0..nodes).map(|_| 10_000 * stream.below(9)).collect())
            }
        }
    }

    /// Reports that `windows` windows with `runs` node runs are over.
    pub(crate) fn done(&mut self, windows: u64, runs: u64) {
        if let Pace::Measured(measured) = self {
            #[expect(
                clippy::disallowed_methods,
                reason = "how many threads run is measured, and no result depends on it"
            )]
            let now = Instant::now();
            let last = measured.last_look.replace(now).unwrap_or(now);
            measured.look(Piece { time: now - last, windows, runs });
        }
    }
}

impl Measured {
    /// Reports the duration of a measurement of the nodes' work.
    fn weighed(&mut self, took: Duration) {
        self.weigh_in = WEIGH_WAIT.max(took * WAIT_PER_WEIGHING);
        // Exclude this time, and the effect of a new division on the caches.
        self.settling = true;
    }

    fn look(&mut self, seen: Piece) {
        self.weigh_in = self.weigh_in.saturating_sub(seen.time);
        let windows = &mut self.windows[self.level];
        if seen.time < LOOK / 2 {
            *windows = (*windows * 2).min(1 << 20);
        } else if seen.time > LOOK * 2 {
            *windows = (*windows / 2).max(1);
        }
        if std::mem::take(&mut self.settling) {
            return;
        }
        self.piece.time += seen.time;
        self.piece.windows += seen.windows;
        self.piece.runs += seen.runs;
        if self.piece.time >= PIECE {
            let piece = std::mem::take(&mut self.piece);
            self.judge(piece);
        }
    }

    fn judge(&mut self, piece: Piece) {
        let cost = piece.cost();
        if let Some((home, cost_there)) = self.home.take() {
            if cost < cost_there * CHEAPER {
                self.before = Some(piece);
                self.wait = SETTLED_WAIT;
            } else {
                self.go(home);
                self.before = None;
                self.wait =
                    (self.wait * 2).max(piece.time * WAIT_PER_TRY).min(LAST_WAIT.max(piece.time * WAIT_PER_TRY));
            }
            self.since_try = Duration::ZERO;
            return;
        }
        self.since_try += piece.time;
        let before = self.before.replace(piece).unwrap_or(piece);
        let dearer = cost > before.cost() * DEARER;
        let hurried = dearer && self.level > 0 && self.since_try >= FIRST_WAIT;
        if !hurried && self.since_try < self.wait {
            return;
        }
        // The shorter of two, as one measurement may be long because another process had the core.
        let long = piece.window_ns().min(before.window_ns()) >= SHORT_WINDOW_NS;
        let up = (self.level + 1 < self.levels.len() && long).then_some(self.level + 1);
        let down = self.level.checked_sub(1);
        self.upwards = !self.upwards && !hurried;
        let choice = if self.upwards { up.or(down) } else { down.or(up) };
        if let Some(level) = choice {
            // As above: otherwise a single long measurement would favour more threads.
            let known = if level > self.level { cost.min(before.cost()) } else { cost };
            self.home = Some((self.level, known));
            self.go(level);
        }
    }

    fn go(&mut self, level: usize) {
        self.level = level;
        self.piece = Piece::default();
        self.settling = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates `looks` readings on a machine with `cost(level)` ns per node run and `runs` node runs per window.
    /// Returns the share of the runs at each level.
    fn play(pace: &mut Measured, looks: usize, runs: u64, cost: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut shares = vec![0.0; pace.levels.len()];
        for _ in 0..looks {
            let (level, windows) = (pace.level, pace.windows[pace.level]);
            let time = Duration::from_nanos((cost(level) * (windows * runs) as f64) as u64);
            shares[level] += (windows * runs) as f64;
            pace.look(Piece { time, windows, runs: windows * runs });
        }
        let all: f64 = shares.iter().sum();
        shares.iter().map(|share| share / all).collect()
    }

    fn measured(threads: usize, cores: usize) -> Measured {
        let Pace::Measured(measured) = Pace::measured(threads, cores) else { unreachable!() };
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
    fn what_is_cheapest_gets_nearly_all_of_the_work() {
        let mut good = measured(4, 4);
        assert!(play(&mut good, 20_000, 1000, |level| [100.0, 60.0, 40.0][level])[2] > 0.95);
        let mut bad = measured(4, 4);
        assert!(play(&mut bad, 20_000, 1000, |level| [100.0, 300.0, 900.0][level])[0] > 0.97);
        let mut middle = measured(4, 4);
        assert!(play(&mut middle, 20_000, 1000, |level| [100.0, 60.0, 90.0][level])[1] > 0.93);
    }

    #[test]
    fn a_piece_that_looks_long_by_chance_lets_nothing_dearer_win() {
        let mut pace = measured(2, 2);
        let look = |pace: &mut Measured, cost: u64| {
            pace.look(Piece { time: Duration::from_nanos(cost * 40_000), windows: 40, runs: 40_000 });
        };
        // Every other measurement takes twice as long on one thread, and all take 1.5 times as long on two.
        let mut shares = [0, 0];
        for number in 0..20_000 {
            shares[pace.level] += 1;
            let cost = if pace.level == 0 { 100 << (number & 1) } else { 150 };
            look(&mut pace, cost);
        }
        assert!(shares[1] * 20 < shares[0], "{shares:?}");
    }

    #[test]
    fn nodes_are_weighed_now_and_then() {
        let mut pace = Pace::measured(2, 2);
        assert_eq!(pace.weigh(3, || vec![1, 2, 3]), Some(vec![1, 2, 3]));
        assert_eq!(pace.weigh(3, || unreachable!("it is too early")), None);
        let Pace::Measured(measured) = &mut pace else { unreachable!() };
        // A long measurement is not repeated soon.
        measured.weighed(Duration::from_millis(30));
        let piece = |ms| Piece { time: Duration::from_millis(ms), windows: 1, runs: 1 };
        measured.look(piece(2_900));
        assert!(measured.weigh_in > Duration::ZERO);
        measured.look(piece(100));
        assert_eq!(measured.weigh_in, Duration::ZERO);
    }

    #[test]
    fn short_windows_are_never_tried_on_several_threads() {
        let mut pace = measured(8, 8);
        assert_eq!(play(&mut pace, 20_000, 1, |_| 500.0)[0], 1.0);
    }

    #[test]
    fn it_follows_a_network_that_falls_quiet_and_wakes_up() {
        let mut pace = measured(2, 2);
        assert!(play(&mut pace, 5_000, 1000, |level| [100.0, 60.0][level])[1] > 0.9);
        // Now windows hold little work, and the barrier dominates.
        assert!(play(&mut pace, 5_000, 3, |level| [100.0, 4000.0][level])[0] > 0.95);
        assert!(play(&mut pace, 20_000, 1000, |level| [100.0, 60.0][level])[1] > 0.8);
    }
}
