//! Checks of frames, a module for each fuzz target.

pub mod wire_frame {
    //! Parsers of complete frames and of each header: for arbitrary bytes they return an error or a parsed value, and
    //! never panic. Round trip: a parsed frame that is emitted and parsed again gives an equal value.

    use wire::checksum::PseudoHeader;
    use wire::{
        Aeth, Bth, Cnp, Content, Ethernet, FlowControl, Ipv4, MacControl, Ndp, Packet, Pause, Pfc, Reservation, Roce,
        Tcp, Udp, VlanTag,
    };

    const IPV4_START: usize = 14;

    /// Panics if the bytes violate the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let _ = Packet::parse(bytes);
        check_frame(bytes);
        check_frame(&with_ipv4_checksum(bytes));
        check_headers(bytes);
        check_reservation(bytes);
    }

    /// Checks that a parsed reservation can be emitted and parsed again without a difference, except for occupied
    /// intervals that do not fit into one frame.
    fn check_reservation(bytes: &[u8]) {
        let mut framed = bytes.to_vec();
        wire::ethernet::finish_frame(&mut framed, 0);
        for frame in [bytes, &framed] {
            let Ok((destination, source, message)) = Reservation::parse(frame) else { continue };
            let mut sent = Vec::new();
            message.emit(destination, source, 1518, &mut sent);
            let (to, from, mut again) = Reservation::parse(&sent).expect("what was sent can be parsed");
            assert!(message.occupied.starts_with(&again.occupied));
            again.occupied.clone_from(&message.occupied);
            assert_eq!((to, from, again), (destination, source, message));
        }
    }

    /// Checks that a parsed frame can be emitted, displayed, and parsed again with an equal result.
    fn check_frame(bytes: &[u8]) {
        let Ok(packet) = Packet::parse_without_fcs(bytes) else { return };
        assert!(!packet.to_string().contains('\n'));
        let mut frame = Vec::new();
        packet.emit(&mut frame).expect("what was parsed can be sent");
        let again = Packet::parse(&frame).expect("what was sent can be parsed");
        // Short frames of unknown kind are excluded, because the padding added on emission becomes a part of their
        // content.
        if !matches!(packet.content, Content::Other { .. }) {
            assert_eq!(again, packet);
        }
        let mut repeated = Vec::new();
        again.emit(&mut repeated).expect("what was parsed can be sent");
        assert_eq!(repeated, frame);
    }

    /// Returns the bytes with a valid IPv4 header checksum, so that more inputs pass the header check.
    fn with_ipv4_checksum(bytes: &[u8]) -> Vec<u8> {
        let mut repaired = bytes.to_vec();
        if let Some(header) = repaired.get_mut(IPV4_START..) {
            let header_bytes = header.first().map_or(0, |first| usize::from(first & 0xF) * 4);
            if let Some(header) = header.get_mut(..header_bytes).filter(|header| header.len() >= Ipv4::HEADER_BYTES) {
                header[10..12].fill(0);
                let sum = wire::checksum::internet(&[header]);
                header[10..12].copy_from_slice(&sum.to_be_bytes());
            }
        }
        repaired
    }

    fn check_headers(bytes: &[u8]) {
        let pseudo = PseudoHeader { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let mut out = Vec::new();
        if let Ok((header, rest)) = Ethernet::parse(bytes) {
            header.emit(&mut out);
            out.extend_from_slice(rest);
            assert_eq!(out, bytes);
        }
        if let Ok((tag, ethertype, _)) = VlanTag::parse(bytes) {
            out.clear();
            tag.emit(ethertype, &mut out);
            assert_eq!(out, bytes[..VlanTag::BYTES]);
        }
        if let Ok((pause, _)) = Pause::parse(bytes) {
            out.clear();
            pause.emit(&mut out);
            assert_eq!(out, bytes[..4]);
        }
        if let Ok((pfc, _)) = Pfc::parse(bytes) {
            out.clear();
            pfc.emit(&mut out);
            assert_eq!(Pfc::parse(&out), Ok((pfc, &[][..])));
        }
        if let Ok((flow, _)) = FlowControl::parse(bytes) {
            out.clear();
            flow.emit(&mut out);
            assert_eq!(FlowControl::parse(&out), Ok((flow, &[][..])));
        }
        let _ = MacControl::parse(bytes);
        let _ = Ipv4::parse(bytes);
        if let Ok((header, payload)) = Udp::parse(bytes, pseudo) {
            out.clear();
            header.emit(pseudo, payload, &mut out).expect("what was parsed can be sent");
            assert_eq!(Udp::parse(&out, pseudo), Ok((header, payload)));
        }
        if let Ok((header, payload)) = Tcp::parse(bytes, pseudo) {
            out.clear();
            header.emit(pseudo, payload, &mut out).expect("what was parsed can be sent");
            assert_eq!(Tcp::parse(&out, pseudo), Ok((header, payload)));
        }
        if let Ok((header, _)) = Bth::parse(bytes) {
            out.clear();
            header.emit(&mut out);
            assert_eq!(Bth::parse(&out), Ok((header, &[][..])));
        }
        if let Ok((header, _)) = Aeth::parse(bytes) {
            out.clear();
            header.emit(&mut out);
            assert_eq!(out, bytes[..Aeth::BYTES]);
        }
        if let Ok((header, _)) = Ndp::parse(bytes) {
            out.clear();
            header.emit(&mut out);
            assert_eq!(Ndp::parse(&out), Ok((header, &[][..])));
        }
        let _ = Cnp::parse(bytes);
        if let Ok(roce) = Roce::parse(bytes) {
            out.clear();
            roce.emit(&mut out).expect("what was parsed can be sent");
            assert_eq!(Roce::parse(&out), Ok(roce));
        }
    }
}
