//! The parameters of RoCE, each described once for every mechanism that builds on it.

use crate::dcqcn::DcqcnParameters;
use crate::describe::Default::Value;
use crate::describe::{Family, Mechanism, Parameter};
use crate::frame::MIN_FRAME_BYTES;
use crate::roce::control::{ControlParameters, Needs};
use crate::settings::{self, ParameterError, require};
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

pub(crate) const PAYLOAD: Parameter = Parameter {
    key: "payload",
    default: Value("1000B"),
    meaning: "payload of a full packet, 1 B up to what a frame of 65535 B holds",
    source: "HPCC's ns-3 fork: Mtu",
};
pub(crate) const HEADER: Parameter = Parameter {
    key: "header",
    default: Value("62B"),
    meaning: "bytes of a data frame that are no payload: Ethernet with FCS 18, IPv4 20, UDP 8, BTH 12, ICRC 4",
    source: "InfiniBand specification, annex A17",
};
pub(crate) const ACK_BYTES: Parameter = Parameter {
    key: "ack",
    default: Value("66B"),
    meaning: "length of an acknowledgement: a header with the 4 bytes of an AETH; at least 64 B on the wire",
    source: "InfiniBand specification, 9.3 and annex A17",
};
pub(crate) const ACK_EVERY: Parameter = Parameter {
    key: "ack_every",
    default: Value("1"),
    meaning: "packets per acknowledgement, at least 1; the flow's last is always acknowledged, and a window never \
        waits for more than half of its packets",
    source: "InfiniBand specification, 9.7.5 (coalesced acknowledgements); HPCC's ns-3 fork: L2AckInterval",
};
pub(crate) const WINDOW: Parameter = Parameter {
    key: "window",
    default: Value("unlimited"),
    meaning: "a packet may start while less than this is unacknowledged; unlimited: only the rate counts",
    source: "HPCC's ns-3 fork: win",
};
pub(crate) const RATE: Parameter = Parameter {
    key: "rate",
    default: Value("line"),
    meaning: "the most a flow sends, counted on the wire with preamble and gap (20 B a frame); line: the port's rate",
    source: "RoCE starts at line rate (DCQCN, sec. 3.1)",
};
pub(crate) const INITIAL_RATE: Parameter = Parameter {
    key: "initial_rate",
    default: Value("line"),
    meaning: "the rate of a new flow; line: the most that it may send",
    source: "RoCE starts at line rate (DCQCN, sec. 3.1)",
};
pub(crate) const TIMEOUT: Parameter = Parameter {
    key: "timeout",
    default: Value("67.108864ms"),
    meaning: "time without progress after which everything unacknowledged is sent again; never: no such timer",
    source: "InfiniBand specification, 9.7.6.1.3: 4.096us * 2^14, the usual local ACK timeout",
};
pub(crate) const NAK_INTERVAL: Parameter = Parameter {
    key: "nak_interval",
    default: Value("500us"),
    meaning: "a missing packet is asked for once, and again after this time without it",
    source: "HPCC's ns-3 fork: NACK Generation Interval",
};
pub(crate) const ECN: Parameter = Parameter {
    key: "ecn",
    default: Value("false"),
    meaning: "whether packets say that they take part in ECN",
    source: "InfiniBand specification, annex A17.9",
};

/// RoCE at a fixed rate as users meet it.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "roce",
    family: Family::Transport,
    title: "RoCEv2 reliable connection: go-back-N at a set rate",
    source: "InfiniBand specification, 9.7 and annex A17 (RoCEv2); HPCC's ns-3 fork",
    parameters: &[PAYLOAD, HEADER, ACK_BYTES, ACK_EVERY, WINDOW, RATE, TIMEOUT, NAK_INTERVAL, ECN],
};

/// The parameters of [`MECHANISM`] and of the rate controls on top of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RoceParameters {
    /// Payload of a full packet.
    pub payload_bytes: u16,
    /// What of a data frame is no payload.
    pub header_bytes: u16,
    /// Length of an acknowledgement.
    pub ack_bytes: u16,
    /// Packets per acknowledgement.
    pub ack_every: u32,
    /// Bound on what is unacknowledged.
    pub window_bytes: Option<u64>,
    /// Bound on the rate; `None`: the line's.
    pub rate: Option<Rate>,
    /// Retransmission timeout; `None`: no timer.
    pub timeout: Option<Time>,
    /// Least time between two requests for the same packet.
    pub nak_interval: Time,
    /// Whether packets carry the ECT codepoint.
    pub ecn: bool,
    /// What sets the rate.
    pub control: ControlParameters,
}

