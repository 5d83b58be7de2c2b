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
    /// Time span of the statistics that exclude the warm-up; accounts of packets and bytes cover the whole run.
    pub window: Window,
    /// Simulated time, in ps.
    pub simulated_ps: u64,
    /// Number of executed events.
    pub events: u64,
    /// Number of packet-hops: packets forwarded over a link, summed over links.
    pub packet_hops: u64,
    /// Account of all packets.
    pub packets: PacketAccount,
    /// Lost packets by node and cause, in descending order, at most [`MAX_LOSS_PLACES`].
    pub losses: Vec<NodeLosses>,
    /// Lost packets of lossless classes, by cause, then by class.
    pub lossless_losses: Vec<LosslessLoss>,
    /// Counts of events of packets in flight.
    pub event_counts: EventCounts,
    /// Account of bytes.
    pub bytes: ByteAccount,
    /// Flows, their completion times and slowdowns.
    pub flows: FlowSummary,
    /// Requests and their replies, for each traffic entry with requests.
    pub requests: Vec<RequestSummary>,
    /// Collective operations, for each traffic entry with a collective.
    pub collectives: Vec<CollectiveSummary>,
    /// Payload that arrived in the window.
    pub goodput: Goodput,
    /// One-way delay of packets from the sending to the receiving host, in ns; `None` if no packet was delivered.
    pub delay_ns: Option<Distribution>,
    /// Variation of one-way delays, for each traffic entry; empty if not measured.
    pub jitter: Vec<JitterSummary>,
    /// Displacement of data frames out of order; `None` if not measured.
    pub reordering: Option<Reordering>,
    /// Utilisation of the queues of switches; `None` if not measured.
    pub queue_utilisation: Option<Utilisation>,
    /// Lengths of the queues of switches; `None` if not measured.
    pub queue_lengths: Option<QueueLengths>,
    /// Pauses, over all ports and classes.
    pub pauses: PauseSummary,
    /// Pause storms detected by watchdogs; `None` without watchdogs.
    pub pause_storms: Option<PauseStorms>,
    /// Statistics of output backpressure (FLORAX and others); `None` with other flow control.
    pub backpressure: Option<Backpressure>,
    /// Utilisation and queue lengths of links.
    pub links: LinkSummary,
    /// The deadlock that the detector found; `None` if it found none.
    pub deadlock: Option<Deadlock>,
    /// Frames that switches bounced or detoured; `None` if no switch bounces or detours frames.
    pub bounces: Option<BounceSummary>,
    /// Statistics of switches with modelled pipelines; `None` without any.
    pub pipelines: Option<PipelineSummary>,
    /// Frames trimmed by switches; `None` if no switch trims.
    pub trims: Option<TrimSummary>,
    /// Counters of port mechanisms, by kind and name, over the whole run; only kinds that at least one port has.
    pub mechanisms: BTreeMap<String, BTreeMap<String, u64>>,
    /// Results of checks.
    pub checks: Vec<Check>,
    /// Warnings about the validity of the numbers.
    pub warnings: Vec<String>,
}

impl Outcome {
    /// Returns whether every check passed.
    pub fn passes(&self) -> bool {
        self.checks.iter().all(|check| check.pass)
    }
}

/// The measured time span, which starts at the end of the warm-up.
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
    /// Cause of the losses, a key of [`PacketAccount::dropped`].
    pub cause: String,
    /// Number of packets.
    pub packets: u64,
}

/// Packets of one lossless class that were lost for one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LosslessLoss {
    /// The class.
    pub class: u8,
    /// Cause of the losses, a key of [`PacketAccount::dropped`].
    pub cause: String,
    /// Number of packets.
    pub packets: u64,
    /// Bytes of these packets, without preamble and interpacket gap.
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
    /// Delivered to their destination host complete.
    pub delivered_whole: u64,
    /// Delivered to their destination host as a trimmed header.
    pub delivered_trimmed: u64,
    /// Returned to their sender.
    pub returned_to_source: u64,
    /// Consumed by a switch: notifications that it acted upon.
    pub consumed: u64,
    /// Lost packets, by cause.
    pub dropped: BTreeMap<String, u64>,
    /// In flight at the end of the run.
    pub in_flight: u64,
    /// Whether both sides of the account are equal; set by [`PacketAccount::close`].
    pub closed: bool,
}

impl PacketAccount {
    /// Compares both sides of the account, sets `closed` and returns it.
    pub fn close(&mut self) -> bool {
        let sum = |counts: &[u64]| counts.iter().map(|&count| u128::from(count)).sum::<u128>();
        let came = sum(&[self.injected, self.created_in_network]);
        let kept = [self.delivered_whole, self.delivered_trimmed, self.returned_to_source, self.consumed];
        let went =
            sum(&kept) + u128::from(self.in_flight) + self.dropped.values().map(|&n| u128::from(n)).sum::<u128>();
        self.closed = came == went;
        self.closed
    }

