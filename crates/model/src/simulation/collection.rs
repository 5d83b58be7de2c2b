//! Collection of ended flows, pause events and trace events from the nodes that ran.

use super::Simulation;
use crate::host::{FlowEnd, FlowReport};
use crate::node::SimulatedNode;
use crate::node_stats::PauseEvent;
use crate::watcher::Watcher;
use fabric::NodeId;
use units::Time;

impl Simulation {
    /// Adds the nodes that ran to `ran_since_collection`, and updates the set of switches with a paused port. A
    /// pause begins and ends only while its node runs, so idle nodes need no check.
    pub(super) fn update_active(&mut self) {
        let ran = self.engine.take_active();
        if self.network.switch.flow_control.can_deadlock() {
            for &index in &ran {
                if let SimulatedNode::Switch(switch) = self.engine.node(index as usize) {
                    if switch.core.egress.has_stopped_port() {
                        self.collection.paused_switches.insert(index);
                    } else {
                        self.collection.paused_switches.remove(&index);
                    }
                }
            }
        }
        self.collection.ran_since_collection.extend(ran);
        // Several deadlock checks may fall between two collections. Deduplicate, so that the list stays bounded.
        if self.collection.ran_since_collection.len() > 4 * self.engine.len() {
            self.collection.ran_since_collection.sort_unstable();
            self.collection.ran_since_collection.dedup();
        }
    }

    /// Collects ended flows and pause events of the nodes that ran, in output order.
    pub(super) fn collect(&mut self, watcher: &mut dyn Watcher) {
        // Per node: ended flows and pause events. If the list contains a node twice, the second visit finds no entries.
        let mut own: Vec<(u32, Vec<FlowReport>, Vec<PauseEvent>)> = Vec::new();
        let (mut hops_since, mut with_deliveries) = (0, Vec::new());
        for position in 0..self.collection.ran_since_collection.len() {
            let index = self.collection.ran_since_collection[position] as usize;
            let machine = self.engine.node(index);
            let hops = machine.counters().hops;
            hops_since += hops - std::mem::replace(&mut self.collection.hops_before[index], hops);
            if let Some(storms) = &mut self.detection.storms {
                storms.add(index, machine.counters());
            }
            let ended = matches!(machine, SimulatedNode::Host(host) if !host.scratch.completed_flows.is_empty());
            if matches!(machine, SimulatedNode::Host(host) if host.has_expired_deliveries()) {
                with_deliveries.push(index as u32);
            }
            if !ended && machine.stats().is_none_or(|stats| stats.pause_events.is_empty()) {
                continue;
            }
            let machine = self.engine.node_mut(index);
            let Some(stats) = machine.stats_mut() else { continue };
            let (node, pauses) = (stats.node.0, std::mem::take(&mut stats.pause_events));
            let ends = if let SimulatedNode::Host(host) = machine {
                std::mem::take(&mut host.scratch.completed_flows)
            } else {
                Vec::new()
            };
            own.push((node, ends, pauses));
        }
        self.collection.ran_since_collection.clear();
        let mut all = Vec::new();
        for (hops, ended) in self.gather((hops_since, own)) {
            self.collection.hops += hops;
            all.extend(ended);
        }
        // The output order must not depend on the number of ranks. Few nodes have entries.
        all.sort_by_key(|(node, ..)| self.placement.output_index[self.placement.engine_index[*node as usize] as usize]);
        all.iter()
            .flat_map(|(_, reports, _)| reports)
            .for_each(|report| self.results.flow_ends.note(report, &self.network));
        for (node, reports, pauses) in all {
            for report in reports {
                if let Some(end) = self.results.flow_ends.join(report, &self.network) {
                    self.flow_ended(&end, watcher);
                }
            }
            for event in pauses {
                watcher.pause(event.at, NodeId(node), event.port, event.classes, event.pause);
            }
        }
        self.drop_forgotten(&with_deliveries);
    }

    /// Collects the remaining ended flows and pause events after a stop between two collections.
    pub(crate) fn collect_remaining(&mut self, watcher: &mut dyn Watcher) {
        self.update_active();
        self.collect(watcher);
    }

    /// Checks the bounces since the last check for a bounce storm.
    pub(super) fn check_storms(&mut self, now: Time) {
        let Some(mut storms) = self.detection.storms.take() else { return };
        for &index in &self.collection.ran_since_collection {
            storms.add(index as usize, self.engine.node(index as usize).counters());
        }
        let own = storms.take_interval();
        storms.evaluate(now, self.gather(own));
        self.detection.storms = Some(storms);
    }

    pub(crate) fn flow_ended(&mut self, end: &FlowEnd, watcher: &mut dyn Watcher) {
        let record = self.results.baseline.record(&self.network, end);
        let counts = |start: Time| start >= self.timeline.warm_up && start < self.timeline.measure_end;
        if counts(end.start) {
            self.results.flows.push(&record);
            // An endless flow is neither unfinished nor undelivered.
            let lacks_bytes = record.delivered_ps.is_none() && end.size_bytes != traffic::ENDLESS;
            self.results.unfinished += u64::from(lacks_bytes && end.open);
            self.results.undelivered += u64::from(lacks_bytes && !end.open);
        }
        if let Some(requests) = &mut self.results.requests {
            requests.note(end, counts);
        }
        if let Some(collectives) = &mut self.results.collectives {
            collectives.note(end, counts);
        }
        if let Some(delivered_ps) = record.delivered_ps {
            self.results.last_completion = self.results.last_completion.max(Time::from_ps(delivered_ps));
        }
        watcher.flow(&record);
    }

    /// Passes the trace events and captured frames of traced nodes to the watcher.
    #[cold]
    pub(super) fn flush_traces(&mut self, watcher: &mut dyn Watcher) {
        let Some(mut collector) = self.collection.collector.take() else { return };
        let mut own = Vec::new();
        for &node in &self.collection.traced_nodes {
            let index = self.placement.engine_index[node.index()] - self.placement.first;
            let machine = self.engine.node_mut(index as usize);
            let Some(tracer) = machine.stats_mut().and_then(|stats| stats.tracer.as_deref_mut()) else { continue };
            if self.placement.rank_group.is_none() {
                collector.take(node, &mut tracer.events, &mut tracer.captured);
            } else if !tracer.events.is_empty() || !tracer.captured.is_empty() {
                own.push((node.0, std::mem::take(&mut tracer.events), std::mem::take(&mut tracer.captured)));
            }
        }
        let mut all: Vec<_> = self.gather(own).into_iter().flatten().collect();
        all.sort_by_key(|entry| entry.0);
        for (node, mut events, mut captured) in all {
            collector.take(NodeId(node), &mut events, &mut captured);
        }
        collector.flush(watcher);
        self.collection.collector = Some(collector);
    }
}
