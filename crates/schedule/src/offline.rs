//! Slots computed centrally, before transmission starts.
//!
//! | | scope of decisions | frames wait |
//! |---|---|---|
//! | [`central`] | all streams; slots may be moved | never |
//! | [`first_come`] | one stream at a time, like DTSCoE without concurrent requests | never |
//! | [`per_hop`] | one node at a time (Wan and Ashwood-Smith, 2015; thesis, section 4.4) | at any node |

mod central;
mod exact;

pub use central::{central, central_heuristic};

use crate::problem::{Occupancy, Problem, Schedule, Starts, explain};
use crate::search::{Field, SlotStrategy};
use crate::slot::{ConflictInterval, Slot, smallest_free_shift};
use units::Time;

/// Returns the earliest start at or after `from` at which no frame of the stream ever waits.
pub(crate) fn earliest(problem: &Problem, occupancy: &Occupancy, stream: usize, from: Time) -> Option<Starts> {
    let spec = &problem.streams[stream];
    let from = Time::from_ps(from.as_ps().next_multiple_of(problem.grid.as_ps()));
    let rebased = |(_, interval): (usize, ConflictInterval)| interval.rebased(from.as_ps());
    let mut blocked: Vec<ConflictInterval> =
        occupancy.blocked(problem, stream).flat_map(|(_, here)| here).map(rebased).collect();
    blocked.sort_unstable();
    blocked.dedup();
    let shift = smallest_free_shift(&blocked, problem.grid, spec.period)?;
    Some(starts(problem, stream, (from + shift) % spec.period))
}

/// Returns the starts on each link for a frame that never waits.
pub(crate) fn starts(problem: &Problem, stream: usize, start: Time) -> Starts {
    problem.offsets(&problem.streams[stream]).into_iter().map(|offset| start + offset).collect()
}

/// Returns the start that makes the least time unusable on the last link and on the links upstream. It is computed with
/// all occupied slots of the path, as by the last node of the reservation protocol.
fn tightest(problem: &Problem, occupancy: &Occupancy, stream: usize, from: Time) -> Option<Starts> {
    let spec = &problem.streams[stream];
    let from = Time::from_ps(from.as_ps().next_multiple_of(problem.grid.as_ps()));
    let (mut here, mut upstream, mut walls) = (Vec::new(), Vec::new(), Vec::new());
    for (link, intervals) in occupancy.blocked(problem, stream) {
        let slots = if spec.path.last() == Some(&link) { &mut here } else { &mut upstream };
        for (holder, interval) in intervals {
            let of = if holder == stream { &mut walls } else { &mut *slots };
            of.push(interval.rebased(from.as_ps()));
        }
    }
    let length = problem.length(spec, *spec.path.last()?);
    let field = Field { length, here: &here, upstream: &upstream, walls: &walls };
    let shift = SlotStrategy::Tightest.shift(field, problem.grid, spec.period)?;
    Some(starts(problem, stream, (from + shift) % spec.period))
}

/// Schedules streams in order. Each gets a start that is free on all links of its path, the earliest after its
/// preferred start or the tightest. Slots never move afterwards.
pub fn first_come(problem: &Problem, search: SlotStrategy) -> Schedule {
    let mut occupancy = Occupancy::new(problem);
    let mut all = Vec::new();
    for (stream, spec) in problem.streams.iter().enumerate() {
        let found = match search {
            SlotStrategy::Earliest => earliest(problem, &occupancy, stream, spec.start),
            SlotStrategy::Tightest => tightest(problem, &occupancy, stream, spec.start),
        };
        if let Some(starts) = &found {
            occupancy.insert(problem, stream, starts);
        }
        all.push(found);
    }
    let rejected = explain(problem, &all, &occupancy);
    Schedule { most: rejected.is_empty(), starts: all, rejected }
}

/// Schedules streams in order. At each node a stream gets the earliest slot after the arrival of its frames, which wait
/// at the node for this slot.
pub fn per_hop(problem: &Problem) -> Schedule {
    let mut occupancy = Occupancy::new(problem);
    let mut all = Vec::new();
    for (stream, spec) in problem.streams.iter().enumerate() {
        let mut at = spec.start;
        let mut starts = Starts::new();
        for &link in &spec.path {
            let own = Slot::new(at, problem.length(spec, link), spec.period);
            let blocked: Vec<ConflictInterval> =
                occupancy.holders(link).iter().map(|(_, slot)| ConflictInterval::by(&own, slot)).collect();
            let Some(wait) = smallest_free_shift(&blocked, problem.grid, spec.period) else { break };
            starts.push(at + wait);
            at += wait + problem.passage(spec, link) + problem.processing;
        }
        let end = at.saturating_sub(problem.processing);
        let in_time = spec.deadline.is_none_or(|most| end.saturating_sub(spec.start) <= most);
        let found = (starts.len() == spec.path.len() && in_time).then_some(starts);
        if let Some(starts) = &found {
            occupancy.insert(problem, stream, starts);
        }
        all.push(found);
    }
    let rejected = explain(problem, &all, &occupancy);
    Schedule { most: rejected.is_empty(), starts: all, rejected }
}
