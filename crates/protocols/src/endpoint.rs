//! Interfaces between a host and the two endpoints of a flow.
//!
//! A host owns clocks, timers, the link and the frames; a [`Sender`] or [`Receiver`] owns the state of its transport.
//! The interface covers rate-based senders (`Offer::At`), window-based senders (`Offer::Blocked` until an
//! acknowledgement arrives), probe trains (segments of [`Kind::Probe`], stamped at departure) and receiver-driven
//! transports (`Offer::Blocked` until a pull arrives). The host chooses class and path if the transport does not.

use crate::bounce_reaction::BouncedFlow;
use crate::control_state::ControlState;
use crate::frame::{Detail, Frame, Kind};
use crate::rate_control::RateObservation;
use crate::telemetry::Hop;
use units::random::Stream;
use units::{Rate, Time};

/// Arguments of every call from a host to a sender or receiver.
pub struct Ctx<'a> {
    /// Local time of the host; for a received frame, its arrival time. Timestamps from the remote endpoint are in the
    /// local time of the remote host.
    pub now: Time,
    /// The host's random stream.
    pub random: &'a mut Stream,
    /// Control frames to send to the remote endpoint, in order. The host adds the flow number.
    pub replies: &'a mut Vec<Reply>,
    /// Telemetry that the received frame collected, in the order of its hops; empty in calls without a frame.
    pub telemetry: &'a [Hop],
}

impl<'a> Ctx<'a> {
    /// Creates the arguments of a call at local time `now`, without telemetry.
    pub fn new(now: Time, random: &'a mut Stream, replies: &'a mut Vec<Reply>) -> Self {
        Ctx { now, random, replies, telemetry: &[] }
    }
}

/// Properties of a flow at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowStart {
    /// Payload in bytes; `u64::MAX` for an endless flow. A size of 0 counts as 1, so that the flow has a last frame.
    pub size_bytes: u64,
    /// Earliest departure of the first byte, in the host's local time.
    pub start: Time,
    /// Datagrams only: no frames are created at or after this time; [`Time::MAX`] for no limit.
    pub stop: Time,
    /// Rate of the sender's port.
    pub line_rate: Rate,
    /// Round-trip time of a full packet and its acknowledgement on the flow's path without queueing delay. Zero
    /// unless [`crate::transport::TransportParameters::wants_round_trip`] is true.
    pub round_trip: Time,
}

/// A control frame from one endpoint of a flow to the other: acknowledgement, notification, pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reply {
    /// Frame kind; [`Kind::Control`] if a sender sends it.
    pub kind: Kind,
    /// See [`Frame::seq`].
    pub seq: u64,
    /// See [`Frame::stamp`].
    pub stamp: Time,
    /// Value whose meaning depends on the kind.
    pub detail: Detail,
    /// See [`crate::frame::flags`].
    pub flags: u8,
    /// Frame length in bytes, at least 64.
    pub size_bytes: u16,
    /// Traffic class, one of [`crate::custom::Transport::classes`]; `None` for the host's choice.
    pub class: Option<u8>,
    /// Key of route selection; `None` for the host's choice. A reply with the entropy of its data frame tells the
    /// sender the path of that frame.
    pub entropy: Option<u32>,
}

/// A data or probe frame that a sender transmits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Segment {
    /// Data or probe.
    pub kind: Kind,
    /// Data: offset of the first payload byte in the flow. Probe: defined by the transport.
    pub seq: u64,
    /// Payload in bytes.
    pub payload_bytes: u16,
    /// Frame length in bytes from destination address to FCS, at least 64.
    pub size_bytes: u16,
    /// See [`crate::frame::flags`].
    pub flags: u8,
    /// Creation time of the payload: `ctx.now`, but for a datagram the scheduled time, even if the port was busy
    /// then.
    pub stamp: Time,
    /// Earliest time of the next segment, as in [`Offer::At`], so that a paced sender needs one poll less per packet;
    /// [`Time::ZERO`] if the host must poll.
    pub next: Time,
    /// Value of [`Sender::waits`] after this segment, so that the host does not poll a blocked sender.
    pub waits: bool,
    /// Metadata for the receiver in addition to the payload. In data frames the host replaces [`Detail::NONE`] with the
    /// start time of the flow.
    pub detail: Detail,
    /// Traffic class, one of [`crate::custom::Transport::classes`]; `None` for the class of the flow. If the class is
    /// paused, the frame waits in its queue, and the host polls the flow again after the serialisation delay of the
    /// frame.
    pub class: Option<u8>,
    /// Key of route selection; `None` for the host's choice, and for flows with an explicit path.
    pub entropy: Option<u32>,
}

/// Result of [`Sender::poll`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Send this segment now. The sender has counted it as sent.
    Send(Segment),
    /// Nothing to send before this time, which is later than `ctx.now`. The host must poll at this time, or after any
    /// other call of the sender.
    At(Time),
    /// Nothing to send until the next call of [`Sender::on_frame`] or [`Sender::on_timer`].
    Blocked,
    /// Nothing to send any more: all bytes have been sent and, in reliable transports, acknowledged.
    Done,
}

