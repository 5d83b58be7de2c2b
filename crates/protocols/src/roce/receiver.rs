//! Receiver (responder) with go-back-N: accepts packets only in order, acknowledges them, reports a missing packet by
//! a NAK, and sends a CNP for ECN marks.

use crate::endpoint::{Ctx, Receipt, Receiver, Reply};
use crate::frame::{Detail, Frame, Kind, MIN_FRAME_BYTES, flags};
use crate::roce::control::ControlParameters;
use crate::roce::parameters::RoceParameters;
use std::sync::Arc;
use units::Time;

/// Receiver state of one RoCE flow.
#[derive(Clone, Debug)]
pub struct RoceReceiver {
    parameters: Arc<RoceParameters>,
    /// Next expected byte.
    pub(super) expected: u64,
    /// Earliest time at which the NAK for `expected` may be repeated; zero if none was sent.
    next_nak: Time,
    /// Lowest `seq` above `expected` of a trimmed packet, whose header overtook queued packets; `u64::MAX` if there
    /// is none.
    cut: u64,
    /// Earliest departure of the next CNP.
    next_cnp: Time,
    /// Arrival time of the last byte of the flow.
    pub(super) completed: Option<Time>,
    /// Packets since the last acknowledgement, and packets per acknowledgement.
    unacknowledged: u32,
    ack_every: u32,
    /// Frame length of an acknowledgement.
    ack_bytes: u16,
    /// Flags of the next acknowledgement: ECE if a packet was ECN-marked since the last acknowledgement, and
    /// TELEMETRY.
    pub(super) ack_flags: u8,
}

impl RoceReceiver {
    /// Creates the receiver of one flow.
    pub fn new(parameters: &Arc<RoceParameters>) -> Self {
        RoceReceiver {
            parameters: Arc::clone(parameters),
            expected: 0,
            next_nak: Time::ZERO,
            cut: u64::MAX,
            next_cnp: Time::ZERO,
            completed: None,
            unacknowledged: 0,
            ack_every: parameters.effective_ack_every(),
            ack_bytes: parameters.ack_frame_bytes(),
            ack_flags: if parameters.control.telemetry_bytes().is_some() { flags::TELEMETRY } else { 0 },
        }
    }

    /// Creates the receiver of a complete flow of `size_bytes`, whose last byte arrived at `completed`.
    pub fn complete(parameters: &Arc<RoceParameters>, size_bytes: u64, completed: Time) -> Self {
        let mut receiver = RoceReceiver { expected: size_bytes, ..RoceReceiver::new(parameters) };
        receiver.complete_at(completed);
        receiver
    }

    /// Records the completion of the flow. From now on every duplicate is acknowledged, whatever `ack_every` is,
    /// because a retransmission means that the last acknowledgement was lost.
    fn complete_at(&mut self, now: Time) {
        self.completed = Some(now);
        self.ack_every = 1;
    }

    /// Sends an acknowledgement of all bytes below `expected`; with [`flags::NAK`] in `kind_flags` it is a NAK.
    pub(super) fn reply(&mut self, ctx: &mut Ctx<'_>, frame: &Frame, kind_flags: u8) {
        let mut flags = kind_flags | self.ack_flags;
        if self.completed.is_some() {
            flags |= flags::COMPLETE;
        }
        ctx.replies.push(Reply {
            kind: Kind::Ack,
            seq: self.expected,
            stamp: frame.stamp,
            detail: Detail::arrival(self.completed.unwrap_or(ctx.now)),
            flags,
            size_bytes: self.ack_bytes,
            ..Reply::default()
        });
        self.unacknowledged = 0;
        self.ack_flags &= !flags::ECE;
    }

