//! TCP (RFC 9293), with the ECN flags (RFC 3168; NS: RFC 3540), the maximum segment size option and the selective
//! acknowledgement option (RFC 2018).

use crate::checksum::{self, PseudoHeader};
use crate::error::Error;
use crate::ipv4::{Ipv4, Protocol};
use crate::reader::Reader;
use std::fmt;
use std::ops::BitOr;

/// The nine control bits of the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TcpFlags(u16);

impl TcpFlags {
    /// FIN: the sender has no more data.
    pub const FIN: TcpFlags = TcpFlags(0x001);
    /// SYN: opens a connection.
    pub const SYN: TcpFlags = TcpFlags(0x002);
    /// RST: aborts the connection.
    pub const RST: TcpFlags = TcpFlags(0x004);
    /// PSH: the receiver must deliver the data at once.
    pub const PSH: TcpFlags = TcpFlags(0x008);
    /// ACK: the acknowledgement number is valid.
    pub const ACK: TcpFlags = TcpFlags(0x010);
    /// URG: the urgent pointer is valid.
    pub const URG: TcpFlags = TcpFlags(0x020);
    /// ECE, ECN-Echo: reports an ECN mark to the sender.
    pub const ECE: TcpFlags = TcpFlags(0x040);
    /// CWR: the sender has reduced its congestion window.
    pub const CWR: TcpFlags = TcpFlags(0x080);
    /// NS: ECN nonce sum (historic).
    pub const NS: TcpFlags = TcpFlags(0x100);

    const NAMES: [(TcpFlags, &str); 9] = [
        (Self::SYN, "SYN"),
        (Self::FIN, "FIN"),
        (Self::RST, "RST"),
        (Self::PSH, "PSH"),
        (Self::ACK, "ACK"),
        (Self::URG, "URG"),
        (Self::ECE, "ECE"),
        (Self::CWR, "CWR"),
        (Self::NS, "NS"),
    ];

    /// Creates flags from the low nine bits of `bits`, with FIN as the lowest bit.
    pub const fn from_bits(bits: u16) -> TcpFlags {
        TcpFlags(bits & 0x1FF)
    }
    /// Returns the nine bits, with FIN as the lowest bit.
    pub const fn bits(self) -> u16 {
        self.0
    }
    /// Returns whether all flags of `other` are set.
    pub const fn contains(self, other: TcpFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for TcpFlags {
    type Output = TcpFlags;
    fn bitor(self, other: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 | other.0)
    }
}

/// Formats as `SYN,ACK`; `none` if no flag is set.
impl fmt::Display for TcpFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("none");
        }
        let set = Self::NAMES.iter().filter(|(flag, _)| self.contains(*flag));
        for (index, (_, name)) in set.enumerate() {
            write!(f, "{}{name}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// Selective acknowledgement option (RFC 2018, 3), with up to four blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sack {
    blocks: [(u32, u32); Sack::MOST_BLOCKS],
    count: u8,
}

impl Sack {
    /// Maximum number of blocks, limited by the maximum length of the options.
    pub const MOST_BLOCKS: usize = 4;

    /// Creates the option from `blocks`, each given by the sequence numbers of its first byte and of the byte after
    /// its last byte. Blocks after the fourth are omitted.
    pub fn new(blocks: impl IntoIterator<Item = (u32, u32)>) -> Sack {
        let mut sack = Sack::default();
        for block in blocks.into_iter().take(Sack::MOST_BLOCKS) {
            sack.blocks[usize::from(sack.count)] = block;
            sack.count += 1;
        }
        sack
    }

    /// Returns the blocks, in their order in the option.
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Returns the length of the option with two bytes of padding before it; 0 if there are no blocks.
    const fn bytes(&self) -> usize {
        if self.count == 0 { 0 } else { 4 + 8 * self.count as usize }
    }
}

/// TCP header. Options other than maximum segment size and selective acknowledgement are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number of the first payload byte; on a SYN, that of the SYN itself.
    pub sequence: u32,
    /// Acknowledgement number: next byte expected from the other side.
    pub acknowledgement: u32,
    /// Control bits.
    pub flags: TcpFlags,
    /// Receive window in bytes, before window scaling.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Maximum segment size option (payload bytes); `None` if absent.
    pub max_segment_bytes: Option<u16>,
    /// Selective acknowledgement option; empty if absent.
    pub sack: Sack,
}

/// Option kinds: end of the option list, no-operation (padding), maximum segment size (RFC 9293 section 3.2),
/// selective acknowledgement (RFC 2018, 3).
const OPTION_END: u8 = 0;
const OPTION_NOP: u8 = 1;
const OPTION_MSS: u8 = 2;
const OPTION_MSS_BYTES: u8 = 4;
const OPTION_SACK: u8 = 5;

