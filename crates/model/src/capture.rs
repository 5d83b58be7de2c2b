//! Bytes of captured frames, for `capture.pcapng`.
//!
//! | field | content |
//! |---|---|
//! | MAC address of a host | `02:00` and its number in 32 bits |
//! | MAC address of a port, in MAC control frames | `06`, its node in 24 bits, its number in 16 bits |
//! | IPv4 address of a host | 10.0.0.0 + its number + 1 |
//! | DSCP, and PCP if the configured headers have room for a VLAN tag | the class: `8 * class`, `class` |
//! | source port | 49152 + the number of the connection (its first flow) modulo 16384 |
//! | RoCEv2 queue pair, of data and replies | 2 + the connection's number modulo 2^24 - 2 |
//! | sequence numbers | TCP: 1 + the offset in the connection; RoCEv2: the packets before it in the connection |
//! | payload | byte i of a flow is i modulo 256 |
//!
//! A frame has its simulated length. If configured headers are longer than real ones, zeros follow the IP packet. If
//! they are shorter, payload is omitted.
//!
//! A trimmed frame consists of the first bytes of the original frame, with the DSCP of its new class and a new FCS.
//! Lengths and checksums of IP and higher layers are those of the original frame, because trimming switches do not
//! update them. The capture reports the length before trimming as the original length. In a returned header the MAC and
//! IP addresses are swapped; the ports and all later bytes are unchanged.

use crate::numbering::{DRAWN, Numbering, source_port};
use crate::parameters::Setup;
use crate::trace::CapturedFrame;
use fabric::NodeId;
use protocols::datagram::HEADER_BYTES;
use protocols::frame::{ANY_SOURCE, CreditMessage, Frame, Kind, PauseMessage, XoffMessage, flags};
use protocols::ndp::Announcement;
use protocols::transport::TransportParameters;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use traffic::{Connections, Load};
use wire::ethernet::{self, FCS_BYTES};
use wire::flow_control::FlowControlAction;
use wire::roce::{Msn, Opcode, Psn, QueuePair, Syndrome, UDP_PORT};
use wire::vlan::{Pcp, Vid};
use wire::{
    Aeth, Bth, Cnm, Cnp, Content, Credit, Dscp, Ecn, FlowControl, Ipv4, MacAddress, MacControl, Ndp, NdpType, Packet,
    Pause, Pfc, Probe, ProbeKind, Protocol, Roce, Sack, Tcp, TcpFlags, Transport, Udp, VlanTag,
};

/// Protocol of a frame on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carrier {
    Udp,
    Tcp,
    Roce,
    Ndp,
}

impl Carrier {
    /// Bytes of a data frame except VLAN tag and payload.
    const fn overhead_bytes(self) -> u16 {
        let ethernet = 14 + 4;
        match self {
            Carrier::Udp => ethernet + 20 + 8,
            Carrier::Tcp => ethernet + 20 + 20,
            Carrier::Roce => ethernet + 20 + 8 + 12 + 4,
            Carrier::Ndp => ethernet + 20 + 8 + Ndp::BYTES as u16,
        }
    }
}

/// Header layout of a transport's frames.
#[derive(Clone, Copy, Debug)]
struct Headers {
    carrier: Carrier,
    /// Whether the configured headers have room for a VLAN tag.
    tagged: bool,
    /// Configured bytes of a data frame other than payload.
    header_bytes: u16,
    /// Payload of a full RoCE packet, in bytes.
    packet_bytes: u64,
    /// Whether RoCE's negative acknowledgements identify the packet that caused them: four bytes after the AETH, of
    /// which the last three are its sequence number (IRN, sec. 5).
    selective: bool,
    /// Payload in bytes of a full TCP segment. `None` without selective acknowledgements.
    sack_segment_bytes: Option<u64>,
}

