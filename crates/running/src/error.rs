//! Faults of the input, and findings about the safety of a configuration.

use serde::Serialize;

/// Input that cannot be judged: an incomplete map, a missing reference, a length without unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, thiserror::Error)]
#[error("{file}: {key}: {message}")]
pub struct Fault {
    /// Name of the file, as given to [`crate::read`].
    pub file: String,
    /// Key in SONiC's notation: `PORT_QOS_MAP|Ethernet0.pfc_enable`.
    pub key: String,
    /// Description of the fault.
    pub message: String,
    /// The value to write instead.
    pub help: String,
}

/// Kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Lossless accounts can wait for each other in a cycle.
    Deadlock,
    /// A lossless frame enters an account that drops.
    LossyHop,
    /// The two ends of a link have conflicting settings.
    Neighbours,
    /// A priority group and a queue do not match.
    Mismatch,
    /// A setting of a pool, profile or WRED with which a lossless group or queue drops, or that SONiC cannot apply.
    Buffer,
    /// Less headroom than the cable needs.
    Headroom,
    /// A queue that holds frames of a lossless account can starve.
    Starvation,
    /// A watchdog setting that SONiC rejects, or that monitors no enabled priority.
    Watchdog,
    /// A table or field that neither this crate nor SONiC reads.
    UnknownKey,
    /// A value, or a combination of values, that SONiC refuses.
    RefusedValue,
    /// A value that differs from that of most switches of the role: a hint, which does not make a configuration unsafe.
    Outlier,
}

impl FindingKind {
    /// Returns the name used on the screen and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Deadlock => "deadlock",
            FindingKind::LossyHop => "lossy-hop",
            FindingKind::Neighbours => "neighbours",
            FindingKind::Mismatch => "mismatch",
            FindingKind::Buffer => "buffer",
            FindingKind::Headroom => "headroom",
            FindingKind::Starvation => "starvation",
            FindingKind::Watchdog => "watchdog",
            FindingKind::UnknownKey => "unknown-key",
            FindingKind::RefusedValue => "refused-value",
            FindingKind::Outlier => "outlier",
        }
    }
}

/// An unsafe setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// The file to change.
    pub file: String,
    /// The key to change, as in [`Fault::key`].
    pub key: String,
    /// Why the setting is unsafe.
    pub why: String,
    /// The value to write instead; empty if no known value reduces the number of findings.
    pub instead: String,
}
