//! Credit-based flow control: nobody sends what the other end has no room for.
//!
//! ```text
//!   sending end                                     receiving end
//!   sent   --- frame, if sent + size <= limit --->  received   -> room taken ...
//!   limit  <-- Credit(sent of that end, limit) ---  limit = received + credits - held    ... and given back
//! ```
//!
//! Both counts are absolute and only grow (InfiniBand's way): a credit message that is lost only delays, for the
//! next one says everything that it said. Each message also says how much its own sender has sent, and as a wire
//! keeps the order, whatever of that has not arrived never will: a frame that the link lost gives its room back.
//!
//! There is a pair of counts per class. No end ever waits for a message that may not come: messages are repeated
//! after `regrant` even if nothing changed.

use crate::describe::Default::Value;
use crate::describe::{Family, Mechanism, Parameter};
use crate::partial::{EXCEPT, TIERS};
use crate::pause::PRIORITIES;
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// Credit-based flow control as users meet it.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "cbfc",
    family: Family::FlowControl,
    title: "credits: a link carries only what the other end has room for",
    source: "Kung, Blackwell and Chapman, 1994; Katevenis, 1997; absolute limits as InfiniBand has them",
    parameters: &[
        PRIORITIES,
        Parameter {
            key: "credits",
            default: Value("auto"),
            meaning: "room set aside for each lossless class at the far end of each link, at least the largest frame; \
                      auto is 2 x delay x rate + the credit message + 3 of the largest frames + update",
            source: "rate x round trip (Katevenis, 1997); a frame sent, one in the message's way, and what is left of \
                     the last",
        },
        Parameter {
            key: "update",
            default: Value("auto"),
            meaning: "how much room must have come free before it is granted, a positive size; auto is the largest \
                      frame. To an end that may lack credits for one such frame, any room is granted at once",
            source: "choice of this project: seldom enough while nobody waits, at once when somebody does",
        },
        Parameter {
            key: "regrant",
            default: Value("100us"),
            meaning: "each port sends the credits of all its classes at every multiple of this time, above zero",
            source: "choice of this project, of the order of InfiniBand's 65,536 symbol times",
        },
        EXCEPT,
        TIERS,
    ],
};

/// Classes of a link.
const CLASSES: usize = 8;

/// The least credits with which a link of `rate` and one-way `delay` never waits for them, while the other end
/// passes on what it gets: rate x round trip of a frame and of the message that gives its room back, which may find a
/// frame of `mtu_bytes` on the wire and comes only once `update_bytes` are free; and a frame more, for a remainder
/// that no whole frame fits is of no use.
pub fn sufficient_credits(rate: Rate, delay: Time, mtu_bytes: u64, update_bytes: u64) -> u64 {
    let message = u64::from(crate::frame::MIN_FRAME_BYTES) + WIRE_OVERHEAD_BYTES;
    rate.bytes_in(delay * 2) + 1 + message + 3 * (mtu_bytes + WIRE_OVERHEAD_BYTES) + update_bytes
}

/// The sending end of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sending {
    sent_bytes: u64,
    limit_bytes: u64,
    /// The frame that waits for credits, 0 for none, and since when.
    waiting_bytes: u64,
    since: Time,
    /// When the last wait ended.
    ended_at: Time,
    /// Time spent waiting, ended waits only.
    waited: Time,
}

/// The receiving end of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Receiving {
    received_bytes: u64,
    granted_bytes: u64,
}

/// Credits in both directions of one port: what it may still send, and what it grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreditPort {
    classes: u8,
    credits_bytes: u64,
    update_bytes: u64,
    mtu_bytes: u64,
    sending: [Sending; CLASSES],
    receiving: [Receiving; CLASSES],
    /// Classes whose credit message is to be sent, a bit each.
    owed: u8,
    /// Classes that wait, a bit each.
    short: u8,
    begun: u64,
    ended: u64,
    longest: Time,
    /// Start of the last time in which some class waited, and the length of those that have ended.
    port_since: Time,
    port_waited: Time,
}

