//! Results of handling a frame at a switch.

use check::conservation::Cause;

/// Path of a frame across a switch: ingress port and class of the account that holds it, egress port and class of the
/// queue. The classes differ if tags are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crossing {
    pub in_port: u16,
    pub egress: u16,
    pub in_class: u8,
    pub class: u8,
}

/// The result of handling a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameFate {
    /// A MAC control frame, which the switch consumed.
    Consumed,
    /// Transmitted by `egress` without queuing; `marked` if ECN-marked at this switch.
    Sent { egress: u16, marked: bool },
    /// Appended to the queue at `index` of `egress`; `marked` if ECN-marked at this switch.
    Queued { egress: u16, index: u32, marked: bool },
    /// Appended to the queue of its flow, because the flow is held.
    Held { egress: u16 },
    /// The queue of `egress` had no room: the frame was bounced or detoured.
    Redirected { egress: u16, redirected: Redirected },
    /// The frame was trimmed, caused a trim, or is still in a pipeline. Several frames may have moved; each step was
    /// traced when it happened.
    Recorded { egress: u16 },
    /// Lost for `cause`; `egress` is `None` if it was lost before routing.
    Dropped { egress: Option<u16>, cause: Cause },
}

impl FrameFate {
    /// Returns whether the frame joined a queue and is ECN-marked.
    pub fn is_queued_with_mark(&self) -> bool {
        matches!(self, FrameFate::Queued { marked: true, .. })
    }

    /// Returns this fate with `marked` set, for a frame that was ECN-marked before it was forwarded.
    pub fn with_mark(mut self) -> FrameFate {
        if let FrameFate::Sent { marked, .. }
        | FrameFate::Queued { marked, .. }
        | FrameFate::Redirected { redirected: Redirected { marked, .. }, .. } = &mut self
        {
            *marked = true;
        }
        self
    }

    /// Returns the egress port of the route, if there is one.
    pub fn egress(&self) -> Option<u16> {
        match *self {
            FrameFate::Consumed => None,
            FrameFate::Dropped { egress, .. } => egress,
            FrameFate::Sent { egress, .. }
            | FrameFate::Queued { egress, .. }
            | FrameFate::Held { egress }
            | FrameFate::Redirected { egress, .. }
            | FrameFate::Recorded { egress } => Some(egress),
        }
    }
}

/// Redirection of a frame from the port of its route: a bounce (PABO) or a detour (DIBS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Redirected {
    /// The port by which the frame leaves instead.
    pub port: u16,
    /// Index of the queue of `port` that the frame joined; `None` if it was transmitted without a wait.
    pub queue: Option<u32>,
    /// Bounces of the frame so far.
    pub bounces: u8,
    /// Whether the frame was detoured, not bounced.
    pub detour: bool,
    /// Whether the frame was ECN-marked at this switch.
    pub marked: bool,
}
