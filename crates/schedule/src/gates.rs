//! Gate lists (IEEE 802.1Qbv, 802.1Q clause 8.6.8.4) for ports with slots.

use crate::problem::{Problem, Schedule};
use crate::slot::lcm;
use units::Time;

/// One gate state of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateEntry {
    /// Open gates: bit i for class i.
    pub gates: u8,
    /// Duration.
    pub interval: Time,
}

/// Gates of one port over a gating cycle, which begins at time zero and repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateList {
    /// Link, by index in the problem.
    pub link: usize,
    /// Length of the gating cycle: the sum of all intervals.
    pub cycle: Time,
    /// States in order. None is empty, and adjacent states differ.
    pub entries: Vec<GateEntry>,
}

/// Options for gate lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateOptions {
    /// Class of the streams, 0 to 7.
    pub class: u8,
    /// Guard band: before each slot all gates are closed for the time of a frame of this length, the longest frame of
    /// other classes. Zero for ports that start a frame only if it ends before its gate closes, as in 802.1Q clause
    /// 8.6.8.4.
    pub guard_bytes: u64,
}

/// Returns the gates of each link with slots. In a slot, rounded outwards to whole nanoseconds, only the gate of the
/// streams' class is open. Outside of slots and guard bands, this gate is closed and all others are open.
pub fn gates(problem: &Problem, schedule: &Schedule, options: GateOptions) -> Vec<GateList> {
    let mut slots: Vec<Vec<(Time, Time, Time)>> = vec![Vec::new(); problem.links.len()];
    for (spec, starts) in problem.streams.iter().zip(&schedule.starts) {
        for (&link, &start) in spec.path.iter().zip(starts.iter().flatten()) {
            slots[link].push((start, problem.length(spec, link), spec.period));
        }
    }
    let used = slots.iter().enumerate().filter(|(_, slots)| !slots.is_empty());
    used.map(|(link, slots)| list(problem, link, slots, options)).collect()
}

const NANOSECOND: Time = Time::from_ns(1);

fn list(problem: &Problem, link: usize, slots: &[(Time, Time, Time)], options: GateOptions) -> GateList {
    // `Problem::check` has verified that the periods have a common multiple.
    let cycle = slots.iter().filter_map(|&(.., period)| lcm(period, NANOSECOND)).try_fold(NANOSECOND, lcm);
    let cycle = cycle.unwrap_or(Time::MAX);
    let guard = match options.guard_bytes {
        0 => Time::ZERO,
        bytes => problem.wire.slot(problem.links[link].rate, bytes),
    };
    let (mut open, mut shut) = (Vec::new(), Vec::new());
    for &(start, length, period) in slots {
        for i in 0..cycle / period {
            let from = (start + period * i) % cycle;
            spans(&mut open, from, from + length, cycle);
            // Guard band before the slot; if it starts before zero, it wraps to the end of the gating cycle.
            let ahead = if from >= guard { from - guard } else { from + cycle - guard % cycle };
            spans(&mut shut, ahead, ahead + guard, cycle);
        }
    }
    let (own, others) = (1u8 << options.class, !(1u8 << options.class));
    let mut edges: Vec<Time> = open.iter().chain(&shut).flat_map(|&(from, to)| [from, to]).collect();
    edges.extend([Time::ZERO, cycle]);
    edges.sort_unstable();
    edges.dedup();
    let (open, shut) = (merged(open), merged(shut));
    let within = |spans: &[(Time, Time)], at: Time| {
        let next = spans.partition_point(|&(from, _)| from <= at);
        next > 0 && at < spans[next - 1].1
    };
    let mut entries: Vec<GateEntry> = Vec::new();
    for pair in edges.windows(2) {
        let (from, interval) = (pair[0], pair[1] - pair[0]);
        let gates = if within(&open, from) {
            own
        } else if within(&shut, from) {
            0
        } else {
            others
        };
        match entries.last_mut().filter(|last| last.gates == gates) {
            Some(last) => last.interval += interval,
            None => entries.push(GateEntry { gates, interval }),
        }
    }
    GateList { link, cycle, entries }
}

/// Adds [from, to), rounded outwards to whole nanoseconds; an interval that crosses the end of the gating cycle is
/// split.
fn spans(all: &mut Vec<(Time, Time)>, from: Time, to: Time, cycle: Time) {
    if from == to {
        return;
    }
    let from = from - from % NANOSECOND;
    let to = Time::from_ps(to.as_ps().next_multiple_of(NANOSECOND.as_ps()));
    if to > cycle {
        all.push((Time::ZERO, (to - cycle).min(cycle)));
    }
    all.push((from, to.min(cycle)));
}

fn merged(mut spans: Vec<(Time, Time)>) -> Vec<(Time, Time)> {
    spans.sort_unstable();
    let mut all: Vec<(Time, Time)> = Vec::new();
    for (from, to) in spans {
        match all.last_mut().filter(|last| from <= last.1) {
            Some(last) => last.1 = last.1.max(to),
            None => all.push((from, to)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Link, StreamSpec};
    use crate::protocol::WireCost;
    use units::Rate;

    /// Frames of 100 bytes take 80 ns at 10 Gbps.
    fn gates_of(starts: &[u64], options: GateOptions) -> Vec<(u8, u64)> {
        let stream = |name: usize| StreamSpec {
            name: name.to_string(),
            period: Time::from_ns(500),
            frame_bytes: 100,
            start: Time::ZERO,
            deadline: None,
            path: vec![0],
        };
        let problem = Problem {
            links: vec![Link { node: "a".into(), port: 0, rate: Rate::from_gbps(10), delay: Time::from_ns(1) }],
            streams: (0..starts.len()).map(stream).collect(),
            wire: WireCost::FrameOnly,
            processing: Time::ZERO,
            grid: Time::from_ns(1),
            max_cycle: Time::from_us(1),
        };
        let starts = starts.iter().map(|&start| Some(vec![Time::from_ps(start)])).collect();
        let schedule = Schedule { starts, rejected: Vec::new(), most: true };
        let lists = gates(&problem, &schedule, options);
        assert_eq!(lists.len(), 1);
        assert_eq!(lists[0].cycle, lists[0].entries.iter().map(|entry| entry.interval).sum());
        lists[0].entries.iter().map(|entry| (entry.gates, entry.interval.as_ps() / 1000)).collect()
    }

    #[test]
    fn a_slot_opens_its_class_alone_in_whole_nanoseconds() {
        let options = GateOptions { class: 7, guard_bytes: 0 };
        assert_eq!(gates_of(&[100_000], options), [(0x7F, 100), (0x80, 80), (0x7F, 320)]);
        assert_eq!(gates_of(&[100_300], options), [(0x7F, 100), (0x80, 81), (0x7F, 319)]);
        // Two adjacent slots are merged; a slot that crosses the end of the gating cycle is split.
        assert_eq!(gates_of(&[100_000, 180_000], options), [(0x7F, 100), (0x80, 160), (0x7F, 240)]);
        assert_eq!(gates_of(&[450_000], options), [(0x80, 30), (0x7F, 420), (0x80, 50)]);
    }

    #[test]
    fn a_guard_closes_all_gates_ahead() {
        let options = GateOptions { class: 0, guard_bytes: 50 };
        assert_eq!(gates_of(&[100_000], options), [(0xFE, 60), (0, 40), (1, 80), (0xFE, 320)]);
        assert_eq!(gates_of(&[10_000], options), [(0, 10), (1, 80), (0xFE, 380), (0, 30)]);
    }
}
