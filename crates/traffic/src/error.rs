//! Errors of plans and generator parameters.

use thiserror::Error;

/// Error of a [`Plan`](crate::Plan). Flows are identified by their index in the plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A flow has a host index that the fabric does not have.
    #[error("flow {flow} names host {host}, but there are {hosts} hosts: use 0 to {}", hosts.saturating_sub(1))]
    HostOutOfRange {
        /// Index of the flow.
        flow: u32,
        /// The invalid host index.
        host: u32,
        /// Number of hosts.
        hosts: u32,
    },
    /// A flow has the same source and destination.
    #[error("flow {flow} goes from host {host} to itself: source and destination must differ")]
    ToItself {
        /// Index of the flow.
        flow: u32,
        /// The host that is both source and destination.
        host: u32,
    },
    /// A flow has no bytes, so that it would never complete.
    #[error("flow {flow} has no bytes: a size is at least 1")]
    ZeroSize {
        /// Index of the flow.
        flow: u32,
    },
    /// A datagram source has invalid parameters, such as a frame length of zero.
    #[error("flow {flow}: {why}")]
    BadSource {
        /// Index of the flow.
        flow: u32,
        /// Description of the error, and a valid value.
        why: &'static str,
    },
    /// A notification targets a flow that is not in the plan.
    #[error("flow {flow} notifies flow {target}, but there are {flows} flows")]
    UnknownTarget {
        /// Index of the notifying flow.
        flow: u32,
        /// The target, which does not exist.
        target: u32,
        /// Number of flows.
        flows: u32,
    },
    /// A notification targets a flow that starts at a fixed time.
    #[error("flow {flow} notifies flow {target}, which starts at a fixed time without a notification")]
    NotWaiting {
        /// Index of the notifying flow.
        flow: u32,
        /// The target, which has a fixed start time.
        target: u32,
    },
    /// A join at one host would start a flow of another host.
    #[error("a join at host {host} would start flow {target} of another host")]
    ElsewhereJoined {
        /// The host of the join.
        host: u32,
        /// The flow of another host.
        target: u32,
    },
    /// A flow waits for no notification, or for more notifications than it gets.
    #[error("flow {flow} waits for {waits_for} notifications, but {sent} flows notify it")]
    WrongCount {
        /// Index of the flow.
        flow: u32,
        /// Number of notifications that the flow waits for.
        waits_for: u32,
        /// Number of notifications that the flow gets.
        sent: u32,
    },
    /// A flow waits for the completion of a flow that has no end.
    #[error("flow {flow} waits for flow {endless}, which never ends")]
    WaitsForEndless {
        /// Index of the waiting flow.
        flow: u32,
        /// The flow that has no end.
        endless: u32,
    },
    /// Dependency cycle: each flow waits for the next one, and the last flow for the first.
    #[error("{}", say_cycle(cycle))]
    Cycle {
        /// The flows of the cycle, in this order.
        cycle: Vec<u32>,
    },
    /// An arrival process has invalid parameters, such as a host index that the fabric does not have.
    #[error("arrivals at host {src}: {why}")]
    BadArrivals {
        /// The sending host.
        src: u32,
        /// Description of the error, and a valid value.
        why: String,
    },
}

fn say_cycle(cycle: &[u32]) -> String {
    let Some(first) = cycle.first() else { return "flows wait for each other".into() };
    if cycle.len() == 1 {
        return format!("flow {first} waits for itself and can never start");
    }
    // Only the first flows of a long cycle are listed.
    const SHOWN: usize = 8;
    let mut text = format!("flow {first} waits for");
    for flow in cycle.iter().skip(1).take(SHOWN) {
        text += &format!(" flow {flow}, which waits for");
    }
    if cycle.len() > SHOWN + 1 {
        text += &format!(" ({} more), ending at", cycle.len() - 1 - SHOWN);
    }
    text + &format!(" flow {first}: none of them can ever start")
}

/// Error in the parameters of a traffic generator.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TrafficError {
    /// There are fewer hosts than the pattern needs.
    #[error("{what} needs at least {needed} host{}, but there {} \
        {hosts}", if *.needed == 1 { "" } else { "s" }, if *.hosts == 1 { "is" } else { "are" })]
    TooFewHosts {
        /// Name of the pattern.
        what: &'static str,
        /// Number of hosts that the pattern needs.
        needed: u64,
        /// Number of hosts.
        hosts: u64,
    },
    /// A host occurs twice in a list.
    #[error("{what}: host {host} appears twice")]
    HostTwice {
        /// Name of the pattern.
        what: &'static str,
        /// Index of the host that occurs twice.
        host: u32,
    },
    /// A parameter is out of range.
    #[error("{key}: {why}")]
    BadParameter {
        /// Key of the parameter in a scenario.
        key: &'static str,
        /// Description of the invalid value, and the valid range.
        why: String,
    },
    /// The plan would have more flows or notifications than its limit.
    #[error("{what} makes {count} {kind}, more than the {limit} a plan holds: use arrivals, or fewer hosts")]
    TooMany {
        /// Name of the pattern.
        what: &'static str,
        /// Number of flows or notifications that the plan would have.
        count: u128,
        /// "flows" or "notifications".
        kind: &'static str,
        /// Maximum number of flows or notifications.
        limit: u64,
    },
}

impl TrafficError {
    pub(crate) fn parameter(key: &'static str, why: impl Into<String>) -> Self {
        TrafficError::BadParameter { key, why: why.into() }
    }
}
