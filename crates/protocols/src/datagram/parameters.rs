//! The parameters of datagrams.

use crate::frame::MIN_FRAME_BYTES;
use crate::parameters::parameters;
use crate::settings::{ParameterError, require};
use units::{Rate, Time};

/// Default number of header bytes of a datagram frame (`header`). A constant, because it is needed for each frame and
/// the defaults of parameters are parsed from text.
pub const HEADER_BYTES: u16 = 46;

/// The arrival process of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalProcess {
    /// Equal gaps between frames.
    Constant,
    /// Exponentially distributed gaps (Poisson process), with the mean of `gap` or `rate`.
    Poisson,
    /// On and off periods with exponentially distributed lengths. Frames have equal gaps during on periods, each of
    /// which begins with a frame.
    OnOff,
}

parameters! {
    /// The parameters of datagrams.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DatagramParameters: Transport "datagram" {
        title: "unacknowledged frames at a given spacing";
        source: "RFC 768; PABO, sec. IV (EtherTrafGen)";
        over: none;
        /// Frame length from destination address to FCS.
        frame_bytes: u16 = "frame" frame_bytes, default "1518B",
            "length of a frame from destination address to FCS, 64 B to 65535 B; a flow's last frame may be shorter",
            "IEEE 802.3, 3.2.7; PABO, sec. V";
        /// Header bytes of a frame.
        header_bytes: u16 = "header" frame_bytes, default "46B",
            "bytes of a frame that are no payload: Ethernet with FCS 18, IPv4 20, UDP 8",
            "IEEE 802.3, 3.1.1; RFC 791; RFC 768";
        /// The arrival process of frames.
        arrival: ArrivalProcess = "arrival"
            word[
                "constant" = ArrivalProcess::Constant,
                "poisson" = ArrivalProcess::Poisson,
                "on_off" = ArrivalProcess::OnOff
            ],
            default "constant",
            "constant: equal gaps; poisson: exponential gaps; on_off: equal gaps during exponential on periods",
            "usual source models";
        /// Time between the creation of two frames; `None`: computed from `rate`.
        gap: Option<Time> = "gap" time_or["from_rate"], default "from_rate",
            "(mean) time between the starts of frames; from_rate: the frame's length at `rate`",
            "PABO, sec. V: 10us";
        /// Rate on the wire, with preamble and inter-frame gap; `None`: the line rate.
        rate: Option<Rate> = "rate" rate_or["line"], default "line",
            "(mean) load on the wire with preamble and gap (20 B a frame); line: the port's rate; during on periods \
             for on_off",
            "IEEE 802.3, 4.4.2";
        /// Mean length of an on period.
        mean_on: Time = "mean_on" time, default "100us",
            "mean of an on period, on_off only",
            "choice of this project";
        /// Mean length of an off period.
        mean_off: Time = "mean_off" time, default "100us",
            "mean of an off period, on_off only",
            "choice of this project";
        /// Whether frames carry the ECT codepoint.
        ecn: bool = "ecn" switch, default "false",
            "frames are ECN-capable",
            "RFC 3168, 5";
    }
}

impl DatagramParameters {
    /// Checks that the values are consistent.
    ///
    /// # Errors
    /// If frames have no payload, are shorter than 64 bytes, or have no time between them.
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
