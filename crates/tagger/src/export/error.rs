//! Errors of an export before rules are processed.

use crate::rules::MAX_LOSSLESS_PRIORITIES;

/// Input for which no configuration exists.
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
        /// Name of the interface, as written.
        interface: String,
        /// The lower port.
        first: usize,
        /// The higher port.
        second: usize,
    },
    /// Name that is invalid in the configuration and could act as a command.
    #[error("`{name}` is no name there: {grammar}")]
    InterfaceName {
        /// Escaped name.
        name: String,
        /// Grammar of the target.
        grammar: &'static str,
    },
    /// Port whose name, from the fabric's file or a pattern, is invalid in the target.
    #[error("port {port} of `{switch}`, to {peer}: {why}")]
    Port {
        /// The switch.
        switch: String,
        /// The port.
        port: fabric::PortIndex,
        /// Node at the other end of the port's link.
        peer: String,
        /// Error of the name.
        why: Box<ExportError>,
    },
    /// Port without a name.
    #[error(
        "port {port} of `{switch}` has no name in the fabric's file, and rules on the wrong port are worse than none"
    )]
    Unnamed {
        /// The switch.
        switch: String,
        /// The port.
        port: fabric::PortIndex,
    },
    /// Port name of another system, which the target would take for another port.
    #[error(
        "port `{port}` of `{switch}` has the name of SONiC, which numbers lanes from 0: EOS numbers ports from 1, as \
         in Ethernet1/1"
    )]
    OtherSystem {
        /// The switch.
        switch: String,
        /// Port name in the fabric's file.
        port: String,
    },
    /// Pattern of digits for a name without suitable digits.
    #[error("port `{port}` of `{switch}`: its name does not end in a number that {pattern} could take{why}")]
    NoDigits {
        /// "" or a text such as ", for 4 / 8 has a remainder".
        why: String,
        /// The switch.
        switch: String,
        /// Port name in the fabric's file.
        port: String,
        /// The pattern.
        pattern: String,
    },
    /// Switch name that no configuration can contain.
    #[error("a node is called `{name}`, which no configuration can carry: {fault}")]
    SwitchName {
        /// Escaped name.
        name: String,
        /// Fault of the name.
        fault: fabric::NameFault,
    },
    /// Invalid pattern for interface names.
    #[error(
        "`{pattern}` is no pattern of interface names: write {{port}} in it once, as in Ethernet{{port*4}} or \
         swp{{port+1}}, or {{digits}}, as in Ethernet{{digits*4-4}}"
    )]
    InterfacePattern {
        /// The pattern.
        pattern: String,
    },
    /// Invalid line of a file of interface names.
    #[error("line {line}: {what}")]
    InterfaceLine {
        /// Counted from 1.
        line: usize,
        /// Error of the line.
        what: String,
    },
    /// Number out of range in a QoS marking (DSCP, priority, queue).
    #[error("{what} {value} is out of range: 0 to {most}")]
    OutOfRange {
        /// "DSCP", "priority" ...
        what: &'static str,
        /// Number, as requested.
        value: u32,
        /// Maximum.
        most: u32,
    },
    /// Two kinds of traffic with the same DSCP or priority.
    #[error("{what} {value} stands for {first} and for {second}: each needs its own")]
    Ambiguous {
        /// "DSCP" or "priority".
        what: &'static str,
        /// The DSCP or priority.
        value: u8,
        /// First kind.
        first: String,
        /// Second kind.
        second: String,
    },
    /// Lossless tag of the rules without a DSCP and a priority.
    #[error("tag {tag} has no DSCP and priority, although the rules use it")]
    NoMark {
        /// The tag.
        tag: crate::rules::Tag,
    },
    /// DSCP and priority given for a tag that the rules do not use.
    #[error("tag {tag} is marked, but the rules have no lossless tag {tag}")]
    UnknownTag {
        /// The tag.
        tag: crate::rules::Tag,
    },
    /// More lossless tags than priorities besides the lossy one.
    #[error(
        "{tags} lossless tags need a priority each, and PFC has 8, one of which must stay lossy: at most \
         {MAX_LOSSLESS_PRIORITIES} tags fit"
    )]
    TooManyTags {
        /// Number of lossless tags.
        tags: usize,
    },
    /// So many lossless tags that no priority remains for control traffic, so the usual markings do not apply.
    #[error(
        "{tags} lossless tags leave no priority to control traffic, as the usual marks do: they are for at most {most}"
    )]
    NoneForControl {
        /// Number of lossless tags.
        tags: usize,
        /// Maximum for the usual markings.
        most: usize,
    },
}
