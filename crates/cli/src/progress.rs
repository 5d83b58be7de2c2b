//! A line on the terminal while something takes long.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};
use units::Time;

/// What ends sooner is not worth a line.
pub const PATIENCE: Duration = Duration::from_millis(700);
/// Simulated time in thousandths of the whole: picoseconds are more than a bar can show.
const STEPS: u64 = 1000;

/// Progress of one run: simulated time, speed, time left.
pub struct RunProgress {
    duration: Time,
    started: Instant,
    shown: bool,
    bar: Option<ProgressBar>,
    last: (Instant, u64),
    rate: f64,
}

impl RunProgress {
    /// For a run of `duration`; draws nothing where `visible` is false or nobody watches.
    pub fn new(duration: Time, visible: bool) -> RunProgress {
        let bar = visible.then(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::hidden());
            bar.set_style(style("{bar:30} {percent:>3} %  {msg}"));
            bar
        });
        let now = Instant::now();
        RunProgress { duration, started: now, shown: false, bar, last: (now, 0), rate: 0.0 }
    }

    /// The run has reached `now` after `hops` packet-hops.
    pub fn update(&mut self, now: Time, hops: u64) {
        let Some(bar) = &self.bar else { return };
        let elapsed = self.started.elapsed();
        if elapsed < PATIENCE {
            return;
        }
        if !self.shown {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
            self.shown = true;
        }
        let since = self.last.0.elapsed();
        if since >= Duration::from_millis(200) {
            // Hops of the warm-up are forgotten at its end.
            self.rate = hops.saturating_sub(self.last.1) as f64 / since.as_secs_f64();
            self.last = (Instant::now(), hops);
        }
        let share = now.as_secs_f64() / self.duration.as_secs_f64().max(f64::MIN_POSITIVE);
        let left = Duration::from_secs_f64((elapsed.as_secs_f64() * (1.0 / share.max(1e-6) - 1.0)).clamp(0.0, 1e9));
        bar.set_position((share * STEPS as f64) as u64);
        bar.set_message(format!(
            "{now:.3} of {}  {:.1} M packet-hops/s  {} left",
            self.duration,
            self.rate / 1e6,
            indicatif::HumanDuration(left)
        ));
    }

    /// Takes the line away.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Progress over a number of runs.
pub fn count_bar(runs: u64, visible: bool) -> ProgressBar {
    if !visible {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::stderr_with_hz(5));
    bar.set_style(style("{bar:30} {pos} of {len} runs  {elapsed} so far, {eta} left"));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// Progress over a number of things.
pub fn things_bar(count: u64, what: &str, visible: bool) -> ProgressBar {
    let bar = count_bar(count, visible);
    bar.set_style(style(&format!("{{bar:30}} {{pos}} of {{len}} {what}  {{elapsed}} so far, {{eta}} left")));
    bar
}

/// That something is under way, where nobody knows how long it takes.
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
    // A template that does not parse costs its looks, nothing else; a test holds it right.
    bar.template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_parse_and_odd_times_do_not_panic() {
        assert!(ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}").is_ok());
        assert!(ProgressStyle::with_template("{bar:30} {pos} of {len} runs  {elapsed} so far, {eta} left").is_ok());
        for (now, duration) in [(Time::ZERO, Time::ZERO), (Time::ZERO, Time::from_s(1)), (Time::MAX, Time::from_ps(1))]
        {
            let mut progress = RunProgress::new(duration, true);
            progress.started -= PATIENCE * 2;
            progress.update(now, u64::MAX);
            progress.update(now, 0);
            progress.clear();
        }
    }
}
