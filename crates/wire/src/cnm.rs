//! Congestion notification message (IEEE 802.1Q clause 33, QCN): from a congestion point to the source of a sampled
//! frame.
//!
//! | bytes | field |
//! |---|---|
//! | 2 | version in 4 bits, 6 reserved bits, quantised feedback in 6 bits |
//! | 8 | identifier of the congestion point |
//! | 2 | queue length minus the equilibrium length (set point), signed, in units of 64 bytes |
//! | 2 | queue length minus the length at the previous sample, signed, in units of 64 bytes |
//! | 2 | priority of the sampled frame in 3 bits, 13 reserved bits |
//! | 6 | destination address of the sampled frame |
//! | 2 | number of copied bytes of the sampled frame, up to 64 |
//! | n | the copied bytes of the sampled frame |

use crate::error::Error;
use crate::ethernet::MacAddress;
use crate::reader::Reader;
use crate::vlan::Pcp;
use std::fmt;

/// Fields of the message, without the copied bytes of the sampled frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cnm {
    /// Quantised congestion feedback, 0 to 63.
    pub feedback: u8,
    /// Identifier of the congestion point (the queue).
    pub congestion_point: u64,
    /// Queue length minus the equilibrium length (set point), in units of 64 bytes.
    pub offset: i16,
    /// Queue length minus the length at the previous sample, in units of 64 bytes.
    pub delta: i16,
    /// Priority of the sampled frame.
    pub priority: Pcp,
    /// Destination address of the sampled frame.
    pub destination: MacAddress,
}

impl Cnm {
    /// Maximum feedback.
    pub const MAX_FEEDBACK: u8 = 63;
    /// Length of the message without the copied bytes.
    pub const BYTES: usize = 24;
    /// Maximum number of copied bytes.
    pub const MAX_CONTENT_BYTES: usize = 64;

    /// Parses the message. Returns it and the copied bytes; bytes after them are padding.
    ///
    /// # Errors
    /// If the bytes end early, the version is not 0, or there are more than 64 copied bytes.
    pub fn parse(bytes: &[u8]) -> Result<(Cnm, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        let word = reader.u16("CNM version and feedback")?;
        if word >> 12 != 0 {
            return Err(reader.unexpected("CNM version", 2, word >> 12, "0"));
        }
        let congestion_point = reader.u64("CNM congestion point")?;
        let (offset, delta) = (reader.u16("CNM queue offset")? as i16, reader.u16("CNM queue delta")? as i16);
        let priority = Pcp::low_bits((reader.u16("CNM priority")? >> 13) as u8);
        let destination = MacAddress::new(reader.octets("CNM destination")?);
        let content_bytes = reader.u16("CNM content length")?;
        if usize::from(content_bytes) > Self::MAX_CONTENT_BYTES {
            return Err(reader.unexpected("CNM content length", 2, content_bytes, "0 to 64"));
        }
        let content = reader.take("CNM content", content_bytes.into())?;
        let feedback = (word & 0x3F) as u8;
        Ok((Cnm { feedback, congestion_point, offset, delta, priority, destination }, content))
    }

    /// Appends the message and the first 64 bytes (at most) of `content`.
    ///
    /// # Errors
    /// If the feedback exceeds [`Cnm::MAX_FEEDBACK`]; then nothing is appended.
    pub fn emit(&self, content: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        if self.feedback > Self::MAX_FEEDBACK {
            let found = self.feedback.into();
            return Err(Error::Inconsistent { field: "CNM feedback", found, expected: "0 to 63" });
        }
        let content = &content[..content.len().min(Self::MAX_CONTENT_BYTES)];
        out.extend_from_slice(&u16::from(self.feedback).to_be_bytes());
        out.extend_from_slice(&self.congestion_point.to_be_bytes());
        out.extend_from_slice(&self.offset.to_be_bytes());
        out.extend_from_slice(&self.delta.to_be_bytes());
        out.extend_from_slice(&(u16::from(self.priority.get()) << 13).to_be_bytes());
        out.extend_from_slice(&self.destination.octets());
        out.extend_from_slice(&(content.len() as u16).to_be_bytes());
        out.extend_from_slice(content);
        Ok(())
    }
}

/// Formats as `CNM feedback 12, queue 640 B above its set point, 128 B more than before`.
impl fmt::Display for Cnm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |units: i16, more: &'static str, less: &'static str| {
            (i32::from(units).unsigned_abs() * 64, if units < 0 { less } else { more })
        };
        let (offset, side) = words(self.offset, "above", "below");
        let (delta, change) = words(self.delta, "more", "less");
        let feedback = self.feedback;
        write!(f, "CNM feedback {feedback}, queue {offset} B {side} its set point, {delta} B {change} than before")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_refuses_prefixes, hex};
    use proptest::prelude::*;

    #[test]
    fn known_bytes() {
        let bytes = hex("000c 0600000a00010003 000a fffe 6000 020000000005 0004 45000100");
        let cnm = Cnm {
            feedback: 12,
            congestion_point: 0x0600_000a_0001_0003,
            offset: 10,
            delta: -2,
            priority: Pcp::low_bits(3),
            destination: MacAddress::new([2, 0, 0, 0, 0, 5]),
        };
        assert_eq!(Cnm::parse(&bytes), Ok((cnm, &hex("45000100")[..])));
        assert_refuses_prefixes(&bytes, Cnm::parse);
        let words = "CNM feedback 12, queue 640 B above its set point, 128 B less than before";
        assert_eq!(cnm.to_string(), words);
        let version_1 = hex("100c 0600000a00010003 000a fffe 6000 020000000005 0000");
        let wrong = Cnm::parse(&version_1);
        assert!(matches!(wrong, Err(Error::Value { field: "CNM version", found: 1, .. })), "{wrong:?}");
        let too_long = hex("000c 0600000a00010003 000a fffe 6000 020000000005 0041");
        let long = Cnm::parse(&too_long);
        assert!(matches!(long, Err(Error::Value { field: "CNM content length", found: 65, .. })), "{long:?}");
        assert!(Cnm { feedback: 64, ..cnm }.emit(&[], &mut Vec::new()).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(
            feedback in 0u8..64,
            (congestion_point, offset, delta) in any::<(u64, i16, i16)>(),
            priority in 0u8..8,
            destination: [u8; 6],
            content in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            let (priority, destination) = (Pcp::low_bits(priority), MacAddress::new(destination));
            let cnm = Cnm { feedback, congestion_point, offset, delta, priority, destination };
            let mut bytes = Vec::new();
            cnm.emit(&content, &mut bytes).unwrap();
            prop_assert_eq!(Cnm::parse(&bytes), Ok((cnm, &content[..content.len().min(64)])));
        }

        #[test]
        fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            let _ = Cnm::parse(&bytes);
        }
    }
}
