//! Validation of plans: every host exists, and every flow can start.

use crate::error::PlanError;
use crate::plan::{Flow, JOIN, Load, Plan, Start};
use crate::sizes::ENDLESS;

impl Flow {
    /// Returns `true` if the flow has an end, so that it can notify other flows.
    fn ends(&self) -> bool {
        match &self.load {
            Load::Transport => self.size_bytes != ENDLESS,
            Load::Datagrams(source) => self.size_bytes != ENDLESS || source.stop.is_some(),
        }
    }
}

impl Plan {
    /// Validates the plan for a fabric with this number of hosts. Time and memory are linear in the size of the plan.
    ///
    /// # Errors
    /// The first error in the order of flows: a host out of range, a flow with equal source and destination or
    /// without bytes, an invalid datagram source, a notification to a flow that does not exist, too few
    /// notifications, a flow that waits for a flow without end, or a dependency cycle.
    pub fn validate(&self, hosts: u32) -> Result<(), PlanError> {
        for (index, flow) in self.flows.iter().enumerate() {
            check_flow(index as u32, flow, hosts)?;
        }
        for join in &self.joins {
            let misplaced = |flow: &&u32| self.flows.get(**flow as usize).is_none_or(|flow| flow.src != join.host);
            if let Some(&target) = join.flows.iter().find(misplaced) {
                return Err(PlanError::ElsewhereJoined { host: join.host, target });
            }
        }
        self.arrivals.iter().try_for_each(|arrivals| arrivals.check(hosts))?;
        self.check_starts()
    }

    /// Returns the node index of a notification's target in the dependency graph, in which flows come before joins.
    fn node_of(&self, target: u32) -> usize {
        if target & JOIN != 0 { self.flows.len() + (target & !JOIN) as usize } else { target as usize }
    }

    /// Returns the nodes that are notified by the completion of a flow or of a join.
    fn helps(&self, node: usize) -> impl Iterator<Item = usize> {
        let flows = self.flows.len();
        let of_flow = if node < flows { self.notifications.of(node as u32) } else { &[] };
        let of_join = if node < flows { &[][..] } else { &self.joins[node - flows].flows[..] };
        let notified = of_flow.iter().map(|notification| self.node_of(notification.target));
        notified.chain(of_join.iter().map(|flow| *flow as usize))
    }

    /// Returns the message that follows a flow on its connection.
    fn follows(&self, node: usize) -> Option<usize> {
        self.connections.next(u32::try_from(node).unwrap_or(JOIN)).map(|next| next as usize)
    }

    fn check_starts(&self) -> Result<(), PlanError> {
        let flows = self.flows.len();
        let nodes = flows + self.joins.len();
        let none_wait = self.notifications.is_empty() && self.joins.is_empty();
        let mut sent = vec![0u32; if none_wait { 0 } else { nodes }];
        for node in 0..if none_wait { 0 } else { nodes } {
            for target in self.helps(node) {
                // An error of a join is reported for the flows that it would start.
                let (flow, to) = (node as u32, target as u32);
                match self.flows.get(target) {
                    None if target < nodes => sent[target] += 1,
                    None => return Err(PlanError::UnknownTarget { flow, target: to, flows: flows as u32 }),
                    Some(Flow { start: Start::At(_), .. }) => return Err(PlanError::NotWaiting { flow, target: to }),
                    Some(_) => sent[target] += 1,
                }
            }
        }
        // Number of events for which each node still waits, including the completion of the preceding message on its
        // connection. The result does not depend on the order in which nodes are processed.
        let mut missing = vec![0u32; nodes];
        (0..flows as u32).filter_map(|flow| self.connections.next(flow)).for_each(|next| missing[next as usize] = 1);
        let mut ready = Vec::new();
        let waiting = self.flows.iter().map(|flow| match flow.start {
            Start::At(_) => None,
            Start::After { waits_for, .. } => Some(waits_for),
        });
        for (node, waits_for) in waiting.chain(self.joins.iter().map(|join| Some(join.waits_for))).enumerate() {
            let Some(waits_for) = waits_for else {
                if missing[node] == 0 {
                    ready.push(node);
                }
                continue;
            };
            let sent = sent.get(node).copied().unwrap_or(0);
            if waits_for == 0 || waits_for > sent {
                return Err(PlanError::WrongCount { flow: node as u32, waits_for, sent });
            }
            missing[node] += waits_for;
        }
        while let Some(node) = ready.pop() {
            if self.flows.get(node).is_some_and(|flow| !flow.ends()) {
                continue;
            }
            for target in self.helps(node).chain(self.follows(node)) {
                let missing = &mut missing[target];
                // It is zero if the flow has already started, because a flow may get more notifications than it waits
                // for.
                if *missing > 0 {
                    *missing -= 1;
                    if *missing == 0 {
                        ready.push(target);
                    }
                }
            }
        }
        match missing.iter().position(|missing| *missing > 0) {
            None => Ok(()),
            Some(stuck) => Err(self.explain(stuck, &missing)),
        }
    }

