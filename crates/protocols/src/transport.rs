//! Enums over all transports. A host stores the state of senders and receivers by value, and dispatches by `match`.
//!
//! ```text
//!  sender.poll ──Segment──▶ wire ──Frame──▶ receiver.on_frame
//!  sender.on_frame ◀──Frame── wire ◀──Reply──┘ (ctx.replies)
//! ```
//!
//! ```
//! use protocols::endpoint::{Ctx, Offer, Receiver, Sender};
//! use protocols::frame::Frame;
//! use protocols::transport::{FlowStart, TransportParameters};
//! use units::{Rate, Time, random::Stream};
//!
//! let transport = TransportParameters::build("dcqcn", [("payload", "4096B")])?;
//! let line_rate = Rate::from_gbps(100);
//! let flow = FlowStart { size_bytes: 10_000, start: Time::ZERO, stop: Time::MAX, line_rate, round_trip: Time::ZERO };
//! let (mut sender, mut receiver) = (transport.sender(&flow), transport.receiver());
//! let (mut random, mut replies) = (Stream::new(1, 0, 0), Vec::new());
//! let mut now = Time::ZERO;
//! while now < Time::from_ms(1) {
//!     let mut ctx = Ctx::new(now, &mut random, &mut replies);
//!     match sender.poll(&mut ctx) {
//!         Offer::Send(segment) => {
//!             let (seq, payload_bytes) = (segment.seq, segment.payload_bytes);
//!             let frame = Frame { seq, payload_bytes, flags: segment.flags, ..Frame::default() };
//!             receiver.on_frame(&mut ctx, &frame);
//!             for reply in replies.drain(..) {
//!                 let frame = Frame { kind: reply.kind, seq: reply.seq, flags: reply.flags, ..Frame::default() };
//!                 sender.on_frame(&mut Ctx::new(now, &mut random, &mut Vec::new()), &frame);
//!             }
//!         }
//!         Offer::At(later) => now = later,
//!         Offer::Blocked => now = sender.next_timer(),
//!         Offer::Done => break,
//!     }
//! }
//! // Three frames; the second and the third are paced at intervals of 4178 wire bytes.
//! assert_eq!(now, line_rate.serialise(4178) * 2);
//! # Ok::<(), protocols::ParameterError>(())
//! ```

use crate::bounce_reaction::BouncedFlow;
use crate::control_state::ControlState;
use crate::custom::{AnyReceiver, AnySender, CustomTransport};
use crate::datagram::{self, DatagramParameters, DatagramReceiver, DatagramSender};
use crate::dcqcn;
use crate::dctcp;
use crate::dctcp_rate;
use crate::describe::Mechanism;
use crate::eccp;
use crate::endpoint::{Ctx, Offer, Receipt, Receiver, Sender, SenderStatistics};
use crate::eqds;
use crate::external;
use crate::frame::Frame;
use crate::hetflow;
use crate::hpcc;
use crate::idle;
use crate::ndp::{self, NdpParameters, NdpReceiver, NdpSender, Pulls};
use crate::parameters::OwnParameters;
use crate::qcn;
use crate::rate_control::{RateObservation, SwitchSupport};
use crate::roce::control::ControlParameters;
use crate::roce::{self, MeasuringReceiver, ProbingSender, RoceParameters, RoceReceiver, RoceSender};
use crate::roce::{SelectiveReceiver, SelectiveSender};
use crate::settings::ParameterError;
use crate::swift;
use crate::tcp::{self, TcpParameters, TcpReceiver, TcpSender};
use crate::timely;
use std::sync::Arc;
use units::{Rate, Time};

pub use crate::endpoint::FlowStart;

/// A transport with its parameters, shared by all its flows.
#[derive(Clone, Debug, PartialEq)]
pub enum TransportParameters {
    /// See [`datagram`].
    Datagram(Arc<DatagramParameters>),
    /// See [`tcp`]; includes DCTCP, which has another reaction to ECN marks.
    Tcp(Arc<TcpParameters>),
    /// See [`roce`]; includes all rate controls, such as DCQCN.
    Roce(Arc<RoceParameters>),
    /// See [`ndp`]; includes EQDS.
    Ndp(Arc<NdpParameters>),
    /// See [`crate::custom`]; not available in scenarios.
    Custom(CustomTransport),
}

