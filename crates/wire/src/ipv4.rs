//! IPv4 (RFC 791) with DSCP (RFC 2474) and ECN (RFC 3168).

use crate::bits::bit_field;
use crate::checksum;
use crate::error::Error;
use crate::reader::Reader;
use std::fmt;
use std::net::Ipv4Addr;

bit_field! {
    /// Differentiated services code point, 0 to 63.
    Dscp: u8, 6 bits
}
bit_field! {
    /// Offset of a fragment, in units of 8 bytes.
    FragmentOffset: u16, 13 bits
}

/// Explicit congestion notification (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ecn {
    /// Not-ECT: the transport does not support ECN, so that a switch must not mark the packet.
    #[default]
    NotCapable = 0b00,
    /// ECN-capable transport, ECT(1).
    Capable1 = 0b01,
    /// ECN-capable transport, ECT(0).
    Capable0 = 0b10,
    /// CE, congestion experienced: a switch has marked the packet.
    Congestion = 0b11,
}

impl Ecn {
    const fn from_low_bits(byte: u8) -> Ecn {
        match byte & 0b11 {
            0b00 => Ecn::NotCapable,
            0b01 => Ecn::Capable1,
            0b10 => Ecn::Capable0,
            _ => Ecn::Congestion,
        }
    }
}

/// Formats as `not-ECT`, `ECT(1)`, `ECT(0)` or `CE`.
impl fmt::Display for Ecn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ecn::NotCapable => "not-ECT",
            Ecn::Capable1 => "ECT(1)",
            Ecn::Capable0 => "ECT(0)",
            Ecn::Congestion => "CE",
        })
    }
}

/// IP protocol of the payload (IANA protocol number).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Protocol(pub u8);

impl Protocol {
    /// Protocol number of TCP.
    pub const TCP: Protocol = Protocol(6);
    /// Protocol number of UDP.
    pub const UDP: Protocol = Protocol(17);
}

/// IPv4 header without options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4 {
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Differentiated services code point.
    pub dscp: Dscp,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// Identification, common to all fragments of one packet.
    pub identification: u16,
    /// DF flag: routers must not fragment the packet.
    pub dont_fragment: bool,
    /// MF flag: further fragments follow this one.
    pub more_fragments: bool,
    /// Offset of this fragment in the packet.
    pub fragment_offset: FragmentOffset,
    /// Time to live: number of routers that the packet may still pass through.
    pub time_to_live: u8,
    /// Protocol of the payload.
    pub protocol: Protocol,
}

impl Ipv4 {
    /// Length of the header without options.
    pub const HEADER_BYTES: usize = 20;
    /// Maximum payload bytes of one packet.
    pub const MAX_PAYLOAD_BYTES: usize = 0xFFFF - Self::HEADER_BYTES;

    /// Returns the header of an unfragmented packet with DF set, a TTL of 64, DSCP 0 and no ECN.
    pub fn new(source: Ipv4Addr, destination: Ipv4Addr, protocol: Protocol) -> Ipv4 {
        Ipv4 {
            source,
            destination,
            dscp: Dscp::default(),
            ecn: Ecn::NotCapable,
            identification: 0,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: FragmentOffset::default(),
            time_to_live: 64,
            protocol,
        }
    }

    /// Returns whether the packet is a fragment, whose payload transport parsers cannot interpret.
    pub fn is_fragment(&self) -> bool {
        self.more_fragments || self.fragment_offset.get() != 0
    }

    /// Returns the pseudo header for the checksums of TCP and UDP.
    pub fn pseudo_header(&self) -> checksum::PseudoHeader {
        checksum::PseudoHeader { source: self.source, destination: self.destination }
    }

