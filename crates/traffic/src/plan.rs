//! The plan: flows, who starts whom, and flow arrivals yet to be drawn.

use crate::arrivals::Arrivals;
use crate::error::{PlanError, TrafficError};
use crate::operation::{Algorithm, Operation};
use crate::process::DatagramSource;
use units::Time;

/// Everything that will be sent in a run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Flows by index; the index is the flow's identity in notifications and results.
    pub flows: Vec<Flow>,
    /// Which flows an event of a flow helps to start.
    pub notifications: Notifications,
    /// Flow sources that are drawn while the run goes on, at most one per host and traffic entry, ordered by
    /// (traffic entry, position of the host in the entry's list).
    pub arrivals: Vec<Arrivals>,
    /// Which flows are messages of one connection.
    pub connections: Connections,
    /// Which flows are requests and replies, in their order; at most one a traffic entry.
    pub exchanges: Vec<Exchange>,
    /// What hosts wait for before several of their flows may start, by number.
    pub joins: Vec<Join>,
    /// Which flows are those of collective operations, in their order; at most one a traffic entry.
    pub collectives: Vec<Collection>,
}

impl Plan {
    /// The classes of its flows, planned and drawn, a bit each.
    pub fn classes(&self) -> u8 {
        let of_flows = self.flows.iter().map(|flow| flow.class);
        of_flows.chain(self.arrivals.iter().map(|arrivals| arrivals.class)).fold(0, |used, class| used | 1 << class)
    }
}

/// Something that a host waits for before several of its flows may start: all that came before, and a time of its own.
/// It starts none by itself: to each of them it counts as one notification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Join {
    /// The host.
    pub host: u32,
    /// How many notifications must arrive, at least 1.
    pub waits_for: u32,
    /// From the last of them to the instant at which it counts: what the host computes.
    pub delay: Time,
    /// The flows to which it counts.
    pub flows: Vec<u32>,
}

/// Flows of one traffic entry that are iterations of a collective operation, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collection {
    /// The traffic entry.
    pub traffic: u8,
    /// What is done.
    pub operation: Operation,
    /// How.
    pub algorithm: Algorithm,
    /// How many hosts take part.
    pub ranks: u32,
    /// What the operation is about: [`Operation::total_bytes`](crate::Operation) says of what.
    pub total_bytes: u64,
    /// The first flow of the first iteration.
    pub first_flow: u32,
    /// Flows of each iteration, at least 1.
    pub flows: u32,
    /// How many iterations there are.
    pub iterations: u32,
    /// How many connections carry the messages from one host to another; `None`: each message has its own.
    pub qps_per_connection: Option<u32>,
}

/// Flows of one traffic entry that ask and answer: round by round the requests of all connections, then their replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The traffic entry.
    pub traffic: u8,
    /// The first request of the first connection.
    pub first_flow: u32,
    /// How many requests a round has, at least 1.
    pub connections: u32,
    /// Requests of each connection.
    pub requests: u32,
    /// Whether all requests of a connection share one of the transport's, and all replies another.
    pub session: bool,
}

impl Exchange {
    /// The request that `flow` belongs to: itself, or the one that it answers; `None` if it is of neither kind.
    pub fn request_of(&self, flow: u32) -> Option<u32> {
        let connections = u64::from(self.connections);
        let at = u64::from(flow.checked_sub(self.first_flow)?);
        let is_reply = at % (2 * connections) >= connections;
        (at < 2 * connections * u64::from(self.requests)).then(|| if is_reply { flow - self.connections } else { flow })
    }
}

/// One transfer between two hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The sending host, a dense index.
    pub src: u32,
    /// The receiving host, never `src`.
    pub dst: u32,
    /// What the transport delivers, or the total of the frame lengths of a datagram source (rounded up to
    /// whole frames); at least 1; [`ENDLESS`](crate::ENDLESS) for a flow without end.
    pub size_bytes: u64,
    /// When it starts.
    pub start: Start,
    /// Priority class (PFC priority, priority group), 0 to 7.
    pub class: u8,
    /// Index of the `[[traffic]]` entry that made it.
    pub traffic: u8,
    /// Destination port in flow tables and captures (HPCC: 100, 200 for incast); no part of the hash.
    pub dst_port: u16,
    /// A path of the fabric chosen in the plan; `None` leaves it to routing.
    pub path: Option<u32>,
    /// What sends.
    pub load: Load,
}

