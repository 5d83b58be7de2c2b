//! Faults of the input, and findings about the safety of a configuration.

use serde::Serialize;

/// Input that cannot be judged: an incomplete map, a missing reference, a length without unit. The file name is that of
/// [`crate::read`]; [`origin`] returns the input of faults that belong to no single file.
pub use fabric::files::ConfigFault as Fault;

/// [`Fault::file`] of faults that belong to no single file.
pub(crate) const TOPOLOGY: &str = "(topology)";
pub(crate) const ALL_FILES: &str = "(all files)";
/// [`Fault::file`] of a fault of an option, whose key is the option.
pub(crate) const OPTIONS: &str = "(options)";

/// Input that a fault belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultOrigin {
    /// The file of a switch.
    File,
    /// The topology, or all files together.
    Folder,
    /// An option of the check; [`Fault::key`] is the option.
    Option,
}

/// Returns the input that a fault belongs to.
pub fn origin(fault: &Fault) -> FaultOrigin {
    match fault.file.as_str() {
        TOPOLOGY | ALL_FILES => FaultOrigin::Folder,
        OPTIONS => FaultOrigin::Option,
        _ => FaultOrigin::File,
    }
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
    /// Number of further findings of this kind at the key, which `why` states at its end.
    #[serde(skip)]
    more: u64,
    /// For an unknown key: the table or field that it nearly is.
    #[serde(skip)]
    meant: Option<String>,
}

impl Finding {
    /// Returns a finding.
    pub fn new(kind: FindingKind, file: String, key: String, why: String, instead: String) -> Finding {
        Finding { kind, file, key, why, instead, more: 0, meant: None }
    }

    /// Returns the finding about an unknown key that is nearly `meant`.
    pub(crate) fn nearly(self, meant: Option<String>) -> Finding {
        Finding { meant, ..self }
    }

    pub(crate) fn meant(&self) -> Option<&str> {
        self.meant.as_deref()
    }

    /// Adds the number of further findings of this kind at the key.
    pub(crate) fn with_more(mut self, more: u64) -> Finding {
        self.why += &more_text(more);
        Finding { more, ..self }
    }

    /// Returns the reason of this finding, without the number of further findings at its key.
    pub fn reason(&self) -> &str {
        self.why.strip_suffix(&more_text(self.more)).unwrap_or(&self.why)
    }
}

fn more_text(more: u64) -> String {
    if more == 0 { String::new() } else { format!(" (and {more} more)") }
}
