//! Faults of rule files, lists of paths, and names of links.

use fabric::routing::RoutingError;
use fabric::{FabricError, NameFault};

/// Unusable input, with the element or line at fault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The fabric is not a valid network: disconnected, a host without link, a link without delay.
    #[error("the fabric: {0}")]
    Fabric(#[from] FabricError),
    /// Invalid JSON in a rule file.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// Line number, from 1.
        line: usize,
        /// Column number, from 1.
        column: usize,
        /// Message of the parser.
        message: String,
    },
    /// Text with characters that a terminal would interpret.
    #[error("{location}: {fault}")]
    Text {
        /// Path of the element, like `switches[0].name`.
        location: String,
        /// The fault.
        fault: NameFault,
    },
    /// JSON of another format.
    #[error("this is no rule file: `{key}` is {found}, expected {expected}")]
    Format {
        /// The key.
        key: &'static str,
        /// Value found.
        found: String,
        /// Value expected.
        expected: &'static str,
    },
    /// Rules for other switches or cables.
    #[error("the rules are for another fabric: they have {what} {theirs}, this one has {ours}")]
    OtherFabric {
        /// "switches", "hosts", "links" or "hash".
        what: &'static str,
        /// Value in the rule file.
        theirs: String,
        /// Value of the fabric.
        ours: String,
    },
    /// A duplicate lossless tag.
    #[error("`lossless_tags` names tag {tag} twice")]
    TagTwice {
        /// The tag.
        tag: u16,
    },
    /// A tag that is both lossless and lossy.
    #[error("`lossy_tag` {tag} is one of `lossless_tags`")]
    LossyIsLossless {
        /// The tag.
        tag: u16,
    },
    /// No tag or no class.
    #[error("`{key}` is empty: nothing would be lossless")]
    Empty {
        /// The key.
        key: &'static str,
    },
    /// A class whose first tag is lossy or undefined.
    #[error("class `{class}` starts with tag {tag}, which is not one of `lossless_tags`")]
    ClassNotLossless {
        /// Name of the class.
        class: String,
        /// First tag of the class.
        tag: u16,
    },
    /// Two classes of one name.
    #[error("class `{class}` occurs twice")]
    ClassTwice {
        /// Name of the class, as written.
        class: String,
    },
    /// Rules of a switch that is not in the fabric.
    #[error("the fabric has no switch `{switch}`")]
    UnknownSwitch {
        /// Name of the switch, as written.
        switch: String,
    },
    /// Rules of a host that does not forward.
    #[error("`{host}` is a host that does not forward: it takes no rules")]
    HostTakesNoRules {
        /// Name of the host, as written.
        host: String,
    },
    /// Two sets of rules for one switch.
    #[error("switch `{switch}` occurs twice")]
    SwitchTwice {
        /// Name of the switch, as written.
        switch: String,
    },
    /// A fault in one rule.
    #[error("switch `{switch}`, rule {rule}: {fault}")]
    Rule {
        /// Name of the switch.
        switch: String,
        /// Position in the rules of the switch, from 1.
        rule: usize,
        /// The fault.
        fault: RuleFault,
    },
    /// Two rules that give a frame different tags.
    #[error(
        "switch `{switch}`: rules {first} and {second} contradict each other: a frame with tag {tag} from port \
         {ingress} to port {egress} gets tag {first_gives} by the one and {second_gives} by the other"
    )]
    Contradiction {
        /// Name of the switch.
        switch: String,
        /// Position of the first rule, from 1.
        first: usize,
        /// Position of the second rule, from 1.
        second: usize,
        /// Arriving tag.
        tag: u16,
        /// Ingress port.
        ingress: u16,
        /// Egress port.
        egress: u16,
        /// New tag of the first rule.
        first_gives: u16,
        /// New tag of the second rule.
        second_gives: u16,
    },
    /// More queues than the search can number.
    #[error("{ports} ports with {tags} tags are too many queues: the limit is {limit}", limit = u32::MAX)]
    TooLarge {
        /// Ports of all nodes.
        ports: usize,
        /// Lossless tags.
        tags: usize,
    },
    /// A line that is no path of the fabric.
    #[error("line {line}: {fault}")]
    Path {
        /// Line number, from 1.
        line: u64,
        /// The fault.
        fault: PathFault,
    },
    /// An I/O error.
    #[error("line {line}: cannot read on: {source}")]
    Unreadable {
        /// Line number, from 1.
        line: u64,
        /// The error.
        source: std::io::Error,
    },
    /// A link that is not in the fabric.
    #[error("{0}")]
    Link(PathFault),
    /// A routing failure.
    #[error(transparent)]
    Routing(#[from] RoutingError),
}

