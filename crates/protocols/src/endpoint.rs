//! The contracts between a host and the two ends of a flow.
//!
//! A host owns clocks, timers, the wire and the frames; a [`Sender`] or [`Receiver`] owns what its
//! transport must remember. The contract fits a rate (`Offer::At`), a window (`Offer::Blocked` until an
//! acknowledgement), a probe train (segments of [`Kind::Probe`] with stamps taken at departure) and a
//! receiver-driven pull (blocked until a pull arrives) alike. What a transport leaves open, such as class and path, the
//! host decides.

use crate::bounce_reaction::Returns;
use crate::control_state::ControlState;
use crate::frame::{Detail, Frame, Kind};
use crate::rate_control::Seen;
use crate::telemetry::Hop;
use units::random::Stream;
use units::{Rate, Time};

/// What a host hands to a state machine with every call.
pub struct Ctx<'a> {
    /// The host's local time. With a frame it is when that arrived. A transport sees no other clock, but for stamps of
    /// the other end, which are in that end's.
    pub now: Time,
    /// The host's random stream.
    pub random: &'a mut Stream,
    /// Control frames to send to the other end, in order: what a receiver adds goes back to the sender, what a sender
    /// adds goes to the receiver. They leave under the flow's own name.
    pub replies: &'a mut Vec<Reply>,
    /// What the frame in hand has collected on its way, in the order of its hops; nothing in all other calls.
    pub telemetry: &'a [Hop],
}

impl<'a> Ctx<'a> {
    /// A call at `now` with a frame that has collected nothing, or without one.
    pub fn new(now: Time, random: &'a mut Stream, replies: &'a mut Vec<Reply>) -> Self {
        Ctx { now, random, replies, telemetry: &[] }
    }
}

/// What a host knows when a flow starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowStart {
    /// Payload bytes; `u64::MAX` for a flow without end. Zero counts as one byte, so that there is a last
    /// frame to deliver.
    pub size_bytes: u64,
    /// When the first byte may leave, in the host's local time.
    pub start: Time,
    /// Datagrams only: frames due at or after this instant are not made; [`Time::MAX`] for never.
    pub stop: Time,
    /// Rate of the port that it leaves by.
    pub line_rate: Rate,
    /// What a full packet and the frame that answers it take on the flow's path, if nothing else is sent. Only for
    /// transports that
    /// [want to know](crate::transport::TransportParameters::wants_round_trip); zero for others.
    pub round_trip: Time,
}

/// A control frame from one end of a flow to the other: acknowledgement, notification, pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reply {
    /// What it is; of a sender's, [`Kind::Control`].
    pub kind: Kind,
    /// See [`Frame::seq`].
    pub seq: u64,
    /// See [`Frame::stamp`].
    pub stamp: Time,
    /// What its kind alone can say.
    pub detail: Detail,
    /// See [`crate::frame::flags`].
    pub flags: u8,
    /// Frame length, at least 64.
    pub size_bytes: u16,
    /// The class it leaves in, one of [`crate::custom::Transport::classes`]; `None` for the host's choice.
    pub class: Option<u8>,
    /// What its route is chosen by; `None` for the host's choice. With that of the frame that caused it, it tells the
    /// sender which path that took.
    pub entropy: Option<u32>,
}

/// A piece of the flow that a sender puts on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Segment {
    /// Data, or a probe.
    pub kind: Kind,
    /// Data: offset of its first byte in the flow. Probe: what its transport likes.
    pub seq: u64,
    /// Payload bytes.
    pub payload_bytes: u16,
    /// Frame length from destination address to FCS, at least 64.
    pub size_bytes: u16,
    /// See [`crate::frame::flags`].
    pub flags: u8,
    /// When the payload came into being: a datagram source that waits for the wire stamps the moment
    /// the packet was due, everybody else `ctx.now`.
    pub stamp: Time,
    /// The sender has nothing more before this instant, as with [`Offer::At`]; [`Time::ZERO`] if it must be
    /// asked. Spares a paced sender a question per packet.
    pub next: Time,
    /// Whether [`Sender::waits`] is true now. Spares a sender that has sent what it may a question.
    pub waits: bool,
    /// What the frame tells its receiver beside its payload; where that is nothing, the driver has it tell when the
    /// flow started.
    pub detail: Detail,
    /// The class it leaves in, one of [`crate::custom::Transport::classes`]; `None` for that of the flow. Where that
    /// class may not leave yet, the frame waits in its queue, and the flow is asked again after the time that the frame
    /// needs on the wire.
    pub class: Option<u8>,
    /// What its route is chosen by; `None` for the host's choice, and on flows with an explicit path.
    pub entropy: Option<u32>,
}

/// A sender's answer to "the wire is free".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Send this now; the sender regards it as sent.
    Send(Segment),
    /// Nothing before this instant (later than now), whatever else happens; ask then, or after any call.
    At(Time),
    /// Nothing until a frame or a timer arrives.
    Blocked,
    /// Nothing ever again: every byte is sent and, where the transport promises it, acknowledged.
    Done,
}

