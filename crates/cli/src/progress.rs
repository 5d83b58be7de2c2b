//! Progress indicators on the terminal for long operations.

use crate::interrupt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{Clock, Watcher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use units::Time;

/// Delay before the progress line is first drawn, so that short operations print none.
pub const PATIENCE: Duration = Duration::from_millis(700);
/// Number of steps of the progress bar; the simulated time in picoseconds exceeds the bar's range.
const STEPS: u64 = 1000;

/// Interval of redraws.
const REDRAW: Duration = Duration::from_millis(200);

/// Progress of one run: simulated time, speed, remaining time. A separate thread draws it, so that it is updated during
/// long windows of the simulation.
pub struct RunProgress {
    shared: Arc<Shared>,
    drawer: Option<JoinHandle<()>>,
}

struct Shared {
    duration: Time,
    started: Instant,
    /// Clock of the simulation and the wall-clock time of its start; set when the network has been built.
    running: OnceLock<(Arc<Clock>, Instant)>,
    hops: AtomicU64,
    ended: Mutex<bool>,
    end: Condvar,
}

impl RunProgress {
    /// Creates the progress of a run of `duration`. It is drawn only if `visible` is set.
    #[expect(clippy::disallowed_methods, reason = "progress for whoever watches")]
    pub fn new(duration: Time, visible: bool) -> RunProgress {
        let shared = Arc::new(Shared {
            duration,
            started: Instant::now(),
            running: OnceLock::new(),
            hops: AtomicU64::new(0),
            ended: Mutex::new(false),
            end: Condvar::new(),
        });
        let drawn = Arc::clone(&shared);
        let drawer = visible.then(|| std::thread::spawn(move || drawn.draw()));
        RunProgress { shared, drawer }
    }

    /// Records the start of the simulation; `clock` is its simulated time.
    pub fn begins(&self, clock: &Arc<Clock>) {
        // `set` fails for a resumed run, which has already set its clock.
        #[expect(clippy::disallowed_methods, reason = "progress for whoever watches")]
        let _ = self.shared.running.set((Arc::clone(clock), Instant::now()));
    }

    /// Sets the number of packet-hops simulated so far.
    pub fn count(&self, hops: u64) {
        self.shared.hops.store(hops, Ordering::Relaxed);
    }

    /// Removes the progress line.
    pub fn clear(&mut self) {
        *self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.end.notify_all();
        if let Some(drawer) = self.drawer.take() {
            let _ = drawer.join();
        }
    }
}

impl Drop for RunProgress {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Shared {
    /// Redraws the progress line until the run ends.
    fn draw(&self) {
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::hidden());
        bar.set_style(style("{bar:16} {percent:>3} %  {wide_msg}"));
        let mut shown = false;
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        while !*ended {
            if self.started.elapsed() >= PATIENCE {
                if !std::mem::replace(&mut shown, true) {
                    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
                }
                let (share, message) = self.line();
                bar.set_position((share * STEPS as f64) as u64);
                bar.set_message(message);
                bar.tick();
            }
            ended = self.end.wait_timeout(ended, REDRAW).unwrap_or_else(PoisonError::into_inner).0;
        }
        bar.finish_and_clear();
    }

    /// Returns the completed fraction and the text of the progress line.
    fn line(&self) -> (f64, String) {
        let Some((clock, since)) = self.running.get() else { return (0.0, "building the network".to_owned()) };
        let (now, elapsed) = (clock.now(), since.elapsed().as_secs_f64());
        if now >= self.duration {
            return (1.0, "writing the result".to_owned());
        }
        let share = now.as_secs_f64() / self.duration.as_secs_f64().max(f64::MIN_POSITIVE);
        if interrupt::stop().is_set() {
            return (share, "interrupted: writing what there is".to_owned());
        }
        let left = Duration::from_secs_f64((elapsed * (1.0 / share.max(1e-6) - 1.0)).clamp(0.0, 1e9));
        let rate = self.hops.load(Ordering::Relaxed) as f64 / elapsed.max(1e-9);
        let (rate, left) = (rate / 1e6, indicatif::HumanDuration(left));
        // The speed is last, because a narrow terminal truncates the end of the line.
        (share, format!("{now:.2} of {}  {left} left  {rate:.1} M packet-hops/s", self.duration))
    }
}

impl Watcher for RunProgress {
    fn started(&mut self, clock: &Arc<Clock>) {
        RunProgress::begins(self, clock);
    }
    fn progress(&mut self, _now: Time, hops: u64) -> bool {
        self.count(hops);
        true
    }
}

/// Returns a progress bar that counts runs.
pub fn count_bar(runs: u64, visible: bool) -> ProgressBar {
    if !visible {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::stderr_with_hz(5));
    bar.set_style(style("{bar:16} {pos} of {len} runs  {elapsed} so far, {eta} left"));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// Returns a progress bar that counts items named `what`.
pub fn count_progress_bar(count: u64, what: &str, visible: bool) -> ProgressBar {
    let bar = count_bar(count, visible);
    bar.set_style(style(&format!("{{bar:16}} {{pos}} of {{len}} {what}  {{elapsed}} so far, {{eta}} left")));
    bar
}

/// Returns a spinner for an operation of unknown duration.
pub fn waiting(what: &'static str, visible: bool) -> ProgressBar {
    if !visible {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
    bar.set_style(style("{spinner} {msg}  {elapsed} so far"));
    bar.set_message(what);
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

fn style(template: &str) -> ProgressStyle {
    let bar = ProgressStyle::default_bar();
    // If the template is invalid, the default style is used; a test checks all templates.
    bar.template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_parse_and_odd_times_do_not_panic() {
        assert!(ProgressStyle::with_template("{bar:16} {percent:>3} %  {wide_msg}").is_ok());
        assert!(ProgressStyle::with_template("{bar:16} {pos} of {len} runs  {elapsed} so far, {eta} left").is_ok());
        for duration in [Time::ZERO, Time::from_ps(1), Time::MAX] {
            let mut progress = RunProgress::new(duration, true);
            assert_eq!(progress.shared.line(), (0.0, "building the network".to_owned()));
            progress.begins(&Arc::default());
            progress.count(u64::MAX);
            let (share, message) = progress.shared.line();
            assert!((0.0..=1.0).contains(&share) && !message.is_empty());
            progress.clear();
        }
    }
}
