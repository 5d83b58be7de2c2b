//! Loss recovery with real queues: retransmissions compared with losses, and acknowledgements in captures.

use crate::bench::*;
use fabric::generate::{TierLinks, leaf_spine, single_switch};
use model::FrameBytes;
use model::parameters::*;
use protocols::frame::{Kind, flags};
use units::Time;
use wire::{Content, Packet, Roce, Transport};

const SENDERS: u32 = 8;

/// Incast of flows of 300 packets into a port with a queue of 40 packets.
fn incast(kind: &str, settings: &[(&str, &str)]) -> Setup {
    let fabric = single_switch(SENDERS + 1, link(100, 1_000)).unwrap();
    let flows = (1..=SENDERS).map(|src| flow(src, 0, 300_000));
    let mut setup = setup(fabric, plan(SENDERS + 1, flows));
    setup.host.transport = transport(kind, settings);
    setup.switch.buffer = Buffer::Shared { bytes: 64_000_000, egress: Threshold::Static { bytes: 42_000 } };
    setup.duration = Time::from_ms(100);
    setup
}

/// Returns the number of lost packets and the number of retransmitted packets, after all flows have completed.
fn repaired(setup: Setup) -> (u64, u64) {
    let results = run(setup);
    results.all_hold();
    assert_eq!(results.flows.len() as u32, SENDERS);
    assert!(results.flows.iter().all(|flow| flow.delivered_ps.is_some()));
    (results.dropped("queue full"), results.summary.event_counts.retransmissions)
}

/// Without reordering, selective repeat retransmits exactly the lost packets; go-back-N retransmits more.
#[test]
fn selective_repeat_retransmits_losses_of_a_full_queue() {
    for kind in ["roce", "timely", "swift"] {
        let (lost, again) = repaired(incast(kind, &[("loss_recovery", "selective")]));
        assert!(lost > 20, "{kind}: {lost}");
        assert_eq!(again, lost, "{kind}");
        let (lost, much) = repaired(incast(kind, &[("timeout", "1ms"), ("nak_interval", "20us")]));
        assert!(much > lost && much > 2 * again, "{kind}: go-back-N sends {much} again for {lost}, not {again}");
    }
}

/// Packets sprayed over four paths arrive out of order and some are lost: each byte is delivered once, on any number of
/// threads.
#[test]
fn every_byte_arrives_once_under_loss_and_reordering() {
    let of = |threads: usize| {
        let mut spec = link(25, 1_000);
        spec.loss = 0.01;
        let fabric = leaf_spine(2, 4, 4, 1, TierLinks::uniform(spec)).unwrap();
        let flows = (0..4).map(|src| flow(src, 4 + src, 200_000));
        let mut setup = setup(fabric, plan(8, flows));
        setup.host.transport = transport("roce", &[("loss_recovery", "selective")]);
        setup.spread = Spread::PerPacket;
        setup.duration = Time::from_ms(20);
        setup.record.throughput_every = Some(Time::from_ms(20));
        setup.threads = threads;
        let results = run(setup);
        assert!(results.summary.passes(), "{:#?}", results.summary.checks);
        assert_eq!(results.goodput, [800_000]);
        assert_eq!(results.flows.iter().filter(|flow| flow.delivered_ps.is_some()).count(), 4);
        (results.flows, results.summary.packets, results.summary.event_counts.retransmissions)
    };
    let one = of(1);
    assert!(one.2 > one.1.dropped_total(), "what is overtaken is taken for lost");
    assert!(of(2) == one && of(3) == one);
}

/// Random losses on a link: with SACK, the SACK blocks in captured acknowledgements contain only segments that the
/// receiver had received, and the segments directly before and after each block are missing.
#[test]
fn selective_acknowledgements_stand_in_the_capture() {
    let mut spec = link(1, 100_000);
    spec.loss = 0.01;
    let mut setup = setup(single_switch(2, spec).unwrap(), plan(2, [flow(1, 0, 3_000_000)]));
    let quick = [("sack", "true"), ("min_rto", "5ms"), ("initial_rto", "5ms"), ("delayed_ack", "false")];
    setup.host.transport = transport("tcp", &quick);
    setup.duration = Time::from_s(2);
    setup.record.capture = vec![CaptureParameters {
        node: setup.fabric.host_node(0),
        port: 0,
        inbound: true,
        outbound: true,
        from: Time::ZERO,
        until: Time::MAX,
    }];
    let bytes = FrameBytes::new(&setup);
    let results = run(setup);
    results.all_hold();
    assert!(results.flows[0].delivered_ps.is_some());
    let (mut come, mut reports, mut out) = (std::collections::BTreeSet::new(), 0, Vec::new());
    for captured in &results.captured {
        let frame = &captured.frame;
        if frame.kind == Kind::Data {
            come.insert(frame.seq);
            continue;
        }
        bytes.emit(captured, &mut out).unwrap();
        assert_eq!(out.len(), usize::from(frame.size_bytes));
        let Content::Ipv4 { transport: Transport::Tcp { header, .. }, .. } = Packet::parse(&out).unwrap().content
        else {
            panic!("{:?}", Packet::parse(&out))
        };
        assert_eq!(u64::from(header.acknowledgement), 1 + frame.seq);
        for &(start, end) in header.sack.blocks() {
            reports += 1;
            let (start, end) = (u64::from(start) - 1, u64::from(end) - 1);
            assert!(start > frame.seq && !come.contains(&(start - 1460)) && !come.contains(&end));
            assert!((start..end).step_by(1460).all(|seq| come.contains(&seq)), "{start} to {end} had come");
        }
    }
    assert!(reports > 100, "{reports}");
}

/// Bytes of a negative acknowledgement: PSN of the missing packet, NAK code, and four bytes with the PSN of the packet
/// that arrived.
#[test]
fn a_negative_acknowledgement_names_two_packets() {
    let mut setup = incast("roce", &[("loss_recovery", "selective")]);
    setup.record.capture = vec![CaptureParameters {
        node: setup.fabric.host_node(0),
        port: 0,
        inbound: false,
        outbound: true,
        from: Time::ZERO,
        until: Time::MAX,
    }];
    let bytes = FrameBytes::new(&setup);
    let results = run(setup);
    let (mut naks, mut out) = (0, Vec::new());
    for captured in results.captured.iter().filter(|captured| captured.frame.kind == Kind::Ack) {
        let frame = &captured.frame;
        bytes.emit(captured, &mut out).unwrap();
        let Content::Ipv4 { transport: Transport::Roce { roce, .. }, .. } = Packet::parse(&out).unwrap().content else {
            panic!("{:?}", Packet::parse(&out))
        };
        let Roce::Acknowledge { header, payload, .. } = roce else { panic!("{roce:?}") };
        if frame.has(flags::NAK) {
            naks += 1;
            assert_eq!(u64::from(header.sequence.get()), frame.seq / 1000);
            let came: [u8; 4] = payload.try_into().unwrap();
            assert_eq!(u64::from(u32::from_be_bytes(came)), frame.packet().0 / 1000);
            assert!(frame.packet().0 > frame.seq);
        } else {
            assert!(payload.is_empty());
        }
    }
    assert!(naks > 100, "{naks}");
}