    /// Parses the header, skips its options and verifies its checksum. Returns the header and the payload, without
    /// bytes after the packet (Ethernet padding).
    ///
    /// # Errors
    /// If the bytes end before the packet, version or lengths are invalid, or the header checksum does not match.
    pub fn parse(bytes: &[u8]) -> Result<(Ipv4, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        let version_and_length = reader.u8("IPv4 version")?;
        if version_and_length >> 4 != 4 {
            return Err(reader.unexpected("IP version", 1, version_and_length >> 4, "4"));
        }
        let header_bytes = usize::from(version_and_length & 0xF) * 4;
        if header_bytes < Self::HEADER_BYTES {
            return Err(reader.unexpected("IPv4 header length", 1, version_and_length & 0xF, "5 or more words"));
        }
        let service = reader.u8("IPv4 DSCP and ECN")?;
        let total_bytes = reader.u16("IPv4 total length")?;
        if usize::from(total_bytes) < header_bytes {
            return Err(reader.unexpected("IPv4 total length", 2, total_bytes, "at least the header length"));
        }
        let identification = reader.u16("IPv4 identification")?;
        let fragment = reader.u16("IPv4 fragment offset")?;
        let time_to_live = reader.u8("IPv4 time to live")?;
        let protocol = Protocol(reader.u8("IPv4 protocol")?);
        let found = reader.u16("IPv4 header checksum")?;
        let source = Ipv4Addr::from(reader.octets("IPv4 source address")?);
        let destination = Ipv4Addr::from(reader.octets("IPv4 destination address")?);
        reader.take("IPv4 options", header_bytes - Self::HEADER_BYTES)?;
        let header = &bytes[..header_bytes];
        if !checksum::holds(&[header]) {
            let computed = checksum::internet(&[&header[..10], &header[12..]]);
            return Err(Error::Checksum {
                field: "IPv4 header checksum",
                offset_bytes: 10,
                found: found.into(),
                computed: computed.into(),
            });
        }
        let payload = reader.take("IPv4 payload", usize::from(total_bytes) - header_bytes)?;
        let header = Ipv4 {
            source,
            destination,
            dscp: Dscp::low_bits(service >> 2),
            ecn: Ecn::from_low_bits(service),
            identification,
            dont_fragment: fragment & 0x4000 != 0,
            more_fragments: fragment & 0x2000 != 0,
            fragment_offset: FragmentOffset::low_bits(fragment),
            time_to_live,
            protocol,
        };
        Ok((header, payload))
    }

    /// Returns the header of a packet with `payload_bytes` bytes of payload.
    ///
    /// # Errors
    /// If `payload_bytes` exceeds [`Ipv4::MAX_PAYLOAD_BYTES`].
    pub fn to_bytes(&self, payload_bytes: usize) -> Result<[u8; Ipv4::HEADER_BYTES], Error> {
        if payload_bytes > Self::MAX_PAYLOAD_BYTES {
            return Err(Error::TooLong {
                field: "IPv4 payload",
                found_bytes: payload_bytes,
                limit_bytes: Self::MAX_PAYLOAD_BYTES,
            });
        }
        let total_bytes = (Self::HEADER_BYTES + payload_bytes) as u16;
        let fragment =
            u16::from(self.dont_fragment) << 14 | u16::from(self.more_fragments) << 13 | self.fragment_offset.get();
        let mut header = [0; Self::HEADER_BYTES];
        header[0] = 0x45;
        header[1] = self.dscp.get() << 2 | self.ecn as u8;
        header[2..4].copy_from_slice(&total_bytes.to_be_bytes());
        header[4..6].copy_from_slice(&self.identification.to_be_bytes());
        header[6..8].copy_from_slice(&fragment.to_be_bytes());
        header[8] = self.time_to_live;
        header[9] = self.protocol.0;
        header[12..16].copy_from_slice(&self.source.octets());
        header[16..20].copy_from_slice(&self.destination.octets());
        let sum = checksum::internet(&[&header]);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        Ok(header)
    }

    /// Appends the header of a packet with `payload_bytes` bytes of payload.
    ///
    /// # Errors
    /// Those of [`Ipv4::to_bytes`]; then nothing is appended.
    pub fn emit(&self, payload_bytes: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(&self.to_bytes(payload_bytes)?);
        Ok(())
    }
}

