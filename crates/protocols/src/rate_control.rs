//! Interface of rate controls: their parameters, the events of a flow, and the resulting rate. The list of rate
//! controls, and the sender whose rate they control, are in [`crate::roce::control`].

use crate::control_state::ControlState;
use crate::frame::{CongestionMessage, Frame};
use crate::parameters::OwnParameters;
use crate::settings::ParameterError;
use crate::telemetry::Hop;
use units::{Rate, Time};

/// Parameters that a rate control adds to those of RoCE.
pub trait ControlSettings: OwnParameters {
    /// Switch feature that the rate control needs.
    const NEEDS: SwitchSupport = SwitchSupport::Nothing;
    /// Checks the values, also for a full packet with a payload of `payload_bytes`.
    ///
    /// # Errors
    /// If the values are inconsistent.
    fn check(&self, payload_bytes: u16) -> Result<(), ParameterError>;
    /// Bytes per acknowledgement, if the rate control determines it instead of the parameter `ack_every`.
    fn acknowledged_bytes(&self) -> Option<u64> {
        None
    }
    /// Length in bytes of the longest frame that the rate control sends in addition to data and acknowledgements.
    fn largest_frame_bytes(&self) -> u16 {
        0
    }
    /// Bitmask of the traffic classes of the rate control's own frames, without the flow's class.
    fn classes(&self) -> u8 {
        0
    }
    /// Whether data frames, or the rate control's own frames, collect telemetry.
    fn collects(&self) -> bool {
        false
    }
    /// Telemetry bytes in each data frame and each acknowledgement; `None` without telemetry.
    fn telemetry_bytes(&self) -> Option<u16> {
        None
    }
    /// Whether the rate control needs the round-trip time of its flow's path ([`FlowLimits::round_trip`]).
    fn wants_round_trip(&self) -> bool {
        false
    }
    /// Whether the rate control has a window that limits the bytes in flight ([`RateController::window_bytes`]).
    fn has_window(&self) -> bool {
        false
    }
    /// Returns the setting that the parameter `key` requires, if it is not in force; `None` if `key` has an effect.
    fn idle(&self, _key: &str) -> Option<&'static str> {
        None
    }
    /// Returns a parameter with a value that has an effect only on flows that start below their maximum rate, and the
    /// rate at which flows start; `None` if no parameter has such a value.
    fn needs_lower_start(&self) -> Option<(&'static str, Rate)> {
        None
    }
    /// Minimum port rate that the rate control supports, with the parameter that causes this limit.
    fn least_line_rate(&self) -> Option<(&'static str, Rate)> {
        None
    }
}

/// Switch feature that a rate control needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchSupport {
    /// No switch feature.
    Nothing,
    /// ECN marking; data frames are ECN-capable.
    Marks,
    /// QCN congestion points at queues ([`crate::qcn`]).
    CongestionPoints,
}

/// Limits of a flow's rate, and properties of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowLimits {
    /// Maximum rate of the flow.
    pub most: Rate,
    /// Rate of the sender's port.
    pub line: Rate,
    /// Start time of the flow.
    pub start: Time,
    /// Payload of a full packet in bytes.
    pub payload_bytes: u16,
    /// Round-trip time of a full packet and its acknowledgement on the path without queueing delay; zero unless
    /// [`ControlSettings::wants_round_trip`] is true and the flow has a path.
    pub round_trip: Time,
}