/// A fault in one rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleFault {
    /// A port that is not on the switch.
    #[error("`{side}` names port {port}, but the switch has {ports}, counted from 0")]
    UnknownPort {
        /// "in" or "out".
        side: &'static str,
        /// Port number, from 0.
        port: u16,
        /// Number of ports of the switch.
        ports: usize,
    },
    /// A duplicate port in a list.
    #[error("`{side}` names port {port} twice")]
    PortTwice {
        /// "in" or "out".
        side: &'static str,
        /// Port number, from 0.
        port: u16,
    },
    /// A list without ports.
    #[error("`{side}` names no port")]
    NoPort {
        /// "in" or "out".
        side: &'static str,
    },
    /// A tag that is neither lossless nor the lossy one.
    #[error("`{key}` {tag} is neither one of `lossless_tags` nor `lossy_tag`")]
    UnknownTag {
        /// "tag" or "new_tag".
        key: &'static str,
        /// The tag.
        tag: u16,
    },
}

/// A fault in one path or link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathFault {
    /// Not text.
    #[error("not UTF-8 text")]
    NotText,
    /// Fewer than two nodes.
    #[error("a path needs at least two nodes, this one has {nodes}")]
    TooShort {
        /// Number of nodes found.
        nodes: usize,
    },
    /// A name that is not in the fabric.
    #[error("the fabric has no node `{name}`")]
    UnknownNode {
        /// Name as written.
        name: String,
    },
    /// A port that the node does not have.
    #[error("`{node}` has no port {port}: it has {ports}, counted from 0")]
    UnknownPort {
        /// The node.
        node: String,
        /// Port, as written.
        port: String,
        /// Number of ports of the node.
        ports: usize,
    },
    /// Two nodes without a link.
    #[error("no link joins `{from}` and `{to}`")]
    NoLink {
        /// First node of the pair, in the order of the path.
        from: String,
        /// Second node of the pair.
        to: String,
    },
    /// A port that leads to another node.
    #[error("port {port} of `{from}` leads to `{leads_to}`, not to `{to}`")]
    PortLeadsElsewhere {
        /// The node.
        from: String,
        /// Port of the node.
        port: u16,
        /// The node at the port.
        leads_to: String,
        /// The node expected.
        to: String,
    },
    /// Two nodes joined by parallel links, without the port that selects one of these.
    #[error(
        "`{from}` and `{to}` are joined by {count} parallel links: write `{from}:{port}` for the one at port {port}"
    )]
    Parallel {
        /// First node of the pair, in the order of the path.
        from: String,
        /// Second node of the pair.
        to: String,
        /// Number of links.
        count: usize,
        /// The lowest port.
        port: u16,
    },
    /// A node visited twice.
    #[error("the path comes to `{node}` twice: an expected path has no loop")]
    Loop {
        /// The node.
        node: String,
    },
    /// A host within a path that does not forward.
    #[error("host `{host}` does not forward: a path can only start or end there")]
    HostDoesNotForward {
        /// The host.
        host: String,
    },
    /// A path from or to a switch without hosts.
    #[error("switch `{switch}` has no host: a path starts and ends at a host, or at a switch with hosts")]
    NoHost {
        /// The switch.
        switch: String,
    },
    /// A port after the last node, which has no meaning.
    #[error("`{node}:{port}` is the last node, and has an egress port")]
    LastPort {
        /// The node.
        node: String,
        /// Port, as written.
        port: String,
    },
    /// Links within a tier, and hosts that can reach each other only with more bounces.
    #[error(
        "no path with {bounces} bounces or fewer leads from `{from}` to `{to}`, where a hop inside a tier, as from \
         `{a}` to `{b}`, both on tier {tier}, counts as one: state tiers, allow more bounces, or use trees or shortest"
    )]
    NoTiers {
        /// One node of a link inside a tier.
        a: String,
        /// The other node of the link.
        b: String,
        /// Tier of both nodes.
        tier: u8,
        /// The sending host.
        from: String,
        /// The receiving host.
        to: String,
        /// Maximum number of bounces.
        bounces: u8,
    },
    /// Up-down paths in a fabric whose hosts forward.
    #[error(
        "up-down paths begin and end at hosts that do not forward, and `{host}` does: use trees or shortest, or list \
         the paths"
    )]
    Relays {
        /// A host that forwards.
        host: String,
    },
    /// A line too long for any path.
    #[error("longer than {limit} bytes")]
    TooLong {
        /// Maximum length of a line in bytes.
        limit: u64,
    },
    /// Not a pair of nodes.
    #[error("`{text}` is no link: write `A-B` with the names of its ends, or `A:port-B` for one of several")]
    NotALink {
        /// Text, as written.
        text: String,
    },
}
