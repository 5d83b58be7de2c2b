//! RoCE version 2: InfiniBand transport over UDP (InfiniBand annex A17). Format of a datagram:
//!
//! ```text
//! BTH 12 B | AETH 4 B with some opcodes | payload | padding to 4 B | ICRC 4 B
//! ```
//!
//! Other extended headers (for example the RETH of an RDMA WRITE) are part of the payload.

mod aeth;
mod bth;
mod cnp;
mod icrc;

pub use aeth::{Aeth, Msn, Syndrome, SyndromeValue};
#[cfg(test)]
pub(crate) use bth::tests as bth_tests;
pub use bth::{Bth, Opcode, PadCount, Psn, QueuePair};
pub use cnp::Cnp;
pub use icrc::icrc;

use crate::error::Error;
use std::fmt;

/// UDP destination port of RoCEv2 (annex A17).
pub const UDP_PORT: u16 = 4791;
/// Length of the invariant CRC (ICRC) at the end of a datagram.
pub const ICRC_BYTES: usize = 4;

/// Contents of one datagram, without the ICRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roce<'a> {
    /// A congestion notification packet.
    CongestionNotification(Cnp),
    /// A packet with an acknowledge header; only responses to RDMA READ and to atomics carry a payload.
    Acknowledge {
        /// Base transport header.
        header: Bth,
        /// Acknowledge extended transport header.
        acknowledge: Aeth,
        /// Payload without padding.
        payload: &'a [u8],
    },
    /// A packet with another opcode.
    Data {
        /// Base transport header.
        header: Bth,
        /// Payload without padding, other extended headers included.
        payload: &'a [u8],
    },
}

impl<'a> Roce<'a> {
    /// Parses `bytes`, a complete datagram without its ICRC.
    ///
    /// # Errors
    /// If the bytes end early, a header is invalid, or the padded payload is no multiple of 4 bytes.
    pub fn parse(bytes: &'a [u8]) -> Result<Roce<'a>, Error> {
        let (header, rest) = Bth::parse(bytes)?;
        if header.opcode == Opcode::CONGESTION_NOTIFICATION {
            return Cnp::parse(bytes).map(|(cnp, _)| Roce::CongestionNotification(cnp));
        }
        if header.opcode.has_aeth() {
            let (acknowledge, rest) = Aeth::parse(rest).map_err(|error| error.shifted(Bth::BYTES))?;
            let payload = unpad(rest, header.padding, Bth::BYTES + Aeth::BYTES)?;
            return Ok(Roce::Acknowledge { header, acknowledge, payload });
        }
        Ok(Roce::Data { header, payload: unpad(rest, header.padding, Bth::BYTES)? })
    }

    /// Appends headers, payload and padding, without the ICRC, which also covers the IPv4 header.
    ///
    /// # Errors
    /// If the opcode belongs to another variant, or the pad count does not match the payload; then nothing is
    /// appended.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let (header, payload) = match self {
            Roce::CongestionNotification(cnp) => {
                cnp.emit(out);
                return Ok(());
            }
            Roce::Acknowledge { header, payload, .. } => {
                if !header.opcode.has_aeth() {
                    return Err(wrong_opcode(header, "one with an acknowledge header"));
                }
                (header, *payload)
            }
            Roce::Data { header, payload } => {
                if header.opcode.has_aeth() || header.opcode == Opcode::CONGESTION_NOTIFICATION {
                    return Err(wrong_opcode(header, "one without an acknowledge header, and not 0x81"));
                }
                (header, *payload)
            }
        };
        if header.padding != PadCount::of_payload(payload.len()) {
            return Err(Error::Inconsistent {
                field: "BTH pad count",
                found: header.padding.get().into(),
                expected: "padding of the payload to a multiple of 4 bytes",
            });
        }
        header.emit(out);
        if let Roce::Acknowledge { acknowledge, .. } = self {
            acknowledge.emit(out);
        }
        out.extend_from_slice(payload);
        out.resize(out.len() + usize::from(header.padding.get()), 0);
        Ok(())
    }
}

fn wrong_opcode(header: &Bth, expected: &'static str) -> Error {
    Error::Inconsistent { field: "BTH opcode", found: header.opcode.0.into(), expected }
}

