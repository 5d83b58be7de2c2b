//! The parameters of selective repeat, described in [`crate::roce::described`].

use crate::endpoint::FlowStart;
use crate::settings::{self, ParameterError, require};
use units::Time;

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

/// The parameters that selective repeat adds to those of RoCE.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectiveParameters {
    /// Bound on new packets.
    pub flight_cap: FlightCap,
    /// Timeout with few packets in flight.
    pub rto_low: Time,
    /// Timeout with more packets in flight.
    pub rto_high: Time,
    /// Packets in flight from which `rto_high` applies.
    pub rto_low_packets: u32,
}

impl Default for SelectiveParameters {
    fn default() -> Self {
        SelectiveParameters {
            flight_cap: FlightCap::Path,
            rto_low: Time::from_us(100),
            rto_high: Time::from_us(320),
            rto_low_packets: 3,
        }
    }
}

impl SelectiveParameters {
    /// Sets the parameter `key` from its text in a scenario; `None` if the parameter does not exist.
    pub(crate) fn set(&mut self, key: &str, text: &str) -> Option<Result<(), ParameterError>> {
        Some(match key {
            "flight_cap" => match text {
                "path" => Ok(FlightCap::Path),
                "unlimited" => Ok(FlightCap::Unlimited),
                _ => settings::bytes(key, text).map(FlightCap::Bytes),
            }
            .map(|cap| self.flight_cap = cap),
            "rto_low" => settings::time(key, text).map(|rto| self.rto_low = rto),
            "rto_high" => settings::time(key, text).map(|rto| self.rto_high = rto),
            "rto_low_packets" => settings::count(key, text).map(|packets| self.rto_low_packets = packets),
            _ => return None,
        })
    }

    /// Checks that the values are consistent.
    ///
    /// # Errors
    /// If no packet could start, or a timeout cannot work.
    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        let room = self.flight_cap != FlightCap::Bytes(0);
        require(room, "flight_cap", "at least 1B, \"path\" or \"unlimited\"")?;
        require(self.rto_low > Time::ZERO, "rto_low", "longer than a round trip")?;
        require(self.rto_high >= self.rto_low, "rto_high", "at least `rto_low`")
    }

    /// Returns the bound in bytes on new packets of `flow`: a new packet may start while fewer bytes are in flight. A
    /// full packet carries `payload_bytes` and takes `wire_bytes` of a link. A flow without a path has no bound.
    pub(crate) fn cap_bytes(&self, flow: &FlowStart, payload_bytes: u16, wire_bytes: u64) -> u64 {
        match self.flight_cap {
            FlightCap::Path if flow.round_trip > Time::ZERO => {
                let packets = flow.line_rate.bytes_in(flow.round_trip).div_ceil(wire_bytes).max(1);
                packets.saturating_mul(u64::from(payload_bytes))
            }
            FlightCap::Path | FlightCap::Unlimited => u64::MAX,
            FlightCap::Bytes(bytes) => bytes,
        }
    }
}
