//! Little's law as an identity: over any interval, the time integral of the queue length equals the sum of the
//! sojourn times of the frames, both of departed frames and of frames still in the queue. Exact in integers, in
//! frames times picoseconds. A frame that is lost, duplicated or timestamped wrongly in the queue violates it.
//!
//! ```text
//! integral of length dt  =  sum over departed (departure - arrival)  +  sum over inside (now - arrival)
//! ```

use units::Time;

use crate::location::BufferLocation;
use crate::verdict::Verdict;

/// State of the check for one queue. The left side of the identity is computed from the queue's length, the right side
/// from the frames' timestamps, so that the two are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueArea {
    /// Start of the interval. [`Time::MAX`] marks a fault: an event earlier than its predecessor, or a departure
    /// before its arrival.
    since: Time,
    last_change: Time,
    /// Both sums wrap around and are compared modulo 2^64 frame ps, which is 18 million frame seconds.
    area_frame_ps: u64,
    departed_wait_ps: u64,
}

impl QueueArea {
    /// Starts the interval at `since`; for frames already in the queue, the sojourn time counts from `since`.
    pub fn starting(since: Time) -> Self {
        QueueArea { since, last_change: since, area_frame_ps: 0, departed_wait_ps: 0 }
    }

    /// Records a change of the queue length at `now`; between the previous change and `now` the queue had `len_before`
    /// frames.
    #[inline]
    pub fn on_change(&mut self, now: Time, len_before: u64) {
        if now < self.last_change {
            self.since = Time::MAX;
        }
        // If `now` is before the last change, the sums are wrong, but the fault recorded in `since` takes precedence.
        let span_ps = now.as_ps().wrapping_sub(self.last_change.as_ps());
        self.area_frame_ps = self.area_frame_ps.wrapping_add(span_ps.wrapping_mul(len_before));
        self.last_change = now;
    }

    /// Records the departure at `now` of a frame that arrived at `arrived`. Call [`QueueArea::on_change`] as well.
    #[inline]
    pub fn on_departure(&mut self, arrived: Time, now: Time) {
        if now < arrived {
            self.since = Time::MAX;
        }
        self.departed_wait_ps = self.departed_wait_ps.wrapping_add(self.wait_ps(arrived, now));
    }

    /// Returns the part of the sojourn time `arrived..now` that is within the interval, in picoseconds.
    #[inline]
    fn wait_ps(&self, arrived: Time, now: Time) -> u64 {
        now.as_ps().wrapping_sub(arrived.max(self.since).as_ps())
    }

    /// Returns the time of the last change of the length, or the start of the interval if there was none.
    pub fn last_change(&self) -> Time {
        self.last_change
    }

    /// Returns the integral of the length up to the last change, in frames times picoseconds, modulo 2^64.
    pub fn area_frame_ps(&self) -> u64 {
        self.area_frame_ps
    }

    /// Returns the violation at `now`, if any. `inside` has the arrival times of the frames still in the queue.
    fn fault(&self, now: Time, len: u64, inside: impl IntoIterator<Item = Time>) -> Option<String> {
        let mut end = *self;
        end.on_change(now, len);
        let mut frames = 0u64;
        for arrived in inside {
            end.on_departure(arrived, now);
            frames += 1;
        }
        if frames != len {
            return Some(format!("{len} frames long, but {frames} frames inside"));
        }
        if end.since == Time::MAX {
            return Some("time ran backwards".to_owned());
        }
        let (area, waits) = (end.area_frame_ps, end.departed_wait_ps);
        (area != waits).then(|| format!("the integral of the length is {area} frame ps, the sum of waits {waits} ps"))
    }
}

/// Findings of many queues, over one or several intervals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LittleFindings {
    /// Number of queues with waiting frames.
    used: u64,
    /// Locations of the queues with waiting frames; only if several intervals are merged.
    used_places: Vec<BufferLocation>,
    watched: u64,
    faults: u64,
    first: Option<(BufferLocation, String)>,
}

impl LittleFindings {
    /// Checks the interval that ends at `now` for some queues: each with its length, and the arrival times of the
    /// frames in the queue.
    pub fn of<'a, I>(
        now: Time,
        queues: impl IntoIterator<Item = (BufferLocation, &'a QueueArea, u64, I)>,
    ) -> LittleFindings
    where
        I: IntoIterator<Item = Time>,
    {
        LittleFindings::collect(now, queues, false)
    }

    /// Like [`LittleFindings::of`], for one of several intervals. [`LittleFindings::and_then`] merges their findings.
    pub fn of_part<'a, I>(
        now: Time,
        queues: impl IntoIterator<Item = (BufferLocation, &'a QueueArea, u64, I)>,
    ) -> LittleFindings
    where
        I: IntoIterator<Item = Time>,
    {
        LittleFindings::collect(now, queues, true)
    }

