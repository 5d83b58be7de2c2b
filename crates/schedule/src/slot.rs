//! Periodic slots: overlap test, and shifts that avoid overlap.
//!
//! The relative positions of two slots with periods p and q take all values that differ by a multiple of gcd(p, q)
//! within lcm(p, q). One comparison modulo the greatest common divisor therefore decides if any of their instances
//! overlap. The result equals that of the thesis's vector of the length of the least common multiple (section 4.5.1
//! ii).

use units::Time;

/// Returns the greatest common divisor; of 0 and x, x.
pub const fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns the least common multiple; `None` if it exceeds 64 bits or an argument is zero.
pub fn lcm(a: Time, b: Time) -> Option<Time> {
    let divisor = gcd(a.as_ps(), b.as_ps());
    (a.as_ps().checked_div(divisor)?).checked_mul(b.as_ps()).map(Time::from_ps)
}

/// Occupation of a wire in [start + i * period, start + i * period + length) for every integer i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    /// Start of an instance, below the period.
    start: Time,
    length: Time,
    period: Time,
}

impl Slot {
    /// Creates a slot; `start` is reduced modulo `period`.
    ///
    /// # Panics
    /// If the period is zero.
    pub fn new(start: Time, length: Time, period: Time) -> Slot {
        Slot { start: start % period, length, period }
    }
    /// Returns the start of the instance in [0, period).
    pub fn start(&self) -> Time {
        self.start
    }
    /// Returns the length of an instance.
    pub fn length(&self) -> Time {
        self.length
    }
    /// Returns the time between instances.
    pub fn period(&self) -> Time {
        self.period
    }

    /// Returns the slot extended by `guard` before each instance.
    pub fn guarded(&self, guard: Time) -> Slot {
        Slot::new(self.start + self.period - guard % self.period, self.length + guard, self.period)
    }

    /// Returns `true` if any instance of this slot overlaps an instance of the other slot.
    pub fn overlaps(&self, other: &Slot) -> bool {
        ConflictInterval::by(self, other).contains(0)
    }
}

/// Shifts of a slot, in picoseconds, at which it would overlap another: those in [first, first + length) modulo
/// `modulus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConflictInterval {
    /// First blocked shift, below the modulus.
    pub first_ps: u64,
    /// Number of blocked shifts; at least the modulus if all are blocked.
    pub length_ps: u64,
    /// Modulus, above zero.
    pub modulus_ps: u64,
}

impl ConflictInterval {
    /// Returns the shifts of `slot` at which it would overlap `other`.
    pub fn by(slot: &Slot, other: &Slot) -> ConflictInterval {
        let modulus_ps = gcd(slot.period.as_ps(), other.period.as_ps());
        let lengths = u128::from(slot.length.as_ps()) + u128::from(other.length.as_ps());
        // Adjacent slots do not overlap.
        let length_ps = u64::try_from(lengths.saturating_sub(1)).unwrap_or(u64::MAX).min(modulus_ps);
        let wide =
            i128::from(other.start.as_ps()) - i128::from(slot.start.as_ps()) - i128::from(slot.length.as_ps()) + 1;
        let first_ps = wide.rem_euclid(modulus_ps.into()) as u64;
        // A slot of zero length overlaps nothing.
        let length_ps = if slot.length == Time::ZERO || other.length == Time::ZERO { 0 } else { length_ps };
        ConflictInterval { first_ps, length_ps, modulus_ps }
    }

    /// Returns `true` if this shift is blocked.
    pub fn contains(&self, shift_ps: u64) -> bool {
        self.behind(shift_ps) < self.length_ps
    }

    /// Returns the interval relative to a slot that has been shifted by `shift_ps`.
    pub fn rebased(&self, shift_ps: u64) -> ConflictInterval {
        let back = self.modulus_ps - shift_ps % self.modulus_ps;
        ConflictInterval { first_ps: (self.first_ps + back) % self.modulus_ps, ..*self }
    }

    /// Returns the distance from the nearest `first` at or before a shift.
    fn behind(&self, shift_ps: u64) -> u64 {
        (shift_ps % self.modulus_ps + self.modulus_ps - self.first_ps) % self.modulus_ps
    }
}

