//! The most that a buffer ever held, to the byte, while departures are made up for later.
//!
//! Then the buffer counts more than there is, and a frame that seems to raise the maximum may not. So what comes and
//! what leaves is noted with its time, and put in order when all that has left is known:
//!
//! ```text
//!   counted:   what came by then, less what was looked at of what left by then
//!   held:      what came by then, less what left by then; at one instant, what leaves goes first
//! ```

use units::Time;

/// What came and left since a time at which the buffer was exact, each with its bytes.
#[derive(Debug, Default)]
pub(super) struct Peaks {
    /// How often more was held than ever before, since it was asked last.
    pub seen: u32,
    /// What was held then.
    held: u64,
    /// In order of time.
    came: Vec<(Time, u16)>,
    /// In any order.
    left: Vec<(Time, u16)>,
}

impl Peaks {
    /// From now on all is noted; the buffer holds `held`.
    pub fn begin(&mut self, held: u64) {
        self.held = held;
        self.came.clear();
        self.left.clear();
    }

    /// A frame joined those that wait, no earlier than the one before.
    #[inline]
    pub fn note_coming(&mut self, at: Time, size_bytes: u16) {
        self.came.push((at, size_bytes));
    }

    /// A frame left.
    #[inline]
    pub fn note_leaving(&mut self, at: Time, size_bytes: u16) {
        self.left.push((at, size_bytes));
    }

    /// Ends, when everything that has left by now is noted: the most that was ever held, if it was `most` before.
    #[cold]
    #[inline(never)]
    pub fn end(&mut self, mut most: u64) -> u64 {
        self.left.sort_unstable_by_key(|&(at, _)| at);
        let mut held = self.held;
        let mut left = self.left.iter().peekable();
        for &(at, size_bytes) in &self.came {
            while let Some(&(_, size_bytes)) = left.next_if(|&&(left, _)| left <= at) {
                held -= u64::from(size_bytes);
            }
            held += u64::from(size_bytes);
            self.seen += u32::from(held > most);
            most = most.max(held);
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// Against the same in one list, in order of time.
    #[test]
    fn the_most_is_that_of_all_events_in_order() {
        let mut random = Stream::new(5, 0, 0);
        let mut peaks = Peaks::default();
        for round in 0..500 {
            let base = 1_000_000;
            // Few instants, so that many events share one.
            let mut some = || -> Vec<(Time, u16)> {
                let count = random.below(40);
                (0..count).map(|_| (Time::from_ps(random.below(20)), 64 + random.below(1_000) as u16)).collect()
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
