//! Ethernet II framing (IEEE 802.3 clause 3): addresses, EtherType, padding and frame check sequence.

use crate::crc::crc32;
use crate::error::Error;
use crate::reader::Reader;
use std::fmt;

/// Length of the frame check sequence.
pub const FCS_BYTES: usize = 4;
/// Minimum frame length, FCS included (802.3 clause 3.2.8); shorter frames are padded.
pub const MIN_FRAME_BYTES: usize = 64;

/// 48-bit MAC address, in transmission order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress([u8; 6]);

impl MacAddress {
    /// Broadcast address.
    pub const BROADCAST: MacAddress = MacAddress([0xFF; 6]);
    /// Group address of MAC control frames, which bridges never forward (802.3 annex 31B.1, 802.1Q table 8-1).
    pub const MAC_CONTROL: MacAddress = MacAddress([0x01, 0x80, 0xC2, 0x00, 0x00, 0x01]);

    /// Creates the address from its six bytes.
    pub const fn new(bytes: [u8; 6]) -> Self {
        MacAddress(bytes)
    }
    /// Returns the six bytes of the address.
    pub const fn octets(self) -> [u8; 6] {
        self.0
    }
    /// Returns whether the address is a group address.
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

/// Formats as `02:00:00:00:00:01`.
impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}
impl fmt::Debug for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// EtherType: the protocol of a frame's payload; at least [`EtherType::MIN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EtherType(pub u16);

impl EtherType {
    /// Minimum EtherType; values up to 1500 are the length of an 802.2 frame (802.3 clause 3.2.6).
    pub const MIN: EtherType = EtherType(0x0600);
    /// IPv4.
    pub const IPV4: EtherType = EtherType(0x0800);
    /// Customer VLAN tag (802.1Q table 9-1).
    pub const VLAN: EtherType = EtherType(0x8100);
    /// Congestion notification message (802.1Q clause 33).
    pub const CNM: EtherType = EtherType(0x22E7);
    /// MAC control frames, such as PAUSE and PFC (802.3 clause 31.4.1.3).
    pub const MAC_CONTROL: EtherType = EtherType(0x8808);

    /// Parses an EtherType; an 802.2 length is an error.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<EtherType, Error> {
        let value = reader.u16("EtherType")?;
        if value < Self::MIN.0 {
            return Err(reader.unexpected("EtherType", 2, value, "0x0600 or more (smaller is an 802.2 length)"));
        }
        Ok(EtherType(value))
    }
}

/// Formats as `0x0800`.
impl fmt::Display for EtherType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x}", self.0)
    }
}

/// Ethernet header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ethernet {
    /// Destination address.
    pub destination: MacAddress,
    /// Source address.
    pub source: MacAddress,
    /// EtherType of the payload.
    pub ethertype: EtherType,
}

impl Ethernet {
    /// Length of the header.
    pub const HEADER_BYTES: usize = 14;

    /// Parses the header. Returns it, and the bytes after it.
    ///
    /// # Errors
    /// If the bytes end early, or contain an 802.2 length instead of an EtherType.
    pub fn parse(bytes: &[u8]) -> Result<(Ethernet, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        let destination = MacAddress(reader.octets("destination address")?);
        let source = MacAddress(reader.octets("source address")?);
        let ethertype = EtherType::read(&mut reader)?;
        Ok((Ethernet { destination, source, ethertype }, reader.rest()))
    }

    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.destination.0);
        out.extend_from_slice(&self.source.0);
        out.extend_from_slice(&self.ethertype.0.to_be_bytes());
    }
}

/// Checks the length and the FCS of a complete frame. Returns the frame without its FCS.
///
/// # Errors
/// If the frame is a runt (shorter than [`MIN_FRAME_BYTES`]), or its FCS does not match.
pub fn check_fcs(frame: &[u8]) -> Result<&[u8], Error> {
    if frame.len() < MIN_FRAME_BYTES {
        return Err(Error::Truncated {
            field: "Ethernet frame",
            offset_bytes: 0,
            needed_bytes: MIN_FRAME_BYTES,
            available_bytes: frame.len(),
        });
    }
    let (covered, fcs) = frame.split_at(frame.len() - FCS_BYTES);
    let found = u32::from_le_bytes([fcs[0], fcs[1], fcs[2], fcs[3]]);
    let computed = crc32(covered);
    if found == computed {
        Ok(covered)
    } else {
        Err(Error::Checksum { field: "frame check sequence", offset_bytes: covered.len(), found, computed })
    }
}

