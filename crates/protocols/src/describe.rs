//! How a mechanism describes itself: one table from which scenarios take their keys' defaults, meanings and
//! sources, `--explain`, `mechanisms` and the documentation their text, and a test the list of pages that must exist.

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
    /// How much of a port a class may take.
    Shaping,
    /// When a port may send which class.
    Gates,
    /// In which cycle a port sends what came in which.
    Cyclic,
    /// Which frames a port interrupts for which.
    Preemption,
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
            Family::Shaping => "shaping",
            Family::Gates => "gates",
            Family::Cyclic => "cyclic",
            Family::Preemption => "switch.preemption",
            Family::Tags => "switch.tags",
            Family::Transport => "host.transport",
            Family::OnBounce => "host.on_bounce",
        }
    }

    /// The table of a scenario in which its parameters stand.
    pub const fn table(self) -> &'static str {
        match self {
            Family::Buffer => "switch",
            _ => self.key(),
        }
    }
}

/// What stands for a parameter that is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// Nothing: it must be written.
    Required,
    /// This value, as a scenario would write it (texts without their quotes): `55us`, `0.00390625`, `true`.
    Value(&'static str),
    /// No value; the text says what happens then.
    Absent(&'static str),
}

impl Default {
    /// For a table that people read.
    pub const fn words(self) -> &'static str {
        match self {
            Default::Required => "required",
            Default::Value(words) | Default::Absent(words) => words,
        }
    }
}

/// One parameter of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its key in a scenario.
    pub key: &'static str,
    /// What it is when it is not written.
    pub default: Default,
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

impl Mechanism {
    /// What it says of its parameter `key`, if it has one of this name.
    pub const fn parameter(&self, key: &str) -> Option<&'static Parameter> {
        let parameters = self.parameters;
        let mut at = 0;
        while at < parameters.len() {
            if same(parameters[at].key, key) {
                return Some(&parameters[at]);
            }
            at += 1;
        }
        None
    }
}

/// `==` of texts, where constants are made.
const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_found_by_its_whole_name() {
        const ONE: Parameter = Parameter { key: "limit", default: Default::Required, meaning: "", source: "" };
        const MECHANISM: Mechanism = Mechanism {
            kind: "",
            family: Family::Overload,
            title: "",
            source: "",
            parameters: &[ONE, Parameter { key: "limit_us", ..ONE }, Parameter { key: "limit_ns", ..ONE }],
        };
        for parameter in MECHANISM.parameters {
            assert_eq!(MECHANISM.parameter(parameter.key), Some(parameter));
        }
        for none in ["", "limi", "limit_", "limit_ms", "Limit"] {
            assert_eq!(MECHANISM.parameter(none), None, "{none}");
        }
    }
}
