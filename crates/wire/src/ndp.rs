//! Header of NDP and EQDS in UDP datagrams. Their papers define no header format; this one is defined by this
//! project.
//!
//! ```text
//!  0                   1                   2                   3
//! |  version = 1  |     type      |            window             |
//! |   reserved    |     flags     |        payload length         |
//! |                             count                             |
//! |                         offset, 6 bytes                       |
//! |                               |
//! ```
//!
//! The header has 18 bytes, so that with Ethernet, IPv4 and UDP a packet without payload is a minimum frame of 64
//! bytes. A trimmed data packet keeps this header, with another type. The UDP checksum is unused, because a switch
//! that trims a packet cannot update it.

use crate::error::Error;
use crate::reader::Reader;

/// UDP destination port in both directions; not assigned by IANA.
pub const UDP_PORT: u16 = 4799;

/// Packet type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum NdpType {
    /// A data packet of a flow.
    Data = 0,
    /// A data packet that a switch trimmed.
    Trimmed = 1,
    /// A trimmed packet that a switch returns to its sender.
    Returned = 2,
    /// Acknowledgement of a packet that arrived complete.
    Ack = 3,
    /// Negative acknowledgement of a packet that arrived trimmed, without its payload.
    Nack = 4,
    /// Pull: permission to send more packets.
    Pull = 5,
}

impl NdpType {
    const ALL: [NdpType; 6] =
        [NdpType::Data, NdpType::Trimmed, NdpType::Returned, NdpType::Ack, NdpType::Nack, NdpType::Pull];
}

/// Header of NDP and EQDS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ndp {
    /// Packet type.
    pub kind: NdpType,
    /// Data, trimmed, returned: whether the packet is the last one of the flow.
    pub last: bool,
    /// Data, trimmed, returned: whether the packet is a retransmission.
    pub again: bool,
    /// ACK: whether all bytes of the flow have arrived.
    pub complete: bool,
    /// Data, trimmed, returned: initial window, the number of packets that the sender sends without a pull. Otherwise
    /// 0.
    pub window: u16,
    /// Data, trimmed, returned: payload length before trimming. Otherwise 0.
    pub payload_bytes: u16,
    /// Pull: number of packets pulled since the start of the flow. EQDS data: number of packets of the flow. Both are
    /// modulo 2^32. Otherwise 0.
    pub count: u32,
    /// Data, trimmed, returned, ACK and NACK: offset of the packet's payload in the flow. Pull: first missing byte.
    /// Modulo 2^48.
    pub offset_bytes: u64,
}

const LAST: u8 = 1;
const AGAIN: u8 = 2;
const COMPLETE: u8 = 4;

impl Ndp {
    /// Length of the header.
    pub const BYTES: usize = 18;

    /// Parses the header. Returns it, and the bytes after it.
    ///
    /// # Errors
    /// If the bytes end early, or version or type are unsupported.
    pub fn parse(bytes: &[u8]) -> Result<(Ndp, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        let version = reader.u8("NDP version")?;
        if version != 1 {
            return Err(reader.unexpected("NDP version", 1, u16::from(version), "1"));
        }
        let code = reader.u8("NDP type")?;
        let Some(kind) = NdpType::ALL.into_iter().find(|kind| *kind as u8 == code) else {
            return Err(reader.unexpected("NDP type", 1, u16::from(code), "0 to 5"));
        };
        let window = reader.u16("NDP window")?;
        let _reserved = reader.u8("NDP reserved")?;
        let flags = reader.u8("NDP flags")?;
        let payload_bytes = reader.u16("NDP payload length")?;
        let count = reader.u32("NDP count")?;
        let [a, b, c, d, e, f] = reader.octets("NDP offset")?;
        let header = Ndp {
            kind,
            last: flags & LAST != 0,
            again: flags & AGAIN != 0,
            complete: flags & COMPLETE != 0,
            window,
            payload_bytes,
            count,
            offset_bytes: u64::from_be_bytes([0, 0, a, b, c, d, e, f]),
        };
        Ok((header, reader.rest()))
    }

    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags = flag(self.last, LAST) | flag(self.again, AGAIN) | flag(self.complete, COMPLETE);
        out.extend([1, self.kind as u8]);
        out.extend(self.window.to_be_bytes());
        out.extend([0, flags]);
        out.extend(self.payload_bytes.to_be_bytes());
        out.extend(self.count.to_be_bytes());
        out.extend(&self.offset_bytes.to_be_bytes()[2..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_refuses_prefixes, hex};
    use proptest::prelude::*;

    /// The bytes of a NACK and of a pull.
    #[test]
    fn a_refusal_and_a_pull() {
        let nack = Ndp {
            kind: NdpType::Nack,
            last: false,
            again: false,
            complete: false,
            window: 0,
            payload_bytes: 0,
            count: 0,
            offset_bytes: 0x59C,
        };
        let pull = Ndp { kind: NdpType::Pull, count: 7, offset_bytes: 0xFF_0000_0001, ..nack };
        for (header, text) in [
            (nack, "01 04 0000 00 00 0000 00000000 00000000059c"),
            (pull, "01 05 0000 00 00 0000 00000007 00ff00000001"),
        ] {
            let mut out = Vec::new();
            header.emit(&mut out);
            assert_eq!(out, hex(text));
            assert_eq!(out.len(), Ndp::BYTES);
            assert_eq!(Ndp::parse(&out), Ok((header, &[][..])));
            assert_refuses_prefixes(&out, Ndp::parse);
        }
        assert!(Ndp::parse(&hex("02 04 0000 00 00 0000 00000000 00000000059c")).is_err());
        assert!(Ndp::parse(&hex("01 06 0000 00 00 0000 00000000 00000000059c")).is_err());
    }

    proptest! {
        #[test]
        fn comes_back_as_it_was_sent(
            code in 0usize..6, flags in any::<[bool; 3]>(), window in any::<u16>(), payload_bytes in any::<u16>(),
            count in any::<u32>(), offset_bytes in 0..1u64 << 48, rest in any::<[u8; 3]>(),
        ) {
            let [last, again, complete] = flags;
            let kind = NdpType::ALL[code];
            let header = Ndp { kind, last, again, complete, window, payload_bytes, count, offset_bytes };
            let mut out = Vec::new();
            header.emit(&mut out);
            out.extend(rest);
            prop_assert_eq!(Ndp::parse(&out), Ok((header, &rest[..])));
        }
    }
}
