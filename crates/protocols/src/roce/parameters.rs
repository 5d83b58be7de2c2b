//! Parameters of RoCE: those of the connection and those of its rate control.

use crate::describe::Mechanism;
use crate::endpoint::FlowStart;
use crate::frame::MIN_FRAME_BYTES;
use crate::parameters::OwnParameters;
use crate::rate_control::SwitchSupport;
use crate::roce::connection::{ConnectionParameters, FIXED_RATE, FlightCap, LossRecovery, MECHANISM};
use crate::roce::control::ControlParameters;
use crate::settings::{self, ParameterError, require};
use std::ops::{Deref, DerefMut};
use units::{Time, WIRE_OVERHEAD_BYTES};

/// Additional bytes of a NAK under selective repeat, for the packet that caused it (IRN, sec. 5).
const SELECTIVE_NAK_BYTES: u16 = 4;

/// Parameters of RoCE. They dereference to the parameters of the connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoceParameters {
    /// Parameters of the connection.
    pub connection: ConnectionParameters,
    /// Parameters of the rate control.
    pub control: ControlParameters,
}

impl Deref for RoceParameters {
    type Target = ConnectionParameters;
    fn deref(&self) -> &ConnectionParameters {
        &self.connection
    }
}

impl DerefMut for RoceParameters {
    fn deref_mut(&mut self) -> &mut ConnectionParameters {
        &mut self.connection
    }
}

impl RoceParameters {
    /// Returns the defaults of the transport named `kind` in scenarios: RoCE with one of its rate controls.
    pub(crate) fn of_kind(kind: &str) -> Option<Self> {
        let control = if kind == MECHANISM.kind { ControlParameters::Fixed } else { ControlParameters::of_kind(kind)? };
        let mut parameters = RoceParameters { connection: ConnectionParameters::default(), control };
        parameters.mechanism().set_defaults(|key, text| parameters.set(key, text));
        Some(parameters)
    }

    /// Returns the defaults of DCQCN.
    pub fn dcqcn() -> Self {
        RoceParameters::of_kind("dcqcn").unwrap_or_default()
    }

