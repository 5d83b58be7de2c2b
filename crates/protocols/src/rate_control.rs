//! What a rate control is: what it is told of its flow, and what its parameters answer. Which there are, and the sender
//! that they pace, is the transport's ([`crate::roce::control`]).

use crate::control_state::ControlState;
use crate::describe::Mechanism;
use crate::frame::{CongestionMessage, Frame};
use crate::settings::ParameterError;
use crate::telemetry::Hop;
use units::{Rate, Time};

/// The parameters of a rate control, beside those of RoCE.
pub trait ControlSettings: Default {
    /// The table that describes them, with those of RoCE.
    const MECHANISM: &'static Mechanism;
    /// What it is told by switches.
    const NEEDS: Needs = Needs::Nothing;
    /// Sets the parameter `key` from a scenario's text.
    ///
    /// # Errors
    /// If there is no such parameter or the text is none of its values.
    fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError>;
    /// Whether the values go together, and with full packets of this payload.
    ///
    /// # Errors
    /// If they do not.
    fn check(&self, payload_bytes: u16) -> Result<(), ParameterError>;
    /// Bytes that one acknowledgement shall answer for, where the control says so instead of `ack_every`.
    fn acknowledged_bytes(&self) -> Option<u64> {
        None
    }
    /// Length of the longest frame that it adds to data and acknowledgements.
    fn largest_frame_bytes(&self) -> u16 {
        0
    }
    /// A bit for each class of frames of its own that is not the flow's.
    fn classes(&self) -> u8 {
        0
    }
    /// Whether frames of its flows, or of its own, collect telemetry.
    fn collects(&self) -> bool {
        false
    }
    /// What telemetry takes in each data frame and each acknowledgement, where these collect any and bring it back.
    fn telemetry_bytes(&self) -> Option<u16> {
        None
    }
    /// Whether it wants to know the round trip of its flow's path ([`FlowLimits::round_trip`]).
    fn wants_round_trip(&self) -> bool {
        false
    }
    /// Whether it bounds what is on its way by a window of its own ([`RateController::window_bytes`]).
    fn has_window(&self) -> bool {
        false
    }
    /// What `key` needs to have an effect, where the values of other parameters leave it none.
    fn idle(&self, _key: &str) -> Option<&'static str> {
        None
    }
    /// The least rate of a port that it can work on, and the parameter that says so.
    fn least_line_rate(&self) -> Option<(&'static str, Rate)> {
        None
    }
}

/// What switches must do for a rate control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// They mark packets, which take part in ECN.
    Marks,
    /// Their queues are congestion points ([`crate::qcn`]).
    CongestionPoints,
}

/// What bounds the rate of a flow, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowLimits {
    /// The most that the flow may send.
    pub most: Rate,
    /// The rate of its port.
    pub line: Rate,
    /// When it starts.
    pub start: Time,
    /// Payload of a full packet.
    pub payload_bytes: u16,
    /// What a full packet and its acknowledgement take on its path, if nothing else is sent; zero where nobody
    /// [wants](ControlSettings::wants_round_trip) it, or where there is no path.
    pub round_trip: Time,
}

