//! Interface of rate controls: their parameters, the events of a flow, and the rate. The list of rate controls and the
//! sender that they pace are in [`crate::roce::control`].

use crate::control_state::ControlState;
use crate::frame::{CongestionMessage, Frame};
use crate::parameters::OwnParameters;
use crate::settings::ParameterError;
use crate::telemetry::Hop;
use units::{Rate, Time};

/// The parameters that a rate control adds to those of RoCE.
pub trait ControlSettings: OwnParameters {
    /// Switch support that the control needs.
    const NEEDS: SwitchSupport = SwitchSupport::Nothing;
    /// Checks the values against each other and against full packets of this payload in bytes.
    ///
    /// # Errors
    /// If they contradict each other.
    fn check(&self, payload_bytes: u16) -> Result<(), ParameterError>;
    /// Bytes per acknowledgement, if the control determines them in place of `ack_every`.
    fn acknowledged_bytes(&self) -> Option<u64> {
        None
    }
    /// Length in bytes of the longest frame that the control sends in addition to data and acknowledgements.
    fn largest_frame_bytes(&self) -> u16 {
        0
    }
    /// Bitmask of the traffic classes of the control's own frames, other than the flow's class.
    fn classes(&self) -> u8 {
        0
    }
    /// Whether data frames of the flows or the control's own frames collect telemetry.
    fn collects(&self) -> bool {
        false
    }
    /// Bytes of telemetry in each data frame and acknowledgement; `None` if they carry none.
    fn telemetry_bytes(&self) -> Option<u16> {
        None
    }
    /// Whether the control needs the round trip of its flow's path ([`FlowLimits::round_trip`]).
    fn wants_round_trip(&self) -> bool {
        false
    }
    /// Whether the control limits the data in flight by its own window ([`RateController::window_bytes`]).
    fn has_window(&self) -> bool {
        false
    }
    /// Returns the setting without which `key` has no effect; `None` if `key` has an effect.
    fn idle(&self, _key: &str) -> Option<&'static str> {
        None
    }
    /// Lowest port rate that the control supports, with the parameter that sets this limit.
    fn least_line_rate(&self) -> Option<(&'static str, Rate)> {
        None
    }
}

/// Switch support that a rate control needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchSupport {
    /// None.
    Nothing,
    /// ECN marks; data frames are ECN-capable.
    Marks,
    /// QCN congestion points at queues ([`crate::qcn`]).
    CongestionPoints,
}

/// Limits of a flow's rate, and its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowLimits {
    /// Highest rate of the flow.
    pub most: Rate,
    /// Rate of the sender's port.
    pub line: Rate,
    /// Start time.
    pub start: Time,
    /// Payload of a full packet in bytes.
    pub payload_bytes: u16,
    /// Round-trip time of a full packet and its acknowledgement on the path without queuing; zero unless
    /// [`ControlSettings::wants_round_trip`] is set and there is a path.
    pub round_trip: Time,
}