impl CreditPort {
    /// A link that has just come up, with all of `credits_bytes` free at both ends for each class whose bit is set
    /// in `classes`. Room is granted as soon as `update_bytes` of it came free, and at once when the other end may
    /// lack credits for a frame of `mtu_bytes`: were it held back then, who waits could depend on who waits for him.
    pub fn new(classes: u8, credits_bytes: u64, update_bytes: u64, mtu_bytes: u64) -> Self {
        CreditPort {
            classes,
            credits_bytes,
            update_bytes: update_bytes.max(1),
            mtu_bytes,
            sending: [Sending { limit_bytes: credits_bytes, ..Sending::default() }; CLASSES],
            receiving: [Receiving { granted_bytes: credits_bytes, ..Receiving::default() }; CLASSES],
            owed: 0,
            short: 0,
            begun: 0,
            ended: 0,
            longest: Time::ZERO,
            port_since: Time::ZERO,
            port_waited: Time::ZERO,
        }
    }

    /// The classes under credits, a bit each.
    #[inline]
    pub fn classes(&self) -> u8 {
        self.classes
    }

    /// Whether a frame of `class` and `size_bytes` may leave.
    #[inline]
    pub fn fits(&self, class: u8, size_bytes: u64) -> bool {
        let Sending { sent_bytes, limit_bytes, .. } = self.sending[usize::from(class & 7)];
        self.classes & 1 << class == 0 || sent_bytes + size_bytes <= limit_bytes
    }

    /// As [`CreditPort::fits`]; if not, the class waits from `now` on.
    #[inline]
    pub fn fits_or_waits(&mut self, now: Time, class: u8, size_bytes: u64) -> bool {
        let fits = self.fits(class, size_bytes);
        if !fits {
            let sending = &mut self.sending[usize::from(class & 7)];
            sending.waiting_bytes = size_bytes;
            if self.short & 1 << class == 0 {
                sending.since = now;
                if self.short == 0 {
                    self.port_since = now;
                }
                self.short |= 1 << class;
                self.begun += 1;
            }
        }
        fits
    }

    /// A frame that [fits](CreditPort::fits) leaves.
    #[inline]
    pub fn spend(&mut self, class: u8, size_bytes: u64) {
        self.sending[usize::from(class & 7)].sent_bytes += size_bytes;
    }

    /// A credit message came: the other end had sent `sent_bytes`, and grants up to `limit_bytes`. An older one
    /// changes nothing. Returns whether a wait of the class ends with it.
    pub fn on_message(&mut self, now: Time, class: u8, sent_bytes: u64, limit_bytes: u64) -> bool {
        let receiving = &mut self.receiving[usize::from(class & 7)];
        receiving.received_bytes = receiving.received_bytes.max(sent_bytes);
        let sending = &mut self.sending[usize::from(class & 7)];
        sending.limit_bytes = sending.limit_bytes.max(limit_bytes);
        let waiting = sending.waiting_bytes;
        let ends = self.short & 1 << class != 0 && self.fits(class, waiting);
        if ends {
            self.end_wait(now, class);
        }
        ends
    }

    /// The frame that waited is gone for another reason: nothing of this class waits.
    pub fn forget_wait(&mut self, now: Time, class: u8) {
        if self.short & 1 << class != 0 {
            self.end_wait(now, class);
        }
    }

    fn end_wait(&mut self, now: Time, class: u8) {
        let sending = &mut self.sending[usize::from(class & 7)];
        let lasted = now.saturating_sub(sending.since);
        sending.waiting_bytes = 0;
        sending.ended_at = now;
        sending.waited += lasted;
        self.longest = self.longest.max(lasted);
        self.ended += 1;
        self.short &= !(1 << class);
        if self.short == 0 {
            self.port_waited += now.saturating_sub(self.port_since);
        }
    }

    /// A frame came whole by this port.
    #[inline]
    pub fn receive(&mut self, class: u8, size_bytes: u64) {
        self.receiving[usize::from(class & 7)].received_bytes += size_bytes;
    }

    /// While `held_bytes` of the class that came by this port still take room: owes a credit message if enough came
    /// free. Returns whether it does so now and did not before.
    #[inline]
    pub fn note_room(&mut self, class: u8, held_bytes: u64) -> bool {
        if self.classes & !self.owed & 1 << class == 0 {
            return false;
        }
        let granted_bytes = self.receiving[usize::from(class & 7)].granted_bytes;
        let free = self.limit(class, held_bytes).saturating_sub(granted_bytes);
        let due = free >= self.update_bytes || (free > 0 && self.room_bytes(class) < self.mtu_bytes);
        if due {
            self.owed |= 1 << class;
        }
        due
    }

    /// What the other end may still send, of which some may be on its way.
    fn room_bytes(&self, class: u8) -> u64 {
        let Receiving { received_bytes, granted_bytes } = self.receiving[usize::from(class & 7)];
        granted_bytes.saturating_sub(received_bytes)
    }

