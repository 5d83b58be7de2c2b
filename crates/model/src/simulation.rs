//! One run: advances the engine to the next observation time (a stop), and then samples and checks all nodes between
//! two windows.

mod collection;

use crate::agent_samples::AgentTable;
use crate::baseline::Baseline;
use crate::bounce_storms::Storms;
use crate::build::{BuiltNetwork, ModelError, build};
use crate::collectives::Collectives;
use crate::deadlock;
use crate::flow_ends::FlowEnds;
use crate::gather::RankGroup;
use crate::host::Host;
use crate::link_time::min_frames_time;
use crate::measured::WarmUpState;
use crate::measured::WindowMeasurements;
use crate::network::Network;
use crate::node::SimulatedNode;
use crate::parameters::{RecordParameters, Setup};
use crate::queue_samples::QueueSamples;
use crate::rank_cut::{Cut, FrameCodec};
use crate::requests::Requests;
use crate::switch::Switch;
use crate::trace::Collector;
use crate::watcher::Watcher;
use check::deadlock::Deadlock;
use engine::ranks::{Membership, Ranks, TransferCounts};
use engine::{Engine, ThreadStatistics};
use fabric::NodeId;
use stats::flows::FlowStatistics;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use units::Time;

/// Interval at which the trace events of traced nodes are passed to the watcher. It bounds the memory of the events.
const TRACE_FLUSH_INTERVAL: Time = Time::from_us(20);

/// Maximum number of ended flows and pause events between two collections. Each of them requires a frame, so the link
/// rates limit their number.
const MAX_PENDING_REPORTS: u64 = 1 << 24;

/// Positions of nodes in the engine, in results and on ranks.
pub(crate) struct Placement {
    /// Engine index of each node, unique over all ranks.
    pub engine_index: Vec<u32>,
    /// Output index of each node, by engine index; see [`BuiltNetwork`].
    pub output_index: Vec<u32>,
    /// Engine index of the first node of this rank.
    pub first: u32,
    /// The group of ranks. `None` in a run of one process.
    pub rank_group: Option<RankGroup>,
    pub cut: Option<Cut>,
}

/// Phases of the run, and intervals between observations.
pub(crate) struct Timeline {
    pub duration: Time,
    pub warm_up: Time,
    pub measure_end: Time,
    /// Whether the stop flag ended the run before `duration`. Nodes may then be at different times.
    pub stopped_early: bool,
    /// Interval between collections of ended flows and pause events.
    pub collect_every: Time,
    pub deadlock_every: Option<Time>,
    /// Number of planned flows of finite size. `None` unless the run ends as soon as all of them have ended.
    pub ends_after: Option<u64>,
}

/// Statistics of flows, requests and collectives.
pub(crate) struct FlowResults {
    pub flows: FlowStatistics,
    pub flow_ends: FlowEnds,
    /// Flows of finite size in the statistics that lack bytes at the receiver and whose sender has not finished. A
    /// longer run may complete them.
    pub unfinished: u64,
    /// Like `unfinished`, but the sender has finished, because its transport needs no acknowledgements: a frame was
    /// lost or is in flight.
    pub undelivered: u64,
    /// Statistics of requests, if the traffic has any.
    pub requests: Option<Box<Requests>>,
    pub collectives: Option<Box<Collectives>>,
    pub baseline: Baseline,
    /// Time of the last flow completion so far.
    pub last_completion: Time,
}

/// Cumulative values at the last sample of each time series, from which the next sample computes differences.
pub(crate) struct Samples {
    /// At the last sample: busy time of each port, payload bytes per traffic entry, and the sample times.
    pub busy_before: Vec<Time>,
    pub goodput_before: Vec<u64>,
    pub links_sampled_at: Time,
    pub throughput_sampled_at: Time,
    pub queue_samples: Option<QueueSamples>,
}