impl Tcp {
    /// Length of the header without options.
    pub const HEADER_BYTES: usize = 20;

    /// Returns the length of the header as [`Tcp::emit`] writes it, options included.
    pub const fn header_bytes(&self) -> usize {
        let mss_bytes = if self.max_segment_bytes.is_some() { OPTION_MSS_BYTES as usize } else { 0 };
        Self::HEADER_BYTES + mss_bytes + self.sack.bytes()
    }

    /// Parses the header of the segment `bytes` with its options, and verifies its checksum. Returns the header and
    /// the payload.
    ///
    /// # Errors
    /// If the bytes end early, the header or an option has an invalid length, or the checksum does not match.
    pub fn parse(bytes: &[u8], pseudo_header: PseudoHeader) -> Result<(Tcp, &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        let source_port = reader.u16("TCP source port")?;
        let destination_port = reader.u16("TCP destination port")?;
        let sequence = reader.u32("TCP sequence number")?;
        let acknowledgement = reader.u32("TCP acknowledgement number")?;
        let offset_and_flags = reader.u16("TCP data offset")?;
        let header_bytes = usize::from(offset_and_flags >> 12) * 4;
        if header_bytes < Self::HEADER_BYTES {
            return Err(reader.unexpected("TCP data offset", 2, offset_and_flags >> 12, "5 or more words"));
        }
        let window = reader.u16("TCP window")?;
        let found = reader.u16("TCP checksum")?;
        let urgent = reader.u16("TCP urgent pointer")?;
        let options = reader.take("TCP options", header_bytes - Self::HEADER_BYTES)?;
        let too_long =
            |_| Error::TooLong { field: "TCP segment", found_bytes: bytes.len(), limit_bytes: Ipv4::MAX_PAYLOAD_BYTES };
        let length_bytes = u16::try_from(bytes.len()).map_err(too_long)?;
        let pseudo = pseudo_header.to_bytes(Protocol::TCP, length_bytes);
        if !checksum::holds(&[&pseudo, bytes]) {
            return Err(Error::Checksum {
                field: "TCP checksum",
                offset_bytes: 16,
                found: found.into(),
                computed: checksum::internet(&[&pseudo, &bytes[..16], &bytes[18..]]).into(),
            });
        }
        let (max_segment_bytes, sack) = parse_options(options).map_err(|error| error.shifted(Self::HEADER_BYTES))?;
        let header = Tcp {
            source_port,
            destination_port,
            sequence,
            acknowledgement,
            flags: TcpFlags::from_bits(offset_and_flags),
            window,
            urgent,
            max_segment_bytes,
            sack,
        };
        Ok((header, reader.rest()))
    }

