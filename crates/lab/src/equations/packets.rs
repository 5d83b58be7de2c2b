//! Packets beside the fluid: a scenario is run, and its bottleneck watched.

use crate::error::LabError;
use crate::stop::Stop;
use fabric::NodeId;
use model::parameters::Setup;
use model::{QueueSample, Simulation, Watcher};
use scenario::{Explained, FluidFile};
use std::collections::BTreeMap;
use std::path::Path;
use units::Time;

/// How often queues and links are looked at in a scenario that does not say.
const LOOKS: u64 = 2000;

/// What packets did at their bottleneck, which is the port of a switch with the longest mean queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Packets {
    /// The port, as `node:port`.
    pub port: String,
    /// How many flows there are in the run.
    pub flows: u64,
    /// Mean queue within the measured window, in bytes.
    pub queue_bytes: f64,
    /// Mean rate of the port within it, preamble and gap included, in bit/s.
    pub rate_bps: f64,
    /// When, in s, and how long the queue was, in bytes.
    pub queue: Vec<(f64, f64)>,
    /// When, in s, and the rate of the port since the look before, in bit/s.
    pub rate: Vec<(f64, f64)>,
}

type Port = (NodeId, u16);

/// Looks at ports, by when.
#[derive(Default)]
struct Seen {
    queues: BTreeMap<Port, BTreeMap<Time, u64>>,
    sent: BTreeMap<Port, BTreeMap<Time, u64>>,
}

impl Watcher for Seen {
    fn queue(&mut self, sample: QueueSample) {
        // Classes of a port are one queue here.
        let looks = self.queues.entry((sample.node, sample.port)).or_default();
        *looks.entry(sample.at).or_default() += sample.bytes;
    }

    fn link(&mut self, at: Time, node: NodeId, port: u16, bytes: u64, _: f64) {
        self.sent.entry((node, port)).or_default().insert(at, bytes);
    }
}

/// All looks of a run, every `every`: what is not told was nothing.
fn looks(told: Option<&BTreeMap<Time, u64>>, every: Time, until: Time) -> Vec<(Time, u64)> {
    let count = until / every;
    let at = |look: u64| Time::from_ps(look * every.as_ps());
    (1..=count).map(at).map(|at| (at, told.and_then(|told| told.get(&at)).copied().unwrap_or(0))).collect()
}

impl Packets {
    /// Runs `setup`; `path` names the scenario in errors.
    ///
    /// # Errors
    /// [`LabError::Model`] if the setup makes no network.
    pub fn of(mut setup: Setup, path: &Path, stop: &Stop) -> Result<Packets, LabError> {
        let (from, until, duration) = (setup.warm_up, setup.measure_end, setup.duration);
        let often = Time::from_ps((duration.as_ps() / LOOKS).max(1));
        let queues_every = *setup.record.queues_every.get_or_insert(often);
        let links_every = *setup.record.links_every.get_or_insert(often);
        let (fabric, flows) = (setup.fabric.clone(), setup.traffic.flows.len() as u64);
        let built = Simulation::new(setup);
        let mut simulation = built.map_err(|error| LabError::Model { path: path.to_owned(), error })?;
        simulation.heed(stop.flag());
        let mut seen = Seen::default();
        simulation.run(&mut seen);
        let total = |looks: &BTreeMap<Time, u64>| looks.range(from..).map(|look| look.1).sum::<u64>();
        // Of several the first; of a run in which nothing queues any port that sends.
        let longest = seen.queues.iter().rev().max_by_key(|(_, looks)| total(looks)).map(|(port, _)| *port);
        let forwards = |port: &&Port| fabric.node(port.0).kind == fabric::NodeKind::Switch;
        let port = longest.or_else(|| seen.sent.keys().find(forwards).copied()).unwrap_or((NodeId(0), 0));
        let queue = looks(seen.queues.get(&port), queues_every, duration);
        let sent = looks(seen.sent.get(&port), links_every, duration);
        let mean = |looks: &[(Time, u64)]| {
            let within: Vec<f64> =
                looks.iter().filter(|look| look.0 > from && look.0 <= until).map(|look| look.1 as f64).collect();
            within.iter().sum::<f64>() / within.len().max(1) as f64
        };
        let bits_per_s = 8.0 / links_every.as_secs_f64();
        let series = |looks: &[(Time, u64)], factor: f64| -> Vec<(f64, f64)> {
            looks.iter().map(|(at, value)| (at.as_secs_f64(), *value as f64 * factor)).collect()
        };
        Ok(Packets {
            port: format!("{}:{}", fabric.name(port.0), port.1),
            flows,
            queue_bytes: mean(&queue),
            rate_bps: mean(&sent) * bits_per_s,
            queue: series(&queue, 1.0),
            rate: series(&sent, bits_per_s),
        })
    }

    /// Mean rate of a flow, in bit/s.
    pub fn flow_bps(&self) -> f64 {
        self.rate_bps / self.flows.max(1) as f64
    }
}

/// Keys of a model beside those of a scenario.
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

/// What is not the same in the model and in the scenario: the number of flows, and values that both have under the
/// same name. Keys that one of them does not have are left alone: a model knows less than a transport.
pub fn differences(file: &FluidFile, packets: &Packets, scenario: &[Explained]) -> Vec<String> {
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
