//! Complete frames: all layers from the destination address to the frame check sequence.

use crate::cnm::Cnm;
use crate::error::Error;
use crate::ethernet::{self, EtherType, Ethernet, MacAddress};
use crate::ipv4::{Ipv4, Protocol};
use crate::mac_control::MacControl;
use crate::reader::Reader;
use crate::roce::{self, Roce};
use crate::tcp::Tcp;
use crate::udp::Udp;
use crate::vlan::VlanTag;
use std::fmt;

/// One frame, whose payload is borrowed from the parsed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Destination address.
    pub destination: MacAddress,
    /// Source address.
    pub source: MacAddress,
    /// Outermost VLAN tag; inner tags are part of [`Content::Other`].
    pub vlan: Option<VlanTag>,
    /// Payload of the frame.
    pub content: Content<'a>,
}

/// Payload of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// A MAC control frame: PAUSE, PFC, credit, XOFF or XON.
    MacControl(MacControl),
    /// A congestion notification message (QCN).
    CongestionNotification {
        /// Fields of the message.
        message: Cnm,
        /// Copied bytes of the sampled frame, at most 64.
        content: &'a [u8],
    },
    /// An IPv4 packet.
    Ipv4 {
        /// IPv4 header.
        header: Ipv4,
        /// Payload of the packet.
        transport: Transport<'a>,
    },
    /// A payload with another EtherType.
    Other {
        /// EtherType of the payload.
        ethertype: EtherType,
        /// All bytes up to the FCS, padding included, because only the payload's protocol defines its length.
        payload: &'a [u8],
    },
}

/// Payload of an IPv4 packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport<'a> {
    /// A UDP datagram with a destination port other than that of RoCEv2.
    Udp {
        /// UDP header.
        header: Udp,
        /// Payload of the datagram.
        payload: &'a [u8],
    },
    /// A UDP datagram with the destination port of RoCEv2.
    Roce {
        /// UDP header.
        udp: Udp,
        /// RoCEv2 headers and payload.
        roce: Roce<'a>,
    },
    /// A TCP segment.
    Tcp {
        /// TCP header.
        header: Tcp,
        /// Payload of the segment.
        payload: &'a [u8],
    },
    /// Payload of another protocol, or a fragment of a packet.
    Other(&'a [u8]),
}

