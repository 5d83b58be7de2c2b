//! Interfaces between a host and the two endpoints of a flow.
//!
//! A host owns clocks, timers, the wire and the frames; a [`Sender`] or [`Receiver`] owns the state of its transport.
//! The interface covers rates (`Offer::At`), windows (`Offer::Blocked` until an acknowledgement arrives), probe trains
//! (segments of [`Kind::Probe`], stamped at departure) and receiver-driven pulls (`Offer::Blocked` until a pull
//! arrives). The host chooses class and path if the transport does not.

use crate::bounce_reaction::BouncedFlow;
use crate::control_state::ControlState;
use crate::frame::{Detail, Frame, Kind};
use crate::rate_control::RateObservation;
use crate::telemetry::Hop;
use units::random::Stream;
use units::{Rate, Time};

/// Arguments of every call from a host to a state machine.
pub struct Ctx<'a> {
    /// The host's local time; with a frame, its arrival time. Timestamps of the remote endpoint are in the
    /// remote host's local time.
    pub now: Time,
    /// The host's random stream.
    pub random: &'a mut Stream,
    /// Control frames to send to the remote endpoint, in order: from a receiver to its sender, or from a sender to its
    /// receiver. They carry the flow's number.
    pub replies: &'a mut Vec<Reply>,
    /// Telemetry that the frame collected, in the order of its hops; empty in all other calls.
    pub telemetry: &'a [Hop],
}

impl<'a> Ctx<'a> {
    /// Creates the arguments of a call at `now` without telemetry.
    pub fn new(now: Time, random: &'a mut Stream, replies: &'a mut Vec<Reply>) -> Self {
        Ctx { now, random, replies, telemetry: &[] }
    }
}

/// Properties of a flow at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowStart {
    /// Payload in bytes; `u64::MAX` for an endless flow. Zero counts as one byte, so that a last frame exists.
    pub size_bytes: u64,
    /// Earliest departure of the first byte, in the host's local time.
    pub start: Time,
    /// Datagrams only: frames due at or after this instant are not made; [`Time::MAX`] for never.
    pub stop: Time,
    /// Rate of the sender's port.
    pub line_rate: Rate,
    /// Round-trip time of a full packet and its acknowledgement on the flow's path without queuing. Zero unless
    /// [`crate::transport::TransportParameters::wants_round_trip`] is set.
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
    /// Field that depends on the kind.
    pub detail: Detail,
    /// See [`crate::frame::flags`].
    pub flags: u8,
    /// Frame length in bytes, at least 64.
    pub size_bytes: u16,
    /// Traffic class, one of [`crate::custom::Transport::classes`]; `None` for the host's choice.
    pub class: Option<u8>,
    /// Entropy for routing; `None` for the host's choice. A reply with the entropy of its data frame identifies the
    /// path of that frame to the sender.
    pub entropy: Option<u32>,
}

/// A data or probe frame that a sender puts on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Segment {
    /// Data or probe.
    pub kind: Kind,
    /// Data: offset of its first byte in the flow. Probe: defined by the transport.
    pub seq: u64,
    /// Payload in bytes.
    pub payload_bytes: u16,
    /// Frame length in bytes from destination address to FCS, at least 64.
    pub size_bytes: u16,
    /// See [`crate::frame::flags`].
    pub flags: u8,
    /// Creation time of the payload: the due time of a datagram, even if it waited for the wire; `ctx.now` in other
    /// transports.
    pub stamp: Time,
    /// Earliest time of the next segment, as in [`Offer::At`]; [`Time::ZERO`] if the host must poll. Saves a paced
    /// sender one poll per packet.
    pub next: Time,
    /// Value of [`Sender::waits`] after this segment. Saves a poll of a blocked sender.
    pub waits: bool,
    /// Metadata for the receiver in addition to the payload. In data frames the host replaces [`Detail::NONE`] with the
    /// start time of the flow.
    pub detail: Detail,
    /// Traffic class, one of [`crate::custom::Transport::classes`]; `None` for that of the flow. If the class is
    /// paused, the frame waits in its queue, and the host polls the flow again after the frame's time on the wire.
    pub class: Option<u8>,
    /// Entropy for routing; `None` for the host's choice and on flows with an explicit path.
    pub entropy: Option<u32>,
}

/// Result of [`Sender::poll`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Send this segment now; the sender counts it as sent.
    Send(Segment),
    /// Nothing to send before this instant, which is later than now. Poll then, or after any other call.
    At(Time),
    /// Nothing to send until a frame or a timer arrives.
    Blocked,
    /// Nothing to send any more: every byte is sent and, in reliable transports, acknowledged.
    Done,
}

