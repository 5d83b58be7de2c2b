//! Decisions of a reader about properties that a file does not state.

use serde::Serialize;

/// The subject of a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// Nodes or links that the reader skips.
    LeftOut,
    /// Classification of nodes as hosts or switches.
    Roles,
    /// Server ports with a Y cable to two switches (dual ToR). The two switches have tunnels to each other.
    SharedPorts,
    /// Hosts attached to a fabric without hosts.
    AttachedHosts,
    /// Tiers of switches.
    Tiers,
    /// Hosts connected to switches above the first tier.
    HighHosts,
    /// Rates or delays that the file does not state and that are assumed.
    AssumedLinks,
    /// Keys of the file that do not concern nodes and links, or are unknown.
    Unread,
    /// Attributes of a cable for which its two ends state different values.
    CableEnds,
}

/// One decision of a reader, with the nodes or links concerned.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Decision {
    /// The subject.
    pub subject: Subject,
    /// Text of the decision on one line, including the number of elements.
    pub text: String,
    /// Names of all nodes or cables concerned, in the order of the file.
    pub names: Vec<String>,
}

/// Maximum number of names in the line of a decision.
const NAMED: usize = 4;

impl Decision {
    /// Returns one line: the text of the decision and the first names.
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