    /// Returns the number of lost packets, over all causes.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.values().fold(0, |sum, &count| sum.saturating_add(count))
    }
}

/// Numbers of events of packets in flight; one packet may have several events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCounts {
    /// Packets sent back one hop (PABO).
    pub bounces: u64,
    /// Packets marked with ECN congestion experienced.
    pub marks: u64,
    /// Packets trimmed to their header.
    pub trims: u64,
    /// Packets detoured to a port that is not on their route (DIBS).
    pub detours: u64,
    /// Packets retransmitted by hosts.
    pub retransmissions: u64,
}

/// Bytes of frames, without preamble and interpacket gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByteAccount {
    /// Bytes of frames sent by hosts.
    pub injected: u64,
    /// Bytes of frames delivered to their destination host.
    pub delivered: u64,
    /// Bytes of lost frames.
    pub dropped: u64,
    /// Bytes retransmitted by hosts; part of `injected`.
    pub retransmitted: u64,
    /// Bytes of acknowledgements, notifications, probes and other control frames that reached their destination host.
    pub consumed: u64,
}

/// Payload that was delivered in a time span; each byte counts once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Goodput {
    /// Start of the time span, in ps: the start of the measured window.
    pub start_ps: u64,
    /// End of the time span, in ps: the end of the measured window or, if all flows completed before it, the last
    /// arrival of payload.
    pub end_ps: u64,
    /// Payload that was delivered in the time span, in bytes.
    pub payload_bytes: u64,
    /// Payload rate over the time span, in bit/s; 0 for an empty span.
    pub bps: f64,
    /// `payload_bytes` of each entry of the scenario's traffic.
    pub payload_bytes_by_traffic: Vec<u64>,
}

impl Goodput {
    /// Computes the goodput; `payload_bytes_by_traffic` is the payload of each traffic entry delivered from `start_ps`
    /// to `end_ps`.
    pub fn new(start_ps: u64, end_ps: u64, payload_bytes_by_traffic: Vec<u64>) -> Goodput {
        let payload_bytes = payload_bytes_by_traffic.iter().sum::<u64>();
        let goodput = Goodput { start_ps, end_ps, payload_bytes, bps: 0.0, payload_bytes_by_traffic };
        Goodput { bps: goodput.bps_of(payload_bytes), ..goodput }
    }

    /// Returns the rate of `payload_bytes` over the time span, in bit/s; 0 for an empty span.
    pub fn bps_of(&self, payload_bytes: u64) -> f64 {
        let span_ps = self.end_ps.saturating_sub(self.start_ps);
        if span_ps == 0 { 0.0 } else { payload_bytes as f64 * 8e12 / span_ps as f64 }
    }
}

/// A distribution in ns, measured in whole ps. Mean, minimum and maximum are exact; quantiles come from a
/// [`Histogram`], with an error below 0.4 %.
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

/// Displacement of data frames, `receive index - send index` within each flow (RFC 5236), over all flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reordering {
    /// Displacement threshold `D_T`: frames that are later than this count as lost.
    pub threshold_packets: u32,
    /// Number of frames with a displacement, at most the threshold.
    pub packets: u64,
    /// Number of these frames whose displacement is not 0.
    pub displaced: u64,
    /// Reorder entropy in nats; 0 if all frames are in order.
    pub entropy_nats: f64,
    /// Mean of the absolute displacement, in packets.
    pub mean_displacement_packets: f64,
    /// Greatest displacement of an early frame, in packets.
    pub earliest_packets: u64,
    /// Greatest displacement of a late frame, in packets.
    pub latest_packets: u64,
    /// Frames that did not arrive, or were late by more than the threshold.
    pub lost: u64,
    /// Frames that were early by more than the threshold.
    pub too_early: u64,
    /// Duplicates, and frames already counted as lost.
    pub ignored: u64,
}

/// Utilisation (length over capacity) of the queues of switches in the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Utilisation {
    /// Threshold utilisation of `time_ratio`, 0..=1.
    pub threshold: f64,
    /// Number of queues of all switches.
    pub queues: u64,
    /// Number of queues of ports that sent a frame; of the queues for bounced frames, those to which a frame was
    /// routed.
    pub queues_used: u64,
    /// Mean over queues and time, 0..=1.
    pub mean: f64,
    /// Variance over queues and time.
    pub variance: f64,
    /// Variance over queues of each queue's mean over time.
    pub variance_of_means: f64,
    /// Share of time above the threshold, averaged over the queues of `queues_used`, 0..=1.
    pub time_ratio: f64,
}