/// When a flow starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At a fixed time.
    At(Time),
    /// After others.
    After {
        /// How many notifications must arrive; [`PlanBuilder::notify`] counts them.
        waits_for: u32,
        /// Think time after the last of them.
        delay: Time,
    },
}

/// Which event of a flow notifies another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// The sender is done: the last byte is acknowledged or, for datagrams, sent. Happens at `src`.
    Sent,
    /// The last byte is at the receiver. Happens at `dst`.
    Delivered,
}

/// What a flow sends through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// The host's transport sends `size_bytes`.
    Transport,
    /// Frames at times of their own, without a transport. Boxed: plans with a million flows have none of these.
    Datagrams(Box<DatagramSource>),
}

/// That an event of a flow counts towards the start of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification {
    /// The event.
    pub when: When,
    /// The flow that waits, or [`JOIN`] and the number of a join.
    pub target: u32,
}

/// Marks the target of a notification as one of [`Plan::joins`]: the other bits are its number.
pub const JOIN: u32 = 1 << 31;

/// Notifications by flow, in compressed rows. A plan without any holds nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notifications {
    /// Where the row of each flow starts, and the end of the last; empty without notifications.
    offsets: Vec<u32>,
    entries: Vec<Notification>,
}

impl Notifications {
    /// Whom events of `flow` notify, in the order in which they were added.
    pub fn of(&self, flow: u32) -> &[Notification] {
        let at = flow as usize;
        match self.offsets.get(at..at + 2) {
            Some(&[start, end]) => &self.entries[start as usize..end as usize],
            _ => &[],
        }
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// Whether no flow waits for another.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sorts edges (flow, notification) into rows; stable. Edges of flows at or beyond `flows` are impossible.
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
        let mut entries = vec![Notification { when: When::Sent, target: 0 }; edges.len()];
        for (flow, notification) in edges {
            let at = &mut next[*flow as usize];
            entries[*at as usize] = *notification;
            *at += 1;
        }
        Notifications { offsets, entries }
    }
}

/// Connections that carry several flows, as their messages: one after the other in this order, from one source to one
/// destination in one class. A flow that is on none of them has a connection of its own. A connection is known by its
/// first message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// By flow: the first message of its connection, and the one after it. Empty where no connection carries several.
    messages: Vec<(u32, u32)>,
}

/// No message comes after this one.
const NONE: u32 = u32::MAX;

impl Connections {
    /// The connection of `flow`: its first message.
    #[inline]
    pub fn of(&self, flow: u32) -> u32 {
        self.messages.get(flow as usize).map_or(flow, |&(first, _)| first)
    }

    /// The message after `flow` on its connection.
    pub fn next(&self, flow: u32) -> Option<u32> {
        self.messages.get(flow as usize).map(|&(_, next)| next).filter(|&next| next != NONE)
    }

    /// Whether the connection of `flow` carries several messages.
    #[inline]
    pub fn are_shared_by(&self, flow: u32) -> bool {
        self.messages.get(flow as usize).is_some_and(|&(first, next)| first != flow || next != NONE)
    }

    /// From pairs of a message and the one after it, in the order of each connection.
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

/// Collects what generators make.
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
    /// The most flows of a plan (all-to-all among 8192 hosts).
    pub const MAX_FLOWS: u64 = 1 << 26;
    /// The most notifications of a plan.
    pub const MAX_NOTIFICATIONS: u64 = 1 << 28;

    /// Nothing to send yet.
    pub fn new() -> Self {
        PlanBuilder::default()
    }

    /// Makes room for what `what` is about to add. Generators call it before they allocate anything.
    ///
    /// # Errors
    /// [`TrafficError::TooMany`] if the plan would not hold it.
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

