//! Identifiers of queues, ingress accounts and buffers.

use std::fmt;

/// An egress queue: frames of `class` at `node` that wait for transmission through `port`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId {
    /// Switch or host.
    pub node: u32,
    /// Egress port of the node.
    pub port: u16,
    /// Traffic class (priority) of the queue.
    pub class: u8,
}

/// An ingress account: the bytes of frames that arrived at `node` through `port` in `class` and have not left the node,
/// in any egress queue. PAUSE and PFC are triggered by this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId {
    /// Switch or host.
    pub node: u32,
    /// Ingress port of the node.
    pub port: u16,
    /// Traffic class (priority) of the frames on arrival.
    pub class: u8,
}

/// A buffer, queue or account that contains frames and has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BufferLocation {
    /// The shared buffer of a node.
    Buffer {
        /// Switch or host.
        node: u32,
    },
    /// One egress queue.
    Queue(QueueId),
    /// The queue of bounced frames (PABO) of an egress port and class.
    BouncedQueue(QueueId),
    /// One ingress account.
    Account(AccountId),
    /// All queues of an egress port.
    Port {
        /// Switch or host.
        node: u32,
        /// Egress port of the node.
        port: u16,
    },
    /// Queue, at an egress port, of the flows that a downstream neighbour has paused (per-flow pauses).
    Held {
        /// Switch or host.
        node: u32,
        /// Egress port of the node.
        port: u16,
    },
    /// The queue of a pipeline's recirculation port.
    Recirculation {
        /// The switch.
        node: u32,
        /// The pipeline.
        pipeline: u16,
    },
}

impl fmt::Display for QueueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} egress port {} class {}", self.node, self.port, self.class)
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} ingress port {} class {}", self.node, self.port, self.class)
    }
}

impl BufferLocation {
    /// Describes the location; `name` returns the name of a node.
    pub(crate) fn words(&self, name: impl Fn(u32) -> String) -> String {
        match *self {
            BufferLocation::Buffer { node } => format!("{} buffer", name(node)),
            BufferLocation::Queue(QueueId { node, port, class }) => {
                format!("{} egress port {port} class {class}", name(node))
            }
            BufferLocation::BouncedQueue(QueueId { node, port, class }) => {
                format!("{} egress port {port} class {class}, bounced frames", name(node))
            }
            BufferLocation::Account(AccountId { node, port, class }) => {
                format!("{} ingress port {port} class {class}", name(node))
            }
            BufferLocation::Port { node, port } => format!("{} egress port {port}", name(node)),
            BufferLocation::Held { node, port } => format!("{} egress port {port}, held flows", name(node)),
            BufferLocation::Recirculation { node, pipeline } => {
                format!("{} recirculation port of pipeline {pipeline}", name(node))
            }
        }
    }
}

units::pack_fields!(QueueId { node, port, class });
units::pack_fields!(AccountId { node, port, class });
units::pack_variants!(BufferLocation {
    0 Buffer { node },
    1 Queue(queue),
    2 Account(account),
    3 Port { node, port },
    4 Held { node, port },
    5 Recirculation { node, pipeline },
    6 BouncedQueue(queue),
});
