//! The exact maximum of a buffer during lazy departures.
//!
//! The counters then include frames that have left, so a frame that seems to set a new maximum may not do so. Therefore
//! enqueues and dequeues are logged with their times, and merged when all dequeues of the window are complete:
//!
//! ```text
//!   counted:  bytes enqueued so far, less the dequeues applied so far
//!   held:     bytes enqueued so far, less those dequeued so far; at one instant dequeues go first
//! ```

use units::Time;

/// Linear search steps from the estimated index, before a binary search.
const STEPS: usize = 8;

/// Enqueues and dequeues, with their bytes, since a time at which the counters were exact.
#[derive(Debug, Default)]
pub(super) struct Peaks {
    /// Number of new maxima since the last read.
    pub seen: u32,
    /// Bytes held at that time.
    held: u64,
    /// Enqueues, in order of time.
    came: Vec<(Time, u16)>,
    /// Dequeues, in any order.
    left: Vec<(Time, u16)>,
    /// Scratch: bytes dequeued between an enqueue and the previous one.
    between: Vec<u64>,
}

impl Peaks {
    /// Starts the log; the buffer holds `held` bytes.
    pub fn begin(&mut self, held: u64) {
        self.held = held;
        self.came.clear();
        self.left.clear();
    }

    /// Logs an enqueue, no earlier than the previous one.
    #[inline]
    pub fn note_coming(&mut self, at: Time, size_bytes: u16) {
        self.came.push((at, size_bytes));
    }

    /// Logs a dequeue.
    #[inline]
    pub fn note_leaving(&mut self, at: Time, size_bytes: u16) {
        self.left.push((at, size_bytes));
    }

    /// Ends the log, which must have all dequeues so far. Returns the maximum, given the previous maximum `most`.
    #[cold]
    #[inline(never)]
    pub fn end(&mut self, mut most: u64) -> u64 {
        let Peaks { seen, held, came, left, between } = self;
        let (Some(&(first, _)), Some(&(last, _))) = (came.first(), came.last()) else { return most };
        between.clear();
        between.resize(came.len(), 0);
        // Enqueues are spread over the window, so interpolation by time gives almost the right index. That is cheaper
        // than to sort the dequeues. `places` is in units of 2^-24 indices per picosecond.
        let places = ((came.len() as u64) << 24) / (last.as_ps() - first.as_ps() + 1);
        for &(at, size_bytes) in &*left {
            // Only an enqueue can set a maximum, so dequeues after the last one do not matter.
            if at <= last {
                let guess = ((at.as_ps().saturating_sub(first.as_ps()) * places) >> 24) as usize;
                between[place(came, at, guess)] += u64::from(size_bytes);
            }
        }
        let mut held = *held;
        for (&(_, size_bytes), left) in came.iter().zip(&*between) {
            held = held - left + u64::from(size_bytes);
            *seen += u32::from(held > most);
            most = most.max(held);
        }
        most
    }
}

/// Returns the index in `came`, which is sorted by time, of the first enqueue at or after `at`. There must be one.
/// `guess` is an estimate of the index.
#[inline]
fn place(came: &[(Time, u16)], at: Time, guess: usize) -> usize {
    let mut place = guess.min(came.len() - 1);
    for _ in 0..STEPS {
        if came[place].0 < at {
            place += 1;
        } else if place > 0 && came[place - 1].0 >= at {
            place -= 1;
        } else {
            return place;
        }
    }
    came.partition_point(|came| came.0 < at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// Compares with a single list of all events in order of time.
    #[test]
    fn the_most_is_that_of_all_events_in_order() {
        let mut random = Stream::new(5, 0, 0);
        let mut peaks = Peaks::default();
        for round in 0..500 {
            let base = 1_000_000;
            // Either few instants shared by many events, or many instants, most of them close together.
            let crowded = round % 3 == 0;
            let mut some = || -> Vec<(Time, u16)> {
                let instant = |random: &mut Stream| match random.below(8) {
                    _ if !crowded => random.below(20),
                    0 => random.below(100_000),
                    _ => 70_000 + random.below(50),
                };
                let count = random.below(40);
                let some = |_| (Time::from_ps(instant(&mut random)), 64 + random.below(1_000) as u16);
                (0..count).map(some).collect()
            };
            let (mut came, left) = (some(), some());
            came.sort_by_key(|it| it.0);
            let known = random.below(2) * 1_010_000;
            peaks.begin(base);
            left.iter().for_each(|&(at, bytes)| peaks.note_leaving(at, bytes));
            came.iter().for_each(|&(at, bytes)| peaks.note_coming(at, bytes));
            let mut events: Vec<(Time, bool, i64)> =
                came.iter().map(|&(at, bytes)| (at, true, i64::from(bytes))).collect();
            events.extend(left.iter().map(|&(at, bytes)| (at, false, -i64::from(bytes))));
            events.sort_by_key(|event| (event.0, event.1));
            let (mut held, mut most) = (base as i64, known as i64);
            for (_, comes, change) in events {
                held += change;
                most = if comes { most.max(held) } else { most };
            }
            assert_eq!(peaks.end(known) as i64, most, "round {round}");
        }
    }
}
