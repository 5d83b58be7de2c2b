//! What a run has shown, added up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::collectives::CollectiveSummary;
use crate::flows::FlowSummary;
use crate::histogram::Histogram;
use crate::jitter::JitterSummary;
use crate::pipelines::PipelineSummary;
use crate::requests::RequestSummary;
use crate::storms::PauseStorms;
use crate::trims::TrimSummary;
use crate::turns::TurnSummary;

/// What a run has shown: counters, distributions, checks. Who asked for it is not in here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// True if the run was interrupted: everything then holds up to `simulated_ps`.
    pub partial: bool,
    /// What the measured statistics cover; accounts of packets and bytes cover the whole run.
    pub window: Window,
    /// Simulated time, in ps.
    pub simulated_ps: u64,
    /// Events executed.
    pub events: u64,
    /// Packets forwarded over one link, summed over links.
    pub packet_hops: u64,
    /// Where every packet went.
    pub packets: PacketAccount,
    /// Where packets were lost: node by node and cause by cause, the most first, at most [`MAX_LOSS_PLACES`].
    pub losses: Vec<LossAt>,
    /// What lossless classes lost for any cause, in the order of causes, then classes.
    pub lossless_losses: Vec<LosslessLoss>,
    /// What happened to packets on the way.
    pub happened: Happened,
    /// Where the bytes went.
    pub bytes: ByteAccount,
    /// Flows, their completion times and slowdowns.
    pub flows: FlowSummary,
    /// Requests and their replies, by traffic entry; none where nobody asks.
    pub requests: Vec<RequestSummary>,
    /// Collective operations, by traffic entry; none where there are none.
    pub collectives: Vec<CollectiveSummary>,
    /// Payload that arrived in the window.
    pub goodput: Goodput,
    /// Delay of packets from the sending to the receiving host, in ns; `None` if none was delivered.
    pub delay_ns: Option<Distribution>,
    /// How much one-way delays varied, by traffic entry; none where it is not measured.
    pub jitter: Vec<JitterSummary>,
    /// How far data frames came out of order; `None` where it is not measured.
    pub reordering: Option<Reordering>,
    /// How full the queues of switches were; `None` where it is not measured.
    pub utilisation: Option<Utilisation>,
    /// How long the queues of switches were; `None` where it is not measured.
    pub queue_lengths: Option<QueueLengths>,
    /// Pauses, over all ports and classes.
    pub pauses: PauseSummary,
    /// What watchdogs found; `None` where there are none.
    pub pause_storms: Option<PauseStorms>,
    /// What outputs that decide whom to stop did (FLORAX and its kin); `None` where flow control is of another kind.
    pub backpressure: Option<Backpressure>,
    /// How loaded the links were.
    pub links: LinkSummary,
    /// The deadlock found.
    pub deadlock: Option<Deadlock>,
    /// Frames that switches turned around or sent another way; `None` where none do that.
    pub turns: Option<TurnSummary>,
    /// What happened inside switches whose pipelines are modelled; `None` elsewhere.
    pub pipelines: Option<PipelineSummary>,
    /// Frames that switches trimmed; `None` where none does.
    pub trims: Option<TrimSummary>,
    /// Frames of ports that send in cycles; `None` where none does.
    pub cycles: Option<CycleSummary>,
    /// What was checked.
    pub checks: Vec<Check>,
    /// What the reader should know before trusting the numbers.
    pub warnings: Vec<String>,
}

impl Outcome {
    /// Whether every check held.
    pub fn passes(&self) -> bool {
        self.checks.iter().all(|check| check.pass)
    }
}

/// Frames that left ports which send in cycles (IEEE 802.1Qch), in the classes that do, over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleSummary {
    /// How many, once at each such port.
    pub frames: u64,
    /// How many of them did not leave in the cycle after that in which they came.
    pub missed: u64,
}

/// The span that is measured, from the end of the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Start, in ps.
    pub start_ps: u64,
    /// End, in ps.
    pub end_ps: u64,
}

/// How many places [`Outcome::losses`] names.
pub const MAX_LOSS_PLACES: usize = 32;

/// Packets that were lost at one node for one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossAt {
    /// The node's name.
    pub node: String,
    /// As in [`PacketAccount::dropped`].
    pub cause: String,
    /// How many.
    pub packets: u64,
}