/// Descriptions of all transports.
pub const MECHANISMS: [&Mechanism; 15] = [
    &datagram::MECHANISM,
    &tcp::MECHANISM,
    &dctcp::MECHANISM,
    &roce::MECHANISM,
    &dcqcn::MECHANISM,
    &timely::MECHANISM,
    &hetflow::MECHANISM,
    &qcn::MECHANISM,
    &eccp::MECHANISM,
    &hpcc::MECHANISM,
    &dctcp_rate::MECHANISM,
    &swift::MECHANISM,
    &external::MECHANISM,
    &ndp::MECHANISM,
    &eqds::MECHANISM,
];

impl TransportParameters {
    /// Creates the transport of datagrams.
    ///
    /// # Errors
    /// If the values are inconsistent.
    pub fn datagram(parameters: DatagramParameters) -> Result<Self, ParameterError> {
        parameters.check()?;
        Ok(TransportParameters::Datagram(Arc::new(parameters)))
    }

    /// Creates a TCP transport, with any congestion control and ECN reaction.
    ///
    /// # Errors
    /// If the values are inconsistent.
    pub fn tcp(parameters: TcpParameters) -> Result<Self, ParameterError> {
        parameters.check()?;
        Ok(TransportParameters::Tcp(Arc::new(parameters)))
    }

    /// Creates a RoCE transport, with any rate control.
    ///
    /// # Errors
    /// If the values are inconsistent.
    pub fn roce(parameters: RoceParameters) -> Result<Self, ParameterError> {
        parameters.check()?;
        Ok(TransportParameters::Roce(Arc::new(parameters)))
    }

    /// Creates an NDP or EQDS transport.
    ///
    /// # Errors
    /// If the values are inconsistent.
    pub fn ndp(parameters: NdpParameters) -> Result<Self, ParameterError> {
        parameters.check()?;
        Ok(TransportParameters::Ndp(Arc::new(parameters)))
    }

    /// Creates the transport named `kind` in scenarios; `settings` (key and text) override its defaults.
    ///
    /// # Errors
    /// If there is no such transport or parameter, or a value is invalid.
    pub fn build<'a>(
        kind: &str,
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ParameterError> {
        match kind {
            "datagram" => {
                let mut parameters = DatagramParameters::default();
                settings.into_iter().try_for_each(|(key, text)| parameters.set(key, text))?;
                Self::datagram(parameters)
            }
            "tcp" | "dctcp" => {
                let mut parameters = if kind == "tcp" { TcpParameters::default() } else { TcpParameters::dctcp() };
                settings.into_iter().try_for_each(|(key, text)| parameters.set(key, text))?;
                Self::tcp(parameters)
            }
            "ndp" | "eqds" => {
                let mut parameters = if kind == "ndp" { NdpParameters::default() } else { NdpParameters::eqds() };
                settings.into_iter().try_for_each(|(key, text)| parameters.set(key, text))?;
                Self::ndp(parameters)
            }
            _ => {
                let Some(mut parameters) = RoceParameters::of_kind(kind) else {
                    let known = MECHANISMS.map(|mechanism| mechanism.kind).join(", ");
                    return Err(ParameterError::Transport { kind: kind.to_owned(), known });
                };
                settings.into_iter().try_for_each(|(key, text)| parameters.set(key, text))?;
                Self::roce(parameters)
            }
        }
    }

