//! A run of flows over one bottleneck, and what its queue, its flows and their controls did within the measured window.

use crate::failure::Failure;
use crate::registry::Source;
use crate::trial::{Trial, simulation};
use fabric::{Fabric, NodeId};
use model::parameters::Setup;
use model::{Outcome, QueueSample, Watcher};
use record::control::ControlSample;
use std::collections::BTreeMap;
use units::{Time, WIRE_OVERHEAD_BYTES};

/// What a run told of its bottleneck.
#[derive(Debug, Default)]
pub struct Bench {
    bottleneck: Option<(NodeId, u16)>,
    queue: BTreeMap<Time, u64>,
    sent: BTreeMap<Time, u64>,
    payload: BTreeMap<Time, Vec<u64>>,
    /// What the control of each flow held, by look.
    pub controls: BTreeMap<u64, Vec<ControlSample>>,
    /// Wire bytes of a full data frame over its payload, by traffic entry.
    wire: Vec<f64>,
    every: [Option<Time>; 3],
    warm_up: Time,
    end: Time,
    /// Its summary.
    pub summary: Outcome,
}

impl Watcher for Bench {
    fn queue(&mut self, sample: QueueSample) {
        if self.bottleneck == Some((sample.node, sample.port)) {
            // Its classes are one queue here.
            *self.queue.entry(sample.at).or_default() += sample.bytes;
        }
    }
    fn link(&mut self, at: Time, node: NodeId, port: u16, bytes: u64, _: f64) {
        if self.bottleneck == Some((node, port)) {
            self.sent.insert(at, bytes);
        }
    }
    fn throughput(&mut self, at: Time, traffic: u8, bytes: u64) {
        let row = self.payload.entry(at).or_default();
        row.resize(row.len().max(usize::from(traffic) + 1), 0);
        row[usize::from(traffic)] += bytes;
    }
    fn control(&mut self, sample: &ControlSample) {
        self.controls.entry(sample.flow).or_default().push(*sample);
    }
}

/// The port between the two switches of a dumbbell, or of one switch the port to its last host.
fn bottleneck(fabric: &Fabric) -> Option<(NodeId, u16)> {
    let mut switches = fabric.switches();
    let first = switches.next()?;
    let to = switches.next().or_else(|| fabric.hosts().last().copied())?;
    fabric.port_towards(first, to).map(|port| (first, port))
}

impl Bench {
    /// Runs `source` with these keys changed.
    ///
    /// # Errors
    /// If the scenario is wrong.
    pub fn run(trial: &Trial, source: &Source, changes: &[(&str, String)]) -> Result<Bench, Failure> {
        Bench::of(trial.setup(source, changes)?, source)
    }

    /// Runs `setup`; `source` is for errors.
    ///
    /// # Errors
    /// If the setup makes no network.
    pub fn of(setup: Setup, source: &Source) -> Result<Bench, Failure> {
        let entries = setup.traffic.flows.iter().map(|flow| usize::from(flow.traffic) + 1).max().unwrap_or(0);
        let wire = |entry: usize| {
            let own = setup.host.transports.get(&(entry as u8));
            let transport = own.unwrap_or(&setup.host.transport);
            let payload = f64::from(transport.payload_bytes());
            (payload + f64::from(transport.header_bytes()) + WIRE_OVERHEAD_BYTES as f64) / payload
        };
        let record = &setup.record;
        let mut bench = Bench {
            bottleneck: bottleneck(&setup.fabric),
            wire: (0..entries).map(wire).collect(),
            every: [record.queues_every, record.links_every, record.throughput_every],
            warm_up: setup.warm_up,
            end: setup.duration,
            ..Bench::default()
        };
        let mut simulation = simulation(setup, source)?;
        simulation.run(&mut bench);
        bench.summary = simulation.finish(&mut bench, false);
        Ok(bench)
    }

    /// Looks `every` so often from `from` to the end.
    fn looks(&self, every: Option<Time>, from: Time) -> impl Iterator<Item = Time> {
        let every = every.unwrap_or(self.end).as_ps();
        (from.as_ps() / every + 1..=self.end.as_ps() / every).map(move |look| Time::from_ps(look * every))
    }

    /// The queue in bytes at each look of the window.
    pub fn queue_bytes(&self) -> Vec<f64> {
        self.queue_from(self.warm_up).into_iter().map(|(_, bytes)| bytes).collect()
    }

    /// When, in ms, and the queue in bytes, from `from` on.
    pub fn queue_from(&self, from: Time) -> Vec<(f64, f64)> {
        let bytes = |at: Time| self.queue.get(&at).copied().unwrap_or(0) as f64;
        self.looks(self.every[0], from).map(|at| (at.as_secs_f64() * 1e3, bytes(at))).collect()
    }