impl Headers {
    fn of(transport: &TransportParameters) -> Headers {
        let (carrier, packet_bytes) = match transport {
            TransportParameters::Datagram(_) | TransportParameters::Custom(_) => (Carrier::Udp, 1),
            TransportParameters::Tcp(_) => (Carrier::Tcp, 1),
            TransportParameters::Roce(parameters) => (Carrier::Roce, u64::from(parameters.payload_bytes).max(1)),
            TransportParameters::Ndp(_) => (Carrier::Ndp, 1),
        };
        let header_bytes = transport.header_bytes();
        let tagged = header_bytes >= carrier.overhead_bytes() + VlanTag::BYTES as u16;
        let selective = matches!(transport, TransportParameters::Roce(parameters) if parameters.is_selective());
        let sack_segment_bytes = match transport {
            TransportParameters::Tcp(parameters) if parameters.sack => Some(u64::from(parameters.mss_bytes).max(1)),
            _ => None,
        };
        Headers { carrier, tagged, header_bytes, packet_bytes, selective, sack_segment_bytes }
    }
}

/// Encoder of captured frames.
#[derive(Clone, Debug)]
pub struct FrameBytes {
    numbering: Numbering,
    connections: Connections,
    /// For each connection with several messages: offset of the first byte and number of the first packet of each
    /// message.
    messages: BTreeMap<u32, Vec<(u64, u64)>>,
    /// Headers of the default transport, and of traffic entries with their own transport.
    usual: Headers,
    own: BTreeMap<u8, Headers>,
    /// Whether each planned flow sends datagrams, and its destination port.
    planned: Vec<(bool, u16)>,
    /// Destination port of drawn flows, by traffic entry.
    drawn: BTreeMap<u8, u16>,
    /// Captured port and its link peer, by capture.
    ends: Vec<[(NodeId, u16); 2]>,
}

impl FrameBytes {
    /// Creates the encoder for the captures of `setup`.
    pub fn new(setup: &Setup) -> Self {
        let flows = setup.traffic.flows.iter();
        let end = |node: NodeId, port: u16| {
            let peer = setup.fabric.ports(node)[usize::from(port)];
            [(node, port), (peer.peer, peer.peer_port)]
        };
        let connections = &setup.traffic.connections;
        let mut messages = BTreeMap::new();
        for (first, flow) in (0u32..).zip(&setup.traffic.flows) {
            if connections.are_shared_by(first) && connections.of(first) == first && !setup.record.capture.is_empty() {
                let transport = setup.host.transports.get(&flow.traffic).unwrap_or(&setup.host.transport);
                messages.insert(first, messages_of(setup, first, transport.payload_bytes().max(1).into()));
            }
        }
        FrameBytes {
            messages,
            numbering: Numbering { planned: flows.len() as u64, hosts: setup.fabric.hosts().len() as u64 },
            connections: setup.traffic.connections.clone(),
            usual: Headers::of(&setup.host.transport),
            own: setup.host.transports.iter().map(|(&entry, transport)| (entry, Headers::of(transport))).collect(),
            planned: flows.map(|flow| (matches!(flow.load, Load::Datagrams(_)), flow.dst_port)).collect(),
            drawn: setup.traffic.arrivals.iter().map(|source| (source.traffic, source.dst_port)).collect(),
            ends: setup.record.capture.iter().map(|capture| end(capture.node, capture.port)).collect(),
        }
    }

