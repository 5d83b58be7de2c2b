//! A network without contention, to run plans on in tests.

use crate::plan::{Flow, Plan, Start};
use units::Time;

/// When each flow ends if flow `f` takes `duration(f)` whatever else goes on. Every flow must start.
pub(crate) fn finish_times(plan: &Plan, duration: impl Fn(&Flow) -> Time) -> Vec<Time> {
    let waits = |flow: &Flow| match flow.start {
        Start::At(_) => 0,
        Start::After { waits_for, .. } => waits_for,
    };
    let mut missing: Vec<u32> = plan.flows.iter().map(waits).collect();
    let mut finished = vec![Time::MAX; plan.flows.len()];
    // By time of completion: a flow starts after the last notification that it waits for.
    let mut pending = std::collections::BTreeSet::new();
    for (index, flow) in plan.flows.iter().enumerate() {
        if let Start::At(at) = flow.start {
            pending.insert((at + duration(flow), index));
        }
    }
    while let Some((now, index)) = pending.pop_first() {
        finished[index] = now;
        for notification in plan.notifications.of(index as u32) {
            let target = notification.target as usize;
            missing[target] -= 1;
            if let (0, Start::After { delay, .. }) = (missing[target], plan.flows[target].start) {
                pending.insert((now + delay + duration(&plan.flows[target]), target));
            }
        }
    }
    assert!(finished.iter().all(|end| *end != Time::MAX), "a flow never started");
    finished
}
