//! The parameters of receiver-driven transports, shared by NDP and EQDS.

use crate::describe::Default::Value;
use crate::describe::{Family, Mechanism, Parameter, Syntax};
use crate::eqds::{self, EqdsParameters};
use crate::frame::MIN_FRAME_BYTES;
use crate::settings::{self, ParameterError, require};
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

pub(crate) const PAYLOAD: Parameter = Parameter {
    key: "payload",
    syntax: Syntax::TEXT,
    default: Value("1436B"),
    meaning: "payload of a full packet, from 1 B up to a frame of 65535 B",
    source: "frames of 1500 B, as in the simulations of Popa et al.",
};
pub(crate) const HEADER: Parameter = Parameter {
    key: "header",
    syntax: Syntax::TEXT,
    default: Value("64B"),
    meaning: "bytes of a data frame that are no payload: Ethernet with FCS 18, IPv4 20, UDP 8, transport 18",
    source: "headers of 64 B, as in the simulations of Popa et al.",
};
pub(crate) const CONTROL: Parameter = Parameter {
    key: "control",
    syntax: Syntax::TEXT,
    default: Value("64B"),
    meaning: "length of an acknowledgement, of a negative one, and of a pull; at least 64 B",
    source: "the same header without payload",
};
pub(crate) const INITIAL_WINDOW: Parameter = Parameter {
    key: "initial_window",
    syntax: Syntax::TEXT,
    default: Value("bdp"),
    meaning: "packets that a flow sends without a pull, at line rate, 1 to 32768; bdp: as many as keep an otherwise \
              idle port busy for the round trip of a full packet and a pull on the flow's path",
    source: "NDP, sec. 3.1: the receiver controls all packets after the initial window; Popa et al. use 1000",
};
const EARLY_PULLS: Parameter = Parameter {
    key: "early_pulls",
    syntax: Syntax::TEXT,
    default: Value("count"),
    meaning: "effect of a pull before the initial window has left: another packet afterwards (count), or none (lapse), \
              which bounds sending without pulls to the time of the initial window",
    source: "count: NDP, sec. 3.2, whose pulls carry a counter; lapse: Popa et al., sec. 6.2, whose senders are at \
             line rate for the time of 1000 packets; with counted pulls two of them would be for twice as long",
};
const PULLS: Parameter = Parameter {
    key: "pulls",
    syntax: Syntax::TEXT,
    default: Value("apart"),
    meaning: "frames that carry pulls: separate ones (apart), or the acknowledgement if the port's slot is due, \
              otherwise a separate one (acks)",
    source: "apart: NDP, sec. 3.2; acks: the csg-htsim simulator",
};
pub(crate) const TIMEOUT: Parameter = Parameter {
    key: "timeout",
    syntax: Syntax::TEXT,
    default: Value("1ms"),
    meaning: "timer period of both ends: a packet in flight at two ticks in a row is retransmitted without a pull, and \
              a receiver without arrivals between two ticks repeats its last pull; never: no timer, so that a flow may \
              stall after the loss of headers, acknowledgements or pulls",
    source: "NDP has a retransmission timer as safety net; its value is our choice: far above a round trip with full \
             queues of few packets",
};

/// Description of NDP.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "ndp",
    family: Family::Transport,
    title: "NDP: receiver-driven by pulls; trimmed headers cause retransmissions",
    source: "Handley et al., Re-architecting datacenter networks and stacks for low latency and high performance, \
             SIGCOMM 2017",
    parameters: &[PAYLOAD, HEADER, CONTROL, INITIAL_WINDOW, EARLY_PULLS, PULLS, TIMEOUT],
};

/// The initial window of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The bandwidth-delay product: the port stays busy for a round trip.
    BandwidthDelay,
    /// A number of packets.
    Packets(u16),
}

/// The effect of a pull that arrives before the initial window has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyPulls {
    /// Another packet may leave after the window.
    Count,
    /// No effect.
    Lapse,
}

/// The frames that carry pulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pulls {
    /// Separate pull frames.
    Apart,
    /// An acknowledgement, if the port's pull slot is due when it is sent.
    Acks,
}

/// Maximum window in packets: half the range of the wire header's counter.
pub(crate) const MOST_PACKETS: u64 = 32_768;

impl Window {
    /// Returns the window in packets, on a port of `line_rate` for a path of `round_trip`, if a full packet takes
    /// `wire_bytes`.
    pub(super) fn packets(self, line_rate: Rate, round_trip: Time, wire_bytes: u64) -> u16 {
        match self {
            Window::Packets(packets) => packets,
            Window::BandwidthDelay => {
                let packet = line_rate.serialise(wire_bytes).as_ps().max(1);
                round_trip.as_ps().div_ceil(packet).clamp(1, MOST_PACKETS) as u16
            }
        }
    }
}

