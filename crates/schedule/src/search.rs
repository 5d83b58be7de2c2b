//! Choice of the start of a slot among the free intervals.

use crate::slot::{ConflictInterval, gcd, smallest_free_shift};
use units::Time;

/// Strategy of a node for the start of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotStrategy {
    /// The first free start at or after the requested one (thesis, section 4.5.1 iii).
    Earliest,
    /// The start that makes the least time of the link unusable for streams of any known period: directly before or
    /// after other slots, or at times that streams with long periods already block for streams with short periods. A
    /// node has the necessary data: its own slots, and those upstream from the request. Apart from the search order,
    /// this strategy equals that of the thesis.
    Tightest,
}

/// Input of a search: blocked shifts of a slot, by cause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    /// Length of the slot on the link itself.
    pub length: Time,
    /// Shifts blocked by slots of the link itself.
    pub here: &'a [ConflictInterval],
    /// Shifts blocked on links upstream.
    pub upstream: &'a [ConflictInterval],
    /// Shifts at which the slot would extend beyond the end of the stream's period.
    pub walls: &'a [ConflictInterval],
}

/// Maximum number of blocked instances for which gaps are listed; with more, the earliest start is used.
const MOST_INSTANCES: u64 = 1 << 16;

impl SlotStrategy {
    /// Returns a free shift that is a multiple of `grid` and below `limit`, the period of the slot; `None` only if none
    /// is free.
    pub(crate) fn shift(self, field: Field<'_>, grid: Time, limit: Time) -> Option<Time> {
        let mut blocked = [field.here, field.upstream, field.walls].concat();
        blocked.sort_unstable();
        blocked.dedup();
        let earliest = smallest_free_shift(&blocked, grid, limit)?;
        if self == SlotStrategy::Earliest {
            return Some(earliest);
        }
        let Some(gaps) = gaps(&blocked, limit.as_ps()) else { return Some(earliest) };
        let lines = [field.here, field.upstream].map(|side| OccupiedTime::all(side, field.length)).concat();
        let (grid, limit) = (grid.as_ps(), limit.as_ps());
        // Candidates: starts next to blocked intervals, and next to or inside slots of other periods.
        let mut candidates: Vec<u64> = gaps.iter().flat_map(|&(from, to)| [from, to - 1]).collect();
        lines.iter().for_each(|line| line.beside(limit, &mut candidates));
        candidates = candidates.iter().flat_map(|at| [at / grid * grid, at.next_multiple_of(grid)]).collect();
        candidates.sort_unstable();
        candidates.dedup();
        let is_free = |at: &u64| {
            let next = gaps.partition_point(|gap| gap.0 <= *at);
            next > 0 && *at < gaps[next - 1].1
        };
        let waste = |at: u64| lines.iter().map(|line| line.waste(at)).sum::<u64>();
        candidates.into_iter().filter(is_free).min_by_key(|&at| (waste(at), at)).map(Time::from_ps)
    }
}

/// Returns the free shifts below `limit` as intervals [from, to), in order; `None` if there are too many instances.
fn gaps(blocked: &[ConflictInterval], limit: u64) -> Option<Vec<(u64, u64)>> {
    let instances = blocked.iter().map(|one| limit / one.modulus_ps + 2).fold(0, u64::saturating_add);
    if instances > MOST_INSTANCES {
        return None;
    }
    let mut taken = Vec::with_capacity(instances as usize);
    for one in blocked.iter().filter(|one| one.length_ps > 0) {
        // The instance before zero may extend past zero.
        let reach = (one.first_ps + one.length_ps).saturating_sub(one.modulus_ps);
        taken.push((0, reach.min(limit)));
        let starts = (one.first_ps..limit).step_by(usize::try_from(one.modulus_ps).unwrap_or(usize::MAX));
        taken.extend(starts.map(|start| (start, (start + one.length_ps).min(limit))));
    }
    let (mut gaps, mut at) = (Vec::new(), 0);
    for (from, to) in merged(taken) {
        if at < from {
            gaps.push((at, from));
        }
        at = to;
    }
    if at < limit {
        gaps.push((at, limit));
    }
    Some(gaps)
}