/// `rate` times `factor`, no less than `least` and no more than `most`. One correctly rounded multiplication: the same
/// on every machine.
pub(crate) fn scaled(rate: Rate, factor: f64, least: Rate, most: Rate) -> Rate {
    let scaled = (rate.as_bps() as f64 * factor.max(0.0)) as u64;
    Rate::from_bps(scaled).unwrap_or(Rate::MIN).clamp(least.min(most), most)
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
            rate: None,
            timeout: Some(Time::from_ps(67_108_864_000)),
            nak_interval: Time::from_us(500),
            ecn: false,
            control: ControlParameters::Fixed,
        }
    }
}

impl RoceParameters {
    /// The defaults of the rate control that scenarios call `kind`.
    pub(crate) fn of_kind(kind: &str) -> Option<Self> {
        if kind == MECHANISM.kind {
            return Some(RoceParameters::default());
        }
        let control = ControlParameters::of_kind(kind)?;
        Some(RoceParameters { ecn: control.needs() == Needs::Marks, control, ..RoceParameters::default() })
    }

    /// The defaults of DCQCN.
    pub fn dcqcn() -> Self {
        let control = ControlParameters::Dcqcn(DcqcnParameters::default());
        RoceParameters { ecn: true, control, ..RoceParameters::default() }
    }

    /// Sets the parameter `key`, of RoCE or of its rate control, from a scenario's text.
    ///
    /// # Errors
    /// If there is no such parameter or the text is none of its values.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError> {
        match key {
            "payload" => self.payload_bytes = settings::frame_bytes(key, text)?,
            "header" => self.header_bytes = settings::frame_bytes(key, text)?,
            "ack" => self.ack_bytes = settings::frame_bytes(key, text)?,
            "ack_every" => self.ack_every = settings::count(key, text)?,
            "window" => self.window_bytes = settings::bytes_or(key, text, "unlimited")?,
            "rate" => self.rate = settings::rate_or(key, text, "line")?,
            "timeout" => self.timeout = settings::time_or(key, text, "never")?,
            "nak_interval" => self.nak_interval = settings::time(key, text)?,
            "ecn" => self.ecn = settings::switch(key, text)?,
            _ => return self.control.set(key, text).unwrap_or_else(|| Err(settings::unknown(&MECHANISM, key))),
        }
        Ok(())
    }

    /// Whether the values go together.
    ///
    /// # Errors
    /// If packets would be empty or longer than a frame can be, acknowledgements never come, or a rate
    /// control cannot work.
    pub fn check(&self) -> Result<(), ParameterError> {
        require(self.payload_bytes > 0, "payload", "a packet carries at least 1B")?;
        let fits = self.payload_bytes.checked_add(self.header_bytes).is_some();
        require(fits, "payload", "payload and header fit a frame of 65535B")?;
        require(self.ack_every > 0, "ack_every", "at least 1 packet per acknowledgement")?;
        require(self.window_bytes != Some(0), "window", "at least 1B, or \"unlimited\"")?;
        require(self.timeout != Some(Time::ZERO), "timeout", "longer than a round trip, or \"never\"")?;
        require(self.ecn || self.control.needs() != Needs::Marks, "ecn", "the rate follows marks: true")?;
        self.control.check(self)
    }

    /// Packets per acknowledgement that keep a window moving: half a window at most.
    pub(crate) fn effective_ack_every(&self) -> u32 {
        let payload_bytes = u64::from(self.payload_bytes.max(1));
        let window = self.window_bytes.map_or(u64::MAX, |bytes| bytes / payload_bytes / 2);
        let asked = self.control.acknowledged_bytes().map_or(self.ack_every.into(), |bytes| bytes / payload_bytes);
        u32::try_from(asked.min(window)).unwrap_or(u32::MAX).max(1)
    }

    /// What a full data packet takes on the wire, preamble and gap included.
    pub(crate) fn full_wire_bytes(&self) -> u64 {
        u64::from(self.payload_bytes.saturating_add(self.header_bytes).max(MIN_FRAME_BYTES)) + WIRE_OVERHEAD_BYTES
    }

    /// Frame length of an acknowledgement.
    pub(crate) fn ack_frame_bytes(&self) -> u16 {
        self.ack_bytes.max(MIN_FRAME_BYTES)
    }

    /// The table that describes these parameters.
    pub fn mechanism(&self) -> &'static Mechanism {
        self.control.mechanism().unwrap_or(&MECHANISM)
    }
}
