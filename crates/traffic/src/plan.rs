//! Plan of the traffic: flows, notifications between them, and arrivals drawn during the run.

use crate::arrivals::Arrivals;
use crate::error::{PlanError, TrafficError};
use crate::operation::{Algorithm, Operation};
use crate::process::DatagramSource;
use units::Time;

/// All traffic of a run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Flows. The index of a flow identifies it in notifications and results.
    pub flows: Vec<Flow>,
    /// Notifications, for flows that wait for events of other flows.
    pub notifications: Notifications,
    /// Sources of flows that are drawn during the run, at most one per host and traffic entry, ordered by traffic
    /// entry and by the index of the host in the entry's list.
    pub arrivals: Vec<Arrivals>,
    /// Connections that carry several flows as messages.
    pub connections: Connections,
    /// Request-reply exchanges, in the order of their flows; at most one per traffic entry.
    pub exchanges: Vec<Exchange>,
    /// Joins, by index.
    pub joins: Vec<Join>,
    /// Collective operations, in the order of their flows; at most one per traffic entry.
    pub collectives: Vec<Collection>,
}

impl Plan {
    /// Returns the bitmask of the classes of all flows, including flows that are drawn during the run.
    pub fn classes(&self) -> u8 {
        let of_flows = self.flows.iter().map(|flow| flow.class);
        of_flows.chain(self.arrivals.iter().map(|arrivals| arrivals.class)).fold(0, |used, class| used | 1 << class)
    }
}

/// A join: a host waits for a number of notifications and then for a delay, before several of its flows may start.
/// For each of these flows, the join counts as one notification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Join {
    /// Host of the join.
    pub host: u32,
    /// Number of notifications for which the join waits, at least 1.
    pub waits_for: u32,
    /// Compute time of the host: from the last notification until the join notifies its flows.
    pub delay: Time,
    /// Flows that the join notifies.
    pub flows: Vec<u32>,
}

/// Flows of one traffic entry that form consecutive iterations of a collective operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collection {
    /// Index of the traffic entry.
    pub traffic: u8,
    /// Collective operation.
    pub operation: Operation,
    /// Algorithm of the operation.
    pub algorithm: Algorithm,
    /// Number of hosts in the operation.
    pub ranks: u32,
    /// Data size in bytes, as in [`Collective::total_bytes`](crate::Collective).
    pub total_bytes: u64,
    /// Index of the first flow of the first iteration.
    pub first_flow: u32,
    /// Number of flows per iteration, at least 1.
    pub flows: u32,
    /// Number of iterations.
    pub iterations: u32,
    /// Number of connections that carry the messages from one host to another; `None`: one connection per message.
    pub qps_per_connection: Option<u32>,
}

/// Flows of one traffic entry that are requests and replies. In each round, the requests of all connections come
/// first, then their replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Index of the traffic entry.
    pub traffic: u8,
    /// Index of the first request of the first connection.
    pub first_flow: u32,
    /// Number of connections, at least 1; each connection has one request per round.
    pub connections: u32,
    /// Number of requests per connection, which is the number of rounds.
    pub requests: u32,
    /// Whether all requests of a connection share one transport connection, and all replies another one.
    pub persistent_connection: bool,
}

impl Exchange {
    /// Returns the request to which `flow` belongs: the flow itself, or the request that it replies to; `None` if it
    /// is not part of the exchange.
    pub fn request_of(&self, flow: u32) -> Option<u32> {
        let connections = u64::from(self.connections);
        let at = u64::from(flow.checked_sub(self.first_flow)?);
        let is_reply = at % (2 * connections) >= connections;
        (at < 2 * connections * u64::from(self.requests)).then(|| if is_reply { flow - self.connections } else { flow })
    }
}

/// One flow between two hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Sending host, a dense index.
    pub src: u32,
    /// Receiving host, different from `src`.
    pub dst: u32,
    /// Bytes that the transport delivers, or total frame length of a datagram source (rounded up to whole frames); at
    /// least 1. [`ENDLESS`](crate::ENDLESS) for a flow without end.
    pub size_bytes: u64,
    /// Start condition of the flow.
    pub start: Start,
    /// Priority class (PFC priority, priority group), 0 to 7.
    pub class: u8,
    /// Index of the `[[traffic]]` entry of the flow.
    pub traffic: u8,
    /// Destination port in flow tables and captures (HPCC: 100, and 200 for incast); not part of the flow's hash.
    pub dst_port: u16,
    /// Index of an explicit path of the fabric; `None` for the path chosen by routing.
    pub path: Option<u32>,
    /// Source of the flow's frames.
    pub load: Load,
}

