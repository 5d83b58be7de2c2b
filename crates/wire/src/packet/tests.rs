//! Parses and emits frames of real equipment, and every repr.

use super::*;
use crate::credit::Credit;
use crate::ipv4::{Dscp, Ecn};
use crate::pause::Pause;
use crate::pfc::Pfc;
use crate::roce::bth_tests;
use crate::roce::{Aeth, Bth, Cnp, Msn, Opcode, Psn, QueuePair, Syndrome};
use crate::testing::{assert_detects_bit_flips, assert_refuses_prefixes, hex};
use crate::vlan::{Pcp, Vid};
use proptest::prelude::*;
use std::net::Ipv4Addr;

const HOST_1: MacAddress = MacAddress::new([2, 0, 0, 0, 0, 1]);
const HOST_2: MacAddress = MacAddress::new([2, 0, 0, 0, 0, 2]);

fn emitted(packet: &Packet<'_>) -> Vec<u8> {
    let mut frame = Vec::new();
    packet.emit(&mut frame).unwrap();
    frame
}

fn ipv4(protocol: Protocol) -> Ipv4 {
    Ipv4::new(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2), protocol)
}

fn between_hosts<'a>(header: Ipv4, transport: Transport<'a>) -> Packet<'a> {
    let content = Content::Ipv4 { header, transport };
    Packet { destination: HOST_2, source: HOST_1, vlan: None, content }
}

fn roce<'a>(roce: Roce<'a>) -> Packet<'a> {
    let udp = Udp { source_port: 49_152, destination_port: roce::UDP_PORT, checksummed: false };
    between_hosts(ipv4(Protocol::UDP), Transport::Roce { udp, roce })
}

/// The bytes of a PAUSE frame with the maximum of 65535 quanta.
#[test]
fn pause_frame() {
    let mut bytes = hex("0180c2000001 020000000001 8808 0001 ffff");
    bytes.resize(60, 0);
    let control = MacControl::Pause(Pause { quanta: 0xFFFF });
    let packet = Packet {
        destination: MacAddress::MAC_CONTROL,
        source: HOST_1,
        vlan: None,
        content: Content::MacControl(control),
    };
    assert_eq!(Packet::parse_without_fcs(&bytes), Ok(packet));
    let frame = emitted(&packet);
    assert_eq!((frame.len(), &frame[..60]), (64, &bytes[..]));
    assert_eq!(packet.to_string(), "02:00:00:00:00:01 > 01:80:c2:00:00:01 PAUSE 65535 quanta");
    assert_refuses_prefixes(&frame, Packet::parse);
    assert_detects_bit_flips(&frame, |frame| Packet::parse(frame).map(|_| ()));
}

