//! Credit-based flow control: a port sends a frame only if it fits the free buffer at the other end of the link.
//!
//! ```text
//!   sending end                                     receiving end
//!   sent   --- frame, if sent + size <= limit --->  received   -> room taken ...
//!   limit  <-- Credit(sent of that end, limit) ---  limit = received + credits - held    ... and given back
//! ```
//!
//! Both counts, `sent` and `limit`, are absolute and never decrease, as in InfiniBand: a lost credit message causes
//! only delay, since the next message contains its information. Each message also carries the number of bytes that
//! its own sender has sent. A link does not reorder frames, so those of these bytes that have not arrived before the
//! message are lost, and their credits are returned.
//!
//! Each class has its own counts. All ports repeat their messages at every multiple of `regrant`, even without a
//! change, so that no loss blocks a link forever.

use crate::parameters::parameters;
use crate::partial::{EXCEPT, TIERS};
use crate::settings::require;
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

parameters! {
    /// Parameters of credit-based flow control.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CreditParameters: FlowControl "cbfc" {
        title: "credit-based flow control: a port sends only frames that fit the buffer of the other end";
        source: "Kung, Blackwell and Chapman, 1994; Katevenis, 1997; absolute limits as InfiniBand has them";
        /// Bitmask of lossless classes.
        classes: u8 = "priorities" classes, required,
            "the lossless classes, 0 to 7",
            "required: which traffic must not be lost is the operator's choice";
        /// Buffer per class at the far end of each link, in bytes, at least the largest frame. `None` computes it per
        /// link.
        credits_bytes: Option<u64> = "credits" bytes_or["auto"], default "auto",
            "buffer reserved for each lossless class at the far end of each link, at least the largest frame; auto is \
             2 x delay x rate + the credit message + 3 of the largest frames + update",
            "rate x round trip (Katevenis, 1997); one frame in transmission, one that delays the message, and the \
             remainder of the last";
        /// Freed buffer, in bytes, that triggers a credit message. `None` uses the largest frame.
        update_bytes: Option<u64> = "update" bytes_or["auto"], default "auto",
            "freed buffer that causes a grant, a positive size; auto is the largest frame. If the sender may lack \
             credits for one such frame, any freed buffer is granted immediately",
            "choice of this project: rare while no class waits, immediate otherwise";
        /// Interval of the periodic credit messages for all classes, above zero.
        regrant: Time = "regrant" time, default "100us",
            "each port sends the credits of all its classes at every multiple of this time, above zero",
            "choice of this project, of the order of InfiniBand's 65,536 symbol times";
    }
    also [EXCEPT, TIERS]
    check(parameters) {
        let credits = "\"auto\" or a size like \"20KB\": without credits no frame could be sent";
        let update = "\"auto\" or a size like \"4KB\": an update grants at least a byte";
        let regrant = "a time above zero, such as \"100us\": credits cannot be repeated without any time in between";
        [
            require(parameters.credits_bytes != Some(0), "credits", credits),
            require(parameters.update_bytes != Some(0), "update", update),
            require(parameters.regrant > Time::ZERO, "regrant", regrant),
        ]
    }
}

impl CreditParameters {
    /// Returns the buffer per class at the far end of a link of `rate` and one-way `delay`, and the freed buffer that
    /// triggers a credit message, both in bytes.
    pub fn on_link(&self, rate: Rate, delay: Time, mtu_bytes: u64) -> (u64, u64) {
        let update = self.update_bytes.unwrap_or(mtu_bytes);
        let credits = self.credits_bytes.unwrap_or_else(|| sufficient_credits(rate, delay, mtu_bytes, update));
        (credits, update)
    }
}

/// Number of traffic classes.
const CLASSES: usize = 8;

/// Returns the minimum credits in bytes with which the sender on a link of `rate` and one-way `delay` never waits for
/// credits, if the receiver forwards frames at once. They cover the propagation in both directions, a data frame, a
/// frame that delays the credit message, the message itself, and the `update_bytes` that must be free before it is
/// sent. A third frame covers a remainder of credits that is too small for a frame.
pub fn sufficient_credits(rate: Rate, delay: Time, mtu_bytes: u64, update_bytes: u64) -> u64 {
    let message = u64::from(crate::frame::MIN_FRAME_BYTES) + WIRE_OVERHEAD_BYTES;
    rate.bytes_in(delay * 2) + 1 + message + 3 * (mtu_bytes + WIRE_OVERHEAD_BYTES) + update_bytes
}

