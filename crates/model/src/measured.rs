//! What was measured, and when not all of a run was.

use crate::host::Travel;
use check::buffer::Mark;
use check::little::Findings;
use check::{ReorderDensity, Verdict};
use stats::histogram::Histogram;
use stats::jitter::JitterSummary;
use stats::summary::{LinkSummary, QueueLengths, Utilisation};
use units::Time;

/// What depends on the span that is measured.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub end: Time,
    pub delay: Histogram,
    pub links: LinkSummary,
    pub travel: Travel,
    pub jitter: Vec<JitterSummary>,
    pub reordering: Option<ReorderDensity>,
    /// How many frames should have been judged for it.
    pub reordering_arrivals: u64,
    pub utilisation: Option<Utilisation>,
    pub queue_lengths: Option<QueueLengths>,
    pub load: Option<Verdict>,
    /// Payload that had arrived since the run began, by traffic entry, in bytes.
    pub payload_bytes: Vec<u64>,
}

/// What the warm-up showed: measurements begin anew after it, checks do not.
#[derive(Clone, Debug, Default)]
pub(crate) struct WarmUp {
    pub little: Findings,
    pub marks: Vec<Mark>,
    /// Payload that had arrived, by traffic entry, in bytes; empty without a warm-up.
    pub payload_bytes: Vec<u64>,
}
