//! The parameters of receiver-driven transports, shared by NDP and EQDS.

use crate::describe::Mechanism;
use crate::eqds::{self, EqdsParameters};
use crate::frame::MIN_FRAME_BYTES;
use crate::parameters::{OwnParameters, parameters};
use crate::settings::{self, ParameterError, require};
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// The initial window of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The bandwidth-delay product, so that the port stays busy for a round trip.
    BandwidthDelay,
    /// A number of packets.
    Packets(u32),
}

/// Effect of a pull that arrives before the initial window has been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyPulls {
    /// The pull permits another packet after the initial window.
    Count,
    /// The pull has no effect.
    Lapse,
}

/// Frames that carry pulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pulls {
    /// Separate pull frames.
    Apart,
    /// An acknowledgement, if a pull slot of the port is due when the acknowledgement is sent, else a pull frame.
    Acks,
}

/// Maximum initial window in packets: half the number range of the wire header's counter.
pub(crate) const MOST_PACKETS: u64 = 32_768;

impl Window {
    /// Returns the initial window in packets, on a port of `line_rate` for a path with the RTT `round_trip`;
    /// `wire_bytes` is the size of a full packet on the wire.
    pub(super) fn packets(self, line_rate: Rate, round_trip: Time, wire_bytes: u64) -> u16 {
        match self {
            Window::Packets(packets) => packets.min(MOST_PACKETS as u32) as u16,
            Window::BandwidthDelay => {
                let packet = line_rate.serialise(wire_bytes).as_ps().max(1);
                round_trip.as_ps().div_ceil(packet).clamp(1, MOST_PACKETS) as u16
            }
        }
    }
}

parameters! {
    /// The parameters of NDP and of EQDS.
    #[derive(Clone, Debug, PartialEq)]
    pub struct NdpParameters: Transport "ndp" {
        title: "NDP: receiver-driven by pulls; trimmed headers cause retransmissions";
        source: "Handley et al., Re-architecting datacenter networks and stacks for low latency and high performance, \
            SIGCOMM 2017";
        over: none;
        /// Payload bytes of a full packet.
        payload_bytes: u16 = "payload" frame_bytes, default "1436B",
            "payload of a full packet, from 1 B up to a frame of 65535 B",
            "frames of 1500 B, as in the simulations of Popa et al.";
        /// Header bytes of a data frame, FCS included.
        header_bytes: u16 = "header" frame_bytes, default "64B",
            "bytes of a data frame that are no payload: Ethernet with FCS 18, IPv4 20, UDP 8, transport 18",
            "headers of 64 B, as in the simulations of Popa et al.";
        /// Frame length of acknowledgements and pulls.
        control_bytes: u16 = "control" frame_bytes, default "64B",
            "length of an acknowledgement, of a negative one, and of a pull; at least 64 B",
            "the same header without payload";
        /// Initial window: number of packets that a flow sends without a pull.
        initial_window: Window = "initial_window"
            either["bdp" = Window::BandwidthDelay, count = Window::Packets],
            default "bdp",
            "packets that a flow sends without a pull, at line rate, 1 to 32768; bdp: as many as keep an otherwise \
             idle port busy for the round trip of a full packet and a pull on the flow's path",
            "NDP, sec. 3.1: the receiver controls all packets after the initial window; Popa et al. use 1000";
        /// Effect of pulls before the initial window has been sent; with EQDS they always count.
        early_pulls: EarlyPulls = "early_pulls"
            word["count" = EarlyPulls::Count, "lapse" = EarlyPulls::Lapse],
            default "count",
            "effect of a pull before the initial window has left: another packet afterwards (count), or none (lapse), \
             which bounds sending without pulls to the time of the initial window",
            "count: NDP, sec. 3.2, whose pulls carry a counter; lapse: Popa et al., sec. 6.2, whose senders are at \
             line rate for the time of 1000 packets; with counted pulls two of them would be for twice as long";
        /// The frames that carry pulls; always separate frames with EQDS.
        pulls: Pulls = "pulls" word["apart" = Pulls::Apart, "acks" = Pulls::Acks], default "apart",
            "frames that carry pulls: separate ones (apart), or the acknowledgement if the port's slot is due, \
             otherwise a separate one (acks)",
            "apart: NDP, sec. 3.2; acks: the csg-htsim simulator";
        /// Period of the retransmission timer; `None`: no timer.
        timeout: Option<Time> = "timeout" time_or["never"], default "1ms",
            "timer period of both ends: a packet in flight at two ticks in a row is retransmitted without a pull, and \
             a receiver without arrivals between two ticks repeats its last pull; never: no timer, so that a flow may \
             stall after the loss of headers, acknowledgements or pulls",
            "NDP has a retransmission timer as safety net; its value is our choice: far above a round trip with full \
             queues of few packets";
    }
    beside {
        /// Parameters of EQDS, which grants credit for the announced backlog instead of one pull per arrival; `None`
        /// for NDP.
        eqds: Option<EqdsParameters> = None;
    }
}