/// Lengths of queues over time, in bytes. Mean and maximum cover all instants; the quantiles come from samples at
/// random instants in a [`Histogram`], with an error below 0.4 %.
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
    /// Combines mean and maximum with the quantiles of `samples` samples. `found` contains the samples above 0; the
    /// other samples are 0. Quantiles are 0 without samples.
    pub fn of(found: &Histogram, samples: u64, mean_bytes: f64, max_bytes: u64) -> Lengths {
        let mut all = found.clone();
        all.record_many(0, samples.saturating_sub(found.count()));
        let at = |q: f64| all.quantile(q).unwrap_or(0);
        Lengths { mean_bytes, p50_bytes: at(0.5), p95_bytes: at(0.95), p99_bytes: at(0.99), max_bytes }
    }
}

/// Lengths of the output queues of switches in the measured window, summed over the classes of a port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueLengths {
    /// Sampling interval in ps; each interval has one sample, at a random instant.
    pub every_ps: u64,
    /// Number of samples per port.
    #[serde(alias = "looks")]
    pub samples: u64,
    /// Number of ports of all switches.
    pub ports: u64,
    /// Lengths over all ports.
    pub all: Lengths,
    /// The port with the greatest mean queue length; null if all queues were always empty.
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
    /// Lengths over the measured window.
    #[serde(flatten)]
    pub lengths: Lengths,
}

/// Pauses by PAUSE or PFC, waits for credits, and XOFFs of output backpressure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseSummary {
    /// Number of pauses (without renewals), waits for credits and XOFFs.
    pub count: u64,
    /// Number of resumes sent, ended waits for credits, and XONs.
    pub resumes: u64,
    /// Paused time in ps: with PAUSE summed over ports, otherwise over ports and classes.
    pub total_ps: u64,
    /// The longest single pause, in ps.
    pub max_ps: u64,
    /// Pause and resume frames received where flow control is disabled: at a switch without flow control, or a host
    /// that ignores pauses. Omitted if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignored: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Statistics of output backpressure over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backpressure {
    /// Number of times that XOFF paused or slowed down a flow (or a destination, or a whole output).
    pub xoffs: u64,
    /// Number of new rates for flows that were already paused or slowed down.
    pub changes: u64,
    /// Number of times that XON released a flow (or a destination, or a whole output).
    pub xons: u64,
    /// Number of holds that expired at the output that requested them.
    pub expiries: u64,
    /// Number of MAC control frames sent by output backpressure.
    pub control_packets: u64,
    /// Bytes of these frames on the wire, including preamble and gap.
    pub control_bytes: u64,
    /// Maximum number of entries of the flow table of one output.
    #[serde(alias = "table_max")]
    pub max_table_flows: u64,
    /// Memory of a flow table with `max_table_flows` entries, in bytes.
    pub table_bytes: u64,
    /// Maximum number of flows paused by one output at the same time.
    #[serde(alias = "stopped_max")]
    pub max_stopped_flows: u64,
    /// Packets whose flow did not fit the flow table.
    #[serde(alias = "untold_packets")]
    pub untracked_packets: u64,
    /// Outputs by descending number of XOFFs, at most [`MAX_LOSS_PLACES`].
    pub outputs: Vec<OutputXoffs>,
}

/// Number of XOFFs that the backpressure of one output port requested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputXoffs {
    /// The node.
    pub node: String,
    /// Port of the node.
    pub port: u32,
    /// The node at the other end.
    pub peer: String,
    /// Number of XOFFs, as in [`Backpressure::xoffs`].
    pub xoffs: u64,
}

/// Utilisation and queue lengths of links in the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkSummary {
    /// Mean utilisation over all directions of all links, 0..=1.
    pub mean_utilisation: f64,
    /// The link directions with the highest utilisation, in descending order.
    pub busiest: Vec<PortLoad>,
    /// The ports with the longest queues, by descending maximum length.
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
    /// Maximum length of a queue of the port, in bytes.
    pub max_queue_bytes: u64,
    /// Time in the window in which the port or a class of the port was paused or lacked credits, in ps; at most the
    /// length of the window.
    pub paused_ps: u64,
}

/// A cyclic buffer dependency whose queues wait for each other forever.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlock {
    /// Time at which the cycle closed, in ps.
    pub closed_ps: u64,
    /// The queues of the cycle: each queue waits for the next one, the last queue for the first.
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
    /// The node at the other end of the port's link, which pauses the queue.
    pub peer: String,
}

/// Result of one check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Name of the check.
    pub name: String,
    /// Whether the check passed; true if it was not applicable.
    pub pass: bool,
    /// Whether the check was applicable.
    #[serde(default = "yes")]
    #[serde(alias = "judged")]
    pub applicable: bool,
    /// Numbers and locations that explain the result.
    pub detail: String,
}

/// Default of `applicable`, for summaries without this key.
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
