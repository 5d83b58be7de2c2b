//! Whether a plan can run: every host exists, every flow can start.

use crate::{ENDLESS, Flow, Load, Plan, PlanError, Start};

impl Flow {
    /// Whether its end comes at all, so that it can notify others.
    fn ends(&self) -> bool {
        match &self.load {
            Load::Transport => self.size_bytes != ENDLESS,
            Load::Datagrams(source) => self.size_bytes != ENDLESS || source.stop.is_some(),
        }
    }
}

impl Plan {
    /// Checks the plan against a fabric with this many hosts; time and memory are linear in its size.
    ///
    /// # Errors
    /// The first problem in the order of flows: a host out of range, a flow to itself or without bytes, a
    /// source that cannot send; notifications to nobody, too few of them; a wait for a flow without end; flows
    /// that wait for each other.
    pub fn validate(&self, hosts: u32) -> Result<(), PlanError> {
        for (index, flow) in self.flows.iter().enumerate() {
            check_flow(index as u32, flow, hosts)?;
        }
        self.arrivals.iter().try_for_each(|arrivals| arrivals.check(hosts))?;
        self.check_starts()
    }

    fn check_starts(&self) -> Result<(), PlanError> {
        let flows = self.flows.len();
        let mut sent = vec![0u32; if self.notifications.is_empty() { 0 } else { flows }];
        for flow in 0..flows as u32 {
            for notification in self.notifications.of(flow) {
                let target = notification.target;
                match self.flows.get(target as usize) {
                    None => return Err(PlanError::UnknownTarget { flow, target, flows: flows as u32 }),
                    Some(Flow { start: Start::At(_), .. }) => return Err(PlanError::NotWaiting { flow, target }),
                    Some(_) => sent[target as usize] += 1,
                }
            }
        }
        // What each flow still waits for; the order of the sweep does not matter.
        let mut missing = vec![0u32; flows];
        let mut ready = Vec::new();
        for (index, flow) in self.flows.iter().enumerate() {
            let index = index as u32;
            match flow.start {
                Start::At(_) => ready.push(index),
                Start::After { waits_for, .. } => {
                    let sent = sent.get(index as usize).copied().unwrap_or(0);
                    if waits_for == 0 || waits_for > sent {
                        return Err(PlanError::WrongCount { flow: index, waits_for, sent });
                    }
                    missing[index as usize] = waits_for;
                }
            }
        }
        while let Some(index) = ready.pop() {
            if !self.flows[index as usize].ends() {
                continue;
            }
            for notification in self.notifications.of(index) {
                let missing = &mut missing[notification.target as usize];
                // Below zero where a flow waits for some of several: it started already.
                if *missing > 0 {
                    *missing -= 1;
                    if *missing == 0 {
                        ready.push(notification.target);
                    }
                }
            }
        }
        match missing.iter().position(|missing| *missing > 0) {
            None => Ok(()),
            Some(stuck) => Err(self.explain(stuck as u32, &missing)),
        }
    }

    /// Why `stuck` never starts: following who it waits for ends at a flow without end or comes round.
    fn explain(&self, stuck: u32, missing: &[u32]) -> PlanError {
        // The lowest flow that each waits for and that will not notify it.
        let mut waits_on = vec![None; self.flows.len()];
        for (index, flow) in self.flows.iter().enumerate() {
            if missing[index] > 0 || !flow.ends() {
                for notification in self.notifications.of(index as u32) {
                    waits_on[notification.target as usize].get_or_insert(index as u32);
                }
            }
        }
        let mut position = vec![usize::MAX; self.flows.len()];
        let mut chain = Vec::new();
        let mut at = stuck;
        loop {
            if position[at as usize] != usize::MAX {
                return PlanError::Cycle { cycle: chain.split_off(position[at as usize]) };
            }
            position[at as usize] = chain.len();
            chain.push(at);
            match waits_on[at as usize] {
                Some(next) if missing[next as usize] == 0 => {
                    return PlanError::WaitsForEndless { flow: at, endless: next };
                }
                Some(next) => at = next,
                // Impossible: a flow that misses a notification has a sender that does not send it.
                None => return PlanError::Cycle { cycle: chain },
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