    /// Handles an ECN-marked frame: sends at most one CNP per flow and CNP interval (DCQCN, sec. 3.1). It sends none
    /// for a duplicate of a complete flow, whose sender ends with the next acknowledgement.
    pub(super) fn notify(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) {
        if self.completed.is_some() {
            return;
        }
        self.ack_flags |= flags::ECE;
        let ControlParameters::Dcqcn(parameters) = &self.parameters.control else { return };
        if ctx.now < self.next_cnp {
            return;
        }
        self.next_cnp = ctx.now.saturating_add(parameters.cnp_interval);
        ctx.replies.push(Reply {
            kind: Kind::Cnp,
            seq: self.expected,
            stamp: frame.stamp,
            detail: Detail::arrival(ctx.now),
            flags: 0,
            size_bytes: parameters.cnp_bytes.max(MIN_FRAME_BYTES),
            ..Reply::default()
        });
    }

    /// Handles a trimmed `frame`. Each trimmed copy of the expected packet causes a NAK at once, even within the NAK
    /// interval, because the sender sent this copy after the previous NAK.
    #[cold]
    fn miss(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt {
        if self.completed.is_some() {
            // The frame is a duplicate: the last acknowledgement was lost or is late.
            self.reply(ctx, frame, 0);
        } else if frame.seq > self.expected {
            // Packets that the trimmed header overtook may still be in flight, so that a NAK would be premature.
            self.cut = self.cut.min(frame.seq);
        } else if frame.seq == self.expected {
            self.ask(ctx, frame);
        }
        Receipt::default()
    }

    /// Sends a NAK for the expected packet, and restarts the NAK interval.
    fn ask(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) {
        self.next_nak = ctx.now.saturating_add(self.parameters.nak_interval).max(Time::from_ps(1));
        self.cut = u64::MAX;
        self.reply(ctx, frame, flags::NAK);
    }
}

impl Receiver for RoceReceiver {
    #[inline]
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt {
        if frame.has(flags::CE) {
            self.notify(ctx, frame);
        }
        if frame.kind == Kind::Trimmed {
            return self.miss(ctx, frame);
        }
        if frame.seq > self.expected {
            // InfiniBand, 9.7.5: a packet is missing, so that later packets are dropped. One NAK is sent, and
            // repeated after the NAK interval.
            if ctx.now >= self.next_nak {
                self.ask(ctx, frame);
            }
            return Receipt::default();
        }
        let mut receipt = Receipt::default();
        if frame.seq == self.expected && self.completed.is_none() {
            self.expected += u64::from(frame.payload_bytes);
            self.next_nak = Time::ZERO;
            receipt.new_bytes = u32::from(frame.payload_bytes);
            if frame.has(flags::LAST) {
                self.complete_at(ctx.now);
                receipt.completed = true;
            }
        }
        if self.expected >= self.cut {
            // A trimmed header had overtaken this packet. If its packet is the next expected packet now, it is
            // missing: send a NAK.
            let missing = self.expected == self.cut;
            self.cut = u64::MAX;
            if missing {
                self.ask(ctx, frame);
                return receipt;
            }
        }
        // InfiniBand, 9.7.5: duplicates are acknowledged too, since the previous acknowledgement may have been lost.
        self.unacknowledged += 1;
        if self.unacknowledged >= self.ack_every || frame.ends_message() {
            self.reply(ctx, frame, 0);
        }
        receipt
    }