/// Transmit state of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sending {
    sent_bytes: u64,
    limit_bytes: u64,
    /// Length of the frame that waits for credits (0 if there is none), and start of its wait.
    waiting_bytes: u64,
    since: Time,
    /// End of the last completed wait for credits.
    ended_at: Time,
    /// Total time of all completed waits for credits.
    waited: Time,
}

/// Receive state of a class: bytes received, and bytes granted to the other end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Receiving {
    received_bytes: u64,
    granted_bytes: u64,
}

/// Credits of one port in both directions: the credits that it may use, and those that it grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreditPort {
    classes: u8,
    credits_bytes: u64,
    update_bytes: u64,
    mtu_bytes: u64,
    sending: [Sending; CLASSES],
    receiving: [Receiving; CLASSES],
    /// Bitmask of classes for which a credit message must be sent.
    owed: u8,
    /// Bitmask of classes that wait for credits.
    short: u8,
    begun: u64,
    ended: u64,
    longest: Time,
    /// Start of the last period in which at least one class waited for credits, and total duration of all earlier
    /// such periods.
    port_since: Time,
    port_waited: Time,
}

impl CreditPort {
    /// Creates the state at link up: all of `credits_bytes` are free at both ends for each class of the bitmask
    /// `classes`. Freed credits are granted once they reach `update_bytes`, and at once if the other end may lack
    /// credits for a frame of `mtu_bytes`: otherwise waits for credits could form a cyclic dependency (deadlock).
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

    /// Bitmask of the classes with credit-based flow control.
    #[inline]
    pub fn classes(&self) -> u8 {
        self.classes
    }

    /// Returns whether the available credits of `class` suffice for a frame of `size_bytes`.
    #[inline]
    pub fn fits(&self, class: u8, size_bytes: u64) -> bool {
        let Sending { sent_bytes, limit_bytes, .. } = self.sending[usize::from(class & 7)];
        self.classes & 1 << class == 0 || sent_bytes + size_bytes <= limit_bytes
    }

    /// Like [`CreditPort::fits`]; if the credits do not suffice, the class waits for credits from `now` on.
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

    /// Uses credits for a departing frame. [`CreditPort::fits`] must hold for it.
    #[inline]
    pub fn spend(&mut self, class: u8, size_bytes: u64) {
        self.sending[usize::from(class & 7)].sent_bytes += size_bytes;
    }

