//! The summary of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bounces::BounceSummary;
use crate::collectives::CollectiveSummary;
use crate::flows::FlowSummary;
use crate::histogram::Histogram;
use crate::jitter::JitterSummary;
use crate::pipelines::PipelineSummary;
use crate::requests::RequestSummary;
use crate::storms::PauseStorms;
use crate::trims::TrimSummary;

/// Results of a run: counters, distributions, checks. The configuration is not included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Whether the run was interrupted: all values then cover the time up to `simulated_ps`.
    pub partial: bool,
    /// Span of the measured statistics; accounts of packets and bytes cover the whole run.
    pub window: Window,
    /// Simulated time, in ps.
    pub simulated_ps: u64,
    /// Executed events.
    pub events: u64,
    /// Packets forwarded over one link, summed over links.
    pub packet_hops: u64,
    /// Account of all packets.
    pub packets: PacketAccount,
    /// Lost packets by node and cause, most first, at most [`MAX_LOSS_PLACES`].
    pub losses: Vec<NodeLosses>,
    /// Losses of lossless classes, in the order of causes, then classes.
    pub lossless_losses: Vec<LosslessLoss>,
    /// Counts of events of packets in flight.
    pub event_counts: EventCounts,
    /// Account of bytes.
    pub bytes: ByteAccount,
    /// Flows, their completion times and slowdowns.
    pub flows: FlowSummary,
    /// Requests and their replies, by traffic entry with requests.
    pub requests: Vec<RequestSummary>,
    /// Collective operations, by traffic entry with one.
    pub collectives: Vec<CollectiveSummary>,
    /// Payload that arrived in the window.
    pub goodput: Goodput,
    /// Delay of packets from the sending to the receiving host, in ns; `None` if none was delivered.
    pub delay_ns: Option<Distribution>,
    /// Variation of one-way delays, by traffic entry; empty if not measured.
    pub jitter: Vec<JitterSummary>,
    /// Displacement of data frames out of order; `None` if not measured.
    pub reordering: Option<Reordering>,
    /// Utilisation of the queues of switches; `None` if not measured.
    pub queue_utilisation: Option<Utilisation>,
    /// Lengths of the queues of switches; `None` if not measured.
    pub queue_lengths: Option<QueueLengths>,
    /// Pauses, over all ports and classes.
    pub pauses: PauseSummary,
    /// Storms detected by watchdogs; `None` without watchdogs.
    pub pause_storms: Option<PauseStorms>,
    /// Statistics of output backpressure (FLORAX and others); `None` with other flow control.
    pub backpressure: Option<Backpressure>,
    /// Loads of links.
    pub links: LinkSummary,
    /// The deadlock found.
    pub deadlock: Option<Deadlock>,
    /// Frames that switches bounced or detoured; `None` if no switch does.
    pub bounces: Option<BounceSummary>,
    /// Statistics of switches with modelled pipelines; `None` without any.
    pub pipelines: Option<PipelineSummary>,
    /// Frames trimmed by switches; `None` if no switch trims.
    pub trims: Option<TrimSummary>,
    /// Counters of port mechanisms, by kind and name, over the whole run; only kinds that some port has.
    pub mechanisms: BTreeMap<String, BTreeMap<String, u64>>,
    /// Results of checks.
    pub checks: Vec<Check>,
    /// Warnings about the validity of the numbers.
    pub warnings: Vec<String>,
}

impl Outcome {
    /// Returns whether every check held.
    pub fn passes(&self) -> bool {
        self.checks.iter().all(|check| check.pass)
    }
}

/// The measured span, from the end of the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Start, in ps.
    pub start_ps: u64,
    /// End, in ps.
    pub end_ps: u64,
}

/// Maximum number of entries of [`Outcome::losses`].
pub const MAX_LOSS_PLACES: usize = 32;

/// Packets lost at one node for one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeLosses {
    /// The node's name.
    pub node: String,
    /// As in [`PacketAccount::dropped`].
    pub cause: String,
    /// Number of packets.
    pub packets: u64,
}

/// Packets of one lossless class lost for one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LosslessLoss {
    /// The class.
    pub class: u8,
    /// As in [`PacketAccount::dropped`].
    pub cause: String,
    /// Number of packets.
    pub packets: u64,
    /// Bytes of these packets, without preamble and gap.
    pub bytes: u64,
}

