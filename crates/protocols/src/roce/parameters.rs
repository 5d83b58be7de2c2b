//! The parameters of RoCE, including those of its rate control.

use crate::describe::{Mechanism, extended};
use crate::endpoint::FlowStart;
use crate::frame::MIN_FRAME_BYTES;
use crate::parameters::{OwnParameters, parameters};
use crate::rate_control::SwitchSupport;
use crate::roce::control::ControlParameters;
use crate::settings::{self, ParameterError, require};
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// The packets to retransmit after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossRecovery {
    /// All packets from the missing one on (InfiniBand specification, 9.7).
    GoBackN,
    /// Missing packets only (IRN, sec. 3.1), see [`crate::roce::selective`].
    Selective,
}

/// Maximum distance from the oldest missing byte to the newest sent (IRN, sec. 3.2: BDP-FC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlightCap {
    /// The bandwidth-delay product of the flow's path.
    Path,
    /// A number of bytes.
    Bytes(u64),
    /// No bound.
    Unlimited,
}

/// Extra bytes of a NAK that identifies the packet that caused it (IRN, sec. 5).
const SELECTIVE_NAK_BYTES: u16 = 4;

parameters! {
    /// The parameters of RoCE and of the rate control on top of it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RoceParameters: Transport "roce" {
        title: "RoCEv2 reliable connection at a set rate: go-back-N, or IRN's selective repeat";
        source: "InfiniBand specification, 9.7 and annex A17 (RoCEv2); HPCC's ns-3 fork; IRN, SIGCOMM 2018";
        over: none;
        /// Payload of a full packet, in bytes.
        payload_bytes: u16 = "payload" frame_bytes, default "1000B",
            "payload of a full packet, from 1 B up to a frame of 65535 B",
            "HPCC's ns-3 fork: Mtu";
        /// Header and trailer bytes of a data frame: frame size minus payload.
        header_bytes: u16 = "header" frame_bytes, default "62B",
            "bytes of a data frame that are no payload: Ethernet with FCS 18, IPv4 20, UDP 8, BTH 12, ICRC 4",
            "InfiniBand specification, annex A17";
        /// Frame size of an acknowledgement, in bytes.
        ack_bytes: u16 = "ack" frame_bytes, default "66B",
            "length of an acknowledgement: a header with the 4 bytes of an AETH; at least 64 B on the wire",
            "InfiniBand specification, 9.3 and annex A17";
        /// Packets per acknowledgement.
        ack_every: u32 = "ack_every" count, default "1",
            "packets per acknowledgement, at least 1; the flow's last packet is always acknowledged, and with a \
             window one acknowledgement covers at most half of it",
            "InfiniBand specification, 9.7.5 (coalesced acknowledgements); HPCC's ns-3 fork: L2AckInterval";
        /// Maximum unacknowledged bytes.
        window_bytes: Option<u64> = "window" bytes_or["unlimited"], default "unlimited",
            "a packet may start while less than this is unacknowledged; unlimited: only the rate limits a flow",
            "HPCC's ns-3 fork: win";
        /// The window shrinks with the rate.
        variable_window: bool = "variable_window" switch, default "false",
            "the window shrinks with the rate: `window` times the rate over the maximum rate of the flow; then every \
             packet is acknowledged",
            "HPCC's ns-3 fork: VAR_WIN";
        /// Maximum rate; `None`: the line rate.
        rate: Option<Rate> = "rate" rate_or["line"], default "line",
            "maximum rate of a flow, counted on the wire with preamble and gap (20 B a frame); line: the port's rate",
            "RoCE starts at line rate (DCQCN, sec. 3.1)";
        /// Retransmission timeout; `None`: no timer.
        timeout: Option<Time> = "timeout" time_or["never"], default "67.108864ms",
            "go-back-n: time without progress after which all unacknowledged packets are retransmitted; never: no \
             timer",
            "InfiniBand specification, 9.7.6.1.3: 4.096us * 2^14, the usual local ACK timeout";
        /// Minimum time between two NAKs for one packet.
        nak_interval: Time = "nak_interval" time, default "500us",
            "go-back-n: one NAK per missing packet, repeated after this time",
            "HPCC's ns-3 fork: NACK Generation Interval";
        /// The packets to retransmit after a loss.
        loss_recovery: LossRecovery = "loss_recovery"
            word["go-back-n" = LossRecovery::GoBackN, "selective" = LossRecovery::Selective],
            default "go-back-n",
            "retransmission: go-back-n, all packets from the missing one on; selective, missing packets only: the \
             receiver keeps out-of-order packets and acknowledges every packet",
            "InfiniBand specification, 9.7; selective: IRN (Mittal et al., SIGCOMM 2018), sec. 3.1";
        /// Bound on new packets.
        flight_cap: FlightCap = "flight_cap"
            either["path" = FlightCap::Path, "unlimited" = FlightCap::Unlimited, bytes = FlightCap::Bytes],
            default "path",
            "selective: upper bound of the bytes between the oldest missing and the newest sent byte; path: the \
             bandwidth-delay product of the flow's idle path, in whole packets; unlimited",
            "IRN, sec. 3.2: BDP-FC, of the longest path of the network";
        /// Timeout with few packets in flight.
        rto_low: Time = "rto_low" time, default "100us",
            "selective: the timeout with few packets in flight, longer than a round trip",
            "IRN, sec. 4.1";
        /// Timeout with more packets in flight.
        rto_high: Time = "rto_high" time, default "320us",
            "selective: the timeout with more packets in flight, at least rto_low",
            "IRN, sec. 4.1: a round trip with the queue of one congested link";
        /// Packets in flight from which `rto_high` applies.
        rto_low_packets: u32 = "rto_low_packets" count, default "3",
            "selective: below this number of packets between the oldest missing and the newest, rto_low applies",
            "IRN, sec. 3.1 and 4.1: N";
        /// Packets carry the ECT codepoint.
        ecn: bool = "ecn" switch, default "false",
            "packets are ECN-capable",
            "InfiniBand specification, annex A17.9";
    }
    beside {
        /// The rate control.
        control: ControlParameters = ControlParameters::Fixed;
    }
}