/// The parameters of [`MECHANISM`] and of EQDS.
#[derive(Clone, Debug, PartialEq)]
pub struct NdpParameters {
    /// Payload of a full packet.
    pub payload_bytes: u16,
    /// Bytes of a data frame that are no payload.
    pub header_bytes: u16,
    /// Length of all other frames.
    pub control_bytes: u16,
    /// Packets that a flow sends without a pull.
    pub initial_window: Window,
    /// Effect of pulls before the initial window has left; they count in EQDS.
    pub early_pulls: EarlyPulls,
    /// The frames that carry pulls; separate ones in EQDS.
    pub pulls: Pulls,
    /// Period of the retransmission timer; `None`: no timer.
    pub timeout: Option<Time>,
    /// Credit for an announced backlog instead of a pull per arrival.
    pub eqds: Option<EqdsParameters>,
}

impl Default for NdpParameters {
    fn default() -> Self {
        NdpParameters {
            payload_bytes: 1436,
            header_bytes: 64,
            control_bytes: 64,
            initial_window: Window::BandwidthDelay,
            early_pulls: EarlyPulls::Count,
            pulls: Pulls::Apart,
            timeout: Some(Time::from_ms(1)),
            eqds: None,
        }
    }
}

impl NdpParameters {
    /// Returns the defaults of EQDS.
    pub fn eqds() -> Self {
        NdpParameters { eqds: Some(EqdsParameters::default()), ..NdpParameters::default() }
    }

    /// Sets the parameter `key` from its text in a scenario.
    ///
    /// # Errors
    /// If the parameter does not exist or cannot have this value.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError> {
        match key {
            "payload" => self.payload_bytes = settings::frame_bytes(key, text)?,
            "header" => self.header_bytes = settings::frame_bytes(key, text)?,
            "control" => self.control_bytes = settings::frame_bytes(key, text)?,
            "initial_window" if text == "bdp" => self.initial_window = Window::BandwidthDelay,
            "initial_window" => {
                let packets = u64::from(settings::count(key, text)?);
                require((1..=MOST_PACKETS).contains(&packets), "initial_window", "1 to 32768 packets, or \"bdp\"")?;
                self.initial_window = Window::Packets(packets as u16);
            }
            "early_pulls" if self.eqds.is_none() => {
                self.early_pulls =
                    settings::word(key, text, &[("count", EarlyPulls::Count), ("lapse", EarlyPulls::Lapse)])?;
            }
            "pulls" if self.eqds.is_none() => {
                self.pulls = settings::word(key, text, &[("apart", Pulls::Apart), ("acks", Pulls::Acks)])?;
            }
            "timeout" => self.timeout = settings::time_or(key, text, "never")?,
            _ => match &mut self.eqds {
                None => return Err(settings::unknown(&MECHANISM, key)),
                Some(parameters) => parameters.set(key, text)?,
            },
        }
        Ok(())
    }

    /// Checks that the values are consistent.
    ///
    /// # Errors
    /// If packets would be empty or longer than a frame can be, or the timer had no period.
    pub fn check(&self) -> Result<(), ParameterError> {
        require(self.payload_bytes > 0, "payload", "a packet carries at least 1B")?;
        let fits = self.payload_bytes.checked_add(self.header_bytes).is_some();
        require(fits, "payload", "payload and header fit a frame of 65535B")?;
        require(self.control_bytes >= MIN_FRAME_BYTES, "control", "a frame is at least 64B")?;
        require(self.timeout != Some(Time::ZERO), "timeout", "longer than a round trip, or \"never\"")?;
        if let Some(parameters) = &self.eqds {
            parameters.check()?;
        }
        Ok(())
    }

    /// Returns the wire bytes of a full packet, preamble and gap included.
    pub fn wire_bytes(&self) -> u64 {
        u64::from(self.frame_bytes(self.payload_bytes)) + WIRE_OVERHEAD_BYTES
    }

    /// Returns the frame length of a packet with `payload_bytes` bytes of payload.
    pub(super) fn frame_bytes(&self, payload_bytes: u16) -> u16 {
        payload_bytes.saturating_add(self.header_bytes).max(MIN_FRAME_BYTES)
    }

    /// Returns the packets that a receiver may pull beyond its arrivals, in a flow with this window.
    pub(super) fn ahead(&self, window: u16) -> u64 {
        self.eqds.map_or(0, |eqds| eqds.ahead(window))
    }

    /// Returns the table that describes these parameters.
    pub fn mechanism(&self) -> &'static Mechanism {
        if self.eqds.is_some() { &eqds::MECHANISM } else { &MECHANISM }
    }
}
