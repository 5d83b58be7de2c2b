//! Output of an algorithm: messages and their dependencies.

use crate::plan::FlowEvent;

/// One message between two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Sender, as index in the list of hosts.
    pub from: u32,
    /// Receiver, as index in the list of hosts.
    pub to: u32,
    /// Size in bytes.
    pub bytes: u64,
}

/// A dependency of a message on an event of an earlier message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    /// Index of the waiting message.
    pub message: u32,
    /// Index of the earlier message.
    pub on: u32,
    /// Event that the message waits for. It occurs at the sender of the waiting message.
    pub when: FlowEvent,
}

/// For each rank, the messages that must arrive at the rank before its data is complete.
pub(super) type Ready = Vec<Vec<u32>>;

/// Messages of a collective operation; each message waits for earlier messages only.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    pub messages: Vec<Message>,
    /// Dependencies, in the order of the waiting messages.
    pub waits: Vec<Wait>,
}

impl Schedule {
    /// Adds a message that starts when the messages `after` have arrived at its sender. Returns its index.
    pub fn send(&mut self, from: u32, to: u32, bytes: u64, after: &[u32]) -> u32 {
        let message = self.messages.len() as u32;
        for &on in after {
            debug_assert_eq!(self.messages[on as usize].to, from, "a host knows only what arrives at it");
            self.waits.push(Wait { message, on, when: FlowEvent::Delivered });
        }
        self.messages.push(Message { from, to, bytes });
        message
    }

    /// Adds a message that starts when its sender has sent the message `before`. Returns its index.
    pub fn send_next(&mut self, to: u32, bytes: u64, before: u32) -> u32 {
        let (message, from) = (self.messages.len() as u32, self.messages[before as usize].from);
        self.waits.push(Wait { message, on: before, when: FlowEvent::Sent });
        self.messages.push(Message { from, to, bytes });
        message
    }
}

/// Splits `bytes` into `parts` parts; the first parts are one byte larger if there is a remainder.
pub(super) fn share(bytes: u64, parts: usize) -> Vec<u64> {
    let (whole, rest) = (bytes / parts as u64, bytes % parts as u64);
    (0..parts as u64).map(|part| whole + u64::from(part < rest)).collect()
}
