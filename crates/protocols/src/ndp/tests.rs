//! Tests of sender and receiver of NDP and EQDS together: closed forms with and without trimming, recovery of lost
//! frames.

use super::*;
use crate::endpoint::{Ctx, Offer, Receiver, Segment, Sender};
use crate::frame::{Detail, Frame, Kind, flags};
use crate::pipe::Pipe;
use crate::transport::{FlowStart, SenderState, TransportParameters};
use std::sync::Arc;
use units::random::Stream;
use units::{Rate, Time};

fn build(kind: &str, settings: &[(&str, &str)]) -> TransportParameters {
    TransportParameters::build(kind, settings.iter().copied()).unwrap()
}

/// A packet with 1436 bytes of payload has 1520 bytes on the wire: 1.216 us at 10 Gbps.
const PAYLOAD: u64 = 1436;
const PACKET: Time = Time::from_ps(1_216_000);

fn bench(sender: &mut NdpSender) -> impl FnMut(Option<Frame>) -> Vec<Segment> + '_ {
    let mut random = Stream::new(1, 1, 1);
    move |frame| {
        let mut replies = Vec::new();
        let mut ctx = Ctx::new(Time::from_us(2), &mut random, &mut replies);
        if let Some(frame) = frame {
            sender.on_frame(&mut ctx, &frame);
        }
        let mut sent = Vec::new();
        while let Offer::Send(segment) = sender.poll(&mut ctx) {
            sent.push(segment);
        }
        sent
    }
}

fn sender(window: &str, packets: u64) -> NdpSender {
    let TransportParameters::Ndp(parameters) = build("ndp", &[("initial_window", window)]) else { unreachable!() };
    NdpSender::new(&parameters, &FlowStart { size_bytes: packets * PAYLOAD, ..flow() })
}

fn flow() -> FlowStart {
    let (start, stop) = (Time::from_us(1), Time::MAX);
    FlowStart { size_bytes: 1, start, stop, line_rate: Rate::from_gbps(10), round_trip: Time::from_us(20) }
}

fn received(kind: Kind, packet: u64, flags: u8) -> Option<Frame> {
    Some(Frame { kind, seq: packet * PAYLOAD, flags, ..Frame::default() })
}

fn pull(count: u64) -> Option<Frame> {
    Some(Frame { kind: Kind::Pull, seq: count, ..Frame::default() })
}

fn packets(sent: &[Segment]) -> Vec<u64> {
    sent.iter().map(|segment| segment.seq / PAYLOAD).collect()
}

/// One flow of 1000 packets with an initial window of one bandwidth-delay product. The link is never idle, so that
/// the completion time is the serialisation delay of all packets, of one more packet at the second link, and the
/// one-way delay of 10 us. With an initial window one packet smaller, the link is idle at times and the flow takes
/// longer.
#[test]
fn a_lone_flow_takes_what_its_bytes_take() {
    for kind in ["ndp", "eqds"] {
        let outcome = Pipe::default().run(&build(kind, &[]), 1000 * PAYLOAD - 400, |_, _| {});
        let last = Rate::from_gbps(10).serialise(1520 - 400);
        // The last packet, which is shorter, waits at the second link for its predecessor.
        let expected = PACKET + PACKET * 999 + last + Time::from_us(10);
        assert_eq!(outcome.completed_at, Some(expected), "{kind}");
        assert_eq!((outcome.completions, outcome.sent, outcome.replies), (1, 1000, 1000));
        assert_eq!(outcome.statistics.timeouts, 0);
        // The initial window covers the RTT: a packet on both links and 20 us, 19 packets. A receiver that knows the
        // flow size (EQDS) pulls only the packets beyond the initial window; one that does not (NDP) pulls one packet
        // per arrival.
        let window = (PACKET * 2 + Time::from_us(20)).as_ps().div_ceil(PACKET.as_ps());
        let pulls = if kind == "ndp" { 999 } else { 1000 - 19 };
        assert_eq!((window, outcome.pulls), (19, pulls), "{kind}");
        let short = Pipe::default().run(&build("ndp", &[("initial_window", "18")]), 1000 * PAYLOAD - 400, |_, _| {});
        assert!(short.completed_at > outcome.completed_at);
    }
}

