//! Internet checksum (RFC 1071), and the IPv4 pseudo header that the checksums of TCP and UDP cover.

use crate::ipv4::Protocol;
use std::net::Ipv4Addr;

/// Returns the Internet checksum of the concatenated `parts`: the complement of the one's complement sum of their
/// 16-bit words. Every part except the last must have an even length, so that no word spans two parts.
pub fn internet(parts: &[&[u8]]) -> u16 {
    !ones_sum(parts)
}

/// Returns whether `parts`, which include their checksum, are undamaged.
pub(crate) fn holds(parts: &[&[u8]]) -> bool {
    ones_sum(parts) == 0xFFFF
}

fn ones_sum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0u64;
    for part in parts {
        let mut words = part.chunks_exact(2);
        sum += words.by_ref().map(|word| u64::from(u16::from_be_bytes([word[0], word[1]]))).sum::<u64>();
        if let [last] = words.remainder() {
            sum += u64::from(*last) << 8;
        }
    }
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum as u16
}

/// Pseudo header that the checksums of TCP and UDP cover (RFC 9293 section 3.1, RFC 768).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PseudoHeader {
    /// IPv4 source address.
    pub source: Ipv4Addr,
    /// IPv4 destination address.
    pub destination: Ipv4Addr,
}

impl PseudoHeader {
    /// Returns the twelve bytes of the pseudo header, for a `protocol` segment of `length_bytes` bytes including its
    /// header.
    pub(crate) fn to_bytes(self, protocol: Protocol, length_bytes: u16) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&self.source.octets());
        bytes[4..8].copy_from_slice(&self.destination.octets());
        bytes[9] = protocol.0;
        bytes[10..].copy_from_slice(&length_bytes.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numerical example of RFC 1071, section 3: the one's complement sum of the words is 0xddf2.
    #[test]
    fn rfc_1071_example() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(internet(&[&bytes]), !0xddf2);
        assert_eq!(internet(&[&bytes[..4], &bytes[4..]]), !0xddf2);
        assert!(holds(&[&bytes, &(!0xddf2u16).to_be_bytes()]));
    }

    #[test]
    fn an_odd_byte_is_padded_with_zero() {
        assert_eq!(internet(&[&[0x12]]), !0x1200);
        assert_eq!(internet(&[&[]]), 0xFFFF);
    }
}