/// Merges adjacent intervals.
fn merged(mut spans: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    spans.sort_unstable();
    let mut all: Vec<(u64, u64)> = Vec::with_capacity(spans.len());
    for (from, to) in spans.into_iter().filter(|(from, to)| from < to) {
        match all.last_mut().filter(|last| from <= last.1) {
            Some(last) => last.1 = last.1.max(to),
            None => all.push((from, to)),
        }
    }
    all
}

/// Occupied time of a link as seen by streams of one period: modulo this period, relative to the start of the searched
/// slot.
#[derive(Clone)]
struct OccupiedTime {
    own_ps: u64,
    modulus_ps: u64,
    taken: Vec<(u64, u64)>,
}

impl OccupiedTime {
    /// Creates an element for the greatest common divisor of all periods of other slots, and one for each of these
    /// periods, until there are too many instances.
    fn all(blocked: &[ConflictInterval], own: Time) -> Vec<OccupiedTime> {
        let mut moduli: Vec<u64> = blocked.iter().map(|one| one.modulus_ps).collect();
        moduli.push(moduli.iter().fold(0, |all, &one| gcd(all, one)));
        moduli.sort_unstable();
        moduli.dedup();
        let mut instances = 0u64;
        let few = |modulus: &u64| {
            let here = blocked.iter().map(|one| modulus / gcd(one.modulus_ps, *modulus).max(1));
            instances = here.fold(instances, u64::saturating_add);
            instances <= MOST_INSTANCES
        };
        moduli.into_iter().take_while(few).map(|modulus_ps| OccupiedTime::new(blocked, own, modulus_ps)).collect()
    }

    fn new(blocked: &[ConflictInterval], own: Time, modulus_ps: u64) -> OccupiedTime {
        let mut taken = Vec::with_capacity(blocked.len());
        for one in blocked {
            // The blocking slot is derived from the blocked shifts. For a slot upstream, which may have another length,
            // the result is approximate; free intervals remain free.
            let own = own.as_ps().min(one.length_ps);
            let length = (one.length_ps - own + 1).min(modulus_ps);
            let every = gcd(one.modulus_ps, modulus_ps);
            let first = (one.first_ps + own.saturating_sub(1)) % every;
            for from in (0..modulus_ps / every).map(|number| first + number * every) {
                taken.push((from, (from + length).min(modulus_ps)));
                taken.push((0, (from + length).saturating_sub(modulus_ps)));
            }
        }
        OccupiedTime { own_ps: own.as_ps().min(modulus_ps), modulus_ps, taken: merged(taken) }
    }

    /// Returns the time that the slot makes unusable for streams of this period: the newly occupied time, plus adjacent
    /// gaps that are shorter than the slot.
    fn waste(&self, shift: u64) -> u64 {
        let (Some(first), Some(last)) = (self.taken.first(), self.taken.last()) else { return 0 };
        let from = shift % self.modulus_ps;
        let to = from + self.own_ps;
        let new = self.own_ps
            - self.overlap(from, to.min(self.modulus_ps))
            - self.overlap(0, to.saturating_sub(self.modulus_ps));
        let behind = match self.taken.partition_point(|span| span.0 <= from) {
            0 => from + self.modulus_ps - last.1,
            next => from.saturating_sub(self.taken[next - 1].1),
        };
        let to = to % self.modulus_ps;
        let ahead = match self.taken.get(self.taken.partition_point(|span| span.1 < to)) {
            Some(span) => span.0.saturating_sub(to),
            None => first.0 + self.modulus_ps - to,
        };
        new + behind.min(self.own_ps) + ahead.min(self.own_ps)
    }

