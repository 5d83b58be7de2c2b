//! Simulator of a plan on a network without contention, for tests.

use crate::plan::{Flow, FlowEvent, JOIN, Notification, Plan, Start};
use std::collections::BTreeSet;
use units::Time;

/// Returns the completion time of each flow, if flow `f` takes the time `duration(f)`, independent of other flows.
/// Every flow must start.
pub(crate) fn finish_times(plan: &Plan, duration: impl Fn(&Flow) -> Time) -> Vec<Time> {
    let waits = |flow: &Flow| match flow.start {
        Start::At(_) => 0,
        Start::After { waits_for, .. } => waits_for,
    };
    let mut missing: Vec<u32> = plan.flows.iter().map(waits).collect();
    let mut joins: Vec<u32> = plan.joins.iter().map(|join| join.waits_for).collect();
    let mut finished = vec![Time::MAX; plan.flows.len()];
    // Events by time: the completion of a flow, or the end of a join's delay.
    let mut pending: BTreeSet<(Time, u32)> = BTreeSet::new();
    for (index, flow) in plan.flows.iter().enumerate() {
        if let Start::At(at) = flow.start {
            pending.insert((at + duration(flow), index as u32));
        }
    }
    while let Some((now, ended)) = pending.pop_first() {
        let targets: Vec<u32> = if ended & JOIN != 0 {
            plan.joins[(ended & !JOIN) as usize].flows.clone()
        } else {
            let flow = &plan.flows[ended as usize];
            finished[ended as usize] = now;
            let location_of = |notification: &Notification| {
                let here = if notification.when == FlowEvent::Sent { flow.src } else { flow.dst };
                let join = (notification.target & JOIN != 0).then_some((notification.target & !JOIN) as usize);
                assert!(join.is_none_or(|join| plan.joins[join].host == here), "a join is notified at its host");
                notification.target
            };
            plan.notifications.of(ended).iter().map(location_of).collect()
        };
        for target in targets {
            if target & JOIN != 0 {
                let join = (target & !JOIN) as usize;
                joins[join] -= 1;
                if joins[join] == 0 {
                    pending.insert((now + plan.joins[join].delay, target));
                }
                continue;
            }
            let index = target as usize;
            missing[index] -= 1;
            if let (0, Start::After { delay, .. }) = (missing[index], plan.flows[index].start) {
                pending.insert((now + delay + duration(&plan.flows[index]), target));
            }
        }
    }
    assert!(finished.iter().all(|end| *end != Time::MAX), "a flow never started");
    finished
}
