//! Utilisation of queues over time: mean, variance, and share of time above a threshold. Sums are exact in integers.

use units::Time;

use crate::little::QueueArea;
use crate::location::BufferLocation;
use crate::verdict::Verdict;

/// Length of one queue over time. Length and capacity are both in frames, or both in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLoad {
    since: Time,
    last_change: Time,
    length: u64,
    /// Time integrals of the length and of its square, and time at or above the threshold length.
    area: u128,
    square: u128,
    above: Time,
    offered: bool,
}

impl QueueLoad {
    /// Starts at `since` with a queue of `length`.
    pub fn starting(since: Time, length: u64) -> Self {
        QueueLoad { since, last_change: since, length, area: 0, square: 0, above: Time::ZERO, offered: false }
    }

    /// Records that the queue has `length` from `now` on. `watched` is the smallest length above the threshold
    /// utilisation.
    #[inline]
    pub fn on_change(&mut self, now: Time, length: u64, watched: u64) {
        let span = now.saturating_sub(self.last_change);
        let ps = u128::from(span.as_ps());
        self.area += ps * u128::from(self.length);
        self.square += ps * u128::from(self.length) * u128::from(self.length);
        if self.length >= watched {
            self.above += span;
        }
        (self.last_change, self.length) = (now, length);
    }

    /// Records that a frame was routed to this queue, even if it was dropped.
    #[inline]
    pub fn offer(&mut self) {
        self.offered = true;
    }

    /// Returns `true` if a frame was routed to this queue.
    pub fn was_offered(&self) -> bool {
        self.offered
    }
}

/// Returns the smallest queue length for which length / `capacity` exceeds `threshold`.
pub fn watched_length(threshold: f64, capacity: u64) -> u64 {
    let share = |length: u64| length as f64 / capacity as f64;
    let mut length = (threshold.clamp(0.0, 1.0) * capacity as f64) as u64;
    // The product is rounded, so `length` may be off by one or more: correct it by the exact condition.
    while length > 0 && share(length - 1) > threshold {
        length -= 1;
    }
    while share(length) <= threshold {
        length += 1;
    }
    length
}

/// Utilisation aggregated over the queues of all switches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadSummary {
    /// Number of measured queues.
    pub queues: u64,
    /// Number of measured queues to which a frame was routed.
    pub offered: u64,
    /// Utilisation, averaged over queues and time, 0 to 1.
    pub mean: f64,
    /// Variance of the utilisation over queues and time.
    pub variance: f64,
    /// Variance, over queues, of each queue's mean over time.
    pub variance_of_means: f64,
    /// Share of time above the threshold, averaged over the queues to which a frame was routed.
    pub time_ratio: f64,
}

/// Aggregates queues at `now`, in the given order, each with its capacity and the smallest length above the threshold.
pub fn summary<'a>(now: Time, queues: impl IntoIterator<Item = (&'a QueueLoad, u64, u64)>) -> LoadSummary {
    let (mut count, mut offered) = (0u64, 0u64);
    let (mut means, mut squares, mut mean_squares, mut ratios) = (0.0, 0.0, 0.0, 0.0);
    for (load, capacity, watched) in queues {
        let mut load = *load;
        load.on_change(now, load.length, watched);
        let span = now.saturating_sub(load.since).as_ps().max(1) as f64;
        let capacity = capacity as f64;
        let mean = load.area as f64 / span / capacity;
        count += 1;
        means += mean;
        squares += load.square as f64 / span / capacity / capacity;
        mean_squares += mean * mean;
        if load.offered {
            offered += 1;
            ratios += load.above.as_ps() as f64 / span;
        }
    }
    let all = count.max(1) as f64;
    let mean = means / all;
    LoadSummary {
        queues: count,
        offered,
        mean,
        variance: (squares / all - mean * mean).max(0.0),
        variance_of_means: (mean_squares / all - mean * mean).max(0.0),
        time_ratio: ratios / offered.max(1) as f64,
    }
}

/// Returns the verdict "load" at `now`: no queue's mean length exceeds its capacity and, if lengths are in frames,
/// the time integral equals that of the check of Little's law over the same interval. A failure names the queue with
/// the lowest location; `name` returns the name of a node.
pub fn verdict<'a>(
    now: Time,
    queues: impl IntoIterator<Item = (BufferLocation, &'a QueueLoad, u64, Option<(&'a QueueArea, u64)>)>,
    name: impl Fn(u32) -> String,
) -> Verdict {
    let (mut watched, mut used, mut faults) = (0u64, 0u64, 0u64);
    let mut first: Option<(BufferLocation, String)> = None;
    for (location, load, capacity, area) in queues {
        watched += 1;
        let mut load = *load;
        load.on_change(now, load.length, u64::MAX);
        used += u64::from(load.area > 0);
        let most = u128::from(now.saturating_sub(load.since).as_ps()) * u128::from(capacity);
        let fault = if load.area > most {
            Some(format!("the integral of the length is {}, more than a full queue's {most}", load.area))
        } else {
            area.and_then(|(area, len)| {
                let mut area = *area;
                area.on_change(now, len);
                // The integral of the check of Little's law wraps around at 2^64.
                let (ours, theirs) = (load.area as u64, area.area_frame_ps());
                (ours != theirs)
                    .then(|| format!("the integral of the length is {ours} frame ps here and {theirs} by Little's law"))
            })
        };
        if let Some(fault) = fault {
            faults += 1;
            let found = (location, fault);
            if first.as_ref().is_none_or(|known| found < *known) {
                first = Some(found);
            }
        }
    }
    match first {
        None if used == 0 => Verdict::not_applicable("load", "no frame waited in a queue"),
        None => Verdict::new("load", true, format!("utilisation of {watched} queues agrees with their lengths")),
        Some((location, fault)) => Verdict::new(
            "load",
            false,
            format!("{faults} of {watched} queues disagree, first {}: {fault}", location.words(name)),
        ),
    }
}