    /// Whether what waits here keeps the other end of a link of this `rate` and one-way `delay` from using it: the room
    /// left is less than rate x round trip of a frame. Where all credits together do not cover that, whether it is
    /// less than a frame; what else the other end waits for is no fault of what waits here.
    pub fn holds_back(&self, class: u8, rate: Rate, delay: Time) -> bool {
        let frame = self.mtu_bytes + WIRE_OVERHEAD_BYTES;
        let round_trip = sufficient_credits(rate, delay, self.mtu_bytes, 0) - 2 * frame;
        let needed = if self.credits_bytes < round_trip + frame { self.mtu_bytes } else { round_trip };
        self.classes & 1 << class != 0 && self.room_bytes(class) < needed
    }

    /// The room for each class.
    pub fn credits_bytes(&self) -> u64 {
        self.credits_bytes
    }

    fn limit(&self, class: u8, held_bytes: u64) -> u64 {
        (self.receiving[usize::from(class & 7)].received_bytes + self.credits_bytes).saturating_sub(held_bytes)
    }

    /// Owes a message for every class, whatever changed: the periodic repetition, and a link that came back.
    pub fn owe_all(&mut self) {
        self.owed = self.classes;
    }

    /// The link failed: no message can be sent.
    pub fn owe_nothing(&mut self) {
        self.owed = 0;
    }

    /// The class whose message goes next, if one is owed.
    #[inline]
    pub fn next_owed(&self) -> Option<u8> {
        (self.owed != 0).then(|| self.owed.trailing_zeros() as u8)
    }

    /// The message for `class`, as it stands while `held_bytes` take room: what this end has sent, and up to where
    /// the other may. It is owed no longer. What was granted is never taken back.
    pub fn message(&mut self, class: u8, held_bytes: u64) -> (u64, u64) {
        self.owed &= !(1 << class);
        let limit_bytes = self.limit(class, held_bytes);
        let receiving = &mut self.receiving[usize::from(class & 7)];
        receiving.granted_bytes = receiving.granted_bytes.max(limit_bytes);
        (self.sending[usize::from(class & 7)].sent_bytes, receiving.granted_bytes)
    }

    /// The classes that wait for credits, a bit each.
    #[inline]
    pub fn short(&self) -> u8 {
        self.short
    }

    /// The earliest instant from `from` on at which `class` had the credits for its next frame; [`Time::MAX`] if it
    /// waits for them.
    pub fn has_credits_at(&self, class: u8, from: Time) -> Time {
        if self.short & 1 << class != 0 { Time::MAX } else { from.max(self.sending[usize::from(class & 7)].ended_at) }
    }

    /// End of the last wait of `class` that has ended; zero if there was none.
    pub fn ended_at(&self, class: u8) -> Time {
        self.sending[usize::from(class & 7)].ended_at
    }

    /// Since when `class` waits; `None` if it does not.
    pub fn waits_since(&self, class: u8) -> Option<Time> {
        (self.short & 1 << class != 0).then_some(self.sending[usize::from(class & 7)].since)
    }

    /// Time that `class` has waited up to `now`.
    pub fn waited(&self, now: Time, class: u8) -> Time {
        let running = self.waits_since(class).map_or(Time::ZERO, |since| now.saturating_sub(since));
        self.sending[usize::from(class & 7)].waited + running
    }

    /// Time that all classes together have waited up to `now`.
    pub fn total_waited(&self, now: Time) -> Time {
        (0..CLASSES as u8).map(|class| self.waited(now, class)).sum()
    }

    /// Time up to `now` in which at least one class waited: at most `now`.
    pub fn short_time(&self, now: Time) -> Time {
        let running = if self.short == 0 { Time::ZERO } else { now.saturating_sub(self.port_since) };
        self.port_waited + running
    }

    /// The longest wait of any class up to `now`.
    pub fn longest_wait(&self, now: Time) -> Time {
        let running = (0..CLASSES as u8).filter_map(|class| self.waits_since(class));
        running.map(|since| now.saturating_sub(since)).fold(self.longest, Time::max)
    }

    /// How many waits began, how many ended, and how many go on.
    pub fn counts(&self) -> (u64, u64, u64) {
        (self.begun, self.ended, u64::from(self.short.count_ones()))
    }
}

#[cfg(test)]
#[path = "cbfc_tests.rs"]
mod tests;
