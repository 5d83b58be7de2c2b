//! What is wrong with a rule file, a list of paths or the name of a link.

use fabric::routing::RoutingError;
use fabric::{FabricError, NameFault};

/// Input from which nothing can be proved or refuted. Each names the element, or the line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The fabric is no network: disconnected, a host without link, a link without delay.
    #[error("the fabric: {0}")]
    Fabric(#[from] FabricError),
    /// A rule file that is not valid.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What the parser expected.
        message: String,
    },
    /// A text that would act on a screen.
    #[error("{place}: {fault}")]
    Text {
        /// Which element.
        place: String,
        /// What is wrong with it.
        fault: NameFault,
    },
    /// JSON, but not this format.
    #[error("this is no rule file: `{key}` is {found}, expected {expected}")]
    Format {
        /// The key.
        key: &'static str,
        /// Its value.
        found: String,
        /// What it must be.
        expected: &'static str,
    },
    /// Rules for other switches or cables.
    #[error("the rules are for another fabric: they say {what} {theirs}, this one has {ours}")]
    OtherFabric {
        /// "switches", "hosts", "links" or "hash".
        what: &'static str,
        /// In the rule file.
        theirs: String,
        /// Of the fabric.
        ours: String,
    },
    /// A tag that stands twice among the lossless ones.
    #[error("`lossless_tags` names tag {tag} twice")]
    TagTwice {
        /// The tag.
        tag: u16,
    },
    /// A tag that is lossless and lossy.
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
    /// A class that starts with a lossy or unknown tag.
    #[error("class `{class}` starts with tag {tag}, which is not one of `lossless_tags`")]
    ClassNotLossless {
        /// Its name.
        class: String,
        /// Its first tag.
        tag: u16,
    },
    /// Two classes of one name.
    #[error("class `{class}` stands twice")]
    ClassTwice {
        /// The name.
        class: String,
    },
    /// Rules of a switch that the fabric does not have.
    #[error("the fabric has no switch `{switch}`")]
    UnknownSwitch {
        /// The name.
        switch: String,
    },
    /// Rules of a host that forwards for nobody.
    #[error("`{host}` is a host that does not forward: it takes no rules")]
    HostTakesNoRules {
        /// The name.
        host: String,
    },
    /// Two sets of rules for one switch.
    #[error("switch `{switch}` stands twice")]
    SwitchTwice {
        /// The name.
        switch: String,
    },
    /// What one rule says by itself is wrong.
    #[error("switch `{switch}`, rule {rule}: {fault}")]
    Rule {
        /// Name of the switch.
        switch: String,
        /// Position among its rules, from 1.
        rule: usize,
        /// What is wrong.
        fault: RuleFault,
    },
    /// Two rules that give the same frame different tags.
    #[error(
        "switch `{switch}`: rules {first} and {second} contradict each other: a frame with tag {tag} from port \
         {ingress} to port {egress} gets tag {first_gives} by the one and {second_gives} by the other"
    )]
    Contradiction {
        /// Name of the switch.
        switch: String,
        /// Position of the one, from 1.
        first: usize,
        /// Position of the other.
        second: usize,
        /// Arriving tag.
        tag: u16,
        /// Ingress port.
        ingress: u16,
        /// Egress port.
        egress: u16,
        /// New tag by the one.
        first_gives: u16,
        /// New tag by the other.
        second_gives: u16,
    },
    /// A fabric and tags beyond what can be searched.
    #[error("{ports} ports with {tags} tags are too many queues: the limit is {limit}", limit = u32::MAX)]
    TooLarge {
        /// Ports of all nodes.
        ports: usize,
        /// Lossless tags.
        tags: usize,
    },
    /// A line of a list of paths that is no path.
    #[error("line {line}: {fault}")]
    Path {
        /// From 1.
        line: u64,
        /// What is wrong.
        fault: PathFault,
    },
    /// A file that could not be read to its end.
    #[error("line {line}: cannot read on: {source}")]
    Unreadable {
        /// From 1.
        line: u64,
        /// Why.
        source: std::io::Error,
    },
    /// A link that the fabric does not have.
    #[error("{0}")]
    Link(PathFault),
    /// No routes.
    #[error(transparent)]
    Routing(#[from] RoutingError),
}