/// The bytes of a PFC frame that pauses priority 3 and resumes priority 4.
#[test]
fn pfc_frame() {
    let mut bytes = hex("0180c2000001 020000000001 8808 0101 0018
         0000 0000 0000 ffff 0000 0000 0000 0000");
    bytes.resize(60, 0);
    let packet = Packet::parse_without_fcs(&bytes).unwrap();
    let Content::MacControl(MacControl::Pfc(pfc)) = packet.content else { panic!("not PFC") };
    assert_eq!((pfc.quanta[3], pfc.quanta[4], pfc.quanta[5]), (Some(0xFFFF), Some(0), None));
    let frame = emitted(&packet);
    assert_eq!((frame.len(), &frame[..60]), (64, &bytes[..]));
    assert_eq!(packet.to_string(), "02:00:00:00:00:01 > 01:80:c2:00:00:01 PFC 3:65535 4:0");
    assert_refuses_prefixes(&bytes[..34], Packet::parse_without_fcs);
    assert_detects_bit_flips(&frame, |frame| Packet::parse(frame).map(|_| ()));
}

/// A CNP captured from a real adapter (see the tests of the ICRC): its ICRC is valid, and it is emitted unchanged.
#[test]
fn cnp_frame() {
    let bytes = hex("e41d2dab2bc2 7cfe90643b32 0800 45c2 003c 718c 4000 4011 9161 0a001101 0a001201
         0000 12b7 0028 0000 8100 ffff 40000118 00000000 00000000000000000000000000000000 82fd002a");
    let packet = Packet::parse_without_fcs(&bytes).unwrap();
    assert_eq!(
        packet.to_string(),
        "7c:fe:90:64:3b:32 > e4:1d:2d:ab:2b:c2 10.0.17.1 > 10.0.18.1 dscp 48 ECT(0) RoCEv2 CNP qp 280"
    );
    let frame = emitted(&packet);
    assert_eq!(frame[..frame.len() - 4], bytes);
    assert_refuses_prefixes(&bytes, Packet::parse_without_fcs);
}

/// Bit flips in an acknowledgement without frame check sequence: the checksums of the inner layers detect them.
/// Without a UDP checksum, two kinds of flips are undetected: in the byte that the ICRC masks, and in the UDP port,
/// which changes the protocol of the packet.
#[test]
fn inner_checksums_detect_bit_flips() {
    let header = Bth::new(Opcode::RC_ACKNOWLEDGE, QueuePair::low_bits(7), Psn::low_bits(9), 0);
    let acknowledge = Aeth { syndrome: Syndrome::ACKNOWLEDGE, message_sequence: Msn::low_bits(1) };
    let roce = Roce::Acknowledge { header, acknowledge, payload: &[] };
    let (udp_start, bth_start, end) = (14 + 20, 14 + 20 + 8, 14 + 20 + 8 + 12 + 4 + 4);
    let exposed = [udp_start + 2, udp_start + 3, bth_start + 4];
    for checksummed in [false, true] {
        let udp = Udp { source_port: 49_152, destination_port: roce::UDP_PORT, checksummed };
        let frame = emitted(&between_hosts(ipv4(Protocol::UDP), Transport::Roce { udp, roce }));
        for bit in 14 * 8..end * 8 {
            let mut damaged = frame[..end].to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let unnoticed = !checksummed && exposed.contains(&(bit / 8));
            assert_eq!(Packet::parse_without_fcs(&damaged).is_ok(), unnoticed, "bit {bit}");
        }
    }
}

#[test]
fn errors_count_from_the_start_of_the_frame() {
    let cnp = Cnp { destination_queue_pair: QueuePair::low_bits(7), partition_key: Bth::DEFAULT_PARTITION };
    let vlan = Some(VlanTag { priority: Pcp::low_bits(3), drop_eligible: false, vid: Vid::new(5).unwrap() });
    let packet = Packet { vlan, ..roce(Roce::CongestionNotification(cnp)) };
    let frame = emitted(&packet);
    let inside = &frame[..frame.len() - 4];
    assert_eq!(inside.len(), 78);
    let parse = |damaged_byte: usize| {
        let mut damaged = inside.to_vec();
        damaged[damaged_byte] ^= 0xFF;
        Packet::parse_without_fcs(&damaged).unwrap_err().to_string()
    };
    assert!(parse(18).starts_with("byte 18: IP version is 0xb"), "{}", parse(18));
    assert!(parse(30).starts_with("byte 28: IPv4 header checksum is"), "{}", parse(30));
    assert!(parse(60).starts_with("byte 74: ICRC is"), "{}", parse(60));
    let cut = Packet::parse_without_fcs(&inside[..77]).unwrap_err().to_string();
    assert_eq!(cut, "byte 38: IPv4 payload needs 40 bytes, but only 39 are left");
    assert_eq!(
        packet.to_string(),
        "02:00:00:00:00:01 > 02:00:00:00:00:02 vlan 5 pcp 3 10.0.0.1 > 10.0.0.2 RoCEv2 CNP qp 7"
    );
}

#[test]
fn marks_and_hops_change_no_icrc() {
    let header = Bth::new(Opcode::RC_SEND_ONLY, QueuePair::low_bits(7), Psn::low_bits(9), 100);
    let sent = roce(Roce::Data { header, payload: &[0x55; 100] });
    let Content::Ipv4 { header, transport } = sent.content else { panic!("not IPv4") };
    let marked = Ipv4 { ecn: Ecn::Congestion, dscp: Dscp::MAX, time_to_live: 3, ..header };
    let received = Packet { content: Content::Ipv4 { header: marked, transport }, ..sent };
    let icrc = |packet| {
        let frame = emitted(packet);
        frame[frame.len() - 8..frame.len() - 4].to_vec()
    };
    assert_eq!(icrc(&sent), icrc(&received));
}

#[test]
fn contradicting_layers_are_not_sent() {
    let tcp = Transport::Tcp {
        header: Tcp {
            source_port: 1,
            destination_port: 2,
            sequence: 3,
            acknowledgement: 4,
            flags: crate::TcpFlags::ACK,
            window: 5,
            urgent: 0,
            max_segment_bytes: None,
            sack: Default::default(),
        },
        payload: &[],
    };
    let to_roce = Udp { source_port: 1, destination_port: roce::UDP_PORT, checksummed: true };
    let elsewhere = Udp { destination_port: 53, ..to_roce };
    let cnp = Cnp { destination_queue_pair: QueuePair::default(), partition_key: 0 };
    let fragment = Ipv4 { more_fragments: true, ..ipv4(Protocol::TCP) };
    let other = |ethertype| Packet {
        destination: HOST_2,
        source: HOST_1,
        vlan: None,
        content: Content::Other { ethertype: EtherType(ethertype), payload: &[0; 46] },
    };
    let cases = [
        (between_hosts(ipv4(Protocol::UDP), tcp), "IPv4 protocol"),
        (between_hosts(ipv4(Protocol::TCP), Transport::Udp { header: elsewhere, payload: &[] }), "IPv4 protocol"),
        (between_hosts(ipv4(Protocol::UDP), Transport::Other(&[1])), "IPv4 protocol"),
        (between_hosts(fragment, tcp), "IPv4 fragment offset"),
        (between_hosts(ipv4(Protocol::UDP), Transport::Udp { header: to_roce, payload: &[] }), "UDP destination port"),
        (
            between_hosts(
                ipv4(Protocol::UDP),
                Transport::Roce { udp: elsewhere, roce: Roce::CongestionNotification(cnp) },
            ),
            "UDP destination port",
        ),
        (other(0x0800), "EtherType"),
        (other(0x8808), "EtherType"),
        (other(0x22E7), "EtherType"),
        (other(0x8100), "EtherType"),
        (other(0x05FF), "EtherType"),
    ];
    for (packet, wrong) in cases {
        let mut out = vec![1, 2, 3];
        let error = packet.emit(&mut out).unwrap_err();
        assert!(matches!(error, Error::Inconsistent { field, .. } if field == wrong), "{error} instead of {wrong}");
        assert_eq!(out, [1, 2, 3], "a refused packet leaves no bytes behind");
    }
}

/// Contents of a frame of each kind.
#[derive(Clone, Debug)]
enum Recipe {
    MacControl(MacControl),
    Cnm(Cnm),
    Udp(Udp),
    Roce(Udp, Bth),
    Tcp(Tcp),
    OtherProtocol(u8),
    OtherType(u16),
}

fn any_recipe(payload_bytes: usize) -> impl Strategy<Value = Recipe> {
    let udp = any::<(u16, u16, bool)>().prop_map(|(source_port, port, checksummed)| {
        let destination_port = if port == roce::UDP_PORT { 53 } else { port };
        Udp { source_port, destination_port, checksummed }
    });
    prop_oneof![
        any::<u16>().prop_map(|quanta| Recipe::MacControl(MacControl::Pause(Pause { quanta }))),
        any::<[Option<u16>; 8]>().prop_map(|quanta| Recipe::MacControl(MacControl::Pfc(Pfc { quanta }))),
        any::<(u64, u64, [u8; 6])>().prop_map(|(rate_bps, expiry_ns, destination)| {
            let call = crate::flow_control::FlowControlAction::Xoff { rate_bps, expiry_ns };
            let destination = MacAddress::new(destination);
            Recipe::MacControl(MacControl::Flow(crate::FlowControl { call, source: None, destination }))
        }),
        (0u8..8, any::<u64>(), any::<u64>()).prop_map(|(class, sent_bytes, limit_bytes)| {
            Recipe::MacControl(MacControl::Credit(Credit { class: Pcp::low_bits(class), sent_bytes, limit_bytes }))
        }),
        (0u8..64, any::<(u64, i16, i16)>(), 0u8..8).prop_map(
            |(feedback, (congestion_point, offset, delta), priority)| {
                let priority = Pcp::low_bits(priority);
                Recipe::Cnm(Cnm { feedback, congestion_point, offset, delta, priority, destination: HOST_2 })
            }
        ),
        udp.clone().prop_map(Recipe::Udp),
        (udp, bth_tests::any_header(payload_bytes))
            .prop_map(|(udp, bth)| { Recipe::Roce(Udp { destination_port: roce::UDP_PORT, ..udp }, bth) }),
        crate::tcp::tests::any_header().prop_map(Recipe::Tcp),
        any::<u8>().prop_filter("its own recipe", |p| ![6, 17].contains(p)).prop_map(Recipe::OtherProtocol),
        (0x600u16..)
            .prop_filter("its own recipe", |t| ![0x0800, 0x8100, 0x8808, 0x22E7].contains(t))
            .prop_map(Recipe::OtherType),
    ]
}

impl Recipe {
    fn content<'a>(&self, header: Ipv4, payload: &'a [u8]) -> Content<'a> {
        let header = Ipv4 { more_fragments: false, fragment_offset: Default::default(), ..header };
        let over_ipv4 = |protocol, transport| Content::Ipv4 { header: Ipv4 { protocol, ..header }, transport };
        match *self {
            Recipe::MacControl(control) => Content::MacControl(control),
            Recipe::Cnm(message) => {
                Content::CongestionNotification { message, content: &payload[..payload.len().min(64)] }
            }
            Recipe::Udp(header) => over_ipv4(Protocol::UDP, Transport::Udp { header, payload }),
            Recipe::Tcp(header) => over_ipv4(Protocol::TCP, Transport::Tcp { header, payload }),
            Recipe::OtherProtocol(protocol) => over_ipv4(Protocol(protocol), Transport::Other(payload)),
            Recipe::OtherType(ethertype) => Content::Other { ethertype: EtherType(ethertype), payload },
            Recipe::Roce(udp, header) => {
                let acknowledge = Aeth { syndrome: Syndrome::ACKNOWLEDGE, message_sequence: Msn::MAX };
                let roce = match header.opcode {
                    Opcode::CONGESTION_NOTIFICATION => Roce::CongestionNotification(Cnp {
                        destination_queue_pair: header.destination_queue_pair,
                        partition_key: header.partition_key,
                    }),
                    opcode if opcode.has_aeth() => Roce::Acknowledge { header, acknowledge, payload },
                    _ => Roce::Data { header, payload },
                };
                over_ipv4(Protocol::UDP, Transport::Roce { udp, roce })
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// At least 46 bytes of payload, because the parser cannot remove the padding of an unknown EtherType.
    #[test]
    fn round_trip(
        (payload, recipe) in prop::collection::vec(any::<u8>(), 46..200)
            .prop_flat_map(|payload| (Just(payload.clone()), any_recipe(payload.len()))),
        (destination, source, header) in (any::<[u8; 6]>(), any::<[u8; 6]>(), crate::ipv4::tests::any_header()),
        tag in any::<Option<(u8, bool)>>(),
        vid in 0u16..=4094,
    ) {
        let packet = Packet {
            destination: MacAddress::new(destination),
            source: MacAddress::new(source),
            vlan: tag.map(|(pcp, drop_eligible)| {
                VlanTag { priority: Pcp::low_bits(pcp), drop_eligible, vid: Vid::new(vid).unwrap() }
            }),
            content: recipe.content(header, &payload),
        };
        let frame = emitted(&packet);
        prop_assert!(frame.len() >= 64);
        prop_assert_eq!(Packet::parse(&frame), Ok(packet));
        prop_assert_eq!(packet.to_string().lines().count(), 1);
    }

    /// The parser returns an error for arbitrary bytes, or a packet that can be emitted and parsed again; it never
    /// panics.
    #[test]
    fn arbitrary_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..120), kind in 0usize..6) {
        let vlan = &[0x81, 0x00, 0, 0, 8, 0];
        let ethertype = [&[0x88u8, 0x08][..], &[0x08, 0x00], vlan, &[0x88, 0xB5], &[0x22, 0xE7], &[]][kind];
        for (byte, value) in bytes.iter_mut().skip(12).zip(ethertype) {
            *byte = *value;
        }
        let _ = Packet::parse(&bytes);
        if let Ok(packet) = Packet::parse_without_fcs(&bytes) {
            let again = emitted(&packet);
            let repeated = Packet::parse(&again).unwrap();
            if !matches!(packet.content, Content::Other { .. }) {
                prop_assert_eq!(repeated, packet);
            }
        }
    }
}
