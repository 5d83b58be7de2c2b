//! Lengths of output queues: time average and maximum from the time integral, quantiles from samples.

use crate::queue_samples::QueueSamples;
use crate::simulation::Simulation;
use crate::switch::PortLength;
use fabric::NodeId;
use stats::histogram::Histogram;
use stats::summary::{Lengths, PortLengths, QueueLengths};
use std::collections::BTreeMap;
use units::Time;

/// Statistics of the queues of one port: time integral of the length, and samples.
type PortSample = ((u32, u16), (PortLength, Histogram));

impl Simulation {
    /// Samples all queues if a sample is due.
    pub(crate) fn sample_queue_lengths(&mut self, now: Time) {
        let Some(mut samples) = self.samples.queue_samples.take_if(|samples| samples.next() <= now) else { return };
        samples.advance();
        samples.samples += 1;
        for switch in self.switches() {
            for port in 0..switch.core.egress.len() {
                let waiting = switch.core.buffer.waiting_bytes(port as u16);
                if waiting > 0 {
                    samples.ports.entry((switch.node(), port as u16)).or_default().record(waiting);
                }
            }
        }
        self.samples.queue_samples = Some(samples);
    }

    /// Returns the queue lengths since the warm-up, up to `now`.
    pub(crate) fn queue_lengths(&self, now: Time) -> Option<QueueLengths> {
        let QueueSamples { every, samples, ports: sampled, .. } = self.samples.queue_samples.as_ref()?;
        let fabric = &self.network.fabric;
        let mut count = 0;
        let mut own: Vec<PortSample> = Vec::new();
        for switch in self.switches() {
            for (port, length) in switch.core.buffer.port_lengths(now).enumerate() {
                count += 1;
                if length.area_byte_ps > 0 || length.max_bytes > 0 {
                    let found = sampled.get(&(switch.node(), port as u16)).cloned().unwrap_or_default();
                    own.push(((switch.node().0, port as u16), (length, found)));
                }
            }
        }
        let (mut ports, mut found) = (0, BTreeMap::new());
        for (count, own) in self.gather((count, own)) {
            ports += count;
            found.extend(own);
        }
        let span_ps = now.saturating_sub(self.timeline.warm_up).as_ps();
        let mean = |area: u128, ports: u64| {
            let over = u128::from(span_ps) * u128::from(ports);
            if over == 0 { 0.0 } else { area as f64 / over as f64 }
        };
        let (mut all, mut area, mut max_bytes) = (Histogram::new(), 0, 0);
        for (length, samples) in found.values() {
            all.merge(samples);
            area += length.area_byte_ps;
            max_bytes = max_bytes.max(length.max_bytes);
        }
        let named = |(&(node, port), (length, samples_of)): (&(u32, u16), &(PortLength, Histogram))| {
            let node = NodeId(node);
            PortLengths {
                node: fabric.name(node).to_owned(),
                port: u32::from(port),
                peer: fabric.name(fabric.ports(node)[usize::from(port)].peer).to_owned(),
                lengths: Lengths::of(samples_of, *samples, mean(length.area_byte_ps, 1), length.max_bytes),
            }
        };
        // The port with the largest time integral; the first one if several are equal.
        let longest =
            found.iter().reduce(|most, port| if port.1.0.area_byte_ps > most.1.0.area_byte_ps { port } else { most });
        let all = Lengths::of(&all, samples * ports, mean(area, ports), max_bytes);
        Some(QueueLengths { every_ps: every.as_ps(), samples: *samples, ports, all, longest: longest.map(named) })
    }
}