    /// Appends header and payload.
    ///
    /// # Errors
    /// If they do not fit into one IPv4 packet; then nothing is appended.
    pub fn emit(&self, pseudo_header: PseudoHeader, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let limit_bytes = Ipv4::MAX_PAYLOAD_BYTES - self.header_bytes();
        if payload.len() > limit_bytes {
            return Err(Error::TooLong { field: "TCP payload", found_bytes: payload.len(), limit_bytes });
        }
        let start = out.len();
        let offset_and_flags = ((self.header_bytes() / 4) as u16) << 12 | self.flags.0;
        out.extend_from_slice(&self.source_port.to_be_bytes());
        out.extend_from_slice(&self.destination_port.to_be_bytes());
        out.extend_from_slice(&self.sequence.to_be_bytes());
        out.extend_from_slice(&self.acknowledgement.to_be_bytes());
        out.extend_from_slice(&offset_and_flags.to_be_bytes());
        out.extend_from_slice(&self.window.to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&self.urgent.to_be_bytes());
        if let Some(max_segment_bytes) = self.max_segment_bytes {
            out.extend_from_slice(&[OPTION_MSS, OPTION_MSS_BYTES]);
            out.extend_from_slice(&max_segment_bytes.to_be_bytes());
        }
        if !self.sack.blocks().is_empty() {
            let length_bytes = self.sack.bytes() as u8 - 2;
            out.extend_from_slice(&[OPTION_NOP, OPTION_NOP, OPTION_SACK, length_bytes]);
            for (start, end) in self.sack.blocks() {
                out.extend_from_slice(&start.to_be_bytes());
                out.extend_from_slice(&end.to_be_bytes());
            }
        }
        out.extend_from_slice(payload);
        let pseudo = pseudo_header.to_bytes(Protocol::TCP, (out.len() - start) as u16);
        let sum = checksum::internet(&[&pseudo, &out[start..]]);
        out[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
        Ok(())
    }
}

/// Parses the maximum segment size and the selective acknowledgement from the options. If an option occurs more than
/// once, the last one counts.
fn parse_options(options: &[u8]) -> Result<(Option<u16>, Sack), Error> {
    let mut reader = Reader::new(options);
    let (mut max_segment_bytes, mut sack) = (None, Sack::default());
    while !reader.rest().is_empty() {
        match reader.u8("TCP option")? {
            OPTION_END => break,
            OPTION_NOP => {}
            kind => {
                let length_bytes = reader.u8("TCP option length")?;
                if kind == OPTION_MSS {
                    if length_bytes != OPTION_MSS_BYTES {
                        return Err(reader.unexpected("TCP maximum segment size length", 1, length_bytes, "4"));
                    }
                    max_segment_bytes = Some(reader.u16("TCP maximum segment size")?);
                } else if kind == OPTION_SACK {
                    if !matches!(length_bytes, 10 | 18 | 26 | 34) {
                        return Err(reader.unexpected("TCP SACK length", 1, length_bytes, "10, 18, 26 or 34"));
                    }
                    let mut blocks = [(0, 0); Sack::MOST_BLOCKS];
                    // An option with n blocks has the length 2 + 8 n.
                    let count = usize::from(length_bytes / 8);
                    for block in &mut blocks[..count] {
                        *block = (reader.u32("TCP SACK block")?, reader.u32("TCP SACK block")?);
                    }
                    sack = Sack::new(blocks[..count].iter().copied());
                } else {
                    let Some(data_bytes) = length_bytes.checked_sub(2) else {
                        return Err(reader.unexpected("TCP option length", 1, length_bytes, "2 or more"));
                    };
                    reader.take("TCP option", data_bytes.into())?;
                }
            }
        }
    }
    Ok((max_segment_bytes, sack))
}

/// Formats as `TCP 1024 > 80 ACK seq 1 ack 1001 win 65535 sack 2001-3001`.
impl fmt::Display for Tcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TCP {} > {} {} seq {}", self.source_port, self.destination_port, self.flags, self.sequence)?;
        if self.flags.contains(TcpFlags::ACK) {
            write!(f, " ack {}", self.acknowledgement)?;
        }
        write!(f, " win {}", self.window)?;
        if let Some(max_segment_bytes) = self.max_segment_bytes {
            write!(f, " mss {max_segment_bytes}")?;
        }
        for (start, end) in self.sack.blocks() {
            write!(f, " sack {start}-{end}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::testing::{assert_detects_bit_flips, assert_refuses_prefixes, hex};
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    const PSEUDO: PseudoHeader =
        PseudoHeader { source: Ipv4Addr::new(10, 0, 0, 1), destination: Ipv4Addr::new(10, 0, 0, 2) };

    /// Computed by hand: the words of the pseudo header, 0a00+0001+0a00+0002+0006+0018, and of the segment,
    /// 0400+0050+0001+6002+ffff+0204+05b4, add up to 0x1802b (folded: 0x802c), whose complement is 0x7fd3.
    #[test]
    fn checksum_by_hand() {
        let words: [u32; 13] =
            [0x0a00, 0x0001, 0x0a00, 0x0002, 0x0006, 0x0018, 0x0400, 0x0050, 0x0001, 0x6002, 0xffff, 0x0204, 0x05b4];
        let sum: u32 = words.iter().sum();
        assert_eq!(sum, 0x1_802b);
        let bytes = hex("0400 0050 00000001 00000000 6002 ffff 7fd3 0000 020405b4");
        let header = Tcp {
            source_port: 1024,
            destination_port: 80,
            sequence: 1,
            acknowledgement: 0,
            flags: TcpFlags::SYN,
            window: 0xFFFF,
            urgent: 0,
            max_segment_bytes: Some(1460),
            sack: Sack::default(),
        };
        assert_eq!(Tcp::parse(&bytes, PSEUDO), Ok((header, &[][..])));
        assert_eq!(header.to_string(), "TCP 1024 > 80 SYN seq 1 win 65535 mss 1460");
        let mut emitted = Vec::new();
        header.emit(PSEUDO, &[], &mut emitted).unwrap();
        assert_eq!(emitted, bytes);
        assert_refuses_prefixes(&bytes, |bytes| Tcp::parse(bytes, PSEUDO));
        assert_detects_bit_flips(&bytes, |bytes| Tcp::parse(bytes, PSEUDO).map(|_| ()));
    }

    #[test]
    fn flags_stand_where_the_standards_put_them() {
        let all = TcpFlags::from_bits(0xFFFF);
        assert_eq!(all.to_string(), "SYN,FIN,RST,PSH,ACK,URG,ECE,CWR,NS");
        assert_eq!((TcpFlags::ECE | TcpFlags::CWR).bits(), 0xC0);
        assert!(!TcpFlags::SYN.contains(TcpFlags::SYN | TcpFlags::ACK));
        assert_eq!(TcpFlags::default().to_string(), "none");
    }

    #[test]
    fn options_are_skipped_and_bad_lengths_named() {
        // Options: window scale, no-operation, maximum segment size, end of the list, and bytes after the end, which
        // are ignored.
        assert_eq!(parse_options(&hex("030307 01 020405b4 00 0300")), Ok((Some(1460), Sack::default())));
        assert_eq!(parse_options(&[]), Ok((None, Sack::default())));
        let zero = parse_options(&hex("01 0800")).unwrap_err();
        assert_eq!(zero.to_string(), "byte 2: TCP option length is 0x0, expected 2 or more");
        assert!(matches!(parse_options(&hex("08 0a 00")), Err(Error::Truncated { offset_bytes: 2, .. })));
        assert!(matches!(parse_options(&hex("02 03 05")), Err(Error::Value { found: 3, .. })));
    }

    /// RFC 2018, 3: option kind 5, length 2 + 8 n, and both edges of each block as sequence numbers; two bytes of
    /// padding before the option, as in the RFC's appendix.
    #[test]
    fn selective_acknowledgements_by_hand() {
        let option = hex("0101 0512 000007d1 00000bb9 00001389 00001771");
        let sack = Sack::new([(2001, 3001), (5001, 6001)]);
        assert_eq!(parse_options(&option), Ok((None, sack)));
        let header = Tcp {
            source_port: 1024,
            destination_port: 80,
            sequence: 1,
            acknowledgement: 1001,
            flags: TcpFlags::ACK,
            window: 0xFFFF,
            urgent: 0,
            max_segment_bytes: None,
            sack,
        };
        let mut emitted = Vec::new();
        header.emit(PSEUDO, &[], &mut emitted).unwrap();
        assert_eq!((&emitted[20..], emitted[12] >> 4), (&option[..], 10));
        assert_eq!(Tcp::parse(&emitted, PSEUDO), Ok((header, &[][..])));
        assert_eq!(header.to_string(), "TCP 1024 > 80 ACK seq 1 ack 1001 win 65535 sack 2001-3001 sack 5001-6001");
        assert!(matches!(parse_options(&hex("05 02")), Err(Error::Value { field: "TCP SACK length", found: 2, .. })));
        assert!(matches!(parse_options(&hex("05 0b 00")), Err(Error::Value { found: 11, .. })));
        assert!(matches!(parse_options(&hex("05 2a 00")), Err(Error::Value { found: 42, .. })));
        assert!(matches!(parse_options(&hex("05 0a 00000001 0000")), Err(Error::Truncated { .. })));
        let four = Sack::new((0..5).map(|at| (at, at + 1)));
        assert_eq!(four.blocks().len(), 4);
        let full = Tcp { max_segment_bytes: Some(1460), sack: four, ..header };
        assert_eq!(full.header_bytes(), 60, "the most that a header has room for");
    }

    #[test]
    fn a_short_data_offset_is_named() {
        let error = Tcp::parse(&hex("0400 0050 00000001 00000000 4002 ffff 0000 0000"), PSEUDO).unwrap_err();
        assert!(matches!(error, Error::Value { field: "TCP data offset", offset_bytes: 12, found: 4, .. }), "{error}");
    }

    prop_compose! {
        pub(crate) fn any_header()(
            (source_port, destination_port, window, urgent) in any::<(u16, u16, u16, u16)>(),
            (sequence, acknowledgement, flags) in any::<(u32, u32, u16)>(),
            max_segment_bytes in any::<Option<u16>>(),
            blocks in prop::collection::vec(any::<(u32, u32)>(), 0..=4),
        ) -> Tcp {
            let (flags, sack) = (TcpFlags::from_bits(flags), Sack::new(blocks));
            Tcp {
                source_port,
                destination_port,
                sequence,
                acknowledgement,
                flags,
                window,
                urgent,
                max_segment_bytes,
                sack,
            }
        }
    }

    proptest! {
        #[test]
        fn round_trip(header in any_header(), addresses: (u32, u32), payload: Vec<u8>) {
            let pseudo = PseudoHeader { source: addresses.0.into(), destination: addresses.1.into() };
            let mut bytes = Vec::new();
            header.emit(pseudo, &payload, &mut bytes).unwrap();
            prop_assert_eq!(bytes.len(), header.header_bytes() + payload.len());
            prop_assert_eq!(Tcp::parse(&bytes, pseudo), Ok((header, &payload[..])));
        }
    }
}