/// State of the collection of events between windows.
pub(crate) struct Collection {
    /// Packet-hops of each node at the last collection, and their sum over all nodes of all ranks.
    pub hops_before: Vec<u64>,
    pub hops: u64,
    /// Nodes that ran since the last collection, and switches with a paused port.
    pub ran_since_collection: Vec<u32>,
    pub paused_switches: BTreeSet<u32>,
    /// Collector of the trace events of traced nodes, and the list of the traced nodes of this rank.
    pub collector: Option<Collector>,
    pub traced_nodes: Vec<NodeId>,
}

/// Detectors of deadlocks and bounce storms.
pub(crate) struct Detection {
    pub deadlock: Option<Deadlock>,
    /// Number of deadlock checks.
    pub deadlock_checks: u64,
    /// Detector of bounce storms, if switches bounce frames and detection is enabled.
    pub storms: Option<Storms>,
}

/// A running network.
pub struct Simulation {
    pub(crate) engine: Engine<SimulatedNode>,
    pub(crate) network: Arc<Network>,
    /// Results of the measurement window, if the window ends before the run.
    pub(crate) measured: Option<WindowMeasurements>,
    pub(crate) record: RecordParameters,
    /// State of checks and counters at the end of the warm-up.
    pub(crate) warmed_up: WarmUpState,
    /// External agents that control the rates of flows.
    pub(crate) agents: AgentTable,
    pub(crate) placement: Placement,
    pub(crate) timeline: Timeline,
    pub(crate) results: FlowResults,
    pub(crate) samples: Samples,
    pub(crate) collection: Collection,
    pub(crate) detection: Detection,
}

impl Simulation {
    /// Builds the network of `setup` at time zero.
    ///
    /// # Errors
    /// Fails if a switch's buffer is smaller than its headroom, or if the links do not form a valid network.
    pub fn new(setup: Setup) -> Result<Self, ModelError> {
        Simulation::build(setup, None)
    }

    /// Like [`Simulation::new`], for one of several ranks, which builds and runs its part of the network. All ranks
    /// need the same setup, except for the number of threads, and must make the same calls in the same order. Only rank
    /// 0 reports to its watcher and returns complete results. The return values of other ranks' watchers have no
    /// effect.
    ///
    /// # Errors
    /// Like [`Simulation::new`]. Also fails if there are more ranks than nodes.
    pub fn of_rank(setup: Setup, ranks: Arc<dyn Ranks>) -> Result<Self, ModelError> {
        Simulation::build(setup, Some(ranks))
    }