/// Start condition of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At a fixed time.
    At(Time),
    /// After events of other flows.
    After {
        /// Number of notifications that the flow waits for; [`PlanBuilder::notify`] counts them.
        waits_for: u32,
        /// Delay from the last notification to the start (think time).
        delay: Time,
    },
}

/// Event of a flow that can cause notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlowEvent {
    /// The last byte is acknowledged or, for datagrams, sent. Occurs at `src`.
    Sent,
    /// The last byte has arrived at the receiver. Occurs at `dst`.
    Delivered,
}

/// Source of a flow's frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// The transport of the host sends `size_bytes`.
    Transport,
    /// A datagram source sends frames at scheduled times. Boxed, to keep other flows small.
    Datagrams(Box<DatagramSource>),
}

/// A notification: an event of a flow counts towards the start of another flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification {
    /// Event that causes the notification.
    pub when: FlowEvent,
    /// Index of the waiting flow, or [`JOIN`] and the index of a join.
    pub target: u32,
}

/// Flag in the target of a notification: the other bits are an index in [`Plan::joins`].
pub const JOIN: u32 = 1 << 31;

/// Notifications of each flow, in compressed sparse row format. Empty if the plan has no notifications.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notifications {
    /// Start of the row of each flow, and end of the last row; empty if there are no notifications.
    offsets: Vec<u32>,
    entries: Vec<Notification>,
}

impl Notifications {
    /// Returns the notifications that `flow` causes, in the order in which they were added.
    pub fn of(&self, flow: u32) -> &[Notification] {
        let at = flow as usize;
        match self.offsets.get(at..at + 2) {
            Some(&[start, end]) => &self.entries[start as usize..end as usize],
            _ => &[],
        }
    }
    /// Returns the number of notifications.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// Returns `true` if no flow waits for another.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sorts the edges (flow, notification) into rows, with a stable sort. The flow of each edge must be below
    /// `flows`.
    pub(crate) fn new(flows: usize, edges: &[(u32, Notification)]) -> Self {
        if edges.is_empty() {
            return Notifications::default();
        }
        let mut offsets = vec![0u32; flows + 1];
        for (flow, _) in edges {
            offsets[*flow as usize + 1] += 1;
        }
        for at in 1..offsets.len() {
            offsets[at] += offsets[at - 1];
        }
        let mut next = offsets.clone();
        let mut entries = vec![Notification { when: FlowEvent::Sent, target: 0 }; edges.len()];
        for (flow, notification) in edges {
            let at = &mut next[*flow as usize];
            entries[*at as usize] = *notification;
            *at += 1;
        }
        Notifications { offsets, entries }
    }
}

/// Connections that carry several flows as their messages, one after another, from one source to one destination in
/// one class. Any other flow has its own connection. A connection is identified by its first message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// First message of the connection, and next message, of each flow. Empty if no connection carries several
    /// messages.
    messages: Vec<(u32, u32)>,
}

/// Marks the last message of a connection, in place of the next message.
const NONE: u32 = u32::MAX;

impl Connections {
    /// Returns the connection of `flow`, identified by its first message.
    #[inline]
    pub fn of(&self, flow: u32) -> u32 {
        self.messages.get(flow as usize).map_or(flow, |&(first, _)| first)
    }

    /// Returns the message that follows `flow` on its connection; `None` for the last one.
    pub fn next(&self, flow: u32) -> Option<u32> {
        self.messages.get(flow as usize).map(|&(_, next)| next).filter(|&next| next != NONE)
    }

    /// Returns `true` if the connection of `flow` carries several messages.
    #[inline]
    pub fn are_shared_by(&self, flow: u32) -> bool {
        self.messages.get(flow as usize).is_some_and(|&(first, next)| first != flow || next != NONE)
    }