impl NdpParameters {
    /// Returns the default parameters of EQDS.
    pub fn eqds() -> Self {
        NdpParameters { eqds: Some(EqdsParameters::default()), ..NdpParameters::default() }
    }

    /// Sets the parameter `key` of NDP or EQDS from its text in a scenario.
    ///
    /// # Errors
    /// If there is no such parameter, or the value is invalid.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError> {
        if self.mechanism().parameter(key).is_none() {
            return Err(settings::unknown(self.mechanism(), key));
        }
        match &mut self.eqds {
            Some(eqds) if MECHANISM.parameter(key).is_none() => eqds.set(key, text),
            _ => OwnParameters::set(self, key, text),
        }
    }

    /// Checks that the values are consistent.
    ///
    /// # Errors
    /// If packets have no payload or exceed the maximum frame length, or the timer period is zero.
    pub fn check(&self) -> Result<(), ParameterError> {
        require(self.payload_bytes > 0, "payload", "a packet carries at least 1B")?;
        let fits = self.payload_bytes.checked_add(self.header_bytes).is_some();
        require(fits, "payload", "payload and header fit a frame of 65535B")?;
        require(self.control_bytes >= MIN_FRAME_BYTES, "control", "a frame is at least 64B")?;
        let packets = 1..=MOST_PACKETS as u32;
        let fits = !matches!(self.initial_window, Window::Packets(count) if !packets.contains(&count));
        require(fits, "initial_window", "1 to 32768 packets, or \"bdp\"")?;
        require(self.timeout != Some(Time::ZERO), "timeout", "longer than a round trip, or \"never\"")?;
        if let Some(parameters) = &self.eqds {
            parameters.check()?;
        }
        Ok(())
    }

    /// Returns the wire bytes of a full packet, preamble and inter-frame gap included.
    pub fn wire_bytes(&self) -> u64 {
        u64::from(self.frame_bytes(self.payload_bytes)) + WIRE_OVERHEAD_BYTES
    }

    /// Returns the frame length of a packet with `payload_bytes` bytes of payload.
    pub(super) fn frame_bytes(&self, payload_bytes: u16) -> u16 {
        payload_bytes.saturating_add(self.header_bytes).max(MIN_FRAME_BYTES)
    }

    /// Returns the number of packets that a receiver may pull beyond its arrivals, in a flow with this initial
    /// window.
    pub(super) fn ahead(&self, window: u16) -> u64 {
        self.eqds.map_or(0, |eqds| eqds.ahead(window))
    }

    /// Returns the description of the mechanism, NDP or EQDS, with its parameters.
    pub fn mechanism(&self) -> &'static Mechanism {
        if self.eqds.is_some() { &eqds::MECHANISM } else { &MECHANISM }
    }
}
