//! What became of a frame that came to a switch.

use check::conservation::Cause;

/// How a frame crosses a switch: by which port it came and which class's account holds it there, by which port it
/// leaves and in which class's queue it waits for that. The classes differ where tags are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crossing {
    pub in_port: u16,
    pub egress: u16,
    pub in_class: u8,
    pub class: u8,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was for this switch: a MAC control frame.
    Consumed,
    /// On the wire of `egress` at once.
    Sent { egress: u16 },
    /// In the queue at `index` of `egress`, and whether it was marked there.
    Queued { egress: u16, index: u32, marked: bool },
    /// With others of its flow, which is held.
    Held { egress: u16 },
    /// Its way is `egress`, which was too full: it went back, or by another port.
    Turned { egress: u16, turned: Turned },
    /// It lost its payload, or made another frame do so, or is still inside the switch: several frames may have moved,
    /// and each step was written down as it was taken.
    Recorded { egress: u16 },
    /// Lost; on its way to `egress`, if it had come so far.
    Dropped { egress: Option<u16>, cause: Cause },
}

impl Outcome {
    /// The port that the route led to, if there was one.
    pub fn egress(&self) -> Option<u16> {
        match *self {
            Outcome::Consumed => None,
            Outcome::Dropped { egress, .. } => egress,
            Outcome::Sent { egress }
            | Outcome::Queued { egress, .. }
            | Outcome::Held { egress }
            | Outcome::Turned { egress, .. }
            | Outcome::Recorded { egress } => Some(egress),
        }
    }
}

/// How a frame left its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turned {
    /// The port by which it goes.
    pub port: u16,
    /// The queue there that it joined; `None` if it went at once.
    pub queue: Option<u32>,
    /// How often it turned so far.
    pub bounces: u8,
    /// Whether it was sent by another port instead of back.
    pub detour: bool,
}