/// Rate control of one flow: handles the events of the flow and returns its rate. The default methods ignore the
/// event.
///
/// The driver calls [`RateController::rate`] at [`RateController::next_change`] only while a frame waits for its
/// pacing slot, so that an idle flow needs no events. Therefore this call must apply all changes since the last call.
pub trait RateController {
    /// Parameters of the rate control, shared by all flows.
    type Parameters: ControlSettings;
    /// Creates the rate control of a flow with these limits.
    fn new(parameters: &Self::Parameters, limits: FlowLimits) -> Self;
    /// Returns the rate at `now`, which counts wire bytes (with preamble and gap); above zero and at most the line
    /// rate.
    fn rate(&mut self, parameters: &Self::Parameters, now: Time) -> Rate;
    /// Maximum rate of the flow.
    fn most(&self) -> Rate;
    /// Next time at which the rate changes without an event of the flow; [`Time::MAX`] for never.
    fn next_change(&self) -> Time {
        Time::MAX
    }
    /// Handles the departure of a data frame of `bytes`, without preamble and gap.
    fn on_sent(&mut self, _parameters: &Self::Parameters, _now: Time, _bytes: u64) {}
    /// Handles a congestion notification packet (CNP).
    fn on_cnp(&mut self, _parameters: &Self::Parameters, _now: Time, _frame: &Frame) {}
    /// Handles a congestion notification message (CNM).
    fn on_cnm(&mut self, _parameters: &Self::Parameters, _now: Time, _message: CongestionMessage) {}
    /// Handles an acknowledgement of new bytes.
    fn on_ack(&mut self, _parameters: &Self::Parameters, _now: Time, _ack: AckInfo<'_>) {}
    /// Handles a loss, reported by a NAK or, with `timeout`, by the retransmission timer. The packet is retransmitted.
    fn on_loss(&mut self, _parameters: &Self::Parameters, _now: Time, _timeout: bool) {}
    /// Maximum unacknowledged bytes, if [`ControlSettings::has_window`] is true. A packet may start while fewer bytes
    /// are in flight, so that a limit of 1 permits one packet at a time.
    fn window_bytes(&self) -> u64 {
        u64::MAX
    }
    /// Returns the state at `now`. Called on a copy, so that the implementation may advance itself to `now`.
    fn control_state(&mut self, parameters: &Self::Parameters, now: Time) -> ControlState {
        ControlState { rate: Some(self.rate(parameters, now)), ..ControlState::default() }
    }
    /// Halves the rate because of bounced frames. Returns true if the rate decreased.
    fn halve(&mut self, _parameters: &Self::Parameters, _now: Time) -> bool {
        false
    }
    /// Sets the rate to `share` (0 to 1) of the line rate. Returns true if the rate changed; false for rate controls
    /// that determine the rate themselves.
    fn set_share(&mut self, _parameters: &Self::Parameters, _share: f64) -> bool {
        false
    }
    /// Returns and resets the observations since the last call, for the external rate control.
    fn take_observation(&mut self) -> Option<RateObservation> {
        None
    }
}

/// Observations of a flow since the last [`RateController::take_observation`], for an external rate control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateObservation {
    /// Current pacing rate, which counts wire bytes (with preamble and gap).
    pub rate: Rate,
    /// Rate of the sender's port.
    pub line: Rate,
    /// Round-trip time of a full packet and its acknowledgement without queueing delay; zero for a flow without a
    /// path.
    pub round_trip: Time,
    /// Wire bytes sent, preamble and inter-frame gap included.
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
    /// Number of losses reported by NAKs or timeouts.
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

/// Contents of an acknowledgement that are relevant for a rate control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckInfo<'a> {
    /// Round-trip time: from the transmission start of the acknowledged data frame to the arrival of the
    /// acknowledgement.
    pub rtt: Time,
    /// Wire bytes of that data frame, preamble and inter-frame gap included.
    pub wire_bytes: u64,
    /// Whether an acknowledged frame was ECN-marked.
    pub ece: bool,
    /// First unacknowledged byte of the flow.
    pub seq: u64,
    /// Payload bytes acknowledged for the first time.
    pub new_bytes: u64,
    /// Next byte to send.
    pub next: u64,
    /// Number of switches that the acknowledgement passed through.
    pub switches: u8,
    /// Telemetry of the data frame, one entry per hop; empty without telemetry.
    pub hops: &'a [Hop],
}

/// Round trips of a flow. A round trip ends when the byte that was the next byte to send at its start is
/// acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrips {
    /// Next byte to send at the start of the current round trip; 0 before the first acknowledgement.
    edge: u64,
}

impl RoundTrips {
    /// Returns whether `ack` ends the current round trip.
    pub(crate) fn ends(&self, ack: &AckInfo<'_>) -> bool {
        ack.seq > self.edge
    }

    /// Returns whether a round trip has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.edge > 0
    }

    /// Begins a round trip at the acknowledgement `ack`.
    pub(crate) fn begin(&mut self, ack: &AckInfo<'_>) {
        self.edge = self.edge.max(ack.next);
    }
}

/// Returns `rate` times `factor`, clamped to `least` and `most`. It is one correctly rounded multiplication, so that
/// results are equal on every machine.
pub(crate) fn scaled(rate: Rate, factor: f64, least: Rate, most: Rate) -> Rate {
    let scaled = (rate.as_bps() as f64 * factor.max(0.0)) as u64;
    Rate::from_bps(scaled).unwrap_or(Rate::MIN).clamp(least.min(most), most)
}