    fn build(setup: Setup, ranks: Option<Arc<dyn Ranks>>) -> Result<Self, ModelError> {
        let (duration, warm_up, record) = (setup.duration, setup.warm_up, setup.record.clone());
        let measure_end = setup.measure_end.min(duration);
        let (deadlock_every, threads, setup_storm) = (setup.deadlock_every, setup.threads, setup.storm);
        let (ends_with_flows, seed) = (setup.ends_with_flows, setup.seed);
        let (rank, count) = ranks.as_ref().map_or((0, 1), |ranks| (ranks.rank(), ranks.count()));
        let BuiltNetwork { network, machines, wiring, output_index, borders } = build(setup, (rank, count))?;
        let first = borders.nodes_of(rank).start;
        let cut = ranks.as_ref().map(|_| Cut::of(&network, &borders));
        let engine = match &ranks {
            None => Engine::new(machines, &wiring, threads)?,
            Some(ranks) => {
                let codec = Box::new(FrameCodec(Arc::clone(&network)));
                Engine::of_rank(machines, &wiring, threads, Membership { ranks: Arc::clone(ranks), codec, borders })?
            }
        };
        let engine_index = wiring.into_engine_index();
        let rank_group = ranks.map(RankGroup);
        let ends = |flow: &&traffic::Flow| flow.size_bytes != traffic::ENDLESS;
        let ends_after = ends_with_flows.then(|| network.traffic.flows.iter().filter(ends).count() as u64);
        let collector = network.measurement.selection.clone().map(Collector::new);
        let selection = network.measurement.selection.as_deref();
        let is_watched = |node: &NodeId| selection.is_some_and(|selection| selection.traces(*node));
        let here = |node: &NodeId| (engine_index[node.index()].wrapping_sub(first) as usize) < engine.len();
        let traced_nodes = network.fabric.node_ids().filter(is_watched).filter(here).collect();
        let (ports, entries) = (network.fabric.port_count(), network.traffic_entries());
        let collect_every = collect_every(duration, &network);
        let nodes = engine.len();
        let queue_samples = record.queue_lengths_every.map(|every| QueueSamples::new(every, seed));
        let requests = Requests::new(&network.traffic.exchanges);
        let collectives = Collectives::new(&network.traffic.collectives);
        let storms = setup_storm.filter(|_| network.can_bounce()).map(|parameters| Storms::new(parameters, nodes));
        Ok(Simulation {
            engine,
            network,
            record,
            measured: None,
            warmed_up: WarmUpState::default(),
            agents: AgentTable::default(),
            placement: Placement { engine_index, output_index, first, rank_group, cut },
            timeline: Timeline {
                duration,
                warm_up,
                measure_end,
                collect_every,
                deadlock_every,
                ends_after,
                stopped_early: false,
            },
            results: FlowResults {
                flows: FlowStatistics::default(),
                flow_ends: FlowEnds::default(),
                unfinished: 0,
                undelivered: 0,
                requests,
                collectives,
                baseline: Baseline::default(),
                last_completion: Time::ZERO,
            },
            samples: Samples {
                busy_before: vec![Time::ZERO; ports],
                goodput_before: vec![0; entries],
                links_sampled_at: Time::ZERO,
                throughput_sampled_at: Time::ZERO,
                queue_samples,
            },
            collection: Collection {
                hops_before: vec![0; nodes],
                hops: 0,
                ran_since_collection: Vec::new(),
                paused_switches: BTreeSet::new(),
                collector,
                traced_nodes,
            },
            detection: Detection { deadlock: None, deadlock_checks: 0, storms },
        })
    }

    /// Sets the stop flag: [`Simulation::run`] returns soon after the flag becomes true.
    pub fn set_stop_flag(&mut self, stop: Arc<AtomicBool>) {
        self.engine.set_stop_flag(stop);
    }

    /// Varies the number of threads at random every few windows, for tests: no result may depend on the number of
    /// threads.
    pub fn randomise_threads(&mut self, seed: u64) {
        self.engine.randomise_threads(seed);
    }

    /// Repartitions the nodes by their work since the last call: see [`Engine::rebalance`].
    pub fn repartition_by_work(&mut self) {
        self.engine.rebalance();
    }

    /// Returns statistics of the division of work among threads.
    pub fn sharing(&self) -> ThreadStatistics {
        self.engine.sharing()
    }

    /// Returns statistics of the links between ranks (the cut), if there are several ranks.
    pub fn cut(&self) -> Option<Cut> {
        self.placement.cut
    }

    /// Returns the count of messages that this rank sent to others.
    pub fn transfer_counts(&self) -> TransferCounts {
        self.engine.transfer_counts()
    }

    /// Returns the share (0..=1) of node runs that belong to windows executed by several threads.
    pub fn parallel_share(&self) -> f64 {
        self.sharing().shared_runs as f64 / self.engine.statistics().runs.max(1) as f64
    }

    /// Runs to the end, or until the watcher or the flag of [`Simulation::set_stop_flag`] stops the run. Returns
    /// whether it reached the end. A run that the watcher stopped can continue.
    pub fn run(&mut self, watcher: &mut dyn Watcher) -> bool {
        watcher.started(self.engine.clock());
        self.run_until(Time::MAX, watcher)
    }

    /// Returns whether the run has reached its end.
    pub fn is_over(&self) -> bool {
        self.now() >= self.timeline.duration
    }