    /// Writes the frame to `out`, from the destination address to the FCS. Returns its length in bytes before trimming.
    ///
    /// # Errors
    /// Fails if fields of the frame contradict each other, which would be a bug of this module.
    pub fn emit(&self, captured: &CapturedFrame, out: &mut Vec<u8>) -> Result<usize, wire::Error> {
        out.clear();
        let frame = &captured.frame;
        if frame.is_mac_control() {
            let (node, port) = self.ends[captured.capture][usize::from(!captured.outbound)];
            mac_control(node, port, frame).emit(out)?;
            return Ok(out.len());
        }
        if frame.kind == Kind::Cnm {
            congestion_notification(frame).emit(out)?;
            lengthen(out, usize::from(frame.size_bytes));
            return Ok(out.len());
        }
        let flow = self.numbering.of_frame(frame);
        let (datagrams, dst_port) = match self.planned.get(usize::try_from(flow).unwrap_or(usize::MAX)) {
            Some(&planned) => planned,
            None => (false, self.drawn.get(&frame.traffic).copied().unwrap_or(0)),
        };
        let headers = self.own.get(&frame.traffic).unwrap_or(&self.usual);
        let probes = matches!(frame.kind, Kind::Probe | Kind::Control);
        let carrier = if datagrams || probes { Carrier::Udp } else { headers.carrier };
        let tagged = headers.tagged && !datagrams;
        let is_cut = matches!(frame.kind, Kind::Trimmed | Kind::Returned)
            && matches!(carrier, Carrier::Udp | Carrier::Tcp | Carrier::Roce);
        let whole = if is_cut { headers.before_the_cut(frame, datagrams) } else { *frame };
        let (frame, left_bytes) = (&whole, usize::from(frame.size_bytes));
        let overhead = carrier.overhead_bytes() + if tagged { VlanTag::BYTES as u16 } else { 0 };
        let room = usize::from(frame.size_bytes.saturating_sub(overhead));
        // RoCE payload is a multiple of four bytes, so that RoCE padding does not make the frame longer than its
        // simulated length.
        let most = if carrier == Carrier::Roce { room & !3 } else { room };
        let mut payload = Vec::new();
        let messages = self.messages.get(&frame.flow).map_or(&[][..], |messages| messages);
        if carrier == Carrier::Ndp {
            ndp(frame).emit(&mut payload);
        }
        if probes && room >= Probe::BYTES {
            probe(frame).emit(&mut payload);
        }
        let bytes = 0..u64::from(if frame.kind == Kind::Data { frame.payload_bytes } else { 0 });
        if headers.selective && frame.kind == Kind::Ack && frame.has(flags::NAK) {
            payload.extend(sequence_number(headers.packet_bytes, messages, frame.packet().0).get().to_be_bytes());
        }
        payload.extend(bytes.take(most).map(|at| frame.seq.wrapping_add(at) as u8));
        let connection = if frame.flow & DRAWN == 0 { u64::from(self.connections.of(frame.flow)) } else { flow };
        let source_port = source_port(connection);
        let ports = if frame.goes_forward() { (source_port, dst_port) } else { (dst_port, source_port) };
        let transport = match carrier {
            Carrier::Udp => udp(ports, &payload),
            Carrier::Tcp => tcp(frame, ports, headers.sack(frame), &payload),
            Carrier::Ndp => {
                let header = Udp { source_port, destination_port: wire::ndp::UDP_PORT, checksummed: false };
                Transport::Udp { header, payload: &payload }
            }
            Carrier::Roce => headers.roce(frame, (source_port, connection), messages, &payload),
        };
        let protocol = if carrier == Carrier::Tcp { Protocol::TCP } else { Protocol::UDP };
        let packet = Packet {
            destination: host_mac(frame.dst),
            source: host_mac(frame.src),
            vlan: tagged.then(|| VlanTag {
                priority: Pcp::low_bits(frame.class),
                drop_eligible: false,
                vid: Vid::PRIORITY_ONLY,
            }),
            content: Content::Ipv4 {
                header: Ipv4 {
                    dscp: Dscp::low_bits(frame.class << 3),
                    ecn: ecn(frame),
                    time_to_live: frame.ttl,
                    ..Ipv4::new(host_ip(frame.src), host_ip(frame.dst), protocol)
                },
                transport,
            },
        };
        packet.emit(out)?;
        lengthen(out, usize::from(frame.size_bytes));
        let whole_bytes = out.len();
        if is_cut {
            out.truncate(left_bytes.saturating_sub(FCS_BYTES));
            ethernet::finish_frame(out, 0);
        }
        Ok(whole_bytes)
    }
}