units::pack_fields!(QueueLoad { since, last_change, length, area, square, above, offered });

#[cfg(test)]
mod tests {
    use units::random::{Stream, purpose};

    use super::*;

    /// A queue that is full a quarter of the time, one that is always half full, and an unused one.
    #[test]
    fn closed_forms() {
        let at = Time::from_us;
        let mut quarter = QueueLoad::starting(Time::ZERO, 0);
        quarter.offer();
        quarter.on_change(at(10), 100, 81);
        quarter.on_change(at(35), 0, 81);
        let mut half = QueueLoad::starting(Time::ZERO, 50);
        half.offer();
        let idle = QueueLoad::starting(Time::ZERO, 0);
        let found = summary(at(100), [(&quarter, 100, 81), (&half, 100, 81), (&idle, 100, 81)]);
        assert_eq!((found.queues, found.offered), (3, 2));
        assert!((found.mean - 0.25).abs() < 1e-12);
        // Variance = E[u^2] - E[u]^2 with E[u] = 0.25. E[u^2] = (0.25 + 0.25 + 0) / 3; of the means (0.0625 + 0.25 +
        // 0) / 3.
        assert!((found.variance - (0.5 / 3.0 - 0.0625)).abs() < 1e-12);
        assert!((found.variance_of_means - (0.3125 / 3.0 - 0.0625)).abs() < 1e-12);
        assert!((found.time_ratio - 0.125).abs() < 1e-12);
        assert_eq!(summary(at(5), []), LoadSummary::default());
    }

    #[test]
    fn a_load_that_another_watch_has_not_seen_is_a_fault() {
        let at = Time::from_us;
        let verdict = |at: Time, queues: [_; 1]| verdict(at, queues, |node| format!("S{node}"));
        let location = BufferLocation::Port { node: 1, port: 2 };
        let (mut load, mut area) = (QueueLoad::starting(Time::ZERO, 0), QueueArea::starting(Time::ZERO));
        load.on_change(at(10), 7, 9);
        area.on_change(at(10), 0);
        assert!(verdict(at(20), [(location, &load, 8, Some((&area, 7)))]).pass);
        assert!(verdict(at(20), [(location, &load, 8, Some((&area, 7)))]).applicable);
        assert!(!verdict(at(20), [(location, &load, 8, Some((&area, 6)))]).pass);
        assert!(!verdict(at(20), [(location, &load, 3, None)]).pass);
        let idle = QueueLoad::starting(Time::ZERO, 0);
        assert!(!verdict(at(20), [(location, &idle, 3, None)]).applicable);
    }

    #[test]
    fn the_watched_length_is_the_first_above_the_share() {
        for capacity in [1, 3, 10, 100, 500, 999_983] {
            for tenth in 0..=10 {
                let threshold = f64::from(tenth) / 10.0;
                let length = watched_length(threshold, capacity);
                assert!(length as f64 / capacity as f64 > threshold);
                assert!(length == 0 || (length - 1) as f64 / capacity as f64 <= threshold);
            }
        }
        assert_eq!(watched_length(0.8, 500), 401);
        assert_eq!(watched_length(0.0, 100), 1);
        assert_eq!(watched_length(1.0, 100), 101, "never: no queue is fuller than full");
    }

    /// Compares the integrals with sums of samples at every nanosecond.
    #[test]
    fn integrals_agree_with_looking_all_the_time() {
        let mut random = Stream::new(1, 0, purpose("load"));
        let (capacity, watched) = (20, watched_length(0.5, 20));
        let mut load = QueueLoad::starting(Time::ZERO, 0);
        load.offer();
        let (mut length, mut sum, mut square, mut above) = (0u64, 0u64, 0u64, 0u64);
        for ns in 0..10_000u64 {
            if random.below(7) == 0 {
                length = random.below(capacity + 1);
                load.on_change(Time::from_ns(ns), length, watched);
            }
            (sum, square) = (sum + length, square + length * length);
            above += u64::from(length as f64 / capacity as f64 > 0.5);
        }
        let found = summary(Time::from_ns(10_000), [(&load, capacity, watched)]);
        let mean = sum as f64 / 10_000.0 / capacity as f64;
        let squares = square as f64 / 10_000.0 / (capacity * capacity) as f64;
        assert!((found.mean - mean).abs() < 1e-12);
        assert!((found.variance - (squares - mean * mean)).abs() < 1e-12);
        assert!((found.time_ratio - above as f64 / 10_000.0).abs() < 1e-12);
    }
}