/// What is wrong with one rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleFault {
    /// A port that the switch does not have.
    #[error("`{side}` names port {port}, but the switch has {ports}, counted from 0")]
    UnknownPort {
        /// "in" or "out".
        side: &'static str,
        /// The number.
        port: u16,
        /// How many there are.
        ports: usize,
    },
    /// A port that stands twice in one list.
    #[error("`{side}` names port {port} twice")]
    PortTwice {
        /// "in" or "out".
        side: &'static str,
        /// The number.
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

/// What is wrong with one path or link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathFault {
    /// Not text.
    #[error("not UTF-8 text")]
    NotText,
    /// Fewer than two nodes.
    #[error("a path needs at least two nodes, this one has {nodes}")]
    TooShort {
        /// How many it has.
        nodes: usize,
    },
    /// A name that the fabric does not have.
    #[error("the fabric has no node `{name}`")]
    UnknownNode {
        /// As written.
        name: String,
    },
    /// A port that the node does not have.
    #[error("`{node}` has no port {port}: it has {ports}, counted from 0")]
    UnknownPort {
        /// The node.
        node: String,
        /// As written.
        port: String,
        /// How many it has.
        ports: usize,
    },
    /// Two nodes without a link.
    #[error("no link joins `{from}` and `{to}`")]
    NoLink {
        /// One node.
        from: String,
        /// The next.
        to: String,
    },
    /// A port that leads elsewhere.
    #[error("port {port} of `{from}` leads to `{leads_to}`, not to `{to}`")]
    PortLeadsElsewhere {
        /// The node.
        from: String,
        /// Its port.
        port: u16,
        /// What is there.
        leads_to: String,
        /// What should be.
        to: String,
    },
    /// Two nodes with several links, and nothing that says which.
    #[error(
        "`{from}` and `{to}` are joined by {count} parallel links: write `{from}:{port}` for the one at port {port}"
    )]
    Parallel {
        /// One node.
        from: String,
        /// The next.
        to: String,
        /// How many links.
        count: usize,
        /// The lowest port.
        port: u16,
    },
    /// A node that is visited twice.
    #[error("the path comes to `{node}` twice: an expected path has no loop")]
    Loop {
        /// The node.
        node: String,
    },
    /// A host in the middle.
    #[error("host `{host}` does not forward: a path can only start or end there")]
    HostDoesNotForward {
        /// The host.
        host: String,
    },
    /// A path between switches whose first or last has no hosts.
    #[error("switch `{switch}` has no host: a path starts and ends at a host, or at a switch with hosts")]
    NoHost {
        /// The switch.
        switch: String,
    },
    /// A last port that says nothing.
    #[error("`{node}:{port}` stands last, where no port is left by")]
    LastPort {
        /// The node.
        node: String,
        /// As written.
        port: String,
    },
    /// Links inside a tier, and hosts that only more bounces would bring together.
    #[error(
        "no path with {bounces} bounces or fewer leads from `{from}` to `{to}`, where a hop inside a tier, as from \
         `{a}` to `{b}`, both on tier {tier}, counts as one: state tiers, allow more bounces, or use trees or shortest"
    )]
    NoTiers {
        /// One node of a link inside a tier.
        a: String,
        /// The other.
        b: String,
        /// Their tier.
        tier: u8,
        /// A sender.
        from: String,
        /// The receiver that it cannot reach.
        to: String,
        /// How many bounces a path may have.
        bounces: u8,
    },
    /// Paths up and down tiers through hosts.
    #[error(
        "up-down paths begin and end at hosts that do not forward, and `{host}` does: use trees or shortest, or list \
         the paths"
    )]
    Relays {
        /// A host that forwards.
        host: String,
    },
    /// A line that no list of paths has.
    #[error("longer than {limit} bytes")]
    TooLong {
        /// The most that a line may have.
        limit: u64,
    },
    /// Not two ends.
    #[error("`{text}` is no link: write `A-B` with the names of its ends, or `A:port-B` for one of several")]
    NotALink {
        /// As written.
        text: String,
    },
}