    /// Like [`Simulation::run`], but at most to `until`. Returns whether it reached `until` or the end. The number of
    /// calls that a run is split into does not affect its results.
    pub fn run_until(&mut self, until: Time, watcher: &mut dyn Watcher) -> bool {
        let collect = self.timeline.collect_every;
        let storm_every = self.detection.storms.as_ref().map(|storms| storms.every().unwrap_or(collect));
        // Each stop of the engine costs as much as several packet-hops, so there are no deadlock checks if no
        // deadlock is possible.
        let deadlock_every = self.timeline.deadlock_every.filter(|_| self.network.switch.flow_control.can_deadlock());
        loop {
            let now = self.engine.now();
            if now >= self.timeline.duration.min(until) {
                return true;
            }
            let ends_every = self.timeline.ends_after.is_some().then_some(END_CHECK_INTERVAL);
            let periods = [
                Some(collect),
                ends_every,
                deadlock_every,
                self.record.queues_every,
                self.record.links_every,
                self.record.throughput_every,
                self.record.control_every,
                self.collection.collector.is_some().then_some(TRACE_FLUSH_INTERVAL),
                storm_every,
            ];
            // Stops are multiples of the periods since time zero, so they do not depend on how a run is split into
            // calls.
            let next = |period: Time| now + period - now % period;
            let mut stop = periods.iter().flatten().map(|&period| next(period)).min().unwrap_or(self.timeline.duration);
            let sampled = self.samples.queue_samples.as_ref().map(QueueSamples::next);
            for moment in [Some(self.timeline.warm_up), Some(self.timeline.measure_end), sampled].into_iter().flatten()
            {
                stop = if now < moment { stop.min(moment) } else { stop };
            }
            let stop = stop.min(self.timeline.duration).min(until);
            if !self.engine.run_until(stop) {
                self.timeline.stopped_early = true;
                self.update_active();
                self.flush_traces(watcher);
                self.collect(watcher);
                return false;
            }
            let due = |period: Option<Time>| period.is_some_and(|period| (stop % period) == Time::ZERO);
            if let Some(flows) = self.timeline.ends_after.filter(|_| due(ends_every) && stop > self.timeline.warm_up)
                && self.has_ended(flows, stop)
            {
                (self.timeline.duration, self.timeline.measure_end) = (stop, self.timeline.measure_end.min(stop));
            }
            if stop == self.timeline.warm_up {
                self.warmed_up = self.warm_up_state(stop);
                self.reset(stop);
                self.samples.queue_samples.iter_mut().for_each(|samples| samples.reset(stop));
            } else if stop <= self.timeline.measure_end {
                self.sample_queue_lengths(stop);
            }
            let checks_deadlock = due(deadlock_every) && self.detection.deadlock.is_none();
            let checks_storms = due(storm_every) || stop == self.timeline.duration;
            let collects = due(Some(collect)) || stop == self.timeline.duration;
            if checks_deadlock || checks_storms || collects {
                self.update_active();
            }
            if stop == self.timeline.measure_end && stop < self.timeline.duration {
                self.measured = Some(self.measure(stop));
            }
            if checks_deadlock {
                self.detection.deadlock_checks += 1;
                self.detection.deadlock = deadlock::find(self, stop);
            }
            if due(self.record.queues_every) {
                self.sample_queues(stop, watcher);
            }
            if due(self.record.links_every) {
                self.sample_links(stop, watcher);
            }
            if due(self.record.throughput_every) {
                self.sample_throughput(stop, watcher);
            }
            if due(self.record.control_every) {
                self.sample_controls(stop, watcher);
            }
            self.flush_traces(watcher);
            if checks_storms {
                self.check_storms(stop);
            }
            if collects {
                self.collect(watcher);
            }
            let ends = self.is_root()
                && ((collects && !watcher.progress(stop, self.collection.hops)) || watcher.should_abort());
            // Rank 0 decides for all ranks whether the run ends, so that no rank waits for another in a later
            // collective call.
            if self.broadcast(ends) {
                return stop >= self.timeline.duration.min(until);
            }
        }
    }

