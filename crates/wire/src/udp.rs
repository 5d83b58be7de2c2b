//! UDP (RFC 768).

use crate::checksum::{self, PseudoHeader};
use crate::error::Error;
use crate::ipv4::{Ipv4, Protocol};
use crate::reader::Reader;
use std::fmt;

/// UDP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp {
    /// Source port; RoCEv2 senders use it as path entropy for ECMP.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Whether a checksum is sent. RoCEv2 usually sends none (0), because its ICRC covers more.
    pub checksummed: bool,
}

impl Udp {
    /// Length of the header.
    pub const HEADER_BYTES: usize = 8;
    /// Maximum payload bytes in one IPv4 packet.
    pub const MAX_PAYLOAD_BYTES: usize = Ipv4::MAX_PAYLOAD_BYTES - Self::HEADER_BYTES;

    /// Parses the header, and verifies the checksum if there is one. Returns the header and the payload.
    ///
    /// # Errors
    /// If the bytes end before the datagram, its length is invalid, or its checksum does not match.
    pub fn parse(bytes: &[u8], pseudo_header: PseudoHeader) -> Result<(Udp, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        let source_port = reader.u16("UDP source port")?;
        let destination_port = reader.u16("UDP destination port")?;
        let length_bytes = reader.u16("UDP length")?;
        let Some(payload_bytes) = usize::from(length_bytes).checked_sub(Self::HEADER_BYTES) else {
            return Err(reader.unexpected("UDP length", 2, length_bytes, "8 or more"));
        };
        let found = reader.u16("UDP checksum")?;
        let payload = reader.take("UDP payload", payload_bytes)?;
        if found != 0 {
            let pseudo = pseudo_header.to_bytes(Protocol::UDP, length_bytes);
            let datagram = &bytes[..usize::from(length_bytes)];
            if !checksum::holds(&[&pseudo, datagram]) {
                let computed = never_zero(checksum::internet(&[&pseudo, &datagram[..6], payload]));
                return Err(Error::Checksum {
                    field: "UDP checksum",
                    offset_bytes: 6,
                    found: found.into(),
                    computed: computed.into(),
                });
            }
        }
        Ok((Udp { source_port, destination_port, checksummed: found != 0 }, payload))
    }

    /// Returns the header of a datagram with `payload`.
    ///
    /// # Errors
    /// If the payload is longer than [`Udp::MAX_PAYLOAD_BYTES`].
    pub fn to_bytes(&self, pseudo_header: PseudoHeader, payload: &[u8]) -> Result<[u8; Udp::HEADER_BYTES], Error> {
        let mut header = self.to_bytes_unchecked(payload.len())?;
        if self.checksummed {
            let pseudo = pseudo_header.to_bytes(Protocol::UDP, (Self::HEADER_BYTES + payload.len()) as u16);
            let sum = never_zero(checksum::internet(&[&pseudo, &header, payload]));
            header[6..].copy_from_slice(&sum.to_be_bytes());
        }
        Ok(header)
    }

    /// Returns the header without its checksum, for the computation of the ICRC, which masks the checksum.
    pub(crate) fn to_bytes_unchecked(self, payload_bytes: usize) -> Result<[u8; Udp::HEADER_BYTES], Error> {
        if payload_bytes > Self::MAX_PAYLOAD_BYTES {
            return Err(Error::TooLong {
                field: "UDP payload",
                found_bytes: payload_bytes,
                limit_bytes: Self::MAX_PAYLOAD_BYTES,
            });
        }
        let length_bytes = (Self::HEADER_BYTES + payload_bytes) as u16;
        let mut header = [0; Self::HEADER_BYTES];
        header[..2].copy_from_slice(&self.source_port.to_be_bytes());
        header[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        header[4..6].copy_from_slice(&length_bytes.to_be_bytes());
        Ok(header)
    }

    /// Appends header and payload.
    ///
    /// # Errors
    /// Those of [`Udp::to_bytes`]; then nothing is appended.
    pub fn emit(&self, pseudo_header: PseudoHeader, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(&self.to_bytes(pseudo_header, payload)?);
        out.extend_from_slice(payload);
        Ok(())
    }
}

/// Replaces a checksum of zero, which would mean that there is none, by 0xFFFF, which is equivalent (RFC 768).
fn never_zero(sum: u16) -> u16 {
    if sum == 0 { 0xFFFF } else { sum }
}

/// Formats as `UDP 1024 > 53`.
impl fmt::Display for Udp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UDP {} > {}", self.source_port, self.destination_port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_detects_bit_flips, assert_refuses_prefixes, hex};
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    const PSEUDO: PseudoHeader =
        PseudoHeader { source: Ipv4Addr::new(192, 168, 0, 31), destination: Ipv4Addr::new(192, 168, 0, 30) };