/// Packets of one lossless class that were lost for one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LosslessLoss {
    /// The class.
    pub class: u8,
    /// As in [`PacketAccount::dropped`].
    pub cause: String,
    /// How many.
    pub packets: u64,
    /// Their bytes, without preamble and gap.
    pub bytes: u64,
}

/// The closed account of packets: `injected + created_in_network = delivered_whole +
/// delivered_trimmed + returned_to_source + consumed + dropped + in_flight`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketAccount {
    /// Sent by hosts.
    pub injected: u64,
    /// Made by switches: notifications, copies.
    pub created_in_network: u64,
    /// Reached their host whole.
    pub delivered_whole: u64,
    /// Reached their host as a header.
    pub delivered_trimmed: u64,
    /// Came back to their sender.
    pub returned_to_source: u64,
    /// Ended in a switch on purpose: notifications that were acted upon.
    pub consumed: u64,
    /// Lost, by cause.
    pub dropped: BTreeMap<String, u64>,
    /// Still on the way at the end.
    pub in_flight: u64,
    /// Whether both sides are equal; set by [`PacketAccount::close`].
    pub closed: bool,
}

impl PacketAccount {
    /// Compares both sides and sets `closed`.
    pub fn close(&mut self) -> bool {
        let sum = |counts: &[u64]| counts.iter().map(|&count| u128::from(count)).sum::<u128>();
        let came = sum(&[self.injected, self.created_in_network]);
        let kept = [self.delivered_whole, self.delivered_trimmed, self.returned_to_source, self.consumed];
        let went =
            sum(&kept) + u128::from(self.in_flight) + self.dropped.values().map(|&n| u128::from(n)).sum::<u128>();
        self.closed = came == went;
        self.closed
    }

    /// Packets lost, over all causes.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.values().fold(0, |sum, &count| sum.saturating_add(count))
    }
}

/// Counts of what happened on the way; one packet may count several times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Happened {
    /// Packets sent back one hop (PABO).
    pub bounces: u64,
    /// Congestion marks set.
    pub marks: u64,
    /// Payloads cut.
    pub trims: u64,
    /// Packets sent out of another port than their route's (DIBS).
    pub detours: u64,
    /// Packets sent again by hosts.
    pub retransmissions: u64,
}

/// Bytes of frames, without preamble and gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByteAccount {
    /// Sent by hosts.
    pub injected: u64,
    /// Reached their host.
    pub delivered: u64,
    /// Lost.
    pub dropped: u64,
    /// Sent again by hosts; part of `injected`.
    pub retransmitted: u64,
    /// Acknowledgements, notifications, probes and other control frames that reached the host they were for.
    pub consumed: u64,
}

/// Payload that reached its receivers, each byte once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Goodput {
    /// Where the measured window begins, in ps.
    pub start_ps: u64,
    /// Where it ends, in ps; where every flow had completed before, the last completion.
    pub end_ps: u64,
    /// Payload in between, in bytes.
    pub payload_bytes: u64,
    /// That per second, in bit/s; 0 for an empty span.
    pub bps: f64,
    /// Of it, what belongs to each entry of the scenario's traffic, in bytes.
    pub payload_bytes_by_traffic: Vec<u64>,
}

impl Goodput {
    /// Of the payload of each traffic entry that arrived from `start_ps` to `end_ps`.
    pub fn new(start_ps: u64, end_ps: u64, payload_bytes_by_traffic: Vec<u64>) -> Goodput {
        let payload_bytes = payload_bytes_by_traffic.iter().sum::<u64>();
        let goodput = Goodput { start_ps, end_ps, payload_bytes, bps: 0.0, payload_bytes_by_traffic };
        Goodput { bps: goodput.bps_of(payload_bytes), ..goodput }
    }

    /// What so many bytes in the span are per second, in bit/s; 0 for an empty span.
    pub fn bps_of(&self, payload_bytes: u64) -> f64 {
        let span_ps = self.end_ps.saturating_sub(self.start_ps);
        if span_ps == 0 { 0.0 } else { payload_bytes as f64 * 8e12 / span_ps as f64 }
    }
}

