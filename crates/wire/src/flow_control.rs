//! XOFF and XON for one flow or one destination: the control frames of backpressure per flow (FLORAX) and per
//! destination. No standard defines such frames. They use the extension mechanism of 802.3 annex 31C: opcode 0xFFFE
//! (EXTENSION), an organisation identifier, and bytes defined by this organisation.
//!
//! ```text
//!  0        2            5     6                12                 18                 26               34
//!  | 0xFFFE | 7A-54-47   | op  | source MAC     | destination MAC  | fair rate, bps   | expiry, ns     |
//!             organisation 1 XOFF, 2 XON          all zero source: any           (both 0 in an XON)
//! ```
//!
//! The organisation identifier has the form of a company identifier (low bits 1010, so that it is no vendor's MAC
//! prefix). It is not registered.

use crate::error::Error;
use crate::ethernet::MacAddress;
use crate::reader::Reader;
use std::fmt;

/// Action that is requested from the neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowControlAction {
    /// Limit the rate of the flow.
    Xoff {
        /// Permitted rate in bits per second, with preambles and gaps; 0 pauses the flow.
        rate_bps: u64,
        /// Time from the arrival of the frame to the expiry of the limit, in nanoseconds, unless an XON ends it
        /// earlier.
        expiry_ns: u64,
    },
    /// End the rate limit of the flow.
    Xon,
}

/// XOFF or XON for one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControl {
    /// Action that is requested from the neighbour.
    pub call: FlowControlAction,
    /// Source address of the flow; `None`: any source.
    pub source: Option<MacAddress>,
    /// Destination address of the flow.
    pub destination: MacAddress,
}

const ANY: MacAddress = MacAddress::new([0; 6]);
const XOFF: u8 = 1;
const XON: u8 = 2;

impl FlowControl {
    /// MAC control opcode EXTENSION (802.3 annex 31C).
    pub const OPCODE: u16 = 0xFFFE;
    /// Organisation identifier of the extension.
    pub const ORGANISATION: u32 = 0x7A_54_47;

    /// Parses opcode, organisation identifier and action. Returns the XOFF or XON, and the padding after it. Rate and
    /// expiry of an XON are ignored.
    ///
    /// # Errors
    /// If the bytes end early, or opcode, organisation identifier or operation are unsupported.
    pub fn parse(bytes: &[u8]) -> Result<(FlowControl, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        reader.opcode(Self::OPCODE, "0xfffe (EXTENSION)")?;
        let organisation = reader.u24("extension's organisation")?;
        if organisation != Self::ORGANISATION {
            return Err(reader.unexpected("extension's organisation", 3, organisation, "0x7a5447"));
        }
        let operation = reader.u8("flow control operation")?;
        if !matches!(operation, XOFF | XON) {
            return Err(reader.unexpected("flow control operation", 1, operation, "1 (XOFF) or 2 (XON)"));
        }
        let source = MacAddress::new(reader.octets("flow's source")?);
        let destination = MacAddress::new(reader.octets("flow's destination")?);
        let rate_bps = u64::from_be_bytes(reader.octets("fair rate")?);
        let expiry_ns = u64::from_be_bytes(reader.octets("expiry")?);
        let call =
            if operation == XOFF { FlowControlAction::Xoff { rate_bps, expiry_ns } } else { FlowControlAction::Xon };
        Ok((FlowControl { call, source: (source != ANY).then_some(source), destination }, reader.rest()))
    }

    /// Appends opcode, organisation identifier and action.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let (operation, rate_bps, expiry_ns) = match self.call {
            FlowControlAction::Xoff { rate_bps, expiry_ns } => (XOFF, rate_bps, expiry_ns),
            FlowControlAction::Xon => (XON, 0, 0),
        };
        out.extend_from_slice(&Self::OPCODE.to_be_bytes());
        out.extend_from_slice(&Self::ORGANISATION.to_be_bytes()[1..]);
        out.push(operation);
        out.extend_from_slice(&self.source.unwrap_or(ANY).octets());
        out.extend_from_slice(&self.destination.octets());
        out.extend_from_slice(&rate_bps.to_be_bytes());
        out.extend_from_slice(&expiry_ns.to_be_bytes());
    }
}

/// Formats as `XOFF 02:00:00:00:00:01 -> 02:00:00:00:00:02 at 55000000 bps for 5000000 ns`.
impl fmt::Display for FlowControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.call == FlowControlAction::Xon { "XON " } else { "XOFF " })?;
        match self.source {
            Some(source) => source.fmt(f)?,
            None => f.write_str("any")?,
        }
        write!(f, " -> {}", self.destination)?;
        match self.call {
            FlowControlAction::Xoff { rate_bps, expiry_ns } => write!(f, " at {rate_bps} bps for {expiry_ns} ns"),
            FlowControlAction::Xon => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_refuses_prefixes, hex};
    use proptest::prelude::*;

    #[test]
    fn known_bytes() {
        let bytes = hex("fffe 7a5447 01 020000000001 020000000002 0000000003473bc0 00000000004c4b40");
        let xoff = FlowControl {
            call: FlowControlAction::Xoff { rate_bps: 55_000_000, expiry_ns: 5_000_000 },
            source: Some(MacAddress::new([2, 0, 0, 0, 0, 1])),
            destination: MacAddress::new([2, 0, 0, 0, 0, 2]),
        };
        assert_eq!(FlowControl::parse(&bytes), Ok((xoff, &[][..])));
        assert_refuses_prefixes(&bytes, FlowControl::parse);
        let mut emitted = Vec::new();
        xoff.emit(&mut emitted);
        assert_eq!(emitted, bytes);
        assert_eq!(xoff.to_string(), "XOFF 02:00:00:00:00:01 -> 02:00:00:00:00:02 at 55000000 bps for 5000000 ns");
    }

    #[test]
    fn another_organisation_or_operation_is_not_ours() {
        let rest = "020000000001 020000000002 0000000000000000 0000000000000000";
        let wrong = |start: &str| FlowControl::parse(&hex(&format!("{start} {rest}"))).unwrap_err().to_string();
        assert_eq!(wrong("fffe 0080c2 01"), "byte 2: extension's organisation is 0x80c2, expected 0x7a5447");
        assert_eq!(wrong("fffe 7a5447 03"), "byte 5: flow control operation is 0x3, expected 1 (XOFF) or 2 (XON)");
        let (any, _) = FlowControl::parse(&hex(&format!("fffe 7a5447 02 000000000000 {}", &rest[13..]))).unwrap();
        assert_eq!((any.call, any.source), (FlowControlAction::Xon, None));
    }

    proptest! {
        #[test]
        fn round_trip(stop: bool, rate_bps: u64, expiry_ns: u64, source: [u8; 6], destination: [u8; 6]) {
            let call = if stop { FlowControlAction::Xoff { rate_bps, expiry_ns } } else { FlowControlAction::Xon };
            let source = Some(MacAddress::new(source)).filter(|&source| source != ANY);
            let control = FlowControl { call, source, destination: MacAddress::new(destination) };
            let mut bytes = Vec::new();
            control.emit(&mut bytes);
            prop_assert_eq!(FlowControl::parse(&bytes), Ok((control, &[][..])));
        }
    }
}