/// An initial window of 1000 packets is sent at 40 Gbps to a port of 10 Gbps with a buffer of eight packets and
/// trimming: the port is never idle, every trimmed packet is retransmitted once, and no timeout occurs.
#[test]
fn trimmed_packets_are_pulled_again_and_the_port_never_rests() {
    let pipe = Pipe { line: Rate::from_gbps(40), buffer_bytes: 8 * 1520, trims: true, ..Pipe::default() };
    for (kind, quantum) in [("ndp", ""), ("eqds", "1"), ("eqds", "4")] {
        let mut settings = vec![("initial_window", "1000"), ("timeout", "never")];
        settings.extend((!quantum.is_empty()).then_some(("quantum", quantum)));
        let outcome = pipe.run(&build(kind, &settings), 4000 * PAYLOAD, |_, _| {});
        assert_eq!((outcome.completions, outcome.lost, outcome.delivered_bytes), (1, 0, 4000 * PAYLOAD));
        assert!(outcome.cut > 700, "{}", outcome.cut);
        assert_eq!(outcome.sent, 4000 + outcome.cut);
        assert_eq!(outcome.statistics.retransmitted_bytes, outcome.cut * PAYLOAD);
        let pulled = 4000 + outcome.cut - 1000;
        let quantum_packets = quantum.parse().unwrap_or(1);
        // NDP's receiver learns the flow size only from the last packet, so that it pulls more packets than needed.
        let most = if kind == "ndp" { outcome.sent } else { pulled };
        let pulls = pulled.div_ceil(quantum_packets)..=most;
        assert!(pulls.contains(&outcome.pulls), "{kind} {quantum}: {} of {pulls:?}", outcome.pulls);
        // The port of 10 Gbps is busy from the first packet to the last. The bound is the path delay of 10 us and
        // 4000 packets, with a tolerance of three packets.
        let least = Time::from_us(10) + PACKET * 4000;
        let took = outcome.completed_at.unwrap();
        assert!(took >= least && took < least + PACKET * 3, "{kind} {quantum}: {took}, at least {least}");
    }
}

/// A port of a quarter of the line rate trims three of four packets that arrive at line rate. If early pulls lapse,
/// these are 750 of the initial window of 1000 packets. If they count, the t packets that pass cause t more packets
/// at line rate: 4 t = 1000 + t, so that 3 t = 1000 are trimmed. In both cases the flow completes without a timeout
/// and without loss.
// [NDP4]
#[test]
fn pulls_that_lapse_leave_line_rate_to_the_window() {
    let pipe = Pipe { line: Rate::from_gbps(40), buffer_bytes: 8 * 1520, trims: true, ..Pipe::default() };
    let mut cut = [0; 2];
    for (at, early) in ["count", "lapse"].into_iter().enumerate() {
        let settings = [("initial_window", "1000"), ("timeout", "never"), ("early_pulls", early)];
        let outcome = pipe.run(&build("ndp", &settings), 4000 * PAYLOAD, |_, _| {});
        assert_eq!((outcome.completions, outcome.done, outcome.lost), (1, true, 0), "{early}");
        assert_eq!((outcome.delivered_bytes, outcome.sent), (4000 * PAYLOAD, 4000 + outcome.cut), "{early}");
        assert_eq!(outcome.statistics.timeouts, 0);
        cut[at] = outcome.cut;
    }
    // Tolerance of 6 % for the queue of eight packets and the RTT; headers occupy no bandwidth in this model.
    assert!(cut[0].abs_diff(1000) <= 60 && cut[1].abs_diff(750) <= 45, "{cut:?}");
}

/// Switches return a share of the trimmed headers to the sender, which retransmits these packets without a timer.
// [NDP10]
#[test]
fn what_comes_back_is_sent_again() {
    for (kind, share, early) in
        [("ndp", 1.0, "count"), ("ndp", 0.5, "count"), ("ndp", 0.5, "lapse"), ("eqds", 1.0, ""), ("eqds", 0.3, "")]
    {
        let pipe = Pipe {
            line: Rate::from_gbps(40),
            buffer_bytes: 8 * 1520,
            trims: true,
            headers_returned: share,
            ..Pipe::default()
        };
        let mut settings = vec![("initial_window", "300"), ("timeout", "never")];
        settings.extend((!early.is_empty()).then_some(("early_pulls", early)));
        let outcome = pipe.run(&build(kind, &settings), 2000 * PAYLOAD, |_, _| {});
        assert_eq!((outcome.completions, outcome.done, outcome.lost), (1, true, 0), "{kind} {share} {outcome:?}");
        assert_eq!(outcome.sent, 2000 + outcome.cut, "{kind} {share}");
        assert!(outcome.cut > 200, "{outcome:?}");
    }
}