    /// Handles a credit message: the other end has sent `sent_bytes`, and permits a total of `limit_bytes`. Messages
    /// with lower numbers (out of order) have no effect. Returns true if the message ends a wait of the class.
    pub fn on_message(&mut self, now: Time, class: u8, sent_bytes: u64, limit_bytes: u64) -> bool {
        let receiving = &mut self.receiving[usize::from(class & 7)];
        // A link does not reorder frames: bytes sent before the message that have not arrived are lost.
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

    /// Ends the wait for credits of a class whose waiting frame was removed from the queue without being sent.
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

    /// Counts a received frame of `class`.
    #[inline]
    pub fn receive(&mut self, class: u8, size_bytes: u64) {
        self.receiving[usize::from(class & 7)].received_bytes += size_bytes;
    }

    /// Updates the free buffer of a class after a change of its occupied buffer to `held_bytes`. Returns true if a
    /// credit message has become due, because at least `update_bytes` are free or the other end may lack credits for
    /// a frame.
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

    /// Bytes granted to the other end that have not arrived yet: their credits are unused, or the frames are in
    /// flight.
    fn room_bytes(&self, class: u8) -> u64 {
        let Receiving { received_bytes, granted_bytes } = self.receiving[usize::from(class & 7)];
        granted_bytes.saturating_sub(received_bytes)
    }

    /// Whether the occupied buffer of `class` prevents the other end of a link of `rate` and one-way `delay` from
    /// using the full rate: the remaining credits are less than the bandwidth-delay product of a frame's round trip.
    /// If even the total credits are less than that product, the bound is one frame, because then the wait would
    /// occur even with an empty buffer.
    pub fn holds_back(&self, class: u8, rate: Rate, delay: Time) -> bool {
        let frame = self.mtu_bytes + WIRE_OVERHEAD_BYTES;
        let round_trip = sufficient_credits(rate, delay, self.mtu_bytes, 0) - 2 * frame;
        let needed = if self.credits_bytes < round_trip + frame { self.mtu_bytes } else { round_trip };
        self.classes & 1 << class != 0 && self.room_bytes(class) < needed
    }

    /// Buffer reserved per class at each end, in bytes.
    pub fn credits_bytes(&self) -> u64 {
        self.credits_bytes
    }

    fn limit(&self, class: u8, held_bytes: u64) -> u64 {
        (self.receiving[usize::from(class & 7)].received_bytes + self.credits_bytes).saturating_sub(held_bytes)
    }

    /// Makes credit messages of all classes due: for the periodic repetition, and at link up.
    pub fn owe_all(&mut self) {
        self.owed = self.classes;
    }

    /// Cancels all due credit messages, because the link has failed.
    pub fn owe_nothing(&mut self) {
        self.owed = 0;
    }

    /// Class of the next due credit message.
    #[inline]
    pub fn next_owed(&self) -> Option<u8> {
        (self.owed != 0).then(|| self.owed.trailing_zeros() as u8)
    }

    /// Returns the contents of the credit message for `class`, with `held_bytes` in the buffer: the bytes sent by
    /// this end, and the limit granted to the other end. The message is then no longer due. The limit never
    /// decreases.
    pub fn message(&mut self, class: u8, held_bytes: u64) -> (u64, u64) {
        self.owed &= !(1 << class);
        let limit_bytes = self.limit(class, held_bytes);
        let receiving = &mut self.receiving[usize::from(class & 7)];
        receiving.granted_bytes = receiving.granted_bytes.max(limit_bytes);
        (self.sending[usize::from(class & 7)].sent_bytes, receiving.granted_bytes)
    }

    /// Bitmask of the classes that wait for credits.
    #[inline]
    pub fn short(&self) -> u8 {
        self.short
    }

    /// Earliest time, not before `from`, at which `class` had credits for its next frame; [`Time::MAX`] while it
    /// waits.
    pub fn has_credits_at(&self, class: u8, from: Time) -> Time {
        if self.short & 1 << class != 0 { Time::MAX } else { from.max(self.sending[usize::from(class & 7)].ended_at) }
    }

    /// End of the last completed wait for credits of `class`; zero if there was none.
    pub fn ended_at(&self, class: u8) -> Time {
        self.sending[usize::from(class & 7)].ended_at
    }

    /// Start of the current wait for credits of `class`; `None` if it does not wait.
    pub fn waits_since(&self, class: u8) -> Option<Time> {
        (self.short & 1 << class != 0).then_some(self.sending[usize::from(class & 7)].since)
    }

    /// Total time for which `class` has waited for credits, up to `now`.
    pub fn waited(&self, now: Time, class: u8) -> Time {
        let running = self.waits_since(class).map_or(Time::ZERO, |since| now.saturating_sub(since));
        self.sending[usize::from(class & 7)].waited + running
    }

    /// Sum of the waiting times of all classes, up to `now`.
    pub fn total_waited(&self, now: Time) -> Time {
        (0..CLASSES as u8).map(|class| self.waited(now, class)).sum()
    }

    /// Total time up to `now` in which at least one class waited for credits.
    pub fn short_time(&self, now: Time) -> Time {
        let running = if self.short == 0 { Time::ZERO } else { now.saturating_sub(self.port_since) };
        self.port_waited + running
    }

    /// Longest wait for credits of any class, up to `now`.
    pub fn longest_wait(&self, now: Time) -> Time {
        let running = (0..CLASSES as u8).filter_map(|class| self.waits_since(class));
        running.map(|since| now.saturating_sub(since)).fold(self.longest, Time::max)
    }

    /// Numbers of waits for credits: begun, ended, and still open.
    pub fn counts(&self) -> (u64, u64, u64) {
        (self.begun, self.ended, u64::from(self.short.count_ones()))
    }
}

#[cfg(test)]
#[path = "cbfc_tests.rs"]
mod tests;