    fn collect<'a, I>(
        now: Time,
        queues: impl IntoIterator<Item = (BufferLocation, &'a QueueArea, u64, I)>,
        names: bool,
    ) -> LittleFindings
    where
        I: IntoIterator<Item = Time>,
    {
        let mut found = LittleFindings::default();
        for (location, area, len, inside) in queues {
            found.watched += 1;
            if area.area_frame_ps != 0 || area.departed_wait_ps != 0 || len > 0 {
                found.used += 1;
                found.used_places.extend(names.then_some(location));
            }
            if let Some(fault) = area.fault(now, len, inside) {
                found.add_faults(1, Some((location, fault)));
            }
        }
        found
    }

    fn add_faults(&mut self, faults: u64, first: Option<(BufferLocation, String)>) {
        self.faults += faults;
        self.first = self.first.take().into_iter().chain(first).min();
    }

    /// Merges the findings of other queues in the same interval.
    pub fn beside(mut self, other: LittleFindings) -> LittleFindings {
        self.used += other.used;
        self.used_places.extend(other.used_places);
        self.watched += other.watched;
        self.add_faults(other.faults, other.first);
        self
    }

    /// Merges the findings of the same queues in another interval.
    pub fn and_then(mut self, other: LittleFindings) -> LittleFindings {
        self.used_places.extend(other.used_places);
        self.used_places.sort_unstable();
        self.used_places.dedup();
        self.used = self.used.max(other.used).max(self.used_places.len() as u64);
        self.watched = self.watched.max(other.watched);
        self.add_faults(other.faults, other.first);
        self
    }

    /// Returns the verdict "little's law". A failure names the faulty queue with the lowest location, in whichever
    /// order the queues were added. `name` returns the name of a node.
    pub fn verdict(&self, name: impl Fn(u32) -> String) -> Verdict {
        let LittleFindings { used, watched, faults, .. } = *self;
        let detail = match &self.first {
            None if used == 0 => return Verdict::not_applicable("little's law", "no frame waited in a queue"),
            None if used == watched => format!("exact to the picosecond in {used} of {watched} queues"),
            None => format!("exact to the picosecond in {used} of {watched} queues; no frame waited in the others"),
            Some((location, fault)) => {
                format!("{faults} of {watched} queues disagree, first {}: {fault}", location.words(name))
            }
        };
        Verdict::new("little's law", faults == 0, detail)
    }
}

