//! A packet-level simulation for comparison with the fluid model: runs a scenario and samples its bottleneck port.

use crate::error::LabError;
use crate::stop::StopFlag;
use fabric::NodeId;
use model::parameters::Setup;
use model::{QueueSample, Simulation, Watcher};
use scenario::{Explained, FluidFile};
use std::collections::BTreeMap;
use std::path::Path;
use units::Time;

/// Number of samples of queues and links if the scenario has no sampling interval.
const DEFAULT_SAMPLES: u64 = 2000;

/// Measurements at the bottleneck: the switch port with the longest mean queue.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketMeasurement {
    /// The port, as `node:port`.
    pub port: String,
    /// Number of flows in the run.
    pub flows: u64,
    /// Mean queue length in the measurement interval, in bytes.
    pub queue_bytes: f64,
    /// Mean rate of the port in the measurement interval, including preamble and inter-frame gap, in bit/s.
    pub rate_bps: f64,
    /// Samples of the queue: time in s, length in bytes.
    pub queue: Vec<(f64, f64)>,
    /// Samples of the rate: time in s, mean rate of the port over the sampling interval in bit/s.
    pub rate: Vec<(f64, f64)>,
}

type Port = (NodeId, u16);

/// Samples by port and time.
#[derive(Default)]
struct PortSamples {
    queues: BTreeMap<Port, BTreeMap<Time, u64>>,
    sent: BTreeMap<Port, BTreeMap<Time, u64>>,
}

impl Watcher for PortSamples {
    fn queue(&mut self, sample: QueueSample) {
        // Add up the classes of a port.
        let samples = self.queues.entry((sample.node, sample.port)).or_default();
        *samples.entry(sample.at).or_default() += sample.bytes;
    }

    fn link(&mut self, at: Time, node: NodeId, port: u16, bytes: u64, _: f64) {
        self.sent.entry((node, port)).or_default().insert(at, bytes);
    }
}

/// Returns the samples at multiples of `every`; an instant without a sample has the value 0.
fn samples(recorded: Option<&BTreeMap<Time, u64>>, every: Time, until: Time) -> Vec<(Time, u64)> {
    let count = until / every;
    let at = |number: u64| Time::from_ps(number * every.as_ps());
    (1..=count).map(at).map(|at| (at, recorded.and_then(|recorded| recorded.get(&at)).copied().unwrap_or(0))).collect()
}

impl PacketMeasurement {
    /// Runs `setup`. `path` is the name of the scenario in errors.
    ///
    /// # Errors
    /// [`LabError::Model`] if the network cannot be built.
    pub fn of(mut setup: Setup, path: &Path, stop: &StopFlag) -> Result<PacketMeasurement, LabError> {
        let (from, until, duration) = (setup.warm_up, setup.measure_end, setup.duration);
        let often = Time::from_ps((duration.as_ps() / DEFAULT_SAMPLES).max(1));
        let queues_every = *setup.record.queues_every.get_or_insert(often);
        let links_every = *setup.record.links_every.get_or_insert(often);
        let (fabric, flows) = (setup.fabric.clone(), setup.traffic.flows.len() as u64);
        let built = Simulation::new(setup);
        let mut simulation = built.map_err(|error| LabError::Model { path: path.to_owned(), error })?;
        simulation.set_stop_flag(stop.flag());
        let mut seen = PortSamples::default();
        simulation.run(&mut seen);
        let total = |samples: &BTreeMap<Time, u64>| samples.range(from..).map(|number| number.1).sum::<u64>();
        // Of several ports with equal mean queues, the first. If no port has a queue, any switch port that sends.
        let longest = seen.queues.iter().rev().max_by_key(|(_, samples)| total(samples)).map(|(port, _)| *port);
        let forwards = |port: &&Port| fabric.node(port.0).kind == fabric::NodeKind::Switch;
        let port = longest.or_else(|| seen.sent.keys().find(forwards).copied()).unwrap_or((NodeId(0), 0));
        let queue = samples(seen.queues.get(&port), queues_every, duration);
        let sent = samples(seen.sent.get(&port), links_every, duration);
        let mean = |samples: &[(Time, u64)]| {
            let within: Vec<f64> = samples
                .iter()
                .filter(|number| number.0 > from && number.0 <= until)
                .map(|number| number.1 as f64)
                .collect();
            within.iter().sum::<f64>() / within.len().max(1) as f64
        };
        let bits_per_s = 8.0 / links_every.as_secs_f64();
        let series = |samples: &[(Time, u64)], factor: f64| -> Vec<(f64, f64)> {
            samples.iter().map(|(at, value)| (at.as_secs_f64(), *value as f64 * factor)).collect()
        };
        Ok(PacketMeasurement {
            port: format!("{}:{}", fabric.name(port.0), port.1),
            flows,
            queue_bytes: mean(&queue),
            rate_bps: mean(&sent) * bits_per_s,
            queue: series(&queue, 1.0),
            rate: series(&sent, bits_per_s),
        })
    }

    /// Returns the mean rate of a flow, in bit/s.
    pub fn flow_bps(&self) -> f64 {
        self.rate_bps / self.flows.max(1) as f64
    }
}

/// Keys of a fluid model, and the corresponding keys of a scenario.
const SAME: [(&str, &str); 13] = [
    ("model.kind", "host.transport.kind"),
    ("model.gain", "host.transport.gain"),
    ("model.cnp_interval", "host.transport.cnp_interval"),
    ("model.alpha_timer", "host.transport.alpha_timer"),
    ("model.increase_timer", "host.transport.increase_timer"),
    ("model.byte_counter", "host.transport.byte_counter"),
    ("model.recovery_stages", "host.transport.recovery_stages"),
    ("model.additive_increase", "host.transport.additive_increase"),
    ("model.min_rate", "host.transport.min_rate"),
    ("model.k_min", "switch.marking.k_min"),
    ("model.k_max", "switch.marking.k_max"),
    ("model.p_max", "switch.marking.p_max"),
    ("model.mark_at", "switch.marking.at"),
];

/// Returns the differences between fluid model and scenario: the number of flows, and the values of keys that both
/// have. Other keys are ignored, because a fluid model has fewer parameters than a transport.
pub fn differences(file: &FluidFile, packets: &PacketMeasurement, scenario: &[Explained]) -> Vec<String> {
    let value =
        |all: &[Explained], key: &str| all.iter().find(|value| value.key == key).map(|value| value.value.clone());
    let differ = |&(ours, theirs): &(&str, &str)| {
        let (a, b) = (value(&file.explained, ours)?, value(scenario, theirs)?);
        (a != b).then(|| format!("{ours} = {a}, but {theirs} = {b}"))
    };
    let flows = file.flows.iter().map(|flows| u64::from(flows.count)).sum::<u64>();
    let counts = (flows != packets.flows).then(|| format!("{flows} flows, but {} of packets", packets.flows));
    counts.into_iter().chain(SAME.iter().filter_map(differ)).collect()
}