    /// Returns whether all flows of finite size have ended. A sender does not detect the loss of datagrams, so a
    /// datagram flow counts as ended when all its datagrams are sent and no frame of any flow is in flight. The second
    /// condition does not apply if there are endless flows.
    fn has_ended(&self, flows: u64, now: Time) -> bool {
        let add = |sum: (u64, bool), part: Option<(u64, bool)>| part.map(|part| (sum.0 + part.0, sum.1 | part.1));
        let of_host = |host: &Host| host.progress().map(|progress| (progress.finished, progress.endless));
        let own = self.hosts().map(of_host).try_fold((0, false), add);
        let Some((finished, endless)) = self.all_gather(own).into_iter().try_fold((0, false), add) else {
            return false;
        };
        let in_flight = || self.all_gather(self.own_counters(now).packets.in_flight.frames).iter().sum::<u64>();
        finished == flows && (endless || in_flight() == 0)
    }

    /// Returns the number of telemetry records that frames in flight occupy, in this rank.
    pub fn telemetry_in_use(&self) -> usize {
        self.network.telemetry.as_ref().map_or(0, crate::telemetry::Telemetry::in_use)
    }

    /// Returns the simulation time. All earlier events have been handled.
    pub fn now(&self) -> Time {
        self.engine.now()
    }

    /// Returns the engine index of `node`, or `None` if another rank has it.
    fn index_of(&self, node: NodeId) -> Option<usize> {
        let index = self.placement.engine_index[node.index()].wrapping_sub(self.placement.first) as usize;
        (index < self.engine.len()).then_some(index)
    }

    /// Returns `node`, or `None` if another rank has it.
    pub(crate) fn machine(&self, node: NodeId) -> Option<&SimulatedNode> {
        self.index_of(node).map(|index| self.engine.node(index))
    }

    /// Returns the switches of this rank.
    pub(crate) fn switches(&self) -> impl Iterator<Item = &Switch> {
        self.network.fabric.node_ids().filter_map(|node| match self.machine(node)? {
            SimulatedNode::Switch(switch) => Some(&**switch),
            SimulatedNode::Host(_) | SimulatedNode::Dormant(..) => None,
        })
    }

    /// Returns the hosts of this rank, except dormant ones, which have no statistics.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.network.fabric.node_ids().filter_map(|node| match self.machine(node)? {
            SimulatedNode::Host(host) => Some(&**host),
            SimulatedNode::Switch(_) | SimulatedNode::Dormant(..) => None,
        })
    }

    fn reset(&mut self, now: Time) {
        self.network.measurement.delays.reset();
        for index in 0..self.engine.len() {
            match self.engine.node_mut(index) {
                SimulatedNode::Switch(switch) => switch.reset(now),
                SimulatedNode::Host(host) => host.reset(now),
                SimulatedNode::Dormant(..) => {}
            }
        }
    }

    /// Returns the payload delivered since the start, without duplicates, in bytes per traffic entry.
    pub(crate) fn payload_bytes(&self) -> Vec<u64> {
        let none = vec![0; self.network.traffic_entries()];
        let mut own = none.clone();
        for host in self.hosts() {
            add(&mut own, &host.measured.goodput_bytes);
        }
        let mut total = none;
        self.gather(own).iter().for_each(|part| add(&mut total, part));
        total
    }
}

fn add(total: &mut [u64], more: &[u64]) {
    total.iter_mut().zip(more).for_each(|(total, more)| *total += more);
}

/// Interval at which a run that ends with its flows checks whether all flows have ended.
const END_CHECK_INTERVAL: Time = Time::from_us(10);

/// Returns the interval between collections: a thousandth of the run (the progress interval), or less, so that at most
/// [`MAX_PENDING_REPORTS`] entries accumulate. The interval determines the order of results, so it depends only on the
/// scenario.
fn collect_every(duration: Time, network: &Network) -> Time {
    let rates = network.fabric.links().iter().map(|link| 2 * u128::from(link.rate.as_bps()));
    (duration / 1000).min(min_frames_time(MAX_PENDING_REPORTS, rates.sum())).max(Time::from_us(20))
}