/// A rate control: told what happens to its flow, asked for the rate. Defaults ignore an event.
///
/// Time reaches it by [`RateController::rate`], which is asked at [`RateController::next_change`] while a
/// frame waits for its turn, so an idle flow costs no event.
pub trait RateController {
    /// Its parameters, shared by all flows.
    type Parameters: ControlSettings;
    /// The control of a flow within `limits`.
    fn new(parameters: &Self::Parameters, limits: FlowLimits) -> Self;
    /// The rate at `now`, preamble and gap included; never zero, never above the line's.
    fn rate(&mut self, parameters: &Self::Parameters, now: Time) -> Rate;
    /// The most that the flow may send, as its limits said.
    fn most(&self) -> Rate;
    /// When time alone will change the rate next; [`Time::MAX`] for never.
    fn next_change(&self) -> Time {
        Time::MAX
    }
    /// A data frame of `bytes` left.
    fn on_sent(&mut self, _parameters: &Self::Parameters, _now: Time, _bytes: u64) {}
    /// A congestion notification arrived.
    fn on_cnp(&mut self, _parameters: &Self::Parameters, _now: Time, _frame: &Frame) {}
    /// A congestion notification message arrived.
    fn on_cnm(&mut self, _parameters: &Self::Parameters, _now: Time, _message: CongestionMessage) {}
    /// An acknowledgement of bytes that had not been acknowledged arrived, `rtt` after the frame of `wire_bytes` that
    /// caused it started to leave; `ece` if that one was marked.
    fn on_ack(&mut self, _parameters: &Self::Parameters, _now: Time, _ack: Acknowledged<'_>) {}
    /// A packet is missing, as a negative acknowledgement or, with `timeout`, the timer said: it is sent again.
    fn on_loss(&mut self, _parameters: &Self::Parameters, _now: Time, _timeout: bool) {}
    /// Its own bound on what is sent and not acknowledged, where it [has one](ControlSettings::has_window). A packet
    /// may start while less than this is on its way, so 1 lets one packet go at a time.
    fn window_bytes(&self) -> u64 {
        u64::MAX
    }
    /// What it holds at `now`. Called on a copy, which may be played forward to `now`.
    fn control_state(&mut self, parameters: &Self::Parameters, now: Time) -> ControlState {
        ControlState { rate: Some(self.rate(parameters, now)), ..ControlState::default() }
    }
    /// Frames came back, bounced: halves the rate. Whether it fell.
    fn halve(&mut self, _parameters: &Self::Parameters, _now: Time) -> bool {
        false
    }
    /// Somebody outside sets the rate to `share` of the line's, 0 to 1. Whether it is another one now: never where the
    /// control sets it itself.
    fn set_share(&mut self, _parameters: &Self::Parameters, _share: f64) -> bool {
        false
    }
    /// What it has seen since it was last asked, where somebody outside sets its rate.
    fn take_seen(&mut self) -> Option<Seen> {
        None
    }
}

/// What a flow has seen since it was last asked, for who sets its rate from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// At which rate it paces now, preamble and gap included.
    pub rate: Rate,
    /// The rate of its port.
    pub line: Rate,
    /// What a full packet and its acknowledgement take on its path, if nothing else is sent; zero without a path.
    pub round_trip: Time,
    /// What left, preamble and gap included.
    pub sent_bytes: u64,
    /// Payload acknowledged for the first time.
    pub acknowledged_bytes: u64,
    /// Of this, what acknowledgements said to be marked.
    pub marked_bytes: u64,
    /// How many acknowledgements brought it.
    pub acknowledgements: u64,
    /// Their round trips together.
    pub rtt_sum: Time,
    /// The least of them; [`Time::MAX`] without any.
    pub rtt_least: Time,
    /// Packets said to be missing, and timeouts.
    pub losses: u64,
}

impl Default for Seen {
    fn default() -> Self {
        Seen {
            rate: Rate::MIN,
            line: Rate::MIN,
            round_trip: Time::ZERO,
            sent_bytes: 0,
            acknowledged_bytes: 0,
            marked_bytes: 0,
            acknowledgements: 0,
            rtt_sum: Time::ZERO,
            rtt_least: Time::MAX,
            losses: 0,
        }
    }
}

/// What an acknowledgement tells a rate control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged<'a> {
    /// From when the data frame that caused it started to leave.
    pub rtt: Time,
    /// What that frame took on the wire, preamble and gap included.
    pub wire_bytes: u64,
    /// Whether a frame that it answers for was marked.
    pub ece: bool,
    /// The first byte of the flow that is not acknowledged.
    pub seq: u64,
    /// How many bytes had not been acknowledged before.
    pub new_bytes: u64,
    /// The next byte to send.
    pub next: u64,
    /// How many switches the acknowledgement crossed.
    pub switches: u8,
    /// What the data frame collected on its way, by hops; nothing where it collected nothing, or came back without.
    pub hops: &'a [Hop],
}

/// Tells apart the rounds of a flow: one is over when what was the next byte to send is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    /// The next byte to send when the last round was over; 0 before the first.
    edge: u64,
}

impl Rounds {
    /// Whether `ack` ends a round.
    pub(crate) fn ends(&self, ack: &Acknowledged<'_>) -> bool {
        ack.seq > self.edge
    }

    /// Whether a round has ended before.
    pub(crate) fn has_begun(&self) -> bool {
        self.edge > 0
    }

    /// With `ack` the next round begins.
    pub(crate) fn begin(&mut self, ack: &Acknowledged<'_>) {
        self.edge = self.edge.max(ack.next);
    }
}

/// `rate` times `factor`, no less than `least` and no more than `most`. One correctly rounded multiplication: the same
/// on every machine.
pub(crate) fn scaled(rate: Rate, factor: f64, least: Rate, most: Rate) -> Rate {
    let scaled = (rate.as_bps() as f64 * factor.max(0.0)) as u64;
    Rate::from_bps(scaled).unwrap_or(Rate::MIN).clamp(least.min(most), most)
}