/// Statistics of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStatistics {
    /// Payload bytes sent more than once.
    pub retransmitted_bytes: u64,
    /// Number of retransmission timeouts.
    pub timeouts: u32,
    /// Time at which the last byte arrived at the receiver, as reported by an acknowledgement; `None` if not
    /// reported.
    pub delivered: Option<Time>,
}

/// The sender of one flow.
pub trait Sender {
    /// Handles an acknowledgement, notification or pull of this flow, or the header of one of its data frames that a
    /// switch trimmed and returned ([`Kind::Returned`]).
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame);
    /// Handles the timer of [`Sender::next_timer`]. Late and spurious calls are harmless.
    fn on_timer(&mut self, ctx: &mut Ctx<'_>);
    /// Time of the next [`Sender::on_timer`]; [`Time::MAX`] for never.
    fn next_timer(&self) -> Time;
    /// Returns the next action. Called when the port is idle and the class is not paused.
    fn poll(&mut self, ctx: &mut Ctx<'_>) -> Offer;
    /// Whether [`Sender::poll`] would return [`Offer::Blocked`] without a state change until the next frame or timer.
    /// It may always return false. True lets the host skip polls.
    fn waits(&self) -> bool {
        false
    }
    /// Handles a data frame of this flow that switches bounced back to the host, which resends it. Halves window or
    /// rate at most once per `every` returned frames and at most once per round trip, and returns true if it did. The
    /// host keeps `returns` between calls. Senders without window or rate return false.
    fn on_returned(&mut self, _ctx: &mut Ctx<'_>, _returns: &mut BouncedFlow, _every: u32) -> bool {
        false
    }
    /// Appends a message of `bytes` to the connection, available from `now` on. Its bytes follow those of the last
    /// message; window and rate keep their values. Returns false unless
    /// [`TransportParameters::has_connections`](crate::transport::TransportParameters::has_connections) is true.
    fn extend(&mut self, _now: Time, _bytes: u64) -> bool {
        false
    }
    /// First unacknowledged byte of the connection; 0 if [`Sender::extend`] is unsupported.
    fn acknowledged(&self) -> u64 {
        0
    }
    /// Statistics for the flow's record.
    fn statistics(&self) -> SenderStatistics;
    /// Returns the state of the congestion control at `now`, on the host's clock and not before the previous call of
    /// this sender. Has no side effects.
    fn control_state(&self, _now: Time) -> ControlState {
        ControlState::default()
    }
    /// Sets the rate to `share` (0 to 1) of the port's rate; see [`crate::external`]. Returns true if the rate changed.
    fn set_share(&mut self, _share: f64) -> bool {
        false
    }
    /// Returns and resets the observations since the previous call, for flows with an external rate.
    fn take_observation(&mut self) -> Option<RateObservation> {
        None
    }
    /// For tests of boxed senders: returns the rate in bits per second, 0 for senders without a rate.
    #[cfg(test)]
    fn pace_bps(&mut self, _now: Time) -> u64 {
        0
    }
}

/// Effect of a data frame at its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Payload bytes that had not arrived before.
    pub new_bytes: u32,
    /// Whether this frame completed the flow; true for exactly one frame of a complete flow.
    pub completed: bool,
}

/// The receiver of one flow.
pub trait Receiver {
    /// Handles a data frame of this flow, complete or trimmed ([`Kind::Trimmed`]); a trimmed one delivers no new byte.
    /// Probe and control frames from the flow's sender are also passed to this method; they have no payload.
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt;
    /// Handles the timer of [`Receiver::next_timer`]. Late and spurious calls are harmless.
    fn on_timer(&mut self, ctx: &mut Ctx<'_>);
    /// Time of the next [`Receiver::on_timer`]; [`Time::MAX`] for never.
    fn next_timer(&self) -> Time;
    /// Whether the payload of `frame` has already arrived, so that its retransmission was spurious.
    fn holds(&self, _frame: &Frame) -> bool {
        false
    }
    /// First byte that has not arrived. For complete flows this is the flow size, rounded up to a multiple of the
    /// payload if the receiver counts packets. 0 if unsupported.
    fn next_expected(&self) -> u64 {
        0
    }
    /// Number of packets that the receiver would request in its next pull slot; 0 unless the transport is
    /// receiver-driven. Since all flows that a port receives share its link, the host allocates the pull slots of the
    /// port to the flows ([`crate::ndp::PullPacer`]).
    fn wants(&self) -> u32 {
        0
    }
    /// Mean one-way delay of recent frames in picoseconds, as the difference of the receiver's and the sender's
    /// clock: negative if the sender's clock is ahead by more than the delay. `None` if the receiver does not measure
    /// it.
    fn delay_ps(&self) -> Option<i64> {
        None
    }
    /// Uses a pull slot: requests packets and returns their number.
    fn pull(&mut self, _ctx: &mut Ctx<'_>) -> u32 {
        0
    }
}