/// What a sender has to tell about its flow when it is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStatistics {
    /// Payload bytes sent more than once.
    pub retransmitted_bytes: u64,
    /// Retransmission timers that fired.
    pub timeouts: u32,
    /// When the receiver had every byte, as the last acknowledgement told; `None` where nobody does.
    pub delivered: Option<Time>,
}

/// The sending end of one flow.
pub trait Sender {
    /// An acknowledgement, a notification or a pull for this flow arrived, or the header of a data frame of its own
    /// that a switch sent back ([`Kind::Returned`]).
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame);
    /// The time of [`Sender::next_timer`] has come. Late and spurious calls are harmless.
    fn on_timer(&mut self, ctx: &mut Ctx<'_>);
    /// When this sender wants [`Sender::on_timer`]; [`Time::MAX`] for never.
    fn next_timer(&self) -> Time;
    /// The wire is free and the class not paused: what next?
    fn poll(&mut self, ctx: &mut Ctx<'_>) -> Offer;
    /// Whether [`Sender::poll`] would answer [`Offer::Blocked`] until a frame or a timer arrives, and change nothing.
    /// False also where that is not known without asking. Spares a sender that has sent what it may a question.
    fn waits(&self) -> bool {
        false
    }
    /// A data frame of this flow came back, bounced by switches; the driver sends it again. Whether the sender halved
    /// its window or rate for that: at most once for `every` frames and for a round trip, of which the driver keeps
    /// `returns` from one call to the next. A sender that has nothing to halve never does.
    fn on_returned(&mut self, _ctx: &mut Ctx<'_>, _returns: &mut Returns, _every: u32) -> bool {
        false
    }
    /// The connection carries another message, of `bytes`, from `now` on. Its bytes follow those of the last one, so
    /// that positions, window, rate and what they rest on go on. Whether the sender can do that: only those for which
    /// [`TransportParameters::has_connections`](crate::transport::TransportParameters::has_connections) is true.
    fn extend(&mut self, _now: Time, _bytes: u64) -> bool {
        false
    }
    /// All bytes of the connection below this are acknowledged; 0 where [`Sender::extend`] is not possible.
    fn acknowledged(&self) -> u64 {
        0
    }
    /// For the flow's record.
    fn statistics(&self) -> SenderStatistics;
    /// What its congestion control holds at `now`, on the host's clock and no earlier than the last call. Asking
    /// changes nothing.
    fn control_state(&self, _now: Time) -> ControlState {
        ControlState::default()
    }
    /// Somebody outside sets its rate to `share` of its port's, 0 to 1; see [`crate::external`]. Whether it is another
    /// one now.
    fn set_share(&mut self, _share: f64) -> bool {
        false
    }
    /// What it has seen since it was last asked, where somebody outside sets its rate.
    fn take_seen(&mut self) -> Option<Seen> {
        None
    }
    /// For tests of a sender behind a table of functions: its rate in bits a second, 0 if it has none.
    #[cfg(test)]
    fn pace_bps(&mut self, _now: Time) -> u64 {
        0
    }
}

/// What became of one data frame at its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Payload bytes that had not arrived before.
    pub new_bytes: u32,
    /// Whether with this frame every byte of the flow has arrived; true for one frame of a flow only.
    pub completed: bool,
}

/// The receiving end of one flow.
pub trait Receiver {
    /// A data frame of this flow arrived, or what a switch left of one ([`Kind::Trimmed`]): then the payload did not
    /// come with it, and no byte of it is new. Or a probe or control frame of its sender, with no payload at all; such
    /// frames come only where the transport's senders make them.
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt;
    /// The time of [`Receiver::next_timer`] has come. Late and spurious calls are harmless.
    fn on_timer(&mut self, ctx: &mut Ctx<'_>);
    /// When this receiver wants [`Receiver::on_timer`]; [`Time::MAX`] for never.
    fn next_timer(&self) -> Time;
    /// Whether the payload of `frame` has arrived already: to send it again would be needless.
    fn holds(&self, _frame: &Frame) -> bool {
        false
    }
    /// The first byte that has not arrived. Of a flow whose bytes have all arrived: where it ends, or a little behind
    /// that where the receiver counts packets. 0 where it is not known.
    fn next_expected(&self) -> u64 {
        0
    }
    /// How many packets it would ask its sender for, if it were its turn: all flows that a port receives share its
    /// link, and the driver gives them slots ([`crate::ndp::PullPacer`]). Only a receiver that drives its sender wants
    /// any.
    fn wants(&self) -> u32 {
        0
    }
    /// The mean delay of the last frames on their way here, in picoseconds, as far as two clocks can tell: less than
    /// nothing where the sender's is ahead; `None` where nobody measures it.
    fn delay_ps(&self) -> Option<i64> {
        None
    }
    /// It is this receiver's turn: asks for some of what it wants, and says for how many packets.
    fn pull(&mut self, _ctx: &mut Ctx<'_>) -> u32 {
        0
    }
}