    /// Adds a flow and says its index.
    ///
    /// # Panics
    /// Beyond `u32::MAX` flows; [`PlanBuilder::reserve`] refuses long before.
    pub fn flow(&mut self, flow: Flow) -> u32 {
        let index = u32::try_from(self.flows.len()).expect("fewer than 2^32 flows");
        self.flows.push(flow);
        index
    }

    /// Lets the event `when` of flow `from` count towards the start of flow `target`, which then waits for one
    /// notification more. A target that does not wait, or does not exist, is refused by
    /// [`PlanBuilder::build`].
    ///
    /// # Panics
    /// If `from` was not added yet.
    pub fn notify(&mut self, from: u32, when: When, target: u32) {
        assert!((from as usize) < self.flows.len(), "flow {from} was not added yet");
        self.await_one(target);
        self.edges.push((from, Notification { when, target }));
    }

    /// One notification more will come to a flow or a join.
    fn await_one(&mut self, target: u32) {
        if target & JOIN != 0 {
            if let Some(join) = self.joins.get_mut((target & !JOIN) as usize) {
                join.waits_for += 1;
            }
        } else if let Some(Flow { start: Start::After { waits_for, .. }, .. }) = self.flows.get_mut(target as usize) {
            *waits_for += 1;
        }
    }

    /// Adds something that `host` waits for, and says what [`PlanBuilder::notify`] and [`PlanBuilder::release`] call
    /// it.
    pub fn join(&mut self, host: u32, delay: Time) -> u32 {
        self.joins.push(Join { host, delay, ..Join::default() });
        JOIN | (self.joins.len() - 1) as u32
    }

    /// Lets `join` count towards the start of flow `target`, which then waits for one notification more.
    ///
    /// # Panics
    /// If there is no such join.
    pub fn release(&mut self, join: u32, target: u32) {
        self.await_one(target);
        self.joins[(join & !JOIN) as usize].flows.push(target);
    }

    /// Says which of the flows that were added are those of a collective operation.
    pub fn collective(&mut self, collection: Collection) {
        self.collectives.push(collection);
    }

    /// Lets flow `next` be the message after flow `before` on one connection. Messages are added in the order in which
    /// their connection carries them.
    ///
    /// # Panics
    /// If one of them was not added yet, or they differ in source, destination, class, traffic entry or path.
    pub fn continues(&mut self, before: u32, next: u32) {
        let of = |flow: u32| {
            let Flow { src, dst, class, traffic, dst_port, path, .. } = &self.flows[flow as usize];
            (*src, *dst, *class, *traffic, *dst_port, *path)
        };
        assert_eq!(of(before), of(next), "messages {before} and {next} cannot share a connection");
        self.follows.push((before, next));
    }

    /// Says which of the flows that are added next are requests and which are replies.
    pub fn exchange(&mut self, exchange: Exchange) {
        self.exchanges.push(exchange);
    }

    /// As [`PlanBuilder::notify`], for a target that states itself how many notifications it waits for: fewer than it
    /// gets let it start at the first so many.
    ///
    /// # Panics
    /// If `from` was not added yet.
    pub fn count_towards(&mut self, from: u32, when: When, target: u32) {
        assert!((from as usize) < self.flows.len(), "flow {from} was not added yet");
        self.edges.push((from, Notification { when, target }));
    }

    /// Adds a source of flows that are drawn during the run.
    pub fn arrivals(&mut self, arrivals: Arrivals) {
        self.arrivals.push(arrivals);
    }

    /// How many flows were added.
    pub fn len(&self) -> usize {
        self.flows.len()
    }
    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty() && self.arrivals.is_empty()
    }

    /// The plan, validated for a fabric with this many hosts.
    ///
    /// # Errors
    /// As [`Plan::validate`].
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
            (2, note(When::Sent, 1)),
            (0, note(When::Delivered, 2)),
            (2, note(When::Delivered, 0)),
            (0, note(When::Sent, 1)),
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