/// A distribution in ns, measured in whole ps. Mean, least and greatest are exact; the quantiles come
/// from a [`Histogram`] and are within 0.4 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of values.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Least.
    pub min: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Greatest.
    pub max: f64,
}

impl Distribution {
    /// The distribution in ns of a histogram of ps; `None` if it is empty.
    pub fn from_ps(histogram: &Histogram) -> Option<Self> {
        let ns = |ps: u64| ps as f64 / 1000.0;
        let at = |q: f64| histogram.quantile(q).map(ns);
        Some(Distribution {
            count: histogram.count(),
            mean: histogram.mean()? / 1000.0,
            min: ns(histogram.min()?),
            p50: at(0.5)?,
            p95: at(0.95)?,
            p99: at(0.99)?,
            p999: at(0.999)?,
            max: ns(histogram.max()?),
        })
    }
}

/// Displacement of data frames, `place of arrival - place of sending` within each flow (RFC 5236), over all
/// flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reordering {
    /// Frames displaced further than this count as lost (`D_T`).
    pub threshold_packets: u32,
    /// Frames that were given a displacement.
    pub packets: u64,
    /// Those of them that came out of their turn.
    pub displaced: u64,
    /// Reorder entropy in nats: 0 where everything comes in order.
    pub entropy_nats: f64,
    /// Mean of the absolute displacement.
    pub mean_displacement_packets: f64,
    /// How many places too early the earliest frame came.
    pub earliest_packets: u64,
    /// How many places too late the latest frame came.
    pub latest_packets: u64,
    /// Frames that never came, or later than the threshold allows.
    pub lost: u64,
    /// Frames that came earlier than the threshold allows.
    pub too_early: u64,
    /// Arrivals of duplicates, and of frames that counted as lost by then.
    pub ignored: u64,
}

/// How full queues of switches were in the window, each against its own capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Utilisation {
    /// The share above which time counts for `time_ratio`, 0..=1.
    pub threshold: f64,
    /// Queues of all switches.
    pub queues: u64,
    /// Those of ports that sent a frame; of the queues for bounced frames, those to which one was routed.
    pub queues_used: u64,
    /// Mean over queues and time, 0..=1.
    pub mean: f64,
    /// Variance over queues and time.
    pub variance: f64,
    /// Variance over queues of each queue's mean over time.
    pub variance_of_means: f64,
    /// Share of time above the threshold, averaged over the used queues, 0..=1.
    pub time_ratio: f64,
}

/// Lengths of queues over time, in bytes. Mean and greatest are those of all instants; the quantiles come from samples
/// at random instants and a [`Histogram`], which is within 0.4 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// Mean.
    pub mean_bytes: f64,
    /// Median.
    pub p50_bytes: u64,
    /// 95th percentile.
    pub p95_bytes: u64,
    /// 99th percentile.
    pub p99_bytes: u64,
    /// Greatest.
    pub max_bytes: u64,
}

impl Lengths {
    /// From mean and greatest length, and the quantiles of `samples` samples, of which those that are not in `found`
    /// found nothing; quantiles are 0 without samples.
    pub fn of(found: &Histogram, samples: u64, mean_bytes: f64, max_bytes: u64) -> Lengths {
        let mut all = found.clone();
        all.record_many(0, samples.saturating_sub(found.count()));
        let at = |q: f64| all.quantile(q).unwrap_or(0);
        Lengths { mean_bytes, p50_bytes: at(0.5), p95_bytes: at(0.95), p99_bytes: at(0.99), max_bytes }
    }
}

/// How long the output queues of switches were in the window, all classes of a port together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueLengths {
    /// Each interval of this length has one sample, at a random instant, in ps.
    pub every_ps: u64,
    /// Samples of every port.
    pub looks: u64,
    /// Ports of all switches.
    pub ports: u64,
    /// Over all ports.
    pub all: Lengths,
    /// The port whose queue was longest on average; null if nothing ever waited.
    pub longest: Option<PortLengths>,
}

/// Lengths of the queue of one port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortLengths {
    /// The node.
    pub node: String,
    /// Its port.
    pub port: u32,
    /// The node at the other end.
    pub peer: String,
    /// Over the window.
    #[serde(flatten)]
    pub lengths: Lengths,
}

