//! What an algorithm writes: messages, and what each waits for.

use crate::plan::When;

/// One transfer between two of those that take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Who sends, by its place in the list of hosts.
    pub from: u32,
    /// Who receives.
    pub to: u32,
    /// How much.
    pub bytes: u64,
}

/// That a message starts only after an event of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    /// The message that waits, by its number.
    pub message: u32,
    /// The earlier one.
    pub on: u32,
    /// Its event, which happens where the waiting message starts.
    pub when: When,
}

/// For each place, the messages that must have arrived there before what it is about is complete.
pub(super) type Ready = Vec<Vec<u32>>;

/// The messages of a collective operation in an order in which each waits for earlier ones only.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    pub messages: Vec<Message>,
    /// In the order of the messages that wait.
    pub waits: Vec<Wait>,
}

impl Schedule {
    /// Adds a message that starts when the messages `after` have arrived at its sender, and says its number.
    pub fn send(&mut self, from: u32, to: u32, bytes: u64, after: &[u32]) -> u32 {
        let message = self.messages.len() as u32;
        for &on in after {
            debug_assert_eq!(self.messages[on as usize].to, from, "a host knows only what arrives at it");
            self.waits.push(Wait { message, on, when: When::Delivered });
        }
        self.messages.push(Message { from, to, bytes });
        message
    }

    /// Adds a message that starts when its sender has sent the message `before`, and says its number.
    pub fn send_next(&mut self, to: u32, bytes: u64, before: u32) -> u32 {
        let (message, from) = (self.messages.len() as u32, self.messages[before as usize].from);
        self.waits.push(Wait { message, on: before, when: When::Sent });
        self.messages.push(Message { from, to, bytes });
        message
    }
}

/// `bytes` cut into `parts`, the first of them a byte larger where it does not come out even.
pub(super) fn share(bytes: u64, parts: usize) -> Vec<u64> {
    let (whole, rest) = (bytes / parts as u64, bytes % parts as u64);
    (0..parts as u64).map(|part| whole + u64::from(part < rest)).collect()
}