// [NDP2] [NDP3]
#[test]
fn a_pull_lets_the_lowest_refused_packet_go_first() {
    let mut sender = sender("5", 100);
    let mut hear = bench(&mut sender);
    assert_eq!(packets(&hear(None)), [0, 1, 2, 3, 4]);
    for packet in [3, 1] {
        assert_eq!(packets(&hear(received(Kind::Ack, packet, flags::NAK))), [] as [u64; 0]);
    }
    assert_eq!(packets(&hear(received(Kind::Ack, 0, 0))), [] as [u64; 0]);
    let sent = hear(pull(1));
    assert_eq!((packets(&sent), sent[0].flags), (vec![1], flags::RETRANSMISSION));
    // Pull 2 was lost: pull 3 replaces it and permits two packets. Pull 2 arrives out of order and has no effect.
    let sent = hear(pull(3));
    assert_eq!((packets(&sent), sent[1].flags), (vec![3, 5], 0));
    assert_eq!(packets(&hear(pull(2))), [] as [u64; 0]);
    // An acknowledgement of a packet cancels an earlier NACK of the same packet.
    assert_eq!(packets(&hear(received(Kind::Ack, 2, flags::NAK))), [] as [u64; 0]);
    assert_eq!(packets(&hear(received(Kind::Ack, 2, 0))), [] as [u64; 0]);
    assert_eq!(packets(&hear(pull(4))), [6]);
}

/// A flow of four packets with an initial window of 10: the rest of the window may not be used for retransmissions,
/// which wait for pulls.
#[test]
fn a_flow_shorter_than_its_window_waits_for_pulls_too() {
    let mut sender = sender("10", 4);
    assert_eq!(sender.window(), 4);
    let mut hear = bench(&mut sender);
    let sent = hear(None);
    assert_eq!(packets(&sent), [0, 1, 2, 3]);
    let announced = Detail::announcement(Announcement { window: 4, packets: 0 });
    assert!(sent.iter().all(|segment| segment.detail == announced));
    for packet in [1, 2] {
        assert_eq!(packets(&hear(received(Kind::Ack, packet, flags::NAK))), [] as [u64; 0]);
    }
    assert_eq!(packets(&hear(received(Kind::Returned, 3, 0))), [] as [u64; 0]);
    assert_eq!(packets(&hear(pull(1))), [1]);
    assert_eq!(packets(&hear(pull(2))), [2]);
}

/// NDP, sec. 3.2.4: packets whose headers were returned wait for pulls if pulls are due. If no pull is due and no
/// packet is in flight, one packet is retransmitted without a pull.
// [NDP10]
#[test]
fn the_last_unacknowledged_packet_is_retransmitted_without_a_pull() {
    let mut sender = sender("3", 100);
    let mut hear = bench(&mut sender);
    assert_eq!(packets(&hear(None)), [0, 1, 2]);
    assert_eq!(packets(&hear(received(Kind::Returned, 0, 0))), [] as [u64; 0]);
    assert_eq!(packets(&hear(received(Kind::Returned, 1, 0))), [] as [u64; 0]);
    // All three packets were returned: no packet is in flight, and the receiver has received none.
    assert_eq!(packets(&hear(received(Kind::Returned, 2, 0))), [0]);
    // Packet 0 arrived, so that a pull will follow.
    assert_eq!(packets(&hear(received(Kind::Ack, 0, 0))), [] as [u64; 0]);
    assert_eq!(packets(&hear(pull(1))), [1]);
}

// [NDP9]
#[test]
fn packets_under_way_at_two_ticks_are_lost() {
    let mut sender = sender("2", 100);
    let mut random = Stream::new(1, 1, 1);
    assert_eq!(packets(&bench(&mut sender)(None)), [0, 1]);
    let mut tick = |sender: &mut NdpSender, ms: u64| {
        let mut replies = Vec::new();
        let now = Time::from_us(1 + 1000 * ms);
        sender.on_timer(&mut Ctx::new(now, &mut random, &mut replies));
        (sender.next_timer(), sender.statistics().timeouts)
    };
    assert_eq!(tick(&mut sender, 1), (Time::from_us(2001), 0));
    assert_eq!(packets(&bench(&mut sender)(received(Kind::Ack, 1, 0))), [] as [u64; 0]);
    assert_eq!(packets(&bench(&mut sender)(pull(1))), [2]);
    assert_eq!(tick(&mut sender, 2), (Time::from_us(3001), 1));
    // Only packet 0 is retransmitted: it was in flight at two ticks, packet 2 only at one.
    assert_eq!(packets(&bench(&mut sender)(None)), [0]);
}