    /// Returns the setting, in scenario syntax, that the parameter `key` requires, if it is not in force; `None` if
    /// `key` has an effect.
    pub fn idle(&self, key: &str) -> Option<&'static str> {
        idle::needs(self, key)
    }

    /// Creates the sender of `flow`.
    pub fn sender(&self, flow: &FlowStart) -> SenderState {
        match self {
            TransportParameters::Datagram(parameters) => SenderState::Datagram(DatagramSender::new(parameters, flow)),
            TransportParameters::Tcp(parameters) => SenderState::Tcp(Box::new(TcpSender::new(parameters, flow))),
            TransportParameters::Roce(parameters) if parameters.is_selective() => {
                let sender = SelectiveSender::new(parameters, flow);
                match ProbingSender::new(parameters, flow, sender.clone()) {
                    Some(probing) => SenderState::Custom(Box::new(probing)),
                    None => SenderState::Custom(Box::new(sender)),
                }
            }
            TransportParameters::Roce(parameters) => {
                let sender = RoceSender::new(parameters, flow);
                match ProbingSender::new(parameters, flow, sender.clone()) {
                    Some(probing) => SenderState::Custom(Box::new(probing)),
                    None => SenderState::Roce(sender),
                }
            }
            TransportParameters::Ndp(parameters) => SenderState::Ndp(NdpSender::new(parameters, flow)),
            TransportParameters::Custom(transport) => SenderState::Custom(transport.sender(flow)),
        }
    }

    /// Creates the receiver of a flow; [`crate::frame::flags::LAST`] marks the end of the data.
    pub fn receiver(&self) -> ReceiverState {
        match self {
            TransportParameters::Datagram(_) => ReceiverState::Datagram(DatagramReceiver::default()),
            TransportParameters::Tcp(parameters) => ReceiverState::Tcp(Box::new(TcpReceiver::new(parameters))),
            TransportParameters::Roce(parameters) if parameters.is_selective() => {
                selective_receiver(parameters, SelectiveReceiver::new(parameters))
            }
            TransportParameters::Roce(parameters) => roce_receiver(parameters, RoceReceiver::new(parameters)),
            TransportParameters::Ndp(parameters) => ReceiverState::Ndp(NdpReceiver::new(parameters)),
            TransportParameters::Custom(transport) => ReceiverState::Custom(transport.receiver()),
        }
    }

    /// Creates the receiver of a complete flow of `size_bytes`, whose last byte arrived at `completed` on the host's
    /// clock. Hosts do not keep the receivers of complete flows. If the last acknowledgement is lost and the sender
    /// retransmits, the receiving host creates such a receiver, which acknowledges the duplicates.
    pub fn complete_receiver(&self, size_bytes: u64, completed: Time) -> ReceiverState {
        match self {
            TransportParameters::Datagram(_) => ReceiverState::Datagram(DatagramReceiver::complete(size_bytes)),
            TransportParameters::Tcp(parameters) => {
                ReceiverState::Tcp(Box::new(TcpReceiver::complete(parameters, size_bytes, completed)))
            }
            TransportParameters::Roce(parameters) if parameters.is_selective() => {
                selective_receiver(parameters, SelectiveReceiver::complete(parameters, size_bytes, completed))
            }
            TransportParameters::Roce(parameters) => {
                roce_receiver(parameters, RoceReceiver::complete(parameters, size_bytes, completed))
            }
            TransportParameters::Ndp(parameters) => {
                ReceiverState::Ndp(NdpReceiver::complete(parameters, size_bytes, completed))
            }
            TransportParameters::Custom(transport) => {
                ReceiverState::Custom(transport.complete_receiver(size_bytes, completed))
            }
        }
    }

    /// Longest retransmission timeout. A host must remember a complete flow for longer, because otherwise it would
    /// treat a late retransmission as a new flow.
    pub fn max_rto(&self) -> Time {
        match self {
            TransportParameters::Datagram(_) => Time::ZERO,
            TransportParameters::Tcp(parameters) => parameters.fixed_rto.unwrap_or(parameters.max_rto),
            TransportParameters::Roce(parameters) => parameters.max_rto(),
            // A packet is retransmitted at the second timer tick.
            TransportParameters::Ndp(parameters) => parameters.timeout.unwrap_or(Time::ZERO) * 2,
            TransportParameters::Custom(transport) => transport.max_rto(),
        }
    }

    /// Switch feature that the congestion control needs.
    pub fn needs(&self) -> SwitchSupport {
        match self {
            TransportParameters::Tcp(parameters) if matches!(parameters.ecn, tcp::EcnMode::Dctcp(_)) => {
                SwitchSupport::Marks
            }
            TransportParameters::Roce(parameters) => parameters.control.needs(),
            _ => SwitchSupport::Nothing,
        }
    }

    /// Whether data frames are ECN-capable (ECT codepoint, RFC 3168).
    pub fn is_ecn_capable(&self) -> bool {
        match self {
            TransportParameters::Tcp(parameters) => parameters.ecn != tcp::EcnMode::Off,
            TransportParameters::Roce(parameters) => parameters.ecn,
            _ => false,
        }
    }

    /// Whether senders have a window or rate that [`Sender::on_returned`] can halve, and that recovers afterwards.
    pub fn slows_down(&self) -> bool {
        match self {
            TransportParameters::Datagram(_) | TransportParameters::Ndp(_) | TransportParameters::Custom(_) => false,
            TransportParameters::Tcp(parameters) => parameters.congestion_control != tcp::CongestionControl::Fixed,
            TransportParameters::Roce(parameters) => {
                !matches!(parameters.control, ControlParameters::Fixed | ControlParameters::External(_))
            }
        }
    }

    /// Whether a connection can carry several messages one after another ([`Sender::extend`]), and keeps its window
    /// or rate between them. Datagrams and receiver-driven transports keep no state between messages. With external
    /// rate control a connection has one message, because agents control flows, not connections.
    pub fn has_connections(&self) -> bool {
        match self {
            TransportParameters::Tcp(_) => true,
            TransportParameters::Roce(_) => !self.is_external(),
            TransportParameters::Datagram(_) | TransportParameters::Ndp(_) | TransportParameters::Custom(_) => false,
        }
    }

    /// Whether an external agent sets the rates of the flows.
    pub fn is_external(&self) -> bool {
        matches!(self, TransportParameters::Roce(parameters)
            if matches!(parameters.control, ControlParameters::External(_)))
    }

    /// Payload bytes of every data frame of a flow, except for the last one.
    pub fn payload_bytes(&self) -> u16 {
        match self {
            TransportParameters::Datagram(parameters) => parameters.payload_bytes(),
            TransportParameters::Tcp(parameters) => parameters.mss_bytes,
            TransportParameters::Roce(parameters) => parameters.payload_bytes,
            TransportParameters::Ndp(parameters) => parameters.payload_bytes,
            TransportParameters::Custom(transport) => transport.payload_bytes(),
        }
    }

    /// Header bytes of a data frame, FCS included.
    pub fn header_bytes(&self) -> u16 {
        match self {
            TransportParameters::Datagram(parameters) => parameters.header_bytes,
            TransportParameters::Tcp(parameters) => parameters.header_bytes,
            TransportParameters::Roce(parameters) => parameters.data_header_bytes(),
            TransportParameters::Ndp(parameters) => parameters.header_bytes,
            TransportParameters::Custom(transport) => transport.header_bytes(),
        }
    }

    /// Bitmask of the traffic classes of the transport's own frames, without the class of the flow.
    pub fn classes(&self) -> u8 {
        match self {
            TransportParameters::Custom(transport) => transport.classes(),
            TransportParameters::Roce(parameters) => parameters.control.classes(),
            _ => 0,
        }
    }

    /// Whether senders select the path of each frame, so that frames of a flow may arrive out of order.
    pub fn chooses_paths(&self) -> bool {
        matches!(self, TransportParameters::Custom(transport) if transport.chooses_paths())
    }

    /// Whether frames of the flows collect telemetry.
    pub fn collects(&self) -> bool {
        match self {
            TransportParameters::Custom(transport) => transport.collects(),
            TransportParameters::Roce(parameters) => parameters.control.collects(),
            _ => false,
        }
    }

    /// Returns a parameter with a value that has an effect only on flows that start below their maximum rate, and the
    /// rate at which flows start; `None` if no parameter has such a value.
    pub fn needs_lower_start(&self) -> Option<(&'static str, Rate)> {
        match self {
            TransportParameters::Roce(parameters) => parameters.control.needs_lower_start(),
            _ => None,
        }
    }

    /// Minimum port rate of a host that the transport supports, with the parameter that causes this limit.
    pub fn least_line_rate(&self) -> Option<(&'static str, Rate)> {
        match self {
            TransportParameters::Roce(parameters) => parameters.control.least_line_rate(),
            _ => None,
        }
    }

    /// Length of a pull frame in bytes, if the transport is receiver-driven. The host then schedules the pulls of its
    /// flows, and sets [`FlowStart::round_trip`].
    pub fn receiver_driven(&self) -> Option<u16> {
        match self {
            TransportParameters::Ndp(parameters) => Some(parameters.control_bytes),
            _ => None,
        }
    }

    /// Length of the acknowledgement of a full packet in bytes, if senders need the RTT of their path
    /// ([`FlowStart::round_trip`]), which the host computes with this length.
    pub fn wants_round_trip(&self) -> Option<u16> {
        match self {
            TransportParameters::Roce(parameters) => {
                parameters.wants_round_trip().then(|| parameters.ack_frame_bytes())
            }
            _ => self.receiver_driven(),
        }
    }

    /// Whether acknowledgements can carry pulls.
    pub fn pulls_with_acks(&self) -> bool {
        matches!(self, TransportParameters::Ndp(parameters) if parameters.pulls == Pulls::Acks)
    }
}