/// The account of packets, closed if `injected + created_in_network = delivered_whole + delivered_trimmed +
/// returned_to_source + consumed + dropped + in_flight`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketAccount {
    /// Sent by hosts.
    pub injected: u64,
    /// Created by switches: notifications, copies.
    pub created_in_network: u64,
    /// Reached their host complete.
    pub delivered_whole: u64,
    /// Reached their host as a header.
    pub delivered_trimmed: u64,
    /// Returned to their sender.
    pub returned_to_source: u64,
    /// Consumed by a switch: notifications that took effect.
    pub consumed: u64,
    /// Lost, by cause.
    pub dropped: BTreeMap<String, u64>,
    /// In flight at the end.
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

    /// Returns the packets lost, over all causes.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.values().fold(0, |sum, &count| sum.saturating_add(count))
    }
}

/// Events of packets in flight; one packet may count several times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCounts {
    /// Packets sent back one hop (PABO).
    pub bounces: u64,
    /// Congestion marks set.
    pub marks: u64,
    /// Payloads cut.
    pub trims: u64,
    /// Packets detoured to a port that is not on their route (DIBS).
    pub detours: u64,
    /// Packets retransmitted by hosts.
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
    /// Retransmitted by hosts; part of `injected`.
    pub retransmitted: u64,
    /// Acknowledgements, notifications, probes and other control frames that reached their destination host.
    pub consumed: u64,
}

/// Payload that reached its receivers, each byte once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Goodput {
    /// Start of the measured window, in ps.
    pub start_ps: u64,
    /// End of the measured window, in ps; the last completion, if every flow had completed before.
    pub end_ps: u64,
    /// Payload that arrived in the window, in bytes.
    pub payload_bytes: u64,
    /// Payload rate, in bit/s; 0 for an empty span.
    pub bps: f64,
    /// The payload by entry of the scenario's traffic, in bytes.
    pub payload_bytes_by_traffic: Vec<u64>,
}

impl Goodput {
    /// Computes the goodput from the payload of each traffic entry that arrived from `start_ps` to `end_ps`.
    pub fn new(start_ps: u64, end_ps: u64, payload_bytes_by_traffic: Vec<u64>) -> Goodput {
        let payload_bytes = payload_bytes_by_traffic.iter().sum::<u64>();
        let goodput = Goodput { start_ps, end_ps, payload_bytes, bps: 0.0, payload_bytes_by_traffic };
        Goodput { bps: goodput.bps_of(payload_bytes), ..goodput }
    }

    /// Returns the rate of this payload over the span, in bit/s; 0 for an empty span.
    pub fn bps_of(&self, payload_bytes: u64) -> f64 {
        let span_ps = self.end_ps.saturating_sub(self.start_ps);
        if span_ps == 0 { 0.0 } else { payload_bytes as f64 * 8e12 / span_ps as f64 }
    }
}

/// A distribution in ns, measured in whole ps. Mean, least and greatest are exact; the quantiles are those of a
/// [`Histogram`], within 0.4 %.
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
    /// Converts a histogram in ps to a distribution in ns; `None` if it is empty.
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

/// Displacement of data frames, `arrival index - sending index` within each flow (RFC 5236), over all flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reordering {
    /// Frames displaced further than this count as lost (`D_T`).
    pub threshold_packets: u32,
    /// Frames with a displacement.
    pub packets: u64,
    /// Frames out of order among `packets`.
    pub displaced: u64,
    /// Reorder entropy in nats; 0 if all frames are in order.
    pub entropy_nats: f64,
    /// Mean of the absolute displacement, in packets.
    pub mean_displacement_packets: f64,
    /// Greatest displacement of an early frame, in packets.
    pub earliest_packets: u64,
    /// Greatest displacement of a late frame, in packets.
    pub latest_packets: u64,
    /// Frames that did not arrive, or later than the threshold allows.
    pub lost: u64,
    /// Frames that arrived earlier than the threshold allows.
    pub too_early: u64,
    /// Duplicates, and frames already counted as lost.
    pub ignored: u64,
}

/// Utilisation of queues of switches in the window, each relative to its capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Utilisation {
    /// Threshold of `time_ratio`, 0..=1.
    pub threshold: f64,
    /// Queues of all switches.
    pub queues: u64,
    /// Queues of ports that sent a frame; of the queues for bounced frames, those with a routed frame.
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

