//! The parameters of datagrams.

use crate::describe::Default::Value;
use crate::describe::{Family, Mechanism, Parameter, Syntax};
use crate::frame::MIN_FRAME_BYTES;
use crate::settings::{self, ParameterError, require};
use units::{Rate, Time};

/// The arrival process of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Equal gaps.
    Constant,
    /// Exponential gaps with that mean.
    Poisson,
    /// Equal gaps during exponential on periods, no frames during exponential off periods; every on period begins with
    /// a frame.
    OnOff,
}

/// The parameters of [`MECHANISM`], which describes each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatagramParameters {
    /// Frame length from destination address to FCS.
    pub frame_bytes: u16,
    /// Bytes of it that are no payload.
    pub header_bytes: u16,
    /// The arrival process of frames.
    pub arrival: Arrival,
    /// Time from one frame's start to the next; `None`: from `rate`.
    pub gap: Option<Time>,
    /// Load on the wire, preamble and gap included; `None`: the line rate.
    pub rate: Option<Rate>,
    /// Mean of an on period.
    pub mean_on: Time,
    /// Mean of an off period.
    pub mean_off: Time,
    /// Whether frames carry the ECT codepoint.
    pub ecn: bool,
}

impl Default for DatagramParameters {
    fn default() -> Self {
        DatagramParameters {
            frame_bytes: 1518,
            header_bytes: 46,
            arrival: Arrival::Constant,
            gap: None,
            rate: None,
            mean_on: Time::from_us(100),
            mean_off: Time::from_us(100),
            ecn: false,
        }
    }
}

/// Description of datagrams.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "datagram",
    family: Family::Transport,
    title: "unacknowledged frames at a given spacing",
    source: "RFC 768; PABO, sec. IV (EtherTrafGen)",
    parameters: &[
        Parameter {
            key: "frame",
            syntax: Syntax::TEXT,
            default: Value("1518B"),
            meaning: "length of a frame from destination address to FCS, 64 B to 65535 B; a flow's last frame may be \
                shorter",
            source: "IEEE 802.3, 3.2.7; PABO, sec. V",
        },
        Parameter {
            key: "header",
            syntax: Syntax::TEXT,
            default: Value("46B"),
            meaning: "bytes of a frame that are no payload: Ethernet with FCS 18, IPv4 20, UDP 8",
            source: "IEEE 802.3, 3.1.1; RFC 791; RFC 768",
        },
        Parameter {
            key: "arrival",
            syntax: Syntax::TEXT,
            default: Value("constant"),
            meaning: "constant: equal gaps; poisson: exponential gaps; on_off: equal gaps during exponential on \
                periods",
            source: "usual source models",
        },
        Parameter {
            key: "gap",
            syntax: Syntax::TEXT,
            default: Value("from_rate"),
            meaning: "(mean) time between the starts of frames; from_rate: the frame's length at `rate`",
            source: "PABO, sec. V: 10us",
        },
        Parameter {
            key: "rate",
            syntax: Syntax::TEXT,
            default: Value("line"),
            meaning: "(mean) load on the wire with preamble and gap (20 B a frame); line: the port's rate; during on \
                periods for on_off",
            source: "IEEE 802.3, 4.4.2",
        },
        Parameter {
            key: "mean_on",
            syntax: Syntax::TEXT,
            default: Value("100us"),
            meaning: "mean of an on period, on_off only",
            source: "choice of this project",
        },
        Parameter {
            key: "mean_off",
            syntax: Syntax::TEXT,
            default: Value("100us"),
            meaning: "mean of an off period, on_off only",
            source: "choice of this project",
        },
        Parameter {
            key: "ecn",
            syntax: Syntax::TEXT,
            default: Value("false"),
            meaning: "frames are ECN-capable",
            source: "RFC 3168, 5",
        },
    ],
};

impl DatagramParameters {
    /// Sets the parameter `key` from its text in a scenario.
    ///
    /// # Errors
    /// If the parameter does not exist or cannot have this value.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError> {
        match key {
            "frame" => self.frame_bytes = settings::frame_bytes(key, text)?,
            "header" => self.header_bytes = settings::frame_bytes(key, text)?,
            "arrival" => {
                let words =
                    [("constant", Arrival::Constant), ("poisson", Arrival::Poisson), ("on_off", Arrival::OnOff)];
                self.arrival = settings::word(key, text, &words)?;
            }
            "gap" => self.gap = settings::time_or(key, text, "from_rate")?,
            "rate" => self.rate = settings::rate_or(key, text, "line")?,
            "mean_on" => self.mean_on = settings::time(key, text)?,
            "mean_off" => self.mean_off = settings::time(key, text)?,
            "ecn" => self.ecn = settings::switch(key, text)?,
            _ => return Err(settings::unknown(&MECHANISM, key)),
        }
        Ok(())
    }

    /// Checks that the values are consistent.
    ///
    /// # Errors
    /// If a frame would have no payload or be shorter than Ethernet allows, or frames would have no gap.
    pub fn check(&self) -> Result<(), ParameterError> {
        require(self.frame_bytes >= MIN_FRAME_BYTES, "frame", "an Ethernet frame has at least 64B")?;
        require(self.header_bytes < self.frame_bytes, "header", "`frame` needs at least one byte of payload")?;
        require(self.gap != Some(Time::ZERO), "gap", "at least 1ps between frames")
    }

    /// Returns the payload of a full frame, at least one byte.
    pub(crate) fn payload_bytes(&self) -> u16 {
        self.frame_bytes.saturating_sub(self.header_bytes).max(1)
    }
}