/// Description of RoCE at a fixed rate: the window does not vary. The table of [`RoceParameters`] has all parameters.
pub const FIXED_RATE: Mechanism = Mechanism {
    parameters: &extended::<{ MECHANISM.parameters.len() - 1 }>(MECHANISM.parameters, &["variable_window"], &[], &[]),
    ..MECHANISM
};

/// Meaning and source of `initial_rate`, a parameter of several rate controls.
pub(crate) const INITIAL_RATE: [&str; 2] =
    ["rate of a new flow; line: the maximum rate of the flow", "RoCE starts at line rate (DCQCN, sec. 3.1)"];

impl RoceParameters {
    /// Returns the defaults of the rate control that scenarios call `kind`.
    pub(crate) fn of_kind(kind: &str) -> Option<Self> {
        let control = if kind == MECHANISM.kind { ControlParameters::Fixed } else { ControlParameters::of_kind(kind)? };
        let mut parameters = RoceParameters { control, ..RoceParameters::default() };
        parameters.mechanism().set_defaults(|key, text| parameters.set(key, text));
        Some(parameters)
    }

    /// Returns the defaults of DCQCN.
    pub fn dcqcn() -> Self {
        RoceParameters::of_kind("dcqcn").unwrap_or_default()
    }

    /// Sets the parameter `key`, of RoCE or of its rate control, from its text in a scenario.
    ///
    /// # Errors
    /// If the parameter does not exist or cannot have this value.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError> {
        if self.mechanism().parameter(key).is_none() {
            return Err(settings::unknown(self.mechanism(), key));
        }
        if MECHANISM.parameter(key).is_some() {
            OwnParameters::set(self, key, text)
        } else {
            self.control.set(key, text)
        }
    }

    /// Checks that the values are consistent.
    ///
    /// # Errors
    /// If packets would be empty or longer than a frame can be, no acknowledgement would ever be sent, or a rate
    /// control cannot work.
    pub fn check(&self) -> Result<(), ParameterError> {
        require(self.payload_bytes > 0, "payload", "a packet carries at least 1B")?;
        let overhead = self.header_bytes.checked_add(self.control.telemetry_bytes().unwrap_or(0));
        let fits = overhead.is_some_and(|overhead| self.payload_bytes.checked_add(overhead).is_some());
        require(fits, "payload", "payload and header fit a frame of 65535B")?;
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

    /// Returns the packets per acknowledgement: at most half a window, so that the window keeps moving.
    pub(crate) fn effective_ack_every(&self) -> u32 {
        if self.moves_window() || self.is_selective() {
            // The window may shrink to one packet, and selective repeat needs a reply per packet.
            return 1;
        }
        let payload_bytes = u64::from(self.payload_bytes.max(1));
        let window = self.window_bytes.map_or(u64::MAX, |bytes| bytes / payload_bytes / 2);
        let asked = self.control.acknowledged_bytes().map_or(self.ack_every.into(), |bytes| bytes / payload_bytes);
        u32::try_from(asked.min(window)).unwrap_or(u32::MAX).max(1)
    }

    /// Returns the wire bytes of a full data packet, preamble and gap included.
    pub(crate) fn full_wire_bytes(&self) -> u64 {
        let frame_bytes = self.payload_bytes.saturating_add(self.data_header_bytes()).max(MIN_FRAME_BYTES);
        u64::from(frame_bytes) + WIRE_OVERHEAD_BYTES
    }

    /// Returns the bytes of a data frame that are no payload: the header, and the telemetry of its rate control.
    pub fn data_header_bytes(&self) -> u16 {
        self.header_bytes.saturating_add(self.control.telemetry_bytes().unwrap_or(0))
    }

    /// Returns the frame length of an acknowledgement.
    pub fn ack_frame_bytes(&self) -> u16 {
        self.ack_bytes.saturating_add(self.control.telemetry_bytes().unwrap_or(0)).max(MIN_FRAME_BYTES)
    }

    /// Returns the frame length of a NAK under selective repeat, which identifies one more packet.
    pub(crate) fn selective_nak_bytes(&self) -> u16 {
        self.ack_bytes.saturating_add(SELECTIVE_NAK_BYTES).max(MIN_FRAME_BYTES)
    }

    /// Returns the length of the longest reply to data.
    pub fn largest_ack_bytes(&self) -> u16 {
        self.ack_frame_bytes().max(if self.is_selective() { self.selective_nak_bytes() } else { 0 })
    }

    /// Returns whether only missing packets are retransmitted.
    pub fn is_selective(&self) -> bool {
        self.loss_recovery == LossRecovery::Selective
    }

    /// Returns the bound in bytes on new packets of `flow` under selective repeat: a new packet may start while fewer
    /// bytes are in flight. A full packet takes `wire_bytes` of a link. A flow without a path has no bound.
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

    /// Returns whether senders need the round trip of their flow's path.
    pub(crate) fn wants_round_trip(&self) -> bool {
        self.control.wants_round_trip() || self.is_selective() && self.flight_cap == FlightCap::Path
    }

    /// Returns the longest retransmission timeout; zero without a timer.
    pub(crate) fn max_rto(&self) -> Time {
        if self.is_selective() { self.rto_high } else { self.timeout.unwrap_or(Time::ZERO) }
    }

    /// Returns whether the window changes between acknowledgements.
    pub(crate) fn moves_window(&self) -> bool {
        self.variable_window || self.control.has_window()
    }

    /// Returns the table that describes these parameters.
    pub fn mechanism(&self) -> &'static Mechanism {
        self.control.mechanism().unwrap_or(&FIXED_RATE)
    }
}