impl<'a> Packet<'a> {
    /// Parses a frame as on the wire: at least 64 bytes, with the frame check sequence at the end.
    ///
    /// # Errors
    /// If the frame is a runt or damaged, or for the reasons of [`Packet::parse_without_fcs`].
    pub fn parse(frame: &'a [u8]) -> Result<Packet<'a>, Error> {
        Packet::parse_without_fcs(ethernet::check_fcs(frame)?)
    }

    /// Parses a frame from a capture, of any length and without frame check sequence.
    ///
    /// # Errors
    /// The first field that is truncated or invalid, or the first checksum that does not match.
    pub fn parse_without_fcs(frame: &'a [u8]) -> Result<Packet<'a>, Error> {
        let (Ethernet { destination, source, mut ethertype }, mut rest) = Ethernet::parse(frame)?;
        let mut vlan = None;
        if ethertype == EtherType::VLAN {
            let (tag, inner, after) = VlanTag::parse(rest).map_err(|error| error.shifted(Ethernet::HEADER_BYTES))?;
            (vlan, ethertype, rest) = (Some(tag), inner, after);
        }
        // The rest of the frame is at its end, because the parsers above remove no bytes at the end.
        let offset_bytes = frame.len() - rest.len();
        let content = Content::parse(ethertype, rest).map_err(|error| error.shifted(offset_bytes))?;
        Ok(Packet { destination, source, vlan, content })
    }

    /// Appends the frame, with padding and frame check sequence.
    ///
    /// # Errors
    /// If a payload is too long, or fields of two layers are inconsistent, so that [`Packet::parse`] would return
    /// another packet; then nothing is appended.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        self.emit_unfinished(out).inspect_err(|_| out.truncate(start))?;
        ethernet::finish_frame(out, start);
        Ok(())
    }

    fn emit_unfinished(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let content_type = self.content.ethertype();
        let ethertype = if self.vlan.is_some() { EtherType::VLAN } else { content_type };
        Ethernet { destination: self.destination, source: self.source, ethertype }.emit(out);
        if let Some(tag) = &self.vlan {
            tag.emit(content_type, out);
        }
        match &self.content {
            Content::MacControl(control) => control.emit(out),
            Content::CongestionNotification { message, content } => message.emit(content, out)?,
            Content::Ipv4 { header, transport } => transport.emit(header, out)?,
            Content::Other { ethertype, payload } => {
                let known = matches!(*ethertype, EtherType::IPV4 | EtherType::MAC_CONTROL | EtherType::CNM);
                if known || *ethertype < EtherType::MIN || (*ethertype == EtherType::VLAN && self.vlan.is_none()) {
                    return Err(Error::Inconsistent {
                        field: "EtherType",
                        found: ethertype.0.into(),
                        expected: "0x0600 or more and not one of a protocol with a repr of its own",
                    });
                }
                out.extend_from_slice(payload);
            }
        }
        Ok(())
    }
}

impl<'a> Content<'a> {
    fn parse(ethertype: EtherType, bytes: &'a [u8]) -> Result<Content<'a>, Error> {
        match ethertype {
            EtherType::MAC_CONTROL => MacControl::parse(bytes).map(|(control, _)| Content::MacControl(control)),
            EtherType::CNM => {
                Cnm::parse(bytes).map(|(message, content)| Content::CongestionNotification { message, content })
            }
            EtherType::IPV4 => {
                let (header, payload) = Ipv4::parse(bytes)?;
                let header_bytes = usize::from(bytes[0] & 0xF) * 4;
                let transport = Transport::parse(&header, &bytes[..header_bytes], payload)
                    .map_err(|error| error.shifted(header_bytes))?;
                Ok(Content::Ipv4 { header, transport })
            }
            _ => Ok(Content::Other { ethertype, payload: bytes }),
        }
    }

    fn ethertype(&self) -> EtherType {
        match self {
            Content::MacControl(_) => EtherType::MAC_CONTROL,
            Content::CongestionNotification { .. } => EtherType::CNM,
            Content::Ipv4 { .. } => EtherType::IPV4,
            Content::Other { ethertype, .. } => *ethertype,
        }
    }
}

impl<'a> Transport<'a> {
    /// Parses the payload of the packet with the IPv4 header `header`; `header_bytes` are the bytes of this header.
    fn parse(header: &Ipv4, header_bytes: &[u8], bytes: &'a [u8]) -> Result<Transport<'a>, Error> {
        if header.is_fragment() {
            return Ok(Transport::Other(bytes));
        }
        match header.protocol {
            Protocol::TCP => {
                let (header, payload) = Tcp::parse(bytes, header.pseudo_header())?;
                Ok(Transport::Tcp { header, payload })
            }
            Protocol::UDP => {
                let (udp, payload) = Udp::parse(bytes, header.pseudo_header())?;
                if udp.destination_port != roce::UDP_PORT {
                    return Ok(Transport::Udp { header: udp, payload });
                }
                let udp_header = Reader::new(bytes).octets("UDP header")?;
                let transport =
                    check_icrc(header_bytes, udp_header, payload).map_err(|error| error.shifted(Udp::HEADER_BYTES))?;
                let roce = Roce::parse(transport).map_err(|error| error.shifted(Udp::HEADER_BYTES))?;
                Ok(Transport::Roce { udp, roce })
            }
            _ => Ok(Transport::Other(bytes)),
        }
    }

    /// Appends the IPv4 header and the payload.
    fn emit(&self, header: &Ipv4, out: &mut Vec<u8>) -> Result<(), Error> {
        self.check(header)?;
        let pseudo_header = header.pseudo_header();
        match self {
            Transport::Udp { header: udp, payload } => {
                header.emit(Udp::HEADER_BYTES + payload.len(), out)?;
                udp.emit(pseudo_header, payload, out)
            }
            Transport::Roce { udp, roce } => {
                let mut datagram = Vec::new();
                roce.emit(&mut datagram)?;
                let payload_bytes = datagram.len() + roce::ICRC_BYTES;
                let header_bytes = header.to_bytes(Udp::HEADER_BYTES + payload_bytes)?;
                // The ICRC must be computed before the UDP checksum, which covers the ICRC; for the ICRC, the UDP
                // checksum is masked.
                let udp_header = udp.to_bytes_unchecked(payload_bytes)?;
                let icrc = roce::icrc(&header_bytes, udp_header, &datagram);
                datagram.extend_from_slice(&icrc.to_le_bytes());
                out.extend_from_slice(&header_bytes);
                udp.emit(pseudo_header, &datagram, out)
            }
            Transport::Tcp { header: tcp, payload } => {
                header.emit(tcp.header_bytes() + payload.len(), out)?;
                tcp.emit(pseudo_header, payload, out)
            }
            Transport::Other(payload) => {
                header.emit(payload.len(), out)?;
                out.extend_from_slice(payload);
                Ok(())
            }
        }
    }

    /// Checks that the fields of `header` match this payload.
    fn check(&self, header: &Ipv4) -> Result<(), Error> {
        let wrong_protocol =
            |expected| Err(Error::Inconsistent { field: "IPv4 protocol", found: header.protocol.0.into(), expected });
        let wrong_port = |udp: &Udp, expected| {
            Err(Error::Inconsistent { field: "UDP destination port", found: udp.destination_port.into(), expected })
        };
        let known = matches!(header.protocol, Protocol::TCP | Protocol::UDP);
        match self {
            Transport::Other(_) if known && !header.is_fragment() => {
                wrong_protocol("neither TCP nor UDP for an unparsed payload")
            }
            Transport::Other(_) => Ok(()),
            _ if header.is_fragment() => Err(Error::Inconsistent {
                field: "IPv4 fragment offset",
                found: header.fragment_offset.get().into(),
                expected: "an unfragmented packet ahead of a transport header",
            }),
            Transport::Tcp { .. } if header.protocol != Protocol::TCP => wrong_protocol("6 ahead of a TCP header"),
            Transport::Tcp { .. } => Ok(()),
            _ if header.protocol != Protocol::UDP => wrong_protocol("17 ahead of a UDP header"),
            Transport::Udp { header: udp, .. } if udp.destination_port == roce::UDP_PORT => {
                wrong_port(udp, "not 4791, the port of RoCEv2")
            }
            Transport::Roce { udp, .. } if udp.destination_port != roce::UDP_PORT => {
                wrong_port(udp, "4791, the port of RoCEv2")
            }
            Transport::Udp { .. } | Transport::Roce { .. } => Ok(()),
        }
    }
}

/// Verifies the ICRC at the end of a RoCEv2 datagram. Returns the datagram without it.
fn check_icrc<'a>(ipv4_header: &[u8], udp_header: [u8; 8], datagram: &'a [u8]) -> Result<&'a [u8], Error> {
    let mut reader = Reader::new(datagram);
    let covered_bytes = datagram.len().saturating_sub(roce::ICRC_BYTES);
    let covered = reader.take("RoCE transport header", covered_bytes)?;
    let found = u32::from_le_bytes(reader.octets("ICRC")?);
    let computed = roce::icrc(ipv4_header, udp_header, covered);
    if found == computed {
        Ok(covered)
    } else {
        Err(Error::Checksum { field: "ICRC", offset_bytes: covered_bytes, found, computed })
    }
}

/// Formats in one line: `02:00:00:00:00:01 > 02:00:00:00:00:02 vlan 5 pcp 3 10.0.0.1 > 10.0.0.2 CE RoCEv2 CNP qp 7`
impl fmt::Display for Packet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {} ", self.source, self.destination)?;
        if let Some(tag) = &self.vlan {
            write!(f, "{tag} ")?;
        }
        match &self.content {
            Content::MacControl(control) => control.fmt(f),
            Content::CongestionNotification { message, .. } => message.fmt(f),
            Content::Ipv4 { header, transport } => {
                write!(f, "{header} ")?;
                match transport {
                    Transport::Udp { header, payload } => write!(f, "{header}, {} B", payload.len()),
                    Transport::Roce { roce, .. } => roce.fmt(f),
                    Transport::Tcp { header, payload } => write!(f, "{header}, {} B", payload.len()),
                    Transport::Other(payload) => write!(f, "protocol {}, {} B", header.protocol.0, payload.len()),
                }
            }
            Content::Other { ethertype, payload } => write!(f, "EtherType {ethertype}, {} B", payload.len()),
        }
    }
}

#[cfg(test)]
mod tests;