/// Returns the smallest multiple of `grid` below `limit` that is not blocked. The search is exact.
///
/// # Panics
/// If `grid` is zero.
pub fn smallest_free_shift(blocked: &[ConflictInterval], grid: Time, limit: Time) -> Option<Time> {
    let (grid, limit) = (grid.as_ps(), limit.as_ps());
    let mut shift = 0u64;
    // With different moduli the intervals are passed repeatedly; each pass increases the shift, so the loop terminates.
    let mut free = 0;
    let mut at = 0;
    while free < blocked.len() {
        let interval = &blocked[at];
        let behind = interval.behind(shift);
        if behind < interval.length_ps {
            if interval.length_ps >= interval.modulus_ps {
                return None;
            }
            shift = (shift + (interval.length_ps - behind)).checked_next_multiple_of(grid)?;
            if shift >= limit {
                return None;
            }
            // All intervals are checked again: the next multiple of the grid may lie in the next instance of this
            // interval.
            free = 0;
            continue;
        }
        free += 1;
        at = (at + 1) % blocked.len();
    }
    (shift < limit).then_some(Time::from_ps(shift))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slot(start: u64, length: u64, period: u64) -> Slot {
        Slot::new(Time::from_ps(start), Time::from_ps(length), Time::from_ps(period))
    }

    /// Computes the overlap by a vector with the length of the least common multiple.
    fn overlap_in_vector(a: &Slot, b: &Slot) -> bool {
        let all = lcm(a.period, b.period).unwrap().as_ps();
        let taken = |slot: &Slot| {
            let mut vector = vec![false; all as usize];
            for i in 0..all / slot.period.as_ps() {
                for k in 0..slot.length.as_ps() {
                    vector[((slot.start.as_ps() + i * slot.period.as_ps() + k) % all) as usize] = true;
                }
            }
            vector
        };
        taken(a).iter().zip(taken(b)).any(|(a, b)| *a && b)
    }

    fn slots() -> impl Strategy<Value = Slot> {
        (1u64..30).prop_flat_map(|period| (0..period, 0..=period, Just(period)).prop_map(|(s, l, p)| slot(s, l, p)))
    }

    proptest! {
        #[test]
        fn one_comparison_says_what_the_whole_vector_says(a in slots(), b in slots()) {
            prop_assert_eq!(a.overlaps(&b), overlap_in_vector(&a, &b));
            prop_assert_eq!(b.overlaps(&a), a.overlaps(&b));
        }

        #[test]
        fn the_smallest_free_shift_is_the_first_that_a_trial_finds(
            own in slots(), others in prop::collection::vec(slots(), 0..5), grid in 1u64..4,
        ) {
            let blocked: Vec<ConflictInterval> = others.iter().map(|other| ConflictInterval::by(&own, other)).collect();
            let moved = |shift| Slot::new(own.start + Time::from_ps(shift), own.length, own.period);
            let free = |shift: &u64| others.iter().all(|other| !moved(*shift).overlaps(other));
            let tried = (0..own.period.as_ps()).step_by(grid as usize).find(free);
            let found = smallest_free_shift(&blocked, Time::from_ps(grid), own.period);
            prop_assert_eq!(found.map(Time::as_ps), tried);
        }

        #[test]
        fn shifts_seen_from_a_shifted_slot_are_those_less_its_shift(a in slots(), b in slots(), by in 0u64..60) {
            let moved = Slot::new(a.start + Time::from_ps(by), a.length, a.period);
            prop_assert_eq!(ConflictInterval::by(&a, &b).rebased(by), ConflictInterval::by(&moved, &b));
        }
    }

    #[test]
    fn a_guard_precedes_each_instance() {
        assert_eq!(slot(5, 10, 100).guarded(Time::from_ps(20)), slot(85, 30, 100));
        assert!(slot(5, 10, 100).guarded(Time::from_ps(20)).overlaps(&slot(80, 6, 100)));
        assert!(!slot(5, 10, 100).guarded(Time::from_ps(20)).overlaps(&slot(80, 5, 100)));
    }

    #[test]
    fn a_least_common_multiple_beyond_64_bits_is_none() {
        let times = [1_920_000, 960_000, 640_000].map(Time::from_ps);
        assert_eq!(times.into_iter().try_fold(Time::from_ps(1), lcm), Some(Time::from_ns(1920)));
        assert_eq!(lcm(Time::from_ps(u64::MAX), Time::from_ps(u64::MAX - 1)), None);
        assert_eq!(lcm(Time::ZERO, Time::ZERO), None);
    }
}