    /// Creates the connections from pairs of consecutive messages, which must be in the order of each connection.
    fn new(flows: usize, follows: &[(u32, u32)]) -> Self {
        if follows.is_empty() {
            return Connections::default();
        }
        let mut messages: Vec<(u32, u32)> = (0..flows as u32).map(|flow| (flow, NONE)).collect();
        for &(before, next) in follows {
            messages[next as usize].0 = messages[before as usize].0;
            messages[before as usize].1 = next;
        }
        Connections { messages }
    }
}

/// Collects the flows, notifications and arrivals of generators, and builds the plan.
#[derive(Clone, Debug, Default)]
pub struct PlanBuilder {
    flows: Vec<Flow>,
    edges: Vec<(u32, Notification)>,
    arrivals: Vec<Arrivals>,
    follows: Vec<(u32, u32)>,
    exchanges: Vec<Exchange>,
    joins: Vec<Join>,
    collectives: Vec<Collection>,
}

impl PlanBuilder {
    /// Maximum number of flows of a plan (all-to-all among 8192 hosts).
    pub const MAX_FLOWS: u64 = 1 << 26;
    /// Maximum number of notifications of a plan.
    pub const MAX_NOTIFICATIONS: u64 = 1 << 28;

    /// Creates an empty builder.
    pub fn new() -> Self {
        PlanBuilder::default()
    }

    /// Checks the limits of a plan for the flows and notifications of `what`, and reserves space. Generators call it
    /// before they allocate memory.
    ///
    /// # Errors
    /// [`TrafficError::TooMany`] if the plan would exceed its limits.
    pub fn reserve(&mut self, what: &'static str, flows: u128, notifications: u128) -> Result<(), TrafficError> {
        let check = |have: usize, more: u128, kind, limit: u64| {
            let count = have as u128 + more;
            if count > u128::from(limit) { Err(TrafficError::TooMany { what, count, kind, limit }) } else { Ok(()) }
        };
        check(self.flows.len(), flows, "flows", Self::MAX_FLOWS)?;
        check(self.edges.len(), notifications, "notifications", Self::MAX_NOTIFICATIONS)?;
        self.flows.reserve(flows as usize);
        self.edges.reserve(notifications as usize);
        Ok(())
    }

    /// Adds a flow and returns its index.
    ///
    /// # Panics
    /// If there are more than `u32::MAX` flows, which [`PlanBuilder::reserve`] refuses.
    pub fn flow(&mut self, flow: Flow) -> u32 {
        let index = u32::try_from(self.flows.len()).expect("fewer than 2^32 flows");
        self.flows.push(flow);
        index
    }

    /// Adds a notification: the event `when` of flow `from` counts towards the start of flow `target`, which waits
    /// for one more notification. [`PlanBuilder::build`] refuses a target that does not wait or does not exist.
    ///
    /// # Panics
    /// If flow `from` has not been added yet.
    pub fn notify(&mut self, from: u32, when: FlowEvent, target: u32) {
        assert!((from as usize) < self.flows.len(), "flow {from} was not added yet");
        self.await_one(target);
        self.edges.push((from, Notification { when, target }));
    }

    /// Increments the number of notifications that a flow or a join waits for.
    fn await_one(&mut self, target: u32) {
        if target & JOIN != 0 {
            if let Some(join) = self.joins.get_mut((target & !JOIN) as usize) {
                join.waits_for += 1;
            }
        } else if let Some(Flow { start: Start::After { waits_for, .. }, .. }) = self.flows.get_mut(target as usize) {
            *waits_for += 1;
        }
    }

    /// Adds a join at `host`. Returns its identifier for [`PlanBuilder::notify`] and [`PlanBuilder::release`].
    pub fn join(&mut self, host: u32, delay: Time) -> u32 {
        self.joins.push(Join { host, delay, ..Join::default() });
        JOIN | (self.joins.len() - 1) as u32
    }

    /// Adds flow `target` to the flows that `join` notifies; the flow waits for one more notification.
    ///
    /// # Panics
    /// If there is no such join.
    pub fn release(&mut self, join: u32, target: u32) {
        self.await_one(target);
        self.joins[(join & !JOIN) as usize].flows.push(target);
    }

    /// Registers the flows of a collective operation.
    pub fn collective(&mut self, collection: Collection) {
        self.collectives.push(collection);
    }

