//! Receiver (responder) that keeps out-of-order packets.

use crate::endpoint::{Ctx, Receipt, Receiver, Reply};
use crate::frame::{Detail, Frame, Kind, flags};
use crate::ranges::Ranges;
use crate::roce::parameters::RoceParameters;
use crate::roce::receiver::RoceReceiver;
use std::sync::Arc;
use units::Time;

/// Receiver of one flow under selective repeat.
#[derive(Clone, Debug)]
pub struct SelectiveReceiver {
    roce: RoceReceiver,
    /// Frame length of a negative acknowledgement.
    nak_bytes: u16,
    arrived: Ranges,
    /// The flow's size in bytes, once its last packet has arrived.
    size_bytes: u64,
}

impl SelectiveReceiver {
    /// Creates the receiver of one flow.
    pub fn new(parameters: &Arc<RoceParameters>) -> Self {
        SelectiveReceiver {
            roce: RoceReceiver::new(parameters),
            nak_bytes: parameters.selective_nak_bytes(),
            arrived: Ranges::default(),
            size_bytes: u64::MAX,
        }
    }

    /// Creates the receiver of a complete flow of `size_bytes`, whose last byte arrived at `completed`.
    pub fn complete(parameters: &Arc<RoceParameters>, size_bytes: u64, completed: Time) -> Self {
        let roce = RoceReceiver::complete(parameters, size_bytes, completed);
        let mut receiver = SelectiveReceiver { roce, size_bytes, ..SelectiveReceiver::new(parameters) };
        receiver.arrived.insert(0, size_bytes);
        receiver
    }

    /// Sends a NAK with the first missing byte, and with the packet in `frame`, of which `bytes` payload bytes
    /// arrived (0 if it was trimmed; IRN, sec. 3.1). The NAK carries no telemetry, because the packet occupies the
    /// detail word.
    fn refuse(&mut self, ctx: &mut Ctx<'_>, frame: &Frame, bytes: u16) {
        ctx.replies.push(Reply {
            kind: Kind::Ack,
            seq: self.arrived.expected(),
            stamp: frame.stamp,
            detail: Detail::packet(frame.seq, bytes),
            flags: flags::NAK | self.roce.ack_flags & flags::ECE,
            size_bytes: self.nak_bytes,
            ..Reply::default()
        });
        self.roce.ack_flags &= !flags::ECE;
    }
}

impl Receiver for SelectiveReceiver {
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt {
        if frame.has(flags::CE) {
            self.roce.notify(ctx, frame);
        }
        let end = frame.seq + u64::from(frame.payload_bytes);
        if frame.kind == Kind::Trimmed {
            if self.roce.completed.is_some() {
                self.roce.reply(ctx, frame, 0); // a duplicate, as in go-back-N
            } else if !self.holds(frame) {
                self.refuse(ctx, frame, 0);
            }
            return Receipt::default();
        }
        if frame.has(flags::LAST) {
            self.size_bytes = end;
        }
        let mut receipt = Receipt { new_bytes: self.arrived.insert(frame.seq, end) as u32, completed: false };
        self.roce.expected = self.arrived.expected();
        if self.roce.completed.is_none() && self.roce.expected >= self.size_bytes {
            self.roce.completed = Some(ctx.now);
            receipt.completed = true;
        }
        if frame.seq <= self.roce.expected {
            // The packet is in order, or it is a duplicate whose acknowledgement may have been lost.
            self.roce.reply(ctx, frame, 0);
        } else if self.holds(frame) {
            // A packet that did not fit the range list is discarded without a reply: `holds` is false then.
            self.refuse(ctx, frame, frame.payload_bytes);
        }
        receipt
    }

    fn on_timer(&mut self, _ctx: &mut Ctx<'_>) {}

    fn next_timer(&self) -> Time {
        Time::MAX
    }

    fn holds(&self, frame: &Frame) -> bool {
        self.arrived.holds(frame.seq, frame.seq + u64::from(frame.payload_bytes))
    }

    fn next_expected(&self) -> u64 {
        self.roce.expected
    }
}
