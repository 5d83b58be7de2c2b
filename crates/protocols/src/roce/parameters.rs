//! The parameters of RoCE, including those of its rate control.

use crate::dcqcn::DcqcnParameters;
use crate::describe::{Family, Mechanism};
use crate::frame::MIN_FRAME_BYTES;
use crate::rate_control::Needs;
use crate::roce::control::ControlParameters;
use crate::roce::described::*;
use crate::roce::selective::parameters::{FlightCap, SelectiveParameters};
use crate::settings::{self, ParameterError, require};
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// Description of RoCE at a fixed rate.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "roce",
    family: Family::Transport,
    title: "RoCEv2 reliable connection at a set rate: go-back-N, or IRN's selective repeat",
    source: "InfiniBand specification, 9.7 and annex A17 (RoCEv2); HPCC's ns-3 fork; IRN, SIGCOMM 2018",
    parameters: &[
        PAYLOAD,
        HEADER,
        ACK_BYTES,
        ACK_EVERY,
        WINDOW,
        RATE,
        TIMEOUT,
        NAK_INTERVAL,
        LOSS_RECOVERY,
        FLIGHT_CAP,
        RTO_LOW,
        RTO_HIGH,
        RTO_LOW_PACKETS,
        ECN,
    ],
};

/// The packets to retransmit after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossRecovery {
    /// All packets from the missing one on (InfiniBand specification, 9.7).
    GoBackN,
    /// Missing packets only (IRN, sec. 3.1), see [`crate::roce::selective`].
    Selective,
}

/// Extra bytes of a NAK that identifies the packet that caused it (IRN, sec. 5).
const SELECTIVE_NAK_BYTES: u16 = 4;

/// The parameters of [`MECHANISM`] and of the rate controls on top of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RoceParameters {
    /// Payload of a full packet, in bytes.
    pub payload_bytes: u16,
    /// Header and trailer bytes of a data frame: frame size minus payload.
    pub header_bytes: u16,
    /// Frame size of an acknowledgement, in bytes.
    pub ack_bytes: u16,
    /// Packets per acknowledgement.
    pub ack_every: u32,
    /// Maximum unacknowledged bytes.
    pub window_bytes: Option<u64>,
    /// The window shrinks with the rate.
    pub variable_window: bool,
    /// Maximum rate; `None`: the line rate.
    pub rate: Option<Rate>,
    /// Retransmission timeout; `None`: no timer.
    pub timeout: Option<Time>,
    /// Minimum time between two NAKs for one packet.
    pub nak_interval: Time,
    /// The packets to retransmit after a loss.
    pub loss_recovery: LossRecovery,
    /// Parameters of [`LossRecovery::Selective`].
    pub selective: SelectiveParameters,
    /// Packets carry the ECT codepoint.
    pub ecn: bool,
    /// The rate control.
    pub control: ControlParameters,
}

impl Default for RoceParameters {
    /// A fixed rate.
    fn default() -> Self {
        RoceParameters {
            payload_bytes: 1000,
            header_bytes: 62,
            ack_bytes: 66,
            ack_every: 1,
            window_bytes: None,
            variable_window: false,
            rate: None,
            timeout: Some(Time::from_ps(67_108_864_000)),
            nak_interval: Time::from_us(500),
            loss_recovery: LossRecovery::GoBackN,
            selective: SelectiveParameters::default(),
            ecn: false,
            control: ControlParameters::Fixed,
        }
    }
}

impl RoceParameters {
    /// Returns the defaults of the rate control that scenarios call `kind`.
    pub(crate) fn of_kind(kind: &str) -> Option<Self> {
        if kind == MECHANISM.kind {
            return Some(RoceParameters::default());
        }
        let control = ControlParameters::of_kind(kind)?;
        let ecn = control.needs() == Needs::Marks || matches!(control, ControlParameters::External(_));
        Some(RoceParameters { ecn, control, ..RoceParameters::default() })
    }

    /// Returns the defaults of DCQCN.
    pub fn dcqcn() -> Self {
        let control = ControlParameters::Dcqcn(DcqcnParameters::default());
        RoceParameters { ecn: true, control, ..RoceParameters::default() }
    }

    /// Sets the parameter `key`, of RoCE or of its rate control, from its text in a scenario.
    ///
    /// # Errors
    /// If the parameter does not exist or cannot have this value.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError> {
        match key {
            "payload" => self.payload_bytes = settings::frame_bytes(key, text)?,
            "header" => self.header_bytes = settings::frame_bytes(key, text)?,
            "ack" => self.ack_bytes = settings::frame_bytes(key, text)?,
            "ack_every" => self.ack_every = settings::count(key, text)?,
            "window" => self.window_bytes = settings::bytes_or(key, text, "unlimited")?,
            "variable_window" => self.variable_window = settings::switch(key, text)?,
            "rate" => self.rate = settings::rate_or(key, text, "line")?,
            "timeout" => self.timeout = settings::time_or(key, text, "never")?,
            "nak_interval" => self.nak_interval = settings::time(key, text)?,
            "loss_recovery" => {
                let words = [("go-back-n", LossRecovery::GoBackN), ("selective", LossRecovery::Selective)];
                self.loss_recovery = settings::word(key, text, &words)?;
            }
            "ecn" => self.ecn = settings::switch(key, text)?,
            _ => {
                let set = self.selective.set(key, text).or_else(|| self.control.set(key, text));
                return set.unwrap_or_else(|| Err(settings::unknown(&MECHANISM, key)));
            }
        }
        Ok(())
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
        self.selective.check()?;
        require(self.timeout != Some(Time::ZERO), "timeout", "longer than a round trip, or \"never\"")?;
        require(self.ecn || self.control.needs() != Needs::Marks, "ecn", "the rate follows marks: true")?;
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

    /// Returns whether senders need the round trip of their flow's path.
    pub(crate) fn wants_round_trip(&self) -> bool {
        self.control.wants_round_trip() || self.is_selective() && self.selective.flight_cap == FlightCap::Path
    }

    /// Returns the longest retransmission timeout; zero without a timer.
    pub(crate) fn max_rto(&self) -> Time {
        if self.is_selective() { self.selective.rto_high } else { self.timeout.unwrap_or(Time::ZERO) }
    }

    /// Returns whether the window changes between acknowledgements.
    pub(crate) fn moves_window(&self) -> bool {
        self.variable_window || self.control.has_window()
    }

    /// Returns the table that describes these parameters.
    pub fn mechanism(&self) -> &'static Mechanism {
        self.control.mechanism().unwrap_or(&MECHANISM)
    }
}