/// A receiver without arrivals since the last tick repeats its last pull, which may have been lost. The repetition
/// has the same count, so that it grants no further packets.
// [NDP9]
#[test]
fn a_receiver_that_hears_nothing_repeats_its_last_pull() {
    let TransportParameters::Ndp(parameters) = build("ndp", &[]) else { unreachable!() };
    let mut receiver = NdpReceiver::new(&parameters);
    let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
    let detail = Detail::announcement(Announcement { window: 4, packets: 0 });
    let frame = Frame { payload_bytes: 1436, detail, ..Frame::default() };
    let mut ctx = Ctx::new(Time::ZERO, &mut random, &mut replies);
    receiver.on_frame(&mut ctx, &frame);
    assert_eq!((receiver.wants(), receiver.pull(&mut ctx), receiver.wants()), (1, 1, 0));
    assert_eq!(ctx.replies.len(), 2);
    for (tick, pulls) in [(1, 2), (2, 3), (3, 4)] {
        ctx.now = Time::from_ms(tick);
        assert_eq!(receiver.next_timer(), ctx.now);
        receiver.on_timer(&mut ctx);
        assert_eq!(ctx.replies.len(), pulls, "tick {tick}");
    }
    assert!(
        ctx.replies[1..]
            .iter()
            .all(|reply| (reply.kind, reply.seq, reply.detail) == (Kind::Pull, 1, Detail::next_expected(PAYLOAD)))
    );
}

/// A trimmed packet that has arrived complete before is acknowledged, without NACK, and causes no retransmission.
#[test]
fn a_needless_header_is_acknowledged() {
    let mut receiver = NdpReceiver::new(&Arc::new(NdpParameters::default()));
    let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
    let mut ctx = Ctx::new(Time::ZERO, &mut random, &mut replies);
    let detail = Detail::announcement(Announcement { window: 4, packets: 0 });
    let whole = Frame { payload_bytes: 1436, detail, ..Frame::default() };
    let header = Frame { kind: Kind::Trimmed, size_bytes: 64, ..whole };
    assert!(!receiver.holds(&whole));
    assert_eq!(receiver.on_frame(&mut ctx, &header).new_bytes, 0);
    assert!(!receiver.holds(&whole));
    assert_eq!(receiver.on_frame(&mut ctx, &whole).new_bytes, 1436);
    assert!(receiver.holds(&whole));
    assert_eq!(receiver.on_frame(&mut ctx, &header).new_bytes, 0);
    assert_eq!(receiver.on_frame(&mut ctx, &whole).new_bytes, 0);
    assert_eq!(ctx.replies.iter().map(|reply| reply.flags).collect::<Vec<_>>(), [flags::NAK, 0, 0, 0]);
}

/// Flows use pull slots in round-robin order. The slot of a flow that pulls two packets lasts two packet times.
// [NDP7] [NDP8]
#[test]
fn the_pacer_gives_turns_one_packet_time_apart() {
    let mut pacer = PullPacer::new(Time::from_ns(10));
    assert_eq!((pacer.next_slot(), pacer.take_slot(Time::ZERO)), (Time::MAX, None));
    [7, 8, 9].into_iter().for_each(|flow| pacer.enter(flow));
    let mut turns = Vec::new();
    let mut now = Time::from_ns(100);
    for packets in [1, 2, 1, 0, 1, 1] {
        if pacer.next_slot() > now {
            now = pacer.next_slot();
            assert_eq!(pacer.take_slot(now - Time::from_ps(1)), None);
        }
        let flow = pacer.take_slot(now).unwrap();
        turns.push((now.as_ps() / 1000, flow));
        pacer.note_pull(now, packets);
        pacer.enter(flow);
    }
    assert_eq!(turns, [(100, 7), (110, 8), (130, 9), (140, 7), (140, 8), (150, 9)]);
    pacer.leave(8);
    assert!(pacer.flows().eq([7, 9]));
}

#[test]
fn wide_windows_and_announcements_fit() {
    for announcement in
        [Announcement { window: 32_768, packets: (1 << 48) - 1 }, Announcement { window: 1, packets: 0 }]
    {
        assert_eq!(Announcement::unpack(announcement.pack()), announcement);
    }
    let sender = sender("32768", 40_000);
    assert_eq!((sender.window(), super::bits::span(32_768)), (32_768, 65_536));
    assert!(size_of::<NdpSender>() <= 160, "{}", size_of::<NdpSender>());
    assert!(size_of::<NdpReceiver>() <= 88, "{}", size_of::<NdpReceiver>());
    assert!(TransportParameters::build("ndp", [("initial_window", "0")]).is_err());
    assert!(TransportParameters::build("ndp", [("initial_window", "32769")]).is_err());
    assert!(TransportParameters::build("ndp", [("quantum", "1")]).is_err());
    assert!(TransportParameters::build("ndp", [("early_pulls", "lost")]).is_err());
    assert!(TransportParameters::build("eqds", [("early_pulls", "lapse")]).is_err());
    assert!(matches!(build("eqds", &[]).sender(&flow()), SenderState::Ndp(_)));
}
