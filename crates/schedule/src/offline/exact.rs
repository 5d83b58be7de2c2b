//! All that can matter, where streams are few.
//!
//! Move any solution's streams to earlier starts, one by one or several together, as long as nothing is in their way:
//! it ends where each stream starts as early as its own bounds or just behind a slot of another that does so. So a
//! solution, if there is one, is found by placing streams one after the other, in every order, each at the first start
//! from zero or from the end of what blocks it.

use super::starts;
use crate::problem::{Occupancy, Problem, Starts};
use crate::slot::{Blocked, smallest_free_shift};
use std::collections::BTreeSet;
use units::Time;

/// Streams that hang together, up to which everything is searched.
const MOST_STREAMS: usize = 8;
/// Partial solutions that are looked at before the search is given up.
const MOST_STEPS: usize = 40_000;

/// Slots for as many streams of the group as can have any at all, on the problem's grid; `None` if there are too many
/// streams, or the search does not end in time.
pub fn search(problem: &Problem, group: &[usize]) -> Option<Vec<(usize, Option<Starts>)>> {
    if group.len() > MOST_STREAMS {
        return None;
    }
    let mut steps = 0;
    for count in (0..=group.len()).rev() {
        for subset in 0u32..1 << group.len() {
            if subset.count_ones() as usize != count {
                continue;
            }
            let wanted: Vec<usize> =
                group.iter().enumerate().filter(|&(at, _)| subset >> at & 1 == 1).map(|(_, &stream)| stream).collect();
            let mut search =
                Search { problem, wanted: &wanted, seen: BTreeSet::new(), placed: vec![None; wanted.len()], steps };
            let found = search.run(&mut Occupancy::new(problem))?;
            steps = search.steps;
            if found {
                let start_of = |stream: &usize| {
                    let at = wanted.iter().position(|one| one == stream)?;
                    search.placed[at].map(|start| starts(problem, *stream, Time::from_ps(start)))
                };
                return Some(group.iter().map(|stream| (*stream, start_of(stream))).collect());
            }
        }
    }
    None
}

struct Search<'a> {
    problem: &'a Problem,
    wanted: &'a [usize],
    /// Partial solutions that lead nowhere.
    seen: BTreeSet<Vec<Option<u64>>>,
    placed: Vec<Option<u64>>,
    steps: usize,
}

impl Search<'_> {
    /// Whether all can be placed beside those that are; `None` if that takes too long to say.
    fn run(&mut self, occupancy: &mut Occupancy) -> Option<bool> {
        if self.placed.iter().all(Option::is_some) {
            return Some(true);
        }
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return None;
        }
        if !self.seen.insert(self.placed.clone()) {
            return Some(false);
        }
        for at in 0..self.wanted.len() {
            if self.placed[at].is_some() {
                continue;
            }
            let stream = self.wanted[at];
            let candidates = self.candidates(occupancy, stream);
            // One that has no place beside those that are placed will have none later.
            if candidates.is_empty() {
                return Some(false);
            }
            for start in candidates {
                self.placed[at] = Some(start);
                occupancy.insert(self.problem, stream, &starts(self.problem, stream, Time::from_ps(start)));
                let found = self.run(occupancy);
                if found != Some(false) {
                    return found;
                }
                occupancy.remove(self.problem, stream);
                self.placed[at] = None;
            }
        }
        Some(false)
    }

    /// Free starts at zero, or just behind something.
    fn candidates(&self, occupancy: &Occupancy, stream: usize) -> Vec<u64> {
        let (grid, period) = (self.problem.grid.as_ps(), self.problem.streams[stream].period);
        let blocked: Vec<Blocked> = occupancy
            .blocked(self.problem, stream)
            .flat_map(|(_, here)| here)
            .map(|(_, interval)| interval)
            .filter(|interval| interval.length_ps > 0)
            .collect();
        let mut found: BTreeSet<u64> = BTreeSet::new();
        let mut at = Time::ZERO;
        // From free start to the end of what blocks next, until the period ends.
        while at < period {
            let from: Vec<Blocked> = blocked.iter().map(|interval| interval.rebased(at.as_ps())).collect();
            let left = Time::from_ps(period.as_ps() - at.as_ps());
            let Some(shift) = smallest_free_shift(&from, Time::from_ps(grid), left) else { break };
            at += shift;
            found.insert(at.as_ps());
            // The next instant at which anything blocks.
            let gap = |interval: &Blocked| match interval.rebased(at.as_ps()).first_ps {
                0 => interval.modulus_ps,
                gap => gap,
            };
            let Some(gap) = blocked.iter().map(gap).min() else { break };
            at += Time::from_ps(gap.next_multiple_of(grid));
        }
        found.into_iter().collect()
    }
}