/// Wraps `receiver` in the measurement that the rate control needs, if it needs one.
fn roce_receiver(parameters: &Arc<RoceParameters>, receiver: RoceReceiver) -> ReceiverState {
    match MeasuringReceiver::new(parameters, receiver.clone()) {
        Some(measuring) => ReceiverState::Custom(Box::new(measuring)),
        None => ReceiverState::Roce(receiver),
    }
}

/// Like [`roce_receiver`], for a receiver with selective repeat.
fn selective_receiver(parameters: &Arc<RoceParameters>, receiver: SelectiveReceiver) -> ReceiverState {
    match MeasuringReceiver::new(parameters, receiver.clone()) {
        Some(measuring) => ReceiverState::Custom(Box::new(measuring)),
        None => ReceiverState::Custom(Box::new(receiver)),
    }
}

/// Sender state of one flow.
#[derive(Clone, Debug)]
pub enum SenderState {
    /// See [`datagram`].
    Datagram(DatagramSender),
    /// See [`tcp`]. Boxed, since it is several times the size of the other variants.
    Tcp(Box<TcpSender>),
    /// See [`roce`].
    Roce(RoceSender),
    /// See [`ndp`].
    Ndp(NdpSender),
    /// See [`crate::custom`]. Also used for rare built-in senders, so that the `match` has few arms.
    Custom(Box<dyn AnySender>),
}