/// A rate control: handles the events of a flow and returns its rate. Default methods ignore the event.
///
/// The driver calls [`RateController::rate`] at [`RateController::next_change`] only while a frame waits for its pacing
/// slot, so that an idle flow needs no event. Implementations must apply all changes since the last call in that call.
pub trait RateController {
    /// Parameters of the rate control, shared by all flows.
    type Parameters: ControlSettings;
    /// Makes the control of a flow within `limits`.
    fn new(parameters: &Self::Parameters, limits: FlowLimits) -> Self;
    /// Rate at `now`, which counts wire bytes (with preamble and gap); above zero and at most the line rate.
    fn rate(&mut self, parameters: &Self::Parameters, now: Time) -> Rate;
    /// Highest rate of the flow, from its limits.
    fn most(&self) -> Rate;
    /// Next time at which the rate changes without an event; [`Time::MAX`] for never.
    fn next_change(&self) -> Time {
        Time::MAX
    }
    /// Handles the departure of a data frame of `bytes`.
    fn on_sent(&mut self, _parameters: &Self::Parameters, _now: Time, _bytes: u64) {}
    /// Handles a congestion notification packet (CNP).
    fn on_cnp(&mut self, _parameters: &Self::Parameters, _now: Time, _frame: &Frame) {}
    /// Handles a congestion notification message (CNM).
    fn on_cnm(&mut self, _parameters: &Self::Parameters, _now: Time, _message: CongestionMessage) {}
    /// Handles an acknowledgement of new bytes.
    fn on_ack(&mut self, _parameters: &Self::Parameters, _now: Time, _ack: AckInfo<'_>) {}
    /// Handles a loss, reported by a NAK or, with `timeout`, by the retransmission timer. The packet is retransmitted.
    fn on_loss(&mut self, _parameters: &Self::Parameters, _now: Time, _timeout: bool) {}
    /// Limit on unacknowledged bytes, if [`ControlSettings::has_window`] is set. A packet may start while fewer bytes
    /// are in flight, so a limit of 1 admits one packet at a time.
    fn window_bytes(&self) -> u64 {
        u64::MAX
    }
    /// State at `now`. Called on a copy, so the implementation may advance itself to `now`.
    fn control_state(&mut self, parameters: &Self::Parameters, now: Time) -> ControlState {
        ControlState { rate: Some(self.rate(parameters, now)), ..ControlState::default() }
    }
    /// Halves the rate after bounced frames. Returns true if the rate decreased.
    fn halve(&mut self, _parameters: &Self::Parameters, _now: Time) -> bool {
        false
    }
    /// Sets the rate to `share` (0 to 1) of the line rate. Returns true if the rate changed; false in controls that
    /// determine the rate themselves.
    fn set_share(&mut self, _parameters: &Self::Parameters, _share: f64) -> bool {
        false
    }
    /// Returns and resets the observations since the last call, for external rates.
    fn take_observation(&mut self) -> Option<RateObservation> {
        None
    }
}

/// Observations of a flow since the last call, for an external rate control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateObservation {
    /// Current pacing rate, which counts wire bytes (with preamble and gap).
    pub rate: Rate,
    /// Rate of the sender's port.
    pub line: Rate,
    /// Round-trip time of a full packet and its acknowledgement on the path without queuing; zero without a path.
    pub round_trip: Time,
    /// Bytes sent, preamble and gap included.
    pub sent_bytes: u64,
    /// Payload bytes acknowledged for the first time.
    pub acknowledged_bytes: u64,
    /// Payload bytes whose acknowledgement carried ECN-Echo.
    pub marked_bytes: u64,
    /// Number of acknowledgements of new bytes.
    pub acknowledgements: u64,
    /// Sum of the round-trip times of these acknowledgements.
    pub rtt_sum: Time,
    /// Shortest round-trip time of these acknowledgements; [`Time::MAX`] without any.
    pub rtt_least: Time,
    /// Losses reported by acknowledgements or timeouts.
    pub losses: u64,
}

impl Default for RateObservation {
    fn default() -> Self {
        RateObservation {
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

/// Contents of an acknowledgement for a rate control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckInfo<'a> {
    /// Round-trip time: time since the transmission start of the data frame that caused the acknowledgement.
    pub rtt: Time,
    /// Bytes of that data frame on the wire, preamble and gap included.
    pub wire_bytes: u64,
    /// Whether an acknowledged frame was ECN-marked.
    pub ece: bool,
    /// First byte of the flow that is not acknowledged.
    pub seq: u64,
    /// Bytes acknowledged for the first time.
    pub new_bytes: u64,
    /// Next byte to send.
    pub next: u64,
    /// Number of switches that the acknowledgement crossed.
    pub switches: u8,
    /// Telemetry of the data frame, per hop; empty without telemetry.
    pub hops: &'a [Hop],
}

/// Round trips of a flow: a round trip ends when the byte that was next to send at its start is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrips {
    /// Next byte to send at the end of the last round trip; 0 before the first.
    edge: u64,
}

impl RoundTrips {
    /// Whether `ack` ends a round trip.
    pub(crate) fn ends(&self, ack: &AckInfo<'_>) -> bool {
        ack.seq > self.edge
    }

    /// Whether a round trip has ended before.
    pub(crate) fn has_begun(&self) -> bool {
        self.edge > 0
    }

    /// Begins the next round trip with `ack`.
    pub(crate) fn begin(&mut self, ack: &AckInfo<'_>) {
        self.edge = self.edge.max(ack.next);
    }
}

/// Returns `rate` times `factor`, clamped to `least` and `most`. One correctly rounded multiplication, so that results
/// are equal on every machine.
pub(crate) fn scaled(rate: Rate, factor: f64, least: Rate, most: Rate) -> Rate {
    let scaled = (rate.as_bps() as f64 * factor.max(0.0)) as u64;
    Rate::from_bps(scaled).unwrap_or(Rate::MIN).clamp(least.min(most), most)
}