units::pack_fields!(QueueArea { since, last_change, area_frame_ps, departed_wait_ps });
units::pack_fields!(LittleFindings { used, used_places, watched, faults, first });

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use units::random::{Stream, purpose};

    use super::*;
    use crate::location::QueueId;

    const ID: BufferLocation = BufferLocation::Queue(QueueId { node: 1, port: 2, class: 3 });

    fn verdict<'a, I: IntoIterator<Item = Time>>(
        now: Time,
        queues: impl IntoIterator<Item = (BufferLocation, &'a QueueArea, u64, I)>,
    ) -> Verdict {
        LittleFindings::of(now, queues).verdict(name)
    }

    fn name(node: u32) -> String {
        format!("S{node}")
    }

    /// A fault that the test injects once.
    #[derive(Clone, Copy, PartialEq)]
    enum Fault {
        None,
        /// A departure is not recorded as a change of the queue length.
        MissedChange,
        /// The sojourn time of a departing frame is not counted.
        MissedDeparture,
        /// The arrival timestamp of a frame is one picosecond late.
        WrongStamp,
        /// The recorded queue length is one too high until the next change.
        WrongLength,
        /// A frame disappears from the queue and from the recorded length, without a departure.
        Vanished,
    }

    /// Simulates a random queue from time 0. The check starts at `since`, and `fault` is injected after that.
    fn run(random: &mut Stream, since: Time, fault: Fault) -> (Verdict, bool) {
        let mut queue: VecDeque<Time> = VecDeque::new();
        let mut area: Option<QueueArea> = None;
        let mut now = Time::ZERO;
        let mut done = fault == Fault::None;
        for _ in 0..300 {
            now += Time::from_ps(1 + random.below(1_000));
            if now >= since && area.is_none() {
                area = Some(QueueArea::starting(now));
                continue;
            }
            let inject = area.is_some() && !done && queue.len() > 2 && random.below(20) == 0;
            let arrives = random.below(2) == 0 || (queue.len() < 3 && !inject);
            let mut len = queue.len() as u64;
            let mut reported = true;
            let mut stamp = now;
            let mut counted = true;
            if inject {
                match fault {
                    Fault::MissedChange => reported = false,
                    Fault::WrongLength => len += 1,
                    Fault::MissedDeparture if !arrives => counted = false,
                    Fault::WrongStamp if arrives => stamp += Time::from_ps(1),
                    Fault::Vanished => {
                        queue.pop_front();
                    }
                    _ => continue,
                }
                done = true;
            }
            if let (Some(area), true) = (&mut area, reported) {
                area.on_change(now, len);
            }
            if arrives {
                queue.push_back(stamp);
            } else if let Some(arrived) = queue.pop_front()
                && counted
                && let Some(area) = &mut area
            {
                area.on_departure(arrived, now);
            }
        }
        now += Time::from_ns(5);
        let area = area.unwrap();
        (verdict(now, [(ID, &area, queue.len() as u64, queue.iter().copied())]), done)
    }

    #[test]
    fn holds_exactly_and_breaks_with_any_fault() {
        let mut random = Stream::new(1, 0, purpose("little"));
        let faults =
            [Fault::MissedChange, Fault::MissedDeparture, Fault::WrongStamp, Fault::WrongLength, Fault::Vanished];
        let mut injected = [0; 5];
        for round in 0..300 {
            // The check starts at time 0, or at 30 ns, when frames are already in the queue.
            let since = Time::from_ns([0, 30][round % 2]);
            let (honest, _) = run(&mut random, since, Fault::None);
            assert!(honest.pass, "{honest}");
            for (index, fault) in faults.into_iter().enumerate() {
                let (found, done) = run(&mut random, since, fault);
                assert_eq!(found.pass, !done, "fault {index}: {found}");
                injected[index] += usize::from(done);
            }
        }
        assert!(injected.iter().all(|&count| count > 200), "{injected:?}");
    }

    /// Two frames: one in the queue from 0 to 30 ns, the other from 10 ns on. At 50 ns the time integral of the
    /// length is 30 + 40 = 70 frame ns.
    #[test]
    fn a_sum_by_hand() {
        let at = Time::from_ns;
        let mut area = QueueArea::starting(Time::ZERO);
        area.on_change(at(0), 0);
        area.on_change(at(10), 1);
        area.on_change(at(30), 2);
        area.on_departure(at(0), at(30));
        assert_eq!(area.area_frame_ps(), 50_000);
        assert!(verdict(at(50), [(ID, &area, 1, [at(10)])]).pass);
        assert!(!verdict(at(50), [(ID, &area, 1, [at(11)])]).pass);
        assert!(!verdict(at(50), [(ID, &area, 2, [at(10)])]).pass);
    }

    #[test]
    fn empty_queues_prove_nothing_and_a_fault_of_an_earlier_span_stays() {
        let idle = QueueArea::starting(Time::ZERO);
        let none = verdict(Time::from_ns(9), [(ID, &idle, 0, [])]);
        assert_eq!((none.pass, none.applicable), (true, false));
        let mut used = QueueArea::starting(Time::ZERO);
        used.on_change(Time::from_ns(1), 0);
        let found =
            |queues: Vec<(BufferLocation, &QueueArea, u64, Vec<Time>)>| verdict(Time::from_ns(9), queues).detail;
        let (one, empty) = ((ID, &used, 1, vec![Time::from_ns(1)]), (ID, &idle, 0, vec![]));
        assert_eq!(found(vec![one.clone()]), "exact to the picosecond in 1 of 1 queues");
        assert_eq!(found(vec![one, empty]), "exact to the picosecond in 1 of 2 queues; no frame waited in the others");
        let before = LittleFindings::of(Time::from_ns(5), [(ID, &idle, 1, [Time::ZERO, Time::ZERO])]);
        let after = LittleFindings::of(Time::from_ns(9), [(ID, &idle, 0, [Time::ZERO; 0])]);
        assert!(after.verdict(name).pass && !before.clone().and_then(after.clone()).verdict(name).pass);
        assert!(!after.beside(before).verdict(name).pass);
    }

    #[test]
    fn time_that_runs_backwards_is_a_fault_and_not_a_panic() {
        let mut area = QueueArea::starting(Time::from_ns(5));
        area.on_change(Time::from_ns(4), 0);
        assert!(!verdict(Time::from_ns(9), [(ID, &area, 0, [])]).pass);
        let mut area = QueueArea::starting(Time::ZERO);
        area.on_departure(Time::from_ns(2), Time::from_ns(1));
        assert!(!verdict(Time::from_ns(9), [(ID, &area, 0, [])]).pass);
    }

    #[test]
    fn the_longest_and_fullest_run_fits() {
        let mut area = QueueArea::starting(Time::ZERO);
        area.on_change(Time::MAX, u64::MAX);
        assert_eq!(area.area_frame_ps(), u64::MAX.wrapping_mul(u64::MAX));
    }
}