/// Receiver state of one flow.
#[derive(Clone, Debug)]
pub enum ReceiverState {
    /// See [`datagram`].
    Datagram(DatagramReceiver),
    /// See [`tcp`].
    Tcp(Box<TcpReceiver>),
    /// See [`roce`].
    Roce(RoceReceiver),
    /// See [`ndp`].
    Ndp(NdpReceiver),
    /// See [`crate::custom`]. Also used for rare built-in receivers.
    Custom(Box<dyn AnyReceiver>),
}

/// Calls a method of the active variant of an enum.
macro_rules! dispatch {
    ($kind:ident, $self:expr, $state:ident => $call:expr) => {
        match $self {
            $kind::Datagram($state) => $call,
            $kind::Tcp($state) => $call,
            $kind::Roce($state) => $call,
            $kind::Ndp($state) => $call,
            $kind::Custom($state) => $call,
        }
    };
}

impl Sender for SenderState {
    #[inline]
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) {
        dispatch!(SenderState, self, state => state.on_frame(ctx, frame))
    }
    #[inline]
    fn on_timer(&mut self, ctx: &mut Ctx<'_>) {
        dispatch!(SenderState, self, state => state.on_timer(ctx))
    }
    #[inline]
    fn next_timer(&self) -> Time {
        dispatch!(SenderState, self, state => state.next_timer())
    }
    #[inline]
    fn poll(&mut self, ctx: &mut Ctx<'_>) -> Offer {
        dispatch!(SenderState, self, state => state.poll(ctx))
    }
    #[inline]
    fn waits(&self) -> bool {
        dispatch!(SenderState, self, state => state.waits())
    }
    #[cold]
    fn on_returned(&mut self, ctx: &mut Ctx<'_>, returns: &mut BouncedFlow, every: u32) -> bool {
        dispatch!(SenderState, self, state => state.on_returned(ctx, returns, every))
    }
    #[cold]
    fn extend(&mut self, now: Time, bytes: u64) -> bool {
        dispatch!(SenderState, self, state => state.extend(now, bytes))
    }
    #[inline]
    fn acknowledged(&self) -> u64 {
        dispatch!(SenderState, self, state => state.acknowledged())
    }
    #[cold]
    fn set_share(&mut self, share: f64) -> bool {
        dispatch!(SenderState, self, state => state.set_share(share))
    }
    #[cold]
    fn take_observation(&mut self) -> Option<RateObservation> {
        dispatch!(SenderState, self, state => state.take_observation())
    }
    fn statistics(&self) -> SenderStatistics {
        dispatch!(SenderState, self, state => state.statistics())
    }
    #[cold]
    fn control_state(&self, now: Time) -> ControlState {
        dispatch!(SenderState, self, state => state.control_state(now))
    }
}