    /// Returns the reason why the flow `stuck` never starts: the chain of flows that it waits for ends at a flow
    /// without end, or is a cycle.
    fn explain(&self, stuck: usize, missing: &[u32]) -> PlanError {
        let flows = self.flows.len();
        // For each node, the lowest node that it waits for and that never notifies it.
        let mut waits_on = vec![None; missing.len()];
        for (node, missing) in missing.iter().enumerate() {
            if *missing > 0 || self.flows.get(node).is_some_and(|flow| !flow.ends()) {
                for target in self.helps(node).chain(self.follows(node)) {
                    waits_on[target].get_or_insert(node);
                }
            }
        }
        let mut position = vec![usize::MAX; missing.len()];
        let mut chain = Vec::new();
        // Joins are omitted, because users know only the indices of flows.
        let named = |chain: &[usize]| chain.iter().filter(|node| **node < flows).map(|node| *node as u32).collect();
        let mut at = stuck;
        loop {
            if position[at] != usize::MAX {
                return PlanError::Cycle { cycle: named(&chain[position[at]..]) };
            }
            position[at] = chain.len();
            chain.push(at);
            match waits_on[at] {
                Some(next) if missing[next] == 0 => {
                    return PlanError::WaitsForEndless { flow: at as u32, endless: next as u32 };
                }
                Some(next) => at = next,
                // Impossible: for a missing notification there is always a node that does not send it.
                None => return PlanError::Cycle { cycle: named(&chain) },
            }
        }
    }
}