/// Lengths of queues over time, in bytes. Mean and maximum cover all instants; the quantiles are those of samples at
/// random instants in a [`Histogram`], within 0.4 %.
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
    /// Combines mean, maximum and the quantiles of `samples` samples, of which `found` has those above 0. Quantiles
    /// are 0 without samples.
    pub fn of(found: &Histogram, samples: u64, mean_bytes: f64, max_bytes: u64) -> Lengths {
        let mut all = found.clone();
        all.record_many(0, samples.saturating_sub(found.count()));
        let at = |q: f64| all.quantile(q).unwrap_or(0);
        Lengths { mean_bytes, p50_bytes: at(0.5), p95_bytes: at(0.95), p99_bytes: at(0.99), max_bytes }
    }
}

/// Lengths of the output queues of switches in the window, all classes of a port together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueLengths {
    /// Sampling interval in ps, with one sample at a random instant each.
    pub every_ps: u64,
    /// Samples of every port.
    #[serde(alias = "looks")]
    pub samples: u64,
    /// Ports of all switches.
    pub ports: u64,
    /// Over all ports.
    pub all: Lengths,
    /// The port with the longest mean queue; null if all queues were always empty.
    pub longest: Option<PortLengths>,
}

/// Lengths of the queue of one port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortLengths {
    /// The node.
    pub node: String,
    /// Port of the node.
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
    /// Pauses of a port or class.
    pub count: u64,
    /// Releases, by a resume or an expiry.
    pub resumes: u64,
    /// Paused time, in ps: with PAUSE summed over ports, else over ports and classes.
    pub total_ps: u64,
    /// The longest single pause, in ps.
    pub max_ps: u64,
    /// Pause and resume frames received where flow control is disabled: at a switch left out of it, or a host that
    /// ignores pauses. Omitted if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignored: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Statistics of output backpressure over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backpressure {
    /// Number of flows (or destinations, or whole outputs) that XOFF paused or slowed down.
    pub xoffs: u64,
    /// New rates for flows that were paused or slowed already.
    pub changes: u64,
    /// Flows (or destinations, or whole outputs) released.
    pub xons: u64,
    /// Holds that expired at the output that requested them.
    pub expiries: u64,
    /// MAC control frames sent by output backpressure.
    pub control_packets: u64,
    /// Bytes of these frames on the wire, including preamble and gap.
    pub control_bytes: u64,
    /// Maximum number of entries of the flow table of one output.
    #[serde(alias = "table_max")]
    pub max_table_flows: u64,
    /// Memory of `max_table_flows` entries, in bytes.
    pub table_bytes: u64,
    /// Maximum number of flows paused by one output at once.
    #[serde(alias = "stopped_max")]
    pub max_stopped_flows: u64,
    /// Packets of flows that did not fit the flow table.
    #[serde(alias = "untold_packets")]
    pub untracked_packets: u64,
    /// Outputs with the most XOFFs, most first, at most [`MAX_LOSS_PLACES`].
    pub outputs: Vec<OutputXoffs>,
}

/// XOFFs requested by one output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputXoffs {
    /// The node.
    pub node: String,
    /// Port of the node.
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

/// One direction of a link, identified by the sending port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortLoad {
    /// The sending node's name.
    pub node: String,
    /// Port of the sending node.
    pub port: u32,
    /// The node at the other end.
    pub peer: String,
    /// Bytes sent in the window.
    pub tx_bytes: u64,
    /// Share of the window in which the link was sending, 0..=1, including preamble and gap.
    pub utilisation: f64,
    /// Greatest length of a queue of the port, in bytes.
    pub max_queue_bytes: u64,
    /// Time in the window in which the port or a class of it was paused or lacked credits, in ps; at most the window.
    pub paused_ps: u64,
}

/// A cyclic buffer dependency whose queues wait for each other for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlock {
    /// Time at which the cycle closed, in ps.
    pub closed_ps: u64,
    /// The queues of the cycle: each waits for the next, the last for the first.
    pub cycle: Vec<DeadlockEdge>,
}

/// One paused queue of a deadlock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlockEdge {
    /// The node of the paused queue.
    pub node: String,
    /// The port of the queue.
    pub port: u32,
    /// Class of the queue.
    pub class: u8,
    /// The node that pauses the queue.
    pub peer: String,
}

/// Result of one check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The condition.
    pub name: String,
    /// Whether the check passed; true if it was not applicable.
    pub pass: bool,
    /// Whether the check was applicable.
    #[serde(default = "yes")]
    #[serde(alias = "judged")]
    pub applicable: bool,
    /// Numbers and locations.
    pub detail: String,
}

/// Default for summaries without this key.
fn yes() -> bool {
    true
}

units::pack_fields!(OutputXoffs { node, port, peer, xoffs });

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