    /// Makes flow `next` the message that follows flow `before` on their connection. The messages of a connection
    /// must be added in order.
    ///
    /// # Panics
    /// If one of the flows has not been added yet, or they differ in source, destination, class, traffic entry, port
    /// or path.
    pub fn continues(&mut self, before: u32, next: u32) {
        let of = |flow: u32| {
            let Flow { src, dst, class, traffic, dst_port, path, .. } = &self.flows[flow as usize];
            (*src, *dst, *class, *traffic, *dst_port, *path)
        };
        assert_eq!(of(before), of(next), "messages {before} and {next} cannot share a connection");
        self.follows.push((before, next));
    }

    /// Registers the flows that are added next as requests and replies.
    pub fn exchange(&mut self, exchange: Exchange) {
        self.exchanges.push(exchange);
    }

    /// Like [`PlanBuilder::notify`], without the increment of the number of notifications that the target waits for.
    /// The target may get more notifications than it waits for; it starts as soon as enough have arrived.
    ///
    /// # Panics
    /// If flow `from` has not been added yet.
    pub fn count_towards(&mut self, from: u32, when: FlowEvent, target: u32) {
        assert!((from as usize) < self.flows.len(), "flow {from} was not added yet");
        self.edges.push((from, Notification { when, target }));
    }

    /// Adds a source whose flows are drawn during the run.
    pub fn arrivals(&mut self, arrivals: Arrivals) {
        self.arrivals.push(arrivals);
    }

    /// Returns the number of flows.
    pub fn len(&self) -> usize {
        self.flows.len()
    }
    /// Returns `true` if the builder has no flow and no arrivals.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty() && self.arrivals.is_empty()
    }

    /// Builds the plan, and validates it for a fabric with this number of hosts.
    ///
    /// # Errors
    /// Those of [`Plan::validate`].
    pub fn build(self, hosts: u32) -> Result<Plan, PlanError> {
        let notifications = Notifications::new(self.flows.len(), &self.edges);
        let connections = Connections::new(self.flows.len(), &self.follows);
        let PlanBuilder { flows, arrivals, exchanges, joins, collectives, .. } = self;
        let plan = Plan { flows, notifications, arrivals, connections, exchanges, joins, collectives };
        plan.validate(hosts)?;
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_flows_are_cheap() {
        assert!(size_of::<Flow>() <= 56, "{}", size_of::<Flow>());
        assert_eq!(size_of::<Notification>(), 8);
        assert_eq!(size_of::<Start>(), 16);
        assert_eq!(size_of::<Load>(), 8);
    }

    #[test]
    fn a_connection_is_known_by_its_first_message() {
        let connections = Connections::new(6, &[(1, 3), (3, 4), (0, 5)]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|flow| connections.of(flow)), [0, 1, 2, 1, 1, 0]);
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(|flow| connections.next(flow)),
            [Some(5), Some(3), None, Some(4), None, None]
        );
        assert_eq!([0, 2, 4, 9].map(|flow| connections.are_shared_by(flow)), [true, false, true, false]);
        assert_eq!(Connections::default().of(7), 7);
        assert_eq!(connections.of(1 << 31), 1 << 31, "a flow that is drawn has its own");
    }

    #[test]
    fn rows_keep_the_order_in_which_they_were_added() {
        let note = |when, target| Notification { when, target };
        let edges = [
            (2, note(FlowEvent::Sent, 1)),
            (0, note(FlowEvent::Delivered, 2)),
            (2, note(FlowEvent::Delivered, 0)),
            (0, note(FlowEvent::Sent, 1)),
        ];
        let rows = Notifications::new(4, &edges);
        assert_eq!(rows.of(0), [edges[1].1, edges[3].1]);
        assert_eq!(rows.of(1), []);
        assert_eq!(rows.of(2), [edges[0].1, edges[2].1]);
        assert_eq!(rows.of(3), []);
        assert_eq!(rows.of(4), [], "beyond the last flow");
        assert_eq!(rows.of(u32::MAX), []);
        assert_eq!(Notifications::default().of(0), []);
        assert_eq!(rows.len(), 4);
    }

    #[test]
    fn a_plan_that_cannot_be_held_is_refused_before_it_is_allocated() {
        let mut builder = PlanBuilder::new();
        let error = builder.reserve("all-to-all", 1 << 40, 0).unwrap_err();
        assert!(error.to_string().contains("all-to-all makes 1099511627776 flows"), "{error}");
        assert!(builder.reserve("barrier", 1, u128::MAX / 2).is_err());
    }
}
