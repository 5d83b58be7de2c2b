//! Global scheduling: exact for few streams, otherwise the best of several orders, with displacement of streams.

use super::{earliest, exact, starts};
use crate::problem::{Occupancy, Problem, Schedule, Starts, explain};
use crate::slot::ConflictInterval;
use std::cmp::Reverse;
use units::Time;

/// Finds slots for as many streams as possible. Each connected component of the conflict graph (streams with a common
/// link are adjacent) is scheduled separately. Components of up to eight streams are searched exhaustively within a
/// step limit.
pub fn central(problem: &Problem) -> Schedule {
    let mut occupancy = Occupancy::new(problem);
    let mut all: Vec<Option<Starts>> = vec![None; problem.streams.len()];
    let mut most = true;
    for group in groups(problem) {
        let (found, proved) = match exact::search(problem, &group) {
            Some(found) => (found, true),
            None => {
                let found = heuristic(problem, &group);
                let proved = found.iter().all(|(_, starts)| starts.is_some());
                (found, proved)
            }
        };
        most &= proved;
        for (stream, starts) in found {
            if let Some(starts) = &starts {
                occupancy.insert(problem, stream, starts);
            }
            all[stream] = starts;
        }
    }
    let rejected = explain(problem, &all, &occupancy);
    Schedule { starts: all, rejected, most }
}

/// Runs only the heuristic of [`central`], for any number of streams.
pub fn central_heuristic(problem: &Problem) -> Schedule {
    let mut occupancy = Occupancy::new(problem);
    let mut all: Vec<Option<Starts>> = vec![None; problem.streams.len()];
    for (stream, starts) in groups(problem).iter().flat_map(|group| heuristic(problem, group)) {
        if let Some(starts) = &starts {
            occupancy.insert(problem, stream, starts);
        }
        all[stream] = starts;
    }
    let rejected = explain(problem, &all, &occupancy);
    Schedule { most: rejected.is_empty(), starts: all, rejected }
}

/// Returns the connected components of the conflict graph, in which streams with a common link are adjacent.
fn groups(problem: &Problem) -> Vec<Vec<usize>> {
    let mut root: Vec<usize> = (0..problem.streams.len()).collect();
    fn find(root: &mut [usize], mut at: usize) -> usize {
        while root[at] != at {
            root[at] = root[root[at]];
            at = root[at];
        }
        at
    }
    let mut owner: Vec<Option<usize>> = vec![None; problem.links.len()];
    for (stream, spec) in problem.streams.iter().enumerate() {
        for &link in &spec.path {
            let other = *owner[link].get_or_insert(stream);
            let (a, b) = (find(&mut root, stream), find(&mut root, other));
            root[a.max(b)] = a.min(b);
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); problem.streams.len()];
    for stream in 0..problem.streams.len() {
        groups[find(&mut root, stream)].push(stream);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

type Found = Vec<(usize, Option<Starts>)>;

/// Maximum number of start times at which a stream without slots tries to displace other streams.
const PUSHES: usize = 24;

fn heuristic(problem: &Problem, group: &[usize]) -> Found {
    let length = |stream: usize| {
        let spec = &problem.streams[stream];
        spec.path.iter().map(|&link| problem.length(spec, link)).sum::<Time>()
    };
    let mut orders = vec![group.to_vec(), group.to_vec(), group.to_vec()];
    orders[0].sort_by_key(|&stream| (problem.streams[stream].period, Reverse(length(stream)), stream));
    orders[1].sort_by_key(|&stream| (Reverse(length(stream)), stream));
    let mut best: Option<Found> = None;
    for order in orders {
        let found = in_order(problem, &order);
        let count = |found: &Found| found.iter().filter(|(_, starts)| starts.is_some()).count();
        if best.as_ref().is_none_or(|best| count(&found) > count(best)) {
            let done = count(&found) == group.len();
            best = Some(found);
            if done {
                break;
            }
        }
    }
    best.unwrap_or_default()
}

fn in_order(problem: &Problem, order: &[usize]) -> Found {
    let mut occupancy = Occupancy::new(problem);
    let mut all: Vec<Option<Starts>> = vec![None; problem.streams.len()];
    let mut without = Vec::new();
    for &stream in order {
        match earliest(problem, &occupancy, stream, Time::ZERO) {
            Some(starts) => {
                occupancy.insert(problem, stream, &starts);
                all[stream] = Some(starts);
            }
            None => without.push(stream),
        }
    }
    for stream in without {
        push(problem, &mut occupancy, &mut all, stream);
    }
    order.iter().map(|&stream| (stream, all[stream].take())).collect()
}

/// Places a stream at a start with the fewest conflicts and relocates the conflicting streams; changes nothing unless
/// all get slots.
fn push(problem: &Problem, occupancy: &mut Occupancy, all: &mut [Option<Starts>], stream: usize) {
    let period = problem.streams[stream].period;
    let blocked: Vec<(usize, ConflictInterval)> =
        occupancy.blocked(problem, stream).flat_map(|(_, here)| here).collect();
    let mut tries: Vec<(usize, u64)> = Vec::new();
    for &(_, interval) in blocked.iter().take(200) {
        let end = (interval.first_ps + interval.length_ps) % interval.modulus_ps;
        let Some(start) = end.checked_next_multiple_of(problem.grid.as_ps()).filter(|&at| at < period.as_ps()) else {
            continue;
        };
        let mut holders: Vec<usize> =
            blocked.iter().filter(|(_, other)| other.contains(start)).map(|&(holder, _)| holder).collect();
        holders.sort_unstable();
        holders.dedup();
        // Starts at which the slot would cross the end of the stream's own period are not tried.
        if !holders.contains(&stream) {
            tries.push((holders.len(), start));
        }
    }
    tries.sort_unstable();
    tries.dedup();
    for (_, start) in tries.into_iter().take(PUSHES) {
        let mut moved: Vec<usize> =
            blocked.iter().filter(|(_, other)| other.contains(start)).map(|&(holder, _)| holder).collect();
        moved.sort_unstable();
        moved.dedup();
        moved.iter().for_each(|&holder| occupancy.remove(problem, holder));
        let own = starts(problem, stream, Time::from_ps(start));
        occupancy.insert(problem, stream, &own);
        let mut placed: Vec<(usize, Starts)> = vec![(stream, own)];
        for &holder in &moved {
            let Some(found) = earliest(problem, occupancy, holder, Time::ZERO) else { break };
            occupancy.insert(problem, holder, &found);
            placed.push((holder, found));
        }
        if placed.len() == moved.len() + 1 {
            placed.into_iter().for_each(|(stream, starts)| all[stream] = Some(starts));
            return;
        }
        placed.iter().for_each(|&(stream, _)| occupancy.remove(problem, stream));
        for &holder in &moved {
            if let Some(starts) = &all[holder] {
                occupancy.insert(problem, holder, starts);
            }
        }
    }
}
