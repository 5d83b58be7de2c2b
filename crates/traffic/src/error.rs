//! Errors of plans and generator parameters.

use thiserror::Error;

/// Error of a [`Plan`](crate::Plan). Flows are named by their index in the plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A host index that the fabric does not have.
    #[error("flow {flow} names host {host}, but there are {hosts} hosts: use 0 to {}", hosts.saturating_sub(1))]
    HostOutOfRange {
        /// The flow.
        flow: u32,
        /// The missing host.
        host: u32,
        /// Number of hosts.
        hosts: u32,
    },
    /// A flow from a host to itself crosses no link.
    #[error("flow {flow} goes from host {host} to itself: source and destination must differ")]
    ToItself {
        /// The flow.
        flow: u32,
        /// The host that is both source and destination.
        host: u32,
    },
    /// A flow without a byte never completes.
    #[error("flow {flow} has no bytes: a size is at least 1")]
    ZeroSize {
        /// The flow.
        flow: u32,
    },
    /// A datagram source that cannot send: no frame length, no mean duration, or no frame in a burst.
    #[error("flow {flow}: {why}")]
    BadSource {
        /// The flow.
        flow: u32,
        /// The error and a correct value.
        why: &'static str,
    },
    /// A notification to a flow that is not in the plan.
    #[error("flow {flow} notifies flow {target}, but there are {flows} flows")]
    UnknownTarget {
        /// The notifying flow.
        flow: u32,
        /// The missing flow.
        target: u32,
        /// Number of flows.
        flows: u32,
    },
    /// A notification to a flow that starts at a fixed time.
    #[error("flow {flow} notifies flow {target}, which starts at a fixed time without a notification")]
    NotWaiting {
        /// The notifying flow.
        flow: u32,
        /// The flow with the fixed start.
        target: u32,
    },
    /// A join at one host cannot start a flow of another host.
    #[error("a join at host {host} would start flow {target} of another host")]
    ElsewhereJoined {
        /// The host of the join.
        host: u32,
        /// The flow of another host.
        target: u32,
    },
    /// A flow that waits for no notification, or for more than are sent to it.
    #[error("flow {flow} waits for {waits_for} notifications, but {sent} flows notify it")]
    WrongCount {
        /// The flow.
        flow: u32,
        /// Notifications that it waits for.
        waits_for: u32,
        /// Notifications that are sent.
        sent: u32,
    },
    /// A flow that waits for the end of one that has no end.
    #[error("flow {flow} waits for flow {endless}, which never ends")]
    WaitsForEndless {
        /// The waiting flow.
        flow: u32,
        /// The flow without end.
        endless: u32,
    },
    /// A dependency cycle: each flow waits for the next, the last for the first.
    #[error("{}", say_cycle(cycle))]
    Cycle {
        /// The flows of the cycle, each once.
        cycle: Vec<u32>,
    },
    /// An arrival process with invalid parameters, such as a host that the fabric does not have.
    #[error("arrivals at host {src}: {why}")]
    BadArrivals {
        /// The sending host.
        src: u32,
        /// The error and a correct value.
        why: String,
    },
}

fn say_cycle(cycle: &[u32]) -> String {
    let Some(first) = cycle.first() else { return "flows wait for each other".into() };
    if cycle.len() == 1 {
        return format!("flow {first} waits for itself and can never start");
    }
    // A longer cycle is no more readable in full.
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

/// Error of a generator's parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TrafficError {
    /// Fewer hosts than the pattern needs.
    #[error("{what} needs at least {needed} host{}, but there {} \
        {hosts}", if *.needed == 1 { "" } else { "s" }, if *.hosts == 1 { "is" } else { "are" })]
    TooFewHosts {
        /// The pattern.
        what: &'static str,
        /// Number of hosts that it needs.
        needed: u64,
        /// Number of hosts.
        hosts: u64,
    },
    /// A duplicate host.
    #[error("{what}: host {host} appears twice")]
    HostTwice {
        /// The pattern.
        what: &'static str,
        /// The host.
        host: u32,
    },
    /// A parameter out of range.
    #[error("{key}: {why}")]
    BadParameter {
        /// The parameter, as in a scenario.
        key: &'static str,
        /// Description of the invalid value, and the valid range.
        why: String,
    },
    /// More flows or notifications than a plan holds.
    #[error("{what} makes {count} {kind}, more than the {limit} a plan holds: use arrivals, or fewer hosts")]
    TooMany {
        /// The pattern.
        what: &'static str,
        /// Number that it would make.
        count: u128,
        /// Flows or notifications.
        kind: &'static str,
        /// The limit.
        limit: u64,
    },
}

impl TrafficError {
    pub(crate) fn parameter(key: &'static str, why: impl Into<String>) -> Self {
        TrafficError::BadParameter { key, why: why.into() }
    }
}