    /// When, in ms, and what the bottleneck sent since the look before, in Gbps with preamble and gap.
    pub fn link_gbps(&self) -> Vec<(f64, f64)> {
        let span = self.every[1].unwrap_or(self.end).as_ps() as f64;
        let sent = |at: Time| self.sent.get(&at).copied().unwrap_or(0) as f64 * 8e3 / span;
        self.looks(self.every[1], Time::ZERO).map(|at| (at.as_secs_f64() * 1e3, sent(at))).collect()
    }

    /// When, in ms, and what arrived of each entry's data since the look before, in Gbps on the wire.
    pub fn arrived_gbps(&self, from: Time) -> Vec<(f64, Vec<f64>)> {
        let span = self.every[2].unwrap_or(self.end).as_ps() as f64;
        let gbps = |entry: usize, bytes: u64| bytes as f64 * self.wire[entry] * 8e3 / span;
        let row = |(at, row): (&Time, &Vec<u64>)| {
            let rates = row.iter().take(self.wire.len()).enumerate().map(|(entry, &bytes)| gbps(entry, bytes));
            (at.as_secs_f64() * 1e3, rates.collect())
        };
        self.payload.range((std::ops::Bound::Excluded(from), std::ops::Bound::Unbounded)).map(row).collect()
    }

    /// The data of all flows in Gbps on the wire at each look of the window.
    pub fn cross_gbps(&self) -> Vec<f64> {
        self.arrived_gbps(self.warm_up).into_iter().map(|(_, row)| row.iter().sum()).collect()
    }

    /// Mean rate of each entry's data within the window, in Gbps on the wire.
    pub fn flow_gbps(&self) -> Vec<f64> {
        let rows = self.arrived_gbps(self.warm_up);
        (0..self.wire.len()).map(|entry| mean(&rows.iter().map(|row| row.1[entry]).collect::<Vec<_>>())).collect()
    }

    /// Mean over time of Jain's index of the rates over `looks` looks each, within the window.
    pub fn jain_over_time(&self, looks: usize) -> f64 {
        let rows = self.arrived_gbps(self.warm_up);
        let rate = |part: &[(f64, Vec<f64>)], entry: usize| part.iter().map(|row| row.1[entry]).sum::<f64>();
        let of =
            |part: &[(f64, Vec<f64>)]| jain(&(0..self.wire.len()).map(|entry| rate(part, entry)).collect::<Vec<_>>());
        mean(&rows.chunks_exact(looks).map(of).collect::<Vec<_>>())
    }

    /// When, in ms, and the sending rate of `flow` in Gbps, of the whole run.
    pub fn sending_gbps(&self, flow: u64) -> Vec<(f64, f64)> {
        let looks = self.controls.get(&flow).map_or(&[][..], Vec::as_slice);
        let rate = |look: &ControlSample| Some((look.at.as_secs_f64() * 1e3, look.rate_bps? as f64 / 1e9));
        looks.iter().filter_map(rate).collect()
    }

    /// The sending rates of all flows within the window, in Gbps.
    pub fn all_sending_gbps(&self) -> Vec<f64> {
        let within = self.warm_up.as_secs_f64() * 1e3;
        let of = |flow: &u64| self.sending_gbps(*flow).into_iter().filter(|look| look.0 > within).map(|look| look.1);
        self.controls.keys().flat_map(of).collect()
    }

    /// Frames that no queue had room for.
    pub fn lost(&self) -> f64 {
        self.summary.packets.dropped.values().sum::<u64>() as f64
    }
}

/// The mean; not a number where there is nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard deviation.
pub fn deviation(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares = values.iter().map(|value| (value - middle) * (value - middle)).sum::<f64>();
    libm::sqrt(squares / values.len() as f64)
}

/// The value that this share of all does not exceed.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (libm::ceil(share * sorted.len() as f64) as usize).clamp(1, sorted.len().max(1));
    sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
}

/// Jain's index of fairness: 1 where all are equal, 1 over their number where one has everything.
pub fn jain(values: &[f64]) -> f64 {
    let (sum, squares) = (values.iter().sum::<f64>(), values.iter().map(|value| value * value).sum::<f64>());
    sum * sum / (values.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_in_closed_form() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!((mean(&values), deviation(&[1.0, 3.0])), (2.5, 1.0));
        assert_eq!([0.0, 0.25, 0.26, 0.99, 1.0].map(|share| quantile(&values, share)), [1.0, 1.0, 2.0, 4.0, 4.0]);
        assert!(quantile(&[], 0.5).is_nan());
        assert_eq!((jain(&[2.0, 2.0]), jain(&[1.0, 0.0, 0.0, 0.0])), (1.0, 0.25));
    }
}
