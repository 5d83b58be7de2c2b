//! Credit frame, a MAC control frame of this project: total bytes sent in a class, and limit of the total bytes that
//! the peer may send in it.
//!
//! | bytes | field |
//! |---|---|
//! | 2 | MAC control opcode, 0xCBFC |
//! | 1 | class, 0 to 7 |
//! | 1 | reserved: zero, ignored |
//! | 8 | bytes that the sender of this frame has sent in the class since the link first came up |
//! | 8 | limit of the bytes that the receiver of this frame may send, counted since the link first came up |
//!
//! Both counts are in bytes of frames from destination address to FCS, big-endian, and never decrease. No standard
//! defines credits for Ethernet; InfiniBand's link layer also exchanges two absolute counts.

use crate::error::Error;
use crate::reader::Reader;
use crate::vlan::Pcp;
use std::fmt;

/// Credits of one traffic class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Traffic class.
    pub class: Pcp,
    /// Total bytes that the sender of this frame has sent in the class.
    pub sent_bytes: u64,
    /// Limit of the total bytes that the receiver of this frame may send in the class.
    pub limit_bytes: u64,
}

impl Credit {
    /// MAC control opcode, which no standard has assigned.
    pub const OPCODE: u16 = 0xCBFC;

    /// Parses opcode, class and counts. Returns the credits, and the padding after them.
    ///
    /// # Errors
    /// If the bytes end early, the opcode differs, or the class is above 7.
    pub fn parse(bytes: &[u8]) -> Result<(Credit, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        reader.opcode(Self::OPCODE, "0xcbfc (credit)")?;
        let class = reader.u8("credit class")?;
        if class > 7 {
            return Err(reader.unexpected("credit class", 1, class, "a class from 0 to 7"));
        }
        reader.u8("reserved")?;
        let (sent_bytes, limit_bytes) = (reader.u64("bytes sent")?, reader.u64("credit limit")?);
        Ok((Credit { class: Pcp::low_bits(class), sent_bytes, limit_bytes }, reader.rest()))
    }

    /// Appends opcode, class and counts.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&Self::OPCODE.to_be_bytes());
        out.extend_from_slice(&[self.class.get(), 0]);
        out.extend_from_slice(&self.sent_bytes.to_be_bytes());
        out.extend_from_slice(&self.limit_bytes.to_be_bytes());
    }
}

/// Formats as `credit 3: sent 1518, limit 20000`.
impl fmt::Display for Credit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "credit {}: sent {}, limit {}", self.class.get(), self.sent_bytes, self.limit_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_refuses_prefixes, hex};
    use proptest::prelude::*;

    #[test]
    fn known_bytes() {
        let bytes = hex("cbfc 0300 00000000000005ee 0000000000004e20");
        let credit = Credit { class: Pcp::low_bits(3), sent_bytes: 1518, limit_bytes: 20_000 };
        assert_eq!(Credit::parse(&bytes), Ok((credit, &[][..])));
        assert_eq!(credit.to_string(), "credit 3: sent 1518, limit 20000");
        assert_refuses_prefixes(&bytes, Credit::parse);
        let reserved = hex("cbfc 03ff 00000000000005ee 0000000000004e20");
        assert_eq!(Credit::parse(&reserved), Ok((credit, &[][..])));
        let no_class = hex("cbfc 0800 0000000000000000 0000000000000000");
        let wrong = Credit::parse(&no_class);
        assert!(matches!(wrong, Err(Error::Value { found: 8, offset_bytes: 2, .. })), "{wrong:?}");
    }

    proptest! {
        #[test]
        fn round_trip(class in 0u8..8, sent_bytes: u64, limit_bytes: u64) {
            let credit = Credit { class: Pcp::low_bits(class), sent_bytes, limit_bytes };
            let mut bytes = Vec::new();
            credit.emit(&mut bytes);
            prop_assert_eq!(Credit::parse(&bytes), Ok((credit, &[][..])));
        }
    }
}