    fn on_timer(&mut self, _ctx: &mut Ctx<'_>) {}

    fn next_timer(&self) -> Time {
        Time::MAX
    }

    fn holds(&self, frame: &Frame) -> bool {
        frame.seq < self.expected
    }

    fn next_expected(&self) -> u64 {
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roce::ConnectionParameters;
    use crate::roce::control::ControlParameters;
    use units::random::Stream;

    /// Passes packets (arrival in microseconds, number, flags) to a receiver. Returns its replies (kind, next
    /// expected packet, flags).
    fn answers(parameters: RoceParameters, packets: &[(u64, u64, u8)]) -> Vec<(Kind, u64, u8)> {
        let mut receiver = RoceReceiver::new(&Arc::new(parameters));
        let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
        for &(us, packet, flags) in packets {
            let frame = Frame { seq: packet * 1000, payload_bytes: 1000, flags, ..Frame::default() };
            let mut ctx = Ctx::new(Time::from_us(us), &mut random, &mut replies);
            receiver.on_frame(&mut ctx, &frame);
        }
        replies.iter().map(|reply| (reply.kind, reply.seq / 1000, reply.flags)).collect()
    }

    #[test]
    fn a_gap_is_requested_once_until_progress_or_the_interval() {
        let packets =
            [(0, 0, 0), (1, 2, 0), (2, 3, 0), (499, 4, 0), (501, 5, 0), (502, 1, 0), (503, 3, 0), (504, 4, 0)];
        let expected = [(1, 0), (1, flags::NAK), (1, flags::NAK), (2, 0), (2, flags::NAK)];
        let expected = expected.map(|(packet, flags)| (Kind::Ack, packet, flags));
        assert_eq!(answers(RoceParameters::default(), &packets), expected);
    }

    #[test]
    fn each_trimmed_copy_is_requested_in_order() {
        let mut receiver = RoceReceiver::new(&Arc::new(RoceParameters::default()));
        let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
        let mut feed = |us: u64, packet: u64, kind: Kind| {
            let frame = Frame { seq: packet * 1000, payload_bytes: 1000, kind, ..Frame::default() };
            let mut ctx = Ctx::new(Time::from_us(us), &mut random, &mut replies);
            receiver.on_frame(&mut ctx, &frame);
            let sent: Vec<(u64, u8)> = ctx.replies.drain(..).map(|reply| (reply.seq / 1000, reply.flags)).collect();
            assert_eq!(receiver.holds(&frame), packet * 1000 < receiver.expected);
            sent
        };
        let (whole, header) = (Kind::Data, Kind::Trimmed);
        assert_eq!(feed(0, 0, header), [(0, flags::NAK)]);
        assert_eq!(feed(1, 0, header), [(0, flags::NAK)], "each copy, and at once");
        assert_eq!(feed(2, 2, header), [], "it overtook packets 0 and 1");
        assert_eq!(feed(3, 0, whole), [(1, 0)]);
        assert_eq!(feed(4, 1, whole), [(2, flags::NAK)], "now 2 is the one that is missing");
        assert_eq!(feed(5, 1, header), [], "old news");
        assert_eq!(feed(6, 2, whole), [(3, 0)]);
    }

    #[test]
    fn notifications_keep_their_distance_and_marks_are_echoed() {
        let marked = |us, packet| (us, packet, flags::CE);
        let packets = [marked(0, 0), marked(10, 1), marked(49, 2), (50, 3, 0), marked(51, 4), marked(100, 5)];
        let count = |parameters| {
            let answers = answers(parameters, &packets);
            let echoed = answers.iter().filter(|answer| answer.2 & flags::ECE != 0).count();
            (answers.iter().filter(|answer| answer.0 == Kind::Cnp).count(), echoed)
        };
        assert_eq!(count(RoceParameters::dcqcn()), (2, 5));
        assert_eq!(count(RoceParameters { control: ControlParameters::Fixed, ..RoceParameters::dcqcn() }), (0, 5));
        // With `ack_every` 6, one acknowledgement covers all six packets and has ECE set.
        let mut parameters = RoceParameters::dcqcn();
        parameters.ack_every = 6;
        assert_eq!(count(parameters), (2, 1));
    }

    #[test]
    fn each_duplicate_after_completion_is_answered_for_the_whole_flow() {
        let connection = ConnectionParameters { ack_every: 100, ..ConnectionParameters::default() };
        let parameters = RoceParameters { connection, ..RoceParameters::default() };
        let packets = [(0, 0, 0), (1, 1, flags::LAST), (70, 0, 0), (71, 1, flags::LAST)];
        let done = (Kind::Ack, 2, flags::COMPLETE);
        assert_eq!(answers(parameters, &packets), [done, done, done]);
    }
}