    /// Sets the parameter `key` of the connection or of the rate control from its text in a scenario.
    ///
    /// # Errors
    /// If there is no such parameter, or the value is invalid.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError> {
        if self.mechanism().parameter(key).is_none() {
            return Err(settings::unknown(self.mechanism(), key));
        }
        if MECHANISM.parameter(key).is_some() {
            OwnParameters::set(&mut self.connection, key, text)
        } else {
            self.control.set(key, text)
        }
    }

    /// Checks that the values are consistent.
    ///
    /// # Errors
    /// If packets have no payload or exceed the maximum frame length, no acknowledgement is ever sent, or the
    /// parameters of the rate control are inconsistent.
    pub fn check(&self) -> Result<(), ParameterError> {
        require(self.payload_bytes > 0, "payload", "a packet carries at least 1B")?;
        let overhead = self.header_bytes.checked_add(self.control.telemetry_bytes().unwrap_or(0));
        let fits = overhead.is_some_and(|overhead| self.payload_bytes.checked_add(overhead).is_some());
        require(fits, "payload", "payload and header fit a frame of 65535B")?;
        self.check_payload_range()?;
        let fits = self.ack_bytes.checked_add(self.control.telemetry_bytes().unwrap_or(0)).is_some();
        require(fits, "ack", "it and the telemetry fit a frame of 65535B")?;
        let varies = !self.variable_window || self.window_bytes.is_some();
        require(varies, "variable_window", "it needs a limited `window`: write one")?;
        require(self.ack_every > 0, "ack_every", "at least 1 packet per acknowledgement")?;
        require(self.window_bytes != Some(0), "window", "at least 1B, or \"unlimited\"")?;
        let room = self.flight_cap != FlightCap::Bytes(0);
        require(room, "flight_cap", "at least 1B, \"path\" or \"unlimited\"")?;
        require(self.rto_low > Time::ZERO, "rto_low", "longer than a round trip")?;
        require(self.rto_high >= self.rto_low, "rto_high", "at least `rto_low`")?;
        require(self.timeout != Some(Time::ZERO), "timeout", "longer than a round trip, or \"never\"")?;
        require(self.ecn || self.control.needs() != SwitchSupport::Marks, "ecn", "the rate follows marks: true")?;
        self.control.check(self.payload_bytes)
    }

    /// Checks the range of random payloads.
    fn check_payload_range(&self) -> Result<(), ParameterError> {
        if !self.has_random_payloads() {
            return Ok(());
        }
        let go_back_n = !self.is_selective();
        require(go_back_n, "payload_deviation", "0B with loss_recovery = \"selective\", which counts full packets")?;
        let range = 1..=self.payload_bytes;
        require(range.contains(&self.min_payload_bytes), "min_payload", "at least 1B, at most `payload`")?;
        let fits = self.max_payload_bytes.checked_add(self.data_header_bytes()).is_some();
        require(fits, "max_payload", "payload and header fit a frame of 65535B")?;
        require(self.max_payload_bytes >= self.payload_bytes, "max_payload", "at least `payload`")
    }

    /// Returns whether the payloads of packets are drawn at random.
    pub fn has_random_payloads(&self) -> bool {
        self.payload_deviation_bytes > 0
    }

    /// Returns the payload of the longest packet, in bytes.
    pub fn largest_payload_bytes(&self) -> u16 {
        if self.has_random_payloads() { self.max_payload_bytes } else { self.payload_bytes }
    }

    /// Returns the number of packets per acknowledgement: at most half a window, so that acknowledgements advance the
    /// window before it is exhausted.
    pub(crate) fn effective_ack_every(&self) -> u32 {
        if self.moves_window() || self.is_selective() {
            // The window may shrink to one packet, and selective repeat acknowledges every packet.
            return 1;
        }
        let payload_bytes = u64::from(self.payload_bytes.max(1));
        let window = self.window_bytes.map_or(u64::MAX, |bytes| bytes / payload_bytes / 2);
        let interval_packets =
            self.control.acknowledged_bytes().map_or(self.ack_every.into(), |bytes| bytes / payload_bytes);
        u32::try_from(interval_packets.min(window)).unwrap_or(u32::MAX).max(1)
    }

    /// Returns the wire bytes of a full data packet, preamble and gap included.
    pub(crate) fn full_wire_bytes(&self) -> u64 {
        let frame_bytes = self.payload_bytes.saturating_add(self.data_header_bytes()).max(MIN_FRAME_BYTES);
        u64::from(frame_bytes) + WIRE_OVERHEAD_BYTES
    }

    /// Returns the bytes of a data frame without its payload: the header and the telemetry of the rate control.
    pub fn data_header_bytes(&self) -> u16 {
        self.header_bytes.saturating_add(self.control.telemetry_bytes().unwrap_or(0))
    }

    /// Returns the frame length of an acknowledgement.
    pub fn ack_frame_bytes(&self) -> u16 {
        self.ack_bytes.saturating_add(self.control.telemetry_bytes().unwrap_or(0)).max(MIN_FRAME_BYTES)
    }

    /// Returns the frame length of a NAK under selective repeat, which also identifies the packet that caused it.
    pub(crate) fn selective_nak_bytes(&self) -> u16 {
        self.ack_bytes.saturating_add(SELECTIVE_NAK_BYTES).max(MIN_FRAME_BYTES)
    }

    /// Returns the frame length of the longest acknowledgement or NAK.
    pub fn largest_ack_bytes(&self) -> u16 {
        self.ack_frame_bytes().max(if self.is_selective() { self.selective_nak_bytes() } else { 0 })
    }

    /// Returns whether only missing packets are retransmitted.
    pub fn is_selective(&self) -> bool {
        self.loss_recovery == LossRecovery::Selective
    }

    /// Returns the maximum bytes in flight of `flow` under selective repeat: a new packet may start while fewer bytes
    /// are in flight. [`FlightCap::Path`] is the bandwidth-delay product (IRN: BDP-FC), rounded up to full packets of
    /// `wire_bytes` on the wire; there is no limit if the RTT of the path is unknown.
    pub(crate) fn cap_bytes(&self, flow: &FlowStart, wire_bytes: u64) -> u64 {
        match self.flight_cap {
            FlightCap::Path if flow.round_trip > Time::ZERO => {
                let packets = flow.line_rate.bytes_in(flow.round_trip).div_ceil(wire_bytes).max(1);
                packets.saturating_mul(u64::from(self.payload_bytes))
            }
            FlightCap::Path | FlightCap::Unlimited => u64::MAX,
            FlightCap::Bytes(bytes) => bytes,
        }
    }

    /// Returns whether senders need the round-trip time of the flow's path.
    pub(crate) fn wants_round_trip(&self) -> bool {
        self.control.wants_round_trip() || self.is_selective() && self.flight_cap == FlightCap::Path
    }

    /// Returns the maximum retransmission timeout; zero without a timer.
    pub(crate) fn max_rto(&self) -> Time {
        if self.is_selective() { self.rto_high } else { self.timeout.unwrap_or(Time::ZERO) }
    }

    /// Returns whether the size of the window varies.
    pub(crate) fn moves_window(&self) -> bool {
        self.variable_window || self.control.has_window()
    }

    /// Returns the description of the mechanism with these parameters.
    pub fn mechanism(&self) -> &'static Mechanism {
        self.control.mechanism().unwrap_or(&FIXED_RATE)
    }
}
