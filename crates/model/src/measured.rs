//! Results of the measurement window, and state at the end of the warm-up.

use crate::host::HopCounts;
use check::buffer::HighWaterMark;
use check::little::LittleFindings;
use check::{ReorderDensity, Verdict};
use stats::histogram::Histogram;
use stats::jitter::JitterSummary;
use stats::summary::{LinkSummary, QueueLengths, Utilisation};
use units::Time;

/// Results that depend on the measurement window.
#[derive(Clone, Debug)]
pub(crate) struct WindowMeasurements {
    pub end: Time,
    pub delay: Histogram,
    pub links: LinkSummary,
    pub hop_counts: HopCounts,
    pub jitter: Vec<JitterSummary>,
    pub reordering: Option<ReorderDensity>,
    /// Number of frames that the reordering statistics must cover.
    pub reordering_arrivals: u64,
    pub utilisation: Option<Utilisation>,
    pub queue_lengths: Option<QueueLengths>,
    pub load: Option<Verdict>,
    /// Payload bytes delivered since the start of the run, by traffic entry.
    pub payload_bytes: Vec<u64>,
    /// Time of the last arrival of new payload (not a duplicate).
    pub last_payload: Time,
}

/// State at the end of the warm-up. Measurements restart at this time, checks continue.
#[derive(Clone, Debug, Default)]
pub(crate) struct WarmUpState {
    pub little: LittleFindings,
    pub marks: Vec<HighWaterMark>,
    /// Payload bytes delivered in the warm-up, by traffic entry. Empty without a warm-up.
    pub payload_bytes: Vec<u64>,
}