/// Completes the frame that starts at `start_bytes` of `out`: pads it with zeros to the minimum length, and appends
/// its FCS. If `start_bytes` is beyond the end of `out`, the frame is empty before padding.
pub fn finish_frame(out: &mut Vec<u8>, start_bytes: usize) {
    let start_bytes = start_bytes.min(out.len());
    let unpadded_bytes = out.len() - start_bytes;
    if unpadded_bytes < MIN_FRAME_BYTES - FCS_BYTES {
        out.resize(start_bytes + MIN_FRAME_BYTES - FCS_BYTES, 0);
    }
    let fcs = crc32(&out[start_bytes..]);
    out.extend_from_slice(&fcs.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_detects_bit_flips, assert_refuses_prefixes, hex};
    use proptest::prelude::*;

    #[test]
    fn header_as_the_standard_draws_it() {
        let bytes = hex("0180c2000001 020000000007 8808 0001");
        let (header, rest) = Ethernet::parse(&bytes).unwrap();
        let expected = Ethernet {
            destination: MacAddress::MAC_CONTROL,
            source: MacAddress([2, 0, 0, 0, 0, 7]),
            ethertype: EtherType::MAC_CONTROL,
        };
        assert_eq!(header, expected);
        assert_eq!(rest, [0, 1]);
        assert!(header.destination.is_group() && !header.source.is_group());
        assert_eq!(header.source.to_string(), "02:00:00:00:00:07");
        assert_refuses_prefixes(&bytes[..14], Ethernet::parse);
    }

    #[test]
    fn an_802_2_length_is_no_ethertype() {
        let error = Ethernet::parse(&hex("0180c2000000 020000000007 0026 4242")).unwrap_err();
        assert!(matches!(error, Error::Value { field: "EtherType", offset_bytes: 12, found: 0x26, .. }), "{error}");
    }

    #[test]
    fn finishing_pads_and_appends_the_crc() {
        let mut out = vec![0xAA; 3];
        finish_frame(&mut out, 3);
        assert_eq!(out.len(), 3 + 64);
        // FCS of an empty frame: CRC-32 of 60 bytes of padding, least significant byte first.
        assert_eq!(out[63..], crc32(&[0; 60]).to_le_bytes());
        assert_eq!(check_fcs(&out[3..]), Ok(&[0u8; 60][..]));
        // A frame one byte below the minimum is a runt, even with a valid FCS.
        let mut runt = vec![0; 59];
        runt.extend_from_slice(&crc32(&[0; 59]).to_le_bytes());
        let error = check_fcs(&runt).unwrap_err().to_string();
        assert_eq!(error, "byte 0: Ethernet frame needs 64 bytes, but only 63 are left");
        let mut long = vec![7; 100];
        finish_frame(&mut long, 0);
        assert_eq!(long.len(), 104);
        assert_refuses_prefixes(&long, check_fcs);
        assert_detects_bit_flips(&long, |frame| check_fcs(frame).map(|_| ()));
    }

    proptest! {
        #[test]
        fn round_trip(destination: [u8; 6], source: [u8; 6], ethertype in 0x0600u16.., rest: Vec<u8>) {
            let header = Ethernet {
                destination: MacAddress(destination),
                source: MacAddress(source),
                ethertype: EtherType(ethertype),
            };
            let mut bytes = Vec::new();
            header.emit(&mut bytes);
            bytes.extend_from_slice(&rest);
            prop_assert_eq!(Ethernet::parse(&bytes), Ok((header, &rest[..])));
        }

        /// CRC-32 detects every burst error of at most 32 bits.
        #[test]
        fn fcs_detects_bursts(
            payload in prop::collection::vec(any::<u8>(), 60..200), at: prop::sample::Index, burst in 1u32..
        ) {
            let mut frame = payload;
            finish_frame(&mut frame, 0);
            let at = at.index(frame.len() - 3);
            for (byte, flip) in frame[at..].iter_mut().zip(burst.to_le_bytes()) {
                *byte ^= flip;
            }
            prop_assert!(check_fcs(&frame).is_err());
        }
    }
}