/// Statistics of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStatistics {
    /// Payload bytes sent more than once.
    pub retransmitted_bytes: u64,
    /// Number of retransmission timeouts.
    pub timeouts: u32,
    /// Time at which the last byte arrived at the receiver, as an acknowledgement reports it; `None` without such a
    /// report.
    pub delivered: Option<Time>,
}

/// The sending end of one flow.
pub trait Sender {
    /// Handles an acknowledgement, notification or pull of this flow, or the header of one of its data frames that a
    /// switch returned ([`Kind::Returned`]).
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame);
    /// Handles the timer of [`Sender::next_timer`]. Late and spurious calls are harmless.
    fn on_timer(&mut self, ctx: &mut Ctx<'_>);
    /// Time of the next [`Sender::on_timer`]; [`Time::MAX`] for never.
    fn next_timer(&self) -> Time;
    /// Returns the next action when the wire is free and the class is not paused.
    fn poll(&mut self, ctx: &mut Ctx<'_>) -> Offer;
    /// Whether [`Sender::poll`] would return [`Offer::Blocked`] and change nothing, until a frame or a timer arrives.
    /// False is always allowed. True saves a poll of a blocked sender.
    fn waits(&self) -> bool {
        false
    }
    /// Handles a data frame of this flow that switches bounced back; the host resends it. Halves window or rate at most
    /// once per `every` frames and per round trip, and returns true if it did. The host keeps `returns` between calls.
    /// Senders without window or rate return false.
    fn on_returned(&mut self, _ctx: &mut Ctx<'_>, _returns: &mut BouncedFlow, _every: u32) -> bool {
        false
    }
    /// Appends a message of `bytes` to the connection, from `now` on. Its bytes follow those of the last message;
    /// window, rate and their state persist. Returns false unless
    /// [`TransportParameters::has_connections`](crate::transport::TransportParameters::has_connections) is true.
    fn extend(&mut self, _now: Time, _bytes: u64) -> bool {
        false
    }
    /// First byte of the connection that is not acknowledged; 0 if [`Sender::extend`] is unsupported.
    fn acknowledged(&self) -> u64 {
        0
    }
    /// Statistics for the flow's record.
    fn statistics(&self) -> SenderStatistics;
    /// Returns the state of the congestion control at `now`, a time of the host's clock that is not before the previous
    /// call of a method of this sender. Has no side effects.
    fn control_state(&self, _now: Time) -> ControlState {
        ControlState::default()
    }
    /// Sets the rate to `share` (0 to 1) of the port's rate; see [`crate::external`]. Returns true if the rate changed.
    fn set_share(&mut self, _share: f64) -> bool {
        false
    }
    /// Returns and resets the observations since the last call, for flows with an external rate.
    fn take_observation(&mut self) -> Option<RateObservation> {
        None
    }
    /// For tests of boxed senders: the rate in bits per second, 0 if it has none.
    #[cfg(test)]
    fn pace_bps(&mut self, _now: Time) -> u64 {
        0
    }
}

/// Effect of one data frame at its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Payload bytes that had not arrived before.
    pub new_bytes: u32,
    /// Whether this frame completed the flow; true for exactly one frame of a complete flow.
    pub completed: bool,
}

/// The receiving end of one flow.
pub trait Receiver {
    /// Handles a data frame of this flow, or a trimmed one ([`Kind::Trimmed`]) whose header delivers no new byte. Probe
    /// and control frames arrive here too, if the transport's senders send them; they have no payload.
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt;
    /// Handles the timer of [`Receiver::next_timer`]. Late and spurious calls are harmless.
    fn on_timer(&mut self, ctx: &mut Ctx<'_>);
    /// Time of the next [`Receiver::on_timer`]; [`Time::MAX`] for never.
    fn next_timer(&self) -> Time;
    /// Whether the payload of `frame` has already arrived, so that a retransmission is needless.
    fn holds(&self, _frame: &Frame) -> bool {
        false
    }
    /// First byte that has not arrived. For complete flows this is the end of the flow, or a little beyond it if the
    /// receiver counts packets. 0 if unsupported.
    fn next_expected(&self) -> u64 {
        0
    }
    /// Number of packets that the receiver would request in its next pull slot; 0 unless the transport is
    /// receiver-driven. All flows that a port receives share its link, so the host allocates the pull slots to them
    /// ([`crate::ndp::PullPacer`]).
    fn wants(&self) -> u32 {
        0
    }
    /// Mean one-way delay of recent frames in picoseconds, by the clocks of both ends: negative if the sender's clock
    /// is ahead. `None` if the receiver does not measure it.
    fn delay_ps(&self) -> Option<i64> {
        None
    }
    /// Uses a pull slot: requests packets and returns their number.
    fn pull(&mut self, _ctx: &mut Ctx<'_>) -> u32 {
        0
    }
}