impl Receiver for ReceiverState {
    #[inline]
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt {
        dispatch!(ReceiverState, self, state => state.on_frame(ctx, frame))
    }
    #[inline]
    fn on_timer(&mut self, ctx: &mut Ctx<'_>) {
        dispatch!(ReceiverState, self, state => state.on_timer(ctx))
    }
    #[inline]
    fn next_timer(&self) -> Time {
        dispatch!(ReceiverState, self, state => state.next_timer())
    }
    #[cold]
    fn holds(&self, frame: &Frame) -> bool {
        dispatch!(ReceiverState, self, state => state.holds(frame))
    }
    fn next_expected(&self) -> u64 {
        dispatch!(ReceiverState, self, state => state.next_expected())
    }
    #[cold]
    fn delay_ps(&self) -> Option<i64> {
        dispatch!(ReceiverState, self, state => state.delay_ps())
    }
    #[inline]
    fn wants(&self) -> u32 {
        dispatch!(ReceiverState, self, state => state.wants())
    }
    #[inline]
    fn pull(&mut self, ctx: &mut Ctx<'_>) -> u32 {
        dispatch!(ReceiverState, self, state => state.pull(ctx))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limits the memory per flow, for hosts with a million flows: at most 3 cache lines (192 bytes) per sender, and
    /// 1.5 cache lines (96 bytes) per receiver.
    #[test]
    fn states_stay_small() {
        assert!(size_of::<DatagramSender>() <= 64, "{}", size_of::<DatagramSender>());
        assert!(size_of::<RoceSender>() <= 184, "{}", size_of::<RoceSender>());
        assert!(size_of::<SenderState>() <= 192, "{}", size_of::<SenderState>());
        assert!(size_of::<ReceiverState>() <= 96, "{}", size_of::<ReceiverState>());
    }

    /// The defaults in the tables equal those of the structs, and every key of a table can be set.
    #[test]
    fn defaults_are_those_of_the_tables() {
        for mechanism in MECHANISMS {
            let table = mechanism.parameters.iter().filter_map(|parameter| match parameter.default {
                crate::describe::Default::Value(text) => Some((parameter.key, text)),
                _ => None,
            });
            let plain = TransportParameters::build(mechanism.kind, []).unwrap();
            let built = TransportParameters::build(mechanism.kind, table).unwrap();
            assert_eq!(plain, built, "{}", mechanism.kind);
            let keys: std::collections::BTreeSet<_> = mechanism.parameters.iter().map(|it| it.key).collect();
            assert_eq!(keys.len(), mechanism.parameters.len(), "{} names a key twice", mechanism.kind);
        }
    }

    #[test]
    fn errors_are_reported_with_the_correct_input() {
        let error = |kind, key, text| TransportParameters::build(kind, [(key, text)]).unwrap_err().to_string();
        assert!(error("tpc", "", "").contains("datagram, "));
        assert!(error("roce", "paylod", "1KB").contains("payload"));
        assert!(error("roce", "payload", "70000B").contains("65535"));
        assert!(error("datagram", "frame", "60B").contains("64B"));
        assert!(error("dcqcn", "min_rate", "0Gbps").contains("positive"));
    }
}
