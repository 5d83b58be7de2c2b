//! Exhaustive search for few streams.
//!
//! Shift the streams of any solution to earlier starts, one by one or several together, while nothing blocks them. In
//! the result each stream starts at its own lower bound or directly after a slot of another shifted stream. Therefore a
//! solution, if any, is found by placing streams one after the other in every order, at the first free start from zero
//! or directly after an obstacle.

use super::starts;
use crate::problem::{Occupancy, Problem, Starts};
use crate::slot::{ConflictInterval, smallest_free_shift};
use std::collections::BTreeSet;
use units::Time;

/// Maximum number of streams in a group.
const MOST_STREAMS: usize = 8;
/// Maximum number of partial solutions before the search is abandoned.
const MOST_STEPS: usize = 40_000;

/// Finds slots for the largest possible number of streams of the group, on the problem's grid; `None` if there are too
/// many streams or the step limit is reached.
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
    /// Partial solutions without completion.
    seen: BTreeSet<Vec<Option<u64>>>,
    placed: Vec<Option<u64>>,
    steps: usize,
}

impl Search<'_> {
    /// Returns `true` if all remaining streams can be placed; `None` if the step limit is reached.
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
            // A stream that cannot be placed now cannot be placed after further placements.
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

    /// Returns the free starts at zero or directly after an obstacle.
    fn candidates(&self, occupancy: &Occupancy, stream: usize) -> Vec<u64> {
        let (grid, period) = (self.problem.grid.as_ps(), self.problem.streams[stream].period);
        let blocked: Vec<ConflictInterval> = occupancy
            .blocked(self.problem, stream)
            .flat_map(|(_, here)| here)
            .map(|(_, interval)| interval)
            .filter(|interval| interval.length_ps > 0)
            .collect();
        let mut found: BTreeSet<u64> = BTreeSet::new();
        let mut at = Time::ZERO;
        // Alternates between free starts and the next obstacle until the period ends.
        while at < period {
            let from: Vec<ConflictInterval> = blocked.iter().map(|interval| interval.rebased(at.as_ps())).collect();
            let left = Time::from_ps(period.as_ps() - at.as_ps());
            let Some(shift) = smallest_free_shift(&from, Time::from_ps(grid), left) else { break };
            at += shift;
            found.insert(at.as_ps());
            // Time to the start of the next obstacle.
            let gap = |interval: &ConflictInterval| match interval.rebased(at.as_ps()).first_ps {
                0 => interval.modulus_ps,
                gap => gap,
            };
            let Some(gap) = blocked.iter().map(gap).min() else { break };
            at += Time::from_ps(gap.next_multiple_of(grid));
        }
        found.into_iter().collect()
    }
}
