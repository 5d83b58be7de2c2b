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

/// From the place that is guessed so many steps are taken, and then the place is searched for.
const STEPS: usize = 8;

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
    /// Scratch: what left between each that came and the one before.
    between: Vec<u64>,
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
        let Peaks { seen, held, came, left, between } = self;
        let (Some(&(first, _)), Some(&(last, _))) = (came.first(), came.last()) else { return most };
        between.clear();
        between.resize(came.len(), 0);
        // What comes is spread over the window, so the time at which something left tells almost what came next. To
        // go by that is cheaper than to put in order what left. In 2^-24 of a place for each picosecond:
        let places = ((came.len() as u64) << 24) / (last.as_ps() - first.as_ps() + 1);
        for &(at, size_bytes) in &*left {
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

/// The place in `came`, which is in order of time, of the first that came at `at` or later: there is one. It is perhaps
/// near `guess`.
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

    /// Against the same in one list, in order of time.
    #[test]
    fn the_most_is_that_of_all_events_in_order() {
        let mut random = Stream::new(5, 0, 0);
        let mut peaks = Peaks::default();
        for round in 0..500 {
            let base = 1_000_000;
            // Few instants, so that many events share one; or many, of which most are close together.
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