/// Removes the padding from the end of `bytes`, whose offset in the datagram is `offset_bytes`.
fn unpad(bytes: &[u8], padding: PadCount, offset_bytes: usize) -> Result<&[u8], Error> {
    if !bytes.len().is_multiple_of(4) {
        return Err(Error::Value {
            field: "RoCE payload length",
            offset_bytes,
            found: bytes.len() as u64,
            expected: "a multiple of 4 bytes, padding included",
        });
    }
    let padding_bytes = usize::from(padding.get());
    bytes.len().checked_sub(padding_bytes).map(|length| &bytes[..length]).ok_or(Error::Truncated {
        field: "RoCE padding",
        offset_bytes,
        needed_bytes: padding_bytes,
        available_bytes: bytes.len(),
    })
}

/// Formats as `RoCEv2 RC WRITE only qp 210 psn 7, 1024 B`.
impl fmt::Display for Roce<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Roce::CongestionNotification(cnp) => write!(f, "RoCEv2 {cnp}"),
            Roce::Acknowledge { header, acknowledge, payload } => {
                write!(f, "RoCEv2 {header} {acknowledge}")?;
                if payload.is_empty() { Ok(()) } else { write!(f, ", {} B", payload.len()) }
            }
            Roce::Data { header, payload } => write!(f, "RoCEv2 {header}, {} B", payload.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_refuses_prefixes, hex};
    use proptest::prelude::*;

    #[test]
    fn the_opcode_decides() {
        // An acknowledgement: BTH and AETH.
        let acknowledge = hex("11 00 ffff 00 0000d2 00 000007 1f 000001");
        let parsed = Roce::parse(&acknowledge).unwrap();
        assert_eq!(parsed.to_string(), "RoCEv2 RC acknowledge qp 210 psn 7 ACK msn 1");
        assert_refuses_prefixes(&acknowledge, Roce::parse);
        // A SEND with three bytes of payload and one byte of padding.
        let data = hex("04 10 ffff 00 0000d2 80 000007 aabbcc00");
        let Roce::Data { header, payload } = Roce::parse(&data).unwrap() else { panic!("not data") };
        assert_eq!((header.padding.get(), payload), (1, &[0xAA, 0xBB, 0xCC][..]));
        let cnp = hex("81 00 ffff 40 0000d2 00 000000 00000000000000000000000000000000");
        assert_eq!(Roce::parse(&cnp).unwrap().to_string(), "RoCEv2 CNP qp 210");
        assert_refuses_prefixes(&cnp, Roce::parse);
    }

    #[test]
    fn padding_must_exist() {
        let error = Roce::parse(&hex("04 30 ffff 00 0000d2 80 000007")).unwrap_err();
        assert!(matches!(error, Error::Truncated { field: "RoCE padding", offset_bytes: 12, .. }), "{error}");
        let error = Roce::parse(&hex("04 00 ffff 00 0000d2 80 000007 aabb")).unwrap_err();
        assert!(matches!(error, Error::Value { field: "RoCE payload length", found: 2, .. }), "{error}");
    }

    #[test]
    fn contradictions_are_not_sent() {
        let mut out = Vec::new();
        let header = Bth::new(Opcode::RC_ACKNOWLEDGE, QueuePair::default(), Psn::default(), 0);
        let as_data = Roce::Data { header, payload: &[] }.emit(&mut out);
        assert!(matches!(as_data, Err(Error::Inconsistent { field: "BTH opcode", found: 0x11, .. })));
        let header = Bth::new(Opcode::RC_SEND_ONLY, QueuePair::default(), Psn::default(), 4);
        let unpadded = Roce::Data { header, payload: &[1] }.emit(&mut out);
        assert!(matches!(unpadded, Err(Error::Inconsistent { field: "BTH pad count", found: 0, .. })));
        assert!(out.is_empty());
    }

    proptest! {
        #[test]
        fn round_trip(
            (payload, header) in prop::collection::vec(any::<u8>(), 0..64)
                .prop_flat_map(|payload| (Just(payload.clone()), bth::tests::any_header(payload.len()))),
            message_sequence: u32,
        ) {
            let acknowledge =
                Aeth { syndrome: Syndrome::SEQUENCE_ERROR, message_sequence: Msn::low_bits(message_sequence) };
            let roce = match header.opcode {
                Opcode::CONGESTION_NOTIFICATION => Roce::CongestionNotification(Cnp {
                    destination_queue_pair: header.destination_queue_pair,
                    partition_key: header.partition_key,
                }),
                opcode if opcode.has_aeth() => Roce::Acknowledge { header, acknowledge, payload: &payload },
                _ => Roce::Data { header, payload: &payload },
            };
            let mut bytes = Vec::new();
            roce.emit(&mut bytes).unwrap();
            prop_assert_eq!(bytes.len() % 4, 0);
            prop_assert_eq!(Roce::parse(&bytes), Ok(roce));
        }
    }
}
