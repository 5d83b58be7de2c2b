//! How a mechanism describes itself: one table from which scenarios take their defaults, `--explain` and
//! `mechanisms` their text, and a test the list of documentation pages that must exist.

/// What a mechanism decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// When a switch stops its neighbour.
    FlowControl,
    /// What ends pauses that last too long.
    Watchdog,
    /// What becomes of a frame that finds no room.
    Overload,
    /// How a switch marks frames.
    Marking,
    /// Where frames wait.
    Buffer,
    /// Which queue a port serves next.
    Scheduler,
    /// How a frame's class changes on its way.
    Tags,
    /// How a host sends.
    Transport,
    /// What a sender does about frames of its own that come back.
    OnBounce,
}

impl Family {
    /// The scenario key that chooses within this family, such as `switch.flow_control`.
    pub const fn key(self) -> &'static str {
        match self {
            Family::FlowControl => "switch.flow_control",
            Family::Watchdog => "switch.watchdog",
            Family::Overload => "switch.overload",
            Family::Marking => "switch.marking",
            Family::Buffer => "switch.buffer",
            Family::Scheduler => "switch.scheduler",
            Family::Tags => "switch.tags",
            Family::Transport => "host.transport",
            Family::OnBounce => "host.on_bounce",
        }
    }
}

/// One parameter of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its key in a scenario.
    pub key: &'static str,
    /// Its default as a scenario would write it (`"55us"`, `"0.00390625"`, `"true"`), or `""` where it is
    /// required.
    pub default: &'static str,
    /// What it is for, with its range, in a sentence.
    pub meaning: &'static str,
    /// Where meaning and default come from.
    pub source: &'static str,
}

/// A mechanism as users meet it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanism {
    /// The name in a scenario: `kind = "..."`, and of its documentation page.
    pub kind: &'static str,
    /// What it decides.
    pub family: Family,
    /// A few words.
    pub title: &'static str,
    /// The paper or standard.
    pub source: &'static str,
    /// Every parameter, in the order of the documentation.
    pub parameters: &'static [Parameter],
}