    /// Computed by hand: the words of pseudo header, UDP header and payload "Hi" add up to 0x1ca39, with the carry
    /// added 0xca3a, whose complement is 0x35c5.
    #[test]
    fn checksum_by_hand() {
        let words: [u32; 10] = [0xc0a8, 0x001f, 0xc0a8, 0x001e, 0x0011, 0x000a, 0x0014, 0x000a, 0x000a, 0x4869];
        let sum: u32 = words.iter().sum();
        assert_eq!(sum, 0x1_ca39);
        let bytes = hex("0014 000a 000a 35c5 4869");
        assert_eq!(!(sum as u16 + 1), 0x35c5);
        let header = Udp { source_port: 20, destination_port: 10, checksummed: true };
        assert_eq!(Udp::parse(&bytes, PSEUDO), Ok((header, &b"Hi"[..])));
        let mut emitted = Vec::new();
        header.emit(PSEUDO, b"Hi", &mut emitted).unwrap();
        assert_eq!(emitted, bytes);
        assert_refuses_prefixes(&bytes, |bytes| Udp::parse(bytes, PSEUDO));
        assert_detects_bit_flips(&bytes, |bytes| Udp::parse(bytes, PSEUDO).map(|_| ()));
    }

    #[test]
    fn zero_is_no_checksum_and_never_a_computed_one() {
        let (header, _) = Udp::parse(&hex("0014 000a 000a 0000 4869"), PSEUDO).unwrap();
        assert!(!header.checksummed);
        // A payload word for which the sum is 0xffff, so that the checksum would be 0.
        let filler = 0xFFFFu32 - (0xca39 - 0x4869 + 1);
        let payload = (filler as u16).to_be_bytes();
        let sent = Udp { checksummed: true, ..header }.to_bytes(PSEUDO, &payload).unwrap();
        assert_eq!(sent[6..], [0xFF, 0xFF]);
    }

    #[test]
    fn impossible_lengths_are_named() {
        let error = Udp::parse(&hex("0014 000a 0007 0000"), PSEUDO).unwrap_err();
        assert!(matches!(error, Error::Value { field: "UDP length", offset_bytes: 4, found: 7, .. }), "{error}");
        let header = Udp { source_port: 1, destination_port: 2, checksummed: true };
        assert!(header.to_bytes(PSEUDO, &[0; 65_507]).is_ok());
        assert!(matches!(header.to_bytes(PSEUDO, &[0; 65_508]), Err(Error::TooLong { limit_bytes: 65_507, .. })));
    }

    proptest! {
        #[test]
        fn round_trip(ports: (u16, u16), checksummed: bool, addresses: (u32, u32), payload: Vec<u8>) {
            let header = Udp { source_port: ports.0, destination_port: ports.1, checksummed };
            let pseudo = PseudoHeader { source: addresses.0.into(), destination: addresses.1.into() };
            let mut bytes = Vec::new();
            header.emit(pseudo, &payload, &mut bytes).unwrap();
            prop_assert_eq!(Udp::parse(&bytes, pseudo), Ok((header, &payload[..])));
        }
    }
}
