//! What makes an export impossible before a single rule is looked at.

use crate::rules::MAX_LOSSLESS_PRIORITIES;

/// Input that no configuration can be made of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A rule names a port that the switch does not have.
    #[error("switch `{switch}`: a rule names port {port}, but its ports are 0 to {last}")]
    UnknownPort {
        /// The switch.
        switch: String,
        /// The port of the rule.
        port: u32,
        /// The highest port.
        last: u32,
    },
    /// Two ports of a switch have one interface name.
    #[error("switch `{switch}`: ports {first} and {second} are both called `{interface}`")]
    InterfaceTwice {
        /// The switch.
        switch: String,
        /// The name.
        interface: String,
        /// The lower port.
        first: usize,
        /// The higher port.
        second: usize,
    },
    /// A name that would break out of the configuration that it stands in.
    #[error("`{name}` is no name there: {grammar}")]
    InterfaceName {
        /// The name, made visible.
        name: String,
        /// What the target takes.
        grammar: &'static str,
    },
    /// A port whose name in the fabric's file, or by a pattern, does not suit the target.
    #[error("port {port} of `{switch}`, to {peer}: {why}")]
    Port {
        /// The switch.
        switch: String,
        /// The port.
        port: fabric::PortIndex,
        /// What it leads to.
        peer: String,
        /// What is wrong with the name.
        why: Box<ExportError>,
    },
    /// A port that nothing names.
    #[error(
        "port {port} of `{switch}` has no name in the fabric's file, and rules on the wrong port are worse than none"
    )]
    Unnamed {
        /// The switch.
        switch: String,
        /// The port.
        port: fabric::PortIndex,
    },
    /// A pattern of digits for a name without any that do.
    #[error("port `{port}` of `{switch}`: its name does not end in a number that {pattern} could take")]
    NoDigits {
        /// The switch.
        switch: String,
        /// What the fabric's file calls the port.
        port: String,
        /// The pattern.
        pattern: String,
    },
    /// A switch that cannot stand in a configuration.
    #[error("a node is called `{name}`, which no configuration can carry: {fault}")]
    SwitchName {
        /// The name, made visible.
        name: String,
        /// What is wrong with it.
        fault: fabric::NameFault,
    },
    /// A pattern for interface names that is none.
    #[error(
        "`{pattern}` is no pattern of interface names: write {{port}} in it once, as in Ethernet{{port*4}} or \
         swp{{port+1}}, or {{digits}}, as in Ethernet{{digits*4-4}}"
    )]
    InterfacePattern {
        /// The pattern.
        pattern: String,
    },
    /// A line of a file of interface names that is none.
    #[error("line {line}: {what}")]
    InterfaceLine {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A number that does not go, in what tags look like on the wire.
    #[error("{what} {value} is out of range: 0 to {most}")]
    OutOfRange {
        /// "DSCP", "priority" ...
        what: &'static str,
        /// It.
        value: u32,
        /// The highest.
        most: u32,
    },
    /// Two kinds of traffic would look the same.
    #[error("{what} {value} stands for {first} and for {second}: each needs its own")]
    Ambiguous {
        /// "DSCP" or "priority".
        what: &'static str,
        /// It.
        value: u8,
        /// One.
        first: String,
        /// The other.
        second: String,
    },
    /// A lossless tag of the rules without a DSCP and a priority.
    #[error("tag {tag} has no DSCP and priority, although the rules use it")]
    NoMark {
        /// The tag.
        tag: crate::rules::Tag,
    },
    /// A mark for a tag that the rules do not know.
    #[error("tag {tag} is marked, but the rules have no lossless tag {tag}")]
    UnknownTag {
        /// The tag.
        tag: crate::rules::Tag,
    },
    /// More lossless tags than there are priorities beside the lossy one.
    #[error(
        "{tags} lossless tags need a priority each, and PFC has 8, one of which must stay lossy: at most \
         {MAX_LOSSLESS_PRIORITIES} tags fit"
    )]
    TooManyTags {
        /// How many.
        tags: usize,
    },
    /// As many lossless tags as there are priorities: control traffic has none left, so nobody has the usual marks.
    #[error(
        "{tags} lossless tags leave no priority to control traffic, as the usual marks do: they are for at most {most}"
    )]
    NoneForControl {
        /// How many.
        tags: usize,
        /// The most that the usual marks are for.
        most: usize,
    },
}