impl Headers {
    /// Returns the data frame as its source sent it, in the current class and direction of `frame`.
    fn before_the_cut(&self, frame: &Frame, datagrams: bool) -> Frame {
        let header_bytes = if datagrams { HEADER_BYTES } else { self.header_bytes };
        let size_bytes = frame.payload_bytes.saturating_add(header_bytes).max(frame.size_bytes);
        Frame { kind: Kind::Data, size_bytes, ..*frame }
    }

    /// Returns the SACK blocks of a TCP acknowledgement.
    fn sack(&self, frame: &Frame) -> Sack {
        match self.sack_segment_bytes {
            Some(mss) if frame.kind == Kind::Ack && !frame.has(flags::COMPLETE) => {
                let blocks = frame.sack_blocks().iter(frame.seq, mss);
                Sack::new(blocks.map(|(start, end)| (tcp_number(start), tcp_number(end))))
            }
            _ => Sack::default(),
        }
    }

    fn roce<'p>(
        &self,
        frame: &Frame,
        (source_port, flow): (u16, u64),
        messages: &[(u64, u64)],
        payload: &'p [u8],
    ) -> Transport<'p> {
        let queue_pair = QueuePair::low_bits(2 + (flow % ((1 << 24) - 2)) as u32);
        let psn = |bytes: u64| sequence_number(self.packet_bytes, messages, bytes);
        let begins = frame.seq == 0 || messages.binary_search_by_key(&frame.seq, |message| message.0).is_ok();
        let roce = match frame.kind {
            Kind::Cnp => {
                let partition_key = Bth::DEFAULT_PARTITION;
                Roce::CongestionNotification(Cnp { destination_queue_pair: queue_pair, partition_key })
            }
            Kind::Ack => {
                let negative = frame.has(flags::NAK);
                // The payload is empty, except in negative acknowledgements of selective repeat.
                let syndrome = if negative { Syndrome::SEQUENCE_ERROR } else { Syndrome::ACKNOWLEDGE };
                let sequence = psn(if negative { frame.seq } else { frame.seq.saturating_sub(1) });
                let message = if frame.has(flags::COMPLETE) { 1 } else { 0 };
                Roce::Acknowledge {
                    header: Bth::new(Opcode::RC_ACKNOWLEDGE, queue_pair, sequence, payload.len()),
                    acknowledge: Aeth { syndrome, message_sequence: Msn::low_bits(message) },
                    payload,
                }
            }
            _ => {
                let opcode = match (begins, frame.ends_message()) {
                    (true, true) => Opcode::RC_SEND_ONLY,
                    (true, false) => Opcode::RC_SEND_FIRST,
                    (false, false) => Opcode::RC_SEND_MIDDLE,
                    (false, true) => Opcode::RC_SEND_LAST,
                };
                let header = Bth {
                    acknowledge_request: frame.ends_message(),
                    ..Bth::new(opcode, queue_pair, psn(frame.seq), payload.len())
                };
                Roce::Data { header, payload }
            }
        };
        Transport::Roce { udp: Udp { source_port, destination_port: UDP_PORT, checksummed: false }, roce }
    }
}

/// Returns, for each message of the connection `first`, the offset of its first byte and the number of its first
/// packet.
fn messages_of(setup: &Setup, first: u32, packet_bytes: u64) -> Vec<(u64, u64)> {
    let numbers = std::iter::successors(Some(first), |&flow| setup.traffic.connections.next(flow));
    let begin = numbers.scan((0u64, 0u64), |(bytes, packets), flow| {
        let (size_bytes, begins) = (setup.traffic.flows[flow as usize].size_bytes, (*bytes, *packets));
        *bytes = bytes.saturating_add(size_bytes);
        *packets += size_bytes.div_ceil(packet_bytes);
        Some(begins)
    });
    begin.collect()
}