/// Formats as `10.0.0.1 > 10.0.0.2 dscp 26 CE`; DSCP and ECN only if they are not 0.
impl fmt::Display for Ipv4 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {}", self.source, self.destination)?;
        if self.dscp != Dscp::default() {
            write!(f, " dscp {}", self.dscp)?;
        }
        if self.ecn != Ecn::NotCapable {
            write!(f, " {}", self.ecn)?;
        }
        if self.is_fragment() {
            write!(f, " fragment at {} B", u32::from(self.fragment_offset.get()) * 8)?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::testing::{assert_detects_bit_flips, assert_refuses_prefixes, hex};
    use proptest::prelude::*;

    /// Header of a textbook example; its checksum is 0xb861.
    const EXAMPLE: &str = "4500 0073 0000 4000 4011 b861 c0a8 0001 c0a8 00c7";

    #[test]
    fn checksum_example() {
        let mut bytes = hex(EXAMPLE);
        bytes.resize(0x73, 0);
        let (header, payload) = Ipv4::parse(&bytes).unwrap();
        let expected = Ipv4::new(Ipv4Addr::new(192, 168, 0, 1), Ipv4Addr::new(192, 168, 0, 199), Protocol::UDP);
        assert_eq!(header, expected);
        assert_eq!(payload.len(), 0x73 - 20);
        assert_eq!(header.to_bytes(0x73 - 20).unwrap(), hex(EXAMPLE)[..]);
        assert_refuses_prefixes(&bytes, Ipv4::parse);
        assert_detects_bit_flips(&bytes[..20], |header| {
            let mut packet = bytes.clone();
            packet[..20].copy_from_slice(header);
            Ipv4::parse(&packet).map(|_| ())
        });
    }

    #[test]
    fn options_are_skipped_and_padding_is_cut() {
        // Header of 24 bytes with a router alert option (RFC 2113), payload of three bytes, two bytes of padding.
        let mut bytes = hex("4600 001b 0000 0000 0111 0000 0a000001 0a000002 94040000 aabbcc 0000");
        let sum = checksum::internet(&[&bytes[..24]]);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        let (header, payload) = Ipv4::parse(&bytes).unwrap();
        assert_eq!(payload, [0xAA, 0xBB, 0xCC]);
        assert_eq!(header.time_to_live, 1);
        assert_refuses_prefixes(&bytes[..27], Ipv4::parse);
    }

    #[test]
    fn impossible_lengths_are_named() {
        let parse = |start| {
            let text = format!("{start} 0000 4000 4011 b861 c0a8 0001 c0a8 00c7");
            Ipv4::parse(&hex(&text)).unwrap_err()
        };
        assert!(matches!(parse("6500 0014"), Error::Value { field: "IP version", found: 6, .. }));
        assert!(matches!(parse("4400 0014"), Error::Value { field: "IPv4 header length", .. }));
        let short = parse("4500 0013");
        assert!(matches!(short, Error::Value { field: "IPv4 total length", offset_bytes: 2, found: 0x13, .. }));
        let long = Ipv4::new(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST, Protocol::TCP).to_bytes(65_516).unwrap_err();
        assert_eq!(long.to_string(), "IPv4 payload of 65516 bytes cannot be sent, at most 65515 fit");
    }

    prop_compose! {
        pub(crate) fn any_header()(
            (source, destination, service) in any::<(u32, u32, u8)>(),
            (identification, dont_fragment, more_fragments, offset) in any::<(u16, bool, bool, u16)>(),
            (time_to_live, protocol) in any::<(u8, u8)>(),
        ) -> Ipv4 {
            Ipv4 {
                source: source.into(),
                destination: destination.into(),
                dscp: Dscp::low_bits(service >> 2),
                ecn: Ecn::from_low_bits(service),
                identification,
                dont_fragment,
                more_fragments,
                fragment_offset: FragmentOffset::low_bits(offset),
                time_to_live,
                protocol: Protocol(protocol),
            }
        }
    }

    proptest! {
        #[test]
        fn round_trip(header in any_header(), payload: Vec<u8>, padding in 0usize..46) {
            let mut bytes = Vec::new();
            header.emit(payload.len(), &mut bytes).unwrap();
            bytes.extend_from_slice(&payload);
            bytes.resize(bytes.len() + padding, 0);
            prop_assert_eq!(Ipv4::parse(&bytes), Ok((header, &payload[..])));
        }
    }
}
