//! Decisions of a reader about properties that a file does not state.

use serde::Serialize;

/// The subject of a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// Nodes or links that are skipped.
    LeftOut,
    /// Nodes that are hosts or switches.
    Roles,
    /// Server ports that two switches reach, by a Y cable (dual ToR). The switches have tunnels to each other.
    SharedPorts,
    /// Hosts attached to a fabric without hosts.
    AttachedHosts,
    /// Tiers of switches.
    Tiers,
    /// Hosts on switches above the first tier.
    HighHosts,
    /// Rates or delays that the file does not state.
    AssumedLinks,
    /// Keys of the file that do not concern nodes and links, or are unknown.
    Unread,
    /// Attributes of a cable that its two ends state differently.
    CableEnds,
}

/// One decision, with the elements concerned.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Decision {
    /// The subject.
    pub subject: Subject,
    /// One line with a count.
    pub text: String,
    /// Names of all nodes or cables concerned, in the order of the file.
    pub names: Vec<String>,
}

/// Number of names that the line of a decision prints.
const NAMED: usize = 4;

impl Decision {
    /// Returns one line: the decision and the first names.
    pub fn line(&self) -> String {
        if self.names.is_empty() {
            return self.text.clone();
        }
        let named = self.names.len().min(NAMED);
        let more = match self.names.len() - named {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}: {}{more}", self.text, self.names[..named].join(", "))
    }
}