fn check_flow(index: u32, flow: &Flow, hosts: u32) -> Result<(), PlanError> {
    for host in [flow.src, flow.dst] {
        if host >= hosts {
            return Err(PlanError::HostOutOfRange { flow: index, host, hosts });
        }
    }
    if flow.src == flow.dst {
        return Err(PlanError::ToItself { flow: index, host: flow.src });
    }
    if flow.size_bytes == 0 {
        return Err(PlanError::ZeroSize { flow: index });
    }
    if flow.class > 7 {
        return Err(PlanError::BadSource { flow: index, why: "a class is 0 to 7" });
    }
    match &flow.load {
        Load::Transport => Ok(()),
        Load::Datagrams(source) => source.check().map_err(|why| PlanError::BadSource { flow: index, why }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatagramSource, Entry, FlowEvent, PlanBuilder, Process};
    use proptest::prelude::*;
    use units::{Rate, Time};

    const WAIT: Start = Start::After { waits_for: 0, delay: Time::ZERO };
    const NOW: Start = Start::At(Time::ZERO);

    /// Builds a plan of flows from host 0 to host 1, with these start conditions and (from, target) notifications.
    fn build(starts: &[Start], edges: &[(u32, u32)], change: impl Fn(&mut Flow)) -> Result<Plan, String> {
        let (entry, mut builder) = (Entry::new(1, 0), PlanBuilder::new());
        for start in starts {
            let mut flow = entry.flow(0, 1, 10, *start);
            change(&mut flow);
            builder.flow(flow);
        }
        edges.iter().for_each(|&(from, target)| builder.notify(from, FlowEvent::Sent, target));
        builder.build(2).map_err(|error| error.to_string())
    }

    #[test]
    fn each_error_names_the_flow_and_what_would_be_right() {
        let flow = |change: fn(&mut Flow)| build(&[NOW], &[], change).unwrap_err();
        assert_eq!(flow(|flow| flow.dst = 2), "flow 0 names host 2, but there are 2 hosts: use 0 to 1");
        assert!(flow(|flow| flow.dst = 0).contains("flow 0 goes from host 0 to itself"));
        assert!(flow(|flow| flow.size_bytes = 0).contains("flow 0 has no bytes"));
        assert!(flow(|flow| flow.class = 8).contains("a class is 0 to 7"));
        let starts = |starts: &[Start], edges: &[(u32, u32)]| build(starts, edges, |_| {}).unwrap_err();
        assert_eq!(starts(&[NOW], &[(0, 5)]), "flow 0 notifies flow 5, but there are 1 flows");
        assert!(starts(&[NOW, NOW], &[(0, 1)]).contains("which starts at a fixed time"));
        assert_eq!(starts(&[WAIT], &[]), "flow 0 waits for 0 notifications, but 0 flows notify it");
        let two = Start::After { waits_for: 1, delay: Time::ZERO };
        assert_eq!(starts(&[NOW, two], &[(0, 1)]), "flow 1 waits for 2 notifications, but 1 flows notify it");
        assert_eq!(starts(&[WAIT], &[(0, 0)]), "flow 0 waits for itself and can never start");
        let cycle = starts(&[NOW, WAIT, WAIT, WAIT], &[(0, 1), (1, 2), (2, 3), (3, 2)]);
        assert_eq!(cycle, "flow 2 waits for flow 3, which waits for flow 2: none of them can ever start");
        // Only the cycle of flows 2 and 3 is reported, not flow 1, which waits for the cycle but is not part of it.
        let behind = starts(&[NOW, WAIT, WAIT, WAIT], &[(2, 3), (3, 2), (3, 1)]);
        assert!(behind.contains("waits for flow 2") && !behind.contains("flow 1"), "{behind}");
    }

    #[test]
    fn an_endless_flow_sends_no_notification() {
        let endless = |flow: &mut Flow| flow.size_bytes = ENDLESS;
        let error = build(&[NOW, WAIT], &[(0, 1)], endless).unwrap_err();
        assert_eq!(error, "flow 1 waits for flow 0, which never ends");
        let until = |stop| {
            move |flow: &mut Flow| {
                let process = Process::Constant { rate: Rate::from_gbps(1) };
                flow.size_bytes = ENDLESS;
                flow.load = Load::Datagrams(Box::new(DatagramSource {
                    process,
                    frame_bytes: 64,
                    lengths: Default::default(),
                    stop,
                }));
            }
        };
        assert!(build(&[NOW, WAIT], &[(0, 1)], until(None)).is_err());
        assert!(build(&[NOW, WAIT], &[(0, 1)], until(Some(Time::from_ms(1)))).is_ok());
    }

    #[test]
    fn the_first_of_several_may_be_enough() {
        let edges = [(0, 2), (2, 1), (1, 2)];
        let cycle = build(&[NOW, WAIT, WAIT], &edges, |_| {}).unwrap_err();
        assert!(cycle.contains("flow 1 waits for flow 2, which waits for flow 1"), "{cycle}");
        // Flow 2 waits for only one of its two notifications: flow 0 starts it, and its completion starts flow 1.
        let mut plan = build(&[NOW, WAIT, WAIT], &edges[..2], |_| {}).unwrap();
        let note = |when, target| crate::Notification { when, target };
        let rows = [(0, note(FlowEvent::Sent, 2)), (2, note(FlowEvent::Sent, 1)), (1, note(FlowEvent::Sent, 2))];
        plan.notifications = crate::Notifications::new(3, &rows);
        assert_eq!(plan.validate(2), Ok(()));
    }

    proptest! {
        /// A plan with any mix of generators, in any order, is valid, and every flow starts and completes.
        #[test]
        fn mixed_plans_run(
            kinds in prop::collection::vec((0usize..5, 2u32..12, 1u32..6), 1..8),
            seed in 0u64..,
            shift in 0u32..50,
        ) {
            let mut builder = PlanBuilder::new();
            for (traffic, (kind, count, parameter)) in kinds.into_iter().enumerate() {
                let hosts: Vec<u32> = (shift..shift + count).collect();
                let entry = Entry { jitter: Time::from_us(1), ..Entry::new(seed, traffic as u8) };
                let (delay, b) = (Time::from_ns(u64::from(parameter)), &mut builder);
                match kind {
                    0 => {
                        let workload = crate::Workload::Bulk(crate::Sizes::Fixed(100));
                        let pattern = crate::Pattern::Permutation;
                        crate::pairs(&crate::Pairs { pattern, workload }, &hosts, &entry, b)
                    }
                    1 | 2 => {
                        let ring = (crate::Operation::AllReduce, crate::Algorithm::Ring);
                        let direct = (crate::Operation::AllToAll, crate::Algorithm::Direct { window: parameter });
                        let (operation, algorithm) = if kind == 1 { ring } else { direct };
                        let mut what = crate::Collective::new(operation, algorithm, 1000);
                        (what.step_delay, what.iterations, what.compute) = (delay, 1 + count % 3, delay);
                        crate::collective(&what, &hosts, &entry, b)
                    }
                    _ => crate::request_reply(
                        &crate::RequestReply {
                            client: shift,
                            servers: crate::Servers::Random(count - 1),
                            request_bytes: 200,
                            reply_bytes: 1000,
                            connections: 1 + count % 3,
                            requests: parameter,
                            think: delay,
                            service: crate::Service::Exponential(delay),
                            rounds: if kind == 3 { crate::Rounds::Barrier } else { crate::Rounds::Independent },
                            persistent_connection: false,
                        }, &hosts, &entry, b),
                }.unwrap();
            }
            let plan = builder.build(shift + 12).unwrap();
            let finished = crate::testing::finish_times(&plan, |flow| Time::from_ns(flow.size_bytes));
            prop_assert_eq!(finished.len(), plan.flows.len());
        }

        /// Notifications from lower to higher indices: all flows can start. With one notification back to the start
        /// of a chain, the flows of the chain cannot.
        #[test]
        fn forward_plans_run_and_closed_chains_do_not(
            edges in prop::collection::vec((0u32..30, 1u32..30), 0..80),
            back in (0u32..15, 1u32..15),
        ) {
            let forward: Vec<(u32, u32)> =
                edges
                .iter()
                .map(|&(from, step)| (from, (from + step).min(30)))
                .chain((1..31).map(|to| (0, to)))
                .collect();
            let starts: Vec<Start> = std::iter::once(NOW).chain(std::iter::repeat_n(WAIT, 30)).collect();
            let plan = build(&starts, &forward, |_| {}).unwrap();
            prop_assert!(crate::testing::finish_times(&plan, |_| Time::from_us(1)).len() == 31);
            let (low, high) = (1 + back.0, 1 + back.0 + back.1);
            let closed: Vec<_> = forward.into_iter().chain([(low, high), (high, low)]).collect();
            let error = build(&starts, &closed, |_| {}).unwrap_err();
            prop_assert!(error.contains("can ever start"), "{}", error);
        }
    }
}
