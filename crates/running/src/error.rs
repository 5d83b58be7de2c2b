//! Faults of the configuration as input, and findings about its safety.

use serde::Serialize;

/// Input that cannot be judged: a map with a hole, a missing reference, a length without unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, thiserror::Error)]
#[error("{file}: {key}: {message}")]
pub struct Fault {
    /// The file, as it was handed in.
    pub file: String,
    /// Where in it, as SONiC writes keys: `PORT_QOS_MAP|Ethernet0.pfc_enable`.
    pub key: String,
    /// The fault.
    pub message: String,
    /// The value to write instead.
    pub help: String,
}

/// Kinds of findings. The name is the same in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Lossless accounts wait for each other in a cycle.
    Deadlock,
    /// A lossless frame enters an account that drops.
    LossyHop,
    /// The ends of a link disagree.
    Neighbours,
    /// A priority group and a queue do not match.
    Mismatch,
    /// Less headroom than the cable needs.
    Headroom,
    /// A class can keep a lossless account waiting for ever.
    Starvation,
    /// A watchdog setting that SONiC refuses, or that watches nothing.
    Watchdog,
    /// A key that nothing reads.
    UnknownKey,
}

impl FindingKind {
    /// As the screen and JSON show it.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Deadlock => "deadlock",
            FindingKind::LossyHop => "lossy-hop",
            FindingKind::Neighbours => "neighbours",
            FindingKind::Mismatch => "mismatch",
            FindingKind::Headroom => "headroom",
            FindingKind::Starvation => "starvation",
            FindingKind::Watchdog => "watchdog",
            FindingKind::UnknownKey => "unknown-key",
        }
    }
}

/// Something unsafe.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// The file to change.
    pub file: String,
    /// The key to change, as in [`Fault::key`].
    pub key: String,
    /// Why it is unsafe.
    pub why: String,
    /// The value to write instead.
    pub instead: String,
}
