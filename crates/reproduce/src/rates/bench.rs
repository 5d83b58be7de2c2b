//! A run of flows over one bottleneck, with samples of its queue, its flows and their rate controls in the measurement
//! interval.

use crate::failure::Failure;
use crate::registry::Source;
use crate::trial::{Trial, finish, simulation};
use fabric::{Fabric, NodeId};
use model::parameters::Setup;
use model::{Outcome, QueueSample, Watcher};
use record::control::ControlSample;
use std::collections::BTreeMap;
use units::{Time, WIRE_OVERHEAD_BYTES};

/// Samples and results of one run.
#[derive(Debug, Default)]
pub struct Bench {
    bottleneck: Option<(NodeId, u16)>,
    queue: BTreeMap<Time, u64>,
    sent: BTreeMap<Time, u64>,
    payload: BTreeMap<Time, Vec<u64>>,
    /// Rate control samples by flow.
    pub controls: BTreeMap<u64, Vec<ControlSample>>,
    /// Ratio of wire bytes to payload bytes of a full data frame, by traffic entry.
    wire: Vec<f64>,
    every: [Option<Time>; 3],
    warm_up: Time,
    end: Time,
    /// Summary of the run.
    pub summary: Outcome,
}

impl Watcher for Bench {
    fn queue(&mut self, sample: QueueSample) {
        if self.bottleneck == Some((sample.node, sample.port)) {
            // The queues of all classes at the port are summed.
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

/// Returns the bottleneck: the port between the two switches of a dumbbell, or the port to the last host of a single
/// switch.
fn bottleneck(fabric: &Fabric) -> Option<(NodeId, u16)> {
    let mut switches = fabric.switches();
    let first = switches.next()?;
    let to = switches.next().or_else(|| fabric.hosts().last().copied())?;
    fabric.port_towards(first, to).map(|port| (first, port))
}

impl Bench {
    /// Runs `source` with these keys overridden.
    pub fn run(trial: &Trial, source: &Source, changes: &[(&str, String)]) -> Result<Bench, Failure> {
        Bench::of(trial.setup(source, changes)?, source)
    }

    /// Runs `setup`. Error messages name `source`.
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
        bench.summary = finish(&mut simulation, &mut bench);
        Ok(bench)
    }

    /// Returns the times of the samples after `from` up to the end of the run, in intervals of `every`.
    fn sample_times(&self, every: Option<Time>, from: Time) -> impl Iterator<Item = Time> {
        let every = every.unwrap_or(self.end).as_ps();
        (from.as_ps() / every + 1..=self.end.as_ps() / every).map(move |number| Time::from_ps(number * every))
    }

    /// Returns the queue samples in the measurement interval, in bytes.
    pub fn queue_bytes(&self) -> Vec<f64> {
        self.queue_from(self.warm_up).into_iter().map(|(_, bytes)| bytes).collect()
    }

    /// Returns the queue samples after `from`, as (time in ms, bytes).
    pub fn queue_from(&self, from: Time) -> Vec<(f64, f64)> {
        let bytes = |at: Time| self.queue.get(&at).copied().unwrap_or(0) as f64;
        self.sample_times(self.every[0], from).map(|at| (at.as_secs_f64() * 1e3, bytes(at))).collect()
    }

    /// Returns the bottleneck's throughput per sampling interval, as (time in ms, Gbps including preamble and gap).
    pub fn link_gbps(&self) -> Vec<(f64, f64)> {
        let span = self.every[1].unwrap_or(self.end).as_ps() as f64;
        let sent = |at: Time| self.sent.get(&at).copied().unwrap_or(0) as f64 * 8e3 / span;
        self.sample_times(self.every[1], Time::ZERO).map(|at| (at.as_secs_f64() * 1e3, sent(at))).collect()
    }

    /// Returns the arrival rate of each traffic entry's data per sampling interval, as (time in ms, Gbps on the wire).
    pub fn arrived_gbps(&self, from: Time) -> Vec<(f64, Vec<f64>)> {
        let span = self.every[2].unwrap_or(self.end).as_ps() as f64;
        let gbps = |entry: usize, bytes: u64| bytes as f64 * self.wire[entry] * 8e3 / span;
        let row = |(at, row): (&Time, &Vec<u64>)| {
            let rates = row.iter().take(self.wire.len()).enumerate().map(|(entry, &bytes)| gbps(entry, bytes));
            (at.as_secs_f64() * 1e3, rates.collect())
        };
        self.payload.range((std::ops::Bound::Excluded(from), std::ops::Bound::Unbounded)).map(row).collect()
    }

    /// Returns the total data rate of all flows per sampling interval within the measurement interval, in Gbps on the
    /// wire.
    pub fn cross_gbps(&self) -> Vec<f64> {
        self.arrived_gbps(self.warm_up).into_iter().map(|(_, row)| row.iter().sum()).collect()
    }

    /// Returns the mean data rate of each traffic entry in the measurement interval, in Gbps on the wire.
    pub fn flow_gbps(&self) -> Vec<f64> {
        let rows = self.arrived_gbps(self.warm_up);
        (0..self.wire.len()).map(|entry| mean(&rows.iter().map(|row| row.1[entry]).collect::<Vec<_>>())).collect()
    }

    /// Returns the time average of Jain's index, where each index is computed from the rates over `samples_per_index`
    /// consecutive samples.
    pub fn jain_over_time(&self, samples_per_index: usize) -> f64 {
        let rows = self.arrived_gbps(self.warm_up);
        let rate = |part: &[(f64, Vec<f64>)], entry: usize| part.iter().map(|row| row.1[entry]).sum::<f64>();
        let of =
            |part: &[(f64, Vec<f64>)]| jain(&(0..self.wire.len()).map(|entry| rate(part, entry)).collect::<Vec<_>>());
        mean(&rows.chunks_exact(samples_per_index).map(of).collect::<Vec<_>>())
    }

    /// Returns the sending rate of `flow` over the whole run, as (time in ms, Gbps).
    pub fn sending_gbps(&self, flow: u64) -> Vec<(f64, f64)> {
        let samples = self.controls.get(&flow).map_or(&[][..], Vec::as_slice);
        let rate = |sample: &ControlSample| Some((sample.at.as_secs_f64() * 1e3, sample.rate_bps? as f64 / 1e9));
        samples.iter().filter_map(rate).collect()
    }

    /// Returns the sending rates of all flows in the measurement interval, in Gbps.
    pub fn all_sending_gbps(&self) -> Vec<f64> {
        let within = self.warm_up.as_secs_f64() * 1e3;
        let of =
            |flow: &u64| self.sending_gbps(*flow).into_iter().filter(|sample| sample.0 > within).map(|sample| sample.1);
        self.controls.keys().flat_map(of).collect()
    }

    /// Returns the number of dropped frames.
    pub fn lost(&self) -> f64 {
        self.summary.packets.dropped.values().sum::<u64>() as f64
    }
}

/// Returns the mean; NaN for no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the population standard deviation.
pub fn deviation(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares = values.iter().map(|value| (value - middle) * (value - middle)).sum::<f64>();
    libm::sqrt(squares / values.len() as f64)
}

/// Returns the `share` quantile by the nearest-rank method.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (libm::ceil(share * sorted.len() as f64) as usize).clamp(1, sorted.len().max(1));
    sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
}

/// Returns Jain's fairness index: 1 if all values are equal, 1 / n if only one of n values is not zero.
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