/// Returns the number of the RoCE packet that begins with byte `seq` of its connection.
fn sequence_number(packet_bytes: u64, messages: &[(u64, u64)], seq: u64) -> Psn {
    let (begin, packets) = match messages.partition_point(|message| message.0 <= seq) {
        0 => (0, 0),
        after => messages[after - 1],
    };
    Psn::low_bits(((packets + (seq - begin) / packet_bytes) % (1 << 24)) as u32)
}

fn host_mac(host: u32) -> MacAddress {
    let [a, b, c, d] = host.to_be_bytes();
    MacAddress::new([2, 0, a, b, c, d])
}

fn host_ip(host: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 0, 0, 0)).wrapping_add(host).wrapping_add(1))
}

fn ecn(frame: &Frame) -> Ecn {
    match (frame.has(flags::CE), frame.has(flags::ECT)) {
        (true, _) => Ecn::Congestion,
        (false, true) => Ecn::Capable0,
        (false, false) => Ecn::NotCapable,
    }
}

fn mac_control<'a>(node: NodeId, port: u16, frame: &Frame) -> Packet<'a> {
    let [_, a, b, c] = node.0.to_be_bytes();
    let [d, e] = port.to_be_bytes();
    let control = match frame.kind {
        Kind::Pfc => {
            let PauseMessage { classes, quanta } = frame.pause_message();
            let quanta = std::array::from_fn(|class| (classes & 1 << class != 0).then_some(quanta));
            MacControl::Pfc(Pfc { quanta })
        }
        Kind::Xoff | Kind::Xon => MacControl::Flow(flow_control(frame)),
        Kind::Credit => {
            let CreditMessage { class, sent_bytes, limit_bytes } = frame.credit_message();
            MacControl::Credit(Credit { class: Pcp::low_bits(class), sent_bytes, limit_bytes })
        }
        _ => MacControl::Pause(Pause { quanta: frame.pause_message().quanta }),
    };
    let (destination, source) = (MacAddress::MAC_CONTROL, MacAddress::new([6, a, b, c, d, e]));
    Packet { destination, source, vlan: None, content: Content::MacControl(control) }
}

/// Returns a congestion notification message, with a priority tag for its class. In a message of a switch,
/// [`Frame::seq`] identifies the port and class. A message of a receiver covers the whole path, and its congestion
/// point is the receiver.
fn congestion_notification<'a>(frame: &Frame) -> Packet<'a> {
    let notified = frame.congestion_message();
    let own = host_mac(frame.src);
    let point = if frame.seq == 0 { identifier(own, 0) } else { frame.seq };
    let [a, b, c, d, e, f, _, class] = point.to_be_bytes();
    let message = Cnm {
        feedback: notified.feedback.min(Cnm::MAX_FEEDBACK),
        congestion_point: point,
        offset: notified.offset,
        delta: notified.delta,
        priority: Pcp::low_bits(class),
        destination: own,
    };
    let priority = Pcp::low_bits(frame.class);
    Packet {
        destination: host_mac(frame.dst),
        source: MacAddress::new([a, b, c, d, e, f]),
        vlan: Some(VlanTag { priority, drop_eligible: false, vid: Vid::PRIORITY_ONLY }),
        content: Content::CongestionNotification { message, content: &[] },
    }
}

/// Returns the identifier of a congestion point: MAC address and class.
fn identifier(address: MacAddress, class: u8) -> u64 {
    let [a, b, c, d, e, f] = address.octets();
    u64::from_be_bytes([a, b, c, d, e, f, 0, class])
}

fn flow_control(frame: &Frame) -> FlowControl {
    let xoff = |call: XoffMessage| FlowControlAction::Xoff {
        rate_bps: call.rate_bps,
        expiry_ns: call.expiry.as_ps().div_ceil(1000),
    };
    FlowControl {
        call: if frame.kind == Kind::Xoff { xoff(frame.xoff_message()) } else { FlowControlAction::Xon },
        source: (frame.src != ANY_SOURCE).then(|| host_mac(frame.src)),
        destination: host_mac(frame.dst),
    }
}