    /// Adds shifts below `limit` at which the slot begins or ends at an edge of an occupied interval.
    fn beside(&self, limit: u64, all: &mut Vec<u64>) {
        let Some(modulus) = usize::try_from(self.modulus_ps).ok().filter(|&modulus| modulus > 0) else { return };
        if (limit / self.modulus_ps + 1).saturating_mul(self.taken.len() as u64) > MOST_INSTANCES {
            return;
        }
        for &(from, to) in &self.taken {
            for edge in [from, to] {
                let back = (edge + self.modulus_ps - self.own_ps) % self.modulus_ps;
                for at in [edge % self.modulus_ps, back] {
                    all.extend((at..limit).step_by(modulus));
                }
            }
        }
    }

    /// Returns the occupied time in [from, to).
    fn overlap(&self, from: u64, to: u64) -> u64 {
        let first = self.taken.partition_point(|span| span.1 <= from);
        let spans = self.taken[first..].iter().take_while(|span| span.0 < to);
        spans.map(|span| span.1.min(to) - span.0.max(from)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::Slot;
    use proptest::prelude::*;

    fn slot(start: u64, length: u64, period: u64) -> Slot {
        Slot::new(Time::from_ps(start), Time::from_ps(length), Time::from_ps(period))
    }

    fn search(own: Slot, others: &[Slot], upstream: &[Slot], grid: u64) -> Option<u64> {
        let by = |others: &[Slot]| others.iter().map(|other| ConflictInterval::by(&own, other)).collect::<Vec<_>>();
        let (here, upstream) = (by(others), by(upstream));
        let field = Field { length: own.length(), here: &here, upstream: &upstream, walls: &[] };
        SlotStrategy::Tightest.shift(field, Time::from_ps(grid), own.period()).map(Time::as_ps)
    }

    #[test]
    fn a_slot_goes_where_it_leaves_no_gap() {
        // Occupied: 10 to 20 and 25 to 40. The gap between them is exactly as long as the slot.
        assert_eq!(search(slot(0, 5, 100), &[slot(10, 10, 100), slot(25, 15, 100)], &[], 1), Some(20));
        assert_eq!(search(slot(0, 5, 100), &[], &[slot(10, 10, 100), slot(25, 15, 100)], 1), Some(20));
        // No slot is occupied, so the requested start is used.
        assert_eq!(search(slot(7, 5, 100), &[], &[], 1), Some(0));
    }

    #[test]
    fn streams_of_long_periods_share_what_they_keep_from_short_ones() {
        // A slot of 10 with period 50; others have periods 100 and 50.
        let others = [slot(20, 10, 100), slot(48, 4, 50)];
        assert_eq!(search(slot(0, 10, 100), &others, &[], 1), Some(70));
    }

    fn slots() -> impl Strategy<Value = Slot> {
        let periods = prop::sample::select(vec![6u64, 12, 18, 24, 36]);
        periods.prop_flat_map(|period| (0..period, 0..=period, Just(period)).prop_map(|(s, l, p)| slot(s, l, p)))
    }

    proptest! {
        #[test]
        fn the_tightest_place_is_free_and_there_is_one_if_there_is_an_earliest(
            own in slots(), here in prop::collection::vec(slots(), 0..4),
            upstream in prop::collection::vec(slots(), 0..4), grid in 1u64..4,
        ) {
            let others = [here.as_slice(), &upstream].concat();
            let free = |shift: u64| {
                let moved = Slot::new(own.start() + Time::from_ps(shift), own.length(), own.period());
                others.iter().all(|other| !moved.overlaps(other))
            };
            let found = search(own, &here, &upstream, grid);
            let any = (0..own.period().as_ps()).step_by(grid as usize).find(|&shift| free(shift));
            prop_assert_eq!(found.is_some(), any.is_some());
            if let Some(shift) = found {
                prop_assert!(free(shift) && shift % grid == 0 && shift < own.period().as_ps(), "{}", shift);
            }
        }
    }
}
