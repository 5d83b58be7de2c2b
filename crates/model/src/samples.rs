//! Periodic samples of queues, links and throughput.

use crate::egress::block;
use crate::node::SimulatedNode;
use crate::outcome::share_of;
use crate::queue::Queue;
use crate::simulation::Simulation;
use crate::switch::Switch;
use crate::watcher::{QueueSample, Watcher};
use std::sync::Arc;
use units::Time;

/// Sample of a queue: port, class, whether a bounce queue, bytes, frames, whether paused.
type QueueReading = (u16, u8, bool, u64, u64, bool);

impl Simulation {
    pub(crate) fn sample_queues(&self, at: Time, watcher: &mut dyn Watcher) {
        let readings_of = |switch: &Switch| {
            let mut readings: Vec<QueueReading> = Vec::new();
            let egress = &switch.core.egress;
            for (port, (cell, state)) in egress.cells.iter().zip(&egress.states).enumerate() {
                let may_be_paused = cell.block_reasons & (block::PAUSE | block::CREDIT) != 0;
                for (slot, &class) in self.network.classes.iter().enumerate() {
                    let paused = may_be_paused && state.blocked_since(at, class).is_some();
                    let mut read = |queue: &Queue, bounced| {
                        let (bytes, frames) = (u64::from(queue.bytes), queue.len() as u64);
                        if bytes > 0 || paused {
                            readings.push((port as u16, class, bounced, bytes, frames, paused));
                        }
                    };
                    read(switch.queue(port, slot), false);
                    if let Some(queue) = switch.bounce_queue(port, slot) {
                        read(queue, true);
                    }
                }
            }
            (!readings.is_empty()).then_some(readings)
        };
        for (node, readings) in self.map_switches(readings_of) {
            for (port, class, bounced, bytes, frames, paused) in readings {
                watcher.queue(QueueSample { at, node, port, class, bounced, bytes, frames, paused });
            }
        }
    }

    pub(crate) fn sample_links(&mut self, at: Time, watcher: &mut dyn Watcher) {
        let network = Arc::clone(&self.network);
        let span = at.saturating_sub(std::mem::replace(&mut self.samples.links_sampled_at, at));
        let mut before = std::mem::take(&mut self.samples.busy_before);
        let busy_of = |machine: &SimulatedNode| {
            let (egress, node) = (machine.egress()?, machine.stats()?.node);
            let ports = 0..network.fabric.ports(node).len() as u16;
            Some(ports.map(|port| egress.busy_time(at, port)).collect::<Vec<_>>())
        };
        for (node, busy) in self.map_machines(busy_of) {
            for ((port, busy), peer) in (0u16..).zip(busy).zip(network.fabric.ports(node)) {
                let before = std::mem::replace(&mut before[network.fabric.port_number(node, port)], busy);
                if busy > before {
                    // Differences of cumulative byte counts add up to the total, even if the transmission of a frame
                    // spans two samples.
                    let rate = network.fabric.link(peer.link).rate;
                    let sent_bytes = rate.bytes_in(busy) - rate.bytes_in(before);
                    watcher.link(at, node, port, sent_bytes, share_of(busy - before, span));
                }
            }
        }
        self.samples.busy_before = before;
    }

    /// Samples the remainder of the run after the last full interval. A run that was stopped early has no such sample,
    /// because its nodes are at different times.
    pub(crate) fn sample_last_interval(&mut self, now: Time, watcher: &mut dyn Watcher) {
        if self.timeline.stopped_early {
            return;
        }
        if self.record.links_every.is_some() && self.samples.links_sampled_at < now {
            self.sample_links(now, watcher);
        }
        if self.record.throughput_every.is_some() && self.samples.throughput_sampled_at < now {
            self.sample_throughput(now, watcher);
        }
    }

    pub(crate) fn sample_throughput(&mut self, at: Time, watcher: &mut dyn Watcher) {
        self.samples.throughput_sampled_at = at;
        let total = self.payload_bytes();
        for (entry, (&total, before)) in total.iter().zip(&mut self.samples.goodput_before).enumerate() {
            watcher.throughput(at, entry as u8, total - *before);
            *before = total;
        }
    }
}