fn udp((source_port, destination_port): (u16, u16), payload: &[u8]) -> Transport<'_> {
    // With the RoCEv2 port, dissectors would parse the datagram as RoCEv2: use the next port number.
    let destination_port = if destination_port == UDP_PORT { UDP_PORT + 1 } else { destination_port };
    Transport::Udp { header: Udp { source_port, destination_port, checksummed: true }, payload }
}

/// Returns the TCP sequence number of a byte at `offset` of its flow.
fn tcp_number(offset: u64) -> u32 {
    1u32.wrapping_add(offset as u32)
}

fn tcp<'p>(frame: &Frame, (source_port, destination_port): (u16, u16), sack: Sack, payload: &'p [u8]) -> Transport<'p> {
    let of = tcp_number;
    let (sequence, acknowledgement) = if frame.goes_forward() { (of(frame.seq), 1) } else { (1, of(frame.seq)) };
    let mut control = TcpFlags::ACK;
    if frame.goes_forward() && frame.ends_message() {
        control = control | TcpFlags::PSH;
    }
    if !frame.goes_forward() && frame.has(flags::ECE) {
        control = control | TcpFlags::ECE;
    }
    let header = Tcp {
        source_port,
        destination_port,
        sequence,
        acknowledgement,
        flags: control,
        window: u16::MAX,
        urgent: 0,
        max_segment_bytes: None,
        sack,
    };
    Transport::Tcp { header, payload }
}

fn ndp(frame: &Frame) -> Ndp {
    let kind = match frame.kind {
        Kind::Trimmed => NdpType::Trimmed,
        Kind::Returned => NdpType::Returned,
        Kind::Ack if frame.has(flags::NAK) => NdpType::Nack,
        Kind::Ack => NdpType::Ack,
        Kind::Pull => NdpType::Pull,
        _ => NdpType::Data,
    };
    let notified = kind <= NdpType::Returned;
    let announced = if notified { frame.announcement() } else { Announcement { window: 0, packets: 0 } };
    let pull = kind == NdpType::Pull;
    Ndp {
        kind,
        last: frame.has(flags::LAST),
        again: frame.has(flags::RETRANSMISSION),
        complete: frame.has(flags::COMPLETE),
        window: announced.window,
        payload_bytes: frame.payload_bytes,
        count: if pull { frame.seq } else { announced.packets } as u32,
        offset_bytes: if pull { frame.next_expected() } else { frame.seq } & ((1 << 48) - 1),
    }
}

fn probe(frame: &Frame) -> Probe {
    let kind = if frame.kind == Kind::Probe { ProbeKind::Probe } else { ProbeKind::Control };
    Probe { kind, number: frame.number() }
}

/// Pads the frame with zeros up to its length, and recomputes the FCS.
fn lengthen(frame: &mut Vec<u8>, size_bytes: usize) {
    if frame.len() < size_bytes {
        frame.truncate(frame.len() - FCS_BYTES);
        frame.resize(size_bytes - FCS_BYTES, 0);
        ethernet::finish_frame(frame, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of 1500, 200 and more bytes with 1000-byte packets: the last packet of a message may be short, so the
    /// sequence number counts packets.
    #[test]
    fn packets_of_a_connection_are_numbered_through_its_messages() {
        let messages = [(0, 0), (1500, 2), (1700, 3)];
        let numbers = [0, 1000, 1499, 1500, 1699, 1700, 2700].map(|seq| sequence_number(1000, &messages, seq).get());
        assert_eq!(numbers, [0, 1, 1, 2, 2, 3, 4]);
        assert_eq!(sequence_number(1000, &[], 2500).get(), 2, "of a connection with one message");
    }
}