/// Pauses over all ports and classes: PAUSE, PFC, or a transport's own hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseSummary {
    /// Times a port or class was stopped.
    pub count: u64,
    /// Times one was released, by a resume or an expiry.
    pub resumes: u64,
    /// Time stopped, in ps: of ports that PAUSE stops, summed over ports, else over ports and classes.
    pub total_ps: u64,
    /// The longest single stop, in ps.
    pub max_ps: u64,
    /// Calls to stop or go on that somebody heard who takes no part: a switch left out of flow control, a host that
    /// does not obey; left out where there were none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignored: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What outputs did that decide whom to stop, over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backpressure {
    /// Flows (or destinations, or whole outputs) that were told to stop or slow down.
    pub xoffs: u64,
    /// New rates for those that were stopped already.
    pub changes: u64,
    /// Those that were told to go on.
    pub xons: u64,
    /// Stops whose time ran out at the output that had asked for them.
    pub expiries: u64,
    /// MAC control frames that all of this took.
    pub control_packets: u64,
    /// Their bytes on the wire, preamble and gap included.
    pub control_bytes: u64,
    /// The most flows that one output told apart.
    pub table_max: u64,
    /// The memory of so many entries.
    pub table_bytes: u64,
    /// The most flows that one output had stopped at a time.
    pub stopped_max: u64,
    /// Packets of flows for which a full table had no place.
    pub untold_packets: u64,
    /// The outputs that stopped most, the first of them at most [`MAX_LOSS_PLACES`].
    pub outputs: Vec<StopsAt>,
}

/// Stops that one output asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopsAt {
    /// The node.
    pub node: String,
    /// Its port.
    pub port: u32,
    /// The node at the other end.
    pub peer: String,
    /// See [`Backpressure::xoffs`].
    pub xoffs: u64,
}

/// Loads of links in the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkSummary {
    /// Mean utilisation over all directions of all links, 0..=1.
    pub mean_utilisation: f64,
    /// The busiest directions, busiest first.
    pub busiest: Vec<PortLoad>,
    /// The ports with the longest queues, longest first.
    pub longest_queues: Vec<PortLoad>,
}

/// One direction of a link, named by the port that sends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortLoad {
    /// The sending node's name.
    pub node: String,
    /// Its port.
    pub port: u32,
    /// The node at the other end.
    pub peer: String,
    /// Bytes sent in the window.
    pub tx_bytes: u64,
    /// Share of the window in which the link was sending, 0..=1, preamble and gap included.
    pub utilisation: f64,
    /// Greatest length of a queue of the port, in bytes.
    pub max_queue_bytes: u64,
    /// Time in the window in which the port or a class of it was paused or lacked credits, in ps; at most the window.
    pub paused_ps: u64,
}

/// Queues that wait for each other for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlock {
    /// When the cycle closed, in ps.
    pub closed_ps: u64,
    /// The queues of the cycle: each waits for the next, the last for the first.
    pub cycle: Vec<DeadlockEdge>,
}

/// One paused queue of a deadlock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlockEdge {
    /// The node whose queue is paused.
    pub node: String,
    /// The port of the queue.
    pub port: u32,
    /// Its class.
    pub class: u8,
    /// The node that pauses it.
    pub peer: String,
}

/// One check and how it came out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What must hold.
    pub name: String,
    /// Whether it held; true where there was nothing to judge.
    pub pass: bool,
    /// Whether there was anything to judge.
    #[serde(default = "yes")]
    pub judged: bool,
    /// Numbers and places.
    pub detail: String,
}

/// Of summaries that did not tell.
fn yes() -> bool {
    true
}

units::pack_fields!(StopsAt { node, port, peer, xoffs });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_closes_only_when_both_sides_agree() {
        let mut packets = PacketAccount { injected: 10, created_in_network: 2, ..PacketAccount::default() };
        packets.delivered_whole = 5;
        packets.delivered_trimmed = 1;
        packets.returned_to_source = 1;
        packets.consumed = 2;
        packets.in_flight = 1;
        packets.dropped.insert("tail".into(), 1);
        assert!(!packets.close() && !packets.closed);
        packets.dropped.insert("link_failed".into(), 1);
        assert!(packets.close() && packets.closed);
        assert_eq!(packets.dropped_total(), 2);
    }
}
